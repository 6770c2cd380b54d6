"""Stored outputs are what the next run gives again, and `--check` finds everything else."""

import json
import os
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import nbformat
import pictures
import pytest
import store
from nbformat import v4
from needs import lack, need_chromium

FIGURE = """
class Figure:
    def _repr_mimebundle_(self, include=None, exclude=None):
        trace = {"type": "bar", "x": [1, 2], "y": [LAST, 225]}
        figure = {"data": [trace], "layout": {"height": 200}}
        return {
            "application/vnd.plotly.v1+json": figure,
            "application/vnd.jupyter.widget-view+json": {"model_id": str(id(self))},
            "text/plain": "A title\\n\\nturn  tokens sent\\n   1           LAST",
        }
Figure()
"""


ALT = "A title. The same numbers stand as a table in the text of this output: turn; tokens sent."


class Pencil:
    """Draws nothing, and remembers what it was asked to draw."""

    drawn: list = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def draw(self, figure):
        self.drawn.append(figure)
        return b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def pencil(monkeypatch):
    monkeypatch.setattr(store, "Pencil", Pencil)
    monkeypatch.setattr(Pencil, "drawn", [])
    return Pencil


def write(path, *sources, **metadata):
    cells = [v4.new_markdown_cell("# Title", id="title")]
    for number, source in enumerate(sources):
        cells.append(v4.new_code_cell(source, id=f"cell-{number}"))
        if "raise" in source:
            cells[-1].metadata["tags"] = ["raises-exception"]
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata = nbformat.from_dict(store.METADATA | metadata)
    nbformat.write(notebook, path)
    return path


def read(path):
    return json.loads(path.read_text())


