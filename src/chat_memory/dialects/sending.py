"""What of a chat from elsewhere can be sent to Gemini.

Gemini 3 signs its function calls, and refuses a request whose current turn holds one without its
signature. A chat from another model has none. For that Gemini documents a placeholder, which
is accepted in place of a signature; closed turns need none. A signature of another provider, or
a block that Gemini does not know, is no use to it: neither is sent.

Source of these rules: ai.google.dev/gemini-api/docs/thought-signatures.

This file does *not* change the transcript, and it sends nothing.
"""

from collections.abc import Sequence

from google.genai import types

from chat_memory import contents
from chat_memory.dialects.parts import kind
from offline_gemini.billing import PLACEHOLDERS, last_turn_start

PLACEHOLDER = PLACEHOLDERS[0].encode()


def sendable(transcript: Sequence[types.Content]) -> list[types.Content]:
    """The contents as Gemini 3 accepts them: a placeholder where a signature is missing.

    It stands on the first function call of each step of the open turn. Thinking of other models,
    unknown blocks, and what only other forms know of a part are left out; nothing else changes.
    """
    rows = [row | {"parts": _known(row["parts"])} for row in contents.to_json(transcript)]
    kept = contents.from_json(row for row in rows if row["parts"])
    start = last_turn_start([row for row in rows if row["parts"]])
    calls_before = 0
    for content in kept[start + 1 :]:
        calls = [part for part in content.parts if part.function_call]
        if calls and not calls_before and not calls[0].thought_signature:
            calls[0].thought_signature = PLACEHOLDER
        calls_before = calls_before + len(calls) if content.role == "model" else 0
    return kept


def _known(parts: list[dict]) -> list[dict]:
    """The parts that Gemini knows, without the marks of other forms."""
    known = []
    for part in parts:
        foreign = kind(part) == "thought" and "partMetadata" in part
        if not foreign and kind(part) != "unknown":
            known.append(_bare({key: part[key] for key in part if key != "partMetadata"}))
    return known


def _bare(part: dict) -> dict:
    """A response without data that is an unknown block of another form."""
    response = part.get("functionResponse")
    if not response or "parts" not in response:
        return part
    inner = [each for each in response["parts"] if kind(each) != "unknown"]
    others = {key: value for key, value in response.items() if key != "parts"}
    return part | {"functionResponse": others | ({"parts": inner} if inner else {})}
