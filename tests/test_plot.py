"""A figure comes to the page with its data, without plotly; how it looks there: test_browser_*."""

import pytest
from ipywidgets.widgets import widget

from chat_memory.charts.figure import Chart, go
from chat_memory.charts.plot import Plot, library


@pytest.fixture
def sent(monkeypatch):
    """What goes to the page when a widget is opened."""
    states, create = [], widget.comm.create_comm

    def create_comm(**message):
        states.append(message["data"]["state"])
        return create(**message)

    monkeypatch.setattr(widget.comm, "create_comm", create_comm)
    return states


def chart():
    return Chart([go.Bar(name="tokens", x=[1, 2], y=[81, 167])], {"title": {"text": "Two"}})


def test_a_figure_is_sent_with_its_data(sent):
    Plot(chart())
    *_, state = sent
    assert [trace["y"] for trace in state["_widget_data"]] == [[81, 167]]
    assert state["_widget_layout"]["title"]["text"] == "Two"


def test_plotly_is_sent_once_however_many_figures_there_are(sent):
    library.cache_clear()
    plots = [Plot(chart()) for _ in range(3)]
    with_plotly = [state for state in sent if len(str(state)) > 1_000_000]
    assert [state["text"] for state in with_plotly] == [library().text]
    assert {plot._library for plot in plots} == {library().model_id}
    assert library().text == str(go.FigureWidget._esm)
