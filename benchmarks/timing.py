"""How the benchmarks take time, and the one chat that all who trim are timed with.

A busy machine only ever adds time, so the least of several measures is the fairest figure. The
rounds go through all cases one after another, so that a busy moment meets every one of them.
A *measure* is a function without arguments that returns the seconds of one thing; what it has to
prepare or to undo stands outside its clock.

This file does *not* import anything of the workbook, nor of its peers: both sides time with it.
"""

import gc
from collections.abc import Callable, Iterable
from time import perf_counter

Measure = Callable[[], float]

KEPT = 8  # turns in a context, the open one counted
MESSAGES = 2 * KEPT - 1  # the same in messages
MORE = 20  # turns that one measure adds
SENTENCE = "the parcel with order {:06d} has not come and its tracking page shows no new step, "


def least(measures: dict[str, Measure], rounds: int) -> dict[str, float]:
    """The least seconds of each measure, in so many rounds through all of them.

    The garbage collector works between the rounds and not inside one, as in timeit.
    """
    best = dict.fromkeys(measures, float("inf"))
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        try:
            for name, measure in measures.items():
                best[name] = min(best[name], measure())
        finally:
            gc.enable()
    return best


def timed(do: Callable[[], object]) -> float:
    """The seconds that `do` takes."""
    started = perf_counter()
    do()
    return perf_counter() - started


def question(turn: int) -> str:
    """What the customer says in a turn; with its answer about 150 tokens, in every turn alike."""
    return "I write again: " + 2 * SENTENCE.format(turn)


def answer(turn: int) -> str:
    """What is answered in a turn."""
    return "Thank you for waiting: " + 4 * SENTENCE.format(turn)


def said(first: int, last: int) -> list[tuple[str, str]]:
    """Question and answer of each turn from `first` to `last`."""
    return [(question(turn), answer(turn)) for turn in range(first, last + 1)]


def require_last_turns(context: Iterable[str], turn: int) -> None:
    """Raise ValueError unless a context holds the last KEPT turns: all must do the same job."""
    closed = [text for pair in said(turn - KEPT + 1, turn - 1) for text in pair]
    if list(context) != [*closed, question(turn)]:
        raise ValueError(f"Turn {turn} got other messages than those of its last {KEPT} turns.")


def one_more_turn(
    turns: int,
    user: Callable[[str], object],
    model: Callable[[str], object],
    text: Callable[[object], str],
    trimmer: Callable[[list], Callable[[list], list]],
) -> Measure:
    """What a turn costs in a chat kept in a list: question in, context out, answer in.

    The chat has `turns` turns, the open one counted. `user` and `model` make a message of a text
    and `text` gives it back; `trimmer(history)` gives the function that makes the contexts.
    """
    history = [m for asked, told in said(1, turns - 1) for m in (user(asked), model(told))]
    more = [(user(asked), model(told)) for asked, told in said(turns, turns + MORE - 1)]
    closed = len(history)
    require_last_turns(map(text, trimmer(history)([*history, more[0][0]])), turns)

    def measure() -> float:
        trim = trimmer(history)
        started = perf_counter()
        for asked, told in more:
            history.append(asked)
            trim(history)
            history.append(told)
        seconds = perf_counter() - started
        del history[closed:]
        return seconds / MORE

    return measure
