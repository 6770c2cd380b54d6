"""What a recorded chat would have cost under another strategy, its replies held fixed.

A slider that plays a scripted conversation sends every request again. A chat that was recorded,
live or typed, or that was read from a file, can't be played again: the model would answer
differently. It can be recounted. At each recorded call the transcript before it goes through the
real strategy, and the context is billed by Gemini's rules; an offline summariser writes the
summaries, and their calls are on the bill.

This file does *not* say what the model would have answered, so it scores no answer.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from google.genai import types

from chat_memory import contents
from chat_memory.calls import Call
from chat_memory.comparison import chosen, is_ours
from chat_memory.connect import default_model
from chat_memory.counter import Asked, Counter, Head, Recount, Stretch, request_of
from chat_memory.ladder import ladder
from chat_memory.layers import KeyFacts
from chat_memory.session import ChatSession
from chat_memory.strategies import Context, Strategy, bind, context_of, name_of, reset
from chat_memory.strings import t
from chat_memory.tables import Right, Table, wrapped
from chat_memory.usage import Price, held
from chat_memory.weights import Scale
from offline_gemini import Refused, Script, prompt_token_count, read_signature
from offline_gemini.billing import candidates_token_count, get, parts_of
from offline_gemini.sentences import refusal

Chat = ChatSession | Sequence[Call] | Sequence[types.Content]
HEADS = ("strategy", "calls", "prompts", "largest", "cached", "best", "full", "extra")


class Record:
    """A recorded chat, each content weighed once, to be recounted under any strategy.

    `chat` is a session, its calls or those of a loaded run log; or a transcript: a list of
    contents, with `system` and `tools` if it has them, as `load_chat` gives it. A transcript holds
    a call for each reply; neighbouring contents of the model are one. A failed call is left out,
    for it has no reply that could be held fixed. `facts` maps names to the spellings by which a
    fact is known. Of signatures in a file only the stand-in's own say what they weigh; others add
    nothing. Raises ValueError if messages are missing, because a strategy had dropped them, and
    if there is no reply.
    """

    def __init__(
        self,
        chat: Chat,
        model: str | None = None,
        facts: Mapping[str, Sequence[str]] | None = None,
    ):
        items = list(getattr(chat, "calls", chat))
        self._heads: dict[tuple, Head] = {}
        if items and isinstance(items[0], types.Content):
            self._scale = Scale(_own_thoughts, facts or {})
            self._chats = list(_replayed(items, chat, model or default_model(), self._scale))
        else:
            known: dict[str, int] = {}
            self._scale = Scale(lambda signature: known.get(signature, 0), facts or {})
            for call in items:
                known |= call.signatures
            self._chats = list(_recorded(items, self._scale))
        if not self._chats:
            raise refusal(t("recount.no_reply"))

    def prompts(self, strategy: Strategy) -> list[int]:
        """The promptTokenCount of each recorded call, had `strategy` made its context.

        Raises ValueError if the strategy can't make one for every call.
        """
        prompts, counter = [], Counter(self._scale, self._heads)
        for number, chat in enumerate(self._chats):
            if number:
                reset(strategy)
            prompts += [counter.prompt(*each) for each in _contexts(chat, strategy, counter)]
        return prompts

    def recount(
        self, strategy: Strategy, name: str | None = None, price: Price | None = None
    ) -> Recount:
        """What `strategy` would have sent at each recorded call, and what that costs.

        A strategy that refuses a call is stopped there. One that asks for facts is stopped too:
        offline they are found only in a case file. An error in your own function is raised.
        """
        name, counter = name or name_of(strategy), Counter(self._scale, self._heads)
        try:
            for number, chat in enumerate(self._chats):
                if number:
                    reset(strategy)  # as `clear` does
                for asked, context in _contexts(chat, strategy, counter):
                    counter.count(asked, context)
        except ValueError as error:
            if not is_ours(error):
                raise
            counter.stop(error)
        return counter.result(name, price)


def _contexts(
    chat: Stretch, strategy: Strategy, counter: Counter
) -> Iterator[tuple[Asked, Context]]:
    """The calls of a chat and their contexts; ValueError if the strategy makes none for one."""
    counter.begin(chat)
    bind(strategy, counter.ask)
    transcript: list[types.Content] = []  # it grows, as a session's does
    for asked in chat.asked:
        transcript += chat.contents[len(transcript) : asked.stop]
        context = context_of(strategy, transcript)
        if counter.extra and counter.extra[-1].purpose == "facts":
            raise refusal(t("recount.facts"))
        yield asked, context


def _own_thoughts(signature: str) -> int:
    """The thoughts that a signature brings back, if the stand-in made it."""
    found = read_signature(signature)
    return found[0] if found else 0


def _replayed(
    items: list[types.Content], chat: object, model: str, scale: Scale
) -> Iterator[Stretch]:
    """A transcript as calls: one for each reply that something stands before."""
    system, tools = getattr(chat, "system", ""), list(getattr(chat, "tools", ()))
    request = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    request |= {"tools": [{"functionDeclarations": tools}]} if tools else {}
    asked, place = [], 0
    for role, run in itertools.groupby(items, lambda content: content.role):
        said = list(run)
        if role == "model" and place:
            asked.append(Asked(place, request, model, *_output(said, scale)))
        place += len(said)
    if asked:
        yield Stretch(items, asked, scale)


def _output(said: list[types.Content], scale: Scale) -> tuple[int, int]:
    """Tokens of a reply and of its thoughts."""
    parts = [part for row in contents.to_json(said) for part in parts_of(row)]
    counted = candidates_token_count(parts)
    scale.estimated |= counted.estimated
    signatures = {get(part, "thoughtSignature") for part in parts} - {None}
    return counted.tokens, sum(map(_own_thoughts, signatures))


def _recorded(calls: Iterable[Call], scale: Scale) -> Iterator[Stretch]:
    """The answered calls between two `/clear`: each one's contents begin as those before it."""
    chat: list[Call] = []
    requests: list[Mapping] = []
    for call in filter(_is_answered, calls):
        if call.context.dropped or call.context.rewritten:
            raise refusal(t("recount.dropped"))
        last = chat[-1].contents if chat else []
        if last and call.contents[: len(last)][-1:] != last[-1:]:
            yield _stretch(chat, requests, scale)
            chat, requests = [], []
        request = {key: value for key, value in call.request.items() if key != "contents"}
        requests.append(requests[-1] if requests[-1:] == [request] else request)
        chat.append(call)
    if chat:
        yield _stretch(chat, requests, scale)


