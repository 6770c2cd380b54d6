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

from chat_memory.checks import hint

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SOLUTIONS = NOTEBOOKS / "solutions.ipynb"
CHAPTERS = sorted(NOTEBOOKS.glob("[01]*.ipynb"))
NO_NUMBERS = {"cmp-ex1", "cmp-ex2", "cmp-ex3"}  # they play the book's conversations
SIMPLE = [None, True, False, 0, 1, -1, "", [], {}]

# What readers write who have not understood it yet, or stopped half-way.
MISTAKES = {
    "msg-ex1": {
        "forgets the signatures": "return total + added",
        "takes the question alone": "return added",
        "adds the thoughts once more": "return total + added + old",
        "adds the roles once more": "return total + added + 2 - old",
    },
    "msg-ex2": {
        "changes nothing": "return messages",
        "says it as the user": "return [messages[0], user(f'I said {seconds} seconds')]",
        "changes the question": "return [user(f'You said {seconds} seconds.'), messages[1]]",
        "says always the same": "return [messages[0], model('It takes 71 seconds.')]",
        "keeps the old answer, too": ("return [*messages, model(f'It takes {seconds} seconds.')]"),
        "changes what it got": (
            "messages[1] = model(f'It takes {seconds} seconds.')\n    return messages"
        ),
    },
    "clr-ex1": {
        "empties the log's list": (
            "log.append(messages)\n    messages.clear()\n    return messages"
        ),
        "empties the list it got": (
            "log.append(list(messages))\n    messages.clear()\n    return messages"
        ),
        "goes on with the same list": "log.append(messages)\n    return messages",
        "adds messages and no chat": "log.extend(messages)\n    return []",
        "rebinds the log": "log = log + [messages]\n    return []",
        "forgets the log": "return []",
        "loses older chats": "log[:] = [messages]\n    return []",
    },
    "clr-ex2": {
        "measures the distance": "return needed - given < n",
        "counts rows from turn 0": "return given // n == needed // n",
        "looks at the first row alone": "return needed <= n",
    },
    "clr-ex3": {
        "never clears": "return turns * base + step * turns * (turns - 1) // 2",
        "forgets the last stretch": "return turns // n * (n * base + step * n * (n - 1) // 2)",
        "takes the last stretch in part": (
            "return round(turns / n * (n * base + step * n * (n - 1) / 2))"
        ),
        "counts from turn 1": "return sum(base + step * (t % n) for t in range(1, turns + 1))",
    },
    "cost-ex1": {
        "lets nothing grow": "return turns * (base + step)",
        "one step too many": "return turns * base + step * turns * (turns + 1) // 2",
        "pays the base once": "return base + step * turns * (turns - 1) // 2",
        "gives the last prompt": "return base + step * (turns - 1)",
    },
    "cost-ex2": {
        "counts its own turn": "return length * (turns - turn + 1)",
        "pays it once": "return length",
        "pays it at every turn": "return length * turns",
    },
    "cost-ex3": {
        "pays the cached part twice": (
            "r = rate\n    return (prompt * r.input + cached * r.cached"
            " + (candidates + thoughts) * r.output) / 1e6"
        ),
        "forgets the thoughts": (
            "r = rate\n    return ((prompt - cached) * r.input + cached * r.cached"
            " + candidates * r.output) / 1e6"
        ),
        "writes the prices down": (
            "return ((prompt - cached) * 0.75 + cached * 0.075"
            " + (candidates + thoughts) * 3.75) / 1e6"
        ),
    },
    "trim-ex1": {
        "slices from minus n": "return entries[-n:]",
        "does not refuse": "return entries[len(entries) - n:] if n else []",
        "refuses 0, too": "if n <= 0: raise ValueError\n    return entries[-n:]",
    },
    "trim-ex2": {
        "forgets the open turn": "return (limit - base - new) // step",
        "forgets the question": "return (limit - base) // step + 1",
        "rounds": "return round((limit - base - new) / step) + 1",
        "rounds up": "return -((base + new - limit) // step)",
    },
    "trim-ex3": {
        "knows the example": "return 19",
        "takes the turn": "return number - 1",
        "wants all facts": (
            "return next(n for n in range(1, 25)"
            " if all(p.in_request for p in probes(play_case(n).calls, case)))"
        ),
    },
    "tool-ex1": {
        "refuses all in mid-turn": (
            "return [n for n in range(1, len(kinds) + 1) if kinds[-n] != 'user']"
        ),
        "sees orphan results alone": (
            "return [n for n in range(1, len(kinds) + 1) if kinds[-n] == 'response']"
        ),
        "counts from the front": (
            "return [i for i, k in enumerate(kinds) if k in ('call', 'response')]"
        ),
        "odd ones": "return [n for n in range(1, len(kinds) + 1) if n % 2]",
    },
    "tool-ex2": {
        "by role": "return sum(c.role == 'user' for c in transcript)",
        "by text": (
            "return sum(c.role == 'user' and any(p.text for p in c.parts) for c in transcript)"
        ),
        "by pairs": "return len(transcript) // 2",
        "by answers": (
            "return sum(c.role == 'model' and any(p.text for p in c.parts) for c in transcript)"
        ),
    },
    "tool-ex3": {
        "two messages a turn": "return transcript[-2 * max_turns:]",
        "by role": (
            "s = [i for i, c in enumerate(transcript) if c.role == 'user']\n"
            "    return transcript[s[-max_turns:][0]:]"
        ),
        "by text": (
            "s = [i for i, c in enumerate(transcript)"
            " if c.role == 'user' and any(p.text for p in c.parts)]\n"
            "    return transcript[s[-max_turns:][0]:]"
        ),
        "needs enough turns": (
            "s = [i for i, c in enumerate(transcript) if is_turn_start(c)]\n"
            "    return transcript[s[-max_turns]:]"
        ),
    },
    "sum-ex1": {
        "knows the example": "return [covered + 1, covered + 2]",
        "begins one early": "return list(range(covered, arrived - keep))",
        "ends one early": "return list(range(covered + 1, arrived - keep))",
    },
    "sum-ex2": {
        "any difference": (
            "return next((i for i, (a, b) in enumerate(zip(good, bad)) if a != b), -1)"
        ),
        "not inside the good one": (
            "return next((i for i, (a, b) in enumerate(zip(good, bad)) if b not in a), -1)"
        ),
        "looks for a word": (
            "return next((i for i, b in enumerate(bad) if 'superseded' not in b), -1)"
        ),
    },
    "hyb-ex1": {
        "forgets the open turn": (
            "return max(0, (trigger - pins - summary - recent * step) // step)"
        ),
        "fewer than none": "return (trigger - pins - summary - (recent + 1) * step) // step",
        "forgets the pins": "return max(0, (trigger - summary - (recent + 1) * step) // step)",
    },
    "hyb-ex2": {
        "pins every fact": "return [f'{n}: {v[-1]}' for n, v in case.facts.items()]",
        "pins every fact in one line": (
            "return [str([v[-1] for v in case.facts.values()])]"
            " * len(case.turns[number - 1].needs)"
        ),
        "pins the oldest value": (
            "return [case.facts[n][0] for n in case.turns[number - 1].needs]"
        ),
        "pins all values": ("return [str(case.facts[n]) for n in case.turns[number - 1].needs]"),
        "pins the names": "return list(case.turns[number - 1].needs)",
        "takes the case's pins": "return case.pinned",
    },
    "cache-ex1": {
        "knows no cache": "return (long - short) * rate.input",
        "pays the cached part twice": (
            "return long * rate.input + cached * rate.cached - short * rate.input"
        ),
        "writes the prices down": "return (long - cached) * .75 + cached * .075 - short * .75",
    },
    "cache-ex2": {
        "rounds down": "return (4096 - first) // step + 2",
        "takes the prompt that is long enough": "return -((first - 4096) // step) + 1",
        "forgets a long beginning": "return -((first - 4096) // step) + 2",
    },
    "cache-ex3": {
        "cuts one turn early": (
            "return list(range(max_turns, turns + 1, max_turns - drop_to + 1))"
        ),
        "cuts too often": "return list(range(max_turns + 1, turns + 1, max_turns - drop_to or 1))",
    },
    "agent-ex1": {
        "cuts the open turn, too": (
            "return [transcript[i] for a, b in turns(transcript) for i in (a, b - 1)]"
        ),
        "keeps everything": "return transcript",
    },
    "agent-ex2": {
        "cuts the marked lines, too": "return [line for line in lines if mark in line][:most]",
        "keeps the head": "return lines[:most]",
    },
    "cmp-ex1": {
        "keeps everything": "return transcript",
        "counts messages": "return transcript[-5:]",
        "keeps the end": "return LastTurns(6)(transcript).contents",
    },
    "cmp-ex2": {
        "asks for a lower price": (
            "return [n for n, d, k in strategies"
            " if not any(e < d and m >= k for _, e, m in strategies)]"
        ),
        "sorts by price": (
            "return [n for n, d, k in sorted(strategies, key=lambda each: each[1])"
            " if not any(e <= d and m >= k and (e, m) != (d, k) for _, e, m in strategies)]"
        ),
    },
    "cmp-ex3": {
        "takes one for both": "return LastTurns(6)",
        "pays for everything": "return Everything()",
    },
    "dial-ex1": {
        "looks at the role": "return [i for i, m in enumerate(messages) if m['role'] == 'user']",
        "looks for a word": (
            "return [i for i, m in enumerate(messages)"
            " if m['role'] == 'user' and 'tool_result' not in str(m['content'])]"
        ),
    },
    "dial-ex2": {
        "takes the results as they come": (
            "parts = [types.Part(function_response=types.FunctionResponse(id=c['id'],"
            " name=c['function']['name'], response={'result': r['content']}))"
            " for c, r in zip(calls, results)]\n    return types.Content(role='user', parts=parts)"
        ),
    },
    "live-ex1": {
        "forgets the roles": (
            "return prompt + candidates + question + (0 if dropped else thoughts)"
        ),
        "always sends the thoughts": "return prompt + thoughts + candidates + question + 2",
    },
    "live-ex2": {
        "rounds down": ("return students * calls * dollars, students * calls // per_minute"),
    },
}


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


