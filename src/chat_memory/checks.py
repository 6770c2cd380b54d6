"""Check an exercise: `compare(mine, reference, cases)`, and numbers of the reader's own.

`compare` stands as the last line of a cell and never raises: its `Check` shows as one sentence. It
tells the first case in which the reader's function and the reference differ, or that all agree;
that the three dots still stand there; the error that the reader's function stops with; and that a
function changes the list it was given. A reference that raises asks for the same error: that is
how a refusal is checked. A plain value is compared without telling the right one, which would end
the exercise. `compare.hint` gives an exercise's hints, step by step. `my_numbers` draws from the
reader's own seed, so that neighbours differ and no constant passes.

nbgrader takes a cell without an error for a right one, and a value that a cell shows for marks. So
while it runs (it sets NBGRADER_EXECUTION) what is not right raises `NotRight` with the same
sentence, and what is right prints it.

This file does *not* run code in a sandbox, set a time limit, or give marks.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from numbers import Real
from typing import Any

from chat_memory.shown import LONGEST, Bare, name_error, show, show_apart
from chat_memory.strings import EN, t
from offline_gemini.sentences import refusal

CONTAINERS = (list, tuple, set, dict)


@dataclass(frozen=True)
class Check:
    """What a check found: `passed`, and one sentence that a cell shows."""

    passed: bool
    message: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.message


class NotRight(Exception):
    """What `compare` raises while nbgrader grades or validates, and at no other time."""


@dataclass(frozen=True)
class Outcome:
    """What one call did: its value or its error, and its arguments as it left them."""

    value: Any
    error: BaseException | None
    arguments: tuple


def compare(mine: Any, reference: Any, cases: Iterable[Any] | None = None) -> Check | None:
    """Compare the reader's function, or value, with the reference; never raises for a reader.

    While nbgrader runs the cell, it raises NotRight or returns None, as `tell_nbgrader` says.
    A case is one argument, or a tuple of arguments; both sides get copies of their own.
    Without cases two functions are called without arguments, and two values are compared.

    >>> compare(lambda n: n + n, lambda n: n * n, [2, 3])
    Input 3: yours gives 6, expected 9.
    >>> compare(..., 4)
    Still three dots: write your answer in their place, then run this cell again.
    """
    check = judge(mine, reference, cases)
    return tell_nbgrader(check) if os.environ.get("NBGRADER_EXECUTION") else check


def tell_nbgrader(check: Check) -> None:
    """Give a check's result as nbgrader understands it: NotRight, or nothing but text."""
    if not check:
        raise NotRight(check.message)
    print(check.message)


def judge(mine: Any, reference: Any, cases: Iterable[Any] | None) -> Check:
    """What `compare` finds; whatever stops on the way is found, too."""
    try:
        if holds_dots(mine):
            return Check(False, t("check.dots"))
        if not callable(reference):
            return compare_values(mine, reference)
        if not callable(mine):
            return Check(False, t("check.no_function", mine=show(mine)))
        return compare_calls(mine, reference, [()] if cases is None else list(cases))
    except (Exception, KeyboardInterrupt) as error:
        return Check(False, t("check.broken", error=name_error(error)))


def compare_values(mine: Any, right: Any) -> Check:
    """Compare two values; says of a wrong number only which way it is off."""
    if same(mine, right):
        return Check(True, t("check.right.value", mine=show(mine)))
    if callable(mine):
        return Check(False, t("check.no_value"))
    return Check(False, t(verdict(mine, right), mine=show(mine)))


def verdict(mine: Any, right: Any) -> str:
    """What is wrong with a value, as the id of a sentence."""
    if not isinstance(right, Real) or isinstance(right, bool):
        return "check.wrong"
    if isinstance(mine, Real):
        return "check.too_small" if mine < right else "check.too_large"
    return "check.no_number" if isinstance(mine, (str, *CONTAINERS)) else "check.wrong"


def compare_calls(mine: Callable, reference: Callable, cases: list) -> Check:
    """Call both on every case; returns the first difference, or that there is none."""
    if not cases:
        return Check(False, t("check.no_cases"))
    for case in cases:
        arguments = case if isinstance(case, tuple) else (case,)
        got = call(mine, arguments)
        if holds_dots(got.value) or "ellipsis" in str(got.error):
            return Check(False, t("check.dots"))
        if message := difference(got, call(reference, arguments), arguments):
            return Check(False, message)
    return Check(True, t("check.right" if len(cases) > 1 else "check.right.one", count=len(cases)))


def call(function: Callable, arguments: tuple) -> Outcome:
    """Call `function` on a copy of `arguments`, and catch whatever it stops with."""
    own = tuple(map(copied, arguments))
    try:
        return Outcome(function(*own), None, own)
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        return Outcome(None, error, own)


def copied(argument: Any) -> Any:
    """A deep copy of an argument; what cannot be copied, such as a client, is given as it is."""
    try:
        return deepcopy(argument)
    except Exception:
        return argument


def difference(got: Outcome, expected: Outcome, arguments: tuple) -> str:
    """The sentence for the first thing in which two outcomes differ; "" if they agree."""
    shown = ", ".join(map(show, arguments)) or "()"
    if got.error and type(got.error) is not type(expected.error):
        hint = "check.stops.content" if is_no_content(got.error, arguments) else "check.stops"
        return t(hint, input=shown, error=name_error(got.error))
    if expected.error:
        error = type(expected.error).__name__
        return "" if got.error else t("check.no_error", input=shown, error=error)
    if not same(got.value, expected.value):
        return value_difference(got.value, expected.value, shown)
    if same(got.arguments, expected.arguments) or not same(arguments, copied(arguments)):
        return ""  # they agree, or hold things that are only ever equal to themselves
    if same(expected.arguments, arguments):
        return t("check.changes", input=shown)
    return t("check.leaves", input=shown)


def is_no_content(error: BaseException, arguments: tuple) -> bool:
    """Whether a dict or a text, not one that was given, was taken for a content."""
    if not isinstance(error, AttributeError) or error.name not in ("role", "parts"):
        return False
    return isinstance(error.obj, (str, dict)) and not holds(arguments, error.obj)


def holds(value: Any, wanted: Any) -> bool:
    """Whether `value` is equal to `wanted`, or a container of it."""
    inside = value.values() if isinstance(value, dict) else value
    return value == wanted or (
        isinstance(value, CONTAINERS) and any(holds(each, wanted) for each in inside)
    )


def value_difference(mine: Any, expected: Any, shown: str) -> str:
    """The sentence for two values that differ, with the place inside a long one."""
    if mine is None:
        return t("check.none", input=shown, expected=show(expected))
    place, mine, expected = first_difference(mine, expected)
    mine, expected = show_apart(mine, expected)
    words = {"input": shown, "mine": mine, "expected": expected}
    return t("check.inside", place=place, **words) if place else t("check.differs", **words)


def first_difference(mine: Any, expected: Any, place: str = "") -> tuple[str, Any, Any]:
    """Where two values differ first, as an index such as `[2]['role']`, and what stands there."""
    if type(mine) is type(expected) and len(show(mine)) + len(show(expected)) > LONGEST:
        if isinstance(mine, dict) and mine.keys() == expected.keys():
            keys = list(mine)
        elif isinstance(mine, (list, tuple)) and len(mine) == len(expected):
            keys = list(range(len(mine)))
        else:
            return place, mine, expected
        key = next(key for key in keys if not same(mine[key], expected[key]))
        return first_difference(mine[key], expected[key], f"{place}[{key!r}]")
    return place, mine, expected


def same(mine: Any, expected: Any) -> bool:
    """Whether two values are equal; floats may differ in the last digits, and NaN equals NaN."""
    numbers = isinstance(mine, Real) and isinstance(expected, Real)
    if numbers and float in (type(mine), type(expected)):
        both_nan = math.isnan(mine) and math.isnan(expected)
        return both_nan or math.isclose(mine, expected, rel_tol=1e-9, abs_tol=1e-12)
    if type(mine) is type(expected) and isinstance(mine, (list, tuple)):
        return len(mine) == len(expected) and all(map(same, mine, expected))
    if isinstance(mine, dict) and isinstance(expected, dict):
        return mine.keys() == expected.keys() and all(same(mine[k], expected[k]) for k in mine)
    try:
        return bool(mine == expected)
    except Exception:
        return False


def holds_dots(value: Any) -> bool:
    """Whether `value` is the `...` of an exercise nobody has touched, or a container of it."""
    if isinstance(value, dict):
        return any(map(holds_dots, value.values()))
    return value is ... or isinstance(value, (list, tuple)) and any(map(holds_dots, value))


def hint(exercise: str, step: int = 1) -> Bare:
    """One of an exercise's three hints: where to look, the idea, a line to begin with.

    Raises ValueError for an exercise or a step that there is not.

    >>> compare.hint("cost-ex2", 2)
    Count the turns after its own.
    """
    name = f"hint.{exercise}.{step}"
    if name not in EN:
        raise refusal(t("hint.none", exercise=exercise, step=step))
    return Bare(t(name))


compare.hint = hint  # at hand in every chapter, for each imports compare


def my_numbers(name: str, count: int, low: int, high: int, seed: str | None = None) -> list[int]:
    """Draw `count` whole numbers from `low` to `high`: always the same for a name and a seed.

    The seed is CHAT_MEMORY_SEED, which `start.py` sets to the user and the machine.

    >>> my_numbers("prompt", 3, 10, 900, seed="kim")
    [814, 502, 626]
    """
    seed = seed or os.environ.get("CHAT_MEMORY_SEED") or "workbook"
    drawn = (hashlib.sha256(f"{seed}/{name}/{i}".encode()).digest() for i in range(count))
    return [low + int.from_bytes(digest) % (high - low + 1) for digest in drawn]
