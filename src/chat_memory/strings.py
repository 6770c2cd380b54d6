"""Every sentence, label and banner a reader sees, as one string under one id.

The English edition is `data/strings.en.toml`; a Korean one will be a second file with the same
ids. This file reads the table and fills the holes; it does *not* hold a sentence that a reader
sees.
"""

import tomllib

from chat_memory.places import DATA

TABLE = DATA / "strings.en.toml"
EN: dict[str, str] = tomllib.loads(TABLE.read_text(encoding="utf-8-sig"))


def t(name: str, /, **values: object) -> str:
    """The string with this id, its holes filled; ValueError if there is none.

    >>> t("chart.limit", tokens=3000)
    'limit 3,000 tokens'
    """
    if name not in EN:
        raise ValueError(
            f"strings.en.toml has no string {name!r}: add it there, in alphabetical order."
        )
    return EN[name].format(**values)
