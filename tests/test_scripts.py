"""Conversation files: what is read, and each way to break one, with the sentence it brings.

A broken file is the sound one of this file with one thing changed, so that a test shows what is
wrong in it. What is answered from a script is in test_replies.py.
"""

import unicodedata

import pytest

from offline_gemini import ScriptError, load_script
from offline_gemini.scripts import Call, Turn, fold, visible

SOUND = """\
title = "A late order"
language = "en"
system = "You answer for a shop."
pinned = ["The customer is Ada."]

[facts]
order = ["48213", "48 213"]

[[tools]]
name = "lookup_order"
description = "Finds an order."
parameters = { type = "object", properties = { order_id = { type = "string" } } }

[[turns]]
user = "My order 48213 is late."
states = ["order"]
reply = "I am sorry."

[[turns]]
command = "/clear"

[[turns]]
user = "Where is it now?"
needs = ["order"]
steps = [[{ name = "lookup_order", args = { order_id = "48213" }, result = { days = 2 } }]]
reply = "It comes in two days."
without = "Which order is it?"
outdated = "That was the old number."
again = "I told you: 48213."
thoughts = 12
without_thoughts = 3
probe = true
"""


@pytest.fixture
def write(tmp_path):
    """Write a conversation file and give its path."""

    def put(text: str | bytes, name: str = "late.toml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


def broken(path) -> str:
    """What is said of a file that can't be used: one sentence that begins with its name."""
    with pytest.raises(ScriptError) as caught:
        load_script(path)
    sentence = str(caught.value)
    assert sentence.startswith(path.name) and sentence.endswith(".")
    assert isinstance(caught.value, ValueError) and "\n" not in sentence
    return sentence


def test_every_field_of_a_file_is_read(write):
    script = load_script(write(SOUND))
    assert (script.name, script.title, script.language) == ("late.toml", "A late order", "en")
    assert script.system == "You answer for a shop."
    assert script.pinned == ("The customer is Ada.",)
    assert script.facts == {"order": ("48213", "48 213")}
    assert [tool["name"] for tool in script.tools] == ["lookup_order"]
    first, clear, last = script.turns
    assert first == Turn(user="My order 48213 is late.", states=("order",), reply="I am sorry.")
    assert clear == Turn(command="/clear")
    assert last == Turn(
        user="Where is it now?",
        needs=("order",),
        steps=((Call("lookup_order", {"order_id": "48213"}, {"days": 2}),),),
        reply="It comes in two days.",
        without="Which order is it?",
        outdated="That was the old number.",
        again="I told you: 48213.",
        thoughts=12,
        without_thoughts=3,
        probe=True,
    )


def test_what_a_file_leaves_out_has_a_default(write):
    script = load_script(write('[[turns]]\nuser = "Hi."\nreply = "Hello."\n'))
    assert (script.title, script.language, script.system) == ("late.toml", "en", "")
    assert script.turns == (Turn(user="Hi.", reply="Hello."),)
    assert (script.pinned, script.facts, script.tools) == ((), {}, ())


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    ],
    ids=["BOM", "CRLF", "both"],
)
def test_a_byte_order_mark_and_the_line_ends_of_windows_change_nothing(write, encode):
    assert load_script(write(encode(SOUND))) == load_script(write(SOUND))


def test_a_text_file_holds_one_message_a_line(write):
    text = "\ufeffMy order is late.\r\n\r\n  /clear  \r\nWhere is it?\n"
    script = load_script(write(text, "late.txt"))
    assert script.turns == (
        Turn(user="My order is late."),
        Turn(command="/clear"),
        Turn(user="Where is it?"),
    )
    assert load_script(write("Hi.", "LATE.TXT")).turns == (Turn(user="Hi."),)


def test_korean_is_read_as_it_is(write):
    text = 'language = "ko"\n[[turns]]\nuser = "주문이 늦어요."\nreply = "죄송합니다."\n'
    assert load_script(write(text)).turns == (Turn(user="주문이 늦어요.", reply="죄송합니다."),)


# --- files that can't be read -------------------------------------------------------------------


