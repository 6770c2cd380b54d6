"""The teacher's guide agrees with the chapters it speaks of.

A teacher reads notebooks/teaching.md the evening before and has no time to check it. So what can
be compared is compared: every part has its pieces, minutes and plans are those of the notebooks'
metadata, numbers stand in the chapter, sections, sliders and commands exist.
"""

import re
from pathlib import Path

import launch
import nbformat
import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "notebooks" / "teaching.md").read_text(encoding="utf-8")
CHAPTERS = {path.stem: path for path in launch.chapters()}
WITHOUT_PREDICTION = {"00_start", "11_dialects", "12_live"}
PIECES = [
    *("The one insight.", "Minutes.", "On the board.", "One number.", "Questions to ask aloud."),
    *("Common wrong answers.", "Exit ticket.", "Homework."),
]
POSITIONS = r"`(\w+)` at (\d+(?:,? (?:and |and then )?at \d+)*)"  # where the guide moves a slider
RANGE = r"\b{0}=\((\w+), (\w+)"  # of a control, as a chapter writes it: max_turns=(1, TURNS, 6)


def every(names):
    return pytest.mark.parametrize("name", names)


def part(name):
    """What the guide says under the heading that begins so, up to the next one."""
    found = re.search(rf"(?ms)^## {re.escape(name)}\b(.*?)(?=^## |\Z)", GUIDE)
    return found[1] if found else ""


def pieces(name):
    """The pieces of a part by their bold name."""
    found = re.split(r"(?m)^\*\*(.+?)\*\*", part(name))
    return dict(zip(found[1::2], found[2::2], strict=True))


def cells(name):
    return nbformat.read(CHAPTERS[name], as_version=4).cells


def sections(name):
    """The minutes of each section of a chapter, by its title."""
    found = {}
    for cell in cells(name):
        titles = re.findall(r"(?m)^## (.+)", cell.source) if cell.cell_type == "markdown" else []
        if titles:
            found[titles[-1]] = cell.metadata["minutes"]
    return found


def talk(name):
    """The minutes of a chapter, exercises aside."""
    return sum(minutes for title, minutes in sections(name).items() if title != "Exercises")


def minutes_table(name):
    """The table of minutes as it stands in the guide."""
    rows = [f"| {title} | {minutes} |" for title, minutes in sections(name).items()]
    rows += [f"| in all, exercises aside | {talk(name)} |"]
    return "\n".join(["| section | minutes |", "|---|---|", *rows])


def everything(name):
    """All that a chapter holds and shows, as text."""
    texts = []
    for cell in cells(name):
        texts.append(cell.source)
        for output in cell.get("outputs", []):
            texts += [output.get("text", ""), output.get("evalue", "")]
            texts.append(str(output.get("data", {}).get("text/plain", "")))
    return "\n".join(texts)


def figures(text):
    """The numbers of a text that have three digits or more, or a decimal point."""
    found = re.findall(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?!\w|\.\d)", text.replace("_", ""))
    plain = {number.replace(",", "") for number in found}
    return {number for number in plain if "." in number or int(number) >= 100}


def italics(text):
    """What stands in italics: titles of sections, and the words of menus."""
    return re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", text)


def rows(text):
    """The cells of each row of the tables in a text, heads and rules left out."""
    lines = re.findall(r"(?m)^\| (.+) \|$", text)
    found = [re.split(r" ?\| ", f"{line} ") for line in lines if not line.startswith("---")]
    return [[cell.strip() for cell in row] for row in found]


def plans():
    """The plans of the guide: title, and the rows without the head."""
    found = re.split(r"(?m)^### (.+)$", part("Three plans"))[1:]
    return [(title, rows(text)[1:]) for title, text in zip(found[::2], found[1::2], strict=True)]


@every(CHAPTERS)
def test_a_chapter_has_its_part_with_all_pieces_in_order(name):
    assert [piece for piece in pieces(name) if piece in PIECES] == PIECES
    assert all(text.strip() for text in pieces(name).values())


def test_the_parts_stand_in_the_order_of_the_chapters():
    titles = re.findall(r"(?m)^## (\d\d_\w+)", GUIDE)
    assert titles == list(CHAPTERS)


@every(CHAPTERS)
def test_a_part_has_the_title_of_its_chapter(name):
    title = cells(name)[0].source.splitlines()[0].removeprefix("# ").replace("`", "")
    assert part(name).splitlines()[0] == f": {title}"


@every(CHAPTERS)
def test_the_minutes_are_those_of_the_notebook(name):
    assert minutes_table(name) in pieces(name)["Minutes."], "\n" + minutes_table(name)


@every([name for name in CHAPTERS if name != "00_start"])
def test_what_is_left_out_are_sections_of_about_ten_minutes(name):
    line = re.search(r"(?m)^With ten minutes less, leave out (.+)$", pieces(name)["Minutes."])
    left_out = sum(sections(name)[title] for title in italics(line[1]))
    assert 8 <= left_out <= 12
    assert "Exercises" not in italics(line[1])


@every(CHAPTERS)
def test_the_board_gets_one_small_drawing_of_its_own(name):
    drawings = re.findall(r"(?s)```text\n(.*?)```", part(name))
    assert len(drawings) == 1
    lines = drawings[0].splitlines()
    assert len(lines) <= 10 and max(map(len, lines)) <= 72 and drawings[0].isascii()
    assert GUIDE.count(drawings[0]) == 1


@every(CHAPTERS)
def test_questions_and_wrong_answers_come_with_what_one_hopes_for_and_shows(name):
    asked, wrong = (rows(pieces(name)[piece])[1:] for piece in PIECES[4:6])
    assert 3 <= len(asked) <= 4
    assert len(wrong) >= 3
    assert all(len(row) == 2 and all(row) for row in asked + wrong)


