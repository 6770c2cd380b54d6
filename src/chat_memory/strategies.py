"""The ladder of strategies: each makes a context out of a transcript.

The *transcript* is the append-only list of every content that was really exchanged. The *context*
is the list sent in one request: what the model sees. A *strategy* is the rule between the two:
`strategy(transcript) -> Context`. A reader's plain function that returns a list works too.

A strategy only looks: it never changes the transcript, and it never cuts the open turn. Its cost
depends on what it keeps, not on how long the chat has run.

This file does *not* send anything, and it knows neither tokens nor prices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from google.genai import types

from chat_memory.chaining import by_both
from chat_memory.contents import is_turn_start
from offline_gemini.sentences import refusal

Layer = tuple[str, int, int]  # a name, and the start and stop of its stretch of the context


@dataclass(frozen=True)
class Context:
    """What one request sends: `contents`, and `system` if it isn't the session's own.

    `layers` name stretches of the contents; `dropped` are the indices in the transcript of what
    was left out, `rewritten` those of what is sent in another form. `cached` is the name of a
    cachedContents that holds the system, and the tools, already: neither is sent then. `pinned`
    stands first in the system instruction, before the session's own.
    """

    contents: list[types.Content]
    system: str | None = None
    layers: Sequence[Layer] = ()
    dropped: Sequence[int] = ()
    cached: str | None = None
    pinned: str = ""
    rewritten: Sequence[int] = ()


Strategy = Callable[[list[types.Content]], Context | list[types.Content]]


def context_of(strategy: Strategy, transcript: list[types.Content]) -> Context:
    """The context that a strategy, or a reader's plain function, makes out of a transcript.

    A plain function gets a copy of the transcript, so that its mistakes can't lose a message. Of
    a list it returns, only a content that is the very object in the transcript counts as kept: a
    rewritten one is a new object, so what it replaces counts as dropped, and the lens shows it as
    put in. A function that rewrites says so by a Context with the places in `rewritten`.
    Raises ValueError if what it returns is neither a Context nor a list of contents.
    """
    if isinstance(strategy, Rung):
        return strategy(transcript)
    made = strategy(list(transcript))
    if isinstance(made, Context):
        return made
    if not isinstance(made, list) or not all(isinstance(c, types.Content) for c in made):
        raise refusal(
            f"The strategy {name_of(strategy)} returned {type(made).__name__}: "
            "return a Context, or a list of contents."
        )
    kept = {id(content) for content in made}
    return Context(made, dropped=[i for i, c in enumerate(transcript) if id(c) not in kept])


def name_of(strategy: Strategy) -> str:
    """How a strategy is called in tables and logs.

    >>> name_of(LastTurns(max_turns=4))
    'LastTurns(4)'
    """
    return getattr(strategy, "__name__", None) or repr(strategy)


class Rung:
    """A strategy of the ladder: it only looks, so it gets the transcript and no copy of it."""


@dataclass(frozen=True)
class Everything(Rung):
    """The whole transcript: it forgets nothing, and pays for it."""

    def __call__(self, transcript: list[types.Content]) -> Context:
        """The transcript as it is."""
        return Context(list(transcript))

    def __repr__(self) -> str:
        return "Everything()"


@dataclass(frozen=True)
class LastMessages(Rung):
    """The last n contents: the wrong way, kept to show the 400 when it splits a tool pair.

    Raises ValueError if n is no int >= 1.
    """

    n: int

    def __post_init__(self) -> None:
        require_count("n", self.n)

    def __call__(self, transcript: list[types.Content]) -> Context:
        """The last n contents, wherever that cuts."""
        return _from(max(0, len(transcript) - self.n), transcript)

    def __repr__(self) -> str:
        return f"LastMessages({self.n})"


@dataclass
class LastTurns(Rung):
    """The last turns, cut only where a turn begins; the open turn counts as one.

    `max_turns` is how many turns are left at most. With `drop_to`, the strategy cuts rarely and
    deep: when a turn would be one too many, it cuts to the last `drop_to` turns, and that cut
    stays until there are again more than `max_turns`. Between two cuts the context only grows at
    its end, so its beginning stays cacheable. Without `drop_to` it cuts at every turn.

    Raises ValueError if max_turns is no int >= 1, or drop_to no int from 1 to max_turns.

    >>> chat = [types.Content(role="user", parts=[types.Part(text=text)]) for text in "abc"]
    >>> LastTurns(max_turns=2)(chat).dropped
    range(0, 1)
    """

    max_turns: int
    drop_to: int | None = None
    _last: types.Content | None = field(default=None, init=False, repr=False, compare=False)
    _length: int = field(default=0, init=False, repr=False, compare=False)
    _turns: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_count("max_turns", self.max_turns)
        if self.drop_to is not None:
            require_count("drop_to", self.drop_to)
            if self.drop_to > self.max_turns:
                raise refusal(
                    f"drop_to is {self.drop_to}, more than max_turns ({self.max_turns}): "
                    "it says how many turns are left after a cut, so make it smaller."
                )

    def __call__(self, transcript: list[types.Content]) -> Context:
        """The contents from the turn start at which this strategy cuts."""
        start = _start_of_last(self.max_turns, transcript)
        if start is None or _start_of_last(1, transcript, start) is None:
            start = 0  # there are no more than max_turns turns
        elif self.drop_to is not None:
            start = _start_of_last(self._kept(transcript), transcript)
        return _from(start, transcript, "recent turns")

    def _kept(self, transcript: list[types.Content]) -> int:
        """How many turns are left: on the way from drop_to up to max_turns."""
        since_first_cut = self._count(transcript) - self.max_turns - 1
        return self.drop_to + since_first_cut % (self.max_turns - self.drop_to + 1)

    def _count(self, transcript: list[types.Content]) -> int:
        """The number of turns; what was counted at the last call is not counted again."""
        seen = self._length
        if not 0 < seen <= len(transcript) or transcript[seen - 1] is not self._last:
            self.reset()
        self._turns += sum(map(is_turn_start, transcript[self._length :]))
        self._length, self._last = len(transcript), transcript[-1]
        return self._turns

    def reset(self) -> None:
        """Forget the count of turns: `clear` begins a new transcript."""
        self._last, self._length, self._turns = None, 0, 0

    def __repr__(self) -> str:
        deep = "" if self.drop_to is None else f", {self.drop_to}"
        return f"LastTurns({self.max_turns}{deep})"


@dataclass(frozen=True)
class Chain(Rung):
    """Two strategies in a row: the second works on what the first has left."""

    first: Strategy
    second: Strategy

    def __call__(self, transcript: list[types.Content]) -> Context:
        """The second strategy's context, what both changed counted in the whole transcript."""
        before = context_of(self.first, transcript)
        after = context_of(self.second, before.contents)
        dropped, rewritten = by_both(transcript, before, after)
        system, cached = after.system or before.system, after.cached or before.cached
        pinned = "\n".join(filter(None, (before.pinned, after.pinned)))
        return Context(after.contents, system, after.layers, dropped, cached, pinned, rewritten)

    def bind(self, ask: Callable, live: bool = False) -> None:
        """Bind both."""
        for strategy in (self.first, self.second):
            bind(strategy, ask, live)

    def reset(self) -> None:
        """Reset both."""
        for strategy in (self.first, self.second):
            reset(strategy)

    def __repr__(self) -> str:
        return f"Chain({name_of(self.first)}, {name_of(self.second)})"


