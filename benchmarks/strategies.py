"""What one more turn costs a strategy that keeps the whole chat, beside what people use instead.

Ours are `LastTurns`. The peers, in peers.py, run in the environment `.venv-bench` if there is one.
The plain slice knows where every turn starts and is no peer: nothing that makes a list is
cheaper. The plain rescan looks for the turn starts anew at every turn.

This file does *not* send anything: only the context is made.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ratios import Ratio
from timing import KEPT, Measure, least, one_more_turn

from chat_memory.contents import is_turn_start, model, text_of, user
from chat_memory.strategies import LastTurns
from chat_memory.tables import Table

FOLDER = Path(__file__).resolve().parent
PEERS = FOLDER.parent / ".venv-bench" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
SIZES = (10, 100, 1_000, 10_000)
ROUNDS = 15
AIM = 1.3  # of what a turn costs at 100 turns
Trim = Callable[[list], list]


def plain_slice(history: list) -> Trim:
    """A slice from a list of turn starts, kept up to date as turns come."""
    starts = [index for index, content in enumerate(history) if is_turn_start(content)]

    def trim(messages: list) -> list:
        starts.append(len(messages) - 1)
        return messages[starts[-KEPT] :]

    return trim


def plain_rescan(history: list) -> Trim:
    """A slice from turn starts that are looked for in the whole list at every turn."""

    def trim(messages: list) -> list:
        starts = [index for index, content in enumerate(messages) if is_turn_start(content)]
        return messages[starts[-KEPT] :]

    return trim


def last_turns(history: list) -> Trim:
    """LastTurns, as a session uses it."""
    strategy = LastTurns(KEPT)
    return lambda messages: strategy(messages).contents


LAST_TURNS, FLOOR = f"LastTurns({KEPT})", "plain slice by offsets (floor)"
OURS = {
    FLOOR: plain_slice,
    LAST_TURNS: last_turns,
    "plain rescan": plain_rescan,
}


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """The table, in microseconds and as ratios; quick: without the peers."""
    sizes, rounds = (SIZES[:2], 1) if quick else (SIZES, ROUNDS)
    python = PEERS if PEERS.exists() and not quick else sys.executable
    rows = [*ours(sizes, rounds), *peers(python, sizes, rounds)]
    known = {row["name"]: row["seconds"] for row in rows if row["seconds"]}
    yield f"One more turn of which the last {KEPT} are sent, microseconds at so many turns."
    heads = [f"{turns:,}" for turns in sizes]
    heads += [f"{heads[-1]} : {heads[1]}", f"to {LAST_TURNS}"]
    table = [figures(name, each, known[LAST_TURNS]) for name, each in known.items()]
    yield Table(["way", *heads], table)
    missing = [f"{row['name']}: not installed" for row in rows if not row["seconds"]]
    if missing:
        yield "\n".join(missing)
    yield from ratios(known, sizes)


def figures(name: str, seconds: list[float], mine: list[float]) -> tuple:
    """A row: microseconds at each size, how they grow, and the last beside that of LastTurns."""
    micro = (round(each * 1e6, 1) for each in seconds)
    return name, *micro, round(seconds[-1] / seconds[1], 2), round(seconds[-1] / mine[-1], 1)


def ratios(known: dict[str, list[float]], sizes: tuple[int, ...]) -> Iterator[Ratio]:
    """LastTurns at the last size, beside every other way, and beside itself at 100 turns."""
    mine = [seconds * 1e6 for seconds in known[LAST_TURNS]]
    what = (f"one more turn at {sizes[-1]:,}", mine[-1], "µs")
    for name, seconds in known.items():
        if name != LAST_TURNS:
            floor = name == FLOOR
            yield Ratio(*what, name.removesuffix(" (floor)"), seconds[-1] * 1e6, floor=floor)
    yield Ratio(*what, f"itself at {sizes[1]:,}", mine[1], AIM * mine[1])


def ours(sizes: tuple[int, ...], rounds: int) -> list[dict]:
    """A row for each of OURS: its name and its seconds at each size."""
    measures: dict[str, Measure] = {
        f"{name} {turns}": one_more_turn(turns, user, model, text_of, trimmer)
        for name, trimmer in OURS.items()
        for turns in sizes
    }
    best = least(measures, rounds)
    return [
        {"name": name, "seconds": [best[f"{name} {turns}"] for turns in sizes]} for name in OURS
    ]


def peers(python: str | Path, sizes: tuple[int, ...], rounds: int) -> list[dict]:
    """A row for each peer, run by the Python that may have them."""
    command = [python, FOLDER / "peers.py", *map(str, sizes), "--rounds", str(rounds)]
    return json.loads(subprocess.check_output(command, encoding="utf-8"))
