"""`start.py wheels` fills a folder for every laptop, and `--wheels` installs from it alone.

No package is downloaded here: pip's downloads are played by a function that writes files. But the
installing is real: a workbook whose lock has two tiny packages is set up in an empty environment,
by uv and by pip, with every index pointed to a port where nobody answers.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import wheels
from lock import LAPTOPS
from wheels import Folder, Target

ROOT = Path(__file__).parents[1]
LOCK = wheels.read((ROOT / "requirements.lock").read_text("utf-8"))
EVERY = list(wheels.targets())


# Which laptops, and what each of them needs


def test_every_laptop_of_the_lock_is_served_with_every_python_between_its_ends():
    assert {target.laptop for target in EVERY} == set(LAPTOPS)
    assert [target.python for target in EVERY[:4]] == ["3.11", "3.12", "3.13", "3.14"]
    assert len({str(target) for target in EVERY}) == len(EVERY)
    assert str(Target("aarch64-apple-darwin", "3.12")) == "Python 3.12 on macOS arm64"


def wanted(laptop, python):
    return {str(pin) for pin in LOCK if Target(laptop, python).wants(pin)}


def test_markers_are_judged_for_the_laptop_and_not_for_this_machine():
    linux, mac = "x86_64-unknown-linux-gnu", "aarch64-apple-darwin"
    names = {
        laptop: {pin.partition("==")[0] for pin in wanted(laptop, "3.13")}
        for laptop in (linux, mac, "x86_64-pc-windows-msvc")
    }
    assert "appnope" in names[mac] and "appnope" not in names[linux]
    assert "pywinpty" in names["x86_64-pc-windows-msvc"] and "pywinpty" not in names[linux]
    assert names[linux] - {"appnope"} <= names[mac]


def test_a_python_with_an_old_and_a_new_release_gets_what_both_need():
    found = {
        python: [pin for pin in wanted("x86_64-unknown-linux-gnu", python) if "soupsieve" in pin]
        for python in ("3.11", "3.12")
    }
    assert len(found["3.11"]) == 2 and len(found["3.12"]) == 1


@pytest.mark.parametrize(
    ("laptop", "good", "bad"),
    [
        ("x86_64-unknown-linux-gnu", "cp312-cp312-manylinux_2_17_x86_64", "win_amd64"),
        ("x86_64-unknown-linux-gnu", "cp39-abi3-manylinux2014_x86_64", "manylinux_2_39_x86_64"),
        ("aarch64-apple-darwin", "cp312-cp312-macosx_11_0_arm64", "macosx_26_0_arm64"),
        ("x86_64-apple-darwin", "py3-none-macosx_10_9_universal2", "macosx_11_0_arm64"),
        ("x86_64-pc-windows-msvc", "cp312-cp312-win_amd64", "win_arm64"),
        ("aarch64-pc-windows-msvc", "py3-none-any", "win_amd64"),
    ],
)
def test_a_wheel_is_known_to_fit_or_not(laptop, good, bad):
    fits = Target(laptop, "3.12").tags
    assert wheels.tags.parse_tag(good) & fits
    assert not wheels.tags.parse_tag(f"cp312-cp312-{bad}") & fits


# Filling a folder

TWO = [Target("x86_64-unknown-linux-gnu", "3.11"), Target("x86_64-pc-windows-msvc", "3.12")]
FILES = {
    "pure-1.0-py3-none-any.whl": b"pure",
    "built-2.0-cp311-cp311-manylinux_2_17_x86_64.whl": b"linux",
    "built-2.0-cp312-cp312-win_amd64.whl": b"windows",
}


def sum_of(content):
    return hashlib.sha256(content).hexdigest()


def tiny_lock():
    """A lock of the packages in FILES, and of one that only macOS needs."""
    hashes = {"pure==1.0": [], "built==2.0": []}
    for name, content in FILES.items():
        hashes["==".join(name.split("-")[:2])].append(f"    --hash=sha256:{sum_of(content)}")
    hashes["apple==3.0 ; sys_platform == 'darwin'"] = ["    --hash=sha256:00"]
    return "".join(" \\\n".join([line, *sums]) + "\n" for line, sums in hashes.items())


@pytest.fixture
def index(monkeypatch):
    """pip's download, played: it writes what an index has, and remembers what it was asked."""
    played = {"files": dict(FILES), "asked": []}

    def download(*command):
        folder, pins = Path(command[command.index("--dest") + 1]), Path(command[-1]).read_text()
        platforms = [command[i + 1] for i, word in enumerate(command) if word == "--platform"]
        python = "cp" + "".join(command[command.index("--python-version") + 1].split(".")[:2])
        for name in re.findall(r"(?m)^([\w-]+)==", pins):
            played["asked"].append(name)
            fits = [
                file
                for file in played["files"]
                if file.startswith(f"{name}-")
                and (
                    file.endswith("-any.whl")
                    or python in file
                    and any(p in file for p in platforms)
                )
            ]
            if not fits:
                return f"ERROR: No matching distribution found for {name}"
            (folder / fits[0]).write_bytes(played["files"][fits[0]])
        return ""

    monkeypatch.setattr(wheels, "attempt", download)
    return played


