"""Errors that a notebook shows as one line: their name and their sentence.

IPython draws the whole way of an error, 90 lines through our files and the SDK's, and the sentence
that says what to do stands under all of it. An error that has the method `_render_traceback_` is
drawn by that method instead. Outside of IPython nothing changes: there the whole way is printed.

This file imports nothing of ours, and it does *not* word any error: who raises one, words it.
"""


class OneLine(Exception):
    """An error of ours: its text is one sentence that says what is wrong and what to do."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def refusal(sentence: str) -> ValueError:
    """A plain ValueError for input that can't be used, to be raised; a notebook shows one line.

    >>> raise refusal("max_turns is 0.")
    Traceback (most recent call last):
    ValueError: max_turns is 0.
    """
    error = ValueError(sentence)
    error._render_traceback_ = lambda: [f"ValueError: {sentence}"]
    return error
