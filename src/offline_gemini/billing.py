"""What Gemini bills for a request: promptTokenCount, part by part.

Google documents these rules nowhere; they were inferred from public recordings of Gemini 3.x, and
give 240 of 246 text-only calls to the token. A request is the JSON body, in either spelling.

1. Text costs T(text), nothing per part.      2. A content with a role costs 1 more.
3. Configuration, response schemas and call ids are free.
4. A function declaration costs T + 2 of its text in the FunctionGemma layout.
5. A call or response costs T + 2 of its text in the same layout.
6. A re-sent signature adds the thoughts of its reply, once per reply; a `thought` text T(text).
7. A reply costs T(text), or T + 4 for a call.

The recordings stand in the tests of pydantic/pydantic-ai, google/adk-go, maruel/genai,
charmbracelet/fantasy, crmne/ruby_llm, simonw/llm-gemini and tidyverse/ellmer, on GitHub.
Not confirmed by any: `default`, `anyOf`, `format`, `pattern`, minimum, maximum and `$ref` in
declarations; Korean text (same vocabulary); contents without a role; data parts, which weigh
nothing here. This file does *not* judge whether a request is valid: that is `rules.py`.
"""

import base64
import functools
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from offline_gemini.tokens import Count, count

QUOTE = "<escape>"  # the special token around every string in the FunctionGemma layout
PLACEHOLDERS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
LEFT_OUT = {"additionalProperties", "$schema"}
NAMED = {"properties", "$defs"}  # their keys are names, not words of the schema language
SNAKE = re.compile("([A-Z])")
SCHEMA_KEYS = {"parametersJsonSchema": "parameters", "responseJsonSchema": "response"}


@dataclass
class Breakdown:
    """One promptTokenCount taken apart; `contents` and `thoughts` have one int per content."""

    system: int = 0
    tools: int = 0
    contents: list[int] = field(default_factory=list)
    thoughts: list[int] = field(default_factory=list)
    estimated: bool = False

    @property
    def total(self) -> int:
        """The promptTokenCount: the sum of all parts."""
        return self.system + self.tools + sum(self.contents) + sum(self.thoughts)


def prompt_token_count(request: Mapping, model: str, thoughts: Mapping[str, int]) -> int:
    """The promptTokenCount that Gemini bills for a request.

    `request` is the JSON body, `thoughts` maps a re-sent signature to the thoughtsTokenCount of
    its reply; an unknown signature adds 0, an unknown newer model counts as gemini-3.5.

    >>> hello = {"contents": [{"role": "user", "parts": [{"text": ""}]}]}
    >>> prompt_token_count(hello, "gemini-3.6-flash", {})
    1
    """
    return breakdown(request, model, thoughts).total


def breakdown(request: Mapping, model: str, thoughts: Mapping[str, int]) -> Breakdown:
    """The same count taken apart: system, tools, each content, the thoughts each re-sends."""
    bill = Breakdown()

    def weigh(counted: Count) -> int:
        bill.estimated |= counted.estimated
        return counted.tokens

    system = get(request, "systemInstruction")
    bill.system = weigh(content_tokens(system)) if system else 0
    bill.tools = sum(weigh(declaration_tokens(d)) for d in declarations(request))
    contents = request.get("contents") or []
    bill.contents = [weigh(content_tokens(content)) for content in contents]
    bill.thoughts = resent_thoughts(contents, model, thoughts)
    return bill


def content_tokens(content: Mapping) -> Count:
    """Tokens of one content, its role included (rules 1, 2, 5 and the text part of 6)."""
    counted = [part_tokens(part) for part in parts_of(content)]
    return _sum(counted, extra=1 if content.get("role") else 0)


def part_tokens(part: Mapping) -> Count:
    """Tokens of one part of a request; what an image weighs is not known: 0, and estimated."""
    if call := get(part, "functionCall"):
        return _sum([rendered_tokens(render_call(call))], extra=2)
    if response := get(part, "functionResponse"):
        known = _sum([rendered_tokens(render_response(response))], extra=2)
        return known._replace(estimated=known.estimated or bool(response.get("parts")))
    if get(part, "inlineData") or get(part, "fileData"):
        return Count(0, estimated=True)
    return count(part.get("text") or "")


