"""The pure charts say what the calls say: numbers, titles, labels and the text table."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from google.genai import types

from chat_memory import ChatSession, connect, contents
from chat_memory.charts import Chart, draw_context, draw_money, draw_sum, draw_tokens
from chat_memory.charts.draw import turn_of
from chat_memory.charts.figure import COLOURS, DASHES, PLOTLY, go
from chat_memory.conversations import play
from chat_memory.strategies import Context, Everything, LastTurns
from chat_memory.usage import Price, Usage, cost


def played(turns=6, strategy=Everything(), **options):
    session = ChatSession(connect(offline=True, quiet=True), strategy, thinking=False)
    return play("support", session, turns=turns, **options)


@pytest.fixture(scope="module")
def session():
    return played()


@pytest.fixture(scope="module")
def trimmed():
    return played(8, LastTurns(2), tools=False)


def call(turn, prompt, purpose="answer", answer=True, error=None, estimated=False):
    """A record such as a session keeps: one user message that the prompt consists of."""
    request = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
    usage = None if error else Usage(prompt, 10, estimated=estimated)
    return SimpleNamespace(
        turn=turn,
        purpose=purpose,
        answer=answer and purpose == "answer" and not error,
        usage=usage,
        error=error,
        request=request,
        signatures={},
        model="gemini-3.6-flash",
    )


def named(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def answers(session):
    return {turn_of(call): call for call in session.calls if call.answer}


def walk(value):
    """Every dict inside a figure."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list | tuple):
            yield from walk(inner)


def test_bands_add_up_to_the_prompt_that_was_billed(session):
    traces = named(draw_tokens(session))
    bars = [trace.y for trace in traces.values() if trace.type == "bar"]
    billed = [call.usage.prompt_token_count for call in answers(session).values()]
    assert [sum(column) for column in zip(*bars, strict=True)] == billed
    assert list(traces["promptTokenCount"].y) == billed


def test_a_turn_is_drawn_as_its_last_answer_call():
    calls = [
        call(1, 100, answer=False),
        call(1, 250),
        call(1, 80, purpose="summary"),
        call(2, 300),
    ]
    trace = named(draw_tokens(calls))["promptTokenCount"]
    assert (trace.x, trace.y) == ((1, 2), (250, 300))


def test_a_session_and_its_calls_draw_the_same(session):
    assert draw_tokens(session) == draw_tokens(session.calls)


def test_the_title_is_worked_out_from_the_data(session):
    turn, last = list(answers(session).items())[-1]
    title = draw_tokens(session).layout.title.text
    assert f"Turn {turn} sends {last.usage.prompt_token_count:,} tokens" in title
    assert draw_tokens(session, title="Mine").layout.title.text == "Mine"


def test_nothing_sent_is_an_empty_chart_that_says_so():
    assert draw_tokens([]).layout.title.text == "Nothing is sent yet"
    assert draw_tokens([]).table() == "Nothing is sent yet"


def test_each_band_is_labelled_at_the_end_of_its_data(session):
    chart = draw_tokens(session)
    labels = " ".join(note.text for note in chart.layout.annotations)
    shown = {name for name, trace in named(chart).items() if trace.type == "bar" and any(trace.y)}
    assert shown == {"system and tools", "messages sent before", "new messages"}
    assert all(f"{name}: {named(chart)[name].y[-1]:,}" in labels for name in shown)
    assert "thoughts" not in labels
    assert not chart.layout.showlegend


def test_thoughts_are_hatched():
    pattern = named(draw_tokens([call(1, 6)]))["thoughts sent again"].marker.pattern
    assert pattern.shape == "/"


def test_strategies_differ_in_colour_dash_and_label():
    series = {f"strategy {n}": [call(1, 50), call(2, 100 * n)] for n in range(1, 6)}
    chart = draw_tokens(series)
    assert tuple(trace.line.color for trace in chart.data) == COLOURS
    assert tuple(trace.line.dash for trace in chart.data) == DASHES
    ends = [note.text for note in chart.layout.annotations]
    assert all(f"{name}: {name[-1]}00" in end for name, end in zip(series, ends, strict=True))
    assert "strategy 5 sends 500 tokens, strategy 1 sends 100" in chart.layout.title.text


def test_labels_never_cover_each_other():
    chart = draw_tokens({f"s{n}": [call(1, 1000 + n)] for n in range(5)})
    heights = sorted(note.y for note in chart.layout.annotations)
    gap = 0.07 * chart.layout.yaxis.range[1]
    assert all(above - below > gap for below, above in zip(heights, heights[1:], strict=False))


def test_more_lines_than_a_reader_can_tell_apart_are_refused():
    with pytest.raises(ValueError, match="at most 5 lines, not 6"):
        draw_tokens({str(n): [call(1, n)] for n in range(6)})


