"""A cell that is run too early says which cell to run first: in every chapter, in a real kernel.

What a cell needs and leaves behind is worked out here by Python's own symbol tables, not by the
code under test. One kernel runs the cells of all chapters, each in an emptied namespace. What a
reader sees on a page: test_browser_*.py.
"""

import builtins
import json
import os
import symtable
import sys
from pathlib import Path

import environment
import nbformat
import pytest
from IPython.core import application
from jupyter_client.manager import start_new_kernel
from nbformat import v4

from chat_memory import order

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
CHAPTERS = [path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
TRIM = NOTEBOOKS / "04_trim.ipynb"
RULE = '`rule` is not there yet: first run the cell under "One" that begins `rule = 1`, '
RULE += "or all cells above this one (menu Run, Run All Above Selected Cell)."


# What a restart does to names, without its seconds.
FORGET = "[globals().pop(n) for n in [*globals()] if n[0] != '_' and n not in "
FORGET += "('In', 'Out', 'exit', 'quit', 'open', 'get_ipython')];"


def read(name):
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def code_cells(name):
    return [cell for cell in read(name).cells if cell.cell_type == "code"]


def tables(table):
    yield table
    for child in table.get_children():
        yield from tables(child)


def binds(source):
    """The names that a cell's own scope binds."""
    top = symtable.symtable(source, "cell", "exec")
    return {
        name.get_name() for name in top.get_symbols() if name.is_assigned() or name.is_imported()
    }


def reads(source):
    """The names that a cell reads, its functions included, and does not bind itself."""
    top = symtable.symtable(source, "cell", "exec")
    read = {s.get_name() for t in tables(top) for s in t.get_symbols() if is_read(s, t is top)}
    return read - binds(source) - set(dir(builtins))


def is_read(symbol, at_top):
    return symbol.is_referenced() and (at_top or symbol.is_global())


def fails_alone(source):
    """Whether a cell needs others as soon as it is run, not only when a function is called."""
    top = symtable.symtable(source, "cell", "exec")
    at_once = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    return bool(at_once & reads(source))


# What is said


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_name_a_cell_needs_is_found_in_one_cell_above(chapter):
    cells = code_cells(chapter)
    places = list(order.places(read(chapter)))
    words = [order.sentence("x", place) for place in places]
    found = 0
    for number, cell in enumerate(cells):
        above = [binds(each.source) for each in cells[:number]]
        for name in reads(cell.source):
            first = order.first_with(name, places[:number])
            assert name in above[places.index(first)], name
            assert not any(name in names for names in above[: places.index(first)]), name
            assert words.count(order.sentence("x", first)) == 1, first
            found += 1
    assert found > 5


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a = b = 1\nc, (d, *e) = 1, (2, 3)\nf: int = 4\ng += 1", "abcdefg"),
        ("import a.z, y as b\nfrom x import c, y as d", "abcd"),
        ("for a, b in z:\n    with y as c, x as (d, e):\n        f = 1", "abcdef"),
        ("def a(z):\n    y = 1\nclass b:\n    x = 1\nasync def c(): w = 1", "abc"),
        ("[z for z in y if (a := z)]; lambda x: (w := x)\nprint(b := 1)", "ab"),
        ("a: int\nb.c = d[0] = 1\ntry:\n    f\nexcept E as g:\n    pass\ndel h", ""),
        ("%matplotlib inline\na = 1", ""),
    ],
)
def test_a_name_is_bound_by_what_python_binds_it_with(code, names):
    assert order.bound(code) == set(names)


def notebook(*cells):
    """A notebook of code cells and, where a text begins with a hash, of headings."""
    kinds = {True: v4.new_markdown_cell, False: v4.new_code_cell}
    made = [kinds[text.startswith("#")](text, id=f"cell-{n}") for n, text in enumerate(cells)]
    return v4.new_notebook(cells=made)


def test_a_cell_is_named_by_the_last_heading_and_its_first_line():
    text = "# Title\n\nWords.\n\n```python\n# no heading\n```\n## A *turn* is `this`\n\nMore."
    book = notebook("first = 1", text, f"\n\n{'long_' * 20} = 2\nsecond = 3")
    untitled, titled = order.places(book)
    assert "run the cell that begins `first = 1`, or all" in order.sentence("first", untitled)
    said = order.sentence("second", titled, vscode=True)
    assert 'under "A turn is this" that begins `long_long_' in said
    assert "long_…`, or all cells above this one (Execute Above Cells" in said


def asked(code="", cell=None):
    return {"content": {"code": code}, "metadata": {"cellId": cell} if cell else {}}


