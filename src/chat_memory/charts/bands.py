"""Stacked bars: a band's colour and pattern, its trace, and its label at the end of the data.

A band is told from the others by colour, pattern and label, never by colour alone. A chart names
the bands it stacks, from below; their words stand in strings.en.toml as "chart.NAME".
What is not here: which bands a chart has and their numbers (draw.py, cache.py).
"""

from collections.abc import Iterable, Mapping, Sequence

from chat_memory.charts.figure import BLUE, GREEN, GREY, PURPLE, VERMILLION, go
from chat_memory.charts.frame import Label
from chat_memory.strings import t

SOLID = 0.5  # of a hatching is colour: thinner lines are painted too pale to stand out by 3:1
STYLES = {  # colour and pattern
    "system": (GREY, ""),
    "resent": (BLUE, ""),
    "thoughts": (PURPLE, "/"),
    "new": (VERMILLION, ""),
    "cached": (GREEN, "/"),
    "fresh": (BLUE, ""),
}


def bars(band: str, xs: Sequence[int], values: Sequence[int]) -> go.Bar:
    """Give the bars of one band."""
    return go.Bar(name=t(f"chart.{band}"), x=xs, y=values, marker=filled(*STYLES[band]))


def filled(colour: str, pattern: str) -> dict:
    """Give a bar's marker: plain for a pattern "", else hatched on white."""
    hatch = {"shape": pattern, "solidity": SOLID, "fgcolor": colour, "bgcolor": "white"}
    return {"color": colour} | ({"pattern": hatch | {"fgopacity": 1}} if pattern else {})


def band_labels(bands: Mapping[str, Sequence[int]]) -> list[Label]:
    """Label each band at its middle in the last bar; a band that is empty everywhere has none."""
    labels, floor = [], 0
    for band, values in bands.items():
        if any(values):
            colour, pattern = STYLES[band]
            words = t("chart.label", name=t(f"chart.{band}"), value=f"{values[-1]:,}")
            labels.append(Label(words, floor + values[-1] / 2, colour, "▨" if pattern else "■"))
            floor += values[-1]
    return labels


def signs(calls: Mapping[int, object], totals: Sequence[int]) -> go.Scatter:
    """Write over each bar whether its count is estimated; the table gets the count itself."""
    return go.Scatter(
        name=t("chart.prompt"),
        x=list(calls),
        y=totals,
        text=["≈" if call.usage.estimated else "" for call in calls.values()],
        mode="text",
        textposition="top center",
    )


def estimated(calls: Iterable[object]) -> str:
    """What the sign over the bars means, for the foot of a chart; "" if no count has one."""
    return t("chart.estimated") if any(call.usage.estimated for call in calls) else ""
