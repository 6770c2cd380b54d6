"""What a reader without a kernel gets of each figure: a picture, its finding, and its numbers.

Renderers choose by their own lists of what they prefer: nbconvert's is the installed one, VS
Code's is copied. That a table holds its figure's numbers is proven from the stored JSON alone, by
reading the table back. Pages in a browser: test_still_pages.py.
"""

import html
import json
import re
import struct
from base64 import b64decode
from fnmatch import fnmatch

import nbconvert
import pictures
import pytest
from nbconvert.filters import DataTypeFilter
from test_repository import ROOT, kept

PLOTLY = "application/vnd.plotly.v1+json"
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CELLS = [(path, c) for path in NOTEBOOKS for c in json.loads(path.read_text("utf-8"))["cells"]]
OUTPUTS = [(f"{path.stem} {c['id']}", out) for path, c in CELLS for out in c.get("outputs", [])]
FIGURES = {where: out for where, out in OUTPUTS if PLOTLY in out.get("data", {})}

every_figure = pytest.mark.parametrize("where", FIGURES)


def text(data, form="text/plain"):
    return "".join(data[form])


# What is shown.

# VS Code sorts by this list (extensions/ipynb/src/deserializers.ts) and takes the first that it
# can draw: plotly's form only with an extension for it.
VS_CODE = [
    *(
        "application/vnd.*",
        "application/vdom.*",
        "application/geo+json",
        "text/html",
        "application/javascript",
    ),
    *("image/gif", "text/latex", "text/markdown", "image/png", "image/svg+xml"),
    *("image/jpeg", "application/json", "text/plain"),
]
EXPORTERS = ["html", "slides", "webpdf", "markdown", "latex", "rst", "asciidoc"]


def in_vs_code(data):
    forms = [form for form in data if form != PLOTLY]
    return next(form for like in VS_CODE for form in forms if fnmatch(form, like))


@every_figure
def test_vs_code_without_its_extension_shows_the_picture(where):
    assert in_vs_code(FIGURES[where]["data"]) == "image/png"


@pytest.mark.parametrize("name", EXPORTERS)
def test_nbconvert_shows_the_picture(name):
    """So does nbviewer, whose page is nbconvert's html."""
    choose = DataTypeFilter(config=nbconvert.get_exporter(name)().config)
    assert {tuple(choose(out["data"])) for out in FIGURES.values()} == {("image/png",)}


def test_no_output_needs_a_script_a_style_or_a_kernel():
    """A page that cleans or refuses HTML, as GitHub does, loses nothing."""
    for where, out in OUTPUTS:
        forms = {PLOTLY, "image/png", "text/plain"} if where in FIGURES else {"text/plain"}
        assert out.get("data", {}).keys() <= forms, where


@every_figure
def test_a_picture_is_as_large_as_a_page_is_wide_and_its_letters_can_be_read(where):
    data = FIGURES[where]["data"]
    picture = b64decode(text(data, "image/png"))
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == (pictures.WIDTH, data[PLOTLY]["layout"]["height"])
    assert min(sizes(data[PLOTLY])) >= 13


def sizes(part, inside=""):
    """The sizes of type in a part of a figure."""
    parts = part.items() if isinstance(part, dict) else ((inside, each) for each in part)
    for key, value in parts:
        if key == "size" and inside.endswith("font"):
            yield value
        elif isinstance(value, dict | list):
            yield from sizes(value, key)


# The alternative text.


@every_figure
def test_the_alternative_text_states_the_finding_and_no_number_of_its_own(where):
    out = FIGURES[where]
    figure, alternative = out["data"][PLOTLY], out["metadata"]["image/png"]["alt"]
    finding = html.unescape(figure["layout"]["title"]["text"]).replace("<br>", " ")
    assert alternative.startswith(f"{finding}. ")
    assert len(finding.split()) >= 4
    drawn = NUMBER.findall(html.unescape(json.dumps(figure)))
    assert set(NUMBER.findall(alternative)) <= set(drawn)


@pytest.mark.parametrize("template", ["classic", "basic"])
def test_nbconvert_hands_the_alternative_text_on(template):
    """Its templates lab and reveal have no place for it; for those pages there is the handout."""
    page, _ = nbconvert.HTMLExporter(template_name=template).from_filename(NOTEBOOKS[0])
    found = [html.unescape(alt) for alt in re.findall(r'<img[^>]* alt="(.*?)"', page)]
    first = next(out for where, out in FIGURES.items() if where.startswith(NOTEBOOKS[0].stem))
    assert found == [first["metadata"]["image/png"]["alt"]]


@every_figure
def test_the_alternative_text_names_the_columns_of_the_table(where):
    out = FIGURES[where]
    headings = out["metadata"]["image/png"]["alt"].rpartition(": ")[2].rstrip(".").split("; ")
    assert headings == list(columns(text(out["data"])))


def test_a_picture_in_prose_says_what_it_shows():
    prose = [(p, p.read_text("utf-8")) for p in map(ROOT.joinpath, kept()) if p.suffix == ".md"]
    prose += [(path, "".join(cell["source"])) for path, cell in CELLS if "outputs" not in cell]
    shown = [(path, alt) for path, words in prose for alt in re.findall(r"!\[(.*?)\]\(", words)]
    assert "README.md" in {path.name for path, _ in shown}
    for path, alt in shown:
        assert len(alt.split()) >= 8, (path, alt)
    for path, words in prose:
        assert "<img" not in words, path


