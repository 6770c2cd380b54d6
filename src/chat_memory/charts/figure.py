"""What every chart of the workbook shares: its look, and its numbers as a text table.

A `Chart` is a plotly figure that shows itself in two forms at once: the figure as plotly JSON,
and a table of the same numbers as text, for a screen reader, for a diff and for nbval.
The look is fixed here once: white paper with dark ink (in the dark theme too), 16 px type and
never less than 13, Okabe-Ito colours, no legend (labels stand where the data end).
The JSON stays small, since a notebook stores it: no template beyond what plotly insists on.
What is not here: what a chart draws (draw.py, context_lens.py) and anything that moves (live.py).
Nothing in a figure asks for a file from the network, and no button sends one there.
"""

import html
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

# plotly imports nbformat, which imports jsonschema, which imports rfc3987_syntax where it is
# installed: that one compiles 39 grammars at import, 2 s of CPU at every kernel start, for a
# check of addresses that no notebook needs. jsonschema goes without when the import fails.
# https://github.com/python-jsonschema/jsonschema/issues/1428
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import plotly.graph_objects as go  # noqa: E402 (after the line above, on purpose)

from chat_memory.lines import columns  # noqa: E402
from chat_memory.strings import t  # noqa: E402

PLOTLY = "application/vnd.plotly.v1+json"
INK, GREY, GRID = "#1b1f24", "#5f6670", "#e3e6ea"
BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"  # Okabe and Ito
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, INK)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
TYPE, TITLE, LABEL, TICK, LEAST = 16, 18, 15, 14, 13  # px

NUMBER = re.compile(r"([-≈$]*\d[\d,.]*)?")  # a cell of a table that stands to the right
_AXIS = {
    "title": {"standoff": 8, "font": {"size": LABEL}},
    "gridcolor": GRID,
    "linecolor": INK,
    "tickfont": {"size": TICK},
    "zerolinecolor": GRID,
}
_STYLE = {
    "template": {},
    "paper_bgcolor": "white",
    "plot_bgcolor": "white",
    "font": {"family": "Arial, sans-serif", "size": TYPE, "color": INK},
    "title": {
        "x": 0,
        "xref": "container",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 16, "l": 24},
        "font": {"size": TITLE},
    },
    # The tick labels keep off the axis: a cross on it would touch them.
    "xaxis": {**_AXIS, "showgrid": False, "showline": True, "ticklabelstandoff": 4},
    "yaxis": {**_AXIS, "separatethousands": True},
    "autosize": True,
    "height": 400,
    "margin": {"l": 92, "r": 24, "t": 56, "b": 52},
    "showlegend": False,
    "hovermode": "closest",
    # "sendChartToCloud" is plotly 7's "Share chart" button: it uploads the figure.
    "modebar": {"remove": ["sendChartToCloud", "select2d", "lasso2d", "autoScale2d"]},
}


class Chart(go.Figure):
    """A plotly figure in the workbook's look, shown as figure and as text table together.

    `columns` maps a heading to its cells and replaces the table that `table` reads off the
    traces; a chart needs it only where the traces alone do not say enough.
    """

    # plotly's own would print, or build HTML that fetches plotly.js from a CDN.
    _ipython_display_ = None
    _repr_html_ = None

    def __init__(
        self,
        data: object = None,
        layout: Mapping | None = None,
        columns: Mapping[str, Sequence] | None = None,
    ) -> None:
        super().__init__(data=data, layout=_merged(_STYLE, layout or {}))
        self._columns = columns

    def table(self) -> str:
        """Give the numbers of this chart as aligned text."""
        return table(self)

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None, **_: object
    ) -> dict[str, object]:
        return still(self)


def still(figure: go.Figure) -> dict[str, object]:
    """Give the still form of any figure: plotly JSON and the text table, by MIME type."""
    body = figure.to_plotly_json()
    body["config"] = {"displaylogo": False}
    return {PLOTLY: body, "text/plain": table(figure)}


def table(figure: go.Figure) -> str:
    """Give a figure's numbers as aligned text under its title."""
    texts = cells(figure)
    lines = [_line(row, texts) for row in zip(*texts, strict=True)]
    return "\n".join([finding(figure), *([""] if lines else []), *lines])


