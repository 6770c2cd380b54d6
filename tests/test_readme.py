"""The front page tells what is there: chapters, minutes, commands and its picture."""

import re
from pathlib import Path

import launch
import nbformat

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"(?m)^\| (\w+) \| (.+) \| (\d*) ?\|$", README)
WALK = ("00", "01", "02", "04", "05", "06", "07")


def notebook(name):
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def test_each_notebook_has_a_row_with_its_question_and_its_minutes():
    rows = {name: (question, minutes) for name, question, minutes in ROWS if name != "chapter"}
    assert rows.keys() == {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    for name, (question, minutes) in rows.items():
        assert question.endswith("?"), name
        named = re.search(r"(?i)\b(\d+|five) minutes", notebook(name).cells[0].source)
        assert (named[1].replace("five", "5") if named else "") == minutes, name


def test_the_walk_comes_first_and_takes_the_time_that_is_named():
    assert tuple(name[:2] for name, _, _ in ROWS if name[:2].isdigit())[: len(WALK)] == WALK
    minutes = sum(int(minutes) for name, _, minutes in ROWS if name[:2] in WALK)
    assert "about 3 and a half hours" in README and 195 <= minutes <= 225


def test_it_is_read_in_two_minutes():
    prose = re.sub(r"(?m)^(\||!).*$", "", README)
    assert 250 <= len(prose.split()) <= 400
    tree = README.split("```")[3].strip().splitlines()
    assert len(tree) == 8
    for line in tree:
        for name in re.findall(r"(?:\S+/|\S+\.py|\.ci/run)", line.split("  ")[0]):
            assert (ROOT / name).exists(), name


def test_the_words_after_start_py_are_known():
    words = re.findall(r"start\.py (\w+)", README)
    words += re.search(r"a reader's way in: (.+)", README)[1].split(", ")
    assert {launch.parse([word])[0].__name__ for word in words} == set(words)


def test_the_picture_tells_its_finding_with_figures_of_its_chapter():
    alt, place = re.search(r"!\[(.+)\]\((.+)\)", README).groups()
    assert (ROOT / place).is_file()
    cell = next(cell for cell in notebook("07_hybrid").cells if cell.id == "hyb-last")
    shown = cell.outputs[0]["data"]["text/plain"]
    numbers = re.findall(r"\d,\d{3}", alt)
    assert numbers[0] in shown
    last = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", shown.splitlines()[-1])][1:]
    assert sorted(last)[-2] < int(numbers[1].replace(",", "")) < sorted(last)[-1]
