"""What a reader at the back of the room can read: every stored figure, and controls in Lab.

A planted fault shows that each rule can fail. Stored figures bring their own white paper and look
the same in both themes; controls wear JupyterLab's, so they are looked at in light and dark.
"""

import json
from pathlib import Path

import nbformat
import plotly
import pytest
import screens
import store
from browser import Lab
from looks import contrast, faults
from nbformat import v4
from needs import need_chromium

from chat_memory.charts import Chart
from chat_memory.charts.figure import go

CHAPTERS = [path for path in store.chosen([], store.NOTEBOOKS) if path.stem != "solutions"]
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
WIDTH = 848  # px of an output in Lab, in a window of 1280
MADE = """
from chat_memory import ChatSession, LastTurns, connect, play
from chat_memory.charts import ChatBox, Growing, Live, Predict, draw_tokens, lens

def played(max_turns=3, **options):
    session = ChatSession(connect(quiet=True), LastTurns(max_turns), thinking=False)
    return play("support", session, turns=8, tools=False, **options)
"""
LIVE = """
Live(
    lambda max_turns, thinking, kind: played(max_turns),
    draw_tokens,
    Predict("Which max_turns is enough?", ["a choice of several words " * 3, "two", "8"], "8"),
    max_turns=(1, 8, 8),
    thinking=True,
    kind=["one", "two"],
)
"""
BOX = "ChatBox(lambda: ChatSession(connect(quiet=True), thinking=False))"
GROWING = """
with Growing(turns=8, pause=0) as chart:
    played(each=chart.add)
"""
CELLS = {"made": MADE, "live": LIVE, "lens": "lens(played())", "box": BOX, "growing": GROWING}
CELLS["still"] = "draw_tokens(played(), limit=1500, marks={2: 'given'})"
SHOW = """async (figures) => {
  document.body.innerHTML = "";
  for (const { data, layout } of figures) {
    const room = document.createElement("div");
    document.body.append(room);
    await Plotly.newPlot(room, data, layout, { displayModeBar: false });
  }
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab with a chapter that has every kind of control."""
    need_chromium()
    folder = tmp_path_factory.mktemp("lab")
    cells = [v4.new_code_cell(source.strip(), id=name) for name, source in CELLS.items()]
    notebook = v4.new_notebook(cells=cells, metadata=store.METADATA)
    nbformat.write(notebook, folder / "tiny.ipynb")
    with Lab(folder) as lab:
        yield lab


@pytest.fixture(scope="module")
def page(lab):
    """An empty page that can draw with the plotly.js that is installed."""
    page = lab.browser.new_page()
    page.set_content("<!doctype html><body style='margin: 0'></body>")
    page.add_script_tag(path=PLOTLY)
    return page


@pytest.fixture(scope="module")
def tour(lab):
    """The chapter, seen from its top to its last figure in both themes."""
    tour = screens.Tour(lab, lab.folder / "tiny.ipynb", list(screens.THEMES), lab.folder)
    tour.visit()
    yield tour
    assert tour.page.left == []


def looked_at(page, *figures, width=WIDTH):
    """The faults of figures (plotly JSON) drawn under each other on a page of this width."""
    height = sum(figure["layout"].get("height", 450) for figure in figures)
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(SHOW, list(figures))
    return faults(page, page.locator("body"))


def stored(path):
    """The figures (plotly JSON) that a chapter stores."""
    cells = json.loads(path.read_text(encoding="utf-8"))
    return [output["data"][store.PLOTLY] for output in store.figures(cells)]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_figure_that_a_chapter_stores_can_be_read(page, path):
    figures = stored(path)
    assert figures
    assert looked_at(page, *figures) == []


def tiny(*traces, **layout):
    """A small figure in the workbook's look."""
    axes = {"xaxis": {"range": [0.4, 3.6], "dtick": 1}, "yaxis": {"range": [0, 5]}}
    return Chart(traces or [bar()], axes | layout).to_plotly_json()


def note(text, x=0.5, y=0.95, **more):
    """A layout with one text on it."""
    place = {"xref": "paper", "yref": "paper", "showarrow": False}
    return {"annotations": [{"text": text, "x": x, "y": y, "bgcolor": "white", **place, **more}]}


def line(**style):
    return go.Scatter(x=[1, 1.5, 2], y=[1, 2, 1], mode="lines", name="one", line=style)


def words(text, place):
    return go.Scatter(x=[1], y=[0], text=[text], mode="text", textposition=place)


def markers(**style):
    return go.Scatter(x=[1, 2], y=[3, 4], mode="markers", marker={"size": 12} | style)


def bar(**style):
    return go.Bar(x=[1, 2], y=[3, 4], marker=style)


def shape(colour):
    end = {"type": "line", "x0": 0, "x1": 1, "y0": 0.9, "y1": 0.9}
    return {"shapes": [{**end, "xref": "paper", "yref": "paper", "line": {"color": colour}}]}


def test_a_figure_without_a_fault_has_none(page):
    both = {**note("fine"), **shape("#1b1f24")}
    assert looked_at(page, tiny(bar(color="#0072b2"), line(color="#1b1f24"), **both)) == []


