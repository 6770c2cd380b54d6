"""Experiments with a live Gemini: first the prediction and its price, then the calls.

No public run has settled what they test. An `Experiment` is a few short chats. `plan()` plays
them offline: what our rules predict, what that rests on, and what the calls can cost at most.
`run(client)` plays them live, writes a run log after every call, and lays what Gemini reports
beside what the rules predict for the request that was really sent: a live model answers and
thinks as it likes, and the rules hold for any answer, or they are wrong.

A plan above its maximum is refused, and `guard.py` counts what really leaves. The rules' own
figures come from `predictions.py`.

This file does *not* know a key: it gets a client.
"""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from google import genai
from google.genai import types

from chat_memory.calls import Call, Stream
from chat_memory.connect import connect, is_offline
from chat_memory.conversations import Conversation, find, play
from chat_memory.errors import ChatError, RequestRefused
from chat_memory.guard import MOST, guarded, most
from chat_memory.predictions import PREDICTED, Row
from chat_memory.prices import day_of_prices
from chat_memory.runs import RunError, new_path
from chat_memory.session import ChatSession
from chat_memory.strategies import Context, Everything, Strategy, name_of
from chat_memory.strings import t
from chat_memory.tables import Table
from chat_memory.usage import cost
from offline_gemini.sentences import refusal

NAMES = ("signatures", "thinking", "model", "cache")  # each has its sentences
WIDEST = 100  # characters of a line under a table: a page cuts longer ones within a word


@dataclass(frozen=True)
class Chat:
    """The first `turns` turns of a conversation, played one way.

    `thinking` is True (as the model likes), False (a budget of 0) or a level such as "low";
    `model` is by default the one CHAT_MEMORY_MODEL names.
    """

    conversation: Conversation
    turns: int
    strategy: Strategy = Everything()
    thinking: bool | str = True
    model: str | None = None

    @property
    def label(self) -> str:
        """How the chat is called in a table: its conversation, and what is special about it.

        >>> Chat("echo", 2, thinking="low").label, Chat("echo", 2, model="gemini-3.8-flash").label
        ('echo, thinking low', 'echo, gemini-3.8-flash')
        """
        thinking = {True: None, False: t("label.thinking_off")}.get(
            self.thinking, t("experiment.level", level=self.thinking)
        )
        name = find(self.conversation).name.split(".")[0]
        rule = None if self.strategy == Everything() else name_of(self.strategy)
        return ", ".join(filter(None, (name, rule, thinking, self.model)))


@dataclass(frozen=True)
class Report:
    """A table, the sentences under it, and the calls behind it, by chat, to be drawn."""

    table: Table | None
    sentences: Sequence[str]
    calls: Mapping[str, list[Call]] = field(repr=False)

    def __repr__(self) -> str:
        shown = [repr(self.table), ""] if self.table else []
        return "\n".join([*shown, *(textwrap.fill(each, WIDEST) for each in self.sentences)])


