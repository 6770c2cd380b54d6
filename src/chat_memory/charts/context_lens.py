"""The context lens: for one turn, every message of the transcript, and whether the model saw it.

`draw_context` draws one row for each message: its tokens as a bar, its first words, and its place
as a word: kept, shortened, dropped, inside the summary, pinned. `lens` adds a slider for the turn.
The transcript is put together again from the calls, because every message was once sent or
received; so the lens shows a turn before `/clear` as well, when the session's list is another.
What is not here: the rule that decides what is kept (strategies.py), and thoughts that come
back with a signature: they have no row, since nobody can read them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from google.genai import types

import offline_gemini
from chat_memory import contents
from chat_memory.charts.bands import filled
from chat_memory.charts.draw import turn_of
from chat_memory.charts.figure import (
    BLUE,
    GREEN,
    GREY,
    GRID,
    INK,
    LABEL,
    LEAST,
    PURPLE,
    TICK,
    Chart,
    go,
    plain,
)
from chat_memory.charts.figure import title as title_of
from chat_memory.charts.live import Live
from chat_memory.lines import first_words, shortened
from chat_memory.strings import t
from offline_gemini.sentences import refusal

PLACES = {  # colour and pattern; the word is in strings.en.toml
    "kept": (BLUE, ""),
    "shortened": (BLUE, "\\"),
    "dropped": (GREY, None),  # hollow
    "summarised": (GREEN, "x"),
    "pair": (GREEN, ""),
    "pinned": (PURPLE, "/"),
}
ROW = 18  # px
TOP = 92  # px, for the title and the axis
SPLIT = 0.56  # of the width: words to the left of it, bars to the right
WORDS = 56  # columns of text that fit beside a bar; a Hangul syllable takes two


class Row(NamedTuple):
    """One message in the lens: who said it, its first words, its tokens, its place."""

    role: str
    words: str
    tokens: int
    place: str


def draw_context(data: object, turn: int | None = None, *, title: str | None = None) -> Chart:
    """Draw what the model saw in a turn (by default the last): one row for each message.

    `data` is a session or its calls. Raises ValueError if that turn made no call.
    """
    calls = [call for call in getattr(data, "calls", data) if call.purpose == "answer"]
    chosen = [call for call in calls if turn in (None, turn_of(call))]
    if not chosen:
        last = max(map(turn_of, calls), default=0)
        raise refusal(t("lens.error", turn=turn, last=last))
    call = chosen[-1]
    rows = _rows(call, _transcript(calls[: calls.index(call) + 1]))
    seen = sum(row.place not in ("dropped", "summarised") for row in rows)
    found = t("lens.title", turn=turn_of(call), seen=seen, all=len(rows))
    return _chart(rows, title or found)


def lens(session: object, turn: int | None = None) -> Live:
    """Give the lens with a slider for the turn; it starts at `turn`, by default the last."""
    last = max(map(turn_of, session.calls))
    return Live(
        lambda turn: turn,
        lambda turn: draw_context(session, turn),
        turn=(1, last, turn or last),
    )


def _transcript(calls: Sequence) -> list[types.Content]:
    """Put the transcript before the last of these calls together from what was sent and came."""
    known: dict[int, types.Content] = {}
    for call in calls:
        if call.contents_before == 1:  # the first message of a new list
            known.clear()
        sent, _, own = kept(call)
        known |= dict(zip(sent, own, strict=True))
        if call.reply:
            known[call.contents_before] = call.reply
    return [known[index] for index in range(calls[-1].contents_before)]


def kept(call: object) -> tuple[list[int], list[types.Content], list[types.Content]]:
    """Give the indices of the messages sent, what the strategy put before them, and the messages.

    What a strategy puts in (a summary pair) stands before the messages it keeps.
    """
    dropped = set(call.context.dropped)
    sent = [index for index in range(call.contents_before) if index not in dropped]
    put_in = len(call.contents) - len(sent)
    return sent, call.contents[:put_in], call.contents[put_in:]


def _rows(call: object, transcript: Sequence[types.Content]) -> list[Row]:
    """Give each message its place in the call's context, in the order of the list."""
    sent, put_in, _ = kept(call)
    first, rewritten = sent[0] if sent else len(transcript), set(call.context.rewritten)
    # What is put in stands for the messages before those that are kept, not for steps among them.
    places = ["summarised" if put_in else "dropped"] * first
    places += ["dropped"] * (len(transcript) - first)
    for index in sent:
        places[index] = "shortened" if index in rewritten else "kept"
    rows = [message_row(*pair) for pair in zip(transcript, places, strict=True)]
    rows[first:first] = [message_row(content, "pair") for content in put_in]
    text = call.context.pinned or call.context.system
    if text is not None:
        rows.insert(0, message_row(types.Content(parts=[types.Part(text=text)]), "pinned"))
    return rows


