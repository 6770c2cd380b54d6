"""A chat through each form and back: nothing the form holds is lost, the rest is named."""

import json
import tempfile
from pathlib import Path

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import FILE, IMAGE, SIGNATURES, step, transcripts

from chat_memory import LastTurns
from chat_memory.contents import check, from_json, model, to_json, turns, user
from chat_memory.dialects import Transcript, load_chat, save_chat
from chat_memory.dialects.parts import block_in, vendor_of
from chat_memory.dialects.results import dumped, parsed, written
from chat_memory.strategies import context_of

FORMS = ["gemini", "openai", "responses", "anthropic", "text"]
TOOL = {
    "name": "track",
    "description": "Where a parcel is.",
    "parametersJsonSchema": {"type": "object", "properties": {"order": {"type": "integer"}}},
}
THINKING = {"type": "thinking", "thinking": "Which order?", "signature": "RXYrL2lk/w=="}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Which order?"}],
    "encrypted_content": "gAAAAA-_-w==",
}


def through(transcript, form, name="chat.json"):
    """The transcript after it was saved in a form and loaded again, and the notes of saving."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("chat.txt" if form == "text" else name)
        notes = save_chat(transcript, path, form)
        return load_chat(path), notes


def read(rows, name="chat.json"):
    """The transcript of a file with these messages, or this body."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text(lines if name.endswith("l") else json.dumps(rows), encoding="utf-8")
        return load_chat(path)


def written_as(transcript, form):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.json"
        return save_chat(transcript, path, form), json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("key", ["part", "form", "text", "signature", "args", "own", "source"])
def test_a_key_that_nobody_knows_may_have_any_name(key):
    more = {key: "kept"}
    used = {"type": "tool_use", "id": "a", "name": "track", "input": {}, **more}
    brought = {"type": "tool_result", "tool_use_id": "a", "content": "shipped", **more}
    item = {"type": "function_call", "call_id": "a", "name": "track", "arguments": "{}", **more}
    output = {"type": "function_call_output", "call_id": "a", "output": "shipped", **more}
    ask = {"role": "user", "content": [{"type": "text", "text": "Where?", "title": "?", **more}]}
    asked = {"type": "message", "role": "user", "content": "Where?"}
    for form, messages in {
        "anthropic": [
            ask,
            {"role": "assistant", "content": [{**THINKING, **more}, used]},
            {"role": "user", "content": [brought]},
        ],
        "responses": [asked, {**REASONING, **more}, item, output],
    }.items():
        body = written_as(read(messages), form)[1]
        assert body.get("messages") == messages or body.get("input") == messages


def told(transcript, form="gemini"):
    """What a form can hold of a chat, in order: who said, called, answered or showed what."""
    story = []
    for row in to_json(transcript):
        for part in row["parts"]:
            call, result = part.get("functionCall"), part.get("functionResponse")
            data = part.get("inlineData") or part.get("fileData") or {}
            image = "inlineData" in part and data["mimeType"].startswith("image/")
            if call:
                ids = () if form == "text" else (call["id"],)
                story.append(("call", call["name"], call["args"], *ids))
            elif result:
                ids = () if form == "text" else (result["id"],)
                story.append(("result", result["name"], result["response"], *ids))
            elif part.get("text") and not part.get("thought"):
                story.append((row["role"], part["text"]))
            elif data and form == "text":
                story.append((row["role"], f"[{data['mimeType']}]"))
            elif image:
                story.append((row["role"], part["inlineData"]))
            elif form == "gemini":
                story.append((row["role"], part))
    return story


results = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), results.map(dumped), results.map(lambda r: dumped({"result": r}))))
def test_a_result_that_was_read_is_written_as_the_text_it_was(text):
    assert written(parsed(text)) == text
    assert written(parsed(dumped({"result": text}))) == dumped({"result": text})


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(max_size=4), results, max_size=3), st.text(max_size=9))
def test_a_result_that_was_written_is_read_as_the_object_it_was(result, text):
    nested = {"result": written({"result": text})}
    for each in (result, {"result": text}, {"result": dumped(result)}, nested):
        assert parsed(written(each)) == each


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a":1}', "[1]", '{"a": NaN}', '{"a": 1e5}']
)
def test_a_text_that_an_object_would_change_stays_text(text):
    assert parsed(text) == {"result": text}


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40, deadline=None)
@given(transcripts(max_turns=6))
def test_through_a_form_and_back_nothing_that_it_holds_is_lost(form, transcript):
    back, notes = through(Transcript(transcript, "Be brief.", [TOOL]), form)
    check(back)
    assert told(back, form) == told(transcript, form)
    if form != "text":
        assert (back.system, back.tools) == ("Be brief.", [TOOL])
    if form == "gemini":
        assert back == transcript and notes == []


