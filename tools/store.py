"""Execute the notebooks and store their outputs: `python3 start.py store [--check] [NAMES...]`.

A stored output is what a reader without a kernel sees, and what nbval compares. So a notebook is
run as tests run it (no key, no reader's setting, CHAT_MEMORY_STATIC=1), and what would differ at
the next run is dropped: widget views and state, timings, Python's version, tracebacks but their
last line. A figure gets a picture, drawn again only if the figure changed, and the picture its
alternative text: storing twice changes no byte. A notebook whose cell fails is left as it was.
`--check` runs nothing: it prints a line for each thing that storing would not have left, and
exits with 1. NAMES are chapters, as in `store 01 solutions`; none means all.
What it does *not* do: compare outputs (nbval does) and judge style (tests do).
"""

import json
import os
import re
import sys
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from environment import ROOT
from launch import checking
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode
from pictures import MOST, NoPencil, Pencil

from chat_memory.strings import t

NOTEBOOKS = ROOT / "notebooks"
VIEW = "application/vnd.jupyter.widget-view+json"
PLOTLY = "application/vnd.plotly.v1+json"
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
FRONT = {"07_hybrid": ("hyb-last", "walk.png")}  # the cell whose picture the README shows
LEFT_BY_LAB = {"ExecuteTime", "collapsed", "execution", "jupyter", "scrolled", "trusted", "vscode"}
LARGEST = 300_000  # bytes of a notebook
LONGEST = 300  # seconds a cell may take


class Unfit(Exception):
    """A notebook that cannot be stored, and why."""


def main(argv: list[str], folder: Path = NOTEBOOKS) -> int:
    """Store or check the notebooks that are named; returns the exit code."""
    names = [word for word in argv if word != "--check"]
    try:
        paths = chosen(names, folder)
        if "--check" not in argv:
            with Pencil() as pencil:
                for path in paths:
                    store(path, pencil)
    except (Unfit, NoPencil) as error:
        print(error, file=sys.stderr)
        return 1
    found = [f"{path.name}: {problem}" for path in paths for problem in problems(path)]
    print("\n".join(found) or f"{len(paths)} notebooks are as stored.")
    return 1 if found else 0


def chosen(names: list[str], folder: Path) -> list[Path]:
    """The notebooks whose file names begin with one of the names, all if there are none."""
    every = sorted(folder.glob("*.ipynb"))
    for name in names:
        if not any(path.name.startswith(name) for path in every):
            known = ", ".join(path.stem for path in every) or "none"
            raise Unfit(f"There is no notebook {name}; there are {known}.")
    return [path for path in every if not names or path.name.startswith(tuple(names))]


def store(path: Path, pencil: Pencil) -> None:
    """Run one notebook and write it, if a byte changed, in one step."""
    before = load(path)
    if lacking := list(identities(before)):
        raise Unfit(f"{path.name}: {lacking[0]}.")
    after = execute(path)
    clean(after)
    add_pictures(after, pictures(before), pencil)
    text = nbformat.writes(after).rstrip("\n") + "\n"
    if text != path.read_text(encoding="utf-8"):
        half = path.with_suffix(".half")
        half.write_text(text, encoding="utf-8", newline="\n")
        os.replace(half, path)
        print(f"{path.name} is stored: {len(text.encode()):,} bytes.")
    for place, picture in front(path, after):
        if not place.is_file() or place.read_bytes() != picture:
            place.write_bytes(picture)


def load(path: Path) -> dict:
    """The notebook as JSON, without the repairs that nbformat would make."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return notebook if notebook["cells"] is not None else {}
    except (ValueError, KeyError, TypeError):
        raise Unfit(f"{path.name} is no notebook: it is broken, or not JSON.") from None


def execute(path: Path) -> NotebookNode:
    """The notebook with fresh outputs, run beside its file as tests run it."""
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=LONGEST, kernel_name="python3", resources=place)
    client.extra_arguments = ["--log-level=ERROR"]  # its warnings are no news here
    try:
        client.execute(env=checking())
    except CellExecutionError as error:
        why = f"{error.ename}: {error.evalue}"
        raise Unfit(f"{path.name} is not stored, a cell failed: {why}") from None
    except CellTimeoutError:
        raise Unfit(f"{path.name} is not stored, a cell took over {LONGEST} seconds.") from None
    return notebook


def clean(notebook: NotebookNode) -> None:
    """Drop what the next run would not repeat."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        for name in LEFT_BY_LAB & cell.metadata.keys():
            del cell.metadata[name]
        if "outputs" in cell:
            cell.outputs = together(cell.outputs)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(VIEW, None)
            if output.output_type == "error":  # nbval compares ename and evalue, not this
                last = f"{output.ename}: {output.evalue}".rstrip().splitlines()[-1]
                output.traceback = [last]


