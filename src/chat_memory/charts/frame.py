"""The frame around a chart's traces: axes that stay, labels where the data end, marked turns.

The axes are fixed by `top` and `turns` when they are given, so that a slider moves the data and
not the scale; otherwise they fit the data. Labels stand to the right of the last turn, moved
apart so that none covers another. The limit is a line that says what it is.
What is not here: traces (draw.py) and the look (figure.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chat_memory.charts.figure import GREY, INK, LABEL, Chart, go, plain, spread
from chat_memory.charts.figure import title as title_of
from chat_memory.strings import t

END = "end"  # the name of a label at the end of its data
GAP = 0.075  # of the axis, between two labels
ROOM = 1.08  # of the highest value, so that nothing touches the edge
EMPTY = 100  # tokens on the axis of a chart without data
PAPER = "rgba(255,255,255,0.8)"  # behind words, where they meet a line or a bar
FAR = 3  # a limit beyond three times the data would flatten them: it is named, not drawn


class Label(NamedTuple):
    """A label at the end of its data: words, the height they belong to, a sign in its colour."""

    text: str
    y: float
    colour: str
    sign: str = "━"


@dataclass(frozen=True)
class Frame:
    """What the reader of a chart sees around the data; units are those of the y axis."""

    heading: str
    title: str | None = None
    limit: int | None = None
    top: float | None = None
    turns: int | None = None
    marks: Mapping[int, str] = field(default_factory=dict)
    money: bool = False

    def chart(
        self, traces: list, labels: Sequence[Label], found: str, turns: Sequence, values: Sequence
    ) -> Chart:
        """Put the frame around traces; `found` is the title unless one was given."""
        last = max([*turns, self.turns or 1])
        top = self.top or ROOM * self._highest(values)
        heading = title_of(self.title or found)
        layout = {
            "title": heading,
            "barmode": "stack",
            "bargap": 0.15,
            "xaxis": {"title": {"text": t("chart.turn")}, "range": [0.4, last + 0.6]}
            | _ticks(last),
            "yaxis": {"title": {"text": self.heading}, "range": [0, top]} | self._format(),
            "annotations": [*_labels(labels, top), *self._limit_label(top), *self._mark_labels()],
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

    def _limit_label(self, top: float) -> list[dict]:
        if self.limit is None:
            return []
        inside = self.limit <= top
        text = t("chart.limit" if inside else "chart.limit.above", tokens=self.limit)
        return [_note(text, 0.01, min(self.limit, top), "bottom" if inside else "top", "paper")]

    def _mark_labels(self) -> list[dict]:
        marks = self.marks.items()
        return [_note(plain(word), turn, 1, "top", "x", yref="paper") for turn, word in marks]


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
    return _shape(x0=turn, x1=turn, y0=0, y1=1, yref="paper", line=line)


def _shape(**place: object) -> dict:
    return {"type": "line", "layer": "above", **place}


def _ticks(last: int) -> dict:
    """Choose whole turns to label, at most a dozen of them."""
    step = next(step for step in (1, 2, 4, 5, 10, 20, 50, 100, 1000) if last <= 13 * step)
    return {"tick0": 0 if step > 1 else 1, "dtick": step}


def refit(chart: go.Figure, before: go.Figure) -> go.Figure:
    """Give the chart with axes and margin no smaller than those of the one shown before it.

    A slider then moves the data and not the scale. Labels are moved apart to fit the new axis.
    An axis that begins elsewhere (a list of more rows) is left as it is.
    """
    chart = go.Figure(chart)
    for name in ("xaxis", "yaxis"):
        old, new = before.layout[name].range, chart.layout[name].range
        if old and new and old[0] == new[0] and old[1] > new[1]:
            chart.layout[name].range = old
    if before.layout.margin.r and chart.layout.margin.r:
        chart.layout.margin.r = max(before.layout.margin.r, chart.layout.margin.r)
    ends = [note for note in chart.layout.annotations if note.name == END]
    if ends:
        _apart(ends, chart.layout.yaxis.range[1])
    return chart


def _apart(notes: Sequence, top: float) -> None:
    for note, y in zip(
        notes, spread([note.y for note in notes], GAP * top, 0.97 * top), strict=True
    ):
        note.y = y
