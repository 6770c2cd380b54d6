"""A pure chart of one number against another: a bill against a limit, a saving against turns.

`draw_curve` takes points you have worked out, `{label: {x: y}}`, where the other charts take
calls. What is not here: how the points come about, axes and labels (frame.py).
"""

from collections.abc import Mapping

from chat_memory.charts.draw import draw_lines
from chat_memory.charts.figure import Chart
from chat_memory.charts.frame import Frame
from chat_memory.strings import t


def draw_curve(
    series: Mapping[str, Mapping[int, float]],
    across: str,
    up: str,
    *,
    title: str | None = None,
    top: float | None = None,
    last: int | None = None,
) -> Chart:
    """Draw one line for each label through its points `{x: y}`; at most five lines.

    `across` and `up` are the ids, after "chart.", of the axes' names in strings.en.toml; `top` and
    `last` fix the axes.
    """
    frame = Frame(t(f"chart.{up}"), title, None, top, last, across=across)
    return draw_lines(series, frame, "chart.title.curve")
