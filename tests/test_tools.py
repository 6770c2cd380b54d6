import json

import pytest
from google.genai import types

from chat_memory.tools import Tool, by_name, respond, result_of, tool


def lookup_order(order_id: str, full: bool = False) -> dict:
    """Look up an order."""
    return {"order_id": order_id, "status": "shipped", "full": full}


def asked(name, **arguments):
    return types.FunctionCall(id="1", name=name, args=arguments)


def run(function, **arguments):
    return result_of(asked("f", **arguments), {"f": Tool({"name": "f"}, function)})


def test_a_function_is_declared_as_the_sdk_declares_it():
    made = tool(lookup_order)
    plain = types.FunctionDeclaration.from_callable_with_api_option(
        callable=lookup_order, use_json_schema=True
    )
    assert made.declaration == plain.model_dump(mode="json", exclude_none=True)
    assert made.name == "lookup_order"
    assert tool(made) is made


def test_parallel_calls_are_answered_in_one_content_in_order_by_id():
    calls = [
        types.FunctionCall(id="b", name="lookup_order", args={"order_id": "2"}),
        types.FunctionCall(id="a", name="nothing", args={}),
        types.FunctionCall(id="c", name="lookup_order", args={"order_id": "1"}),
    ]
    content = respond(calls, by_name([lookup_order]))
    responses = [part.function_response for part in content.parts]
    assert content.role == "user"
    assert [(r.id, r.name) for r in responses] == [(c.id, c.name) for c in calls]
    assert responses[2].response["order_id"] == "1"
    assert "error" in responses[1].response


def test_a_dict_is_the_response_and_any_other_value_its_result():
    assert run(lambda: {"status": "shipped"}) == {"status": "shipped"}
    assert run(lambda: "shipped") == {"result": "shipped"}
    assert run(lambda: None) == {"result": None}
    assert run(lambda: (1, 2)) == {"result": [1, 2]}
    assert run(lambda: {1: "one"}) == {"1": "one"}


def test_a_megabyte_is_sent_whole():
    assert run(lambda: "x" * 2**20) == {"result": "x" * 2**20}


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), float("nan"), b"bytes", {(1, 2): 3}, "\ud800", {"at": print}]
)
def test_what_json_cannot_hold_becomes_an_error_response(value):
    response = run(lambda: value)
    assert response["error"].startswith("f returned what JSON can't hold")
    json.dumps(response).encode()


def test_a_list_that_holds_itself_becomes_an_error_response():
    endless = []
    endless.append(endless)
    assert "JSON can't hold" in run(lambda: endless)["error"]


def test_a_tool_that_raises_becomes_an_error_response():
    def fails():
        raise KeyError("48213")

    assert run(fails) == {"error": "f failed: KeyError: '48213'"}


def test_an_interrupt_is_no_error_of_a_tool():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted)


def test_an_unknown_tool_and_wrong_arguments_become_error_responses():
    tools = by_name([lookup_order])
    assert result_of(asked("lookup"), tools)["error"] == (
        "There is no tool lookup; there are: lookup_order."
    )
    missing = result_of(asked("lookup_order"), tools)["error"]
    assert missing == "Wrong arguments for lookup_order: missing a required argument: 'order_id'."
    unknown = result_of(asked("lookup_order", order_id="1", colour="red"), tools)["error"]
    assert "unexpected keyword argument 'colour'" in unknown


def no_docstring(order_id: str) -> dict:
    return {}


def no_hint(order_id) -> dict:
    """Look up an order."""


def strange_hint(order_id: "Nowhere") -> dict:  # noqa: F821
    """Look up an order."""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_docstring, "no_docstring has no docstring"),
        (no_hint, "no_hint lacks a type hint"),
        (strange_hint, "strange_hint can't be declared"),
        ("lookup_order", "has no docstring"),
    ],
)
def test_what_is_no_tool_is_refused_in_one_sentence(function, words):
    with pytest.raises(ValueError, match=words) as caught:
        tool(function)
    assert "\n" not in str(caught.value)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match="Two tools are called lookup_order"):
        by_name([lookup_order, tool(lookup_order)])