def test_the_cell_that_is_run_is_found_by_its_id_or_else_its_code():
    places = list(order.places(notebook("a = 1", "show", "b = 2", "show", "c = 3")))
    assert len(order.above(places, asked("edited since", "cell-2"))) == 2
    assert len(order.above(places, asked(" show\n"))) == 3
    assert len(order.above(places, asked("show", "another front end's id"))) == 3
    assert order.above(places, asked("new")) == places
    assert order.above(places, {"content": {"comm_id": "a slider"}, "metadata": {}}) == places


# In a kernel


class Kernel:
    """A kernel that reads the start-up file which `configure` writes, and a notebook's cells."""

    def __init__(self, home):
        self.seen = []
        place = dict(os.environ, IPYTHONDIR=str(home), CHAT_MEMORY_STATIC="1")
        self.manager, self.client = start_new_kernel(kernel_name="python3", env=place)

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code, cell=None):
        """Run code as a front end does, and give the errors that it shows."""
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = self.client.session.msg("execute_request", content | {"user_expressions": {}})
        message["metadata"] = asked(cell=cell)["metadata"]
        self.client.shell_channel.send(message)
        self.seen = []
        while True:
            got = self.client.get_iopub_msg(timeout=60)
            if got["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                self.seen.append(got)
                if got["content"].get("execution_state") == "idle":
                    break
        self.client.get_shell_msg(timeout=60)
        shown = [m["content"]["traceback"] for m in self.seen if m["msg_type"] == "error"]
        return [" ".join(lines) for lines in shown]

    def forget(self):
        assert self.run(FORGET) == []

    def value(self, code):
        assert self.run(code) == []
        (got,) = [m["content"] for m in self.seen if m["msg_type"] == "execute_result"]
        return got["data"]["text/plain"]

    def open(self, path):
        """Say where the notebook lies, as the server says it, and forget all names."""
        self.forget()
        assert self.run(f"__import__('os').environ['JPY_SESSION_NAME'] = {str(path)!r}") == []


def with_startup(folder):
    """A home for IPython with the start-up file: an older environment has not got it."""
    startup = folder / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(environment.STARTUP, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    kernel = Kernel(with_startup(tmp_path_factory.mktemp("ipython")))
    yield kernel
    kernel.stop()


@pytest.fixture
def book(kernel, tmp_path):
    """Write a small notebook into a folder with a Korean name, and open it."""

    def write(*cells):
        path = tmp_path / "내 폴더 (2)" / "나의 책.ipynb"
        path.parent.mkdir()
        nbformat.write(notebook(*cells), path)
        kernel.open(path)
        return path

    return write


def test_a_kernel_starts_without_the_package_and_with_no_name_of_ours(kernel):
    assert kernel.value("[n for n in dir() if n.startswith('_tell')]") == "[]"
    assert kernel.value("'chat_memory' in __import__('sys').modules") == "False"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_cell_that_is_run_alone_names_a_cell_above_it(kernel, chapter):
    cells = code_cells(chapter)
    places = list(order.places(read(chapter)))
    alone = [cell for cell in cells if fails_alone(cell.source)]
    assert len(alone) > len(cells) / 3
    kernel.open(NOTEBOOKS / f"{chapter}.ipynb")
    for cell in alone:
        kernel.forget()
        (said,) = kernel.run(cell.source, cell.id)
        name = said.split("`")[1]
        assert name in reads(cell.source)
        number = [each.id for each in cells].index(cell.id)
        ways = [order.sentence(name, place) for place in places[:number]]
        assert said.removeprefix("NameError: ") in ways
        assert name in binds(cells[ways.index(said.removeprefix("NameError: "))].source)


def test_running_the_named_cells_one_by_one_leads_to_the_end(kernel):
    """A reader who does what each sentence says gets there, without reading the chapter."""
    cells = code_cells(TRIM.stem)
    places = list(order.places(read(TRIM.stem)))
    kernel.open(TRIM)
    wanted = next(cell for cell in cells if cell.source.startswith("sessions = "))
    told = []
    todo = [wanted]
    while todo:
        said = kernel.run(todo[-1].source, todo[-1].id)
        if not said:
            todo.pop()
            continue
        told.append(said[0].removeprefix("NameError: "))
        named = [p for p in places if order.sentence(told[-1].split("`")[1], p) == told[-1]]
        todo += [cell for cell in cells if cell.id == named[0].id]
    assert 2 <= len(told) == len(set(told))


def test_the_sentence_stands_alone_and_is_an_error_that_stops_run_all(kernel, book):
    book("# One", "rule = 1", "# Two", "rule + 1")
    assert kernel.run("rule + 1", "cell-3") == [f"NameError: {RULE}"]
    (error,) = [m["content"] for m in kernel.seen if m["msg_type"] == "error"]
    assert (error["ename"], error["evalue"]) == ("NameError", "name 'rule' is not defined")


def test_a_function_that_misses_a_name_says_so_too(kernel, book):
    book("# One", "rule = 1", "def go():\n    return rule", "go()")
    assert kernel.run("def go():\n    return rule") == []
    assert kernel.run("go()", "cell-3") == [f"NameError: {RULE}"]


def test_an_exercise_and_a_figure_say_so_too(kernel, book):
    """They catch what the reader's function raises."""
    book("# One", "rule = 1", "def mine(x):\n    return rule", "check")
    assert kernel.run("def mine(x):\n    return rule", "cell-2") == []
    check = "__import__('chat_memory.checks').checks.compare(mine, abs, [1])"
    assert f"yours stops with NameError: {RULE[:-1]}" in kernel.value(check)
    moved = "from chat_memory.charts.screen import sentence\ntry:\n    mine(1)\n"
    moved += "except NameError as error:\n    said = sentence(error)\nsaid == " + repr(RULE)
    assert kernel.value(moved) == "True"


def test_a_cell_of_the_readers_own_that_is_not_saved_yet_is_helped(kernel, book):
    book("# One", "rule = 1")
    assert kernel.run("print(rule)", "not-saved") == [f"NameError: {RULE}"]


@pytest.mark.parametrize(
    "code",
    [
        "ruel + 1",
        "later",
        "eval('rule', {})",
        "def count():\n    rule += 1\ncount()",
        "raise NameError('rule')",
    ],
    ids=["misspelt", "bound below", "another module's", "unbound local", "raised by hand"],
)
def test_what_no_cell_above_mends_keeps_its_traceback(kernel, book, code):
    book("# One", "rule = 1", code, "later = 2")
    (said,) = kernel.run(code, "cell-2")
    assert "Traceback" in said and "first run" not in said


@pytest.mark.parametrize("left", [b"", b"{}", b"\xff", b'{"cells": [{"source": 1}]}', None])
def test_a_file_that_cannot_be_read_leaves_the_usual_error(kernel, book, left):
    path = book("# One", "rule = 1", "rule")
    path.unlink() if left is None else path.write_bytes(left)
    (said,) = kernel.run("rule", "cell-2")
    assert "Traceback" in said and "name 'rule' is not defined" in said
    assert [m for m in kernel.seen if m["msg_type"] == "stream"] == []


def test_vs_code_says_the_path_in_its_own_way(kernel, book):
    path = book("# One", "rule = 1", "rule")
    kernel.open("elsewhere.ipynb")
    assert kernel.run(f"__vsc_ipynb_file__ = {str(path)!r}") == []
    (said,) = kernel.run("rule", "vscode-notebook-cell:/book#W2sZmlsZQ==")
    assert kernel.run("del __vsc_ipynb_file__") == []
    assert said == f"NameError: {RULE}".replace(
        "menu Run, Run All Above Selected Cell", "Execute Above Cells in this cell's toolbar"
    )


def test_without_our_environment_the_import_is_enough(kernel, book):
    book("# One", "rule = 1", "rule")
    forget = "import sys; get_ipython().set_custom_exc((), None)\n"
    forget += "[sys.modules.pop(n) for n in [*sys.modules] if n.startswith('chat_memory')];"
    assert kernel.run(forget) == []
    assert "Traceback" in kernel.run("rule", "cell-2")[0]
    assert kernel.run("import chat_memory") == []
    assert kernel.run("rule", "cell-2") == [f"NameError: {RULE}"]


def test_a_handler_of_the_readers_own_stays(kernel):
    mine = "get_ipython().set_custom_exc((NameError,), lambda *a, **k: print('mine'))"
    again = "import importlib, chat_memory; importlib.reload(chat_memory);"
    assert kernel.run(mine) == []
    assert kernel.run(again) == []
    assert kernel.run("nope") == []
    assert "mine" in "".join(m["content"].get("text", "") for m in kernel.seen)


# Setting up


def test_the_start_up_file_lies_where_ipython_reads_it(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "VENV", tmp_path)
    monkeypatch.setattr(
        environment.subprocess, "check_output", lambda *_: json.dumps(str(tmp_path))
    )
    environment.configure()
    (made,) = tmp_path.glob("etc/ipython/startup/*.py")
    assert made.read_text(encoding="utf-8") == environment.STARTUP
    assert str(Path(sys.prefix, "etc", "ipython")) in (
        *application.ENV_CONFIG_DIRS,
        *application.SYSTEM_CONFIG_DIRS,
    )
