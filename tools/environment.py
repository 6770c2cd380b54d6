"""Make `.venv`, the workbook's own environment, and mend it when it is broken.

`ready()` is the one entrance: it returns the environment's Python. A second call takes a blink,
because a stamp inside `.venv` says which lock and settings it has. The stamp is taken off first
and put on last, so an interrupted setup is made anew; so is one whose Python has gone.
Packages come from requirements.lock, hash by hash: by uv when it can be had, by pip otherwise, and
without any network from a folder of wheels: the one that `--wheels` named, or `wheels` if there.
Whatever goes wrong ends in `Trouble` with one sentence: what is wrong, and what to do.
It does *not* touch the system's Python and does not install Python. Standard library only.
"""

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import deque
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
WHEELS: Path | None = ROOT / "wheels"  # counts only if it is there
STAMP = VENV / "workbook-stamp"
OURS = VENV / "made-by-start.py"
LOG = VENV / "setup.log"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

# Does the environment answer, with a Python that is new enough, its packages and our two?
ALIVE = """\
import importlib.util, sys
found = map(importlib.util.find_spec, ("chat_memory", "offline_gemini", "jupyterlab", "google"))
sys.exit(sys.version_info < (3, 11) or not all(found))
"""

# Every kernel of the environment runs this before its first cell. It loads nothing: the package
# takes its time, and is imported when there is an error to explain.
STARTUP = """\
def _tell(shell, kind, error, trace, tb_offset=None):
    try:
        from chat_memory.order import tell
    except Exception:
        return shell.showtraceback((kind, error, trace), running_compiled_code=True)
    tell(shell, kind, error, trace)

get_ipython().set_custom_exc((NameError,), _tell)
del _tell
"""

NO_VENV = (
    "This Python lacks the module that makes environments: on Debian or Ubuntu run "
    "`sudo apt install python{0}.{1}-venv`, on macOS or Windows install Python from "
    "python.org/downloads; then repeat."
)
VENV_FAILED = "Python cannot make .venv ({0}): install one from python.org/downloads, then repeat."
NOT_WRITABLE = "Cannot write {0} ({1}): move the workbook to a folder of your own, then repeat."
IN_USE = "Cannot replace {0} ({1}): close JupyterLab and every terminal that uses it, then repeat."
NOT_AN_ENVIRONMENT = "{0} is no Python environment: rename or remove it, then repeat."
INCOMPLETE = "{0} cannot be read: get the whole workbook again, then repeat."

# A pattern in what uv and pip say, and what the reader can do about it; the first that fits wins.
CAUSES = {
    r"do not match the hashes|hash mismatch": (
        "A downloaded package is not the one that requirements.lock names: repeat; if it happens "
        "again, use another network, for something on the way changes downloads."
    ),
    r"certificate|unknownissuer|sslerror": (
        "The network replaces certificates: ask its administrator for the certificate file, set "
        "SSL_CERT_FILE and PIP_CERT to its path, then repeat."
    ),
    r"proxy|tunnel": "The proxy refused: set HTTPS_PROXY to your proxy's address, then repeat.",
    r"no space left": "The disk is full: free 1 GB, then repeat.",
    r"long path": (
        "The folder's path is too long for Windows: move the workbook to C:\\chat, then repeat."
    ),
    r"permission denied|access is denied|used by another process|read-only file system": (
        "A file could not be written: close every program that uses .venv, or move the workbook "
        "to a folder of your own; then repeat."
    ),
    r"name resolution|getaddrinfo|dns error|unreachable|timed out|connect|to fetch|incomplete": (
        "The packages could not be downloaded: connect to the internet (behind a proxy set "
        "HTTPS_PROXY), or put the wheels into a folder `wheels` here; then repeat."
    ),
    r"no matching distribution|not found in|no usable wheels|no solution found": (
        "A package is missing where this machine looks for packages: use a Python from 3.11 to "
        "3.14, or another network; then repeat."
    ),
}
BROKEN_WHEEL = "The folder {folder} has a broken wheel of {package}"
# The same for a folder of wheels, where pip names the package that it misses or finds broken.
WHEEL_CAUSES = {
    r"No matching distribution found for ([\w.-]+==[\w.]+)": (
        "The folder {folder} has no wheel of {package} for Python {python} on {system}"
    ),
    r"(?m)^ +([\w.-]+==[\w.]+) .*from file:": BROKEN_WHEEL,
    r"Wheel '([\w.-]+)' located at .* is invalid": BROKEN_WHEEL,
}
FILL_WHEELS = (
    "{0}: where there is a network run `python3 start.py wheels` with this folder; then repeat."
)
NO_WHEELS = "There are no wheels in {0}: fill it with `python3 start.py wheels {0}`, then repeat."
UNKNOWN = "The packages could not be installed: see .venv/setup.log for the reason, then repeat."


