"""Experiments, played against the offline Gemini in the disguise of a live one."""

import getpass
import logging
import os
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
import pytest
import wire
from google import genai
from google.genai import types

from chat_memory import ChatSession, load
from chat_memory.agents import DropThoughts
from chat_memory.connect import KEYS, MODEL, RETRIES, api_key, connect, default_model
from chat_memory.conversations import bundled, even_chat, find, play
from chat_memory.experiments import NAMES, Chat, Experiment
from chat_memory.guard import CapReached, guarded, live_client, most
from chat_memory.strings import EN
from chat_memory.usage import cost, published_runs, total
from offline_gemini import OfflineGemini, count
from offline_gemini.rules import Refused

KEY = "AIza-not-a-real-key"
CHAPTER = Path(__file__).parents[1] / "notebooks" / "12_live.ipynb"
QUEUE = Experiment("signatures", [Chat("queue", 2), Chat("queue", 2, DropThoughts())], 6)
CACHE = Experiment(
    "cache", [Chat(even_chat(3, system=6000), 3)], 4, 0.25, "cachedContentTokenCount"
)


@pytest.fixture(autouse=True)
def nothing_is_live(monkeypatch, tmp_path, request):
    monkeypatch.setattr("chat_memory.runs.FOLDER", tmp_path / "runs")
    if request.node.get_closest_marker("live"):
        return
    for name in (*KEYS, "CHAT_MEMORY_MODEL", "CHAT_MEMORY_STATIC", "CHAT_MEMORY_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


@dataclass
class Server(OfflineGemini):
    """The offline Gemini; `more` is added to each promptTokenCount, `at` raises at that call."""

    more: int = 0
    at: tuple = (0, None)

    def handle(self, method, path, key, body):
        assert key == KEY
        answered = super().handle(method, path, key, body)
        if self.calls == self.at[0]:
            raise self.at[1]
        for chunk in answered.chunks:
            if usage := chunk.get("usageMetadata"):
                usage["promptTokenCount"] += self.more
        return answered


class NoLevels(Server):
    """A model that can't be told how much to think."""

    def _post(self, verb, model, request):
        if "thinkingLevel" in str(request):
            raise Refused(400, "INVALID_ARGUMENT", "Thinking level is not supported.")
        return super()._post(verb, model, request)


def live(server):
    """A client that no code of ours knows to be offline."""
    sync, asynchronous = server.clients()
    options = types.HttpOptions(
        httpx_client=sync, httpx_async_client=asynchronous, retry_options=RETRIES
    )
    return genai.Client(vertexai=False, api_key=KEY, http_options=options)


def server(kind=Server, **options):
    scripts = [find(path) for path in bundled()] + [chat.conversation for chat in CACHE.chats]
    return kind(scripts, caching=True, **options)


def column(report, name):
    place = next(i for i, head in enumerate(report.table.heads) if name in head)
    return [row[place] for row in report.table.rows]


def said(report):
    return " ".join(report.sentences)


def logs(runs):
    return [load(path) for path in sorted(runs.rglob("*.json"))]


def notebook(path):
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


# --- what is predicted --------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "dropped"), [(1, [99]), (2, [110, 136])])
def test_the_published_calls_are_predicted_with_and_without_signatures(number, dropped):
    path = Path(__file__).parent / "data" / f"published_run_{number}.toml"
    chats = [Chat(path, 1 + len(dropped)), Chat(path, 1 + len(dropped), DropThoughts())]
    plan = Experiment("signatures", chats, 9).plan()
    prompts = [row["prompt"] for row in published_runs() if row["run"] == f"v1-{number}"]
    prompts = prompts[: 1 + len(dropped)]
    assert column(plan, "predicted") == [*prompts, prompts[0], *dropped]


def test_a_level_of_thinking_has_no_script_and_off_thinks_nothing():
    chats = [Chat("echo", 2, thinking=thinking) for thinking in (True, "low", False)]
    plan = Experiment("thinking", chats, 9).plan()
    first, on, _, low, _, off = column(plan, "predicted")
    assert low is None and on > off > first
    assert column(plan, "thoughts") == [541, 287, None, None, 0, 0]


def test_a_prediction_of_the_cache_is_all_that_begins_alike():
    plan = CACHE.plan()
    prompts = [call.usage.prompt_token_count for call in plan.calls["even_chat"]]
    assert column(plan, "predicted") == [0, *prompts[:2]]


def test_below_the_minimum_of_the_cache_nothing_is_predicted_to_be_read():
    plan = replace(CACHE, chats=[Chat("queue", 2)]).plan()
    assert column(plan, "predicted") == [0, 0]


def test_a_plan_says_its_price_and_its_maximum_and_writes_nothing(runs):
    plan = QUEUE.plan()
    calls = [call for made in plan.calls.values() for call in made]
    scripted = sum(cost(call.usage, call.model) for call in calls)
    dollars = sum(most(call.request, call.model) for call in calls)
    assert f"4 calls: ${scripted:.4f} as the script goes, at most ${dollars:.4f}" in said(plan)
    assert "Above 6 requests, repeated ones counted, or $0.25, nothing more is sent." in said(plan)
    assert not runs.exists()


def test_words_in_no_table_are_said_to_be_estimated(tmp_path, monkeypatch):
    monkeypatch.delenv("CHAT_MEMORY_TOKENIZER", raising=False)
    path = tmp_path / "mine.toml"
    path.write_text('[[turns]]\nuser = "Qwxyzzy?"\nreply = "Pong."\n', encoding="utf-8")
    assert "estimated" in said(Experiment("model", [Chat(path, 1)], 2).plan())
    assert "estimated" not in said(QUEUE.plan())


def test_no_call_can_cost_more_than_its_most():
    session = play("support", ChatSession(connect(offline=True, quiet=True)))
    for call in session.calls:
        assert cost(call.usage, call.model) < most(call.request, call.model)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("mine",), "There is no experiment 'mine': take one of signatures, thinking, model, cac"),
        ((["mine"],), "There is no experiment"),
        (("cache", "foo"), "There is no count 'foo': take one of promptTokenCount, cachedContent"),
    ],
)
def test_an_experiment_that_is_not_there_is_refused_at_once(given, sentence):
    name, *count = given
    with pytest.raises(ValueError, match=sentence):
        Experiment(name, [Chat("queue", 2)], 6, 0.25, *count)


