"""The long case, data/conversations/support.*.toml: what the chapters count on.

The spine follows one customer: an order number given in turn 2 and asked for in turn 20, a
phone number that is corrected, a long tool result, probes in both halves, two closures. The
English and the Korean file must be twins, so that a chapter plays either of them.

Not tested here: the format itself (the loader refuses a broken file), and what any strategy
keeps of the case (the chapters measure that).
"""

import cases
import pytest
from cases import assert_twins, calls, said_in

from chat_memory import ChatSession, Everything, LastTurns, connect, play
from offline_gemini.billing import breakdown
from offline_gemini.replies import leaves
from offline_gemini.scripts import fold, visible

PATHS, CASES = cases.paths("support"), cases.load("support")
HALF, LONG_RESULT = 24, 30
CORRECTED = {"phone_last4": "4471"}
CLOSED = {"en": ("solves it", "solved"), "ko": ("해결",)}

each_language = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
with_and_without_tools = pytest.mark.parametrize("tools", [True, False], ids=["tools", "no tools"])


def current(case, fact):
    return (CORRECTED[fact],) if fact in CORRECTED else case.facts[fact]


def contents_of(turn):
    contents = [{"role": "user", "parts": [{"text": turn.user}]}]
    for step in turn.steps:
        asked = [{"functionCall": {"name": c.name, "args": c.args}} for c in step]
        brought = [{"functionResponse": {"name": c.name, "response": c.result}} for c in step]
        contents += [{"role": "model", "parts": asked}, {"role": "user", "parts": brought}]
    return [*contents, {"role": "model", "parts": [{"text": turn.reply}]}]


def weights(case):
    """Tokens of every turn, tool traffic included."""
    return [
        sum(breakdown({"contents": contents_of(turn)}, "gemini-3.6-flash", {}).contents)
        for turn in case.turns
    ]


def probes(case, half=slice(None)):
    return [turn for turn in case.turns[half] if turn.probe]


def test_the_two_languages_are_twins():
    assert_twins(CASES["en"], CASES["ko"])


@each_language
def test_it_has_48_turns_three_tools_and_at_least_ten_probes_in_both_halves(case):
    assert len(case.turns) == 2 * HALF and len(case.tools) == 3
    assert len(probes(case)) >= 10
    assert min(len(probes(case, slice(HALF))), len(probes(case, slice(HALF, None)))) >= 4


@each_language
def test_the_order_number_is_given_in_turn_2_and_not_seen_again_before_turn_20(case):
    number = case.facts["order_number"]
    seen = [
        n
        for n, turn in enumerate(case.turns[:19], 1)
        if visible(number, [*said_in(turn), turn.without, turn.outdated, turn.again])
    ]
    assert seen == [2]
    assert case.turns[19].probe and case.turns[19].needs == ("order_number",)
    assert not visible(number, [case.system])


@each_language
@with_and_without_tools
def test_every_fact_is_seen_before_it_is_needed(case, tools):
    for number, turn in enumerate(case.turns, 1):
        earlier = [text for past in case.turns[: number - 1] for text in said_in(past, tools)]
        for fact in turn.needs:
            assert visible(current(case, fact), earlier), f"turn {number} needs {fact}"


@each_language
def test_the_first_half_stands_alone(case):
    known = {fact for turn in case.turns[:HALF] for fact in turn.states + turn.needs}
    late = {fact for turn in case.turns[HALF:] for fact in turn.states}
    assert not known & late
    closing = [
        number
        for number, turn in enumerate(case.turns, 1)
        if any(word in turn.user for word in CLOSED[case.language])
    ]
    assert closing == [HALF, 2 * HALF]


@each_language
def test_a_turn_that_needs_a_fact_says_what_happens_without_it(case):
    for number, turn in enumerate(case.turns, 1):
        assert bool(turn.needs) == bool(turn.without) == bool(turn.again), f"turn {number}"
        for fact in turn.needs:
            assert visible(current(case, fact), [turn.again]), f"turn {number}: again, {fact}"
            assert not visible(case.facts[fact], [turn.without]), f"turn {number}: without"


@each_language
def test_no_turn_brings_the_fact_it_needs_itself(case):
    for number, turn in enumerate(case.turns, 1):
        brought = leaves([call.result for call in calls(turn)])
        for fact in turn.needs:
            assert not visible(case.facts[fact], [turn.user, *brought]), f"turn {number}, {fact}"


@each_language
def test_no_two_customer_messages_are_alike(case):
    """Else a request that holds only the newest message would be taken for another turn's."""
    messages = [fold(text) for turn in case.turns for text in (turn.user, turn.again) if text]
    assert len(messages) == len(set(messages))


