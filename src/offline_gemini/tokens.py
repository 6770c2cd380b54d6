"""T(text): how many tokens a text has for Gemini, with no network and no download.

Gemini 2.5 and 3.x count with the Gemma 3 vocabulary. It may not be shipped, so three sources
answer, in this order:

1. the vocabulary itself, if CHAT_MEMORY_TOKENIZER names its SentencePiece file: exact;
2. `data/token_counts.tsv`, the counts of every word the workbook uses: exact, because the count
   of a text is the sum over its words, and that of a word the sum over its `runs`;
3. `estimate`, for any other run of characters: marked as estimated. With no table at all its mean
   error per message is English 1.4 %, Korean 8.4 % (measured by tests/test_tokens.py).

This file does *not* know what Gemini bills: roles, tools and thoughts are in `billing.py`.
"""

import functools
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from offline_gemini.estimate import estimate, runs
from offline_gemini.sentences import refusal

TABLE = Path(__file__).resolve().parents[2] / "data" / "token_counts.tsv"
# The seams are those no piece of the vocabulary crosses: its runs of blanks end at 31, and
# "> </" is its only piece with a space inside (tests/test_tokens.py proves both).
WORD = re.compile(r" {2,31}|\n{1,31}|\t{1,31}| ?[^ \n\t]+(?:(?<=>) (?=</)[^ \n\t]+)*| ")


class Count(NamedTuple):
    """Tokens of a text, and whether any of its words had to be estimated."""

    tokens: int
    estimated: bool


def words(text: str) -> list[str]:
    """The pieces of a text whose token counts add up to that of the text.

    >>> words("My order  48213.\\nThanks")
    ['My', ' order', '  ', '48213.', '\\n', 'Thanks']
    """
    return WORD.findall(text.replace("\u2581", " "))


def count(text: str) -> Count:
    """T(text): tokens of a text without a start token.

    Raises ValueError if CHAT_MEMORY_TOKENIZER names no readable SentencePiece file.

    >>> count("").tokens
    0
    """
    return _count(text, os.environ.get("CHAT_MEMORY_TOKENIZER", ""))


def sizes(texts: Iterable[str]) -> Iterator[float]:
    """Tokens of pieces of a text, estimates not rounded: so they add up to those of the text.

    The environment is looked at once, not for every piece.

    >>> list(sizes(["", "12"]))
    [0, 2]
    """
    tokenizer = os.environ.get("CHAT_MEMORY_TOKENIZER", "")
    return (_size(text, tokenizer) for text in texts)


@functools.lru_cache(maxsize=1 << 16)
def _count(text: str, tokenizer: str) -> Count:
    known, estimates = _weighed(text, tokenizer)
    return Count(known + round(sum(estimates)), bool(estimates))


@functools.lru_cache(maxsize=1 << 16)
def _size(text: str, tokenizer: str) -> float:
    known, estimates = _weighed(text, tokenizer)
    return known + sum(estimates)


def _weighed(text: str, tokenizer: str) -> tuple[int, list[float]]:
    """Tokens of what is known in a text, and the estimate of each run that is not."""
    if tokenizer:
        _log_new_words(text)
        whole = text.encode("utf-8", "replace").decode()  # half an emoji would raise
        return len(_vocabulary(tokenizer).encode(whole)), []
    known, estimates = 0, []
    for word in words(text):
        tokens, guessed = _word(word)
        known += tokens
        estimates += guessed
    return known, estimates


@functools.lru_cache(maxsize=1 << 17)
def _word(word: str) -> tuple[int, tuple[float, ...]]:
    """Tokens of what the table knows of a word, and the estimate of each run that it does not."""
    table = _table()
    if word in table:
        return table[word], ()
    pieces = list(runs(word))
    guessed = tuple(estimate(run) for run in pieces if run not in table)
    return sum(table.get(run, 0) for run in pieces), guessed


@functools.cache
def _table() -> dict[str, int]:
    if not TABLE.exists():
        return {}
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8-sig").splitlines())
    return {json.loads(word): int(tokens) for word, tokens in rows}


@functools.cache
def _vocabulary(path: str):
    try:
        from sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor(model_file=path)
    except ImportError as error:
        raise refusal(
            "CHAT_MEMORY_TOKENIZER is set, but the package sentencepiece is missing: "
            "install it, or unset the variable to count with the word table."
        ) from error
    except (OSError, RuntimeError) as error:
        raise refusal(
            f"CHAT_MEMORY_TOKENIZER names {path}, which is no readable SentencePiece file: "
            "correct the path, or unset the variable to count with the word table."
        ) from error


def _log_new_words(text: str) -> None:
    """Append words the table lacks to CHAT_MEMORY_WORD_LOG, for tools/build_token_counts.py."""
    path = os.environ.get("CHAT_MEMORY_WORD_LOG")
    if path:
        new = [word for word in words(text) if word not in _table()]
        with open(path, "a", encoding="utf-8") as log:
            log.writelines(json.dumps(word, ensure_ascii=False) + "\n" for word in new)
