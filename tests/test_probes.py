"""Scores of a session: facts in the request, wrong values, tools, repeats, what a summary keeps.

The small case is played offline, and "live" against a server whose every word is the test's, for
the same code scores both. Each score is shown to move: a test of it has a right and a wrong run.
"""

import pytest
import wire
from google.genai import types

from chat_memory import ChatSession, Everything, LastTurns, connect, load, play
from chat_memory.caching import share
from chat_memory.contents import user
from chat_memory.conversations import filler, find
from chat_memory.layers import SummaryPairs
from chat_memory.probes import lost, probes
from chat_memory.scores import identifiers, score
from chat_memory.strategies import Context
from chat_memory.tables import running_table
from offline_gemini.scripts import Call, Script, Turn

ORDER = Call("look_up", {"id": "48213", "kind": "order"}, {"status": "shipped", "price": "89.90"})
CASE = Script(
    name="small",
    facts={"order": ("48213",), "phone": ("4417", "4471")},
    tools=(
        {
            "name": "look_up",
            "parameters": {
                "type": "object",
                "properties": {"kind": {"type": "string"}, "id": {"type": "string"}},
            },
        },
    ),
    turns=(
        Turn(user="My order is 48213, my number ends in 4417.", reply="I see, 48213.",
             states=("order", "phone")),
        Turn(command="/clear"),
        Turn(user="Sorry, my order 48213 again: the number ends in 4471.", reply="Thank you.",
             states=("phone",)),
        Turn(user="Where is it?", needs=("order",), steps=((ORDER,),), reply="It is on its way.",
             without="Which order?", again="48213, I said."),
        Turn(user="Thanks.", reply="You are welcome."),
        Turn(user="Who will be called?", needs=("phone",), reply="The number ending in 4471.",
             without="I don't know your number.", outdated="The number ending in 4417.",
             probe=True),
    ),
)  # fmt: skip
LAST = 5  # the number of the probe among the turns that are said


def played(strategy=Everything(), **options):
    client = connect(offline=True, quiet=True, conversations=CASE)
    return play(CASE, ChatSession(client, strategy, thinking=False), **options)


def live(*answers, turns=None):
    """The case against a server that gives these replies, one a request."""
    client, _ = wire.client(*(wire.said(each, promptTokenCount=9) for each in answers))
    return play(CASE, ChatSession(client, sleep=lambda seconds: None), turns=turns)


def old_only(chat):
    """A strategy that keeps the question and, of all that was said, the old number."""
    return [user("4417"), chat[-1]]


# --- probes --------------------------------------------------------------------------------------


def test_a_probe_is_in_the_request_if_the_newest_value_is():
    (found,) = probes(played().calls, CASE)
    assert (found.number, found.sent, found.missing, found.in_request) == (
        LAST, ("phone",), (), True
    )  # fmt: skip
    assert found.call.scripted == LAST


def test_a_probe_whose_fact_was_cut_off_is_lost_and_a_chart_can_mark_it():
    session = played(LastTurns(1))
    (found,) = probes(session.calls, CASE)
    assert (found.missing, found.in_request) == (("phone",), False)
    assert list(lost(session.calls, CASE)) == [LAST]
    assert lost(played().calls, CASE) == {}


def test_a_superseded_value_is_not_the_fact():
    session = played(old_only, tools=False)
    assert probes(session.calls, CASE)[0].missing == ("phone",)


def test_a_fact_that_a_cache_holds_is_in_the_request():
    client = connect(offline=True, quiet=True, caching=True, conversations=CASE)
    session = ChatSession(client, thinking=False)
    pinned = f"The number ends in 4471. {filler(1100)}"
    config = types.CreateCachedContentConfig(
        system_instruction=types.Content(parts=[types.Part(text=pinned)])
    )
    name = client.caches.create(model=session.model, config=config).name
    session.strategy = lambda chat: Context(chat[-1:], system=pinned, cached=name)
    play(CASE, session, tools=False)
    assert probes(session.calls, CASE)[0].in_request and share(session.calls) > 0.9
    assert [c.reply.parts[0].text for c in session.calls][-1] == "The number ending in 4471."


def test_a_turn_that_was_not_played_is_no_probe():
    assert probes(played(turns=3).calls, CASE) == []


