"""The words by which the command line names a strategy, and the spelling that the tables print.

`last-turns:6:2` and `LastTurns(6, 2)` are the same strategy: a name and whole numbers, which are
the strategy's arguments in their order. The spelling of Python may name an argument, as in
`LastTurns(6, drop_to=2)`. A hybrid takes the turns it keeps and its limit in tokens; what it pins
comes from the conversation.

This file does *not* run what it reads: a text that is no name with numbers is refused.
"""

import re
from collections.abc import Callable, Sequence

from chat_memory.agents import ConclusionsOnly, DropThoughts, Focus, ShortenToolResults
from chat_memory.ladder import hybrid
from chat_memory.layers import KeyFacts, SummaryPairs
from chat_memory.strategies import Everything, LastMessages, LastTurns, Strategy
from chat_memory.strings import t

WORDS: dict[str, Callable[..., Strategy]] = {
    "everything": Everything,
    "last-turns": LastTurns,
    "last-messages": LastMessages,
    "summary-pairs": SummaryPairs,
    "key-facts": KeyFacts,
    "hybrid": hybrid,
    "shorten-results": ShortenToolResults,
    "conclusions": ConclusionsOnly,
    "focus": Focus,
    "drop-thoughts": DropThoughts,
}
PINNING = ("hybrid", "LayeredHybrid")
STRATEGIES = WORDS | {make.__name__: make for make in WORDS.values()} | {PINNING[1]: hybrid}
NUMBER = r"-?\d+"
ARGUMENT = rf"\s*(?:[a-z_]+\s*=\s*)?{NUMBER}\s*"
SPEC = re.compile(rf"([\w-]+)((?::{NUMBER})*|\((?:{ARGUMENT}(?:,{ARGUMENT})*)?\))", re.ASCII)


def strategy_of(spec: str, pinned: Sequence[str] = ()) -> Strategy:
    """The strategy that a text on the command line names; a hybrid pins `pinned`.

    Raises ValueError for a text that names none, and for numbers that a strategy refuses.

    >>> strategy_of("last-turns:6:2"), strategy_of("LastTurns(6, 2)")
    (LastTurns(6, 2), LastTurns(6, 2))
    """
    found = SPEC.fullmatch(spec.strip())
    if not found or found[1] not in STRATEGIES:
        raise ValueError(t("cli.strategy", spec=spec, words=t("cli.words")))
    given = re.findall(rf"(?:([a-z_]+)\s*=\s*)?({NUMBER})", found[2])
    first = [pinned] if found[1] in PINNING else []
    numbers = [int(number) for name, number in given if not name]
    by_name = {name: int(number) for name, number in given if name}
    try:
        return STRATEGIES[found[1]](*first, *numbers, **by_name)
    except TypeError:  # too many numbers, too few, or an argument it does not have
        raise ValueError(t("cli.strategy", spec=spec, words=t("cli.words"))) from None


def named(spec: str) -> str:
    """The name of the strategy in a text, without its numbers."""
    return re.split("[:(]", spec.strip())[0]
