"""The check of the evening before: `python3 start.py check` prints one line for the teacher.

The line says `ok` or `NOT READY`, what is wrong and what to do, and what the laptop is. It holds
no path, no name of a user or machine, and no key: it may go into a chat of the whole class.
Asked are the things that stop a class at nine o'clock: the Python, the disk, the packages, a
port, a kernel that answers (some firewalls forbid even the way to oneself), and a folder that may
be written. What may be a nuisance later, such as a synchronised folder, is noted and no failure.
It does *not* install or mend anything. Standard library only.
"""

import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from environment import PYTHON, ROOT, alive, stamp, surroundings, wanted

GB = 1e9
NEEDED = {False: 2.0, True: 0.3}  # GB, before and after the packages are installed
PORT, TRIED = 8888, 51  # JupyterLab takes the first of so many that is free
PATIENCE = 180  # seconds for the first kernel on a slow disk with a virus scanner
LONGEST = 120  # characters of the folder's path; Windows stops at 260, and packages need the rest
SYNCHRONISED = r"(?i)onedrive|dropbox|google ?drive|icloud|cloudstorage|mobile documents|nextcloud"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

# A kernel of the environment starts, and the offline stand-in answers in it.
ASK = """\
from importlib.metadata import version
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120)
code = "from chat_memory import ChatSession, connect\\n"
code += "assert ChatSession(connect(offline=True)).send('Hello.').text"
answer = client.execute(code, reply=True, timeout=60)["content"]["status"]
client.stop_channels()
manager.shutdown_kernel(now=True)
import jupyterlab.labapp
print(answer, version("jupyterlab"))
"""


@dataclass(frozen=True)
class Finding:
    """One thing that was asked: `text` says what is there, `problem` what is wrong, if it is."""

    text: str = ""
    problem: str = ""


def main() -> int:
    """Print the line; returns 0 if the laptop is ready and 1 if it is not."""
    found = list(findings())
    problems = [finding.problem for finding in found if finding.problem]
    facts = ", ".join(finding.text for finding in found if finding.text)
    verdict = f"NOT READY: {'; '.join(problems)}." if problems else "ok."
    print(f"chat memory check: {verdict} {facts}.")
    return 1 if problems else 0


def findings() -> Iterator[Finding]:
    """Everything that is asked, in the order of the line."""
    complete = stamp() == wanted() and alive()
    yield this_python()
    yield Finding(this_system())
    yield free_disk(complete)
    yield from packages(complete)
    yield free_port()
    yield writable()
    yield from (Finding(note) for note in notes(ROOT))


def this_python() -> Finding:
    """The version, which start.py has already admitted, and whether it is a 64-bit one."""
    text = f"Python {platform.python_version()}"
    if sys.maxsize < 2**32:
        return Finding(text, "this Python has 32 bits: install a 64-bit one from python.org")
    return Finding(text)


def this_system() -> str:
    """The system as wheels name it, with its release where that is not the machine's own name."""
    release = {"win32": platform.release(), "darwin": platform.mac_ver()[0]}.get(sys.platform, "")
    return f"{sysconfig.get_platform()} {release}".strip()


def free_disk(complete: bool) -> Finding:
    """Whether the packages still fit, or the reader's own work if they are there."""
    free, needed = shutil.disk_usage(ROOT).free / GB, NEEDED[complete]
    text = f"{free:.0f} GB free"
    return Finding(text, f"the disk is nearly full: free {needed} GB" if free < needed else "")


def packages(complete: bool) -> Iterator[Finding]:
    """Whether the environment is the lock's, and whether a kernel of it answers."""
    if not complete:
        yield Finding(
            problem="the packages are not installed: run `python3 start.py` once, with a network "
            "or with `--wheels`, then check again"
        )
        return
    yield Finding("packages complete")
    said = kernel()
    if said.startswith("ok"):
        yield Finding(f"JupyterLab {said.split()[1]} and its kernel answer")
    else:
        yield Finding(
            problem="JupyterLab's kernel does not answer: let the firewall and the virus scanner "
            "admit this Python, then check again"
        )


def kernel() -> str:
    """What a first kernel answers, "ok" and a version; "" if it does not."""
    own = surroundings(IPYTHONDIR=tempfile.mkdtemp(), CHAT_MEMORY_STATIC="1")
    quiet = {"cwd": ROOT, "env": own, "capture_output": True, "encoding": "utf-8"}
    try:
        asked = subprocess.run([PYTHON, "-c", ASK], timeout=PATIENCE, errors="replace", **quiet)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = asked.stdout.splitlines()
    return lines[-1] if lines and not asked.returncode else ""


def free_port() -> Finding:
    """The first port that JupyterLab would get."""
    for port in range(PORT, PORT + TRIED):
        with socket.socket() as place:
            try:
                place.bind(("127.0.0.1", port))
            except OSError:
                continue
            return Finding(f"port {port} free")
    name = "name another one, as in `python3 start.py --port 9000`"
    return Finding(problem=f"no port from {PORT} on is free: {name}")


def writable() -> Finding:
    """Whether the workbook's folder takes a file."""
    try:
        with tempfile.TemporaryFile(dir=ROOT):
            return Finding("folder writable")
    except OSError:
        return Finding(
            problem="the folder cannot be written: move the workbook to one of your own"
        )


def notes(folder: Path) -> Iterator[str]:
    """What may become a nuisance, without a name from the path; whether a key is set."""
    if re.search(SYNCHRONISED, str(folder)):
        yield "note: the folder is synchronised, so move it if files are in use"
    if not str(folder).isascii():
        yield "note: the folder's path has letters beyond English"
    if " " in str(folder):
        yield "note: the folder's path has spaces"
    if os.name == "nt" and len(str(folder)) > LONGEST:
        yield "note: the folder's path is long, so move it to C:\\chat"
    key = any(os.environ.get(name) for name in KEYS)
    yield "a key is set, so chapters answer live" if key else "no key, and none is needed"