def bind(strategy: Strategy, ask: Callable, live: bool = False) -> None:
    """Give a strategy the model, if it calls one; `live` says whether a real one answers."""
    getattr(strategy, "bind", lambda ask, live: None)(ask, live)


def reset(strategy: Strategy) -> None:
    """Let a strategy forget what it remembers between calls, if it remembers anything."""
    getattr(strategy, "reset", lambda: None)()


def _from(start: int, transcript: list[types.Content], layer: str | None = None) -> Context:
    """The context that begins at `start`."""
    contents = transcript[start:]
    layers = ((layer, 0, len(contents)),) if layer and contents else ()
    return Context(contents, layers=layers, dropped=range(start))


def _start_of_last(
    turns: int, transcript: list[types.Content], stop: int | None = None
) -> int | None:
    """Where the last `turns` turns before `stop` begin, from the end; None if there are fewer."""
    for index in reversed(range(len(transcript) if stop is None else stop)):
        turns -= is_turn_start(transcript[index])
        if turns == 0:
            return index
    return None


def require_count(
    name: str,
    value: object,
    least: int = 1,
    why: str = "the open turn, with the question, is always sent",
) -> None:
    """Raise ValueError unless value is an int from `least` on; True is no number of turns."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise refusal(
            f"{name} is {value!r}, but it must be a whole number from {least} on: {why}."
        )