@dataclass(frozen=True)
class Experiment:
    """Chats, what is counted in them, and a maximum of requests and of US dollars.

    `name` finds its sentences in strings.en.toml: "signatures", "thinking", "model" or "cache".
    `count` is "promptTokenCount" or "cachedContentTokenCount". Raises ValueError for others.
    """

    name: str
    chats: Sequence[Chat]
    max_calls: int
    max_dollars: float = 0.25
    count: str = "promptTokenCount"

    def __post_init__(self) -> None:
        for kind, value, known in (("name", self.name, NAMES), ("count", self.count, PREDICTED)):
            if value not in tuple(known):
                raise refusal(t(f"experiment.no_{kind}", value=value, known=", ".join(known)))

    def plan(self) -> Report:
        """What is predicted for each call and what it costs at most; nothing leaves the process.

        The thoughts and answers are those of the script; of a level such as "low" it has none.
        Raises ValueError if `data/models.toml` knows no price for a model.
        """
        calls = self._rehearsed()
        chats = zip(self.chats, calls.items(), strict=True)
        rows = [row for chat, made in chats for row in self._planned(chat, *made)]
        heads = [t("table.chat"), t("chart.turn"), t("experiment.thoughts")]
        heads += [t("experiment.predicted", count=self.count), t("experiment.dollars")]
        planned = _flat(calls)
        sentences = [t(f"experiment.{self.name}.rests"), _price(planned)]
        sentences += [t("experiment.limits", calls=self.max_calls, dollars=self.max_dollars)]
        if any(call.usage.estimated for call in planned):
            sentences += [t("experiment.estimated")]
        return Report(Table(heads, rows), sentences, calls)

    def run(
        self, client: genai.Client | None, sleep: Callable[[float], None] | None = None
    ) -> Report:
        """Play the chats live; without a live client, say what would be sent.

        A chat that Gemini refuses is left for the next one; after any other error, or when it is
        interrupted, what was measured so far is reported. `sleep` waits out a 429.
        Raises ValueError, before anything is sent, if the plan is above the maximum, and for
        what is no client.
        """
        if not isinstance(client, genai.Client | None):
            raise refusal(t("experiment.no_client", kind=type(client).__name__))
        planned = _flat(self._rehearsed())
        self._require_within(planned)
        if client is None or is_offline(client):
            return Report(None, [t("experiment.not_sent", calls=len(planned))], {})
        folder = new_path(self.name)
        logs = [folder / f"{number}.json" for number in range(1, len(self.chats) + 1)]
        sessions = [_Session(client, *each, sleep) for each in zip(self.chats, logs, strict=True)]
        with guarded(client, self.max_calls, self.max_dollars):
            notes = list(self._played(sessions))
        notes += [t("experiment.saved", folder=folder.name)] if folder.exists() else []
        return self._compared(self._by_chat(sessions), notes)

    def _by_chat(self, sessions: Iterable["_Session"]) -> dict[str, list[Call]]:
        """The calls of each chat by its label; a chat that is played again has a number."""
        calls: dict[str, list[Call]] = {}
        for session in sessions:
            label = name = session.chat.label
            number = 1
            while label in calls:
                number += 1
                label = f"{name} ({number})"
            calls[label] = session.calls
        return calls

    def _rehearsed(self) -> dict[str, list[Call]]:
        """The calls of each chat, played offline: the same code, and a script for an answer."""
        sessions = []
        for chat in self.chats:
            client = connect(True, chat.conversation, caching=True, quiet=True)
            sessions.append(_Session(client, chat))
            sessions[-1].play()
        return self._by_chat(sessions)

    def _planned(self, chat: Chat, label: str, calls: Sequence[Call]) -> Iterator[tuple]:
        """A row of the plan for each call; what rests on thoughts that nobody knows is a dash."""
        for call, row in zip(calls, self._rows(label, calls), strict=True):
            thoughts, predicted = row.thoughts or 0, row.predicted
            if isinstance(chat.thinking, str):
                thoughts, predicted = None, predicted if row.turn == 1 else None
            yield label, row.turn, thoughts, predicted, f"{dollars_at_most(call):.4f}"

    def _require_within(self, planned: Sequence[Call]) -> None:
        dollars = sum(map(dollars_at_most, planned))
        if len(planned) > self.max_calls or dollars > self.max_dollars:
            limits = {"max_calls": self.max_calls, "max_dollars": self.max_dollars}
            raise refusal(t("experiment.refused", calls=len(planned), dollars=dollars, **limits))

    def _played(self, sessions: Iterable["_Session"]) -> Iterator[str]:
        """Play each chat; yields a sentence for each thing that went wrong."""
        for session in sessions:
            try:
                session.play()
            except RequestRefused as refused:
                yield f"{session.chat.label}: {refused}"
            except (ChatError, RunError) as error:
                yield str(error)
                return
            except KeyboardInterrupt:
                yield t("cli.interrupted")
                return

    def _rows(self, label: str, calls: Sequence[Call]) -> Iterator[Row]:
        """A row for each call that brought a usage."""
        billed = [call for call in calls if call.usage and call.usage.prompt_token_count]
        for number, call in enumerate(billed):
            predicted = PREDICTED[self.count](call, billed[:number])
            measured = call.usage.to_json().get(self.count)
            yield Row(label, call.turn, call.usage.thoughts_token_count, predicted, measured)

    def _compared(self, calls: Mapping[str, list[Call]], notes: Iterable[str]) -> Report:
        """What was measured beside what is predicted, and what it means if they differ."""
        rows = [row for label, made in calls.items() for row in self._rows(label, made)]
        heads = [t("table.chat"), t("chart.turn"), "thoughtsTokenCount"]
        heads += [t("experiment.predicted", count=self.count)]
        heads += [t("experiment.measured"), t("experiment.difference")]
        sentences = [self._meaning(rows)] if rows else []
        sentences += [t("experiment.cost", calls=len(rows), dollars=_dollars(_flat(calls)))]
        table = Table(heads, [(*row, row.difference) for row in rows]) if rows else None
        return Report(table, [*sentences, *notes], calls)

    def _meaning(self, rows: Sequence[Row]) -> str:
        """The sentence on whether the prediction holds."""
        same = sum(1 for row in rows if row.difference == 0)
        found = "agrees" if same == len(rows) else "differs"
        return t(
            f"experiment.{self.name}.{found}",
            same=same,
            calls=len(rows),
            hits=sum(1 for row in rows if row.measured),
            chances=sum(1 for row in rows if row.predicted),
            measured=sum(row.measured or 0 for row in rows),
            predicted=sum(row.predicted for row in rows),
        )


class _Session(ChatSession):
    """A session that plays a `Chat`, limits each answer, and writes its log after every call."""

    def __init__(
        self,
        client: genai.Client,
        chat: Chat,
        log: Path | None = None,
        sleep: Callable[[float], None] | None = None,
    ):
        thinking = bool(chat.thinking)
        super().__init__(client, chat.strategy, model=chat.model, thinking=thinking, sleep=sleep)
        self.chat = chat
        level = chat.thinking if isinstance(chat.thinking, str) else None
        self._config = {"maxOutputTokens": MOST}
        self._config |= {"thinkingConfig": {"thinkingLevel": level.upper()}} if level else {}
        self._log = log

    def play(self) -> None:
        """Play the chat from its beginning: its strategy may have played another one."""
        self.clear()
        play(self.chat.conversation, self, turns=self.chat.turns)

    def _recorded(self, purpose: str, context: Context, before: int, request: dict) -> Call:
        request["generationConfig"] = request.get("generationConfig", {}) | self._config
        return super()._recorded(purpose, context, before, request)

    def _made(self, call: Call, stream: Stream | None) -> types.Content:
        try:
            return super()._made(call, stream)
        finally:
            if self._log:
                self.save(self._log)


def dollars_at_most(call: Call) -> float:
    """US dollars that a call can cost at most, whatever the model thinks and answers."""
    return most(call.request, call.model)


def _price(calls: Sequence[Call]) -> str:
    """The sentence on money: as the script goes, and at most."""
    return t(
        "experiment.price",
        calls=len(calls),
        scripted=_dollars(calls),
        dollars=sum(map(dollars_at_most, calls)),
        most=MOST,
        as_of=day_of_prices(),
    )


def _flat(calls: Mapping[str, list[Call]]) -> list[Call]:
    return [call for made in calls.values() for call in made]


def _dollars(calls: Iterable[Call]) -> float:
    """US dollars for calls of several models."""
    return sum(cost(call.usage, call.model) for call in calls if call.usage)
