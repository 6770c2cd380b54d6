"""The summary prompts, English and Korean: `data/prompts.toml`, their word limit filled in.

A conversation's own words decide which language is taken. This file does *not* ask for a summary,
nor judge one: `summary.py` does.
"""

import functools
import re
import tomllib
from collections.abc import Iterable

from google.genai import types

from chat_memory.contents import text_of
from chat_memory.places import DATA
from chat_memory.strategies import require_count
from offline_gemini.sentences import refusal

FEWEST_WORDS = 20


@functools.cache
def prompts(language: str) -> dict:
    """The texts of a language ("en" or "ko") in `data/prompts.toml`."""
    table = tomllib.loads((DATA / "prompts.toml").read_text(encoding="utf-8-sig"))[language]
    return {name: v.strip() if isinstance(v, str) else v for name, v in table.items()}


def prompt_text(prompt: str, language: str, words: int | None = None) -> str:
    """The prompt with its word limit; ValueError if it has no first line, or the limit is low."""
    known = prompts(language)
    limit = known["words"].get(prompt, known["words"]["sections"]) if words is None else words
    require_count("words", limit, FEWEST_WORDS, "fewer hold no summary")
    text = known[prompt] if prompt in known["words"] else prompt
    if not str(text).startswith(tuple(prompts(each)["first_line"] for each in ("en", "ko"))):
        raise refusal(
            f"The summary prompt begins with {str(text)[:40]!r}: its first line has to be "
            f"{known['first_line']!r}, by which a summary is known."
        )
    return text.replace("{words}", str(limit))


def language_of(stretch: Iterable[types.Content]) -> str:
    """The language of a stretch, "ko" or "en", by the letters of its texts.

    >>> from chat_memory.contents import user
    >>> language_of([user("주문번호는 48213입니다. ERROR")])
    'ko'
    """
    text = " ".join(map(text_of, stretch))
    hangul, latin = (len(re.findall(each, text)) for each in ("[가-힣]", "[A-Za-z]"))
    return "ko" if 4 * hangul > latin else "en"  # codes are latin, and a syllable is many letters