def test_every_experiment_has_its_sentences():
    for name in NAMES:
        assert {f"experiment.{name}.{each}" for each in ("rests", "agrees", "differs")} <= set(EN)


def test_what_is_no_client_is_refused_and_not_shown():
    with pytest.raises(ValueError, match="this is of the type str: write run") as caught:
        QUEUE.run(KEY)
    assert KEY not in str(caught.value)


def test_a_model_without_a_price_is_refused():
    with pytest.raises(ValueError, match="There is no price for gemini-3.1-pro"):
        Experiment("model", [Chat("queue", 1, model="gemini-3.1-pro")], 2).plan()


# --- what is measured ---------------------------------------------------------------------------


def test_a_live_run_lays_the_measured_beside_the_predicted(runs):
    report = QUEUE.run(live(server()))
    assert column(report, "predicted") == column(report, "measured") == [44, 187, 44, 69]
    assert column(report, "difference") == [0] * 4
    assert "All 4 prompts are as predicted" in said(report)
    dollars = sum(cost(total(made), MODEL) for made in report.calls.values())
    assert f"The 4 calls cost ${dollars:.4f}." in said(report)
    assert [len(run.calls) for run in logs(runs)] == [2, 2]
    assert [run.strategy for run in logs(runs)] == ["Everything()", "DropThoughts()"]


def test_every_answer_is_limited_and_the_limit_stands_in_the_log(runs):
    chats = [Chat("echo", 1, thinking=thinking) for thinking in (True, "low", False)]
    Experiment("thinking", chats, 3).run(live(server()))
    configs = [run.calls[0].request["generationConfig"] for run in logs(runs)]
    assert configs == [
        {"maxOutputTokens": 4096},
        {"maxOutputTokens": 4096, "thinkingConfig": {"thinkingLevel": "LOW"}},
        {"maxOutputTokens": 4096, "thinkingConfig": {"thinking_budget": 0}},
    ]


def test_counts_that_contradict_the_prediction_are_shown_as_the_lesson():
    report = QUEUE.run(live(server(more=7)))
    assert column(report, "difference") == [7] * 4
    assert "Only 0 of 4 prompts are as predicted" in said(report)
    assert "that is the lesson" in said(report)


def test_a_reply_in_words_of_no_table_weighs_what_it_was_billed():
    question = count(find("queue").turns[1].user).tokens
    first = {"promptTokenCount": 44, "candidatesTokenCount": 50, "thoughtsTokenCount": 100}
    second = {"promptTokenCount": 44 + 50 + 100 + question + 2, "candidatesTokenCount": 5}
    signed = {"text": "Zwölf Xylophone qwxyzzy.", "thoughtSignature": "QUJD"}
    for strategy, less in ((Chat("queue", 2).strategy, 0), (DropThoughts(), 100)):
        answers = [wire.said(signed, **first), wire.said("Gut.", **second)]
        client, _ = wire.client(*answers)
        report = Experiment("signatures", [Chat("queue", 2, strategy)], 2).run(client)
        assert column(report, "difference") == [0, less]


