"""Was the fact in the request? Scores of a session, read from what it really sent.

A *probe* is a question whose right answer depends on an earlier fact. Offline we can't measure
whether a model recalls a fact, but we can see whether the fact was in the request: a model that
gets a fact may still miss it, one that doesn't get it can't know it. The same code scores a live
run, for it reads the requests and not the replies.

This file does *not* look at an answer: `scores.py` does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat_memory.calls import instruction
from chat_memory.contents import is_turn_start, text_of
from chat_memory.strings import t
from offline_gemini import Script
from offline_gemini.replies import visible_texts
from offline_gemini.scripts import Found, current
from offline_gemini.texts import fold, visible

if TYPE_CHECKING:
    from chat_memory.calls import Call


@dataclass(frozen=True)
class Probe:
    """One probe as it was played: the script's turn, from 1, and which of its facts were sent."""

    number: int
    call: "Call"
    sent: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def in_request(self) -> bool:
        """Whether every fact that the right answer needs was in the request."""
        return not self.missing


def probes(calls: Iterable["Call"], script: Script) -> list[Probe]:
    """The probes of a script that these calls played, in the script's order.

    A probe counts at the first request that asks it: when the customer repeats himself after it,
    that is too late.
    """
    asked = {}
    for call in calls:
        if call.purpose == "answer":
            asked.setdefault(fold(question(call)), call)
    found = []
    for index, turn in enumerate(script.turns):
        if turn.probe and fold(turn.user) in asked:
            found.append(_score(Found(script, index), asked[fold(turn.user)]))
    return found


def probe_numbers(script: Script) -> list[int]:
    """The turns of a script that are probes, counted from 1, commands left out."""
    spoken = [turn for turn in script.turns if turn.user]
    return [number for number, turn in enumerate(spoken, 1) if turn.probe]


def lost(calls: Iterable["Call"], script: Script) -> dict[int, str]:
    """A word for each turn whose probe lacked its fact, by turn: the `marks` of a chart."""
    return {probe.number: t("probe.lost") for probe in probes(calls, script) if probe.missing}


def _score(found: Found, call: "Call") -> Probe:
    texts = seen(call)
    sent = {fact: visible(current(found, fact), texts) for fact in found.turn.needs}
    return Probe(
        number=sum(1 for turn in found.script.turns[: found.index + 1] if turn.user),
        call=call,
        sent=tuple(fact for fact, there in sent.items() if there),
        missing=tuple(fact for fact, there in sent.items() if not there),
    )


def question(call: "Call") -> str:
    """What the user said last in a request."""
    said = [content for content in call.contents if is_turn_start(content)]
    return text_of(said[-1]) if said else ""


def seen(call: "Call") -> list[str]:
    """The texts that the model sees: those of a request, and what a cachedContents holds for it.

    Of the latter only the system is known, as its context gives it, and in a session's own record.
    """
    held = [instruction(call.context, None)] if call.request.get("cachedContent") else []
    return [*held, *visible_texts(call.request)]
