"""What is answered: the right scripted turn, by what the request holds, or a quote of it.

Equal requests get equal replies, and a fact that is taken out of a request turns the reply into
its `without`: both are proven over generated requests. HTTP is tested in test_protocol.py.
"""

import copy
import dataclasses
import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from request_json import (
    body,
    call,
    model,
    post,
    reply_parts,
    response,
    script,
    spoken,
    tool,
    user,
)

from offline_gemini import OfflineGemini
from offline_gemini.scripts import Call, Turn

# --- which turn answers -------------------------------------------------------------------------


def server_of(*turns: Turn, **fields) -> OfflineGemini:
    return OfflineGemini([script(*turns, **fields)])


def chat(*texts: str) -> list[dict]:
    """User and model contents in turn, ending with the user."""
    return [user(text) if n % 2 == 0 else model(text) for n, text in enumerate(texts)]


def test_a_turn_answers_its_text_whatever_its_case_spaces_and_final_punctuation():
    server = server_of(Turn(user="Where is my order?", reply="On its way."))
    for text in ("Where is my order?", "where  is my\norder", "WHERE IS MY ORDER?!"):
        assert spoken(server, user(text)) == "On its way."
    assert spoken(server, user("Where is my parcel?")) != "On its way."


AGAIN_AND_AGAIN = (
    Turn(user="One.", reply="1"),
    Turn(user="Next.", reply="2"),
    Turn(user="Next.", reply="3"),
    Turn(user="Two.", reply="4"),
    Turn(user="Next.", reply="5"),
)


@pytest.mark.parametrize(
    ("before", "reply"),
    [
        (["One."], "2"),
        (["One.", "Next."], "3"),
        (["One.", "Next.", "Next.", "Two."], "5"),
        (["Two."], "5"),
        (["Next.", "Two."], "5"),
        (["Something else.", "One."], "2"),
        (["Summarize the chat.", "Next.", "Next.", "Two."], "5"),
    ],
)
def test_of_several_turns_the_one_with_the_longest_run_of_texts_before_it_answers(before, reply):
    contents = [content for text in before for content in (user(text), model("ok"))]
    assert spoken(server_of(*AGAIN_AND_AGAIN), *contents, user("Next.")) == reply


def test_the_same_text_before_and_after_clear_is_two_turns():
    server = server_of(
        Turn(user="I am Ada.", reply="Hello."),
        Turn(user="Who am I?", reply="Ada."),
        Turn(command="/clear"),
        Turn(user="Who am I?", reply="Nobody has told me."),
    )
    assert spoken(server, *chat("I am Ada.", "Hello.", "Who am I?")) == "Ada."
    assert spoken(server, user("Who am I?")) == "Nobody has told me."


def test_of_several_scripts_the_one_that_fits_what_came_before_answers():
    scripts = [
        script(Turn(user=first, reply="ok"), Turn(user="And now?", reply=f"After {first}"))
        for first in ("tea", "coffee")
    ]
    for first in ("tea", "coffee"):
        contents = chat(first, "ok", "And now?")
        assert spoken(OfflineGemini(scripts), *contents) == f"After {first}"


def test_user_texts_in_several_parts_or_beside_an_image_are_read_together():
    server = server_of(Turn(user="Look here.\nWhat is it?", reply="A cat."))
    image = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    assert spoken(server, user("Look here.", image, "What is it?")) == "A cat."


# --- needs, without, outdated, again ------------------------------------------------------------

ORDER = {"order": ("48213", "order forty-eight")}
ASKED = Turn(
    user="Where is it?",
    needs=("order",),
    reply="On its way.",
    without="Which order?",
    again="I told you: 48213.",
    thoughts=40,
    without_thoughts=7,
)
CASE = script(
    Turn(user="My order is 48213.", states=("order",), reply="Thank you."), ASKED, facts=ORDER
)


def test_a_turn_answers_without_if_a_needed_fact_is_not_in_the_request():
    server = OfflineGemini([CASE])
    assert spoken(server, *chat("My order is 48213.", "Thank you.", "Where is it?")) == (
        "On its way."
    )
    assert spoken(server, user("Where is it?")) == "Which order?"
    assert spoken(server, *chat("My order is 148213.", "Thank you.", "Where is it?")) == (
        "Which order?"
    )


