"""SummaryPairs, LayeredHybrid and KeyFacts: what stands in the context, and nothing is lost.

The hypothesis test at the end is the rule of them all: whatever the summariser does, every turn
is either covered, once, or verbatim. Not tested here: what a summary says.
"""

import contextlib
import json
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from google import genai
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import chat, turn

from chat_memory import (
    ChatSession,
    Everything,
    KeyFacts,
    LastTurns,
    LayeredHybrid,
    SummaryPairs,
    connect,
    load,
    play,
)
from chat_memory.charts.context_lens import draw_context
from chat_memory.contents import check, is_turn_start, model, text_of, to_json, turns, user
from chat_memory.layers import MOST_PINNED
from chat_memory.probes import probes
from chat_memory.recount import Record, recounted
from chat_memory.strategies import Chain, context_of
from chat_memory.strings import t
from chat_memory.summary import pair
from chat_memory.triggers import any_of, closed, every_turns, over_tokens, over_turns
from chat_memory.usage import Price, cost, total
from offline_gemini import OfflineGemini, load_script

FOLDER = Path(__file__).resolve().parents[1] / "data" / "conversations"
CASES = {language: load_script(FOLDER / f"support.{language}.toml") for language in ("en", "ko")}
PINS = ["Order 730416: one standing desk.", "Ticket TK-5520."]
GOOD = "## Next step\nThe customer asked, and all was answered."
FACTS = json.dumps([{"name": "order", "value": "48213"}])

each_language = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def replying(*texts, **more):
    """An `ask` that brings these texts one after the other, the last for ever; what it was asked.

    An exception is raised, a call is made, None is a call that failed.
    """
    asked, left = [], list(texts)

    def ask(contents, purpose, *more):
        asked.append((purpose, text_of(contents[0])))
        text = left.pop(0) if len(left) > 1 else left[0]
        text = text() if callable(text) else text
        if isinstance(text, Exception):
            raise text
        reply = None if text is None else model(text) if isinstance(text, str) else text
        return SimpleNamespace(reply=reply, error="Busy." if text is None else None, usage=None)

    return ask, asked


def bound(strategy, *texts):
    ask, asked = replying(*(texts or (GOOD,)))
    strategy.bind(ask)
    return strategy, asked


def grown(strategy, number, words=30):
    """A chat of so many turns, the last one open, shown to the strategy turn by turn."""
    transcript = []
    for n in range(1, number + 1):
        transcript.append(user(f"Question {n}. " + "Please tell me. " * words))
        context = strategy(transcript)
        if n < number:
            transcript.append(model(f"Answer {n}. " + "It is so. " * words))
    return transcript, context


def session_of(case, strategy, **more):
    client = connect(offline=True, conversations=[case], quiet=True)
    return ChatSession(client, strategy=strategy, thinking=False, **more)


def covered(strategy):
    return [(s.first, s.last) for s in strategy.summaries if not s.refused]


# --- what stands in the context -----------------------------------------------------------------


def test_the_pair_stands_before_a_tail_that_begins_with_a_real_turn():
    strategy, asked = bound(SummaryPairs(context_limit=4, keep_last_n_turns=2))
    transcript, context = grown(strategy, 5)
    assert covered(strategy) == [(1, 3)] and len(asked) == 1
    assert context.contents[:2] == pair(GOOD)
    assert context.contents[2:] == transcript[6:] and is_turn_start(context.contents[2])
    assert list(context.dropped) == list(range(6))
    assert list(context.layers) == [("summary pair", 0, 2), ("recent turns", 2, 5)]


def test_context_limit_counts_the_turns_since_the_last_summary_kept_ones_included():
    strategy, _ = bound(SummaryPairs(4, 2))
    grown(strategy, 12)
    assert covered(strategy) == [(1, 3), (4, 6), (7, 9)]


def test_with_both_limits_equal_a_summary_is_made_every_turn():
    strategy, asked = bound(SummaryPairs(3, 3))
    grown(strategy, 8)
    assert covered(strategy) == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]
    assert "<earlier>" not in asked[0][1] and f"<earlier>\n{GOOD}" in asked[1][1]


def test_a_summary_knows_where_its_originals_stand():
    strategy, asked = bound(SummaryPairs(4, 2))
    transcript, _ = grown(strategy, 9)
    for made in strategy.summaries:
        originals = transcript[made.start : made.stop]
        assert len(turns(originals)) == made.last - made.first + 1
        assert text_of(originals[0]).startswith(f"Question {made.first}.")
    assert "Question 4." in asked[1][1] and "Question 3." not in asked[1][1]


