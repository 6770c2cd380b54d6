"""A class at work: kernels side by side, and kernels that are killed at a bad moment.

Logs that are written at once are all there and each is whole; of a killed one, what was saved
before is there. Killed are processes that a helper forks, at moments drawn from a seed and in
the midst of writing, and once a real kernel.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from checkout import KOREAN, ROOT, client, copied, python_of, shown
from jupyter_client.manager import start_new_kernel
from launch import checking
from nbformat.v4 import new_code_cell

from chat_memory import ChatSession, connect, load, play
from chat_memory.files import WAITS, write_whole
from chat_memory.runs import new_path

AT_ONCE = ("02_clear", "02_clear", "11_dialects")  # twice the same chapter, and another
SAVED = 20  # logs of each kernel
SAVE = """
from chat_memory import ChatSession, connect, play
from chat_memory.runs import FOLDER, new_path

sizes = [play("support", ChatSession(connect(True, quiet=True)), turns=n) for n in (1, 12)]
for number in range({saved}):
    mine = sizes[number % 2]
    mine.scenario = f"{mark} {{number}}"
    mine.save(new_path("chat").with_suffix(".json"))
    mine.save(FOLDER / "same.json")
"""
# Forks children that play and save, kills each at its moment, and says what each had saved.
FORK = """
import json, os, random, signal, sys, time
from pathlib import Path
from chat_memory import ChatSession, connect, play

folder, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
moments = random.Random(seed)

def child(path, pipe, kill_in_write):
    write = Path.write_text
    def half(place, text, **options):
        if kill_in_write == len(session.calls):
            write(place, text[: moments.randrange(len(text))], **options)
            os.kill(os.getpid(), signal.SIGKILL)
        write(place, text, **options)
    Path.write_text = half
    session = ChatSession(connect(offline=True, quiet=True))
    def each(_):
        session.save(path)
        os.write(pipe, b".")
    play("support", session, tools=False, each=each)
    while True:
        session.save(path)

saved = []
for number in range(count):
    hear, say = os.pipe()
    in_write = number % 2 and moments.randrange(1, 12)
    process = os.fork()
    if not process:
        child(folder / f"{number}.json", say, in_write)
    os.close(say)
    if not in_write:
        os.read(hear, 1)  # it plays
        time.sleep(moments.uniform(0, 0.2))
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    saved.append(0 if in_write else 1)
    while piece := os.read(hear, 1000):
        saved[-1] += len(piece)
    os.close(hear)
print(json.dumps(saved))
"""


def test_kernels_at_once_lose_no_log_and_mix_none(tmp_path):
    book = copied(tmp_path / KOREAN)
    chapters = [client(book / "notebooks" / f"{n}.ipynb", python_of(book)) for n in AT_ONCE]
    for mark, chapter in enumerate(chapters):
        chapter.nb.cells.append(new_code_cell(SAVE.format(mark=mark, saved=SAVED)))

    same, seen = book / "runs" / "same.json", []

    async def all_at_once():
        reading = asyncio.create_task(read_on())
        await asyncio.gather(*(chapter.async_execute(env=checking()) for chapter in chapters))
        reading.cancel()

    async def read_on():
        while os.name != "nt":  # there nobody can read a file while it is replaced
            seen.extend([load(same).scenario] if same.exists() else [])
            await asyncio.sleep(0.001)

    asyncio.run(all_at_once())
    for name, chapter in zip(AT_ONCE, chapters, strict=True):
        stored = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
        assert shown(chapter.nb)[:-1] == shown(stored)
    logs = [load(path) for path in (book / "runs").glob("chat-*.json")]
    wanted = {f"{mark} {number}" for mark in range(len(AT_ONCE)) for number in range(SAVED)}
    assert sorted(log.scenario for log in logs) == sorted(wanted)
    lengths = {log.scenario: len(log.calls) for log in logs}
    for scenario, length in lengths.items():
        assert (length > 12) == scenario.endswith(tuple("13579")), scenario
    assert load(same).scenario in wanted and set(seen) <= wanted
    assert len(list((book / "runs").iterdir())) == len(wanted) + 1


def test_names_of_one_second_differ(monkeypatch):
    class Still:
        def __format__(self, _):
            return "20260101-090000"

        now = classmethod(lambda cls: cls())

    monkeypatch.setattr("chat_memory.runs.datetime", Still)
    names = {new_path("chat").name for _ in range(100)}
    assert len(names) == 100
    assert all(name.startswith("chat-20260101-090000-") for name in names)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no fork.")
def test_whenever_it_is_killed_what_was_saved_is_there_and_nothing_is_half(tmp_path):
    count, seed = 24, 20260101
    words = [sys.executable, "-c", FORK, str(tmp_path), str(seed), str(count)]
    saved = json.loads(subprocess.check_output(words, env=checking(), timeout=120))
    whole = play("support", ChatSession(connect(offline=True, quiet=True)), tools=False).calls
    assert len(set(saved)) > 5  # the moments differ
    for number, turns in enumerate(saved):
        path = tmp_path / f"{number}.json"
        if not turns:
            assert not path.exists()
            continue
        calls = load(path).calls
        assert len(calls) >= turns
        assert [call.usage for call in calls] == [call.usage for call in whole[: len(calls)]]
        assert len(calls) == turns or number % 2 == 0  # it may be killed before it says so
    left = [path for path in tmp_path.iterdir() if path.suffix != ".json"]
    assert len(left) >= count / 2  # each that was killed in the midst of writing left its half
    assert {path.suffix for path in left} == {".part"}


def test_a_killed_kernel_leaves_the_last_log(tmp_path):
    manager, asking = start_new_kernel(kernel_name="python3", env=checking())
    code = f"""