def message_row(content: types.Content, place: str, columns: int = WORDS) -> Row:
    """Give a message as a row: its first words, at most so many columns, and its tokens."""
    bill = offline_gemini.breakdown({"contents": contents.to_json([content])}, "", {})
    words = shortened(first_words(content), columns)
    return Row(content.role or t("lens.system"), words, bill.total, place)


def _chart(rows: Sequence[Row], found: str) -> Chart:
    """Draw the rows: words to the left, bars to the right, one trace for each place."""
    count = range(len(rows))
    names = [f"{index + 1}  {row.role}  {plain(row.words)}" for index, row in enumerate(rows)]
    shown = [each for each in PLACES if each != "shortened" or each in {row.place for row in rows}]
    traces = [_words_trace(names), *(_bars(rows, place) for place in shown)]
    axis = {"range": [len(rows) - 0.5, -0.5], "visible": False}
    longest = max(row.tokens for row in rows)
    layout = {
        "title": title_of(found),
        "barmode": "overlay",
        "bargap": 0.25,
        "height": TOP + 24 + ROW * len(rows),
        "xaxis": {"domain": [0, SPLIT], "visible": False, "range": [0, 1], "fixedrange": True},
        "xaxis2": {
            "domain": [SPLIT, 1],
            "title": {"text": t("lens.tokens"), "standoff": 4, "font": {"size": LABEL}},
            "side": "top",
            "range": [0, 1.5 * longest],
            "gridcolor": GRID,
            "tickfont": {"size": TICK},
        },
        "yaxis": axis | {"fixedrange": True},
        "margin": {"l": 24, "t": TOP, "b": 24},
    }
    columns = {
        t("lens.number"): [index + 1 for index in count],
        t("lens.role"): [row.role for row in rows],
        t("lens.words"): [row.words for row in rows],
        t("lens.tokens"): [row.tokens for row in rows],
        t("lens.place"): [t(f"lens.{row.place}") for row in rows],
    }
    return Chart(traces, layout, columns)


def _words_trace(names: Sequence[str]) -> go.Scatter:
    return go.Scatter(
        x=[0] * len(names),
        y=list(range(len(names))),
        text=names,
        mode="text",
        textposition="middle right",
        textfont={"size": LEAST},
        hoverinfo="skip",
    )


def _bars(rows: Sequence[Row], place: str) -> go.Bar:
    """Draw the bars of one place; a row of another place has none here."""
    colour, pattern = PLACES[place]
    mine = [row if row.place == place else None for row in rows]
    fill = {"color": "white"} if pattern is None else filled(colour, pattern)
    return go.Bar(
        x=[row.tokens if row else None for row in mine],
        y=list(range(len(rows))),
        text=[f"{row.tokens:,} {t(f'lens.{place}')}" if row else "" for row in mine],
        name=t(f"lens.{place}"),
        orientation="h",
        xaxis="x2",
        textposition="outside",
        constraintext="none",
        textfont={"size": LEAST, "color": INK},
        cliponaxis=False,
        marker=fill | {"line": {"color": colour, "width": 2 if pattern is None else 1}},
    )