def test_thoughts_are_those_of_what_is_said():
    server = OfflineGemini([CASE])
    for contents, thoughts in (
        (chat("My order is 48213.", "Thank you.", "Where is it?"), 40),
        (chat("Where is it?"), 7),
    ):
        usage = post(server, body(*contents)).chunks[0]["usageMetadata"]
        assert usage["thoughtsTokenCount"] == thoughts


def test_after_the_customer_repeats_himself_the_same_turn_answers():
    server = OfflineGemini([CASE])
    repeated = chat("Where is it?", "Which order?", "i told you: 48213")
    assert spoken(server, *repeated) == "On its way."


def test_a_repetition_counts_for_nothing_before_a_later_turn():
    later = Turn(user="Thanks.", reply="You are welcome.")
    elsewhere = script(Turn(user="I told you: 48213.", reply="?"), Turn(user="Thanks.", reply="!"))
    case = script(*CASE.turns, later, facts=ORDER)
    contents = chat(
        *("My order is 48213.", "Thank you.", "Where is it?", "Which order?"),
        *("I told you: 48213.", "On its way.", "Thanks."),
    )
    assert spoken(OfflineGemini([elsewhere, case]), *contents) == "You are welcome."


def test_one_repetition_in_two_turns_belongs_to_the_turn_it_follows():
    turns = [
        Turn(user=text, needs=("order",), reply=f"{text} Done.", without="?", again="It is 48213.")
        for text in ("Find it.", "Send it.")
    ]
    server = server_of(*turns, facts=ORDER)
    for text in ("Find it.", "Send it."):
        assert spoken(server, *chat(text, "?", "It is 48213.")) == f"{text} Done."


def test_a_turn_that_has_no_without_falls_back_to_a_quote():
    turn = Turn(user="Where is it?", needs=("order",), reply="On its way.")
    reply = spoken(server_of(turn, facts=ORDER), user("Where is it?"))
    assert reply == "This request holds 1 message and nothing on that."


PRICES = {"price": ("250 euros", "300 euros", "the price is fixed")}
RAISED = (
    Turn(user="It costs 250 euros.", states=("price",), reply="Noted."),
    Turn(user="Now it costs 300 euros.", states=("price",), reply="Noted too."),
    Turn(
        user="What does it cost?",
        needs=("price",),
        reply="300 euros.",
        without="I don't know.",
        outdated="It was 250 euros.",
    ),
)


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        (["It costs 250 euros.", "Now it costs 300 euros."], "300 euros."),
        (["Now it costs 300 euros."], "300 euros."),
        (["It costs 250 euros."], "It was 250 euros."),
        (["Hello."], "I don't know."),
        (["the price is fixed"], "300 euros."),
    ],
)
def test_outdated_is_said_if_only_a_superseded_value_is_visible(said, reply):
    contents = [content for text in said for content in (user(text), model("ok"))]
    question = user("What does it cost?")
    assert spoken(server_of(*RAISED, facts=PRICES), *contents, question) == reply


def test_a_value_is_current_until_a_later_turn_replaces_it():
    early = Turn(user="How much?", needs=("price",), reply="250 euros.", without="I don't know.")
    server = server_of(RAISED[0], early, *RAISED[1:], facts=PRICES)
    assert spoken(server, *chat("It costs 250 euros.", "ok", "How much?")) == "250 euros."
    assert spoken(server, *chat("It costs 300 euros.", "ok", "How much?")) == "250 euros."


def test_a_value_said_again_is_current_again():
    back = Turn(user="No, 250 euros after all.", states=("price",), reply="Fine.")
    server = server_of(*RAISED[:2], back, RAISED[2], facts=PRICES)
    assert spoken(server, *chat("It costs 250 euros.", "ok", "What does it cost?")) == "300 euros."
    assert spoken(server, *chat("It costs 300 euros.", "ok", "What does it cost?")) == (
        "It was 250 euros."
    )


