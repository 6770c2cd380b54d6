"""Charts that grow: while a conversation plays, and with each message that is typed.

`Growing` takes a point for each turn and moves a progress bar; interrupt it, and every point that
was played stays. `ChatBox` is a message box with the list and the chart beside it.
With CHAT_MEMORY_STATIC=1 both give the still figure and table of where they end: a `ChatBox`
then sends its `example` messages.
What is not here: the conversation itself (conversations.py, session.py) and what is drawn.
"""

import html
import time
from collections.abc import Callable, Sequence
from functools import cached_property

import anywidget
import ipywidgets as widgets
import traitlets
from IPython.display import display

from chat_memory.charts.context_lens import kept, message_row
from chat_memory.charts.draw import draw_tokens
from chat_memory.charts.figure import go
from chat_memory.charts.live import Predict, Veil, bundle, is_static
from chat_memory.charts.screen import Fit, Screen
from chat_memory.strategies import LastTurns
from chat_memory.strings import t

JUDGED = 2  # messages: with the second one, the chart shows what a list costs
HEADS = ("number", "words", "tokens", "place")


class Growing:
    """A chart that takes a point for each turn: `play(..., each=chart.add)` inside a `with`.

    `draw` makes a figure of the session (by default `draw_tokens`); `turns` is how many there
    will be. `pause` (seconds) lets the eye follow a stand-in that answers at once.
    """

    def __init__(
        self,
        turns: int,
        draw: Callable[[object], go.Figure] | None = None,
        pause: float = 0.1,
    ) -> None:
        self.draw = draw or (lambda session: draw_tokens(session, turns=turns))
        self.pause = pause
        self.chart: go.Figure | None = None
        self.bar = widgets.IntProgress(max=turns, layout={"width": "560px"})
        self.word = widgets.Label()
        self.view = widgets.VBox([Fit(), widgets.HBox([self.bar, self.word])])
        self._screen: Screen | None = None

    def __enter__(self) -> "Growing":
        if not is_static():
            display(self.view)
        return self

    def __exit__(self, *_: object) -> None:
        if is_static() and self.chart is not None:
            display(self.chart)

    def add(self, session: object) -> None:
        """Draw the session as it stands now, one turn further."""
        self.chart = self.draw(session)
        if is_static():
            return
        if self._screen is None:
            self._screen = Screen(self.chart)
            self.view.children = [*self.view.children, self._screen.box]
        else:
            self._screen.show(self.chart)
        self.bar.value += 1
        self.word.value = t("growing.turn", turn=self.bar.value, turns=self.bar.max)
        time.sleep(self.pause)


class Entry(anywidget.AnyWidget):
    """A line to write on; Enter or its button sends a message that holds the text itself.

    An ipywidgets Text tells its value and its Enter apart, and while the kernel is busy the Enter
    overtakes the value: a message typed fast would be sent without its end.
    """

    _esm = """export default { render({ model, el }) {
      const form = document.createElement("form"), text = document.createElement("input");
      const send = document.createElement("button");
      form.style.cssText = "display:flex; gap:4px; height:32px";
      text.className = "widget-input"; text.style.cssText = "flex:1; font-size:15px";
      text.placeholder = text.ariaLabel = model.get("placeholder");
      send.textContent = model.get("word"); send.className = "jupyter-button";
      form.onsubmit = (event) => { event.preventDefault(); model.send({ text: text.value }); };
      model.on("msg:custom", () => { text.value = ""; text.focus(); });
      form.append(text, send); el.append(form);
    } }"""
    placeholder = traitlets.Unicode().tag(sync=True)
    word = traitlets.Unicode().tag(sync=True)

    def empty(self) -> None:
        """Make room for the next message."""
        self.send({})


