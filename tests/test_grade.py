"""nbgrader: a chapter and its solutions become an assignment, and hand-ins get what they deserve.

One chapter goes through all of nbgrader here; that a solution needs nothing which its chapter
lacks is asked of every chapter, since the same code is what a right hand-in holds.
"""

import ast
import builtins
import csv
import json
import os

import grade
import pytest
from environment import Trouble

CHAPTER = "02_clear"  # the quickest with three exercises


def written(path):
    """The cells of a notebook by id, each source as one text."""
    return {cell["id"]: "".join(cell["source"]) for cell in grade.load(path)["cells"]}


def assignment(name):
    return next(path for path in grade.assignments() if path.stem == name)


def names(source, kind):
    """The names that code reads (ast.Load) or sets (ast.Store), imports and definitions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, kind):
            yield node.id
        elif kind is ast.Store and isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.alias)):
            yield getattr(node, "asname", None) or node.name.partition(".")[0]
        elif kind is ast.Store and isinstance(node, ast.arg):
            yield node.arg


@pytest.mark.parametrize("chapter", grade.assignments(), ids=lambda path: path.stem)
def test_a_solution_needs_nothing_that_its_chapter_lacks(chapter):
    code = [cell for cell in grade.load(chapter)["cells"] if cell["cell_type"] == "code"]
    known = {name for cell in code for name in names("".join(cell["source"]), ast.Store)}
    for cell in filter(grade.is_stub, code):
        solution = written(grade.solutions())[f"sol-{cell['id']}"]
        own = set(names(solution, ast.Store))
        assert set(names(solution, ast.Load)) <= known | own | set(dir(builtins)), cell["id"]


@pytest.mark.parametrize("chapter", grade.assignments(), ids=lambda path: path.stem)
def test_the_source_is_the_chapter_with_its_solutions_and_without_outputs(chapter):
    before, after = grade.load(chapter), grade.solved(chapter)
    assert any("### BEGIN SOLUTION" in "".join(cell["source"]) for cell in after["cells"])
    for old, new in zip(before["cells"], after["cells"], strict=True):
        stub = "".join(old["source"])
        if grade.is_stub(old):
            assert new["source"].startswith(f"{stub}\n### BEGIN SOLUTION\n")
            assert new["source"].endswith("\n### END SOLUTION")
        else:
            assert "".join(new["source"]) == stub
        assert not new.get("outputs")


def test_a_stub_without_a_solution_is_named(monkeypatch, tmp_path):
    empty = tmp_path / "solutions.ipynb"
    empty.write_text(json.dumps({"cells": []}))
    monkeypatch.setattr(grade, "solutions", lambda: empty)
    with pytest.raises(Trouble, match="no cell sol-clr-ex1: add the solution of 02_clear.ipynb"):
        grade.solved(assignment(CHAPTER))


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(Trouble, match="holds other things"):
        grade.check_folder(tmp_path, [])


def test_words_need_a_course_and_a_course_needs_words(tmp_path):
    with pytest.raises(Trouble, match="is no course: make one with"):
        grade.check_folder(tmp_path, ["autograde", CHAPTER])
    (tmp_path / grade.SETTINGS).touch()
    grade.check_folder(tmp_path, ["autograde", CHAPTER])
    with pytest.raises(Trouble, match="is a course already"):
        grade.check_folder(tmp_path, [])


needs_nbgrader = pytest.mark.skipif(
    not grade.STAMP.exists(), reason="`python3 start.py grade` fetches nbgrader."
)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with one assignment, and what three students have handed in, graded."""
    folder = tmp_path_factory.mktemp("course")
    chapter = assignment(CHAPTER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade, "assignments", lambda: [chapter])
        assert grade.make(folder) == 0
    stubs = grade.without_outputs(grade.load(chapter))
    for name, answers in {"empty": {}, "right": solved(stubs), "one wrong": wrong(stubs)}.items():
        cells = [
            {**cell, "source": answers.get(cell["id"], cell["source"])} for cell in stubs["cells"]
        ]
        path = folder / "submitted" / name / CHAPTER / chapter.name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**stubs, "cells": cells}), encoding="utf-8")
    for words in (["autograde", CHAPTER], ["export"]):
        graded = grade.nbgrader(folder, words, capture_output=True)
        assert graded.returncode == 0, graded.stderr
    return folder


def solved(stubs):
    """The code of solutions.ipynb for each stub."""
    known = written(grade.solutions())
    return {
        cell["id"]: known["sol-" + cell["id"]] for cell in stubs["cells"] if grade.is_stub(cell)
    }


def wrong(stubs):
    """The same, but for one answer that runs and is wrong."""
    return {**solved(stubs), "clr-ex1": "def survives(n, given, needed):\n    return True"}


@needs_nbgrader
def test_the_release_is_the_chapter(course):
    released = written(course / "release" / CHAPTER / f"{CHAPTER}.ipynb")
    chapter = written(assignment(CHAPTER))
    assert {name: text.rstrip() for name, text in released.items()} == chapter


@needs_nbgrader
def test_right_answers_get_all_points_and_stubs_none_and_a_wrong_one_loses_its_own(course):
    with (course / "grades.csv").open(newline="") as file:
        marks = {
            row["student_id"]: (row["score"], row["max_score"]) for row in csv.DictReader(file)
        }
    assert marks == {"right": ("3.0", "3.0"), "empty": ("0.0", "3.0"), "one wrong": ("2.0", "3.0")}


@needs_nbgrader
def test_a_student_finds_the_sentence_of_the_check_in_the_graded_chapter(course):
    graded = course / "autograded" / "one wrong" / CHAPTER / f"{CHAPTER}.ipynb"
    outputs = {cell["id"]: cell.get("outputs") for cell in grade.load(graded)["cells"]}
    assert "".join(outputs["clr-ex2-check"][0]["text"]).startswith("Right: ")
    assert outputs["clr-ex1-check"][0]["ename"] == "NotRight"
    assert outputs["clr-ex1-check"][0]["evalue"].startswith("Input ")


@needs_nbgrader
def test_nbgrader_sees_no_key(course, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    said = []
    monkeypatch.setattr(grade.subprocess, "run", lambda *_, env, **__: said.append(env))
    grade.nbgrader(course, ["--version"])
    assert "secret" not in said[0].values()
    assert said[0]["PATH"].split(os.pathsep)[0] == str(grade.GRADING / "bin")
