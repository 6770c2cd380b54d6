"""Strategies for agents: they cut inside turns, where `LastTurns` can't.

In an agent one turn is the long conversation: a question, then step after step of a call and its
response. Four rules make it smaller. `ShortenToolResults` cuts the middle out of long responses;
`ConclusionsOnly` leaves of a closed turn its question and its answer; with `Focus` the agent
itself says what a stretch of work has brought, and the steps that led there go; `DropThoughts`
takes the thoughts out of closed turns. A turn counts as closed when the next one has begun.

Each content is looked at once, and what is made of it is kept: a call costs what is new in it.
This file does *not* split a call from its response, touch the transcript, or judge what matters.
"""

from collections.abc import Sequence

from google.genai import types

from chat_memory.contents import calls_of, is_turn_start, responses_of, text_of
from chat_memory.cutting import shortened, weight
from chat_memory.steps import Step, Steps
from chat_memory.strategies import Context, Rung, require_count
from offline_gemini.sentences import refusal

LEAST = 50  # tokens: 25 for a marker and what frames it, and as many for the name of the tool


class Cutting(Rung):
    """What the strategies here share: a part that is settled, and the rest as it is.

    `_kept` is what is left of transcript[:_start]. What was made for the transcript of the last
    call holds on while it only grows. In a Chain, the first strategy may hand on a list that has
    changed near its end: then all is taken up again from the last turn that is the same.
    """

    layer = ""  # what the settled part is called

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what was made: `clear` begins a new transcript."""
        self._seen: list[types.Content] = []  # the transcript of the last call
        self._kept: list[types.Content] = []
        self._start = 0
        self._dropped: list[int] = []
        self._rewritten: list[int] = []
        self._marks: list[tuple[int, ...]] = []  # for each turn: how far all was when it began
        self._tracker = Steps()
        self._steps: list[Step] = []  # of the open turn, as far as they may leave the context

    def __call__(self, transcript: list[types.Content]) -> Context:
        """The settled part, and what follows it."""
        if not self._begins(transcript, len(self._seen)):
            self._go_back(transcript)
        try:
            self._take_in(transcript[len(self._seen) :])
        except BaseException:  # interrupted in the middle: what is half made is made anew
            self.reset()
            raise
        return self._context(transcript)

    def _take_in(self, new: list[types.Content]) -> None:
        for index, content in enumerate(new, len(self._seen)):
            self._seen.append(content)
            if is_turn_start(content):
                self._close(index)
                self._mark()
            else:
                self._look(index, content)

    def _context(self, transcript: list[types.Content]) -> Context:
        contents = self._kept + transcript[self._start :]
        head, whole = len(self._kept), len(contents)
        layers = [(self.layer, 0, head), ("recent turns", head, whole)] if self.layer else []
        return Context(
            contents,
            layers=tuple(layer for layer in layers if layer[1] < layer[2]),
            dropped=tuple(self._dropped),
            rewritten=tuple(self._rewritten),
        )

    def _begins(self, transcript: list[types.Content], length: int) -> bool:
        """Whether a transcript begins with the first contents of the last one.

        Lists of the same objects are compared in microseconds. The last object is asked first,
        for objects that are equal and not the same would be compared field by field.
        """
        if not 0 < length <= len(transcript):
            return length == 0
        same = transcript[length - 1] is self._seen[length - 1]
        return same and transcript[:length] == self._seen[:length]

    def _mark(self) -> None:
        """Note how far all is, for `_go_back`, now that a turn has begun."""
        lists = (self._seen, self._kept, self._dropped, self._rewritten)
        self._marks.append((self._start, *map(len, lists)))
        self._tracker, self._steps = Steps(len(self._seen)), []

    def _go_back(self, transcript: list[types.Content]) -> None:
        """Forget what came after the last turn start up to which the transcript is the same."""
        while self._marks and not self._begins(transcript, self._marks[-1][1]):
            self._marks.pop()
        self._start, *lengths = self._marks.pop() if self._marks else [0] * 5
        lists = (self._seen, self._kept, self._dropped, self._rewritten)
        for each, length in zip(lists, lengths, strict=True):
            del each[length:]
        self._tracker, self._steps = Steps(), []
        if self._seen:
            self._mark()

    def _close(self, stop: int) -> None:
        """Settle what is sure now that the next turn begins, at `stop`."""

    def _look(self, index: int, content: types.Content) -> None:
        """Take in the newest content, which begins no turn."""

    def _settle(self, stop: int, steps: Sequence[Step] = ()) -> None:
        """Settle the contents up to `stop`; these steps leave the context."""
        for start, end in steps:
            self._kept += self._seen[self._start : start]
            self._dropped += range(start, end)
            self._start = end
        self._kept += self._seen[self._start : stop]
        self._start = stop


class Rewriting(Cutting):
    """A strategy that drops no content, but sends some in another form.

    A form is made once: it stays the same object, whatever list its content turns up in.
    """

    def reset(self) -> None:
        """Forget the forms, too."""
        super().reset()
        self._forms: dict[int, tuple[types.Content, types.Content]] = {}  # by id of the first

    def _go_back(self, transcript: list[types.Content]) -> None:
        known = filter(self._forms.__contains__, map(id, transcript))
        self._forms = {key: self._forms[key] for key in known}
        super()._go_back(transcript)

    def _settle(self, stop: int) -> None:
        for index in range(self._start, stop):
            content = self._seen[index]
            if id(content) not in self._forms:
                self._forms[id(content)] = content, self._form(content)
            form = self._forms[id(content)][1]
            self._kept.append(form)
            self._rewritten += [] if form is content else [index]
        self._start = stop

    def _form(self, content: types.Content) -> types.Content:
        """The form in which a content is sent: itself, or a changed copy."""
        raise NotImplementedError


class ShortenToolResults(Rewriting):
    """Long function responses cut in the middle, visibly, the newest one too: it forgets that.

    Of a response that weighs more than `max_tokens` (T of `response:NAME{...}`, as billed) head
    and tail stay, with a marker between them; it then weighs at most `max_tokens`. A line of an
    error that stands in the middle is hidden from the model.
    Raises ValueError if max_tokens is no int from 50 on: a marker would not fit.
    """

    def __init__(self, max_tokens: int):
        why = "the marker and the name of the tool have to fit"
        require_count("max_tokens", max_tokens, LEAST, why)
        self.max_tokens = max_tokens
        super().__init__()

    def _close(self, stop: int) -> None:
        self._settle(stop + 1)

    def _look(self, index: int, content: types.Content) -> None:
        self._settle(index + 1)

    def _form(self, content: types.Content) -> types.Content:
        parts = [self._part(part) for part in content.parts or ()]
        same = all(map(_is, parts, content.parts or ()))
        return content if same else content.model_copy(update={"parts": parts})

    def _part(self, part: types.Part) -> types.Part:
        answer = part.function_response
        if not answer or weight(answer.name, answer.response or {}) <= self.max_tokens:
            return part
        response = shortened(answer.name, answer.response, self.max_tokens)
        made = answer.model_copy(update={"response": response})
        return part.model_copy(update={"function_response": made})

    def __repr__(self) -> str:
        return f"ShortenToolResults({self.max_tokens})"


class DropThoughts(Rewriting):
    """Thoughts of closed turns taken out, and the signatures that bring them back.

    Gemini counts the thoughts of all turns whose signatures are sent, from 3.5 on, and accepts
    that those of closed turns are missing (ai.google.dev/gemini-api/docs/thought-signatures).
    The current turn keeps all of its own: without them it would be refused.
    """

    layer = "without thoughts"

    def _close(self, stop: int) -> None:
        self._settle(stop)

    def _form(self, content: types.Content) -> types.Content:
        parts = content.parts or []
        if content.role != "model" or not any(p.thought or p.thought_signature for p in parts):
            return content
        left = [part for part in map(_without_thought, parts) if part]
        # Gemini refuses a content without parts, and accepts an empty text.
        return content.model_copy(update={"parts": left or [types.Part(text="")]})

    def __repr__(self) -> str:
        return "DropThoughts()"


def _without_thought(part: types.Part) -> types.Part | None:
    """A part without its signature; None if it is a thought, or holds nothing else."""
    if not (part.thought or part.thought_signature):
        return part
    if part.thought and not part.function_call:
        return None
    bare = part.model_copy(update={"thought": None, "thought_signature": None})
    return None if bare.model_dump(exclude_none=True) in ({}, {"text": ""}) else bare


def _is(one: object, other: object) -> bool:
    return one is other


class ConclusionsOnly(Cutting):
    """Closed turns keep question and final answer: it forgets the steps between.

    The last `after_turns` closed turns keep their steps, the open turn always does. A closed turn
    without a final answer in text, imported or interrupted, is kept whole, and so is a step in
    which the user says something. Raises ValueError if after_turns is no int from 0 on.
    """

    layer = "conclusions"

    def __init__(self, after_turns: int = 0):
        require_count("after_turns", after_turns, 0, "so many closed turns keep their steps")
        self.after_turns = after_turns
        super().__init__()

    def reset(self) -> None:
        """Forget which turns are closed, too."""
        super().reset()
        self._closed: list[tuple[int, list[Step]]] = []  # where they end, and their steps

    def _go_back(self, transcript: list[types.Content]) -> None:
        super()._go_back(transcript)
        del self._closed[max(0, len(self._marks) - 1) :]

    def _look(self, index: int, content: types.Content) -> None:
        step = self._tracker.take(index, content)
        if step and not self._tracker.spoken:
            self._steps.append(step)

    def _close(self, stop: int) -> None:
        if not self._marks:  # what stands before the first turn is no turn
            self._settle(stop)
            return
        answered = _is_answer(self._seen[stop - 1])
        self._closed.append((stop, self._steps if answered else []))
        if len(self._closed) > self.after_turns:
            self._settle(*self._closed[-1 - self.after_turns])

    def __repr__(self) -> str:
        return f"ConclusionsOnly({self.after_turns})"


class Focus(Cutting):
    """The agent closes a stretch of work by a call of `tool` that carries its conclusion.

    The steps since the previous conclusion, or since the question, then leave the context, inside
    the open turn too: it forgets what the agent judged not worth keeping. The content with that
    call stays as it came, signature and parallel calls and all, and so do its responses. A call
    without an argument, without a response yet, or whose response is an error closes nothing.
    Raises ValueError if tool is no name.
    """

    layer = "conclusions"

    def __init__(self, tool: str = "conclude"):
        if not isinstance(tool, str) or not tool.strip():
            raise refusal(f"tool is {tool!r}: give the name of the tool that closes a stretch.")
        self.tool = tool
        super().__init__()

    def _look(self, index: int, content: types.Content) -> None:
        step = self._tracker.take(index, content)
        if step and self._concludes(step):
            self._settle(step[0], self._steps)
            self._steps = []
        elif step and not self._tracker.spoken:
            self._steps.append(step)

    def _concludes(self, step: Step) -> bool:
        """Whether a step holds a conclusion that was taken."""
        contents = self._seen[step[0] : step[1]]
        taken = {r.id for c in contents for r in responses_of(c) if self._takes(r)}
        calls = [call for content in contents for call in calls_of(content)]
        return any(call.id in taken and self._carries(call) for call in calls)

    def _carries(self, call: types.FunctionCall) -> bool:
        return call.name == self.tool and any((call.args or {}).values())

    def _takes(self, response: types.FunctionResponse) -> bool:
        return response.name == self.tool and not (response.response or {}).get("error")

    def __repr__(self) -> str:
        return "Focus()" if self.tool == "conclude" else f"Focus({self.tool!r})"


def conclude(conclusion: str) -> dict:
    """Close a stretch of work: write down what it has brought, in full.

    Call this alone, as soon as something is found out or ruled out, before you go on. The calls
    and results since the last conclusion are then removed from your sight for good. So write
    every name, number, path and error message that is still needed word for word, what you tried
    that failed, and what comes next.
    """
    if not isinstance(conclusion, str) or not conclusion.strip():
        raise refusal("The conclusion is blank: write what this stretch of work has brought.")
    return {"noted": True}


def _is_answer(content: types.Content) -> bool:
    """Whether a content is a final answer: the model's text, and no call."""
    said = content.role == "model" and text_of(content).strip()
    return bool(said) and not calls_of(content)
