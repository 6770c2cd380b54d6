"""The cost of one more turn in libraries that people use instead, each by its own means.

    .venv-bench/bin/python benchmarks/peers.py 10 100 --rounds 5

Prints a JSON list: for each way its name and its seconds at each size, or null where its library
is not installed. strategies.py runs this file in an environment of its own, because these
libraries want other versions of shared packages than the workbook has. All get the chat of
timing.py and must bring the same last messages.

This file does *not* import the workbook.
"""

import argparse
import asyncio
import importlib.metadata
import json
from collections.abc import Callable, Coroutine
from time import perf_counter

from timing import MESSAGES, MORE, Measure, least, one_more_turn, require_last_turns, said


def langchain(turns: int, approximate: bool) -> Measure:
    """langchain-core's `trim_messages` on a list, by number of messages or approximate tokens."""
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    counter = count_tokens_approximately if approximate else len

    def trimmer(history: list) -> Callable[[list], list]:
        closed, open_turn = history[1 - MESSAGES :], history[-2:-1]  # all turns are equally long
        most = counter(closed + open_turn)
        options = {"max_tokens": most, "token_counter": counter, "start_on": "human"}
        return lambda messages: trim_messages(messages, strategy="last", **options)

    return one_more_turn(turns, HumanMessage, AIMessage, lambda m: m.content, trimmer)


def semantic_kernel(turns: int) -> Measure:
    """Semantic Kernel's truncation reducer, as it is used: it forgets what it cuts."""
    from semantic_kernel.contents import ChatHistoryTruncationReducer, ChatMessageContent

    def message(role: str, text: str) -> ChatMessageContent:
        return ChatMessageContent(role=role, content=text)

    reducer = ChatHistoryTruncationReducer(target_count=MESSAGES)
    more = []
    for asked, told in said(1, turns + MORE - 1):
        more.append((message("user", asked), message("assistant", told)))
    reducer.messages = [m for pair in more[: turns - 1] for m in pair]
    del more[: turns - 1]

    async def measure() -> float:
        started = perf_counter()
        for asked, told in more:
            reducer.add_message(asked)
            await reducer.reduce()
            reducer.add_message(told)
        return (perf_counter() - started) / MORE

    async def check() -> None:
        reducer.add_message(more[0][0])
        await reducer.reduce()
        require_last_turns((m.content for m in reducer.messages), turns)
        reducer.messages.pop()

    return _awaited(check, measure)


def openai_agents(turns: int) -> Measure:
    """openai-agents' session in SQLite, in memory, with a limit: one read and one write a turn."""
    from agents import SessionSettings, SQLiteSession

    settings = SessionSettings(limit=MESSAGES - 1)
    session = SQLiteSession("chat", session_settings=settings)
    pairs = [
        [{"role": "user", "content": asked}, {"role": "assistant", "content": told}]
        for asked, told in said(1, turns + MORE - 1)
    ]
    more = pairs[turns - 1 :]

    async def measure() -> float:
        await session.get_items()  # starts the thread that reads
        started = perf_counter()
        for asked, told in more:
            context = await session.get_items()
            context.append(asked)
            await session.add_items([asked, told])
        seconds = perf_counter() - started
        for _ in range(2 * MORE):
            await session.pop_item()
        return seconds / MORE

    async def check() -> None:
        await session.add_items([message for pair in pairs[: turns - 1] for message in pair])
        context = [*await session.get_items(), more[0][0]]
        require_last_turns((item["content"] for item in context), turns)

    return _awaited(check, measure)


def _awaited(
    check: Callable[[], Coroutine], measure: Callable[[], Coroutine[None, None, float]]
) -> Measure:
    """The measure of a peer that is awaited, after it has proved that it does the job."""
    asyncio.run(check())
    return lambda: asyncio.run(measure())


WAYS = {  # the package, what is used of it, and how
    ("semantic-kernel", "truncation reducer (forgets)"): semantic_kernel,
    ("openai-agents", "SQLite session, limit"): openai_agents,
    ("langchain-core", "trim_messages, len"): lambda turns: langchain(turns, approximate=False),
    ("langchain-core", "trim_messages, approximate"): lambda turns: langchain(turns, True),
}


def main() -> None:
    """Measure every way at every size, and print the JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("sizes", type=int, nargs="+")
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    print(json.dumps([row(*way, asked.sizes, asked.rounds) for way in WAYS]))


def row(package: str, part: str, sizes: list[int], rounds: int) -> dict:
    """One way's name and its seconds at each size; None if its package is not installed."""
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return {"name": f"{package} {part}", "seconds": None}
    best = least({str(turns): WAYS[package, part](turns) for turns in sizes}, rounds)
    return {"name": f"{package} {version} {part}", "seconds": list(best.values())}


if __name__ == "__main__":
    main()
