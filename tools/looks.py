"""Measure how figures and controls look on a page: type size, overlaps, cut labels, contrast.

`faults(page, root)` gives a sentence for each thing that a reader at the back of the room could
not read, in a part of a page that Playwright has opened. Sizes and boxes are the browser's own.
Contrast is that of WCAG 2.2 (1.4.3 for texts, 1.4.11 for marks). It compares colours as they are
painted: in a picture without texts, and in one in which a mark's whole layer is hidden too; of a
text the colour is the computed one, with its opacity, since thin type is never painted in full.
What it does *not* do: open pages (browser.py), take pictures to look at (screens.py), or judge
taste. Controls that are switched off are exempt from contrast, as WCAG has it.
"""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from math import floor
from pathlib import Path

from playwright.sync_api import Locator, Page

LEAST = 13  # px of type
TEXT, MARK = 4.5, 3.0  # contrast that a text and a mark need at least
CROSSED = 0.1  # of the ground of a text may be too like it: a line passes behind
TOUCH = 1  # px by which boxes of texts may meet: type does not fill its box
SHOWN = 40  # letters of a text that a fault quotes
# Of the points of a mark so many stand out: a hatching and a dashed line have gaps, a marker has
# corners, and a bar may be hollow.
STAND_OUT = {"bar": 0.12, "line": 0.25, "marker": 0.4, "shape": 0.3, "leader": 0.3, "handle": 0.4}
# What is hidden to see the ground of each layer of marks, and all above it. Grid lines too: a mark
# is thicker than they are, and has the paper on both sides.
GRID = ".gridlayer, .zerolinelayer"
LAYERS = (".barlayer", ".scatterlayer", ".shapelayer, .annotation, .noUi-handle")
NO_TEXT = """[data-looks] :is(text, text *) {fill: transparent !important}
[data-looks], [data-looks] :not(svg *) {transition: none !important; color: transparent !important;
-webkit-text-fill-color: transparent !important; caret-color: transparent !important}"""
HIDE = """(root, css) => {
  root.dataset.looks = "";
  const style = document.getElementById("looks") ?? document.createElement("style");
  style.id = "looks"; style.textContent = css; document.head.append(style);
  if (!css) { style.remove(); delete root.dataset.looks; }
}"""

Colour = Sequence[float]
Pairs = Sequence[tuple[Sequence[int], int]]  # six channels, painted and ground, and how often


def faults(page: Page, root: Locator) -> list[str]:
    """What is hard to read in a part of a page; each fault once, in plain words."""
    facts = json.loads(root.evaluate(f"(root) => {_script()}.gather(root)"))
    texts, marks = facts["texts"], facts["marks"]
    for text in texts:
        text["runs"] = [run for run in text["runs"] if _alpha(run)]
    texts = [text for text in texts if text["runs"]]
    found = [*_small(texts), *_cut(texts), *_overlaps(texts)]
    if texts or marks:
        found += _pale(page, root, texts, marks)
    return list(dict.fromkeys(found))


def contrast(one: Colour, other: Colour) -> float:
    """The contrast of two colours (red, green, blue to 255), from 1 to 21, as WCAG defines it.

    >>> contrast((0, 0, 0), (255, 255, 255))
    21.0
    >>> round(contrast((0, 114, 178), (255, 255, 255)), 2)
    5.19
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """The relative luminance of a colour, from 0 to 1: https://www.w3.org/TR/WCAG22/."""
    shares = [channel / 255 for channel in colour[:3]]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@cache
def _script() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def _small(texts: Sequence[dict]) -> Iterator[str]:
    """Texts in type that is too small."""
    for text in texts:
        size = min(run["size"] for run in text["runs"])
        if size < LEAST:
            yield f"{_quoted(text['runs'])} is {size:g} px high, less than {LEAST}."


def _cut(texts: Sequence[dict]) -> Iterator[str]:
    """Texts that stand out of what shows them."""
    for text in texts:
        (left, top, right, bottom), room = text["place"], text["room"]
        over = {
            "on the left": room[0] - left,
            "at the top": room[1] - top,
            "on the right": right - room[2],
            "at the bottom": bottom - room[3],
        }
        for side, px in over.items():
            if px > TOUCH:
                yield f"{_quoted(text['runs'])} is cut off {side} by {px:.0f} px."


def _overlaps(texts: Sequence[dict]) -> Iterator[str]:
    """Pairs of texts that cover each other, in one figure or among the controls."""
    for one, other in combinations(texts, 2):
        if one["plot"] == other["plot"] and _meet(one["place"], other["place"]):
            yield f"{_quoted(one['runs'])} and {_quoted(other['runs'])} overlap."


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    beside = min(one[2], other[2]) - max(one[0], other[0])
    return beside > TOUCH and min(one[3], other[3]) - max(one[1], other[1]) > TOUCH


