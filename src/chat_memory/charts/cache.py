"""A pure chart of the cache: which part of each prompt was read from it, which billed in full.

`draw_cache` takes the calls of one conversation, one bar a call: a turn with a tool has several
calls, and each of them can hit or miss. A dash stands where the prompt stops being like the one
before it; only a prefix that reaches the labelled minimum can be cached.
What is not here: money (draw.py draws it, of the two sets of calls that `caching.both_ways`
gives), the prefix itself (caching.py), axes and labels (frame.py). Nothing here calls a model.
"""

from collections.abc import Mapping, Sequence

from chat_memory.caching import prefixes
from chat_memory.charts.bands import band_labels, bars, estimated, signs
from chat_memory.charts.draw import Calls, records
from chat_memory.charts.figure import INK, Chart, go
from chat_memory.charts.frame import Frame, Label
from chat_memory.strings import t
from offline_gemini.caching import minimum


def draw_cache(
    data: Calls,
    *,
    title: str | None = None,
    limit: int | None = None,
    top: float | None = None,
    calls: int | None = None,
    marks: Mapping[int, str] | None = None,
) -> Chart:
    """Draw each call's promptTokenCount (tokens), split into the cached part and the rest.

    `data` is a session or its calls; a call without usage is left out. `limit` (tokens) is the
    labelled minimum, by default the model's. `top` (tokens) and `calls` fix the axes, `marks`
    writes words at calls, counted from 1.
    """
    sent = [call for call in records(data) if call.usage and call.usage.prompt_token_count]
    numbered = dict(enumerate(sent, 1))
    least = limit if limit is not None else minimum(sent[0].model) if sent else None
    heading, marks = t("chart.prompt"), marks or {}
    frame = Frame(heading, title, least, top, calls, marks, across="call", line="minimum")
    prompts = [call.usage.prompt_token_count for call in sent]
    cached = [call.usage.cached_content_token_count or 0 for call in sent]
    fresh = [prompt - part for prompt, part in zip(prompts, cached, strict=True)]
    bands = {"cached": cached, "fresh": fresh}
    begins = prefixes(sent)
    traces = [bars(band, list(numbered), values) for band, values in bands.items()]
    traces += [_dashes(list(numbered), begins), signs(numbered, prompts)]
    labels = [*band_labels(bands), *_dash_label(begins)]
    found = _finding(prompts, cached)
    return frame.chart(traces, labels, found, list(numbered), prompts, estimated(sent))


def _dashes(numbers: list[int], tokens: list[int]) -> go.Scatter:
    """Put a dash into each bar, at the end of what it has in common with the bar before."""
    marker = {"symbol": "line-ew", "size": 9, "line": {"width": 3, "color": INK}}
    name = t("chart.prefix")
    return go.Scatter(name=name, x=numbers, y=tokens, mode="markers", marker=marker)


def _dash_label(begins: Sequence[int]) -> list[Label]:
    """Label the dash of the last bar."""
    words = [
        t("chart.label", name=t("chart.prefix"), value=f"{tokens:,}") for tokens in begins[-1:]
    ]
    return [Label(text, begins[-1], INK) for text in words]


def _finding(prompts: Sequence[int], cached: Sequence[int]) -> str:
    """State how much of all prompts was cached."""
    if not prompts:
        return t("chart.title.empty")
    if not any(cached):
        return t("chart.title.cache.none", tokens=sum(prompts))
    return t("chart.title.cache", cached=sum(cached), tokens=sum(prompts))
