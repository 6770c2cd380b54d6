"""A text or a content on one line: how many columns it takes, and cut where it is too long.

Tables, the context lens, checks and the terminal show a message by its first words. A column is
the width of a letter in a fixed-width font; a Hangul syllable takes two, so a Korean line is cut
after half as many letters, and columns stay straight.

This file does *not* wrap a text over several lines, and it counts no tokens.
"""

import unicodedata

from google.genai import types

from chat_memory.contents import calls_of, responses_of, text_of
from chat_memory.strings import t

WIDEST = 46  # columns of a message that a table's row shows


def first_words(content: types.Content) -> str:
    """What a content says, calls and answers, in that order; "(data)" if it holds nothing else.

    >>> call = types.FunctionCall(name="track", args={"order": 48213})
    >>> first_words(types.Content(role="model", parts=[types.Part(function_call=call)]))
    'track(order=48213)'
    """
    calls = [f"{call.name}({_written(call.args)})" for call in calls_of(content)]
    answers = [f"{answer.name}: {_written(answer.response)}" for answer in responses_of(content)]
    return " ".join(filter(None, [text_of(content).strip(), *calls, *answers])) or t("lens.data")


def _written(values: dict | None) -> str:
    return ", ".join(f"{key}={value}" for key, value in (values or {}).items())


def shortened(text: str, widest: int = WIDEST) -> str:
    """The first words of a text, on one line of at most `widest` columns.

    >>> shortened("Hello there,\\nworld", 13)
    'Hello there,…'
    """
    line = " ".join(text.split())[: widest + 1]
    if columns(line) <= widest:
        return line
    while columns(line) >= widest:
        line = line[:-1]
    return line.rstrip() + "…"


def columns(text: str) -> int:
    """Columns that a text takes in a fixed-width font.

    >>> columns("order"), columns("주문")
    (5, 4)
    """
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
