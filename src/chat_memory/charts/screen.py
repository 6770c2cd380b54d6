"""A chart on the page: one figure that keeps its place, an error line, its numbers as a table.

`Screen` gives a figure another chart by what differs, in one update. Under it stands a line for
errors and, folded, the same numbers as a table, for whoever reads rather than looks; it follows
the figure. `Fit` fits figures to the page and keeps their keys from JupyterLab.
What is not here: the figure as a widget (plot.py), controls (live.py), a chart's look (figure.py).
"""

import html
from collections.abc import Mapping

import anywidget
import ipywidgets as widgets
import traitlets

from chat_memory.charts.figure import NUMBER, cells, finding, go
from chat_memory.charts.frame import refit
from chat_memory.charts.plot import Plot
from chat_memory.order import missing
from chat_memory.strings import t

HIGHEST = "480px"  # what is left of 720 under the controls; a figure that is higher scrolls


class Fit(anywidget.AnyWidget):
    """An empty line that makes the figures beside it feel at home on the page.

    A FigureWidget is drawn 700 px wide before it has a place, and hears of the window's size
    only: this tells it when it has its place, and when a sidebar opens or closes. And keys that
    are meant for a control stay with it: JupyterLab would take `d d` on a slider as a command.
    Choices stand beside their name, and rows of them apart.
    """

    _css = """.widget-toggle-buttons { display: flex; align-items: center; gap: 8px }
    .widget-toggle-buttons > div { display: flex; flex-wrap: wrap; gap: 4px }"""

    _esm = """export default { render({ model, el }) {
      const fit = () => { window.chatMemoryFit ??= requestAnimationFrame(() => {
        window.chatMemoryFit = null;
        window.dispatchEvent(new Event("resize"));
      }); };
      const mine = (event) => {
        if (!(event.ctrlKey || event.metaKey || event.shiftKey || event.key === "Escape"))
          event.stopPropagation();
      };
      const output = () => el.closest(".jp-OutputArea-output") ?? document.body;
      let lifted = false; // a figure that comes up from under a veil is drawn last of all
      const show = () => {
        if (!lifted || !output().querySelector(".js-plotly-plot .main-svg")) return;
        output().scrollIntoView({ block: "nearest" });
        setTimeout(() => { lifted = false; }, 1000);
      };
      const watch = new ResizeObserver(() => {
        fit();
        show();
        if (output() !== document.body) output().addEventListener("keydown", mine);
      });
      watch.observe(el);
      const first = () => [...output().querySelectorAll("input, button")]
        .find((control) => control.offsetParent)?.focus();
      model.on("msg:custom", () => {
        lifted = true;
        setTimeout(() => { first(); show(); }, 200);
      });
      const drawn = (event) => watch.observe(event.detail.element);
      document.addEventListener("plotlywidget-after-render", drawn);
      return () => {
        watch.disconnect();
        document.removeEventListener("plotlywidget-after-render", drawn);
      };
    } }"""

    def first(self) -> None:
        """Put the keyboard into the first control, and all on the screen, once it has settled."""
        self.send({})


class Numbers(anywidget.AnyWidget):
    """A chart's numbers as a table, folded; it stays open or shut while the numbers change.

    `columns` are lists of texts, each with its heading first. The page makes rows only while
    they show, so that a folded table takes no time from a slider.
    """

    _esm = r"""export default { render({ model, el }) {
      const make = (kind, inside, look) => {
        const made = document.createElement(kind);
        made.append(...inside);
        return Object.assign(made, look);
      };
      const room = make("div", [], { tabIndex: 0 });
      const fold = make("details", [make("summary", [model.get("label")]), room]);
      room.style.cssText = "max-height: 240px; overflow: auto";
      fold.style.cssText = "font-size: 14px; line-height: 1.5";
      const number = new RegExp(model.get("number"));
      const fill = () => {
        if (!fold.open) return;
        const columns = model.get("columns");
        const isNumber = (text) => number.test(text);
        const sides = columns.map(([, ...rest]) => rest.every(isNumber) ? "right" : "left");
        const cell = (row) => (column, place) => make(row ? "td" : "th", [column[row]], {
          scope: row ? "" : "col", style: `padding: 0 12px; text-align: ${sides[place]}` });
        const rows = (columns[0] ?? []).map((_, row) => make("tr", columns.map(cell(row))));
        room.replaceChildren(make("table", [make("caption", [model.get("title")]), ...rows]));
      };
      fold.addEventListener("toggle", fill);
      model.on("change:columns change:title", fill);
      el.append(fold);
    } }"""
    label = traitlets.Unicode().tag(sync=True)
    number = traitlets.Unicode(f"^{NUMBER.pattern}$").tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    columns = traitlets.List().tag(sync=True)

    def show(self, chart: go.Figure) -> None:
        """Take over a chart's numbers and its title, in one message."""
        with self.hold_sync():
            self.title, self.columns = finding(chart), cells(chart)


class Screen:
    """One figure, a line for errors and a table under it; `show` gives it another chart.

    A list of many rows scrolls inside the screen, so that the controls stay in sight.
    """

    def __init__(self, chart: go.Figure) -> None:
        self.shown = chart.to_plotly_json()
        self.figure = Plot(chart)
        self.figure._config = {"displaylogo": False, "responsive": True}
        self.message = widgets.HTML()
        self.numbers = Numbers(label=t("live.numbers"))
        self.numbers.show(chart)
        look = {"max_height": HIGHEST, "overflow": "hidden auto", "display": "block"}
        frame = widgets.VBox([self.figure], layout=look)
        self.box = widgets.VBox([frame, self.message, self.numbers], layout={"min_width": "0"})

    def show(self, chart: go.Figure) -> None:
        """Take over what differs from the chart on the screen, in one update; clear the error."""
        self.message.value = ""
        before, after = self.shown, chart.to_plotly_json()
        after["layout"] = refit(after["layout"], before["layout"])
        if [trace["type"] for trace in before["data"]] != [
            trace["type"] for trace in after["data"]
        ]:
            self.figure.data = ()
            self.figure.add_traces(chart.data)
            before = before | {"data": after["data"]}
        with self.figure.batch_update():
            for trace, *pair in zip(self.figure.data, before["data"], after["data"], strict=True):
                trace.update(_changes(*pair), overwrite=True)
            changes = _changes(before["layout"], after["layout"])
            self.figure.layout.update(changes, overwrite=True)
        self.shown = after
        self.numbers.show(chart)

    def say(self, error: Exception) -> None:
        """Put an error under the figure as one sentence; the figure stays as it is."""
        self.message.value = line(sentence(error), role="alert").value


def line(text: str, role: str = "note") -> widgets.HTML:
    """Make a line of text in the chart's size."""
    style = "font-size:16px; line-height:1.4; margin:4px 0"
    return widgets.HTML(f'<p role="{role}" style="{style}">{html.escape(text)}</p>')


def sentence(error: Exception) -> str:
    """Give an error as one line: an API error by code, status, message; others by their text."""
    if status := getattr(error, "status", None):
        return t("live.error.api", code=error.code, status=status, message=error.message)
    if needed := missing(error):
        return needed
    return (str(error) or type(error).__name__).splitlines()[0]


def _changes(before: Mapping, after: Mapping) -> dict[str, object]:
    """Give the properties that differ between two parts of figures, None for those that went."""
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return {key: after.get(key) for key in keys}