def _pale(page: Page, root: Locator, texts: list[dict], marks: list[dict]) -> Iterator[str]:
    """Texts and marks that stand out too little from what is painted beneath them."""
    clip = _clip(page, root)
    painted = _picture(page, root, clip, NO_TEXT)
    judged = [text for text in texts if not text["off"]]
    for text, pairs in zip(judged, _pairs(page, clip, painted, painted, judged), strict=True):
        yield from _faint(text["runs"], pairs)
    for number in range(len(LAYERS)):
        layer = [mark for mark in marks if mark["layer"] == number]
        if layer:
            hidden = ", ".join([GRID, *LAYERS[number:]])
            css = f"{NO_TEXT} [data-looks] :is({hidden}) {{visibility: hidden !important}}"
            ground = _picture(page, root, clip, css)
            yield from _dull(layer, _pairs(page, clip, painted, ground, layer))


def _clip(page: Page, root: Locator) -> dict[str, float]:
    """The part of the page to take a picture of: the root, as far as it is in the window.

    It begins at a whole px: else the picture's points would lie beside those of the page.
    """
    box, window = root.bounding_box(), page.viewport_size
    left, top = floor(max(box["x"], 0)), floor(max(box["y"], 0))
    right = min(box["x"] + box["width"], window["width"])
    bottom = min(box["y"] + box["height"], window["height"])
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def _picture(page: Page, root: Locator, clip: dict[str, float], css: str) -> str:
    """A picture (PNG, base64) of a part of the page, with a style sheet laid over it."""
    root.evaluate(HIDE, css)
    png = page.screenshot(clip=clip)
    root.evaluate(HIDE, "")
    return base64.b64encode(png).decode()


def _pairs(
    page: Page, clip: dict[str, float], painted: str, ground: str, things: Sequence[dict]
) -> list[Pairs]:
    """The pairs of colours, painted and beneath, at the places of texts or marks."""
    places = [_seen(thing["place"], thing["sight"]) for thing in things]
    asked = json.dumps([[painted, ground], clip["x"], clip["y"], places])
    return json.loads(page.evaluate(f"(asked) => {_script()}.pairs(asked)", asked))


def _seen(place: Sequence, sight: Sequence[float]) -> list:
    """The part of a place, a box or points, that is in sight."""
    left, top, right, bottom = sight
    if place and isinstance(place[0], list):
        return [[x, y] for x, y in place if left <= x < right and top <= y < bottom]
    return [max(place[0], left), max(place[1], top), min(place[2], right), min(place[3], bottom)]


def _faint(runs: Sequence[dict], pairs: Pairs) -> Iterator[str]:
    """A fault for each ink of a text that too much of the ground is too like."""
    for run in runs:
        need = TEXT if re.search(r"\w", run["words"]) else MARK  # a sign is a mark
        weak = Counter()
        for (*_, red, green, blue), count in pairs:
            ground = red, green, blue
            if contrast(_over(run, ground), ground) < need:
                weak[ground] += count
        if weak.total() > CROSSED * sum(count for _, count in pairs):
            ground = weak.most_common(1)[0][0]
            ink = _over(run, ground)
            yield (
                f"{_quoted([run])} in {_hex(ink)} on {_hex(ground)} has a contrast of "
                f"{contrast(ink, ground):.2f}:1, less than {need:g}:1."
            )


def _dull(marks: Sequence[dict], all_pairs: Sequence[Pairs]) -> Iterator[str]:
    """A fault for each trace of whose worst mark too little stands out from the ground."""
    worst: dict[tuple, tuple] = {}
    for mark, pairs in zip(marks, all_pairs, strict=True):
        if pairs:
            named = mark["kind"], mark["name"]
            worst[named] = min(worst.get(named, (2.0,)), _share(pairs))
    for (kind, name), (share, ink, ground) in worst.items():
        if share < STAND_OUT[kind]:
            whose = f' of "{name}"' if name else ""
            yield (
                f"A {kind}{whose} in {_hex(ink)} on {_hex(ground)} stands out by {MARK:g}:1 "
                f"at {share:.0%} of its points, less than {STAND_OUT[kind]:.0%}."
            )


def _share(pairs: Pairs) -> tuple[float, Colour, Colour]:
    """How much of a mark stands out; and its commonest colour and ground, where they differ."""
    clear, inks = 0, Counter()
    for (*ink, red, green, blue), count in pairs:
        ground = red, green, blue
        clear += count if contrast(ink, ground) >= MARK else 0
        inks[tuple(ink), ground] += count if tuple(ink) != ground else 0
    return clear / sum(count for _, count in pairs), *inks.most_common(1)[0][0]


def _alpha(run: dict) -> float:
    """How opaque a text is."""
    numbers = re.findall(r"[\d.]+", run["colour"])
    return run["opacity"] * (float(numbers[3]) if len(numbers) == 4 else 1)


def _over(run: dict, ground: Colour) -> tuple[float, ...]:
    """The colour that is seen where a text lies over a ground."""
    ink, alpha = re.findall(r"[\d.]+", run["colour"])[:3], _alpha(run)
    return tuple(alpha * float(a) + (1 - alpha) * b for a, b in zip(ink, ground, strict=True))


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{round(channel):02x}" for channel in colour)


def _quoted(runs: Sequence[dict]) -> str:
    words = " ".join(" ".join(run["words"] for run in runs).split())
    return f'"{words[:SHOWN]}…"' if len(words) > SHOWN else f'"{words}"'
