"""A chapter of the walk needs no other: each runs by itself, in a folder without the others."""

import shutil
from pathlib import Path

import nbformat
import pytest
import store
from launch import checking, without_outputs
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SPINE = ("00", "01", "02", "04", "05", "06", "07")


@pytest.mark.parametrize("number", SPINE)
def test_a_chapter_of_the_walk_runs_alone_in_a_fresh_kernel(number, tmp_path):
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    alone = Path(shutil.copy(path, tmp_path))
    notebook = without_outputs(nbformat.read(alone, as_version=4))
    place = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place)
    client.execute(env=checking())  # raises at the first cell that fails
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert shown(notebook) == shown(nbformat.read(path, as_version=4))


def shown(notebook):
    """The texts of every cell's outputs."""
    outputs = [store.together(cell.get("outputs", [])) for cell in notebook.cells]
    return [
        [o.get("text") or o.get("data", {}).get("text/plain") for o in each] for each in outputs
    ]
