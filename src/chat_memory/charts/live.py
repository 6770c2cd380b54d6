"""A chart with controls: move one, and the conversation is played again and drawn.

`Live` holds the controls, one figure and the callback as one object, so that a cell that is run
again never draws twice. It remembers what was drawn at each position. The figure keeps its
traces and takes only what changed, which costs 1 ms where a new figure costs hundreds.
A `Predict` hides the figure until the reader has chosen what to expect; the first move judges.
What is not here: what is drawn (draw.py, context_lens.py), charts that grow (growing.py), threads.
With CHAT_MEMORY_STATIC=1 a Live shows its still figure and table; the veil is off then, and
with CHAT_MEMORY_PREDICT=0.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import ipywidgets as widgets

from chat_memory.charts.figure import BLUE, go, still
from chat_memory.charts.screen import HIGHEST, Fit, Screen, line
from chat_memory.strings import EN, t
from offline_gemini.sentences import refusal

VIEW = "application/vnd.jupyter.widget-view+json"
MOST = 3  # controls: a figure with more is a cockpit


def is_static() -> bool:
    """Say whether outputs are to be stored or compared: CHAT_MEMORY_STATIC=1."""
    return os.environ.get("CHAT_MEMORY_STATIC") == "1"


@dataclass(frozen=True)
class Predict:
    """A question to answer before the figure shows: two or three choices, one the common error.

    `answer` is the choice that the figure will prove; without it nothing is judged.
    Raises ValueError for fewer choices or more, and for an answer that is none of them.
    """

    question: str
    choices: Sequence[str]
    answer: str | None = None

    def __post_init__(self) -> None:
        if not 2 <= len(self.choices) <= 3:
            raise refusal(f"A prediction has 2 or 3 choices, not {len(self.choices)}.")
        if self.answer is not None and self.answer not in self.choices:
            raise refusal(f"The answer {self.answer!r} is none of the choices.")

    @classmethod
    def of(cls, name: str) -> "Predict":
        """Give the prediction whose texts stand in the strings under this name, the answer last.

        Choices come in the order of their words, so that their place tells nothing.
        Raises ValueError if the strings have none of this name.

        >>> Predict.of("clear").answer in Predict.of("clear").choices
        True
        """
        texts = [EN[key] for key in sorted(EN) if key.startswith(f"predict.{name}.")]
        if not texts:
            raise refusal(f"strings.en.toml has no prediction {name!r}.")
        *choices, question = texts
        return cls(question, sorted(choices), choices[-1])


class Veil:
    """Hides a figure until the reader has predicted it, and judges once the figure has shown it.

    `box` holds the question alone, then the choice above `contents()` with what to do now, the
    string `todo`. What the figure shows is said by `judge`, after the reader has seen it move.
    """

    def __init__(
        self,
        predict: Predict | None,
        todo: str,
        contents: Callable[[], list[widgets.Widget]],
    ) -> None:
        self.predict, self.todo, self.contents = predict, todo, contents
        self.choice: str | None = None
        self.words = line("")
        self.fit = Fit()
        self.box = widgets.VBox([self.fit])
        if predict and os.environ.get("CHAT_MEMORY_PREDICT") != "0":
            self.box.children = [self.fit, self._question(predict)]
        else:
            self.box.children = [self.fit, *contents()]

    def _question(self, predict: Predict) -> widgets.VBox:
        """Make the question; its choices are buttons, which Tab reaches one by one.

        So a choice is never made in passing.
        """
        choices = toggles(list(predict.choices), value=None)
        wide = {"width": "max-content"}
        button = widgets.Button(description=t("predict.button"), disabled=True, layout=wide)
        choices.observe(lambda _: setattr(button, "disabled", False), names="value")
        button.on_click(lambda _: self._lift(choices.value))
        # It keeps the figure's room, so that what is said below is not read before.
        room = {"min_height": HIGHEST}
        return widgets.VBox([line(predict.question), choices, button], layout=room)

    def _lift(self, choice: str) -> None:
        self.choice = choice
        self._say(self.todo)
        self.box.children = [self.fit, self.words, *self.contents()]
        self.fit.first()

    def judge(self) -> None:
        """Say what the figure shows, if a prediction was made and has an answer."""
        if self.choice is not None:
            self._say("predict.kept" if self.predict.answer is None else "predict.kept.answer")

    def _say(self, name: str) -> None:
        words = t(name, choice=self.choice, answer=self.predict.answer)
        self.words.value = line(f"{self.predict.question} {words}", role="status").value


class Live:
    """Controls above a chart: `draw(play(**values))` at every position.

    `play` takes the controls' values by name and gives data; `draw` makes a figure of them. A
    control is `(first, last, start)` or `(first, last, start, step)` in whole numbers, a bool, or
    a list of choices; at most three. `**other.controls` shares those of another Live, so that
    one slider moves both. An error at the start is raised, later ones are shown.
    """

    def __init__(
        self,
        play: Callable[..., object],
        draw: Callable[[object], go.Figure],
        predict: Predict | Mapping | None = None,
        **controls: object,
    ) -> None:
        if len(controls) > MOST:
            raise refusal(f"A figure has at most {MOST} controls, not {len(controls)}.")
        self.play, self.draw = play, draw
        self.predict = Predict(**predict) if isinstance(predict, Mapping) else predict
        self.controls = {name: control(name, spec) for name, spec in controls.items()}
        self._drawn: dict[tuple, go.Figure] = {}
        self.start = self.at(**self.values)

    @property
    def values(self) -> dict[str, object]:
        """The controls' values, by name."""
        return {name: widget.value for name, widget in self.controls.items()}

    def at(self, **values: object) -> go.Figure:
        """Give the figure at a position; it is played and drawn once."""
        position = tuple(values[name] for name in self.controls)
        if position not in self._drawn:
            self._drawn[position] = self.draw(self.play(**values))
        return self._drawn[position]

    @cached_property
    def screen(self) -> Screen:
        """The figure on the page, at the controls' values."""
        for widget in self.controls.values():
            widget.observe(self._move, names="value")
        return Screen(self.at(**self.values))

    @cached_property
    def veil(self) -> Veil:
        """What hides controls and figure until a prediction is made, if there is one to make."""
        rows = [row(widget) for widget in self.controls.values()]
        return Veil(self.predict, "predict.kept.move", lambda: [*rows, self.screen.box])

    @property
    def view(self) -> widgets.VBox:
        """The whole thing on the page; under a veil only the question shows."""
        return self.veil.box

    def _move(self, change: object) -> None:
        try:
            chart = self.at(**self.values)
        except Exception as error:  # whatever it is, the reader sees it under the figure
            self.screen.say(error)
        else:
            self.screen.show(chart)
            self.veil.judge()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None, **_: object
    ) -> dict[str, object]:
        return bundle(self.start, lambda: self.view)


