"""A pure chart of what strategies keep against what they cost: each is a point, the best a line.

A strategy is on the *frontier* if nothing cheaper keeps as much. Its point is a blue circle, that
of any other a grey square; `Everything` is hollow, for offline it looks perfect, and real models
are reported to get worse with length. Points bear numbers (`numbers.py` places them), and their
names stand beside the chart in the order of the rows, so that no slider renumbers them.
What is not here: the figures, which come from `comparison.py`; nothing here plays or asks a model.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat_memory.charts.figure import BLUE, GREY, INK, LABEL, LEAST, Chart, go, plain
from chat_memory.charts.figure import title as title_of
from chat_memory.charts.numbers import Mark, numbers
from chat_memory.strategies import Everything, name_of
from chat_memory.strings import t
from offline_gemini.sentences import refusal

if TYPE_CHECKING:
    from chat_memory.comparison import Row

WORTH = {"dollars": "${:,.4f}", "uncached": "${:,.4f}", "prompt": "{:,}"}  # and how it is written
HEIGHT = 450  # px, with two notes below: whole under three controls on a screen of 720
ROOM = 1.08  # of the highest value, so that nothing touches the edge
TOP, BOTTOM = 1.1, -0.06  # of the axis: above all and below none there is room for a number
ROW = 21  # px: a line of labels
FOOT = 100  # letters in a line below the chart
RIM = 3  # px: of the ring; it is wide enough to be seen around a point at the same place
SIZES = {"circle": 12, "circle-open": 20, "square": 9}
SIGNS = {"circle": "●", "circle-open": "○", "square": "■"}


@dataclass(frozen=True)
class Point:
    """A strategy on the chart: its number beside the names, what it costs and keeps."""

    number: int
    row: "Row"
    x: float
    best: bool

    @property
    def y(self) -> float:
        """The share of facts kept."""
        return self.row.kept

    @property
    def symbol(self) -> str:
        """How it is drawn: by form, so that colour is not needed."""
        return "circle-open" if self.hollow else "circle" if self.best else "square"

    @property
    def hollow(self) -> bool:
        """Whether it is `Everything`, whose place is too good to be true."""
        return self.row.strategy == name_of(Everything())

    @property
    def colour(self) -> str:
        """Blue on the frontier, and grey beside it."""
        return BLUE if self.best else GREY


def draw_frontier(
    rows: Sequence["Row"],
    worth: str = "dollars",
    *,
    title: str | None = None,
    top: float | None = None,
) -> Chart:
    """Draw the share of facts kept against what the whole chat costs, a point for each row.

    `rows` are those of one conversation; of several rows of one name the last counts. `worth` is
    "dollars" (with the cache at its best), "uncached" (dollars without it) or "prompt" (tokens);
    `top` fixes that axis. A refused row is named below. Raises ValueError for rows of several
    conversations or of one without probes.
    """
    rows = list({row.strategy: row for row in rows}.values())
    _require_one(rows)
    if worth not in WORTH:
        raise refusal(f"worth is {worth!r}, and there are: {', '.join(WORTH)}.")
    points = _points(rows, worth)
    top = top or ROOM * (max((point.x for point in points), default=0) or 1)
    layout = _layout(points, worth, title or _finding(points, worth), _foot(rows, points))
    layout["xaxis"]["range"] = [0, top]
    layout["annotations"] += _numbers(points, top)
    return Chart(_traces(points), layout, _columns(rows, points, worth))


def _layout(points: Sequence[Point], worth: str, title: str, foot: Sequence[str]) -> dict:
    """All around the points but the axis of what they cost, and their numbers on it."""
    heading = title_of(title)
    longest = max((len(point.row.strategy) for point in points), default=0)
    kept = {"title": {"text": t("frontier.kept")}, "range": [BOTTOM, TOP]}
    top = 56 + 22 * heading["text"].count("<br>")
    return {
        "title": heading,
        "height": HEIGHT + ROW * max(len(foot) - 2, 0),
        "xaxis": {"title": {"text": t(f"frontier.{worth}"), "standoff": 4}, **_ticks(worth)},
        "yaxis": kept | {"tickformat": ".0%", "dtick": 0.25},
        "annotations": [*_names(points), *_lines(foot)],
        "margin": {"r": 60 + 8 * longest, "t": top, "b": 52 + ROW * len(foot)},
    }


def _require_one(rows: Sequence["Row"]) -> None:
    conversations = {row.script.name for row in rows}
    if len(conversations) != 1:
        raise refusal(
            f"The frontier is drawn of one conversation, and these rows are of "
            f"{len(conversations)}: give those of one, such as compared('support')."
        )
    if not all(row.probes for row in rows):
        raise refusal(
            f"{rows[0].conversation} has no probe in the turns played, so nothing says what a "
            "strategy keeps: take a conversation with probes, or play more turns."
        )


def _points(rows: Sequence["Row"], worth: str) -> list[Point]:
    """The rows that were not refused, numbered in their order, the best of them marked."""
    places = {
        number: (getattr(row, worth), row.kept)
        for number, row in enumerate(rows, 1)
        if not row.refused
    }
    return [
        Point(
            number,
            rows[number - 1],
            x,
            not any(_beats(other, (x, y)) for other in places.values()),
        )
        for number, (x, y) in places.items()
    ]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether one costs no more and keeps no less, and is not the same."""
    return one[0] <= other[0] and one[1] >= other[1] and one != other


