"""Conversation files: what a customer says, what Gemini answers, and on which facts it depends.

A `.toml` file is read into a `Script` and checked to the last field; data/conversations/README.md
tells its format. A `.txt` file holds one message a line, and `/clear`. What breaks the format is
refused with the file's name, the turn and what is wrong, so that a teacher can write one without
reading code.

This file does *not* answer anything: which turn answers a request is decided in `replies.py`.
"""

import functools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from offline_gemini.sentences import OneLine
from offline_gemini.texts import fold, visible

LANGUAGES = ("en", "ko")
COMMANDS = ("/clear",)
FILE_KEYS = {
    "title": str,
    "language": str,
    "system": str,
    "pinned": list,
    "facts": dict,
    "tools": list,
    "turns": list,
}
TURN_KEYS = {
    "user": str,
    "command": str,
    "states": list,
    "needs": list,
    "steps": list,
    "reply": str,
    "without": str,
    "outdated": str,
    "again": str,
    "thoughts": int,
    "without_thoughts": int,
    "probe": bool,
}
NAMES = {str: "a text", list: "a list", dict: "a table", int: "a whole number", bool: "true/false"}


class ScriptError(OneLine, ValueError):
    """A conversation file that can't be used: its name, the turn, and what is wrong."""


@dataclass(frozen=True)
class Call:
    """One scripted function call: its name, its arguments and the result it brings."""

    name: str
    args: dict
    result: object


@dataclass(frozen=True)
class Turn:
    """One customer message (or a command) and what is answered; fields as in the file."""

    user: str = ""
    command: str = ""
    states: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    steps: tuple[tuple[Call, ...], ...] = ()
    reply: str = ""
    without: str = ""
    outdated: str = ""
    again: str = ""
    thoughts: int = 0
    without_thoughts: int = 0
    probe: bool = False


