"""The implicit cache: what it takes off the bill, and that it changes nothing else."""

import pytest
from request_json import body, model, post, script, tool, user

from offline_gemini import Count, OfflineGemini
from offline_gemini.scripts import Turn

FIRST = [user("Hi.")]
SECOND = [*FIRST, model("Hello."), user("Next.")]
CASE = script(Turn(user="Hi.", reply="Hello."), Turn(user="Next.", reply="Yes."))


@pytest.fixture(autouse=True)
def heavy(monkeypatch):
    """Let every text weigh 4,095 tokens, so that one content with its role fills the minimum."""
    monkeypatch.setattr("offline_gemini.billing.count", lambda text: Count(4095, False))


def cached(server: OfflineGemini, contents: list, verb: str = "generateContent", **fields) -> int:
    usage = post(server, body(*contents, **fields), verb).chunks[-1]["usageMetadata"]
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + usage["candidatesTokenCount"]
    return usage.get("cachedContentTokenCount", 0)


@pytest.mark.parametrize("verb", ["generateContent", "streamGenerateContent"])
def test_a_prefix_sent_before_is_cached(verb):
    server = OfflineGemini([CASE], caching=True)
    assert [cached(server, contents, verb) for contents in (FIRST, SECOND)] == [0, 4096]
    assert cached(server, SECOND, verb) == 3 * 4096


def test_nothing_is_cached_unless_asked_for():
    server = OfflineGemini([CASE])
    assert [cached(server, contents) for contents in (FIRST, SECOND, SECOND)] == [0, 0, 0]


def test_a_prefix_below_the_minimum_is_not_cached(monkeypatch):
    monkeypatch.setattr("offline_gemini.billing.count", lambda text: Count(4094, False))
    server = OfflineGemini([CASE], caching=True)
    assert [cached(server, contents) for contents in (FIRST, SECOND)] == [0, 0]


def test_a_change_at_the_beginning_loses_the_prefix():
    server = OfflineGemini([CASE], caching=True)
    cached(server, SECOND)
    assert cached(server, [user("Hi!"), *SECOND[1:]]) == 0
    assert cached(server, SECOND, systemInstruction=user("Be brief.")) == 0


def test_a_prefix_of_any_earlier_prompt_is_cached_and_not_only_of_the_last():
    server = OfflineGemini([CASE], caching=True)
    for contents in (SECOND, [user("Next.")]):
        cached(server, contents)
    assert cached(server, [*SECOND[:2], user("Hi.")]) == 2 * 4096


def test_another_client_or_model_has_another_cache():
    server = OfflineGemini([CASE], caching=True)
    cached(server, SECOND)
    assert cached(OfflineGemini([CASE], caching=True), SECOND) == 0
    usage = post(server, body(*SECOND), model="gemini-3.7-flash").chunks[0]["usageMetadata"]
    assert "cachedContentTokenCount" not in usage


@pytest.mark.parametrize(
    ("change", "left"),
    [({}, 4097 + 4096 + 4096), ({"systemInstruction": user("Long.")}, 4097), ({"tools": []}, 0)],
)
def test_tools_then_system_stand_before_the_contents(change, left):
    """That order of the two is not confirmed; that they stand before the contents is."""
    server = OfflineGemini([CASE], caching=True)
    fields = {"systemInstruction": user("Be brief."), "tools": [tool()]}
    assert cached(server, FIRST, **fields) == 0
    assert cached(server, FIRST, **fields | change) == left


def test_a_cached_prompt_gets_the_same_words_and_the_same_count():
    plain, caching = OfflineGemini([CASE]), OfflineGemini([CASE], caching=True)
    for contents in (FIRST, SECOND):
        answers = [post(server, body(*contents)).chunks[0] for server in (plain, caching)]
        for each in answers:
            each["usageMetadata"].pop("cachedContentTokenCount", None)
        assert answers[0] == answers[1]
