"""What the offline Gemini answers: from the request alone, so equal requests get equal replies.

In this order: a scripted turn whose user text was sent (its `reply`, its calls, or `without` and
`outdated` if the facts it needs are not visible in the request); else, if it is asked for, a
summary or a list of facts; else the sentence of the request that shares most with the question,
quoted; else that this request holds nothing on it.

It is *not* a language model: it recites and quotes, and it keeps no state between two requests.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from offline_gemini.billing import (
    declarations,
    get,
    last_turn_start,
    parts_of,
    says_something,
)
from offline_gemini.facts import facts
from offline_gemini.scripts import Call, Found, Script, Turn, current, superseded
from offline_gemini.summaries import summary, swapped, wanted_in
from offline_gemini.texts import fold, plain, sentences_in, visible

QUOTES = {
    "en": {
        "user": 'Earlier you wrote: "{sentence}"',
        "model": 'Earlier I wrote: "{sentence}"',
        "nothing": "This request holds {messages} and nothing on that.",
        "one": "1 message",
        "many": "{count} messages",
    },
    "ko": {
        "user": '앞에서 이렇게 쓰셨습니다: "{sentence}"',
        "model": '앞에서 제가 이렇게 썼습니다: "{sentence}"',
        "nothing": "이 요청에는 {messages}가 들어 있고, 그 내용은 없습니다.",
        "one": "메시지 1개",
        "many": "메시지 {count}개",
    },
}
OPENERS = tuple(
    words[kind].split("{")[0] for words in QUOTES.values() for kind in ("user", "model", "nothing")
)
COMMON = """
a an and are at be but can could did do does for from had has have how i in is it its me my of on
or our please so that the their them then there they this to us was we were what when where which
who why will with would you your
"""
STOPWORDS = frozenset(COMMON.split())
HANGUL = re.compile("[\uac00-\ud7a3]")


@dataclass(frozen=True)
class Answer:
    """One reply: a text or function calls (never both), and the thoughts it cost."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thoughts: int = 0


def answer(request: Mapping, scripts: Sequence[Script]) -> Answer:
    """The reply to a request body."""
    contents = request.get("contents") or []
    said = [text_of(content) for content in contents if says_something(content)]
    found = find_turn(said, scripts)
    spoken = scripted(found, request) if found else None
    if spoken is None:
        asked = said[-1] if said else ""
        spoken = Answer(text=summary(asked) or facts(asked, scripts) or quote(contents))
    return replace(spoken, thoughts=0) if thinking_is_off(request) else spoken


def misremembered(said: Answer, request: Mapping) -> Answer:
    """A summary with a value swapped, as the fault of that name has it; other answers as is."""
    asked = text_of(request["contents"][-1])
    return replace(said, text=swapped(said.text, asked)) if wanted_in(asked) else said


def text_of(content: Mapping) -> str:
    """The visible text of a content, thoughts left out."""
    texts = [part.get("text") or "" for part in parts_of(content) if not part.get("thought")]
    return "\n".join(text for text in texts if text)


def thinking_is_off(request: Mapping) -> bool:
    """Whether the request asks for a thinking budget of 0 (seen to give no thoughts)."""
    thinking = get(get(request, "generationConfig") or {}, "thinkingConfig") or {}
    return get(thinking, "thinkingBudget") == 0


def find_turn(said: list[str], scripts: Iterable[Script]) -> Found | None:
    """The scripted turn that the last user text belongs to; of several the best match.

    Best is the longest run of equal user texts before it, then the turn that, like the request,
    has none before that run. `again` texts belong to their turn and count for nothing before it.
    """
    best, best_score = None, (-1, False)
    for script in scripts if said else ():
        repeats = {fold(turn.again) for turn in script.turns if turn.again}
        before = [text for text in map(fold, said[:-1]) if text not in repeats]
        for index, scripted_before in _candidates(script, fold(said[-1])):
            score = _score(before, scripted_before)
            if score > best_score:
                best, best_score = Found(script, index), score
    return best


def _candidates(script: Script, text: str) -> Iterable[tuple[int, list[str]]]:
    """Turns with this text, and the user texts before it, from the last /clear on."""
    before: list[str] = []
    for index, turn in enumerate(script.turns):
        if turn.command:
            before = []
            continue
        user = fold(turn.user)
        if not turn.reply:  # a .txt file has questions only
            pass
        elif text and text == user:
            yield index, before.copy()
        elif text and text == fold(turn.again):
            yield index, [*before, user]
        before.append(user)


def _score(before: list[str], scripted_before: list[str]) -> tuple[int, bool]:
    run = _run(before, scripted_before)
    return run, run == len(before) == len(scripted_before)


