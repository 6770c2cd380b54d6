"""Where the project keeps its files: `data/` and `runs/`, beside `src/`.

The project runs from its checkout, so they are found from this file on, wherever a notebook or a
terminal stands. `data/` comes with the project; `runs/` (`runs.py`) is the reader's, and git
ignores it.

This file does *not* read, write or make anything.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
