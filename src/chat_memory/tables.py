"""Tables a reader compares numbers in: plain text, aligned, the same on screen and in a diff.

A `Table` shows itself as text. Column names come from the strings, figures from what was billed.
This file does *not* compute anything but sums.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat_memory.contents import text_of
from chat_memory.lines import columns, shortened
from chat_memory.probes import probe_numbers, probes
from chat_memory.strings import t
from chat_memory.usage import first_new, total
from offline_gemini import breakdown
from offline_gemini.sentences import refusal

if TYPE_CHECKING:
    from chat_memory.calls import Call
    from chat_memory.session import ChatSession
    from offline_gemini import Script


WIDE = 100  # columns; at 1280 px a notebook shows so many


class Right(str):
    """A text that stands right in its column, as a number does: "91%", "14/15"."""


@dataclass(frozen=True)
class Table:
    """Rows under column heads; numbers stand right, texts left. Notes are lines below them.

    >>> Table(("turn", "prompt"), [(1, 54), (2, 1225)])
    turn  prompt
       1      54
       2   1,225
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[object]]
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        places = range(len(self.heads))
        cells = [list(self.heads), *([_cell(value) for value in row] for row in self.rows)]
        widths = [max(columns(row[place]) for row in cells) for place in places]
        right = [all(_stands_right(row[place]) for row in self.rows) for place in places]
        lines = [_line(row, widths, right) for row in cells]
        return "\n".join([*lines, *(["", *self.notes] if self.notes else [])])


def _stands_right(value: object) -> bool:
    return value is None or type(value) in (int, float, Right)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """The cells of a row, each filled up to the width of its column."""
    cells = []
    for text, width, stands_right in zip(row, widths, right, strict=True):
        room = " " * (width - columns(text))
        cells.append(room + text if stands_right else text + room)
    return "  ".join(cells).rstrip()


def _cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: t("table.yes"), False: t("table.no"), None: "-"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)


def wrapped(notes: Iterable[str]) -> list[str]:
    """Notes, broken where a page ends; their further lines are indented.

    >>> [note.count("\\n  ") for note in wrapped(["word " * 30])]
    [1]
    """
    return [textwrap.fill(note, WIDE, subsequent_indent="  ") for note in notes]


def messages_table(call: "Call") -> Table:
    """The messages of one request: number, role, tokens, whether it was sent before, its words."""
    bill = breakdown(call.request, call.model, {})
    begin = first_new(call)
    rows = [
        (
            number,
            content.role,
            tokens,
            t("table.new") if number > begin else t("table.resent"),
            shortened(text_of(content)),
        )
        for number, (content, tokens) in enumerate(
            zip(call.contents, bill.contents, strict=True), 1
        )
    ]
    heads = ("table.number", "table.role", "table.tokens", "table.state", "table.text")
    return Table([t(head) for head in heads], rows)


def running_table(sessions: Mapping[str, "ChatSession"], script: "Script", probe: int) -> Table:
    """One row a strategy, for the turn `probe` of a script that every session has played.

    The prompt of that turn, the sum of all prompts, whether the fact it needs was in the request,
    and the calls the strategy caused: summaries, and turns in which the customer repeats himself.
    Raises ValueError if the turn is no probe, or a session has not come that far.
    """
    there = probe_numbers(script)
    if probe not in there:
        known = ", ".join(map(str, there)) or "-"
        raise refusal(t("error.no_probe", turn=probe, script=script.name, probes=known))
    heads = ("strategy", "prompt", "sum", "fact", "extra")
    rows = [
        (label, *_running_row(label, session.calls, script, probe))
        for label, session in sessions.items()
    ]
    return Table([t(f"table.{head}") for head in heads], rows)


def _running_row(label: str, calls: Sequence["Call"], script: "Script", probe: int) -> tuple:
    asked = next((each for each in probes(calls, script) if each.number == probe), None)
    if asked is None:
        raise refusal(t("error.not_played", label=label, turn=probe))
    repeated = max(call.turn for call in calls) - max(call.scripted or 0 for call in calls)
    others = sum(1 for call in calls if call.purpose != "answer")
    prompt, summed = asked.call.usage.prompt_token_count, total(calls).prompt_token_count
    return prompt, summed, asked.in_request, others + repeated
