"""Steps that the readers and writers of OpenAI's and Anthropic's forms have in common.

A message's content is a text or a list of blocks; a result too. Each form gives its own function
from a block to a part, and from a part to a block; what is common stands here: what is noted,
what is kept as unknown, and when a single text is written without its list.

This file does *not* know the keys of any form, but for `type`, `text` and `arguments`.
"""

from collections.abc import Callable, Mapping

from chat_memory.dialects.pairs import SOURCE
from chat_memory.dialects.parts import (
    EMPTY,
    MADE_UP,
    block_in,
    kind,
    mark,
    marked,
    note_foreign,
    note_left_out,
    rest,
    unknown,
    vendor_of,
)
from chat_memory.dialects.results import dumped, loaded_object, parsed, texts_in, written
from chat_memory.dialects.transcript import ChatFileError, Notes
from chat_memory.strings import t

ReadBlock = Callable[[object, int, Notes], dict]
Inner = Callable[[dict], dict | None]  # writes a part that stands inside a result
WriteBlock = Callable[[dict, Inner], dict | None]


def note_keys(message: Mapping, used: tuple[str, ...], number: int, notes: Notes) -> None:
    """Name the keys of a message that no form has a place for."""
    for key, value in message.items():
        if key not in used and value not in EMPTY:
            notes.add("dialect.key", number, key=key)


def blocks_of(content: object, number: int) -> list:
    """The blocks of a message's content; a text alone is one. ChatFileError for anything else."""
    if content is None:
        return []
    if isinstance(content, str | Mapping):
        return [content]
    if isinstance(content, list) and all(isinstance(block, str | Mapping) for block in content):
        return content
    raise ChatFileError(t("error.chat.content", number=number))


def never_empty(parts: list[dict], number: int, notes: Notes) -> list[dict]:
    """The parts of a message; one that has none holds an empty text, and is named."""
    if not parts:
        notes.add("dialect.no_content", number)
    return parts or [{"text": ""}]


def keep_unknown(block: Mapping, form: str, number: int, notes: Notes) -> dict:
    """The part that keeps a block nobody here knows."""
    notes.add("dialect.unknown", number, kind=block.get("type", "?"))
    return unknown(block, form)


def with_message(parts: list[dict], form: str, known: Mapping) -> list[dict]:
    """The parts, the first of them with what only this form knows of the whole message."""
    first = marked(parts[0], form, **mark(parts[0], form), message=known)
    return [first, *parts[1:]]


def message_of(parts: list[dict], form: str) -> dict:
    """What `with_message` kept of the whole message."""
    return mark(parts[0], form).get("message", {})


def text_part(block: Mapping, form: str, names: tuple[str, ...] = ("text",)) -> dict | None:
    """A text block as a part; None for a block of any other type."""
    if block.get("type") not in names or not isinstance(block.get("text"), str):
        return None
    return marked({"text": block["text"]}, form, **rest(block, "type", "text"))


def refusal_part(block: Mapping, form: str) -> dict | None:
    """A block in which the model refuses, as a text part; None for a block of any other type."""
    if block.get("type") != "refusal" or not isinstance(block.get("refusal"), str):
        return None
    return marked({"text": block["refusal"]}, form, type="refusal")


def call_part(
    form: str, name: str | None, args: object, own: str | None, /, **kept: object
) -> dict:
    """A call as a part; `own` is its id, and `kept` what only this form knows of it."""
    named = {"id": own} if own else {}
    return marked({"functionCall": named | {"name": name, "args": args}}, form, **kept)


def response_part(
    form: str, asked: Mapping, result: tuple[dict, list[dict]], source: Mapping, /, **kept: object
) -> dict:
    """A result as a part: `asked` names its call, `source` is the message that it came in."""
    response, parts = result
    found = {key: value for key, value in asked.items() if value} | {"response": response}
    found |= {"parts": parts} if parts else {}
    return marked({"functionResponse": found}, form, **kept) | {SOURCE: dict(source)}


