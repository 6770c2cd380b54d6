"""Anthropic messages: content blocks; results stand in a user message, the system beside them.

    {"role": "assistant", "content": [{"type": "thinking", "thinking": "...", "signature": "..."},
      {"type": "tool_use", "id": "toolu_1", "name": "track", "input": {"order": 48213}}]}
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1",
      "content": "shipped"}]}

A thinking block comes back unmodified, with its signature, or the request is refused with a 400.
Shapes, and that rule, as in the types of the anthropic package (*_block_param.py, version 2.14).

This file does *not* pair calls with results: `pairs.py` does.
"""

from collections.abc import Mapping

from chat_memory.dialects.declarations import read_tools, write_tools
from chat_memory.dialects.pairs import with_ids
from chat_memory.dialects.parts import (
    ALPHABET,
    data_part,
    image_part,
    image_url,
    is_of,
    kind,
    mark,
    marked,
    rest,
    signature_of,
    standard,
    thought,
)
from chat_memory.dialects.results import texts_in
from chat_memory.dialects.shapes import CONTENT, misfit
from chat_memory.dialects.shared import (
    Inner,
    apart,
    blocks_of,
    blocks_out,
    call_part,
    keep_unknown,
    message_of,
    never_empty,
    note_keys,
    plain,
    read_result,
    response_part,
    said,
    text_part,
    with_message,
    written_result,
)
from chat_memory.dialects.transcript import Draft, Message, Notes

FORM = "anthropic"
ROLES = {"user": "user", "assistant": "model", "system": "system"}
USED = ("role", "content", "id", "type")
SHAPE = {"content": CONTENT, "id": str}


def read(body: Mapping, messages: list[Mapping], notes: Notes) -> Draft:
    """The draft of a chat in this form."""
    read = [_message(message, number, notes) for number, message in enumerate(messages, 1)]
    system = [part.get("text", "") for part in _parts(body.get("system"), 0, notes)]
    return Draft(read, system, read_tools(body.get("tools"), notes))


def _message(message: Mapping, number: int, notes: Notes) -> Message:
    note_keys(message, USED, number, notes)
    parts = never_empty(_parts(message.get("content"), number, notes), number, notes)
    role = ROLES[message["role"]]
    known = {"role": role} if role == "system" else {}
    return Message(number, role, with_message(parts, FORM, known), message.get("id"))


def _parts(content: object, number: int, notes: Notes) -> list[dict]:
    return [_part(block, number, notes) for block in blocks_of(content, number)]


def _part(block: str | Mapping, number: int, notes: Notes) -> dict:
    """A content block as a part."""
    if isinstance(block, str):
        return {"text": block}
    read_block = READERS.get(block.get("type"))
    part = read_block(block, number, notes) if read_block else None
    return part or keep_unknown(block, FORM, number, notes)


def _text(block: Mapping, number: int, notes: Notes) -> dict | None:
    return text_part(block, FORM)


def _thinking(block: Mapping, number: int, notes: Notes) -> dict | None:
    text, signature = block.get("thinking"), block.get("signature")
    if misfit(block, {"thinking": str, "signature": str}):
        return None
    return thought(text or "", signature, FORM, **rest(block, "type", "thinking", "signature"))


def _image(block: Mapping, number: int, notes: Notes) -> dict | None:
    source = block.get("source") or {}
    if misfit(source, {"media_type": str}):
        return None
    if source.get("type") == "base64":
        part = data_part(source.get("media_type"), source.get("data"))
    else:
        part = image_part(source.get("url"))
    if part is None:
        return None
    notes.add("dialect.image", number)
    return marked(part, FORM, **rest(block, "type", "source"))


def _tool_use(block: Mapping, number: int, notes: Notes) -> dict | None:
    if block.get("input") is None or misfit(block, {"input": dict, "id": str, "name": str}):
        return None
    kept = rest(block, "type", "id", "name", "input")
    return call_part(FORM, block.get("name"), block["input"], block.get("id"), **kept)


