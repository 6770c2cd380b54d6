"""What Gemini accepts and what it refuses, each refusal with Gemini's own status and words.

Only what Gemini is known to refuse is refused. Accepted, since public recordings show it: several
contents of one role in a row (they are merged before the order is checked), a function call right
after another, a user text after a function response, `text: ""`, a part that holds nothing but a
signature. A first content that is the model's *text* is accepted too (not confirmed).

Sources: ai.google.dev/gemini-api/docs/function-calling and /thought-signatures for the rules,
error reports in public issue trackers for the wordings; that for a value of the wrong JSON type is
in their style (not confirmed).

This file does *not* know which scripts exist or what a reply is.
"""

import itertools
import json
import re
from collections.abc import Callable, Mapping

from offline_gemini.billing import (
    PLACEHOLDERS,
    camel,
    get,
    last_turn_start,
    listed,
    model_version,
    parts_of,
    plain_signature,
)
from offline_gemini.sentences import OneLine

INPUT_LIMIT = 1_048_576  # tokens, the context window of gemini-3.x: ai.google.dev/.../docs/models
# Models of ai.google.dev/gemini-api/docs/changelog up to November 2026, with any suffix
# ("-preview"), and the aliases seen in recordings.
MODEL = re.compile(
    r"gemini-(?:(?:2\.5|3|3\.[15678])-(?:flash-lite|flash|pro)|4-argon)(?:-[\w.-]+)?"
    r"|gemini-(?:flash-lite|flash|pro)-latest"
)
# What is read here, with its JSON type; a list stands for a repeated field.
CALL = {"name": str, "args": dict}
RESPONSE = {"name": str, "response": dict}
PART = {
    "text": str,
    "thoughtSignature": str,
    "functionCall": CALL,
    "functionResponse": RESPONSE,
    "inlineData": dict,
    "fileData": dict,
}
CONTENT = {"role": str, "parts": [PART]}
DECLARATION = {
    "name": str,
    "description": str,
    "parameters": dict,
    "parametersJsonSchema": dict,
    "response": dict,
    "responseJsonSchema": dict,
}
REQUEST = {  # beside its contents
    "systemInstruction": CONTENT,
    "tools": [{"functionDeclarations": [DECLARATION]}],
    "generationConfig": {"thinkingConfig": dict},
}
LONGEST = 100  # characters of a wrong value that a refusal quotes
TYPES = {str: "TYPE_STRING", dict: "TYPE_MESSAGE"}
DATA_FIELDS = (
    *("inlineData", "fileData", "functionCall", "functionResponse", "executableCode"),
    *("codeExecutionResult", "toolCall", "toolResponse", "thoughtSignature"),
)
CALL_ORDER = (
    "Please ensure that function call turn comes immediately after a user turn or after a "
    "function response turn."
)
RESPONSE_ORDER = (
    "Please ensure that function response turn comes immediately after a function call turn."
)
RESPONSE_NUMBER = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)


class Refused(OneLine):
    """A request that Gemini refuses: HTTP code, Google's status, message and details."""

    def __init__(self, code: int, status: str, message: str, details: list | None = None):
        super().__init__(message)
        self.code, self.status, self.message, self.details = code, status, message, details or []


def invalid(message: str) -> Refused:
    """The usual refusal: 400 INVALID_ARGUMENT."""
    return Refused(400, "INVALID_ARGUMENT", message)


def passes(rule: Callable[..., None], *values: object) -> bool:
    """Whether one of the rules below refuses nothing.

    >>> passes(check_key, "a-key"), passes(check_key, "")
    (True, False)
    """
    try:
        rule(*values)
    except Refused:
        return False
    return True


def check(request: Mapping, model: str, read: Callable[[str], tuple | None] | None = None) -> None:
    """Raise Refused if Gemini refuses this request body; `read` opens a signature, if given."""
    check_types(request, REQUEST)
    contents = listed(request.get("contents"))
    check_contents(contents)
    if model_version(model) >= (3, 0):
        check_signatures(contents, model, read)


def check_contents(contents: list) -> None:
    """Raise Refused if a list of contents breaks the rules on types, roles, parts or order.

    >>> check_contents([{"role": "user", "parts": [{"text": "Hello"}]}])
    """
    check_types(contents, [CONTENT], "contents")
    if not contents:
        raise invalid("* GenerateContentRequest.contents: contents is not specified\n")
    for index, content in enumerate(contents):
        check_content(content, f"GenerateContentRequest.contents[{index}]")
    check_order(merged(contents))


def check_types(value: object, kind: object, place: str = "") -> None:
    """Raise Refused where a value is not of its field's JSON type; null is a field left out."""
    wrong = _misfit(value, kind)
    if wrong:
        where, found, expected = wrong
        shown = json.dumps(found, default=repr)[:LONGEST]
        where = f"{place}{where}".lstrip(".")
        raise invalid(f"Invalid value at '{where}' ({TYPES[expected]}), {shown}")


