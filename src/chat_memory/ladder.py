"""The strategies that are compared: rung after rung of the ladder, with arguments that fit a case.

`ladder(script)` gives them under the names that stand in a table. `LayeredHybrid` pins what the
script pins, and its trigger leaves room for turns as heavy as the script's; a script that pins
nothing goes without it. `LastMessages` is not among them: it is the wrong way.

This file does *not* play anything: `comparison.py` and `recount.py` do.
"""

from collections.abc import Sequence
from statistics import median

from chat_memory.agents import ConclusionsOnly, DropThoughts, Focus, ShortenToolResults
from chat_memory.layers import KeyFacts, LayeredHybrid, SummaryPairs
from chat_memory.strategies import Everything, LastTurns, Strategy
from chat_memory.triggers import any_of, closed, over_tokens
from offline_gemini import Script, breakdown
from offline_gemini.scripts import Turn

KEPT, ROOM = 6, 3_000  # of the hybrid: turns kept word for word, tokens before a summary


def ladder(script: Script) -> dict[str, Strategy]:
    """The strategies to compare on a script, new ones at each call, by the name in the table.

    >>> next(iter(ladder(Script(name="")).items()))
    ('Everything()', Everything())
    """
    return {
        "Everything()": Everything(),
        "LastTurns(2)": LastTurns(2),
        "LastTurns(6)": LastTurns(6),
        "LastTurns(24, 12)": LastTurns(24, drop_to=12),
        "SummaryPairs(8, 4)": SummaryPairs(8, 4),
        "KeyFacts(6)": KeyFacts(6),
        **_hybrid(script),
        "ShortenToolResults(500)": ShortenToolResults(500),
        "ConclusionsOnly(0)": ConclusionsOnly(0),
        "Focus()": Focus(),
        "DropThoughts()": DropThoughts(),
    }


def _hybrid(script: Script) -> dict[str, Strategy]:
    """The hybrid for a script, if it pins something; 3,000 tokens, doubled until turns have room.

    As many as are kept, a summary and one more turn have to fit, each of the usual weight: at
    whatever turn the first summary comes.
    """
    if not script.pinned:
        return {}
    turns = [_weight(turn) for turn in script.turns if turn.user]
    usual = max(median(turns[:n]) for n in range(min(KEPT, len(turns)), len(turns) + 1))
    limit = ROOM
    while (KEPT + 1) * usual + hybrid(script.pinned).least > limit:
        limit *= 2
    written = f"LayeredHybrid({KEPT}{'' if limit == ROOM else f', {limit}'})"
    return {written: hybrid(script.pinned, KEPT, limit)}


def hybrid(pinned: Sequence[str], recent_turns: int = KEPT, limit: int = ROOM) -> LayeredHybrid:
    """A hybrid that summarises above so many tokens, and when the customer says it is solved.

    Raises ValueError for what `LayeredHybrid` and `over_tokens` refuse.
    """
    return LayeredHybrid(pinned, recent_turns, any_of(over_tokens(limit), closed()))


def _weight(turn: Turn) -> int:
    """Tokens of a turn as its script has it: the question, the steps, the answer."""
    said = [("user", [{"text": turn.user}]), ("model", [{"text": turn.reply}])]
    for step in turn.steps:
        said.append(("model", [{"functionCall": {"name": c.name, "args": c.args}} for c in step]))
        results = [{"name": c.name, "response": {"result": c.result}} for c in step]
        said.append(("user", [{"functionResponse": result} for result in results]))
    rows = [{"role": role, "parts": parts} for role, parts in said]
    return sum(breakdown({"contents": rows}, "", {}).contents)