@dataclass(frozen=True)
class Script:
    """One conversation file; `facts` maps an id to its spellings."""

    name: str
    title: str = ""
    language: str = "en"
    system: str = ""
    pinned: tuple[str, ...] = ()
    facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tools: tuple[dict, ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Found:
    """A turn of a script, by its place from 0, as a request or a check reaches it."""

    script: Script
    index: int

    @property
    def turn(self) -> Turn:
        """The turn itself."""
        return self.script.turns[self.index]


def load_script(path: str | Path) -> Script:
    """The conversation in a .toml or .txt file; ScriptError says what is wrong with it."""
    path = Path(path)
    if path.is_dir():
        raise ScriptError(f"{path.name or path} is a folder: name a .toml or .txt file in it.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path.name} is not UTF-8: save it with that encoding.") from error
    except OSError as error:
        raise ScriptError(f"{path} can't be read ({error.strerror}): check the path.") from error
    return _parse(text, path.name)


@functools.lru_cache(maxsize=64)
def _parse(text: str, name: str) -> Script:
    if name.lower().endswith(".txt"):
        return _from_lines(text, name)
    try:
        return _from_toml(tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(f"{name} is not TOML: {error}: mend it there.") from error


def _from_lines(text: str, name: str) -> Script:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    turns = [Turn(command=line) if line in COMMANDS else Turn(user=line) for line in lines]
    if not turns:
        raise ScriptError(f"{name} is empty: write one message a line.")
    if not any(turn.user for turn in turns):
        raise ScriptError(f"{name} holds only /clear: write one message a line.")
    return Script(name=name, title=name, turns=tuple(turns))


def _from_toml(data: dict, name: str) -> Script:
    _check_keys(data, FILE_KEYS, name)
    if data.get("language", "en") not in LANGUAGES:
        raise ScriptError(f"{name}: language must be one of {', '.join(LANGUAGES)}.")
    given = data.get("facts", {})
    facts = {fact: _spellings(given[fact], f"{name}: fact {fact}") for fact in given}
    tools = tuple(_tool(t, f"{name}: tool {n}") for n, t in enumerate(data.get("tools", []), 1))
    if not data.get("turns"):
        raise ScriptError(f"{name} has no [[turns]]: add at least one.")
    turns = tuple(_turn(t, f"{name}: turn {n}") for n, t in enumerate(data["turns"], 1))
    script = Script(
        name=name,
        title=data.get("title", name),
        language=data.get("language", "en"),
        system=data.get("system", ""),
        pinned=_texts(data.get("pinned", []), f"{name}: pinned"),
        facts=facts,
        tools=tools,
        turns=turns,
    )
    _check_script(script)
    return script


def _tool(data: object, place: str) -> dict:
    _check_keys(data, {"name": str, "description": str, "parameters": dict}, place)
    if not data.get("name"):
        raise ScriptError(f"{place} has no name: give it one.")
    _check_json(data, place)
    return data


def _turn(data: object, place: str) -> Turn:
    _check_keys(data, TURN_KEYS, place)
    if ("user" in data) == ("command" in data):
        raise ScriptError(f"{place} needs either user or command, and not both.")
    if "command" in data:
        if data["command"] not in COMMANDS or len(data) > 1:
            raise ScriptError(f"{place}: the only command is /clear, and it takes no other field.")
        return Turn(command=data["command"])
    if not fold(data["user"]) or not data.get("reply", "").strip():
        raise ScriptError(f"{place} needs a user text and a reply, neither of them blank.")
    fields = dict(data)
    for key in ("states", "needs"):
        fields[key] = _texts(data.get(key, []), f"{place}: {key}")
    fields["steps"] = tuple(_step(s, place) for s in data.get("steps", []))
    return Turn(**fields)


def _step(data: object, place: str) -> tuple[Call, ...]:
    if not isinstance(data, list) or not data:
        raise ScriptError(f"{place}: a step is a list of calls, [{{ name = ..., args = ... }}].")
    for call in data:
        _check_keys(call, {"name": str, "args": dict, "result": object}, f"{place}: a call")
        if not {"name", "args", "result"} <= set(call):
            raise ScriptError(f"{place}: a call needs name, args and result.")
        _check_json([call["args"], call["result"]], f"{place}: call {call['name']}")
    return tuple(Call(**call) for call in data)


def _check_keys(data: object, keys: Mapping[str, type], place: str) -> None:
    if not isinstance(data, dict):
        raise ScriptError(f"{place} must be a table.")
    for key, value in data.items():
        if key not in keys:
            raise ScriptError(f"{place} has an unknown field {key}: known are {', '.join(keys)}.")
        kind = keys[key]
        if not isinstance(value, kind) or (kind is int and (isinstance(value, bool) or value < 0)):
            raise ScriptError(f"{place}: {key} must be {NAMES[kind]}, not {value!r}.")


def _check_json(value: object, place: str) -> None:
    """Refuse what a request can't carry, though TOML can: dates, times, infinity and nan."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _check_json(each, place)
    elif not isinstance(value, str | int) and not (
        isinstance(value, float) and math.isfinite(value)
    ):
        raise ScriptError(f"{place} holds {value}, which JSON can't: put it in quotes.")


def _texts(value: list, place: str) -> tuple[str, ...]:
    if not all(isinstance(each, str) and each.strip() for each in value):
        raise ScriptError(f"{place} must be a list of texts, none of them blank.")
    return tuple(value)


def _spellings(value: object, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ScriptError(f"{place} needs a list of its spellings.")
    return _texts(value, place)


def _check_script(script: Script) -> None:
    """Refuse what no single field shows: unknown facts and tools, twins, idle fields."""
    seen: set[tuple[str, ...]] = set()
    before: tuple[str, ...] = ()
    for number, turn in enumerate(script.turns, 1):
        place = f"{script.name}: turn {number}"
        if turn.command:
            before = ()
            continue
        _check_facts(script, turn, place)
        _check_answers(script, turn, place)
        _check_again(Found(script, number - 1), place)
        before += (fold(turn.user),)
        if before in seen:
            raise ScriptError(
                f"{place} has the same user text after the same turns as another: word it anew."
            )
        seen.add(before)


def _check_facts(script: Script, turn: Turn, place: str) -> None:
    for fact in turn.states + turn.needs:
        if fact not in script.facts:
            raise ScriptError(
                f"{place} uses the fact {fact}, which is not in [facts]: add it there."
            )
    for fact in turn.states:
        if not visible(script.facts[fact], [turn.user]):
            raise ScriptError(
                f"{place} states {fact}, but its text has no spelling of it: write one in it."
            )
    if turn.probe and not turn.needs:
        raise ScriptError(f"{place} is a probe without needs: name the fact it asks for.")
    for fact in turn.needs if turn.probe else ():
        if visible(script.facts[fact], [turn.user]):
            raise ScriptError(
                f"{place} is a probe that contains its answer, {fact}: ask without it."
            )


def _check_answers(script: Script, turn: Turn, place: str) -> None:
    if (turn.without or turn.outdated) and not turn.needs:
        raise ScriptError(
            f"{place} has without or outdated, but needs no fact: name one in needs."
        )
    if turn.again and not turn.without:
        raise ScriptError(f"{place} has again, but no without that it answers: write one.")
    tools = {tool["name"] for tool in script.tools}
    for call in (call for step in turn.steps for call in step):
        if call.name not in tools:
            raise ScriptError(
                f"{place} calls {call.name}, which is not in [[tools]]: declare it there."
            )


def _check_again(found: Found, place: str) -> None:
    """Refuse a repetition that brings no needed fact: the customer would say it in vain."""
    needs, again = found.turn.needs, found.turn.again
    if again and not any(visible(current(found, fact), [again]) for fact in needs):
        raise ScriptError(
            f"{place}: again holds no current spelling of {' or '.join(needs)}, "
            "so the customer would repeat himself in vain: write one in it."
        )


def superseded(found: Found, fact: str) -> tuple[str, ...]:
    """Spellings of a fact that a later statement, up to this turn, has replaced."""
    turns = found.script.turns[: found.index + 1]
    stated = [
        {s for s in found.script.facts[fact] if visible([s], [turn.user])}
        for turn in turns
        if fact in turn.states
    ]
    old = set().union(*stated[:-1]) - stated[-1] if stated else set()
    return tuple(spelling for spelling in found.script.facts[fact] if spelling in old)


def current(found: Found, fact: str) -> tuple[str, ...]:
    """Spellings of a fact's newest value at this turn."""
    old = superseded(found, fact)
    return tuple(spelling for spelling in found.script.facts[fact] if spelling not in old)
