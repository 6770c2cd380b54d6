"""Keep a run: its tables in the README, its ratios as a picture beside it.

The last section of the README, "One run", is written anew, so that tables, picture and the
picture's words are of one run and nothing in them was typed. What it does *not* do: measure.
"""

from collections.abc import Sequence
from pathlib import Path

from pictures import NoChromium, Pencil, browser
from ratios import Ratio, draw, table, words

HEADING = "## One run\n"


def can_draw() -> bool:
    """Whether there is a Chromium to draw the picture."""
    try:
        return bool(browser())
    except NoChromium:
        return False


def store(readme: Path, said: Sequence[str], ratios: Sequence[Ratio]) -> None:
    """Write the section and the picture; raises ValueError if the README lacks the heading."""
    text = readme.read_text("utf-8")
    before, heading, _ = text.partition(HEADING)
    if not heading:
        raise ValueError(f"{readme.name} has no line {HEADING.strip()!r} to write under.")
    with Pencil() as pencil:
        picture = pencil.draw(draw(ratios).to_plotly_json())
    readme.with_name("ratios.png").write_bytes(picture)
    readme.write_text(before + heading + section(said, ratios), encoding="utf-8", newline="\n")


def section(said: Sequence[str], ratios: Sequence[Ratio]) -> str:
    """What stands under the heading: where the run was made, its picture, and all that it said."""
    machine, *rest = said
    return (
        f"\n{machine}.\n\n![{words(ratios)}](ratios.png)\n\n"
        f"```\n{table(ratios)}\n```\n\n```\n" + "\n\n".join(rest) + "\n```\n"
    )
