"""When to summarise: after a number of turns, over a size, or when the matter is closed.

A *trigger* looks at the turns that stand verbatim in the context and says whether it is time to
put a summary in place of the older ones. A fixed cycle cuts wherever the chat stands; a limit in
tokens follows the bill; a closed matter is a natural end. `any_of` joins them.

This file does *not* make a summary: `layers.py` does, and it asks the trigger before each turn.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from google.genai import types

from chat_memory.contents import text_of, user
from chat_memory.prompts import language_of, prompts
from chat_memory.strategies import require_count
from chat_memory.summary import Ask, weight
from offline_gemini.sentences import refusal

WHY = "it says when to summarise"
SOLVED = r"(?:(?:re)?solved|(?:solves|settles) (?:it|this|that)|close the (?:ticket|case))"
SAYS_SOLVED = re.compile(rf"\b{SOLVED}|해결(?:됐|되었|했)(?!으면|나요|는지|을까|다면|다고)", re.I)
SAYS_NOT = re.compile(rf"(?:\b(?:not|never|if|once|until|when)|n't) (?:\w+ ){{0,3}}{SOLVED}", re.I)


@dataclass(frozen=True)
class Uncompressed:
    """What a trigger looks at: the turns that stand verbatim, the open one last, and the pair.

    `since` counts the turns that were closed since the last summary. `ask` reaches the model,
    and `live` says whether one answers.
    """

    turns: list[list[types.Content]]
    pair: list[types.Content]
    since: int
    ask: Ask
    live: bool = False


@dataclass(frozen=True)
class Trigger:
    """When to summarise: `fires` decides; `tokens` and `turns` are its limits, if it has some."""

    name: str
    fires: Callable[[Uncompressed], bool] = field(repr=False, compare=False)
    tokens: int | None = None
    turns: int | None = None

    def __repr__(self) -> str:
        return self.name


def every_turns(n: int) -> Trigger:
    """After every n closed turns, wherever the chat stands: a fixed cycle.

    Like the two limits below, it raises ValueError if n is no int >= 1.
    """
    require_count("every_turns", n, why=WHY)
    return Trigger(f"every_turns({n})", lambda now: now.since >= n)


def over_turns(n: int) -> Trigger:
    """When more than n turns stand verbatim, the open one counted."""
    require_count("over_turns", n, why=WHY)
    return Trigger(f"over_turns({n})", lambda now: len(now.turns) > n, turns=n)


def over_tokens(n: int) -> Trigger:
    """When the verbatim turns and the pair weigh more than n tokens; system, tools, pins not."""
    require_count("over_tokens", n, why=WHY)
    known: dict[int, tuple[list[types.Content], int]] = {}  # turns of the last call, weighed

    def fires(now: Uncompressed) -> bool:
        nonlocal known
        known = {id(turn[0]): (turn, _weight(turn, known)) for turn in now.turns}
        return weight(now.pair) + sum(size for _, size in known.values()) > n

    return Trigger(f"over_tokens({n})", fires, tokens=n)


def _weight(turn: list[types.Content], known: dict[int, tuple[list[types.Content], int]]) -> int:
    """Tokens of a turn; one that stood there at the last call already is not weighed again."""
    before, size = known.get(id(turn[0]), ([], 0))
    return size if before == turn else weight(turn)


def closed() -> Trigger:
    """When the last closed turn's customer says that it is solved: a natural end.

    Offline a rule on words decides; live, one short call a turn asks the model.
    """
    return Trigger("closed()", _says_solved)


def _says_solved(now: Uncompressed) -> bool:
    said = text_of(now.turns[-2][0]) if len(now.turns) > 1 else ""
    if not now.live or not said:
        ends = re.findall(r"[^.!?\n]+(?:[.!?]|$)", said)
        return any(
            SAYS_SOLVED.search(end) and not SAYS_NOT.search(end) and not end.endswith("?")
            for end in ends
        )
    known = prompts(language_of([user(said)]))
    call = now.ask([user(f"{known['closed']}\n<message>\n{said}\n</message>")], "summary")
    return bool(call.reply) and text_of(call.reply).strip().casefold().startswith(known["yes"])


def any_of(*triggers: Trigger) -> Trigger:
    """When one of several triggers fires; they are asked in order, up to the first that does.

    Its limits are the smallest of theirs. Raises ValueError for none, and for what is no trigger.
    """
    if not triggers or not all(isinstance(each, Trigger) for each in triggers):
        raise refusal("any_of needs triggers, such as any_of(over_tokens(3000), closed()).")
    tokens = [each.tokens for each in triggers if each.tokens is not None]
    turns = [each.turns for each in triggers if each.turns is not None]
    return Trigger(
        f"any_of({', '.join(each.name for each in triggers)})",
        lambda now: any(each.fires(now) for each in triggers),
        tokens=min(tokens, default=None),
        turns=min(turns, default=None),
    )
