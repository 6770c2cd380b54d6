"""What it takes to recount a long history of one's own under every strategy.

The history has 5,000 messages, as `load_chat` would give them: 625 turns of a question, three
steps with a tool, and an answer, some 600,000 tokens. Its words are those of the support case in
random order, with a code among every ten of them, so that no two messages are alike.

This file does *not* measure reading the file: a recount begins when the messages are there.
"""

import random
from collections.abc import Iterator
from functools import partial

from google.genai import types
from ratios import Ratio
from timing import least, timed

from chat_memory.contents import model, user
from chat_memory.conversations import find
from chat_memory.ladder import ladder
from chat_memory.layers import KeyFacts
from chat_memory.recount import Record
from chat_memory.strategies import Strategy
from chat_memory.tables import Table
from offline_gemini import Script

TURNS, STEPS = 625, 3
AIM = 2_000  # milliseconds for all strategies together, weighing included
ASKED, FOUND, ANSWERED = 20, 150, 60  # words


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """One table, in milliseconds: weighing the history, then each strategy, then all together."""
    history = made(10 if quick else TURNS)
    yield f"A history of {len(history):,} messages, recounted, milliseconds."
    weighed = least({"weighed": partial(timed, lambda: Record(history))}, 1)
    record, strategies = Record(history), every()
    measures = {n: partial(timed, partial(record.recount, s)) for n, s in strategies.items()}
    best = weighed | least(measures, 1)  # a second round would find all words counted already
    calls = len(record.recount(strategies["Everything()"]).prompts)
    rows = [(name, calls, round(seconds * 1e3), None) for name, seconds in best.items()]
    whole = round(sum(best.values()) * 1e3)
    yield Table(["strategy", "calls", "ms", "aim"], [*rows, ("all", calls, whole, AIM)])
    yield Ratio(f"{len(history):,} messages under every strategy", whole, "ms", aim=AIM)


def every() -> dict[str, Strategy]:
    """Every strategy that needs no case file."""
    return {n: s for n, s in ladder(Script(name="")).items() if not isinstance(s, KeyFacts)}


def made(turns: int) -> list[types.Content]:
    """A history of so many turns."""
    chance = random.Random(1)
    words = [word for turn in find("support").turns for word in turn.user.split()]
    history = []
    for turn in range(turns):
        history.append(user(_text(words, ASKED, chance)))
        for step in range(STEPS):
            history += _step(f"{turn}-{step}", _text(words, FOUND, chance), chance)
        history.append(model(_text(words, ANSWERED, chance)))
    return history


def _step(number: str, found: str, chance: random.Random) -> list[types.Content]:
    """A call of a tool and its response."""
    path = {"path": f"src/{chance.randrange(1_000)}.py"}
    call = types.FunctionCall(id=number, name="read_file", args=path)
    result = types.FunctionResponse(id=number, name="read_file", response={"result": found})
    return [
        types.Content(role="model", parts=[types.Part(function_call=call)]),
        types.Content(role="user", parts=[types.Part(function_response=result)]),
    ]


def _text(words: list[str], number: int, chance: random.Random) -> str:
    """So many words, every tenth of them with a code."""
    chosen = chance.choices(words, k=number)
    chosen[::10] = [f"{word}-{chance.randrange(100_000)}" for word in chosen[::10]]
    return " ".join(chosen)
