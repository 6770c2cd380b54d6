"""Tool declarations: Gemini's names inside, each form's own names in its files.

A declaration has a name, a description and a JSON schema of its parameters in every form. Gemini
calls the schema `parametersJsonSchema` (or `parameters`, with types in upper case), OpenAI
`parameters`, Anthropic `input_schema`. Tools that the provider runs itself, such as a web search,
are no functions of the program: they are left out, and named.

This file does *not* declare Python functions: `chat_memory.tools` does.
"""

from collections.abc import Iterable, Mapping

from chat_memory.dialects.parts import EMPTY
from chat_memory.dialects.transcript import Notes
from offline_gemini.billing import camel, get, listed

SCHEMAS = ("parameters", "input_schema", "inputSchema")
FUNCTION = ("name", "description", "type", "function", *SCHEMAS)
HELD = ("name", "description", "parameters", "parametersJsonSchema")


def read_tools(tools: object, notes: Notes) -> list[dict]:
    """The declarations in a body's `tools`, in whichever form they are."""
    found: list[dict] = []
    for tool in listed(tools):
        declared = get(tool, "functionDeclarations") if isinstance(tool, Mapping) else None
        if declared is not None:
            functions = [each for each in listed(declared) if isinstance(each, Mapping)]
            found += [{camel(key): value for key, value in each.items()} for each in functions]
        elif declaration := _declaration(tool, notes):
            found.append(declaration)
    return found


def _declaration(tool: object, notes: Notes) -> dict | None:
    """One tool of another form as a declaration; None, and noted, if it is no function."""
    tool = tool if isinstance(tool, Mapping) else {"type": str(tool)}
    function = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
    schema = next((function[key] for key in SCHEMAS if isinstance(function.get(key), dict)), None)
    name = function.get("name")
    if not isinstance(name, str) or not name or schema is None and "description" not in function:
        named = name or tool.get("type") or next(iter(tool), "?")
        notes.add("dialect.tool", name=str(named))
        return None
    for key, value in {**tool, **function}.items():
        if key not in FUNCTION and value not in (*EMPTY, False):
            notes.add("dialect.tool.key", key=key)
    named = {key: function[key] for key in ("name", "description") if key in function}
    return named | ({} if schema is None else {"parametersJsonSchema": schema})


def write_tools(tools: Iterable[Mapping], form: str, notes: Notes) -> list[dict]:
    """Declarations as the tools of a form; what it can't hold is noted."""
    tools = [{camel(key): value for key, value in tool.items()} for tool in tools]
    if form == "gemini":
        return [{"functionDeclarations": tools}] if tools else []
    for key in (key for tool in tools for key in tool):
        if key not in HELD:
            notes.add("dialect.tool.key", key=key)
    return [_tool(tool, form) for tool in tools]


def _tool(tool: Mapping, form: str) -> dict:
    named = {key: tool[key] for key in ("name", "description") if key in tool}
    schema = tool.get("parametersJsonSchema") or _lower(tool.get("parameters"))
    schema = schema or {"type": "object", "properties": {}}
    if form == "anthropic":
        return named | {"input_schema": schema}
    if form == "responses":
        return {"type": "function", **named, "parameters": schema, "strict": False}
    return {"type": "function", "function": named | {"parameters": schema}}


def _lower(schema: object) -> object:
    """A schema with types in JSON Schema's lower case, where Gemini allows OBJECT."""
    if isinstance(schema, list):
        return [_lower(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    types = {"type": schema["type"].lower()} if isinstance(schema.get("type"), str) else {}
    return {key: _lower(value) for key, value in schema.items()} | types
