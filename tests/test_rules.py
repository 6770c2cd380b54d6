"""What is refused, with Gemini's status and words, and what is accepted all the same.

Each refusal and acceptance is one that a source named in rules.py shows. Signatures are opened
here by a reader of the test's own; test_protocol.py sends real ones through the SDK.
"""

import pytest
from request_json import MODEL, body, call, model, response, tool, user

from offline_gemini import Refused, rules

CALL_ORDER = (
    "Please ensure that function call turn comes immediately after a user turn or after a "
    "function response turn."
)
RESPONSE_ORDER = (
    "Please ensure that function response turn comes immediately after a function call turn."
)
RESPONSE_NUMBER = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
HI = user("Hi.")
SIGNED = call(signature="good")
OTHER = call("other_tool")
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
FILE = {"fileData": {"mimeType": "image/png", "fileUri": "files/1"}}


def read(signature: str) -> tuple[int, str] | None:
    """Stands for billing.read_signature: `good` is of this model, `foreign` of another."""
    return {"good": (5, MODEL), "foreign": (5, "gemini-3.6-pro")}.get(signature)


def refusal(request: dict, name: str = MODEL) -> Refused:
    with pytest.raises(Refused) as caught:
        rules.check(request, name, read)
    return caught.value


REFUSED = {
    "contents missing": ({}, "* GenerateContentRequest.contents: contents is not specified\n"),
    "contents empty": (
        body(),
        "* GenerateContentRequest.contents: contents is not specified\n",
    ),
    "no parts": (
        body(HI, {"role": "model", "parts": []}),
        "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.\n",
    ),
    "parts missing": (
        body({"role": "user"}),
        "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n",
    ),
    "a part with no field": (
        body(user("Hi.", {})),
        "* GenerateContentRequest.contents[0].parts[1].data: required oneof field 'data' must "
        "have one initialized field\n",
    ),
    "a part with a flag only": (
        body(HI, model({"thought": True})),
        "* GenerateContentRequest.contents[1].parts[0].data: required oneof field 'data' must "
        "have one initialized field\n",
    ),
    "a text that is null": (
        body(user({"text": None})),
        "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must "
        "have one initialized field\n",
    ),
    "another role": (
        body({"role": "assistant", "parts": [{"text": "Hi."}]}),
        "Please use a valid role: user, model.",
    ),
    "a call first": (body(model(SIGNED), user(response())), CALL_ORDER),
    "a call by the user": (body(HI, user(SIGNED), user(response())), CALL_ORDER),
    "a response first": (body(user(response())), RESPONSE_ORDER),
    "a response after a text": (body(HI, model("Hello."), user(response())), RESPONSE_ORDER),
    "a response after a user": (body(HI, user(response())), RESPONSE_ORDER),
    "a response twice": (
        body(HI, model(SIGNED), user(response()), model("One."), user(response())),
        RESPONSE_ORDER,
    ),
    "no response": (body(HI, model(SIGNED), user("Well?")), RESPONSE_NUMBER),
    "too few responses": (body(HI, model(SIGNED, OTHER), user(response())), RESPONSE_NUMBER),
    "too many responses": (body(HI, model(SIGNED), user(response(), response())), RESPONSE_NUMBER),
    "an unsigned call": (
        body(HI, model(call("find")), user(response("find"))),
        "Function call `find` in the `1.` content block is missing a `thought_signature`.",
    ),
    "an unsigned second step": (
        body(HI, model(SIGNED), user(response()), model(OTHER), user(response("other_tool"))),
        "Function call `other_tool` in the `3.` content block is missing a `thought_signature`.",
    ),
    "a first parallel call unsigned": (
        body(HI, model(OTHER, SIGNED), user(response("other_tool"), response())),
        "Function call `other_tool` in the `1.` content block is missing a `thought_signature`.",
    ),
    "a changed signature": (
        body(HI, model({"text": "One.", "thoughtSignature": "bad"}), user("Two?")),
        "Corrupted thought signature.",
    ),
    "a signature of another model": (
        body(HI, model(call(signature="foreign")), user(response())),
        "Corrupted thought signature.",
    ),
    "a changed signature on a later parallel call": (
        body(HI, model(SIGNED, call(signature="bad")), user(response(), response())),
        "Corrupted thought signature.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_refuses_what_gemini_refuses(name):
    request, message = REFUSED[name]
    refused = refusal(request)
    assert (refused.code, refused.status) == (400, "INVALID_ARGUMENT")
    assert refused.message == str(refused) == message


WRONG_TYPES = [
    ({"contents": "Hi."}, "Invalid value at 'contents[0]' (TYPE_MESSAGE), \"Hi.\""),
    ({"contents": [None]}, "Invalid value at 'contents[0]' (TYPE_MESSAGE), null"),
    (body(user({"text": 5})), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5"),
    (body(HI | {"role": 1}), "Invalid value at 'contents[0].role' (TYPE_STRING), 1"),
    (
        body({"role": "user", "parts": ["Hi."]}),
        "Invalid value at 'contents[0].parts[0]' (TYPE_MESSAGE), \"Hi.\"",
    ),
    (
        body(HI, model({"functionCall": {"name": "f", "args": [1]}})),
        "Invalid value at 'contents[1].parts[0].functionCall.args' (TYPE_MESSAGE), [1]",
    ),
    (
        body(HI, systemInstruction="Be brief."),
        "Invalid value at 'systemInstruction' (TYPE_MESSAGE), \"Be brief.\"",
    ),
    (
        body(HI, tools=["lookup"]),
        "Invalid value at 'tools[0]' (TYPE_MESSAGE), \"lookup\"",
    ),
    (
        body(HI, tools=[{"function_declarations": [{"name": 5}]}]),
        "Invalid value at 'tools[0].functionDeclarations[0].name' (TYPE_STRING), 5",
    ),
    (
        body(HI, generationConfig={"thinkingConfig": 0}),
        "Invalid value at 'generationConfig.thinkingConfig' (TYPE_MESSAGE), 0",
    ),
]


@pytest.mark.parametrize(("request_", "message"), WRONG_TYPES)
def test_a_value_of_the_wrong_type_is_refused_with_its_place(request_, message):
    refused = refusal(request_)
    assert (refused.code, refused.status, refused.message) == (400, "INVALID_ARGUMENT", message)


CLOSED = (HI, model(call()), user(response()), model("Done."))
ACCEPTED = {
    "a text": body(HI),
    "an empty text": body(user("")),
    "no role": body({"parts": [{"text": "Hi."}]}),
    "parts without a list": body({"role": "user", "parts": {"text": "Hi."}}),
    "two users in a row": body(HI, HI),
    "two models in a row": body(HI, model("One."), model("Two."), HI),
    "a first model text (not confirmed)": body(model("Welcome."), HI),
    "a call after a user": body(HI, model(SIGNED), user(response())),
    "a call after a response": body(
        HI, model(SIGNED), user(response()), model(SIGNED), user(response())
    ),
    "a text before a call": body(HI, model("Let me see.", SIGNED), user(response())),
    "a model text, then a call": body(HI, model("Let me see."), model(SIGNED), user(response())),
    "a call right after a call": body(
        HI, model(SIGNED), model(SIGNED), user(response(), response())
    ),
    "one step in two contents": body(
        HI, model(SIGNED), model(OTHER), user(response(), response())
    ),
    "responses in two contents": body(
        HI, model(SIGNED, OTHER), user(response()), user(response("other_tool"))
    ),
    "a user text after a response": body(HI, model(SIGNED), user(response()), user("And?")),
    "parallel calls, the first signed": body(
        HI, model(SIGNED, OTHER), user(response(), response("other_tool"))
    ),
    "an open call at the end": body(HI, model(SIGNED)),
    "a closed turn without signatures": body(*CLOSED, user("Next?")),
    "an image": body(user(IMAGE)),
    "a file and a text": body(user("Look.", FILE)),
    "a signature alone in a part": body(HI, model("One.", {"thoughtSignature": "good"}), HI),
    "an unsigned text in the open turn": body(HI, model("Hello.")),
    "snake case": body(
        HI,
        model({"function_call": {"name": "f"}, "thought_signature": "good"}),
        user({"function_response": {"name": "f", "response": {}}}),
        system_instruction=user("Be brief."),
    ),
    "null fields": body(HI, systemInstruction=None, tools=None, generationConfig=None),
    "tools": body(HI, tools=[tool(description="", parameters={"type": "object"})]),
    "code execution": body(HI, model({"executableCode": {"code": "1"}}), HI),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_it_accepts_what_gemini_is_not_known_to_refuse(name):
    rules.check(ACCEPTED[name], MODEL, read)


@pytest.mark.parametrize(
    "placeholder", ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]
)
def test_a_placeholder_stands_for_a_signature(placeholder):
    rules.check(body(HI, model(call(signature=placeholder)), user(response())), MODEL, read)


def test_gemini_2_5_needs_no_signature_and_reads_none():
    rules.check(body(HI, model(call()), user(response())), "gemini-2.5-flash", read)
    rules.check(body(HI, model(call(signature="bad")), user(response())), "gemini-2.5-pro", read)


def test_signatures_stay_unread_without_a_reader_but_must_be_there():
    rules.check(body(HI, model(call(signature="bad")), user(response())), MODEL)
    with pytest.raises(Refused, match="missing a `thought_signature`"):
        rules.check(body(HI, model(call()), user(response())), MODEL)


def test_the_turn_is_open_from_the_last_content_in_which_the_user_says_something():
    unsigned = (model(call()), user(response()))
    rules.check(body(HI, *unsigned, user(IMAGE)), MODEL, read)
    with pytest.raises(Refused, match="`2.` content block"):
        rules.check(body(HI, user(IMAGE), *unsigned), MODEL, read)


def test_a_prompt_may_fill_the_window_and_no_more():
    rules.check_size(1_048_576)
    with pytest.raises(Refused) as caught:
        rules.check_size(1_048_577)
    assert caught.value.status == "INVALID_ARGUMENT"
    assert caught.value.message == (
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
    )


@pytest.mark.parametrize(
    "name",
    [
        *("gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-3-pro-preview"),
        *("gemini-3.1-pro-preview", "gemini-3.1-flash-lite", "gemini-3.5-flash-lite"),
        *("gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash", "gemini-4-argon"),
        *("models/gemini-3.6-flash", "gemini-flash-latest", "gemini-3.6-flash-001"),
    ],
)
def test_the_models_that_facts_and_recordings_name_are_known(name):
    rules.check_model(name)


@pytest.mark.parametrize(
    "name", ["gemini-3.6-flahs", "gemini-3.6", "gemini-9-flash", "gpt-4", "gemini-3.6-flashy", ""]
)
def test_another_model_is_not_found(name):
    with pytest.raises(Refused) as caught:
        rules.check_model(name)
    assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")
    assert caught.value.message.startswith(f"models/{name} is not found for API version v1, or ")


@pytest.mark.parametrize("key", ["", "my key", "열쇠"])
def test_what_can_be_no_key_is_refused_as_an_invalid_key(key):
    with pytest.raises(Refused) as caught:
        rules.check_key(key)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    assert caught.value.message == "API key not valid. Please pass a valid API key."
    assert caught.value.details[0]["reason"] == "API_KEY_INVALID"
    rules.check_key("offline")
