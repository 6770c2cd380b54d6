"""Running sums of contexts, taken one after another, are the sums over each of them alone."""

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import IMAGE, MODEL, SIGNATURES, call, response

from chat_memory.contents import check, model, to_json, user
from chat_memory.weights import Running, Scale, alike
from offline_gemini import Refused, breakdown, read_signature
from offline_gemini.caching import common_prefix, prompt_pieces

MODELS = {MODEL: True, "gemini-3.1-pro": False}
POOL = [
    user("Where is my order?"),
    user("It is SN-4411."),
    model("On its way."),
    types.Content(role="model", parts=[types.Part(text="Soon.", thought_signature=SIGNATURES[1])]),
    types.Content(role="model", parts=[types.Part(text="Late.", thought_signature=SIGNATURES[1])]),
    types.Content(role="model", parts=[call("track", 1, SIGNATURES[0])]),
    types.Content(role="model", parts=[call("track", 1, SIGNATURES[2]), call("track", 2)]),
    types.Content(role="user", parts=[response("track", 1, "sea")]),
    types.Content(role="user", parts=[response("track", 1, "SN-4411"), response("track", 2, "")]),
    types.Content(role="user", parts=[IMAGE]),
    types.Content(role="user", parts=[]),
    types.Content(role="model", parts=[types.Part()]),
    types.Content(role="system", parts=[types.Part(text="Be brief.")]),
]
contexts = st.lists(st.lists(st.sampled_from(POOL), max_size=9), max_size=9)


def thoughts(signature):
    return read_signature(signature)[0]


def request(contents, model):
    body = {"contents": to_json(contents)}
    known = {sign: thoughts(sign) for sign in signatures(body)}
    return body, breakdown(body, model, known)


def signatures(body):
    parts = [part for content in body["contents"] for part in content.get("parts") or []]
    return [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]


def is_accepted(contents):
    try:
        check(contents)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None, max_examples=150)
@given(taken=contexts)
def test_each_context_weighs_what_it_weighs_alone(model, taken):
    running = Running(Scale(thoughts, {"serial": ["SN-4411"]}), MODELS[model])
    before = []
    for contents in taken:
        begins = running.take(contents)
        body, bill = request(contents, model)
        pieces = prompt_pieces(body, bill)[2:]
        assert running.tokens == bill.total
        assert begins == common_prefix(pieces, before)
        assert running.in_order == is_accepted(contents)
        assert running.facts == ({"serial"} if "SN-4411" in str(body) else set())
        before = pieces


@settings(deadline=None, max_examples=100)
@given(contents=st.lists(st.sampled_from(POOL), max_size=9), data=st.data())
def test_a_stretch_weighs_the_same_wherever_it_stands_or_it_does_not_add_up(contents, data):
    running = Running(Scale(thoughts), True)
    running.take(contents)
    start = data.draw(st.integers(0, len(contents)))
    stop = data.draw(st.integers(start, len(contents)))
    if running.adds_up:
        assert running.between(start, stop) == request(contents[start:stop], MODEL)[1].total


def test_a_signature_that_stands_twice_does_not_add_up():
    once, twice = Running(Scale(thoughts), True), Running(Scale(thoughts), True)
    once.take(POOL[:4])
    twice.take(POOL[:5])
    assert once.adds_up and not twice.adds_up
    old = Running(Scale(thoughts), False)
    old.take(POOL[:3])
    assert not old.adds_up


def test_a_list_that_was_changed_in_place_is_weighed_anew():
    running, contents = Running(Scale(thoughts), True), POOL[:3]
    running.take(contents)
    contents[0] = user("Another question, and a longer one.")
    assert running.take(contents) == 0
    assert running.tokens == request(contents, MODEL)[1].total


def test_a_content_is_weighed_once(monkeypatch):
    weighed = []
    real = Scale._weigh
    monkeypatch.setattr(
        Scale, "_weigh", lambda self, content: weighed.append(content) or real(self, content)
    )
    running = Running(Scale(thoughts), True)
    for stop in range(4):
        running.take(POOL[:stop])
        running.take(POOL[1:stop])
    assert weighed == POOL[:3]


def test_a_word_that_the_table_lacks_is_noticed(monkeypatch):
    monkeypatch.delenv("CHAT_MEMORY_TOKENIZER", raising=False)
    scale = Scale(thoughts)
    scale.weights([user("12")])
    assert not scale.estimated
    scale.weights([user("Zyxomatrup")])
    assert scale.estimated


@given(st.lists(st.integers(0, 1)), st.lists(st.integers(0, 1)))
def test_lists_are_alike_up_to_the_first_difference(one, other):
    same = alike(one, other)
    assert one[:same] == other[:same]
    assert one[same : same + 1] != other[same : same + 1] or len(one) == len(other) == same