def test_a_missing_fact_beside_an_outdated_one_is_asked_for():
    both = Turn(
        user="Sum it up.", needs=("price", "order"), reply="!", without="?", outdated="old"
    )
    server = server_of(*RAISED[:2], both, facts=PRICES | ORDER)
    assert spoken(server, *chat("It costs 250 euros.", "ok", "Sum it up.")) == "?"
    contents = chat("It costs 250 euros for 48213.", "ok", "Sum it up.")
    assert spoken(server, *contents) == "old"


# --- where a fact is visible --------------------------------------------------------------------

PLACES = {
    "the system instruction": lambda fact: body(systemInstruction=user(f"Pinned: {fact}.")),
    "a system without a role": lambda fact: body(systemInstruction={"parts": [{"text": fact}]}),
    "a user text": lambda fact: body(user(f"It is {fact}, you know."), model("ok")),
    "a model text": lambda fact: body(user("Hi."), model(f"You said {fact}.")),
    "a call's arguments": lambda fact: body(
        user("Hi."),
        model(call(signature="skip_thought_signature_validator", deep=[{"id": fact}])),
        user(response(ok=True)),
    ),
    "a response's values": lambda fact: body(
        user("Hi."),
        model(call(signature="skip_thought_signature_validator")),
        user(response(list=[{"id": fact}])),
    ),
    "a summary pair": lambda fact: body(
        user("Summarize the conversation."), model(f"## Order\n- number: {fact}")
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_fact_is_visible_in_every_place_of_a_request(place):
    server = OfflineGemini([CASE])
    for fact, reply in (("48213", "On its way."), ("48214", "Which order?")):
        request = PLACES[place](fact)
        request["contents"].append(user("Where is it?"))
        assert spoken(server, *request.pop("contents"), **request) == reply


def test_a_number_in_a_response_is_visible():
    request = PLACES["a response's values"](48213)
    assert spoken(OfflineGemini([CASE]), *request["contents"], user("Where is it?")) == (
        "On its way."
    )


def test_thoughts_declarations_names_and_keys_do_not_make_a_fact_visible():
    signed = call("call_48213", "skip_thought_signature_validator", **{"48213": "x"})
    contents = [
        user("Hi."),
        model({"text": "It is 48213.", "thought": True}, signed),
        user(response("call_48213", **{"48213": "x"})),
        user("Where is it?"),
    ]
    tools = [tool("call_48213", description="Knows 48213.")]
    assert spoken(OfflineGemini([CASE]), *contents, tools=tools) == "Which order?"


def test_digits_of_a_longer_number_are_not_a_fact_and_hangul_beside_it_is_no_part_of_it():
    facts = {"lag": ("250",)}
    asked = Turn(user="얼마나 밀렸죠?", needs=("lag",), reply="250건.", without="모릅니다.")
    server = server_of(asked, facts=facts)
    for text, reply in (
        ("1250", "모릅니다."),
        ("2500", "모릅니다."),
        ("a250", "모릅니다."),
        ("250건 밀렸어요", "250건."),
        ("약250건", "250건."),
    ):
        assert spoken(server, *chat(text, "네.", "얼마나 밀렸죠?")) == reply


def test_a_fact_in_decomposed_hangul_is_the_same_fact():
    asked = Turn(user="어디로?", needs=("city",), reply="부산.", without="모릅니다.")
    server = server_of(asked, facts={"city": ("부산",)})
    text = unicodedata.normalize("NFD", "부산으로 보내 주세요")
    assert text != "부산으로 보내 주세요"
    question = unicodedata.normalize("NFD", "어디로?")
    assert spoken(server, *chat(text, "네.", question)) == "부산."


WORDS = st.text(alphabet="abc 1,.{}가", max_size=15)


@given(
    place=st.sampled_from(list(PLACES)),
    fact=st.text(alphabet="XYZ789", min_size=3, max_size=6),
    before=st.lists(WORDS, max_size=3),
    glue=st.sampled_from(["", "건", "-", "."]),
)
@settings(max_examples=120)
def test_taking_the_fact_out_of_a_request_turns_the_reply_into_its_without(
    place, fact, before, glue
):
    asked = Turn(user="So what?", needs=("it",), reply="Known.", without="Unknown.")
    server = server_of(asked, facts={"it": (fact,)})
    request = PLACES[place](fact + glue)
    filler = [content for text in before for content in (user(f"- {text}"), model("ok"))]
    request["contents"] = [*filler, *request["contents"], user("So what?")]
    assert spoken(server, *request["contents"], **others(request)) == "Known."
    gone = json.loads(json.dumps(request).replace(fact, "nothing"))
    assert spoken(server, *gone["contents"], **others(gone)) == "Unknown."


def others(request: dict) -> dict:
    return {key: value for key, value in request.items() if key != "contents"}


# --- steps --------------------------------------------------------------------------------------

STEPS = (
    (Call("lookup_order", {"order_id": "48213"}, {"state": "shipped"}),),
    (Call("carrier", {"id": 7}, {"days": 2}), Call("weather", {"city": "Busan"}, "rain")),
)
WORKED = Turn(user="Where is it?", steps=STEPS, reply="Two days, in the rain.", thoughts=100)
TOOLS = [tool("lookup_order"), tool("carrier"), tool("weather")]


def answered(parts: list[dict], *results: object) -> list[dict]:
    """The contents that answer these calls: the model's as it came, the user's with results."""
    names = [part["functionCall"]["name"] for part in parts]
    pairs = zip(names, results, strict=True)
    return [
        {"role": "model", "parts": parts},
        user(*(response(name, result=result) for name, result in pairs)),
    ]


def test_a_turn_with_steps_calls_one_step_after_the_other_and_then_answers():
    server, contents, said = server_of(WORKED), [user("Where is it?")], []
    for results in (["shipped"], [2, "rain"]):
        parts = reply_parts(server, *contents, tools=TOOLS)
        said.append([part["functionCall"] for part in parts])
        contents += answered(parts, *results)
    names = [[each["name"] for each in step] for step in said]
    assert names == [["lookup_order"], ["carrier", "weather"]]
    assert said[0][0]["args"] == {"order_id": "48213"}
    assert said[1][1]["args"] == {"city": "Busan"}
    assert len({each["id"] for step in said for each in step}) == 3
    assert spoken(server, *contents, tools=TOOLS) == "Two days, in the rain."


def test_a_turn_goes_on_after_the_last_step_it_still_holds():
    """An agent's earlier steps may have left the list, once their conclusion stood."""
    search, close = Call("search", {"text": "x"}, 1), Call("conclude", {"that": "here"}, 2)
    steps = ((search,), (close,), (search,), (Call("test", {}, 3),))
    turn = Turn(user="Why?", steps=steps, reply="Because.")
    tools = [tool("search"), tool("conclude"), tool("test")]
    server, contents = server_of(turn), [user("Why?")]
    for done, step in enumerate(steps):
        for start in range(done + 1):  # so many steps have left the list
            kept = [contents[0], *contents[1 + 2 * start :]]
            if start < done and not (start == 2 and done == 3):  # a search alone may be either
                name = reply_parts(server, *kept, tools=tools)[0]["functionCall"]["name"]
                assert name == step[0].name
        contents += answered(reply_parts(server, *contents, tools=tools), step[0].result)
    assert spoken(server, contents[0], *contents[-2:], tools=tools) == "Because."


def test_the_first_of_parallel_calls_is_signed_and_no_other():
    server = server_of(WORKED)
    first = reply_parts(server, user("Where is it?"), tools=TOOLS)
    contents = [user("Where is it?"), *answered(first, "shipped")]
    second = reply_parts(server, *contents, tools=TOOLS)
    assert ["thoughtSignature" in part for part in second] == [True, False]


def test_the_thoughts_of_a_turn_are_shared_among_its_model_contents():
    server, contents, thoughts = server_of(WORKED), [user("Where is it?")], []
    for results in (["shipped"], [2, "rain"], None):
        reply = post(server, body(*contents, tools=TOOLS)).chunks[0]
        thoughts.append(reply["usageMetadata"]["thoughtsTokenCount"])
        if results:
            contents += answered(reply["candidates"][0]["content"]["parts"], *results)
    assert thoughts == [33, 33, 34]


def test_steps_are_skipped_if_the_request_does_not_declare_all_their_tools():
    for tools in ([], TOOLS[:2]):
        assert spoken(server_of(WORKED), user("Where is it?"), tools=tools) == (
            "Two days, in the rain."
        )


def test_calls_of_closed_turns_are_no_steps_of_the_open_one():
    server = server_of(Turn(user="Hi.", reply="Hello."), WORKED)
    closed = [user("Hi."), model(call("weather")), user(response("weather")), model("Hello.")]
    parts = reply_parts(server, *closed, user("Where is it?"), tools=TOOLS)
    assert parts[0]["functionCall"]["name"] == "lookup_order"


def test_a_fact_that_a_step_will_bring_is_not_missing_before_it():
    found = Turn(
        user="When?", steps=STEPS[:1], needs=("state",), reply="Shipped.", without="Unknown."
    )
    server = server_of(found, facts={"state": ("shipped",)})
    parts = reply_parts(server, user("When?"), tools=TOOLS)
    assert parts[0]["functionCall"]["name"] == "lookup_order"
    for result, reply in (("shipped", "Shipped."), ("lost", "Unknown.")):
        contents = [user("When?"), *answered(parts, result)]
        assert spoken(server, *contents, tools=TOOLS) == reply


def test_a_call_whose_fact_is_missing_is_not_made():
    asked = Turn(user="Where?", steps=STEPS, needs=("order",), reply="!", without="Which order?")
    server = server_of(asked, facts=ORDER)
    assert spoken(server, user("Where?"), tools=TOOLS) == "Which order?"
    parts = reply_parts(server, *chat("It is 48213.", "ok", "Where?"), tools=TOOLS)
    assert "functionCall" in parts[0]


# --- thinking off -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config",
    [
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
        {"generation_config": {"thinking_config": {"thinking_budget": 0}}},
        {"generationConfig": {"thinkingConfig": {"thinking_budget": 0}}},
    ],
)
def test_thinking_off_takes_the_thoughts_and_leaves_the_words(config):
    server = server_of(Turn(user="Hi.", reply="Hello.", thoughts=40))
    reply = post(server, body(user("Hi."), **config)).chunks[0]
    assert "thoughtsTokenCount" not in reply["usageMetadata"]
    assert reply["candidates"][0]["content"]["parts"] == [{"text": "Hello."}]
    budget = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}}
    usage = post(server, body(user("Hi."), **budget)).chunks[0]["usageMetadata"]
    assert usage["thoughtsTokenCount"] == 40