def fill(path, targets=TWO):
    folder = Folder(path, wheels.read(tiny_lock()))
    wheels.fill(folder, targets)
    return folder


def there(path):
    return {file.name: file.read_bytes() for file in path.glob("*.whl")}


def test_the_folder_holds_what_each_laptop_needs_and_a_pure_wheel_once(index, tmp_path):
    folder = fill(tmp_path)
    assert there(tmp_path) == FILES
    assert index["asked"] == ["pure", "built", "built"]
    assert folder.size() == sum(map(len, FILES.values()))


def test_what_is_there_is_not_fetched_again_and_each_step_says_a_line(index, tmp_path, capsys):
    fill(tmp_path)
    index["asked"].clear()
    capsys.readouterr()
    fill(tmp_path)
    assert index["asked"] == []
    assert capsys.readouterr().out.splitlines() == [
        " 1/2  Python 3.11 on Linux x86_64: 2 packages, all there",
        " 2/2  Python 3.12 on Windows AMD64: 2 packages, all there",
    ]


def test_an_interrupted_run_is_taken_up_by_the_next(index, tmp_path):
    fill(tmp_path, TWO[:1])
    index["asked"].clear()
    fill(tmp_path)
    assert index["asked"] == ["built"]
    assert there(tmp_path) == FILES


def test_a_broken_file_is_named_and_fetched_again(index, tmp_path, capsys):
    fill(tmp_path)
    (tmp_path / "pure-1.0-py3-none-any.whl").write_bytes(b"pu")
    fill(tmp_path)
    assert "pure-1.0-py3-none-any.whl is broken and is fetched again." in capsys.readouterr().out
    assert there(tmp_path) == FILES


def test_what_is_of_no_package_of_the_lock_is_left_alone(index, tmp_path):
    mine = {"other-1.0-py3-none-any.whl": b"mine", "pure-0.9-py3-none-any.whl": b"old"}
    for name, content in {**mine, "no wheel name.whl": b"?"}.items():
        (tmp_path / name).write_bytes(content)
    fill(tmp_path)
    assert mine.items() <= there(tmp_path).items()


def test_a_package_that_cannot_be_had_is_named_with_its_laptop_and_the_rest_is_kept(
    index, tmp_path
):
    del index["files"]["built-2.0-cp312-cp312-win_amd64.whl"]
    with pytest.raises(wheels.Trouble) as raised:
        fill(tmp_path)
    assert str(raised.value).startswith(
        "built==2.0 for Python 3.12 on Windows AMD64 was not fetched. "
    )
    assert "pure-1.0-py3-none-any.whl" in there(tmp_path)


def test_what_an_index_gives_in_place_of_the_locks_file_is_refused(index, tmp_path):
    index["files"]["pure-1.0-py3-none-any.whl"] = b"something else"
    with pytest.raises(
        wheels.Trouble, match=r"^pure==1\.0 for Python 3\.11 on Linux x86_64.*another file"
    ):
        fill(tmp_path)
    assert "pure-1.0-py3-none-any.whl" not in there(tmp_path)