def test_a_context_limit_may_be_a_trigger():
    strategy, _ = bound(SummaryPairs(every_turns(5), 2))
    grown(strategy, 12)
    assert covered(strategy) == [(1, 4), (5, 9)]
    assert repr(strategy) == "SummaryPairs(every_turns(5), 2)"


def test_pinned_facts_and_the_issue_stand_first_in_the_system_instruction():
    strategy = LayeredHybrid(PINS, issue="The left leg is dead.")
    session = session_of(CASES["en"], strategy, system="Be kind.")
    play(CASES["en"], session, turns=1)
    [call] = session.calls
    system = call.request["systemInstruction"]["parts"][0]["text"]
    assert system == "\n".join([*PINS, "Current issue: The left leg is dead."]) + "\n\nBe kind."
    assert call.context.layers[0] == ("pinned", 0, 0)
    strategy.issue = "The parcel is late."
    assert strategy([user("Hello")]).pinned.endswith("Current issue: The parcel is late.")


def test_clear_keeps_what_is_pinned_and_forgets_the_issue_and_the_summaries():
    strategy, _ = bound(LayeredHybrid(PINS, 2, over_turns(3), issue="The leg."))
    grown(strategy, 5)
    before = strategy.summaries
    strategy.reset()
    assert before and strategy.summaries == []
    context = strategy([user("Hello")])
    assert context.pinned == "\n".join(PINS)
    assert context.contents == [user("Hello")] and not context.dropped


def test_the_issue_speaks_the_language_of_the_pins():
    strategy = LayeredHybrid(["주문 730416입니다."], issue="왼쪽 다리")
    assert strategy([user("네")]).pinned.splitlines()[1] == "지금 다루는 일: 왼쪽 다리"


def test_another_transcript_begins_without_a_pair():
    strategy, _ = bound(SummaryPairs(4, 2))
    grown(strategy, 6)
    other = [*chat(5), user("Hello")]
    assert strategy(other[:3]).contents == other[:3]
    assert covered(strategy) == []


def test_key_facts_keep_the_newest_value_under_its_name():
    def rows(**facts):
        return json.dumps([{"name": name, "value": value} for name, value in facts.items()])

    replies = (rows(phone="4417", order="48213"), rows(phone="4471"))
    strategy, asked = bound(KeyFacts(2), *replies)
    _, context = grown(strategy, 8)
    assert covered(strategy) == [(1, 3), (4, 6)]
    assert strategy.facts == {"phone": "4471", "order": "48213"}
    assert text_of(context.contents[1]) == "phone: 4471\norder: 48213"
    assert context.layers[0] == ("key facts", 0, 2)
    assert asked[1][0] == "facts" and '"phone": "4417"' in asked[1][1]


def test_key_facts_that_find_none_forget_the_turns_and_send_no_pair():
    strategy, _ = bound(KeyFacts(2), "[]")
    transcript, context = grown(strategy, 5)
    assert context.contents == transcript[6:] and strategy.facts == {}


def test_key_facts_are_compared_with_the_older_facts_and_the_turns_they_replace():
    facts = json.dumps([{"name": f"fact {n}", "value": f"{n}{n}"} for n in range(20)])
    strategy, _ = bound(KeyFacts(2), facts, "[]")
    transcript, _ = grown(strategy, 5)
    for n in range(6, 9):
        transcript += [model("Yes."), user(f"And {n}?")]
        strategy(transcript)
    assert covered(strategy) == [(1, 3), (4, 6)]


@pytest.mark.parametrize("reply", ["no list", "3", '[{"name": "a"}]', "{}x", None, "[[]]"])
def test_a_reply_that_is_no_list_of_facts_changes_nothing(reply):
    strategy, _ = bound(KeyFacts(2), reply)
    transcript, context = grown(strategy, 6)
    assert context.contents == transcript
    assert strategy.summaries and all(made.refused for made in strategy.summaries)


def test_a_call_instead_of_facts_is_told_as_no_list_of_facts():
    strategy, _ = bound(KeyFacts(2), BAD["asks for a call"])
    grown(strategy, 6)
    assert {made.refused for made in strategy.summaries} == {t("summary.no_facts")}


