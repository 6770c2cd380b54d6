"""Fill a folder with every wheel that a class needs: `python3 start.py wheels DIR`.

Thirty laptops that download at nine o'clock are one too many for most rooms. So a teacher fills a
folder the evening before, and each laptop installs from it with `start.py --wheels DIR`.
The folder serves every laptop and Python of tools/lock.py's table, and holds a wheel once that
serves several. pip downloads and checks each file against the hashes of requirements.lock. pip
judges markers by the machine it runs on, so they are judged here, for each laptop in turn.
What is there and right is not fetched again: an interrupted run is taken up by the next. A file
that is not what the lock names is fetched anew, and one that cannot be had is named.
It does *not* install anything, and leaves alone what other locks have left in the folder.
"""

import hashlib
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from environment import LOCK, PYTHON, UNKNOWN, Trouble, attempt, cause, use_wheels
from lock import LAPTOPS, blocks
from packaging import tags
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

AT_ONCE = 10  # wheels a call of pip fetches: what an interruption may lose
PATCHES = (
    0,
    99,
)  # the first release of a Python and its last: some markers tell 3.11.4 from 3.11.5
NEWEST_GLIBC = 28  # 2.28: Debian 10, Ubuntu 20.04, RHEL 8 and newer; uv assumes the same
OLDEST_MACOS = (13, 0)  # uv assumes the same

