"""`start.py handout`: a students' set that starts, and pages that need nothing but themselves."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import handout
import pytest
from launch import NOTEBOOKS

PLOTLY = "application/vnd.plotly.v1+json"
TWO = [NOTEBOOKS / "00_start.ipynb", NOTEBOOKS / "04_trim.ipynb"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The set of a book with two chapters."""
    folder = tmp_path_factory.mktemp("class") / "handout"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handout, "chapters", lambda: TWO)
        assert handout.main([str(folder)]) == 0
    return folder


class Page(HTMLParser):
    """The tags of a page, each with its attributes."""

    def __init__(self, path):
        super().__init__()
        self.tags = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def pages(made):
    return [made / "index.html", *sorted((made / "pages").iterdir())]


def figures(chapter):
    """The outputs of a chapter that hold a figure."""
    for cell in json.loads(chapter.read_text("utf-8"))["cells"]:
        yield from (out for out in cell.get("outputs", []) if PLOTLY in out.get("data", {}))


def test_a_page_loads_nothing_from_anywhere(made):
    for path in pages(made):
        page = Page(path)
        assert not [*page.all("script"), *page.all("link"), *page.all("iframe")], path
        assert not re.findall(r"@import|url\((?!data:)", path.read_text("utf-8")), path
        for tag, attributes in page.tags:
            for name in ("src", "srcset", "poster", "data"):
                assert attributes.get(name, "data:").startswith("data:"), (path, tag)


def test_every_link_leads_to_a_page_of_the_set(made):
    for path in pages(made):
        for link in Page(path).all("a"):
            target = link["href"].partition("#")[0]
            assert not target or (path.parent / target).exists(), (path, target)


def test_the_index_leads_to_every_chapter_by_its_claim_and_its_minutes(made):
    index = (made / "index.html").read_text("utf-8")
    for chapter in TWO:
        assert f'href="pages/{chapter.stem}.html"' in index
    assert "max_turns trades memory for cost" in index and "(35 minutes)" in index


@pytest.mark.parametrize("chapter", TWO, ids=lambda path: path.stem)
def test_a_figure_is_a_picture_with_its_finding_as_text_and_its_numbers_under_it(made, chapter):
    page = made / "pages" / f"{chapter.stem}.html"
    alts = [image["alt"] for image in Page(page).all("img")]
    assert alts and alts == [out["metadata"]["image/png"]["alt"] for out in figures(chapter)]
    titles = ["".join(out["data"]["text/plain"]).splitlines()[0] for out in figures(chapter)]
    assert all(alt.startswith(f"{title}. ") for alt, title in zip(alts, titles, strict=True))
    text = page.read_text("utf-8")
    assert text.count("The numbers of this figure") == len(titles)
    last = "".join([*figures(chapter)][-1]["data"]["text/plain"]).splitlines()[-1]
    assert last in text


def test_a_page_is_named_by_its_claim_and_says_its_language(made):
    text = (made / "pages" / "04_trim.html").read_text("utf-8")
    assert '<html lang="en">' in text
    assert "<title>max_turns trades memory for cost" in text


def test_the_students_chapters_have_no_outputs_and_no_solutions_are_there(made):
    folder = made / "workbook" / "notebooks"
    assert sorted(path.name for path in folder.iterdir()) == [path.name for path in TWO]
    for path in folder.iterdir():
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert {(str(cell["outputs"]), cell["execution_count"]) for cell in code} == {("[]", None)}
    everything = [path.name for path in (made / "workbook").rglob("*")]
    assert not {"solutions.ipynb", "teaching.md", "tests", "__pycache__"} & set(everything)


def start(made, *words):
    command = [sys.executable, made / "workbook" / "start.py", *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


def test_the_students_set_starts_by_itself(made):
    said = start(made, "check")
    assert (said.returncode, said.stderr) == (1, "")
    assert "NOT READY: the packages are not installed" in said.stdout
    assert start(made, "reset", "04").returncode == 0
    assert (made / "workbook" / "my" / "04_trim.ipynb").exists()
    code = "import chat_memory, pathlib; print(pathlib.Path(chat_memory.__file__).parents[2])"
    own = os.environ | {"PYTHONPATH": str(made / "workbook" / "src")}
    found = subprocess.check_output([sys.executable, "-c", code], env=own, text=True)
    assert Path(found.strip()) == made / "workbook"


def test_making_it_again_keeps_what_a_student_made(made, monkeypatch):
    mine = made / "workbook" / "my" / "notes.txt"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    (made / "pages" / "99_gone.html").touch()
    monkeypatch.setattr(handout, "chapters", lambda: TWO)
    handout.make(made)
    assert mine.read_text() == "mine"
    assert not (made / "pages" / "99_gone.html").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path, capsys):
    (tmp_path / "index.html").write_text("mine")
    assert handout.main([str(tmp_path)]) == 1
    assert "holds other things" in capsys.readouterr().err
    assert (tmp_path / "index.html").read_text() == "mine"


def test_every_word_of_the_students_set_has_what_it_needs():
    """All that start.py and launch.py import from our tools goes along."""
    for name in ("start.py", "tools/launch.py", "tools/check.py", "tools/environment.py"):
        source = (handout.ROOT / name).read_text("utf-8")
        for found in re.findall(r"(?m)^(?:import|from) (\w+)", source):
            if (handout.ROOT / "tools" / f"{found}.py").exists():
                assert f"tools/{found}.py" in handout.FILES, (name, found)