def test_it_asks_once_a_turn_before_the_first_request_and_not_between_tool_calls():
    strategy, asked = bound(SummaryPairs(2, 1), None)
    transcript, _ = grown(strategy, 3)
    assert len(asked) == 1
    part = types.Part(function_call=types.FunctionCall(name="f", args={}))
    answer = types.Part(function_response=types.FunctionResponse(name="f", response={}))
    transcript += [
        types.Content(role="model", parts=[part]),
        types.Content(role="user", parts=[answer]),
    ]
    assert strategy(transcript).contents == transcript and len(asked) == 1


# --- whatever the summariser does ---------------------------------------------------------------

BAD = {
    "fails": None,
    "blank": "",
    "asks for a call": types.Content(
        role="model",
        parts=[
            types.Part(text=GOOD),
            types.Part(function_call=types.FunctionCall(name="f", args={})),
        ],
    ),
    "speaks another language": "## Next step\n고객의 질문에 모두 답했습니다.",
    "is longer": "## Next step\n" + "More. " * 5000,
    "writes an error text": "Error 500",
    "raises": RuntimeError("No."),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD)
def test_a_bad_summary_changes_nothing_and_says_why(reply):
    strategy, asked = bound(SummaryPairs(3, 2, prompt="three_lines"), reply)
    transcript, context = grown(strategy, 6)
    assert context.contents == transcript and not context.dropped
    assert len(asked) == len(strategy.summaries) == 3
    assert all(made.refused and "\n" not in made.refused for made in strategy.summaries)


def test_after_a_failure_the_next_one_covers_all_that_is_due():
    strategy, _ = bound(SummaryPairs(3, 2), None, GOOD)
    grown(strategy, 5)
    assert [(s.first, s.last, not s.refused) for s in strategy.summaries] == [
        (1, 2, False),
        (1, 3, True),
    ]


def test_turns_that_arrive_while_it_summarises_stay_verbatim():
    late = [user("One more thing."), model("Yes?")]
    transcript = [*(c for n in range(3) for c in (user("Why? " * 99), model("So. " * 99)))]
    transcript.append(user("And now?"))

    def moving():
        transcript.extend(late)
        return GOOD

    strategy, _ = bound(SummaryPairs(3, 1), moving)
    context = context_of(strategy, transcript)
    assert context.contents == [*pair(GOOD), user("And now?"), *late]


def test_clear_wins_over_a_running_summary():
    strategy = SummaryPairs(3, 1)

    def clearing():
        strategy.reset()
        return GOOD

    bound(strategy, clearing)
    transcript, context = grown(strategy, 4)
    assert context.contents == transcript and strategy.summaries == []


def test_a_transcript_that_was_cut_meanwhile_is_not_replaced():
    transcript = [c for n in range(4) for c in (user(f"Why {n}? " * 60), model("So. " * 60))]
    transcript.append(user("And now?"))

    def cutting():
        del transcript[:2]
        return GOOD

    strategy, _ = bound(SummaryPairs(4, 1), cutting)
    assert strategy(transcript).contents == transcript
    assert "cleared or changed" in strategy.summaries[0].refused


def test_an_ask_that_chats_through_the_same_session_ends():
    case = CASES["en"]
    strategy = SummaryPairs(3, 2)
    session = session_of(case, strategy)
    ask, sent = session.ask, []

    def chatty(contents, purpose, *more):
        sent.append(session.send("By the way, a nice day."))
        return ask(contents, purpose, *more)

    session.ask = chatty
    play(case, session, turns=6, tools=False)
    assert covered(strategy) and len(sent) == len(strategy.summaries)
    for call in session.calls:
        check(call.contents)


def test_without_a_model_it_says_so_when_one_is_needed():
    strategy = SummaryPairs(3, 1)
    assert strategy(chat(2) + [user("Hm.")]).contents
    with pytest.raises(ValueError, match=r"SummaryPairs\(3, 1\) calls a model: give it to a Chat"):
        strategy(chat(3) + [user("Hm.")])


def heavy(turn_contents):
    """A generated turn, made long enough for a summary to be smaller."""
    question = turn_contents[0]
    more = types.Part(text="Please tell me all about it, I have time. " * 12)
    question.parts = [*question.parts, more]
    return turn_contents


STRATEGIES = st.one_of(
    st.tuples(st.integers(1, 5), st.integers(0, 4)).map(
        lambda n: SummaryPairs(n[0] + n[1], n[0], "three_lines")
    ),
    st.tuples(st.integers(1, 4), st.integers(1, 5)).map(
        lambda n: LayeredHybrid(PINS, n[0], every_turns(n[1]), prompt="three_lines")
    ),
    st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda n: KeyFacts(n[0], n[0] + n[1])),
)
OUTCOMES = st.lists(st.sampled_from(["good", "late", "clear", *BAD]), max_size=16)


