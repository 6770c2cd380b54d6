"""Counts the requests that a strategy would have sent for a recorded chat, one after another.

Of each request it works out promptTokenCount, what a cache could bring at best, whether Gemini
would refuse it, and which facts are no longer in it. Of the contents only what is new is weighed
(`weights.py`); system and tools are weighed once. A strategy that asks for a summary gets one from
the offline summariser, and that call is on the bill.

This file does *not* know where a chat comes from: `recount.py` does. It calls no model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from google.genai import types

from chat_memory import contents
from chat_memory.calls import Call, body, instruction
from chat_memory.strategies import Context
from chat_memory.strings import t
from chat_memory.usage import Price, Usage, cost
from chat_memory.weights import Running, Scale
from offline_gemini import Refused, breakdown, rules
from offline_gemini.billing import keeps_old_thoughts, parts_of
from offline_gemini.caching import Piece, common_prefix, minimum, prompt_pieces
from offline_gemini.protocol import generated
from offline_gemini.replies import answer, visible_texts


@dataclass(frozen=True)
class Asked:
    """A recorded call, as far as a recount needs it: what came before, and what it brought.

    Its context is made of the first `stop` contents. `request` is its body, `written` and
    `thoughts` are the tokens of its reply, `held` those of a cachedContents that it names.
    """

    stop: int
    request: Mapping
    model: str
    written: int = 0
    thoughts: int = 0
    held: int = 0


class Stretch:
    """The calls between two `/clear`, and the contents that the last of them followed, weighed."""

    def __init__(self, contents: list[types.Content], asked: list[Asked], scale: Scale):
        self.contents, self.asked, self.model = contents, asked, asked[0].model
        self.whole = Running(scale, keeps_old_thoughts(self.model))
        self.whole.take(contents)
        self.adds_up = self.whole.adds_up
        self.said: dict[str, int] = {}  # where each fact is said first
        for place, weight in enumerate(scale.weights(contents)):
            for fact in weight.facts:
                self.said.setdefault(fact, place)


class Head(NamedTuple):
    """What stands in a prompt before its contents: tools and system."""

    pieces: list[Piece]
    tokens: int
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Recount:
    """What a strategy would have sent for a recorded chat, and what that costs.

    `prompts` and `cached` have one count a recorded call: its promptTokenCount, and how much of
    that a cache could bring at best. `usage` sums them and the replies; `extra` are the calls of
    the strategy's own. `gone` says for each fact at how many calls after it was said it was not in
    the request. `refused` calls Gemini would refuse, `why` is its first sentence; they are not in
    `usage`. If `stopped`, the strategy itself made no context for the call after the last, and
    `why` says it. `price` is None for the model's.
    """

    strategy: str
    model: str
    prompts: list[int] = field(repr=False)
    cached: list[int] = field(repr=False)
    usage: Usage
    extra: list[Usage] = field(repr=False)
    gone: Mapping[str, int]
    refused: int
    why: str
    stopped: bool
    price: Price | None

    @property
    def total(self) -> Usage:
        """The usage of all calls, the strategy's own too."""
        return sum(self.extra, self.usage)

    @property
    def dollars(self) -> float:
        """US dollars for all calls, with the cache at its best; ValueError without a price."""
        return cost(self.total, self.price or self.model)

    @property
    def uncached(self) -> float:
        """US dollars for all calls if nothing is read from a cache."""
        return cost(replace(self.total, cached_content_token_count=0), self.price or self.model)

    @property
    def extra_dollars(self) -> float:
        """US dollars for the strategy's own calls; both sums hold them."""
        return cost(sum(self.extra, Usage()), self.price or self.model)

    @property
    def cached_share(self) -> float:
        """The share of all prompt tokens that a cache could bring at best, from 0 to 1."""
        used = self.total
        return used.cached_content_token_count / (used.prompt_token_count or 1)

    @property
    def estimated(self) -> bool:
        """Whether a count rests on an estimate."""
        return self.total.estimated