def test_a_missing_file_is_named_with_what_to_do(tmp_path):
    path = tmp_path / "gone.toml"
    with pytest.raises(ScriptError) as caught:
        load_script(path)
    assert (
        str(caught.value) == f"{path} can't be read (No such file or directory): check the path."
    )


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (
            "주문".encode("cp949"),
            "late.toml",
            "late.toml is not UTF-8: save it with that encoding.",
        ),
        ("Hi.".encode("utf-16"), "late.txt", "late.txt is not UTF-8: save it with that encoding."),
        (b"", "late.txt", "late.txt is empty: write one message a line."),
        (b" \n\t\n", "late.txt", "late.txt is empty: write one message a line."),
        (b"/clear\n", "late.txt", "late.txt holds only /clear: write one message a line."),
        (b"", "late.toml", "late.toml has no [[turns]]: add at least one."),
        (b"turns = []", "late.toml", "late.toml has no [[turns]]: add at least one."),
    ],
)
def test_a_file_without_readable_messages_is_refused(write, content, name, sentence):
    assert broken(write(content, name)) == sentence


def test_a_folder_is_refused(tmp_path):
    folder = tmp_path / "late.toml"
    folder.mkdir()
    assert broken(folder) == "late.toml is a folder: name a .toml or .txt file in it."


def test_the_folder_one_stands_in_has_a_name_too():
    with pytest.raises(ScriptError, match=r"^\. is a folder: name a \.toml"):
        load_script(".")


def test_what_is_not_toml_is_refused_with_its_line(write):
    sentence = broken(write(SOUND.replace('title = "A late order"', "title = A late order")))
    assert sentence.startswith("late.toml is not TOML: ") and "line 1" in sentence


def test_a_json_file_is_refused_too(write):
    assert broken(write("{}", "late.json")).startswith("late.json is not TOML: ")


# --- files that break the format ----------------------------------------------------------------