@settings(max_examples=120, deadline=None)
@given(STRATEGIES, st.lists(turn(), min_size=1, max_size=16), OUTCOMES)
def test_every_turn_is_covered_once_or_verbatim_and_the_context_is_accepted(
    strategy, closed_turns, outcomes
):
    transcript, left = [], list(outcomes)
    good = FACTS if isinstance(strategy, KeyFacts) else GOOD

    def ask(contents, purpose, *more):
        outcome = left.pop(0) if left else "good"
        if outcome == "clear":
            strategy.reset()
        if outcome == "late":
            transcript.extend([user("And another thing."), model("Yes.")])
        return replying(BAD.get(outcome, good))[0](contents, purpose)

    strategy.bind(ask)
    for contents in map(heavy, closed_turns):
        for content in contents:
            if content.role == "user":
                transcript.append(content)
                nothing_lost(strategy, strategy(transcript), transcript)
            else:
                transcript.append(content)
        if left and left[0] == "clear" and len(transcript) % 3 == 0:  # between turns, too
            transcript = []
            strategy.reset()


def nothing_lost(strategy, context, transcript):
    taken = [made for made in strategy.summaries if not made.refused]
    ends = [(0, 0), *((made.last, made.stop) for made in taken)]
    assert [(made.first - 1, made.start) for made in taken] == ends[:-1]
    last, stop = ends[-1]
    assert len(turns(transcript[:stop])) == last
    head = len(context.contents) - len(transcript[stop:])
    assert head in (0, 2) and bool(taken) >= bool(head)
    assert all(a is b for a, b in zip(context.contents[head:], transcript[stop:], strict=True))
    assert list(context.dropped) == list(range(stop))
    check(context.contents)


# --- in a session -------------------------------------------------------------------------------


@each_language
@pytest.mark.parametrize("number", [24, 48])
def test_the_bill_adds_up_over_all_calls_summaries_included(case, number):
    session = play(case, session_of(case, LayeredHybrid(case.pinned)), turns=number)
    answers = [call for call in session.calls if call.purpose == "answer"]
    made = [call for call in session.calls if call.purpose == "summary"]
    assert len(answers) + len(made) == len(session.calls)
    assert [call.usage for call in made] == [s.usage for s in session.strategy.summaries]
    whole, price = total(session.calls), Price(input=1.5, output=7.5, cached=0.15)
    assert whole == total(answers) + total(made)
    assert round(sum(cost(call.usage, price) for call in session.calls), 9) == round(
        cost(whole, price), 9
    )
    assert not any("systemInstruction" in c.request or "tools" in c.request for c in made)


def test_a_summary_is_asked_for_before_the_answer_of_the_turn_that_needs_it():
    session = play(CASES["en"], session_of(CASES["en"], SummaryPairs(4, 2)), turns=6, tools=False)
    order = [(call.turn, call.scripted, call.purpose) for call in session.calls]
    assert order[4:6] == [(5, 5, "summary"), (5, 5, "answer")]
    assert session.send("Hello?").usage == session.calls[-1].usage


SAVINGS = {  # of the prompts summed over 48 turns, and the probes whose fact was not sent
    "en": (0.45, [34, 38]),
    "ko": (0.45, [21, 34, 38]),
}


@pytest.mark.parametrize("language", CASES)
def test_the_hybrid_saves_45_percent_and_keeps_all_probes_but_those_that_are_discussed(language):
    case, (least, lost) = CASES[language], SAVINGS[language]
    whole = play(case, session_of(case, Everything()))
    hybrid = play(case, session_of(case, LayeredHybrid(case.pinned)))
    prompts = [total(session.calls).prompt_token_count for session in (whole, hybrid)]
    assert 1 - prompts[1] / prompts[0] >= least
    assert [probe.number for probe in probes(hybrid.calls, case) if probe.missing] == lost
    trimmed = play(case, session_of(case, LastTurns(6)))
    assert len([p for p in probes(trimmed.calls, case) if p.missing]) > 10


@each_language
def test_key_facts_keep_every_fact_that_has_a_name(case):
    session = play(case, session_of(case, KeyFacts(6)))
    assert session.strategy.facts["phone_last4"] == "4471"
    assert not [probe.number for probe in probes(session.calls, case) if probe.missing]
    assert {call.purpose for call in session.calls} == {"answer", "facts"}


