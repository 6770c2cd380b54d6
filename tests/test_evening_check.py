"""`start.py check`: one line tells a teacher what a laptop is and lacks, and nothing private."""

import os
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import check
import environment
import launch
import pytest


@pytest.fixture
def laptop(tmp_path, monkeypatch):
    """A laptop on which all is well, in a folder whose path says much."""
    folder = tmp_path / "kim lee" / "OneDrive - 학교" / "chat"
    folder.mkdir(parents=True)
    monkeypatch.setattr(check, "ROOT", folder)
    monkeypatch.setattr(check, "stamp", lambda: "lock")
    monkeypatch.setattr(check, "wanted", lambda: "lock")
    monkeypatch.setattr(check, "alive", lambda: True)
    monkeypatch.setattr(check, "kernel", lambda: "ok 4.6.6")
    for name in check.KEYS:
        monkeypatch.delenv(name, raising=False)
    return folder


def line(capsys):
    code = launch.main(["check"])
    said = capsys.readouterr()
    assert said.err == "" and said.out.count("\n") == 1
    return code, said.out.rstrip("\n")


def test_a_laptop_that_is_ready_says_so_in_one_line(laptop, capsys):
    code, said = line(capsys)
    assert code == 0
    assert said.startswith("chat memory check: ok. Python 3.")
    for part in ("GB free", "packages complete", "JupyterLab 4.6.6", "none is needed"):
        assert part in said


def test_the_line_names_no_path_no_person_and_no_key(laptop, capsys, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "secret-key")
    monkeypatch.setenv("USER", "kim")
    for broken in (False, True):
        monkeypatch.setattr(check, "alive", lambda broken=broken: not broken)
        said = line(capsys)[1]
        for private in ("kim", "학교", "secret-key", str(Path.home()), socket.gethostname()):
            assert private not in said
        assert os.sep not in said.replace("C:\\chat", "")
    assert "a key is set, so chapters answer live" in said


def test_what_may_become_a_nuisance_is_noted_and_no_failure(laptop, capsys):
    code, said = line(capsys)
    assert code == 0
    for note in ("is synchronised", "has letters beyond English", "has spaces"):
        assert note in said


def test_a_plain_folder_has_no_note(monkeypatch):
    for name in check.KEYS:
        monkeypatch.delenv(name, raising=False)
    assert list(check.notes(Path("chat"))) == ["no key, and none is needed"]


def few_bits(patch):
    patch.setattr(sys, "maxsize", 2**31 - 1)


def little_disk(patch):
    patch.setattr(check.shutil, "disk_usage", lambda _: SimpleNamespace(free=1e8))


def no_packages(patch):
    patch.setattr(check, "stamp", lambda: None)


def old_packages(patch):
    patch.setattr(check, "stamp", lambda: "old")


def dumb_kernel(patch):
    patch.setattr(check, "kernel", lambda: "")


def no_port(patch):
    patch.setattr(check, "TRIED", 0)


def read_only(patch):
    def refuse(**_):
        raise PermissionError

    patch.setattr(check.tempfile, "TemporaryFile", refuse)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (few_bits, "this Python has 32 bits: install a 64-bit one"),
        (little_disk, "the disk is nearly full: free 0.3 GB"),
        (no_packages, "run `python3 start.py` once, with a network or with `--wheels`"),
        (old_packages, "run `python3 start.py` once, with a network or with `--wheels`"),
        (dumb_kernel, "let the firewall and the virus scanner admit this Python"),
        (no_port, "as in `python3 start.py --port 9000`"),
        (read_only, "move the workbook to one of your own"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_wrong_is_said_with_what_to_do_and_exit_code_1(
    laptop, capsys, monkeypatch, spoil, sentence
):
    spoil(monkeypatch)
    code, said = line(capsys)
    assert code == 1
    assert said.startswith("chat memory check: NOT READY: ")
    assert sentence in said


def test_two_troubles_are_both_said(laptop, capsys, monkeypatch):
    little_disk(monkeypatch)
    dumb_kernel(monkeypatch)
    said = line(capsys)[1]
    assert "the disk is nearly full" in said and "kernel does not answer" in said


def test_a_taken_port_is_stepped_over(monkeypatch):
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        taken = place.getsockname()[1]
        monkeypatch.setattr(check, "PORT", taken)
        free = int(check.free_port().text.split()[1])
    assert taken < free < taken + check.TRIED


def test_a_python_that_cannot_be_started_is_no_crash(monkeypatch):
    monkeypatch.setattr(check, "PYTHON", Path("no-such-python"))
    assert check.kernel() == ""


@pytest.mark.skipif(not environment.alive(), reason="The environment of start.py is not made.")
def test_a_real_kernel_answers_with_the_offline_stand_in():
    assert check.kernel().startswith("ok 4.")