def checked(exercise, answer):
    """What the check says of an answer: a function, or the body of one."""
    solution, check, names = exercise
    name, line = head(solution)
    names = dict(names)
    if callable(answer):
        names[name] = answer
    else:
        run(line + answer, names)
    with contextlib.redirect_stdout(io.StringIO()):
        return run(check, names)


def asked(exercise):
    """The cases of a check and the values that are right."""
    solution, check, names = exercise
    seen = []

    def spy(_, reference, cases=((),)):
        seen.append((reference, list(cases)))

    own = {**names, "compare": spy}
    run(solution, own)
    run(check, own)
    reference, cases = seen[0]
    right = []
    for case in cases:
        with contextlib.suppress(ValueError):  # a refusal is the right answer
            right.append(reference(*(case if isinstance(case, tuple) else (case,))))
    return cases, right


def test_no_constant_passes(exercises):
    for name, exercise in exercises.items():
        for value in [*SIMPLE, *asked(exercise)[1]]:
            assert not checked(exercise, lambda *_, value=value, **__: value), (name, value)


@pytest.mark.parametrize(
    ("name", "mistake"), [(name, each) for name in MISTAKES for each in MISTAKES[name]]
)
def test_a_common_mistake_is_told(exercises, name, mistake):
    check = checked(exercises[name], MISTAKES[name][mistake])
    assert not check and "Input" in check.message, check


@pytest.mark.parametrize("seed", ["kim@a", "lee@b"])
def test_a_mistake_is_told_to_every_reader(exercises, monkeypatch, seed):
    """No reader's numbers are such that a mistake passes with them."""
    monkeypatch.setenv("CHAT_MEMORY_SEED", seed)
    for name, mistakes in MISTAKES.items():
        for mistake, answer in mistakes.items():
            assert not checked(exercises[name], answer), (name, mistake)


def test_neighbours_get_numbers_of_their_own(exercises, monkeypatch):
    for name in exercises.keys() - NO_NUMBERS:
        drawn = set()
        for seed in ("kim@a", "lee@b", "park@c", "choi@d", "jung@e"):
            monkeypatch.setenv("CHAT_MEMORY_SEED", seed)
            drawn.add(str(asked(exercises[name])[0]))
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


def test_the_last_hint_is_a_line_of_the_solution(exercises):
    for name, (solution, *_) in exercises.items():
        code = re.findall(r"`([^`]+)`", hint(name, 3))
        assert code and all(piece in solution for piece in code), name
