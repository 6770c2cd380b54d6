import json
import subprocess
import sys

import pytest

from chat_memory import ChatSession, connect, load, play
from chat_memory.__main__ import main, usage_table
from chat_memory.agents import ConclusionsOnly, DropThoughts, Focus, ShortenToolResults
from chat_memory.comparison import Row, compared, comparison_table
from chat_memory.conversations import FOLDER, find
from chat_memory.dialects import load_chat
from chat_memory.ladder import hybrid, ladder
from chat_memory.layers import KeyFacts, LayeredHybrid, SummaryPairs
from chat_memory.recount import recount_table
from chat_memory.strategies import Everything, LastMessages, LastTurns
from chat_memory.usage import cost, total
from chat_memory.words import WORDS, strategy_of

HEADS = "call | contents | prompt | thoughts | candidates | total | seconds"


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "CHAT_MEMORY_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("chat_memory.runs.FOLDER", tmp_path / "runs")


@pytest.fixture
def typing(monkeypatch):
    """Types these lines; an exception among them is what the keyboard does instead."""

    def typing(*lines):
        left = [*lines, EOFError()]

        def typed(prompt):
            line = left.pop(0)
            if isinstance(line, BaseException):
                raise line
            return line

        monkeypatch.setattr("builtins.input", typed)

    return typing


