"""OpenAI Responses: a list of items; calls, results and reasoning are items of their own.

    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA..."}
    {"type": "function_call", "call_id": "call_1", "name": "track", "arguments": "{...}"}
    {"type": "function_call_output", "call_id": "call_1", "output": "shipped"}

Who manages the list himself has to send reasoning items back, too. Items that nobody here knows,
such as a web search, are kept as unknown among what the model did, wherever they stand.
Shapes, and that rule, as in the types of the openai package (response_*_param.py, version 3.57).

This file does *not* pair calls with outputs: `pairs.py` does.
"""

from collections.abc import Callable, Mapping

from chat_memory.dialects.declarations import read_tools, write_tools
from chat_memory.dialects.pairs import with_ids
from chat_memory.dialects.parts import (
    ALPHABET,
    image_part,
    image_url,
    is_of,
    kind,
    mark,
    marked,
    rest,
    signature_of,
    thought,
)
from chat_memory.dialects.shapes import CONTENT
from chat_memory.dialects.shared import (
    Inner,
    arguments_in,
    arguments_of,
    block_out,
    blocks_of,
    call_part,
    keep_unknown,
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

FORM = "responses"
ROLES = {"user": "user", "assistant": "model", "system": "system", "developer": "system"}
TEXTS = ("input_text", "output_text", "text")
OF_A_MESSAGE = ("id", "status", "phase")
BLOCKS = (*TEXTS, "refusal", "input_image", "input_file", "input_audio")  # inside a message
CUSTOM = "custom_tool_call"
SHAPE = {
    "type": str,
    "content": CONTENT,
    "call_id": str,
    "name": str,
    "arguments": (str, dict),
    "output": CONTENT,
    "summary": [{"text": str}],
    "encrypted_content": str,
}


def read(body: Mapping, items: list[Mapping], notes: Notes) -> Draft:
    """The draft of a chat in this form."""
    read = [_message(item, number, notes) for number, item in enumerate(items, 1)]
    system = [body["instructions"]] if isinstance(body.get("instructions"), str) else []
    return Draft(read, system, read_tools(body.get("tools"), notes))


def _message(item: Mapping, number: int, notes: Notes) -> Message:
    name = item.get("type") or "message"
    if name == "message" and item.get("role") in ROLES:
        return _said(item, number, notes)
    read_item = READERS.get(name)
    part = read_item(item, number, notes) if read_item else None
    role = "user" if part and kind(part) == "response" else "model"
    part = part or marked(keep_unknown(item, FORM, number, notes), FORM, item=True)
    return Message(number, role, [part])


def _said(item: Mapping, number: int, notes: Notes) -> Message:
    note_keys(item, ("type", "role", "content", *OF_A_MESSAGE), number, notes)
    parts = [_part(block, number, notes) for block in blocks_of(item.get("content"), number)]
    parts = never_empty(parts, number, notes)
    known = {key: item[key] for key in OF_A_MESSAGE if item.get(key)}
    known |= {"role": item["role"]} if ROLES[item["role"]] == "system" else {}
    return Message(number, ROLES[item["role"]], with_message(parts, FORM, known))


def _part(block: str | Mapping, number: int, notes: Notes) -> dict:
    """A block of a message's content as a part."""
    if isinstance(block, str):
        return {"text": block}
    if part := text_part(block, FORM, TEXTS) or refusal_part(block, FORM):
        return part
    if block.get("type") == "input_image" and (part := image_part(block.get("image_url"))):
        notes.add("dialect.image", number)
        usual = ("detail",) if block.get("detail") == "auto" else ()
        return marked(part, FORM, **rest(block, "type", "image_url", *usual))
    return keep_unknown(block, FORM, number, notes)


def _call(item: Mapping, number: int, notes: Notes) -> dict:
    args, kept = arguments_in(item.get("arguments"), number, notes)
    kept |= _others(item, "arguments")
    return call_part(FORM, item.get("name"), args, item.get("call_id"), **kept)


def _custom_call(item: Mapping, number: int, notes: Notes) -> dict:
    """A call that takes free text instead of JSON: that text is its one argument."""
    args, kept = {"input": item.get("input")}, {"type": CUSTOM, **_others(item, "input")}
    return call_part(FORM, item.get("name"), args, item.get("call_id"), **kept)


def _output(item: Mapping, number: int, notes: Notes) -> dict:
    result = read_result(item.get("output"), _part, number, notes)
    kept = {"type": item["type"]} if item["type"] != "function_call_output" else {}
    asked = {"id": item.get("call_id")}
    return response_part(FORM, asked, result, item, **kept, **_others(item, "output"))


def _others(item: Mapping, *known: str) -> dict:
    return rest(item, "type", "call_id", "name", *known)


def _reasoning(item: Mapping, number: int, notes: Notes) -> dict | None:
    """A reasoning item as a thought: its summary as text, its encrypted content as signature."""
    summary = item.get("summary") or []
    text = "\n\n".join(each.get("text") or "" for each in summary)
    kept = rest(item, "type", "encrypted_content", "summary")
    if len(summary) > 1:
        kept["summary"] = summary
    return thought(text, item.get("encrypted_content"), FORM, **kept)


READERS: dict[str, Callable] = {
    "function_call": _call,
    "function_call_output": _output,
    CUSTOM: _custom_call,
    f"{CUSTOM}_output": _output,
    "reasoning": _reasoning,
}


def write(rows: list[dict], system: str, tools: list, notes: Notes) -> dict:
    """A request body in this form; what it can't hold is noted."""
    items: list[dict] = []
    for number, row in enumerate(with_ids(rows, notes), 1):
        items += _items(said(row), row["role"], number, notes)
    declared = write_tools(tools, FORM, notes)
    beside = {"instructions": system} if system else {}
    return {**beside, "input": items} | ({"tools": declared} if declared else {})


def _items(parts: list[dict], role: str, number: int, notes: Notes) -> list[dict]:
    """The items of one content: texts and images in a row are one message."""
    write_part = _of_model if role == "model" else _of_user
    items: list[dict] = []
    group: list[tuple[dict, dict]] = []
    for part in parts:
        made = block_out(part, write_part, FORM, number, notes)
        if made is None or made.get("text") == "" and len(parts) > 1:
            continue
        known = mark(part, FORM).get("message", {})
        is_item = mark(part, FORM).get("item") or _is_item(made, role)
        if is_item or known:
            items += _messages(group, role)
            group = []
        if is_item:
            items.append(made)
        else:
            group.append((made, known))
    return items + _messages(group, role)


def _is_item(made: Mapping, role: str) -> bool:
    """Whether what was written is an item, and no block of a message."""
    name = made.get("type") or ""
    return name not in BLOCKS and (role == "model" or name.endswith("_output"))


def _messages(group: list[tuple[dict, dict]], role: str) -> list[dict]:
    """The message that holds these blocks; texts of a model that had no id are one each."""
    if not group:
        return []
    name = "assistant" if role == "model" else "user"
    blocks, known = [block for block, _ in group], group[0][1]
    if role == "model" and not known:
        contents = [plain([block | {"type": "text"}]) for block in blocks]
    elif role == "model":
        contents = [[{"annotations": []} | block for block in blocks]]
    else:
        contents = [plain(blocks)]
    return [{"type": "message", "role": name, "content": each} | known for each in contents]


def _of_user(part: dict, inner: Inner) -> dict | None:
    """A part of the user as a block, or an output as an item; None if there is none for it."""
    if kind(part) == "response":
        return _output_item(part, inner)
    kept = rest(mark(part, FORM), "message")
    if kind(part) == "text":
        return {"type": "input_text", "text": part.get("text", "")} | kept
    url = image_url(part)
    return {"type": "input_image", "detail": "auto", "image_url": url} | kept if url else None


def _of_model(part: dict, inner: Inner) -> dict | None:
    """A part of the model as a block or an item; None if there is none for it."""
    kept = rest(mark(part, FORM), "message", ALPHABET)
    if kind(part) == "call":
        return _call_item(part, kept)
    if kind(part) == "thought":
        return _reasoning_item(part, kept) if is_of(part, FORM) else None
    if kept.get("type") == "refusal" and "text" in part:
        return {"type": "refusal", "refusal": part["text"]}
    if kind(part) != "text":
        return None
    return {"type": "output_text", "text": part.get("text", "")} | kept


def _call_item(part: dict, kept: dict) -> dict:
    call = part["functionCall"]
    named = {"call_id": call["id"], "name": call.get("name")}
    if kept.get("type") == CUSTOM:
        return named | {"input": call["args"].get("input")} | kept
    return {"type": "function_call", **named, "arguments": arguments_of(part, FORM)} | kept


def _output_item(part: dict, inner: Inner) -> dict:
    found = part["functionResponse"]
    output = {"call_id": found["id"], "output": written_result(found, inner)}
    return {"type": "function_call_output"} | output | mark(part, FORM)


def _reasoning_item(part: dict, kept: dict) -> dict:
    summary = [{"type": "summary_text", "text": part["text"]}] if part["text"] else []
    signature = signature_of(part, FORM)
    signed = {"encrypted_content": signature} if signature else {}
    return {"type": "reasoning", "summary": summary} | signed | kept
