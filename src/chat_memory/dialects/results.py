"""Tool results and arguments: an object at Gemini, a text in the other forms.

Gemini sends back a tool's result as a JSON object, the other forms as text. Reading and writing
are exact inverses: `written(parsed(text)) == text` and `parsed(written(result)) == result`.

- A text becomes {"result": text}.
- A text that is the plain dump of an object, as `json.dumps` writes it, becomes that object.
- A list of texts, which the others allow too, becomes {"result": [text, ...]}.

Arguments are an object at Gemini and Anthropic, and JSON text at OpenAI. What the model wrote
there need not be JSON (OpenAI's own documentation says so); such a text is kept as it is.

This file does *not* know where in a message a result stands.
"""

import json


class Doubled(ValueError):
    """An object that has a key twice: a dict would lose one of its values."""


def dumped(value: object) -> str:
    """JSON text with real Hangul, as every result and argument is written here."""
    return json.dumps(value, ensure_ascii=False)


def parsed(text: str) -> dict:
    """The object that a result's text becomes.

    >>> parsed("shipped"), parsed('{"status": "shipped"}')
    ({'result': 'shipped'}, {'status': 'shipped'})
    """
    found = loaded_object(text)
    if found is None or dumped(found) != text or is_plain(found):
        return {"result": text}
    return found


def is_plain(result: dict) -> bool:
    """Whether a result is written as its text alone, for that text is read as this result."""
    text = result.get("result") if len(result) == 1 else None
    return isinstance(text, str) and parsed(text) == result


def written(result: dict) -> str:
    """The text that a result is written as.

    >>> written({"result": "shipped"}), written({"status": "shipped"})
    ('shipped', '{"status": "shipped"}')
    """
    return result["result"] if is_plain(result) else dumped(result)


def texts_in(result: dict) -> list[str] | None:
    """The texts of a result that is a list of texts and nothing else; None for another one."""
    texts = result.get("result") if len(result) == 1 else None
    listed = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    return texts if listed else None


def loaded_object(text: str) -> dict | None:
    """The object in a JSON text; None if it holds no object, or one that a dict would change.

    >>> loaded_object('{"a": 1}'), loaded_object('{"a": 1, "a": 2}'), loaded_object("[1]")
    ({'a': 1}, None, None)
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _once(pairs: list[tuple[str, object]]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Doubled
    return found


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")  # NaN is not equal to itself, nor sent by anybody
