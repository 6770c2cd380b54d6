"""What the offline summariser copies out of a conversation, line by line.

Of the customer it copies what holds a number, a date, a name, an error or a step he tried; of the
model, codes and dates, its last news and its last request; of a tool, what failed, word for word,
else its first values. A guess is marked. A correction is told to the caller, who sees older lines.

It goes by words and signs, in English and Korean, so it may lose anything said in plain words.
It does *not* shorten by meaning, and it makes nothing up: `summaries.py` orders and fits lines.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from offline_gemini.texts import sentences_in

MONTHS = "January February March April May June July August September October November December"
DAY = rf"\d{{1,2}} (?:{MONTHS.replace(' ', '|')})|\d{{4}}-\d\d-\d\d|\d{{1,2}}월 \d{{1,2}}일"
HOUR = r"\d{1,2}:\d\d|\d{1,2}시(?: \d{1,2}분)?|\d+ ?(?:minutes|hours|분|시간)"
NAME = r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*|(?<=[가-힣] )[A-Z][a-z]+(?: [A-Z][a-z]+)*"
CODE = r"[A-Za-z]+-?\d(?:[\w.,:/-]*[0-9A-Za-z])?|\d[0-9.,:/-]*\d"
ERROR = r"[A-Za-z]+(?:Error|Exception)|[A-Z]{2,}(?:_[A-Z]+)+"
VALUE = re.compile(f"{DAY}|{HOUR}|{ERROR}|{CODE}|{NAME}", re.ASCII)
WHEN = re.compile(f"{DAY}|{HOUR}")
IDENTITY = re.compile(rf"[A-Z]{{2,}}-\d|\d{{4}}|{ERROR}|{DAY}")  # copied of the model's words
MEASURE = re.compile(r"\d[.,]?\d ?(?:kg|kilos?|mm|cm|inch|인치|킬로)")
CUES = {
    "steps": r"\bI(?:'ve| have)? (?:already |also )?(?:tried|did|held|pressed|checked|changed|set|"
    r"swapped|restarted|reset|unplugged|plugged|cleared|updated|reinstalled)\b|"
    r"(?:해|눌러|꽂아|바꿔|꺼|켜|빼|지워|깔아) ?봤",
    "issue": r"\b(?:broken|error|fail(?:s|ed)?|doesn'?t|won't|stuck|dead|late|missing|wrong|"
    r"crooked|damaged|nothing comes)\b|고장|오류|실패|안 (?:돼|되|와|오)|꿈쩍|기울|늦",
    "correction": r"\b(?:right one|corrected|correction|I meant|instead of)\b|맞는 (?:건|것)|정정",
    "guess": r"\b(?:I think|maybe|probably|should be|not sure|I guess)\b|것 같|아마|일 거예요",
    "failed": r"(?i:fail|error|reject|refus|denied|timeout)|실패|오류|거부|반송",
    "status": r"\b(?:released|opened|booked|arranged|confirmed|marked|until|waiting|as soon as)\b|"
    r"두었|처리|잡았|예정|보류",
    "next": r"\b(?:[Pp]lease|[Tt]ell me|[Ww]rite to (?:me|us)|[Ll]et me know|[Cc]ould you)\b|"
    r"십시오|겠습니까",
}
SHORT, LONG = 12, 24  # words: a sentence up to SHORT is kept whole, and no line is over LONG


class Line(NamedTuple):
    """A line worth keeping: under which kind of heading, its text, and what its words hint at."""

    kind: str
    text: str
    guess: bool = False
    corrects: bool = False


def lines(parts: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """The lines of a conversation, given as (label, text): user, model, call or response."""
    asked: dict[str, list[str]] = {}
    for label, text in parts:
        name, _, rest = text.partition(" ")
        if label == "user":
            yield from _of_user(text)
        elif label == "model":
            yield from _of_model(text)
        elif label == "call":
            asked.setdefault(name, []).append(" ".join(_scalars(_json(rest))))
        elif label == "response":
            arguments = asked[name].pop(0) if asked.get(name) else ""
            yield Line("tools", f"{name} {arguments}: {_insight(_json(rest))}")


@functools.lru_cache(maxsize=1 << 12)
def values(text: str) -> frozenset[str]:
    """What a line is kept for: numbers of two signs or more, codes, dates, errors, names.

    >>> sorted(values("Order 48213, due 3 October, for Ferrow Studio."))
    ['3 October', '48213', 'Ferrow Studio']
    """
    return frozenset(VALUE.findall(text))


@functools.lru_cache(maxsize=1 << 12)
def alike(text: str) -> frozenset[str]:
    """The values of a text, a date in one form however it is written.

    >>> alike("on 8 October") == alike("2026-10-08") == alike("10월 8일")
    True
    """
    return frozenset(_one_form(value) for value in values(text))


def _one_form(value: str) -> str:
    """A date as month/day; any other value as it is."""
    if not re.fullmatch(DAY, value):
        return value
    numbers = [int(number) for number in re.findall(r"\d+", value)]
    month = re.search("[A-Z][a-z]+", value)
    first = MONTHS.split().index(month[0]) + 1 if month else numbers[-2]
    return f"{first}/{numbers[-1]}"


def _of_user(text: str) -> Iterator[Line]:
    for sentence in sentences_in(text):
        if _has("steps", sentence):
            yield Line("steps", _cut(sentence))
            continue
        if _has("issue", sentence):
            yield Line("issue", _cut(sentence))
        for clause in filter(values, _clauses(sentence)):
            guess, corrects = _has("guess", clause), _has("correction", sentence)
            yield Line(_kind(clause), _cut(clause), guess, corrects)


def _of_model(text: str) -> Iterator[Line]:
    for sentence in sentences_in(text):
        if IDENTITY.search(sentence):
            for clause in filter(IDENTITY.search, _clauses(sentence)):
                yield Line(_kind(clause), _cut(clause))
        for kind in ("next", "status"):
            if _has(kind, sentence):
                yield Line(kind, _cut(sentence))
                break


def _kind(clause: str) -> str:
    if MEASURE.search(clause):
        return "product"
    return "timeline" if WHEN.search(clause) else "identifiers"


def _has(cue: str, text: str) -> bool:
    return bool(re.search(CUES[cue], text))


def _clauses(sentence: str) -> list[str]:
    """The sentence itself if it is short, else its clauses."""
    if len(sentence.split()) <= SHORT:
        return [sentence]
    return [clause.strip() for clause in re.split(r"(?<=[,;:]) ", sentence)]


def _cut(text: str) -> str:
    return " ".join(text.split()[:LONG]).strip(" ,;:.")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _scalars(value: object) -> Iterator[str]:
    """The texts and numbers in a JSON value."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _scalars(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _insight(result: object) -> str:
    """What a tool found: what failed, word for word, else its first values."""
    found = list(_scalars(result))
    failed = [text for text in found if _has("failed", text)]
    return "; ".join(failed) or _cut(", ".join(found))