def test_calls_stay_signed_with_thinking_off():
    off = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
    parts = reply_parts(server_of(WORKED), user("Where is it?"), tools=TOOLS, **off)
    contents = [user("Where is it?"), *answered(parts, "shipped")]
    usage = post(server_of(WORKED), body(*contents, tools=TOOLS)).chunks[0]["usageMetadata"]
    without = {"thoughtSignature": "skip_thought_signature_validator"}
    contents[1] = model(parts[0] | without)
    same = post(server_of(WORKED), body(*contents, tools=TOOLS)).chunks[0]["usageMetadata"]
    assert usage["promptTokenCount"] == same["promptTokenCount"]


# --- quotes -------------------------------------------------------------------------------------

EMPTY = OfflineGemini()


def test_a_free_question_is_answered_with_the_sentence_that_shares_most_with_it():
    talk = chat("My cat is called Tom. My order is 48213.", "Shipped on Monday.")
    assert spoken(EMPTY, *talk, user("What was my order again?")) == (
        'Earlier you wrote: "My order is 48213."'
    )
    assert spoken(EMPTY, *talk, user("On which day was it shipped?")) == (
        'Earlier I wrote: "Shipped on Monday."'
    )
    assert spoken(EMPTY, *talk, user("And the cats?")) == (
        'Earlier you wrote: "My cat is called Tom."'
    )


