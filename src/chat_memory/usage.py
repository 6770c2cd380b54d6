"""What a call cost: the usageMetadata of one call, sums, a bill taken apart, and money.

*Usage* is what Gemini reports with each reply. `prompt_token_count` is the whole list that was
sent, `candidates_token_count` the reply without its thoughts, `thoughts_token_count` the thinking
(billed as output), `cached_content_token_count` the part of the prompt that was read from a
cache. Any of them may be None: None is not 0 when it is printed, and 0 when it is added.

This file does *not* count tokens: `offline_gemini.billing` does. What a token costs is looked up
by `prices.py`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import offline_gemini
from chat_memory.places import DATA
from chat_memory.prices import Price, price
from chat_memory.strings import t
from offline_gemini.billing import camel
from offline_gemini.sentences import refusal

if TYPE_CHECKING:
    from chat_memory.calls import Call
    from chat_memory.session import ChatSession


@dataclass(frozen=True)
class Usage:
    """The usageMetadata of one call, or of several added up, in tokens.

    `estimated` says whether the stand-in had to estimate a count.
    """

    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    total_token_count: int | None = None
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        """Both together; a count that is None adds 0."""
        counts = {
            name: (getattr(self, name) or 0) + (getattr(other, name) or 0) for name in COUNTS
        }
        return Usage(**counts, estimated=self.estimated or other.estimated)

    def to_json(self) -> dict[str, int]:
        """The counts that are not None, under their names on the wire."""
        counts = {COUNTS[name]: getattr(self, name) for name in COUNTS}
        return {name: count for name, count in counts.items() if count is not None}

    @classmethod
    def from_json(cls, metadata: Mapping[str, int], estimated: bool = False) -> Usage:
        """The usage in a reply's `usageMetadata`.

        >>> Usage.from_json({"promptTokenCount": 54}).prompt_token_count
        54
        """
        return cls(**{name: metadata.get(COUNTS[name]) for name in COUNTS}, estimated=estimated)


COUNTS = {f.name: camel(f.name) for f in fields(Usage) if f.name != "estimated"}


def total(calls: Iterable[Call] | ChatSession) -> Usage:
    """The usage of all calls, or of a session's; a call that failed without usage adds nothing.

    Raises ValueError for anything else.
    """
    calls = getattr(calls, "calls", calls)
    if not isinstance(calls, Iterable):
        raise refusal(t("error.no_calls", kind=type(calls).__name__))
    summed = Usage() + Usage()
    for call in calls:
        if not hasattr(call, "usage"):
            raise refusal(t("error.no_calls", kind=type(call).__name__))
        summed += call.usage or Usage()
    return summed


@dataclass(frozen=True)
class Split:
    """One prompt in tokens: system, tools, messages sent before, new messages, thoughts."""

    system: int
    tools: int
    resent: int
    new: int
    thoughts: int


def breakdown(call: Call) -> Split:
    """The prompt of a call taken apart; its parts sum to `prompt_token_count` when it is exact.

    New is what follows the last content of the model in the request; all before was sent before.
    `thoughts` are those that re-sent signatures bring back. What a cachedContents holds counts as
    system. Raises ValueError for what is no call.
    """
    if not hasattr(call, "request"):
        raise refusal(t("error.no_call", kind=type(call).__name__))
    bill = offline_gemini.breakdown(call.request, call.model, call.signatures)
    sent, fresh = sum(bill.contents), sum(bill.contents[first_new(call) :])
    return Split(bill.system + held(call), bill.tools, sent - fresh, fresh, sum(bill.thoughts))


def first_new(call: Call) -> int:
    """Where the new contents of a request begin: after the last one of the model."""
    roles = [content.get("role") for content in call.request["contents"]]
    return len(roles) - roles[::-1].index("model") if "model" in roles else 0


def held(call: Call) -> int:
    """Tokens of a prompt that stand in a cachedContents it names, and not in the request."""
    if not call.request.get("cachedContent") or call.usage is None:
        return 0
    return call.usage.cached_content_token_count or 0


def cost(usage: Usage, model: str | Price) -> float:
    """US dollars for a usage, at a model's price or at a Price of your own.

    (prompt - cached) x input + cached x cached + (candidates + thoughts) x output.

    >>> cost(Usage(prompt_token_count=1_000_000), Price(input=0.75, output=3.75, cached=0.075))
    0.75
    """
    rate = model if isinstance(model, Price) else price(model)
    cached = usage.cached_content_token_count or 0
    fresh = (usage.prompt_token_count or 0) - cached
    output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return (fresh * rate.input + cached * rate.cached + output * rate.output) / 1_000_000


def published_runs() -> list[dict[str, str | int | float]]:
    """The published calls in `data/published_runs.csv`, one dict a call, counts as ints.

    >>> [row["total"] for row in published_runs()][:2]
    [203, 416]
    """
    with open(DATA / "published_runs.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = {"run": str, "seconds": float, "source": str}
    return [{name: texts.get(name, int)(row[name]) for name in row} for row in rows]
