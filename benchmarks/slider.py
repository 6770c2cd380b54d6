"""What a moved slider costs in the kernel: a position played anew, one from memory, a recount.

A position is played as chapter 04 plays it, through a real session and onto the figure that is on
the screen, lost probes marked; here with the tools of the case and with thinking, which costs
more. The clock starts when the control gets its value and stops when the figure is updated.

This file does *not* measure the browser, nor the way to it.
"""

from collections.abc import Iterator
from functools import partial

from ratios import Ratio
from timing import Measure, least, timed

from chat_memory import ChatSession, LastTurns, connect, play
from chat_memory.charts import Live, draw_tokens
from chat_memory.conversations import even_chat, find
from chat_memory.probes import lost
from chat_memory.recount import Record
from chat_memory.tables import Table
from offline_gemini import Script

MIDDLE = 6  # a position in the middle of the lesson; the last position keeps all history
FROM_MEMORY, RECOUNT = 5, 50  # milliseconds that these may take


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """Both tables, in milliseconds and as ratios."""
    rounds = 1 if quick else 9
    support = find("support")
    charts = [(support, 24, 150), (support, 48, 400), (even_chat(50), 50, 400)]
    charts = [(even_chat(8), 8, 150)] if quick else charts
    yield "One move of the slider, milliseconds until the figure is updated."
    heads = ["chat", "turns", "max_turns", "played", "aim", "from memory", "aim", "ratio"]
    moves = [(*chart, most) for chart in charts for most in (MIDDLE, chart[1])]
    rows = [move_row(*move, rounds) for move in moves]
    yield Table(heads, rows)
    _, turns, _, played, aim, memory, quick_aim, _ = rows[-1]
    what = f"a slider's move, {turns} turns, in the kernel"
    yield Ratio(f"{what}: from memory", memory, "ms", "played anew", played, quick_aim)
    yield Ratio(f"{what}: played anew", played, "ms", aim=aim)
    yield "A recorded chat, recounted at as many positions as it has turns, milliseconds."
    records = [even_chat(8)] if quick else [even_chat(50), support]
    heads = ["chat", "turns", "calls", "weighed", "recounted", "both", "aim"]
    rows = [recount_row(script, rounds) for script in records]
    yield Table(heads, rows)
    for chat, turns, _, _, _, both, aim in rows:
        yield Ratio(f"{chat} recounted at {turns} positions", both, "ms", aim=aim)


def move_row(script: Script, turns: int, aim: int, most: int, rounds: int) -> tuple:
    """One move to `most` turns: played anew, and from memory."""
    measures = {"played": first_move(script, turns, most), "memory": back(script, turns, most)}
    best = least(measures, rounds)
    played, memory = (round(best[name] * 1e3, 1) for name in ("played", "memory"))
    ratio = round(best["played"] / best["memory"])
    return _name(script), turns, most, played, aim, memory, FROM_MEMORY, ratio


def chart(script: Script, turns: int) -> Live:
    """The chart of chapter 04, on the screen, its axes fixed, with its slider at 1."""

    def play_case(max_turns: int) -> ChatSession:
        client = connect(offline=True, conversations=script, quiet=True)
        return play(script, ChatSession(client, LastTurns(max_turns)), turns=turns)

    top = max(call.usage.prompt_token_count for call in play_case(turns).calls)

    def draw(session: ChatSession) -> object:
        return draw_tokens(session, turns=turns, top=top, marks=lost(session.calls, script))

    live = Live(play_case, draw, max_turns=(1, turns, 1))
    live.view  # noqa: B018 - it makes the widgets
    return live


def move(live: Live, most: int) -> float:
    """Seconds until the figure shows this position."""
    slider = live.controls["max_turns"]
    return timed(lambda: setattr(slider, "value", most))


def first_move(script: Script, turns: int, most: int) -> Measure:
    """A move to a position that was not played before."""
    return lambda: move(chart(script, turns), most)


def back(script: Script, turns: int, most: int) -> Measure:
    """A move back to a position that was played."""
    live = chart(script, turns)

    def measure() -> float:
        move(live, most)
        move(live, 1)
        return move(live, most)

    return measure


def recount_row(script: Script, rounds: int) -> tuple:
    """A recorded chat weighed once, then recounted through LastTurns at every position."""
    client = connect(offline=True, conversations=script, quiet=True)
    calls = play(script, ChatSession(client)).calls
    record, turns = Record(calls), len(script.turns)

    def recount() -> None:
        for most in range(1, turns + 1):
            record.prompts(LastTurns(most))

    measures = {"weighed": lambda: Record(calls), "recounted": recount}
    best = least({name: partial(timed, do) for name, do in measures.items()}, rounds)
    figures = (round(seconds * 1e3, 1) for seconds in [*best.values(), sum(best.values())])
    return _name(script), turns, len(calls), *figures, RECOUNT


def _name(script: Script) -> str:
    return script.name.partition(".")[0]