def candidates_token_count(parts: Iterable[Mapping]) -> Count:
    """The candidatesTokenCount of a reply's parts (rule 7); thought parts are not in it."""
    counted = []
    for part in parts:
        if call := get(part, "functionCall"):
            counted.append(_sum([rendered_tokens(render_call(call))], extra=4))
        elif not part.get("thought"):
            counted.append(count(part.get("text") or ""))
    return _sum(counted)


def declaration_tokens(declaration: Mapping) -> Count:
    """Tokens of one function declaration (rule 4)."""
    return _sum([rendered_tokens(render_declaration(declaration))], extra=2)


def rendered_tokens(text: str) -> Count:
    """Tokens of a text in the FunctionGemma layout: its quote marks are tokens, and seams."""
    pieces = text.split(QUOTE)
    return _sum([count(piece) for piece in pieces], extra=len(pieces) - 1)


def _sum(counted: Iterable[Count], extra: int = 0) -> Count:
    tokens, estimated = extra, False
    for each in counted:
        tokens, estimated = tokens + each.tokens, estimated or each.estimated
    return Count(tokens, estimated)


def render_call(call: Mapping) -> str:
    """A function call as the text that is billed, quote marks as `<escape>`.

    >>> render_call({"name": "f", "args": {"b": 5, "a": "x"}}).replace("<escape>", "E")
    'call:f{a:ExE,b:5}'
    """
    return f"call:{call.get('name')}{render_value(call.get('args') or {})}"


def render_response(response: Mapping) -> str:
    """A function response as the text that is billed."""
    return f"response:{response.get('name')}{render_value(response.get('response') or {})}"


def render_declaration(declaration: Mapping) -> str:
    """A function declaration as the text that is billed.

    >>> render_declaration({"name": "f", "description": "Do it."}).replace("<escape>", "E")
    'declaration:f{description:EDo it.E}'
    """
    fields = {SCHEMA_KEYS.get(camel(k), k): v for k, v in declaration.items() if k != "name"}
    return f"declaration:{declaration.get('name')}{render_schema(fields)}"


def render_value(value: object) -> str:
    """A JSON value as billed: keys sorted, strings between quote marks, the rest bare."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{render_value(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(render_value, value)) + "]"
    if isinstance(value, str):
        return f"{QUOTE}{value}{QUOTE}"
    return json.dumps(value)


def render_schema(schema: Mapping) -> str:
    """A schema as billed: types in upper case, what is empty or has no rule left out."""
    fields = {camel(key): value for key, value in schema.items()}
    kind = fields.get("type")
    if isinstance(kind, list):
        fields |= {"nullable": True} if "null" in kind else {}
        kind = next((each for each in kind if each != "null"), "null")
    if isinstance(kind, str):
        fields["type"] = kind.upper()
    kept = {k: v for k, v in fields.items() if k not in LEFT_OUT and v not in ("", [], {}, None)}
    return "{" + ",".join(f"{k}:{_schema_field(k, kept[k])}" for k in sorted(kept)) + "}"


def _schema_field(key: str, value: object) -> str:
    if key in NAMED:
        return "{" + ",".join(f"{k}:{render_schema(value[k])}" for k in sorted(value)) + "}"
    return render_schema(value) if isinstance(value, Mapping) else render_value(value)


def declarations(request: Mapping) -> list[Mapping]:
    """All function declarations of a request."""
    tools = listed(request.get("tools"))
    return [d for tool in tools for d in listed(get(tool, "functionDeclarations"))]


def resent_thoughts(contents: list, model: str, thoughts: Mapping[str, int]) -> list[int]:
    """Thoughts added by re-sent signatures, one int per content (rule 6)."""
    start = 0 if keeps_old_thoughts(model) else last_turn_start(contents)
    seen, added = set(), []
    for index, content in enumerate(contents):
        signatures = [get(part, "thoughtSignature") for part in parts_of(content)]
        new = {s for s in signatures if s and s not in seen} if index >= start else set()
        seen |= new
        added.append(sum(thoughts.get(signature, 0) for signature in new))
    return added


def keeps_old_thoughts(model: str) -> bool:
    """Whether a model counts the thoughts of closed turns too: from gemini-3.5 on.

    >>> keeps_old_thoughts("gemini-3.1-pro-preview"), keeps_old_thoughts("models/gemini-4-argon")
    (False, True)
    """
    return model_version(model) >= (3, 5)


def model_version(model: str) -> tuple[int, int]:
    """Major and minor version in a model's name; an unknown name counts as gemini-3.5."""
    version = re.search(r"gemini-(\d+)(?:\.(\d+))?", model)
    return (int(version[1]), int(version[2] or 0)) if version else (3, 5)


