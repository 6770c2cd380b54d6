"""Numbers beside points that may lie close together: none covers another, or another's point.

Points at one place share a line, "1, 8, 9". Each line takes the nearest place around its point
that is free, on a narrow chart and on a wide one alike; where it stands apart, or near another
point too, a thin line leads to the point it belongs to.

All is reckoned in px from the lower left corner of the narrowest plot, for a place on a wider one
is a multiple of that. What is not here: what the points mean (`frontier.py`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import hypot, inf
from statistics import fmean as mean
from typing import NamedTuple

from chat_memory.charts.figure import GREY, LABEL
from chat_memory.charts.frame import PAPER

WIDTH, HEIGHT = 360, 300  # px: of the narrowest plot, and of the lowest
WIDER = (1, 1.4, 2)  # times WIDTH: the plots on which every number has its room
SAME = 6  # px: points nearer than this are at one place
DIGIT, MARK, LINE = 9, 5, 17  # px: a digit, a comma or a blank, a line of numbers
GAPS = (2, 14, 28, 44, 62, 84)  # px between a point and its number, the nearest first
CLEAR = 5  # px between a number and another point; less looks as if it were that point's
SIDES = ((0, 1), (1, 0), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
COVERED, OUTSIDE, CROSSED, LEADER = 10_000, 2_000, 300, 8  # what is worse than a px further off


class Mark(NamedTuple):
    """A point on the chart: its number, its place as shares of the axes, its radius in px."""

    number: int
    across: float
    up: float
    radius: float


class Box(NamedTuple):
    """What takes up room, in px."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: "Box", room: float = 0) -> bool:
        """Whether two boxes cover each other, or are nearer than `room`."""
        beside = self.left - room < other.right and other.left - room < self.right
        return beside and self.low - room < other.high and other.low - room < self.high

    def inside(self, wide: float, high: float) -> bool:
        """Whether it is on a plot of this size; above, there is a little room."""
        return self.left >= 0 and self.low >= 0 and self.right <= wide and self.high <= high + 6


@dataclass(frozen=True)
class Heap:
    """Points at one place, and the line with their numbers."""

    marks: Sequence[Mark]

    @property
    def text(self) -> str:
        """The numbers, in order.

        >>> Heap([Mark(9, 0.5, 1, 6), Mark(1, 0.5, 1, 6)]).text
        '1, 9'
        """
        return ", ".join(str(mark.number) for mark in sorted(self.marks))

    @property
    def wide(self) -> int:
        """Px that the line takes."""
        return sum(DIGIT if letter.isdigit() else MARK for letter in self.text)

    @property
    def radius(self) -> float:
        """Of the largest of the points, in px."""
        return max(mark.radius for mark in self.marks)

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of the points, as shares of the axes."""
        return mean(mark.across for mark in self.marks), mean(mark.up for mark in self.marks)

    def place(self, wider: float) -> tuple[float, float]:
        """The middle of the points, in px."""
        across, up = self.middle
        return across * WIDTH * wider, up * HEIGHT

    def box(self, wider: float) -> Box:
        """What the points take up."""
        x, y = self.place(wider)
        return Box(x - self.radius, y - self.radius, x + self.radius, y + self.radius)

    def line(self, shift: tuple[float, float], wider: float) -> Box:
        """What the line takes up if its middle is shifted by so much from that of the points."""
        x, y = (a + b for a, b in zip(self.place(wider), shift, strict=True))
        return Box(x - self.wide / 2, y - LINE / 2, x + self.wide / 2, y + LINE / 2)

    def shifts(self) -> Iterator[tuple[float, tuple[float, float]]]:
        """Where the line may stand: how far off it is, and its shift."""
        for gap, (x, y) in product(GAPS, SIDES):
            off = (self.radius + gap) * (0.7 if x and y else 1)
            yield gap, (x * (off + self.wide / 2), y * (off + LINE / 2))
        for gap, x, y in product(GAPS, (1, -1), (1, -1)):  # above or below, and to one side
            off = self.radius + gap
            yield gap + 1, (x * (self.wide / 2 - DIGIT), y * (off + LINE / 2))


def numbers(marks: Iterable[Mark]) -> list[dict]:
    """The numbers of points as annotations whose x and y are shares of the axes."""
    heaps = _heaps(marks)
    placed: dict[int, tuple[float, float]] = {}
    for index in sorted(range(len(heaps)), key=lambda i: -heaps[i].wide):
        placed[index] = _best(index, heaps, placed)
    return [_note(heaps[i], placed[i], _is_apart(i, heaps, placed[i])) for i in sorted(placed)]


def _heaps(marks: Iterable[Mark]) -> list[Heap]:
    """The points by their place; those at one place are together."""
    heaps: list[list[Mark]] = []
    for mark in marks:
        heap = next((heap for heap in heaps if _are_together(heap[0], mark)), None)
        if heap:
            heap.append(mark)
        else:
            heaps.append([mark])
    return [Heap(heap) for heap in heaps]


def _are_together(one: Mark, other: Mark) -> bool:
    beside = abs(one.across - other.across) * WIDTH < SAME
    return beside and abs(one.up - other.up) * HEIGHT < SAME


def _best(
    index: int, heaps: Sequence[Heap], placed: dict[int, tuple[float, float]]
) -> tuple[float, float]:
    """The shift at which a line is nearest to its points, and in nobody's way."""
    least, best = inf, (0.0, 0.0)
    for gap, shift in sorted(heaps[index].shifts(), key=lambda each: each[0]):
        if gap >= least:
            break  # what is further off is worse
        cost = gap + (LEADER if _is_apart(index, heaps, shift) else 0)
        cost += sum(_faults(index, heaps, placed, shift, wider) for wider in WIDER)
        if cost < least:
            least, best = cost, shift
    return best


