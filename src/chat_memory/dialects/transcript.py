"""A chat that was read from a file: its contents, and what was done to read it.

A `Transcript` is a list of contents, so every strategy, check and chart takes it as it is. It
carries what a list can't hold: the system instruction, the tools, the form of the file, and
`notes`, one sentence for everything that was repaired, kept as unknown, or not kept.

Notes of one kind are one sentence that names the messages, so that a log of 5,000 messages has
not 5,000 notes. In a note of `load_chat` a number is a message of the file, from 1; in one of
`save_chat`, a content of the transcript, from 1.

This file does *not* read or write anything.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from google.genai import types

from chat_memory.strings import t
from offline_gemini.sentences import OneLine

NAMED = 5  # message numbers that a note names


class ChatFileError(OneLine, ValueError):
    """A chat that can't be read or written: which file, where in it, and what to do."""


class Transcript(list):
    """The contents of a chat, with `.system`, `.tools`, `.form` and `.notes`.

    `tools` are declarations as JSON with Gemini's names, as in a request's functionDeclarations.

    >>> Transcript(form="openai", notes=["A note."])
    Transcript(0 messages, openai, 1 note)
    """

    def __init__(
        self,
        contents: Iterable[types.Content] = (),
        system: str = "",
        tools: Iterable[Mapping] = (),
        form: str = "gemini",
        notes: Iterable[str] = (),
    ):
        super().__init__(contents)
        self.system, self.form = system, form
        self.tools, self.notes = [dict(tool) for tool in tools], list(notes)

    def __repr__(self) -> str:
        notes = f"{len(self.notes)} note{'' if len(self.notes) == 1 else 's'}"
        return f"Transcript({len(self)} messages, {self.form}, {notes})"


@dataclass
class Message:
    """A message on its way into the transcript: its number in the file, role and parts as JSON.

    The role is user, model or system. Messages in a row with one `id` are pieces of one message.
    """

    number: int
    role: str
    parts: list[dict]
    id: str | None = None


@dataclass
class Draft:
    """What a form's reader found: messages, the system beside them, tools as declarations."""

    messages: list[Message]
    system: list[str] = field(default_factory=list)
    tools: list[dict] = field(default_factory=list)


class Notes:
    """Collects notes, each with the numbers of the messages it is about."""

    def __init__(self) -> None:
        self._found: dict[tuple, list[int]] = {}

    def add(self, name: str, number: int | None = None, /, **values: object) -> None:
        """Note the string with this id; of what is noted again only the number is added."""
        numbers = self._found.setdefault((name, *sorted(values.items())), [])
        if number is not None and number not in numbers[-1:]:
            numbers.append(number)

    def sentences(self) -> list[str]:
        """The notes as sentences, in the order in which they were first made."""
        return [
            t(name, where=where(numbers), **dict(values))
            for (name, *values), numbers in self._found.items()
        ]


def where(numbers: list[int]) -> str:
    """The messages a note is about, the first few by number.

    >>> where([3]), where([3, 5]), where(list(range(1, 9)))
    ('message 3', 'messages 3, 5', 'messages 1, 2, 3, 4, 5 and 3 more')
    """
    first = ", ".join(map(str, numbers[:NAMED]))
    if len(numbers) > NAMED:
        return t("dialect.where.more", numbers=first, more=len(numbers) - NAMED)
    return t("dialect.where.one" if len(numbers) == 1 else "dialect.where.many", numbers=first)