def test_a_free_question_on_nothing_sent_is_told_how_much_was_sent():
    assert spoken(EMPTY, user("Where is Busan?")) == (
        "This request holds 1 message and nothing on that."
    )
    assert spoken(EMPTY, *chat("Hi.", "Hello.", "Where is Busan?")) == (
        "This request holds 3 messages and nothing on that."
    )


def test_the_question_is_not_quoted_as_its_own_answer():
    assert "nothing on that" in spoken(EMPTY, user("My order is 48213. Where is my order?"))


def test_korean_questions_are_answered_in_korean():
    talk = chat("제 주문번호는 48213입니다. 고양이 이름은 톰이에요.", "월요일에 보냈습니다.")
    assert spoken(EMPTY, *talk, user("제 주문번호가 뭐였죠?")) == (
        '앞에서 이렇게 쓰셨습니다: "제 주문번호는 48213입니다."'
    )
    assert spoken(EMPTY, *talk, user("월요일 맞나요?")) == (
        '앞에서 제가 이렇게 썼습니다: "월요일에 보냈습니다."'
    )
    assert spoken(EMPTY, user("날씨 어때요?")) == (
        "이 요청에는 메시지 1개가 들어 있고, 그 내용은 없습니다."
    )
    assert spoken(EMPTY, *talk, user("날씨 어때요?")) == (
        "이 요청에는 메시지 3개가 들어 있고, 그 내용은 없습니다."
    )


