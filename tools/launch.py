"""What the words after `start.py` do: lab, test, store, chat, reset, and those of a class.

`main(argv)` reads the word, makes sure of the environment, and runs one command in the workbook's
folder; Ctrl-C and a request to stop reach that command, and its exit code is ours.
`lab` first copies the chapters that are missing in `my/`, without their outputs: a stored output
would give a prediction away. What is in `my/` is the reader's own: it is never written over, and
`reset` puts the old copy beside the new one. Solutions and teaching notes are not copied.
A student's set (handout.py) has the chapters alone; a word that it lacks is told in a sentence.
`test` and `store` run without API keys and without the reader's own settings, so that they say
the same on every machine.
It does *not* know how the environment is made: that is environment.py. Standard library only.
"""

import json
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import check as evening
from environment import (
    INCOMPLETE,
    NOT_WRITABLE,
    ROOT,
    VENV,
    Trouble,
    ready,
    surroundings,
    use_wheels,
)

NOTEBOOKS = ROOT / "notebooks"
MY = ROOT / "my"
FIRST = "00_start.ipynb"

WORDS = (
    "`{0}` is no word of start.py: use lab, test, store, chat, reset 05, check, wheels DIR, "
    "handout, grade DIR, or nothing at all."
)
NO_FOLDER = "Name one folder, as in `python3 start.py {0}`."
NOT_HERE = "`{0}` needs the whole workbook: a student's set has the chapters alone."
CHAPTERS = "Name one chapter to renew, as in `reset 05`; there are {0}."
NOT_STARTED = (
    "JupyterLab stopped for the reason above; if its port is taken, name another one, as in "
    "`python3 start.py --port 9000`."
)
# Settings of ours that checks depend on; the reader's other ones would change what the cells say.
KEPT_BY_CHECKS = {"CHAT_MEMORY_TOKENIZER", "CHAT_MEMORY_RECORDINGS", "CHAT_MEMORY_REQUIRE_ALL"}


class Misused(Trouble):
    """A word or a chapter that does not exist."""


def main(argv: list[str]) -> int:
    """Do what the words say; returns the exit code: 2 for a wrong word, 1 for a trouble told."""
    try:
        word, rest = parse(without_wheels(argv))
        return word(rest)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 2 if isinstance(trouble, Misused) else 1
    except KeyboardInterrupt:
        print("Stopped; the next start takes it up again.", file=sys.stderr)
        return 130


def without_wheels(argv: list[str]) -> list[str]:
    """Take `--wheels DIR` off the front and let packages come from there."""
    option, equals, folder = (argv or [""])[0].partition("=")
    if option != "--wheels":
        return argv
    taken = argv[1:] if equals else argv[2:]
    folder = folder if equals else "".join(argv[1:2])
    if not folder:
        raise Misused(NO_FOLDER.format("--wheels DIR"))
    use_wheels(folder)
    return taken


def parse(argv: list[str]) -> tuple[Callable[[list[str]], int], list[str]]:
    """The function for the first word, and the words after it.

    >>> parse(["--port", "9000"]) == (lab, ["--port", "9000"])
    True
    """
    if not argv or argv[0].startswith("-"):
        return lab, argv
    words = (lab, test, store, chat, reset, check, wheels, handout, grade)
    for word in words:
        if argv[0] == word.__name__:
            return word, argv[1:]
    raise Misused(WORDS.format(argv[0]))


def lab(rest: list[str]) -> int:
    """Open JupyterLab on the first chapter, or on the file that `rest` names."""
    python = ready()
    copy_missing()
    code = run(lab_command(python, rest), surroundings(CHAT_MEMORY_SEED=seed()))
    if code == 1:  # a slow machine takes its time to fail
        raise Trouble(NOT_STARTED)
    return code


def lab_command(python: Path, rest: list[str]) -> list[str]:
    """The command for JupyterLab; the reader's options come last, so that they win."""
    command = [str(python), "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}"]
    command += [f"--LabApp.{name}={value}" for name, value in lab_settings().items()]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command + rest


def lab_settings() -> dict[str, str]:
    """JupyterLab's settings: it looks nothing up in a registry, and opens the first chapter."""
    first = {"default_url": f"/lab/tree/my/{FIRST}"} if (MY / FIRST).exists() else {}
    return {"extension_manager": "readonly", **first}


def seed() -> str:
    """What the reader's exercises draw their numbers from: neighbours in a class shall differ."""
    user = os.environ.get("USER") or os.environ.get("USERNAME") or "reader"
    return os.environ.get("CHAT_MEMORY_SEED") or f"{user}@{platform.node()}"


def test(rest: list[str]) -> int:
    """Run every check, or with `rest` what it tells pytest to run."""
    how = rest or ["-n", "2", "--dist", "loadfile"]  # a notebook's cells stay together, in order
    needs_all("test", ROOT / "tests")
    return run([str(ready()), "-m", "pytest", *how], checking())


def store(rest: list[str]) -> int:
    """Execute the chapters and store their outputs; `--check` only says what is not as stored."""
    return run([str(ready()), tool("store"), *rest], checking())


def chat(rest: list[str]) -> int:
    """Chat in the terminal: live with a key, offline without."""
    return run([str(ready()), "-m", "chat_memory", "chat", *rest], surroundings())


def check(rest: list[str]) -> int:
    """Print the line that a student sends to the teacher the evening before."""
    return evening.main()


