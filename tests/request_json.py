"""Request JSON, servers and clients that the tests of the offline Gemini share; no tests here.

Contents are plain JSON as it goes over the wire, in camelCase, so that a test shows what is sent.
"""

import asyncio
import json
import os
import socket

import pytest
from google import genai
from google.genai import types

from offline_gemini import OfflineGemini
from offline_gemini.protocol import Answered
from offline_gemini.scripts import Call, Script, Turn

MODEL = "gemini-3.6-flash"
LONG = "Your order left Busan on Monday. It crosses the sea now, and it will reach you on Friday."
TURNS = (  # of `case_server`
    Turn(user="Hi.", reply="Hello.", thoughts=40),
    Turn(user="Where is it?", reply=LONG, thoughts=60),
    Turn(
        user="Who brings it?",
        steps=((Call("carrier", {"id": 7}, {"name": "Kim"}), Call("route", {}, "by sea")),),
        reply="Mr. Kim.",
        thoughts=30,
    ),
    Turn(user="Thanks.", reply="You are welcome."),
)


def need_vocabulary() -> None:
    """Skip the test that calls this, unless counts come from the vocabulary."""
    if not os.environ.get("CHAT_MEMORY_TOKENIZER"):
        pytest.skip("CHAT_MEMORY_TOKENIZER names no vocabulary to count with")


def user(*parts: str | dict) -> dict:
    """A user content; a string stands for a text part."""
    return {"role": "user", "parts": [_part(part) for part in parts]}


def model(*parts: str | dict) -> dict:
    """A model content; a string stands for a text part."""
    return {"role": "model", "parts": [_part(part) for part in parts]}


def _part(part: str | dict) -> dict:
    return {"text": part} if isinstance(part, str) else part


def call(name: str = "lookup_order", signature: str = "", **args: object) -> dict:
    """A function call part, signed if a signature is given."""
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, "args": args}} | signed


def response(name: str = "lookup_order", **values: object) -> dict:
    """A function response part."""
    return {"functionResponse": {"name": name, "response": values}}


def tool(name: str = "lookup_order", **fields: object) -> dict:
    """A tools entry with one declaration."""
    return {"functionDeclarations": [{"name": name} | fields]}


def body(*contents: dict, **fields: object) -> dict:
    """A request body."""
    return {"contents": list(contents)} | fields


def script(*turns: Turn, **fields: object) -> Script:
    """A conversation of these turns."""
    return Script(name="test.toml", turns=turns, **fields)


def post(
    server: OfflineGemini, request: object, verb: str = "generateContent", model: str = MODEL
) -> Answered:
    """What the server answers to a request body; bytes go out as they are."""
    sent = request if isinstance(request, bytes) else json.dumps(request).encode()
    return server.handle("POST", f"/v1/models/{model}:{verb}", "key", sent)


def reply_parts(server: OfflineGemini, *contents: dict, **fields: object) -> list[dict]:
    """The parts of the reply to these contents."""
    answered = post(server, body(*contents, **fields))
    assert answered.status == 200, answered.chunks
    return answered.chunks[0]["candidates"][0]["content"]["parts"]


def spoken(server: OfflineGemini, *contents: dict, **fields: object) -> str:
    """The text of the reply to these contents."""
    return reply_parts(server, *contents, **fields)[0]["text"]


def client_of(server: OfflineGemini, key: str = "key") -> genai.Client:
    """The real SDK's client, with this server in place of the network."""
    sync, asynchronous = server.clients()
    options = types.HttpOptions(httpx_client=sync, httpx_async_client=asynchronous)
    return genai.Client(vertexai=False, api_key=key, http_options=options)


def config(**fields: object) -> types.GenerateContentConfig:
    """A config that leaves function calls to the test."""
    off = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(automatic_function_calling=off, **fields)


def ask(client, contents, name: str = MODEL, **fields) -> types.GenerateContentResponse:
    """The SDK's reply to these contents."""
    return client.models.generate_content(model=name, contents=contents, config=config(**fields))


def stream(client, contents, **fields) -> list[types.GenerateContentResponse]:
    """The chunks of the SDK's stream."""
    return list(
        client.models.generate_content_stream(
            model=MODEL, contents=contents, config=config(**fields)
        )
    )


def ask_async(client, contents, **fields) -> types.GenerateContentResponse:
    """The reply through the SDK's async client."""
    return asyncio.run(
        client.aio.models.generate_content(model=MODEL, contents=contents, config=config(**fields))
    )


def stream_async(client, contents, **fields) -> list[types.GenerateContentResponse]:
    """The chunks through the SDK's async client."""

    async def collect():
        chunks = await client.aio.models.generate_content_stream(
            model=MODEL, contents=contents, config=config(**fields)
        )
        return [chunk async for chunk in chunks]

    return asyncio.run(collect())


def parts_in(reply: types.GenerateContentResponse) -> list[types.Part]:
    """The parts of a reply's one candidate."""
    return reply.candidates[0].content.parts


def case_server(faults: dict[int, str] | None = None) -> OfflineGemini:
    """A server that knows the TURNS."""
    return OfflineGemini([script(*TURNS)], faults)


def declared() -> list[types.Tool]:
    """The tools that TURNS call, for the SDK."""
    functions = [types.FunctionDeclaration(name=name) for name in ("carrier", "route")]
    return [types.Tool(function_declarations=functions)]


def forbid_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every attempt to open a connection or to look up a name fail."""

    def refuse(*args, **kwargs):
        raise AssertionError("a request leaves the process")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