def test_a_cache_that_hits_and_one_that_misses_are_both_told():
    assert "All 2 calls that could hit did" in said(CACHE.run(live(server())))
    cold = server()
    cold.caching = False
    report = CACHE.run(live(cold))
    assert column(report, "measured") == [None] * 3
    assert "0 calls hit where 2 could" in said(report)


def test_a_report_shows_its_table_and_its_sentences_in_lines_a_page_does_not_cut():
    shown = repr(QUEUE.run(live(server(more=7)))).splitlines()
    assert shown[0].startswith("chat") and "difference" in shown[0]
    assert " ".join(shown).count("that is the lesson.") == 1
    assert max(map(len, shown)) <= 100


def test_a_strategy_starts_afresh_in_each_chat_and_a_chat_played_again_has_a_number():
    class Watched:
        started = 0

        def __call__(self, transcript):
            return list(transcript)

        def reset(self):
            self.started += 1

        def __repr__(self):
            return "Watched()"

    rule = Watched()
    report = Experiment("signatures", [Chat("queue", 2, rule)] * 2, 6).run(live(server()))
    assert rule.started == 4  # each chat is rehearsed, too
    assert column(report, "measured") == [44, 187, 44, 187]
    assert list(report.calls) == ["queue, Watched()", "queue, Watched() (2)"]


# --- what is not sent ---------------------------------------------------------------------------


@pytest.mark.parametrize("client", [None, connect(offline=True, quiet=True)])
def test_without_a_live_client_nothing_is_sent_and_the_cell_says_what_it_would_do(client, runs):
    report = QUEUE.run(client)
    assert said(report).startswith("Nothing was sent. With a key this cell sends 4 calls")
    assert not runs.exists()


@pytest.mark.parametrize("limits", [{"max_calls": 3}, {"max_dollars": 0.01}])
def test_a_plan_above_its_maximum_is_refused_before_anything_is_sent(limits):
    asked = server()
    for client in (live(asked), None):
        with pytest.raises(ValueError, match="play fewer turns, or raise the maximum"):
            replace(QUEUE, **limits).run(client)
    assert asked.calls == 0


def test_requests_that_the_sdk_repeats_are_counted(runs):
    asked = server(faults={3: "unavailable", 4: "unavailable"})
    report = replace(QUEUE, max_calls=4).run(live(asked))
    assert asked.calls == 4
    assert column(report, "measured") == [44, 187]
    assert "The maximum of 4 requests is reached" in said(report)
    kept, cut = logs(runs)
    assert [bool(call.usage) for call in kept.calls] == [True, True]
    assert "maximum" in cut.calls[0].error


def test_a_request_that_could_pass_the_dollars_is_not_sent():
    asked = server()
    client = live(asked)
    session = ChatSession(client)
    with guarded(client, max_calls=9, max_dollars=0.04):
        session.send("Hello?")
        session.send("Hello again?")
        with pytest.raises(CapReached, match=r"could pass \$0.04"):
            session.send("And again?")
    assert asked.calls == 2
    assert len(session.transcript) == 4
    session.send("Nobody counts any more.")
    assert asked.calls == 3


def test_a_429_is_waited_out_once_and_counted():
    waited, asked = [], server(faults={2: "rate_limit"})
    report = QUEUE.run(live(asked), sleep=waited.append)
    assert waited == [2.0]
    assert column(report, "difference") == [0] * 4
    assert asked.calls == 5
    asked = server(faults={2: "rate_limit"})
    assert "maximum of 4" in said(replace(QUEUE, max_calls=4).run(live(asked), waited.append))
    assert asked.calls == 4


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({2: "per_day"}, "quota of this key is used up"),
        ({2: "dropped_stream", 3: "unavailable", 4: "unavailable"}, "Gemini is busy"),
        ({2: "max_tokens"}, "cut off"),
        ({2: "blocked"}, "blocked"),
    ],
)
def test_after_an_error_what_was_measured_is_told_and_kept(faults, words, runs):
    report = QUEUE.run(live(server(faults=faults)))
    assert words in said(report)
    assert column(report, "measured")[0] == 44
    assert logs(runs)[0].calls[0].usage.prompt_token_count == 44


def test_a_chat_that_is_refused_is_left_for_the_next_one():
    chats = [Chat("echo", 1, thinking=thinking) for thinking in (True, "low", False)]
    report = Experiment("thinking", chats, 4).run(live(server(NoLevels)))
    assert column(report, "chat") == ["echo", "echo, thinking off"]
    assert "echo, thinking low: Gemini refuses this request (400 INVALID_ARGUMENT)" in said(report)


@pytest.mark.parametrize("call", [1, 2, 3])
def test_an_interruption_loses_no_call_that_was_made(call, runs):
    report = QUEUE.run(live(server(at=(call, KeyboardInterrupt()))))
    assert "Interrupted" in said(report)
    done = [c for run in logs(runs) for c in run.calls if c.usage]
    assert len(done) == call - 1
    assert len(report.table.rows if report.table else []) == call - 1