class Trouble(Exception):
    """Something the reader can mend; its text is the one sentence that says how."""


def ready() -> Path:
    """The environment's Python, after making or mending the environment where that is needed.

    Raises Trouble with one sentence when it cannot be done.
    """
    lock = wanted()
    found = stamp()
    usable = bool(found) and alive()
    if usable and found == lock:
        return PYTHON
    try:
        fill(lock, usable)
    except OSError as error:
        path, reason = error.filename or ROOT, error.strerror or error
        raise Trouble(NOT_WRITABLE.format(path, reason)) from None
    return PYTHON


def wanted() -> str:
    """What the stamp of a finished environment says: the hash of the lock and of our settings."""
    try:
        return hashlib.sha256(LOCK.read_bytes() + STARTUP.encode()).hexdigest()
    except OSError:
        raise Trouble(INCOMPLETE.format(LOCK)) from None


def stamp() -> str | None:
    """What the stamp says; None for an environment that was never finished."""
    try:
        return STAMP.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def alive() -> bool:
    """Whether the environment's Python answers and finds its packages."""
    try:
        question = [PYTHON, "-c", ALIVE]
        asked = subprocess.run(question, cwd=ROOT, env=surroundings(), capture_output=True)
    except OSError:
        return False
    return asked.returncode == 0


def fill(lock: str, usable: bool) -> None:
    """Install the packages: into the environment that is there if it is usable, else a new one."""
    began = time.monotonic()
    if usable:
        print("The workbook has changed: .venv is brought up to date.", flush=True)
        STAMP.unlink()
    else:
        remove()
        print("Making the environment .venv; this takes a minute or two, once.", flush=True)
        make()
    installer = install()
    configure()
    STAMP.write_text(lock, encoding="utf-8")
    print(f"Ready after {time.monotonic() - began:.0f} s, by {installer}.", flush=True)


def remove() -> None:
    """Remove an unfinished or broken environment, and nothing that is not an environment."""
    if not os.path.lexists(VENV):
        return
    if not (OURS.exists() or (VENV / "pyvenv.cfg").exists() or is_empty(VENV)):
        raise Trouble(NOT_AN_ENVIRONMENT.format(VENV))
    print("The environment .venv is unfinished, broken or not ours.", flush=True)
    try:
        shutil.rmtree(VENV)
    except OSError as error:
        raise Trouble(IN_USE.format(VENV, error.strerror or error)) from None


def is_empty(folder: Path) -> bool:
    """Whether `folder` is a folder with nothing in it."""
    return folder.is_dir() and not any(folder.iterdir())


def make() -> None:
    """Make an environment with pip in it; without Python's own means, by uv if it is there."""
    VENV.mkdir()
    OURS.touch()  # before all else: half an environment must be known as ours, to be removed
    if all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        import venv  # only here: Debian's Python comes without

        try:
            venv.create(VENV, with_pip=True, symlinks=os.name != "nt")
        except subprocess.CalledProcessError as error:
            raise Trouble(VENV_FAILED.format(error)) from None
        return
    uv = shutil.which("uv")
    said = uv and attempt(uv, "venv", "--allow-existing", "--python", sys.executable, VENV)
    if not uv or said:
        raise Trouble(NO_VENV.format(*sys.version_info))


def use_wheels(folder: str | None) -> None:
    """Let all packages come from `folder`, or from the network if it is None.

    Raises Trouble if there is no wheel in the folder.
    """
    global WHEELS
    WHEELS = Path(folder).expanduser().resolve() if folder is not None else None
    if WHEELS and not any(WHEELS.glob("*.whl")):
        raise Trouble(NO_WHEELS.format(folder))


def has_wheels() -> bool:
    """Whether packages come from a folder and not from the network."""
    return WHEELS is not None and WHEELS.is_dir()


def install(lock: Path = LOCK, *where: str | Path) -> str:
    """Install a lock; returns the name of what did it, or raises Trouble with its cause."""
    packages = [*source(), *where, "--require-hashes", "-r", lock]
    said = ""
    if uv := find_uv():
        said = attempt(*uv, "pip", "install", "--python", PYTHON, *packages)
        if not said:
            return "uv"
    also = attempt(*pip(), *packages)
    if not also:
        return "pip"
    LOG.write_text(said + also, encoding="utf-8")
    raise Trouble(wheel_cause(also) or cause(said + also))


