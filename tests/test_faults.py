"""Faults on demand through the real SDK: each of them, sync and async, streamed and whole."""

import pytest
from google.genai import errors, types
from request_json import (
    LONG,
    MODEL,
    ask,
    ask_async,
    case_server,
    client_of,
    forbid_connections,
    parts_in,
    stream,
    stream_async,
)

from offline_gemini import OfflineGemini
from offline_gemini.faults import NAMES, SWAP
from offline_gemini.protocol import http


@pytest.fixture(autouse=True)
def no_connection(monkeypatch):
    forbid_connections(monkeypatch)


ERRORS = {  # fault: code, status, words
    "rate_limit": (429, "RESOURCE_EXHAUSTED", "limit: 10, model: gemini-3.6-flash"),
    "per_day": (429, "RESOURCE_EXHAUSTED", "limit: 250, model: gemini-3.6-flash"),
    "internal": (500, "INTERNAL", "An internal error has occurred."),
    "unavailable": (503, "UNAVAILABLE", "The model is overloaded."),
}
STOPS = {
    "safety": "SAFETY",
    "recitation": "RECITATION",
    "max_tokens": "MAX_TOKENS",
    "malformed_call": "MALFORMED_FUNCTION_CALL",
}
WAYS = [ask, ask_async, stream, stream_async]


def last(reply) -> types.GenerateContentResponse:
    return reply[-1] if isinstance(reply, list) else reply


def test_every_fault_is_tested_here():
    in_summaries = {SWAP}  # tests/test_summaries_offline.py
    assert {*ERRORS, *STOPS, "dropped_stream", "blocked", *in_summaries} == set(NAMES)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", ERRORS)
def test_an_error_fault_hits_its_call_and_no_other(fault, way):
    client = client_of(case_server({2: fault}))
    code, status, words = ERRORS[fault]
    assert last(way(client, "Hi.")).candidates
    with pytest.raises(errors.APIError) as caught:
        way(client, "Hi.")
    assert (caught.value.code, caught.value.status) == (code, status)
    assert words in caught.value.message
    assert isinstance(caught.value, errors.ClientError if code == 429 else errors.ServerError)
    assert last(way(client, "Hi.")).candidates


def test_a_429_says_which_quota_and_how_long_to_wait():
    for fault, period, delay in (
        ("rate_limit", "PerMinute", "2s"),
        ("per_day", "PerDay", "40000s"),
    ):
        with pytest.raises(errors.ClientError) as caught:
            ask(client_of(case_server({1: fault})), "Hi.")
        quota, help_, retry = caught.value.details["error"]["details"]
        assert quota["@type"].endswith("QuotaFailure") and help_["@type"].endswith("Help")
        (violation,) = quota["violations"]
        assert period in violation["quotaId"] and violation["quotaDimensions"]["model"] == MODEL
        assert retry["@type"].endswith("RetryInfo") and retry["retryDelay"] == delay


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", STOPS)
def test_a_stopped_candidate_has_a_reason_and_no_content(fault, way):
    client = client_of(case_server({1: fault}))
    reply = last(way(client, "Hi."))
    (candidate,) = reply.candidates
    assert candidate.finish_reason == STOPS[fault] and candidate.content is None
    usage = reply.usage_metadata
    assert usage.candidates_token_count is None
    assert usage.total_token_count == usage.prompt_token_count + usage.thoughts_token_count
    assert parts_in(last(ask(client, "Hi.")))[0].text == "Hello."


@pytest.mark.parametrize("way", WAYS)
def test_a_blocked_prompt_has_feedback_and_no_candidate(way):
    reply = last(way(client_of(case_server({1: "blocked"})), "Hi."))
    assert reply.candidates is None
    assert reply.prompt_feedback.block_reason == types.BlockedReason.SAFETY
    usage = reply.usage_metadata
    assert (usage.candidates_token_count, usage.thoughts_token_count) == (None, None)
    assert usage.total_token_count == usage.prompt_token_count


def test_a_dropped_stream_breaks_off_before_its_last_chunk():
    chunks = []
    client = client_of(case_server({1: "dropped_stream"}))
    with pytest.raises(http.RemoteProtocolError):
        for chunk in client.models.generate_content_stream(model=MODEL, contents="Where is it?"):
            chunks.append(chunk)
    assert chunks and LONG.startswith("".join(parts_in(chunk)[0].text for chunk in chunks))
    assert all(chunk.candidates[0].finish_reason is None for chunk in chunks)


def test_a_dropped_async_stream_breaks_off_too():
    with pytest.raises(http.RemoteProtocolError):
        stream_async(client_of(case_server({1: "dropped_stream"})), "Where is it?")


@pytest.mark.parametrize("way", [ask, ask_async])
def test_without_a_stream_a_dropped_connection_is_an_unavailable_server(way):
    with pytest.raises(errors.ServerError) as caught:
        way(client_of(case_server({1: "dropped_stream"})), "Hi.")
    assert (caught.value.code, caught.value.status) == (503, "UNAVAILABLE")


def test_only_generate_calls_are_counted_for_faults():
    client = client_of(case_server({1: "internal"}))
    client.models.count_tokens(model=MODEL, contents="Hi.")
    client.models.get(model=MODEL)
    with pytest.raises(errors.ServerError):
        ask(client, "Hi.")


@pytest.mark.parametrize("faults", [{1: "fire"}, {0: "internal"}, {"1": "internal"}])
def test_an_unknown_fault_is_refused_at_once(faults):
    with pytest.raises(ValueError, match="write the number of a call, from 1, and one of rate_"):
        OfflineGemini(faults=faults)