def cells(figure: go.Figure) -> list[list[str]]:
    """Give a figure's numbers as columns of text, each under its heading.

    A row for each x, a column for each trace that has a name and something but zeros; its
    headings are the x axis's title and the traces' names. A trace without a name is decoration.
    """
    own = getattr(figure, "_columns", None)
    named = _columns(figure) if own is None else own
    return [[name, *(_cell(value) for value in column)] for name, column in named.items()]


def finding(figure: go.Figure) -> str:
    """Give a figure's title, which states what it shows, as one line of plain text."""
    return html.unescape((figure.layout.title.text or "").replace("<br>", " "))


def title(text: str) -> dict[str, str]:
    """Give a layout's title, broken before it runs out of the picture.

    >>> title("It costs $5")
    {'text': 'It costs &#36;5'}
    """
    letters = 88 * len(text) // max(columns(text), 1)  # a Hangul syllable is twice as wide
    return {"text": "<br>".join(map(plain, textwrap.wrap(text, letters)))}


def plain(text: str) -> str:
    """Give a text so that plotly writes it as it is: no tags, no TeX between two $."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def spread(places: Sequence[float], gap: float, top: float) -> list[float]:
    """Move label places apart to at least `gap`, in their order, and below `top` if they fit.

    >>> spread([1, 2, 50], gap=10, top=100)
    [1, 11, 50]
    >>> spread([95, 99], gap=10, top=100)
    [90, 100]
    """
    moved = list(places)
    order = sorted(range(len(moved)), key=moved.__getitem__)
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + gap)
    ceiling = top
    for place in reversed(order):
        moved[place] = min(moved[place], ceiling)
        ceiling = moved[place] - gap
    return moved


def _merged(base: Mapping, more: Mapping) -> dict:
    """Lay `more` over `base`, dict by dict."""
    both = {**base, **more}
    for key in base.keys() & more.keys():
        if isinstance(base[key], Mapping) and isinstance(more[key], Mapping):
            both[key] = _merged(base[key], more[key])
    return both


def _columns(figure: go.Figure) -> dict[str, list]:
    """Read the table off the traces."""
    traces = [trace for trace in figure.data if trace.name and any(_words(trace) or trace.y or ())]
    xs = list(dict.fromkeys(x for trace in traces for x in trace.x))
    if all(isinstance(x, int | float) for x in xs):
        xs.sort()
    columns = {figure.layout.xaxis.title.text or t("chart.turn"): xs} if traces else {}
    for trace in traces:
        cells = _cells(trace, figure.layout.yaxis)
        columns[trace.name] = [cells.get(x) for x in xs]
    return columns


def _words(trace: object) -> tuple:
    """Give the words or signs that a trace writes into the figure, () if it writes none."""
    writes = "text" in (getattr(trace, "mode", None) or "")
    return trace.text if writes and any(trace.text or ()) else ()


def _cells(trace: object, axis: go.layout.YAxis) -> dict[object, object]:
    """Give a trace's cells by x: its number, or the word that the figure writes and the number."""
    words = _words(trace) or [""] * len(trace.y)
    return {
        x: word + (_cell(_value(y, axis)) if y else "") if word else _value(y, axis)
        for x, y, word in zip(trace.x, trace.y, words, strict=True)
    }


def _value(value: object, axis: go.layout.YAxis) -> object:
    """Write a number as its axis does, where the axis has a format that Python shares."""
    if isinstance(value, float) and axis.tickformat:
        return f"{axis.tickprefix or ''}{value:{axis.tickformat}}"
    return value


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return str(value)


def _line(row: Iterable[str], cells: list[list[str]]) -> str:
    """Pad one row: text to the left, numbers to the right."""
    padded = []
    for text, column in zip(row, cells, strict=True):
        room = " " * (max(map(columns, column)) - columns(text))
        numbers = all(NUMBER.fullmatch(cell) for cell in column[1:])
        padded.append(room + text if numbers else text + room)
    return "  ".join(padded).rstrip()
