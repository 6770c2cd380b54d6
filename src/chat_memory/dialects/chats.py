"""`load_chat` and `save_chat`: a chat in and out of Gemini's, OpenAI's and Anthropic's form.

Reading makes a list of contents that Gemini's rules accept, so that every strategy, check and
chart of this package takes a log from elsewhere. Writing gives it back: in its own form whole, in
another one as far as that form goes. What is repaired or can't be held is named, message by
message; nothing is lost in silence.

This file does *not* know any form: each has a file of its own, and `forms.py` tells them apart.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from google.genai import types

from chat_memory import contents
from chat_memory.dialects import reading
from chat_memory.dialects.forms import FORMS, tell
from chat_memory.dialects.pairs import settled
from chat_memory.dialects.parts import mark
from chat_memory.dialects.transcript import ChatFileError, Draft, Message, Notes, Transcript
from chat_memory.files import write_whole
from chat_memory.strings import t
from offline_gemini import Refused

LISTS = ("contents", "messages", "input")  # where a body has its messages


def load_chat(path: str | Path, chat: int = 1) -> Transcript:
    """Read a chat in Gemini's, OpenAI's or Anthropic's JSON or JSONL, or plain text.

    `chat` picks one, from 1, if the file holds several. `notes` of the transcript name all that
    was repaired, kept as unknown, or not kept. Raises ChatFileError, one sentence with the line
    or the message, if the file can't be read.
    """
    if not isinstance(path, str | Path):
        raise ChatFileError(t("error.chat.path", kind=type(path).__name__))
    path, notes = Path(path), Notes()
    found = reading.find(path, chat, notes)
    form = tell(found)
    draft = FORMS[form].read(found.body, found.messages, notes)
    messages = _with_instruction(draft, form, notes)
    if not messages:
        raise ChatFileError(t("error.chat.empty", path=path))
    rows = settled(messages, form, notes)
    if rows[0]["role"] == "model":
        notes.add("dialect.model_first")
    try:
        contents.check(rows)
        read = contents.from_json(rows)
    except (Refused, ValueError) as error:
        raise ChatFileError(t("error.chat.refused", path=path, reason=error)) from None
    system = "\n\n".join(filter(None, draft.system))
    return Transcript(read, system, draft.tools, form, notes.sentences())


def _with_instruction(draft: Draft, form: str, notes: Notes) -> list[Message]:
    """The messages; a system message at the start becomes the instruction, a later one stays.

    A later one can't join the instruction, which stands first, so it is kept at its place as the
    user's, and the same form gets it back as it was.
    """
    first = list(itertools.takewhile(_is_instruction, draft.messages))
    for message in first:
        draft.system.append("".join(part["text"] for part in message.parts))
        for key in {key for part in message.parts for key in mark(part, form)} - {"message"}:
            notes.add("dialect.key", message.number, key=key)
    if len(draft.system) > 1:
        notes.add("dialect.systems", count=len(draft.system))
    messages = draft.messages[len(first) :]
    for message in messages:
        if message.role == "system":
            notes.add("dialect.system", message.number)
            message.role = "user"
    return messages


def _is_instruction(message: Message) -> bool:
    return message.role == "system" and all("text" in part for part in message.parts)


def save_chat(
    transcript: Sequence[types.Content], path: str | Path, form: str | None = None
) -> list[str]:
    """Write a chat in a form: "gemini", "openai", "responses", "anthropic" or "text".

    Without `form` it is the transcript's own, or Gemini's for a plain list of contents. A name
    that ends in .jsonl gets a line for each message, any other a request's body. Returns the
    notes: one sentence for everything that this form can't hold. Raises ChatFileError if there
    is no such form, or the file can't be written; the file is then as it was.
    """
    path, notes = Path(path), Notes()
    form = form or getattr(transcript, "form", "gemini")
    if form not in FORMS:
        raise ChatFileError(t("error.chat.form", form=form, forms=", ".join(FORMS)))
    beside = getattr(transcript, "system", ""), getattr(transcript, "tools", [])
    body = FORMS[form].write(contents.to_json(transcript), *beside, notes)
    try:
        write_whole(path, _dumped(body, path.suffix == ".jsonl", notes))
    except OSError as error:
        raise ChatFileError(t("error.chat.write", path=path, reason=error.strerror)) from None
    except UnicodeEncodeError:
        raise ChatFileError(t("error.chat.half_letter", path=path)) from None
    return notes.sentences()


def _dumped(body: Mapping, lines: bool, notes: Notes) -> str:
    """The body as a file's text: JSON, a line for each message, or the lines of plain text."""
    if "lines" in body:
        return body["lines"]
    if not lines:
        return json.dumps(body, ensure_ascii=False, indent=1)
    for key in (key for key in body if key not in LISTS):
        notes.add("dialect.lines", key=key)
    messages = next(body[key] for key in LISTS if key in body)
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in messages)
