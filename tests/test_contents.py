import base64
import json

import pytest
from google.genai import types
from hypothesis import given, settings
from transcripts import FILE, IMAGE, response, step, transcripts

from chat_memory.contents import (
    calls_of,
    check,
    from_json,
    is_turn_start,
    model,
    text_of,
    to_json,
    turns,
    user,
)
from offline_gemini import Refused


def content(role, *parts):
    return types.Content(role=role, parts=list(parts))


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        (True, user("Hello")),
        (True, content("user", IMAGE)),
        (True, content("user", FILE)),
        (True, content("user", IMAGE, types.Part(text="What is this?"))),
        (False, model("Hello")),
        (False, content("user", response("track", 1, "shipped"))),
        (False, content("user", response("track", 1, "shipped"), types.Part(text="and so?"))),
        (False, content("user", types.Part(text=""))),
        (False, types.Content(role="user")),
        (False, types.Content(role="model", parts=[IMAGE])),
    ],
)
def test_a_turn_starts_where_the_user_says_something_and_answers_no_call(starts, message):
    assert is_turn_start(message) is starts


def test_a_turn_with_a_tool_is_one_turn():
    transcript = [user("Where is it?"), *step(["track", "track"], b"s"), model("On its way.")]
    assert turns([*transcript, user("Thanks"), model("Welcome"), user("Bye")]) == [
        (0, 4),
        (4, 6),
        (6, 7),
    ]


def test_what_stands_before_the_first_question_is_no_turn():
    assert turns([model("Hello"), user("Hi")]) == [(1, 2)]
    assert turns([]) == []


def test_a_text_leaves_out_thoughts_and_calls():
    thinking = types.Part(text="Hmm.", thought=True)
    asked = content("model", thinking, types.Part(text="A"), types.Part(text="B"))
    assert text_of(asked) == "AB"
    assert [c.name for c in calls_of(step(["track", "find"], b"s")[0])] == ["track", "find"]
    assert text_of(types.Content(role="model")) == ""


@settings(max_examples=30, deadline=None)
@given(transcripts(max_turns=10))
def test_json_brings_every_content_back(transcript):
    assert from_json(json.loads(json.dumps(to_json(transcript)))) == transcript


def test_json_has_the_wire_names():
    calls, responses = to_json(step(["track"], b"\xff\xfe"))
    assert set(calls["parts"][0]) == {"functionCall", "thoughtSignature"}
    assert set(responses["parts"][0]) == {"functionResponse"}


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_signature_is_read_in_either_base64_alphabet(encode):
    raw = b"\xff\xfe\xfd\xfb\xef"
    row = {"role": "model", "parts": [{"text": "", "thoughtSignature": encode(raw).decode()}]}
    assert from_json([row])[0].parts[0].thought_signature == raw


@pytest.mark.parametrize(
    "row", [{"role": "user", "parts": [{"txt": "Hello"}]}, {"parts": "Hello"}, "Hello", None]
)
def test_a_row_that_is_no_content_is_named(row):
    with pytest.raises(ValueError, match=r"^Content 1 is no Gemini content: ") as caught:
        from_json([{"role": "user", "parts": [{"text": "Hello"}]}, row])
    assert "\n" not in str(caught.value)


def test_check_says_what_gemini_says():
    with pytest.raises(Refused, match="number of function response parts"):
        check([user("Where?"), step(["track"], b"s")[0], user("And?")])
    with pytest.raises(Refused, match="contents is not specified"):
        check([])
    check(to_json([user("JSON is taken too")]))
