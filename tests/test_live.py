"""Controls, veil, growing chart and message box, without a browser (that is test_browser_*.py)."""

from types import SimpleNamespace

import ipywidgets as widgets
import pytest
from google.genai import errors

from chat_memory import ChatSession, connect
from chat_memory.charts import ChatBox, Growing, Live, Predict, draw_tokens, lens
from chat_memory.charts import growing as growing_module
from chat_memory.charts.figure import PLOTLY, Chart, go
from chat_memory.charts.live import VIEW, row
from chat_memory.conversations import play
from chat_memory.strategies import LastTurns


@pytest.fixture(autouse=True)
def in_a_kernel(monkeypatch):
    monkeypatch.delenv("CHAT_MEMORY_STATIC", raising=False)
    monkeypatch.delenv("CHAT_MEMORY_PREDICT", raising=False)


def draw(numbers):
    """A chart of a list of numbers, its axis fitted to them."""
    layout = {"title": {"text": f"The last is {numbers[-1]}"}}
    layout |= {"xaxis": {"title": {"text": "n"}}, "yaxis": {"range": [0, max(numbers)]}}
    return Chart(go.Scatter(name="number", x=list(range(len(numbers))), y=numbers), layout)


class Plays:
    """Gives [1 .. n] and remembers what it was asked; refuses 13."""

    def __init__(self):
        self.asked = []

    def __call__(self, n=3, **others):
        self.asked.append(n)
        if n == 13:
            raise ValueError("Thirteen is refused.\nMore words.")
        return list(range(1, n + 1))


@pytest.fixture
def plays():
    return Plays()


@pytest.fixture
def live(plays):
    live = Live(plays, draw, n=(1, 20, 3))
    assert live.view
    return live


def test_moving_a_control_gives_the_figure_of_that_position(live):
    live.controls["n"].value = 5
    assert live.screen.figure.data[0].y == (1, 2, 3, 4, 5)
    assert live.screen.figure.layout.title.text == "The last is 5"


def test_the_figure_keeps_its_traces_and_template(live):
    figure, before = live.screen.figure, live.screen.figure.data[0]
    sent = []
    figure._send_update_msg = lambda restyle_data, relayout_data, **_: sent.append(
        (restyle_data, relayout_data)
    )
    live.controls["n"].value = 7
    assert live.screen.figure is figure
    assert figure.data[0] is before
    assert len(sent) == 1
    assert set(sent[0][0]) == {"x", "y"}
    assert {name.split(".")[0] for name in sent[0][1]} <= {"title", "yaxis"}


def test_a_position_is_played_once(live, plays):
    for n in (5, 3, 5, 3):
        live.controls["n"].value = n
    assert plays.asked == [3, 5]


def test_an_error_is_one_sentence_under_the_figure_until_the_next_good_position(live):
    live.controls["n"].value = 13
    assert "Thirteen is refused.<" in live.screen.message.value
    assert 'role="alert"' in live.screen.message.value
    assert live.screen.figure.data[0].y == (1, 2, 3)
    live.controls["n"].value = 4
    assert live.screen.message.value == ""
    assert live.screen.figure.data[0].y == (1, 2, 3, 4)


def test_the_table_follows_the_figure(live):
    numbers = live.screen.numbers
    assert numbers.columns == [["n", "0", "1", "2"], ["number", "1", "2", "3"]]
    live.controls["n"].value = 4
    assert numbers.columns == [["n", "0", "1", "2", "3"], ["number", "1", "2", "3", "4"]]
    assert numbers.title == "The last is 4"
    live.controls["n"].value = 13
    assert numbers.title == "The last is 4"


def test_an_error_is_tried_again(live, plays):
    for n in (13, 3, 13):
        live.controls["n"].value = n
    assert plays.asked == [3, 13, 13]


def test_an_api_error_shows_its_code_and_message(live):
    body = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Not <this>."}}
    live.screen.say(errors.ClientError(400, body))
    assert "400 INVALID_ARGUMENT: Not &lt;this&gt;." in live.screen.message.value


def test_an_error_at_the_start_is_raised(plays):
    with pytest.raises(ValueError, match="Thirteen"):
        Live(plays, draw, n=(1, 20, 13))


