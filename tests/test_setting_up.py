"""The environment `.venv`: when it is made, mended or left alone, and what is said on trouble.

Nothing is installed here: `attempt`, which runs uv and pip, is replaced. A real first start is
what CI and every reader begin with.
"""

import os
import sys
import sysconfig

import environment
import pytest
from environment import Trouble


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """An environment module that looks at an empty folder and cannot install anything."""
    folder = tmp_path / ".venv"
    for name, path in (("VENV", ""), ("STAMP", "workbook-stamp"), ("OURS", "made-by-start.py")):
        monkeypatch.setattr(environment, name, folder / path)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "LOG", folder / "setup.log")
    monkeypatch.setattr(environment, "WHEELS", tmp_path / "wheels")
    monkeypatch.setattr(environment, "PYTHON", folder / "bin" / "python")
    monkeypatch.setattr(environment, "attempt", lambda *command: "no such thing")
    return folder


def test_a_second_start_asks_nothing_but_the_environment_itself(venv, monkeypatch):
    venv.mkdir()
    environment.STAMP.write_text(environment.wanted())
    monkeypatch.setattr(environment, "alive", lambda: True)
    monkeypatch.setattr(environment, "fill", lambda *_: pytest.fail("it was filled again"))
    assert environment.ready() == environment.PYTHON


@pytest.mark.parametrize(
    ("stamp", "alive", "usable"),
    [("old", True, True), ("old", False, False), (None, True, False), ("same", False, False)],
)
def test_what_is_unfinished_or_broken_is_made_anew(venv, monkeypatch, stamp, alive, usable):
    venv.mkdir()
    if stamp:
        environment.STAMP.write_text(environment.wanted() if stamp == "same" else stamp)
    seen = []
    monkeypatch.setattr(environment, "alive", lambda: alive)
    monkeypatch.setattr(environment, "fill", lambda lock, usable: seen.append(usable))
    environment.ready()
    assert seen == [usable]


def test_an_environment_without_a_python_is_not_alive(venv):
    assert not environment.alive()


def test_the_stamp_goes_first_and_comes_last(venv, monkeypatch):
    venv.mkdir()
    environment.STAMP.write_text("old")
    steps = []
    for name in ("install", "configure"):
        monkeypatch.setattr(
            environment, name, lambda name=name: steps.append((name, environment.STAMP.exists()))
        )
    environment.fill("new", usable=True)
    assert steps == [("install", False), ("configure", False)]
    assert environment.stamp() == "new"


@pytest.mark.parametrize("left", ["made-by-start.py", "pyvenv.cfg", None])
def test_what_an_interrupted_setup_left_is_removed(venv, left):
    venv.mkdir()
    if left:
        (venv / left).touch()
    environment.remove()
    assert not venv.exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_no_environment_is_left_alone(venv, kind):
    if kind == "file":
        venv.write_text("mine")
    else:
        venv.mkdir()
        (venv / "notes.txt").write_text("mine")
    with pytest.raises(Trouble, match="is no Python environment"):
        environment.remove()
    assert venv.exists()


def test_a_python_without_venv_is_told_how_to_get_it(venv, monkeypatch):
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    with pytest.raises(Trouble, match="apt install python3.*-venv.*macOS or Windows"):
        environment.make()


@pytest.mark.skipif(os.name == "nt", reason="Windows ignores a folder's read-only bit.")
def test_a_folder_that_cannot_be_written_is_said(venv, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(venv))

    monkeypatch.setattr(environment, "make", refuse)
    with pytest.raises(Trouble, match=r"Cannot write .*\.venv \(Permission denied\): move"):
        environment.ready()


def test_an_environment_in_use_is_said(venv, monkeypatch):
    venv.mkdir()

    def refuse(_):
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(environment.shutil, "rmtree", refuse)
    with pytest.raises(Trouble, match="close JupyterLab"):
        environment.remove()


def test_a_missing_lock_is_said(venv, monkeypatch):
    monkeypatch.setattr(environment, "LOCK", venv / "requirements.lock")
    with pytest.raises(Trouble, match="get the whole workbook again"):
        environment.ready()


UV_OFFLINE = """error: Failed to fetch: `https://index.example/simple/anyio/`
  Caused by: dns error: failed to lookup address information"""
