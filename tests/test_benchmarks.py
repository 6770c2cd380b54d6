"""The benchmarks run and compare like with like. How long anything takes is never asserted."""

import subprocess
import sys
from pathlib import Path

import pytest
from environment import surroundings

from benchmarks.timing import KEPT, answer, least, one_more_turn, question

ROOT = Path(__file__).parents[1]


def run(*words):
    command = [sys.executable, ROOT / "benchmarks" / "run.py", *words]
    options = {"capture_output": True, "encoding": "utf-8", "env": surroundings()}
    return subprocess.run(command, **options)


def test_one_command_prints_every_table_and_names_each_peer_that_is_not_installed():
    done = run("--quick")
    assert done.returncode == 0, done.stderr
    for row in (
        "LastTurns(8) ",
        "plain rescan ",
        " Everything() ",
        " LastTurns(6) ",
        "even_chat ",
        "SummaryPairs(8, 4) ",
    ):
        assert row in done.stdout
    assert done.stdout.count(": not installed\n") == 4


def test_an_unknown_name_is_refused_with_the_names_there_are():
    done = run("speed")
    assert done.returncode == 2
    assert "there is no speed: name strategies, session, slider, history" in done.stderr


def test_every_way_is_timed_on_the_same_messages_and_the_transcript_stays_whole():
    seen = []

    def trimmer(history):
        seen.append(len(history))
        return lambda now: now[-(2 * KEPT - 1) :]

    measure = one_more_turn(12, str, str, str, trimmer)
    assert least({"way": measure}, rounds=3)["way"] > 0
    assert seen == [22] * 4


@pytest.mark.parametrize("cut", [-2 * KEPT, -2 * KEPT + 2, None])
def test_a_way_that_brings_other_messages_is_refused(cut):
    with pytest.raises(ValueError, match="Turn 12 got other messages"):
        one_more_turn(12, str, str, str, lambda history: lambda now: now[cut:])


def test_the_least_of_all_rounds_counts():
    seconds = {"a": iter([3.0, 1.0, 2.0]), "b": iter([5.0, 6.0, 4.0])}
    measures = {name: seconds[name].__next__ for name in seconds}
    assert least(measures, rounds=3) == {"a": 1.0, "b": 4.0}


def test_every_turn_of_the_chat_weighs_the_same():
    assert len({len(question(turn) + answer(turn)) for turn in (1, 10, 9_999)}) == 1
