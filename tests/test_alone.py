"""A chapter needs no other, no good folder and no leave to write: it runs by itself all the same.

The workbook is copied under Korean letters and spaces, set up as start.py does, and then nothing
in it can be written any more; each chapter lies alone in a folder of `my`.
"""

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from checkout import KOREAN, ROOT, client, copied, python_of, read_only, shown
from launch import checking

CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("book") / KOREAN)


@pytest.fixture(scope="module")
def locked(book):
    """What to put before a command, so that it can't write into the book."""
    for path in CHAPTERS:
        folder = book / "my" / path.stem
        folder.mkdir(parents=True)
        shutil.copy(path, folder)
    shutil.copy(CHAPTERS[0], book / "my")
    with read_only(book) as command:
        yield command


def run(book, *words, typed=""):
    words = list(map(str, words))
    return subprocess.run(words, cwd=book, input=typed, capture_output=True, encoding="utf-8")


def test_start_finds_its_environment_in_such_a_folder(book):
    said = run(book, sys.executable, "start.py", "chat", typed="Hello.\n")
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith("Offline stand-in")  # and not a word on making .venv
    (log,) = (book / "runs").iterdir()
    assert str(log) in said.stdout


def test_its_code_is_the_copys_own(book):
    ask = "import chat_memory, offline_gemini; print(chat_memory.__file__)"
    said = run(book, python_of(book), "-X", "utf8", "-c", ask)
    assert said.stdout.strip() == str(book / "src" / "chat_memory" / "__init__.py")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_runs_alone_in_a_fresh_kernel_and_shows_what_is_stored(book, locked, path):
    alone = book / "my" / path.stem
    chapter = client(alone / path.name, *locked, python_of(book))
    chapter.execute(env=checking())
    assert [file.name for file in alone.iterdir()] == [path.name]
    assert shown(chapter.nb) == shown(nbformat.read(path, as_version=4))


@pytest.mark.skipif(os.name == "nt", reason="Windows ignores a folder's read-only bit.")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--no-browser", r"Cannot write .*\bmy \(.*\): move the workbook to a folder of your own"),
        ("reset 00", r"Cannot write .*\bmy \(.*\): move the workbook to a folder of your own"),
        ("handout", r"Cannot write handout \(.*\): move the workbook to a folder of your own"),
        ("wheels stick", r"Cannot write .*\bstick \(.*\): name another folder"),
        ("chat", r"The run log .* can't be written \(.*\): name another place"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(book, locked, words, sentence):
    said = run(book, *locked, sys.executable, "start.py", *words.split(), typed="One.\nTwo.\n")
    (line,) = filter(str.strip, said.stderr.splitlines())
    assert re.match(sentence, line)
    assert said.returncode in (1, 2)
    if words == "chat":
        assert "holds 3 messages" in said.stdout and "In all: prompt" in said.stdout
    assert sorted(file.name for file in (book / "my").glob("*.*")) == [CHAPTERS[0].name]