def outputs(path):
    return [out for cell in read(path)["cells"] for out in cell.get("outputs", [])]


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A notebook with each kind of output, stored once."""
    folder = tmp_path_factory.mktemp("master")
    path = write(
        folder / "01_try.ipynb",
        "import os\nprint(os.environ.get('GEMINI_API_KEY'), os.environ['CHAT_MEMORY_STATIC'])",
        FIGURE.replace("LAST", "54"),
        "raise ValueError('a sentence')",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "Pencil", Pencil)
        assert store.main([], folder) == 0
    return path


@pytest.fixture
def stored(master, tmp_path):
    return Path(shutil.copy(master, tmp_path))


def test_it_runs_as_tests_run_it(tmp_path, pencil, monkeypatch, capsys):
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    monkeypatch.setenv("CHAT_MEMORY_MODEL", "another")
    code = "import os\nsorted(k for k in os.environ if k.startswith(('GEMINI', 'CHAT_MEMORY_M')))"
    path = write(tmp_path / "a.ipynb", code)
    assert store.main([], tmp_path) == 0
    assert outputs(path)[0]["data"]["text/plain"] == ["[]"]
    assert "secret" not in capsys.readouterr().out


def test_what_the_next_run_would_not_repeat_is_dropped(stored):
    stream, figure, error = outputs(stored)
    assert stream["text"] == ["None 1\n"]
    assert set(figure["data"]) == {store.PLOTLY, "image/png", "text/plain"}
    assert figure["metadata"] == {"image/png": {"alt": ALT}}
    assert error["traceback"] == ["ValueError: a sentence"]
    assert (error["ename"], error["evalue"]) == ("ValueError", "a sentence")
    notebook = read(stored)
    assert notebook["metadata"] == store.METADATA
    assert [cell["metadata"] for cell in notebook["cells"][:3]] == [{}, {}, {}]


def test_storing_again_changes_no_byte_and_draws_nothing(stored, tmp_path, pencil):
    before = stored.read_bytes()
    pencil.drawn.clear()
    assert store.main([], tmp_path) == 0
    assert stored.read_bytes() == before
    assert pencil.drawn == []


def test_the_picture_on_the_readme_is_the_one_of_its_chapter(stored, monkeypatch, capsys):
    monkeypatch.setattr(store, "FRONT", {stored.stem: ("cell-1", "front.png")})
    assert store.main(["--check"], stored.parent) == 1
    assert "front.png, which the README shows" in capsys.readouterr().out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "Pencil", Pencil)
        assert store.main([], stored.parent) == 0
    assert stored.with_name("front.png").read_bytes() == Pencil().draw(None)
    assert store.main(["--check"], stored.parent) == 0


def test_how_a_text_came_in_pieces_is_not_stored():
    pieces = [("stdout", "a\n"), ("stdout", "b\n"), ("stderr", "c\n"), ("stdout", "d\n")]
    outputs = [v4.new_output("stream", name=name, text=text) for name, text in pieces]
    outputs.insert(1, v4.new_output("display_data", {"text/plain": "shown"}))
    texts = [output.get("text") for output in store.together(outputs)]
    assert texts == ["a\n", None, "b\n", "c\n", "d\n"]
    assert [o.text for o in store.together(outputs[2:] + outputs[:1])][-1] == "d\na\n"


def test_a_changed_figure_is_drawn_again(stored, tmp_path, pencil):
    stored.write_text(stored.read_text().replace("[54, 225]", "[55, 225]"))
    pencil.drawn.clear()
    assert store.main([], tmp_path) == 0
    assert [figure["data"][0]["y"] for figure in pencil.drawn] == [[55, 225]]


def test_strict_nbval_passes_on_what_is_stored(stored):
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env"]
    own = os.environ | {"CHAT_MEMORY_STATIC": "1"}
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(stored)],
        cwd=stored.parent,
        env=own,
        capture_output=True,
        text=True,
    )
    assert "3 passed" in run.stdout, run.stdout


def test_a_failing_cell_leaves_the_notebook_as_it_was(tmp_path, pencil, capsys):
    path = write(tmp_path / "a.ipynb", "print(1)", "1 / 0")
    before = path.read_bytes()
    assert store.main([], tmp_path) == 1
    assert path.read_bytes() == before
    said = capsys.readouterr().err.splitlines()
    assert said == ["a.ipynb is not stored, a cell failed: ZeroDivisionError: division by zero"]


def test_only_the_named_notebooks_are_stored(tmp_path, pencil):
    first, second = (write(tmp_path / f"{name}.ipynb", "1") for name in ("01_one", "02_two"))
    before = first.read_bytes()
    assert store.main(["02"], tmp_path) == 0
    assert first.read_bytes() == before
    assert outputs(second)


def test_a_name_that_is_none_is_one_sentence(tmp_path, capsys):
    write(tmp_path / "01_one.ipynb", "1")
    assert store.main(["09"], tmp_path) == 1
    assert capsys.readouterr().err == "There is no notebook 09; there are 01_one.\n"


def test_without_a_browser_one_sentence_says_what_to_do(tmp_path, monkeypatch, capsys):
    path = write(tmp_path / "a.ipynb", FIGURE.replace("LAST", "54"))
    before = path.read_bytes()
    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setattr(pictures.shutil, "which", lambda name: None)
    assert store.main([], tmp_path) == 1
    assert capsys.readouterr().err == pictures.NO_CHROME + "\n"
    assert path.read_bytes() == before


def test_a_stored_notebook_has_no_problems(stored, tmp_path, capsys):
    assert store.main(["--check"], tmp_path) == 0
    assert capsys.readouterr().out == "1 notebooks are as stored.\n"


def spoil(path, change):
    notebook = read(path)
    change(notebook, notebook["cells"])
    path.write_text(json.dumps(notebook))


SPOILS = {
    "as stored (widgets)": lambda notebook, _: notebook["metadata"].update(widgets={}),
    "as stored (another kernel": lambda notebook, _: notebook["metadata"].update(kernelspec={}),
    "did not run 1, 2, 3": lambda _, cells: cells[2].update(execution_count=None),
    "did not run 1, 2": lambda _, cells: cells[2].update(execution_count=7),
    "cell cell-0 writes to stderr": lambda _, cells: cells[1]["outputs"][0].update(name="stderr"),
    "cell cell-1 stores a widget view": lambda _, cells: cells[2]["outputs"][0]["data"].update(
        {store.VIEW: {}}
    ),
    "cell cell-1 has a figure without its picture": lambda _, cells: cells[2]["outputs"][0][
        "data"
    ].pop("image/png"),
    "cell cell-1 has a picture without its alternative text": lambda _, cells: cells[2]["outputs"][
        0
    ].update(metadata={"image/png": {"alt": "A title"}}),
    "has a picture of 60,003 bytes": lambda _, cells: cells[2]["outputs"][0]["data"].update(
        {"image/png": "A" * 80_004}
    ),
    "cell cell-2 stores a whole traceback": lambda _, cells: cells[3]["outputs"][0].update(
        traceback=["a", "b"]
    ),
    "holds what JupyterLab left (scrolled)": lambda _, cells: cells[1]["metadata"].update(
        scrolled=True
    ),
    "bytes, more than 300,000": lambda _, cells: cells[0].update(source="x" * 300_000),
    "1 cells have no id": lambda _, cells: cells[1].pop("id"),
    "the id title is used 2 times": lambda _, cells: cells[1].update(id="title"),
}


@pytest.mark.parametrize("problem", SPOILS)
def test_check_names_each_problem_in_one_line(stored, tmp_path, capsys, problem):
    spoil(stored, SPOILS[problem])
    before = stored.read_bytes()
    capsys.readouterr()
    assert store.main(["--check"], tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("01_try.ipynb: ")
    assert problem in lines[0]
    assert stored.read_bytes() == before


def test_check_says_so_when_a_file_is_no_notebook(tmp_path, capsys):
    for name, text in {"a": "{", "b": "{}", "c": "[]"}.items():
        (tmp_path / f"{name}.ipynb").write_text(text)
    assert store.main(["--check"], tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["a.ipynb", "b.ipynb", "c.ipynb"]
    assert all("is no notebook" in line for line in lines)


# Pictures.


def png(rows, filters):
    """A PNG of RGB rows, each stored with its filter (PNG specification, section 9)."""
    width, packed, above = len(rows[0]), b"", bytes(len(rows[0]) * 3)
    for pixels, kind in zip(rows, filters, strict=True):
        row = b"".join(bytes(pixel) for pixel in pixels)
        packed += bytes([kind]) + bytes(
            (row[i] - guess(kind, row, above, i)) & 255 for i in range(len(row))
        )
        above = row
    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(packed)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def guess(kind, row, above, i):
    left, up = (row[i - 3] if i >= 3 else 0), above[i]
    corner = above[i - 3] if i >= 3 else 0
    nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
    return (0, left, up, (left + up) // 2, nearest)[kind]


ROWS = [[(x * 40 % 256, y * 50, (x * y * 7) % 256) for x in range(9)] for y in range(5)]


def test_every_filter_of_a_png_is_undone():
    width, height, pixels = pictures.read(png(ROWS, [0, 1, 2, 3, 4]))
    assert (width, height) == (9, 5)
    assert pixels == [bytes(pixel) for row in ROWS for pixel in row]


def test_a_small_picture_keeps_its_frequent_colours_exactly():
    rows = [[(0, 114, 178)] * 8 + [(1, 115, 179)], [(255, 255, 255)] * 9]
    small = pictures.small(png(rows, [0, 0]))
    chunks = dict(pictures._chunks(small))
    palette = [chunks[b"PLTE"][i : i + 3] for i in range(0, len(chunks[b"PLTE"]), 3)]
    packed = zlib.decompress(chunks[b"IDAT"])
    colours = [palette[number] for number in packed[1:10]]
    assert colours == [bytes((0, 114, 178))] * 9  # the rare neighbour looks the same
    assert set(palette) == {bytes((0, 114, 178)), bytes((255, 255, 255))}


def test_a_large_picture_loses_colours_before_it_loses_size(monkeypatch):
    rows = [[(grey := x * x * y % 251, grey, grey) for x in range(64)] for y in range(64)]
    drawn = png(rows, [0] * 64)
    whole = pictures.small(drawn)
    monkeypatch.setattr(pictures, "MOST", len(whole) - 1)
    fewer = pictures.small(drawn)
    assert len(fewer) < len(whole)
    assert fewer[16:24] == whole[16:24] == struct.pack(">II", 64, 64)


BARS = {"data": [{"type": "bar", "y": [54, 225]}], "layout": {"height": 300}}


def test_chromium_draws_a_small_picture():
    need_chromium()
    try:
        with pictures.Pencil() as pencil:
            drawn = pencil.draw(BARS)
    except pictures.NoFont as error:
        lack(str(error))
    assert struct.unpack(">II", drawn[16:24]) == (pictures.WIDTH, 300)
    assert len(drawn) < 20_000


def test_without_the_font_nothing_is_drawn(monkeypatch):
    need_chromium()
    monkeypatch.setattr(pictures, "FAMILY", "No such font")
    with pictures.Pencil() as pencil, pytest.raises(pictures.NoFont, match="Liberation Sans"):
        pencil.draw(BARS)