# The table, read back, against the figure beside it.


def columns(table):
    """The columns of a text table, by heading: a gap of two is between them in every line."""
    lines = table.splitlines()[2:]
    wide = max(map(len, lines))
    lines = [line.ljust(wide) for line in lines]
    blank = "".join(" " if not any(map(str.strip, column)) else "x" for column in zip(*lines))  # noqa: B905
    places = [match.span() for match in re.finditer(r"x(?: ?x)*", blank)]
    cells = [[line[start:stop].strip() for line in lines] for start, stop in places]
    return {heading: column for heading, *column in cells}


def number(cell):
    """What a cell says, and how far it may be from what is drawn: it may be rounded."""
    if part := re.fullmatch(r"(\d+)/(\d+)", cell):
        return int(part[1]) / int(part[2]), 1e-9
    found = NUMBER.search(cell)[0]
    return float(found.replace(",", "")), 0.51 * 10.0 ** -len(found.partition(".")[2])


def differences(figure, table):
    """What stands in one of the two and not in the other."""
    drawn, told = points(figure), dict(cells(figure, columns(table)))
    for place in drawn.keys() | told.keys():
        if place not in told or place not in drawn:
            yield place, drawn.get(place), told.get(place)
        elif abs(number(told[place])[0] - drawn[place]) > number(told[place])[1]:
            yield place, drawn[place], told[place]


def is_lens(figure):
    return any(trace.get("orientation") == "h" for trace in figure["data"])


def is_frontier(figure):
    return any("hovertext" in trace for trace in figure["data"])


def points(figure):
    """The numbers of a figure, by where they stand: what and which."""
    traces = [trace for trace in figure["data"] if "name" in trace]
    if is_lens(figure):
        return {
            (t["name"], y): x for t in traces for x, y in zip(t["x"], t["y"], strict=True) if x
        }
    if is_frontier(figure):
        marks = [trace for trace in traces if "hovertext" in trace]
        named = [zip(t["hovertext"], t["x"], t["y"], strict=True) for t in marks]
        both = [(name, x, y) for each in named for name, x, y in each]
        return {("x", n): x for n, x, _ in both} | {("y", n): y for n, _, y in both}
    found = {}
    for trace in traces:
        words = trace.get("text") or [""] * len(trace["y"])
        shown = zip(trace["x"], trace["y"], words, strict=True)
        found |= {(trace["name"], str(x)): y for x, y, word in shown if y or not word}
    # A band of nothing is neither drawn nor told.
    some = {name for (name, _), y in found.items() if y}
    return {place: y for place, y in found.items() if place[0] in some}


def cells(figure, table):
    """The cells of a table that hold a number, by the point of the figure they should tell."""
    if is_lens(figure):
        for row, (place, tokens) in enumerate(zip(table["place"], table["tokens"], strict=True)):
            yield (place, row), tokens
        return
    if is_frontier(figure):
        names, dollars, facts, _ = table.values()
        for name, x, y in zip(names, dollars, facts, strict=True):
            yield ("x", name.removesuffix(" *")), x
            yield ("y", name.removesuffix(" *")), y
        return
    (_, rows), *others = table.items()
    for name, column in others:
        for row, cell in zip(rows, column, strict=True):
            if NUMBER.search(cell):
                yield (name, row.replace(",", "")), cell


@every_figure
def test_the_table_holds_the_numbers_of_the_figure_and_no_others(where):
    data = FIGURES[where]["data"]
    assert len(points(data[PLOTLY])) >= 2
    assert list(differences(data[PLOTLY], text(data))) == []


@every_figure
def test_the_words_of_a_list_of_messages_stand_in_its_table(where):
    figure, table = FIGURES[where]["data"][PLOTLY], columns(text(FIGURES[where]["data"]))
    if not is_lens(figure):
        assert "message" not in table
        return
    rows = zip(table["message"], table["role"], table["first words"], strict=True)
    drawn = [re.split("  +", words, maxsplit=2) for words in figure["data"][0]["text"]]
    assert drawn == [list(row) for row in rows]


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("02_clear clr-live", ("166", "167")),  # a band
        ("02_clear clr-live", ("1,576", "1,577")),
        ("05_trim_tools tool-live", ("402", "   ")),  # a number that is left out
        ("03_cost cost-money", ("$0.0765", "$0.0766")),
        ("04_trim trim-lens", ("127  kept", "128  kept")),
        ("04_trim trim-lens", ("127  kept", "127  dropped")),
        ("10_compare cmp-live", ("$0.1328", "$0.1329")),
        ("10_compare cmp-live", ("7/8", "6/8")),
    ],
)
def test_one_wrong_number_in_a_table_is_found(where, change):
    data = FIGURES[where]["data"]
    assert change[0] in text(data)
    head, finding = text(data).split("\n\n", 1)
    wrong = head + "\n\n" + finding.replace(*change, 1)
    assert list(differences(data[PLOTLY], wrong))
