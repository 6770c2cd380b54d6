"""The whole wire: the real SDK, sync and async, talks to the offline Gemini inside the process.

A guard makes every attempt to open a connection fail, so a request that leaves would be seen.
What is refused, said and billed is proven in test_rules.py, test_replies.py, test_billing.py;
signatures and faults have files of their own.
"""

import asyncio
import json
import socket

import pytest
from google.genai import errors, types
from request_json import (
    LONG,
    MODEL,
    ask,
    ask_async,
    body,
    case_server,
    client_of,
    declared,
    forbid_connections,
    model,
    need_vocabulary,
    parts_in,
    post,
    script,
    stream,
    stream_async,
    user,
)

from offline_gemini import Count, OfflineGemini
from offline_gemini.scripts import Turn

HOST = "https://generativelanguage.googleapis.com"
FOX = "The quick brown fox jumps over the lazy dog."


@pytest.fixture(autouse=True)
def no_connection(monkeypatch):
    forbid_connections(monkeypatch)


# --- the guard ----------------------------------------------------------------------------------


def test_the_guard_of_these_files_sees_a_request_that_leaves():
    with pytest.raises(AssertionError, match="leaves the process"):
        socket.create_connection(("localhost", 9))


# --- generateContent ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", [ask, ask_async])
def test_a_reply_has_words_usage_ids_and_a_signature(way):
    reply = way(client_of(case_server()), "Hi.")
    (part,) = parts_in(reply)
    assert part.text == "Hello." and part.thought_signature
    assert reply.candidates[0].finish_reason == types.FinishReason.STOP
    assert (reply.model_version, len(reply.response_id)) == (MODEL, 22)
    usage = reply.usage_metadata
    assert usage.thoughts_token_count == 40
    assert usage.total_token_count == (
        usage.prompt_token_count + usage.candidates_token_count + usage.thoughts_token_count
    )
    assert reply.sdk_http_response.headers["x-offline-gemini"] == "1"


def test_no_thoughts_are_no_field_and_no_signature():
    reply = ask(client_of(case_server()), "Thanks.")
    assert reply.usage_metadata.thoughts_token_count is None
    assert parts_in(reply)[0].thought_signature is None


def test_a_header_says_that_a_count_is_estimated(monkeypatch):
    monkeypatch.delenv("CHAT_MEMORY_TOKENIZER", raising=False)
    client = client_of(OfflineGemini([script(Turn(user="12", reply="34"))]))
    for text, flag in (("12", None), ("xqzzyvwk", "1")):
        headers = ask(client, text).sdk_http_response.headers
        assert headers.get("x-offline-gemini-estimated") == flag


def test_both_api_versions_and_a_key_in_the_address_are_served():
    sync, _ = case_server().clients()
    for version in ("v1", "v1beta"):
        address = f"{HOST}/{version}/models/{MODEL}:generateContent?key=abc"
        reply = sync.post(address, json=body(user("Hi.")))
        assert reply.json()["candidates"][0]["content"]["parts"][0]["text"] == "Hello."


def test_half_an_emoji_does_not_break_the_reply():
    answered = post(OfflineGemini(), json.dumps(body(user("cat \ud83d"), user("cat?"))).encode())
    assert answered.status == 200 and b"cat" in b"".join(answered.pieces())


# --- streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [stream, stream_async])
def test_a_streams_deltas_are_the_reply_and_its_last_chunk_has_the_usage(way):
    chunks = way(client_of(case_server()), "Where is it?")
    whole = ask(client_of(case_server()), "Where is it?")
    assert len(chunks) > 3
    assert "".join(parts_in(chunk)[0].text for chunk in chunks) == LONG
    assert chunks[-1].usage_metadata == whole.usage_metadata
    assert [bool(chunk.candidates[0].finish_reason) for chunk in chunks] == (
        [False] * (len(chunks) - 1) + [True]
    )
    assert {chunk.response_id for chunk in chunks} == {whole.response_id}


