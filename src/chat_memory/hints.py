"""An exercise's three hints, and which of them a failed try leads to.

`hint` gives one: where to look, the idea, how to begin. A first failed try is left to the reader;
from the second on `lead` names the hint that he has not asked for yet. What is counted lives as
long as the kernel.

This file does *not* hold a hint: they stand among the strings.
"""

from collections import Counter

from chat_memory.shown import Bare
from chat_memory.strings import EN, t
from offline_gemini.sentences import refusal

STEPS = 3
failed: Counter[str] = Counter()  # tries, by exercise
asked: Counter[str] = Counter()  # the furthest hint that was asked for, by exercise


def hint(exercise: str, step: int = 1) -> Bare:
    """One of an exercise's three hints: where to look, the idea, how to begin.

    Raises ValueError for an exercise or a step that there is not.

    >>> hint("cost-ex2", 2)
    Count the turns after its own.
    """
    name = f"hint.{exercise}.{step}"
    if name not in EN:
        raise refusal(t("hint.none", exercise=exercise, step=step))
    asked[exercise] = max(asked[exercise], step)
    return Bare(t(name))


def lead(exercise: str) -> str:
    """Count a failed try; from the second on the call that gives the next hint, else ""."""
    failed[exercise] += 1
    step = asked[exercise] + 1
    if not exercise or failed[exercise] < 2 or step > STEPS:
        return ""
    return f'compare.hint("{exercise}")' if step == 1 else f'compare.hint("{exercise}", {step})'
