"""Thought signatures through the real SDK: what they add when they come back, what is refused.

The rules themselves are proven in test_rules.py, their bill in test_billing.py.
"""

import base64

import pytest
from google.genai import errors, types
from request_json import (
    MODEL,
    ask,
    body,
    call,
    case_server,
    client_of,
    declared,
    forbid_connections,
    model,
    parts_in,
    post,
    response,
    script,
    stream,
    user,
)

from offline_gemini import OfflineGemini
from offline_gemini.scripts import Turn


@pytest.fixture(autouse=True)
def no_connection(monkeypatch):
    forbid_connections(monkeypatch)


def transcript(client, *texts: str, **fields) -> list[types.Content]:
    """The contents of a chat that asks these texts, replies kept as they came."""
    contents = []
    for text in texts:
        contents.append(types.Content(role="user", parts=[types.Part(text=text)]))
        contents.append(ask(client, contents, **fields).candidates[0].content)
    return contents


def with_signature(content: types.Content, signature: bytes | None) -> types.Content:
    first, *rest = content.parts
    changed = first.model_copy(update={"thought_signature": signature})
    return types.Content(role=content.role, parts=[changed, *rest])


def test_a_resent_signature_adds_its_thoughts_to_the_next_prompt():
    client = client_of(case_server())
    question, answer = transcript(client, "Hi.")
    bare = with_signature(answer, None)
    new = types.Content(role="user", parts=[types.Part(text="Where is it?")])
    signed_prompt, bare_prompt = (
        ask(client, [question, each, new]).usage_metadata.prompt_token_count
        for each in (answer, bare)
    )
    assert signed_prompt == bare_prompt + 40


def test_each_prompt_is_the_total_before_plus_the_question_plus_two_roles():
    client, contents, usages, questions = client_of(case_server()), [], [], []
    for text in ("Hi.", "Where is it?", "Thanks."):
        contents.append(types.Content(role="user", parts=[types.Part(text=text)]))
        reply = ask(client, contents)
        contents.append(reply.candidates[0].content)
        usages.append(reply.usage_metadata)
        counted = client.models.count_tokens(model=MODEL, contents=text)
        questions.append(counted.total_tokens)
    for before, after, question in zip(usages, usages[1:], questions[1:], strict=False):
        assert after.prompt_token_count == before.total_token_count + question + 2


def test_a_streamed_signature_counts_like_one_that_came_whole():
    client = client_of(case_server())
    chunks = stream(client, "Where is it?")
    signed = [part for chunk in chunks for part in parts_in(chunk)]
    bare = [types.Part(text=part.text) for part in signed]
    prompts = [
        ask(
            client,
            [user("Where is it?"), types.Content(role="model", parts=parts), user("Thanks.")],
        ).usage_metadata.prompt_token_count
        for parts in (signed, bare)
    ]
    assert prompts[0] == prompts[1] + 60


@pytest.mark.parametrize("place", [0, 10, -1])
def test_a_changed_signature_is_corrupted(place):
    client = client_of(case_server())
    question, answer = transcript(client, "Hi.")
    forged = bytearray(answer.parts[0].thought_signature)
    forged[place] ^= 1
    contents = [question, with_signature(answer, bytes(forged)), user("Thanks.")]
    with pytest.raises(errors.ClientError) as caught:
        ask(client, contents)
    assert (caught.value.code, caught.value.message) == (400, "Corrupted thought signature.")


@pytest.mark.parametrize("other", ["gemini-3.5-flash", "gemini-3.6-pro", "gemini-3.6-flash-lite"])
def test_a_signature_of_another_model_is_corrupted(other):
    client = client_of(case_server())
    contents = [*transcript(client, "Hi."), user("Thanks.")]
    assert ask(client, contents).candidates
    with pytest.raises(errors.ClientError, match="Corrupted thought signature."):
        ask(client, contents, name=other)


def test_both_base64_alphabets_are_read():
    """The SDK sends the URL-safe one; a run log may hold either."""
    for number in range(60):
        server = OfflineGemini([script(Turn(user=f"Hi {number}.", reply="!", thoughts=9))])
        reply = post(server, body(user(f"Hi {number}."))).chunks[0]["candidates"][0]["content"]
        signature = reply["parts"][0]["thoughtSignature"]
        if {"+", "/"} <= set(signature):
            break
    else:
        pytest.fail("no signature tells the alphabets apart")
    prompts = set()
    for spelling in (signature, signature.replace("+", "-").replace("/", "_")):
        signed = model({"text": "!", "thoughtSignature": spelling})
        sent = body(user(f"Hi {number}."), signed, user("Thanks."))
        prompts.add(post(server, sent).chunks[0]["usageMetadata"]["promptTokenCount"])
    bare = post(server, body(user(f"Hi {number}."), model("!"), user("Thanks."))).chunks[0]
    assert prompts == {bare["usageMetadata"]["promptTokenCount"] + 9}


def called(client) -> list[types.Content]:
    """An open turn: a question, two parallel calls, their responses."""
    question, calls = transcript(client, "Who brings it?", tools=declared())
    responses = [
        types.Part.from_function_response(name=part.function_call.name, response={"ok": True})
        for part in calls.parts
    ]
    return [question, calls, types.Content(role="user", parts=responses)]


def test_the_current_turns_first_call_must_be_signed():
    client = client_of(case_server())
    question, calls, responses = called(client)
    assert ask(client, [question, calls, responses], tools=declared()).text == "Mr. Kim."
    bare = with_signature(calls, None)
    with pytest.raises(errors.ClientError) as caught:
        ask(client, [question, bare, responses], tools=declared())
    assert caught.value.message == (
        "Function call `carrier` in the `1.` content block is missing a `thought_signature`."
    )


def test_signatures_of_closed_turns_may_be_dropped():
    client = client_of(case_server())
    question, calls, responses = called(client)
    closed = [question, with_signature(calls, None), responses, model("Mr. Kim.")]
    assert ask(client, [*closed, user("Thanks.")], tools=declared()).text == "You are welcome."


@pytest.mark.parametrize(
    "placeholder", [b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go"]
)
def test_a_placeholder_is_accepted_and_adds_nothing(placeholder):
    client = client_of(case_server())
    question, calls, responses = called(client)
    contents = [question, with_signature(calls, placeholder), responses]
    prompt = ask(client, contents, tools=declared()).usage_metadata.prompt_token_count
    signed = ask(client, [question, calls, responses], tools=declared()).usage_metadata
    assert prompt == signed.prompt_token_count - 15  # half of the turn's 30 thoughts


def test_gemini_2_5_needs_no_signature():
    client = client_of(case_server())
    question, calls, responses = called(client)
    bare = [question, with_signature(calls, None), responses]
    assert ask(client, bare, name="gemini-2.5-flash", tools=declared()).text == "Mr. Kim."


def test_raw_calls_without_the_sdk_follow_the_same_rules():
    contents = [user("Who brings it?"), model(call("carrier")), user(response("carrier"))]
    assert post(case_server(), body(*contents)).status == 400
    contents[1] = model(call("carrier", "skip_thought_signature_validator"))
    assert post(case_server(), body(*contents)).status == 200


def test_the_signature_of_the_offline_serveris_plain_base64():
    (part,) = post(case_server(), body(user("Hi."))).chunks[0]["candidates"][0]["content"]["parts"]
    assert base64.b64decode(part["thoughtSignature"], validate=True)
