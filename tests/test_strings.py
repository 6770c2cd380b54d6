"""The table of strings: in order, each one used, none asked for that is missing."""

import json
import re
from pathlib import Path

import pytest

from chat_memory.strings import EN, TABLE, t

ROOT = Path(__file__).parents[1]
ASKED = re.compile(r"""\bt\(\s*f?["']([\w.{}\[\]()]+)["']""")


def texts():
    """The code that may ask for a string: the packages, tools, and the cells of the notebooks."""
    for path in (*(ROOT / "src").rglob("*.py"), *(ROOT / "tools").glob("*.py")):
        yield path.read_text(encoding="utf-8")
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield from ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def test_ids_stand_in_alphabetical_order_one_line_each():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    ids = [json.loads(line.partition(" = ")[0]) for line in lines if line.startswith('"')]
    assert ids == sorted(EN)


def test_no_string_is_asked_for_that_is_missing():
    for text in texts():
        for name in ASKED.findall(text):
            pattern = re.sub(r"\\\{.*?\\\}", ".+", re.escape(name))
            assert any(re.fullmatch(pattern, known) for known in EN), name


class Asked:
    """The strings that code may ask for: in whole, or by an f-string whose holes it can fill."""

    def __init__(self, code: str):
        self.words = set(re.findall(r"""["']([\w.-]+)["']""", code))
        self.words |= set(re.findall(r"\b(\w+)=", code))  # an argument names a control
        shapes = set(re.findall(r"""\bf["']([\w.{}]*\{[\w.{}]*)["']""", code))
        fitting = (re.sub(r"\\{.*?\\}", "(.+)", re.escape(shape)) for shape in shapes)
        self.shapes = [each + ".+" * each.endswith(".") for each in fitting]  # or by its start

    def __contains__(self, name: str) -> bool:
        if name in self.words or name.isdigit():
            return True
        found = (re.fullmatch(shape, name) for shape in self.shapes if "\\." in shape)
        return any(all(hole in self for hole in each.groups()) for each in found if each)


def test_each_string_is_asked_for():
    asked = Asked("\n".join(texts()))
    # A reader types an exercise's name; test_exercises.py knows which there are.
    assert not [name for name in EN if not name.startswith("hint.") and name not in asked]


def test_a_missing_string_is_one_sentence_that_says_where_to_add_it():
    with pytest.raises(ValueError, match=r"strings.en.toml has no string 'no.such': add it"):
        t("no.such")
