"""Set up and open the workbook. Needs Python 3.11 or newer, and nothing else.

    python3 start.py            opens the first chapter in JupyterLab (Windows: py start.py)
    python3 start.py test       runs every check that CI runs
    python3 start.py store      executes the chapters and stores their outputs
    python3 start.py chat       a chat in the terminal
    python3 start.py reset 05   renews your copy of a chapter and keeps the old one beside it

For a class:

    python3 start.py check              one line to send to the teacher the evening before
    python3 start.py wheels DIR         fills a folder with the packages for every laptop
    python3 start.py --wheels DIR ...   installs from that folder alone, with no network
    python3 start.py handout            the set for students, and each chapter as a page
    python3 start.py grade DIR          a folder for nbgrader; its own words may follow

Options after a word are passed on; any other first word that begins with `-` goes to JupyterLab,
with all the rest. `--help` shows this.

This file only asks for the right Python: even Python 2 can read as far as that sentence.
What the words do stands in tools/launch.py, how the environment is made in tools/environment.py.
"""
# ruff: noqa: UP031, UP036

import os
import sys

if sys.version_info < (3, 11):
    sys.exit(
        "Python 3.11 or newer is needed and this is %d.%d: install one from python.org/downloads, "
        "then name it, as in `python3.13 start.py` (Windows: `py -3.13 start.py`)."
        % sys.version_info[:2]
    )

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools"))

import launch

if __name__ == "__main__":
    if sys.argv[1:2] in (["--help"], ["-h"]):
        print(__doc__.rpartition("\n\n")[0])
        sys.exit()
    sys.exit(launch.main(sys.argv[1:]))
