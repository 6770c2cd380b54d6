"""How strategies for agents work: a part of the context is settled, and what follows it stays.

A long turn is a list that only grows. So each content is looked at once, and what is made of it is
kept: a call costs what is new in it. `Settling` keeps count of how far the transcript is settled;
`Rewriting` settles contents in another form. A strategy says what is settled when a turn closes
(`_close`) and when a content comes (`_look`).

A list that has changed near its end, as in a Chain, is taken up again from the last turn that is
the same. This file does *not* choose what leaves the context: the strategies in `agents.py` do.
"""

from collections.abc import Sequence

from google.genai import types

from chat_memory.contents import is_turn_start
from chat_memory.steps import Step, Steps
from chat_memory.strategies import Context, Rung


class Settling(Rung):
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


class Rewriting(Settling):
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
