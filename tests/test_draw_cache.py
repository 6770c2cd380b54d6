"""The chart of the cache says what the calls say: parts, prefix, minimum, title, text table."""

from dataclasses import replace

import pytest

from chat_memory import ChatSession, Everything, LastTurns, connect, play
from chat_memory.caching import both_ways, prefixes
from chat_memory.charts import Chart, draw_cache, draw_money
from chat_memory.conversations import even_chat
from chat_memory.usage import cost

CHAT = even_chat(6, answer=100, system=4000)  # the second turn's prefix passes 4,096
CACHED, FRESH, PREFIX, PROMPT = (
    "read from the cache",
    "billed in full",
    "begins like the call before",
    "promptTokenCount",
)


def played(strategy=Everything(), chat=CHAT, **options):
    client = connect(offline=True, quiet=True, caching=True, conversations=chat)
    return play(chat, ChatSession(client, strategy, thinking=False), **options)


@pytest.fixture(scope="module")
def session():
    return played()


def named(chart):
    return {trace.name: list(trace.y) for trace in chart.data}


def notes(chart):
    return " | ".join(note.text for note in chart.layout.annotations)


def test_the_two_parts_of_each_bar_add_up_to_the_prompt_that_was_billed(session):
    traces = named(draw_cache(session))
    cached = [call.usage.cached_content_token_count or 0 for call in session.calls]
    assert traces[CACHED] == cached and any(cached)
    pairs = zip(traces[CACHED], traces[FRESH], strict=True)
    assert list(map(sum, pairs)) == traces[PROMPT]
    assert traces[PROMPT] == [call.usage.prompt_token_count for call in session.calls]


def test_the_dash_stands_where_the_prompt_stops_being_like_the_one_before(session):
    assert named(draw_cache(session))[PREFIX] == prefixes(session.calls)


def test_each_call_is_a_bar_those_of_a_turn_with_tools_too():
    client = connect(offline=True, quiet=True, caching=True)
    session = play("support", ChatSession(client, thinking=False), turns=5)
    chart = draw_cache(session)
    assert len(session.calls) > 5
    assert list(chart.data[0].x) == list(range(1, len(session.calls) + 1))
    assert chart.layout.xaxis.title.text == "call"


def test_the_minimum_is_a_labelled_line_or_named_where_it_is_far_away(session):
    chart = draw_cache(session)
    assert [shape.y0 for shape in chart.layout.shapes] == [4096]
    assert "implicit minimum: 4,096 tokens" in notes(chart)
    short = draw_cache(played(chat=even_chat(2, answer=20)))
    assert not short.layout.shapes
    assert "4,096 tokens, is far above" in notes(short)


def test_the_minimum_is_that_of_the_model_unless_another_is_given(session):
    old = [replace(call, model="gemini-2.5-flash") for call in session.calls]
    assert draw_cache(old).layout.shapes[0].y0 == 2048
    assert draw_cache(session, limit=3000).layout.shapes[0].y0 == 3000


def test_the_title_says_how_much_was_cached(session):
    cached = sum(call.usage.cached_content_token_count or 0 for call in session.calls)
    tokens = sum(call.usage.prompt_token_count for call in session.calls)
    found = f"{cached:,} of {tokens:,} prompt tokens were read from the cache"
    assert draw_cache(session).layout.title.text == found
    slid = played(LastTurns(1), even_chat(6))
    assert draw_cache(slid).layout.title.text.startswith("None of ")
    assert draw_cache(session, title="Mine").layout.title.text == "Mine"


def test_every_mark_in_the_last_bar_is_labelled_with_its_number(session):
    chart = draw_cache(session)
    last = {name: values[-1] for name, values in named(chart).items() if name != PROMPT}
    assert set(last) == {CACHED, FRESH, PREFIX}
    assert all(f"{name}: {value:,}" in notes(chart) for name, value in last.items())
    assert chart.data[0].marker.pattern.shape == "/"  # not told apart by colour alone


def test_the_table_has_the_same_numbers(session):
    chart = draw_cache(session)
    title, _, heads, *rows = chart.table().splitlines()
    assert title == chart.layout.title.text
    assert heads.split("  ")[0] == "call" and len(rows) == len(session.calls)
    values = [[int(cell.replace(",", "")) for cell in row.split()] for row in rows]
    traces = named(chart)
    columns = [traces[name] for name in (CACHED, FRESH, PREFIX, PROMPT)]
    assert [list(column) for column in zip(*values, strict=True)][1:] == columns


def test_axes_and_marks_are_fixed_on_request(session):
    chart = draw_cache(session, top=9000, calls=20, marks={2: "first hit"})
    assert chart.layout.yaxis.range == (0, 9000)
    assert chart.layout.xaxis.range[1] == 20.6
    assert "first hit" in notes(chart)


def test_a_session_and_its_calls_draw_the_same_and_nothing_is_changed(session):
    before = [call.usage for call in session.calls]
    assert draw_cache(session) == draw_cache(session.calls)
    assert isinstance(draw_cache(session), Chart)
    assert [call.usage for call in session.calls] == before


def test_a_call_without_usage_is_left_out_and_none_at_all_is_an_empty_chart(session):
    failed = replace(session.calls[0], usage=None, error="503")
    assert named(draw_cache([failed, *session.calls])) == named(draw_cache(session))
    assert draw_cache([]).table() == "Nothing is sent yet"


def test_an_estimate_is_marked(session):
    usage = replace(session.calls[0].usage, estimated=True)
    chart = draw_cache([replace(session.calls[0], usage=usage)])
    assert "estimated" in notes(chart) and "≈" in chart.table()
    assert "estimated" not in notes(draw_cache([session.calls[0]]))


def test_money_with_and_without_the_cache_goes_into_one_figure(session):
    chart = draw_money(both_ways(session.calls), summed=False)
    with_cache, without = (list(trace.y) for trace in chart.data)
    assert [trace.name for trace in chart.data] == ["with the cache", "without the cache"]
    assert with_cache == pytest.approx([cost(call.usage, call.model) for call in session.calls])
    assert with_cache[0] == without[0] and with_cache[-1] < 0.5 * without[-1]
