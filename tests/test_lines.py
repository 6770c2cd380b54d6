"""What stands on one line: first words, cut where they are too wide, and tables that line up."""

import pytest
from google.genai import types

from chat_memory.contents import user
from chat_memory.lines import columns, first_words, shortened
from chat_memory.tables import Right, Table


@pytest.mark.parametrize("text", ["", "a", "주문번호", "order 48213 주문", "a" * 99, "가" * 99])
@pytest.mark.parametrize("widest", [1, 2, 9, 10, 46])
def test_a_shortened_text_is_no_wider_than_it_may_be(text, widest):
    short = shortened(text, widest)
    assert columns(short) <= widest
    assert short == text or short.endswith("…")


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_a_content_that_says_nothing_is_called_data(text):
    assert first_words(user(text)) == "(data)"


def test_a_content_says_calls_and_answers():
    call = types.FunctionCall(name="look_up", args={"id": 7})
    answer = types.FunctionResponse(name="look_up", response={"status": "sent"})
    parts = [types.Part(function_response=answer), types.Part(function_call=call)]
    both = types.Content(role="user", parts=[*parts, types.Part(text="And now?")])
    assert first_words(both) == "And now? look_up(id=7) look_up: status=sent"


def test_columns_with_hangul_line_up():
    table = repr(Table(("누구", "n", "share"), [("주문번호", 1, Right("9%")), ("Kim", 22, None)]))
    assert {columns(line) for line in table.splitlines()} == {8 + 2 + 2 + 2 + 5}


def test_a_table_without_rows_is_its_heads():
    assert repr(Table(("turn", "prompt"), [], ["A note."])) == "turn  prompt\n\nA note."
