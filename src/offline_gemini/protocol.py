"""Gemini's HTTP interface, played inside the process: routes, errors, streams, faults.

`OfflineGemini(scripts).clients()` gives ready-made clients of the SDK's HTTP library; handed to
`genai.Client` through `types.HttpOptions`, they let no request leave the process. Every reply
carries the header `x-offline-gemini: 1`, and `x-offline-gemini-estimated: 1` if a count in its
usage rests on an estimate.

This file decides neither what is valid (`rules.py`), nor what is said (`replies.py`), nor what it
costs (`billing.py`).
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from offline_gemini import billing, rules
from offline_gemini.cached_contents import CachedContents, full_name, held_tokens, keeps_explicitly
from offline_gemini.caching import PrefixCache
from offline_gemini.faults import SWAP, check_faults, faulty
from offline_gemini.replies import Answer, answer, misremembered
from offline_gemini.rules import Refused
from offline_gemini.scripts import Script
from offline_gemini.tokens import Count, count

try:
    import httpx2 as http
except ImportError:  # the SDK accepts clients of either library
    import httpx as http

ROUTE = re.compile(r"^/v1(?:beta)?/models/(?P<model>[^:/]+)(?::(?P<verb>\w+))?$")
CACHES = re.compile(r"^/v1(?:beta)?/(?P<name>cachedContents(?:/[^/:]+)?)$")
CREATE_CACHE = "createCachedContent"
METHODS = ["generateContent", "countTokens", CREATE_CACHE, "batchGenerateContent"]


@dataclass
class Answered:
    """An HTTP answer before it is sent; several chunks make a stream of server-sent events."""

    status: int
    chunks: list[dict]
    stream: bool = False
    estimated: bool = False
    cut: bool = False  # the connection drops after these chunks, before the last one

    @property
    def headers(self) -> dict[str, str]:
        """The HTTP headers, with the two by which our side knows the stand-in."""
        kind = "text/event-stream" if self.stream else "application/json; charset=UTF-8"
        headers = {"content-type": kind, "x-offline-gemini": "1"}
        return headers | ({"x-offline-gemini-estimated": "1"} if self.estimated else {})

    def pieces(self) -> Iterator[bytes]:
        """The body, in the pieces in which it arrives; if it is cut, the HTTP library's error."""
        for chunk in self.chunks:
            body = json.dumps(chunk, ensure_ascii=False)
            yield (f"data: {body}\r\n\r\n" if self.stream else body).encode("utf-8", "replace")
        if self.cut:
            raise http.RemoteProtocolError("peer closed connection without sending complete body")