@each_language
def test_every_spelling_of_a_fact_occurs(case):
    texts = [text for turn in case.turns for text in said_in(turn)]
    for fact, spellings in case.facts.items():
        for spelling in spellings:
            assert visible([spelling], texts), f"{fact}: {spelling}"


@each_language
def test_the_phone_number_is_corrected_and_the_old_one_comes_back_in_a_result(case):
    old, new = case.facts["phone_last4"]
    stated = [turn for turn in case.turns if "phone_last4" in turn.states]
    assert [(visible([old], [t.user]), visible([new], [t.user])) for t in stated] == [
        (True, False),
        (False, True),
    ]
    assert visible([old], said_in(case.turns[LONG_RESULT - 1]))
    assert not visible([new], said_in(case.turns[LONG_RESULT - 1]))
    assert any(turn.outdated for turn in case.turns[LONG_RESULT:] if "phone_last4" in turn.needs)


@each_language
def test_at_least_four_probes_rest_on_a_single_sentence_of_the_customer(case):
    alone = [
        fact
        for number, turn in enumerate(case.turns)
        for fact in turn.needs
        if turn.probe and only_stated(case, fact, case.turns[:number])
    ]
    assert len(alone) >= 4


def only_stated(case, fact, turns):
    seen = [turn for turn in turns if visible(case.facts[fact], said_in(turn))]
    return len(seen) == 1 and not visible(case.facts[fact], said_in(seen[0])[1:])


@each_language
def test_turns_weigh_at_least_150_tokens_on_average_and_none_is_tiny(case):
    weight = weights(case)
    for half in (weight[:HALF], weight[HALF:]):
        assert sum(half) / HALF >= 150
    assert min(weight) >= 120


@each_language
def test_one_tool_result_is_long_and_its_one_line_that_matters_stands_in_the_middle(case):
    result = calls(case.turns[LONG_RESULT - 1])[0].result
    part = {"functionResponse": {"name": "track_shipment", "response": result}}
    contents = [{"role": "user", "parts": [part]}]
    assert 950 <= breakdown({"contents": contents}, "gemini-3.6-flash", {}).total <= 1500
    old = case.facts["phone_last4"]
    places = [
        n / len(result["log"]) for n, line in enumerate(result["log"]) if visible(old, [line])
    ]
    assert len(places) == 1 and 1 / 3 < places[0] < 2 / 3


@each_language
def test_system_and_tools_weigh_about_260_tokens(case):
    system = {"parts": [{"text": case.system}]}
    body = {"systemInstruction": system, "tools": [{"functionDeclarations": list(case.tools)}]}
    assert 240 <= breakdown(body, "gemini-3.6-flash", {}).total <= 290


@each_language
def test_the_tools_are_called_in_parallel_once_and_one_after_another_once(case):
    assert 10 <= sum(bool(turn.steps) for turn in case.turns) <= 14
    assert any(len(turn.steps) == 2 for turn in case.turns)
    assert any(len(step) == 2 for turn in case.turns for step in turn.steps)


def played(case, strategy, tools, turns=None):
    """A session that has played the case offline, thinking off."""
    client = connect(offline=True, conversations=[PATHS[case.language]])
    return play(case, ChatSession(client, strategy, thinking=False), turns=turns, tools=tools)


def texts(session):
    return [part.text for content in session.transcript for part in content.parts if part.text]


@each_language
@with_and_without_tools
def test_with_the_whole_transcript_every_turn_gets_its_reply(case, tools):
    expected = [text for turn in case.turns for text in (turn.user, turn.reply)]
    assert texts(played(case, Everything(), tools)) == expected


@each_language
@with_and_without_tools
def test_the_order_number_is_there_with_19_turns_kept_and_not_with_18(case, tools):
    probe = case.turns[19]
    assert texts(played(case, LastTurns(19), tools, turns=20))[-1] == probe.reply
    asked_again = [probe.user, probe.without, probe.again, probe.reply]
    assert texts(played(case, LastTurns(18), tools, turns=20))[-4:] == asked_again


@each_language
def test_a_customer_who_is_asked_again_always_gets_the_reply_in_the_end(case):
    newest_only = texts(played(case, LastTurns(1), tools=True))
    assert [text for text in newest_only if text in {turn.reply for turn in case.turns}] == [
        turn.reply for turn in case.turns
    ]


@each_language
def test_few_turns_kept_let_the_old_phone_number_stand_as_current(case):
    spoken = texts(played(case, LastTurns(6), tools=True))
    assert [turn.outdated for turn in case.turns if turn.outdated and turn.outdated in spoken]


@each_language
def test_the_last_third_of_24_turns_costs_over_four_times_the_first(case):
    calls = played(case, Everything(), tools=True, turns=HALF).calls
    third = [
        sum(c.usage.prompt_token_count for c in calls if first <= c.turn < first + 8)
        for first in (1, 9, 17)
    ]
    assert third[2] / third[0] > 4.2
