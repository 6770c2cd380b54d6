"""Files as logs really are: wrapped, damaged, cut off. One sentence, or a repair that is named."""

import copy
import json
import tempfile
from pathlib import Path

import pytest
from google.genai.errors import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import MODEL, SIGNATURES, step

from chat_memory import ChatSession, connect, play
from chat_memory.contents import check, from_json, kind, to_json, user
from chat_memory.dialects import ChatFileError, Transcript, load_chat, save_chat, sendable

HELLO = {"role": "user", "content": "Where is it?"}
BYE = {"role": "assistant", "content": "On its way."}


def asked(name="a", **more):
    function = {"name": "track", "arguments": "{}"}
    call = {"type": "function", "function": function} | ({"id": name} if name else {})
    return {"role": "assistant", "content": None, "tool_calls": [call]} | more


def answered(name="a", content="shipped"):
    return {"role": "tool", "content": content} | ({"tool_call_id": name} if name else {})


@pytest.fixture
def load(tmp_path):
    """Load a file with this text, these bytes, or this JSON."""

    def load(data, name="chat.json", **options):
        if not isinstance(data, str | bytes):
            data = json.dumps(data)
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return load_chat(path, **options)

    return load


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", r"chat\.json holds no message: give a file with at least one\."),
        (" \n ", r"holds no message"),
        ([], r"holds no message"),
        ({"messages": []}, r"holds no message"),
        ([{"role": "system", "content": "Be brief."}], r"holds no message"),
        ('[{"role": "user",\n "content": "Hel', r"Line 2 of .*chat\.json is no whole JSON"),
        ('{"role": "user", "content": "a"}\n{"role": "us', r"Line 2 of .* is no whole JSON"),
        ("Hello", r"Line 1 of .* is no whole JSON"),
        ("[" * 100_000, r"nested too deeply|is no whole JSON"),
        (b'[{"role": "user",\n"content": "\xff"}]', r"Line 2 of .*chat\.json is not UTF-8"),
        ('{"cost": 3}', r"No chat is found in the file: give a list of messages"),
        ("3", r"Message 1 is of the type int"),
        ([HELLO, "Hello"], r"Message 2 is of the type str"),
        (["Hello", "Bye"], r"Message 1 is of the type str"),
        ([HELLO, None], r"Message 2 is of the type NoneType"),
        ([HELLO, {"content": "Hi"}], r"Message 2 has no role: in the form openai"),
        (
            [HELLO, {"role": "human"}],
            r"Message 2 has the role 'human': in the form openai give it one of",
        ),
        ([{"role": ["user"], "content": "a"}], r"Message 1 has the role \['user'\]"),
        ([HELLO | {"content": 3}], r"Message 1 has a value of a wrong type at content: mend it"),
        (
            [HELLO, asked(), {"role": "user", "content": [{"type": "tool_result"}]}],
            r"Message 2 is in the form openai, and message 3 in the form anthropic",
        ),
        (
            [{"role": "user", "parts": [{"text": "Hi"}]}, asked()],
            r"Message 1 is in the form gemini, and message 2 in the form openai",
        ),
        ({"scenario": "", "calls": []}, "No chat is found"),
        ([[HELLO], [BYE]], None),
    ],
)
def test_what_cannot_be_read_is_one_sentence(load, data, sentence):
    if sentence is None:
        assert load(data)
        sentence, options = r"There is no chat 3 in .*; it holds 2: take a number", {"chat": 3}
    else:
        options = {}
    with pytest.raises(ChatFileError, match=sentence) as caught:
        load(data, **options)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value._render_traceback_() == [f"ChatFileError: {caught.value}"]


@pytest.mark.parametrize("path", [42, None, ["chat.json"]])
def test_what_is_no_path_is_one_sentence(path):
    with pytest.raises(ChatFileError, match=f"this is of the type {type(path).__name__}: give"):
        load_chat(path)


