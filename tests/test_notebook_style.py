"""House rules for the chapters that running them cannot show.

What `store --check` says of a stored file (ids, counts, sizes) and what ruff says of code (79
columns) is not said again here. Rules on length hold for the chapters a class walks through;
the short first one, the appendix on live calls and the solutions are built otherwise.
"""

import ast
import re
from itertools import pairwise
from pathlib import Path
from statistics import median

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS if re.match(r"\d\d_", path.name)]
WALKED = [path for path in CHAPTERS if "01" <= path.name[:2] <= "11"]
SPINE = {"01": "messages", "02": "/clear", "04": "trim", "05": "trim", "06": "summary pairs"}
SPINE |= {"07": "layered hybrid"}
STATIONS = ["messages", "/clear", "trim", "summary pairs", "layered hybrid"]
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]")
NAME = re.compile(r"\b\d\d_\w+|\b\d\.x|(?i:gemini[ -])[\d.]+|\bchapter \d+")  # no figures
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(|<img(?P<tag>[^>]*)>")


def every(paths):
    """Run a test once for each notebook, named by its file; none is fine, and no skip."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def cells(path, kind=None):
    found = nbformat.read(path, as_version=4).cells
    return [cell for cell in found if kind in (None, cell.cell_type)]


def text(path):
    return "\n\n".join(cell.source for cell in cells(path, "markdown"))


def words(source):
    return len(source.split())


@every(NOTEBOOKS)
def test_the_first_cell_holds_the_one_title(path):
    assert cells(path)[0].source.startswith("# ")
    assert len(re.findall(r"(?m)^# ", text(path))) == 1


@every(CHAPTERS)
def test_the_first_cell_shows_the_map_and_the_minutes(path):
    first = cells(path)[0].source
    plain = first.replace("*", "")
    places = [plain.find(station) for station in STATIONS]
    assert -1 not in places and places == sorted(places), f"the map reads {' → '.join(STATIONS)}"
    assert re.search(r"(?i)\b(\d+|five|twenty|thirty) minutes\b", plain)
    if station := SPINE.get(path.name[:2]):
        assert f"**{station}**" in first


@every(CHAPTERS)
def test_imports_come_second_and_nothing_is_installed(path):
    code = cells(path, "code")
    assert cells(path)[1] == code[0]
    kinds = {type(node) for node in ast.parse(code[0].source).body}
    assert kinds <= {ast.Import, ast.ImportFrom}
    for cell in code:
        assert not re.search(r"(?m)^\s*[%!]", cell.source), cell.source


@every(CHAPTERS)
def test_every_section_says_its_minutes(path):
    for cell in cells(path, "markdown"):
        if re.search(r"(?m)^## ", cell.source):
            assert cell.metadata.get("minutes", 0) > 0, cell.source


@every(CHAPTERS)
def test_the_sections_take_the_minutes_that_are_named(path):
    """The exercises are named apart: they take as long as they take."""
    sections = {"Exercises": 0}
    for cell in cells(path, "markdown"):
        if found := re.findall(r"(?m)^## (.*)", cell.source):
            sections[found[-1]] = cell.metadata["minutes"]
    exercises = sections.pop("Exercises")
    named = [int(n) for n in re.findall(r"\b(\d+) (?:minutes|more)\b", cells(path)[0].source)]
    assert named in ([], [sum(sections.values()), exercises])


@every(NOTEBOOKS)
def test_a_cell_is_short(path):
    for cell in cells(path, "markdown"):
        assert words(cell.source) <= 120, cell.source
    for cell in cells(path, "code"):
        assert len(cell.source.splitlines()) <= 20, cell.source


@every(WALKED)
def test_a_chapter_is_a_class_long(path):
    assert 30 <= len(cells(path)) <= 45
    assert 25 <= median(words(cell.source) for cell in cells(path, "markdown")) <= 40
    assert median(len(cell.source.splitlines()) for cell in cells(path, "code")) <= 4


@every(NOTEBOOKS)
def test_at_most_two_code_cells_stand_in_a_row(path):
    row = 0
    for cell in cells(path):
        row = row + 1 if cell.cell_type == "code" else 0
        assert row <= 2, cell.source


@every(NOTEBOOKS)
def test_prose_has_no_filler_and_no_emoji(path):
    assert not re.findall(r"(?i)\b(?:simply|just)\b", text(path))
    assert not EMOJI.findall(text(path))


@every(NOTEBOOKS)
def test_every_picture_in_prose_is_told_in_words(path):
    for found in IMAGE.finditer(text(path)):
        alt = found["alt"] or re.search(r'alt="([^"]+)"', found["tag"] or "")
        assert alt, found[0]


@every(WALKED)
def test_a_chapter_is_moved_by_hand_and_has_exercises(path):
    headings = re.findall(r"(?m)^## (.*)", text(path))
    assert "Exercises" in headings
    if path.name[:2] != "11":
        assert "Move it yourself" in headings
    stubs = [cell for cell in cells(path, "code") if graded(cell).get("solution")]
    checks = [cell for cell in cells(path, "code") if graded(cell).get("grade")]
    assert 2 <= len(stubs) == len(checks) <= 4
    assert all("..." in cell.source for cell in stubs)
    assert all("compare(" in cell.source for cell in checks)


@every(WALKED)
def test_the_solutions_run_the_same_checks(path):
    solved = {graded(cell).get("grade_id"): cell for cell in cells(FOLDER / "solutions.ipynb")}
    for cell in cells(path, "code"):
        if graded(cell).get("grade"):
            twin = solved[graded(cell)["grade_id"]]
            assert twin.source == cell.source
            assert "Right" in str(twin.outputs)
            assert "Still three dots" in str(cell.outputs)


def graded(cell):
    return cell.metadata.get("nbgrader", {})


@every(CHAPTERS)
def test_a_large_number_in_prose_stands_in_an_output_above_or_in_the_cell_below(path):
    """Up to the exercises, which bring numbers of their own."""
    seen = set()
    for cell, below in pairwise(cells(path)):
        if "## Exercises" in cell.source:
            return
        if cell.cell_type == "markdown":
            large = {number for number in numbers(cell.source) if number >= 100}
            assert large <= seen | numbers(below.source), cell.source
        seen |= numbers(cell.source) | numbers(*shown(cell))


@every(CHAPTERS)
def test_every_number_in_prose_is_found_in_an_output_or_is_a_setting_in_the_code(path):
    """One and two aside, and the minutes of the first cell; up to the exercises."""
    found = numbers(*(text for cell in cells(path, "code") for text in shown(cell)))
    found |= numbers(*(cell.source for cell in cells(path, "code")))
    for cell in cells(path, "markdown")[1:]:
        if "## Exercises" in cell.source:
            return
        said = {number for number in numbers(NAME.sub("", cell.source)) if number > 2}
        assert said <= found, cell.source


@every([path for path in CHAPTERS if path.name < "12"])
def test_the_last_line_is_the_question_that_the_next_chapter_answers(path):
    last = cells(path)[-1].source.splitlines()[-1]
    found = re.fullmatch(r"\*\*Next:\*\* .+\? \((\w+)\)", last)
    assert found, last
    assert path.stem < found[1] and found[1] in [each.stem for each in CHAPTERS]


def numbers(*texts):
    """The whole numbers in texts, written 1,226 or 1226; not those of a name such as gemini-3."""
    said = re.sub(r"\(https?://[^)]*\)", "", " ".join(texts)).replace("_", "")
    found = re.findall(r"(?<![\w.-])\d[\d,]*(?![\w.]*\d)", said)
    return {int(number.replace(",", "")) for number in found}


def shown(cell):
    """The texts among a cell's outputs."""
    for output in cell.get("outputs", []):
        yield output.get("text", "")
        yield output.get("data", {}).get("text/plain", "")
