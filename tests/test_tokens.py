"""T(text): the seams of words, the word table, the estimate and the vocabulary agree.

What needs the vocabulary is proven over all its pieces or on assembled texts, and skipped without
CHAT_MEMORY_TOKENIZER. What is billed per request is tested in test_billing.py.
"""

import json
import os
import re
import runpy
import statistics
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_gemini import estimate as estimating
from offline_gemini import tokens
from offline_gemini.estimate import estimate, runs
from offline_gemini.tokens import count, words

DATA = Path(__file__).parent / "data"
BUILDER = Path(__file__).parents[1] / "tools" / "build_token_counts.py"
NEEDS_VOCABULARY = "CHAT_MEMORY_TOKENIZER names no vocabulary to prove counts against"
# What texts are assembled of: above all what could close a seam between two words or two runs.
BITS = re.split(
    "[ \n]+",
    """\
My order 48213 arrived broken. don't I’ve Zürich ção e\u0301 nº 5ª 주문 번호가 네,
89,900원 10월 ㅋㅋㅋ ... … — !! ?! ## ** ``` | |---| != -> :: " ' “ ” ‘ & &amp; @ $5 €5 ₩
% _ __init__ \\ \\n { } [ ] ( ) , : ; {"id":5} f(x): a_b camelCase HTTPServer
https://a.b/c?d=e#f <b> </b> <div> </div </p> <p> <td> <h7> < > </ <start_of_turn>
<end_of_turn> <bos> <unused7> <escape> [multimodal] <start_of_image> 🙂 👨‍👩‍👧 ❤️ 日本語
です。 中文， Привет مرحبا न्। ² x² ½ ｱ \u2062 \u200b \u00a0 \u3000 \r \x00 \x1b[0m \x7f""",
)
BLANKS = [" ", "\n", "\t"]
TEXTS = st.lists(
    st.sampled_from(BITS)
    | st.builds(lambda blank, times: blank * times, st.sampled_from(BLANKS), st.integers(1, 70))
    | st.text(max_size=3)
).map("".join)


@pytest.fixture(scope="module")
def vocabulary():
    """The vocabulary, loaded apart from the code under test."""
    if not os.environ.get("CHAT_MEMORY_TOKENIZER"):
        pytest.skip(NEEDS_VOCABULARY)
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_file=os.environ["CHAT_MEMORY_TOKENIZER"])


@pytest.fixture
def table(monkeypatch, tmp_path):
    """Put a word table of one's own in place of the shipped one, and no vocabulary."""

    def put(rows: dict[str, int]) -> None:
        lines = [f"{json.dumps(word)}\t{tokens}\n" for word, tokens in rows.items()]
        path = tmp_path / "token_counts.tsv"
        path.write_text("".join(lines), encoding="utf-8")
        monkeypatch.setattr(tokens, "TABLE", path)
        forget()

    def forget() -> None:
        tokens._table.cache_clear()
        tokens._count.cache_clear()
        tokens._word.cache_clear()

    monkeypatch.delenv("CHAT_MEMORY_TOKENIZER", raising=False)
    yield put
    monkeypatch.undo()
    forget()


# The seams


def test_no_piece_of_the_vocabulary_crosses_a_seam(vocabulary):
    for piece in pieces(vocabulary):
        assert words(piece) == [piece]
        assert runs(piece) == [piece]


def test_the_vocabulary_has_no_longer_run_of_blanks_than_31(vocabulary):
    blank = [piece for piece in pieces(vocabulary) if not piece.strip(" \n\t")]
    assert max(map(len, blank)) == 31


def pieces(vocabulary) -> list[str]:
    """The pieces that a text can be cut into, bytes aside, as they stand in a text."""
    ids = range(vocabulary.get_piece_size())
    return [
        vocabulary.id_to_piece(each).replace("\u2581", " ")
        for each in ids
        if not vocabulary.is_control(each) and not vocabulary.is_byte(each)
    ]


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_a_count_is_the_sum_over_words_and_over_runs(vocabulary, text):
    text = text.encode("utf-8", "replace").decode()
    cut = words(text)
    assert "".join(cut) == text.replace("\u2581", " ")
    assert all("".join(runs(word)) == word for word in cut)
    whole = len(vocabulary.encode(text))
    assert sum(len(vocabulary.encode(word)) for word in cut) == whole
    assert sum(len(vocabulary.encode(run)) for word in cut for run in runs(word)) == whole


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", []),
        ("a  b c", ["a", "  ", "b", " c"]),
        ("\n\n\tx\r\n", ["\n\n", "\t", "x\r", "\n"]),
        (" " * 32 + "x", [" " * 31, " x"]),
        ("<p>a </p> </p>", ["<p>a", " </p> </p>"]),
        ("a\u2581b", ["a", " b"]),
    ],
)
def test_words_are_cut_where_the_vocabulary_cuts(text, cut):
    assert words(text) == cut


def test_special_tokens_count_as_the_vocabulary_counts_them(vocabulary):
    """HTML tags are pieces; control tokens in a text are ordinary characters."""
    texts = ["<b>", "</td>", "[multimodal]", "<start_of_image>", "<start_of_turn>", "<escape>"]
    assert [count(text).tokens for text in texts] == [1, 1, 1, 1, 7, 3]
    assert [len(runs(text)) for text in texts] == [1, 1, 1, 1, 7, 3]


# The table


