"""`start.py`: its words, the commands they run, and the reader's own copies.

No JupyterLab is started here. How the environment is made and mended: test_setting_up.py.
"""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import environment
import launch
import pytest
from environment import Trouble
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]
START = ROOT / "start.py"
CODE = {
    "cell_type": "code",
    "id": "a",
    "metadata": {"nbgrader": {"grade_id": "ex1"}},
    "source": ["1 + 1"],
    "outputs": [{"output_type": "stream", "name": "stdout", "text": ["한글 1226"]}],
    "execution_count": 3,
}


def start(*words, before=""):
    code = f"import runpy, sys; sys.argv = ['start.py', *{words!r}]; {before}"
    code += f"\nrunpy.run_path({str(START)!r}, run_name='__main__')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A workbook of two chapters, solutions and notes, with a `my` that does not exist yet."""
    monkeypatch.setattr(launch, "NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.setattr(launch, "MY", tmp_path / "my")
    (tmp_path / "notebooks").mkdir()
    for name in ("00_start", "05_trim_tools", "solutions"):
        chapter = {"cells": [CODE, {"cell_type": "markdown", "source": [name]}], "nbformat": 4}
        text = json.dumps(chapter, ensure_ascii=False)
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    (tmp_path / "notebooks" / "teaching.md").write_text("for teachers")
    return tmp_path


# Words


def test_no_word_and_options_go_to_jupyterlab():
    assert launch.parse([]) == (launch.lab, [])
    assert launch.parse(["--port", "9000"]) == (launch.lab, ["--port", "9000"])
    assert launch.parse(["lab", "--no-browser"]) == (launch.lab, ["--no-browser"])


@pytest.mark.parametrize(
    "word", ["test", "store", "chat", "reset", "check", "wheels", "handout", "grade"]
)
def test_options_after_a_word_are_its_own(word):
    assert launch.parse([word, "-x", "y"]) == (getattr(launch, word), ["-x", "y"])


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--help", "--port", "9000"]])
def test_help_names_the_words_and_sets_nothing_up(words):
    said = start(*words, before="import subprocess; subprocess.Popen = None")
    assert (said.returncode, said.stderr) == (0, "")
    for word in ("", "test", "store", "chat", "reset 05", "check", "wheels DIR", "--wheels DIR"):
        assert f"start.py {word}" in said.stdout
    assert "tools/" not in said.stdout


def test_the_help_of_a_word_is_its_own():
    assert launch.parse(["chat", "--help"]) == (launch.chat, ["--help"])


@pytest.mark.parametrize("words", [["lob"], ["Test"], [""], ["05"], ["reset"], ["reset", "99"]])
def test_anything_else_is_one_sentence_and_exit_code_2(words):
    said = start(*words)
    assert said.returncode == 2
    assert said.stdout == ""
    assert said.stderr.count("\n") == 1
    assert "reset 05" in said.stderr


@given(st.text())
def test_no_first_word_is_a_surprise(word):
    try:
        found = launch.parse(launch.without_wheels([word]))[0]
        assert found.__name__ in ("lab", word)
    except launch.Misused as trouble:
        assert str(trouble).startswith(f"`{word}` is no word")


@pytest.mark.parametrize("words", [["--wheels", "{}"], ["--wheels={}"]])
def test_a_folder_of_wheels_stands_before_any_word(monkeypatch, tmp_path, words):
    monkeypatch.setattr(environment, "WHEELS", None)
    (tmp_path / "idna-3.20-py3-none-any.whl").touch()
    words = [word.format(tmp_path) for word in words]
    assert launch.without_wheels([*words, "chat", "-x"]) == ["chat", "-x"]
    assert tmp_path == environment.WHEELS


@pytest.mark.parametrize(
    "words", [["--wheels"], ["--wheels="], ["wheels"], ["wheels", "a", "b"], ["grade", "--help"]]
)
def test_a_word_that_needs_a_folder_says_so(words, capsys):
    assert launch.main(words) == 2
    assert capsys.readouterr().err.startswith("Name one folder, as in `python3 start.py ")


def test_a_folder_is_seen_from_where_the_reader_stands(monkeypatch, tmp_path):
    ran = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environment, "WHEELS", None)
    monkeypatch.setattr(launch, "ready", lambda: Path("python"))
    monkeypatch.setattr(launch, "run", lambda command, variables: ran.append(command) or 0)
    assert launch.main(["wheels", "stick"]) == 0
    assert ran[0][-1] == str(tmp_path / "stick")


def test_the_set_of_students_lacks_some_words_and_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(launch, "ROOT", tmp_path)
    monkeypatch.setattr(launch, "ready", lambda: Path("python"))
    for word in ("test", "store", "handout"):
        assert launch.main([word]) == 1
        assert f"`{word}` needs the whole workbook" in capsys.readouterr().err


def test_an_old_python_is_told_in_one_sentence():
    said = start(before="sys.version_info = (3, 9, 6, 'final', 0)")
    assert said.returncode == 1
    assert said.stderr.count("\n") == 1
    assert "3.11 or newer is needed and this is 3.9" in said.stderr