@pytest.mark.parametrize(
    "rows",
    [
        [HELLO, BYE, {"role": "user"}],
        [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model"}, {"role": "user"}],
        [{"type": "message", "role": "user", "content": []}, HELLO | {"type": "message"}],
        {"system": "Be brief.", "messages": [HELLO, BYE, {"role": "user", "content": None}]},
    ],
)
def test_a_message_without_content_is_named(load, rows):
    (note,) = load(rows).notes
    assert note.startswith("A message has no content; it is kept with an empty text (message")
    assert load([HELLO, {"role": "assistant", "content": ""}]).notes == []


def test_a_reply_that_no_question_stands_before_is_named(load):
    begins = "The chat begins with a reply of the model; no question stands before it."
    assert load([BYE, HELLO]).notes == [begins]
    assert load([{"role": "model", "parts": [{"text": "Hi"}]}]).notes == [begins]
    assert begins not in load([asked(), answered(), BYE]).notes  # one is put in


def test_a_file_that_is_missing_large_or_a_folder_is_named(tmp_path, monkeypatch):
    with pytest.raises(ChatFileError, match=r"none\.json can't be read \(No such file"):
        load_chat(tmp_path / "none.json")
    with pytest.raises(ChatFileError, match="can't be read"):
        load_chat(tmp_path)
    path = tmp_path / "large.json"
    with open(path, "wb") as file:
        file.truncate(20_000_001)
    with pytest.raises(ChatFileError, match=r"has 20\.0 MB, and at most 20 MB are read"):
        load_chat(path)


@pytest.mark.parametrize(
    ("rows", "kinds", "note"),
    [
        (
            [HELLO, asked(None), answered(None)],
            "user call response",
            "no id; one is made up (mess",
        ),
        ([HELLO, asked(), answered(None)], "user call response", "A result has no id"),
        ([HELLO, asked(), HELLO], "user call response user", "A call of track has no result"),
        ([HELLO, asked(), BYE, HELLO], "user call response model user", "A call of track has no"),
        ([HELLO, asked("a"), asked("b"), answered("b")], None, "A call of track has no result"),
        ([HELLO, asked()], "user call", ""),
        ([HELLO, answered(), BYE], "user model model", "A result has no call; it is kept as an"),
        ([answered(), BYE], "model model", "A result has no call"),
        ([HELLO, asked(), answered(), answered(content="lost"), BYE], None, "a second result"),
        ([HELLO, asked(), HELLO, answered()], "user call response user", "follows the result now"),
        ([asked(), answered(), BYE], "user call response model", "The chat begins with a call"),
        ([HELLO, asked(cost=3, agent="a"), answered()], "user call response", "The key cost has"),
        ([HELLO, {"role": "developer", "content": "x"}, BYE], "user user model", "system message"),
        ([HELLO | {"content": [{"type": "video"}]}], "user", "of the type video is kept as unkn"),
    ],
)
def test_what_is_damaged_is_repaired_and_named(load, rows, kinds, note):
    chat = load(rows)
    check(chat)
    if kinds:
        assert [kind(content) for content in chat] == kinds.split()
    assert any(note in each for each in chat.notes) if note else chat.notes == []
    assert len(chat.notes) == len(set(chat.notes))


@pytest.mark.parametrize(
    "rows",
    [
        [HELLO, answered(), BYE],
        [HELLO, asked(), answered(), answered(content="lost"), BYE],
        [asked(), answered(), BYE],
        [HELLO, {"role": "system", "content": "Now in Korean."}, BYE],
        [HELLO, asked() | {"content": "Let me see."}, answered(content='{"a":1}'), BYE],
    ],
)
def test_what_was_repaired_is_written_as_it_was(load, rows, tmp_path):
    assert save_chat(load(rows), tmp_path / "back.json") == []
    back = json.loads((tmp_path / "back.json").read_text(encoding="utf-8"))["messages"]
    assert back == rows


CALL = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [IMAGE], "is_error": True}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "RXYr"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
CUSTOM = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "x"}}
REASONING = {"type": "reasoning", "id": "r", "encrypted_content": "gAAA"}
SUMMARY = {"summary": [{"type": "summary_text", "text": "a"}]}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "y"}
BODIES = [
    {"messages": [HELLO, asked(), answered(), BYE], "tools": [{"function": {"name": "track"}}]},
    [
        HELLO | {"content": [PICTURE]},
        {"role": "assistant", "tool_calls": [CUSTOM], "refusal": "no"},
        answered("c", [{"type": "text", "text": "t"}]),
    ],
    {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            HELLO,
            {"role": "assistant", "content": [THINKING, CALL]},
            {"role": "user", "content": [RESULT, IMAGE]},
        ],
    },
    {
        "input": [
            REASONING | SUMMARY,
            {"type": "function_call", "call_id": "c", "name": "p", "arguments": "{}"},
            OUTPUT,
        ],
        "instructions": "Be brief.",
    },
    {
        "contents": to_json([user("Where?"), *step(["track", "find"], SIGNATURES[0])]),
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": "track"}]}],
    },
    [{"type": "user", "message": HELLO}, {"type": "assistant", "message": BYE, "uuid": "u"}],
]
JUNK = [None, 3, "x", "", [], {}, True, [1], {"a": 1}, [None], {"type": "text"}, ["x"]]


