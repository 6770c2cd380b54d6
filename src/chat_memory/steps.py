"""The steps of a turn: a call and its response, as one piece that nothing may split.

A *step* begins with a content that calls and ends when all its calls have their responses. Gemini
counts neighbours of one role as one content, and so do the steps here: parallel calls may stand in
several contents, their responses too, and a text of the model right before a call is part of it.

What has no partner in its turn is no step: a call whose response is missing, a response whose call
came before the question. So whoever leaves out whole steps never leaves half of a pair behind.
This file does *not* leave anything out: `agents.py` does.
"""

from google.genai import types

from chat_memory.contents import calls_of, responses_of, text_of

Step = tuple[int, int]  # start and stop in the transcript


class Steps:
    """The steps of one turn, found as its contents come in; the first may begin at `start`.

    `spoken` says whether the user says something in the step that was last made whole.
    """

    def __init__(self, start: int = 0) -> None:
        self._model = start  # where the model began to speak, or may begin to
        self._first = 0  # where the step begins
        self._waiting = 0  # calls in it that have no response yet
        self.spoken = False

    def take(self, index: int, content: types.Content) -> Step | None:
        """The step that this content makes whole, if it does."""
        calls, responses = len(calls_of(content)), len(responses_of(content))
        if not self._waiting:
            self._first, self.spoken = self._model, False
        if content.role != "model":
            self._model = index + 1
            self.spoken |= bool(text_of(content).strip())
        waiting = self._waiting
        self._waiting = max(0, waiting + calls - responses)
        return (self._first, index + 1) if waiting == responses > 0 else None
