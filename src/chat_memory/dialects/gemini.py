"""Gemini: contents with a role and parts; a request's body has the system and tools beside them.

    {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "track", "args": {...}},
      "thoughtSignature": "..."}]}
    {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "track",
      "response": {...}}}]}

Everything inside is Gemini's form already, so reading it is checking it: a part that this SDK
does not know is kept as unknown, and a content without a role is the user's, as at Gemini.

This file does *not* look for signatures: `sending.py` does.
"""

from collections.abc import Mapping

from google.genai import types
from pydantic import ValidationError

from chat_memory import contents
from chat_memory.dialects.declarations import read_tools, write_tools
from chat_memory.dialects.shared import keep_unknown, never_empty, note_keys
from chat_memory.dialects.transcript import Draft, Message, Notes
from offline_gemini.billing import get, parts_of

FORM = "gemini"
SHAPE = {"parts": (list, dict)}
ROLES = {"user": "user", "model": "model", "function": "user", "system": "system"}


def read(body: Mapping, rows: list[Mapping], notes: Notes) -> Draft:
    """The draft of a chat in this form."""
    read = [_message(row, number, notes) for number, row in enumerate(rows, 1)]
    instruction = get(body, "systemInstruction") or {}
    parts = [instruction] if isinstance(instruction, str) else parts_of(instruction)
    system = [part if isinstance(part, str) else part.get("text") or "" for part in parts]
    return Draft(read, system, read_tools(body.get("tools"), notes))


def _message(row: Mapping, number: int, notes: Notes) -> Message:
    note_keys(row, ("role", "parts"), number, notes)
    if not row.get("role"):
        notes.add("dialect.no_role", number)
    parts = [_part(part, number, notes) for part in parts_of(row)]
    role = ROLES[row.get("role") or "user"]
    return Message(number, role, never_empty(parts, number, notes))


def _part(part: object, number: int, notes: Notes) -> dict:
    """A part in wire names; a text alone was a part in older SDKs."""
    if isinstance(part, str):
        return {"text": part}
    try:
        known = types.Part.model_validate(part)
    except ValidationError:
        block = part if isinstance(part, Mapping) else {"value": part}
        return keep_unknown({"type": next(iter(block), "?"), "part": block}, FORM, number, notes)
    return contents.to_json([types.Content(parts=[known])])[0]["parts"][0] or {"text": ""}


def write(rows: list[dict], system: str, tools: list, notes: Notes) -> dict:
    """A request body in this form, which holds all there is, and unknown blocks as data."""
    beside = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    declared = write_tools(tools, FORM, notes)
    return {**beside, **({"tools": declared} if declared else {}), "contents": rows}