def test_an_old_python_can_read_start():
    source = START.read_text(encoding="ascii")
    tree = ast.parse(source, feature_version=(3, 4))
    too_new = (ast.JoinedStr, ast.FunctionDef, ast.AnnAssign)  # f-strings and type hints
    assert not [node for node in ast.walk(tree) if isinstance(node, too_new)]


# Commands


def test_jupyterlab_opens_the_first_chapter_with_the_repository_as_root(book):
    launch.copy_missing()
    command = launch.lab_command(Path("python"), ["--port", "9000"])
    assert command[:3] == ["python", "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={ROOT}" in command
    assert "--LabApp.default_url=/lab/tree/my/00_start.ipynb" in command
    assert command[-2:] == ["--port", "9000"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no root.")
@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_in_a_container_may_start_jupyterlab(book, monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("--allow-root" in launch.lab_command(Path("python"), [])) is allowed


def test_checks_see_no_key_and_no_setting_of_the_reader(monkeypatch):
    for name in (
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "OPENAI_API_KEY",
    ):
        monkeypatch.setenv(name, "secret")
    for name in ("CHAT_MEMORY_LANGUAGE", "CHAT_MEMORY_SEED", "CHAT_MEMORY_LIVE", "PYTHONHASHSEED"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CHAT_MEMORY_TOKENIZER", "vocabulary")
    seen = launch.checking()
    assert "secret" not in seen.values()
    ours = {name: value for name, value in seen.items() if name.startswith("CHAT_MEMORY_")}
    kept = {"CHAT_MEMORY_TOKENIZER": "vocabulary", "CHAT_MEMORY_STATIC": "1"}
    assert {**ours, **kept} == ours
    assert ours.keys() - kept.keys() <= launch.KEPT_BY_CHECKS
    assert "PYTHONHASHSEED" not in seen


def test_the_chat_keeps_the_key(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    assert environment.surroundings()["GEMINI_API_KEY"] == "secret"


@pytest.mark.parametrize("word", ["test", "store", "chat"])
def test_a_word_runs_in_the_environment_and_gives_its_exit_code(monkeypatch, word):
    ran = []
    monkeypatch.setattr(launch, "ready", lambda: Path("python"))
    monkeypatch.setattr(launch, "run", lambda command, variables: ran.append(command) or 7)
    assert launch.main([word, "-k", "trim"]) == 7
    assert ran[0][0] == "python"
    assert ran[0][-2:] == ["-k", "trim"]


def test_a_stop_reaches_the_command():
    code = "import launch, sys; sys.exit(launch.run([sys.executable, '-c', 'print(1, flush=True); "
    code += "input()'], None))"
    pipe = subprocess.PIPE
    folder = ROOT / "tools"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=folder, stdin=pipe, stdout=pipe)
    assert process.stdout.readline() == b"1\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) in (128 + signal.SIGTERM, 1)
    process.communicate()


# The reader's copies


def my(book):
    return sorted(path.name for path in (book / "my").iterdir())


def test_missing_chapters_are_copied_without_outputs(book):
    launch.copy_missing()
    assert my(book) == ["00_start.ipynb", "05_trim_tools.ipynb"]
    copy = json.loads((book / "my" / "00_start.ipynb").read_text("utf-8"))
    assert copy["cells"][0] == {**CODE, "outputs": [], "execution_count": None}


def test_a_copy_is_never_written_over(book):
    launch.copy_missing()
    (book / "my" / "00_start.ipynb").write_text("mine")
    (book / "my" / "05_trim_tools.ipynb").unlink()
    launch.copy_missing()
    assert (book / "my" / "00_start.ipynb").read_text() == "mine"
    assert my(book) == ["00_start.ipynb", "05_trim_tools.ipynb"]


@pytest.mark.parametrize("name", ["05", "5", "05_trim_tools", "my/05_trim_tools.ipynb"])
def test_reset_renews_a_copy_and_keeps_every_old_one(book, name, capsys):
    launch.copy_missing()
    for text in ("mine", "mine again"):
        (book / "my" / "05_trim_tools.ipynb").write_text(text)
        assert launch.main(["reset", name]) == 0
    assert my(book) == [
        "00_start.ipynb",
        "05_trim_tools.ipynb",
        "05_trim_tools.mine-2.ipynb",
        "05_trim_tools.mine.ipynb",
    ]
    assert (book / "my" / "05_trim_tools.mine.ipynb").read_text() == "mine"
    assert (book / "my" / "05_trim_tools.mine-2.ipynb").read_text() == "mine again"
    assert "05_trim_tools.mine-2.ipynb" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["solutions"], ["55"], ["5", "0"], [""], ["teaching"]])
def test_reset_of_what_is_no_chapter_changes_nothing(book, words, capsys):
    launch.copy_missing()
    before = my(book)
    assert launch.main(["reset", *words]) == 2
    assert "there are 00, 05" in capsys.readouterr().err
    assert my(book) == before


def test_a_broken_chapter_and_a_folder_that_cannot_be_written_are_said(book):
    (book / "my").write_text("a file in the way")
    with pytest.raises(Trouble, match="Cannot write"):
        launch.copy_missing()
    (book / "notebooks" / "00_start.ipynb").write_text("<<<<<<< HEAD")
    with pytest.raises(Trouble, match="00_start.ipynb cannot be read"):
        launch.copy_missing()
