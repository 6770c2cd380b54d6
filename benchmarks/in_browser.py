"""What a reader waits for: from the key on a slider to the painted chart, in JupyterLab.

Four notebooks are open in Chromium at once, each with a kernel of its own and a slider of as many
positions as the chat has turns. A round presses the same key once in each of them, so that a busy
moment meets all alike. The clock is the browser's (`Page.timed` in tools/browser.py): it starts
with the key and stops when the last change of the figure was painted.

This file does *not* measure how long a notebook takes to open: that is starting.py.
"""

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from browser import Lab, Page
from nbformat import v4
from pictures import NoChromium, browser
from ratios import Ratio
from store import METADATA

from chat_memory.tables import Table

AIM = 250  # milliseconds from the key to the painted chart, from memory
ROUNDS = 20
WARMED = 2  # rounds before the first that counts: the first moves load code
PAUSE = 300  # milliseconds between two keys, so that none meets the end of the one before

OURS = """import sys
sys.path.insert(0, {folder!r})
from slider import chart
from chat_memory.conversations import even_chat
live = chart(even_chat({turns}), {turns})
"""
VISITED = "for most in range(1, {turns} + 1):\n    live.at(max_turns=most)\n"
BARE = """import ipywidgets
import plotly.graph_objects as go
turns = range(1, {turns} + 1)
prompts = [[100 * min(turn, most) for turn in turns] for most in turns]
figure = go.FigureWidget(go.Bar(x=list(turns), y=prompts[0]))
figure.update_layout(yaxis_range=[0, 100 * {turns}])
slider = ipywidgets.IntSlider(1, 1, {turns})
slider.observe(lambda change: figure.data[0].update(y=prompts[change.new - 1]), names="value")
ipywidgets.VBox([slider, figure])"""
INTERACT = """import ipywidgets
slider = ipywidgets.IntSlider(1, 1, {turns})
ipywidgets.interact(lambda most: live.at(max_turns=most), most=slider);"""

MEMORY, PLAYED = "Live, from memory", "Live, played anew"
SWAP, ANEW = "a FigureWidget that swaps one array", "the chart drawn anew into an Output"
WAYS = {
    MEMORY: OURS + VISITED + "live",
    PLAYED: OURS + "live",
    SWAP: BARE,
    ANEW: OURS + VISITED + INTERACT,
}


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """One table, in milliseconds; a sentence where there is no Chromium.

    Quick, all ways stand in one notebook, which opens sooner.
    """
    try:
        browser()
    except NoChromium:
        yield "There is no Chromium on this machine: install chromium to measure in it."
        return
    turns, rounds = (8, 1) if quick else (50, ROUNDS)
    notebooks = [list(WAYS)] if quick else [[name] for name in WAYS]
    taken, version = measured(notebooks, turns, rounds)
    middle = {name: statistics.median(values) for name, values in taken.items()}
    yield f"Key to painted chart, {turns} turns, {rounds} moves each, milliseconds. {version}."
    heads = ["way", "median", "aim", "90 of 100", "least", "to the bare one"]
    yield Table(heads, [row(name, each, middle[SWAP]) for name, each in taken.items()])
    memory = ("a chart from memory, in the browser", middle[MEMORY], "ms")
    yield Ratio(*memory, SWAP, middle[SWAP], AIM, floor=True)
    yield Ratio(*memory, ANEW, middle[ANEW])
    yield Ratio("a chart played anew, in the browser", middle[PLAYED], "ms", ANEW, middle[ANEW])


def row(name: str, values: list[float], bare: float) -> tuple:
    """What a way's keys took, beside the bare one's median."""
    aim = AIM if name == MEMORY else None
    middle = statistics.median(values)
    figures = (round(each) for each in (tenths(values), min(values)))
    return name, round(middle), aim, *figures, round(middle / bare, 1)


def tenths(values: list[float]) -> float:
    """What nine of ten values don't exceed."""
    return sorted(values)[-(-9 * len(values) // 10) - 1]


def measured(notebooks: list[list[str]], turns: int, rounds: int) -> tuple[dict, str]:
    """The milliseconds of every key by way, and the browser's version."""
    taken: dict[str, list[float]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory(prefix="browser") as folder:
        write(Path(folder), notebooks, turns)
        with Lab(Path(folder)) as lab:
            pages = {}
            for number, names in enumerate(notebooks):
                pages |= dict.fromkeys(names, opened(lab, f"{number}.ipynb", names))
            for _ in range(WARMED + rounds):
                for name, page in pages.items():
                    taken[name].append(moved(page, name))
            version = f"Chromium {lab.browser.version}"
    return {name: each[WARMED:] for name, each in taken.items()}, version


def write(folder: Path, notebooks: list[list[str]], turns: int) -> None:
    """Write the notebooks into a folder, a cell for each way in them."""
    words = {"folder": str(Path(__file__).parent), "turns": turns}
    for number, names in enumerate(notebooks):
        cells = [v4.new_code_cell(WAYS[n].format(**words), id=cell_id(n)) for n in names]
        notebook = v4.new_notebook(cells=cells, metadata=METADATA)
        nbformat.write(notebook, folder / f"{number}.ipynb")


def cell_id(name: str) -> str:
    """The id of the cell of a way."""
    return f"way-{list(WAYS).index(name)}"


def opened(lab: Lab, notebook: str, names: list[str]) -> Page:
    """A notebook that has run, with all its figures drawn."""
    page = lab.page(notebook)
    page.run_all()
    for name in names:
        page.cell(cell_id(name)).locator(".js-plotly-plot .main-svg").first.wait_for()
    return page


def moved(page: Page, name: str) -> float:
    """The milliseconds of one key on the slider of a way."""
    page.page.bring_to_front()
    page.cell(cell_id(name)).locator("[role=slider]").focus()
    page.page.wait_for_timeout(PAUSE)
    return page.timed(cell_id(name), "ArrowRight")
