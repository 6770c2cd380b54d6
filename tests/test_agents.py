"""The strategies that cut inside turns: what leaves, what stays, and that nothing is split."""

import copy
import itertools
import json
from collections import Counter

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import (
    LOG,
    MODEL,
    NESTED,
    SIGNATURES,
    SMALL,
    THOUGHT,
    agent_transcripts,
    asks,
    brings,
    brought,
    call,
    chat,
    concluded,
    response,
    step,
)

from chat_memory import ChatSession, connect, play, settling
from chat_memory.agents import (
    LEAST,
    ConclusionsOnly,
    DropThoughts,
    Focus,
    ShortenToolResults,
    conclude,
)
from chat_memory.charts.context_lens import draw_context
from chat_memory.contents import (
    calls_of,
    check,
    kind,
    model,
    responses_of,
    text_of,
    to_json,
    turns,
    user,
)
from chat_memory.cutting import cut, marker, texts_in, weight
from chat_memory.layers import SummaryPairs
from chat_memory.runs import load
from chat_memory.strategies import Chain, Everything, LastTurns, context_of, name_of, reset
from chat_memory.strings import t
from chat_memory.tools import result_of, tool
from offline_gemini import OfflineGemini, breakdown, count
from offline_gemini.scripts import Call, Script, Turn

quick = settings(max_examples=60, deadline=None)

ladder = st.one_of(
    st.builds(ShortenToolResults, st.integers(LEAST, 300)),
    st.builds(ConclusionsOnly, st.integers(0, 3)),
    st.builds(Focus),
    st.builds(DropThoughts),
)
others = st.builds(LastTurns, st.integers(1, 5)) | st.just(Everything())
strategies = st.one_of(
    ladder,
    st.builds(Chain, ladder, ladder | others),
    st.builds(Chain, others, ladder),
    st.builds(Chain, st.builds(Chain, ladder, others | ladder), ladder),
)


def status_of(contents):
    body = json.dumps({"contents": to_json(contents)}).encode()
    path = f"/v1/models/{MODEL}:generateContent"
    return OfflineGemini([]).handle("POST", path, "key", body).status


# Claims on all of them.


@quick
@given(agent_transcripts(), strategies)
def test_every_context_is_one_that_gemini_accepts(transcript, strategy):
    assert status_of(transcript) == 200
    contents = strategy(transcript).contents
    check(contents)
    assert status_of(contents) == 200


@quick
@given(agent_transcripts(), strategies)
def test_a_call_is_never_without_its_response(transcript, strategy):
    waiting = []
    for content in strategy(transcript).contents:
        waiting += [(asked.id, asked.name) for asked in calls_of(content)]
        for answer in responses_of(content):
            waiting.remove((answer.id, answer.name))
    assert not waiting


@quick
@given(agent_transcripts(), strategies)
def test_every_message_is_sent_as_it_is_rewritten_or_dropped(transcript, strategy):
    context = strategy(transcript)
    kept = [i for i in range(len(transcript)) if i not in set(context.dropped)]
    assert len(context.contents) == len(kept)
    assert list(context.dropped) == sorted(set(context.dropped))
    changed = [
        place
        for place, sent in zip(kept, context.contents, strict=True)
        if sent is not transcript[place]
    ]
    assert changed == list(context.rewritten)


@quick
@given(agent_transcripts(), strategies)
def test_the_transcript_stays_as_it_was(transcript, strategy):
    before, objects = copy.deepcopy(transcript), list(map(id, transcript))
    strategy(transcript)
    assert transcript == before and list(map(id, transcript)) == objects


@quick
@given(agent_transcripts(), st.one_of(st.builds(ConclusionsOnly), st.builds(DropThoughts)))
def test_the_open_turn_is_never_cut(transcript, strategy):
    start, stop = turns(transcript)[-1]
    sent = strategy(transcript).contents[-(stop - start) :]
    assert list(map(id, sent)) == list(map(id, transcript[start:stop]))


