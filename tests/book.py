"""A workbook that borrows this environment: `start.py` finds everything ready in it.

It is a copy of the checkout, so that nothing is installed and no chapter is copied into the
reader's own folder. What is not here: a JupyterLab; test_lab.py and pages.py start one in it.
"""

import os
import shutil
import sys
from pathlib import Path

import environment
import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("environment.py", "launch.py", "check.py")

needs_start = [
    pytest.mark.skipif(os.name == "nt", reason="On Windows a link to .venv needs extra rights."),
    pytest.mark.skipif(
        environment.stamp() != environment.wanted() or Path(sys.prefix) != environment.VENV,
        reason="This is not the environment that start.py makes.",
    ),
]


def copied(folder: Path) -> Path:
    """Put a workbook without chapters into a folder."""
    for name in ("src", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("tools", "notebooks"):
        (folder / name).mkdir()
    for name in ("start.py", "requirements.lock"):
        shutil.copy(ROOT / name, folder / name)
    for name in TOOLS:
        shutil.copy(ROOT / "tools" / name, folder / "tools" / name)
    return folder
