"""Windows in Korea, simulated: cp949 by default, CRLF at line ends, marks before the first letter.

`FINGERPRINT` reads every text file of `data`, plays, saves and loads again, and prints what came
of it: it must be the same in a UTF-8 checkout, in one whose files have all been through Notepad,
and in a process whose encoding is cp949 and for which an open() without an encoding is an error.
"""

import ast
import re
import shutil
import subprocess
import sys

import environment
import launch
import pytest
from checkout import copied
from launch import ROOT
from wheels import read as read_lock

CODE = sorted(
    path for place in ("src", "tools", "benchmarks") for path in (ROOT / place).rglob("*.py")
) + [ROOT / "start.py", ROOT / "conftest.py"]
FINGERPRINT = """
import hashlib, pkgutil, sys, tempfile
from importlib import import_module
from pathlib import Path
import chat_memory, offline_gemini
for package in (chat_memory, offline_gemini):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
from chat_memory import *
from chat_memory import prices, prompts, strings, usage
from chat_memory.conversations import bundled, find
from chat_memory.dialects.forms import FORMS
from offline_gemini import tokens

seen = [strings.EN, prices._prices(), usage.published_runs(), tokens._table()]
seen += [prompts.prompts(language) for language in ("en", "ko")]
seen += [find(name) for language in ("en", "ko") for name in bundled(language)]
folder = Path(tempfile.mkdtemp())
for name in ("support.en", "support.ko"):
    played = play(name, ChatSession(connect(True, quiet=True), SummaryPairs(4, 2)), turns=8)
    seen += [load(played.save(folder / "run.json")), played.transcript]
    for form in FORMS:
        path = folder / ("chat.txt" if form == "text" else f"{form}.json")
        seen.append(save_chat(played.transcript, path, form))
        text = path.read_bytes()
        assert text.endswith(b"\\n") and b"\\r" not in text, form
        whole = load_chat(path)
        path.write_bytes(text.replace(b"\\n", b"\\r\\n"))
        assert repr(load_chat(path)) == repr(whole), form
for each in seen:
    print(hashlib.sha256(repr(each).encode()).hexdigest())
print(sys.flags.utf8_mode)
"""


def python(*words, source=ROOT / "src", typed=b"", **environment):
    """Run Python with `source` before all else; give what it printed, as bytes."""
    own = {**launch.checking(), "PYTHONPATH": str(source), **environment}
    own = {name: value for name, value in own.items() if value is not None}
    said = subprocess.run([sys.executable, *words], env=own, input=typed, capture_output=True)
    assert b"Traceback" not in said.stderr, said.stderr.decode("utf-8", "replace")
    return said.stdout, said.stderr


@pytest.fixture(scope="module")
def cp949(tmp_path_factory):
    """The variables of a process whose encoding is cp949, or ASCII where that can't be had."""
    own = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    if shutil.which("localedef"):
        folder = tmp_path_factory.mktemp("locale")
        words = ["localedef", "-i", "ko_KR", "-f", "CP949", str(folder / "ko_KR.CP949")]
        subprocess.run(words, capture_output=True)
        if (folder / "ko_KR.CP949").exists():
            own |= {"LOCPATH": str(folder), "LC_ALL": "ko_KR.CP949"}
    ask = "import locale; print(locale.getpreferredencoding(False).lower())"
    used, _ = python("-c", ask, **own)
    assert used.strip() not in (b"utf-8", b"utf8"), used
    return own


@pytest.fixture(scope="module")
def strict(cp949):
    """The same, and an open() that names no encoding is an error, in other people's code too."""
    warn = {"PYTHONWARNDEFAULTENCODING": "1", "PYTHONWARNINGS": "error::EncodingWarning"}
    return cp949 | warn


@pytest.fixture(scope="module")
def expected():
    lines = python("-c", FINGERPRINT)[0].split()
    assert len(lines) > 30 and lines[-1] == b"1"
    return lines[:-1]


def test_a_korean_windows_reads_and_writes_the_same(strict, expected):
    assert python("-c", FINGERPRINT, **strict)[0].split() == [*expected, b"0"]


def test_files_that_notepad_has_saved_read_the_same(tmp_path, expected):
    """CRLF everywhere, and a byte order mark before the first letter of every data file."""
    for place in ("src", "data"):
        for path in (ROOT / place).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = tmp_path / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                mark = b"\xef\xbb\xbf" if place == "data" else b""
                copy.write_bytes(mark + path.read_bytes().replace(b"\n", b"\r\n"))
    assert python("-c", FINGERPRINT, source=tmp_path / "src")[0].split()[:-1] == expected


def test_a_lock_with_crlf_names_the_same_packages(tmp_path, monkeypatch):
    text = environment.LOCK.read_text(encoding="utf-8")
    crlf = tmp_path / "requirements.lock"
    crlf.write_bytes(text.replace("\n", "\r\n").encode())
    assert read_lock(crlf.read_text(encoding="utf-8")) == read_lock(text)
    seen = []
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    monkeypatch.setattr(environment, "attempt", lambda *c: seen.append(c[-1].read_text("utf-8")))
    for lock in (environment.LOCK, crlf):
        monkeypatch.setattr(environment, "LOCK", lock)
        environment.find_uv()
    assert seen[0] == seen[1] != "uv\n"


