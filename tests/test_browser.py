"""A reader's page: JupyterLab in Chromium runs a chapter, keys move it, plotted numbers are right.

Each chapter is copied without its outputs, as a reader gets it. Expected numbers are worked out
here, by playing the same conversation again. Pictures of the pages go into pytest's tmp folder.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import launch
import nbformat
import pytest
import store
from browser import Lab
from nbformat import v4
from needs import need_chromium

from chat_memory import (
    ChatSession,
    ConclusionsOnly,
    Everything,
    Focus,
    LastMessages,
    LastTurns,
    LayeredHybrid,
    SummaryPairs,
    connect,
    play,
)
from chat_memory.charts import Chart, draw_cache, draw_curve, draw_frontier, draw_tokens
from chat_memory.comparison import compared, measured, priced
from chat_memory.conversations import even_agent, even_chat, find
from chat_memory.recount import recounted
from chat_memory.usage import Price

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PINNED = find("support").pinned
TINY = """
from chat_memory import ChatSession, LastTurns, connect, play
from chat_memory.charts import Live, Predict, draw_tokens

def run(max_turns, thinking):
    if max_turns == 7:
        raise ValueError("Seven is refused.")
    session = ChatSession(connect(quiet=True), LastTurns(max_turns), thinking=False)
    return play("support", session, turns=10, tools=False)