def _faults(
    index: int,
    heaps: Sequence[Heap],
    placed: dict[int, tuple[float, float]],
    shift: tuple[float, float],
    wider: float,
) -> float:
    """How bad it is to put a line there: what it covers, and what its leader crosses."""
    line, heap = heaps[index].line(shift, wider), heaps[index]
    points = [other.box(wider) for other in heaps]
    lines = [heaps[other].line(moved, wider) for other, moved in placed.items()]
    bad = COVERED * sum(line.meets(each, 1) for each in [*points, *lines])
    bad += 0 if line.inside(WIDTH * wider, HEIGHT) else OUTSIDE
    others = [box for other, box in enumerate(points) if other != index]
    bad += CROSSED * _crossings(heap.place(wider), shift, [*others, *lines])
    ways = ((heaps[other].place(wider), moved) for other, moved in placed.items())
    return bad + CROSSED * sum(_crossings(*way, [line]) for way in ways)


def _crossings(
    start: tuple[float, float], shift: tuple[float, float], boxes: Sequence[Box]
) -> int:
    """How many boxes a straight line meets, looked at every few px."""
    (x, y), (dx, dy) = start, shift
    steps = int(hypot(dx, dy) / 4) + 1
    ways = [(x + dx * n / steps, y + dy * n / steps) for n in range(steps + 1)]
    dots = [Box(x, y, x, y) for x, y in ways]
    return sum(any(dot.meets(box, 1) for dot in dots) for box in boxes)


def _is_apart(index: int, heaps: Sequence[Heap], shift: tuple[float, float]) -> bool:
    """Whether a line needs a leader: it is not at its points, or it is near others too."""
    for wider in WIDER:
        line = heaps[index].line(shift, wider)
        near = [i for i, heap in enumerate(heaps) if line.meets(heap.box(wider), CLEAR)]
        if near != [index]:
            return True
    return False


def _note(heap: Heap, shift: tuple[float, float], apart: bool) -> dict:
    """The line as an annotation, with a leader if it stands apart."""
    across, up = heap.middle
    look = {"text": heap.text, "x": across, "y": up, "bgcolor": PAPER, "borderpad": 0}
    look |= {"font": {"size": LABEL}, "showarrow": apart}
    if not apart:
        return look | {"xshift": round(shift[0], 1), "yshift": round(shift[1], 1)}
    leader = {"arrowhead": 0, "arrowwidth": 2, "arrowcolor": GREY}
    return look | leader | {"ax": round(shift[0], 1), "ay": round(-shift[1], 1)}
