"""Check an exercise: `compare(mine, reference, cases)`, and numbers of the reader's own.

`compare` stands as the last line of a cell and never raises: its `Check` shows as one sentence. It
tells the first case in which the reader's function and the reference differ, or that all agree;
that the three dots still stand there; the error that the reader's function stops with; and that a
function changes the list it was given. A reference that raises asks for the same error: that is
how a refusal is checked. A plain value is compared without telling the right one, which would end
the exercise. `my_numbers` draws from the reader's own seed, so that neighbours differ and no
constant passes.

A check that has to look into an answer is a rule: it takes the answer by `compare.answer`, and
returns what is wrong with it in words, "" if nothing is; `compare(rule, "", cases)` tells it.

nbgrader takes a cell without an error for a right one, and a value that a cell shows for marks. So
while it runs (it sets NBGRADER_EXECUTION) what is not right raises `NotRight` with the same
sentence, and what is right prints it.

This file does *not* run code in a sandbox, set a time limit, or give marks.
"""

import hashlib
import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from google.genai import types

from chat_memory.differences import NO_FLAW, Outcome, Unfit, copied, difference, same
from chat_memory.hints import hint, lead
from chat_memory.shown import ROWS, name_error, show
from chat_memory.strings import t

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


def compare(
    mine: Any, reference: Any, cases: Iterable[Any] | None = None, hints: str = ""
) -> Check | None:
    """Compare the reader's function, or value, with the reference; never raises for a reader.

    While nbgrader runs the cell, it raises NotRight or returns None, as `tell_nbgrader` says.
    A case is one argument, or a tuple of arguments; both sides get copies of their own.
    Without cases two functions are called without arguments, and two values are compared.
    With "" for a reference, `mine` is a rule that says what is wrong with the reader's answer.
    `hints` is the exercise whose hints a second failed try leads to.

    >>> compare(lambda n: n + n, lambda n: n * n, [2, 3])
    Input n = 3: yours gives 6, expected 9.
    >>> compare(..., 4)
    Still three dots: write your answer in their place, then run this cell again.
    """
    check = judge(mine, reference, cases, hints)
    return tell_nbgrader(check) if os.environ.get("NBGRADER_EXECUTION") else check


def tell_nbgrader(check: Check) -> None:
    """Give a check's result as nbgrader understands it: NotRight, or nothing but text."""
    if not check:
        raise NotRight(check.message)
    print(check.message)


def judge(mine: Any, reference: Any, cases: Iterable[Any] | None, hints: str = "") -> Check:
    """What `compare` finds; whatever stops on the way is found, too."""
    try:
        if holds_dots(mine):
            return Check(False, t("check.dots"))
        if callable(mine) and reference == "" and cases is not None:
            return compare_calls(mine, lambda *_: NO_FLAW, list(cases), hints)
        if not callable(reference):
            return compare_values(mine, reference)
        if not callable(mine):
            return Check(False, t("check.no_function", mine=show(mine)))
        return compare_calls(mine, reference, [()] if cases is None else list(cases), hints)
    except (Exception, KeyboardInterrupt) as error:
        return Check(False, t("check.broken", error=name_error(error)))


def answer(value: Any, wanted: str = "list") -> Any:
    """The reader's answer, for a rule to look into; a key of FITS says what it has to be.

    Raises Unfit for anything else: None, three dots, another kind. `compare` catches and tells it.
    """
    if not FITS[wanted](value):
        raise Unfit(value, wanted)
    return value


def are_messages(value: Any) -> bool:
    """Whether a value is a list of contents, or a `Context` that holds one."""
    contents = getattr(value, "contents", value)
    return isinstance(contents, ROWS) and all(isinstance(c, types.Content) for c in contents)


FITS = {
    "list": lambda value: isinstance(value, list),
    "messages": are_messages,
    "strategy": lambda value: callable(value) and not isinstance(value, type),
    "texts": lambda value: isinstance(value, ROWS) and all(isinstance(v, str) for v in value),
}
compare.hint, compare.answer = hint, answer  # at hand in every chapter, for each imports compare


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


def compare_calls(mine: Callable, reference: Callable, cases: list, hints: str) -> Check:
    """Call both on every case; returns the first difference, or that there is none."""
    if not cases:
        return Check(False, t("check.no_cases"))
    for case in cases:
        arguments = case if isinstance(case, tuple) else (case,)
        got = call(mine, arguments)
        if holds_dots(answered(got)) or "ellipsis" in str(got.error):
            return Check(False, t("check.dots"))
        shown = named_arguments(mine, arguments)
        if message := difference(got, call(reference, arguments), arguments, shown):
            return Check(False, led(message, hints))
    return Check(True, t("check.right" if len(cases) > 1 else "check.right.one", count=len(cases)))


def led(message: str, exercise: str) -> str:
    """What a failed try is told, and from the second one on where the next hint is."""
    call = lead(exercise)
    return t("check.led", message=message, call=call) if call else message


def answered(got: Outcome) -> Any:
    """The reader's answer: what was given back, or what a rule could not look into."""
    return got.error.value if isinstance(got.error, Unfit) else got.value


def named_arguments(function: Callable, arguments: tuple) -> str:
    """The arguments of a case as shown, each by its name if the function names them all."""
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in function may hide what it takes
        known = ()
    names = [
        each.name
        for each in known
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    shown = list(map(show, arguments))
    if len(names) >= len(shown):
        shown = [f"{name} = {value}" for name, value in zip(names, shown, strict=False)]
    return ", ".join(shown) or "()"


def call(function: Callable, arguments: tuple) -> Outcome:
    """Call `function` on a copy of `arguments`, and catch whatever it stops with."""
    own = tuple(map(copied, arguments))
    try:
        return Outcome(function(*own), None, own)
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        return Outcome(None, error, own)


def holds_dots(value: Any) -> bool:
    """Whether `value` is the `...` of an exercise nobody has touched, or a container of it."""
    if isinstance(value, dict):
        return any(map(holds_dots, value.values()))
    return value is ... or isinstance(value, (list, tuple)) and any(map(holds_dots, value))


def my_numbers(name: str, count: int, low: int, high: int, seed: str | None = None) -> list[int]:
    """Draw `count` whole numbers from `low` to `high`: always the same for a name and a seed.

    The seed is CHAT_MEMORY_SEED, which `start.py` sets to the user and the machine.

    >>> my_numbers("prompt", 3, 10, 900, seed="kim")
    [814, 502, 626]
    """
    seed = seed or os.environ.get("CHAT_MEMORY_SEED") or "workbook"
    drawn = (hashlib.sha256(f"{seed}/{name}/{i}".encode()).digest() for i in range(count))
    return [low + int.from_bytes(digest) % (high - low + 1) for digest in drawn]
