"""Strategies for agents: they cut inside turns, where `LastTurns` can't.

In an agent one turn is the long conversation: a question, then step after step of a call and its
response. Four rules make it smaller. `ShortenToolResults` cuts the middle out of long responses;
`ConclusionsOnly` leaves of a closed turn its question and its answer; with `Focus` the agent
itself says what a stretch of work has brought, and the steps that led there go; `DropThoughts`
takes the thoughts out of closed turns. A turn counts as closed when the next one has begun.

This file does *not* split a call from its response, touch the transcript, or judge what matters.
How a list is gone through once, and what was made of it kept, stands in `settling.py`.
"""

import operator

from google.genai import types

from chat_memory.contents import calls_of, responses_of, text_of
from chat_memory.cutting import shortened, weight
from chat_memory.settling import Rewriting, Settling
from chat_memory.steps import Step
from chat_memory.strategies import require_count
from offline_gemini.sentences import refusal

LEAST = 50  # tokens: 25 for a marker and what frames it, and as many for the name of the tool


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
        same = all(map(operator.is_, parts, content.parts or ()))
        return content if same else content.model_copy(update={"parts": parts})

    def _part(self, part: types.Part) -> types.Part:
        answer = part.function_response
        if not (answer and answer.response):
            return part
        if weight(answer.name, answer.response) <= self.max_tokens:
            return part
        response = shortened(answer.name, answer.response, self.max_tokens)
        made = answer.model_copy(update={"response": response})
        return part.model_copy(update={"function_response": made})

    def __repr__(self) -> str:
        return f"ShortenToolResults({self.max_tokens})"


class ConclusionsOnly(Settling):
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


def _is_answer(content: types.Content) -> bool:
    """Whether a content is a final answer: the model's text, and no call."""
    said = content.role == "model" and text_of(content).strip()
    return bool(said) and not calls_of(content)


class Focus(Settling):
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