def test_the_usage_of_a_stream_grows_and_is_no_sum():
    chunks = stream(client_of(case_server()), "Where is it?")
    counts = [chunk.usage_metadata.candidates_token_count for chunk in chunks]
    assert counts == sorted(counts) and counts[0] < counts[-1]
    assert len({chunk.usage_metadata.prompt_token_count for chunk in chunks}) == 1


def test_the_signature_comes_in_a_last_part_with_empty_text():
    *first, last = stream(client_of(case_server()), "Where is it?")
    assert all(part.thought_signature is None for chunk in first for part in parts_in(chunk))
    (part,) = parts_in(last)
    assert part.text == "" and part.thought_signature
    whole = parts_in(ask(client_of(case_server()), "Where is it?"))[0]
    assert part.thought_signature == whole.thought_signature


@pytest.mark.parametrize("way", [stream, stream_async])
def test_calls_are_streamed_in_one_chunk(way):
    (chunk,) = way(client_of(case_server()), "Who brings it?", tools=declared())
    assert [part.function_call.name for part in parts_in(chunk)] == ["carrier", "route"]
    assert chunk.usage_metadata.total_token_count


def test_a_stream_is_lines_of_whole_responses():
    sync, _ = case_server().clients()
    address = f"{HOST}/v1/models/{MODEL}:streamGenerateContent?alt=sse"
    headers = {"x-goog-api-key": "key"}
    with sync.stream("POST", address, json=body(user("Where is it?")), headers=headers) as got:
        assert got.headers["content-type"] == "text/event-stream"
        text = "".join(got.iter_text())
    events = text.split("\r\n\r\n")
    assert events.pop() == "" and all(event.startswith("data: {") for event in events)
    for chunk in (json.loads(event.removeprefix("data: ")) for event in events):
        assert {"candidates", "usageMetadata", "modelVersion", "responseId"} <= set(chunk)


# --- countTokens, models.get --------------------------------------------------------------------


def test_count_tokens_counts_ten_where_the_bill_says_eleven():
    need_vocabulary()
    client = client_of(case_server())
    assert client.models.count_tokens(model=MODEL, contents=FOX).total_tokens == 10
    assert (
        asyncio.run(client.aio.models.count_tokens(model=MODEL, contents=FOX)).total_tokens == 10
    )
    assert ask(client, FOX).usage_metadata.prompt_token_count == 11


def test_count_tokens_leaves_out_every_role():
    contents = [user("Hi."), model("Hello."), user(FOX)]
    whole = body(*contents, systemInstruction=user("Be brief."))
    prompt = post(case_server(), whole).chunks[0]["usageMetadata"]["promptTokenCount"]
    counted = post(case_server(), {"generateContentRequest": whole}, "countTokens")
    assert counted.chunks == [{"totalTokens": prompt - 4}]
    alone = post(case_server(), body(user(FOX)), "countTokens").chunks[0]["totalTokens"]
    assert post(case_server(), body(*contents), "countTokens").chunks[0]["totalTokens"] > alone


def test_a_model_tells_its_limits():
    client = client_of(case_server())
    for card in (client.models.get(model=MODEL), asyncio.run(client.aio.models.get(model=MODEL))):
        assert card.name == f"models/{MODEL}"
        assert (card.input_token_limit, card.output_token_limit) == (1_048_576, 65_536)
        assert "generateContent" in card.supported_actions


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", [ask, ask_async, stream, stream_async])
def test_a_refusal_reaches_the_caller_as_the_sdks_client_error(way):
    client = client_of(case_server())
    with pytest.raises(errors.ClientError) as caught:
        way(client, [types.Content(role="user", parts=[types.Part(text="Hi.")]), CALL, RESPONSE])
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    assert "missing a `thought_signature`" in caught.value.message


