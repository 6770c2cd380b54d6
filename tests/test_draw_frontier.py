"""The frontier says what the rows say: who is on it, who is hollow, who is refused, and why."""

import json
import re
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat_memory import Everything, LastTurns
from chat_memory.charts import Chart, Live, draw_frontier
from chat_memory.charts.frontier import HEIGHT, WORTH
from chat_memory.charts.numbers import Box
from chat_memory.comparison import compared, measured, priced
from chat_memory.usage import Price

WIDTHS = (364, 484, 700)  # px of a plot, on charts of 700, 820 and 1040


@pytest.fixture(scope="module")
def rows():
    return compared("support")


def made(row, name, prompt, found, **more):
    """The row, as if this strategy had cost `prompt` tokens and kept `found` facts of 15."""
    probes = tuple(row.score.probes[:1]) * found
    score = replace(row.score, probes=probes)
    usage = replace(row.usage, prompt_token_count=prompt, cached_content_token_count=0)
    return replace(row, strategy=name, usage=usage, score=score, **more)


def dots(chart):
    """The points by their number beside the names: place, and how it is drawn."""
    called = {name: number for number, (_, name) in names(chart).items()}
    return {
        called[name.removesuffix(" *")] if name in called else called[f"{name} *"]: (x, y, symbol)
        for trace in chart.data[1:]
        for name, x, y, symbol in zip(
            trace.hovertext, trace.x, trace.y, trace.marker.symbol, strict=True
        )
    }


def texts(chart):
    return [note.text for note in chart.layout.annotations]


def names(chart):
    found = [re.match(r"(\d+) <span.*>(.)</span> (.*)", text) for text in texts(chart)]
    return {int(each[1]): (each[2], each[3]) for each in found if each}


def numbers(chart):
    return [note for note in chart.layout.annotations if re.fullmatch(r"[\d, ]+", note.text)]


def boxes(chart, wide, high=HEIGHT - 150):
    """On a plot of this size: what each line of numbers takes up, and each point by number."""
    top, (low, up) = chart.layout.xaxis.range[1], chart.layout.yaxis.range

    def box(x, y, half_wide, half_high):
        x, y = x / top * wide, (y - low) / (up - low) * high
        return Box(x - half_wide, y - half_high, x + half_wide, y + half_high)

    lines, points = {}, {}
    for note in numbers(chart):
        wide_text = sum(8.4 if letter.isdigit() else 4.2 for letter in note.text)  # 15 px Arial
        found = box(note.x, note.y, wide_text / 2, 8)
        dx, dy = (note.ax, -note.ay) if note.showarrow else (note.xshift, note.yshift)
        shift = (dx, dy, dx, dy)
        lines[note.text] = Box(*(a + b for a, b in zip(found, shift, strict=True)))
    for number, (x, y, symbol) in dots(chart).items():
        radius = 11 if symbol == "circle-open" else 6
        points[number] = box(x, y, radius, radius)
    return lines, points


@pytest.mark.parametrize("worth", ["dollars", "uncached", "prompt"])
def test_points_lie_at_what_a_row_costs_and_keeps(rows, worth):
    chart = draw_frontier(rows, worth)
    assert {number: place[:2] for number, place in dots(chart).items()} == {
        number: (getattr(row, worth), row.kept) for number, row in enumerate(rows, 1)
    }


def test_the_line_goes_through_those_that_nothing_beats(rows):
    one = rows[0]
    given = {
        "A": (100, 3),
        "B": (200, 3),
        "C": (200, 9),
        "D": (300, 8),
        "E": (400, 15),
        "F": (400, 15),
        "G": (400, 12),
    }
    chart = draw_frontier([made(one, name, *place) for name, place in given.items()], "prompt")
    assert list(chart.data[0].x) == [100, 200, 400, 400]
    symbols = [dots(chart)[number][2] for number in range(1, 8)]
    assert symbols == ["circle", "square", "circle", "square", "circle", "circle", "square"]
    assert chart.data[0].line.shape == "hv"


def test_the_title_names_who_keeps_most_for_least(rows):
    chart = draw_frontier(
        [made(rows[0], n, *p) for n, p in {"A": (9, 3), "B": (8, 15), "C": (7, 15)}.items()],
        "prompt",
    )
    assert chart.layout.title.text == "C has 15 of 15 facts in the request for least: 7"


def test_everything_is_hollow_and_context_rot_is_named(rows):
    chart = draw_frontier(rows)
    hollow = [number for number, (*_, symbol) in dots(chart).items() if symbol == "circle-open"]
    assert hollow == [1] and chart.data[-1].name == "Everything()"  # drawn over all others
    assert names(chart)[1] == ("○", "Everything()")
    assert any("context rot" in text for text in texts(chart))
    assert not any("context rot" in text for text in texts(draw_frontier(rows[1:])))


def test_facts_of_the_case_file_are_marked(rows):
    chart = draw_frontier(rows)
    assert "KeyFacts(6) *" in [name for _, name in names(chart).values()]
    assert any(text.startswith("* Offline, its facts") for text in texts(chart))