@every(sorted(set(CHAPTERS) - WITHOUT_PREDICTION))
def test_a_wrong_answer_is_the_one_under_the_veil(name):
    """The first choice of a prediction is the common error, so the guide meets it."""
    assert re.search(r"\(the first (?:two )?choices?\)", pieces(name)["Common wrong answers."])


@every(CHAPTERS)
def test_an_exit_ticket_has_its_answer_and_homework_goes_beyond(name):
    assert re.search(r"(?m)^Answer: \w", pieces(name)["Exit ticket."])
    assert re.search(r"(?m)^Beyond: \w", pieces(name)["Homework."])
    assert re.search(r"(?i)\bexercises? \d|\bexercise is\b", pieces(name)["Homework."])


@every(CHAPTERS)
def test_exercises_that_the_guide_names_exist(name):
    numbered = re.findall(r"(?m)^\*\*(\d)\. ", everything(name))
    for named in re.findall(r"(?i)\bexercises? ((?:\d|, | and )+)", part(name)):
        assert set(re.findall(r"\d", named)) <= set(numbered), named


@every(CHAPTERS)
def test_large_numbers_stand_in_the_chapter(name):
    """Positions of a slider aside, which have a test of their own."""
    assert figures(re.sub(POSITIONS, "", part(name))) <= figures(everything(name))


def test_the_numbers_of_the_live_demonstration_stand_in_its_chapter():
    assert figures(part("The live demonstration")) <= figures(everything("12_live"))


def test_a_number_that_no_output_shows_is_seen():
    assert figures("It costs 1,227 tokens, 0.5 dollars, and 12 calls.") == {"1227", "0.5"}
    assert not figures("gemini-3.6-flash, v1-2, 04_trim, 99") - {"3.6"}


@every(CHAPTERS)
def test_what_stands_in_italics_is_a_section_or_a_control(name):
    controls = {"send only the newest message", "lost"}
    assert set(italics(part(name))) <= {*sections(name), *controls}


@every(CHAPTERS)
def test_a_slider_can_stand_where_the_guide_puts_it(name):
    source = everything(name)
    for control, positions in re.findall(POSITIONS, part(name)):
        found = re.search(RANGE.format(control), source)
        assert found, control
        first, last = (bound(source, end) for end in found.groups())
        assert all(first <= int(n) <= last for n in re.findall(r"\d+", positions)), control


def bound(source, end):
    """An end of a slider: a number, or a name that the chapter gives one."""
    return int(end) if end.isdecimal() else int(re.search(rf"(?m)^{end} = (\d+)$", source)[1])


def taken(name, what):
    """The minutes of a plan's row, from the chapter's metadata."""
    known, titles = sections(name), italics(what)
    chosen = sum(known[title] for title in titles)
    if what == "all":
        return talk(name)
    if what == "all, and exercises":
        return talk(name) + known["Exercises"]
    return {"only": chosen, "without": talk(name) - chosen}[what.split()[0]]


@pytest.mark.parametrize(("title", "plan"), plans(), ids=[title for title, _ in plans()])
def test_the_minutes_of_a_plan_add_up(title, plan):
    blocks, sums = [0], []
    for first, what, minutes in plan:
        if first.startswith("**Week") or first == "together":
            sums.append(int(minutes.strip("*")))
            blocks.append(0)
        else:
            assert first not in CHAPTERS or taken(first, what) == int(minutes), first
            blocks[-1] += int(minutes)
    if title == "6 weeks":
        assert blocks[1:] == sums and len(sums) == 6 and max(sums) <= 90
    else:
        assert [blocks[0]] == sums == [{"50 minutes": 50, "3 hours": 180}[title]]


def test_there_are_three_plans_and_the_longest_takes_every_chapter():
    assert [title for title, _ in plans()] == ["50 minutes", "3 hours", "6 weeks"]
    assert [row[0] for row in plans()[2][1] if row[0] in CHAPTERS] == list(CHAPTERS)


def test_an_exit_ticket_that_a_plan_names_is_one_of_the_guide():
    named = [row[1] for _, plan in plans() for row in plan if row[0] == "exit ticket"]
    assert named and all(what.removeprefix("of ") in CHAPTERS for what in named)


def test_the_commands_it_names_are_words_of_start_py():
    named = re.findall(r"start\.py(?: ([a-z]\w*|--\w+))?", GUIDE)
    words = {word for word in named if word and not word.startswith("-")}
    assert {"check", "wheels", "handout", "grade", "chat", "reset"} <= words
    for word in words:
        assert launch.parse([word])[0].__name__ == word
    help_text = (ROOT / "start.py").read_text(encoding="utf-8").partition('"""\n')[0]
    assert {word for word in named if word.startswith("--")} <= {"--wheels", "--port"}
    assert "--wheels" in help_text


def test_a_word_that_start_py_lacks_is_seen():
    with pytest.raises(launch.Misused):
        launch.parse(["wheel"])


@pytest.mark.parametrize("variable", sorted(set(re.findall(r"CHAT_MEMORY_\w+", GUIDE))))
def test_a_variable_it_names_is_read_somewhere(variable):
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    assert any(f'"{variable}"' in text for text in code)


def test_a_line_of_prose_is_one_sentence_and_calm():
    for line in GUIDE.splitlines():
        if line[:1].isalpha():
            assert not re.search(r"[a-z\"*`)][.?!] (?=[A-Z`*])", line), line
    assert not re.findall(r"(?i)\b(?:simply|just)\b|TODO", GUIDE)
    assert not re.findall("[\U0001f000-\U0001faff\u2600-\u27bf]", GUIDE)
