"""One request to Gemini and what came of it.

A `Call` records one request: the context that was sent, the JSON body, the reply, its usage, or
the error. Here the body is built, posted through the SDK, and a stream put together again.

The SDK would make types of every content again at each call, about 0.75 ms each (google-genai
3.6.1), so the body is built here and handed over as `extra_body`; a test proves it equal to the
SDK's own.

This file does *not* keep a transcript, and it does not decide what is sent.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from google import genai
from google.genai import types

from chat_memory import contents
from chat_memory.strategies import Context
from chat_memory.tools import Tool
from chat_memory.usage import Usage

Stream = Callable[[str], None]  # called with each piece of an answer's text as it comes
NO_AUTOMATIC_CALLS = types.AutomaticFunctionCallingConfig(disable=True)  # the loop is ours
NOT_ON_THE_WIRE = {"sdk_http_response", "automatic_function_calling_history", "parsed"}


@dataclass
class Call:
    """One request and what came of it.

    `turn` counts from 1. `purpose` is "answer", or "summary" or "facts" for a strategy's own.
    `request` is the JSON body that was sent, `response` the one that came back. `usage` is None
    if nothing came, `error` the sentence if the call failed. `seconds` is None offline, where
    speed says nothing. `contents_before` is the length of the transcript when it was sent, and
    `signatures` maps a signature to the thoughts of the reply it came from. `scripted` is the
    turn of the conversation that was played: a customer who repeats himself adds a turn to the
    chat, but none to the script, so charts of one script can be laid over each other.
    """

    turn: int
    purpose: str
    model: str
    context: Context = field(repr=False)
    contents_before: int = field(repr=False)
    request: dict = field(repr=False)
    signatures: dict[str, int] = field(repr=False)
    response: dict | None = field(default=None, repr=False)
    usage: Usage | None = None
    error: str | None = None
    seconds: float | None = None
    scripted: int | None = None

    @property
    def contents(self) -> list[types.Content]:
        """The contents that were sent."""
        return self.context.contents

    @property
    def reply(self) -> types.Content | None:
        """The content that came back; None if the call failed."""
        if self.error or not self.response:
            return None
        return contents.from_json([self.response["candidates"][0]["content"]])[0]

    @property
    def answer(self) -> bool:
        """Whether this call closed its turn: its reply asks for no function call."""
        reply = self.reply if self.purpose == "answer" else None
        return reply is not None and not contents.calls_of(reply)


def body(
    context: Context,
    system: str | None,
    tools: Iterable[Tool],
    thinking: bool,
    schema: dict | None = None,
) -> dict:
    """The JSON body that sends a context: what the SDK's plain call would send.

    The instruction has no role, so that none is billed. Where a cachedContents holds system and
    tools, Gemini refuses them beside its name. `schema` is the JSON schema of a structured reply.
    """
    request: dict = {"contents": contents.to_json(context.contents)}
    text = instruction(context, system)
    declarations = [tool.declaration for tool in tools]
    if context.cached:
        request["cachedContent"] = context.cached
        text, declarations = "", []
    if text:
        request["systemInstruction"] = {"parts": [{"text": text}]}
    if declarations:
        request["tools"] = [{"functionDeclarations": declarations}]
    config = {} if thinking else {"thinkingConfig": {"thinking_budget": 0}}
    if schema:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
    return request | ({"generationConfig": config} if config else {})


def instruction(context: Context, system: str | None) -> str:
    """The system instruction of a context: what is pinned, then its own system or the session's.

    >>> instruction(Context([], pinned="Order 48213."), "Be brief.").split("\\n\\n")
    ['Order 48213.', 'Be brief.']
    """
    own = system if context.system is None else context.system
    return "\n\n".join(filter(None, (context.pinned, own)))


def post(
    client: genai.Client, model: str, request: dict, stream: Stream | None
) -> types.GenerateContentResponse:
    """Send a body through the SDK, in a stream if `stream` is given; raises what the SDK does."""
    ask = {
        "model": model,
        "contents": "-",  # the SDK wants some; those of the body take their place
        "config": types.GenerateContentConfig(
            automatic_function_calling=NO_AUTOMATIC_CALLS,
            http_options=types.HttpOptions(extra_body=request),
        ),
    }
    if stream is None:
        return client.models.generate_content(**ask)
    return together(client.models.generate_content_stream(**ask), stream)


def together(
    chunks: Iterable[types.GenerateContentResponse], stream: Stream
) -> types.GenerateContentResponse:
    """The one response that the chunks of a stream make; `stream` hears each text as it comes.

    Of usage and finish reason the last that is given counts: chunks are not summed.
    """
    parts: list[types.Part] = []
    whole = types.GenerateContentResponse()
    last = types.Candidate()
    counts: dict[str, object] = {}
    for chunk in chunks:
        candidate = chunk.candidates[0] if chunk.candidates else types.Candidate()
        for part in (candidate.content.parts or ()) if candidate.content else ():
            _join(parts, part)
            if part.text and not part.thought:
                stream(part.text)
        last = candidate if candidate.finish_reason else last
        if chunk.usage_metadata:
            counts |= chunk.usage_metadata.model_dump(exclude_none=True)
        whole = chunk
    content = types.Content(role="model", parts=parts)
    candidate = last.model_copy(update={"content": content})
    usage = types.GenerateContentResponseUsageMetadata.model_validate(counts)
    return whole.model_copy(update={"candidates": [candidate], "usage_metadata": usage})


def _join(parts: list[types.Part], part: types.Part) -> None:
    """Add a part of a chunk: text goes on, but a signed part stays a part of its own.

    The signature may come in a last part with empty text, so only unsigned emptiness is dropped.
    """
    if not _is_plain(part):
        parts.append(part)
    elif parts and _is_plain(parts[-1]) and bool(parts[-1].thought) == bool(part.thought):
        parts[-1] = part.model_copy(update={"text": parts[-1].text + part.text})
    elif part.text:
        parts.append(part)


def _is_plain(part: types.Part) -> bool:
    return part.text is not None and not part.thought_signature


def record(call: Call, response: types.GenerateContentResponse) -> None:
    """Note in a call the body that came back and its usage."""
    call.response = response.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude=NOT_ON_THE_WIRE
    )
    headers = response.sdk_http_response.headers if response.sdk_http_response else None
    estimated = "x-offline-gemini-estimated" in (headers or {})
    call.usage = Usage.from_json(call.response.get("usageMetadata", {}), estimated)
