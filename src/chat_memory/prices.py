"""What a token costs, on a day: `data/models.toml`, with its dates and sources.

Prices are looked up at that file's `as_of`, never at today's date, so that a stored notebook
stays true. This file does *not* add anything up: `usage.cost` does.
"""

import functools
import tomllib
from dataclasses import dataclass
from datetime import date

from chat_memory.places import DATA
from offline_gemini.sentences import refusal

PRICES = DATA / "models.toml"


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens: of input, of output, of input read from a cache."""

    input: float
    output: float
    cached: float


def price(model: str, as_of: str | None = None) -> Price:
    """The price of a model on a day ("2026-11-30"), by default the file's own `as_of`.

    Of a model's rows, the one with the latest `valid_from` that is not after the day wins.
    Raises ValueError if `data/models.toml` knows no price for the model on that day.

    >>> price("gemini-3.6-flash").input
    0.75
    """
    table = _prices()
    day = date.fromisoformat(as_of) if as_of else day_of_prices()
    known = [r for r in table["prices"] if r["model"] == model and r["valid_from"] <= day]
    if not known:
        raise refusal(
            f"There is no price for {model} on {day} in data/models.toml: "
            "add a row there, or give a Price of your own."
        )
    row = max(known, key=lambda row: row["valid_from"])
    return Price(row["in"], row["out"], row["cached_in"])


def day_of_prices() -> date:
    """The day at which prices are looked up: the file's own `as_of`."""
    return _prices()["as_of"]


@functools.cache
def _prices() -> dict:
    return tomllib.loads(PRICES.read_text(encoding="utf-8-sig"))
