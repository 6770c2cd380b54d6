"""How two outcomes of a call differ, as one sentence: the reader's and the one that is expected.

`difference` compares values, errors, and what has become of the arguments. A list, a tuple and a
range of equal entries are equal, since no exercise means one of them alone; a text and a number
never are. Where kinds differ, the kinds are told, and of long values the place.

This file does *not* call the functions (`checks.py`), and writes no value (`shown.py`).
"""

import math
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import zip_longest
from numbers import Real
from typing import Any

from pydantic import ValidationError

from chat_memory.shown import (
    Bare,
    are_alike,
    are_long,
    are_rows,
    name_error,
    named,
    show,
    told_apart,
)
from chat_memory.strings import t

NO_FLAW = Bare("")  # what a rule finds in a right answer
NOTHING = Bare(t("check.nothing"))  # what stands behind the end of a list


@dataclass(frozen=True)
class Outcome:
    """What one call did: its value or its error, and its arguments as it left them."""

    value: Any
    error: BaseException | None
    arguments: tuple


class Unfit(Exception):
    """An answer that a rule can't look into: None, or of another kind than the one wanted."""

    def __init__(self, value: Any, wanted: str) -> None:
        super().__init__(wanted)
        self.value, self.wanted = value, t(f"wanted.{wanted}")


def difference(got: Outcome, expected: Outcome, arguments: tuple, shown: str) -> str:
    """The sentence for the first thing in which two outcomes differ; "" if they agree."""
    if got.error and not isinstance(got.error, type(expected.error)):
        return error_sentence(got.error, expected, shown)
    if expected.error:
        error = type(expected.error).__name__
        words = {"input": shown, "mine": show(got.value), "error": error}
        return "" if got.error else t("check.no_error", **words)
    if not same(got.value, expected.value):
        return value_sentence(got.value, expected.value, shown)
    if same(got.arguments, expected.arguments) or not same(arguments, copied(arguments)):
        return ""  # they agree, or hold things that are only ever equal to themselves
    if same(expected.arguments, arguments):
        return t("check.changes", input=shown)
    return t("check.leaves", input=shown)


def error_sentence(error: BaseException, expected: Outcome, shown: str) -> str:
    """The sentence for an error that was not asked for."""
    if isinstance(error, Unfit):
        return kind_sentence(error.value, error.wanted, shown)
    words = {"input": shown, "error": name_error(error)}
    if isinstance(error, ValidationError) and error.title in ("Content", "Part"):
        return t("check.stops.content", **words)
    if expected.value is NO_FLAW:
        return t("check.stops.rule", **words)
    right = type(expected.error).__name__ if expected.error else show(expected.value)
    return t("check.stops", expected=right, **words)


def value_sentence(mine: Any, expected: Any, shown: str) -> str:
    """The sentence for two values that differ, with the place inside a long one."""
    if expected is NO_FLAW:
        return t("check.flaw", input=shown, flaw=str(mine).rstrip("."))
    if mine is None:
        return kind_sentence(mine, show(expected), shown)
    place, mine, expected = first_difference(mine, expected)
    if are_long(mine, expected) and are_rows(mine, expected) and len(mine) != len(expected):
        return length_sentence(mine, expected, place, shown)
    mine, expected = told_apart(mine, expected)
    words = {"input": shown, "mine": mine, "expected": expected}
    return t("check.inside", place=place, **words) if place else t("check.differs", **words)


def length_sentence(mine: Any, expected: Any, place: str, shown: str) -> str:
    """The sentence for two long lists of unequal length, and where they part."""
    pairs = zip_longest(mine, expected, fillvalue=NOTHING)
    index, pair = next((i, pair) for i, pair in enumerate(pairs) if not same(*pair))
    words = {"count": len(mine), "all": len(expected), "place": f"{place}[{index}]"}
    mine, expected = told_apart(*pair)
    return t("check.length", input=shown, mine=mine, expected=expected, **words)


def kind_sentence(mine: Any, wanted: str, shown: str) -> str:
    """The sentence for an answer that is none, or of a kind that is not wanted."""
    if mine is None:
        return t("check.none", input=shown, expected=wanted)
    return t("check.differs", input=shown, mine=named(mine), expected=wanted)


def first_difference(mine: Any, expected: Any) -> tuple[str, Any, Any]:
    """Where two values differ first, as an index such as `[2]['role']`, and what stands there.

    Short values are told as a whole, unless what differs inside them is the kind of an entry.
    """
    found = list(levels(mine, expected))
    if not are_alike(*found[-1][1:]):
        return found[-1]
    return next((each for each in found if not are_long(*each[1:])), found[-1])


def levels(mine: Any, expected: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Two values, then the first two entries in them that differ, and so on inwards."""
    yield place, mine, expected
    keys: Iterable = ()
    if isinstance(mine, dict) and isinstance(expected, dict) and mine.keys() == expected.keys():
        keys = mine
    elif are_rows(mine, expected) and len(mine) == len(expected):
        keys = range(len(mine))
    for key in keys:
        if not same(mine[key], expected[key]):
            yield from levels(mine[key], expected[key], f"{place}[{key!r}]")
            return


def same(mine: Any, expected: Any) -> bool:
    """Whether two values are equal: a list and a tuple or range of equal entries are, too.

    Floats may differ in the last digits, and NaN equals NaN.
    """
    numbers = isinstance(mine, Real) and isinstance(expected, Real)
    if numbers and float in (type(mine), type(expected)):
        both_nan = math.isnan(mine) and math.isnan(expected)
        return both_nan or math.isclose(mine, expected, rel_tol=1e-9, abs_tol=1e-12)
    if are_rows(mine, expected):
        return len(mine) == len(expected) and all(map(same, mine, expected))
    if isinstance(mine, dict) and isinstance(expected, dict):
        return mine.keys() == expected.keys() and all(same(mine[k], expected[k]) for k in mine)
    try:
        return bool(mine == expected)
    except Exception:
        return False


def copied(argument: Any) -> Any:
    """A deep copy of an argument; what cannot be copied, such as a client, is given as it is."""
    try:
        return deepcopy(argument)
    except Exception:
        return argument