def last_turn_start(contents: list) -> int:
    """Index of the last content in which the user says something; there the turn starts."""
    for index in range(len(contents) - 1, -1, -1):
        if says_something(contents[index]):
            return index
    return 0


def says_something(content: Mapping) -> bool:
    """Whether a user content holds text or data, and no function response."""
    parts = parts_of(content)
    if content.get("role") == "model" or any(get(part, "functionResponse") for part in parts):
        return False
    return any(
        part.get("text") or get(part, "inlineData") or get(part, "fileData") for part in parts
    )


def sign(thoughts: int, model: str, nonce: str) -> str:
    """A thoughtSignature that itself holds its thoughts and model, so that no record is kept."""
    body = f"{thoughts}|{model.removeprefix('models/')}|{nonce}".encode()
    return base64.b64encode(_seal(body) + body).decode()


@functools.lru_cache(maxsize=1 << 12)
def read_signature(signature: str) -> tuple[int, str] | None:
    """Thoughts and model of a signature made by `sign`, in either base64 alphabet; else None.

    >>> read_signature(sign(126, "gemini-3.6-flash", "a1")), read_signature("forged")
    ((126, 'gemini-3.6-flash'), None)
    """
    sealed = _decode(signature)
    seal, body = sealed[:8], sealed[8:]
    if not hmac.compare_digest(seal, _seal(body)):
        return None
    thoughts, model, _ = body.decode().split("|")
    return int(thoughts), model


def plain_signature(signature: str) -> str:
    """A signature as the text it may stand for: a placeholder, which the SDK sends as base64."""
    return signature if signature in PLACEHOLDERS else _decode(signature).decode(errors="replace")


def _decode(signature: str) -> bytes:
    padded = signature.replace("-", "+").replace("_", "/") + "=" * (-len(signature) % 4)
    try:
        return base64.b64decode(padded, validate=True)
    except ValueError:
        return b""


def _seal(body: bytes) -> bytes:
    return hmac.digest(b"offline Gemini signs, it hides nothing", body, "sha256")[:8]


def known_thoughts(request: Mapping) -> dict[str, int]:
    """The thoughts behind every signature in a request that this server made."""
    contents = request.get("contents") or []
    signatures = {get(p, "thoughtSignature") for c in contents for p in parts_of(c)} - {None}
    opened = {signature: read_signature(signature) for signature in signatures}
    return {signature: found[0] for signature, found in opened.items() if found}


def parts_of(content: Mapping) -> list[Mapping]:
    """The parts of a content."""
    parts = content.get("parts")
    return parts if isinstance(parts, list) else listed(parts)


def listed(value: object) -> list:
    """A repeated field's values: JSON may leave it out, or write a single one without its list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def get(record: Mapping, key: str) -> object:
    """A field of request JSON by its camelCase name, in whichever spelling it was sent."""
    return record[key] if key in record else record.get(_snake(key))


@functools.cache
def _snake(key: str) -> str:
    return SNAKE.sub(r"_\1", key).lower()


@functools.lru_cache(maxsize=1024)
def camel(key: str) -> str:
    """The camelCase spelling of a field name.

    >>> camel("parameters_json_schema")
    'parametersJsonSchema'
    """
    head, *rest = key.split("_")
    return head + "".join(word.capitalize() for word in rest)
