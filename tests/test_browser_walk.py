"""The chapters of the walk on a page of JupyterLab: 00 to 07 without 03.

Expected numbers are worked out here, by playing the same conversation again. What is tested of
every chapter stands in pages.py; a message box, a chart that grows and a cell that is run too
early are tested here. The other chapters: test_browser_beside.py.
"""

import functools

import pytest
from book import needs_start
from pages import (
    UPDATES,
    WATCH,
    ChapterTests,
    Figure,
    census,
    drawn,
    fixtures,
    unfold,
    unreached,
    wait_for,
)

from chat_memory import (
    ChatSession,
    LastMessages,
    LastTurns,
    LayeredHybrid,
    SummaryPairs,
    connect,
    contents,
    play,
)
from chat_memory.charts import draw_context, draw_tokens
from chat_memory.conversations import find
from chat_memory.recount import recounted
from chat_memory.strings import t
from chat_memory.triggers import any_of, closed, over_tokens

pytestmark = needs_start
SUPPORT = find("support")


def talk(strategy=None):
    options = {"strategy": strategy} if strategy else {}
    return ChatSession(connect(offline=True, quiet=True), thinking=False, **options)


@functools.cache
def whole():
    return play(SUPPORT, talk(), turns=24)


@functools.cache
def trimmed(max_turns):
    return play(SUPPORT, talk(LastTurns(max_turns)), turns=24, tools=False)


def cleared(clear_every):
    return draw_tokens(play(SUPPORT, talk(), turns=24, tools=False, clear_every=clear_every))


def summarised(context_limit, keep):
    return draw_tokens(play(SUPPORT, talk(SummaryPairs(context_limit, keep)), turns=24))


def pinned(**ticks):
    pins = [f"{name}: {SUPPORT.facts[name][-1]}" for name, ticked in ticks.items() if ticked]
    rule = any_of(over_tokens(3000), closed())
    strategy = LayeredHybrid(pins, 6, rule) if pins else SummaryPairs(rule, 6)
    return draw_tokens(play(SUPPORT, talk(strategy), turns=48))


def tuned(recent_turns, trigger):
    rule = any_of(over_tokens(trigger), closed())
    strategy = LayeredHybrid(SUPPORT.pinned, recent_turns, rule)
    return draw_tokens(play(SUPPORT, talk(strategy), turns=48))


# Where a position is refused, a sentence has to say so: 06 cannot keep more turns than its limit,
# and 07 would summarise at every call. Cut in the middle of a tool call, 05 shows crosses.
CHAPTERS = {
    "00_start": [],
    "02_clear": [Figure("clr-live", cleared, {"clear_every": 0}, [("clear_every", 6)])],
    "04_trim": [
        Figure(
            "trim-live",
            lambda max_turns: draw_tokens(trimmed(max_turns)),
            {"max_turns": 24},
            [("max_turns", 5)],
        ),
        Figure(
            "trim-lens",
            lambda max_turns, turn: draw_context(trimmed(max_turns), turn),
            {"turn": 20, "max_turns": 24},
            [("turn", 17), ("max_turns", 12)],
            veil=False,
        ),
    ],
    "05_trim_tools": [
        Figure(
            "tool-live",
            lambda last_messages: draw_tokens(
                recounted(whole().calls, LastMessages(last_messages))
            ),
            {"last_messages": 2},
            [("last_messages", 9)],
        ),
        Figure(
            "tool-live-turns",
            lambda max_turns: draw_tokens(recounted(whole().calls, LastTurns(max_turns))),
            {"max_turns": 6},
            [("max_turns", 3)],
            veil=False,
        ),
    ],
    "06_summary": [
        Figure(
            "sum-live",
            summarised,
            {"context_limit": 8, "keep": 2},
            [("context_limit", 4), ("keep", 8), ("keep", 3)],
        )
    ],
    "07_hybrid": [
        Figure(
            "hyb-ticks",
            pinned,
            {"order_number": False, "finish": False, "door_hint": False},
            [("order_number", True), ("finish", True), ("door_hint", True)],
        ),
        Figure(
            "hyb-live",
            tuned,
            {"recent_turns": 6, "trigger": 3000},
            [("recent_turns", 4), ("trigger", 1000), ("trigger", 2000)],
        ),
    ],
}


page, chapter = fixtures(CHAPTERS)


class TestTheWalk(ChapterTests):
    pass


@pytest.fixture(scope="module")
def messages(page):
    """Chapter 01, which has run, with the box there to type into."""
    page.open("my/01_messages.ipynb")
    page.run_all()
    page.predict("msg-box")
    return census(page)


def grown():
    return drawn(draw_tokens(play(SUPPORT, talk(), turns=8, tools=False)))


def typed(page, own):
    """Wait until the chart and the list show a chat that has gone as the reader's own."""
    wait_for(page, "msg-box", drawn(draw_tokens(own)))
    rows = page.cell("msg-box").locator(".widget-html-content tr")
    said = [contents.text_of(content) for content in own.transcript]
    assert rows.count() == (1 + len(said) if said else 0)
    for row, text in zip(rows.all()[1:], said, strict=True):
        assert " ".join(text.split())[:20] in row.text_content()


def test_a_chart_grows_to_the_right_numbers(page, messages):
    unfold(page, "msg-grow")
    wait_for(page, "msg-grow", grown())


def test_every_way_to_send_a_message_and_to_clear_works_by_keyboard(page, messages):
    own = talk()
    box = page.cell("msg-box").locator("form input")
    unfold(page, "msg-box")
    page.reach(box)
    page.write("My order is 48213.")
    own.send("My order is 48213.")
    typed(page, own)
    told = page.cell("msg-box").locator("[role=status]")
    assert "Now send two messages" in told.text_content()
    page.page.keyboard.type("What is my order?")
    page.reach(page.cell("msg-box").locator("form button"))
    page.press("Space")
    own.send("What is my order?")
    typed(page, own)
    told.filter(has_text="The figure shows: ").wait_for()
    page.reach(page.cell("msg-box").locator("input[type=checkbox]"))
    page.press("Space")
    page.reach(box)
    page.write("And now?")
    own.strategy = LastTurns(1)
    own.send("And now?")
    typed(page, own)
    page.reach(page.cell("msg-box").get_by_role("button", name=t("chat.clear")))
    page.press("Enter")
    own.clear()
    typed(page, own)
    assert unreached(page) == []


def test_a_second_run_grows_one_chart_and_makes_one_box(page, messages):
    page.run_all()
    page.predict("msg-box")
    assert census(page) == messages
    wait_for(page, "msg-grow", grown())
    own = talk()
    own.send("My order is 48213.")
    page.page.evaluate(WATCH)
    page.write("My order is 48213.")
    typed(page, own)
    page.idle()
    assert page.page.evaluate(UPDATES) == {str(page.places["msg-box"]): 1}
    assert page.left == []
    assert page.errors == []


def test_a_cell_that_is_run_too_early_says_which_to_run_first(page):
    page.open("my/04_trim.ipynb")
    page.enter("trim-live")
    page.press("Shift+Enter")
    error = page.cell("trim-live").locator(".jp-OutputArea-output")
    error.wait_for()
    said = " ".join(error.text_content().split())
    assert said.startswith(
        'NameError: `sessions` is not there yet: first run the cell under "Last'
    )
