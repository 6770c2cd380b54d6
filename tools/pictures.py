"""Draw a plotly figure as a small PNG, for readers who see neither plotly nor a kernel.

GitHub and nbconvert show an output's `image/png`. Chromium draws it, driven by kaleido, from
the plotly.js that is installed; nothing is fetched. Chromium's PNG has four bytes a pixel and is
packed in haste; `small` packs it again with a palette, a fifth of the size to the same eye.
A picture depends on its machine in one thing, the font: without it nothing is drawn, since wider
letters would run under the bars.
What it does *not* do: decide when a picture is drawn (store.py). It needs no picture library.
"""

import os
import shutil
import struct
import zlib
from collections import Counter
from collections.abc import Iterator

WIDTH = 840  # px, the width of a cell in JupyterLab on a screen of 1280
SCALES = (1, 0.8, 0.65, 0.5)  # tried in turn until a picture is small enough
MOST = 60_000  # bytes
FAMILY = "Arial"  # what figures are written in; Liberation Sans and Arimo are as wide, and count
CHROMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
NO_CHROME = (
    "Storing draws pictures and needs Chromium: install chromium or Google Chrome, "
    "or set BROWSER_PATH to it."
)
NO_ARIAL = (
    "Storing draws pictures and needs the font Arial, or one of the same widths: "
    "install Liberation Sans (on Debian and Ubuntu the package fonts-liberation)."
)


class NoPencil(Exception):
    """This machine cannot draw as others do, and why."""


class NoChromium(NoPencil):
    """There is no browser that could draw."""


class NoFont(NoPencil):
    """There is no font of the right widths."""


def browser() -> str:
    """The path of a Chromium; raises NoChromium if there is none."""
    found = os.environ.get("BROWSER_PATH") or next(filter(None, map(shutil.which, CHROMES)), None)
    if not found:
        raise NoChromium(NO_CHROME)
    return found


class Pencil:
    """Draws figures with one Chromium, which starts at the first and ends with the `with`."""

    def __init__(self) -> None:
        self.kaleido = None

    def __enter__(self) -> "Pencil":
        return self

    def __exit__(self, *_: object) -> None:
        if self.kaleido:
            self.kaleido.stop_sync_server()

    def draw(self, figure: dict) -> bytes:
        """The PNG of a figure (plotly JSON), as large as fits `MOST` bytes; may raise NoPencil."""
        if not self.kaleido:
            self._start()
        for scale in SCALES:
            picture = small(self._draw(figure, scale))
            if len(picture) <= MOST:
                break
        return picture

    def _start(self) -> None:
        import kaleido  # slow to import, and needed only if a figure changed

        kaleido.start_sync_server(path=browser(), mathjax=False)
        self.kaleido = kaleido
        if self._draw(_sample("monospace")) != self._draw(_sample("serif")):
            raise NoFont(NO_ARIAL)

    def _draw(self, figure: dict, scale: float = 1) -> bytes:
        body = {"data": figure["data"], "layout": figure["layout"]}
        size = {"width": WIDTH, "height": figure["layout"].get("height", 400), "scale": scale}
        return self.kaleido.calc_fig_sync(body, opts={"format": "png", **size})


def _sample(otherwise: str) -> dict:
    """A few words in the font, or in another if it is missing."""
    words = {"text": "Will it fit?", "font": {"family": f"{FAMILY}, {otherwise}"}}
    return {"data": [], "layout": {"title": words}}


def small(png: bytes) -> bytes:
    """The same picture with few colours, well packed; the frequent ones stay exact.

    It has at most 256, and less of them while it is larger than `MOST`: a picture with fewer greys
    is read better than one with smaller letters.
    """
    width, height, pixels = read(png)
    for bits in (4, 3, 2):
        alike = _alike(Counter(pixels), bits)
        palette = list(dict.fromkeys(alike.values()))
        if len(palette) > 256:
            continue
        picture = _packed(width, height, [alike[pixel] for pixel in pixels], palette)
        if len(picture) <= MOST:
            break
    return picture


def _alike(colours: Counter, bits: int) -> dict[bytes, bytes]:
    """For each colour the most frequent one that looks like it at so many bits a channel."""
    members: dict[tuple, bytes] = {}
    for colour, _ in colours.most_common():
        members.setdefault(_bucket(colour, bits), colour)
    return {colour: members[_bucket(colour, bits)] for colour, _ in colours.most_common()}


def _packed(width: int, height: int, pixels: list[bytes], palette: list[bytes]) -> bytes:
    """A PNG of these pixels, one byte each: their number in the palette."""
    index = {colour: number for number, colour in enumerate(palette)}
    numbers = bytes(index[pixel] for pixel in pixels)
    rows = b"".join(
        b"\0" + numbers[start : start + width] for start in range(0, len(numbers), width)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(rows, 9)))
    return SIGNATURE + b"".join(_chunk(*each) for each in (*chunks, (b"IEND", b"")))


def read(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and pixels (three bytes each) of a PNG with 8 bits a channel and no palette.

    How a row is filtered stands in the PNG specification, section 9.
    """
    chunks = list(_chunks(png))
    width, height, _, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    step = {2: 3, 6: 4}[kind]
    packed = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    stride, above = width * step, bytearray(width * step)
    pixels = []
    for start in range(0, len(packed), stride + 1):
        row = bytearray(packed[start + 1 : start + 1 + stride])
        _unfilter(packed[start], row, above, step)
        pixels += [bytes(row[place : place + 3]) for place in range(0, stride, step)]
        above = row
    return width, height, pixels


SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _bucket(colour: bytes, bits: int) -> tuple:
    """The colours that look alike at so many bits a channel share a bucket."""
    return tuple(channel >> (8 - bits) for channel in colour)


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(SIGNATURE)
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        place += 12 + length


def _chunk(name: bytes, body: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + body))
    return struct.pack(">I", len(body)) + name + body + check


def _unfilter(kind: int, row: bytearray, above: bytearray, step: int) -> None:
    """Undo one row's filter in place: each byte was stored less a guess from its neighbours."""
    guess = (None, _left, _above, _average, _paeth)[kind]
    for place in range(len(row) if guess else 0):
        left, corner = (row[place - step], above[place - step]) if place >= step else (0, 0)
        row[place] = (row[place] + guess(left, above[place], corner)) & 255


def _left(left: int, above: int, corner: int) -> int:
    return left


def _above(left: int, above: int, corner: int) -> int:
    return above


def _average(left: int, above: int, corner: int) -> int:
    return (left + above) // 2


def _paeth(left: int, above: int, corner: int) -> int:
    """Of three neighbours, the one nearest to left + above - corner."""
    to_left, to_above = abs(above - corner), abs(left - corner)
    to_corner = abs(left + above - 2 * corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner
