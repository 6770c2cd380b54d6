"""Explicit caches over the real SDK: made, shown, used, forgotten; billed once and in full.

The figures and refusals are those of public recordings (a cache of 7,021 tokens and a new message
of 15: 7,036 prompt tokens, 7,021 of them cached). Not tested here: the implicit prefix
(test_caching.py).
"""

import asyncio
import json

import pytest
from google.genai import errors, types
from request_json import MODEL, ask, body, client_of, declared, model, parts_in, post, script, user

from chat_memory.usage import Price, cost
from offline_gemini import OfflineGemini, prompt_token_count
from offline_gemini.scripts import Call, Turn

CASE = script(
    Turn(user="My order?", reply="It is 48213.", without="Which order?", needs=("order",)),
    Turn(user="Who brings it?", steps=((Call("carrier", {}, {"name": "Kim"}),),), reply="Kim."),
    facts={"order": ("48213",)},
)
NUMBERS = "48213 " + "7" * 1100  # a digit is a token, so it weighs more than 1,024 exactly
QUESTION = user("My order?")
MISSING = "CachedContent not found"


@pytest.fixture
def client():
    return client_of(OfflineGemini([CASE], caching=True))


def make(client, text=NUMBERS, name=MODEL, **fields):
    instruction = types.Content(parts=[types.Part(text=text)])
    config = types.CreateCachedContentConfig(system_instruction=instruction, **fields)
    return client.caches.create(model=name, config=config)


def tokens_of(request):
    return prompt_token_count(request, MODEL, {})


def held(text=NUMBERS):
    return {"systemInstruction": {"parts": [{"text": text}]}}


def as_json(request):
    return json.dumps(request).encode()


def refused(act, *arguments, **fields):
    with pytest.raises(errors.APIError) as caught:
        act(*arguments, **fields)
    return caught.value.code, caught.value.status, caught.value.message


def test_what_is_told_of_a_cache(client):
    made = make(client, display_name="pins")
    assert (
        made.name.startswith("cachedContents/") and len(made.name) == len("cachedContents/") + 40
    )
    assert (made.model, made.display_name) == (f"models/{MODEL}", "pins")
    assert made.usage_metadata.total_token_count == tokens_of(held())
    assert client.caches.get(name=made.name) == made


def test_a_cache_lives_an_hour_unless_told_otherwise_and_the_clock_stands_still(client):
    made, short = make(client), make(client, ttl="90s")
    assert made.create_time == short.create_time
    assert (made.expire_time - made.create_time).total_seconds() == 3600
    assert (short.expire_time - short.create_time).total_seconds() == 90
    assert make(client, expire_time="2027-01-01T00:00:00Z").expire_time.year == 2027


def test_two_caches_of_one_text_have_two_names_and_every_client_the_same_ones(client):
    other = client_of(OfflineGemini([CASE], caching=True))
    names = [make(client).name, make(client).name]
    assert names[0] != names[1]
    assert names == [make(other).name, make(other).name]


def test_the_prompt_counts_what_is_held_and_says_that_it_was_cached(client):
    made = make(client)
    for call in range(2):  # the first call already, and not more at the second
        usage = ask(client, "My order?", cached_content=made.name).usage_metadata
        assert usage.cached_content_token_count == made.usage_metadata.total_token_count, call
        assert usage.prompt_token_count == tokens_of({"contents": [QUESTION]} | held())
        assert usage.total_token_count == (usage.prompt_token_count + usage.candidates_token_count)


def test_the_bill_is_the_cached_part_and_the_fresh_part(client):
    made, rate = make(client), Price(input=1.0, output=10.0, cached=0.1)
    usage = ask(client, "My order?", cached_content=made.name).usage_metadata
    fresh = tokens_of({"contents": [QUESTION]})
    spoken = usage.candidates_token_count * 10.0
    assert cost(usage, rate) * 1e6 == pytest.approx(tokens_of(held()) * 0.1 + fresh + spoken)


def test_a_fact_that_is_held_is_known(client):
    assert parts_in(ask(client, "My order?"))[0].text == "Which order?"
    reply = ask(client, "My order?", cached_content=make(client).name)
    assert parts_in(reply)[0].text == "It is 48213."


def test_tools_that_are_held_are_called(client):
    made = make(client, tools=declared())
    (part,) = parts_in(ask(client, "Who brings it?", cached_content=made.name))
    assert part.function_call.name == "carrier"


def test_contents_that_are_held_come_first(client):
    first = [user(NUMBERS), model("I see.")]
    config = types.CreateCachedContentConfig(contents=first)
    made = client.caches.create(model=MODEL, config=config)
    usage = ask(client, "My order?", cached_content=made.name).usage_metadata
    assert usage.cached_content_token_count == tokens_of({"contents": first})
    assert usage.prompt_token_count == tokens_of({"contents": [*first, QUESTION]})


@pytest.mark.parametrize(
    ("name", "least"),
    [(MODEL, 1024), ("gemini-3.5-flash-lite", 1024), ("gemini-2.5-flash", 2048)],
)
def test_a_cache_below_the_minimum_is_refused(client, name, least):
    assert make(client, "7" * least, name).usage_metadata.total_token_count == least
    assert refused(make, client, "7" * (least - 1), name) == (
        400,
        "INVALID_ARGUMENT",
        f"Cached content is too small. total_token_count={least - 1}, "
        f"min_total_token_count={least}",
    )


def test_a_request_may_not_send_again_what_belongs_into_the_cache(client):
    made = make(client)
    for fields in ({"system_instruction": NUMBERS}, {"tools": declared()}):
        code, status, message = refused(ask, client, "Hi", cached_content=made.name, **fields)
        assert (code, status) == (400, "INVALID_ARGUMENT")
        assert message.startswith("CachedContent can not be used with GenerateContent request")
        assert "system_instruction, tools or tool_config" in message


def test_contents_sent_again_are_billed_twice(client):
    made = client.caches.create(
        model=MODEL, config=types.CreateCachedContentConfig(contents=[user(NUMBERS)])
    )
    usage = ask(client, [user(NUMBERS), QUESTION], cached_content=made.name).usage_metadata
    twice = {"contents": [user(NUMBERS), user(NUMBERS), QUESTION]}
    assert usage.prompt_token_count == tokens_of(twice)


def test_a_cache_belongs_to_one_model(client):
    made = make(client)
    other = "gemini-3.7-flash"
    assert refused(ask, client, "Hi", other, cached_content=made.name) == (
        400,
        "INVALID_ARGUMENT",
        f"Model used by GenerateContent request (models/{other}) and CachedContent "
        f"(models/{MODEL}) has to be the same.",
    )


def test_gemini_4_takes_no_explicit_cache(client):
    code, status, message = refused(make, client, name="gemini-4-argon")
    assert (code, status) == (404, "NOT_FOUND") and "createCachedContent" in message
    names = ("gemini-4-argon", MODEL)
    actions = [client.models.get(model=name).supported_actions for name in names]
    assert ["createCachedContent" in each for each in actions] == [False, True]


def test_an_unknown_or_forgotten_cache_is_a_403(client):
    made = make(client)
    client.caches.delete(name=made.name)
    for act, fields in (
        (client.caches.get, {"name": made.name}),
        (client.caches.delete, {"name": made.name}),
        (lambda cached_content: ask(client, "Hi", cached_content=cached_content),
         {"cached_content": "cachedContents/none"}),
    ):  # fmt: skip
        code, status, message = refused(act, **fields)
        assert (code, status) == (403, "PERMISSION_DENIED") and message.startswith(MISSING)


def test_another_client_does_not_see_it(client):
    made, other = make(client), client_of(OfflineGemini([CASE], caching=True))
    assert refused(ask, other, "Hi", cached_content=made.name)[0] == 403


def test_without_caching_there_is_none():
    client = client_of(OfflineGemini([CASE]))
    code, status, message = refused(make, client)
    assert (code, status) == (501, "UNIMPLEMENTED") and "caching=True" in message
    assert refused(ask, client, "Hi", cached_content="cachedContents/none")[0] == 403


def test_a_request_needs_contents_of_its_own():
    server = OfflineGemini([CASE], caching=True)
    wanted = {"model": MODEL, "contents": [user(NUMBERS)]}
    made = server.handle("POST", "/v1/cachedContents", "key", as_json(wanted)).chunks[0]
    answered = post(server, body(cachedContent=made["name"]))
    assert "contents is not specified" in answered.chunks[0]["error"]["message"]
    assert post(server, body(QUESTION, cached_content=made["name"])).status == 200


@pytest.mark.parametrize("fields", [{"ttl": "1h"}, {"ttl": 60}, {"model": 3}, {"contents": [{}]}])
def test_a_cache_that_cannot_be_made_is_refused(fields):
    request = {"model": f"models/{MODEL}"} | held() | fields
    server = OfflineGemini([CASE], caching=True)
    answered = server.handle("POST", "/v1/cachedContents", "key", as_json(request))
    assert answered.chunks[0]["error"]["status"] == "INVALID_ARGUMENT"


def test_a_name_that_is_no_text_and_a_route_that_is_none_are_refused():
    server = OfflineGemini([CASE], caching=True)
    assert post(server, body(QUESTION, cachedContent={"name": "x"})).status == 400
    for method, path in (("PATCH", "/v1/cachedContents/x"), ("GET", "/v1/cachedContents")):
        assert server.handle(method, path, "key", b"{}").status == 404


def test_the_async_client_and_a_stream_use_it_too(client):
    async def used():
        instruction = types.Content(parts=[types.Part(text=NUMBERS)])
        config = types.CreateCachedContentConfig(system_instruction=instruction)
        made = await client.aio.caches.create(model=MODEL, config=config)
        kept = types.GenerateContentConfig(cached_content=made.name)
        chunks = await client.aio.models.generate_content_stream(
            model=MODEL, contents="My order?", config=kept
        )
        *_, last = [chunk async for chunk in chunks]
        return made.usage_metadata, last.usage_metadata

    made, usage = asyncio.run(used())
    assert usage.cached_content_token_count == made.total_token_count > 1024
