"""The first set-up: from a copy of the checkout to an environment that works, by uv and by pip.

What `start.py` does first, and nothing after it. Each way begins with a new copy and an empty
cache; uv a second time with the cache that the first has filled, as a laptop that had the workbook
before. pip is what start.py falls back to where uv can't be had, and keeps no cache here.
This one downloads some hundreds of megabytes, so it runs only when it is named, or with `--all`.
At last it is tried without a network, to see what a reader is told.

This file does *not* measure the network: it is in the figures of every first time.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fresh import checkout, variables
from ratios import Ratio

from chat_memory.tables import Table

UV, WARM, PIP = "uv, empty cache", "uv, full cache", "pip, no cache"
READY = """import sys
sys.path.insert(0, "tools")
import environment
{0}
try:
    environment.ready()
except environment.Trouble as trouble:
    sys.exit(str(trouble))"""
WITHOUT_UV = "environment.find_uv = list"  # as where uv can't be had
CUT_OFF = {  # nobody answers at the port of discard, and no setting names another place
    "PIP_INDEX_URL": "http://127.0.0.1:9",
    "UV_DEFAULT_INDEX": "http://127.0.0.1:9",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "UV_NO_CONFIG": "1",
}


class NotMade(Exception):
    """The environment could not be made; its text is the sentence that a reader is told."""


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """One table, in seconds and megabytes, and what is said without a network.

    There is no quick way to download: `quick` changes nothing.
    """
    yield "From a new copy of the checkout to an environment that works."
    with tempfile.TemporaryDirectory(prefix="setup", ignore_cleanup_errors=True) as folder:
        cache = Path(folder, "cache")
        uv = {"UV_CACHE_DIR": str(cache), "PIP_NO_CACHE_DIR": "1"}
        try:
            taken = {UV: made(**uv), WARM: made(**uv), PIP: made(WITHOUT_UV, **uv)}
        except NotMade as error:
            yield f"Not measured: {error}"
            return
        kept = size(cache)
    rows = [(name, round(seconds, 1), mb) for name, (seconds, mb) in taken.items()]
    links = f"uv's cache holds {kept:,} MB; where links are possible, .venv shares them with it."
    yield Table(["way", "seconds", "MB in .venv"], rows, [links])
    for way in (UV, WARM):
        yield Ratio(f"first set-up by {way}", taken[way][0], "s", PIP, taken[PIP][0])
    yield without_network()


def made(more: str = "", **settings: str) -> tuple[float, int]:
    """Seconds that a first set-up takes, and the megabytes of its environment."""
    with tempfile.TemporaryDirectory(prefix="setup", ignore_cleanup_errors=True) as folder:
        copy = checkout(Path(folder))
        options = {"cwd": copy, "env": variables(folder, **settings), "encoding": "utf-8"}
        began = time.perf_counter()
        command = [sys.executable, "-c", READY.format(more)]
        done = subprocess.run(command, capture_output=True, **options)
        seconds = time.perf_counter() - began
        if done.returncode:
            raise NotMade(done.stderr.strip())
        return seconds, size(copy / ".venv")


def without_network() -> str:
    """What a first set-up says where nothing can be downloaded, and after how long."""
    began = time.perf_counter()
    try:
        made(**CUT_OFF)
    except NotMade as error:
        return f"Without a network, after {time.perf_counter() - began:.0f} s: {error}"
    return "Without a network the environment was made all the same: where from?"


def size(folder: Path) -> int:
    """The megabytes of all files in a folder; what is linked within it counts once."""
    files = [path.lstat() for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
    return round(sum({(f.st_dev, f.st_ino): f.st_size for f in files}.values()) / 1e6)
