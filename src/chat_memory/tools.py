"""Tools: what the model is told of a function, and how its calls are answered.

A tool is a plain Python function with a docstring and type hints; the SDK makes the declaration
that is sent. The model only *asks* for a call: our program runs it and sends back a function
response, which travels in the role `user`. Parallel calls are answered in one content, in order.

A call can't fail a turn: a function that raises, wrong arguments, an unknown name or a result that
JSON can't hold become a response {"error": ...}, which the model reads and reacts to.

This file does *not* loop: `session.py` sends the responses and waits for the next reply.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from google.genai import types

from offline_gemini.sentences import refusal


@dataclass(frozen=True)
class Tool:
    """A function the model may ask for: its declaration as JSON, and what runs it."""

    declaration: dict
    run: Callable[..., object]

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.declaration["name"]


def tool(function: Callable[..., object] | Tool) -> Tool:
    """The tool that a Python function is; its docstring and type hints are what the model reads.

    Raises ValueError if the function has no docstring or no usable type hints.
    """
    if isinstance(function, Tool):
        return function
    name = getattr(function, "__name__", repr(function))
    if not callable(function) or not function.__doc__:
        raise refusal(
            f"The tool {name} has no docstring, and the model reads it to know when to call: "
            "give a function with a docstring and type hints."
        )
    if any(p.annotation is p.empty for p in inspect.signature(function).parameters.values()):
        raise refusal(f"The tool {name} lacks a type hint: give one to each parameter.")
    try:
        declaration = types.FunctionDeclaration.from_callable_with_api_option(
            callable=function, use_json_schema=True
        )
    except (ValueError, NameError, TypeError) as error:
        raise refusal(
            f"The tool {name} can't be declared: use str, int, float, bool, list or dict as hints."
        ) from error
    return Tool(declaration.model_dump(mode="json", exclude_none=True), function)


def by_name(tools: Iterable[Callable[..., object] | Tool]) -> dict[str, Tool]:
    """The tools under their names; ValueError if two have the same."""
    made = [tool(each) for each in tools]
    names = [each.name for each in made]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise refusal(f"Two tools are called {', '.join(sorted(twice))}: rename one.")
    return dict(zip(names, made, strict=True))


def respond(calls: Iterable[types.FunctionCall], tools: Mapping[str, Tool]) -> types.Content:
    """The one user content that answers all calls of a content, in order, by id."""
    responses = [
        types.FunctionResponse(id=call.id, name=call.name, response=result_of(call, tools))
        for call in calls
    ]
    parts = [types.Part(function_response=response) for response in responses]
    return types.Content(role="user", parts=parts)


def result_of(call: types.FunctionCall, tools: Mapping[str, Tool]) -> dict:
    """What a call brings: the function's dict, {"result": value}, or {"error": what is wrong}."""
    if call.name not in tools:
        return {"error": f"There is no tool {call.name}; there are: {', '.join(tools)}."}
    arguments = call.args or {}
    run = tools[call.name].run
    try:
        inspect.signature(run).bind(**arguments)
    except TypeError as error:
        return {"error": f"Wrong arguments for {call.name}: {error}."}
    try:
        value = run(**arguments)
    except Exception as error:  # whatever a tool raises is for the model to read
        value = {"error": f"{call.name} failed: {type(error).__name__}: {error}"}
    return _as_json(value, call.name)


def _as_json(value: object, name: str) -> dict:
    """The value as the JSON object that is sent, so that what we keep is what the model got."""
    response = value if isinstance(value, dict) else {"result": value}
    try:
        text = json.dumps(response, allow_nan=False, ensure_ascii=False)
        return json.loads(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError) as error:
        return {"error": f"{name} returned what JSON can't hold ({error})."}
