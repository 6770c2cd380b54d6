"""Print the rhythm of the chapters beside that of works to learn from: `python tools/rhythm.py`.

A row is a chapter, with its cells, the words of a text cell, the lines of a code cell (both the
median, and in brackets the 90th percentile: one in ten is longer), and how many of the code cells
stand directly after prose. The row of all chapters counts every cell of every chapter, and the
median of cells a chapter; a row of another work is that whole work.
Those were measured on 2026-11-30 over each work's own published notebooks, for the survey from
which this workbook was planned. They are examples, and no limits.
What it does *not* do: judge. What a test holds a chapter to stands in test_notebook_style.py.
"""

import json
import sys
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from launch import chapters

HEADER = ("", "cells a notebook", "words a text cell", "lines a code cell", "code after prose")


@dataclass(frozen=True)
class Rhythm:
    """One row: medians with 90th percentiles, and the share of code cells after a text cell."""

    name: str
    cells: float
    words: tuple[float, float]
    lines: tuple[float, float]
    after_prose: float

    def row(self) -> tuple[str, ...]:
        """The row as it is printed."""
        pairs = (f"{middle:.0f} ({most:.0f})" for middle, most in (self.words, self.lines))
        return (self.name, f"{self.cells:.0f}", *pairs, f"{self.after_prose:.0%}")


PEERS = (
    Rhythm("Allen Downey, Think Python 3e", 151, (24, 94), (2, 6), 0.82),
    Rhythm("Allen Downey, Think Bayes 2", 153, (26, 118), (3, 7), 0.68),
    Rhythm("Jake VanderPlas, Python Data Science Handbook", 38, (36, 118), (2, 7), 0.85),
    Rhythm("Inria, scikit-learn MOOC", 17, (42, 129), (4, 13), 0.82),
    Rhythm("Sebastian Raschka, LLMs from scratch", 135, (19, 80), (4, 20), 0.80),
    Rhythm("Peter Norvig, pytudes", 43, (35, 199), (3, 18), 0.73),
    Rhythm("Anthropic courses", 47, (42, 179), (2, 26), 0.70),
    Rhythm("Google Gemini cookbook, quickstarts", 33, (26, 95), (7, 21), 0.88),
)


def measure(name: str, notebooks: list[list[dict]]) -> Rhythm:
    """The rhythm of some notebooks, each a list of cells; empty cells are left out.

    >>> prose = {"cell_type": "markdown", "source": "A sentence announces."}
    >>> code = {"cell_type": "code", "source": ["a = 1\\n", "a"]}
    >>> measure("a chapter", [[prose, code, code, prose]]).row()
    ('a chapter', '4', '3 (3)', '2 (2)', '50%')
    """
    written = [[cell for cell in cells if text(cell).strip()] for cells in notebooks]
    every = [cell for cells in written for cell in cells]
    words = [len(text(cell).split()) for cell in every if cell["cell_type"] == "markdown"]
    lines = [len(text(cell).splitlines()) for cell in every if cell["cell_type"] == "code"]
    kinds = [(a["cell_type"], b["cell_type"]) for cells in written for a, b in pairwise(cells)]
    after = kinds.count(("markdown", "code")) / len(lines)
    return Rhythm(name, median(map(len, written)), spread(words), spread(lines), after)


def spread(numbers: list[int]) -> tuple[float, int]:
    """The median, and the smallest number that nine in ten do not pass.

    >>> spread([1, 2, 3, 4, 5, 6, 7, 8, 9, 40])
    (5.5, 9)
    """
    ordered = sorted(numbers)
    return median(ordered), ordered[-(-9 * len(ordered) // 10) - 1]


def text(cell: dict) -> str:
    """A cell's source, which a file keeps as lines."""
    return "".join(cell["source"])


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows under each other, the first column to the left and the rest to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )


def main() -> int:
    """Print a row for each chapter, one for all, and those of the other works."""
    cells = {path: json.loads(path.read_text("utf-8"))["cells"] for path in chapters()}
    ours = [measure(path.stem, [cells[path]]) for path in cells]
    ours.append(measure("all chapters", list(cells.values())))
    print(table([HEADER, *(rhythm.row() for rhythm in (*ours, *PEERS))]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