def test_what_a_strategy_asks_is_recorded_and_a_failure_ends_no_turn():
    client = connect(
        offline=True, conversations=[CASES["en"]], faults={2: "max_tokens"}, quiet=True
    )
    session = ChatSession(client, system="Be kind.", thinking=False)
    schema = {"type": "array", "items": {"type": "string"}}
    first = session.ask([user("Hello?")], "facts", schema)
    assert first.request["generationConfig"] == {
        "thinkingConfig": {"thinking_budget": 0},
        "responseMimeType": "application/json",
        "responseJsonSchema": schema,
    }
    assert first.reply and not first.answer and session.calls == [first]
    failed = session.ask([user("Hello?")], "summary")
    assert "cut off" in failed.error and failed.reply is None and failed.usage
    assert (failed.turn, failed.purpose, session.transcript) == (1, "summary", [])


def failing_client(case):
    """A client whose summaries all fail with a 500, and whose answers come from the script."""
    server = OfflineGemini([case])

    def handle(request):
        if "Summarise the conversation below" in request.content.decode():
            return httpx2.Response(500, json={"error": {"code": 500, "status": "INTERNAL"}})
        answered = server.handle("POST", request.url.path, "key", request.content)
        return httpx2.Response(answered.status, json=answered.chunks[0])

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    options = types.HttpOptions(httpx_client=http, httpx_async_client=httpx2.AsyncClient())
    return genai.Client(vertexai=False, api_key="key", http_options=options)


def test_a_summariser_that_always_fails_leaves_a_session_like_one_without():
    case = CASES["en"]
    plain = play(case, session_of(case, Everything()), turns=16)
    failing = ChatSession(failing_client(case), SummaryPairs(8, 4), thinking=False)
    play(case, failing, turns=16)
    answers = [call for call in failing.calls if call.purpose == "answer"]
    failed = [call for call in failing.calls if call.purpose == "summary"]
    assert to_json(failing.transcript) == to_json(plain.transcript)
    assert [call.request for call in answers] == [call.request for call in plain.calls]
    assert len(failed) == 8 and all(call.error and not call.usage for call in failed)
    assert [call.turn for call in failed] == list(range(9, 17))
    assert [made.refused for made in failing.strategy.summaries] == [
        f"The call failed, so the turns stay as they are: {call.error}" for call in failed
    ]


def test_an_interrupted_summary_leaves_the_turn_undone_and_can_be_tried_again():
    case = CASES["en"]
    session = play(case, session_of(case, SummaryPairs(4, 2)), turns=4, tools=False)
    before, ask = list(session.transcript), session.ask

    def interrupted(*arguments):
        raise KeyboardInterrupt

    session.ask = interrupted
    with pytest.raises(KeyboardInterrupt):
        session.send(case.turns[4].user)
    assert session.transcript == before and not session.strategy.summaries
    session.ask = ask
    session.send(case.turns[4].user)
    assert covered(session.strategy) == [(1, 3)]


def test_chain_hands_the_model_and_the_pins_through():
    case = CASES["en"]
    session = session_of(case, Chain(LayeredHybrid(PINS, 3, over_turns(5)), LastTurns(12)))
    play(case, session, turns=8, tools=False)
    assert [call.purpose for call in session.calls].count("summary") == 1
    assert session.calls[-1].context.pinned == "\n".join(PINS)


def test_a_run_log_keeps_the_summary_calls_the_pins_and_the_layers(tmp_path):
    case = CASES["ko"]
    session = play(case, session_of(case, LayeredHybrid(case.pinned)), turns=14)
    again = load(session.save(tmp_path / "run.json"))
    assert [call.purpose for call in again.calls] == [call.purpose for call in session.calls]
    assert again.calls[-1].context.pinned == session.calls[-1].context.pinned
    assert again.calls[-1].context.layers == tuple(session.calls[-1].context.layers)


def test_the_lens_shows_the_pins_first_and_what_the_summary_covers():
    case = CASES["en"]
    session = play(case, session_of(case, LayeredHybrid(case.pinned)), turns=18)
    rows = draw_context(session).table().splitlines()[3:]
    places = [row.split("  ")[-1] for row in rows]
    [made] = session.strategy.summaries
    kept = len(session.calls[-1].contents) - 2  # the pair stands before them
    assert places[: made.stop + 1] == ["pinned"] + ["inside the summary"] * made.stop
    assert len(places) == made.stop + 3 + kept and places[-kept:] == ["kept"] * kept


