"""Take a picture of every figure as a reader sees it: `python tools/screens.py [CHAPTER ...]`.

`--theme light` or `dark` takes one theme and not both, `--to DIR` another folder than
`runs/screens`. Each chapter opens in JupyterLab (browser.py) in a window of 1280 x 720 and runs.
Pictures: its top; each veil; each figure as it comes; each live one with its first control moved,
or two messages sent. A name is `04_trim.dark.trim-live.moved.png`. What is hard to
read there (looks.py), or does not fit on the screen, is printed; then the exit code is 1.
What it does *not* do: say what is beautiful. Somebody has to look at the pictures.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
import store
from browser import Lab, Page
from environment import ROOT
from launch import without_outputs
from looks import faults
from pictures import NoChromium
from playwright.sync_api import Locator

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
FOLDER = ROOT / "runs" / "screens"
PATIENCE = 300  # seconds for a chapter to run: nobody is waiting
ASKS = "live_client()"  # the cell that asks for a key
SAID = ("My order is 48213, and it arrived broken.", "What is my order?")
WITH = """(inner) => [...document.querySelectorAll('.jp-Cell')]
  .map((cell) => [...cell.querySelectorAll(inner)].some((it) => it.checkVisibility()))"""
VEIL = ".jupyter-button:disabled"
FIGURE = ".js-plotly-plot"
# The cell to the top of what Lab shows of a notebook, or its output where both do not fit.
SCROLL = """(cell) => {
  const room = cell.closest('.jp-WindowedPanel-outer');
  const output = cell.querySelector('.jp-Cell-outputWrapper');
  const whole = cell.getBoundingClientRect().height <= room.clientHeight;
  const top = (whole || !output ? cell : output).getBoundingClientRect().top;
  room.scrollTop += top - room.getBoundingClientRect().top;
}"""
# Px that the controls and the whole figure take more than Lab shows at once.
OVER = """(cell) => {
  const room = cell.closest('.jp-WindowedPanel-outer').clientHeight;
  const top = cell.querySelector('.jp-Cell-outputArea').getBoundingClientRect().top;
  const ends = [...cell.querySelectorAll('.js-plotly-plot')].map((plot) => {
    const frame = plot.closest('.widget-vbox[style*="max-height"]') ?? plot;
    return frame.getBoundingClientRect().bottom - top;
  });
  return Math.ceil(Math.max(0, ...ends) - room);
}"""
DRAWN = """(cell) => {
  const plots = [...cell.querySelectorAll('.js-plotly-plot .main-svg')];
  return plots.map((plot) => plot.clientWidth + plot.parentElement.innerHTML).join();
}"""


def main(argv: Sequence[str]) -> int:
    """Take the pictures that are asked for; returns the exit code."""
    asked = _asked(argv)
    try:
        paths = store.chosen(asked.chapters, store.NOTEBOOKS)
        chapters = [path for path in paths if path.stem != "solutions"]
        asked.to.mkdir(parents=True, exist_ok=True)
        return 1 if sum(_visited(chapters, asked.theme, asked.to)) else 0
    except (store.Unfit, NoChromium) as error:
        print(error, file=sys.stderr)
        return 1


def _asked(argv: Sequence[str]) -> argparse.Namespace:
    reader = argparse.ArgumentParser(prog="screens.py", description=__doc__.splitlines()[0])
    reader.add_argument("chapters", nargs="*", metavar="CHAPTER", help="as in 04; none: all")
    reader.add_argument("--theme", choices=THEMES, action="append", help="one theme, not both")
    reader.add_argument("--to", type=Path, default=FOLDER, metavar="DIR", help="where to")
    asked = reader.parse_args(argv)
    asked.theme = asked.theme or list(THEMES)
    return asked


def _visited(chapters: Sequence[Path], themes: Sequence[str], to: Path) -> Iterator[int]:
    """Visit one chapter after the other, and say what came of it; gives the number of faults."""
    with tempfile.TemporaryDirectory() as folder:
        for path in chapters:
            notebook = without_outputs(nbformat.read(path, as_version=4))
            nbformat.write(notebook, Path(folder, path.name))
        with Lab(Path(folder)) as lab:
            for path in chapters:
                tour = Tour(lab, path, themes, to)
                found = tour.visit()
                tour.page.close()
                print(f"{path.stem}: {tour.taken} pictures in {to}, {len(found)} faults")
                print(*(f"  {fault}\n" for fault in found), sep="", end="", flush=True)
                yield len(found)


class Tour:
    """A walk through one chapter, with a camera."""

    def __init__(self, lab: Lab, path: Path, themes: Sequence[str], to: Path) -> None:
        self.chapter, self.themes, self.to = path.stem, themes, to
        self.asked = ASKS in path.read_text(encoding="utf-8")
        self.taken, self.found = 0, []
        self.page = lab.page(path.name)
        self.page.page.set_default_timeout(PATIENCE * 1000)

    def visit(self) -> list[str]:
        """Run the chapter and look at all there is to see; gives what is hard to read."""
        self.page.run_all(asked=self.asked)
        veiled = self.cells(VEIL)
        for theme in self.themes:
            wear(self.page, theme)
            self.picture(theme, next(iter(self.page.places)), "top", judged=False)
            for name in veiled:
                self.picture(theme, name, f"{name}.veil")
        for name in veiled:
            self.page.predict(name)
        for theme in self.themes:
            wear(self.page, theme)
            for name in self.cells(FIGURE):
                self.picture(theme, name, name)
        moved = [name for name in self.cells(FIGURE) if self.move(name)]
        for theme in self.themes:
            wear(self.page, theme)
            for name in moved:
                self.picture(theme, name, f"{name}.moved")
        return list(dict.fromkeys(self.found))

    def cells(self, inner: str) -> list[str]:
        """The names of the cells in which something of this kind shows."""
        shows = self.page.page.evaluate(WITH, inner)
        return [name for name, place in self.page.places.items() if shows[place]]

    def picture(self, theme: str, name: str, called: str, judged: bool = True) -> None:
        """Take a picture of a cell, and judge what its outputs look like."""
        cell = shown(self.page, name)
        self.page.screenshot(self.to / f"{self.chapter}.{theme}.{called}.png")
        self.taken += 1
        if not judged:
            return
        self.found += [f"{called}, {theme}: {fault}" for fault in judge(self.page, cell)]

    def move(self, name: str) -> bool:
        """Use a cell's first control, or send two messages; says whether there is one.

        A slider is judged at both ends, and rests a quarter of the way from the first.
        """
        cell = self.page.cell(name)
        if cell.locator("form").count():
            for words in SAID:
                cell.locator("form input").focus()
                self.page.write(words)
                self.page.idle()
        elif cell.locator("[role=slider]").count():
            self._slide(name, cell.locator("[role=slider]").first)
        elif cell.locator("input[type=checkbox]").count():
            cell.locator("input[type=checkbox]").first.press("Space")
        else:
            return False
        self.page.idle()
        return True

    def _slide(self, name: str, knob: Locator) -> None:
        for key in ("Home", "End"):
            knob.press(key)
            self.page.idle()
            found = judge(self.page, shown(self.page, name))
            self.found += [f"{name}, {key}: {fault}" for fault in found]
        first, last = (float(knob.get_attribute(f"aria-value{end}")) for end in ("min", "max"))
        self.page.type_number(name, round(first + (last - first) / 4))


def wear(page: Page, theme: str) -> None:
    """Put a theme on by the menu, as a reader does, unless JupyterLab wears it already."""
    wanted, tab = THEMES[theme], page.page
    worn = "() => document.body.dataset.jpThemeName"
    if tab.evaluate(worn) != wanted:
        tab.click('.lm-MenuBar-item:has(> .lm-MenuBar-itemLabel:text-is("Settings"))')
        tab.hover('.lm-Menu-item:has(> .lm-Menu-itemLabel:text-is("Theme"))')
        tab.click(f'.lm-Menu-item:has(> .lm-Menu-itemLabel:text-is("{wanted}"))')
        tab.wait_for_function(f"() => document.body.dataset.jpThemeName === '{wanted}'")


def shown(page: Page, name: str) -> Locator:
    """The cell at the top of the screen, once its figures are drawn and keep still."""
    cell, before = page.cell(name), None
    for _ in range(40):
        cell.evaluate(SCROLL)
        page.page.wait_for_timeout(150)
        now = cell.evaluate(DRAWN)
        if now == before:
            break
        before = now
    page.page.mouse.move(640, 715)  # off the figure, whose buttons would show
    return cell


def judge(page: Page, cell: Locator) -> list[str]:
    """What is hard to read in a cell's outputs, and how much too high its live figure is."""
    found = []
    for output in cell.locator(".jp-OutputArea-output").all():
        found += faults(page.page, output)
    over = cell.evaluate(OVER)
    if over > 0 and cell.locator("input").count():
        found.append(f"Controls and figure are {over} px higher than what the screen shows.")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
