"""Scores of a session against its script, read from what was sent and from what came back.

Beside the probes: answers that speak a value which no longer holds or never did, calls of tools,
turns in which the customer had to repeat himself, identifiers that a summary keeps. Offline a
script speaks, so what is measured is which of its lines a strategy provokes; a live run, or its
run log, is scored by the same code.

Values are known by their form and compared letter by letter. So a number that a model worked out
counts as invented, and an identifier in other words as lost. This file does *not* judge wording.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat_memory.contents import calls_of, text_of
from chat_memory.probes import Probe, probes, question, seen
from offline_gemini import Script
from offline_gemini.replies import leaves
from offline_gemini.scripts import Found, Turn, current, superseded
from offline_gemini.texts import fold, visible

if TYPE_CHECKING:
    from chat_memory.calls import Call

Played = dict[int, tuple[Found, list["Call"]]]  # by number: a scripted turn, its answer calls

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = rf"\d{{1,2}} (?:{MONTHS})|(?:{MONTHS}) \d{{1,2}}|\d{{4}}-\d\d-\d\d|\d{{1,2}}월 ?\d{{1,2}}일"
TIME = r"\d{1,2}:\d\d"
UNIT = r" ?(?:euros?|EUR|dollars?|USD|won|원|%)"
AMOUNT = rf"[$€£₩] ?\d[\d.,]*\d|[$€£₩] ?\d|\d[\d.,]*{UNIT}|\d[\d,]*[.,]\d\d"
CODE = (
    r"[A-Za-z]+(?:-[A-Za-z]+)*-?\d(?:[A-Za-z0-9.-]*[A-Za-z0-9])?"  # TK-5520, E07, TV-140-LL, v2.3
    r"|(?!(?:19|20)\d\d(?![\d-]))\d[\d-]{2,}\d|\d+(?:-[A-Za-z0-9]+)+"  # 730416, 2209-0958; no year
)
ERROR = r"[A-Za-z]*(?:Error|Exception)|[A-Z]{2,}(?:_[A-Z]+)+"
ALONE = "(?<![A-Za-z0-9.,-])(?:{})(?![A-Za-z0-9])"  # a Hangul particle may follow
IDENTIFIER = re.compile(ALONE.format("|".join([DATE, TIME, AMOUNT, CODE, ERROR])))
DATE_OR_TIME = re.compile(f"{DATE}|{TIME}")
SIGN = re.compile(f"{UNIT}$|^[$€£₩] ?")


@dataclass(frozen=True)
class Score:
    """What a session scored against its script; turns are the script's, from 1.

    `contaminated`: turns whose answer speaks a superseded value of a fact it needs, or a code or
    an amount that stands neither in the request nor in the script. `repeated`: turns in which the
    customer had to say again what he had said. `kept`: for every summary, how many identifiers of
    the turns it covers stand in it, and how many there are.
    """

    probes: tuple[Probe, ...]
    contaminated: tuple[int, ...]
    repeated: tuple[int, ...]
    right_calls: int
    made_calls: int
    scripted_calls: int
    kept: tuple[tuple[int, int], ...]

    @property
    def in_request(self) -> int:
        """How many of the probes had their facts in the request."""
        return sum(probe.in_request for probe in self.probes)

    @property
    def tool_accuracy(self) -> float | None:
        """Right calls of tools among those made and those missing; None without any."""
        either = self.made_calls + self.scripted_calls - self.right_calls
        return self.right_calls / either if either else None

    @property
    def identifiers_kept(self) -> float | None:
        """The share of identifiers that the last summary kept; None without a summary."""
        found, given = self.kept[-1] if self.kept else (0, 0)
        return found / given if given else None


def score(calls: Iterable["Call"], script: Script) -> Score:
    """Score the calls of a session, or of a loaded run log, that played a script."""
    calls = list(calls)
    played = _turns(calls, script)
    known = _script_text(script)
    made, scripted = _tool_calls(played)
    return Score(
        probes=tuple(probes(calls, script)),
        contaminated=_where(played, lambda call, found: _contaminated(call, found, known)),
        repeated=_where(played, lambda call, found: _says(call, found.turn.again)),
        right_calls=(made & scripted).total(),
        made_calls=made.total(),
        scripted_calls=scripted.total(),
        kept=tuple(_kept_by_summaries(calls)),
    )


def _turns(calls: Iterable["Call"], script: Script) -> Played:
    """The answer calls of each scripted turn, by its number; other turns are left out."""
    spoken = [Found(script, index) for index, turn in enumerate(script.turns) if turn.user]
    played: Played = {}
    for call in calls:
        if call.purpose == "answer":
            numbers = (n for n, found in enumerate(spoken, 1) if _belongs(call, n, found.turn))
            for number in itertools.islice(numbers, 1):
                played.setdefault(number, (spoken[number - 1], []))[1].append(call)
    return played


def _belongs(call: "Call", number: int, turn: Turn) -> bool:
    """Whether a call is of this turn: `play` has noted it, else its question tells."""
    if call.scripted is not None:
        return call.scripted == number
    return _says(call, turn.user) or _says(call, turn.again)


def _says(call: "Call", text: str) -> bool:
    return bool(text) and fold(question(call)) == fold(text)


def _where(played: Played, holds: Callable[["Call", Found], bool]) -> tuple[int, ...]:
    """The turns in which something holds for one of their calls."""
    return tuple(n for n, (found, group) in played.items() if any(holds(c, found) for c in group))


def _contaminated(call: "Call", found: Found, known: str) -> bool:
    """Whether an answer speaks a value as current that no longer is, or never was."""
    if not call.answer:
        return False
    answer = text_of(call.reply)
    for fact in found.turn.needs:
        old = superseded(found, fact)
        if old and visible(old, [answer]) and not visible(current(found, fact), [answer]):
            return True
    texts = [known, *seen(call)]
    values = {SIGN.sub("", v) for v in identifiers(answer) if not DATE_OR_TIME.fullmatch(v)}
    return any(not visible([value], texts) for value in values)


def _script_text(script: Script) -> str:
    """Everything a script says, its tools' results too."""
    said = [script.system, *script.pinned, *leaves(list(script.facts.values()))]
    for turn in script.turns:
        said += [turn.user, turn.reply, turn.without, turn.outdated, turn.again]
        said += leaves([[call.args, call.result] for step in turn.steps for call in step])
    return "\n".join(said)