def places(value, place=()):
    """Every place in a JSON value, as the keys and indices that lead there."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*place, key)
        if isinstance(each, dict | list):
            yield from places(each, (*place, key))


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from(BODIES))
def test_whatever_is_wrong_in_a_file_it_is_a_chat_or_one_sentence(data, body):
    body = copy.deepcopy(body)
    for _ in range(data.draw(st.integers(1, 3))):
        found = list(places(body))
        *way, last = data.draw(st.sampled_from(found)) if found else ("",)
        inside = body
        for key in way:
            inside = inside[key]
        if found and data.draw(st.booleans()):
            inside[last] = copy.deepcopy(data.draw(st.sampled_from(JUNK)))
        elif found:
            del inside[last]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.json"
        path.write_text(json.dumps(body), encoding="utf-8")
        try:
            chat = load_chat(path)
        except ChatFileError as error:
            assert "\n" not in str(error)
            return
        check(chat)
        sendable(chat)
        for form in ("openai", "responses", "anthropic"):  # may hold nothing of it
            save_chat(chat, path, form)
        for form in ("gemini", chat.form):
            save_chat(chat, path, form)
            check(load_chat(path))


def test_results_out_of_order_stand_in_the_order_of_their_calls(load):
    both = asked("a")
    both["tool_calls"] += asked("b")["tool_calls"]
    chat = load([HELLO, both, answered("b", "late"), answered("a", "first")])
    found = [part.function_response for part in chat[2].parts]
    assert [(each.id, each.response["result"]) for each in found] == [
        ("a", "first"),
        ("b", "late"),
    ]


def test_an_id_that_is_used_again_answers_its_own_call(load):
    chat = load([HELLO, asked(), answered(), asked(), answered(content="again"), BYE])
    assert [kind(c) for c in chat] == ["user", "call", "response", "call", "response", "model"]
    assert chat.notes == []


def test_many_messages_with_one_fault_are_one_note(load):
    chat = load([HELLO | {"cost": 1}, BYE] * 40)
    assert chat.notes == [
        "The key cost has no place in a chat and is not kept (messages 1, 3, 5, 7, 9 and 35 more)."
    ]


@pytest.mark.parametrize(
    ("wrapped", "messages"),
    [
        ({"messages": [HELLO, BYE], "model": "m"}, 2),
        ({"history": [HELLO, BYE], "info": {"cost": 1}}, 2),
        ([{"task_id": 0, "traj": [HELLO, BYE]}, {"task_id": 1, "traj": [HELLO]}], 2),
        ({"input": "Hi", "output": [{"type": "message", "role": "assistant", "content": "a"}]}, 2),
        ([{"message": HELLO, "uuid": "1"}, {"message": BYE, "uuid": "2"}], 2),
        (HELLO, 1),
    ],
)
def test_a_chat_is_found_in_what_logs_wrap_it_in(load, wrapped, messages):
    chat = load(wrapped)
    assert len(chat) == messages
    if wrapped is not HELLO and wrapped != [HELLO, BYE]:
        beside = ("model", "info", "task_id", "uuid")
        assert any(key in " ".join(chat.notes) for key in beside) or "input" in wrapped


def test_lines_of_claude_code_are_one_chat(load):
    def row(kind, content, aside=False, **more):
        message = {"role": kind, "content": content} | more
        return {"type": kind, "uuid": "u", "isSidechain": aside, "message": message}

    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "text"}
    rows = [
        {"type": "summary", "summary": "A lamp"},
        row("user", "Look."),
        row("assistant", [{"type": "text", "text": "I look."}], id="m1", usage={"input": 1}),
        row("assistant", [use], id="m1"),
        row("assistant", [{"type": "text", "text": "aside"}], aside=True),
        row("user", [result]),
        row("assistant", [{"type": "text", "text": "A lamp."}], id="m2"),
    ]
    chat = load("\n".join(map(json.dumps, rows)), "log.jsonl")
    assert [kind(content) for content in chat] == ["user", "call", "response", "model"]
    assert [part.text for part in chat[1].parts] == ["I look.", None]
    said = " ".join(chat.notes)
    assert "isSidechain" in said and "summary" in said and "another agent" in said
    assert "The key usage" in said


def test_lines_of_codex_are_one_chat(load):
    payloads = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "text"},
    ]
    rows = [{"type": "session_meta", "payload": {"id": "x"}}]
    rows += [{"type": "response_item", "payload": payload} for payload in payloads]
    chat = load("\n".join(map(json.dumps, rows)), "rollout.jsonl")
    assert (chat.form, [kind(c) for c in chat]) == ("responses", ["user", "call", "response"])


def test_whole_chats_in_lines_are_counted_and_one_is_taken(load):
    lines = "\n".join(json.dumps({"messages": [HELLO | {"content": n}, BYE]}) for n in "abc")
    chat = load(lines, "many.jsonl", chat=2)
    assert chat[0].parts[0].text == "b"
    assert "The file holds 3 chats, and this is number 2." in chat.notes


def test_a_run_log_of_ours_is_a_chat(tmp_path):
    session = play("support", ChatSession(connect(offline=True, quiet=True)), turns=3)
    chat = load_chat(session.save(tmp_path / "run.json"))
    assert to_json(chat) == to_json(session.transcript)
    assert chat.tools and chat.system


@pytest.mark.parametrize("name", ["SWE-agent", "old", "dict"])
def test_habits_of_other_programs_are_read(load, name):
    call = asked()
    rows = [HELLO, call, answered(), BYE]
    if name == "SWE-agent":
        rows[2] = {"role": "tool", "content": "shipped", "tool_call_ids": ["a"], "agent": "main"}
    if name == "old":
        rows[1] = {"role": "assistant", "function_call": {"name": "track", "arguments": "{}"}}
        rows[2] = {"role": "function", "name": "track", "content": "shipped"}
    if name == "dict":
        call["tool_calls"][0]["function"]["arguments"] = {}
    chat = load(rows)
    assert [kind(content) for content in chat] == ["user", "call", "response", "model"]
    assert chat[1].parts[0].function_call.args == {}
    assert chat.notes


def test_thinking_beside_the_text_is_thinking(load, tmp_path):
    rows = [HELLO, BYE | {"reasoning_content": "Hm."}]
    chat = load(rows)
    assert [part.thought for part in chat[1].parts] == [True, None]
    assert save_chat(chat, tmp_path / "back.json") == []
    back = json.loads((tmp_path / "back.json").read_text(encoding="utf-8"))
    assert back["messages"] == rows


def test_old_spellings_of_geminis_contents_are_read(load):
    rows = [
        {"role": "user", "parts": ["Where?"], "when": "now"},
        {"role": "model", "parts": [{"function_call": {"name": "track", "args": {}}}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "track", "response": {}}}]},
        {"parts": [{"text": "And now?"}, {"hologram": 1}]},
    ]
    body = {"contents": rows, "system_instruction": {"parts": {"text": "Be brief."}}}
    chat = load(body)
    assert [kind(content) for content in chat] == ["user", "call", "response", "user"]
    assert chat.system == "Be brief."
    said = " ".join(chat.notes)
    assert "hologram" in said and "no role" in said and "The key when" in said


def test_a_list_that_gemini_refuses_is_repaired(load):
    transcript = [user("Where?"), *step(["track", "find"], SIGNATURES[0])]
    rows = to_json([*transcript[:2], user("Hello?")])
    chat = load(rows)
    check(chat)
    assert [kind(content) for content in chat] == ["user", "call", "response", "user"]
    assert chat[1].parts[0].thought_signature == SIGNATURES[0]


def test_half_a_letter_becomes_a_question_mark(load):
    chat = load('[{"role": "user", "content": "a \\ud83d b"}]')
    assert chat[0].parts[0].text == "a ? b"
    assert chat.notes == ["Half a letter (a lone surrogate) became a question mark."]
    assert load('[{"role": "user", "content": "\\ud83d\\ude00"}]').notes == []


def test_plain_text_is_read(load):
    chat = load("Where is it?\n\nAnd now?\n/clear\nBye\n", "chat.txt")
    assert [content.role for content in chat] == ["user"] * 3
    assert chat.notes == [
        "The line /clear is a command and no message; it is left out (message 3)."
    ]
    text = (
        'user: Look.\ncall: track {"a": 1}\nresponse: track {"b": 2}\nmodel: Yes.\n  Here.\nodd\n'
    )
    chat = load(text, "chat.log")
    assert [kind(content) for content in chat] == ["user", "call", "response", "model"]
    assert chat[3].parts[0].text == "Yes.\nHere.\nodd"
    assert ["Line 6 is not indented" in note for note in chat.notes] == [True]
    assert load(text.replace("\n", "\r\n"), "chat.txt") == chat
    assert "can be read" in " ".join(load("user: a\ncall: track 3\n", "c.txt").notes)


def test_a_chat_is_saved_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "chat.json"
    save_chat([user("Hi")], path)
    before = path.read_bytes()
    with pytest.raises(ChatFileError, match="There is no form 'xml': take one of gemini, openai"):
        save_chat([user("Hi")], path, "xml")
    with pytest.raises(ChatFileError, match="half a letter"):
        save_chat([user("\ud83d")], path)
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(ChatFileError, match=r"can't be written \(full\): name another place"):
        save_chat([user("Hello")], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["chat.json"]


def send(transcript):
    client = connect(offline=True, quiet=True)
    return client.models.generate_content(model=MODEL, contents=list(transcript))


def test_an_imported_chat_is_accepted_with_the_placeholder_and_refused_without(load):
    both = asked("b")
    both["tool_calls"] += asked("c")["tool_calls"]
    rows = [HELLO, asked(), answered(), BYE, HELLO, both, answered("b"), answered("c")]
    chat = load([*rows, asked("d"), answered("d")])
    with pytest.raises(ClientError, match="missing a `thought_signature`"):
        send(chat)
    ready = sendable(chat)
    assert send(ready).candidates
    signed = [[bool(p.thought_signature) for p in c.parts if p.function_call] for c in ready]
    assert signed == [[], [False], [], [], [], [True, False], [], [True], []]
    assert not any(part.thought_signature for content in chat for part in content.parts)


def test_a_signature_that_is_there_stays(load):
    transcript = [user("Where?"), *step(["track"], SIGNATURES[0])]
    assert sendable(transcript) == transcript


def test_what_gemini_does_not_know_is_not_sent(load):
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "RXYr"}
    use = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    document = {"type": "document", "source": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [document]}
    cached = {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}}
    rows = [
        {"role": "user", "content": [cached, document]},
        {"role": "assistant", "content": [thinking]},
        {"role": "assistant", "content": [thinking, use]},
        {"role": "user", "content": [result]},
    ]
    ready = sendable(load(rows))
    assert [kind(content) for content in ready] == ["user", "call", "response"]
    assert "partMetadata" not in json.dumps(to_json(ready))
    assert "vnd.chat-memory" not in json.dumps(to_json(ready))
    assert send(ready).candidates


def test_a_transcript_says_what_it_is():
    chat = Transcript(from_json([{"role": "user", "parts": [{"text": "Hi"}]}]), notes=["a", "b"])
    assert repr(chat) == "Transcript(1 messages, gemini, 2 notes)"
    assert chat == [user("Hi")]
