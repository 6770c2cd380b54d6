"""A FigureWidget that also comes to life on a slow page, where plotly's own may stay empty.

plotly sends its 5 MB of JavaScript with every FigureWidget, and its data in messages of their own.
anywidget 0.11 gives a widget two seconds to load (`runtime.ready`): on a page that takes longer no
message reaches it, so that the figure stays empty for good, and nothing says so. A `Plot` is sent
with its data, and its own script loads at once; plotly comes to a page once, and what moved
before it was there is drawn then.
What is not here: what a figure shows (figure.py) and what stands around it (screen.py).
"""

from functools import cache

import anywidget
import traitlets

from chat_memory.charts.figure import go


class Library(anywidget.AnyWidget):
    """plotly's JavaScript for figures in notebooks, which the page asks for its text."""

    _esm = "export default {}"
    text = traitlets.Unicode().tag(sync=True)


@cache
def library() -> Library:
    """Give the library; it is sent once in a kernel's life."""
    return Library(text=str(go.FigureWidget._esm))


class Plot(go.FigureWidget):
    """A FigureWidget that is sent with its data, and waits for the library on the page."""

    _esm = """
    const load = async (model) => {
      const library = await model.widget_manager.get_model(model.get("_library"));
      const url = URL.createObjectURL(
        new Blob([library.get("text")], { type: "text/javascript" }));
      return (await import(url)).default;
    };
    const kinds = ["addTraces", "deleteTraces", "moveTraces", "restyle", "relayout", "update"];
    export default () => {
      let figure, stop = () => {};
      const early = [];  // plotly's messages that nobody hears yet
      return {
        initialize({ model }) {
          const heard = kinds.map((kind) => `_py2js_${kind}`).map((name) => [name, () => {
            if (model.get(name) !== null) early.push([name, model.get(name)]);
          }]);
          heard.forEach(([name, keep]) => model.on(`change:${name}`, keep));
          stop = () => heard.forEach(([name, keep]) => model.off(`change:${name}`, keep));
          window.chatMemoryPlotly ??= load(model);
          figure = window.chatMemoryPlotly.then((make) => {
            const made = make();
            made.initialize({ model });
            return made;
          });
        },
        async render(context) {
          const remove = (await figure).render(context);
          stop();
          for (const [name, message] of early.splice(0)) {
            context.model.set(name, message);
            context.model.set(name, null);
          }
          return remove;
        },
      };
    };
    """
    _library = traitlets.Unicode().tag(sync=True)
    _is_whole = False

    def __init__(self, chart: go.Figure) -> None:
        super().__init__(chart)
        self._is_whole = True
        self.open()

    def open(self) -> None:
        """Send it to the page: not before its data are in it, for what follows might be missed."""
        if self._is_whole:
            super().open()

    @traitlets.default("_library")
    def _find_library(self) -> str:
        return library().model_id