@quick
@given(agent_transcripts(), strategies, st.data())
def test_what_is_remembered_is_what_would_be_made_anew(transcript, strategy, data):
    """Also if the chat was cut back meanwhile, as after a turn that failed."""
    for stop in data.draw(st.lists(st.integers(0, len(transcript)), min_size=2, max_size=5)):
        used, fresh = strategy(transcript[:stop]), copy.deepcopy(strategy)
        reset(fresh)
        made = fresh(transcript[:stop])
        assert to_json(used.contents) == to_json(made.contents)
        assert (used.layers, list(used.dropped)) == (made.layers, list(made.dropped))
        assert list(used.rewritten) == list(made.rewritten)


@quick
@given(agent_transcripts(), strategies)
def test_a_message_that_is_rewritten_is_one_object_at_every_call(transcript, strategy):
    forms = {}
    for stop in range(1, len(transcript) + 1):
        context = strategy(transcript[:stop])
        kept = [i for i in range(stop) if i not in set(context.dropped)]
        for place, sent in zip(kept, context.contents, strict=True):
            forms.setdefault(place, []).append(sent)
    for sent in forms.values():  # each new form comes once, and none comes back
        distinct = [next(group) for _, group in itertools.groupby(sent, key=id)]
        assert len(distinct) == len(set(map(id, distinct)))
        texts = [json.dumps(to_json([each])) for each in distinct]
        assert len(texts) == len(set(texts))


ALL = [ShortenToolResults(60), ConclusionsOnly(), Focus(), DropThoughts()]


@pytest.mark.parametrize("strategy", ALL)
def test_empty_in_empty_out(strategy):
    context = strategy([])
    assert context.contents == [] and not context.dropped and not context.layers
    assert strategy(chat(2)).contents == chat(2)
    assert strategy([]).contents == []


@pytest.mark.parametrize("strategy", ALL)
def test_with_nothing_to_cut_the_context_is_the_transcript(strategy):
    transcript = [*chat(3), user("And now?"), *step(["track"], SIGNATURES[0])]
    context = strategy(transcript)
    assert context.contents == transcript
    assert not context.dropped and not context.rewritten


@pytest.mark.parametrize("strategy", ALL)
def test_each_message_is_looked_at_once(strategy, monkeypatch):
    looks = Counter()
    looked = lambda c: looks.update([id(c)]) or kind(c) == "user"  # noqa: E731
    monkeypatch.setattr(settling, "is_turn_start", looked)
    transcript = [c for n in range(40) for c in [user(f"{n}"), *step(["track"], b"s"), model("x")]]
    reset(strategy)
    for stop in range(1, len(transcript) + 1):
        strategy(transcript[:stop])
    assert set(looks.values()) == {1} and len(looks) == len(transcript)


def test_in_a_chain_only_the_turn_that_changed_is_looked_at_again(monkeypatch):
    transcript = [c for n in range(40) for c in worked(n)]
    looks = []
    real = settling.is_turn_start
    monkeypatch.setattr(settling, "is_turn_start", lambda c: looks.append(1) or real(c))
    chain = Chain(Focus(), ConclusionsOnly(1))
    for stop in range(1, len(transcript) + 1):
        chain(transcript[:stop])
    assert len(looks) < 3 * len(transcript)


def worked(number):
    """A turn of two steps, a conclusion, and an answer."""
    ended = [asks(concluded(f"c{number}")), brings(brought("conclude", 0, {"noted": True}))]
    steps = [*step(["track"], SIGNATURES[0]), *step(["track"], SIGNATURES[1])]
    return [user(f"question {number}"), *steps, *ended, model(f"answer {number}")]


@pytest.mark.parametrize("first", [DropThoughts(), Focus(), ConclusionsOnly(1)])
def test_a_first_strategy_that_changes_the_middle_does_not_fool_the_second(first):
    """The last message may stand where it stood, though one before it was rewritten."""
    transcript = [c for n in range(4) for c in worked(n)]
    for second in (ConclusionsOnly(1), ShortenToolResults(60), DropThoughts(), Focus()):
        chain = Chain(first, second)
        for stop in range(1, len(transcript) + 1):
            made = chain(transcript[:stop]).contents
            reset(chain)
            assert to_json(made) == to_json(chain(transcript[:stop]).contents)
        for stop in range(1, len(transcript) + 1):
            made = chain(transcript[:stop]).contents
        fresh = Chain(copy.deepcopy(first), copy.deepcopy(second))
        reset(fresh)
        assert to_json(made) == to_json(fresh(transcript).contents)


