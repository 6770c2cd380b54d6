"""The charts of the workbook, under one name: `from chat_memory.charts import draw_tokens, Live`.

figure.py        a chart's look, and its numbers as a text table
frame.py         axes that stay, labels at the end of the data, the limit line
bands.py         stacked bars: colour, pattern and label of each band
draw.py          promptTokenCount, sums and money against turn
curve.py         one number against another
cache.py         the part of each prompt that was read from a cache
frontier.py      what strategies keep against what they cost
context_lens.py  which messages of the transcript the model saw
plot.py          a figure on the page, which waits for plotly to be there
screen.py        that figure, its error line, and its numbers as a table
live.py          controls above a chart, and the veil for a prediction
growing.py       a chart that grows while a conversation plays, and a box to type into

What is not here: numbers. They come from a session's calls; a chart asks no model for anything.
"""

from chat_memory.charts.cache import draw_cache
from chat_memory.charts.context_lens import draw_context, lens
from chat_memory.charts.curve import draw_curve
from chat_memory.charts.draw import draw_money, draw_sum, draw_tokens
from chat_memory.charts.figure import Chart
from chat_memory.charts.frontier import draw_frontier
from chat_memory.charts.growing import ChatBox, Growing
from chat_memory.charts.live import Live, Predict

__all__ = [
    "Chart",
    "ChatBox",
    "Growing",
    "Live",
    "Predict",
    "draw_cache",
    "draw_context",
    "draw_curve",
    "draw_frontier",
    "draw_money",
    "draw_sum",
    "draw_tokens",
    "lens",
]
