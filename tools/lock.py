"""Pin every package: write requirements.lock, grading.lock and constraints.txt.

Run it in the workbook's environment after pyproject.toml changed:

    python tools/lock.py                # keeps the pins that still fit
    python tools/lock.py --upgrade      # takes the newest of everything; further options go to uv

One resolution serves Linux, macOS and Windows, and every Python that pyproject.toml admits.
requirements.lock is what everybody installs, with the hash of every file of a release;
grading.lock is what nbgrader needs beyond it; constraints.txt is both, without hashes.
None holds the address of an index, and no setting of this machine flows into them.
At the end it asks whether each kind of laptop finds a ready-made wheel of every package.
The workflow `newest` upgrades once a month and tests what comes out; it keeps nothing.
It does *not* install anything: that is `python3 start.py`.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = (sys.executable, "-m", "uv", "pip")
FILES = ("requirements.lock", "grading.lock", "constraints.txt")
HEADER = """\
# {what}
# Made from pyproject.toml by `python tools/lock.py`, together with {twins}. Do not edit.
"""

# The newest releases of these have no wheels for two kinds of laptop that students still bring.
INTEL_MAC = "sys_platform == 'darwin' and platform_machine == 'x86_64'"
ARM_WINDOWS = "sys_platform == 'win32' and platform_machine == 'ARM64'"
NEITHER = (
    "(sys_platform != 'darwin' or platform_machine != 'x86_64')"
    " and (sys_platform != 'win32' or platform_machine != 'ARM64')"
)
OLDER_WHEELS = f"""\
argon2-cffi-bindings<26 ; {INTEL_MAC}
cryptography<49 ; {INTEL_MAC}
cryptography<=46.0.3 ; {ARM_WINDOWS}
cryptography>=49 ; {NEITHER}
"""

# Each kind of laptop, and the Pythons to ask about (ARM Windows: PyYAML has wheels from 3.13 on).
LAPTOPS = {
    "x86_64-unknown-linux-gnu": ("3.11", "3.14"),
    "aarch64-unknown-linux-gnu": ("3.11", "3.14"),
    "aarch64-apple-darwin": ("3.11", "3.14"),
    "x86_64-apple-darwin": ("3.11", "3.14"),
    "x86_64-pc-windows-msvc": ("3.11", "3.14"),
    "aarch64-pc-windows-msvc": ("3.13", "3.14"),
}


def clean(environment: dict[str, str]) -> dict[str, str]:
    """`environment` without this machine's settings of uv and pip.

    >>> clean({"PATH": "bin", "UV_FIND_LINKS": "wheels", "PIP_CONSTRAINT": "old.txt"})
    {'PATH': 'bin'}
    """
    return {key: value for key, value in environment.items() if key[:3] not in ("UV_", "PIP")}


def uv(*arguments: str | Path, **options: bool) -> subprocess.CompletedProcess[str]:
    """Run `uv pip` in the repository, deaf to the settings of this machine."""
    command = [*UV, *arguments, "--no-config", "--quiet"]
    return subprocess.run(
        command, cwd=ROOT, env=clean(dict(os.environ)), encoding="utf-8", **options
    )


def resolve(extras: tuple[str, ...], limits: str, known: str, options: list[str]) -> str:
    """The lock for some extras, within `limits`; keeps the pins of `known` that still fit.

    Raises CalledProcessError when uv finds no solution; it has said why.
    """
    with tempfile.TemporaryDirectory() as folder:
        limiting, lock = Path(folder, "limits.txt"), Path(folder, "lock.txt")
        limiting.write_text(limits, encoding="utf-8")
        lock.write_text(known, encoding="utf-8")
        uv(
            *("compile", "pyproject.toml", *extras, "--constraints", limiting),
            *("--universal", "--python-version", oldest(), "--generate-hashes"),
            *("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate"),
            *("--output-file", lock, *options),
            check=True,
        )
        return lock.read_text("utf-8")


def oldest() -> str:
    """The oldest Python that pyproject.toml admits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return re.search(r">=\s*(\d+\.\d+)", project["requires-python"])[1]


def blocks(lock: str) -> list[str]:
    r"""The packages of a lock, each with its hashes; headings are left out.

    >>> blocks("# made\nanyio==4.16.0 \\\n    --hash=sha256:1f\nidna==3.20\n")
    ['anyio==4.16.0 \\\n    --hash=sha256:1f\n', 'idna==3.20\n']
    """
    return re.findall(r"(?m)^[^#\s].*\n(?: .*\n)*", lock)


def without_hashes(lock: str) -> str:
    r"""The requirement lines of a lock: what constraints.txt holds.

    >>> without_hashes("# made by hand\nanyio==4.16.0 \\\n    --hash=sha256:1f\n")
    'anyio==4.16.0\n'
    """
    lines = [line for line in lock.splitlines() if line and line[0] not in "# "]
    return "".join(line.removesuffix("\\").rstrip() + "\n" for line in lines)


def write(name: str, what: str, body: str) -> None:
    """Write a file of pins under its two lines of heading, with LF on every system."""
    twins = " and ".join(twin for twin in FILES if twin != name)
    text = HEADER.format(what=what, twins=twins) + body
    (ROOT / name).write_text(text, encoding="utf-8", newline="\n")


def missing_wheels() -> list[str]:
    """One line for each laptop and Python on which some package would have to be compiled."""
    missing = []
    for laptop, pythons in LAPTOPS.items():
        for python in pythons:
            said = try_install(laptop, python)
            if said:
                missing.append(f"{laptop}, Python {python}: {said}")
    return missing


def try_install(laptop: str, python: str) -> str:
    """What uv says against installing both locks from wheels there; "" if nothing."""
    with tempfile.TemporaryDirectory() as folder:  # uv makes it even if it only tries
        tried = uv(
            *("install", "--dry-run", "--target", folder, "--only-binary", ":all:"),
            *("--require-hashes", "-r", FILES[0], "-r", FILES[1]),
            *("--python-platform", laptop, "--python-version", python),
            capture_output=True,
        )
    return tried.stderr.strip() if tried.returncode else ""


def main(options: list[str]) -> int:
    """Resolve, write the three files, check the wheels; returns 0 when every laptop is served."""
    known = "".join((ROOT / name).read_text("utf-8") for name in FILES[:2])
    try:
        every = resolve(("--all-extras",), OLDER_WHEELS, known, options)
        students = resolve(("--extra", "test"), without_hashes(every), every, [])
    except subprocess.CalledProcessError as error:
        return error.returncode
    everybodys = blocks(students)
    teachers = "".join(block for block in blocks(every) if block not in everybodys)
    write("requirements.lock", "Every package, with hashes.", "".join(everybodys))
    write("grading.lock", "What nbgrader needs beyond requirements.lock, with hashes.", teachers)
    write("constraints.txt", "Every package of both locks, without hashes.", without_hashes(every))
    missing = missing_wheels()
    print("\n".join(missing) or "Every kind of laptop finds a wheel of every package.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
