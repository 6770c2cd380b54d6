from datetime import date
from types import SimpleNamespace

import pytest

from chat_memory import prices
from chat_memory.contents import model, to_json, user
from chat_memory.usage import Price, Split, Usage, breakdown, cost, price, total

WIRE = {"promptTokenCount": 225, "candidatesTokenCount": 23, "totalTokenCount": 416}


def call_with(used):
    return SimpleNamespace(usage=used)


def test_usage_has_the_sdks_names_and_keeps_none():
    used = Usage.from_json(WIRE)
    assert used.prompt_token_count == 225
    assert used.thoughts_token_count is None
    assert used.to_json() == WIRE


def test_none_adds_nothing():
    both = Usage(prompt_token_count=5) + Usage(prompt_token_count=7, thoughts_token_count=2)
    assert (both.prompt_token_count, both.thoughts_token_count) == (12, 2)
    assert both.cached_content_token_count == 0


def test_a_sum_is_estimated_if_one_of_its_counts_is():
    assert (Usage() + Usage(estimated=True)).estimated
    assert not (Usage() + Usage()).estimated


def test_a_failed_call_without_usage_adds_nothing_to_the_total():
    calls = [call_with(Usage.from_json(WIRE)), call_with(None), call_with(Usage.from_json(WIRE))]
    assert total(calls).prompt_token_count == 450
    assert total([]).total_token_count == 0


def test_a_session_may_stand_for_its_calls():
    session = SimpleNamespace(calls=[call_with(Usage.from_json(WIRE))] * 2)
    assert total(session) == total(session.calls)


@pytest.mark.parametrize(("given", "kind"), [(5, "int"), ([5], "int"), ({"a": []}, "str")])
def test_what_holds_no_calls_is_said(given, kind):
    with pytest.raises(ValueError, match=f"total can't add up an object of type {kind}: give"):
        total(given)


def test_what_is_no_call_is_not_taken_apart():
    with pytest.raises(ValueError, match="takes one call, and this is of type list: give it one"):
        breakdown([])


def test_the_bill_has_prompt_output_and_thoughts():
    used = Usage(
        prompt_token_count=1000,
        candidates_token_count=100,
        thoughts_token_count=50,
        cached_content_token_count=400,
    )
    rate = Price(input=1.0, output=10.0, cached=0.1)
    assert cost(used, rate) == pytest.approx((600 * 1.0 + 400 * 0.1 + 150 * 10.0) / 1e6)
    assert cost(Usage(), rate) == 0


def test_cached_input_is_dearer_than_half_the_prompt():
    rate = price("gemini-3.6-flash")
    long = Usage(prompt_token_count=6000, cached_content_token_count=5000)
    short = Usage(prompt_token_count=3000)
    assert cost(short, rate) > cost(long, "gemini-3.6-flash")


@pytest.mark.parametrize(
    ("model_name", "as_of", "expected"),
    [
        ("gemini-3.6-flash", "2026-07-21", Price(1.50, 7.50, 0.15)),
        ("gemini-3.6-flash", "2026-09-29", Price(1.50, 7.50, 0.15)),
        ("gemini-3.6-flash", "2026-09-30", Price(0.75, 3.75, 0.075)),
        ("gemini-3.6-flash", None, Price(0.75, 3.75, 0.075)),
        ("gemini-3.8-flash", None, Price(0.75, 3.75, 0.075)),
        ("gemini-3.8-flash", "2027-01-01", Price(1.50, 7.50, 0.15)),
        ("gemini-4-argon", None, Price(2, 10, 0.10)),
        ("gemini-4-argon", "2026-12-01", Price(4, 20, 0.20)),
    ],
)
def test_the_latest_price_that_holds_on_the_day_wins(model_name, as_of, expected):
    assert price(model_name, as_of) == expected


@pytest.mark.parametrize(
    ("model_name", "as_of"), [("gpt-5", None), ("gemini-3.6-flash", "2020-01-01")]
)
def test_an_unknown_price_is_named(model_name, as_of):
    with pytest.raises(ValueError, match=f"no price for {model_name} on .* data/models.toml"):
        price(model_name, as_of)


def test_every_price_has_its_dates_and_its_source():
    table = prices._prices()
    assert table["as_of"] == date(2026, 11, 30)
    for row in table["prices"]:
        assert row["source"]
        assert row["valid_from"] <= row.get("valid_to", row["valid_from"])
        assert 0 < row["cached_in"] < row["in"] < row["out"]


def request_call(contents, **more):
    request = {"contents": to_json(contents), "systemInstruction": {"parts": [{"text": "12"}]}}
    return SimpleNamespace(
        request=request | more, model="gemini-3.6-flash", signatures={"AQID": 40}
    )


def test_new_is_what_follows_the_models_last_content():
    call = request_call([user("1"), model("2"), user("3"), user("45")])
    assert breakdown(call) == Split(system=2, tools=0, resent=4, new=5, thoughts=0)


def test_at_first_everything_is_new():
    assert breakdown(request_call([user("1")])) == Split(2, 0, 0, 2, 0)


def test_thoughts_that_signatures_bring_back_are_told_apart():
    answer = model("2")
    answer.parts[0].thought_signature = b"\x01\x02\x03"
    split = breakdown(request_call([user("1"), answer, user("3")]))
    assert split == Split(system=2, tools=0, resent=4, new=2, thoughts=40)
