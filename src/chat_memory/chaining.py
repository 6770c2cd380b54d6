"""Two strategies in a row: what both dropped and rewrote, counted in the whole transcript.

The second one sees only what the first has left, so its indices are places in that list. This
file does *not* choose what is dropped: `strategies.Chain` runs the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import filterfalse
from typing import TYPE_CHECKING

from google.genai import types

if TYPE_CHECKING:
    from chat_memory.strategies import Context


def by_both(
    transcript: list[types.Content], before: Context, after: Context
) -> tuple[Sequence[int], Sequence[int]]:
    """What two strategies in a row dropped and rewrote, as indices in the transcript."""
    places = _places(transcript, before)
    if isinstance(places, range) and _is_start(after.dropped):
        dropped: Sequence[int] = range(places.start + len(after.dropped))
    else:
        dropped = _united(before.dropped, places, after.dropped)
    rewritten = _united(before.rewritten, places, after.rewritten)
    return dropped, sorted(set(rewritten).difference(dropped)) if rewritten else ()


def _places(transcript: list[types.Content], context: Context) -> Sequence[int | None]:
    """Where in the transcript the contents of a context stand; None for what was put in."""
    put_in = len(context.contents) + len(context.dropped) - len(transcript)
    if not put_in and _is_start(context.dropped):
        return range(len(context.dropped), len(transcript))
    if put_in and not context.rewritten:
        known = {id(content): index for index, content in enumerate(transcript)}
        return [known.get(id(content)) for content in context.contents]
    gone = set(context.dropped)
    return [None] * put_in + list(filterfalse(gone.__contains__, range(len(transcript))))


def _united(
    known: Sequence[int], places: Sequence[int | None], more: Sequence[int]
) -> Sequence[int]:
    """Indices in the transcript, and more of them that are places in a context, in order."""
    if not more:
        return known
    return sorted({*known, *map(places.__getitem__, more)} - {None})


def _is_start(dropped: Sequence[int]) -> bool:
    """Whether what was dropped is the beginning of the list, or nothing."""
    return not dropped or dropped == range(len(dropped))
