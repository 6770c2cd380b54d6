"""The memory of a kernel: after nothing, after the imports, with a chart, with a long history.

Each case has a kernel of its own. *Now* is what it holds when the work is done, *most* what it
held at any time: what a teacher's server with thirty kernels has to have.

This file does *not* count the JupyterLab server, nor the browser.
"""

import statistics
from collections.abc import Iterator
from pathlib import Path

from fresh import Kernel
from ratios import Ratio

from chat_memory.tables import Table

READ = "from resident import resident; print(*resident())"
FIGURE = "import plotly.graph_objects as go; figure = go.FigureWidget()"
OURS = "import chat_memory, chat_memory.charts; " + FIGURE
LIVE = """from slider import chart
from chat_memory.conversations import even_chat
live = chart(even_chat({turns}), {turns})
for most in range(1, {turns} + 1):
    live.at(max_turns=most)"""
HISTORY = """import history
from chat_memory.recount import Record
record = Record(history.made({turns}))
for strategy in history.every().values():
    record.recount(strategy)"""
BARE, PLOTLY, IMPORTS = "nothing", "plotly's FigureWidget", "chat_memory, charts, FigureWidget"


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """One table, in MB, and what ours hold beside a notebook that only draws."""
    turns, long = (8, 10) if quick else (50, 625)
    live, history = f"a Live of {turns} turns, all visited", f"{8 * long:,} messages, recounted"
    cases = {BARE: "", PLOTLY: FIGURE, IMPORTS: OURS}
    cases |= {live: LIVE.format(turns=turns), history: HISTORY.format(turns=long)}
    rounds = 1 if quick else 3
    held = {
        name: statistics.median_low(held_after(code) for _ in range(rounds))
        for name, code in cases.items()
    }
    yield "Resident memory of a kernel, MB."
    rows = [
        (name, now, most, round(now / held[PLOTLY][0], 2)) for name, (now, most) in held.items()
    ]
    yield Table(["after", "now", "most", f"to {PLOTLY}"], rows)
    for name in (IMPORTS, live, history):
        yield Ratio(
            f"memory after {name}", held[name][0], "MB", PLOTLY, held[PLOTLY][0], floor=True
        )


def held_after(code: str) -> tuple[float, float]:
    """Megabytes that a new kernel holds after this code, and at the most."""
    with Kernel() as kernel:
        kernel.run(f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})")
        kernel.run(code)
        now, most = kernel.run(READ).split()
    return round(int(now) / 1e6), round(int(most) / 1e6)