def test_a_near_limit_is_a_labelled_line_and_a_far_one_is_named():
    near, far = (draw_tokens([call(1, 2000)], limit=limit) for limit in (3000, 1_048_576))
    assert [shape.y0 for shape in near.layout.shapes] == [3000]
    assert near.layout.yaxis.range[1] > 3000
    assert any("3,000 tokens" in note.text for note in near.layout.annotations)
    assert not far.layout.shapes
    assert far.layout.yaxis.range[1] < 3000
    assert any("1,048,576 tokens" in note.text for note in far.layout.annotations)


def test_the_axes_are_fixed_on_request(session, trimmed):
    for data in (session, trimmed, {"a": session}):
        chart = draw_tokens(data, top=9000, turns=48)
        assert chart.layout.yaxis.range == (0, 9000)
        assert chart.layout.xaxis.range[1] == 48.6


def test_marks_stand_at_their_turns(session):
    chart = draw_tokens(session, marks={2: "order number given"})
    assert [shape.x0 for shape in chart.layout.shapes] == [2]
    assert [note.x for note in chart.layout.annotations if note.text == "order number given"] == [
        2
    ]


def test_words_at_neighbouring_marks_stand_in_rows_of_their_own(session):
    chart = draw_tokens(session, turns=24, marks={2: "given", 3: "asked", 20: "asked again"})
    heights = [note.y for note in chart.layout.annotations if note.yref == "paper"]
    assert heights[0] == heights[2] > heights[1]


def test_estimated_and_refused_turns_say_so_in_figure_and_table():
    chart = draw_tokens([call(1, 1500, estimated=True), call(2, None, error="400"), call(3, 1600)])
    assert list(named(chart)["promptTokenCount"].text) == ["≈", ""]
    assert list(named(chart)["refused"].x) == [2]
    assert "≈ the count is estimated" in [note.text for note in chart.layout.annotations]
    assert "≈" not in json.dumps(draw_tokens([call(1, 6)]).to_plotly_json())
    rows = chart.table().splitlines()[3:]
    assert rows[0].endswith("≈1,500")
    assert rows[1].split() == ["2", "refused"]


def test_a_customer_who_repeats_himself_stays_in_his_turn(trimmed):
    assert len(trimmed.calls) == 9
    assert list(named(draw_tokens(trimmed))["promptTokenCount"].x) == list(range(1, 9))


def test_a_turn_that_was_sent_again_is_not_refused():
    chart = draw_tokens([call(1, None, error="503"), call(1, 20)])
    assert not named(chart)["refused"].x


def test_sums_are_over_all_calls():
    calls = [
        call(1, 100, answer=False),
        call(1, 150),
        call(2, 80, purpose="summary"),
        call(2, 200),
    ]
    trace = draw_sum(calls).data[0]
    assert trace.y == (250, 530)
    assert "530 tokens" in draw_sum(calls).layout.title.text


def test_money_is_the_cost_of_every_call(session):
    chart = draw_money(session)
    total = sum(cost(each.usage, each.model) for each in session.calls)
    assert chart.data[0].y[-1] == pytest.approx(total)
    assert f"${total:,.4f}" in chart.table().splitlines()[0]
    each = draw_money(session, summed=False).data[0].y
    assert sum(each) == pytest.approx(total)


def test_money_takes_a_price_of_the_readers_own():
    chart = draw_money([call(1, 1_000_000)], Price(input=2.0, output=0.0, cached=0.0))
    assert chart.data[0].y == (2.0,)


def test_the_table_holds_the_numbers_of_the_figure(session):
    chart = draw_tokens(session)
    title, blank, heads, *rows = chart.table().splitlines()
    assert (title, blank) == (chart.layout.title.text, "")
    assert heads.split()[0] == "turn"
    assert heads.endswith("promptTokenCount")
    assert "thoughts" not in heads
    assert len(rows) == 6
    billed = named(chart)["promptTokenCount"].y
    assert [row.split()[-1] for row in rows] == [f"{count:,}" for count in billed]
    assert len({len(row) for row in rows}) == 1


def test_any_figure_gets_a_table():
    figure = go.Figure(go.Bar(name="n", x=["가나", "b"], y=[1234, 5.5]), {"title": {"text": "T"}})
    assert Chart(figure.data, {"title": {"text": "T"}}).table().splitlines() == [
        "T",
        "",
        "turn  n".replace("  ", "      "),
        "가나  1,234",
        "b      5.50",
    ]


def test_a_chart_shows_itself_as_figure_and_table_and_nothing_else(session):
    bundle = draw_tokens(session)._repr_mimebundle_()
    assert set(bundle) == {PLOTLY, "text/plain"}
    assert Chart._repr_html_ is None
    assert Chart._ipython_display_ is None


def test_equal_runs_give_equal_json(session):
    both = (json.dumps(draw_tokens(each)._repr_mimebundle_()) for each in (session, played()))
    assert len(set(both)) == 1


def test_a_still_figure_is_small():
    text = json.dumps(draw_tokens(played(24), limit=3000)._repr_mimebundle_()[PLOTLY])
    assert len(text) < 6000