@pytest.mark.parametrize("make", [lambda: ShortenToolResults(60), DropThoughts])
def test_a_call_that_was_interrupted_leaves_nothing_half_made(make, monkeypatch):
    transcript = [*worked(1), *worked(2), user("And?")]
    strategy, real, looks = make(), make()._form, []

    def interrupted(content):
        looks.append(content)
        if len(looks) == 5:
            raise KeyboardInterrupt
        return real(content)

    monkeypatch.setattr(strategy, "_form", interrupted)
    with pytest.raises(KeyboardInterrupt):
        strategy(transcript)
    assert strategy(transcript) == make()(transcript)


def test_strategies_are_named_as_they_are_written():
    chain = Chain(ShortenToolResults(300), ConclusionsOnly(2))
    assert name_of(chain) == "Chain(ShortenToolResults(300), ConclusionsOnly(2))"
    assert list(map(repr, (Focus(), Focus("note"), DropThoughts()))) == [
        "Focus()",
        "Focus('note')",
        "DropThoughts()",
    ]


# ConclusionsOnly.


def test_a_closed_turn_keeps_its_question_and_its_answer():
    transcript = [*worked(1), *worked(2)[:3]]
    context = ConclusionsOnly()(transcript)
    assert context.contents == [transcript[0], transcript[7], *transcript[8:]]
    assert list(context.dropped) == [1, 2, 3, 4, 5, 6]
    assert context.layers == (("conclusions", 0, 2), ("recent turns", 2, 5))


