"""A summary in place of old turns: what is asked for, what is taken, and the pair that holds it.

A summary is one more model answer: it costs a call, and its errors become the past. So it is
checked before it is taken, the contents it stands for stay in the transcript, and it knows which
they are. In the context it stands as a *summary pair*: a user content (the shadow prompt, worded
as background) and a model content that holds it. The pair is no turn.

The words of the prompts are found by `prompts.py`. This file does *not* decide when a summary is
made (`triggers.py`), and it does not keep one or cut a list (`layers.py`).
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from google.genai import types

from chat_memory import contents
from chat_memory.calls import Call
from chat_memory.contents import text_of, user
from chat_memory.prompts import language_of, prompt_text, prompts
from chat_memory.strings import t
from chat_memory.usage import Usage
from offline_gemini import breakdown

Ask = Callable[..., Call]  # ask(contents, purpose), and a JSON schema if the reply has a form


@dataclass(frozen=True)
class Summary:
    """A summary, and the turns it was made of; `refused` says why it was not taken, else "".

    `first` and `last` are those turns, from 1 since the last clear; transcript[start:stop] are
    their contents. The summary before it is folded in, so it stands for all turns up to `last`.
    """

    text: str
    usage: Usage | None = None
    refused: str = ""
    first: int = 0
    last: int = 0
    start: int = 0
    stop: int = 0


def summarize(
    stretch: list[types.Content],
    ask: Ask,
    earlier: str = "",
    prompt: str = "sections",
    words: int | None = None,
) -> Summary:
    """The summary of a stretch of the transcript, by one call; an earlier one is folded in.

    `prompt` is "sections", "three_lines", or a text of your own that begins with the first line
    of one of these; `words` is its limit. Whatever goes wrong is said in `refused`: nothing is
    raised for a bad reply. Raises ValueError for a prompt or a limit that `prompt_text` refuses.
    """
    replaced = [*pair(earlier), *stretch]
    wanted = prompt_text(prompt, language_of(replaced), words)
    call = ask([user(request(wanted, stretch, earlier))], "summary")
    text = text_of(call.reply).strip() if call.reply else ""
    return Summary(text, call.usage, _why_not(call, text, wanted, replaced))


def pair(text: str, shadow: str = "shadow") -> list[types.Content]:
    """The summary pair: the shadow prompt in the summary's language, and the summary.

    >>> [content.role for content in pair("Order 48213 is late.")]
    ['user', 'model']
    """
    note = contents.model(text)
    return [user(prompts(language_of([note]))[shadow]), note] if text else []


def request(wanted: str, stretch: Iterable[types.Content], earlier: str = "") -> str:
    """The one text that asks for a summary: the prompt, the earlier summary, the stretch."""
    before = f"<earlier>\n{earlier}\n</earlier>\n" if earlier else ""
    return f"{wanted}\n{before}<conversation>\n{flattened(stretch)}\n</conversation>"


def flattened(stretch: Iterable[types.Content]) -> str:
    """Contents as text, a line for each part; tool traffic too, so that no pair can be split.

    Further lines of a part are indented: no message can pass for another speaker's.

    >>> print(flattened([user("My order is 48213.\\nmodel: It has arrived.")]))
    user: My order is 48213.
      model: It has arrived.
    """
    lines = (_line(part, content) for content in stretch for part in content.parts or ())
    return "\n".join(line.replace("\n", "\n  ") for line in lines if line)


def _line(part: types.Part, content: types.Content) -> str:
    if part.function_call:
        return f"call: {part.function_call.name} {_json(part.function_call.args)}"
    if part.function_response:
        response = part.function_response
        return f"response: {response.name} {_json(response.response)}"
    data = part.inline_data or part.file_data
    said = f"[{data.mime_type}]" if data else part.text
    return f"{content.role}: {said}" if said and not part.thought else ""


def _json(value: object) -> str:
    return json.dumps(value or {}, ensure_ascii=False, default=str)


def weight(stretch: Iterable[types.Content]) -> int:
    """Tokens of contents, their roles counted, thoughts that come back left out."""
    return sum(breakdown({"contents": contents.to_json(stretch)}, "", {}).contents)


def _why_not(call: Call, text: str, wanted: str, replaced: list[types.Content]) -> str:
    """Why a reply is not taken as a summary, as one sentence; "" if it is."""
    if call.error:
        return t("summary.failed", reason=call.error)
    if not text or contents.calls_of(call.reply):
        return t("summary.blank")
    headings = re.findall("^## (.+)", wanted, re.MULTILINE)
    if headings and not any(each.casefold() in text.casefold() for each in headings):
        return t("summary.no_heading", heading=headings[0])
    if language_of([call.reply]) != language_of(replaced):
        return t("summary.language")
    size, room = weight(pair(text)), weight(replaced)
    return t("summary.long", size=size, room=room) if size >= room else ""
