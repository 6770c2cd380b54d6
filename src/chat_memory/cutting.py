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
from collections.abc import Iterable, Iterator

from chat_memory.strings import t
from offline_gemini import count
from offline_gemini.billing import render_response, rendered_tokens
from offline_gemini.estimate import runs
from offline_gemini.tokens import words

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
    sizes = sorted(count(text).tokens for text in texts_in(response))
    level = _level(sizes, most - (weight(name, response) - sum(sizes)))
    least = count(marker(sum(sizes))).tokens * (1 if len(sizes) == 1 else 2)
    while sizes and level >= least:
        made = _with_texts_cut(response, level)
        over = weight(name, made) - most
        if over <= 0:
            return made
        level -= max(1, over // len(sizes))  # a word that is estimated may weigh more alone
    return _as_one_text(name, response, most)


def cut(text: str, room: int) -> str:
    """The text if it has at most `room` tokens, else its head, a marker, and its tail.

    >>> cut("word " * 90, room=40).count("tokens left out")
    1
    """
    size = count(text).tokens
    if size <= room:
        return text
    spare = max(0, room - count(marker(size)).tokens)
    pieces = list(_pieces(text))
    head, first = _fitting(pieces, spare - spare // 2)
    tail, last = _fitting(reversed(pieces[len(head) :]), spare // 2)
    return "".join([*head, marker(size - first - last), *reversed(tail)])


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


def _level(sizes: list[int], room: int) -> int:
    """The length to which the longest texts are cut, so that all together fill the room."""
    for place, size in enumerate(sizes):
        left = len(sizes) - place
        if size * left > room:
            return room // left
        room -= size
    return max(sizes, default=0)


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
    room = most - weight(name, {key: ""})
    made = {key: cut(text, room)}
    while room > 0 and (over := weight(name, made) - most) > 0:
        room -= over
        made = {key: cut(text, room)}
    return made


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces whose token counts add up, long words in smaller ones."""
    for word in words(text):
        if len(word) <= LONGEST:
            yield word
            continue
        for run in runs(word):
            yield from (run[at : at + LONGEST] for at in range(0, len(run), LONGEST))


def _fitting(pieces: Iterable[str], room: int) -> tuple[list[str], int]:
    """The first pieces that fit into so many tokens, and what they weigh."""
    fitting, weighed = [], 0
    for piece in pieces:
        size = count(piece).tokens
        if weighed + size > room:
            break
        fitting.append(piece)
        weighed += size
    return fitting, weighed