def _stretch(calls: list[Call], requests: list[Mapping], scale: Scale) -> Stretch:
    asked = [
        Asked(
            len(call.contents),
            request,
            call.model,
            call.usage.candidates_token_count or 0,
            call.usage.thoughts_token_count or 0,
            held(call),
        )
        for call, request in zip(calls, requests, strict=True)
    ]
    return Stretch(calls[-1].contents, asked, scale)


def _is_answered(call: Call) -> bool:
    """Whether a call was for an answer, and got one that was billed."""
    billed = call.usage is not None and call.usage.prompt_token_count is not None
    return call.purpose == "answer" and billed and not call.error


def recounted(calls: Sequence[Call], strategy: Strategy) -> list[Call]:
    """The recorded calls as `strategy` would have sent them, for a chart; replies held fixed.

    A call that Gemini would have refused has its `error` and no usage. One that failed when it was
    recorded stays as it is.
    """
    return [
        _recounted(call, context_of(strategy, call.contents)) if _is_answered(call) else call
        for call in calls
    ]


def _recounted(call: Call, context: Context) -> Call:
    request = request_of(call.request, context) | {"contents": contents.to_json(context.contents)}
    try:
        contents.check(context.contents)
    except Refused as refused:
        return replace(call, context=context, request=request, usage=None, error=str(refused))
    prompt = held(call) + prompt_token_count(request, call.model, call.signatures)
    more = prompt - call.usage.prompt_token_count
    sums = {"prompt_token_count": prompt, "total_token_count": call.usage.total_token_count + more}
    return replace(call, context=context, request=request, usage=replace(call.usage, **sums))


def recount_table(
    chat: Chat,
    strategies: Mapping[str, Strategy] | Iterable[Strategy] | None = None,
    *,
    also: Iterable[Strategy] = (),
    facts: Mapping[str, Sequence[str]] | None = None,
    model: str | None = None,
    price: Price | None = None,
) -> Table:
    """One row a strategy for a recorded chat: what it would have sent, and what that costs.

    `chat`, `model` and `facts` are those of `Record`; without `strategies` it is the ladder, but
    for those that need a case file. For each of the facts, such as `{"serial": ["SN-4411"]}`, a
    column counts the calls after it was said at which it was no longer in the request.
    """
    record = Record(chat, model, facts)
    offered = _offered() if strategies is None else strategies
    rows = [record.recount(s, name, price) for name, s in chosen(offered, also).items()]
    heads = [*(t(f"recount.{head}") for head in HEADS)]
    heads += [t("recount.gone", fact=fact) for fact in facts or {}]
    return Table(heads, [_cells(row) for row in rows], _notes(rows, strategies is None))


def _offered() -> dict[str, Strategy]:
    """The strategies that a chat without a case file can be recounted under."""
    every = ladder(Script(name=""))
    return {name: s for name, s in every.items() if not isinstance(s, KeyFacts)}


def _cells(row: Recount) -> tuple:
    if row.why:
        return (row.strategy, len(row.prompts), *[None] * (len(HEADS) - 2 + len(row.gone)))
    return (
        row.strategy,
        len(row.prompts),
        row.total.prompt_token_count,
        max(row.prompts, default=0),
        Right(f"{row.cached_share:.0%}"),
        Right(f"{row.dollars:.4f}"),
        Right(f"{row.uncached:.4f}"),
        len(row.extra),
        *row.gone.values(),
    )


def _notes(rows: Sequence[Recount], whole: bool) -> list[str]:
    """What a reader of the table has to know."""
    notes = [t("recount.note.money")]
    notes += [t("recount.note.estimated")] if any(row.estimated for row in rows) else []
    notes += [t("recount.note.left_out")] if whole else []
    for row in (row for row in rows if row.why):
        kind = "stopped" if row.stopped else "refused"
        counts = {"strategy": row.strategy, "refused": row.refused, "calls": len(row.prompts)}
        notes.append(t(f"recount.note.{kind}", why=row.why, **counts))
    return wrapped(notes)
