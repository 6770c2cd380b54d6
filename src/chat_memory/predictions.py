"""What the rules say that a call is billed, for the request as it was sent.

A live model writes words that no table holds, so a reply that is sent again weighs what its own
call billed for it. The rest is counted by Gemini's rules, as offline. A `Row` lays the predicted
count beside the measured one: if they differ, the rules are wrong.

This file does *not* send anything, nor say what a difference means: `experiments.py` does.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chat_memory.calls import Call
from chat_memory.contents import text_of
from offline_gemini import breakdown
from offline_gemini.billing import Breakdown
from offline_gemini.caching import common_prefix, minimum, prompt_pieces


class Row(NamedTuple):
    """One call: what the rules predict for its request, and what was billed; None is no count."""

    chat: str
    turn: int
    thoughts: int | None
    predicted: int | None
    measured: int | None

    @property
    def difference(self) -> int:
        """How far the measured count lies above the predicted one; no count is 0 here."""
        return (self.measured or 0) - self.predicted


def weighed(call: Call, before: Iterable[Call]) -> Breakdown:
    """A prompt taken apart by the rules, for the request as it was sent.

    A reply of `before` that is sent again weighs what its own call billed for it: a live model
    writes words that no table holds.
    """
    bill = breakdown(call.request, call.model, call.signatures)
    replies = {text_of(c.reply): c.usage.candidates_token_count for c in before if c.reply}
    for place, content in enumerate(call.contents):
        billed = replies.get(text_of(content)) if content.role == "model" else None
        if billed is not None:
            bill.contents[place] = billed + 1  # its role
    return bill


def predicted_prompt(call: Call, before: Sequence[Call]) -> int:
    """The promptTokenCount by the rules."""
    return weighed(call, before).total


def predicted_cached(call: Call, before: Sequence[Call]) -> int:
    """The cachedContentTokenCount in the best case: all that begins like the call before."""
    if not before:
        return 0
    now = prompt_pieces(call.request, weighed(call, before))
    then = prompt_pieces(before[-1].request, weighed(before[-1], before[:-1]))
    alike = common_prefix(now, then)
    return alike if alike >= minimum(call.model) else 0


PREDICTED = {
    "promptTokenCount": predicted_prompt,
    "cachedContentTokenCount": predicted_cached,
}
