"""Play a scripted conversation through a session, turn by turn.

A conversation is a `Script`, a path to a `.toml` or `.txt` file, or the name of a bundled one,
such as "support"; its language is that of CHAT_MEMORY_LANGUAGE. Playing sends the customer's
messages through the real session, so every point of a chart was billed. The script's tools bring
the results that stand in it. When the model lacks a fact and says so, the customer repeats
himself: that is an extra turn.

`even_chat` and `even_agent` make up conversations of equal turns or steps, whose bill can be
worked out by hand.

This file does *not* draw or print: `each` is called after every turn and may do both.
"""

import itertools
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chat_memory.places import DATA
from chat_memory.strategies import require_count
from chat_memory.strings import t
from chat_memory.tools import Tool
from offline_gemini import Script, count, load_script
from offline_gemini.scripts import Call, Turn
from offline_gemini.sentences import refusal

if TYPE_CHECKING:
    from chat_memory.session import ChatSession

Conversation = Script | str | Path  # a script, a path, or the name of a bundled conversation
FOLDER = DATA / "conversations"


def play(
    conversation: Conversation,
    session: "ChatSession",
    *,
    turns: int | None = None,
    tools: bool = True,
    clear_every: int = 0,
    each: Callable[["ChatSession"], None] | None = None,
) -> "ChatSession":
    """Play the first `turns` turns (all, if None) of a conversation; returns the session.

    The session's own system and tools win over the script's; `tools=False` leaves the script's
    undeclared. `clear_every=n` clears before turns n+1, 2n+1 and so on. `each(session)` is called
    after every turn. Interrupted, the session keeps every turn that was played to its end.
    Raises ValueError if the conversation, `turns` or `clear_every` can't be used, ChatError if a
    turn fails.
    """
    if turns is not None:
        require_count("turns", turns, 0, "it says how many turns are played")
    require_count("clear_every", clear_every, 0, "0 never clears")
    script = find(conversation)
    _require_known(script, session)
    results = Results()
    session.scenario = script.name
    session.system = session.system or script.system or None
    if tools:
        session.tools = {d["name"]: results.tool(d) for d in script.tools} | session.tools
    for number, turn in _due(script, session, turns, clear_every):
        results.learn(turn.steps)
        _say(turn, number, session)
        if each:
            each(session)
    return session


def _due(
    script: Script, session: "ChatSession", turns: int | None, clear_every: int
) -> Iterator[tuple[int, Turn]]:
    """The turns to play, by number; on the way to one the session is cleared, if it is time."""
    played = 0
    for turn in script.turns:
        if turns is not None and played >= turns:
            return
        if turn.command == "/clear":
            session.clear()
            continue
        if clear_every and played and played % clear_every == 0:
            session.clear()
        played += 1
        yield played, turn


def _say(turn: Turn, number: int, session: "ChatSession") -> None:
    """Say a turn's text, and say it again in other words if the model lacks a fact of it."""
    done = len(session.calls)
    try:
        reply = session.send(turn.user)
        if turn.again and reply.text == turn.without:
            session.send(turn.again)
    finally:
        for call in session.calls[done:]:
            call.scripted = number


def _require_known(script: Script, session: "ChatSession") -> None:
    """Raise ValueError if the session's stand-in can't recite this script."""
    known = session.scripts  # None for a live client
    if known is not None and script not in known and any(turn.reply for turn in script.turns):
        raise refusal(t("error.unknown_script", name=script.name))


class Results:
    """What a script's tools bring: for a call, the result it has in the turns played so far."""

    def __init__(self) -> None:
        self._results: dict[str, list[object]] = {}

    def learn(self, steps: Iterable[Iterable[Call]]) -> None:
        """Take in the results of a turn; they replace older ones of the same calls."""
        new = defaultdict(list)
        for call in (call for step in steps for call in step):
            new[_key(call.name, call.args)].append(call.result)
        self._results |= new

    def tool(self, declaration: dict) -> Tool:
        """The tool that a script declares."""
        name = declaration["name"]
        sent = {
            "name": name,
            "description": declaration.get("description"),
            "parameters_json_schema": declaration.get("parameters"),
        }
        sent = {key: value for key, value in sent.items() if value}
        return Tool(sent, lambda **arguments: self._result(name, arguments))

    def _result(self, name: str, arguments: dict) -> object:
        results = self._results.get(_key(name, arguments))
        if not results:
            return {"error": f"The script holds no result of {name} for {arguments}."}
        return results.pop(0) if len(results) > 1 else results[0]


def _key(name: str, arguments: dict) -> str:
    return json.dumps([name, arguments], sort_keys=True)


