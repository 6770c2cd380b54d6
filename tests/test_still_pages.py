"""Chapters as pages in Chromium, without a network: nbconvert's own, and those of the handout.

On both every figure shows as a picture in its full size. On ours a screen reader finds its words,
the numbers unfold under it, nothing is asked for, and on a phone no text runs out of the page.
What stands in a stored output: test_still.py.
"""

import subprocess
import sys
from contextlib import contextmanager

import handout
import pictures
import pytest
from browser import FLAGS
from needs import need_chromium
from playwright.sync_api import sync_playwright
from test_still import CELLS, NOTEBOOKS, PLOTLY, text

CHAPTERS = [path for path in NOTEBOOKS if path.stem != "solutions"]
SCREEN, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
SHOWN = """() => [...document.querySelectorAll('.jp-OutputArea img')].map(img => {
  const box = img.getBoundingClientRect();
  return {cell: img.closest('.jp-Cell').id.replace('cell-id=', ''),
    natural: img.naturalWidth, width: Math.round(box.width)};
})"""
# Texts that begin or end outside the window, and in no box that scrolls them in. Whether a box
# does is tried: a row of a table doesn't, whatever its style says.
LOST = """() => {
  const moves = (node) => {
    node.scrollLeft = 1;
    const moved = node.scrollLeft > 0;
    node.scrollLeft = 0;
    return moved;
  };
  const scrolls = (node) => node && node !== document.body && (
    /auto|scroll/.test(getComputedStyle(node).overflowX) && moves(node)
    || scrolls(node.parentElement));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), lost = [];
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width && (box.left < 0 || box.right > innerWidth + 1)
        && !scrolls(texts.currentNode.parentElement)) lost.push(texts.currentNode.data);
  }
  return lost;
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The pages of all chapters: `plain` as `jupyter nbconvert` makes them, and `ours`."""
    need_chromium()
    folder = tmp_path_factory.mktemp("pages")
    words = [*("-m", "nbconvert", "--to", "html", "--output-dir"), folder / "plain", *CHAPTERS]
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL) as plain:
        handout.make_pages(folder / "ours")
    assert plain.returncode == 0
    return folder


@pytest.fixture(scope="module")
def browser(folder):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=pictures.browser(), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser, path, size=SCREEN):
    """A page whose every question to a network is refused and noted."""
    page = browser.new_page(viewport=size)
    page.asked = []

    def answer(route):
        if route.request.url.startswith(("file:", "data:")):
            return route.continue_()
        page.asked.append(route.request.url)
        return route.abort()

    page.route("**/*", answer)
    page.goto(path.as_uri())
    try:
        yield page
    finally:
        page.close()


def figures(chapter):
    """The figures of a chapter by cell: the data and the metadata of their outputs."""
    outputs = [
        (c["id"], out) for path, c in CELLS if path == chapter for out in c.get("outputs", [])
    ]
    return {name: out for name, out in outputs if PLOTLY in out.get("data", {})}


def widths(page):
    return {
        picture["cell"]: (picture["natural"], picture["width"]) for picture in page.evaluate(SHOWN)
    }


@pytest.mark.parametrize("kind", ["plain", "ours"])
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_figure_shows_as_a_picture_in_its_full_size(browser, folder, chapter, kind):
    with opened(browser, folder / kind / f"{chapter.stem}.html") as page:
        full = (pictures.WIDTH, pictures.WIDTH)
        assert widths(page) == dict.fromkeys(figures(chapter), full) != {}
        page.set_viewport_size(PHONE)
        assert all(300 < width <= PHONE["width"] for _, width in widths(page).values())
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert kind == "plain" or page.asked == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_on_our_page_words_and_numbers_of_each_figure_are_within_reach(browser, folder, chapter):
    with opened(browser, folder / "ours" / f"{chapter.stem}.html", PHONE) as page:
        for name, out in figures(chapter).items():
            cell = page.locator(f"[id='cell-id={name}']")
            alternative = out["metadata"]["image/png"]["alt"]
            assert cell.get_by_role("img", name=alternative, exact=True).is_visible()
            numbers = cell.locator("details pre")
            assert not numbers.first.is_visible()
            cell.locator("summary").press("Enter")
            told = "\n\n".join(numbers.all_inner_texts())
            assert told.rstrip() == text(out["data"])
        assert page.evaluate(LOST) == []
        page.set_viewport_size(SCREEN)
        assert page.evaluate(LOST) == []


def test_a_text_that_runs_out_of_the_page_is_found(browser, tmp_path):
    page = tmp_path / "page.html"
    long = f"<pre>{'long ' * 99}</pre>"
    page.write_text(
        f"<div style='overflow:hidden'>{long}</div><div style='overflow:auto'>{long}</div>"
    )
    with opened(browser, page) as shown:
        assert shown.evaluate(LOST) == ["long " * 99]
