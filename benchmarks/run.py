"""Run the benchmarks, print their tables, and at the end all ratios.

    python benchmarks/run.py                     # all but setup, which downloads
    python benchmarks/run.py strategies slider   # these
    python benchmarks/run.py --store             # all and setup, kept in README.md with a picture

Times are printed, with the aim where there is one, and compared as ratios. They are never
asserted: a busy machine is no fault. `--quick` makes one round of the smallest sizes, only to
see that everything runs.

This file does *not* measure anything: each benchmark has a file of its own.
"""

import argparse
import importlib
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parent
sys.path[1:1] = [str(FOLDER.parent / name) for name in ("src", "tools")]

import storing  # noqa: E402 (after the line above, on purpose)
from ratios import Ratio, table  # noqa: E402

BENCHMARKS = {  # name: its file
    "strategies": "strategies",
    "session": "session",
    "play": "playing",
    "slider": "slider",
    "browser": "in_browser",
    "history": "history",
    "start": "starting",
    "memory": "memory",
    "setup": "setting_up",
}
DOWNLOADS = "setup"
README = FOLDER / "README.md"


def main() -> None:
    """Print what each benchmark reports, then the ratios; keep them if asked."""
    words = options()
    asked = words.parse_args()
    names = chosen(words, asked)
    modules = [importlib.import_module(BENCHMARKS[name]) for name in names]
    # A reader has no vocabulary. The one benchmark that looks what it costs has read this by now.
    os.environ.pop("CHAT_MEMORY_TOKENIZER", None)
    said, ratios = [], []
    for part in parts(modules, asked.quick):
        if isinstance(part, Ratio):
            ratios.append(part)
        else:
            said.append(str(part))
            print(f"{part}\n", flush=True)
    print(f"## ratios\n\n{table(ratios)}")
    if asked.store:
        storing.store(README, said, ratios)


def parts(modules: Sequence[ModuleType], quick: bool) -> Iterator[object]:
    """Everything a run says: where it was made, and each benchmark's name and report."""
    names = {file: name for name, file in BENCHMARKS.items()}
    yield machine()
    for module in modules:
        yield f"## {names[module.__name__]}"
        yield from module.report(quick)


def chosen(words: argparse.ArgumentParser, asked: argparse.Namespace) -> list[str]:
    """The names of what is to be run."""
    if unknown := set(asked.names) - set(BENCHMARKS):
        words.error(f"there is no {', '.join(sorted(unknown))}: name {', '.join(BENCHMARKS)}")
    if asked.store and (asked.names or asked.quick):
        words.error("--store keeps a whole run: leave out names and --quick")
    if asked.store and not storing.can_draw():
        words.error("--store draws a picture: install chromium, or set BROWSER_PATH to one")
    every = [name for name in BENCHMARKS if name != DOWNLOADS or asked.all or asked.store]
    return asked.names or every


def options() -> argparse.ArgumentParser:
    """The command line."""
    words = argparse.ArgumentParser(description="Run the benchmarks and print their tables.")
    words.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    words.add_argument("--all", action="store_true", help=f"{DOWNLOADS} too, which downloads")
    words.add_argument("--quick", action="store_true", help="one round of the smallest sizes")
    words.add_argument("--store", action="store_true", help="all, kept in README.md")
    return words


def machine() -> str:
    """Where this run was made, and how busy it was there: the load of the last minute."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"Python {platform.python_version()}, {where}, {date.today()}{load}"


if __name__ == "__main__":
    main()