def test_the_running_table_still_reads_the_probe():
    sessions = {"all": played(), "one": played(LastTurns(1))}
    rows = running_table(sessions, CASE, LAST).rows
    assert [(row[0], row[3], row[4]) for row in rows] == [("all", True, 0), ("one", False, 1)]


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (LAST - 1, r"Turn 4 is no probe of small; its probes are turns: 5\."),
        ("5", r"Turn '5' is no probe of small; its probes are turns: 5\."),
        (LAST, r"short has not played turn 5: play at least 5 turns\."),
    ],
)
def test_a_turn_the_running_table_can_not_read_is_named(turn, words):
    with pytest.raises(ValueError, match=words):
        running_table({"all": played(), "short": played(turns=3)}, CASE, turn)


# --- contamination -------------------------------------------------------------------------------


def test_a_right_run_scores_full_marks():
    scored = score(played().calls, CASE)
    assert (scored.in_request, len(scored.probes)) == (1, 1)
    assert (scored.contaminated, scored.repeated, scored.kept) == ((), (), ())
    assert (scored.tool_accuracy, scored.identifiers_kept) == (1.0, None)


def test_an_outdated_value_that_is_spoken_contaminates_offline_too():
    assert score(played(old_only, tools=False).calls, CASE).contaminated == (LAST,)


RIGHT = ("I see.", "Thank you.", "On its way.", "Welcome.")


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("It ends in 4471.", False),
        ("It ends in 4417.", True),
        ("Not 4417 any more: it ends in 4471.", False),
        ("I call the one I have.", False),
        ("I call 4471 for order 99999.", True),
        ("I call 4471 about TK-1.", True),
        ("I call 4471, it costs 12.50 euros.", True),
        ("I call 4471, it costs 89.90 euros.", False),  # the script's tool says so
        ("I call 4471 at 17:40 on 3 October, 2 days from now.", False),  # may be worked out
    ],
)
def test_a_live_answer_is_contaminated_by_a_superseded_or_an_invented_value(answer, wrong):
    assert score(live(*RIGHT, answer).calls, CASE).contaminated == ((LAST,) if wrong else ())


def test_an_old_value_in_a_turn_that_does_not_need_the_fact_is_no_contamination():
    answers = (*RIGHT[:3], "The log shows 4417.", "4471.")
    assert score(live(*answers).calls, CASE).contaminated == ()


# --- tools ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "right", "made", "accuracy"),
    [
        ([{"id": "48213", "kind": "order"}], 1, 1, 1.0),
        ([{"id": "48213", "kind": "Order"}], 1, 1, 1.0),
        ([{"id": "48214", "kind": "order"}], 0, 1, 0.0),
        ([{"id": "48213"}], 0, 1, 0.0),
        ([{"id": "48213", "kind": "order"}, {"id": "1", "kind": "order"}], 1, 2, 0.5),
        ([], 0, 0, 0.0),
    ],
)
def test_calls_are_held_against_the_scripts_by_name_and_arguments(asked, right, made, accuracy):
    calls = [wire.asked("look_up", **each) for each in asked]
    session = live(*RIGHT[:2], *calls, "On its way.", "Welcome.", "4471")
    scored = score(session.calls, CASE)
    assert (scored.right_calls, scored.made_calls, scored.scripted_calls) == (right, made, 1)
    assert scored.tool_accuracy == accuracy


def test_a_right_call_in_the_wrong_turn_is_wrong():
    call = wire.asked("look_up", id="48213", kind="order")
    scored = score(live("I see.", call, "Thank you.", "Way.", "Welcome.", "4471").calls, CASE)
    assert (scored.right_calls, scored.made_calls, scored.scripted_calls) == (0, 1, 1)


def test_without_declared_tools_no_call_is_expected():
    scored = score(played(tools=False).calls, CASE)
    assert (scored.scripted_calls, scored.tool_accuracy) == (0, None)


# --- repeated questions --------------------------------------------------------------------------


def test_a_turn_in_which_the_customer_repeats_himself_is_named():
    scored = score(played(LastTurns(1)).calls, CASE)
    assert scored.repeated == (3,)
    assert scored.tool_accuracy == 1.0  # after the repetition the call is made, in the same turn


def test_a_chat_that_was_typed_is_scored_by_its_questions():
    client = connect(offline=True, quiet=True, conversations=CASE)
    session = ChatSession(client, LastTurns(1), thinking=False)
    for text in ("Where is it", "48213, I SAID.", "Is it raining?"):
        session.send(text)
    assert all(call.scripted is None for call in session.calls)
    assert score(session.calls, CASE).repeated == (3,)


