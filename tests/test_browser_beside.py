"""The chapters beside and after the walk on a page of JupyterLab: 03, and 08 to 12.

Expected numbers are worked out here, by playing the same conversation again. What is tested of
every chapter stands in pages.py. The chapters of the walk: test_browser_walk.py.
"""

import functools
from dataclasses import replace

import nbformat
import store
from book import needs_start
from nbformat import v4
from pages import ChapterTests, Figure, census, drawn, fixtures, unreached, wait_for

from chat_memory import (
    ChatSession,
    ConclusionsOnly,
    Everything,
    Focus,
    LastTurns,
    connect,
    play,
)
from chat_memory.charts import draw_cache, draw_curve, draw_frontier, draw_tokens
from chat_memory.comparison import compared, measured, priced
from chat_memory.contents import turns as turns_of
from chat_memory.conversations import even_agent, even_chat, find
from chat_memory.summary import weight
from chat_memory.usage import price

pytestmark = needs_start
TINY = """
from chat_memory.charts import Live, draw_curve

Live(
    lambda n: {"n": {1: n, 2: 2 * n}},
    lambda lines: draw_curve(lines, "turn", "prompt"),
    n=(1, 9, 5),
)
"""
# What is larger than a megabyte and is to be imported waits until the test says so.
HOLD = """() => {
  delete window.chatMemoryPlotly;
  const own = URL.createObjectURL, wait = "await new Promise(done => { window.__load = done; });";
  URL.createObjectURL = (blob) =>
    own(blob.size > 1e6 ? new Blob([wait, blob], { type: blob.type }) : blob);
}"""


def played(chat, strategy=None, caching=False, thinking=False):
    client = connect(True, [chat], caching=caching, quiet=True)
    return play(chat, ChatSession(client, strategy or Everything(), thinking=thinking))


def triangle(turns, answer, thinking):
    chat = even_chat(turns, answer, thoughts=150 if thinking else 0)
    return draw_tokens(played(chat, thinking=thinking))


def cached(system, max_turns, drop_to):
    chat = even_chat(24, answer=100, system=system)
    return draw_cache(played(chat, LastTurns(max_turns, drop_to or None), caching=True))


def agent(tool_tokens, after_turns):
    chat = even_agent([12, 2, 2, 2, 2, 2], tool_tokens, conclude_every=4)
    lines = {}
    for rule in (Everything(), LastTurns(1), ConclusionsOnly(after_turns), Focus()):
        prompts = [call.usage.prompt_token_count for call in played(chat, rule).calls]
        lines[repr(rule)] = dict(enumerate(prompts, 1))
    return draw_curve(lines, "call", "prompt")


@functools.cache
def every(conversation):
    return compared(conversation)


def frontier(conversation, cached_price, max_turns):
    own = measured(conversation, LastTurns(max_turns))
    full = price(own.model)
    ours = replace(full, cached=full.input * cached_price / 100)
    return draw_frontier(priced([*every(conversation), own], ours))


@functools.cache
def transcript():
    """The support case as the chapter plays it; in which form it is saved changes no number."""
    client = connect(offline=True, quiet=True)
    return play(find("support"), ChatSession(client, thinking=False), turns=24).transcript


def cut(form, max_turns):
    ends = [stop for _, stop in turns_of(transcript())]
    sent = [LastTurns(max_turns)(transcript()[:stop]).contents for stop in ends]
    return draw_curve({form: dict(enumerate(map(weight, sent), 1))}, "turn", "sent")


# In 08 a cut that leaves more turns than are sent is refused, and a sentence has to say so.
CHAPTERS = {
    "03_cost": [
        Figure(
            "cost-live",
            triangle,
            {"turns": 20, "answer": 100, "thinking": False},
            [("turns", 40), ("answer", 200), ("thinking", True)],
        )
    ],
    "08_caching": [
        Figure(
            "cache-live",
            cached,
            {"system": 2000, "max_turns": 6, "drop_to": 0},
            [("system", 5000), ("max_turns", 8), ("drop_to", 20), ("drop_to", 4)],
        )
    ],
    "09_agents": [
        Figure(
            "agent-live",
            agent,
            {"tool_tokens": 1000, "after_turns": 0},
            [("tool_tokens", 500), ("after_turns", 3)],
        )
    ],
    "10_compare": [
        Figure(
            "cmp-live",
            frontier,
            {"conversation": "bug_desk", "cached_price": 10, "max_turns": 12},
            [("cached_price", 100), ("max_turns", 4), ("conversation", "hotline")],
        )
    ],
    "11_dialects": [
        Figure(
            "dial-live",
            cut,
            {"form": "gemini", "max_turns": 6},
            [("form", "openai"), ("form", "anthropic"), ("max_turns", 3)],
            veil=False,
        )
    ],
}


page, chapter = fixtures(CHAPTERS)


class TestTheOtherChapters(ChapterTests):
    pass


def test_without_a_key_the_experiments_say_what_they_would_do_and_say_it_again(page):
    page.open("my/12_live.ipynb")
    counts = []
    for _ in range(2):
        page.run_all(asked=True)
        told = page.cell("live-run").locator(".jp-OutputArea-output").text_content()
        assert told.startswith("Nothing was sent.")
        counts.append(census(page))
    assert counts[0] == counts[1]
    assert unreached(page) == []
    assert page.left == []
    assert page.errors == []


def test_a_page_that_loads_plotly_slowly_loses_no_move(page):
    """anywidget gives up on a widget whose script takes more than 2 s."""
    cells = [v4.new_code_cell(TINY, id="live")]
    notebook = v4.new_notebook(cells=cells, metadata=store.METADATA)
    nbformat.write(notebook, page.lab.folder / "my" / "slow.ipynb")
    page.open("my/slow.ipynb")
    page.page.evaluate(HOLD)
    page.run_all()
    page.type_number("live", 7)
    page.type_number("live", 3)
    page.page.wait_for_timeout(2500)
    assert census(page)[0]["traces"] == []
    page.page.evaluate("() => window.__load()")
    wait_for(page, "live", drawn(draw_curve({"n": {1: 3, 2: 6}}, "turn", "prompt")))
    page.type_number("live", 4)
    wait_for(page, "live", drawn(draw_curve({"n": {1: 4, 2: 8}}, "turn", "prompt")))
