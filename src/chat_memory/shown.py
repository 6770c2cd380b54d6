"""A value as a sentence shows it: as Python writes it, in short, and where it differs.

A content is shown by its role and its first words, a long value by its two ends, an error by its
kind and its first line. Of two values that look alike in short, the places are shown where they
begin to differ.

This file does *not* decide what differs: `checks.py` does.
"""

import os
import re
from collections.abc import Callable
from typing import Any

from google.genai import types

from chat_memory.lines import first_words, shortened

LONGEST = 100  # characters of a value in a sentence
SENTENCE = 160  # of a text: what a rule was refused for is told to its end
WORDS = 36  # columns of a content's first words


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
    """An error as one line: its kind and its first line of text."""
    first = (str(error).splitlines() or [""])[0][: 2 * LONGEST]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