def test_every_row_of_the_table_is_the_vocabulary_s_count(vocabulary):
    wrong = {
        word: (tokens_, len(vocabulary.encode(word)))
        for word, tokens_ in tokens._table().items()
        if tokens_ != len(vocabulary.encode(word))
    }
    assert not wrong
    assert len(tokens._table()) > 1000


def test_the_table_covers_every_word_of_the_conversations():
    missing = runpy.run_path(str(BUILDER))["words_of_data"]() - tokens._table().keys()
    assert not missing, "run tools/build_token_counts.py --quick with the vocabulary"


def test_the_builder_writes_and_checks_the_same_table(vocabulary, table, capsys):
    build = runpy.run_path(str(BUILDER))
    made = build["table_of"]({"Order:5", "x\u2028", "\t"})
    assert made == {"\t": 1, "Order": 1, "Order:5": 3, "x": 1} | made
    table(made)
    assert tokens._table() == made
    assert build["check"](made, made) == 0
    assert build["check"](made | {"new": 1}, made | {"Order": 9}) == 1
    assert 'missing: "new"\nwrong: "Order"\n1 missing, 1 wrong' in capsys.readouterr().out


def test_the_table_is_sorted_utf_8_with_one_line_end():
    raw = tokens.TABLE.read_bytes()
    assert raw.endswith(b"\n")
    assert b"\r" not in raw
    rows = [line.split("\t") for line in raw.decode("utf-8").rstrip("\n").split("\n")]
    keys = [json.loads(word) for word, _ in rows]
    assert keys == sorted(set(keys))


def test_a_word_in_the_table_is_not_estimated(table):
    table({" order": 7})
    assert count(" order order") == (14, False)


def test_an_unknown_word_is_looked_up_run_by_run(table):
    table({" order": 7, ",": 5, "1": 1})
    assert count(" order,1") == (13, False)
    assert count(" order;1") == (9, True)


def test_fractions_are_added_before_they_are_rounded(table):
    table({})
    assert round(estimate(" 나라")) == 2
    assert count(" 나라" * 10).tokens == round(10 * estimate(" 나라")) == 16


def test_the_builder_finds_the_words_of_every_position_of_a_figure(vocabulary, tmp_path):
    cells = [
        "import plotly.graph_objects as go",
        "from chat_memory.charts import Live\nfrom offline_gemini import count",
        "def play(turns, short): return count(f'zyx{turns} {short}')",
        "Live(play, lambda counted: go.Figure(), turns=(1, 3, 2), short=False)",
        "count('heard')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbformat.write(notebook, tmp_path / "figure.ipynb")
    words_of_notebook = runpy.run_path(str(BUILDER))["words_of_notebook"]
    found = words_of_notebook(tmp_path / "figure.ipynb", "en")
    assert found == {"zyx1", "zyx2", "zyx3", " True", " False", "heard"}


def test_the_builder_says_which_notebook_fails(vocabulary, tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, tmp_path / "broken.ipynb")
    with pytest.raises(SystemExit, match="broken.ipynb fails in the language en"):
        runpy.run_path(str(BUILDER))["words_of_notebook"](tmp_path / "broken.ipynb", "en")


# The estimate


@pytest.mark.parametrize(("language", "aim"), [("English", 5), ("Korean", 10)])
def test_the_estimate_errs_as_the_docstrings_say(vocabulary, language, aim):
    texts = (DATA / f"estimate.{language[:2].lower()}.txt").read_text("utf-8").splitlines()
    errors = []
    for text in texts:
        guess = round(sum(map(estimate, words(text))))
        true = len(vocabulary.encode(text))
        errors.append(100 * (guess - true) / true)
    mean, signed = statistics.mean(map(abs, errors)), statistics.mean(errors)
    size = sum(len(text.split()) for text in texts)
    said = f"{language} {mean:.1f} % (signed {signed:+.1f} %) over {size} words"
    assert said in " ".join(estimating.estimate.__doc__.split())
    assert f"{language} {mean:.1f} %" in tokens.__doc__
    assert mean < aim
    assert size >= 2000


@given(st.text(min_size=1))
def test_every_word_costs_something(text):
    assert all(estimate(run) > 0 for word in words(text) for run in runs(word))


@pytest.mark.parametrize("text", ["48213", " 5", "<td>", "\n\n", "  "])
def test_digits_tags_and_blanks_are_exact(vocabulary, text):
    assert estimate(text) == len(vocabulary.encode(text))


# The vocabulary


@pytest.mark.parametrize("kind", ["missing", "a folder", "empty", "a text"])
def test_a_vocabulary_that_cannot_be_read_is_one_sentence(kind, tmp_path, monkeypatch):
    path = tmp_path / kind
    if kind == "a folder":
        path.mkdir()
    elif kind != "missing":
        path.write_text("" if kind == "empty" else "no vocabulary")
    monkeypatch.setenv("CHAT_MEMORY_TOKENIZER", str(path))
    with pytest.raises(ValueError, match="no readable SentencePiece file") as caught:
        count("a text")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_half_an_emoji_is_counted_and_raises_nothing(vocabulary):
    assert count("\ud83d hello").tokens == count("? hello").tokens


def test_the_words_of_a_text_are_logged_on_request(vocabulary, tmp_path, monkeypatch):
    log = tmp_path / "words"
    monkeypatch.setenv("CHAT_MEMORY_WORD_LOG", str(log))
    count("zyxwv\n\u2028 unheard-of")
    logged = [json.loads(line) for line in log.read_text(encoding="utf-8").split("\n") if line]
    assert [word for word in logged if word != "\n"] == ["zyxwv", "\u2028", " unheard-of"]