def _tool_result(block: Mapping, number: int, notes: Notes) -> dict | None:
    if misfit(block, {"tool_use_id": str, "content": CONTENT}):
        return None
    response, parts = read_result(block.get("content"), _part, number, notes)
    kept = rest(block, "type", "tool_use_id", "content", "is_error")
    if block.get("is_error") and set(response) == {"result"}:
        response = {"error": response["result"]}
    elif bool(block.get("is_error")) != _is_error(response):
        kept["is_error"] = bool(block.get("is_error"))
    asked, source = {"id": block.get("tool_use_id")}, {"role": "user", "content": [dict(block)]}
    return response_part(FORM, asked, (response, parts), source, **kept)


def _is_error(response: Mapping) -> bool:
    """Whether a response is {"error": text or texts}, which stands for `is_error` here."""
    told = {"result": response["error"]} if set(response) == {"error"} else {}
    return isinstance(told.get("result"), str) or texts_in(told) is not None


READERS = {
    "text": _text,
    "thinking": _thinking,
    "image": _image,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}


def write(rows: list[dict], system: str, tools: list, notes: Notes) -> dict:
    """A request body in this form; what it can't hold is noted."""
    messages = []
    for number, row in enumerate(with_ids(rows, notes), 1):
        whole, parts = apart(said(row), FORM)
        messages += whole
        if blocks := blocks_out(parts, _block, FORM, number, notes):
            role = "assistant" if row["role"] == "model" else "user"
            messages.append({"role": role, "content": plain(blocks)} | message_of(parts, FORM))
    declared = write_tools(tools, FORM, notes)
    beside = ({"system": system} if system else {}) | ({"tools": declared} if declared else {})
    return {**beside, "messages": messages}


def _block(part: dict, inner: Inner) -> dict | None:
    """A part as a content block; None if there is none for it."""
    write_block = WRITERS.get(kind(part))
    return write_block(part, inner) if write_block else None


def _text_block(part: dict, inner: Inner) -> dict:
    return {"type": "text", "text": part.get("text", "")} | rest(mark(part, FORM), "message")


def _thinking_block(part: dict, inner: Inner) -> dict | None:
    """A thought of this form's model; no other one's signature would be accepted."""
    if not is_of(part, FORM):
        return None
    signature = signature_of(part, FORM)
    signed = {"signature": signature} if signature else {}
    kept = rest(mark(part, FORM), ALPHABET)
    return {"type": "thinking", "thinking": part["text"]} | signed | kept


def _image_block(part: dict, inner: Inner) -> dict | None:
    url = image_url(part)
    if url is None:
        return None
    if "inlineData" in part:
        mime, data = part["inlineData"]["mimeType"], standard(part["inlineData"]["data"])
        source = {"type": "base64", "media_type": mime, "data": data}
    else:
        source = {"type": "url", "url": url}
    return {"type": "image", "source": source} | mark(part, FORM)


def _tool_use_block(part: dict, inner: Inner) -> dict:
    call = part["functionCall"]
    named = {"id": call["id"], "name": call.get("name"), "input": call.get("args") or {}}
    return {"type": "tool_use"} | named | mark(part, FORM)


def _tool_result_block(part: dict, inner: Inner) -> dict:
    found, kept = part["functionResponse"], mark(part, FORM)
    response = found.get("response") or {}
    if failed := _is_error(response) and kept.get("is_error", True):
        found = found | {"response": {"result": response["error"]}}
    content = {"content": written_result(found, inner)}
    error = {"is_error": True} if failed else {}
    return {"type": "tool_result", "tool_use_id": found["id"]} | content | error | kept


WRITERS = {
    "text": _text_block,
    "thought": _thinking_block,
    "data": _image_block,
    "call": _tool_use_block,
    "response": _tool_result_block,
}