def test_a_refused_strategy_is_no_point_and_named_below(rows):
    chart = draw_frontier([*rows, measured("support", lambda transcript: transcript[-3:], "mine")])
    assert len(dots(chart)) == len(rows)
    assert any(text.startswith("mine is no point: refused at turn 3") for text in texts(chart))
    assert re.search(r"(?m)^mine +$|^mine$", chart.table())


@settings(deadline=None, max_examples=40)
@given(
    places=st.lists(st.tuples(st.integers(1, 400), st.integers(0, 15)), min_size=1, max_size=13)
)
def test_numbers_do_not_cover_each_other_and_none_is_lost(rows, places):
    several = [made(rows[0], f"S{n}", x, kept) for n, (x, kept) in enumerate(places)]
    chart = draw_frontier(several, "prompt")
    shown = [int(number) for note in numbers(chart) for number in note.text.split(",")]
    assert sorted(shown) == list(range(1, len(places) + 1))
    for wide in WIDTHS:
        lines, _ = boxes(chart, wide)
        assert not any(one.meets(other) for one, other in combinations(lines.values(), 2))


@pytest.mark.parametrize("name", ["bug_desk", "debug", "hotline", "recommend", "support"])
def test_every_number_is_on_the_plot_and_says_which_point_it_means(name):
    every = compared(name)
    for chart, wide in product([draw_frontier(every, worth) for worth in WORTH], WIDTHS):
        lines, points = boxes(chart, wide)
        notes = {note.text: note for note in numbers(chart)}
        for text, line in lines.items():
            mine = {int(number) for number in text.split(",")}
            near = {number for number, point in points.items() if line.meets(point, 5)}
            assert line.inside(wide, HEIGHT - 150)
            assert not any(line.meets(point) for point in points.values())
            assert notes[text].showarrow or near and near <= mine


def test_points_share_a_line_only_where_they_lie_on_each_other(rows):
    places = {"A": (100, 9), "B": (101, 9), "C": (108, 9), "D": (100, 8), "E": (400, 9)}
    several = [made(rows[0], name, *place) for name, place in places.items()]
    found = {note.text for note in numbers(draw_frontier(several, "prompt"))}
    assert found == {"1, 2", "3", "4", "5"}


def test_numbers_stay_when_a_price_changes_and_a_name_twice_is_the_last(rows):
    chart = draw_frontier(priced(rows, Price(1, 1, 1)))
    assert [name for _, name in names(chart).values()] == [
        name for _, name in names(draw_frontier(rows)).values()
    ]
    again = made(rows[1], rows[1].strategy, 1, 1)
    twice = draw_frontier([*rows, again], "prompt")
    assert len(dots(twice)) == len(rows) and dots(twice)[2][0] == 1


def test_the_table_has_a_row_for_each_strategy(rows):
    table = draw_frontier(rows).table()
    for row in rows:
        assert re.search(
            rf"{re.escape(row.strategy)}.*\${row.dollars:.4f} .*{row.score.in_request}/15", table
        )


def test_an_axis_that_is_given_stays(rows):
    assert draw_frontier(rows, top=2).layout.xaxis.range == (0, 2)
    assert draw_frontier(rows).layout.xaxis.range[1] > max(row.dollars for row in rows)


def test_a_model_for_nothing_is_drawn(rows):
    chart = draw_frontier(priced(rows, Price(0, 0, 0)))
    assert {place[0] for place in dots(chart).values()} == {0} and len(numbers(chart)) > 1


def test_rows_that_cannot_be_drawn_are_refused_in_one_sentence(rows):
    with pytest.raises(ValueError, match="one conversation, and these rows are of 2"):
        draw_frontier([*rows, measured("echo", Everything())])
    with pytest.raises(ValueError, match="one conversation, and these rows are of 0"):
        draw_frontier([])
    with pytest.raises(ValueError, match="two_orders has no probe"):
        draw_frontier([measured("two_orders", Everything())])
    with pytest.raises(ValueError, match="worth is 'euros'"):
        draw_frontier(rows, "euros")


def test_it_is_a_chart_with_small_json(rows):
    chart = draw_frontier(rows)
    assert isinstance(chart, Chart) and chart == draw_frontier(rows)
    assert len(json.dumps(chart.to_plotly_json())) < 12_000


def test_a_slider_moves_it_and_a_new_price_plays_nothing(rows):
    played = []

    def play(cached_price, max_turns):
        played.append(max_turns)
        own = measured("support", LastTurns(max_turns), "mine", turns=20)
        return priced([*rows, own], Price(0.75, 3.75, 0.0075 * cached_price))

    live = Live(play, draw_frontier, cached_price=(0, 100, 10), max_turns=(1, 24, 6))
    before = list(live.screen.figure.data[2].x)
    live.controls["cached_price"].value = 100
    assert list(live.screen.figure.data[2].x)[0] == pytest.approx(rows[0].uncached)
    assert live.screen.message.value == "" and before[0] == pytest.approx(rows[0].dollars)
