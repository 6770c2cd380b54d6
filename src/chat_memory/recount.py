"""What a recorded chat would have cost under another strategy, its replies held fixed.

A slider that plays a scripted conversation sends every request again. A chat that was recorded,
live or typed, can't be played again, for the model would answer differently. It can be recounted:
each recorded transcript goes through the real strategy, and the context is billed by Gemini's
rules.

This file does *not* say what the model would have answered.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chat_memory import contents
from chat_memory.calls import Call, instruction
from chat_memory.strategies import Context, Strategy, context_of
from chat_memory.usage import held
from offline_gemini import Refused, breakdown, prompt_token_count
from offline_gemini.billing import keeps_old_thoughts, parts_of
from offline_gemini.sentences import refusal


class Record:
    """A recorded chat, weighed once, so that `prompts` of a strategy takes about a millisecond.

    `calls` are a session's, or those of a loaded run log. Raises ValueError if messages are
    missing in them, because a strategy had dropped them.
    """

    def __init__(self, calls: Sequence[Call]):
        if any(call.context.dropped for call in calls):
            raise refusal(
                "This chat was recorded with a strategy that drops messages, so they are not in "
                "it: record it with Everything()."
            )
        self._chats = [(chat, _weights_before(chat[-1])) for chat in _chats(calls)]

    def prompts(self, strategy: Strategy) -> list[int]:
        """The promptTokenCount of each recorded call, had `strategy` made its context."""
        return [
            _prompt(call, strategy, chat[-1], before)
            for chat, before in self._chats
            for call in chat
        ]


def recounted(calls: Sequence[Call], strategy: Strategy) -> list[Call]:
    """The recorded calls as `strategy` would have sent them, for a chart; replies held fixed.

    A call that Gemini would have refused has its `error` and no usage.
    """
    return [_recounted(call, context_of(strategy, call.contents)) for call in calls]


def _recounted(call: Call, context: Context) -> Call:
    request = _request(call, context)
    try:
        contents.check(context.contents)
    except Refused as refused:
        return replace(call, context=context, request=request, usage=None, error=str(refused))
    prompt = held(call) + prompt_token_count(request, call.model, call.signatures)
    more = prompt - call.usage.prompt_token_count
    sums = {"prompt_token_count": prompt, "total_token_count": call.usage.total_token_count + more}
    return replace(call, context=context, request=request, usage=replace(call.usage, **sums))


def _chats(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """The calls between two `/clear`: each one's contents begin with those of the call before."""
    chat: list[Call] = []
    for call in calls:
        last = chat[-1].contents if chat else []
        if len(call.contents) < len(last) or call.contents[:1] != (last or call.contents)[:1]:
            yield chat
            chat = []
        chat.append(call)
    if chat:
        yield chat


def _weights_before(call: Call) -> list[int]:
    """Tokens before each content of a request, and after the last: system and tools first."""
    bill = breakdown(call.request, call.model, call.signatures)
    weights = map(sum, zip(bill.contents, bill.thoughts, strict=True))
    return list(itertools.accumulate(weights, initial=held(call) + bill.system + bill.tools))


def _prompt(call: Call, strategy: Strategy, whole: Call, before: list[int]) -> int:
    """The prompt of a call: a difference if the context is the transcript's end, else billed."""
    transcript = whole.contents[: len(call.contents)]
    context = context_of(strategy, transcript)
    start = len(context.dropped)
    own = context.system is not None or context.pinned
    is_end = not own and context.contents == transcript[start:]
    if is_end and keeps_old_thoughts(call.model):
        return before[0] + before[len(transcript)] - before[start]
    return _billed(call, context)


def _billed(call: Call, context: Context) -> int:
    return held(call) + prompt_token_count(_request(call, context), call.model, call.signatures)


def _request(call: Call, context: Context) -> dict:
    """The body that would have sent another context; the recorded system if it has no own."""
    request = call.request | {"contents": contents.to_json(context.contents)}
    if context.system is not None or context.pinned:
        system = "".join(part["text"] for part in parts_of(request.get("systemInstruction") or {}))
        request["systemInstruction"] = {"parts": [{"text": instruction(context, system)}]}
    return request