def test_the_axis_grows_and_never_shrinks(live):
    ranges = []
    for n in (9, 2, 12):
        live.controls["n"].value = n
        ranges.append(live.screen.figure.layout.yaxis.range)
    assert ranges == [(0, 9), (0, 9), (0, 12)]


def test_a_remembered_chart_is_not_changed_by_being_shown(live):
    live.controls["n"].value = 9
    live.controls["n"].value = 2
    assert live.at(n=2).layout.yaxis.range == (0, 2)


def test_labels_stay_apart_on_the_axis_of_a_bigger_position():
    def session(max_turns):
        own = ChatSession(connect(offline=True, quiet=True), LastTurns(max_turns), thinking=False)
        return play("support", own, turns=12)

    live = Live(session, draw_tokens, max_turns=(1, 12, 12))
    assert live.view
    live.controls["max_turns"].value = 1
    layout = live.screen.figure.layout
    heights = sorted(note.y for note in layout.annotations)
    assert len(heights) == 3
    gaps = [above - below for below, above in zip(heights, heights[1:], strict=False)]
    assert min(gaps) >= 0.07 * layout.yaxis.range[1]


def test_another_number_of_traces_is_drawn_too():
    def lines(n):
        return go.Figure([go.Scatter(name=str(k), x=[1], y=[k]) for k in range(1, n + 1)])

    live = Live(lambda n: n, lines, n=(1, 5, 1))
    assert live.view
    for n in (4, 2, 3):
        live.controls["n"].value = n
        assert [trace.name for trace in live.screen.figure.data] == list("1234"[:n])


def test_a_property_that_is_gone_is_taken_away():
    def marked(flag):
        return go.Figure(go.Scatter(x=[1], y=[1], text=["here"] if flag else None))

    live = Live(lambda flag: flag, marked, flag=True)
    assert live.view
    live.controls["flag"].value = False
    assert live.screen.figure.data[0].text is None


@pytest.mark.parametrize(
    ("spec", "kind", "value"),
    [
        ((1, 24, 6), widgets.IntSlider, 6),
        ((0, 8000, 500, 500), widgets.IntSlider, 500),
        (True, widgets.Checkbox, True),
        (["support", "queue"], widgets.ToggleButtons, "support"),
    ],
)
def test_each_short_form_makes_its_control(spec, kind, value):
    live = Live(lambda **values: [1], draw, thing_of_mine=spec)
    control = live.controls["thing_of_mine"]
    assert (type(control), control.value) == (kind, value)
    assert control.description == "thing of mine"


@pytest.mark.parametrize(
    "spec", [(1, 5), (1, 5, 9), (5, 1, 3), (1.0, 5.0, 2.0), (1, 5, 3, 0), ["one"], "text", None]
)
def test_any_other_form_is_refused_with_its_name(spec):
    with pytest.raises(ValueError, match="The control max_turns = .* is none: give"):
        Live(lambda **values: [1], draw, max_turns=spec)


def test_more_than_three_controls_are_refused():
    with pytest.raises(ValueError, match="at most 3 controls, not 4"):
        Live(lambda **values: [1], draw, a=True, b=True, c=True, d=True)


def test_a_slider_has_a_number_box_that_moves_with_it(live):
    slider = live.controls["n"]
    box = row(slider).children[1]
    assert (box.min, box.max, box.tooltip) == (1, 20, "n")
    box.value = 8
    assert slider.value == 8
    slider.value = 2
    assert box.value == 2


def test_two_figures_share_a_control(live, plays):
    other = Live(plays, lambda numbers: draw([-each for each in numbers]), **live.controls)
    assert other.view
    other.controls["n"].value = 4
    assert live.screen.figure.data[0].y == (1, 2, 3, 4)
    assert other.screen.figure.data[0].y == (-1, -2, -3, -4)


def test_in_a_kernel_it_shows_the_widget_and_the_table(live):
    bundle = live._repr_mimebundle_()
    assert set(bundle) == {VIEW, "text/plain"}
    assert bundle[VIEW]["model_id"] == live.view.model_id
    assert bundle["text/plain"] == live.start.table()


def test_stored_it_is_the_still_figure_at_its_start(live, monkeypatch):
    live.controls["n"].value = 9
    monkeypatch.setenv("CHAT_MEMORY_STATIC", "1")
    assert live._repr_mimebundle_() == draw([1, 2, 3])._repr_mimebundle_()