def find(conversation: Conversation) -> Script:
    """The script that is meant: one itself, a path, or the name of a bundled conversation.

    Raises ScriptError if its file is broken, ValueError if there is none of that name.
    """
    if isinstance(conversation, Script):
        return conversation
    path = Path(conversation)
    if (whole := FOLDER / f"{conversation}.toml").is_file():  # "support.en" says its language
        return load_script(whole)
    if path.suffix or len(path.parts) > 1:
        return load_script(path)
    spoken = {each.name.split(".")[0]: each for each in bundled(language())}
    if path.name in spoken or path.exists():
        return load_script(spoken.get(path.name, path))
    raise refusal(t("error.no_conversation", name=conversation, names=", ".join(spoken)))


def find_all(conversations: Conversation | Iterable[Conversation]) -> list[Script]:
    """The scripts that are meant by one conversation, or by several; raises what `find` does."""
    alone = isinstance(conversations, Conversation)
    return [find(each) for each in ([conversations] if alone else conversations)]


def bundled(language: str = "*") -> list[Path]:
    """The conversations that come with the workbook, in all languages or in one."""
    return sorted(FOLDER.glob(f"*.{language}.toml"))


def language() -> str:
    """The language of CHAT_MEMORY_LANGUAGE, "en" without it; ValueError if there is none such."""
    chosen = os.environ.get("CHAT_MEMORY_LANGUAGE") or "en"
    known = sorted({path.name.split(".")[1] for path in bundled()})
    if chosen not in known:
        raise refusal(t("error.no_language", language=chosen, known=" or ".join(known)))
    return chosen


def even_chat(turns: int, answer: int = 100, thoughts: int = 0, system: int = 0) -> Script:
    """A made-up conversation of equal turns, to see how a bill grows: filler, and no facts.

    Each answer has `answer` words and each turn `thoughts` thinking tokens; the system
    instruction has `system` tokens. Raises ValueError for any that is negative or not whole.

    >>> [len(turn.reply.split()) for turn in even_chat(turns=2, answer=30).turns]
    [30, 30]
    """
    require_count("turns", turns, 0, "it says how many questions are asked")
    require_count("answer", answer, 1, "an answer has words")
    require_count("thoughts", thoughts, 0, "it is a number of tokens")
    require_count("system", system, 0, "it is a number of tokens")
    words = itertools.cycle(t("filler.answer").split())
    reply = " ".join(itertools.islice(words, answer))
    spoken = [
        Turn(user=t("filler.question", number=number), reply=reply, thoughts=thoughts)
        for number in range(1, turns + 1)
    ]
    return Script(name="even_chat", title="even_chat", system=filler(system), turns=tuple(spoken))


def even_agent(steps: Sequence[int], tokens: int, conclude_every: int = 0) -> Script:
    """A made-up agent at work: a turn for each number in `steps`, of so many equal steps.

    Each step reads a page of `tokens` tokens of filler. With `conclude_every=n`, every n of them
    are followed by a call of `conclude`, by which an agent closes a stretch of work. Raises
    ValueError for a number that is negative or not whole.

    >>> [len(turn.steps) for turn in even_agent([8, 2], tokens=50, conclude_every=4).turns]
    [10, 2]
    """
    for number in steps:
        require_count("steps", number, 0, "it says how many steps a turn takes")
    require_count("tokens", tokens, 1, "a page holds something")
    require_count("conclude_every", conclude_every, 0, "0 never concludes")
    page, spoken = filler(tokens), []
    for number, size in enumerate(steps, 1):
        work: list[tuple[Call, ...]] = []
        for step in range(1, size + 1):
            work.append((Call("read_page", {"turn": number, "page": step}, {"page": page}),))
            if conclude_every and step % conclude_every == 0:
                note = {"conclusion": t("filler.conclusion", number=number, page=step)}
                work.append((Call("conclude", note, {"noted": True}),))
        question, answer = t("filler.question", number=number), t("filler.done", number=number)
        spoken.append(Turn(user=question, steps=tuple(work), reply=answer))
    named = {"read_page": {"turn": "integer", "page": "integer"}}
    if conclude_every:
        named["conclude"] = {"conclusion": "string"}
    tools = tuple(_declared(name, arguments) for name, arguments in named.items())
    return Script(name="even_agent", title="even_agent", tools=tools, turns=tuple(spoken))


def _declared(name: str, arguments: dict[str, str]) -> dict:
    """A tool's declaration, its arguments' names with their JSON types."""
    properties = {key: {"type": kind} for key, kind in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"name": name, "parameters": schema}


def filler(tokens: int) -> str:
    """A text without content of so many tokens, or, where a word has several, a few more.

    >>> filler(6)
    'this answer goes on and on'
    """
    words = []
    for word in itertools.cycle(t("filler.answer").split()):
        if tokens <= 0:
            return "".join(words).lstrip()
        words.append(f" {word}")
        tokens -= count(words[-1]).tokens
