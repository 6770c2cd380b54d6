"""A chat with memory: a transcript, a strategy, and a client that sends what the strategy makes.

The model keeps nothing. So `send` appends the question to the transcript, lets the strategy make
a context of it, and sends that whole list; the reply is appended as it came, signatures and all.
If it asks for function calls, they are run, their responses appended, and all is sent again,
until the model answers. Every request leaves a `Call` in `calls`.

`send` is a transaction: on any error the transcript is as it was, and the error says what to do.
`clear` begins a new list and sends nothing.

This file does *not* choose what is sent (`strategies.py`), nor does it know who answers.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from google import genai
from google.genai import types

from chat_memory import calls, contents, errors, runs
from chat_memory.calls import Call, Stream
from chat_memory.connect import default_model, offline_scripts
from chat_memory.strategies import (
    Context,
    Everything,
    Strategy,
    bind,
    context_of,
    name_of,
    reset,
)
from chat_memory.strings import t
from chat_memory.tools import Tool, by_name, respond
from chat_memory.usage import Usage
from offline_gemini.sentences import refusal

LONGEST_WAIT = 60.0  # seconds; a 429 that asks for more is an error at once


@dataclass(frozen=True)
class Reply:
    """What a turn brought: the answer's text, and all its calls; the last one is the answer."""

    text: str
    calls: list[Call] = field(repr=False)

    @property
    def usage(self) -> Usage:
        """The usage of the answer call; `usage.total(reply.calls)` adds up the turn."""
        return self.calls[-1].usage

    @property
    def contents(self) -> list[types.Content]:
        """The contents that the answer call sent."""
        return self.calls[-1].contents