class Counter:
    """The counts so far; `begin` a chat, then `count` its requests in their order."""

    def __init__(self, scale: Scale, heads: dict[tuple, Head]):
        self.scale, self.heads = scale, heads  # what is weighed once for all counters
        self.extra: list[Call] = []
        self._model = ""
        self._prompts: list[int] = []
        self._cached: list[int] = []
        self._billed: list[tuple[int, int, int, int]] = []  # prompt, cached, written, thoughts
        self._gone = dict.fromkeys(scale.facts, 0)
        self._refused, self._why, self._stopped = 0, "", False

    def begin(self, chat: Stretch) -> None:
        """Begin a chat: nothing of the one before is in its requests."""
        self._chat, self._model = chat, chat.model
        self._least = minimum(chat.model)  # tokens of a prefix that a cache takes
        self._running = Running(self.scale, keeps_old_thoughts(chat.model))
        self._head: Head | None = None

    def prompt(self, asked: Asked, context: Context) -> int:
        """promptTokenCount of one request, and no more: a difference if it is the list's end."""
        start, chat = len(context.dropped), self._chat
        if chat.adds_up and context.contents == chat.contents[start : asked.stop]:
            tokens = chat.whole.between(start, asked.stop)
        else:
            self._running.take(context.contents)
            tokens = self._running.tokens
        return asked.held + self._head_of(asked, context).tokens + tokens

    def count(self, asked: Asked, context: Context) -> None:
        """Count one request."""
        begins = self._running.take(context.contents)
        head, before = self._head_of(asked, context), self._head
        self._head = head
        prefix = common_prefix(head.pieces, before.pieces) if before else 0
        prefix += begins if before and before.pieces == head.pieces else 0
        prompt = asked.held + head.tokens + self._running.tokens
        cached = asked.held or (prefix if prefix >= self._least else 0)
        self._prompts.append(prompt)
        self._cached.append(cached)
        if not self._is_refused(prompt, context):
            self._billed.append((prompt, cached, asked.written, asked.thoughts))
        for fact, place in self._chat.said.items():
            there = fact in head.facts or fact in self._running.facts
            self._gone[fact] += place < asked.stop and not there

    def _head_of(self, asked: Asked, context: Context) -> Head:
        """The head of a request, weighed when it is met for the first time."""
        key = id(asked.request), context.system, context.pinned
        if key not in self.heads:
            request = request_of(asked.request, context) | {"contents": []}
            bill = breakdown(request, self._model, {})
            self.scale.estimated |= bill.estimated
            facts = self.scale.visible(visible_texts(request)) if self.scale.facts else ()
            self.heads[key] = Head(prompt_pieces(request, bill), bill.total, facts)
        return self.heads[key]

    def _is_refused(self, prompt: int, context: Context) -> bool:
        """Whether Gemini refuses a request; its words are kept the first time."""
        if self._running.in_order and prompt <= rules.INPUT_LIMIT:
            return False
        self._refused += 1
        if not self._why:
            try:
                contents.check(context.contents)
                rules.check_size(prompt)
            except Refused as refused:
                why = {"code": refused.code, "status": refused.status, "message": refused.message}
                self._why = t("recount.refused", call=len(self._prompts), **why)
        return True

    def ask(self, asked: list[types.Content], purpose: str, schema: dict | None = None) -> Call:
        """What the stand-in answers a strategy, as a call that is billed."""
        context = Context(asked, system="")
        request = body(context, None, (), False, schema)
        bill = breakdown(request, self._model, {})
        rules.check_size(bill.total)
        reply = generated(request, self._model, answer(request, ()), bill)
        usage = Usage.from_json(reply.body["usageMetadata"], reply.estimated)
        call = Call(0, purpose, self._model, context, 0, request, {}, reply.body, usage)
        self.extra.append(call)
        return call

    def stop(self, error: Exception) -> None:
        """End the count, for the strategy makes no further context."""
        self._why = t("recount.stopped", call=len(self._prompts) + 1, reason=error)
        self._stopped = True

    def result(self, name: str, price: Price | None) -> Recount:
        """All counts together."""
        sums = map(sum, zip((0, 0, 0, 0), *self._billed, strict=True))
        prompt, cached, written, thoughts = sums
        usage = Usage(prompt, written, thoughts, cached, 0, prompt + written + thoughts)
        return Recount(
            strategy=name,
            model=self._model,
            prompts=self._prompts,
            cached=self._cached,
            usage=replace(usage, estimated=self.scale.estimated),
            extra=[call.usage for call in self.extra],
            gone=self._gone,
            refused=self._refused,
            why=self._why,
            stopped=self._stopped,
            price=price,
        )


def request_of(request: Mapping, context: Context) -> dict:
    """A recorded body, with a context's own system and what it pins in place of the recorded."""
    if context.system is None and not context.pinned:
        return dict(request)
    system = "".join(part["text"] for part in parts_of(request.get("systemInstruction") or {}))
    text = instruction(context, system)
    return request | {"systemInstruction": {"parts": [{"text": text}]}}
