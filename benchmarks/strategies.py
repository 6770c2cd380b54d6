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

from timing import KEPT, Measure, least, one_more_turn

from chat_memory.contents import is_turn_start, model, text_of, user
from chat_memory.strategies import LastTurns
from chat_memory.tables import Table

FOLDER = Path(__file__).resolve().parent
PEERS = FOLDER.parent / ".venv-bench" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
SIZES = (10, 100, 1_000, 10_000)
ROUNDS = 15
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


LAST_TURNS = f"LastTurns({KEPT})"
OURS = {
    "plain slice by offsets (floor)": plain_slice,
    LAST_TURNS: last_turns,
    "plain rescan": plain_rescan,
}


def report(quick: bool) -> Iterator[str | Table]:
    """The table, in microseconds and as ratios; quick: without the peers."""
    sizes, rounds = (SIZES[:2], 1) if quick else (SIZES, ROUNDS)
    python = PEERS if PEERS.exists() and not quick else sys.executable
    rows = [*ours(sizes, rounds), *peers(python, sizes, rounds)]
    known = {row["name"]: row["seconds"] for row in rows if row["seconds"]}
    yield f"One more turn of which the last {KEPT} are sent, microseconds at so many turns."
    yield Table(
        [
            "way",
            *(f"{turns:,}" for turns in sizes),
            f"{sizes[-1]:,} : {sizes[1]:,}",
            f"to {LAST_TURNS}",
        ],
        [
            (
                name,
                *(round(each * 1e6, 1) for each in seconds),
                round(seconds[-1] / seconds[1], 2),
                round(seconds[-1] / known[LAST_TURNS][-1], 1),
            )
            for name, seconds in known.items()
        ],
    )
    missing = [f"{row['name']}: not installed" for row in rows if not row["seconds"]]
    if missing:
        yield "\n".join(missing)


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
    return json.loads(subprocess.check_output(command, text=True))
