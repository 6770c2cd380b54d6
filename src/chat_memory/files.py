"""Write a file in one step, so that it is whole or as it was.

Run logs and chats that are saved may replace what somebody needs. So the text is first written
beside its place and then moved there; if anything goes wrong, the old file still stands.

A file is UTF-8 with real Hangul and ends in a new line, on every system. Two programs that write
the same file do so one after the other; one that is killed leaves the old file, and perhaps what
it wrote beside it, under a name that ends in `.part` and that nothing reads.

This file does *not* word errors: an OSError goes to the caller, who knows what was to be saved.
"""

import os
import secrets
import time
from pathlib import Path

WAITS = (0.05, 0.1, 0.2, 0.4)  # seconds; Windows lets nobody move a file while a scanner reads it


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step; OSError if it can't be written, and the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        beside.write_text(text + "\n", encoding="utf-8", newline="\n")
        _move(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _move(beside: Path, path: Path) -> None:
    """Move a file to its place, patiently; OSError if it stays refused."""
    for wait in WAITS:
        try:
            os.replace(beside, path)
            return
        except PermissionError:
            time.sleep(wait)
    os.replace(beside, path)