CALL = types.Content(
    role="model", parts=[types.Part(function_call=types.FunctionCall(name="carrier", args={}))]
)
RESPONSE = types.Content(
    role="user",
    parts=[
        types.Part(function_response=types.FunctionResponse(name="carrier", response={"a": 1}))
    ],
)


def test_an_unknown_model_is_not_found():
    client = client_of(case_server())
    for tried in (
        lambda: ask(client, "Hi.", name="gemini-3.6-flahs"),
        lambda: client.models.get(model="gemini-3.6-flahs"),
        lambda: client.models.count_tokens(model="gemini-3.6-flahs", contents="Hi."),
    ):
        with pytest.raises(errors.ClientError) as caught:
            tried()
        assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")
        assert "models/gemini-3.6-flahs is not found" in caught.value.message


def test_a_bad_key_is_an_invalid_argument_with_its_reason():
    with pytest.raises(errors.ClientError) as caught:
        ask(client_of(case_server(), key="not a key"), "Hi.")
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    assert caught.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert "not a key" not in str(caught.value)


def test_a_request_without_a_key_is_refused():
    sync, _ = case_server().clients()
    reply = sync.post(f"{HOST}/v1/models/{MODEL}:generateContent", json=body(user("Hi.")))
    assert reply.status_code == 400 and "API key not valid" in reply.json()["error"]["message"]


def test_a_prompt_over_the_window_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("offline_gemini.billing.count", lambda text: Count(1_048_576, False))
    with pytest.raises(errors.ClientError) as caught:
        ask(client_of(case_server()), "Hi.")
    assert caught.value.message == (
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/files"),
        ("GET", "/v1/models"),
        ("POST", f"/v1/models/{MODEL}:embedContent"),
        ("POST", f"/v1/models/{MODEL}"),
        ("POST", f"/v2/models/{MODEL}:generateContent"),
        ("GET", "/"),
    ],
)
def test_an_unknown_route_is_not_found_in_googles_shape(method, path):
    sync, _ = case_server().clients()
    reply = sync.request(method, HOST + path, headers={"x-goog-api-key": "key"}, json={})
    assert reply.status_code == 404 and reply.headers["content-type"].startswith(
        "application/json"
    )
    assert reply.json() == {
        "error": {
            "code": 404,
            "message": "Requested entity was not found.",
            "status": "NOT_FOUND",
        }
    }


@pytest.mark.parametrize("sent", [b"", b"{", b"\xff", b"[]", b"null", b'"Hi."'])
@pytest.mark.parametrize("verb", ["generateContent", "streamGenerateContent", "countTokens"])
def test_a_body_that_is_no_json_object_is_refused(sent, verb):
    answered = post(case_server(), sent, verb)
    error = answered.chunks[0]["error"]
    assert (answered.status, error["status"]) == (400, "INVALID_ARGUMENT")
    assert error["message"].startswith("Invalid JSON payload received. ")


@pytest.mark.parametrize(
    "request_",
    [
        {"contents": "Hi."},
        body("Hi."),
        body({"role": "user", "parts": ["Hi."]}),
        body(user({"text": 5})),
        body(user("Hi."), systemInstruction="Be brief."),
        body(user("Hi."), tools="all"),
        body(user("Hi."), tools=[{"functionDeclarations": ["f"]}]),
        body(user("Hi."), generationConfig=[]),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_every_verb(request_):
    for verb in ("generateContent", "streamGenerateContent", "countTokens"):
        answered = post(case_server(), request_, verb)
        assert answered.status == 400
        assert "Invalid value at" in answered.chunks[0]["error"]["message"]
    wrapped = post(case_server(), {"generateContentRequest": request_}, "countTokens")
    assert wrapped.status == 400


def test_contents_and_parts_need_no_list_around_a_single_one():
    single = post(case_server(), {"contents": {"role": "user", "parts": {"text": "Hi."}}})
    listed = post(case_server(), body(user("Hi.")))
    assert single.status == 200
    assert single.chunks[0]["usageMetadata"] == listed.chunks[0]["usageMetadata"]