SYSTEMS = {  # in a laptop's name: how we and the variables of markers name the system
    "linux": ("Linux", {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}),
    "apple": (
        "macOS",
        {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    ),
    "windows": (
        "Windows",
        {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
    ),
}
MACHINES = {  # what each system calls the two kinds of processor
    ("linux", "x86_64"): "x86_64",
    ("linux", "aarch64"): "aarch64",
    ("apple", "x86_64"): "x86_64",
    ("apple", "aarch64"): "arm64",
    ("windows", "x86_64"): "AMD64",
    ("windows", "aarch64"): "ARM64",
}
NO_FOLDER = "Cannot write {0} ({1}): name another folder, then repeat."
OTHER_FILE = "The index gave another file than requirements.lock names: use another network."
DONE = (
    "{folder} is complete: {count} wheels, {size:,.0f} MB, checked by the hashes of "
    "requirements.lock, for {pythons} on Linux, macOS and Windows.\n"
    "Copy it to each laptop, or to a stick, and start there with "
    "`python3 start.py --wheels {folder}`; a folder `wheels` beside start.py is found by itself."
)


@dataclass(frozen=True)
class Pin:
    """One package of the lock: its requirement and the sha256 sums of its files."""

    requirement: Requirement
    hashes: frozenset[str]

    @property
    def key(self) -> tuple[str, str]:
        """Name and version as a wheel's file name has them."""
        version = next(iter(self.requirement.specifier)).version
        return canonicalize_name(self.requirement.name), version

    def __str__(self) -> str:
        return "==".join(self.key)


@dataclass(frozen=True)
class Target:
    """A kind of laptop with a Python, such as x86_64-unknown-linux-gnu and 3.12."""

    laptop: str
    python: str

    def __str__(self) -> str:
        return f"Python {self.python} on {SYSTEMS[self.system][0]} {self.machine}"

    @property
    def system(self) -> str:
        """The key of SYSTEMS."""
        return next(system for system in SYSTEMS if system in self.laptop)

    @property
    def machine(self) -> str:
        """What the laptop itself calls its processor."""
        return MACHINES[self.system, self.laptop.partition("-")[0]]

    @property
    def platforms(self) -> list[str]:
        """The platform tags that fit, the best first."""
        if self.system == "windows":
            return [f"win_{self.machine.lower()}"]
        if self.system == "apple":
            return list(tags.mac_platforms(OLDEST_MACOS, self.machine))
        numbered = [f"manylinux_2_{minor}" for minor in range(NEWEST_GLIBC, 4, -1)]
        names = [*numbered, "manylinux2014", "manylinux2010", "manylinux1", "linux"]
        return [f"{name}_{self.machine}" for name in names]

    @cached_property
    def tags(self) -> frozenset[tags.Tag]:
        """The tags of wheels that this laptop can install."""
        version = tuple(map(int, self.python.split(".")))
        interpreter = "cp" + self.python.replace(".", "")
        own = tags.cpython_tags(version, [interpreter], self.platforms)
        return frozenset([*own, *tags.compatible_tags(version, interpreter, self.platforms)])

    def wants(self, pin: Pin) -> bool:
        """Whether the first or the last release of this Python installs the package."""
        marker = pin.requirement.marker
        known = {
            **default_environment(),
            **SYSTEMS[self.system][1],
            "platform_machine": self.machine,
            "python_version": self.python,
        }
        patches = (f"{self.python}.{patch}" for patch in PATCHES)
        return not marker or any(
            marker.evaluate({**known, "python_full_version": full}) for full in patches
        )


class Folder:
    """The wheels that are there, and for which package and laptop each will do."""

    def __init__(self, path: Path, pins: list[Pin]) -> None:
        self.path = path
        self.pins = {pin.key: pin for pin in pins}
        self.wheels: dict[Path, tuple[tuple[str, str], frozenset[tags.Tag]]] = {}
        self.look()

    def look(self) -> None:
        """Take in new wheels; remove those that claim to be of the lock and are not."""
        for path in sorted(set(self.path.glob("*.whl")) - self.wheels.keys()):
            try:
                name, version, _, fits = parse_wheel_filename(path.name)
            except InvalidWheelFilename:
                continue
            if pin := self.pins.get((name, str(version))):
                if sha256(path) in pin.hashes:
                    self.wheels[path] = pin.key, fits
                else:
                    print(f"{path.name} is broken and is fetched again.", flush=True)
                    path.unlink()

    def serves(self, target: Target, pin: Pin) -> bool:
        """Whether a wheel of the package is there that the laptop can install."""
        return any(key == pin.key and fits & target.tags for key, fits in self.wheels.values())

    def size(self) -> int:
        """The bytes of all wheels of this lock."""
        return sum(path.stat().st_size for path in self.wheels)


def sha256(path: Path) -> str:
    """The sum by which the lock knows a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(lock: str) -> list[Pin]:
    r"""The packages of a lock.

    >>> lock = "idna==3.20 ; os_name == 'nt' \\\n --hash=sha256:1f \\\n --hash=sha256:2e\n"
    >>> [(str(pin), sorted(pin.hashes)) for pin in read(lock)]
    [('idna==3.20', ['1f', '2e'])]
    """
    found = []
    for block in blocks(lock):
        hashes = frozenset(re.findall(r"--hash=sha256:(\w+)", block))
        found.append(Pin(Requirement(block.splitlines()[0].rstrip(" \\")), hashes))
    return found


def targets() -> Iterator[Target]:
    """Every kind of laptop with every Python between its oldest and its newest."""
    for laptop, (oldest, newest) in LAPTOPS.items():
        for minor in range(int(oldest.split(".")[1]), int(newest.split(".")[1]) + 1):
            yield Target(laptop, f"3.{minor}")


def fill(folder: Folder, serving: list[Target]) -> None:
    """Fetch what is missing for each target; raises Trouble that names the first failure."""
    for number, target in enumerate(serving, 1):
        wanted = [pin for pin in folder.pins.values() if target.wants(pin)]
        missing = [pin for pin in wanted if not folder.serves(target, pin)]
        step = f"{number:2}/{len(serving)}  {target}: {len(wanted)} packages"
        print(f"{step}, {len(missing)} to fetch" if missing else f"{step}, all there", flush=True)
        for start in range(0, len(missing), AT_ONCE):
            fetch(folder, target, missing[start : start + AT_ONCE])


def fetch(folder: Folder, target: Target, pins: list[Pin]) -> None:
    """Let pip download some packages: all at once, and if that fails one by one."""
    download(folder, target, pins)
    for pin in [pin for pin in pins if not folder.serves(target, pin)]:
        said = download(folder, target, [pin])
        if not folder.serves(target, pin):
            raise Trouble(f"{pin} for {target} was not fetched. {reason(said)}")


def reason(said: str) -> str:
    """Why pip failed: a cause that is known, else its own last words, if any."""
    known = cause(said)
    last = said.strip().rpartition("\n")[2]
    return known if known != UNKNOWN else last or OTHER_FILE


def download(folder: Folder, target: Target, pins: list[Pin]) -> str:
    """Let pip download some packages; returns "" or what it said when it failed."""
    lines = [f"{pin} " + " ".join(f"--hash=sha256:{sum}" for sum in pin.hashes) for pin in pins]
    with tempfile.TemporaryDirectory() as temporary:
        pinned = Path(temporary, "pinned.txt")  # without markers: they have been judged
        pinned.write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = attempt(*command(folder.path, target), "-r", pinned)
    folder.look()
    return said


def command(folder: Path, target: Target) -> list[str | Path]:
    """pip's command for one target, without the packages."""
    words = [PYTHON, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    words += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", folder]
    words += ["--implementation", "cp", "--python-version", f"{target.python}.{PATCHES[-1]}"]
    return words + [word for name in target.platforms for word in ("--platform", name)]


def main(argv: list[str]) -> int:
    """Fill the folder that is named; returns the exit code."""
    use_wheels(None)  # a half-filled folder `wheels` is no place to fetch from
    path, serving = Path(argv[0]), list(targets())
    try:
        path.mkdir(parents=True, exist_ok=True)
        folder = Folder(path, read(LOCK.read_text("utf-8")))
        fill(folder, serving)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except OSError as error:
        print(NO_FOLDER.format(path, error.strerror or error), file=sys.stderr)
        return 1
    pythons = sorted({target.python for target in serving}, key=lambda name: name.split(".")[1])
    done = {"folder": path.name, "count": len(folder.wheels), "size": folder.size() / 1e6}
    print(DONE.format(**done, pythons=f"Python {pythons[0]} to {pythons[-1]}"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