def test_the_end_says_the_size_and_what_to_do_next(index, tmp_path, capsys, monkeypatch):
    (tmp_path / "tiny.lock").write_text(tiny_lock())
    monkeypatch.setattr(wheels, "LOCK", tmp_path / "tiny.lock")
    monkeypatch.setattr(wheels, "targets", lambda: iter(TWO))
    assert wheels.main([str(tmp_path / "stick")]) == 0
    said = capsys.readouterr().out
    assert "stick is complete: 3 wheels, 0 MB" in said
    assert "Python 3.11 to 3.12" in said
    assert "`python3 start.py --wheels stick`" in said


def test_pip_is_told_to_check_hashes_and_to_take_wheels_alone():
    command = wheels.command(Path("stick"), TWO[0])
    for word in ("--require-hashes", "--only-binary", "--no-deps"):
        assert word in command
    assert "manylinux_2_28_x86_64" in command and "3.11.99" in command


# Installing from it

NOBODY = "http://127.0.0.1:9/simple"
UV = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")


def make_wheel(folder, name, module):
    """A wheel of one empty module; returns its line of a lock."""
    info = f"{name.replace('-', '_')}-1.0.dist-info"
    files = {
        f"{module}/__init__.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in files.items():
            archive.writestr(inside, text)
    return f"{name}==1.0 \\\n    --hash=sha256:{sum_of(path.read_bytes())}\n"


@pytest.fixture
def book(tmp_path):
    """A workbook without environment, whose lock has two packages, and a stick with them."""
    folder, stick = tmp_path / "book", tmp_path / "stick"
    stick.mkdir()
    for name in ("start.py", "tools/environment.py", "tools/launch.py", "tools/check.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for module in ("chat_memory", "offline_gemini"):
        (folder / "src" / module).mkdir(parents=True)
        (folder / "src" / module / "__init__.py").touch()
    (folder / "src" / "chat_memory" / "__main__.py").write_text("print('It runs.')")
    lines = [
        make_wheel(stick, "google-genai", "google"),
        make_wheel(stick, "jupyterlab", "jupyterlab"),
    ]
    (folder / "requirements.lock").write_text("".join(lines))
    return folder


def start(book, path, *words):
    """Run the workbook's start.py with no index that answers, and no uv but one on `path`."""
    own = {key: value for key, value in os.environ.items() if key[:3] not in ("PIP", "UV_")}
    own |= {
        "PIP_INDEX_URL": NOBODY,
        "UV_INDEX_URL": NOBODY,
        "PATH": path,
        "HOME": str(book.parent),
    }
    own |= {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}
    command = [sys.executable, book / "start.py", *words]
    return subprocess.run(command, cwd=book, env=own, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize(
    "by",
    ["pip", pytest.param("uv", marks=pytest.mark.skipif(not UV, reason="uv is not installed."))],
)
def test_an_empty_environment_is_set_up_from_the_folder_alone(book, by):
    path = str(Path(UV).parent) if by == "uv" else ""
    first = start(book, path, "--wheels", "../stick", "chat")
    assert first.returncode == 0, first.stderr
    assert f", by {by}." in first.stdout and first.stdout.endswith("It runs.\n")
    shutil.rmtree(book.parent / "stick")
    assert start(book, path, "chat").stdout == "It runs.\n"


def test_a_wheel_that_is_missing_is_named_with_the_laptop_it_is_missing_for(book):
    (book.parent / "stick" / "jupyterlab-1.0-py3-none-any.whl").unlink()
    said = start(book, "", "--wheels", "../stick", "chat")
    assert said.returncode == 1
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"stick has no wheel of jupyterlab==1.0 for Python {version} on " in said.stderr
    assert said.stderr.count("\n") == 1


def test_a_wheel_that_was_changed_is_refused_and_named(book):
    with (book.parent / "stick" / "jupyterlab-1.0-py3-none-any.whl").open("ab") as file:
        file.write(b"x")
    said = start(book, "", "--wheels=../stick", "chat")
    assert said.returncode == 1
    assert "The folder stick has a broken wheel of jupyterlab==1.0" in said.stderr
