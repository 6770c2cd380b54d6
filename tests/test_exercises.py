"""No exercise is passed by a constant or by a common mistake, and neighbours get other numbers.

The solutions are walked through once. At each check the names are there that it needs, so other
answers can take the solution's place.
"""

import ast
import contextlib
import io
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from followed import FOLLOWED
from mistakes import MISTAKES

from chat_memory.checks import compare, hint

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SOLUTIONS = NOTEBOOKS / "solutions.ipynb"
CHAPTERS = sorted(NOTEBOOKS.glob("[01]*.ipynb"))
NO_NUMBERS = {"cmp-ex1", "cmp-ex2", "cmp-ex3"}  # they play the book's conversations
STOPS = {
    "refuses 0, too",
    "needs enough turns",
}  # mistakes that raise; another error is the test's own
SIMPLE = [None, True, False, 0, 1, -1, "", [], {}]


def run(source, names):
    """Run a cell's code; returns what its last line shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None


def walk():
    """Each exercise: its id, the solution's code, the check's code, the names at that place."""
    names, solution = {"__name__": "solutions"}, ""
    for cell in nbformat.read(SOLUTIONS, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        if cell.metadata.get("nbgrader", {}).get("grade"):
            yield (
                cell.metadata.nbgrader.grade_id.removesuffix("-check"),
                solution,
                cell.source,
                names,
            )
        solution = cell.source
        with contextlib.redirect_stdout(io.StringIO()):
            run(cell.source, names)


@pytest.fixture(scope="module")
def exercises():
    """The exercises by id, as (solution, check, names)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAT_MEMORY_STATIC", "1")
        return {name: (code, check, dict(names)) for name, code, check, names in walk()}


def head(solution):
    """The name of the answer's function and the line that begins it."""
    function = [n for n in ast.parse(solution).body if isinstance(n, ast.FunctionDef)][-1]
    return function.name, f"def {function.name}({ast.unparse(function.args)}):\n    "


def prepared(exercise):
    """Run a check up to its `compare`: what it then says of an answer, and what it compares.

    So what a check plays is played once, and not again for each answer that is tried.
    """
    solution, check, names = exercise
    name, line = head(solution)
    current, seen = [], []
    own = {**names, name: lambda *given: current[-1](*given)}

    def recorded(mine, reference, cases, hints):
        seen.append((mine, reference, list(cases)))

    recorded.answer = compare.answer
    own["compare"] = recorded
    run(check, own)

    def says(answer):
        """What the check says of a function, or of the body of one."""
        if not callable(answer):
            written = dict(names)
            run(line + answer, written)
            answer = written[name]
        current.append(answer)
        with contextlib.redirect_stdout(io.StringIO()):
            return compare(*seen[0])

    return says, *seen[0][1:]


def rights(reference, cases):
    """The values that are right, where a refusal is not, nor a case that a rule alone takes."""
    for case in cases:
        with contextlib.suppress(ValueError, AttributeError):
            yield reference(*(case if isinstance(case, tuple) else (case,)))


def test_no_constant_passes(exercises):
    for name, exercise in exercises.items():
        says, reference, cases = prepared(exercise)
        right = reference if callable(reference) else exercise[2][head(exercise[0])[0]]
        for value in [*SIMPLE, *rights(right, cases)]:
            assert not says(lambda *_, value=value: value), (name, value)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_common_mistake_is_told(exercises, name):
    says, *_ = prepared(exercises[name])
    for mistake, answer in MISTAKES[name].items():
        check = says(answer)
        assert not check and "Input" in check.message, (mistake, check)
        assert ("stops with" in check.message) == (mistake in STOPS), (mistake, check)


@pytest.mark.parametrize("seed", ["kim@a", "lee@b"])
def test_a_mistake_is_told_to_every_reader(exercises, monkeypatch, seed):
    """No reader's numbers are such that a mistake passes with them, or that the solution fails."""
    monkeypatch.setenv("CHAT_MEMORY_SEED", seed)
    assert MISTAKES.keys() == exercises.keys()
    for name, exercise in exercises.items():
        solution, _, names = exercise
        says, *_ = prepared(exercise)
        assert says(names[head(solution)[0]]), name
        for mistake, answer in MISTAKES[name].items():
            assert not says(answer), (name, mistake)


def test_neighbours_get_numbers_of_their_own(exercises, monkeypatch):
    for name in exercises.keys() - NO_NUMBERS:
        drawn = set()
        for seed in ("kim@a", "lee@b", "park@c"):
            monkeypatch.setenv("CHAT_MEMORY_SEED", seed)
            drawn.add(str(prepared(exercises[name])[2]))
        assert len(drawn) > 1, name


def test_every_exercise_has_a_level_and_three_hints(exercises):
    prose = "\n".join(cell.source for path in CHAPTERS for cell in nbformat.read(path, 4).cells)
    for name in exercises:
        assert re.search(rf"(?m)^Level [123], `compare\.hint\(\"{name}\"\)`\.$", prose), name
        assert [hint(name, step) for step in (1, 2, 3)]
        with pytest.raises(ValueError, match="There is no hint 4 for"):
            hint(name, 4)
    levels = Counter(re.findall(r"(?m)^Level (\d), `compare", prose))
    assert sum(levels.values()) == len(exercises) >= 25 and set(levels) == {"1", "2", "3"}


def test_a_check_leads_to_the_hints_of_its_own_exercise(exercises):
    for name, (_, check, _) in exercises.items():
        assert re.findall(r'hints="([\w-]+)"', check) == [name]


@pytest.mark.parametrize("name", FOLLOWED)
def test_who_does_what_the_hints_say_and_no_more_passes(exercises, name):
    """What the last hint holds as code stands in the answer letter by letter."""
    code = [c for c in re.findall(r"`([^`]+)`", hint(name, 3)) if not re.fullmatch(r"[\w.]+", c)]
    assert all(piece in FOLLOWED[name] for piece in code)
    says, *_ = prepared(exercises[name])
    assert says(FOLLOWED[name]), says(FOLLOWED[name])


def test_hints_are_followed_in_every_exercise(exercises):
    assert FOLLOWED.keys() == exercises.keys()
