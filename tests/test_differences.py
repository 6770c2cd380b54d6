"""Two values that differ are told so that a reader sees in what: kind, place, length, or words."""

import pytest
from google.genai import types

from chat_memory.checks import compare
from chat_memory.contents import user
from chat_memory.shown import show


@pytest.mark.parametrize("mine", [(7, 8), range(7, 9), [7.0, 8.0]])
def test_entries_in_order_are_equal_in_any_container_that_keeps_order(mine):
    assert compare(lambda: mine, lambda: [7, 8])
    assert compare(lambda: {"turns": mine}, lambda: {"turns": [7, 8]})
    assert not compare(lambda: mine, lambda: [8, 7])


def test_floats_may_differ_in_the_last_digits():
    assert compare(lambda: {"a": 0.1 + 0.2}, lambda: {"a": 0.3})


@pytest.mark.parametrize(
    ("mine", "expected", "words"),
    [
        ("225", 225, "the text '225', expected the number 225"),
        (225, "225", "the number 225, expected the text '225'"),
        ([225], 225, "the list [225], expected the number 225"),
        ((7, 8), 7, "the tuple (7, 8), expected the number 7"),
        (range(2), 7, "the range range(0, 2), expected the number 7"),
        (7, [7], "the number 7, expected the list [7]"),
        ({7}, [7], "the set {7}, expected the list [7]"),
        ({"a": 7}, [7], "the dict {'a': 7}, expected the list [7]"),
        ("yes", True, "the text 'yes', expected True"),
        (user("Hello."), "Hello.", "the message <user: Hello.>, expected the text 'Hello.'"),
        (iter([7]), [7], "a generator, of which `list(...)` makes a list, expected the list [7]"),
        (len, 7, "a function, which has to be called, expected the number 7"),
        (6, 7, "6, expected 7"),
        ([6], [7], "[6], expected [7]"),
        ((6,), [7], "(6,), expected [7]"),
        (False, True, "False, expected True"),
    ],
)
def test_where_kinds_differ_they_are_told_in_words(mine, expected, words):
    assert compare(lambda: mine, lambda: expected).message == f"Input (): yours gives {words}."


def test_an_entry_of_another_kind_is_told_by_its_place():
    assert compare(lambda: [7, "8"], lambda: [7, 8]).message == (
        "Input (): at [1] yours gives the text '8', expected the number 8."
    )


def test_of_long_lists_of_unequal_length_the_lengths_are_told_and_where_they_part():
    long = [user(f"Message {n} of a chat that runs.") for n in range(9)]
    assert compare(lambda: long[1:], lambda: long).message == (
        "Input (): the length of yours is 8, expected 9; at [0] it has "
        "<user: Message 1 of a chat that runs.>, "
        "expected <user: Message 0 of a chat that runs.>."
    )
    message = compare(lambda: long, lambda: long[:8]).message
    assert message.endswith(
        "it has the message <user: Message 8 of a chat that runs.>, expected nothing."
    )
    assert compare(lambda: [1], lambda: [1, 2]).message == (
        "Input (): yours gives [1], expected [1, 2]."
    )


def test_the_place_inside_a_long_answer_is_named():
    long = [{"role": "user", "text": "x" * 60}, {"role": "model", "text": "y" * 60}]
    wrong = [long[0], {**long[1], "role": "user"}]
    assert compare(lambda: wrong, lambda: long).message == (
        "Input (): at [1]['role'] yours gives 'user', expected 'model'."
    )


def test_of_long_texts_the_part_that_differs_is_shown():
    text = "a" * 300
    message = compare(lambda n: text + "b", lambda n: text + "c", [1]).message
    assert "ab'" in message and "ac'" in message
    assert len(message) < 200


def lookup(name, **more):
    call = types.FunctionCall(name=name, args={"id": 7})
    answer = types.FunctionResponse(name=name, response={"status": "sent"})
    return [
        types.Content(role="model", parts=[types.Part(function_call=call, **more)]),
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
    ]


def test_a_content_is_shown_by_its_role_and_first_words():
    chat = [user("My order 48213 is late, and nobody tells me why."), *lookup("look_up")]
    assert compare(lambda chat: chat[0], lambda chat: chat[1], [chat[:2]]).message == (
        "Input chat = [<user: My order 48213 is late, and nobody…>, <model: look_up(id=7)>]: "
        "yours gives <user: My order 48213 is late, and nobody…>, expected <model: look_up(id=7)>."
    )
    assert show({"sent": chat[2]}) == "{'sent': <user: look_up: status=sent>}"
    photo = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"1"))
    assert show(types.Content(role="user", parts=[photo])) == "<user: (data)>"


def test_contents_that_look_alike_in_short_are_shown_where_they_differ():
    signed = lookup("look_up", thought_signature=b"abc")
    message = compare(lambda: lookup("look_up"), lambda: signed).message
    mine, expected = message.split(", expected ")
    assert "\n" not in message and "thought_signature" in expected
    assert "thought_signature" not in mine


@pytest.mark.parametrize("wrong", ["text", ["text"], user("Hello.")])
def test_what_a_content_refuses_is_told_by_its_field_and_with_a_tip(wrong):
    check = compare(lambda: types.Content(role="model", parts=wrong), lambda: user("Hello."))
    assert check.message.startswith("Input (): yours stops with ValidationError: Content.parts")
    assert check.message.endswith("the `parts` of a message are a list of `types.Part(text=...)`.")
    assert "validation error" not in check.message


def test_a_memory_address_is_never_shown():
    assert "0x" not in compare(object, lambda: 2).message
