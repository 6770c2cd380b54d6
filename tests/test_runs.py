import json

import pytest

from chat_memory import ChatError, ChatSession, LastTurns, connect, load, play
from chat_memory.contents import to_json
from chat_memory.runs import RunError
from chat_memory.usage import breakdown

CALL_KEYS = {
    "rewritten",
    "turn",
    "purpose",
    "scripted",
    "contents_before",
    "request",
    "response",
    "usageMetadata",
    "estimated",
    "seconds",
    "error",
    "layers",
    "dropped",
    "pinned",
}


def played(**options):
    client = connect(offline=True, faults={2: "internal"}, quiet=True)
    session = ChatSession(client, **options)
    with pytest.raises(ChatError):
        play("support", session, turns=4)
    session.send("한글로도 되나요?")
    session.send("Is 48213 still there?")
    return session


def test_a_loaded_call_has_what_the_session_had(tmp_path):
    session = played(strategy=LastTurns(1))
    run = load(session.save(tmp_path / "run.json"))
    assert (run.scenario, run.strategy) == ("support.en.toml", "LastTurns(1)")
    assert len(run.calls) == len(session.calls) > 2
    for loaded, call in zip(run.calls, session.calls, strict=True):
        assert to_json(loaded.contents) == to_json(call.contents)
        assert list(loaded.context.dropped) == list(call.context.dropped)
        assert loaded.context.layers == call.context.layers
        assert loaded.reply == call.reply
        assert breakdown(loaded) == breakdown(call)
        for name in (
            "turn",
            "purpose",
            "scripted",
            "answer",
            "usage",
            "error",
            "seconds",
            "model",
        ):
            assert getattr(loaded, name) == getattr(call, name), name


def test_the_log_is_utf_8_with_real_hangul_and_wire_names(tmp_path):
    path = played().save(tmp_path / "deep" / "run.json")
    text = path.read_bytes().decode("utf-8")
    assert "한글로도 되나요?" in text
    log = json.loads(text)
    assert set(log) == {"scenario", "strategy", "model", "calls", "usage_total"}
    assert set(log["calls"][0]) == CALL_KEYS
    assert log["calls"][0]["usageMetadata"]["promptTokenCount"] > 0
    assert log["usage_total"]["totalTokenCount"] == sum(
        call["usageMetadata"]["totalTokenCount"] for call in log["calls"] if not call["error"]
    )
    assert log["calls"][1]["error"].startswith("Gemini is busy or has failed (500 INTERNAL)")


def test_a_log_is_whole_or_as_it_was(tmp_path, monkeypatch):
    path = played().save(tmp_path / "run.json")
    before = path.read_text(encoding="utf-8")

    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(RunError, match="can't be written .No space left on device.: name another"):
        played().save(path)
    assert path.read_text(encoding="utf-8") == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


def test_a_place_that_cannot_be_written_is_named_and_the_session_goes_on(tmp_path):
    (tmp_path / "runs").write_text("a file, no folder")
    session = played()
    with pytest.raises(RunError, match="can't be written"):
        session.save(tmp_path / "runs" / "run.json")
    with pytest.raises(RunError, match="can't be written"):
        session.save(tmp_path)
    assert len(session.transcript) > 2


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"calls": [{}], "model": ""}', "\ud800"]
)
def test_what_is_no_run_log_is_named(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(RunError, match=r"run\.json is no run log"):
        load(path)


def test_a_missing_log_is_named(tmp_path):
    with pytest.raises(RunError, match="can't be read"):
        load(tmp_path / "none.json")
