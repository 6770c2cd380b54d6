"""Chapters on a page, as `start.py` opens them: every control of every live figure, by keyboard.

`ChapterTests` is what each test_browser_*.py runs on its chapters; a chapter is a list of
`Figure`, each with a function that plays anew what a position of its controls has to show. All of
a file's chapters are opened one after the other on one page of one JupyterLab, without outputs,
as `start.py` copies them into `my/`. What is not here: the chapters' own numbers.
"""

import functools
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from book import ROOT, copied
from browser import PATIENCE, Lab, Page
from needs import need_chromium
from playwright.sync_api import Locator

from chat_memory.charts import Chart
from chat_memory.strings import EN, t

WATCH = """() => {
  window.__updates = {};
  document.querySelectorAll('.jp-Cell').forEach((cell, place) =>
    cell.querySelectorAll('.js-plotly-plot').forEach(plot => plot.on('plotly_update', () => {
      window.__updates[place] = (window.__updates[place] ?? 0) + 1; })));
}"""
UPDATES = "() => { const seen = window.__updates; window.__updates = {}; return seen; }"
CENSUS = """() => [...document.querySelectorAll('.jp-Cell')].map(cell => {
  const count = (what) => cell.querySelectorAll('.jp-OutputArea-output ' + what).length;
  const plots = [...cell.querySelectorAll('.js-plotly-plot')];
  return { outputs: cell.querySelectorAll('.jp-OutputArea-child').length,
           controls: count('input') + count('button:not(.modebar-btn)'),
           sliders: count('[role=slider]'), tables: count('details'),
           traces: plots.map(plot => plot.data.length) };
})"""
# Of choices in a row one is enough. The buttons over a figure are plotly's own.
UNREACHED = """() => [...document.querySelectorAll('.jp-OutputArea-output')].flatMap(output =>
  [...output.querySelectorAll('input, button, select, textarea, summary, [role=slider]')]
    .filter(control => !control.matches('.modebar-btn, [data-reached]')
      && !control.closest('.widget-toggle-buttons')?.querySelector('[data-reached]'))
    .map(control => control.outerHTML))"""
NAMELESS = "trace"  # and its place: what plotly calls a trace without a name
TABLE = """cell => [...cell.querySelectorAll('details[open] tr')]
  .map(row => [...row.cells].map(cell => cell.textContent))"""


class Started(Lab):
    """The JupyterLab that `start.py` opens; what the reader gets is set by it alone."""

    def settings(self, home: Path) -> None:
        """None of our own."""

    def command(self) -> list[str]:
        return [sys.executable, f"{self.folder}/start.py", "--no-browser", f"--port={self.port}"]


@contextmanager
def started(folder: Path) -> Iterator[Page]:
    """A page on which `start.py` of a copied workbook has opened the first chapter."""
    need_chromium()
    book = copied(folder)
    for path in ROOT.glob("notebooks/*.ipynb"):
        shutil.copy(path, book / "notebooks")
    with Started(book) as lab:
        page = lab.page("my/00_start.ipynb", lab.address)
        yield page
        page.screenshot(folder / "last.png")
        page.close()


@dataclass(frozen=True)
class Figure:
    """A live figure: its cell, what a position shows, where its controls start, how they move."""

    cell: str
    draw: Callable[..., Chart]  # by the controls' values; raises ValueError if it is refused
    start: Mapping[str, object]
    moves: Sequence[tuple[str, object]]
    veil: bool = True

    def shown(self, values: Mapping[str, object]) -> dict:
        """The numbers of a position."""
        return drawn(self.draw(**{name: values[name] for name in self.start}))


