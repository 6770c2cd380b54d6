"""What contents weigh, each weighed once, and the running sums of a context over them.

A recount puts thousands of contexts on the scales, and each is nearly the one before it. A
`Scale` weighs a content when it first meets it; `Running` finds out with how many contents a
context begins like the one before, keeps their sums, and adds up what is new. So a prompt of
5,000 messages costs microseconds, and with the same sums the part that a cache may read is known.

Gemini's rules stay where they are: tokens in `offline_gemini.billing`, the order of roles in
`offline_gemini.rules`. This file does *not* know what a call or a strategy is.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from google.genai import types

from chat_memory.contents import to_json
from offline_gemini import rules
from offline_gemini.billing import content_tokens, get, parts_of, says_something
from offline_gemini.replies import visible_texts
from offline_gemini.texts import visible

Run = tuple[str, int, int]  # a role, and the calls and responses said in a row in that role
State = tuple[Run, Run, bool]  # the run before, the run that may go on, whether all is in order
NO_RUN: Run = ("", 0, 0)


class Weight(NamedTuple):
    """One content on the scales; it is held, so that no other can take its id."""

    content: types.Content
    tokens: int
    signatures: tuple[str, ...]
    says: bool  # something the user said: there a turn starts
    run: tuple[Run, bool]  # its role and what it calls; whether Gemini takes it by itself
    facts: tuple[str, ...]  # names of the facts that are visible in it


TOKENS, SIGNATURES, RUN, FACTS = map(attrgetter, ("tokens", "signatures", "run", "facts"))


@dataclass
class Scale:
    """Weighs contents; `thoughts` gives the tokens that a re-sent signature adds.

    `facts` maps a name to the spellings by which a fact is known. `estimated` says whether
    anything on the scales had words that the word table lacks.
    """

    thoughts: Callable[[str], int]
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    estimated: bool = False
    _known: dict[int, Weight] = field(default_factory=dict, repr=False)

    def weights(self, contents: Sequence[types.Content]) -> list[Weight]:
        """The weights of contents; those that are met for the first time are weighed."""
        found = list(map(self._known.get, map(id, contents)))
        for place, weight in enumerate(found):
            if weight is None:
                content = contents[place]
                found[place] = self._known[id(content)] = self._weigh(content)
        return found

    def _weigh(self, content: types.Content) -> Weight:
        (row,) = to_json([content])
        signatures = (get(part, "thoughtSignature") for part in parts_of(row))
        return Weight(
            content=content,
            tokens=self.tokens(row),
            signatures=tuple(dict.fromkeys(filter(None, signatures))),
            says=says_something(row),
            run=(rules.merged([row])[0], rules.passes(rules.check_content, row, "contents")),
            facts=self.visible(visible_texts({"contents": [row]}) if self.facts else []),
        )

    def tokens(self, content: Mapping) -> int:
        """The tokens of a content, or of a system instruction, as JSON."""
        counted = content_tokens(content)
        self.estimated |= counted.estimated
        return counted.tokens

    def visible(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The names of the facts that are visible in texts."""
        return tuple(name for name, said in self.facts.items() if visible(said, texts))