class ChatSession:
    """A chat: `send` a message, look at `transcript` and `calls`, `clear` to begin anew.

    `strategy` makes the context, `system` goes with every request, `tools` are Python functions
    the model may ask for. `thinking=False` asks the model not to think. A turn makes at most
    `max_calls` requests. `sleep` waits out a 429, in seconds; by default nothing waits offline.
    Raises ValueError for what is no strategy, and for tools that can't be declared.
    """

    def __init__(
        self,
        client: genai.Client,
        strategy: Strategy = Everything(),
        system: str | None = None,
        tools: Iterable[Callable[..., object] | Tool] = (),
        model: str | None = None,
        thinking: bool = True,
        max_calls: int = 16,
        sleep: Callable[[float], None] | None = None,
    ):
        if isinstance(strategy, type) or not callable(strategy):
            raise refusal(t("error.no_strategy", strategy=strategy))
        self.client = client
        self.strategy = strategy
        self.system = system
        self.tools = by_name(tools)
        self.model = model or default_model()
        self.thinking = thinking
        self.max_calls = max_calls
        self.scripts = offline_scripts(client)  # what the stand-in can recite; None if live
        self.sleep = sleep or (time.sleep if self.scripts is None else _go_on)
        self.scenario = ""
        self.transcript: list[types.Content] = []
        self.calls: list[Call] = []
        self._turns = 0
        self._signatures: dict[str, int] = {}
        self._sent: dict[int, dict] = {}

    def __repr__(self) -> str:
        return f"ChatSession({name_of(self.strategy)}, {self._turns} turns, {self.model})"

    def send(self, text: str, stream: Stream | None = None) -> Reply:
        """Say `text` and get the answer; `stream` is called with each piece as it comes.

        Raises ValueError for a message that is blank or no text, ChatError if the turn fails.
        """
        question = contents.user(_said(text))
        transcript, before, done = self.transcript, len(self.transcript), len(self.calls)
        transcript.append(question)
        try:
            self._finish_turn(transcript, stream)
        except BaseException:  # KeyboardInterrupt too: a turn is whole or has not happened
            del transcript[before:]
            raise
        self._turns += 1
        return Reply(contents.text_of(transcript[-1]), self.calls[done:])

    def clear(self) -> None:
        """Begin a new transcript; the old list and `calls` stay, and nothing is sent."""
        self.transcript = []
        reset(self.strategy)

    def save(self, path: str | Path) -> Path:
        """Write the run log, every request and reply, as JSON; `load` reads it again.

        Raises RunError if it can't be written.
        """
        return runs.save(self, path)

    def _finish_turn(self, transcript: list[types.Content], stream: Stream | None) -> None:
        """Call the model, and the functions it asks for, until it answers."""
        for left in reversed(range(self.max_calls)):
            reply = self._ask(transcript, stream)
            transcript.append(reply)
            asked = contents.calls_of(reply)
            if not asked:
                return
            if left:
                transcript.append(respond(asked, self.tools))
        raise errors.TooManyCalls(t("error.too_many_calls", calls=self.max_calls))

    def _ask(self, transcript: list[types.Content], stream: Stream | None) -> types.Content:
        """The model's reply to the context; a 429 is waited out once, if that can help."""
        bind(self.strategy, self.ask, live=self.scripts is None)
        context = context_of(self.strategy, transcript)
        try:
            return self._call(context, len(transcript), stream)
        except errors.RateLimited as limited:
            if limited.wait is None or limited.wait > LONGEST_WAIT:
                raise
            self.sleep(limited.wait)
        return self._call(context, len(transcript), stream)

    def _call(self, context: Context, before: int, stream: Stream | None) -> types.Content:
        """One request for an answer, recorded in `calls` whatever comes of it."""
        request = calls.body(context, self.system, self.tools.values(), self.thinking)
        self._share(context, request)
        call = self._recorded("answer", context, before, request)
        return self._made(call, stream)

    def ask(self, asked: list[types.Content], purpose: str, schema: dict | None = None) -> Call:
        """A request of the strategy's own, without system and tools, recorded in `calls`.

        Its purpose is "summary" or "facts". If it fails, the call says why, and the turn goes on.
        """
        context = Context(asked, system="")
        request = calls.body(context, None, (), self.thinking, schema)
        call = self._recorded(purpose, context, len(self.transcript), request)
        with suppress(Exception):  # it is noted in the call
            self._made(call, None)
        return call

    def _recorded(self, purpose: str, context: Context, before: int, request: dict) -> Call:
        """A new record in `calls`."""
        call = Call(
            turn=self._turns + 1,
            purpose=purpose,
            model=self.model,
            context=context,
            contents_before=before,
            request=request,
            signatures=self._signatures,
        )
        self.calls.append(call)
        return call

    def _made(self, call: Call, stream: Stream | None) -> types.Content:
        """Send a recorded call and give its reply."""
        with self._watched(call):
            contents.check(call.request["contents"])
            response = calls.post(self.client, self.model, call.request, stream)
            calls.record(call, response)
            reply = errors.content_of(response)
        self._signatures |= runs.signatures_of(call)
        return reply

    def _share(self, context: Context, request: dict) -> None:
        """Let a content that was sent before be one object in both records: they stay small."""
        rows = request["contents"]
        for place, content in enumerate(context.contents):
            before = self._sent.get(id(content))
            rows[place] = before if before == rows[place] else rows[place]
        self._sent = dict(zip(map(id, context.contents), rows, strict=True))

    @contextmanager
    def _watched(self, call: Call) -> Iterator[None]:
        """Time a live call, and note in it, as one sentence, why it failed."""
        started = time.perf_counter()
        try:
            yield
        except BaseException as error:
            explained = errors.explain(error, self.model)
            call.error = str(explained) or type(error).__name__
            if explained is error:
                raise
            raise explained from error
        finally:
            if self.scripts is None:
                call.seconds = round(time.perf_counter() - started, 3)


def _said(text: str) -> str:
    """The text, if it is one that can be sent."""
    if not isinstance(text, str):
        raise refusal(t("error.no_text", kind=type(text).__name__))
    if not text.strip():
        raise refusal(t("error.blank"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise refusal(t("error.half_letter")) from None
    return text


def _go_on(seconds: float) -> None:
    """Wait not at all: offline there is nothing to wait for."""
