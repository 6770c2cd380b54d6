"""A fresh clone in JupyterLab, nothing trusted and nothing run: every output is there to see.

The cells of all chapters that have an output stand in one notebook, so that one page shows them
all. What a chapter shows that is run: test_browser_*.py.
"""

import nbformat
import pictures
import pytest
import store
from browser import Lab
from needs import need_chromium
from test_still import NOTEBOOKS, PLOTLY, text

# What a page shows of the outputs of each cell: sizes of pictures, and text.
SHOWN = """() => [...document.querySelectorAll('.jp-CodeCell')].map(cell =>
  [...cell.querySelectorAll('.jp-OutputArea-output')].map(output => ({
    text: output.textContent.trimEnd(),
    pictures: [...output.querySelectorAll('img')]
      .map(img => [img.naturalWidth, img.getBoundingClientRect().width])})))"""


@pytest.fixture(scope="module")
def cells():
    """The cells of all chapters that have an output."""
    books = [nbformat.read(path, as_version=4) for path in NOTEBOOKS]
    return [cell for book in books for cell in book.cells if cell.get("outputs")]


@pytest.fixture(scope="module")
def page(cells, tmp_path_factory):
    need_chromium()
    folder = tmp_path_factory.mktemp("clone")
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=store.METADATA)
    nbformat.write(notebook, folder / "all.ipynb")
    with Lab(folder) as lab:
        page = lab.page("all.ipynb")
        there = f"document.querySelectorAll('.jp-CodeCell').length == {len(cells)}"
        page.page.wait_for_function(there)
        yield page
        assert page.left == []
        assert page.errors == []
        page.close()


def stored(out):
    """The text that an output shows."""
    if PLOTLY in out.get("data", {}):
        return ""
    if out.output_type == "stream":
        return out.text.rstrip()
    return "\n".join(out.traceback) if out.output_type == "error" else text(out.data)


def test_nothing_is_trusted_and_yet_every_picture_and_every_text_shows(page, cells):
    """An output that waits for a kernel shows nothing here, and one with a script is stripped."""
    assert page.page.locator(".jp-StatusItem-trust[title^='Notebook not trusted: 0 of']").count()
    shown = page.page.evaluate(SHOWN)
    for cell, outputs in zip(cells, shown, strict=True):
        assert [seen["text"] for seen in outputs] == [stored(out) for out in cell.outputs], cell.id
        for seen, out in zip(outputs, cell.outputs, strict=True):
            if PLOTLY in out.get("data", {}):
                ((natural, wide),) = seen["pictures"]
                assert natural == pictures.WIDTH and wide > natural / 2, cell.id
