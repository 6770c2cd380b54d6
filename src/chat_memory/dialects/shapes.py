"""Whether a value has the shape that its reader counts on, and where it has not.

A log may hold anything: a number for an id, a list for a role. A reader that met it would stop in
the middle with an error about Python. So each form says once which types it counts on, and what
is of another type is named with its message and its place.

A shape is a type, a dict of shapes by key, a list with the shape of its elements, or a tuple of
shapes of which one has to fit. None, and a key that is missing, fit every shape; but no element
of a list is None.

This file does *not* know which keys a form has, nor which of them a message needs.
"""

from collections.abc import Iterator, Mapping

# A message's content in the forms of OpenAI and Anthropic: a text, a block, or several of both.
BLOCK = {"type": str}
CONTENT = (str, BLOCK, [(str, BLOCK)])


def misfit(value: object, shape: object, place: str = "") -> str | None:
    """The place of the first value that is not of its shape; None if all are.

    >>> misfit({"id": "a", "calls": [{"id": 3}]}, {"id": str, "calls": [{"id": str}]})
    'calls[0].id'
    """
    if value is None:
        return None
    if isinstance(shape, tuple):
        return place if all(misfit(value, each, place) for each in shape) else None
    if isinstance(shape, type):
        return None if isinstance(value, shape) else place or "it"
    if not isinstance(value, list if isinstance(shape, list) else Mapping):
        return place or "it"
    found = _elements(value, shape[0], place) if isinstance(shape, list) else ()
    if isinstance(shape, dict):
        known = (key for key in shape if key in value)
        found = (misfit(value[key], shape[key], f"{place}.{key}".lstrip(".")) for key in known)
    return next(filter(None, found), None)


def _elements(value: list, shape: object, place: str) -> Iterator[str | None]:
    for number, each in enumerate(value):
        where = f"{place}[{number}]"
        yield where if each is None else misfit(each, shape, where)