@dataclass
class OfflineGemini:
    """A stand-in for Gemini's server; `faults` maps a generate call's number, from 1, to a fault.

    Its replies have no state: `calls` only counts the requests for `faults`, and with `caching`
    a prefix that this client sent before is billed as cached, and it may make cachedContents.
    Raises ValueError for a fault that is not known.
    """

    scripts: list[Script] = field(default_factory=list)
    faults: Mapping[int, str] | None = None
    caching: bool = False
    calls: int = 0
    cache: PrefixCache = field(default_factory=PrefixCache)
    cached_contents: CachedContents = field(default_factory=CachedContents)

    def __post_init__(self) -> None:
        """Refuse unknown faults at once, with their names."""
        self.faults = self.faults or {}
        check_faults(self.faults)

    def clients(self) -> tuple["http.Client", "http.AsyncClient"]:
        """A sync and an async HTTP client whose requests this server answers."""
        sync, asynchronous = _Transport(self), _AsyncTransport(self)
        return http.Client(transport=sync), http.AsyncClient(transport=asynchronous)

    def handle(self, method: str, path: str, key: str, body: bytes) -> Answered:
        """Answer one HTTP request; a refusal is an answer, too."""
        try:
            rules.check_key(key)
            if cache := CACHES.match(path):
                return self._cached_contents(method, cache["name"], body)
            route = ROUTE.match(path)
            if not route:
                raise Refused(404, "NOT_FOUND", "Requested entity was not found.")
            rules.check_model(route["model"])
            if method == "GET" and not route["verb"]:
                return Answered(200, [model_card(route["model"])])
            return self._post(route["verb"], route["model"], _parsed(body))
        except Refused as refused:
            return error_of(refused)

    def _post(self, verb: str, model: str, request: dict) -> Answered:
        if verb == "countTokens":
            return counted(request)
        if verb not in ("generateContent", "streamGenerateContent"):
            raise Refused(404, "NOT_FOUND", "Requested entity was not found.")
        self.calls += 1
        fault = self.faults.get(self.calls, "")
        request, held = self.cached_contents.whole(request, model)
        rules.check(request, model, billing.read_signature)
        bill = billing.breakdown(request, model, billing.known_thoughts(request))
        rules.check_size(bill.total)
        stream = verb == "streamGenerateContent"
        said = answer(request, self.scripts)
        said = misremembered(said, request) if fault == SWAP else said
        reply = generated(request, model, said, bill)
        if cached := self._cached_tokens(request, bill, model, held):
            reply.body["usageMetadata"]["cachedContentTokenCount"] = cached
        reply = faulty(fault, reply, stream, model) if fault else reply
        chunks = stream_chunks(reply) if stream else [reply.body]
        cut = fault == "dropped_stream"
        return Answered(200, chunks[:-1] if cut else chunks, stream, reply.estimated, cut)

    def _cached_tokens(
        self, request: Mapping, bill: billing.Breakdown, model: str, held: int | None
    ) -> int:
        """Tokens read from a cachedContents that holds `held` contents, else from the prefix."""
        if held is not None:
            return held_tokens(bill, held)
        return self.cache.cached_tokens(request, bill, model) if self.caching else 0

    def _cached_contents(self, method: str, name: str, body: bytes) -> Answered:
        """Make, show or forget a cachedContents."""
        if not self.caching:
            message = "This offline Gemini keeps no caches: make it with caching=True."
            raise Refused(501, "UNIMPLEMENTED", message)
        if (method, name) == ("POST", "cachedContents"):
            made, estimated = self.cached_contents.create(_parsed(body))
            return Answered(200, [made], estimated=estimated)
        one = {"GET": self.cached_contents.get, "DELETE": self.cached_contents.delete}
        if method not in one or name == "cachedContents":
            raise Refused(404, "NOT_FOUND", "Requested entity was not found.")
        return Answered(200, [one[method](name)])


@dataclass
class Generated:
    """A GenerateContentResponse, and whether its usage rests on an estimate."""

    body: dict
    estimated: bool


def _parsed(body: bytes) -> dict:
    try:
        request = json.loads(body)
    except ValueError as error:
        raise rules.invalid("Invalid JSON payload received. Unexpected end of string.") from error
    if not isinstance(request, dict):
        raise rules.invalid("Invalid JSON payload received. Unknown root element.")
    if "contents" in request:
        request["contents"] = billing.listed(request["contents"])
    return request


def error_of(refused: Refused) -> Answered:
    """A refusal in Google's JSON shape."""
    error = {"code": refused.code, "message": refused.message, "status": refused.status}
    if refused.details:
        error["details"] = refused.details
    return Answered(refused.code, [{"error": error}])


def model_card(model: str) -> dict:
    """What models.get says of a model; limits from ai.google.dev/gemini-api/docs/models."""
    name = model.removeprefix("models/")
    explicit = keeps_explicitly(name)
    return {
        "name": full_name(model),
        "displayName": name.replace("-", " ").title(),
        "inputTokenLimit": rules.INPUT_LIMIT,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": [m for m in METHODS if m != CREATE_CACHE or explicit],
    }


def counted(request: Mapping) -> Answered:
    """What countTokens says: the texts without the tokens of the roles."""
    inner = billing.get(request, "generateContentRequest") or request
    rules.check_types(inner, rules.REQUEST)
    contents = billing.listed(inner.get("contents"))
    rules.check_contents(contents)
    bill = billing.breakdown(inner, "", {})
    roles = sum(1 for content in contents if content.get("role"))
    system = billing.get(inner, "systemInstruction") or {}
    total = bill.total - roles - bool(system.get("role"))
    return Answered(200, [{"totalTokens": total}], estimated=bill.estimated)


