import httpx2
import pytest

from chat_memory import ChatSession, connect
from chat_memory.connect import KEYS, RETRIES, default_model, is_offline
from offline_gemini import ScriptError

KEY = "AIza-not-a-real-key"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in (*KEYS, "CHAT_MEMORY_MODEL"):
        monkeypatch.delenv(name, raising=False)


def headers_of(client, monkeypatch):
    """The headers of one request, caught before it leaves."""
    seen = []

    def send(self, request, **options):
        seen.append(request)
        raise httpx2.ConnectError("caught")

    monkeypatch.setattr(httpx2.Client, "send", send)
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)
    with pytest.raises(httpx2.ConnectError):
        client.models.generate_content(model="gemini-3.6-flash", contents="Hello")
    return seen[0].headers


def test_without_a_key_the_stand_in_answers_and_says_so(capsys):
    client = connect()
    assert is_offline(client)
    banner = capsys.readouterr().out
    assert banner.startswith("Offline stand-in for gemini-3.6-flash, not a language model")
    assert banner.count("\n") == 1


@pytest.mark.parametrize("name", KEYS)
def test_with_a_key_gemini_answers_and_the_key_is_in_the_header(name, monkeypatch, capsys):
    monkeypatch.setenv(name, f" {KEY}\n")
    client = connect()
    assert not is_offline(client)
    assert "gemini-3.6-flash" in (banner := capsys.readouterr().out)
    assert KEY not in banner + repr(client) + repr(ChatSession(client))
    assert headers_of(client, monkeypatch)["x-goog-api-key"] == KEY


def test_offline_wins_over_a_key_and_does_not_send_it(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    client = connect(offline=True, quiet=True)
    assert is_offline(client)
    assert headers_of(client, monkeypatch)["x-goog-api-key"] == "offline"


def test_a_live_client_without_a_key_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="set GEMINI_API_KEY"):
        connect(offline=False)
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    assert is_offline(connect(quiet=True))


def test_faults_are_for_offline_only(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with pytest.raises(ValueError, match="Faults can only be played offline"):
        connect(faults={1: "internal"})
    with pytest.raises(ValueError, match="no_such_fault"):
        connect(offline=True, faults={1: "no_such_fault"}, quiet=True)


def test_a_429_is_not_among_what_the_sdk_repeats():
    assert 429 not in RETRIES.http_status_codes
    assert 503 in RETRIES.http_status_codes


def test_caching_bills_a_prefix_that_was_sent_before():
    system = "Help the customers of a furniture shop. " * 900
    for caching, cached in ((True, True), (False, False)):
        session = ChatSession(connect(offline=True, caching=caching, quiet=True), system=system)
        session.send("My cat is called Momo.")
        session.send("What is my cat called?")
        assert bool(session.calls[1].usage.cached_content_token_count) is cached


def test_quiet_says_nothing(capsys):
    connect(quiet=True)
    assert capsys.readouterr().out == ""


def test_the_model_can_be_named(monkeypatch):
    assert default_model() == "gemini-3.6-flash"
    monkeypatch.setenv("CHAT_MEMORY_MODEL", "gemini-3.8-flash")
    assert default_model() == "gemini-3.8-flash"


def test_conversations_replace_the_bundled_ones(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[[turns]]\nuser = "Ping?"\nreply = "Pong."\n', encoding="utf-8")
    for conversations in (path, str(path), [path]):
        session = ChatSession(connect(conversations=conversations, quiet=True))
        assert session.send("ping").text == "Pong."
    assert ChatSession(connect(quiet=True)).send("ping").text != "Pong."


@pytest.mark.parametrize(
    ("conversations", "words"),
    [
        ("nope", "There is no conversation called nope: take one of"),
        ("nope.toml", "nope.toml can't be read"),
        (["queue", "nope"], "There is no conversation called nope"),
    ],
)
def test_a_missing_conversation_is_named(conversations, words):
    with pytest.raises(ValueError, match=words):
        connect(conversations=conversations, quiet=True)


def test_a_folder_and_a_broken_file_are_named(tmp_path):
    with pytest.raises(ScriptError, match="is a folder"):
        connect(conversations=tmp_path, quiet=True)
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"title = '\xff'")
    with pytest.raises(ScriptError, match=r"broken\.toml is not UTF-8"):
        connect(conversations=broken, quiet=True)