def test_a_figure_that_is_shown_twice_is_one_figure(live):
    assert live._repr_mimebundle_() == live._repr_mimebundle_()


# The veil.


def under_veil(plays, **options):
    predict = Predict("How many?", ["three", "four"], **options)
    return Live(plays, draw, predict, n=(1, 20, 3))


def inside(box):
    """All widgets under a box."""
    return [inner for child in getattr(box, "children", ()) for inner in (child, *inside(child))]


def of(kind, box):
    return [each for each in inside(box) if isinstance(each, kind)]


def test_a_veil_hides_figure_and_controls_until_a_choice_is_kept(plays):
    live = under_veil(plays)
    (choices,) = of(widgets.ToggleButtons, live.view)
    (button,) = of(widgets.Button, live.view)
    assert not of(widgets.IntSlider, live.view)
    assert not of(go.FigureWidget, live.view)
    assert (choices.value, button.disabled) == (None, True)
    choices.value = "four"
    assert not button.disabled
    button.click()
    assert of(widgets.IntSlider, live.view)
    assert of(go.FigureWidget, live.view)
    assert "You predicted: four." in of(widgets.HTML, live.view)[0].value


def lifted(shown):
    """Predicts four, and gives what then stands above the figure, whenever it is called."""
    of(widgets.ToggleButtons, shown.view)[0].value = "four"
    of(widgets.Button, shown.view)[0].click()
    return lambda: of(widgets.HTML, shown.view)[0].value


def test_the_answer_stands_beside_the_choice_after_the_first_move(plays):
    live = under_veil(plays, answer="three")
    words = lifted(live)
    assert "How many? You predicted: four. Now move the controls" in words()
    live.controls["n"].value = 13  # refused: the figure has not moved
    assert "The figure shows" not in words()
    live.controls["n"].value = 4
    assert "How many? You predicted: four. The figure shows: three.<" in words()
    live.controls["n"].value = 5
    assert "The figure shows: three.<" in words()


def test_without_an_answer_the_first_move_judges_nothing(plays):
    live = under_veil(plays)
    words = lifted(live)
    live.controls["n"].value = 4
    assert "How many? You predicted: four.<" in words()


def test_the_veil_is_off_for_tests_and_on_request(plays, monkeypatch):
    monkeypatch.setenv("CHAT_MEMORY_PREDICT", "0")
    assert of(go.FigureWidget, under_veil(plays).view)
    monkeypatch.delenv("CHAT_MEMORY_PREDICT")
    monkeypatch.setenv("CHAT_MEMORY_STATIC", "1")
    assert PLOTLY in under_veil(plays)._repr_mimebundle_()


def test_a_prediction_may_be_a_plain_dict(plays):
    live = Live(plays, draw, {"question": "How many?", "choices": ["1", "2"]}, n=(1, 20, 3))
    assert live.predict == Predict("How many?", ["1", "2"])


@pytest.mark.parametrize("choices", [["one"], ["1", "2", "3", "4"]])
def test_a_prediction_has_two_or_three_choices(choices):
    with pytest.raises(ValueError, match="2 or 3 choices"):
        Predict("?", choices)


def test_the_answer_is_one_of_the_choices():
    with pytest.raises(ValueError, match="'5' is none of the choices"):
        Predict("?", ["1", "2"], answer="5")


# Growing.


@pytest.fixture
def shown(monkeypatch):
    seen = []
    monkeypatch.setattr(growing_module, "display", seen.append)
    return seen


def session():
    return ChatSession(connect(offline=True, quiet=True), thinking=False)


def test_a_growing_chart_takes_a_point_for_each_turn(shown):
    points = []

    def each(session):
        chart.add(session)
        points.append(len(chart._screen.figure.data[0].x))

    with Growing(turns=4, pause=0) as chart:
        play("support", session(), turns=4, each=each)
    assert shown == [chart.view]
    assert points == [1, 2, 3, 4]
    assert (chart.bar.value, chart.bar.max) == (4, 4)
    assert chart.word.value == "turn 4 of 4"


def test_its_axis_has_room_for_all_turns_from_the_first(shown):
    with Growing(turns=24, pause=0) as chart:
        play("support", session(), turns=1, each=chart.add)
    assert chart.chart.layout.xaxis.range[1] == 24.6