class Chapter:
    """A chapter that is open and has run, with the veils of its figures lifted."""

    def __init__(self, page: Page, name: str, figures: Sequence[Figure]) -> None:
        self.page, self.figures = page, figures
        if name != "00_start":
            page.open(f"my/{name}.ipynb")
        self.run()
        self.first = census(self.page)

    def run(self) -> None:
        """Run all cells and lift the veils; every figure then shows where its controls start."""
        self.page.run_all()
        for figure in self.figures:
            if figure.veil:
                self.page.predict(figure.cell)
                told = self.page.cell(figure.cell).locator("[role=status]")
                assert "Now move the controls" in told.text_content()
        self.page.page.evaluate(WATCH)
        self.values = {n: value for figure in self.figures for n, value in figure.start.items()}
        self.expected = {figure.cell: figure.shown(self.values) for figure in self.figures}
        for figure in self.figures:
            self.wait_for(figure)

    def wait_for(self, figure: Figure) -> None:
        """Wait until a figure and its table show what they should."""
        wait_for(self.page, figure.cell, self.expected[figure.cell])

    def moved(self, figure: Figure, name: str, value: object) -> None:
        """Move a control by keyboard; a slider by the number box beside it."""
        self.page.enter(figure.cell)
        cell = self.page.cell(figure.cell)
        if type(value) is int:
            self.page.reach(number_box(cell, name))
            self.page.press("ControlOrMeta+a", *str(value), "Enter")
        else:
            self.page.reach(choice(cell, name, value))
            self.page.press("Space")
        self.follow(name, value)

    def stepped(self, figure: Figure, name: str, value: int) -> None:
        """Move a slider by an arrow, after keys that are commands of JupyterLab elsewhere."""
        cell = self.page.cell(figure.cell)
        self.page.reach(slider(cell, name))
        self.page.press("d", "d", "a", "x", "ArrowLeft")
        step = int(number_box(cell, name).get_attribute("step"))
        self.follow(name, value - step)

    def follow(self, name: str, value: object) -> None:
        """Assert that what hangs on a control has followed it, once, and nothing else has."""
        self.values[name] = value
        updates = {}
        for figure in self.figures:
            if name in figure.start:
                updates[str(self.page.places[figure.cell])] = self._follow(figure)
        self.page.idle()
        seen = self.page.page.evaluate(UPDATES)
        assert seen == {place: times for place, times in updates.items() if times}

    def _follow(self, figure: Figure) -> int:
        """Wait until a figure is right, or says why not; gives how often it had to change."""
        alert = self.page.cell(figure.cell).locator("[role=alert]")
        try:
            now = figure.shown(self.values)
        except ValueError as refused:
            alert.filter(has_text=str(refused).splitlines()[0]).wait_for()
            self.wait_for(figure)
            return 0
        before, self.expected[figure.cell] = self.expected[figure.cell], now
        assert now != before  # else nobody would see a figure that stands still
        self.wait_for(figure)
        alert.wait_for(state="detached")
        return 1


def fixtures(chapters: Mapping[str, Sequence[Figure]]) -> tuple:
    """The fixtures of a test file: one page, and on it its chapters, one after the other."""

    @pytest.fixture(scope="module")
    def page(tmp_path_factory):
        with started(tmp_path_factory.mktemp("book")) as page:
            yield page

    @pytest.fixture(scope="module", params=chapters)
    def chapter(page, request):
        return Chapter(page, request.param, chapters[request.param])

    return page, chapter


class ChapterTests:
    """What holds for each chapter; a `chapter` fixture opens them one after the other."""

    def test_every_control_moves_its_figure_by_keyboard_to_the_right_numbers(self, chapter):
        for figure in chapter.figures:
            unfold(chapter.page, figure.cell)
            chapter.wait_for(figure)
        for figure in chapter.figures:
            for name, value in figure.moves:
                chapter.moved(figure, name, value)
                if type(value) is int:
                    chapter.stepped(figure, name, value)
            if figure.veil:
                told = chapter.page.cell(figure.cell).locator("[role=status]")
                told.filter(has_text="The figure shows: ").wait_for()
        assert unreached(chapter.page) == []
        assert len(census(chapter.page)) == len(chapter.page.places)  # no cell went by `d d`

    def test_a_figure_fills_the_page_and_has_no_share_button(self, chapter):
        for figure in chapter.figures:
            chapter.page.wait_for_width(figure.cell)
            buttons = chapter.page.cell(figure.cell).locator(".modebar-btn")
            said = buttons.evaluate_all("all => all.map(b => b.dataset.title || b.ariaLabel)")
            assert said
            assert not any("loud" in name or "hare" in name for name in said)

    def test_a_second_run_doubles_nothing(self, chapter):
        chapter.run()
        assert census(chapter.page) == chapter.first
        for figure in chapter.figures:
            chapter.moved(figure, *figure.moves[0])

    def test_nothing_left_the_machine_and_no_script_failed(self, chapter):
        assert chapter.page.left == []
        assert chapter.page.errors == []


