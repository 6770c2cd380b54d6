"""The implicit prefix cache: it remembers prompts, which changes the bill and never a reply.

A prompt whose beginning was sent before is billed at the cached price for that beginning, if it
is long enough (ai.google.dev/gemini-api/docs/caching, 2026-09-02). Gemini never guarantees a hit,
and misses are reported; this cache always hits, so it shows the best case.

Not confirmed: that tools come before the system in a prefix, and that a prefix ends between two
contents (public reports speak of blocks of some 2,048 tokens, and of gaps in between).

This file does *not* play explicit caches: that is `cached_contents.py`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from offline_gemini.billing import Breakdown, get, model_version

Piece = tuple[str, int]  # a stretch of the prompt as JSON, and its tokens


def minimum(model: str) -> int:
    """The shortest prefix that can be read from the implicit cache, in tokens.

    >>> minimum("gemini-3.6-flash"), minimum("gemini-2.5-flash")
    (4096, 2048)
    """
    return 4096 if model_version(model) >= (3, 0) else 2048


@dataclass
class PrefixCache:
    """The prompts one client has sent, as a tree for each model: a prompt is a path of pieces."""

    seen: dict[str, dict] = field(default_factory=dict, repr=False)

    def cached_tokens(self, request: Mapping, bill: Breakdown, model: str) -> int:
        """Tokens of this prompt that are read from the cache; the prompt is then remembered."""
        place, known, tokens = self.seen.setdefault(model, {}), True, 0
        for piece in prompt_pieces(request, bill):
            known = known and piece in place
            tokens += piece[1] if known else 0
            place = place.setdefault(piece, {})
        return tokens if tokens >= minimum(model) else 0


def prompt_pieces(request: Mapping, bill: Breakdown) -> list[Piece]:
    """Tools, system, then each content, as JSON with its tokens."""
    head = [(request.get("tools"), bill.tools), (get(request, "systemInstruction"), bill.system)]
    weights = map(sum, zip(bill.contents, bill.thoughts, strict=True))
    rest = zip(request.get("contents") or [], weights, strict=True)
    return [(json.dumps(value, sort_keys=True), tokens) for value, tokens in [*head, *rest]]


def common_prefix(pieces: list[Piece], before: list[Piece]) -> int:
    """Tokens of the pieces with which both prompts begin.

    >>> common_prefix([("a", 5), ("b", 7)], [("a", 5), ("c", 7)])
    5
    """
    tokens = 0
    for piece, old in zip(pieces, before, strict=False):
        if piece != old:
            break
        tokens += piece[1]
    return tokens