def rows(text):
    """The usage table in a text, as lists of cells."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]


def test_run_prints_the_transcript_and_what_each_call_cost(capsys):
    assert main(["run", "queue"]) == 0
    out = capsys.readouterr().out
    assert "You: Our queue holds 18000 messages" in out
    assert "Gemini: The queue is empty after 72 seconds." in out
    assert out.index("72 seconds") < out.index("(/clear:") < out.index("I can't tell")
    table = rows(out)
    assert " | ".join(table[0]) == HEADS
    assert [row[:2] for row in table[2:]] == [["0", "1"], ["1", "3"], ["2", "1"]]
    assert {row[-1] for row in table[2:]} == {"-"}
    prompts, totals = [int(row[2]) for row in table[2:]], [int(row[5]) for row in table[2:]]
    assert prompts[1] > totals[0]
    assert prompts[2] < prompts[0]


def test_below_the_table_stand_its_sum_and_its_price(capsys):
    main(["run", "queue"])
    *_, last, line = capsys.readouterr().out.splitlines()
    session = play("queue", ChatSession(connect(offline=True, quiet=True)))
    used = total(session)
    assert last == (
        f"In all: prompt {used.prompt_token_count}, thoughts {used.thoughts_token_count}, "
        f"candidates {used.candidates_token_count}, total {used.total_token_count}."
    )
    dollars = cost(used, session.model)
    assert line == f"At the prices of 2026-11-30 this is {dollars:.6f} US dollars."


def test_without_a_price_there_is_a_sentence_in_its_place(capsys, monkeypatch):
    monkeypatch.setenv("CHAT_MEMORY_MODEL", "gpt-5")
    main(["run", "queue"])
    assert "has no price of gpt-5" in capsys.readouterr().out.splitlines()[-1]


def test_run_writes_a_log_that_can_be_loaded(capsys, tmp_path):
    log = tmp_path / "queue.json"
    assert main(["run", "queue", "--log", str(log), "--strategy", "last-turns:1"]) == 0
    assert str(log) in capsys.readouterr().out
    run = load(log)
    assert (run.scenario, run.strategy) == ("queue.en.toml", "LastTurns(1)")
    assert len(run.calls) == 4  # the customer repeats himself once


def test_run_shows_calls_and_their_results(capsys):
    main(["run", "support", "--strategy", "last-turns:2"])
    out = capsys.readouterr().out
    assert "the model calls " in out
    assert " gives {" in out


def test_run_plays_a_text_file(capsys, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("My cat is called Momo.\nWhat is my cat called?\n", encoding="utf-8")
    assert main(["run", str(path)]) == 0
    assert 'Gemini: Earlier you wrote: "My cat is called Momo."' in capsys.readouterr().out


def test_what_was_played_is_kept_when_a_turn_fails_or_is_interrupted(
    capsys, tmp_path, monkeypatch
):
    real, sent = ChatSession.send, []

    def send(self, text, stream=None):
        sent.append(text)
        if len(sent) == 2:
            raise KeyboardInterrupt
        return real(self, text, stream)

    monkeypatch.setattr(ChatSession, "send", send)
    assert main(["run", "queue", "--log", str(tmp_path / "run.json")]) == 130
    out = capsys.readouterr().out
    assert "Interrupted" in out and len(rows(out)) == 3
    assert len(load(tmp_path / "run.json").calls) == 1


def test_a_scenario_that_gemini_refuses_prints_what_was_played(capsys, monkeypatch):
    monkeypatch.setenv("CHAT_MEMORY_MODEL", "gpt-5")
    assert main(["run", "queue"]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and "no model called gpt-5" in printed.err
    assert rows(printed.out)[2] == ["0", "1", "-", "-", "-", "-", "-"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "are required"),
        (["dance"], "invalid choice: 'dance'"),
        (["run"], "are required: scenario"),
        (["run", "nope"], "There is no conversation called nope"),
        (["run", "nope.toml"], "nope.toml can't be read"),
        (["run", "."], "is a folder"),
        (["run", "queue", "--strategy", "last-turns:0"], "must be a whole number from 1 on"),
        (["run", "queue", "--strategy", "last-turns"], "The strategy last-turns is not known"),
        (["run", "queue", "--strategy", "best"], "The strategy best is not known"),
        (["run", "queue", "--strategy", "last-turns:x"], "The strategy last-turns:x is not known"),
        (["compare", "nope"], "There is no conversation called nope"),
        (["compare", "queue", "--strategy", "focus:2:3"], "The strategy focus:2:3 is not known"),
        (["compare", "queue", "--strategy", "hybrid"], "queue.en.toml pins nothing"),
        (["compare", "queue", "--strategy", "LayeredHybrid(6)"], "queue.en.toml pins nothing"),
        (["compare", "a.json"], "to recount a chat, write --chat a.json"),
        (["run", "a.jsonl"], "to recount a chat, write --chat a.jsonl"),
        (["compare", "--chat", "nope.json"], "nope.json can't be read"),
        (["compare", "queue", "--chat", "nope.json"], "not both"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, arguments, words):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1


def test_a_log_that_cannot_be_written_is_said_after_the_table(capsys, tmp_path):
    assert main(["run", "queue", "--log", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert len(rows(printed.out)) == 5
    assert "can't be written" in printed.err


@pytest.mark.parametrize(
    ("spec", "strategy"),
    [
        ("everything", Everything()),
        ("last-turns:6", LastTurns(6)),
        ("last-turns:6:2", LastTurns(6, drop_to=2)),
        ("last-messages:4", LastMessages(4)),
        ("summary-pairs:8:4", SummaryPairs(8, 4)),
        ("key-facts:6", KeyFacts(6)),
        ("hybrid:5", LayeredHybrid(["Order 48213."], 5)),
        ("shorten-results:500", ShortenToolResults(500)),
        ("conclusions:0", ConclusionsOnly(0)),
        ("focus", Focus()),
        ("drop-thoughts", DropThoughts()),
        ("Everything()", Everything()),
        ("LastTurns(24, 12)", LastTurns(24, 12)),
        (" LastTurns(24,drop_to=12) ", LastTurns(24, 12)),
        ("SummaryPairs(8, 4)", SummaryPairs(8, 4)),
        ("LayeredHybrid(5, 6000)", hybrid(["Order 48213."], 5, 6000)),
    ],
)
def test_a_strategy_is_named_by_a_word_or_as_it_is_printed(spec, strategy):
    assert repr(strategy_of(spec, ["Order 48213."])) == repr(strategy)


@pytest.mark.parametrize("path", ["debug", "support"])
def test_every_name_in_a_table_is_taken_by_the_command_line(path):
    script = find(path)
    for name, strategy in ladder(script).items():
        assert repr(strategy_of(name, script.pinned)) == repr(strategy)


@pytest.mark.parametrize(
    "spec",
    [
        *("LastTurns", "LastTurns(", "LastTurns()", "LastTurns(2, 1, 0)", "LastTurns(2,)"),
        *("LastTurns(most=2)", "LastTurns(2):1", "last-turns(x)", "print(1)", "Script(1)", ""),
        "Focus()()",
    ],
)
def test_what_names_no_strategy_is_refused_with_all_the_words(spec):
    with pytest.raises(ValueError, match="is not known: write everything, ") as caught:
        strategy_of(spec)
    assert all(word in str(caught.value) for word in WORDS)


def test_the_help_names_the_words_of_strategies(capsys):
    for arguments in (["--help"], ["compare", "--help"], ["run", "--help"]):
        with pytest.raises(SystemExit):
            main(arguments)
        said = "".join(capsys.readouterr().out.split())
        assert all(word in said for word in WORDS)


def test_the_hybrid_pins_what_the_script_pins():
    assert strategy_of("hybrid", ["Order 48213."]).pinned == ("Order 48213.",)
    with pytest.raises(ValueError, match="pinned is"):
        strategy_of("hybrid")


def test_compare_prints_the_table_of_the_conversations_it_is_given(capsys):
    assert main(["compare", "echo", "two_orders"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{comparison_table(compared(['echo', 'two_orders']))}\n"


def test_compare_takes_all_conversations_of_the_language_and_the_strategies_it_is_given(
    capsys, monkeypatch
):
    monkeypatch.setenv("CHAT_MEMORY_LANGUAGE", "ko")
    assert main(["compare", "--strategy", "last-turns:1", "--strategy", "drop-thoughts"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [path.name.removesuffix(".ko.toml") for path in FOLDER.glob("*.ko.toml")]
    assert [line[:-1] for line in lines if line.endswith(":")] == sorted(names)
    rows = [line.split()[0] for line in lines[1 : 3 * len(names) + 1] if not line.endswith(":")]
    assert rows == ["last-turns:1", "drop-thoughts"] * len(names)


def test_what_was_compared_is_printed_when_it_is_interrupted(capsys, monkeypatch):
    made = []

    def init(self, *args, **kwargs):
        real(self, *args, **kwargs)
        made.append(self.strategy)
        if len(made) == 3:
            raise KeyboardInterrupt

    real = Row.__init__
    monkeypatch.setattr(Row, "__init__", init)
    assert main(["compare", "queue"]) == 130
    printed = capsys.readouterr()
    assert "Interrupted" in printed.err
    assert [line.split("  ")[0] for line in printed.out.splitlines()[2:5]] == [*made[:2], ""]


def test_compare_prints_its_heads_when_it_is_interrupted_in_the_first_chat(capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ChatSession, "send", stop)
    assert main(["compare", "echo", "--strategy", "everything"]) == 130
    printed = capsys.readouterr()
    assert printed.out.startswith("strategy  ") and "Interrupted: the table" in printed.err


def test_compare_recounts_a_chat_of_your_own_and_says_what_was_repaired(capsys, tmp_path):
    asked = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "track"}}]}
    rows = [{"role": "user", "content": "Where?"}, asked]
    rows += [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "At sea."}]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert main(["compare", "--chat", str(path), "--strategy", "last-turns:1"]) == 0
    out = capsys.readouterr().out
    transcript = load_chat(path)
    assert out.splitlines()[1].split()[:2] == ["last-turns:1", "2"]
    assert transcript.notes and all(note in out for note in transcript.notes)
    assert str(recount_table(transcript, {"last-turns:1": LastTurns(1)})) in out


def test_a_chat_without_a_reply_and_a_language_that_is_not_there_are_one_sentence(
    capsys, tmp_path, monkeypatch
):
    path = tmp_path / "mine.json"
    path.write_text('[{"role": "user", "content": "Hello?"}]', encoding="utf-8")
    assert main(["compare", "--chat", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("This chat holds no reply of a model") and said.count("\n") == 1
    monkeypatch.setenv("CHAT_MEMORY_LANGUAGE", "xx")
    assert main(["compare"]) == 2
    assert capsys.readouterr().err.startswith("There is no language xx: set ")


def test_compare_recounts_a_run_log_as_the_session_that_wrote_it(capsys, tmp_path):
    session = play("support", ChatSession(connect(offline=True, quiet=True)), turns=4)
    main(["compare", "--chat", str(session.save(tmp_path / "run.json"))])
    assert f" {total(session).prompt_token_count:,} " in capsys.readouterr().out.splitlines()[1]


def test_a_chat_remembers_clears_and_quits(capsys, typing):
    typing(
        "My cat is called Momo.", "", "What is my cat called?", "/clear", "My cat?", "/quit", "x"
    )
    assert main(["chat"]) == 0
    out = capsys.readouterr().out
    assert 'Gemini: Earlier you wrote: "My cat is called Momo."' in out
    assert "(/clear: the list is empty" in out
    assert [row[1] for row in rows(out)[2:]] == ["1", "3", "1"]


def test_another_command_is_named_and_not_sent(capsys, typing):
    typing(
        "/help", "/exit now", "/도움", "/", "Hello.", "/Clear", "/etc/hosts is gone.", "/QUIT", "x"
    )
    assert main(["chat"]) == 0
    out = capsys.readouterr().out
    for word in ("/help", "/exit now", "/도움", "/"):
        assert f"\n{word} is not a command: there are /clear and /quit.\n" in f"\n{out}"
    assert [row[1] for row in rows(out)[2:]] == ["1", "1"]


@pytest.mark.parametrize("key", [EOFError(), KeyboardInterrupt()])
def test_leaving_a_chat_loses_nothing(typing, tmp_path, key):
    typing("My cat is called 모모.", key)
    assert main(["chat"]) == 0
    (log,) = (tmp_path / "runs").iterdir()
    assert "모모" in log.read_text(encoding="utf-8")
    assert len(load(log).calls) == 1


def test_an_interrupted_answer_leaves_the_chat_as_before(capsys, typing, monkeypatch):
    typing("Hello there.", "Stop.", "Goodbye then.")
    real = ChatSession.send

    def send(self, text, stream=None):
        def listen(piece):
            if text == "Stop.":
                raise KeyboardInterrupt
            stream(piece)

        return real(self, text, listen)

    monkeypatch.setattr(ChatSession, "send", send)
    assert main(["chat"]) == 0
    out = capsys.readouterr().out
    assert "Interrupted" in out
    assert [row[1] for row in rows(out)[2:]] == ["1", "3", "3"]


def test_a_failed_turn_is_one_sentence_and_the_chat_goes_on(capsys, typing, monkeypatch):
    monkeypatch.setenv("CHAT_MEMORY_MODEL", "gpt-5")
    typing("Hello.", "/quit")
    assert main(["chat"]) == 0
    assert "no model called gpt-5" in capsys.readouterr().err


def test_the_log_is_on_disk_after_each_turn(typing, tmp_path, monkeypatch):
    seen = []
    real = ChatSession.save

    def save(self, path):
        seen.append(len(self.calls))
        return real(self, path)

    monkeypatch.setattr(ChatSession, "save", save)
    typing("One.", "Two.")
    main(["chat", "--log", str(tmp_path / "chat.json")])
    assert seen == [1, 2, 2]
    assert json.loads((tmp_path / "chat.json").read_text())["scenario"] == "chat"


def test_the_table_of_no_calls_is_its_head():
    assert " | ".join(rows(usage_table([]))[0]) == HEADS


def test_the_package_imports_without_plotly_and_widgets():
    code = (
        "import sys, chat_memory; print([m for m in ('plotly', 'ipywidgets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_module_runs_as_a_program():
    command = [sys.executable, "-m", "chat_memory", "run", "nope"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 2
    assert done.stderr.startswith("There is no conversation called nope")