def wait_for(page: Page, cell: str, expected: Mapping[str, dict]) -> None:
    """Wait until a figure shows these numbers, and so does the table under it if it is open."""
    seen = page.wait_for(cell, lambda seen: seen["traces"] == expected)
    under = page.cell(cell)
    if not under.locator("details[open]").count():
        return
    for _ in range(PATIENCE * 10):
        if tabled(under.evaluate(TABLE), seen["traces"]):
            return
        page.page.wait_for_timeout(100)
    raise AssertionError(f"{under.evaluate(TABLE)} is not {seen['traces']}")


def unfold(page: Page, cell: str) -> None:
    """Open the table under a figure, by keyboard."""
    page.enter(cell)
    page.reach(page.cell(cell).locator("summary"))
    page.press("Enter")


def census(page: Page) -> list[dict]:
    """For each cell how many outputs, controls and figures it has, and traces in each."""
    return page.page.evaluate(CENSUS)


def unreached(page: Page) -> list[str]:
    """The controls of the page that the keyboard has not been in."""
    return page.page.evaluate(UNREACHED)


def label(name: str) -> str:
    return EN.get(f"control.{name}", name.replace("_", " "))


def slider(cell: Locator, name: str) -> Locator:
    return cell.locator(f'.widget-slider:has(> label:text-is("{label(name)}")) [role=slider]')


def number_box(cell: Locator, name: str) -> Locator:
    return cell.locator(f'.widget-text:has(> label[title="{label(name)}"]) input')


def choice(cell: Locator, name: str, value: object) -> Locator:
    """A checkbox, or the button of one of some choices."""
    if isinstance(value, bool):
        return cell.locator(f'.widget-checkbox:has(span:text-is("{label(name)}")) input')
    row = cell.locator(f'.widget-toggle-buttons:has(> label:text-is("{label(name)}"))')
    return row.get_by_role("button", name=value, exact=True)


def drawn(chart: Chart) -> dict:
    """The numbers of a chart, by the name of what shows them; plotly names what has no name."""
    names = [trace.name or f"{NAMELESS} {place}" for place, trace in enumerate(chart.data)]
    numbers = [{"x": list(trace.x), "y": list(trace.y)} for trace in chart.data]
    return dict(zip(names, numbers, strict=True))


def tabled(rows: Sequence[Sequence[str]], traces: Mapping[str, dict]) -> bool:
    """Whether a table's numbers are the plotted ones."""
    if not rows:
        return False
    columns = {column[0]: column[1:] for column in zip(*rows, strict=True)}
    kinds = {t("lens.place"): of_messages, t("frontier.facts"): of_strategies}
    same = next((kinds[each] for each in kinds if each in columns), of_turns)
    return same(columns, {name: traces[name] for name in traces if not name.startswith(NAMELESS)})


def of_turns(columns: Mapping[str, Sequence[str]], traces: Mapping[str, dict]) -> bool:
    """A column for each trace that has more than zeros, a row for each x."""
    xs, *_ = columns.values()
    for name, trace in traces.items():
        if any(trace["y"]):
            cells = dict(zip(map(number, xs), columns.get(name, ()), strict=False))
            if {x: number(cell) for x, cell in cells.items() if cell} != points(trace):
                return False
    return True


def of_messages(columns: Mapping[str, Sequence[str]], traces: Mapping[str, dict]) -> bool:
    """A row for each message: its bar is in the trace of its place."""
    rows = list(zip(columns[t("lens.tokens")], columns[t("lens.place")], strict=True))
    return all(
        trace["x"] == [number(tokens) if place == name else None for tokens, place in rows]
        for name, trace in traces.items()
    )


def of_strategies(columns: Mapping[str, Sequence[str]], traces: Mapping[str, dict]) -> bool:
    """A row for each strategy, the hollow one too: what it costs, and the facts it keeps."""
    facts = [
        functools.reduce(lambda a, b: a / b, map(int, cell.split("/")))
        for cell in columns[t("frontier.facts")]
        if cell
    ]
    costs = [cell for cell in columns[t("frontier.dollars")] if cell]
    told = sorted(zip(costs, facts, strict=True))
    dots = [trace for name, trace in traces.items() if name != t("frontier.line")]
    return told == sorted(
        (f"${x:,.4f}", y) for trace in dots for x, y in zip(trace["x"], trace["y"], strict=True)
    )


def points(trace: Mapping[str, Sequence]) -> dict:
    return dict(zip(trace["x"], trace["y"], strict=True))


def number(text: str) -> float:
    return float(re.sub("[≈,]", "", text))
