"""Every sentence, label and banner a reader sees, as one string under one id.

The English edition is `data/strings.en.toml`; a Korean one will be a second file with the same
ids. This file reads the table and fills the holes; it holds no sentence of its own.
"""

import tomllib
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "data" / "strings.en.toml"
EN: dict[str, str] = tomllib.loads(TABLE.read_text(encoding="utf-8"))


def t(name: str, /, **values: object) -> str:
    """Give the string with this id, its holes filled.

    >>> t("chart.limit", tokens=3000)
    'limit 3,000 tokens'
    """
    if name not in EN:
        raise ValueError(
            f"strings.en.toml has no string {name!r}: add it there, in alphabetical order."
        )
    return EN[name].format(**values)