def together(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs, neighbours of one stream as one: how a text is split depends on the moment."""
    whole: list[NotebookNode] = []
    for output in outputs:
        if whole and "name" in output and output.name == whole[-1].get("name"):
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


def add_pictures(notebook: NotebookNode, known: dict[str, str], pencil: Pencil) -> None:
    """Give each figure its picture: the known one if the figure is unchanged."""
    for output in figures(notebook):
        data = output["data"]
        png = known.get(_same(data[PLOTLY])) or b64encode(pencil.draw(data[PLOTLY])).decode()
        data["image/png"] = png
        output["metadata"]["image/png"] = {"alt": alternative(data)}


def alternative(data: Mapping) -> str:
    """What a figure's picture says to who doesn't see it: the finding, and what the table holds.

    nbconvert's classic template reads it in the output's metadata, as `alt` of the MIME type, and
    so do our pages (handout.py). Its lab template and JupyterLab 4.6 know no alternative text;
    VS Code takes the text/plain.
    """
    finding, *table = _text(data.get("text/plain", "")).splitlines() or [""]
    if len(table) < 2:
        return finding
    headings = "; ".join(re.split(" {2,}", table[1].strip()))
    return t("chart.alternative", finding=finding, columns=headings)


def pictures(notebook: dict) -> dict[str, str]:
    """The stored pictures (base64), by figure."""
    drawn = [output["data"] for output in figures(notebook) if "image/png" in output["data"]]
    return {_same(data[PLOTLY]): _text(data["image/png"]) for data in drawn}


def figures(notebook: Mapping) -> Iterator[dict]:
    """The outputs that hold a plotly figure."""
    for cell in notebook["cells"]:
        yield from (each for each in cell.get("outputs", []) if PLOTLY in each.get("data", {}))


def front(path: Path, notebook: Mapping) -> Iterator[tuple[Path, bytes]]:
    """The picture on the README, if it is this notebook's, and the file where it stands."""
    for name, file in [FRONT[path.stem]] if path.stem in FRONT else []:
        cells = [cell for cell in notebook["cells"] if cell.get("id") == name]
        for output in figures({"cells": cells}):
            yield path.with_name(file), b64decode(_text(output["data"]["image/png"]))


def problems(path: Path) -> list[str]:
    """What storing would not have left in a notebook, a line each."""
    try:
        notebook = load(path)
    except Unfit as error:
        return [str(error)]
    found = [*identities(notebook), *_settings(notebook), *_runs(notebook)]
    for cell in notebook["cells"]:
        name = cell.get("id", "without an id")
        found += [f"cell {name} {problem}" for problem in _faults(cell)]
    for place, picture in front(path, notebook):
        if not place.is_file() or place.read_bytes() != picture:
            found.append(f"has another picture than {place.name}, which the README shows")
    size = path.stat().st_size
    if size > LARGEST:
        found.append(f"is {size:,} bytes, more than {LARGEST:,}")
    return found


def identities(notebook: dict) -> Iterator[str]:
    """What is wrong with the cells' ids: a diff and a translation hold on to them."""
    ids = Counter(cell.get("id") for cell in notebook["cells"])
    if missing := ids.pop(None, 0):
        yield f"{missing} cells have no id: give each one"
    yield from (f"the id {name} is used {times} times" for name, times in ids.items() if times > 1)


def _settings(notebook: dict) -> Iterator[str]:
    """What is wrong with the notebook's own metadata."""
    if notebook["metadata"] != METADATA:
        extra = sorted(notebook["metadata"].keys() - METADATA.keys()) or [
            "another kernel or Python"
        ]
        yield f"its metadata are not as stored ({', '.join(extra)})"


def _runs(notebook: dict) -> Iterator[str]:
    """Whether the code cells ran once, from top to bottom: nbval skips a cell without a count."""
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if counts != list(range(1, len(counts) + 1)):
        yield "its code cells did not run 1, 2, 3, ... from top to bottom"


def _faults(cell: dict) -> Iterator[str]:
    """What is wrong with one cell and its outputs."""
    if kept := sorted(LEFT_BY_LAB & cell["metadata"].keys()):
        yield f"holds what JupyterLab left ({', '.join(kept)})"
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if output.get("name") == "stderr":
            yield "writes to stderr"
        if VIEW in data:
            yield "stores a widget view"
        if len(output.get("traceback", [])) > 1:
            yield "stores a whole traceback"
        if PLOTLY in data:
            yield from _unseen(output)
        if (size := len(_text(data.get("image/png", ""))) * 3 // 4) > MOST:
            yield f"has a picture of {size:,} bytes, more than {MOST:,}"


def _unseen(output: dict) -> Iterator[str]:
    """What a reader without plotly, or without eyes, would miss of a figure."""
    data, about = output["data"], output["metadata"].get("image/png", {})
    if "image/png" not in data:
        yield "has a figure without its picture"
    elif about.get("alt") != alternative(data):
        yield "has a picture without its alternative text"


def _same(figure: dict) -> str:
    """A figure as text, equal for equal figures."""
    return json.dumps(figure, sort_keys=True)


def _text(lines: str | list[str]) -> str:
    """A stored text: nbformat keeps it as a list of lines."""
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
