"""OpenAI chat completions: messages with a role, tool calls beside the text, results as messages.

    {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
      "function": {"name": "track", "arguments": "{\\"order\\": 48213}"}}]}
    {"role": "tool", "tool_call_id": "call_1", "content": "shipped"}

Arguments are JSON text. A message's text stands before its calls, whatever the model's order was.
There is no place for thinking or signatures; `reasoning_content` is a habit of other providers.
Shapes as in the types of the openai package (chat_completion_*_param.py, version 3.57).

This file does *not* pair calls with results: `pairs.py` does.
"""

from collections.abc import Mapping

from chat_memory.dialects.declarations import read_tools, write_tools
from chat_memory.dialects.pairs import with_ids
from chat_memory.dialects.parts import (
    image_part,
    image_url,
    is_of,
    kind,
    mark,
    marked,
    note_foreign,
    rest,
)
from chat_memory.dialects.shapes import CONTENT
from chat_memory.dialects.shared import (
    Inner,
    apart,
    arguments_in,
    arguments_of,
    block_out,
    blocks_of,
    blocks_out,
    call_part,
    keep_unknown,
    message_of,
    never_empty,
    note_keys,
    plain,
    read_result,
    refusal_part,
    response_part,
    said,
    text_part,
    with_message,
    written_result,
)
from chat_memory.dialects.transcript import Draft, Message, Notes

FORM = "openai"
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "model"}
RESULTS = ("tool", "function")
USED = ("role", "content", "name")
FUNCTION = {"name": str, "arguments": (str, dict)}
CALL = {"id": str, "type": str, "function": FUNCTION, "custom": {"name": str, "input": str}}
SHAPE = {
    "content": CONTENT,
    "name": str,
    "refusal": str,
    "reasoning_content": str,
    "tool_calls": [CALL],
    "function_call": FUNCTION,
    "tool_call_id": str,
    "tool_call_ids": [str],
}
USED_BY_MODEL = (*USED, "tool_calls", "function_call", "refusal", "reasoning_content")
USED_BY_RESULT = (*USED, "tool_call_id", "tool_call_ids")


def read(body: Mapping, messages: list[Mapping], notes: Notes) -> Draft:
    """The draft of a chat in this form."""
    read = [_message(message, number, notes) for number, message in enumerate(messages, 1)]
    return Draft(read, tools=read_tools(body.get("tools"), notes))


def _message(message: Mapping, number: int, notes: Notes) -> Message:
    if message["role"] in RESULTS:
        note_keys(message, USED_BY_RESULT, number, notes)
        return Message(number, "user", [_result(message, number, notes)])
    role = ROLES[message["role"]]
    note_keys(message, USED_BY_MODEL if role == "model" else USED, number, notes)
    parts = [_part(block, number, notes) for block in blocks_of(message.get("content"), number)]
    if role == "model":
        calls = _calls(message, number, notes)
        if calls and parts == [{"text": ""}]:
            parts = []
        parts = _beside(message) + parts + calls
    parts = never_empty(parts, number, notes)
    known = {"name": message.get("name")} if message.get("name") else {}
    known |= {"role": message["role"]} if role == "system" else {}
    return Message(number, role, with_message(parts, FORM, known))


def _part(block: str | Mapping, number: int, notes: Notes) -> dict:
    """A block of a message's content as a part."""
    if isinstance(block, str):
        return {"text": block}
    if part := text_part(block, FORM) or refusal_part(block, FORM):
        return part
    image = block.get("image_url") if isinstance(block.get("image_url"), Mapping) else {}
    if block.get("type") == "image_url" and (part := image_part(image.get("url"))):
        notes.add("dialect.image", number)
        return marked(part, FORM, **rest(block, "type", "image_url"), detail=image.get("detail"))
    return keep_unknown(block, FORM, number, notes)


def _beside(message: Mapping) -> list[dict]:
    """What the model said beside the content: its thinking, at some providers, and a refusal."""
    thinking, refusal = message.get("reasoning_content"), message.get("refusal")
    parts = [{"text": thinking, "thought": True, "partMetadata": {FORM: {}}}] if thinking else []
    return parts + ([marked({"text": refusal}, FORM, type="refusal")] if refusal else [])


def _calls(message: Mapping, number: int, notes: Notes) -> list[dict]:
    calls = [_call(call, number, notes) for call in message.get("tool_calls") or ()]
    if old := message.get("function_call"):
        notes.add("dialect.old_call", number)
        calls.append(_call({"function": old}, number, notes))
    return calls


