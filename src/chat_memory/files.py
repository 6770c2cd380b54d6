"""Write a file in one step, so that it is whole or as it was.

Run logs and chats that are saved may replace what somebody needs. So the text is first written
beside its place and then moved there; if anything goes wrong, the old file still stands.

A file is UTF-8 with real Hangul and ends in a new line, on every system.

This file does *not* word errors: an OSError goes to the caller, who knows what was to be saved.
"""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step; OSError if it can't be written, and the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(text + "\n", encoding="utf-8", newline="\n")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