PIP_OFFLINE = """WARNING: Retrying after connection broken by 'NewConnectionError(...: [Errno -3]
Temporary failure in name resolution')': /simple/anyio/
ERROR: No matching distribution found for anyio==4.16.0"""
PIP_PROXY = "ProxyError('Cannot connect to proxy.', NewConnectionError('Connection refused'))"
PIP_TLS = "SSLError(SSLCertVerificationError(1, 'CERTIFICATE_VERIFY_FAILED: self-signed'))"
PIP_HASH = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."
UV_HASH = "error: Failed to download `anyio`\n  Caused by: Hash mismatch for `anyio==4.16.0`"
OLD = """Ignoring httpx2-jsfetch: markers 'sys_platform == "emscripten"' don't match
ERROR: No matching distribution found for anyio==4.16.0"""
ANTIVIRUS = "ERROR: Could not install packages due to an OSError: [WinError 5] Access is denied"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (UV_OFFLINE, "connect to the internet"),
        (PIP_OFFLINE, "connect to the internet"),
        (PIP_PROXY, "set HTTPS_PROXY to your proxy's address"),
        (PIP_TLS, "ask its administrator for the certificate"),
        (PIP_HASH, "is not the one that requirements.lock names"),
        (UV_HASH, "is not the one that requirements.lock names"),
        (OLD, "use a Python from 3.11 to 3.14"),
        (ANTIVIRUS, "close every program that uses .venv"),
        ("[Errno 28] No space left on device", "free 1 GB"),
        ("something never seen", "see .venv/setup.log"),
    ],
)
def test_a_broken_download_is_one_sentence_that_says_what_to_do(said, sentence):
    cause = environment.cause(said)
    assert sentence in cause
    assert cause.count(". ") == 0 and cause.endswith(".")


def test_a_failed_install_keeps_its_words_and_leaves_no_stamp(venv, monkeypatch):
    monkeypatch.setattr(environment, "make", venv.mkdir)
    with pytest.raises(Trouble):
        environment.ready()
    assert "no such thing" in environment.LOG.read_text()
    assert environment.stamp() is None


def test_pip_takes_over_where_uv_fails(venv, monkeypatch):
    tried = []

    def attempt(*command):
        tried.append(command)
        return "uv fails" if command[0] == "uv" else ""

    monkeypatch.setattr(environment, "attempt", attempt)
    monkeypatch.setattr(environment.shutil, "which", lambda name: name)
    assert environment.install() == "pip"
    assert all("--require-hashes" in command for command in tried)


def test_a_folder_of_wheels_replaces_the_network(venv):
    assert environment.source() == []
    (venv.parent / "wheels").mkdir()
    assert environment.source() == ["--no-index", "--find-links", venv.parent / "wheels"]
    environment.use_wheels(None)
    assert environment.source() == []


def test_with_a_folder_of_wheels_no_setting_adds_another_place(venv, monkeypatch):
    for name in ("PIP_FIND_LINKS", "UV_INDEX", "UV_FIND_LINKS", "PIP_CONSTRAINT"):
        monkeypatch.setenv(name, "elsewhere")
    assert "elsewhere" in environment.installing().values()
    (venv.parent / "wheels").mkdir()
    assert "elsewhere" not in environment.installing().values()
    assert environment.installing()["PIP_CONFIG_FILE"] == os.devnull


@pytest.mark.parametrize("there", [True, False])
def test_a_named_folder_without_wheels_is_said(venv, tmp_path, there):
    folder = tmp_path / "stick"
    if there:
        folder.mkdir()
    with pytest.raises(Trouble, match="There are no wheels in .*stick: fill it with .* wheels "):
        environment.use_wheels(str(folder))


NO_WHEEL = """ERROR: Could not find a version that satisfies the requirement plotly==7.1.0
ERROR: No matching distribution found for plotly==7.1.0"""
CUT_SHORT = """ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.
    plotly==7.1.0 from file:///stick/plotly-7.1.0-py3-none-any.whl (from -r lock (line 1161)):"""


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (NO_WHEEL, f"has no wheel of plotly==7.1.0 for Python {sys.version_info[0]}."),
        (NO_WHEEL, sysconfig.get_platform()),
        (CUT_SHORT, "has a broken wheel of plotly==7.1.0: where there is a network run"),
    ],
)
def test_a_wheel_that_is_missing_or_broken_is_named(venv, said, sentence):
    assert environment.wheel_cause(said) == ""
    (venv.parent / "wheels").mkdir()
    assert sentence in environment.wheel_cause(said)


def test_a_command_that_does_not_exist_is_no_crash(monkeypatch):
    assert "no-such-command" in environment.attempt("no-such-command")
    assert environment.attempt(sys.executable, "-c", "print('well')") == ""
    assert environment.attempt(sys.executable, "-c", "import nonesuch") != ""