def _call(call: Mapping, number: int, notes: Notes) -> dict:
    """A tool call; a custom one, which takes free text, has that text as its one argument."""
    if custom := call.get("custom"):
        args, kept = {"input": custom.get("input")}, {"type": "custom"}
        name = custom.get("name")
    else:
        function = call.get("function") or {}
        args, kept = arguments_in(function.get("arguments"), number, notes)
        name = function.get("name")
    kept |= rest(call, "id", "type", "function", "custom", "index")
    return call_part(FORM, name, args, call.get("id"), **kept)


def _result(message: Mapping, number: int, notes: Notes) -> dict:
    """A tool message as a response; SWE-agent writes its id in a list."""
    ids = [*(message.get("tool_call_ids") or ()), None]
    asked = {"id": message.get("tool_call_id") or ids[0], "name": message.get("name")}
    result = read_result(message.get("content"), _part, number, notes)
    return response_part(FORM, asked, result, message)


def write(rows: list[dict], system: str, tools: list, notes: Notes) -> dict:
    """A request body in this form; what it can't hold is noted."""
    messages = [{"role": "system", "content": system}] if system else []
    for number, row in enumerate(with_ids(rows, notes), 1):
        write_row = _assistant if row["role"] == "model" else _user
        messages += write_row(said(row), number, notes)
    declared = write_tools(tools, FORM, notes)
    return {"messages": messages} | ({"tools": declared} if declared else {})


def _user(parts: list[dict], number: int, notes: Notes) -> list[dict]:
    """The messages of a user content: a message for each result, then what the user said."""
    messages = [_tool_message(part, number, notes) for part in parts if kind(part) == "response"]
    whole, others = apart([part for part in parts if kind(part) != "response"], FORM)
    messages += whole
    if blocks := blocks_out(others, _block, FORM, number, notes):
        messages.append({"role": "user", "content": plain(blocks)} | message_of(others, FORM))
    return messages


def _assistant(parts: list[dict], number: int, notes: Notes) -> list[dict]:
    """The message of a model content, and messages that were kept whole."""
    messages, others = apart(parts, FORM)
    calls = [part for part in others if kind(part) == "call"]
    thoughts = [part for part in others if kind(part) == "thought" and is_of(part, FORM)]
    texts = [part for part in others if kind(part) != "call"]
    texts = [part for part in texts if not (kind(part) == "thought" and is_of(part, FORM))]
    if others[len(others) - len(calls) :] != calls:
        notes.add("dialect.lost.order", number, form=FORM)
    for part in calls:
        note_foreign(part, FORM, number, notes)
    blocks = blocks_out(texts, _said_block, FORM, number, notes)
    if not (blocks or calls or thoughts):
        return messages
    made = {"role": "assistant", "content": plain(blocks) if blocks else None}
    made |= message_of(others, FORM)
    if thoughts:
        made["reasoning_content"] = "\n".join(part["text"] for part in thoughts)
    if calls:
        made["tool_calls"] = [_tool_call(part) for part in calls]
    return [*messages, made]


def _block(part: dict, inner: Inner) -> dict | None:
    """A part of the user as a block; None if there is none for it."""
    kept = rest(mark(part, FORM), "message")
    if kind(part) == "text":
        return {"type": "text", "text": part.get("text", "")} | kept
    if url := image_url(part):
        image = {"url": url} | ({"detail": kept.pop("detail")} if "detail" in kept else {})
        return {"type": "image_url", "image_url": image} | kept
    return None


def _said_block(part: dict, inner: Inner) -> dict | None:
    """A part of the model as a block: a text or a refusal, for there is nothing else."""
    if kind(part) != "text":
        return None
    if mark(part, FORM).get("type") == "refusal":
        return {"type": "refusal", "refusal": part["text"]}
    return _block(part, inner)


def _tool_call(part: dict) -> dict:
    call, kept = part["functionCall"], rest(mark(part, FORM), "message", "arguments")
    if kept.get("type") == "custom":
        custom = {"name": call.get("name"), "input": call["args"].get("input")}
        return {"id": call["id"], "type": "custom", "custom": custom} | kept
    function = {"name": call.get("name"), "arguments": arguments_of(part, FORM)}
    return {"id": call["id"], "type": "function", "function": function} | kept


def _tool_message(part: dict, number: int, notes: Notes) -> dict:
    """A response as a message of its own; only text fits into it."""
    found = part["functionResponse"]
    note_foreign(part, FORM, number, notes)
    content = written_result(found, lambda each: block_out(each, _said_block, FORM, number, notes))
    return {"role": "tool", "tool_call_id": found["id"], "content": content}
