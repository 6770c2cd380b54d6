"""Calls and their results, put where Gemini wants them: all calls of a step, then all results.

Gemini refuses a list in which a content with function calls is not followed at once by one user
content with as many responses. Logs of other forms hold each result as a message of its own, or
split one model message over several lines; and many are damaged. So messages are put together run
by run (a *run* is messages of one role in a row), and whatever is repaired is named:

- a call without a result gets the response {"error": ...}; at the end of the chat it stays open;
- a result without a call, or a second one, is kept as an unknown block, which answers nothing;
- ids that are missing are matched by order; what stands between call and result follows it.

This file does *not* read any form, and it leaves alone a list that Gemini accepts as it is.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from chat_memory import contents
from chat_memory.dialects.parts import MADE_UP, kind, marked, unknown
from chat_memory.dialects.transcript import Message, Notes
from chat_memory.strings import t
from offline_gemini import rules

WITHOUT_IDS = ("gemini", "text")  # forms in which a call need not have an id
SOURCE = "source"  # the message that a result came in, until its call is found


def settled(messages: list[Message], form: str, notes: Notes) -> list[dict]:
    """The messages as rows of contents that Gemini accepts; every repair is noted."""
    as_read = [{"role": m.role, "parts": m.parts} for m in messages]
    if form == "gemini" and rules.passes(contents.check, as_read):
        return as_read
    if form not in WITHOUT_IDS:
        _name_calls(messages, notes)
    rows: list[dict] = []
    open_calls: list[dict] = []
    runs = [list(run) for _, run in itertools.groupby(messages, lambda message: message.role)]
    for run, after in itertools.zip_longest(runs, runs[1:], fillvalue=[]):
        if run[0].role != "model":
            rows += _user_rows(run, open_calls, form, notes)
            continue
        rest = [] if _has(after, "response") else _after_calls(run)
        rows += _model_rows(run[: len(run) - len(rest)])
        open_calls = _calls(rows[-1]["parts"])
        if rest:
            rows += _Answers(open_calls, notes).rows(rest[0].number) + _model_rows(rest)
            open_calls = []
    return _with_beginning(rows, notes)


def _has(run: list[Message], wanted: str) -> bool:
    return any(kind(part) == wanted for message in run for part in message.parts)


def _after_calls(run: list[Message]) -> list[Message]:
    """The messages of a run in which the model went on without waiting for its last calls."""
    last = max((i for i, message in enumerate(run) if _has([message], "call")), default=len(run))
    named = run[last].id if last < len(run) else None
    return list(itertools.dropwhile(lambda m: named and m.id == named, run[last + 1 :]))


def _name_calls(messages: list[Message], notes: Notes) -> None:
    """Give an id to each call that has none."""
    calls = [(part, m.number) for m in messages for part in _calls(m.parts)]
    fresh = _fresh({part["functionCall"].get("id") for part, _ in calls})
    for part, number in calls:
        if not part["functionCall"].get("name"):
            notes.add("dialect.unnamed", number)
            part["functionCall"]["name"] = t("dialect.no_name")
        if not part["functionCall"].get("id"):
            notes.add("dialect.id", number)
            part["functionCall"]["id"] = next(fresh)


def _fresh(taken: set[str | None]) -> Iterator[str]:
    """Ids that are not taken: call_1, call_2, ..."""
    return (name for n in itertools.count(1) if (name := f"call_{n}") not in taken)


def _calls(parts: Iterable[dict]) -> list[dict]:
    return [part for part in parts if kind(part) == "call"]


def _model_rows(run: list[Message]) -> list[dict]:
    """The contents of a run of the model: one if it calls, else one for each message."""
    whole = _has(run, "call")
    pieces = itertools.groupby(
        run, lambda message: True if whole else message.id or message.number
    )
    rows = [[part for message in piece for part in message.parts] for _, piece in pieces]
    return [{"role": "model", "parts": parts} for parts in rows]


def _user_rows(run: list[Message], calls: list[dict], form: str, notes: Notes) -> list[dict]:
    """The contents of a run of the user: the responses first, then what the user said."""
    answers = _Answers(calls, notes)
    said: list[dict] = []
    for message in run:
        others = [part for part in message.parts if kind(part) != "response"]
        responses = [part for part in message.parts if kind(part) == "response"]
        if calls and responses and (said or kind(message.parts[0]) != "response"):
            notes.add("dialect.moved", message.number)
        strays = [part for part in responses if not answers.take(part, message.number)]
        kept = [unknown(part.pop(SOURCE), form) for part in strays]
        # without responses beside it, a kept result in the role user would pass for a customer
        if calls:
            answers.strays += kept
        elif kept:
            said.append({"role": "model", "parts": kept})
        said += [{"role": "user", "parts": others}] if others else []
    return answers.rows(run[0].number) + said


class _Answers:
    """The calls of one step, and the responses that have come to them."""

    def __init__(self, calls: list[dict], notes: Notes):
        self.calls = [call["functionCall"] for call in calls]
        self.notes = notes
        self.found: dict[int, dict] = {}
        self.strays: list[dict] = []

    def take(self, part: dict, number: int) -> bool:
        """Put a response to its call; False if there is none for it."""
        response = part["functionResponse"]
        place = self._place(response)
        if place is None:
            again = response.get("id") in [call.get("id") for call in self.calls]
            self.notes.add("dialect.second" if again else "dialect.stray", number)
            part.setdefault(SOURCE, {"role": "user", "parts": [dict(part)]})
            return False
        call = self.calls[place]
        if call.get("id") and not response.get("id"):
            self.notes.add("dialect.ordered", number)
        named = {key: call[key] for key in ("id", "name") if call.get(key)}
        found = {key: part[key] for key in part if key != SOURCE}
        self.found[place] = found | {"functionResponse": response | named}
        return True

    def _place(self, response: dict) -> int | None:
        """The call it answers: by id; else the first open one, of its name if it has one."""
        free = {i: call for i, call in enumerate(self.calls) if i not in self.found}
        for key in ("id", "name"):
            if response.get(key):
                return next((i for i in free if free[i].get(key) == response[key]), None)
        return next(iter(free), None)

    def rows(self, number: int) -> list[dict]:
        """The content that answers all calls, and holds what answers none of them."""
        responses = [self.found.get(i) or self._error(i, number) for i in range(len(self.calls))]
        parts = responses + self.strays
        return [{"role": "user", "parts": parts}] if parts else []

    def _error(self, place: int, number: int) -> dict:
        call = self.calls[place]
        self.notes.add("dialect.unanswered", number, name=call.get("name"))
        named = {key: call[key] for key in ("id", "name") if call.get(key)}
        return {"functionResponse": named | {"response": {"error": t("dialect.no_result")}}}


def _with_beginning(rows: list[dict], notes: Notes) -> list[dict]:
    """The rows; before a call without a question, a content says that the question is missing."""
    first = itertools.takewhile(lambda row: row["role"] == "model", rows)
    if not any(_calls(row["parts"]) for row in first):
        return rows
    notes.add("dialect.beginning")
    missing = marked({"text": t("dialect.missing")}, MADE_UP, text=True)
    return [{"role": "user", "parts": [missing]}, *rows]


def with_ids(rows: Sequence[dict], notes: Notes) -> list[dict]:
    """The rows, their calls and responses with ids: those missing are made up, by order."""
    fresh = _fresh(
        {part["functionCall"].get("id") for row in rows for part in _calls(row["parts"])}
    )
    asked: list[str] = []
    made = []
    for number, row in enumerate(rows, 1):
        parts = [_with_id(part, number, asked, fresh, notes) for part in row["parts"]]
        made.append(row | {"parts": parts})
    return made


def _with_id(
    part: dict, number: int, asked: list[str], fresh: Iterator[str], notes: Notes
) -> dict:
    """A part, with an id if it is a call or a response; `asked` are the ids not answered yet."""
    field = {"call": "functionCall", "response": "functionResponse"}.get(kind(part))
    if field is None:
        return part
    name = part[field].get("id")
    if field == "functionCall":
        if not name:
            notes.add("dialect.id", number)
            name = next(fresh)
        asked.append(name)
    else:
        name = name or (asked[0] if asked else next(fresh))
        if name in asked:
            asked.remove(name)
    return part | {field: part[field] | {"id": name}}
