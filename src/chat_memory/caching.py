"""What a cache could bring to each call, what it brought, and what the calls cost without it.

Gemini reads the beginning of a prompt from a cache if it was sent before, word for word, and is
long enough; that part is billed at the cached price. So what counts is the *prefix*: the tokens
with which a prompt and the one before it begin alike. A strategy that cuts or rewrites an early
message loses the prefix from there on.

The prefix is worked out from the requests, what was cached is read from the usage. This file does
*not* price the storage of an explicit cache: there is a fee, and no figure of it in models.toml.
"""

from collections.abc import Iterable
from dataclasses import replace

import offline_gemini
from chat_memory.calls import Call
from chat_memory.strings import t
from chat_memory.usage import held, total
from offline_gemini.caching import common_prefix, prompt_pieces


def prefix(call: Call, before: Call | None) -> int:
    """Tokens with which two prompts begin alike: the most that a cache can bring to `call`.

    Tools and system are compared, then content after content, each as a whole. 0 if there is no
    call before, or it went to another model or another cachedContents.
    """
    if before is None or before.model != call.model:
        return 0
    if before.request.get("cachedContent") != call.request.get("cachedContent"):
        return 0
    return held(call) + common_prefix(_pieces(call), _pieces(before))


def _pieces(call: Call) -> list[tuple[str, int]]:
    bill = offline_gemini.breakdown(call.request, call.model, call.signatures)
    return prompt_pieces(call.request, bill)


def prefixes(calls: Iterable[Call]) -> list[int]:
    """The prefix of each call with the one before it of the same purpose.

    A summary's own prompt begins unlike an answer's, so the two are not compared.
    """
    last: dict[str, Call] = {}
    found = []
    for call in calls:
        found.append(prefix(call, last.get(call.purpose)))
        last[call.purpose] = call
    return found


def share(calls: Iterable[Call]) -> float:
    """The share of all prompt tokens that was read from a cache, from 0 to 1."""
    usage = total(calls)
    return usage.cached_content_token_count / (usage.prompt_token_count or 1)


def uncached(calls: Iterable[Call]) -> list[Call]:
    """The same calls as if nothing had been read from a cache, to see what they would cost."""
    return [
        replace(call, usage=call.usage and replace(call.usage, cached_content_token_count=None))
        for call in calls
    ]


def both_ways(calls: Iterable[Call]) -> dict[str, list[Call]]:
    """The calls with and without the cache, under labels, for `draw_money` and `draw_sum`."""
    calls = list(calls)
    return {t("label.cached"): calls, t("label.uncached"): uncached(calls)}