def test_a_quote_and_a_question_are_not_quoted_where_a_statement_stands():
    talk = [user("My name is Ada."), model("Hello.")]
    for question in ("What is my name?", "Which name do I have?", "And my name?"):
        talk.append(user(question))
        reply = spoken(EMPTY, *talk)
        assert reply == 'Earlier you wrote: "My name is Ada."'
        talk.append(model(reply))


def test_of_two_statements_that_share_as_much_the_later_is_quoted():
    talk = chat("The price is 250 euros.", "ok", "Now the price is 300 euros.", "ok")
    assert spoken(EMPTY, *talk, user("What is the price?")) == (
        'Earlier you wrote: "Now the price is 300 euros."'
    )


def test_thoughts_and_tool_results_are_not_quoted():
    contents = [
        user("Hi."),
        model({"text": "The price is secret.", "thought": True}, "Hello."),
        user("What is the price?"),
    ]
    assert "nothing on that" in spoken(EMPTY, *contents)


def test_an_image_alone_is_answered_too():
    image = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    assert "nothing on that" in spoken(EMPTY, user(image))


# --- equal requests, equal replies --------------------------------------------------------------

SCRIPTED = [
    CASE,
    script(*AGAIN_AND_AGAIN),
    script(dataclasses.replace(WORKED, user="Track it.")),
    script(*RAISED, facts=PRICES),
]
KNOWN_TEXTS = [turn.user for each in SCRIPTED for turn in each.turns] + [ASKED.again]
TALK = st.lists(
    st.tuples(st.sampled_from(KNOWN_TEXTS) | WORDS, st.sampled_from(["ok", "48213"]) | WORDS),
    max_size=3,
)
REQUESTS = st.builds(
    lambda talk, last, tools, thinking: body(
        *(content for said, reply in talk for content in (user(said), model(reply))),
        user(last),
        tools=tools,
        generationConfig={"thinkingConfig": {"thinkingBudget": thinking}},
    ),
    TALK,
    st.sampled_from(KNOWN_TEXTS) | WORDS,
    st.sampled_from([[], TOOLS]),
    st.sampled_from([0, 512]),
)


@given(REQUESTS, st.lists(REQUESTS, max_size=2))
@settings(max_examples=100)
def test_equal_requests_get_equal_replies_whatever_was_asked_between(request, between):
    server = OfflineGemini(SCRIPTED)
    sent = copy.deepcopy(request)
    first = post(server, request)
    assert first.status == 200 and request == sent
    for other in between:
        post(server, other)
    assert post(server, request) == first
    assert post(OfflineGemini(SCRIPTED), request) == first


@given(REQUESTS)
@settings(max_examples=50)
def test_the_order_of_keys_changes_neither_words_nor_bill(request):
    reverse = {key: request[key] for key in reversed(request)}
    assert list(reverse) != list(request)
    assert post(OfflineGemini(SCRIPTED), reverse) == post(OfflineGemini(SCRIPTED), request)


def test_the_generated_requests_reach_scripts_and_quotes():
    replies = {spoken(OfflineGemini(SCRIPTED), user(text)) for text in [*KNOWN_TEXTS, "b c"]}
    assert {"1", "Which order?", "This request holds 1 message and nothing on that."} <= replies
    parts = reply_parts(OfflineGemini(SCRIPTED), user("Track it."), tools=TOOLS)
    assert "functionCall" in parts[0]
