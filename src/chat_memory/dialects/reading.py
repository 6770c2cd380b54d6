"""A file as the chats in it: its text, its JSON, and the wrappers that real logs have.

A file is JSON or JSONL (a JSON value a line), or plain text. The chat in it may be a list of
messages; a request's or response's body, with `contents`, `messages`, `input` or `output`; a log
with a `history`; a run log of ours; lines that hold a message each, bare, under `message` as
Claude Code writes them, or under `payload` as Codex does; or whole chats, of which one is taken.

Whatever can't be read is one sentence with the line. What is beside the chat is named, not kept.

This file does *not* know what is in a message.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chat_memory.dialects.parts import EMPTY
from chat_memory.dialects.shapes import misfit
from chat_memory.dialects.transcript import ChatFileError, Notes
from chat_memory.strings import t

LARGEST = 20_000_000  # bytes
LISTS = ("contents", "messages", "history", "traj", "conversation", "items")
CALL = {"purpose": str, "request": {"contents": list}, "dropped": list}
RUN = {"calls": [CALL | {"response": {"candidates": [{"content": dict}]}}]}
KEPT = ("tools", "system", "systemInstruction", "system_instruction", "instructions")
ITEM = re.compile(r"message|reasoning|item_reference|compaction|\w+_(?:call|call_output)")
HALF_LETTER = re.compile(r"\\u[dD][89abAB]")


@dataclass
class Found:
    """A chat in a file: its messages, or the lines of plain text, and the body beside them."""

    body: Mapping
    messages: list
    plain: bool = False


def find(path: Path, chat: int, notes: Notes) -> Found:
    """The chat that is asked for, counted from 1; ChatFileError if there is none."""
    text = _text(path)
    if _is_plain(path, text):
        return Found({}, _lines(text), plain=True)
    chats = _chats(_values(path, text, notes), notes)
    if not 1 <= chat <= len(chats):
        raise ChatFileError(t("error.chat.number", path=path, chat=chat, chats=len(chats)))
    if len(chats) > 1:
        notes.add("dialect.chats", chat=chat, chats=len(chats))
    found = chats[chat - 1]
    if not found.messages:
        raise ChatFileError(t("error.chat.empty", path=path))
    return Found(found.body, _unwrapped(found.messages, notes))


def _text(path: Path) -> str:
    try:
        size, data = path.stat().st_size, b""
        if size <= LARGEST:
            data = path.read_bytes()
    except OSError as error:
        raise ChatFileError(t("error.chat.read", path=path, reason=error.strerror)) from None
    if size > LARGEST:
        words = {"size": size / 1e6, "largest": LARGEST // 1_000_000}
        raise ChatFileError(t("error.chat.large", path=path, **words))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ChatFileError(t("error.chat.utf8", path=path, line=line)) from None
    if not text.strip():
        raise ChatFileError(t("error.chat.empty", path=path))
    return text


def _is_plain(path: Path, text: str) -> bool:
    """Whether a file is plain text: by its name, or since it begins as no JSON."""
    if path.suffix in (".json", ".jsonl"):
        return False
    return path.suffix == ".txt" or text.lstrip()[0] not in "{["


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _values(path: Path, text: str, notes: Notes) -> object:
    """The file's JSON value; the values of its lines as a list, if it is JSONL."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        value = _values_of_lines(path, text, error)
    except RecursionError:
        raise ChatFileError(t("error.chat.deep", path=path)) from None
    return _whole_letters(value, notes) if HALF_LETTER.search(text) else value


def _values_of_lines(path: Path, text: str, whole: json.JSONDecodeError) -> list:
    """The value of each line; an error tells the line, or where the whole file is no JSON."""
    values: list = []
    for number, line in enumerate(_lines(text), 1):
        try:
            values += [json.loads(line)] if line.strip() else []
        except (json.JSONDecodeError, RecursionError):
            line = number if values else whole.lineno
            raise ChatFileError(t("error.chat.json", path=path, line=line)) from None
    return values


def _whole_letters(value: object, notes: Notes) -> object:
    """The value with ? for half a letter, which no UTF-8 file and no request can hold."""
    text = json.dumps(value, ensure_ascii=False)
    mended = text.encode("utf-8", "replace").decode()
    if mended == text:
        return value
    notes.add("dialect.half_letter")
    return json.loads(mended)


