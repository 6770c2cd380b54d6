"""A long function response, cut in the middle to so many tokens: head and tail stay.

Between them stands a marker that says how much is left out, so that the model, and whoever reads
the list, can see it. The longest texts of a response are cut first, all to one length; what
has only many small values is written as one JSON text, and that is cut.

A response weighs what it is billed: T of `response:NAME{...}`. Cuts fall between words, where
counts add up, so the word table and the vocabulary cut at the same place.

This file does *not* choose what is shortened (`agents.py`), and it knows no better than to keep
both ends: whether the line that matters stands in the middle, it can't see.
"""

import json
from collections.abc import Iterator
from itertools import tee

from chat_memory.strings import t
from offline_gemini import count
from offline_gemini.billing import render_response, rendered_tokens
from offline_gemini.estimate import runs
from offline_gemini.tokens import sizes, words

LONGEST = 40  # characters of a piece that is not cut; base64 or minified code has no spaces


def weight(name: str | None, response: dict) -> int:
    """Tokens of a function response as it is billed, without the 2 that frame it.

    >>> weight("look", {"result": "found"})
    10
    """
    return rendered_tokens(render_response({"name": name, "response": response})).tokens


def shortened(name: str | None, response: dict, most: int) -> dict:
    """The response, cut so that it weighs at most `most` tokens.

    It weighs more only where its name leaves no room for a marker: then the marker is all.
    """
    long = sorted(count(text).tokens for text in texts_in(response))
    level = _level(long, most - (weight(name, response) - sum(long)))
    least = count(marker(sum(long))).tokens * (1 if len(long) == 1 else 2)
    while long and level >= least:
        made = _with_texts_cut(response, level)
        over = weight(name, made) - most
        if over <= 0:
            return made
        level -= max(1, over // len(long))  # a text may hold the mark that frames texts
    return _as_one_text(name, response, most)


def cut(text: str, room: int) -> str:
    """The text if it has at most `room` tokens, else its head, a marker, and its tail.

    >>> cut("word " * 90, room=40).count("tokens left out")
    1
    """
    size = count(text).tokens
    if size <= room:
        return text
    spare, pieces = room - count(marker(10 * size)).tokens, words(text)
    while spare > 0:
        head, first = _fitting(pieces, spare - spare // 2)
        tail, last = _fitting(pieces, spare // 2, -1)
        made = head + marker(size - round(first + last)) + tail
        over = count(made).tokens - room
        if over <= 0:
            return made
        spare -= over  # a word that was cut up may weigh more
    return marker(size)


def marker(tokens: int) -> str:
    """The line that stands where so many tokens were left out."""
    return f"\n{t('agents.left_out', tokens=tokens)}\n"


def texts_in(value: object) -> Iterator[str]:
    """Every text inside JSON values, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def _level(long: list[int], room: int) -> int:
    """The length to which the longest texts are cut, so that all together fill the room."""
    for place, size in enumerate(long):
        left = len(long) - place
        if size * left > room:
            return room // left
        room -= size
    return max(long, default=0)


def _with_texts_cut(value: object, level: int) -> object:
    """A JSON value in which no text is longer than `level` tokens."""
    if isinstance(value, str):
        return cut(value, level)
    if isinstance(value, dict):
        return {key: _with_texts_cut(each, level) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts_cut(each, level) for each in value]
    return value


def _as_one_text(name: str | None, response: dict, most: int) -> dict:
    """The response as one JSON text, cut; what was an error stays one."""
    key = "error" if response.get("error") else "result"
    text = json.dumps(response, ensure_ascii=False, default=str)
    return {key: cut(text, most - weight(name, {key: ""}))}


def _fitting(pieces: list[str], room: int, way: int = 1) -> tuple[str, float]:
    """The longest head that fits into so many tokens (way -1: tail), and what it weighs."""
    fitting, weighed = [], 0.0
    smaller, weighing = tee(_cut_up(pieces, way))
    for piece, size in zip(smaller, sizes(weighing), strict=True):
        if weighed + size > room:
            break
        fitting.append(piece)
        weighed += size
    return "".join(fitting[::way]), weighed


def _cut_up(pieces: list[str], way: int) -> Iterator[str]:
    """The words of a text from its head on (-1: from its tail), long ones in smaller pieces."""
    for word in pieces[::way]:
        if len(word) <= LONGEST:
            yield word
            continue
        parts = [
            run[at : at + LONGEST] for run in runs(word) for at in range(0, len(run), LONGEST)
        ]
        yield from parts[::way]
