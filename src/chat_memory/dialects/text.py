"""Plain text: a line for each message, as the summariser is shown a chat.

    user: Where is my order?
    call: track {"order": 48213}
    response: track {"status": "shipped"}
    model: It is on its way.
      It arrives on Friday.

Further lines of a message are indented. Ids, signatures, thinking and data have no place. A file
whose first line is none of these is a list of the user's messages, one a line.

This file does *not* know what a summary is: only its way to write a chat is the same.
"""

import re
from collections.abc import Iterator, Mapping

from chat_memory import contents
from chat_memory.dialects.parts import kind, note_foreign
from chat_memory.dialects.results import loaded_object
from chat_memory.dialects.shared import said
from chat_memory.dialects.transcript import Draft, Message, Notes
from chat_memory.summary import flattened

FORM = "text"
LINE = re.compile("(user|model|call|response): ?(.*)", re.DOTALL)
NAMED = re.compile(r"(\S+) (\{.*\})", re.DOTALL)


def read(body: Mapping, lines: list[str], notes: Notes) -> Draft:
    """The draft of a chat in lines."""
    full = [line for line in lines if line.strip()]
    if not full or not LINE.match(full[0]):
        return Draft(list(_alone(full, notes)))
    pieces: list[str] = []
    for number, line in enumerate(lines, 1):
        if LINE.match(line):
            pieces.append(line)
        elif line.startswith("  "):
            pieces[-1] += f"\n{line[2:]}"
        elif line.strip():
            notes.add("dialect.text.line", len(pieces), line=number)
            pieces[-1] += f"\n{line}"
    return Draft([_message(piece, number, notes) for number, piece in enumerate(pieces, 1)])


def _alone(lines: list[str], notes: Notes) -> Iterator[Message]:
    """The user's messages, one a line; a command such as /clear is none."""
    for number, line in enumerate(lines, 1):
        if line.startswith("/"):
            notes.add("dialect.text.command", number, command=line)
        else:
            yield Message(number, "user", [{"text": line}])


def _message(piece: str, number: int, notes: Notes) -> Message:
    who, said = LINE.fullmatch(piece).groups()
    if who in ("user", "model"):
        return Message(number, who, [{"text": said}])
    found = NAMED.fullmatch(said)
    value = loaded_object(found[2]) if found else None
    role = "model" if who == "call" else "user"
    if value is None:
        notes.add("dialect.text.call", number)
        return Message(number, role, [{"text": piece}])
    if who == "call":
        return Message(number, role, [{"functionCall": {"name": found[1], "args": value}}])
    return Message(number, role, [{"functionResponse": {"name": found[1], "response": value}}])


def write(rows: list[dict], system: str, tools: list, notes: Notes) -> dict:
    """The lines; what they can't hold is noted."""
    if system or tools:
        notes.add("dialect.text.beside")
    rows = [row | {"parts": said(row)} for row in rows]
    for number, row in enumerate(rows, 1):
        for part in row["parts"]:
            _note(part, number, notes)
    return {"lines": flattened(contents.from_json(rows))}


def _note(part: dict, number: int, notes: Notes) -> None:
    found = kind(part)
    call = part.get("functionCall") or part.get("functionResponse") or {}
    if call.get("id"):
        notes.add("dialect.text.id", number)
    if found == "data" or call.get("parts"):
        notes.add("dialect.lost.data", number, form=FORM)
    elif found == "unknown":
        notes.add("dialect.lost.unknown", number, form=FORM)
    elif found == "thought":
        notes.add("dialect.lost.thought", number, form=FORM)
    else:
        note_foreign(part, FORM, number, notes)