# What git does


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="This is no checkout of git.")
def test_a_checkout_has_no_crlf_whatever_git_is_told(tmp_path):
    git = ["git", "-c", "core.autocrlf=true", "-c", "core.eol=crlf"]
    subprocess.run([*git, "clone", "-q", "--depth=1", ROOT.as_uri(), tmp_path / "it"], check=True)
    files = [path for path in (tmp_path / "it").rglob("*") if path.is_file()]
    kept = [path for path in files if ".git" not in path.relative_to(tmp_path / "it").parts]
    assert len(kept) > 100
    assert [p for p in kept if p.suffix != ".png" and b"\r\n" in p.read_bytes()] == []


# What is printed


def test_the_terminal_says_what_it_has_to_say_in_any_encoding(strict, tmp_path):
    """A dash, a letter of French and an emoji are said and logged, though cp949 lacks them."""
    rare, chat, log = "Café – ≈ 3 🙂 안녕?", tmp_path / "chat.txt", tmp_path / "run.json"
    chat.write_text(rare, encoding="utf-8")
    out, err = python("-m", "chat_memory", "run", str(chat), "--log", str(log), **strict)
    assert rare in out.decode("utf-8") and rare in log.read_text("utf-8")
    assert err == b""


def test_the_terminal_hears_korean_in_cp949(strict, cp949):
    codec = "cp949" if "LOCPATH" in cp949 else "ascii"
    typed = "안녕? Hello.\n".encode(codec, "replace")
    out, err = python("-m", "chat_memory", "chat", typed=typed, **strict)
    assert b"In all: prompt" in out and err == b""


def test_what_the_terminal_cannot_read_is_one_sentence(cp949):
    out, err = python("-m", "chat_memory", "chat", typed=b"\xff\xfe\nHello.\n", **cp949)
    assert err.decode("utf-8").strip() == (
        "The message holds half a letter (a lone surrogate): type it again."
    )
    assert b"holds 1 message" in out


def test_start_says_its_words_in_any_encoding(cp949, tmp_path):
    book = copied(tmp_path / "école – 2")
    own = cp949 | {"PYTHONIOENCODING": "cp949"}
    for words in (["–"], ["reset", "é"], ["wheels", ""]):
        out, err = python(str(book / "start.py"), *words, **own)
        assert (out, len(err.splitlines())) == (b"", 1)
    out, err = python(str(book / "start.py"), "chat", typed=b"Hello.\n", **own)
    assert "école – 2" in out.decode("utf-8") and err == b""  # it says where the log is


def test_what_start_runs_speaks_utf_8_whatever_is_set(monkeypatch):
    """Else `handout` stopped at a folder's name, where PYTHONIOENCODING was cp949."""
    monkeypatch.setenv("PYTHONIOENCODING", "cp949")
    ask = "import sys; print(sys.stdout.encoding, '–')"
    said = subprocess.check_output([sys.executable, "-c", ask], env=environment.surroundings())
    assert said.decode("utf-8").split() == ["utf-8", "–"]


# What stands in the code


def unencoded(tree):
    """The calls of a file that would read or write text in the encoding of the machine."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            names = {word.arg for word in node.keywords}
            if "encoding" not in names and is_text(name, node, names):
                yield ast.unparse(node)


def is_text(name, node, names):
    if name == "read_text":
        return not node.args
    if name == "write_text":
        return len(node.args) < 2
    if names & {"text", "universal_newlines"}:
        return name in ("run", "Popen", "check_output", "check_call")
    mode = next((w.value for w in node.keywords if w.arg == "mode"), None)
    place = 0 if isinstance(node.func, ast.Attribute) else 1
    mode = mode or (node.args[place] if len(node.args) > place else None)
    given = mode.value if isinstance(mode, ast.Constant) else None
    if name == "open":
        plain = isinstance(node.func, ast.Name) or isinstance(given, str)
        return plain and "b" not in str(given) and re.fullmatch("[rwaxt+]*|None", str(given))
    return name in ("fdopen", "NamedTemporaryFile") and "b" not in str(given)


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_is_opened_in_the_encoding_of_the_machine(path):
    assert list(unencoded(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("open('a')", 1),
        ("open('a', 'w'); open(a, mode='r+'); p.open('a'); os.fdopen(3, 'w')", 4),
        ("p.read_text(); p.write_text('x'); check_output(c, text=True)", 3),
        ("open('a', 'rb'); p.open('wb'); p.read_text('utf-8'); p.write_text('x', 'utf-8')", 0),
        ("open('a', encoding='utf-8'); lab.open('a.ipynb'); run(c); draw(text=True)", 0),
    ],
)
def test_what_would_use_that_encoding_is_recognised(code, found):
    assert len(list(unencoded(ast.parse(code)))) == found