def _traces(points: Sequence[Point]) -> list[go.Scatter]:
    """The line along the frontier, and all points."""
    best = sorted((point.x, point.y) for point in points if point.best)
    line = go.Scatter(
        name=t("frontier.line"),
        x=[x for x, _ in best],
        y=[y for _, y in best],
        mode="lines",
        line={"color": BLUE, "width": 2, "dash": "dot", "shape": "hv"},
        hoverinfo="skip",
    )
    hollow = [point for point in points if point.hollow]
    filled = [point for point in points if not point.hollow]
    return [line, _dots(t("frontier.kept"), filled), _dots(name_of(Everything()), hollow)]


def _dots(name: str, points: Sequence[Point]) -> go.Scatter:
    """The points as markers; a later trace is drawn over an earlier one."""
    return go.Scatter(
        name=name,
        x=[point.x for point in points],
        y=[point.y for point in points],
        mode="markers",
        marker={
            "symbol": [point.symbol for point in points],
            "size": [SIZES[point.symbol] for point in points],
            "color": [point.colour for point in points],
            "opacity": 1,
            "line": {"width": RIM, "color": [point.colour for point in points]},
        },
        hovertext=[plain(point.row.strategy) for point in points],
        cliponaxis=False,
    )


def _numbers(points: Sequence[Point], top: float) -> list[dict]:
    """The numbers beside the points."""
    span = TOP - BOTTOM
    marks = [
        Mark(p.number, p.x / top, (p.y - BOTTOM) / span, (SIZES[p.symbol] + RIM) / 2)
        for p in points
    ]
    return [n | {"x": n["x"] * top, "y": n["y"] * span + BOTTOM} for n in numbers(marks)]


def _names(points: Sequence[Point]) -> list[dict]:
    """The name of each point, under each other to the right of the chart."""
    return [
        {
            "text": _signed(point),
            "x": 1.02,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "paper",
            "yanchor": "top",
            "yshift": -ROW * place,
            "showarrow": False,
            "align": "left",
            "font": {"size": LABEL},
        }
        for place, point in enumerate(points)
    ]


def _signed(point: Point) -> str:
    sign = f'<span style="color:{point.colour}">{SIGNS[point.symbol]}</span>'
    return f"{point.number} {sign} {plain(_called(point.row))}"


def _called(row: "Row") -> str:
    return row.strategy + (t("compare.mark") if row.from_case else "")


def _foot(rows: Sequence["Row"], points: Sequence[Point]) -> list[str]:
    """What a reader has to know of some points, and why some rows are none."""
    notes = [t("frontier.rot")] if any(point.hollow for point in points) else []
    notes += [t("compare.note.case")] if any(row.from_case for row in rows) else []
    notes += [
        t("frontier.refused", strategy=row.strategy, reason=row.refused)
        for row in rows
        if row.refused
    ]
    return [line for note in notes for line in textwrap.wrap(note, FOOT)]


def _lines(foot: Sequence[str]) -> list[dict]:
    """The notes as lines below the axis."""
    return [
        {
            "text": plain(line),
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 0,
            "yref": "paper",
            "yanchor": "top",
            "yshift": -44 - ROW * place,
            "showarrow": False,
            "align": "left",
            "font": {"size": LEAST + 1, "color": INK},
        }
        for place, line in enumerate(foot)
    ]


def _finding(points: Sequence[Point], worth: str) -> str:
    """State which strategy keeps most for the least."""
    if not points:
        return t("frontier.title.none")
    best = min(points, key=lambda point: (-point.y, point.x, point.number))
    return t(
        "frontier.title",
        strategy=best.row.strategy,
        kept=best.row.score.in_request,
        probes=best.row.probes,
        worth=WORTH[worth].format(best.x),
    )


def _ticks(worth: str) -> dict:
    near = {"nticks": 7, "ticklabelstandoff": 0}  # the axis: there are notes below
    if worth == "prompt":
        return near | {"tickformat": ",d"}
    return near | {"tickprefix": "$", "tickformat": ",.4~f"}


def _columns(rows: Sequence["Row"], points: Sequence[Point], worth: str) -> dict[str, list]:
    """The points as a table, and the refused rows with dashes."""
    known = {point.row.strategy: point for point in points}
    found = [known.get(row.strategy) for row in rows]
    return {
        t("compare.strategy"): [_called(row) for row in rows],
        t(f"frontier.{worth}"): [p and WORTH[worth].format(p.x) for p in found],
        t("frontier.facts"): [p and f"{p.row.score.in_request}/{p.row.probes}" for p in found],
        t("frontier.line"): [p and t("table.yes" if p.best else "table.no") for p in found],
    }