class Running:
    """The contents of a context with sums over them; `take` puts the next context in its place.

    `old_thoughts` says whether the model counts thoughts that were sent before the last user
    message. The thoughts of a signature count once.
    """

    def __init__(self, scale: Scale, old_thoughts: bool):
        self.scale, self.old_thoughts = scale, old_thoughts
        self.contents: list[types.Content] = []
        self._weights: list[Weight] = []
        self._tokens = [0]  # [n]: of the first n contents
        self._states: list[State] = [(NO_RUN, NO_RUN, True)]
        self._facts: dict[str, list[int]] = {}  # where each is visible
        self._start, self._thoughts = 0, [0]  # [n]: of the first n contents from _start on
        self._signed: list[tuple[int, str]] = []  # where each signature was met first
        self._seen: set[str] = set()

    def take(self, contents: list[types.Content]) -> int:
        """Put in a context; returns the tokens with which its contents begin as before."""
        same = 0 if contents is self.contents else alike(self.contents, contents)
        before = self._start, self._thoughts
        self._forget(same)
        self.contents = contents
        self._add(same, self.scale.weights(contents[same:]))
        if not self.old_thoughts:
            self._start, self._thoughts = self._open_thoughts()
            same = self._same_thoughts(same, *before)
        return self._sum(same)

    @property
    def tokens(self) -> int:
        """Tokens of all contents, thoughts included."""
        return self._sum(len(self.contents))

    @property
    def adds_up(self) -> bool:
        """Whether every stretch of the contents weighs the same wherever it stands."""
        met = sum(len(weight.signatures) for weight in self._weights)
        return self.old_thoughts and met == len(self._seen)

    def between(self, start: int, stop: int) -> int:
        """Tokens of a stretch of the contents, if it `adds_up`."""
        return self._sum(stop) - self._sum(start)

    @property
    def in_order(self) -> bool:
        """Whether Gemini takes the contents as they follow each other."""
        before, run, fine = self._states[-1]
        return bool(self.contents) and fine and _fits(before, run)

    @property
    def facts(self) -> set[str]:
        """The names of the facts that are visible in one of the contents."""
        return {name for name, places in self._facts.items() if places}

    def _sum(self, stop: int) -> int:
        return self._tokens[stop] + self._thoughts[max(0, stop - self._start)]

    def _forget(self, stop: int) -> None:
        """Take out what stands from `stop` on."""
        del self._weights[stop:]
        del self._tokens[stop + 1 :], self._states[stop + 1 :]
        for places in self._facts.values():
            while places and places[-1] >= stop:
                places.pop()
        if self.old_thoughts:
            del self._thoughts[stop + 1 :]
            while self._signed and self._signed[-1][0] >= stop:
                self._seen.discard(self._signed.pop()[1])

    def _add(self, place: int, new: list[Weight]) -> None:
        """Put contents at the end, the first of them at `place`."""
        self._weights += new
        _extend(self._tokens, map(TOKENS, new))
        _extend(self._states, map(RUN, new), _next)
        if self.scale.facts:
            for at, weight in enumerate(new, place):
                for name in weight.facts:
                    self._facts.setdefault(name, []).append(at)
        if self.old_thoughts:
            signed = any(map(SIGNATURES, new))
            brought = [self._brought(at, w) for at, w in enumerate(new, place)] if signed else ()
            _extend(self._thoughts, brought or itertools.repeat(0, len(new)))

    def _brought(self, place: int, weight: Weight) -> int:
        """The thoughts that a content brings back, those of a signature once."""
        new = [each for each in weight.signatures if each not in self._seen]
        self._seen.update(new)
        self._signed += [(place, signature) for signature in new]
        return sum(map(self.scale.thoughts, new))

    def _open_thoughts(self) -> tuple[int, list[int]]:
        """Where the last user message stands, and the sums of the thoughts from there on."""
        places = reversed(range(len(self._weights)))
        start = next((place for place in places if self._weights[place].says), 0)
        seen: set[str] = set()
        sums = [0]
        for weight in self._weights[start:]:
            new = set(weight.signatures) - seen
            seen |= new
            sums.append(sums[-1] + sum(map(self.scale.thoughts, new)))
        return start, sums

    def _same_thoughts(self, same: int, start: int, sums: list[int]) -> int:
        """Up to which of the first `same` contents the thoughts are those of the context before.

        A content that no longer brings its thoughts along is another beginning for a cache. The
        thoughts before were these `sums`, from `start` on.
        """
        for place in range(min(start, self._start), same):
            before, now = (
                of[max(0, place + 1 - first)] - of[max(0, place - first)]
                for of, first in ((sums, start), (self._thoughts, self._start))
            )
            if before != now:
                return place
        return same


def _extend(sums: list, new: Iterable, add: Callable | None = None) -> None:
    """Go on with running sums."""
    sums += itertools.islice(itertools.accumulate(new, add, initial=sums[-1]), 1, None)


def alike(one: list, other: list) -> int:
    """With how many equal items two lists begin, found by halves: Python compares them in C.

    >>> alike(["a", "b", "c"], ["a", "b", "d", "e"])
    2
    """
    high = min(len(one), len(other))
    if one[:1] != other[:1]:
        return 0
    if one[:high] == other[:high]:
        return high
    low = 1  # so many are alike, and `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


@functools.lru_cache(maxsize=1 << 12)
def _next(state: State, content: tuple[Run, bool]) -> State:
    """The state after one more content: its run goes on, or the run before it is judged."""
    (before, current, fine), (run, sound) = state, content
    if run[0] == current[0]:
        grown = (run[0], current[1] + run[1], current[2] + run[2])
        return before, grown, fine and sound
    return current, run, fine and sound and _fits(before, current)


@functools.lru_cache(maxsize=1 << 12)
def _fits(before: Run, run: Run) -> bool:
    """Whether a run may follow another, by Gemini's own rule of order.

    What comes before them is made up, so that the first of them is in order where it stands.
    """
    calls = before[1] or before[2]
    started: list[Run] = [("user", 0, 0)] if calls else []
    started += [("model", before[2], 0)] if before[2] else []
    started += [before] if before != NO_RUN else []
    return rules.passes(rules.check_order, [*started, run])
