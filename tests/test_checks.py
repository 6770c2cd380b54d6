"""`compare` tells a reader the one thing to look at, and never stops the notebook."""

from collections import Counter
from threading import Lock
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.lib.pretty import pretty

from chat_memory import hints
from chat_memory.checks import Check, NotRight, compare, my_numbers
from chat_memory.contents import user
from chat_memory.strategies import LastTurns
from chat_memory.strings import t


def twice(n):
    return 2 * n


def test_a_right_function_agrees_on_all_cases():
    check = compare(lambda n: n + n, twice, [1, 2, 3])
    assert check.passed and check
    assert check.message == "Right: all 3 cases agree."


def test_of_one_case_the_sentence_speaks_of_one():
    assert compare(twice, twice, [1]).message == "Right: the case agrees."


def test_a_wrong_function_hears_input_own_answer_and_expected_one():
    check = compare(lambda n: n * n, twice, [2, 3])
    assert not check
    assert check.message == "Input n = 3: yours gives 9, expected 6."


def test_a_tuple_is_several_arguments_and_a_list_is_one():
    assert compare(lambda a, b: a + b, lambda a, b: b + a, [(1, 2), (203, 22)])
    assert compare(len, lambda items: len(items), [[1, 2]])
    check = compare(lambda a, b: a, lambda a, b: b, [(203, 22)])
    assert check.message == "Input a = 203, b = 22: yours gives 203, expected 22."


@pytest.mark.parametrize(
    ("mine", "shown"),
    [
        (lambda prompt, new=0: 0, "prompt = 3"),
        (lambda *numbers: 0, "3"),
        (lambda: 0, "3"),
        (abs, "x = 3"),
        (min, "3"),
    ],
)
def test_arguments_are_named_as_the_reader_named_them_where_he_did(mine, shown):
    assert compare(mine, lambda n: -1, [3]).message.startswith(f"Input {shown}: ")


def test_a_cell_shows_the_sentence():
    check = compare(3, 4)
    assert pretty(check) == repr(check) == check.message


@pytest.mark.parametrize(
    "stub",
    [
        ...,
        lambda n: ...,
        lambda n: {"list": [...]},
        lambda n: len(...),
    ],
)
def test_three_dots_are_recognised(stub):
    check = compare(stub, twice, [1])
    assert not check
    assert check.message.startswith("Still three dots")


@pytest.mark.parametrize(
    ("mine", "words"),
    [
        (lambda n: 1 / 0, "stops with ZeroDivisionError: division by zero"),
        (lambda n: exit("bye"), "stops with SystemExit"),
        (lambda: 1, "stops with TypeError"),
        (lambda n: (_ for _ in ()).throw(KeyboardInterrupt), "stops with KeyboardInterrupt"),
        (lambda n: mine_again(n), "stops with RecursionError"),
        (lambda n: None, "is there a `return`?"),
        (7, "7"),
        (None, "None"),
    ],
)
def test_what_is_not_a_working_function_is_said_and_not_raised(mine, words):
    check = compare(mine, twice, [1])
    assert not check
    assert words in check.message


def mine_again(n):
    return mine_again(n)


def test_a_value_that_cannot_be_compared_or_shown_is_not_raised():
    class Rude:
        def __eq__(self, other):
            raise ValueError

        __hash__ = None

        def __repr__(self):
            raise ValueError

    assert compare(lambda n: Rude(), twice, [1]).message == (
        "Input n = 1: yours gives <Rude>, expected the number 2."
    )


@pytest.mark.parametrize("cases", [[], 3, iter(())])
def test_a_check_without_cases_is_not_passed(cases):
    assert not compare(twice, twice, cases)


def test_cases_may_come_from_a_generator():
    assert compare(twice, twice, (n for n in (1, 2))).message == "Right: all 2 cases agree."


def test_changing_what_was_given_is_noticed():
    def mine(items):
        items.append(1)
        return items

    check = compare(mine, lambda items: [*items, 1], [[1, 2]])
    assert not check
    assert "changes what it was given" in check.message


def test_each_side_gets_its_own_copy_and_the_case_stays():
    case = [3, 1, 2]

    def mine(items):
        items.sort()
        return items[0]

    def reference(items):
        assert items == [3, 1, 2]
        items.sort()
        return items[0]

    assert compare(mine, reference, [case])
    assert case == [3, 1, 2]


