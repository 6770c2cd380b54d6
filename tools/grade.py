"""Grade with nbgrader: `python3 start.py grade DIR` makes a course, `grade DIR WORDS` works in it.

A course is a folder as nbgrader wants it: one assignment for each chapter with exercises, whose
source is the chapter with the code of solutions.ipynb in it, and whose release is the chapter.
Students hand in their own copy, `my/05_trim_tools.ipynb`, or the release: both are graded alike.

    python3 start.py grade course                   # without a folder it only fetches nbgrader
        put what NAME hands in at course/submitted/NAME/05_trim_tools/05_trim_tools.ipynb
    python3 start.py grade course autograde 05_trim_tools
    python3 start.py grade course export            # course/grades.csv

nbgrader gives full marks to a check that stops with no error; so `compare` raises while it runs.
It stands apart from what students install, in .venv/grading; its versions are in grading.lock.
It runs what students wrote on this machine: so no key is in reach, but files are.
It does *not* give marks of its own, and changes nothing outside the course.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from environment import PYTHON, ROOT, VENV, Trouble, install
from launch import NOTEBOOKS, chapters, checking, without_outputs

GRADING = VENV / "grading"
STAMP = GRADING / "workbook-stamp"
LOCK = ROOT / "grading.lock"
SETTINGS = "nbgrader_config.py"
CONFIG = '''\
"""nbgrader's settings for the chat memory workbook, made by `start.py grade`."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "chat-memory"
c.ClearSolutions.code_stub = {"python": ""}  # the stub stands above the solution already
c.Execute.timeout = 300  # seconds a cell may take; some play whole conversations
c.Execute.extra_arguments = ["--log-level=ERROR"]
c.OverwriteCells.add_missing_cells = True  # a check that somebody deleted comes back
'''
MADE = """\
{folder} is ready: {count} assignments, which are the chapters with exercises.
Put what NAME hands in at {folder}/submitted/NAME/{first}/{first}.ipynb, then run
`python3 start.py grade {folder} autograde {first}`, and `export` in place of the last two words
for a table of all marks."""
FETCHED = "nbgrader is ready: `python3 start.py grade DIR` makes a course in a new folder."
NO_COURSE = "{0} is no course: make one with `python3 start.py grade {0}`, then repeat."
IS_COURSE = "{0} is a course already: say what to do in it, as in `grade {0} autograde {1}`."
OTHER_THINGS = "{0} holds other things: name a folder that does not exist yet."
UNSOLVED = "solutions.ipynb has no cell sol-{0}: add the solution of {1}."


def main(argv: list[str]) -> int:
    """Fetch nbgrader, then make a course or run nbgrader in it; returns the exit code."""
    try:
        if not argv:
            get_nbgrader()
            print(FETCHED)
            return 0
        folder, words = Path(argv[0]), argv[1:]
        check_folder(folder, words)
        get_nbgrader()
        return nbgrader(folder, words).returncode if words else make(folder)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1


def check_folder(folder: Path, words: list[str]) -> None:
    """Raise Trouble unless the folder is a course, or is free for one."""
    is_course = (folder / SETTINGS).exists()
    if words and not is_course:
        raise Trouble(NO_COURSE.format(folder.name))
    if not words and is_course:
        raise Trouble(IS_COURSE.format(folder.name, assignments()[0].stem))
    if not is_course and folder.exists() and any(folder.iterdir()):
        raise Trouble(OTHER_THINGS.format(folder.name))


def get_nbgrader() -> None:
    """Install nbgrader beside the environment's packages, unless this lock's is there."""
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text("utf-8") == lock:
        return
    print("Fetching nbgrader into .venv/grading, once.", flush=True)
    shutil.rmtree(GRADING, ignore_errors=True)
    install(LOCK, "--no-deps", "--target", GRADING)
    STAMP.write_text(lock, encoding="utf-8")


def make(folder: Path) -> int:
    """Write the sources and let nbgrader make the releases."""
    sources = {chapter.stem: solved(chapter) for chapter in assignments()}
    names = list(sources)
    for name, notebook in sources.items():
        source = folder / "source" / name / f"{name}.ipynb"
        source.parent.mkdir(parents=True)
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        source.write_text(text, encoding="utf-8", newline="\n")
    (folder / SETTINGS).write_text(CONFIG, encoding="utf-8", newline="\n")
    for number, name in enumerate(names, 1):
        print(f"{number:2}/{len(names)}  {name}", flush=True)
        made = nbgrader(folder, ["generate_assignment", name], capture_output=True)
        if made.returncode:
            print(made.stderr, file=sys.stderr)
            return made.returncode
    print(MADE.format(folder=folder.name, count=len(names), first=names[0]))
    return 0


def nbgrader(folder: Path, words: list[str], **options: bool) -> subprocess.CompletedProcess[str]:
    """Run nbgrader in a course; its kernel is the environment's own."""
    own = checking()
    programs = (GRADING / "bin", GRADING / "Scripts")  # nbgrader looks for alembic on the PATH
    own["PATH"] = os.pathsep.join([*map(str, programs), own.get("PATH", "")])
    own |= {"PYTHONPATH": str(GRADING), "PYTHONWARNINGS": "ignore"}
    command = [PYTHON, "-m", "nbgrader", *words]
    return subprocess.run(command, cwd=folder, env=own, encoding="utf-8", **options)


def assignments() -> list[Path]:
    """The chapters that have exercises."""
    return [path for path in chapters() if any(map(is_stub, load(path)["cells"]))]


def solved(chapter: Path) -> dict:
    """A chapter without outputs, whose stubs are followed by their solutions, marked as such.

    Raises Trouble if a stub has no solution.
    """
    known = {cell["id"]: "".join(cell["source"]) for cell in load(solutions())["cells"]}
    notebook = without_outputs(load(chapter))
    for cell in filter(is_stub, notebook["cells"]):
        if f"sol-{cell['id']}" not in known:
            raise Trouble(UNSOLVED.format(cell["id"], chapter.name))
        solution = known[f"sol-{cell['id']}"]
        stub = "".join(cell["source"])
        cell["source"] = f"{stub}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
    return notebook


def solutions() -> Path:
    """The notebook that holds every solution."""
    return NOTEBOOKS / "solutions.ipynb"


def load(path: Path) -> dict:
    """A notebook as JSON."""
    return json.loads(path.read_text("utf-8"))


def is_stub(cell: dict) -> bool:
    """Whether students write their answer into this cell."""
    return cell["metadata"].get("nbgrader", {}).get("solution", False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