def bundle(chart: go.Figure, view: Callable[[], widgets.Widget]) -> dict[str, object]:
    """Give the forms of an output: the widget in a kernel, the still figure to store; a table."""
    forms = still(chart)
    if is_static():
        return forms
    return {VIEW: view()._repr_mimebundle_()[VIEW], "text/plain": forms["text/plain"]}


def toggles(options: list, **look: object) -> widgets.ToggleButtons:
    """Make choices that Tab, Enter and Space can reach, each as wide as its words."""
    style = {"button_width": "max-content", "description_width": "initial"}
    return widgets.ToggleButtons(options=options, **{"style": style, **look})


def control(name: str, spec: object) -> widgets.Widget:
    """Make the control that a short form describes; raises ValueError for any other form."""
    if isinstance(spec, widgets.Widget):
        return spec
    label = t(f"control.{name}") if f"control.{name}" in EN else name.replace("_", " ")
    look: dict = {"description": label, "style": {"description_width": "initial"}}
    if isinstance(spec, bool):
        return widgets.Checkbox(value=spec, indent=False, **look)
    if isinstance(spec, list) and len(spec) > 1:
        return toggles(spec, description=label)
    if isinstance(spec, tuple) and [type(number) for number in spec] in ([int] * 3, [int] * 4):
        first, last, start, step = (*spec, 1)[:4]
        if first <= start <= last and step > 0:
            wide = {"width": "560px"}
            ends = {"min": first, "max": last, "value": start, "step": step}
            look["style"]["handle_color"] = BLUE  # white, as it comes, it is lost on white paper
            return widgets.IntSlider(**ends, readout=False, layout=wide, **look)
    raise refusal(
        f"The control {name} = {spec!r} is none: give (first, last, start) as whole numbers with "
        "start between them, True or False, or a list of at least two choices."
    )


def row(widget: widgets.Widget) -> widgets.Widget:
    """Put a number box beside a slider.

    It is the keyboard's way in: letters typed on a focused slider are JupyterLab's commands.
    """
    if not isinstance(widget, widgets.IntSlider):
        return widget
    ends = {name: getattr(widget, name) for name in ("min", "max", "step", "value")}
    width = {"width": "90px"}
    box = widgets.BoundedIntText(**ends, tooltip=widget.description, layout=width)
    widgets.link((widget, "value"), (box, "value"))
    return widgets.HBox([widget, box])
