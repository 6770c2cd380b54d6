"""Texts as they are compared: when two are the same, whether one holds a fact, its sentences.

Two texts are the same if only case, spaces and final marks differ. A fact is known by its
spellings: it is *visible* in a text if one of them stands there, and not as a piece of a longer
word or number. A sentence ends at a mark with a blank behind it, so a point inside a number ends
none.

This file does *not* know scripts or requests: which texts are looked at, the caller says.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable

LATIN = "0-9A-Za-z\u00c0-\u024f"
SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*")


@functools.lru_cache(maxsize=1 << 14)
def fold(text: str) -> str:
    """A text as it is compared: NFC, case folded, white space collapsed, final marks dropped.

    >>> fold("  What IS my order\\nnumber?! ")
    'what is my order number'
    """
    return plain(text).rstrip(" .!?\u3002\u2026\uff01\uff1f")


@functools.lru_cache(maxsize=1 << 14)
def plain(text: str) -> str:
    """NFC, case folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def visible(spellings: Iterable[str], texts: Iterable[str]) -> bool:
    """Whether a spelling stands in one of the texts, not next to a Latin letter or digit.

    >>> visible(["250"], ["1250 messages"]), visible(["250"], ["250건"])
    (False, True)
    """
    pattern = _pattern(tuple(spellings))
    return any(pattern.search(plain(text)) for text in texts)


@functools.lru_cache(maxsize=1024)
def _pattern(spellings: tuple[str, ...]) -> re.Pattern:
    either = "|".join(re.escape(plain(spelling)) for spelling in spellings)
    return re.compile(f"(?<![{LATIN}])(?:{either})(?![{LATIN}])")


def sentences_in(text: str) -> list[str]:
    """The sentences of a text, without the blanks around them.

    >>> sentences_in("It costs 8.90. Is that all?")
    ['It costs 8.90.', 'Is that all?']
    """
    return list(filter(None, map(str.strip, SENTENCE.findall(text))))
