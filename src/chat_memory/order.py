"""Say which cell to run first, where a cell needs a name that an earlier cell binds.

A NameError names no cell, and who opens a chapter in the middle gets one. So IPython asks `tell`
about each NameError that a cell raises: it looks into the notebook's file for the first cell above
that binds the name, and shows one sentence instead of the traceback. JupyterLab tells a kernel
where the file lies by JPY_SESSION_NAME, VS Code by `__vsc_ipynb_file__`.

The environment of start.py has each kernel ask from its first cell on (tools/environment.py);
elsewhere, as on a JupyterHub, `watch` does so when the package is imported.
An exercise's check and a figure that was moved catch errors; they ask `missing`.
A misspelt name, a file that is not saved, an error from a library's own code: these keep their
traceback. This file does *not* run any cell, and knows no chapter.
"""

import ast
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from chat_memory.lines import shortened
from chat_memory.strings import t

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

VSCODE = "__vsc_ipynb_file__"
WIDEST = 96  # characters of a line: a page cuts longer ones within a word
HEADING = re.compile(r"#{1,6} +(.*?)[# ]*$")


class Place(NamedTuple):
    """A code cell: the heading above it, "" without one, its id, and its code."""

    heading: str
    id: str
    code: str


def watch() -> None:
    """Let a notebook's kernel ask `tell`, unless somebody else is asked already."""
    shell = _shell()
    if shell and not shell.custom_exceptions:
        shell.set_custom_exc((NameError,), tell)


def _shell() -> "InteractiveShell | None":
    ipython = sys.modules.get("IPython")  # not imported here: a terminal does without
    return ipython.get_ipython() if ipython else None


def tell(
    shell: "InteractiveShell",
    kind: type[BaseException],
    error: NameError,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show a NameError: by the sentence that names a cell if there is one, else as ever."""
    if said := explain(shell, error):
        lines = textwrap.wrap(f"{kind.__name__}: {said}", WIDEST, break_on_hyphens=False)
        error._render_traceback_ = lambda: lines
    shell.showtraceback((kind, error, trace), running_compiled_code=True)


def missing(error: BaseException) -> str:
    """The sentence for an error that was caught in a notebook; "" if no cell above helps."""
    shell = _shell()
    return explain(shell, error) if shell and isinstance(error, NameError) else ""


def explain(shell: "InteractiveShell", error: NameError) -> str:
    """The sentence for an error of the notebook's own code; "" if no cell above helps."""
    try:
        return _explain(shell, error)
    except Exception:  # no file, a broken one: the reader's own error is the one to show
        return ""


def _explain(shell: "InteractiveShell", error: NameError) -> str:
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    ours = trace.tb_frame.f_globals is shell.user_global_ns
    named = shell.user_ns.get(VSCODE) or os.environ.get("JPY_SESSION_NAME")
    if not (named and ours and error.name):  # an UnboundLocalError has no name: no cell mends it
        return ""
    asked = shell.get_parent()
    all_cells = list(places(json.loads(Path(named).read_text(encoding="utf-8"))))
    first = first_with(error.name, above(all_cells, asked))
    return sentence(error.name, first, VSCODE in shell.user_ns) if first else ""


def places(notebook: dict) -> Iterator[Place]:
    """The code cells of a notebook, each with the heading it stands under."""
    heading = ""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            yield Place(heading, cell.get("id", ""), text)
        elif cell["cell_type"] == "markdown":
            prose = re.sub(r"(?ms)^```.*?^```", "", text)
            found = list(filter(None, map(HEADING.match, prose.splitlines())))
            heading = re.sub(r"[`*]", "", found[-1][1]) if found else heading


def above(cells: Sequence[Place], asked: dict) -> Sequence[Place]:
    """The cells above the one that was asked for; all of them if that one is new, in no file.

    A front end may not tell the cell's id; then it is the last cell with this code.
    """
    own = asked["metadata"].get("cellId")
    if any(cell.id == own for cell in cells):
        return list(takewhile(lambda cell: cell.id != own, cells))
    code = asked["content"].get("code", "").strip()  # a moved slider runs no cell
    same = [number for number, cell in enumerate(cells) if cell.code.strip() == code]
    return cells[: same[-1]] if same else cells


def first_with(name: str, cells: Sequence[Place]) -> Place | None:
    """The first cell that binds a name when it is run."""
    return next((cell for cell in cells if name in bound(cell.code)), None)


def bound(code: str) -> set[str]:
    """The names that a cell leaves behind; none for code that isn't plain Python.

    >>> sorted(bound("import os.path; n = [i for i in range(3)]"))
    ['n', 'os']
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    finder = _Names()
    finder.visit(tree)
    return finder.found


class _Names(ast.NodeVisitor):
    """Collects what a module binds in its own scope."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.found.add(node.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:  # `total: int` alone binds nothing
            self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.found.add(node.asname or node.name.partition(".")[0])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.found.add(node.name)  # what stands in it is its own

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Binds nothing out here."""

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for part in (node.iter, *node.ifs):  # its target is its own, a walrus in it is not
            self.visit(part)


def sentence(name: str, cell: Place, vscode: bool = False) -> str:
    """The words for a name and the cell to run first."""
    begin = shortened(next(filter(str.strip, cell.code.splitlines())))
    menu = t("order.above.vscode" if vscode else "order.above")
    words = {"name": name, "begin": begin, "above": menu}
    if not cell.heading:
        return t("order.first.untitled", **words)
    return t("order.first", heading=cell.heading, **words)