def wheels(rest: list[str]) -> int:
    """Fill a folder with the packages of every laptop, for a class without a network."""
    folder = one_folder(rest, "wheels DIR")
    use_wheels(None)  # what the folder holds so far may be half of what is needed
    return run([str(ready()), tool("wheels"), folder], surroundings())


def handout(rest: list[str]) -> int:
    """Make the set for students, and each chapter as a page, in `handout` or the named folder."""
    folder = one_folder(rest or [str(ROOT / "handout")], "handout DIR")
    return run([str(ready()), tool("handout"), folder], checking())


def grade(rest: list[str]) -> int:
    """Fetch nbgrader; with a folder make a course there, or run nbgrader's own words in it."""
    folder = [one_folder(rest[:1], "grade DIR")] if rest else []
    return run([str(ready()), tool("grade"), *folder, *rest[1:]], checking())


def one_folder(rest: list[str], example: str) -> str:
    """The folder that a word was given, seen from where the reader stands."""
    if len(rest) != 1 or not rest[0] or rest[0].startswith("-"):
        raise Misused(NO_FOLDER.format(example))
    return str(Path(rest[0]).expanduser().resolve())


def tool(name: str) -> str:
    """The path of one of our tools; raises Trouble where a student's set has none."""
    path = ROOT / "tools" / f"{name}.py"
    needs_all(name, path)
    return str(path)


def needs_all(word: str, path: Path) -> None:
    """Raise Trouble if `path`, which `word` needs, is not there."""
    if not path.exists():
        raise Trouble(NOT_HERE.format(word))


def reset(rest: list[str]) -> int:
    """Renew the reader's copy of one chapter and keep the old copy beside it."""
    chapter = find_chapter(rest)
    copy = MY / chapter.name
    if copy.exists():
        kept = unused_name(copy)
        try:
            os.rename(copy, kept)
        except OSError as error:
            raise Trouble(NOT_WRITABLE.format(MY, error.strerror or error)) from None
        print(f"Your copy is kept as my/{kept.name}.")
    copy_chapter(chapter)
    print(f"my/{copy.name} is new; reload it if it is open.")
    return 0


def find_chapter(rest: list[str]) -> Path:
    """The chapter that `reset` is to renew, named by its number or by its file."""
    wanted = Path(rest[0]).name.removesuffix(".ipynb") if len(rest) == 1 else ""
    number = int(wanted) if wanted.isdecimal() else None
    for chapter in chapters():
        if wanted == chapter.stem or number == int(chapter.stem[:2]):
            return chapter
    raise Misused(CHAPTERS.format(", ".join(chapter.stem[:2] for chapter in chapters()) or "none"))


def unused_name(copy: Path) -> Path:
    """Where an old copy is kept: `05_trim_tools.mine.ipynb`, or the first free number after it."""
    kept = copy.with_suffix(".mine.ipynb")
    number = 2
    while kept.exists():
        kept = copy.with_suffix(f".mine-{number}.ipynb")
        number += 1
    return kept


def chapters() -> list[Path]:
    """The chapters in order; solutions and teaching notes are none."""
    return sorted(path for path in NOTEBOOKS.glob("*.ipynb") if re.match(r"\d\d_", path.name))


def copy_missing() -> None:
    """Copy to `my/` what is not there; what is there is the reader's and stays as it is."""
    for chapter in chapters():
        if not (MY / chapter.name).exists():
            copy_chapter(chapter)


def copy_chapter(chapter: Path) -> None:
    """Copy one chapter without outputs; it appears whole or not at all."""
    try:
        notebook = without_outputs(json.loads(chapter.read_text("utf-8")))
    except (OSError, ValueError, KeyError):
        raise Trouble(INCOMPLETE.format(chapter)) from None
    half = MY / f".{chapter.name}.{os.getpid()}.half"  # another start may do the same now
    try:
        MY.mkdir(exist_ok=True)
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        half.write_text(text, encoding="utf-8", newline="\n")
        os.replace(half, MY / chapter.name)
    except OSError as error:
        raise Trouble(NOT_WRITABLE.format(MY, error.strerror or error)) from None


def without_outputs(notebook: dict) -> dict:
    """The notebook as nobody has run it; changes and returns `notebook`.

    >>> cell = {"cell_type": "code", "outputs": [1226], "execution_count": 3, "source": "1 + 1"}
    >>> without_outputs({"cells": [cell]})["cells"][0]
    {'cell_type': 'code', 'outputs': [], 'execution_count': None, 'source': '1 + 1'}
    """
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return notebook


def checking() -> dict[str, str]:
    """The variables for checks: no key, no setting of the reader's, no start-up of IPython's."""
    mine = ("GEMINI_", "GOOGLE_", "CHAT_MEMORY_", "PYTHONHASHSEED")
    every = surroundings(CHAT_MEMORY_STATIC="1", IPYTHONDIR=str(VENV / "ipython"))
    kept = {*KEPT_BY_CHECKS, "CHAT_MEMORY_STATIC"}
    return {
        key: value
        for key, value in every.items()
        if key in kept or not (key.startswith(mine) or key.endswith("_API_KEY"))
    }


def run(command: list[str], environment: dict[str, str]) -> int:
    """Run a command to its end in the workbook's folder; returns its exit code."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        try:
            code = process.wait()
            return code if code >= 0 else 128 - code
        except KeyboardInterrupt:
            continue  # the command hears Ctrl-C as well: JupyterLab asks first, pytest sums up