def unknown_in(part: Mapping, form: str) -> dict | None:
    """The unknown block that a part keeps for this form; None for any other part."""
    return block_in(part) if vendor_of(part) == form else None


def apart(parts: list[dict], form: str) -> tuple[list[dict], list[dict]]:
    """Messages that were kept whole because their call is missing, and the other parts."""
    found = [(part, unknown_in(part, form) or {}) for part in parts]
    return [m for _, m in found if "role" in m], [part for part, m in found if "role" not in m]


def arguments_in(text: object, number: int, notes: Notes) -> tuple[dict, dict]:
    """Arguments as an object, and what has to be kept beside it: a text that is no JSON object."""
    if isinstance(text, Mapping):
        notes.add("dialect.arguments.object", number)
        return dict(text), {}
    found = loaded_object(text) if isinstance(text, str) else {}
    if found is not None:
        return found, {}
    if text.strip():
        notes.add("dialect.arguments", number)
    return ({"arguments": text} if text.strip() else {}), {"arguments": text}


def arguments_of(part: Mapping, form: str) -> str:
    """The arguments of a call as JSON text, or the text that was none."""
    kept = mark(part, form).get("arguments")
    return dumped(part["functionCall"].get("args") or {}) if kept is None else kept


def read_result(
    content: object, read_block: ReadBlock, number: int, notes: Notes
) -> tuple[dict, list[dict]]:
    """A result's content as a response object, and the parts that are no text."""
    if content is None or isinstance(content, str):
        return parsed(content or ""), []
    if not isinstance(content, list):
        notes.add("dialect.result.object", number)
        return (dict(content) if isinstance(content, Mapping) else {"result": content}), []
    parts = [read_block(block, number, notes) for block in blocks_of(content, number)]
    texts = [part["text"] for part in parts if kind(part) == "text"]
    others = [part for part in parts if kind(part) != "text"]
    if others and parts[: len(texts)] != [part for part in parts if kind(part) == "text"]:
        notes.add("dialect.result.order", number)
    response = parsed(texts[0]) if others and len(texts) == 1 else {"result": texts}
    return response, [{key: part[key] for key in part if key != "partMetadata"} for part in others]


def written_result(found: Mapping, inner: Inner) -> str | list[dict]:
    """The content of a result: a text, or blocks if it was a list or holds more than text."""
    response = found.get("response") or {}
    texts = texts_in(response)
    blocks = [block for block in map(inner, found.get("parts") or ()) if block is not None]
    if texts is None and not blocks:
        return written(response)
    texts = [written(response)] if texts is None else texts
    return [*(inner({"text": text}) for text in texts), *blocks]


def block_out(
    part: dict, write_block: WriteBlock, form: str, number: int, notes: Notes
) -> dict | None:
    """A part as a block; what the form can't hold is noted."""
    block = unknown_in(part, form)
    if block is None:
        block = write_block(part, lambda each: block_out(each, write_block, form, number, notes))
    if block is None:
        note_left_out(part, form, number, notes)
    else:
        note_foreign(part, form, number, notes)
    return block


def blocks_out(
    parts: list[dict], write_block: WriteBlock, form: str, number: int, notes: Notes
) -> list[dict]:
    """The parts as blocks; a text that is empty goes, if there is anything beside it."""
    made = []
    for part in parts:
        block = block_out(part, write_block, form, number, notes)
        made += [] if block is None else [block]
    full = [block for block in made if block.get("text") != ""]
    return full or made[:1]


def plain(blocks: list[dict]) -> str | list[dict]:
    """Blocks as a message's content: a single text stands without its list."""
    if not blocks:
        return ""
    alone = len(blocks) == 1 and set(blocks[0]) == {"type", "text"}
    return blocks[0]["text"] if alone and isinstance(blocks[0]["text"], str) else blocks


def said(row: Mapping) -> list[dict]:
    """The parts of a content, without one that was made up because the beginning is missing."""
    return [part for part in row["parts"] if MADE_UP not in (part.get("partMetadata") or {})]