def test_no_button_sends_the_figure_away_and_no_address_is_in_it(session):
    chart = draw_tokens(session)
    assert "sendChartToCloud" in chart.layout.modebar.remove
    assert "http" not in json.dumps(chart._repr_mimebundle_())


def test_no_type_is_smaller_than_13_px(session, trimmed):
    for chart in (draw_tokens(session), draw_money(session), draw_context(trimmed)):
        fonts = [each for each in walk(chart.to_plotly_json()) if "size" in each]
        sizes = {each["size"] for each in fonts if "symbol" not in each}
        assert sizes
        assert min(sizes) >= 13


def test_plotly_takes_no_word_of_ours_for_tags_or_tex():
    chart = draw_tokens([call(1, 5)], title="a <b> costs $1, b $2", marks={1: "<i>"})
    assert chart.layout.title.text == "a &lt;b&gt; costs &#36;1, b &#36;2"
    assert "&lt;i&gt;" in [note.text for note in chart.layout.annotations]
    assert chart.table().splitlines()[0] == "a <b> costs $1, b $2"


def test_a_long_title_is_broken_and_given_room(session):
    short, long = (draw_tokens(session, title="word " * n) for n in (3, 40))
    assert long.layout.title.text.count("<br>") == 2
    assert long.layout.margin.t > short.layout.margin.t


def test_the_import_that_costs_two_seconds_is_kept_out():
    code = "import sys, chat_memory.charts; sys.exit(sys.modules['rfc3987_syntax'] is not None)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# The context lens.


def lens_rows(chart):
    columns = dict(chart._columns)
    return list(zip(columns["tokens"], columns["place"], columns["first words"], strict=True))


def test_the_lens_tells_kept_from_dropped(trimmed):
    chart = draw_context(trimmed, 5)
    places = [place for _, place, _ in lens_rows(chart)]
    assert places == ["dropped"] * 6 + ["kept"] * 3
    assert "In turn 5 the model sees 3 of 9 messages" in chart.table()


def test_what_the_lens_keeps_weighs_what_was_billed(session, trimmed):
    for data in (session, trimmed):
        for turn, call in answers(data).items():
            kept = sum(
                tokens
                for tokens, place, _ in lens_rows(draw_context(data, turn))
                if place == "kept"
            )
            bands = named(draw_tokens(data))
            before = bands["system and tools"].y[turn - 1]
            assert kept + before == call.usage.prompt_token_count


def test_each_row_has_its_bar_in_one_trace(trimmed):
    bars = [trace for trace in draw_context(trimmed).data if trace.type == "bar"]
    owners = [[bool(x) for x in row] for row in zip(*(bar.x for bar in bars), strict=True)]
    assert all(sum(row) == 1 for row in owners)
    assert len(owners) == trimmed.calls[-1].contents_before


def test_the_lens_knows_a_turn_before_clear():
    session = played(4, clear_every=2)
    assert len(session.transcript) < len(draw_context(session, 2)._columns["place"]) * 2
    assert len(lens_rows(draw_context(session, 3))) == 1
    assert len(lens_rows(draw_context(session, 2))) >= 3


def test_the_lens_shows_what_a_summary_holds_and_what_is_pinned():
    talk = [contents.user("a"), contents.model("b"), contents.user("c"), contents.model("d")]
    pair = [contents.user("Summarise."), contents.model("a, b")]
    calls = [
        lens_call(1, talk[:1], 1, (), talk[1]),
        lens_call(2, [*pair, talk[2]], 3, (0, 1), talk[3], system="Facts."),
    ]
    places = [(words, place) for _, place, words in lens_rows(draw_context(calls))]
    assert places == [
        ("Facts.", "pinned"),
        ("a", "inside the summary"),
        ("b", "inside the summary"),
        ("Summarise.", "in their place"),
        ("a, b", "in their place"),
        ("c", "kept"),
    ]


def lens_call(turn, sent, before, dropped, reply, system=None):
    context = Context(sent, system=system, dropped=dropped)
    return SimpleNamespace(
        turn=turn,
        purpose="answer",
        context=context,
        contents=sent,
        contents_before=before,
        reply=reply,
    )


def test_calls_responses_and_data_have_words_of_their_own():
    parts = [
        types.Part(function_call=types.FunctionCall(name="look_up", args={"id": "7"})),
        types.Part(function_response=types.FunctionResponse(name="look_up", response={"n": 1})),
        types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png")),
    ]
    roles = ("model", "user", "user")
    sent = [types.Content(role=r, parts=[p]) for r, p in zip(roles, parts, strict=True)]
    rows = lens_rows(draw_context([lens_call(1, sent, 3, (), None)]))
    assert [words for _, _, words in rows] == ["look_up(id=7)", "look_up: n=1", "(data)"]


def test_a_turn_that_sent_nothing_is_refused_with_a_sentence(trimmed):
    with pytest.raises(ValueError, match="Turn 99 sent nothing. Choose a turn from 1 to 8"):
        draw_context(trimmed, 99)
