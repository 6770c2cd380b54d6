"""Ours beside what it is measured against, as one table and one picture.

A `Ratio` is yielded by a benchmark where its figures are, so that nothing is typed again. Below 1
ours costs less. A *peer* is what people use instead; a *floor* is what nothing can do without, so
that its ratio can't come below 1.

This file does *not* measure, and does not write any file.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from chat_memory.charts import Chart
from chat_memory.charts.figure import BLUE, GREY, INK, LABEL, LEAST, VERMILLION, plain
from chat_memory.tables import Right, Table

ROW, AROUND, NAMES = 20, 110, 350  # px: a line, what stands above and below, the lines' width
ROOM = 1.1  # decades beside the longest bars, for their numbers


@dataclass(frozen=True)
class Ratio:
    """What was done, what it took us (in `unit`), and what it took another way.

    `aim` is the most that ours may take, in the same unit. Without `theirs` there is only an aim.
    """

    what: str
    ours: float
    unit: str
    beside: str | None = None
    theirs: float | None = None
    aim: float | None = None
    floor: bool = False

    @property
    def value(self) -> float | None:
        """Ours divided by theirs."""
        return self.ours / self.theirs if self.theirs else None

    def amount(self, value: float | None) -> Right | None:
        """A value with its unit, None for none."""
        return None if value is None else Right(f"{shown(value, 3)} {self.unit}")


def shown(value: float, digits: int = 2) -> str:
    """A number with so many digits that count, and never as a power of ten.

    >>> shown(0.00003124), shown(13.42), shown(5286.5)
    ('0.000031', '13', '5,300')
    """
    rounded = float(f"{value:.{digits}g}")
    if abs(rounded) >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    return f"{rounded:.12f}".rstrip("0").rstrip(".")


def table(ratios: Sequence[Ratio]) -> Table:
    """All ratios, and the aims of what has no peer."""
    rows = [
        (
            each.what,
            each.amount(each.ours),
            each.amount(each.aim),
            each.beside,
            each.amount(each.theirs),
            Right(shown(each.value)) if each.value else None,
        )
        for each in ratios
    ]
    return Table(["what", "ours", "aim", "beside", "theirs", "ratio"], rows)


def compared(ratios: Sequence[Ratio]) -> list[Ratio]:
    """Those that have something beside them."""
    return [each for each in ratios if each.value]


def words(ratios: Sequence[Ratio]) -> str:
    """The picture in a sentence, for who does not see it."""
    bars = compared(ratios)
    less = [each for each in bars if each.value < 1]
    ends = min(bars, key=lambda each: each.value), max(bars, key=lambda each: each.value)
    least, most = (f"{shown(e.value)} ({e.what}, beside {e.beside})" for e in ends)
    return (
        f"A bar for each of {len(bars)} comparisons, ours divided by theirs: {len(less)} are "
        f"below 1. The least is {least}, the largest {most}. The table below has them all."
    )


def draw(ratios: Sequence[Ratio]) -> Chart:
    """A bar for each ratio, from 1 to the left or right, under the name of what was done.

    Floors are told from peers by colour and by words.
    """
    lines = list(_lines(compared(ratios)))[::-1]  # the first one on top
    bars = [(place, each) for place, (_, each) in enumerate(lines) if each]
    values = [each.value for _, each in bars]
    bar = {
        "type": "bar",
        "orientation": "h",
        "base": 1,
        "x": [value - 1 for value in values],
        "y": [place for place, _ in bars],
        "marker": {"color": [VERMILLION if each.floor else BLUE for _, each in bars]},
        "text": [shown(value) for value in values],
        "textposition": "outside",
        "textfont": {"size": LABEL, "color": INK},
        "cliponaxis": False,
    }
    return Chart([bar], _layout([text for text, _ in lines], values))


def _lines(ratios: Sequence[Ratio]) -> Iterator[tuple[str, Ratio | None]]:
    """The lines beside the axis: what was done, in bold, and under it each that it is beside."""
    for what, group in groupby(ratios, key=lambda each: each.what):
        yield f"<b>{plain(what)}</b>", None
        for each in group:
            yield plain(f"{'floor' if each.floor else 'beside'}: {each.beside}"), each


def _layout(texts: Sequence[str], values: Sequence[float]) -> dict:
    ends = [math.log10(min(*values, 1)) - ROOM, math.log10(max(*values, 1)) + ROOM]
    middle = {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1}
    return {
        "title": {
            "text": "What ours takes, divided by what theirs takes: left of 1 ours is cheaper"
        },
        "height": ROW * len(texts) + AROUND,
        "margin": {"l": NAMES},
        "bargap": 0.3,
        "xaxis": {
            "type": "log",
            "range": ends,
            "title": {"text": "ours : theirs"},
            "showgrid": True,
            "dtick": 1,
            "exponentformat": "none",
        },
        "yaxis": {
            "tickvals": list(range(len(texts))),
            "ticktext": texts,
            "tickfont": {"size": LEAST},
            "range": [-0.6, len(texts) - 0.4],
            "showgrid": False,
            "zeroline": False,
        },
        "shapes": [{**middle, "line": {"color": GREY, "dash": "dot", "width": 2}}],
    }