def _chats(value: object, notes: Notes) -> list[Found]:
    """The chats in a JSON value."""
    if isinstance(value, list) and value and all(_is_chat(each) for each in value):
        return [_found(each, notes) for each in value]
    if _is_chat(value):
        return [_found(value, notes)]
    if isinstance(value, Mapping) and not _message_in(value):
        raise ChatFileError(t("error.chat.none"))
    return [Found({}, value if isinstance(value, list) else [value])]


def _is_chat(value: object) -> bool:
    """Whether a value is a whole chat, and no message of one."""
    if isinstance(value, list):
        return bool(value)
    if not isinstance(value, Mapping) or _message_in(value):
        return False
    if isinstance(value.get("input"), str) or _is_run(value):
        return True
    return any(isinstance(value.get(key), list) for key in (*LISTS, "input", "output"))


def _is_run(value: Mapping) -> bool:
    return "scenario" in value and value.get("calls") is not None and not misfit(value, RUN)


def _found(value: list | Mapping, notes: Notes) -> Found:
    """A whole chat, taken out of what it is wrapped in."""
    if isinstance(value, list):
        return Found({}, value)
    if _is_run(value):
        return _longest(value, notes)
    key = next((key for key in LISTS if isinstance(value.get(key), list)), None)
    used = (key,) if key else ("input", "output")
    messages = value[key] if key else _asked(value.get("input")) + _asked(value.get("output"))
    beside = [k for k in value if k not in (*used, *KEPT) and value[k] not in EMPTY]
    if beside:
        notes.add("dialect.beside", keys=", ".join(sorted(beside)))
    return Found(value | ({} if key else {"input": True}), messages)


def _asked(said: object) -> list:
    """The items of an input or output; an input may be one text of the user."""
    if isinstance(said, str):
        return [{"role": "user", "content": said}]
    return said if isinstance(said, list) else []


def _longest(log: Mapping, notes: Notes) -> Found:
    """The longest request in a run log of ours, and its reply."""
    calls = [call for call in log["calls"] if call.get("purpose") == "answer"]
    calls = [call for call in calls if (call.get("request") or {}).get("contents")]
    if not calls:
        raise ChatFileError(t("error.chat.none"))
    call = max(reversed(calls), key=lambda call: len(call["request"]["contents"]))
    candidates = (call.get("response") or {}).get("candidates") or []
    reply = [each.get("content") for each in candidates[:1] if not call.get("error")]
    if call.get("dropped"):
        notes.add("dialect.run_dropped", count=len(call["dropped"]))
    return Found(call["request"], [*call["request"]["contents"], *filter(None, reply)])


def _message_in(row: object) -> Mapping | None:
    """The message that a row is, or holds."""
    if not isinstance(row, Mapping):
        return None
    inner = row.get("message") if "role" not in row else None
    if isinstance(inner, Mapping) and "role" in inner:
        return inner
    if row.get("type") == "response_item" and isinstance(row.get("payload"), Mapping):
        return row["payload"]
    is_item = isinstance(row.get("type"), str) and ITEM.fullmatch(row["type"])
    return row if "role" in row or "parts" in row or is_item else None


def _unwrapped(rows: list, notes: Notes) -> list:
    """The messages in rows; if some are wrapped, rows that hold none are named and left out."""
    messages = [_message_in(row) for row in rows]
    if all(message is row or message is None for message, row in zip(messages, rows, strict=True)):
        return rows
    beside = {k for m, row in zip(messages, rows, strict=True) if m and m is not row for k in row}
    notes.add("dialect.row_keys", keys=", ".join(sorted(beside - {"message", "payload"})))
    aside = not all(row.get("isSidechain") for row in rows if _message_in(row) is not None)
    kept = []
    for number, (message, row) in enumerate(zip(messages, rows, strict=True), 1):
        if message is None:
            notes.add("dialect.rows", number, kind=_kind(row))
        elif aside and row.get("isSidechain"):
            notes.add("dialect.sidechain", number)
        else:
            kept.append(message)
    return kept


def _kind(row: object) -> str:
    return str(row.get("type", "?")) if isinstance(row, Mapping) else type(row).__name__
