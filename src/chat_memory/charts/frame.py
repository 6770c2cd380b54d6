"""The frame around a chart's traces: axes that stay, labels where the data end, marked turns.

The axes are fixed by `top` and `turns` when they are given, so that a slider moves the data and
not the scale; otherwise they fit the data. Labels stand to the right of the last turn, moved
apart so that none covers another. The limit is a line that says what it is.
What is not here: traces (draw.py) and the look (figure.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chat_memory.charts.figure import GREY, INK, LABEL, Chart, plain, spread
from chat_memory.charts.figure import title as title_of
from chat_memory.strings import t

END = "end"  # the name of a label at the end of its data
GAP = 0.075  # of the axis, between two labels
LETTERS = 60  # that fit over the turns, side by side
ROOM = 1.08  # of the highest value, so that nothing touches the edge
EMPTY = 100  # tokens on the axis of a chart without data
PAPER = "rgba(255,255,255,0.8)"  # behind words, where they meet a line or a bar
DASHED = "– –"  # the sign of a dashed line; fonts have no other
FAR = 3  # a limit beyond three times the data would flatten them: it is named, not drawn


class Label(NamedTuple):
    """A label at the end of its data: words, the height they belong to, a sign in its colour."""

    text: str
    y: float
    colour: str
    sign: str = "━"


@dataclass(frozen=True)
class Frame:
    """What the reader of a chart sees around the data; units are those of the y axis.

    `across` and `line` are the ids, after "chart.", of the x axis's name and the limit's words.
    """

    heading: str
    title: str | None = None
    limit: int | None = None
    top: float | None = None
    turns: int | None = None
    marks: Mapping[int, str] = field(default_factory=dict)
    money: bool = False
    across: str = "turn"
    line: str = "limit"

    def chart(
        self,
        traces: list,
        labels: Sequence[Label],
        found: str,
        turns: Sequence,
        values: Sequence,
        note: str = "",
    ) -> Chart:
        """Put the frame around traces; `found` is the title unless one was given."""
        last = max([*turns, self.turns or 1])
        top = self.top or ROOM * self._highest(values)
        lowest = min([0, *(ROOM * value for value in values if value is not None)])
        heading = title_of(self.title or found)
        labels = [*labels, *self._limit_label(top)]
        layout = {
            "title": heading,
            "barmode": "stack",
            "bargap": 0.15,
            "xaxis": {"title": {"text": t(f"chart.{self.across}")}, "range": [0.4, last + 0.6]}
            | _ticks(last),
            "yaxis": {"title": {"text": self.heading}, "range": [lowest, top]} | self._format(),
            "annotations": [
                *_labels(labels, top),
                *self._far_limit(top),
                *self._mark_labels(last),
                *([_note(note, 1.01, -0.16, "middle", yref="paper")] if note else []),
            ],
            "shapes": [*self._limit_line(top), *map(_mark_line, self.marks)],
            "margin": {
                "r": 40 + 8 * max((len(label.text) for label in labels), default=0),
                "t": 56 + 22 * heading["text"].count("<br>"),
            },
        }
        return Chart(traces, layout)

    def write(self, value: float) -> str:
        """Write a value of the y axis for a label or a title."""
        return f"${value:,.4f}" if self.money else f"{value:,}"

    def _highest(self, values: Sequence) -> float:
        highest = max([value for value in values if value], default=EMPTY)
        return max(highest, self.limit or 0) if (self.limit or 0) <= FAR * highest else highest

    def _format(self) -> dict:
        return {"tickprefix": "$", "tickformat": ",.4f"} if self.money else {"tickformat": ",d"}

    def _limit_line(self, top: float) -> list[dict]:
        if self.limit is None or self.limit > top:
            return []
        line = {"color": INK, "width": 2, "dash": "dash"}
        return [_shape(x0=0, x1=1, xref="paper", y0=self.limit, y1=self.limit, line=line)]

    def _limit_label(self, top: float) -> list[Label]:
        """Label the line where it ends, beside the data and not upon them."""
        if self.limit is None or self.limit > top:
            return []
        return [Label(t(f"chart.{self.line}", tokens=self.limit), self.limit, INK, DASHED)]

    def _far_limit(self, top: float) -> list[dict]:
        """Name a limit that is not drawn."""
        if self.limit is None or self.limit <= top:
            return []
        text = t(f"chart.{self.line}.above", tokens=self.limit)
        return [_note(text, 0.01, top, "top", "paper")]

    def _mark_labels(self, last: int) -> list[dict]:
        """Write the words at the top, one row lower where the words before would be in the way."""
        notes, ends = [], []
        for turn, word in sorted(self.marks.items()):
            row = next((row for row, end in enumerate(ends) if end <= turn), len(ends))
            ends[row : row + 1] = [turn + last * (len(word) + 1) / LETTERS]
            height = 1 - GAP * row
            notes.append(_note(plain(word), turn, height, "top", "x", yref="paper"))
        return notes


def _labels(labels: Sequence[Label], top: float) -> list[dict]:
    heights = spread([label.y for label in labels], GAP * top, 0.97 * top)
    return [
        _note(_signed(label), 1.01, y) | {"name": END}
        for label, y in zip(labels, heights, strict=True)
    ]


def _signed(label: Label) -> str:
    return f'<span style="color:{label.colour}">{label.sign}</span> {plain(label.text)}'


def _note(
    text: str, x: float, y: float, yanchor: str = "middle", xref: str = "paper", yref: str = "y"
) -> dict:
    place = {"x": x, "y": y, "xref": xref, "yref": yref, "xanchor": "left", "yanchor": yanchor}
    return place | {
        "text": text,
        "showarrow": False,
        "align": "left",
        "font": {"size": LABEL},
        "bgcolor": PAPER,
    }


def _mark_line(turn: int) -> dict:
    line = {"color": GREY, "width": 1.5, "dash": "dot"}
    return _shape(x0=turn, x1=turn, y0=0, y1=1, yref="paper", line=line) | {"layer": "below"}


def _shape(**place: object) -> dict:
    return {"type": "line", "layer": "above", **place}


def _ticks(last: int) -> dict:
    """Choose whole turns to label, at most a dozen of them."""
    step = next(step for step in (1, 2, 4, 5, 10, 20, 50, 100, 1000) if last <= 13 * step)
    return {"tick0": 0 if step > 1 else 1, "dtick": step}


def refit(layout: dict, before: dict) -> dict:
    """Give a layout (JSON) with axes and margin no smaller than those of the one shown before it.

    A slider then moves the data and not the scale. Labels are moved apart to fit the new axis.
    An axis that begins elsewhere (a list of more rows) is left as it is.
    """
    fitted = dict(layout)
    for name in ("xaxis", "yaxis"):
        old, new = (each.get(name, {}).get("range") for each in (before, layout))
        if old and new and old[0] == new[0] and old[1] > new[1]:
            fitted[name] = layout[name] | {"range": old}
    margins = [each.get("margin", {}) for each in (before, layout)]
    if right := max(margin.get("r", 0) for margin in margins):
        fitted["margin"] = margins[1] | {"r": right}
    if notes := layout.get("annotations"):
        fitted["annotations"] = _apart(notes, fitted["yaxis"].get("range"))
    return fitted


def _apart(notes: Sequence[dict], axis: Sequence[float] | None) -> list[dict]:
    """Move the labels at the end of the data apart, and leave other notes where they are."""
    ends = [note for note in notes if note.get("name") == END]
    top = axis[1] if axis and ends else 0
    heights = iter(spread([note["y"] for note in ends], GAP * top, 0.97 * top))
    return [note | {"y": next(heights)} if note in ends else note for note in notes]
