"""A copy of the workbook in a folder of its own, and kernels that run chapters there.

The copy has its own environment, as start.py's `configure` sets it up, which borrows the packages
of the one that runs the tests: so nothing is installed, and yet the code is the copy's own.
Nothing here says what a chapter must show: the tests do.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import nbformat
import store
from jupyter_client.manager import AsyncKernelManager
from launch import without_outputs
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
FINISH = """
import environment
environment.configure()
environment.STAMP.write_text(environment.wanted(), encoding="utf-8")
"""
KOREAN = Path("내 폴더 (2)", "채팅 메모리")


def copied(folder: Path) -> Path:
    """Copy what a chapter and start.py need into `folder`, with an environment; returns it."""
    for name in ("src", "data", "notebooks", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("start.py", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
    venv.create(folder / ".venv", symlinks=sys.platform != "win32")
    packages = subprocess.check_output(
        [python_of(folder), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        encoding="utf-8",
        env=environment.surroundings(),
    )
    borrowed = Path(packages.strip(), "borrowed.pth")  # paths only: its .pth files are not read
    borrowed.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    subprocess.run([sys.executable, "-c", FINISH], cwd=folder / "tools", check=True)
    return folder


def python_of(folder: Path) -> Path:
    """The Python of a copy's environment."""
    return folder / ".venv" / environment.PYTHON.relative_to(environment.VENV)


def client(path: Path, *python: str | Path) -> NotebookClient:
    """What runs a notebook, without its outputs, in a fresh kernel of this Python.

    `execute(env=checking())` fills `client.nb`, and raises CellExecutionError at the first cell
    that fails; the file stays as it is.
    """

    class Manager(AsyncKernelManager):
        def format_kernel_cmd(self, extra_arguments=None):
            return [*map(str, python), *super().format_kernel_cmd(extra_arguments)[1:]]

    return NotebookClient(
        without_outputs(nbformat.read(path, as_version=4)),
        timeout=120,
        kernel_name="python3",
        kernel_manager_class=Manager,
        resources={"metadata": {"path": str(path.parent)}},
    )


def shown(notebook: nbformat.NotebookNode) -> list:
    """The texts of every cell's outputs."""
    outputs = [store.together(cell.get("outputs", [])) for cell in notebook.cells]
    return [
        [o.get("text") or o.get("data", {}).get("text/plain") for o in each] for each in outputs
    ]


@contextmanager
def read_only(folder: Path) -> Iterator[list[str]]:
    """What to put before a command so that it can't write into `folder`; nothing on Windows.

    Root may write whatever the permissions say, so it gets a view of the disk of its own.
    """
    if sys.platform == "win32":
        yield []
    elif os.geteuid() == 0:
        again = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        yield ["unshare", "-m", "sh", "-c", again, str(folder)]
    else:
        subprocess.run(["chmod", "-R", "a-w", folder], check=True)
        try:
            yield []
        finally:
            subprocess.run(["chmod", "-R", "u+w", folder], check=True)