@pytest.mark.parametrize("after, dropped", [(0, 18), (1, 12), (2, 6), (3, 0)])
def test_the_last_closed_turns_keep_their_steps(after, dropped):
    transcript = [*worked(1), *worked(2), *worked(3), user("And?")]
    context = ConclusionsOnly(after)(transcript)
    assert list(context.dropped) == [8 * (n // 6) + n % 6 + 1 for n in range(dropped)]


def test_a_final_answer_stays_as_it_came():
    answer = asks(types.Part(text="Done.", thought_signature=SIGNATURES[3]))
    transcript = [user("Go"), *step(["track"], SIGNATURES[0]), answer, user("And?")]
    assert ConclusionsOnly()(transcript).contents[1] is answer


UNANSWERED = asks(types.Part(text="One moment."), call("track", 0, SIGNATURES[0]))


@pytest.mark.parametrize("last", [[], [asks(THOUGHT)], [model("  ")], [UNANSWERED]])
def test_a_closed_turn_without_an_answer_is_kept_whole(last):
    transcript = [user("Go"), *step(["track"], SIGNATURES[0]), *last, user("And?")]
    assert ConclusionsOnly()(transcript).contents == transcript


def test_a_text_right_before_a_call_belongs_to_its_step():
    work = [model("One moment."), model("I look."), *step(["track"], None)]
    transcript = [user("Go"), *work, model("Done."), user("And?")]
    context = ConclusionsOnly()(transcript)
    assert list(map(text_of, context.contents)) == ["Go", "Done.", "And?"]


def test_what_the_user_says_beside_a_response_is_kept_with_its_step():
    asked, came = step(["track"], SIGNATURES[0])
    came.parts.append(types.Part(text="And hurry."))
    transcript = [user("Go"), asked, came, model("Done."), user("And?")]
    assert ConclusionsOnly()(transcript).contents == transcript
    ended = [asks(concluded("c")), brings(brought("conclude", 0, {"noted": True}))]
    assert Focus()([user("Go"), asked, came, *ended]).contents[:3] == [user("Go"), asked, came]


def test_a_response_that_comes_after_the_next_question_is_kept_with_its_call():
    asked, came = step(["track"], SIGNATURES[0])
    transcript = [user("Go"), asked, user("Well?"), came, model("Done."), user("And?")]
    check(transcript)
    for strategy in (ConclusionsOnly(), Focus()):
        assert strategy(transcript).contents == transcript


def test_what_stands_before_the_first_question_is_no_turn():
    early = [model("Hello."), *step(["track"], SIGNATURES[0]), model("Well.")]
    transcript = [*early, *worked(1), user("And?")]
    assert ConclusionsOnly()(transcript).contents[:4] == early
    assert ConclusionsOnly(1)(transcript).contents == transcript


@pytest.mark.parametrize("value", [-1, 1.5, "2", True, None])
def test_after_turns_is_a_whole_number(value):
    with pytest.raises(ValueError, match="must be a whole number from 0 on: so many closed"):
        ConclusionsOnly(value)


# Focus.

NOTED = {"noted": True}


def ending(found=NOTED, text="It is the cable.", name="conclude"):
    asked = concluded(text)
    asked.function_call.name = name
    return [asks(asked), brings(brought(name, 0, found))]


STEPS = [*step(["track"], SIGNATURES[1]), *step(["track", "look"], SIGNATURES[2])]


def test_a_conclusion_takes_the_place_of_its_steps_inside_the_open_turn():
    transcript = [user("Go"), *STEPS, *ending()]
    context = Focus()(transcript)
    assert context.contents == [user("Go"), *ending()]
    assert context.contents[1] is transcript[5]
    assert list(context.dropped) == [1, 2, 3, 4]
    assert context.layers == (("conclusions", 0, 1), ("recent turns", 1, 3))


def test_only_the_steps_since_the_last_conclusion_leave():
    transcript = [user("Go"), *STEPS, *ending(), *STEPS, *ending(text="No."), *STEPS]
    assert Focus()(transcript).contents == [user("Go"), *ending(), *ending(text="No."), *STEPS]


def test_the_steps_of_another_turn_are_not_a_conclusions_own():
    first = [user("Go"), *STEPS, model("Done.")]
    transcript = [*first, user("And?"), *STEPS, *ending()]
    assert Focus()(transcript).contents == [*first, user("And?"), *ending()]


def test_a_closed_turn_keeps_what_followed_its_last_conclusion():
    transcript = [user("Go"), *STEPS, *ending(), *STEPS, model("Done."), user("And?")]
    kept = [user("Go"), *ending(), *STEPS, model("Done."), user("And?")]
    assert Focus()(transcript).contents == kept


@pytest.mark.parametrize(
    "closing",
    [
        ending({"error": "The conclusion is blank."}),
        ending(text=""),
        ending(name="note"),
        ending()[:1],
    ],
    ids=["refused", "blank", "another tool", "no response yet"],
)
def test_a_conclusion_that_was_not_taken_closes_nothing(closing):
    transcript = [user("Go"), *STEPS, *closing]
    assert Focus()(transcript).contents == transcript


def test_a_response_of_another_call_does_not_take_a_conclusion():
    asked = asks(concluded("", 0), concluded("Found.", 1, None))
    answers = [brought("conclude", 0, NOTED), brought("conclude", 1, {"error": "No."})]
    transcript = [user("Go"), *STEPS, asked, brings(*answers)]
    assert Focus()(transcript).contents == transcript


def test_without_ids_an_argument_of_another_call_is_no_conclusion():
    parts = [call("track", 7, SIGNATURES[0]), concluded("", 8, None)]
    answers = [response("track", 7, "shipped"), brought("conclude", 8, NOTED)]
    for part in (*parts, *answers):
        (part.function_call or part.function_response).id = None
    transcript = [user("Go"), *STEPS, asks(*parts), brings(*answers)]
    assert Focus()(transcript).contents == transcript


@pytest.mark.parametrize("spread", [False, True])
def test_a_conclusion_among_parallel_calls_stays_with_all_of_them(spread):
    calls = [call("track", 0, SIGNATURES[0]), concluded("c", 1, None)]
    answers = [response("track", 0, "shipped"), brought("conclude", 1, NOTED)]
    both = [asks(*calls), brings(*answers)]
    if spread:
        both = [*map(asks, calls), *map(brings, answers)]
    transcript = [user("Go"), *STEPS, *both]
    assert Focus()(transcript).contents == [user("Go"), *both]


def test_the_tool_may_have_another_name():
    transcript = [user("Go"), *STEPS, *ending(name="note")]
    assert len(Focus("note")(transcript).contents) == 3


@pytest.mark.parametrize("name", ["", "  ", None, conclude])
def test_a_tool_without_a_name_is_refused(name):
    with pytest.raises(ValueError, match="give the name of the tool"):
        Focus(name)


def test_conclude_is_a_tool_that_refuses_a_blank_conclusion():
    declared = tool(conclude)
    assert declared.name == Focus().tool
    assert "Call this alone" in declared.declaration["description"]
    asked = types.FunctionCall(name="conclude", args={"conclusion": "It is the cable."})
    assert result_of(asked, {"conclude": declared}) == NOTED
    for blank in ("", " \n", 7):
        asked.args = {"conclusion": blank}
        assert "conclusion is blank" in result_of(asked, {"conclude": declared})["error"]


# ShortenToolResults.


def result(found, name="read"):
    return brings(brought(name, 0, found))


def sent(found, most, name="read"):
    """What is sent of a response."""
    [content] = ShortenToolResults(most)([result(found, name)]).contents
    return content.parts[0].function_response.response


def cut_of(text):
    """Head, tail, and the tokens that the marker says were left out."""
    head, _, rest = text.partition(marker(0).split("0")[0])
    number, _, tail = rest.partition(marker(0).split("0")[1])
    return head, tail, int(number.replace(",", ""))


@pytest.mark.parametrize("most", [LEAST, 57, 100, 199, 300])
@pytest.mark.parametrize(
    "found",
    [
        {"log": LOG},
        NESTED,
        {"rows": SMALL},
        {"error": LOG},
        {"log": "가나다 라마바 " * 300},
        {"b64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo1" * 60},
        {"log": "x" * 9000},
        {"log": "\n" * 19000},
        {"numbers": list(range(900))},
        {f"key {n}": LOG for n in range(30)},
        {"a": LOG, "b": LOG, "c": [LOG, {"d": LOG}]},
        {"a": "<escape> " * 900, "b": LOG},
        {"log": "<escape>" * 900},
    ],
)
def test_a_shortened_result_weighs_at_most_what_is_allowed(found, most):
    assert weight("read", found) > most
    made = sent(found, most)
    assert weight("read", made) <= most
    assert weight("read", made) > 0.6 * most or most == LEAST
    assert any("left out" in text for text in texts_in(made))
    assert sent(made, most) == made
    if len(found) == len(list(texts_in(found))) == 1:
        assert list(made) == list(found)
        [whole], [text] = texts_in(found), texts_in(made)
        head, tail, _ = cut_of(text)
        assert whole.startswith(head) and whole.endswith(tail)


@pytest.mark.parametrize("found", [None, {}])
def test_a_response_that_holds_nothing_is_sent_as_it_came_however_long_its_name(found):
    assert sent(found, LEAST, name=f"read_{'1234567890' * 5}") == found


def test_head_and_tail_stay_and_the_marker_counts_the_middle():
    made = sent({"log": LOG}, 100)["log"]
    head, tail, left = cut_of(made)
    assert LOG.startswith(head) and LOG.endswith(tail)
    assert head and abs(count(head).tokens - count(tail).tokens) < 6
    middle = LOG[len(head) : len(LOG) - len(tail)]
    assert left == count(LOG).tokens - count(head).tokens - count(tail).tokens
    assert abs(left - count(middle).tokens) <= 1 + left // 50


def test_the_error_line_in_the_middle_is_hidden():
    log = f"{LOG}KeyError: 'customer'\n{LOG}"
    assert "KeyError" not in json.dumps(sent({"log": log}, 200))
    assert "KeyError" in json.dumps(sent({"log": log}, 2000))


def test_a_result_that_fits_is_the_same_object():
    content = result({"log": LOG})
    most = weight("read", {"log": LOG})
    assert ShortenToolResults(most)([content]).contents[0] is content
    assert ShortenToolResults(most - 1)([content]).contents[0] is not content


def test_the_longest_texts_are_cut_first_and_the_others_stay():
    made = sent(NESTED, weight("read", NESTED) - 60)
    assert made["tail"] == NESTED["tail"] and made["code"] == 7
    assert "left out" in made["log"]
    both = sent(NESTED, 120)
    assert both["tail"][0] == "short" and both["code"] == 7
    assert "left out" in both["log"] and "left out" in both["tail"][1]


def test_many_small_values_become_one_text_of_their_json():
    made = sent({"rows": SMALL}, 100)
    head, tail, _ = cut_of(made["result"])
    whole = json.dumps({"rows": SMALL})
    assert list(made) == ["result"] and whole.startswith(head) and whole.endswith(tail)
    assert list(sent({"error": SMALL}, 100)) == ["error"]  # an error stays one


def test_texts_that_would_be_hardly_more_than_markers_become_one_text():
    made = sent({"a": LOG, "b": LOG, "c": LOG}, 70)
    head, tail, _ = cut_of(made["result"])
    assert head.startswith('{"a": "line 0 of') and tail.endswith('like all others\\n"}')


def test_ids_names_order_and_other_parts_stay():
    parts = [response("track", 0, "shipped"), brought("read", 7, {"log": LOG})]
    parts += [types.Part(text="And hurry.")]
    context = ShortenToolResults(80)([user("Go"), asks(call("read", 7)), brings(*parts)])
    made = context.contents[2].parts
    assert made[0] is parts[0] and made[2] is parts[2]
    assert (made[1].function_response.id, made[1].function_response.name) == ("7", "read")
    assert list(context.rewritten) == [2] and not context.dropped
    assert parts[1].function_response.response == {"log": LOG}


def test_a_name_that_leaves_no_room_leaves_the_marker():
    name = "a_very_long_name_of_a_tool_" * 6
    assert cut_of(sent({"log": LOG}, LEAST, name)["result"])[:2] == ("", "")


@pytest.mark.parametrize("value", [0, LEAST - 1, 99.5, "100", True, None])
def test_too_few_tokens_for_a_marker_are_refused(value):
    with pytest.raises(ValueError, match="from 50 on: the marker and the name of the tool"):
        ShortenToolResults(value)


def test_the_smallest_number_holds_a_marker_and_a_long_name():
    name = "look_up_the_current_order_of_this_customer_and_all_its_invoices"
    assert weight(name, {"result": marker(999_999)}) <= LEAST
    assert "left out" in sent({"log": LOG}, LEAST, name)["log"]


def test_estimates_that_add_up_to_less_do_not_let_head_and_tail_meet():
    text = "zqxjk " * 2000
    made = cut(text, count(text).tokens - 1)
    head, tail, left = cut_of(made)
    assert count(made).tokens < count(text).tokens
    assert left > 0 and len(head) + len(tail) < len(text)


@quick
@given(st.text("ab 가나7.\n", min_size=1, max_size=4000), st.integers(20, 200))
def test_a_cut_text_is_its_head_the_marker_and_its_tail(text, room):
    made = cut(text, room)
    if count(text).tokens <= room:
        assert made == text
    else:
        head, tail, _ = cut_of(made)
        assert text.startswith(head) and text.endswith(tail)
        assert len(head) + len(tail) < len(text)


# DropThoughts.


def thoughts_in(contents):
    parts = [part for content in contents for part in content.parts]
    return [bool(part.thought or part.thought_signature) for part in parts]


@quick
@given(agent_transcripts())
def test_closed_turns_lose_their_thoughts_and_nothing_else(transcript):
    context = DropThoughts()(transcript)
    start = turns(transcript)[-1][0]
    assert not context.dropped and not any(thoughts_in(context.contents[:start]))
    for came, now in zip(transcript, context.contents, strict=True):
        assert text_of(now) == text_of(came) and now.role == came.role
        assert (calls_of(now), responses_of(now)) == (calls_of(came), responses_of(came))


def test_a_part_that_held_only_a_signature_goes_and_a_content_is_never_without_parts():
    sign = types.Part(text="", thought_signature=SIGNATURES[0])
    bare = types.Part(thought_signature=SIGNATURES[1])
    said = types.Part(text="Done.")
    made = [
        DropThoughts()([user("Go"), asks(*parts), user("And?")]).contents[1].parts
        for parts in ([THOUGHT, said, sign], [said, bare], [sign], [bare], [THOUGHT])
    ]
    assert made == [[said], [said], *[[types.Part(text="")]] * 3]


def test_a_call_keeps_its_part_without_the_signature():
    asked, came = step(["track", "track"], SIGNATURES[0])
    asked.parts[0].thought = True
    made = DropThoughts()([user("Go"), asked, came, model("Done."), user("And?")]).contents[1]
    assert calls_of(made) == calls_of(asked) and not any(thoughts_in([made]))


def test_the_current_turn_keeps_its_thoughts():
    transcript = [user("Go"), asks(THOUGHT, call("track", 0, SIGNATURES[0]))]
    assert DropThoughts()(transcript).contents == transcript


# In a session, against the stand-in.

PAGE = "The log of the night shows nothing that stands out.\n" * 12


def script():
    def read(number, page):
        return (Call("read", {"page": 10 * number + page}, {"text": f"Page {page}.\n{PAGE}"}),)

    def close(number, text):
        return (Call("conclude", {"conclusion": f"{text} {number}"}, {"noted": True}),)

    def turn(number):
        steps = (read(number, 1), read(number, 2), close(number, "Not here"), read(number, 3))
        steps += (close(number, "It is here"),)
        answer = f"The fault is on page 3 of {number}."
        return Turn(user=f"Look at machine {number}.", steps=steps, reply=answer, thoughts=66)

    tools = ({"name": "read"}, {"name": "conclude"})
    return Script(name="agent", title="agent", tools=tools, turns=tuple(map(turn, range(1, 5))))


def played(strategy):
    client = connect(offline=True, conversations=[script()], quiet=True)
    return play(script(), ChatSession(client, strategy, model=MODEL))


@pytest.fixture(scope="module")
def full():
    return played(Everything())


CHAINS = [
    *ALL,
    ConclusionsOnly(1),
    Chain(Focus(), ConclusionsOnly(0)),
    Chain(ShortenToolResults(100), LastTurns(2)),
    Chain(LastTurns(2), DropThoughts()),
    Chain(Chain(ShortenToolResults(100), Focus()), DropThoughts()),
]


@pytest.mark.parametrize("strategy", CHAINS, ids=name_of)
def test_the_stand_in_accepts_every_call_and_the_bill_says_what_was_saved(strategy, full):
    reset(strategy)
    session = played(strategy)
    assert [call.error for call in session.calls] == [None] * 24
    assert [text_of(c) for c in session.transcript] == [text_of(c) for c in full.transcript]
    for mine, whole in zip(session.calls, full.calls, strict=True):
        saved = whole.usage.prompt_token_count - mine.usage.prompt_token_count
        assert saved == saved_in(mine, whole)


def saved_in(mine, whole):
    """What a call left out weighs, content by content, in the bill of the call that sent all."""
    was, now = (breakdown(c.request, MODEL, c.signatures) for c in (whole, mine))
    kept = [i for i in range(len(whole.contents)) if i not in set(mine.context.dropped)]
    left = [was.contents[i] + was.thoughts[i] for i in mine.context.dropped]
    changed = set(mine.context.rewritten)
    for place, index in enumerate(kept):
        less = was.contents[index] + was.thoughts[index]
        less -= now.contents[place] + now.thoughts[place]
        assert (less > 0) == (index in changed)
        left.append(less)
    return sum(left)


def test_what_each_saves_on_an_agents_work(full):
    whole = sum(call.usage.prompt_token_count for call in full.calls)
    shares = {}
    for strategy in (ConclusionsOnly(), Focus(), DropThoughts(), Chain(Focus(), DropThoughts())):
        mine = sum(call.usage.prompt_token_count for call in played(strategy).calls)
        shares[name_of(strategy)] = mine / whole
    assert shares["Focus()"] < 0.5 and shares["ConclusionsOnly(0)"] < 0.6
    assert 0.9 < shares["DropThoughts()"] < 1


def test_trimming_does_nothing_within_one_turn_and_focus_does():
    trimmed, focused = played(LastTurns(1)), played(Focus())
    in_turn = slice(6, 11)  # the calls with steps in the second turn
    sizes = [[len(c.contents) for c in s.calls[in_turn]] for s in (trimmed, focused)]
    assert sizes[0] == [1, 3, 5, 7, 9]
    assert [now - sizes[1][0] + 1 for now in sizes[1]] == [1, 3, 5, 3, 5]


def test_a_message_that_is_rewritten_is_kept_once_in_the_record():
    session = played(ShortenToolResults(100))
    rows = [call.request["contents"][2] for call in session.calls if len(call.contents) > 2]
    assert len({id(row) for row in rows}) == 1 and len(rows) > 20


def test_in_a_chain_a_form_outlives_the_place_of_its_message():
    transcript = [user("One"), asks(call("read", 0)), result({"log": LOG}), model("Done.")]
    chain = Chain(LastTurns(2), ShortenToolResults(60))
    transcript = [*chat(2), *transcript]
    before = chain(transcript).contents[-2]
    after = chain([*transcript, user("And?")]).contents[2]
    assert "left out" in json.dumps(to_json([before])) and after is before
    chain([*transcript, *chat(4)])
    assert len(chain.second._forms) == 4  # what is not sent any more is not kept


def test_clear_forgets():
    for strategy in ALL:
        client = connect(offline=True, conversations=[script()], quiet=True)
        session = play(script(), ChatSession(client, strategy, model=MODEL), turns=2)
        assert strategy._seen
        session.clear()
        assert not strategy._seen and not strategy._kept and not getattr(strategy, "_forms", 0)


# The lens.


def places(data, turn=None):
    columns = draw_context(data, turn)._columns
    return list(zip(columns[t("lens.place")], columns[t("lens.tokens")], strict=True))


def test_the_lens_shows_steps_that_were_dropped_inside_a_turn():
    session = played(Focus())
    rows = [place for place, _ in places(session, 1)]
    assert rows == ["kept", *["dropped"] * 4, *["kept"] * 2, *["dropped"] * 2, *["kept"] * 2]
    assert "the model sees 5 of 11 messages" in draw_context(session, 1).table()


def test_the_lens_shows_what_was_shortened_with_the_tokens_that_were_sent(tmp_path):
    session = played(Chain(ShortenToolResults(100), LastTurns(2)))
    for data in (session, load(session.save(tmp_path / "run.json"))):
        rows = places(data)
        assert [place for place, _ in rows].count("shortened") == 6
        assert [place for place, _ in rows[:24]] == ["dropped"] * 24
        call = session.calls[-1]
        bill = breakdown(call.request, MODEL, {})
        assert [tokens for place, tokens in rows if place != "dropped"] == bill.contents
        assert "the model sees 23 of 47 messages" in draw_context(data).table()


def test_only_a_lens_that_shows_something_shortened_has_bars_for_it(full):
    shortened = draw_context(played(ShortenToolResults(100)))
    names = [{bar.name for bar in chart.data} for chart in (draw_context(full), shortened)]
    assert names[1] - names[0] == {"shortened"}


def test_steps_dropped_among_kept_turns_are_not_inside_a_summary():
    client = connect(offline=True, conversations=[script()], quiet=True)
    strategy = Chain(SummaryPairs(2, 1), Focus())
    session = play(script(), ChatSession(client, strategy, model=MODEL), turns=4)
    rows = [place for place, _ in places(session)]
    summarised = rows.count("inside the summary")
    assert summarised and rows[:summarised] == ["inside the summary"] * summarised
    assert "dropped" in rows[summarised:]


def test_a_chain_of_three_names_what_it_rewrote_in_the_whole_transcript():
    transcript = [user("Go"), *STEPS[:1], result({"log": LOG}), model("Done."), *worked(2)[:3]]
    transcript[1] = asks(call("read", 0, SIGNATURES[0]))
    greeting = lambda contents: [user("Earlier you said hello."), *contents]  # noqa: E731
    for first in (Everything(), greeting):
        chain = Chain(Chain(ShortenToolResults(60), first), DropThoughts())
        assert list(context_of(chain, transcript).rewritten) == [1, 2]
    chain = Chain(Chain(ShortenToolResults(60), greeting), LastTurns(1))
    assert list(chain(transcript).dropped) == [0, 1, 2, 3]
    assert list(chain(transcript).rewritten) == []