STEP = (
    'steps = [[{ name = "lookup_order", args = { order_id = "48213" }, result = { days = 2 } }]]'
)
REPLY = 'reply = "It comes in two days."'
BROKEN = {  # what is replaced, by what, and what the sentence says after the file's name
    "unknown field": ("title =", "titel =", " has an unknown field titel: known are title,"),
    "unknown field of a turn": (
        "probe = true",
        "prob = true",
        ": turn 3 has an unknown field prob: known are user,",
    ),
    "unknown field of a tool": (
        'description = "Finds',
        'describes = "Finds',
        ": tool 1 has an unknown field describes: known are name,",
    ),
    "unknown field of a call": (
        "result = { days",
        "results = { days",
        ": turn 3: a call has an unknown field results: known are name,",
    ),
    "title no text": ('title = "A late order"', "title = 5", ": title must be a text, not 5."),
    "language": ('"en"', '"fr"', ": language must be one of en, ko."),
    "pinned no list": (
        '["The customer is Ada."]',
        '"The customer is Ada."',
        ": pinned must be a list, not 'The customer is Ada.'.",
    ),
    "pinned blank": (
        '["The customer is Ada."]',
        '["  "]',
        ": pinned must be a list of texts, none of them blank.",
    ),
    "facts no table": (
        '[facts]\norder = ["48213", "48 213"]',
        'facts = ["48213"]',
        ": facts must be a table, not ['48213'].",
    ),
    "fact no list": (
        '["48213", "48 213"]',
        '"48213"',
        ": fact order needs a list of its spellings.",
    ),
    "fact empty": ('["48213", "48 213"]', "[]", ": fact order needs a list of its spellings."),
    "fact a number": (
        '["48213", "48 213"]',
        "[48213]",
        ": fact order must be a list of texts, none of them blank.",
    ),
    "fact blank": (
        '"48 213"]',
        '" "]',
        ": fact order must be a list of texts, none of them blank.",
    ),
    "tools no list": (
        "[[tools]]",
        "[tools]",
        ": tools must be a list, not {'name': 'lookup_order',",
    ),
    "tool without a name": ('name = "lookup_order"\n', "", ": tool 1 has no name: give it one."),
    "tool with a date": (
        'type = "string" }',
        'type = "string", default = 2026-07-01 }',
        ": tool 1 holds 2026-07-01, which JSON can't: put it in quotes.",
    ),
    "user and command": (
        'command = "/clear"',
        'command = "/clear"\nuser = "Hi."',
        ": turn 2 needs either user or command, and not both.",
    ),
    "neither user nor command": (
        'user = "Where is it now?"\n',
        "",
        ": turn 3 needs either user or command, and not both.",
    ),
    "unknown command": (
        '"/clear"',
        '"/reset"',
        ": turn 2: the only command is /clear, and it takes no other field.",
    ),
    "command with a reply": (
        'command = "/clear"',
        'command = "/clear"\nreply = "Done."',
        ": turn 2: the only command is /clear, and it takes no other field.",
    ),
    "user blank": (
        '"Where is it now?"',
        '"  "',
        ": turn 3 needs a user text and a reply, neither of them blank.",
    ),
    "user only marks": (
        '"Where is it now?"',
        '"...?"',
        ": turn 3 needs a user text and a reply, neither of them blank.",
    ),
    "no reply": (
        REPLY,
        "",
        ": turn 3 needs a user text and a reply, neither of them blank.",
    ),
    "reply blank": (
        REPLY,
        'reply = " "',
        ": turn 3 needs a user text and a reply, neither of them blank.",
    ),
    "user no text": ('"Where is it now?"', "7", ": turn 3: user must be a text, not 7."),
    "thoughts no number": (
        "thoughts = 12",
        'thoughts = "12"',
        ": turn 3: thoughts must be a whole number, not '12'.",
    ),
    "thoughts a fraction": (
        "thoughts = 12",
        "thoughts = 1.5",
        ": turn 3: thoughts must be a whole number, not 1.5.",
    ),
    "thoughts true": (
        "thoughts = 12",
        "thoughts = true",
        ": turn 3: thoughts must be a whole number, not True.",
    ),
    "thoughts negative": (
        "without_thoughts = 3",
        "without_thoughts = -3",
        ": turn 3: without_thoughts must be a whole number, not -3.",
    ),
    "probe no truth": (
        "probe = true",
        'probe = "yes"',
        ": turn 3: probe must be true/false, not 'yes'.",
    ),
    "states no list": (
        'states = ["order"]',
        'states = "order"',
        ": turn 1: states must be a list, not 'order'.",
    ),
    "needs no texts": (
        'needs = ["order"]',
        "needs = [1]",
        ": turn 3: needs must be a list of texts, none of them blank.",
    ),
    "step no list": (
        STEP,
        'steps = [{ name = "lookup_order", args = {}, result = 1 }]',
        ": turn 3: a step is a list of calls, [{ name = ..., args = ... }].",
    ),
    "step empty": (
        STEP,
        "steps = [[]]",
        ": turn 3: a step is a list of calls, [{ name = ..., args = ... }].",
    ),
    "call no table": (STEP, "steps = [[1]]", ": turn 3: a call must be a table."),
    "call without result": (
        ", result = { days = 2 }",
        "",
        ": turn 3: a call needs name, args and result.",
    ),
    "call args no table": (
        'args = { order_id = "48213" }',
        'args = ["48213"]',
        ": turn 3: a call: args must be a table, not ['48213'].",
    ),
    "call with a date": (
        "days = 2 }",
        "days = [2026-07-01] }",
        ": turn 3: call lookup_order holds 2026-07-01, which JSON can't: put it in quotes.",
    ),
    "call with infinity": (
        "days = 2 }",
        "days = inf }",
        ": turn 3: call lookup_order holds inf, which JSON can't: put it in quotes.",
    ),
    "call of an unknown tool": (
        'steps = [[{ name = "lookup_order"',
        'steps = [[{ name = "find_order"',
        ": turn 3 calls find_order, which is not in [[tools]]: declare it there.",
    ),
    "unknown fact stated": (
        'states = ["order"]',
        'states = ["orders"]',
        ": turn 1 uses the fact orders, which is not in [facts]: add it there.",
    ),
    "unknown fact needed": (
        'needs = ["order"]',
        'needs = ["number"]',
        ": turn 3 uses the fact number, which is not in [facts]: add it there.",
    ),
    "fact stated but not said": (
        "My order 48213 is late.",
        "My order 148213 is late.",
        ": turn 1 states order, but its text has no spelling of it: write one in it.",
    ),
    "probe with its answer": (
        "Where is it now?",
        "Where is order 48213 now?",
        ": turn 3 is a probe that contains its answer, order: ask without it.",
    ),
    "probe without needs": (
        'needs = ["order"]\n',
        "",
        ": turn 3 is a probe without needs: name the fact it asks for.",
    ),
    "without, but no needs": (
        'needs = ["order"]\n',
        "probe = false\n",
        ": turn 3 has without or outdated, but needs no fact: name one in needs.",
    ),
    "again, but no without": (
        'without = "Which order is it?"\n',
        "",
        ": turn 3 has again, but no without that it answers: write one.",
    ),
    "again without the fact": (
        '"I told you: 48213."',
        '"I told you already."',
        ": turn 3: again holds no current spelling of order, so the customer would repeat",
    ),
    "the same turn after the same turns": (
        "Where is it now?",
        " my ORDER 48213  is late!",
        ": turn 3 has the same user text after the same turns as another: word it anew.",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_breaks_the_format_is_refused_with_place_and_reason(write, name):
    old, new, reason = BROKEN[name]
    text = SOUND.replace(old, new, 1)
    assert text != SOUND
    if name in ("without, but no needs", "the same turn after the same turns"):
        text = text.replace("probe = true\n", "")
    assert broken(write(text)).startswith(f"late.toml{reason}")


def test_the_same_text_is_fine_after_other_turns(write):
    more = '\n[[turns]]\nuser = "{}"\nreply = "Yes."\n'
    text = SOUND + more.format("And?") * 2 + more.format("My order 48213 is late.")
    assert len(load_script(write(text)).turns) == 6


def test_a_repetition_may_use_any_spelling_but_a_replaced_one(write):
    first = 'user = "My order 48213 is late."'
    other = SOUND.replace("I told you: 48213.", "I told you: 48 213.")
    assert load_script(write(other)).turns[2].again == "I told you: 48 213."
    corrected = other.replace(first, first.replace("48213", "48 213"))
    corrected += '\n[[turns]]\nuser = "No, 48213."\nstates = ["order"]\nreply = "Ah."\n'
    assert load_script(write(corrected)).turns[2].again == "I told you: 48 213."
    corrected += '\n[[turns]]\nuser = "And?"\nneeds = ["order"]\nreply = "Yes."\n'
    corrected += 'without = "?"\nagain = "It is 48 213."\n'
    assert broken(write(corrected)).startswith("late.toml: turn 5: again holds no current")


def test_a_turn_that_is_no_table_is_refused(write):
    assert broken(write('turns = ["Hi."]')) == "late.toml: turn 1 must be a table."


# --- how texts are compared ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["Where is it", "where IS it?!", "  Where\n is\tit ...", "Where is it。", "Where is it？"],
)
def test_case_spaces_and_final_punctuation_do_not_tell_texts_apart(text):
    assert fold(text) == "where is it"


def test_inner_punctuation_and_another_word_do():
    assert len({fold("Where is it?"), fold("Where, is it?"), fold("Where is he?")}) == 3


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("1250", False),
        ("2500", False),
        ("x250", False),
        ("250x", False),
        ("é250", False),
        ("250é", False),
        ("250", True),
        ("250건", True),
        ("약250건", True),
        ("(250)", True),
        ("250.", True),
        ("250-1", True),
        ("1250 or 250", True),
    ],
)
def test_a_fact_is_not_seen_next_to_another_latin_letter_or_digit(text, seen):
    assert visible(["250"], [text]) is seen


def test_a_fact_is_seen_in_any_case_spacing_and_unicode_form():
    assert visible(["Late  Fee"], ["the LATE\nfee"])
    assert visible(["주문 café"], [unicodedata.normalize("NFD", "주문 CAFÉ")])
    assert visible([unicodedata.normalize("NFD", "café")], ["café"])
    assert visible(["first", "second"], ["none", "the second one"])
    assert not visible(["a+b"], ["aab"])  # a spelling is a text, no pattern
    assert not visible(["order"], [])
