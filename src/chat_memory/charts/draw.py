"""Pure charts of what a conversation costs: records of calls in, a `Chart` out.

`draw_tokens` shows promptTokenCount against turn: one conversation as bars stacked by what is in
the prompt, or several strategies as one line each. `draw_sum` adds the prompts up, `draw_money`
prices them. A turn's point is its last answer call; sums are over all calls, summaries too.
Every title states what the data show, worked out from them unless you give another.
What is not here: axes and labels (frame.py), bands (bands.py), the list of messages
(context_lens.py), anything that moves (live.py). Nothing here calls a model or keeps state: equal
records give an equal chart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from chat_memory.charts.bands import band_labels, bars, estimated, signs
from chat_memory.charts.figure import COLOURS, DASHES, INK, Chart, go
from chat_memory.charts.frame import Frame, Label
from chat_memory.strings import t
from chat_memory.usage import Price, Split, breakdown, cost
from offline_gemini.sentences import refusal

BANDS = ("system", "resent", "thoughts", "new")  # in the order they stand in the prompt
Calls = Iterable  # records as in ChatSession.calls, or a session that holds them


def draw_tokens(
    data: Calls | Mapping[str, Calls],
    *,
    title: str | None = None,
    limit: int | None = None,
    top: float | None = None,
    turns: int | None = None,
    marks: Mapping[int, str] | None = None,
) -> Chart:
    """Draw promptTokenCount (tokens) against turn.

    `data` is a session or its calls: bars stacked by what is in the prompt. Or a dict of them by
    strategy: one line each. `limit` (tokens) is a labelled line, `marks` writes words at turns,
    `top` (tokens) and `turns` fix the axes. Raises ValueError for anything else.
    """
    frame = Frame(t("chart.prompt"), title, limit, top, turns, marks or {})
    if not isinstance(data, Mapping):
        return _stack(records(data), frame)
    answers = {name: _answers(records(calls)) for name, calls in data.items()}
    prompts = {
        name: {turn: _prompt(call) for turn, call in turns.items()}
        for name, turns in answers.items()
    }
    return draw_lines(prompts, frame, "chart.title.tokens")


def draw_sum(
    data: Calls | Mapping[str, Calls],
    *,
    title: str | None = None,
    top: float | None = None,
    turns: int | None = None,
    marks: Mapping[int, str] | None = None,
) -> Chart:
    """Draw the prompts of all calls added up (tokens) to each turn; data as in `draw_tokens`."""
    frame = Frame(t("chart.sum"), title, None, top, turns, marks or {})
    return draw_lines(_sums(data, _prompt, frame.heading, True), frame, "chart.title.sum")


def draw_money(
    data: Calls | Mapping[str, Calls],
    price: str | Price | None = None,
    *,
    summed: bool = True,
    title: str | None = None,
    top: float | None = None,
    turns: int | None = None,
    marks: Mapping[int, str] | None = None,
) -> Chart:
    """Draw what the calls cost (US dollars), added up or for each turn; data as `draw_tokens`.

    `price` is a Price of your own or a model's name; None takes each call's own model. The
    prices stand in `data/models.toml`.
    """
    kind = "sum" if summed else "turn"
    frame = Frame(t(f"chart.money.{kind}"), title, None, top, turns, marks or {}, money=True)
    dollars = _sums(
        data, lambda call: cost(call.usage, price or call.model), frame.heading, summed
    )
    return draw_lines(dollars, frame, f"chart.title.money.{kind}")


def _stack(calls: Sequence, frame: Frame) -> Chart:
    """Draw one conversation: a bar for each turn, a band for each part of its prompt."""
    answers = _answers(calls)
    turns = list(answers)
    splits = [breakdown(call) for call in answers.values()]
    bands = {band: [_band(split, band) for split in splits] for band in BANDS}
    totals = [_prompt(call) for call in answers.values()]
    traces = [bars(band, turns, values) for band, values in bands.items()]
    refused = _refused(calls, answers)
    traces += [signs(answers, totals), refused]
    found = t("chart.title.empty")
    if turns:
        new = bands["new"][-1]
        found = t("chart.title.stack", turn=turns[-1], tokens=totals[-1], new=new)
    if refused.x:
        found = t("chart.title.refused", refused=len(refused.x), turns=len(turns) + len(refused.x))
    labels, note = band_labels(bands), estimated(answers.values())
    return frame.chart(traces, labels, found, turns, totals, note)


def _band(split: Split, band: str) -> int:
    """Give the tokens of a band; what is sent before any message stands together."""
    return split.system + split.tools if band == "system" else getattr(split, band)


def _refused(calls: Sequence, answers: Mapping[int, object]) -> go.Scatter:
    """Put a cross at each turn that got an error and no answer."""
    turns = sorted({turn_of(call) for call in calls if call.error} - answers.keys())
    return go.Scatter(
        name=t("chart.refused"),
        x=turns,
        y=[0] * len(turns),
        text=[t("chart.refused")] * len(turns),  # for the table; beside each other they overlap
        textfont={"color": "rgba(0,0,0,0)"},
        mode="markers+text",
        marker={"symbol": "x", "size": 13, "color": INK},
        cliponaxis=False,
    )


def draw_lines(series: Mapping[str, Mapping[int, float]], frame: Frame, title_id: str) -> Chart:
    """Draw one line for each strategy, told apart by colour, dash and a label at its end.

    Raises ValueError for more lines than there are colours.
    """
    if len(series) > len(COLOURS):
        raise refusal(f"A chart holds at most {len(COLOURS)} lines, not {len(series)}.")
    everything = [value for points in series.values() for value in points.values()]
    # A dot on the frame is whole, unless the line runs out of an axis that is fixed too low.
    clip = bool(frame.top) and max(everything, default=0) > frame.top
    traces, labels = [], []
    for (name, points), colour, dash in zip(series.items(), COLOURS, DASHES, strict=False):
        line = {"color": colour, "dash": dash, "width": 3}
        turns, values = list(points), list(points.values())
        look = {"mode": "lines+markers", "line": line, "cliponaxis": clip}
        traces.append(go.Scatter(name=name, x=turns, y=values, **look))
        if values:
            words = t("chart.label", name=name, value=frame.write(values[-1]))
            labels.append(Label(words, values[-1], colour))
    turns = [turn for points in series.values() for turn in points]
    return frame.chart(traces, labels, _finding(series, title_id, frame), turns, everything)


def _finding(series: Mapping[str, Mapping[int, float]], title_id: str, frame: Frame) -> str:
    """State where the lines end: the one value, or the lowest and the highest."""
    ends = {name: list(points.items())[-1] for name, points in series.items() if points}
    if not ends:
        return t("chart.title.empty")
    ranked = sorted(ends, key=lambda name: ends[name][1])
    least, most = ranked[0], ranked[-1]
    turn, high = ends[most]
    if len(ends) == 1:
        return t(f"{title_id}.one", turn=turn, value=frame.write(high))
    low = frame.write(ends[least][1])
    return t(f"{title_id}.many", least=least, low=low, most=most, high=frame.write(high))


def records(data: Calls) -> list:
    """Take a session or the list of its calls."""
    return list(getattr(data, "calls", data))


def _answers(calls: Sequence) -> dict[int, object]:
    """Give the last answer call of each turn that has one with a count."""
    return {turn_of(call): call for call in calls if call.answer and _prompt(call) is not None}


def turn_of(call: object) -> int:
    """Give where a call stands on the axis: at the script's turn, if a script was played."""
    return getattr(call, "scripted", None) or call.turn


def _prompt(call: object) -> int | None:
    return call.usage and call.usage.prompt_token_count


def _sums(
    data: Calls | Mapping[str, Calls], worth: Callable[[object], float], heading: str, summed: bool
) -> dict[str, dict[int, float]]:
    """Add up what all calls of each turn are worth, and the turns too when `summed`."""
    named = data if isinstance(data, Mapping) else {heading: data}
    series = {}
    for name, calls in named.items():
        turns: dict[int, float] = {}
        for call in records(calls):
            if call.usage:
                turns[turn_of(call)] = turns.get(turn_of(call), 0) + (worth(call) or 0)
        values = accumulate(turns.values()) if summed else turns.values()
        series[name] = dict(zip(turns, values, strict=True))
    return series