def test_an_interrupted_wait_loses_nothing_either(runs):
    def stop(seconds):
        raise KeyboardInterrupt

    report = QUEUE.run(live(server(faults={2: "rate_limit"})), sleep=stop)
    assert column(report, "measured") == [44]
    assert [bool(call.usage) for call in logs(runs)[0].calls] == [True, False]


def test_a_log_that_cannot_be_written_ends_the_run_with_a_sentence(runs):
    runs.write_text("a file, no folder")
    report = QUEUE.run(live(server()))
    assert "can't be written" in said(report)
    assert column(report, "measured") == [44]


# --- the key ------------------------------------------------------------------------------------


def typing(monkeypatch, typed):
    def ask(prompt):
        assert "Enter alone sends nothing" in prompt
        if isinstance(typed, BaseException):
            raise typed
        return typed

    monkeypatch.setattr(getpass, "getpass", ask)


def test_a_typed_key_goes_into_the_client_and_nowhere_else(monkeypatch, capsys):
    typing(monkeypatch, f" {KEY}\n")
    before = dict(os.environ)
    client = live_client()
    assert client._api_client.api_key == KEY
    assert dict(os.environ) == before
    assert KEY not in capsys.readouterr().out + repr(client) + repr(ChatSession(client))


@pytest.mark.parametrize("typed", ["", "  ", EOFError(), NotImplementedError()])
def test_without_a_key_there_is_no_client(typed, monkeypatch, capsys):
    typing(monkeypatch, typed)
    assert live_client() is None
    assert "no cell here sends anything" in capsys.readouterr().out


def test_a_key_in_the_environment_is_used_unasked(monkeypatch):
    typing(monkeypatch, AssertionError())
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    assert live_client()._api_client.api_key == KEY


def test_where_outputs_are_stored_nobody_is_asked_and_no_key_is_used(monkeypatch):
    typing(monkeypatch, AssertionError())
    monkeypatch.setenv("CHAT_MEMORY_STATIC", "1")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    assert live_client() is None


@pytest.mark.parametrize("typed", ["AIza with spaces", "키-AIza", "AIza\x00"])
def test_what_cannot_be_a_key_is_refused_without_being_shown(typed, monkeypatch):
    typing(monkeypatch, typed)
    with pytest.raises(ValueError, match="can't be a key") as caught:
        live_client()
    assert "AIza" not in "".join(traceback.format_exception(caught.value))


def test_a_key_is_in_no_log_no_output_and_no_traceback(runs, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    faults = {2: "rate_limit", 4: "unavailable", 6: "internal"}
    client = live(server(faults=faults))
    report = QUEUE.run(client, sleep=lambda seconds: None)
    with guarded(client, 0, 1.0), pytest.raises(CapReached) as caught:
        ChatSession(client).send("Hello?")
    written = "".join(path.read_text(encoding="utf-8") for path in runs.rglob("*.json"))
    told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(report)
    assert "promptTokenCount" in written and "maximum of 0" in told
    assert KEY not in written + told + "".join(capsys.readouterr()) + repr(client)
    assert not list(runs.rglob("*.part"))


# --- the chapter --------------------------------------------------------------------------------


def test_the_cells_of_the_chapter_measure_what_they_predict_once_there_is_a_key(monkeypatch):
    asked = server()
    asked.scripts += [even_chat(3, system=6000)]
    monkeypatch.setattr("chat_memory.guard.live_client", lambda: live(asked))
    shown, names = [], {}
    for cell in notebook(CHAPTER):
        if cell.source.endswith(".run(live)"):
            shown.append(eval(cell.source, names))
        elif "raises-exception" in cell.metadata.get("tags", []):
            with pytest.raises(ValueError, match="its maximum is 9 requests"):
                eval(cell.source, names)
        else:
            exec(cell.source, names)
    assert len(shown) == 4
    for report in shown:
        assert set(column(report, "difference")) == {0}, report
    assert asked.calls == sum(len(report.table.rows) for report in shown)


@pytest.mark.live
@pytest.mark.skipif(
    os.environ.get("CHAT_MEMORY_LIVE") != "1" or not api_key(),
    reason="set CHAT_MEMORY_LIVE=1 and a key to send two calls to Gemini",
)
def test_gemini_itself_bills_the_first_prompt_that_is_predicted():
    client = connect(offline=False, quiet=True)
    report = Experiment("signatures", [Chat("queue", 2)], 5).run(client)
    assert column(report, "measured")[0] == column(report, "predicted")[0] == 44, report
    assert default_model() in report.calls["queue"][0].model
