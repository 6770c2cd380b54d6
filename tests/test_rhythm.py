"""The rhythm of the chapters is counted as it is said, and stands beside that of other works."""

import rhythm
from launch import chapters


def prose(words):
    return {"cell_type": "markdown", "source": " ".join(["word"] * words)}


def code(lines):
    return {"cell_type": "code", "source": ["a = 1\n"] * lines}


def test_cells_words_lines_and_code_after_prose_are_counted():
    one = [prose(10), code(2), code(4), prose(30), code(6)]
    other = [prose(20), code(8), code(0)]
    assert rhythm.measure("both", [one, other]) == rhythm.Rhythm(
        "both", cells=3.5, words=(20, 30), lines=(5, 8), after_prose=3 / 4
    )


def test_a_code_cell_that_opens_a_notebook_follows_no_prose():
    assert rhythm.measure("it", [[prose(1)], [code(1)]]).after_prose == 0


def test_every_chapter_all_of_them_and_eight_other_works_have_a_row(capsys):
    assert rhythm.main() == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert [row.split("  ")[0] for row in rows] == [
        *(chapter.stem for chapter in chapters()),
        "all chapters",
        *(peer.name for peer in rhythm.PEERS),
    ]
    assert len(rhythm.PEERS) == 8
    assert {len(row) for row in rows} == {len(header)}
