"""Every row is what its calls billed and scored; whatever a strategy breaks stays in its row."""

from dataclasses import replace

import pytest

from chat_memory import ChatSession, Everything, LastMessages, LastTurns, connect, play
from chat_memory.caching import uncached
from chat_memory.comparison import compared, comparison_table, measured, priced
from chat_memory.conversations import even_chat, find
from chat_memory.ladder import ladder
from chat_memory.layers import LayeredHybrid
from chat_memory.probes import probes
from chat_memory.usage import Price, breakdown, cost, total


@pytest.fixture(scope="module")
def rows():
    return {row.strategy: row for row in compared("support")}


def session_of(strategy, thinking=True):
    client = connect(offline=True, conversations="support", caching=True, quiet=True)
    return play("support", ChatSession(client, strategy, thinking=thinking))


def test_a_row_holds_what_a_session_of_the_strategy_is_billed(rows):
    for name, strategy in ladder(find("support")).items():
        session, row = session_of(strategy), rows[name]
        splits = [breakdown(call) for call in session.calls]
        assert row.usage == total(session.calls), name
        assert row.thoughts == sum(split.thoughts for split in splits), name
        assert row.messages + row.thoughts == row.usage.prompt_token_count
        assert row.dollars == cost(total(session.calls), session.model)
        assert row.uncached == pytest.approx(cost(total(uncached(session.calls)), session.model))


def test_savings_from_messages_and_from_thoughts_are_two_figures(rows):
    off = measured("support", Everything(), thinking=False)
    assert off.thoughts == 0 < rows["Everything()"].thoughts
    assert off.messages == rows["Everything()"].messages


def test_the_cache_has_its_best_case_and_none(rows):
    whole, short = rows["Everything()"], rows["LastTurns(6)"]
    assert whole.cached > 0.8 and whole.dollars < whole.uncached / 2
    assert short.cached == 0 and short.dollars == short.uncached


def test_probes_extra_calls_and_repeated_turns_are_those_of_the_session(rows):
    row = rows["SummaryPairs(8, 4)"]
    summaries = [call for call in row.calls if call.purpose == "summary"]
    assert row.extra == len(summaries) + len(row.score.repeated) > len(summaries) > 0
    assert row.probes == len(probes(row.calls, find("support")))
    assert row.kept == row.score.in_request / row.probes < rows["Everything()"].kept == 1


def test_the_hybrid_pins_what_the_case_pins_and_is_left_out_where_nothing_is_pinned():
    case = find("support")
    (hybrid,) = (s for s in ladder(case).values() if isinstance(s, LayeredHybrid))
    assert hybrid.pinned == case.pinned
    assert not any("Hybrid" in name for name in ladder(find("echo")))
    assert "left out of echo" in repr(comparison_table(compared(["support", "echo"])))


@pytest.mark.parametrize(("answer", "limit"), [(200, ""), (415, ", 6000"), (1500, ", 12000")])
def test_the_trigger_of_the_hybrid_leaves_room_for_turns_as_heavy_as_the_script_s(answer, limit):
    script = replace(even_chat(20, answer=answer), pinned=("Order 48213.",))
    (name,) = (name for name in ladder(script) if "Hybrid" in name)
    assert name == f"LayeredHybrid(6{limit})"
    row = measured(script, ladder(script)[name])
    assert not row.refused and row.extra > 0


def test_the_ladder_has_each_strategy_new_at_each_call():
    case = find("support")
    pairs = zip(ladder(case).values(), ladder(case).values(), strict=True)
    assert all(one is not other for one, other in pairs if not isinstance(one, Everything))
    assert not any(isinstance(strategy, LastMessages) for strategy in ladder(case).values())


def test_facts_that_came_from_the_case_file_are_marked(rows):
    assert [name for name, row in rows.items() if row.from_case] == ["KeyFacts(6)"]
    lines = repr(comparison_table(list(rows.values()))).splitlines()
    assert [line for line in lines if " * " in line][0].startswith("KeyFacts(6) *")
    assert any(line.startswith("* Offline, its facts come from the case file") for line in lines)


def test_a_plain_function_joins_the_ladder_under_its_name():
    def last_nine(transcript):
        return LastTurns(9)(transcript).contents

    own, rung = compared("support", [last_nine, LastTurns(9)])
    assert (own.strategy, own.usage) == ("last_nine", rung.usage)
    names = [row.strategy for row in compared("echo", also=[last_nine])]
    assert names == [*ladder(find("echo")), "last_nine"]


def test_a_split_pair_stays_in_its_row_with_gemini_s_words_and_the_turn():
    def halves(transcript):
        return transcript[-3:]

    rows = compared("support", {"mine": halves, "all": Everything()})
    assert [bool(row.refused) for row in rows] == [True, False]
    assert rows[0].refused.startswith("turn 3: Gemini refuses the request (400 INVALID_ARGUMENT)")
    assert rows[0].calls[-1].scripted == 3 and "function call turn" in rows[0].refused
    table = repr(comparison_table(rows))
    assert "\nmine stops support at turn 3" in table
    assert table.splitlines()[2].split() == ["mine", *["-"] * 10]


def test_what_the_strategy_itself_refuses_stays_in_its_row_too():
    def nothing(transcript):
        return None

    row = measured("support", nothing)
    assert row.refused.startswith("turn 1: The strategy nothing returned NoneType")
    thrashing = measured("support", LayeredHybrid(["Order 730416."], recent_turns=12))
    assert "would summarise at every call" in thrashing.refused


@pytest.mark.parametrize("error", [KeyError("order"), ValueError("no such item")])
def test_an_error_in_a_function_of_yours_is_raised_as_it_is(error):
    def broken(transcript):
        raise error

    with pytest.raises(type(error)) as raised:
        measured("support", broken)
    assert raised.value is error


def test_another_price_needs_no_new_calls(rows):
    dear = priced(rows.values(), Price(input=1, output=0, cached=1))
    assert [row.dollars * 1e6 for row in dear] == pytest.approx([r.prompt for r in rows.values()])
    assert all(row.calls is rows[row.strategy].calls for row in dear)
    assert [row.dollars for row in priced(dear, None)] == [row.dollars for row in rows.values()]


def test_turns_and_tools_are_those_of_play():
    short = measured("support", Everything(), turns=20, tools=False)
    assert max(call.scripted for call in short.calls) == 20
    assert 0 < short.probes == len(short.score.probes) < 15
    assert short.score.tool_accuracy is None
    with pytest.raises(ValueError, match="turns is -1"):
        measured("support", Everything(), turns=-1)


def test_a_chat_without_a_probe_keeps_nothing_that_is_known():
    row = measured("two_orders", Everything())
    assert row.kept is None
    assert comparison_table([row]).rows[1][7] is None


def test_each_is_told_every_row():
    told = []
    assert compared(["echo", "queue"], [LastTurns(1)], each=told.append) == told
    assert [row.conversation for row in told] == ["echo", "queue"]


def test_the_table_fits_a_projector(rows):
    names = ["support", "echo", "queue", "two_orders"]
    table = repr(comparison_table([*rows.values(), *compared(names[1:])]))
    assert max(map(len, table.splitlines())) <= 102
    heads = [line for line in table.splitlines() if line.endswith(":")]
    assert heads == [f"{name}:" for name in names]