def _run(sent: Sequence, expected: Sequence) -> int:
    """How many items are equal, counted from the end."""
    pairs = zip(reversed(sent), reversed(expected), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def scripted(found: Found, request: Mapping) -> Answer | None:
    """What the script says here; None if a fact is missing and it has no `without`."""
    turn, contents = found.turn, request["contents"]
    steps = callable_steps(turn, request)
    done = steps_done(contents, steps)
    coming = [call.result for step in steps[done:] for call in step]
    texts = visible_texts(request) + leaves(*coming) if turn.needs else []
    missing = [fact for fact in turn.needs if not visible(current(found, fact), texts)]
    if missing:
        old = [superseded(found, fact) for fact in missing]
        outdated = turn.outdated and all(each and visible(each, texts) for each in old)
        text = turn.outdated if outdated else turn.without
        return Answer(text=text, thoughts=turn.without_thoughts) if text else None
    share = turn.thoughts // (len(steps) + 1)  # each model content of the turn thinks its part
    if done < len(steps):
        return Answer(calls=steps[done], thoughts=share)
    return Answer(text=turn.reply, thoughts=turn.thoughts - share * len(steps))


def callable_steps(turn: Turn, request: Mapping) -> tuple[tuple[Call, ...], ...]:
    """The turn's steps, or none if the request does not declare the tools they call."""
    declared = {declaration.get("name") for declaration in declarations(request)}
    wanted = {call.name for step in turn.steps for call in step}
    return turn.steps if wanted <= declared else ()


def steps_done(contents: list, steps: Sequence[Sequence[Call]]) -> int:
    """How many steps of a turn lie behind the open turn: up to the last one it still holds.

    Earlier ones may have left the list, since a strategy closed that stretch of work. So the last
    step is looked for by its calls; of several equal ones, that after the longest equal run.
    """
    made = [calls for calls in map(_calls_in, _open_turn(contents)) if calls]
    if not made:
        return 0
    scripted = [[(call.name, call.args) for call in step] for step in steps]
    runs = [_run(made, scripted[:stop]) for stop in range(len(scripted) + 1)]
    return runs.index(max(runs)) if any(runs) else len(made)


def _open_turn(contents: list) -> list:
    return contents[last_turn_start(contents) + 1 :]


def _calls_in(content: Mapping) -> list[tuple[str, dict]]:
    calls = filter(None, (get(part, "functionCall") for part in parts_of(content)))
    return [(call.get("name"), call.get("args") or {}) for call in calls]


def visible_texts(request: Mapping) -> list[str]:
    """Every text of a request in which a fact can be seen: texts, arguments, response values."""
    system = get(request, "systemInstruction")
    texts = []
    for content in ([system] if system else []) + list(request.get("contents") or []):
        for part in parts_of(content):
            call, response = get(part, "functionCall"), get(part, "functionResponse")
            if call or response:
                texts += leaves((call or {}).get("args"), (response or {}).get("response"))
            elif not part.get("thought"):
                texts.append(part.get("text") or "")
    return texts


def leaves(*values: object) -> list[str]:
    """Every text and number inside JSON values, as texts.

    >>> leaves({"order": {"id": 7, "tags": ["new"]}})
    ['7', 'new']
    """
    found = []
    for value in values:
        if isinstance(value, Mapping):
            found += leaves(*value.values())
        elif isinstance(value, list | tuple):
            found += leaves(*value)
        elif value is not None:
            found.append(str(value))
    return found


def quote(contents: list) -> str:
    """The sentence sent before that shares most words with the question, or that there is none.

    Of equals a statement goes before a question, then a later one before an earlier one.
    """
    question = text_of(contents[-1]) if contents else ""
    words = QUOTES["ko" if HANGUL.search(question) else "en"]
    best, best_role, best_rank = "", "", (1, False)
    for content in contents[:-1]:
        for sentence in sentences(text_of(content)):
            rank = (len(keys(sentence) & keys(question)), not sentence.endswith("?"))
            if rank >= best_rank:
                best, best_role, best_rank = sentence, content.get("role"), rank
    if best:
        return words["model" if best_role == "model" else "user"].format(sentence=best)
    number = words["one" if len(contents) == 1 else "many"].format(count=len(contents))
    return words["nothing"].format(messages=number)


@functools.lru_cache(maxsize=1 << 14)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text that may be quoted: all but this file's own quotes.

    >>> sentences('I am Ada. Who are you?\\nEarlier you wrote: "I am Ada."')
    ('I am Ada.', 'Who are you?')
    """
    return tuple(said for said in sentences_in(text) if not said.startswith(OPENERS))


@functools.lru_cache(maxsize=1 << 14)
def keys(text: str) -> frozenset[str]:
    """What two sentences are compared by: English words without stop words, Korean word stems.

    >>> sorted(keys("What are my orders?")), sorted(keys("주문번호가 뭐였죠"))
    (['order'], ['뭐였', '주문'])
    """
    latin = set(re.findall(r"[0-9a-z]+", plain(text))) - STOPWORDS
    stems = {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in latin}
    stems |= {word[:2] for word in re.findall("[\uac00-\ud7a3]{2,}", plain(text))}
    return frozenset(stems)
