"""A value as a sentence shows it: as Python writes it, in short, and where it differs.

A content is shown by its role and its first words, a long value by its two ends, an error by its
kind and its first line. Of two values that look alike in short, the places are shown where they
begin to differ; of two kinds, the kinds: `'4'` and `4` become "the text '4'" and "the number 4".

This file does *not* decide what differs: `differences.py` does.
"""

import os
import re
from collections.abc import Callable, Iterator
from numbers import Real
from types import BuiltinFunctionType, FunctionType
from typing import Any

from google.genai import types
from pydantic import ValidationError

from chat_memory.lines import first_words, shortened
from chat_memory.order import missing
from chat_memory.strings import t

LONGEST = 100  # characters of a value in a sentence
SENTENCE = 160  # of a text: what a rule was refused for is told to its end
WORDS = 36  # columns of a content's first words
ROWS = (list, tuple, range)  # in order, and so equal if their entries are
KINDS = {
    "truth": bool,  # stands before the numbers, of which it is one
    "number": Real,
    "text": str,
    "list": list,
    "tuple": tuple,
    "range": range,
    "set": (set, frozenset),
    "dict": dict,
    "message": types.Content,
    "function": (FunctionType, BuiltinFunctionType, type),
    "generator": Iterator,
}


def show(value: Any) -> str:
    """`value` as Python writes it, a content in short, cut in the middle if it is long.

    >>> show([types.Content(role="user", parts=[types.Part(text="Hello.")])])
    '[<user: Hello.>]'
    """
    text = written(value, lambda value: repr(brief(value)))
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


def brief(value: Any) -> Any:
    """`value` with each content in it as its role and its first words."""
    if isinstance(value, types.Content):
        return Bare(f"<{value.role}: {shortened(first_words(value), WORDS)}>")
    if type(value) in (list, tuple):
        return type(value)(map(brief, value))
    return {key: brief(each) for key, each in value.items()} if type(value) is dict else value


class Bare(str):
    """A text that is shown without quotes."""

    __repr__ = str.__str__


def written(value: Any, write: Callable[[Any], str] = repr) -> str:
    """`value` as Python writes it, on one line and without memory addresses."""
    try:
        return re.sub(r"\s*\n\s*", " ", re.sub(r" at 0x[0-9a-fA-F]+", "", write(value)))
    except Exception:
        return f"<{type(value).__name__}>"


def kind_of(value: Any) -> str:
    """The kind of a value, a key of KINDS; "" for any other, and for words of ours."""
    if isinstance(value, Bare):
        return ""
    return next((name for name, kind in KINDS.items() if isinstance(value, kind)), "")


def are_rows(mine: Any, expected: Any) -> bool:
    """Whether two values are lists, tuples or ranges, all one here."""
    return isinstance(mine, ROWS) and isinstance(expected, ROWS)


def are_alike(mine: Any, expected: Any) -> bool:
    """Whether two values are of one kind, so that how they are written tells them apart."""
    return are_rows(mine, expected) or kind_of(mine) == kind_of(expected)


def are_long(mine: Any, expected: Any) -> bool:
    """Whether two values are too long for one sentence."""
    return len(show(mine)) + len(show(expected)) > LONGEST


def named(value: Any) -> str:
    """A value with its kind in words.

    >>> named("4"), named(4), named(None)
    ("the text '4'", 'the number 4', 'None')
    """
    kind = kind_of(value)
    return t(f"kind.{kind}", value=show(value)) if kind not in ("truth", "") else show(value)


def told_apart(mine: Any, expected: Any) -> tuple[str, str]:
    """Two values that differ, in words that show in what: their kinds, or where they part."""
    if are_alike(mine, expected):
        return show_apart(mine, expected)
    return named(mine), named(expected)


def show_apart(mine: Any, expected: Any) -> tuple[str, str]:
    """Two values as shown; of long texts the part from shortly before they begin to differ."""
    if isinstance(mine, str) and isinstance(expected, str) and max(len(mine), len(expected)) > 60:
        return parts_apart(mine, expected, repr)
    shown = show(mine), show(expected)
    if shown[0] != shown[1]:
        return shown
    return parts_apart(written(mine), written(expected), str)


def parts_apart(mine: str, expected: str, write: Callable[[str], str]) -> tuple[str, str]:
    """Of two texts the part from shortly before they begin to differ."""
    start = max(0, len(os.path.commonprefix([mine, expected])) - 20)
    mark = "… " if start else ""
    return tuple(mark + write(text[start : start + SENTENCE]) for text in (mine, expected))


def name_error(error: BaseException) -> str:
    """An error as one line: its kind and its first line of text, without the full stop."""
    if needed := missing(error):
        return f"{type(error).__name__}: {needed.rstrip('.')}"
    first = (str(error).splitlines() or [""])[0]
    if isinstance(error, ValidationError):  # whose first line only counts the others
        fault = error.errors()[0]
        first = f"{'.'.join(map(str, (error.title, *fault['loc'])))}: {fault['msg']}"
    first = first[: 2 * LONGEST].rstrip(".")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