def _misfit(value: object, kind: object) -> tuple[str, object, type] | None:
    """Where a value is not of its field's type: place, value and type; None if all is well.

    It walks through whole chats, so the place is put together only on the way back.
    """
    if isinstance(kind, type):
        return None if isinstance(value, kind) else ("", value, kind)
    if isinstance(kind, list):
        for number, each in enumerate(listed(value)):
            if wrong := _misfit(each, kind[0]):
                return (f"[{number}]{wrong[0]}", *wrong[1:])
        return None
    if not isinstance(value, dict):
        return "", value, dict
    for key, found in value.items():
        field = key if key in kind else camel(key)
        if found is not None and field in kind and (wrong := _misfit(found, kind[field])):
            return (f".{field}{wrong[0]}", *wrong[1:])
    return None


def check_content(content: Mapping, place: str) -> None:
    """Raise Refused for a wrong role, no parts, or a part without a field."""
    if content.get("role") not in ("user", "model", None, ""):
        raise invalid("Please use a valid role: user, model.")
    parts = parts_of(content)
    if not parts:
        raise invalid(f"* {place}.parts: contents.parts must not be empty.\n")
    for number, part in enumerate(parts):
        if part.get("text") is None and all(get(part, field) is None for field in DATA_FIELDS):
            raise invalid(
                f"* {place}.parts[{number}].data: required oneof field 'data' must have one "
                "initialized field\n"
            )


def merged(contents: list) -> list[tuple[str, int, int]]:
    """Runs of one role as (role, function calls in it, function responses in it)."""
    runs = []
    for role, run in itertools.groupby(contents, lambda content: content.get("role") or "user"):
        calls = responses = 0
        for part in (part for content in run for part in parts_of(content)):
            calls += bool(get(part, "functionCall"))
            responses += bool(get(part, "functionResponse"))
        runs.append((role, calls, responses))
    return runs


def check_order(runs: list[tuple[str, int, int]]) -> None:
    """Raise Refused unless calls follow a user, and as many responses follow the calls."""
    before = ("", 0, 0)
    for run in runs:
        role, calls, responses = run
        if calls and (role != "model" or before[0] != "user"):
            raise invalid(CALL_ORDER)
        if responses and not before[1]:
            raise invalid(RESPONSE_ORDER)
        if before[1] != responses:
            raise invalid(RESPONSE_NUMBER)
        before = run


def check_signatures(
    contents: list, model: str, read: Callable[[str], tuple | None] | None
) -> None:
    """Raise Refused for a signature that is missing, changed, or of another model.

    Only the current turn's first function call of each step must be signed; a model's text need
    not be, nor the second and later parallel calls, nor closed turns.
    """
    check_calls_signed(contents, last_turn_start(contents))
    for part in (part for content in contents if read for part in parts_of(content)):
        check_signature(get(part, "thoughtSignature"), model, read)


def check_calls_signed(contents: list, start: int) -> None:
    """Raise Refused if a step after content `start` begins with a call without a signature.

    A step is a run of model contents; a content's place counts from 0, as in Google's example.
    """
    calls_before = 0
    for index, content in enumerate(contents):
        calls = [part for part in parts_of(content) if get(part, "functionCall")]
        unsigned = calls and not calls_before and not get(calls[0], "thoughtSignature")
        if index > start and unsigned:
            name = get(calls[0], "functionCall").get("name")
            raise invalid(
                f"Function call `{name}` in the `{index}.` content block is missing a "
                "`thought_signature`."
            )
        calls_before = calls_before + len(calls) if content.get("role") == "model" else 0


def check_signature(
    signature: str | None, model: str, read: Callable[[str], tuple | None]
) -> None:
    """Raise Refused for a signature that `read` can't open, or that another model made."""
    if not signature or plain_signature(signature) in PLACEHOLDERS:
        return
    opened = read(signature)
    if opened is None or opened[1] != model.removeprefix("models/"):
        raise invalid("Corrupted thought signature.")


def check_size(tokens: int) -> None:
    """Raise Refused if a prompt is larger than the context window."""
    if tokens > INPUT_LIMIT:
        raise invalid(
            f"The input token count ({tokens}) exceeds the maximum number of tokens allowed "
            f"({INPUT_LIMIT})."
        )


def check_model(model: str) -> None:
    """Raise Refused for a model that Gemini does not have, as far as `MODEL` knows them."""
    name = model.removeprefix("models/")
    if not MODEL.fullmatch(name):
        raise not_found(f"models/{name}", "generateContent")


def not_found(model: str, use: str) -> Refused:
    """A 404: there is no such model, or none that can be used so."""
    return Refused(
        404,
        "NOT_FOUND",
        f"{model} is not found for API version v1, or is not supported for {use}. Call ListModels "
        "to see the list of available models and their supported methods.",
    )


def check_key(key: str) -> None:
    """Raise Refused for a key that can't be one: empty, or with characters no key has."""
    if not key or not key.isascii() or " " in key:
        reason = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", **reason}]
        message = "API key not valid. Please pass a valid API key."
        raise Refused(400, "INVALID_ARGUMENT", message, details)