@pytest.mark.parametrize("form", FORMS[1:])
@settings(max_examples=40, deadline=None)
@given(transcripts(max_turns=6))
def test_what_a_form_cannot_hold_is_named_with_its_message(form, transcript):
    _, notes = through(transcript, form)
    parts = [part for content in transcript for part in content.parts]
    said = " ".join(notes)
    assert ("signature" in said) == any(part.thought_signature for part in parts)
    lost = [FILE, IMAGE] if form == "text" else [FILE]
    assert ("image has no place" in said) == any(part in lost for part in parts)
    first = next((n for n, c in enumerate(transcript, 1) if FILE in c.parts), None)
    assert first is None or any(f"{first}" in note for note in notes if "image" in note)


@pytest.mark.parametrize("form", FORMS[1:4])
@settings(max_examples=30, deadline=None)
@given(transcripts(max_turns=5))
def test_what_a_form_has_read_it_writes_again_to_the_letter(form, transcript):
    once, _ = through(transcript, form)
    _, first = written_as(once, form)
    again, notes = through(once, form)
    assert (notes, again) == ([], once)
    assert written_as(again, form)[1] == first


def test_one_chat_stands_in_every_form():
    call = types.Part.from_function_call(name="track", args={"order": 48213})
    call.function_call.id = "call_1"
    answer = types.FunctionResponse(id="call_1", name="track", response={"status": "shipped"})
    history = [
        user("어디 있나요?"),
        types.Content(role="model", parts=[types.Part(text="Let me look."), call]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
        model("On its way."),
    ]
    chat = Transcript(history, "Be brief.", [TOOL])
    _, openai = written_as(chat, "openai")
    assert openai["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "어디 있나요?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "track", "arguments": '{"order": 48213}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": '{"status": "shipped"}'},
        {"role": "assistant", "content": "On its way."},
    ]
    _, responses = written_as(chat, "responses")
    assert [item["type"] for item in responses["input"]] == [
        "message",
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert responses["instructions"] == "Be brief."
    _, anthropic = written_as(chat, "anthropic")
    assert anthropic["system"] == "Be brief."
    assert anthropic["tools"][0]["input_schema"] == TOOL["parametersJsonSchema"]
    assert anthropic["messages"][1]["content"] == [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "call_1", "name": "track", "input": {"order": 48213}},
    ]
    assert anthropic["messages"][2] == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "call_1",
                "content": '{"status": "shipped"}',
            }
        ],
    }
    text, _ = through(chat, "text")
    assert len(text) == 4


def test_a_thinking_block_comes_back_byte_for_byte_and_no_other_form_gets_it():
    asked = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": [THINKING, {"type": "text", "text": "Here."}]},
    ]
    chat = read(asked)
    thought = chat[1].parts[0]
    assert (thought.thought, thought.text) == (True, "Which order?")
    assert thought.thought_signature
    assert written_as(chat, "anthropic") == ([], {"messages": asked[:1] + [asked[1]]})
    by_gemini, _ = through(chat, "gemini")
    assert written_as(by_gemini, "anthropic")[1]["messages"] == asked
    for form in ("openai", "responses", "text"):
        assert any("Thinking of another model" in n for n in through(chat, form)[1])


@pytest.mark.parametrize("signature", ["not base64!", "RXYrL2lk", "RXYrL2ls/w=", "E-v_"])
def test_a_signature_comes_back_unchanged_whatever_it_is(signature):
    asked = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": [THINKING | {"signature": signature}]},
    ]
    assert written_as(read(asked), "anthropic")[1]["messages"] == asked


def test_a_reasoning_item_comes_back_unchanged():
    two = [{"type": "summary_text", "text": t} for t in ("First.", "Then.")]
    for item in (
        REASONING,
        REASONING | {"summary": []},
        REASONING | {"summary": two, "status": "completed"},
        {"type": "reasoning", "id": "rs_2", "summary": []},
        REASONING | {"encrypted_content": "no base64"},
    ):
        items = [{"type": "message", "role": "user", "content": "Where?"}, item]
        chat = read({"input": items})
        assert written_as(chat, "responses")[1]["input"] == items
        assert any("has no place" in n or "knows" in n for n in through(chat, "openai")[1])


def test_geminis_thoughts_are_no_other_models_thinking():
    thought = types.Part(text="Hm.", thought=True, thought_signature=SIGNATURES[0])
    chat = [user("Where?"), types.Content(role="model", parts=[thought, types.Part(text="Here.")])]
    notes, body = written_as(chat, "anthropic")
    assert body["messages"][1] == {"role": "assistant", "content": "Here."}
    assert any("Thinking of another model" in note for note in notes)