LEADER = {"showarrow": True, "ax": 80, "ay": 5, "arrowhead": 0, "arrowcolor": "#dddddd"}
HATCH = {"shape": "/", "solidity": 0.1, "fgcolor": "#cc79a7", "bgcolor": "white"}
PLANTED = {
    "small type": (tiny(**note("tiny words", font={"size": 11})), '"tiny words" is 11 px high'),
    "overlap": (
        tiny(annotations=note("one word")["annotations"] + note("another", 0.52)["annotations"]),
        '"one word" and "another" overlap.',
    ),
    "cut on the right": (
        tiny(**note("far too long a word", 1, xanchor="left")),
        '"far too long a word" is cut off on the right',
    ),
    "cut by the plot": (
        tiny(words("words", "bottom center"), xaxis={"visible": False}),
        '"words" is cut off at the bottom',
    ),
    "pale text": (
        tiny(**note("pale words", font={"color": "#999999"})),
        '"pale words" in #999999 on #ffffff has a contrast of 2.85:1, less than 4.5:1.',
    ),
    "clear text": (
        tiny(**note("clear words", opacity=0.5)),
        '"clear words" in #8d8f92 on #ffffff has a contrast of 3.24:1',
    ),
    "pale sign": (tiny(**note("■", font={"color": "#bbbbbb"})), '"■" in #bbbbbb'),
    "text on a bar": (
        tiny(bar(color="#0072b2"), **note("on a bar", 0.2, 0.3, bgcolor=None)),
        '"on a bar" in #1b1f24 on #0072b2 has a contrast of 3.19:1',
    ),
    "pale line": (tiny(line(color="#cccccc")), 'A line of "one" in #cccccc on #ffffff'),
    "pale bar": (tiny(bar(color="#e0c0d0")), "A bar of"),
    "thin hatching": (tiny(bar(color="#cc79a7", pattern=HATCH)), "A bar of"),
    "pale marker": (tiny(markers(color="#f0e442")), "A marker of"),
    "line over a bar": (
        tiny(bar(color="#0072b2"), line(color="#1b5e20"), bargap=0),
        'A line of "one" in #1b5e20 on #0072b2',
    ),
    "pale shape": (tiny(**shape("#cccccc")), "A shape in #cccccc on"),
    "pale leader": (tiny(**note("led", **LEADER)), "A leader in #dddddd on #ffffff"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(page, fault):
    figure, words = PLANTED[fault]
    found = looked_at(page, figure)
    assert len(found) == 1
    assert found[0].startswith(words)


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("000000", "ffffff", 21), ("777777", "ffffff", 4.48), ("0072b2", "1b1f24", 3.19)],
)
def test_contrast_is_that_of_the_guidelines(one, other, ratio):
    colours = bytes.fromhex(one), bytes.fromhex(other)
    assert contrast(*colours) == contrast(*reversed(colours)) == pytest.approx(ratio, abs=0.005)


def test_figures_and_controls_can_be_read_in_both_themes(tour):
    assert tour.found == []
    seen = ["top", "live.veil", "live.moved", "lens.moved", "box.moved", *list(CELLS)[1:]]
    names = {f"tiny.{theme}.{name}.png" for theme in screens.THEMES for name in seen}
    assert {path.name for path in tour.to.glob("*.png")} == names


SPOILT = {
    "small label": (".widget-label {font-size: 11px !important}", "is 11 px high, less than 13."),
    "cut label": (".widget-hslider .widget-label {width: 40px !important}", "is cut off on the"),
    "pale label": (".widget-label {color: #777 !important}", "less than 4.5:1."),
    "pale number": ("input[type=number] {color: #666 !important}", "less than 4.5:1."),
    "pale status": ("[role=status] {opacity: 0.4}", "less than 4.5:1."),
    "pale handle": (".noUi-handle {background: #333 !important}", "A handle in #333333"),
    "overlap": (".widget-hslider .widget-label {position: relative; top: -30px}", "overlap."),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_planted_fault_in_a_control_is_found(tour, spoilt):
    css, words = SPOILT[spoilt]
    cell = screens.shown(tour.page, "live")
    sheet = tour.page.page.add_style_tag(content=css)
    found = screens.judge(tour.page, cell)
    sheet.evaluate("sheet => sheet.remove()")
    assert found and all(words in fault for fault in found)


@pytest.fixture
def small_window(tour):
    """The window of a small laptop, while a test runs."""
    tour.page.page.set_viewport_size({"width": 1000, "height": 480})
    yield
    tour.page.page.set_viewport_size({"width": 1280, "height": 720})


def test_a_figure_that_does_not_fit_under_its_controls_is_found(tour, small_window):
    found = screens.judge(tour.page, screens.shown(tour.page, "live"))
    assert any("px higher than what the screen shows" in fault for fault in found)


def test_a_still_figure_keeps_its_height_when_the_window_changes(tour, small_window):
    """Twice: plotly forgets the height that was asked for at the first change."""
    tour.page.page.set_viewport_size({"width": 1100, "height": 700})
    plot = screens.shown(tour.page, "still").locator(screens.FIGURE)
    assert plot.bounding_box()["height"] == 400
    assert faults(tour.page.page, plot) == []


def test_a_lifted_veil_leaves_controls_and_figure_on_the_screen(tour):
    page = tour.page
    page.cell("live").locator(".cm-content").click()
    page.press("Control+Enter")
    page.cell("live").locator(screens.VEIL).wait_for()
    page.predict("live")
    cell = page.page.locator(".jp-Cell").nth(page.places["live"])
    foot = page.page.locator(".jp-WindowedPanel-outer").bounding_box()
    figure = cell.locator(screens.FIGURE)
    for _ in range(50):
        box = figure.bounding_box()
        if box["y"] + box["height"] <= foot["y"] + foot["height"]:
            break
        page.page.wait_for_timeout(100)
    assert box["height"] == 400
    assert box["y"] + box["height"] <= foot["y"] + foot["height"]


def test_a_chapter_that_does_not_exist_gets_a_sentence(capsys):
    assert screens.main(["99"]) == 1
    assert capsys.readouterr().err.startswith("There is no notebook 99; there are 00_start,")