def test_a_recount_bills_the_pins_and_the_summaries():
    case = CASES["en"]
    session = play(case, session_of(case, Everything()), turns=4)
    pinned = LayeredHybrid(PINS, 6, over_turns(9))
    prompts = Record(session.calls).prompts(pinned)
    plain = [call.usage.prompt_token_count for call in session.calls]
    more = {a - b for a, b in zip(prompts, plain, strict=True)}
    assert len(more) == 1 and more.pop() > 10
    assert [c.usage.prompt_token_count for c in recounted(session.calls, pinned)] == prompts
    counted = Record(session.calls).recount(SummaryPairs(2, 1))
    assert counted.extra and counted.total.prompt_token_count > sum(counted.prompts)


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, -1, 1.5, True, None, "4"])
@pytest.mark.parametrize(
    "make",
    [
        lambda n: SummaryPairs(n, 1),
        lambda n: SummaryPairs(4, n),
        lambda n: LayeredHybrid(PINS, n),
        lambda n: KeyFacts(n),
    ],
)
def test_limits_are_whole_numbers_from_one_on(make, number):
    with pytest.raises(ValueError, match="must be a whole number from 1 on"):
        make(number)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: SummaryPairs(3, 4), "keep_last_n_turns is 4, more than context_limit"),
        (lambda: SummaryPairs(over_turns(3), 4), "keep_last_n_turns is 4, more than context_lim"),
        (lambda: KeyFacts(4, 3), "context_limit is 3, but it must be a whole number from 4"),
        (lambda: LayeredHybrid(PINS, 6, over_turns(6)), "fires at every turn, for 6 turns are"),
        (
            lambda: LayeredHybrid(PINS, 6, any_of(closed(), over_turns(4))),
            "fires at every turn, for 6 turns are",
        ),
        (lambda: LayeredHybrid(PINS, 6, 3000), r"write one such as over_tokens\(3000\)"),
        (lambda: LayeredHybrid([]), "give a list of one or more texts"),
        (lambda: LayeredHybrid(None), "give a list of one or more texts"),
        (lambda: LayeredHybrid(["Order 1.", "  "]), "give a list of one or more texts"),
        (lambda: LayeredHybrid("Order 1."), "give a list of one or more texts"),
        (lambda: LayeredHybrid([730416]), "give a list of one or more texts"),
        (lambda: LayeredHybrid(["word " * 2 * MOST_PINNED]), "1,000 are allowed"),
        (lambda: SummaryPairs(4, 2, prompt="Write a poem."), "its first line has to be"),
        (lambda: SummaryPairs(4, 2, words=3), "words is 3, but it must be"),
        (lambda: LayeredHybrid(PINS, prompt="Write a poem."), "its first line has to be"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_trigger_that_what_is_kept_alone_exceeds_is_refused_when_it_is_known():
    case = CASES["en"]
    session = session_of(case, LayeredHybrid(case.pinned, 6, over_tokens(1500)))
    with pytest.raises(ValueError, match=r"^6 turns and a summary already weigh 1,\d{3} of 1,500"):
        play(case, session)
    done = len(turns(session.transcript))
    assert done >= 6 and to_json(session.transcript)[-1]["role"] == "model"
    session.strategy.trigger = over_tokens(3000)
    session.send(case.turns[done].user)
    assert len(turns(session.transcript)) == done + 1


def test_one_long_turn_is_no_reason_to_refuse():
    case = CASES["en"]
    session = session_of(case, LayeredHybrid(case.pinned, 6, over_tokens(2200)))
    play(case, session)
    assert len(covered(session.strategy)) > 5


def test_a_chat_that_grows_long_winded_after_its_first_summary_is_not_refused():
    strategy, _ = bound(LayeredHybrid(PINS, 2, over_tokens(700)))
    transcript, _ = grown(strategy, 9, words=10)
    assert covered(strategy)
    for n in range(10, 15):
        transcript += [model("It is so. " * 80), user(f"Question {n}. " + "And why? " * 80)]
        strategy(transcript)
    assert covered(strategy)[-1][1] > 10


def test_the_state_of_a_strategy_is_its_own():
    one, other = SummaryPairs(4, 2), SummaryPairs(4, 2)
    bound(one)
    grown(one, 6)
    assert covered(one) and not other.summaries
    with contextlib.suppress(ValueError):
        grown(other, 3)
    assert not other.summaries