class ChatBox:
    """A box to type into; beside it the list of messages and the chart grow with each send.

    `session` is a ChatSession or a function that makes one. The tick sends only the newest
    message. `example` are the messages sent when outputs are stored, and nothing is typed.
    With `predict` the box comes once a prediction is made, which the second message judges.
    """

    def __init__(
        self,
        session: object,
        draw: Callable[[object], go.Figure] = draw_tokens,
        example: Sequence[str] = (),
        predict: Predict | None = None,
    ) -> None:
        self.predict = predict
        self.session = session() if callable(session) else session
        self.draw = draw
        self.whole = self.session.strategy
        self.sent = 0
        if is_static():
            for text in example:
                self.session.send(text)
        self.entry = Entry(placeholder=t("chat.placeholder"), word=t("chat.send"))
        self.newest = widgets.Checkbox(description=t("chat.newest"), indent=False)
        self.clear = widgets.Button(description=t("chat.clear"))
        self.messages = widgets.HTML(layout={"width": "46%"})

    @cached_property
    def screen(self) -> Screen:
        """The chart on the page."""
        screen = Screen(self.draw(self.session))
        screen.box.layout.width = "54%"
        return screen

    @cached_property
    def veil(self) -> Veil:
        """What hides the box until a prediction is made; Enter sends, and so does the button."""
        self.entry.on_msg(lambda _, message, __: self.send(message["text"]))
        self.clear.on_click(lambda _: self._clear())
        self.messages.value = listing(self.session)
        beside = widgets.HBox([self.messages, self.screen.box])
        below = widgets.HBox([self.newest, self.clear])
        return Veil(self.predict, "predict.kept.send", lambda: [self.entry, below, beside])

    @property
    def view(self) -> widgets.VBox:
        """The whole thing on the page; under a veil only the question shows."""
        return self.veil.box

    def send(self, text: str) -> None:
        """Send a message; on an error it stays in the box, to be sent again."""
        self.session.strategy = LastTurns(1) if self.newest.value else self.whole
        try:
            self.session.send(text)
        except Exception as error:  # whatever it is, the reader sees it under the figure
            self.screen.say(error)
        else:
            self.entry.empty()
            self._refresh()
            self.sent += 1
            if self.sent == JUDGED:
                self.veil.judge()

    def _clear(self) -> None:
        self.session.clear()
        self._refresh()

    def _refresh(self) -> None:
        self.messages.value = listing(self.session)
        self.screen.show(self.draw(self.session))

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None, **_: object
    ) -> dict[str, object]:
        return bundle(self.draw(self.session), lambda: self.view)


def listing(session: object) -> str:
    """Give the session's messages as an HTML table: role, first words, tokens, sent or not."""
    transcript = session.transcript
    if not transcript:
        return f'<p style="font-size:14px">{t("chat.empty")}</p>'
    sent = set(kept(session.calls[-1])[0])
    rows = [_listed(content, index, sent) for index, content in enumerate(transcript)]
    heads = [f"<th>{t(f'lens.{name}')}</th>" for name in HEADS]
    style = "font-size:14px; line-height:1.35; border-spacing:6px 2px; text-align:left"
    table = f'<table style="{style}"><tr>{"".join(heads)}</tr>{"".join(rows)}</table>'
    newest_last = "max-height:400px; overflow-y:auto; display:flex; flex-direction:column-reverse"
    return f'<div style="{newest_last}">{table}</div>'


def _listed(content: object, index: int, sent: set[int]) -> str:
    """Write one message; an answer is not sent yet, it will be with the next message."""
    row = message_row(content, "", columns=80)
    came = content.role == "model" and index == max(sent) + 1
    place = "came" if came else "sent" if index in sent else "not_sent"
    faint = "; opacity:0.6" if place == "not_sent" else ""
    words = f'<td style="width:100%">{html.escape(row.words)}</td>'
    edge = '<td style="white-space:nowrap">'
    end = f"{edge}{row.tokens:,}</td>{edge}{t(f'chat.{place}')}</td>"
    start = f"{edge}{index + 1} {row.role}</td>"
    return f'<tr style="vertical-align:top{faint}">{start}{words}{end}</tr>'