def test_the_same_form_gets_back_what_only_it_knows():
    cached = {"type": "text", "text": "Hello", "cache_control": {"type": "ephemeral"}}
    document = {"type": "document", "source": {"type": "text", "data": "..."}}
    redacted = {"type": "redacted_thinking", "data": "opaque"}
    asked = [
        {"role": "user", "content": [cached, document]},
        {"role": "assistant", "content": [redacted, {"type": "text", "text": "Hi"}]},
    ]
    chat = read(asked)
    assert [vendor_of(part) for part in to_json(chat)[0]["parts"]] == [None, "anthropic"]
    assert block_in(to_json(chat)[0]["parts"][1]) == document
    assert any("document" in note and "message 1" in note for note in chat.notes)
    for form in ("anthropic", "gemini"):
        back, notes = through(chat, form)
        assert (notes, written_as(back, "anthropic")[1]["messages"]) == ([], asked)
    notes = " ".join(through(chat, "openai")[1])
    assert "cache_control" in notes and "only the form anthropic knows" in notes


def test_blocks_of_openai_come_back():
    audio = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
    image = {"type": "image_url", "image_url": {"url": "https://a.example/lamp", "detail": "low"}}
    custom = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    asked = [
        {"role": "user", "content": [audio, image], "name": "kim"},
        {"role": "assistant", "content": None, "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "done"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    ]
    chat = read(asked)
    assert written_as(chat, "openai")[1]["messages"] == asked
    assert chat[3].parts[0].text == "No."


def test_items_of_responses_come_back():
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where?"}]},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Here.", "annotations": []}],
        },
        {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
    ]
    chat = read({"output": items[1:], "input": items[:1]})
    assert [content.role for content in chat] == ["user", "model", "user"]
    plain = {"type": "message", "role": "user", "content": "Where?"}
    assert written_as(chat, "responses")[1]["input"] == [plain, *items[1:]]


def test_an_image_in_a_result_stays_with_the_result():
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"},
    }
    content = [{"type": "text", "text": "a lamp"}, image]
    asked = [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": content}],
        },
    ]
    chat = read(asked)
    found = chat[2].parts[0].function_response
    assert found.response == {"result": "a lamp"} and len(found.parts) == 1
    assert written_as(chat, "anthropic")[1]["messages"] == asked
    notes, body = written_as(chat, "openai")
    assert body["messages"][2]["content"] == "a lamp"
    assert any("image has no place" in note for note in notes)


@pytest.mark.parametrize(
    ("content", "failed", "response"),
    [
        ("no such order", True, {"error": "no such order"}),
        ('{"code": 7}', True, {"code": 7}),
        ('{"error": "late"}', False, {"error": "late"}),
        ([{"type": "text", "text": "no"}], True, {"error": ["no"]}),
        ([], False, {"result": []}),
    ],
)
def test_a_failed_result_of_anthropic_comes_back(content, failed, response):
    block = {"type": "tool_result", "tool_use_id": "1", "content": content, "is_error": failed}
    asked = [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}],
        },
        {"role": "user", "content": [block]},
    ]
    chat = read(asked)
    assert chat[2].parts[0].function_response.response == response
    (back,) = written_as(chat, "anthropic")[1]["messages"][2]["content"]
    assert {"is_error": False} | back == block


def test_the_same_strategy_works_on_every_form():
    transcript = [
        user("Where?"),
        *step(["track", "find"], SIGNATURES[0]),
        model("There."),
        user("Why?"),
    ]
    for form in FORMS:
        chat, _ = through(transcript, form)
        assert len(turns(chat)) == 2
        assert told(context_of(LastTurns(1), chat).contents) == [("user", "Why?")]


@pytest.mark.parametrize("length", [1, 5_000])
def test_a_long_chat_reads_as_a_short_one(length):
    pair = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    chat = read(pair * length)
    assert chat == from_json(to_json([user("Hi"), model("Hello")] * length))
    assert len(chat.notes) == 0


def test_lines_hold_messages_and_name_what_stands_beside_them():
    chat = Transcript([user("Hi"), model("Hello")], "Be brief.", [TOOL])
    back, notes = through(chat, "openai", "chat.jsonl")
    assert (list(back), back.system) == (list(chat), "Be brief.")
    assert notes == ["Lines hold messages only, so tools is not in the file: save it as .json."]
    _, notes = through(chat, "anthropic", "chat.jsonl")
    assert len(notes) == 2


def test_a_plain_list_is_saved_as_geminis(tmp_path):
    transcript = [user("안녕하세요"), model("네")]
    assert save_chat(transcript, tmp_path / "chat.json") == []
    assert "안녕하세요" in (tmp_path / "chat.json").read_text(encoding="utf-8")
    assert load_chat(tmp_path / "chat.json") == transcript