from chat_memory import ChatSession, connect, play
session = ChatSession(connect(offline=True, quiet=True))
while True:
    play("support", session, each=lambda session: session.save({str(tmp_path / "run.json")!r}))
"""
    try:
        asking.execute(code)
        while not (tmp_path / "run.json").exists():
            assert manager.is_alive()
        manager.signal_kernel(9)
        while manager.is_alive():
            pass
        assert load(tmp_path / "run.json").calls[0].usage.prompt_token_count
    finally:
        asking.stop_channels()
        manager.shutdown_kernel(now=True)


def test_half_a_file_of_before_does_not_stop_a_new_one(tmp_path):
    path = tmp_path / "run.json"
    (tmp_path / "run.json.00c0ffee.part").write_text("{", encoding="utf-8")
    write_whole(path, "whole")
    assert path.read_text(encoding="utf-8") == "whole\n"


@pytest.mark.parametrize("refusals", [1, 4, 5])
def test_a_file_that_a_scanner_holds_is_waited_for(tmp_path, monkeypatch, refusals):
    replace, waited = os.replace, []

    def held(*paths):
        if len(waited) < refusals and paths[1].exists():
            raise PermissionError(13, "Access is denied")
        replace(*paths)

    monkeypatch.setattr("chat_memory.files.os.replace", held)
    monkeypatch.setattr("chat_memory.files.time.sleep", waited.append)
    path = tmp_path / "run.json"
    path.write_text("old", encoding="utf-8")
    if refusals <= len(WAITS):
        write_whole(path, "new")
    else:
        with pytest.raises(PermissionError):
            write_whole(path, "new")
    assert (len(waited), sum(waited) < 1) == (min(refusals, len(WAITS)), True)
    assert path.read_text("utf-8").strip() == ("new" if refusals <= len(WAITS) else "old")
    assert list(tmp_path.iterdir()) == [path]


def test_two_that_write_one_file_do_not_mix(tmp_path, monkeypatch):
    path, write = tmp_path / "run.json", Path.write_text
    seen = []

    def overtaken(place, text, **options):
        monkeypatch.setattr(Path, "write_text", write)
        with open(place, "w", **options) as file:
            file.write(text[:5])
            write_whole(path, "the other's")  # as another program would, in the midst of it
            seen.append(path.read_text("utf-8"))
            file.write(text[5:])

    monkeypatch.setattr(Path, "write_text", overtaken)
    write_whole(path, "mine, and longer")
    assert [*seen, path.read_text("utf-8")] == ["the other's\n", "mine, and longer\n"]
