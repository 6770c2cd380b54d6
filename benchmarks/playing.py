"""What it costs to play a conversation: the support case, with its tools and with thinking.

First within a process that has played it before, beside the SDK that sends the same requests with
contents as types. With `LastTurns(6)` the customer repeats himself, so there are more calls. Then
as a command in a terminal: a Python of its own that imports, plays once and ends, with the word
table and, if CHAT_MEMORY_TOKENIZER names it, with the vocabulary that counts everything exactly.

This file does *not* measure a network or a model: live, those take a hundred times longer.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

from fresh import variables
from google.genai import types
from ratios import Ratio
from session import plain_call
from timing import Measure, least, timed

from chat_memory import Call, ChatSession, Everything, LastTurns, connect, play
from chat_memory.strategies import Strategy
from chat_memory.tables import Table

PLAYED = (24, 48)  # turns of the support case
VOCABULARY = os.environ.get("CHAT_MEMORY_TOKENIZER")
NO_VOCABULARY = "CHAT_MEMORY_TOKENIZER is not set: playing with the vocabulary is not measured."
ALONE = "the SDK alone, sending nothing"
SDK = "from google import genai; genai.Client(vertexai=False, api_key='-')"
PLAY = """from time import perf_counter as now
began = now()
from chat_memory import ChatSession, connect, play
imported = now()
play("support", ChatSession(connect(offline=True, quiet=True)), turns={turns})
print(imported - began, now() - imported)"""


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """Both tables, in milliseconds and as ratios."""
    turns = (4,) if quick else PLAYED
    yield "The support case with its tools, milliseconds for all turns."
    ways = [(many, strategy) for strategy in (Everything(), LastTurns(6)) for many in turns]
    rows = [within(many, strategy, rounds=1 if quick else 7) for many, strategy in ways]
    heads = ["turns", "strategy", "calls", "session", "a call", "SDK with types", "ratio"]
    yield Table(heads, rows)
    for many, strategy, _, session, _, sdk, _ in rows:
        if many == turns[-1]:
            yield Ratio(f"{many} turns played, {strategy}", session, "ms", "SDK with types", sdk)
    yield "The same in a new Python, all history sent, milliseconds."
    yield from in_terminal(turns, rounds=1 if quick else 5)


def within(turns: int, strategy: Strategy, rounds: int) -> tuple:
    """The support case played through a session, and its requests sent by the SDK alone."""
    session = ChatSession(connect(offline=True, quiet=True), strategy)
    play("support", session, turns=turns)

    def fresh() -> float:
        again = ChatSession(connect(offline=True, quiet=True), strategy)
        return timed(lambda: play("support", again, turns=turns))

    resend = [resent(session, call) for call in session.calls]
    best = least({"session": fresh, "SDK": lambda: sum(each() for each in resend)}, rounds)
    calls, ours, theirs = len(session.calls), best["session"] * 1e3, best["SDK"] * 1e3
    shown = (round(each, 1) for each in (ours, ours / calls, theirs, theirs / ours))
    return turns, repr(strategy), calls, *shown


def resent(session: ChatSession, call: Call) -> Measure:
    """A request of the session as the SDK's own call."""
    tools = [types.Tool.model_validate(tool) for tool in call.request["tools"]]
    system = types.Content(parts=[types.Part(text=session.system)])
    return plain_call(session.client, call.contents, system_instruction=system, tools=tools)


def in_terminal(turns: tuple[int, ...], rounds: int) -> Iterator[str | Table | Ratio]:
    """The table of new Pythons: each one's whole, and of it the imports and the playing."""
    counted = {"word table": {}}
    if VOCABULARY:
        counted["vocabulary"] = {"CHAT_MEMORY_TOKENIZER": os.path.abspath(VOCABULARY)}
    runs = {ALONE: partial(python, SDK)}
    for name, more in counted.items():
        for many in turns:
            runs[f"{many} turns, {name}"] = partial(python, PLAY.format(turns=many), **more)
    taken = [{name: run() for name, run in runs.items()} for _ in range(rounds)]
    best = {name: [round(s * 1e3) for s in min(each[name] for each in taken)] for name in runs}
    yield Table(
        ["a Python that runs", "whole", "imports", "playing"],
        [(name, *parts, *[None] * (3 - len(parts))) for name, parts in best.items()],
    )
    if not VOCABULARY:
        yield NO_VOCABULARY
    for name in counted:
        what = f"{turns[-1]} turns, {name}"
        yield Ratio(
            f"in a terminal: {what}", best[what][0], "ms", ALONE, best[ALONE][0], floor=True
        )


def python(code: str, **more: str) -> tuple[float, ...]:
    """Seconds that a new Python takes for this code, then those that the code prints."""
    with tempfile.TemporaryDirectory() as home:
        command, printed = [sys.executable, "-c", code], []
        own = {"env": variables(home, **more), "encoding": "utf-8"}
        run = partial(subprocess.check_output, command, **own)
        whole = timed(lambda: printed.append(run()))
    return whole, *map(float, printed[0].split())