def source() -> list[str | Path]:
    """The options that say where packages come from: the folder of wheels alone if it is there."""
    return ["--no-index", "--find-links", WHEELS] if has_wheels() else []


def pip() -> list[str | Path]:
    """The environment's own pip, asking nothing and saying nothing about itself."""
    return [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]


def find_uv() -> list[str | Path]:
    """uv as a command: the one on the PATH, else the lock's; empty if neither can be had."""
    if path := shutil.which("uv"):
        return [path]
    pinned = re.search(r"(?m)^uv==.*\\\n(?: .*\n)*", LOCK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        only_uv = Path(folder, "uv.txt")
        only_uv.write_text(pinned[0] if pinned else "uv\n", encoding="utf-8")
        once = [*source(), "--retries", "1", "--no-deps", "--require-hashes", "-r", only_uv]
        return [] if attempt(*pip(), *once) else [PYTHON, "-m", "uv"]


def attempt(*command: str | Path) -> str:
    """Run a command and show that it lives; returns "" if it succeeds, else all that it said."""
    lines: deque[str] = deque(maxlen=500)
    try:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=ROOT,
            env=installing(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        return f"{error}\n"
    with process:
        for count, line in enumerate(process.stdout):
            lines.append(line)
            if sys.stdout.isatty():
                print("|/-\\"[count % 4], end="\r", flush=True)
    return ("".join(lines) or "It failed.") if process.returncode else ""


def cause(said: str) -> str:
    """The sentence for what uv or pip said.

    >>> cause("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.")[:35]
    'A downloaded package is not the one'
    """
    fits = (text for pattern, text in CAUSES.items() if re.search(pattern, said, re.IGNORECASE))
    return next(fits, UNKNOWN)


def wheel_cause(said: str) -> str:
    """What pip misses or finds broken in the folder of wheels; "" if neither, or no folder."""
    for pattern, text in WHEEL_CAUSES.items() if has_wheels() else ():
        if found := re.search(pattern, said):
            words = {"folder": WHEELS.name, "package": found[1]}
            python, system = platform.python_version(), sysconfig.get_platform()
            return FILL_WHEELS.format(text.format(**words, python=python, system=system))
    return ""


def configure() -> None:
    """Let the environment find our modules from any folder, and settle it."""
    where = "import json, sysconfig; print(json.dumps(sysconfig.get_path('purelib')))"  # ASCII
    packages = Path(json.loads(subprocess.check_output([PYTHON, "-c", where])))
    # Relative, so that it is plain ASCII in a folder with Korean letters and survives a move.
    path = os.path.relpath(ROOT / "src", packages)
    (packages / "workbook.pth").write_text(path + "\n", encoding="utf-8")
    settle(VENV)


def settle(prefix: Path) -> None:
    """Let the JupyterLab of the environment at `prefix` ask no questions.

    A kernel that misses a name says which cell to run first, even if nothing was run yet.
    """
    settings = prefix / "etc" / "jupyter" / "labconfig"
    settings.mkdir(parents=True, exist_ok=True)
    quiet = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (settings / "page_config.json").write_text(json.dumps(quiet), encoding="utf-8")
    startup = prefix / "etc" / "ipython" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "00-order-of-cells.py").write_text(STARTUP, encoding="utf-8")


def installing() -> dict[str, str]:
    """The variables for uv and pip; with a folder of wheels no setting adds another place."""
    if not has_wheels():
        return surroundings(PIP_USER="0")
    every = surroundings(PIP_USER="0", PIP_CONFIG_FILE=os.devnull, UV_NO_CONFIG="1")
    elsewhere = re.compile("(PIP|UV)_.*(INDEX|FIND_LINKS|CONSTRAINT)")
    return {name: value for name, value in every.items() if not elsewhere.match(name)}


def surroundings(**more: str) -> dict[str, str]:
    """The variables that a child gets: UTF-8, and no other Python's paths and kernels."""
    other = ("PYTHONHOME", "PYTHONPATH", "PYTHONIOENCODING")
    kept = {name: value for name, value in os.environ.items() if name not in other}
    return {**kept, "PYTHONUTF8": "1", "JUPYTER_PREFER_ENV_PATH": "1", **more}