def generated(request: Mapping, model: str, said: Answer, bill: billing.Breakdown) -> Generated:
    """The response that carries an answer, with its usage, ids and signature."""
    nonce = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    parts = reply_parts(said, model, nonce)
    candidates = billing.candidates_token_count(parts)
    usage = usage_metadata(bill.total, candidates.tokens, said.thoughts)
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}
    body = {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": nonce[:22],
    }
    return Generated(body, bill.estimated or candidates.estimated)


def reply_parts(said: Answer, model: str, nonce: str) -> list[dict]:
    """The parts of a reply; the first call is signed, and a text that took thoughts."""
    signature = billing.sign(said.thoughts, model, nonce[:12])
    if not said.calls:
        signed = {"thoughtSignature": signature} if said.thoughts else {}
        return [{"text": said.text} | signed]
    parts = [
        {"functionCall": {"name": call.name, "args": call.args, "id": f"{nonce[:7]}{number}"}}
        for number, call in enumerate(said.calls)
    ]
    parts[0]["thoughtSignature"] = signature
    return parts


def usage_metadata(prompt: int, candidates: int, thoughts: int) -> dict:
    """The usageMetadata of a reply; a count of no thoughts is left out, as Gemini does."""
    usage = {"promptTokenCount": prompt, "candidatesTokenCount": candidates}
    if thoughts:
        usage["thoughtsTokenCount"] = thoughts
    return usage | {"totalTokenCount": prompt + candidates + thoughts}


def stream_chunks(reply: Generated) -> list[dict]:
    """A reply as the chunks of a stream: text in pieces, the finish reason in the last one."""
    candidates = reply.body.get("candidates") or [{}]
    parts = candidates[0].get("content", {}).get("parts", [])
    if len(parts) != 1 or "text" not in parts[0]:
        return [reply.body]
    deltas = re.findall(r"\s*\S+(?:\s+\S+){0,5}\s*", parts[0]["text"]) or [""]
    last = {"text": ""} | {k: v for k, v in parts[0].items() if k == "thoughtSignature"}
    chunks = [_chunk(reply, {"text": delta}, done) for delta, done in _progress(deltas)]
    final = reply.body | {"candidates": [candidates[0] | {"content": _content(last)}]}
    return [*chunks, final]


def _progress(deltas: list[str]) -> Iterable[tuple[str, Count]]:
    for number, delta in enumerate(deltas, 1):
        yield delta, count("".join(deltas[:number]))


def _chunk(reply: Generated, part: dict, done: Count) -> dict:
    usage = reply.body["usageMetadata"]
    prompt, thoughts = usage["promptTokenCount"], usage.get("thoughtsTokenCount", 0)
    growing = usage_metadata(prompt, done.tokens, thoughts)
    candidate = {"content": _content(part), "index": 0}
    return reply.body | {"candidates": [candidate], "usageMetadata": growing}


def _content(part: dict) -> dict:
    return {"parts": [part], "role": "model"}


class _Stream(http.SyncByteStream, http.AsyncByteStream):
    """A body that arrives piece by piece, for both kinds of client."""

    def __init__(self, answered: Answered):
        self.answered = answered

    def __iter__(self) -> Iterator[bytes]:
        yield from self.answered.pieces()

    async def __aiter__(self):
        for piece in self.answered.pieces():
            yield piece


class _Transport(http.BaseTransport):
    """The sync way in."""

    def __init__(self, server: OfflineGemini):
        self.server = server

    def handle_request(self, request: "http.Request") -> "http.Response":
        return _respond(self.server, request, request.read())


class _AsyncTransport(http.AsyncBaseTransport):
    """The async way in."""

    def __init__(self, server: OfflineGemini):
        self.server = server

    async def handle_async_request(self, request: "http.Request") -> "http.Response":
        return _respond(self.server, request, await request.aread())


def _respond(server: OfflineGemini, request: "http.Request", body: bytes) -> "http.Response":
    key = request.headers.get("x-goog-api-key") or request.url.params.get("key") or ""
    answered = server.handle(request.method, request.url.path, key, body)
    stream = _Stream(answered)
    return http.Response(answered.status, headers=answered.headers, stream=stream, request=request)