def test_an_interrupt_loses_nothing(shown):
    def each(own):
        chart.add(own)
        if len(own.calls) >= 3:
            raise KeyboardInterrupt

    mine = session()
    with pytest.raises(KeyboardInterrupt), Growing(turns=24, pause=0) as chart:
        play("queue", mine, each=each)
    assert len(chart._screen.figure.data[0].x) == len(mine.calls) == 3


def test_stored_a_growing_chart_is_where_it_ended(shown, monkeypatch):
    monkeypatch.setenv("CHAT_MEMORY_STATIC", "1")
    with Growing(turns=3) as chart:
        mine = play("support", session(), turns=3, each=chart.add)
    assert shown == [draw_tokens(mine, turns=3)]


# The message box.


@pytest.fixture
def box():
    box = ChatBox(session)
    assert box.view
    box.emptied = []
    box.entry.empty = lambda: box.emptied.append(True)
    return box


def type_in(box, text):
    """What the page sends when Enter is pressed."""
    box.entry._handle_custom_msg({"text": text}, [])


def test_a_message_adds_to_the_list_and_to_the_chart(box):
    assert "The list is empty." in box.messages.value
    type_in(box, "My order is 48213.")
    assert box.messages.value.count("<tr") == 1 + 2
    assert len(box.screen.figure.data[0].x) == 1
    type_in(box, "What is my order?")
    assert box.messages.value.count("<tr") == 1 + 4
    assert len(box.screen.figure.data[0].x) == 2
    assert box.emptied == [True, True]


def test_the_tick_sends_only_the_newest_message(box):
    type_in(box, "My order is 48213.")
    box.newest.value = True
    type_in(box, "What is my order?")
    assert len(box.session.calls[-1].contents) == 1
    assert box.messages.value.count("not sent") == 2
    box.newest.value = False
    type_in(box, "And now?")
    assert len(box.session.calls[-1].contents) == 5
    assert "not sent" not in box.messages.value


def test_a_message_that_fails_stays_in_the_box_and_is_explained(box):
    type_in(box, "   ")
    assert "The message is blank" in box.screen.message.value
    assert box.emptied == []
    type_in(box, "Hello")
    assert box.screen.message.value == ""


def test_the_second_message_judges_a_prediction():
    box = ChatBox(session, predict=Predict("How many?", ["three", "four"], "three"))
    words = lifted(box)
    assert "You predicted: four. Now send two messages" in words()
    for text in ("My order is 48213.", "  "):  # a blank message is not sent
        type_in(box, text)
        assert "The figure shows" not in words()
    type_in(box, "What is my order?")
    assert "How many? You predicted: four. The figure shows: three.<" in words()


def test_clear_empties_the_list_and_keeps_the_bill(box):
    type_in(box, "My order is 48213.")
    box.clear.click()
    assert "The list is empty." in box.messages.value
    assert len(box.screen.figure.data[0].x) == 1


def test_a_message_cannot_write_html(box):
    type_in(box, "<b>bold</b>")
    assert "&lt;b&gt;bold" in box.messages.value
    assert "<b>" not in box.messages.value


def test_stored_the_box_has_sent_its_examples(monkeypatch):
    assert not ChatBox(session, example=["One."]).session.calls
    monkeypatch.setenv("CHAT_MEMORY_STATIC", "1")
    box = ChatBox(session, example=["One.", "Two."])
    bundle = box._repr_mimebundle_()
    assert set(bundle) == {PLOTLY, "text/plain"}
    assert len(bundle["text/plain"].splitlines()) == 3 + 2


def test_the_lens_has_a_slider_for_the_turn():
    mine = play("support", session(), turns=5)
    live = lens(mine, 2)
    assert live.view
    assert "In turn 2" in live.screen.figure.layout.title.text
    live.controls["turn"].value = 5
    assert "In turn 5" in live.screen.figure.layout.title.text
    assert live.controls["turn"].max == 5


def test_a_high_figure_scrolls_so_that_its_controls_stay_in_sight(live):
    frame = live.screen.box.children[0]
    assert isinstance(frame, widgets.Box)
    assert SimpleNamespace(**frame.layout.get_state()).max_height == "480px"