def test_a_change_that_is_asked_for_must_be_made():
    def clear(items):
        items.clear()

    assert compare(clear, clear, [[1, 2]])
    assert "has to change too" in compare(lambda items: None, clear, [[1, 2]]).message


def test_arguments_that_equal_only_themselves_are_no_false_alarm():
    assert compare(lambda thing: 1, lambda thing: 1, [object()])
    locked = SimpleNamespace(lock=Lock())
    assert compare(lambda thing, n: n, lambda thing, n: n, [(locked, 1)])


def test_a_list_beside_what_cannot_be_copied_is_still_protected():
    case = (Lock(), [5])
    check = compare(lambda lock, items: items.pop(), lambda lock, items: items[-1], [case])
    assert "changes what it was given" in check.message
    assert case[1] == [5]


def test_a_reference_that_refuses_asks_for_the_same_refusal():
    def refuse(n):
        if n < 1:
            raise ValueError("n must be at least 1")
        return n

    def same_kind(n):
        if n < 1:
            raise ValueError("no")
        return n

    assert compare(same_kind, refuse, [1, 0])
    assert compare(lambda n: n, refuse, [1, 0]).message == (
        "Input n = 0: yours gives 0, expected ValueError; is there a `raise`?"
    )
    message = compare(lambda n: n[0], refuse, [0]).message
    assert message.startswith("Input n = 0: yours stops with TypeError: ")
    assert message.endswith(", expected ValueError.")


def test_a_finer_error_than_the_one_asked_for_is_a_refusal_too():
    def refuse(n):
        raise ValueError

    assert compare(lambda n: bytes([n]).decode("ascii"), refuse, [200])


@pytest.mark.parametrize(
    ("mine", "right", "message"),
    [
        (4, 4, "Right: 4."),
        (4.0, 4, "Right: 4.0."),
        (0.1 + 0.2, 0.3, "Right: 0.30000000000000004."),
        (float("nan"), float("nan"), "Right: nan."),
        (3, 4, "Not yet: 3 is too small."),
        (4.5, 4, "Not yet: 4.5 is too large."),
        ("4", 4, "Not yet: '4' is no number: write one, without quotes or brackets."),
        ([4], 4, "Not yet: [4] is no number: write one, without quotes or brackets."),
        ("4", "5", "Not yet: '4' is not the answer."),
        ({5}, {5, 6}, "Not yet: {5} is not the answer."),
        (True, False, "Not yet: True is not the answer."),
        (None, 4, "Not yet: None is not the answer."),
    ],
)
def test_a_value_is_judged_and_the_right_one_is_not_told(mine, right, message):
    assert compare(mine, right).message == message


def test_a_function_in_place_of_its_value_is_said():
    assert "call it" in compare(twice, 4).message


@pytest.mark.parametrize("mine", [..., 5, None, lambda n: ..., lambda n: n, lambda n: 1 / 0])
@pytest.mark.parametrize("how", ["autograde", "validate"])
def test_while_nbgrader_runs_what_is_not_right_raises_its_sentence(monkeypatch, mine, how):
    reference = twice if callable(mine) else 4
    said = compare(mine, reference, [1]).message
    monkeypatch.setenv("NBGRADER_EXECUTION", how)
    with pytest.raises(NotRight) as raised:
        compare(mine, reference, [1])
    assert str(raised.value) == said


def test_while_nbgrader_runs_what_is_right_is_printed_and_no_value_that_it_takes_for_marks(
    monkeypatch, capsys
):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert compare(twice, twice, [1]) is None
    assert capsys.readouterr().out == "Right: the case agrees.\n"


def small(value):
    """A check's rule: the reader's `value` has to be a list of texts, and short."""

    def rule(n):
        texts = compare.answer(value, "texts")
        return "" if len(texts) <= n else f"{len(texts)} texts are too many."

    return rule