# --- identifiers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Order 730416, ticket TK-5520.", {"730416", "TK-5520"}),
        ("Part TV-140-LL (E07), batch 2209-0958, v2.3.1.",
         {"TV-140-LL", "E07", "2209-0958", "v2.3.1"}),
        ("On 14 October at 17:40, or 2026-10-15, or October 3.",
         {"14 October", "17:40", "2026-10-15", "October 3"}),
        ("35 euros, €89.90 and 12,50, 7 %.", {"35 euros", "€89.90", "12,50", "7 %"}),
        ("ConnectionResetError, then DEADLINE_EXCEEDED.",
         {"ConnectionResetError", "DEADLINE_EXCEEDED"}),
        ("730416번은 10월 14일에 89,900원", {"730416", "10월 14일", "89,900원"}),
        ("In 2026 I waited 3 days for 2 legs of 1.5 m, an A or a B.", set()),
        ("", set()),
    ],
)  # fmt: skip
def test_identifiers_are_known_by_their_form(text, found):
    assert identifiers(text) == found


def summarised(*summaries):
    """A live chat of five turns whose first ones are summarised, twice."""
    first, second = summaries
    answers = ["I see 1111.", "I see 2222.", first, "I see.", "I see.", second, "I see."]
    client, _ = wire.client(*(wire.said(each, promptTokenCount=9) for each in answers))
    session = ChatSession(client, SummaryPairs(2, 1, prompt="three_lines"), thinking=False)
    long = "and " * 40
    for text in ("A-1 of 3 May", "B-2", "C-3", "D-4", "E-5"):
        session.send(f"{text} {long}")
    return session


def test_what_a_summary_keeps_is_counted_over_all_turns_that_it_covers():
    session = summarised("## Conclusions\nA-1, 3 May, 1111, 2222", "## Conclusions\nA-1, C-3")
    scored = score(session.calls, CASE)
    assert [summary.refused for summary in session.strategy.summaries] == ["", ""]
    assert scored.kept == ((4, 5), (2, 7))  # A-1, 3 May, 1111, B-2, 2222; C-3, D-4
    assert scored.identifiers_kept == 2 / 7


def test_a_summary_without_identifiers_keeps_none():
    session = summarised("## Conclusions\nall is well", "## Conclusions\nall is well")
    assert score(session.calls, CASE).kept == ((0, 5), (0, 7))


def test_after_clear_a_summary_is_held_against_the_new_chat_only():
    answers = ["1", "2", "## Conclusions\nA-1", "3", "4", "5", "## Conclusions\nX-8, Y-9", "6"]
    client, _ = wire.client(*(wire.said(each, promptTokenCount=9) for each in answers))
    session = ChatSession(client, SummaryPairs(2, 1, prompt="three_lines"), thinking=False)
    long = "and " * 40
    for text in ("A-1", "B-2", "C-3", "X-8", "Y-9", "Z-7"):
        if text == "X-8":
            session.clear()
        session.send(f"{text} {long}")
    assert score(session.calls, CASE).kept == ((1, 2), (2, 2))


# --- the long case -------------------------------------------------------------------------------


@pytest.mark.parametrize("tools", [True, False])
def test_with_everything_the_long_case_scores_full_marks(tools):
    client = connect(offline=True, quiet=True)
    session = play("support", ChatSession(client, thinking=False), tools=tools)
    scored = score(session.calls, find("support"))
    assert scored.in_request == len(scored.probes) == 15
    assert (scored.contaminated, scored.repeated) == ((), ())
    assert scored.tool_accuracy == (1.0 if tools else None)


def test_a_short_memory_speaks_the_old_number_and_makes_the_customer_repeat():
    client = connect(offline=True, quiet=True)
    session = play("support", ChatSession(client, LastTurns(6), thinking=False))
    scored = score(session.calls, find("support"))
    assert scored.contaminated == (32,)
    assert len(scored.repeated) > 10 and set(lost(session.calls, find("support")))
    assert scored.in_request < len(scored.probes)


def test_a_loaded_run_log_scores_the_same(tmp_path):
    session = played(LastTurns(1))
    loaded = load(session.save(tmp_path / "run.json"))
    fresh, again = score(session.calls, CASE), score(loaded.calls, CASE)
    for name in ("contaminated", "repeated", "right_calls", "made_calls", "kept", "in_request"):
        assert getattr(again, name) == getattr(fresh, name), name