def _tool_calls(played: Played) -> tuple[Counter, Counter]:
    """The calls that were made and those that the script makes where tools are declared."""
    made: Counter = Counter()
    scripted: Counter = Counter()
    for number, (found, group) in played.items():
        replies = [call.reply for call in group if call.reply]
        asked = [each for reply in replies for each in calls_of(reply)]
        made.update(_call_key(number, each.name, each.args) for each in asked)
        if any({"tools", "cachedContent"} & call.request.keys() for call in group):
            steps = [call for step in found.turn.steps for call in step]
            scripted.update(_call_key(number, each.name, each.args) for each in steps)
    return made, scripted


def _call_key(number: int, name: str, arguments: dict | None) -> tuple:
    values = {key: fold(v) if isinstance(v, str) else v for key, v in (arguments or {}).items()}
    return number, name, json.dumps(values, sort_keys=True)


def identifiers(text: str) -> set[str]:
    """Dates, times, amounts, codes of letters and digits, and names of errors in a text.

    >>> sorted(identifiers("Order 48213 (error E07) of 14 October costs 89.90 euros, 2 days."))
    ['14 October', '48213', '89.90 euros', 'E07']
    """
    return set(IDENTIFIER.findall(text))


def _kept_by_summaries(calls: Iterable["Call"]) -> Iterator[tuple[int, int]]:
    """For every summary: identifiers it holds of the turns it covers, and all that they hold."""
    covered: set[str] = set()
    for call in calls:
        asked = text_of(call.contents[-1]) if call.purpose != "answer" else ""
        _, block, conversation = asked.partition("<conversation>\n")
        if not block or not call.reply:
            continue
        covered = (covered if "<earlier>\n" in asked else set()) | identifiers(conversation)
        summary = text_of(call.reply)
        yield sum(visible([each], [summary]) for each in covered), len(covered)
