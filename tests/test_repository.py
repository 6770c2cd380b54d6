"""What holds for every file that is kept: clean, short, ours alone, and free of secrets."""

import ast
import re
import subprocess
import sys
import tokenize
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median, quantiles

import nbformat
import pytest
from environment import surroundings

ROOT = Path(__file__).parents[1]
MADE_HERE = {".venv", ".venv-bench", "my", "runs", "wheels", "handout", ".git"}

# Put together from pieces, so that this file does not hold what it looks for.
PRIVATE = {
    "a path of somebody's machine": r"(?<![\w.~-])/(?:wor[k]|roo[t]|tm[p]|hom[e]/\w+|User[s]/\w+)/"
    r"|[A-Z]:\\+User[s]\\|\.librar[y]\b",
    "the address of an index": r"://[a-z.]*(?:pyp[i]|pythonhoste[d]|npmj[s])\b",
    "a key": r"AIz[a][0-9A-Za-z_-]{30}|\bs[k]-[A-Za-z0-9-]{20}|-----BEGI[N] [A-Z ]*KEY",
}
# The same workbook must later run in a browser, where these are missing.
NOT_IN_A_BROWSER = {
    *("numpy", "pandas", "plotly.express", "yaml"),
    *("threading", "_thread", "multiprocessing", "concurrent"),
}


def kept():
    """The files that git keeps or would keep; without git, all but what is made here."""
    if not (ROOT / ".git").exists():
        inside = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        return [path for path in inside if path.parts[0] not in MADE_HERE]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    return [Path(name) for name in names if name and (ROOT / name).is_file()]


def tool(*words):
    command = [sys.executable, *words]
    options = {"cwd": ROOT, "env": surroundings(), "encoding": "utf-8"}
    return subprocess.run(command, capture_output=True, **options)


@pytest.mark.parametrize("how", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_finds_nothing(how):
    ruff = tool("-m", "ruff", *how, "--no-cache", ".")
    assert ruff.returncode == 0, ruff.stdout + ruff.stderr


def test_notebooks_are_as_stored():
    check = tool("tools/store.py", "--check")
    assert check.returncode == 0, check.stdout + check.stderr


@pytest.mark.parametrize("what", PRIVATE)
def test_no_file_tells(what):
    for path in kept():
        text = (ROOT / path).read_bytes().decode("utf-8", errors="replace")
        assert not re.search(PRIVATE[what], text), path


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a path of somebody's machine", 'open("' + "/wor" + 'k/main/start.py")'),
        ("a path of somebody's machine", "/hom" + "e/kim/chat"),
        ("a path of somebody's machine", "C:" + r"\User" + r"s\kim"),
        ("the address of an index", "--index-url https:" + "//pypi" + ".org/simple"),
        ("a key", "AIz" + "a" + "B" * 35),
    ],
)
def test_what_must_not_be_told_is_recognised(what, text):
    assert re.search(PRIVATE[what], text)


def test_a_file_is_small():
    for path in kept():
        assert (ROOT / path).stat().st_size <= 400_000, path


def python(*folders):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def functions():
    """The number of lines of every function of src, its docstring counted."""
    for path in python("src"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.end_lineno - node.lineno + 1


def test_files_and_functions_stay_short():
    for path in python("src", "tools"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 350, path
    lengths = list(functions())
    assert median(lengths) <= 12
    assert quantiles(lengths, n=10)[-1] <= 25


@pytest.mark.parametrize("folder", ["src", "tools"])
def test_a_file_tells_its_story_and_what_it_does_not_do(folder):
    for path in python(folder):
        story = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert len(story.splitlines()) >= 4, path
        assert re.search(r"\b(not|no|nothing|imports only)\b", story), path


def test_the_files_that_a_reader_reads_are_short_together():
    names = ("contents", "usage", "summary", "strategies", "session")
    read = [(ROOT / "src" / "chat_memory" / f"{name}.py").read_text("utf-8") for name in names]
    assert sum(len(text.splitlines()) for text in read) <= 900


def documented(tree, about=""):
    """Every public function with its docstring; an `__init__` is told in that of its class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from documented(node, ast.get_docstring(node) or "")
        elif isinstance(node, ast.FunctionDef):
            inside = node.name in ("__init__", "__post_init__")
            if inside or not node.name.startswith("_"):
                yield node, (ast.get_docstring(node) or "") + about * inside


def test_a_public_function_says_what_it_raises():
    for path in python("src"):
        for function, story in documented(ast.parse(path.read_text(encoding="utf-8"))):
            raised = any(isinstance(n, ast.Raise) and n.exc for n in ast.walk(function))
            told = re.search(r"[Rr]aise|Error|error|Refused|refus|NotRight|NoAnswer", story)
            # The docstring of `conclude` is what the model reads: it is no place for our errors.
            assert told or not raised or function.name == "conclude", f"{path}: {function.name}"


def uses(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_at_once(tree):
    """What a file imports when it is imported itself, and not only for type hints."""
    for node in tree.body:
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield from uses(ast.Module([node], []))


def test_imports_run_one_way():
    paths = [path for path in python("src") if path.name != "__init__.py"]
    names = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in paths]
    graph = {}
    for name, path in zip(names, paths, strict=True):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph[name] = set(imported_at_once(tree)).intersection(names)
    assert len(list(TopologicalSorter(graph).static_order())) == len(names)


def readers_code():
    """Every file of src and every code cell, as (name, tree)."""
    for path in python("src"):
        yield path.name, ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                yield path.name, ast.parse(cell.source)


def test_what_readers_run_could_run_in_a_browser():
    for name, tree in readers_code():
        for used in uses(tree):
            missing = {used, used.partition(".")[0]} & NOT_IN_A_BROWSER
            assert not missing, name


def test_the_offline_gemini_knows_nothing_of_our_side():
    for path in python("src/offline_gemini"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [used for used in uses(tree) if used.startswith("chat_memory")], path


def prose(path):
    """The comments and strings of a file."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield token.string


def test_no_prose_leans_on_a_paper_that_is_not_in_the_repository():
    for path in python("src", "tools", "tests", "benchmarks"):
        papers = [text for text in prose(path) if re.search(r"\b(FACT[S]|DESIG[N])\b", text)]
        assert not papers, path
