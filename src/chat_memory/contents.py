"""The message list: where a turn starts, what Gemini accepts, and the list as JSON.

A *content* is one message in Gemini's form: a role, `user` or `model`, and parts. A *part* is a
text, a function call, a function response, or data. A *turn* is what one customer message sets
off: that content and all up to the next one, 2 contents without a tool, 4 or more with one.

The role alone does not tell where a turn starts: a function response travels in the role `user`
too. So a turn starts at a user content that holds something the user said.

This file does *not* decide what is sent (`strategies.py`) and sends nothing (`session.py`).
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from google.genai import types
from pydantic import ValidationError

from offline_gemini import rules
from offline_gemini.sentences import refusal


def is_turn_start(content: types.Content) -> bool:
    """Whether a content holds something the user said, and no function response.

    >>> is_turn_start(types.Content(role="user", parts=[types.Part(text="Where is my order?")]))
    True
    """
    if content.role != "user":
        return False
    said = False
    for part in content.parts or ():
        if part.function_response:
            return False
        said = said or bool(part.text or part.inline_data or part.file_data)
    return said


def turns(transcript: list[types.Content]) -> list[tuple[int, int]]:
    """The (start, stop) of every turn, so that `transcript[start:stop]` is the turn.

    What stands before the first turn start belongs to no turn.

    >>> turns([user("Hello"), model("Hello"), user("Where is my order?")])
    [(0, 2), (2, 3)]
    """
    starts = [index for index, content in enumerate(transcript) if is_turn_start(content)]
    return list(itertools.pairwise([*starts, len(transcript)]))


def user(text: str) -> types.Content:
    """The content in which the user says `text`."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def model(text: str) -> types.Content:
    """The content in which the model says `text`."""
    return types.Content(role="model", parts=[types.Part(text=text)])


def text_of(content: types.Content) -> str:
    """What a content says: its texts joined, thoughts left out.

    >>> text_of(model("It is on its way."))
    'It is on its way.'
    """
    return "".join(part.text for part in content.parts or () if part.text and not part.thought)


def calls_of(content: types.Content) -> list[types.FunctionCall]:
    """The function calls in a content, in order."""
    return [part.function_call for part in content.parts or () if part.function_call]


def responses_of(content: types.Content) -> list[types.FunctionResponse]:
    """The function responses in a content, in order."""
    return [part.function_response for part in content.parts or () if part.function_response]


def kind(content: types.Content) -> str:
    """What a content is in a turn: "user", "call", "response" or "model".

    >>> kind(user("Hello")), kind(model("Hello"))
    ('user', 'model')
    """
    if calls_of(content):
        return "call"
    if responses_of(content):
        return "response"
    return content.role


def check(contents: Iterable[types.Content | dict]) -> None:
    """Raise `offline_gemini.Refused`, with Gemini's words, if Gemini refuses this list.

    The contents may be JSON already, as in a request's body.

    >>> check([user("Hello")])
    """
    rules.check_contents([c if isinstance(c, dict) else to_json([c])[0] for c in contents])


def to_json(contents: Iterable[types.Content]) -> list[dict]:
    """The contents as JSON values with Gemini's wire names; signatures become base64.

    >>> to_json([user("Hello")])
    [{'parts': [{'text': 'Hello'}], 'role': 'user'}]
    """
    return [c.model_dump(mode="json", by_alias=True, exclude_none=True) for c in contents]


def from_json(rows: Iterable[Mapping]) -> list[types.Content]:
    """The contents that `to_json` wrote; a signature may come in either base64 alphabet.

    Raises ValueError that names the content and the field, if a row is no content.

    >>> from_json([{"role": "user", "parts": [{"text": "Hello"}]}]) == [user("Hello")]
    True
    """
    return list(_validated(rows))


def _validated(rows: Iterable[Mapping]) -> Iterator[types.Content]:
    for index, row in enumerate(rows):
        try:
            yield types.Content.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "it"
            raise refusal(
                f"Content {index} is no Gemini content: {place}: {first['msg']}. "
                'Write {"role": "user", "parts": [{"text": "..."}]}.'
            ) from None