Live(run, draw_tokens, Predict("How many?", ["few", "many"]), max_turns=(1, 12, 12), thinking=True)
"""


def session(strategy=None, client=None):
    options = {"strategy": strategy} if strategy else {}
    own = client or connect(offline=True, quiet=True)
    return ChatSession(own, thinking=False, **options)


def case(strategy=None, turns=24, **options):
    return play("support", session(strategy), turns=turns, **options)


def cached(system):
    chat = even_chat(24, answer=100, system=system)
    client = connect(True, [chat], caching=True, quiet=True)
    return draw_cache(play(chat, session(LastTurns(6), client)))


def even(turns):
    chat = even_chat(turns, answer=100)
    return play(chat, session(client=connect(True, [chat], quiet=True)))


def agent(tokens):
    chat = even_agent([12, 2, 2, 2, 2, 2], tokens, conclude_every=4)
    lines = {}
    for rule in (Everything(), LastTurns(1), ConclusionsOnly(0), Focus()):
        played = play(chat, session(rule, connect(True, [chat], quiet=True)))
        prompts = [call.usage.prompt_token_count for call in played.calls]
        lines[repr(rule)] = dict(enumerate(prompts, 1))
    return draw_curve(lines, "call", "prompt")


def frontier(percent):
    rows = [*compared("bug_desk"), measured("bug_desk", LastTurns(12))]
    return draw_frontier(priced(rows, Price(0.75, 3.75, 0.75 * percent / 100)))


# The chapter, the cell with its figure, what is typed into the first number box, and the data.
LIVE: list[tuple[str, str, int, Callable]] = [
    ("02_clear", "clr-live", 6, lambda n: case(tools=False, clear_every=n)),
    ("03_cost", "cost-live", 40, even),
    ("04_trim", "trim-live", 5, lambda n: case(LastTurns(n), tools=False)),
    ("05_trim_tools", "tool-live", 9, lambda n: recounted(case().calls, LastMessages(n))),
    ("06_summary", "sum-live", 4, lambda n: case(SummaryPairs(n, 2))),
    ("07_hybrid", "hyb-live", 4, lambda n: case(LayeredHybrid(PINNED, n), turns=48)),
    ("08_caching", "cache-live", 5000, cached),
    ("09_agents", "agent-live", 500, agent),
    ("10_compare", "cmp-live", 100, frontier),
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    need_chromium()
    folder = tmp_path_factory.mktemp("lab")
    for path in NOTEBOOKS.glob("*.ipynb"):
        shutil.copy(path, folder)
        notebook = launch.without_outputs(nbformat.read(path, as_version=4))
        nbformat.write(notebook, folder / path.name)
    cells = [v4.new_code_cell(TINY, id="live"), v4.new_code_cell("1", id="after")]
    tiny = v4.new_notebook(cells=cells, metadata=store.METADATA)
    nbformat.write(tiny, folder / "tiny.ipynb")
    with Lab(folder) as lab:
        yield lab


@pytest.fixture
def open_page(lab, request, tmp_path):
    """Open a chapter and run it; at the end nothing may have left the machine."""
    pages = []

    def open_it(name, run=True, **how):
        pages.append(lab.page(f"{name}.ipynb"))
        if run:
            pages[-1].run_all(**how)
        return pages[-1]

    yield open_it
    for page in pages:
        page.screenshot(tmp_path / "page.png")
        page.close()
        assert page.left == []
        assert page.errors == []


def drawn(data):
    """The numbers of a chart, or of the calls it draws, by the name of what shows them."""
    chart = data if isinstance(data, Chart) else draw_tokens(data)
    return {trace.name: {"x": list(trace.x), "y": list(trace.y)} for trace in named(chart)}


def named(chart):
    """The traces that show numbers of their own: of stacked bars the bars, else all."""
    traces = [trace for trace in chart.data if trace.name and len(trace.x or ())]
    return [trace for trace in traces if trace.type == "bar"] or traces


def plotted(figure, names):
    return {name: figure["traces"].get(name) for name in names}


@pytest.mark.parametrize(("chapter", "cell", "value", "data"), LIVE, ids=[row[0] for row in LIVE])
def test_a_chapter_runs_and_its_slider_gives_the_right_numbers(
    open_page, chapter, cell, value, data
):
    page = open_page(chapter)
    page.predict(cell)
    before = page.figure(cell)
    told = page.cell(cell).locator("[role=status]")
    assert "Now move the controls" in told.text_content()
    page.type_number(cell, value)
    expected = drawn(data(value))
    after = page.wait_for(cell, lambda figure: plotted(figure, expected) == expected)
    assert after["traces"] != before["traces"]
    told.filter(has_text="The figure shows: ").wait_for()


def test_the_form_of_a_chat_changes_nothing_but_its_name(open_page):
    page = open_page("11_dialects")
    before = page.figure("dial-live")["traces"]["gemini"]
    page.cell("dial-live").get_by_role("button", name="openai").press("Space")
    after = page.wait_for("dial-live", lambda figure: "openai" in figure["traces"])
    assert after["traces"]["openai"] == before
    page.type_number("dial-live", 3)
    page.wait_for(
        "dial-live", lambda figure: max(figure["traces"]["openai"]["y"]) < max(before["y"])
    )


def test_without_a_key_the_experiments_say_what_they_would_do(open_page):
    page = open_page("12_live", asked=True)
    told = page.cell("live-run").locator(".jp-OutputArea-output").text_content()
    assert told.startswith("Nothing was sent.")


def test_a_cell_that_is_run_too_early_says_which_to_run_first(open_page):
    page = open_page("04_trim", run=False)
    page.cell("trim-live").locator(".cm-content").click()
    page.press("Shift+Enter")
    error = page.cell("trim-live").locator(".jp-OutputArea-output")
    error.wait_for()
    said = " ".join(error.text_content().split())
    assert said.startswith(
        'NameError: `sessions` is not there yet: first run the cell under "Last'
    )


def test_a_typed_message_adds_to_the_list_and_to_the_chart(open_page):
    page = open_page("01_messages")
    page.predict("msg-box")
    for number, text in enumerate(("My order is 48213.", "What is my order?"), start=1):
        page.write(text)
        page.wait_for("msg-box", lambda f: len(f["traces"]["promptTokenCount"]["y"]) == number)  # noqa: B023
        rows = page.cell("msg-box").locator("table tr")
        assert rows.count() == 1 + 2 * number
        assert text in rows.nth(2 * number - 1).text_content()
        told = ["Now send two messages", "The figure shows: "][number - 1]
        page.cell("msg-box").locator("[role=status]").filter(has_text=told).wait_for()


def test_keys_reach_every_control_and_no_command_of_jupyterlab(open_page):
    page = open_page("tiny")
    page.predict("live")
    assert page.focused() == "number"  # the first control, straight from the veil
    page.cell("live").locator("[role=slider]").focus()
    page.press("d", "d", "a", "x", "ArrowLeft")
    expected = drawn(play("support", session(LastTurns(11)), turns=10, tools=False))
    page.wait_for("live", lambda figure: plotted(figure, expected) == expected)
    assert page.page.locator(".jp-Cell").count() == 2
    page.press("Tab", "Tab")
    assert page.focused() == "checkbox"
    page.press("Space")
    page.idle()
    assert not page.cell("live").locator("input[type=checkbox]").is_checked()


def test_an_error_is_a_sentence_and_the_next_position_clears_it(open_page):
    page = open_page("tiny")
    page.predict("live")
    page.type_number("live", 7)
    alert = page.cell("live").locator("[role=alert]")
    alert.wait_for()
    assert alert.text_content() == "Seven is refused."
    page.type_number("live", 3)
    alert.wait_for(state="detached")


def test_the_figure_is_as_wide_as_the_page_and_has_no_share_button(open_page):
    page = open_page("tiny")
    page.predict("live")
    page.wait_for_width("live")
    buttons = (
        page.cell("live")
        .locator(".modebar-btn")
        .evaluate_all("buttons => buttons.map(button => button.dataset.title || button.ariaLabel)")
    )
    assert buttons
    assert not any("loud" in name or "hare" in name for name in buttons)