def test_a_rule_says_in_words_what_is_wrong_with_an_answer():
    assert compare(small(["a"]), "", [1, 2]).message == "Right: all 2 cases agree."
    assert compare(small(["a", "b"]), "", [2, 1]).message == "Input n = 1: 2 texts are too many."


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "Input n = 1: yours gives None, expected a list of texts; is there a `return`?"),
        ("a", "Input n = 1: yours gives the text 'a', expected a list of texts."),
        ([7], "Input n = 1: yours gives the list [7], expected a list of texts."),
        (..., "Still three dots: write your answer in their place, then run this cell again."),
        ([...], "Still three dots: write your answer in their place, then run this cell again."),
    ],
)
def test_an_answer_that_a_rule_cannot_look_into_is_told(value, message):
    assert compare(small(value), "", [1]).message == message


@pytest.mark.parametrize(
    ("wanted", "fit", "unfit"),
    [
        ("list", [1], (1,)),
        ("texts", ("a",), {"a"}),
        ("messages", [user("Hello.")], [{"role": "user"}]),
        ("messages", LastTurns(1)([user("Hello.")]), user("Hello.")),
        ("strategy", LastTurns(1), LastTurns),
        ("strategy", lambda transcript: transcript, "LastTurns"),
    ],
)
def test_a_rule_names_the_kind_of_answer_that_it_wants(wanted, fit, unfit):
    assert compare(lambda: compare.answer(fit, wanted) and "", "", [()])
    assert (
        t(f"wanted.{wanted}") in compare(lambda: compare.answer(unfit, wanted), "", [()]).message
    )


def test_what_a_rule_stops_with_is_told_without_anything_expected():
    assert compare(lambda n: 1 / n, "", [0]).message == (
        "Input n = 0: yours stops with ZeroDivisionError: division by zero."
    )


def test_a_rule_notices_a_change_of_what_was_given():
    def rule(items):
        items.clear()
        return ""

    assert "changes what it was given" in compare(rule, "", [[1, 2]]).message


def test_from_the_second_failed_try_on_the_next_hint_is_named(monkeypatch):
    monkeypatch.setattr(hints, "failed", Counter())
    monkeypatch.setattr(hints, "asked", Counter())

    def told(mine):
        return compare(mine, twice, [1], hints="cost-ex2").message

    plain = "Input n = 1: yours gives 1, expected 2."
    assert "hint" not in told(...) and "hint" not in told(lambda n: ...)
    assert told(lambda n: n) == plain
    assert told(lambda n: n) == f'{plain} A hint: compare.hint("cost-ex2").'
    assert told(twice) == "Right: the case agrees."
    compare.hint("cost-ex2")
    assert told(lambda n: n) == f'{plain} A hint: compare.hint("cost-ex2", 2).'
    compare.hint("cost-ex2", 3)
    assert told(lambda n: n) == plain
    assert compare(lambda n: n, twice, [1], hints="cost-ex1").message == plain


def test_without_an_exercise_no_hint_is_named():
    assert {compare(lambda n: n, twice, [1]).message for _ in range(3)} == {
        "Input n = 1: yours gives 1, expected 2."
    }


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(mine=values, expected=values)
def test_any_two_answers_give_a_check_in_one_line(mine, expected):
    check = compare(lambda: mine, lambda: expected)
    assert isinstance(check, Check)
    assert "\n" not in check.message
    assert compare(lambda: expected, lambda: expected).passed


@given(st.text(min_size=1), st.integers(1, 20), st.integers(-50, 50), st.integers(0, 50))
def test_my_numbers_lie_in_their_range_and_come_again(name, count, low, width):
    numbers = my_numbers(name, count, low, low + width, seed="kim")
    assert len(numbers) == count
    assert all(low <= number <= low + width for number in numbers)
    assert numbers == my_numbers(name, count, low, low + width, seed="kim")


def test_neighbours_get_other_numbers(monkeypatch):
    monkeypatch.setenv("CHAT_MEMORY_SEED", "kim")
    kim = my_numbers("prompt", 5, 10, 900)
    monkeypatch.setenv("CHAT_MEMORY_SEED", "lee")
    assert my_numbers("prompt", 5, 10, 900) != kim
    monkeypatch.delenv("CHAT_MEMORY_SEED")
    assert my_numbers("prompt", 5, 10, 900) == my_numbers("prompt", 5, 10, 900, seed="workbook")


def test_every_number_of_a_range_is_drawn():
    assert set(my_numbers("dice", 200, 1, 6)) == {1, 2, 3, 4, 5, 6}
