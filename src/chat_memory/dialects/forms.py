"""Which form a chat is in: told by what only one of them has.

Most messages could be of any form: a role and a text. So the first sign decides, such as `parts`
(Gemini), `tool_calls` (OpenAI), an item's type (Responses) or a `tool_use` block (Anthropic), and
a sign of another form later is an error: a mixed file would lose what only one of them holds.
Without any sign the body may tell; else it is OpenAI's, the plainest.

This file does *not* read a chat: the form's own file does.
"""

from collections.abc import Mapping
from types import ModuleType

from chat_memory.dialects import anthropic, gemini, openai, responses, text
from chat_memory.dialects.reading import ITEM, Found
from chat_memory.dialects.shapes import misfit
from chat_memory.dialects.transcript import ChatFileError
from chat_memory.strings import t

FORMS: dict[str, ModuleType] = {
    each.FORM: each for each in (gemini, openai, responses, anthropic, text)
}
BLOCKS = {
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "thinking": "anthropic",
    "redacted_thinking": "anthropic",
    "server_tool_use": "anthropic",
    "image": "anthropic",
    "document": "anthropic",
    "input_text": "responses",
    "output_text": "responses",
    "input_image": "responses",
    "input_file": "responses",
    "image_url": "openai",
    "input_audio": "openai",
    "file": "openai",
}
# The shapes of what may stand beside the messages: an instruction as a text, or as texts.
TEXT = {"type": str, "text": str}
TEXTS = (str, [(str, TEXT)])
PARTS = (str, {"parts": (TEXTS, TEXT)})
BODY = {"system": TEXTS, "systemInstruction": PARTS, "system_instruction": PARTS}


def tell(found: Found) -> str:
    """The name of the form a chat is in; ChatFileError if it is mixed or has an unknown role."""
    if found.plain:
        return text.FORM
    form, first = "", 0
    for number, message in enumerate(found.messages, 1):
        if not isinstance(message, Mapping):
            raise ChatFileError(
                t("error.chat.message", number=number, kind=type(message).__name__)
            )
        for sign in _signs(message):
            if form and sign != form:
                words = {"first": first, "form": form, "number": number, "other": sign}
                raise ChatFileError(t("error.chat.mixed", **words))
            form, first = form or sign, first or number
    form = form or _by_body(found.body)
    for number, message in enumerate(found.messages, 1):
        _check_role(message, number, form)
        if place := misfit(message, FORMS[form].SHAPE):
            raise ChatFileError(t("error.chat.shape", number=number, place=place))
    if place := misfit(found.body, BODY):
        raise ChatFileError(t("error.chat.beside", place=place))
    return form


def _signs(message: Mapping) -> set[str]:
    """The forms of which a message has something that no other form has."""
    name, content = message.get("type"), message.get("content")
    signs = {"gemini"} if "parts" in message else set()
    if "role" not in message and isinstance(name, str) and ITEM.fullmatch(name):
        signs.add("responses")
    if message.get("role") in openai.RESULTS and not signs or message.get("tool_calls"):
        signs.add("openai")
    blocks = content if isinstance(content, list) else []
    kinds = [block.get("type") for block in blocks if isinstance(block, Mapping)]
    signs |= {BLOCKS[each] for each in kinds if isinstance(each, str) and each in BLOCKS}
    if name == "message" and not signs and content:
        signs.add("responses" if isinstance(content, str) else "anthropic")
    return signs


def _by_body(body: Mapping) -> str:
    """The form by what stands beside messages without a sign."""
    if "contents" in body:
        return "gemini"
    if "input" in body or "instructions" in body:
        return "responses"
    return "anthropic" if body.get("system") else "openai"


def _check_role(message: Mapping, number: int, form: str) -> None:
    """Raise ChatFileError for a role that the form does not have."""
    role, known = message.get("role"), [*FORMS[form].ROLES]
    known += openai.RESULTS if form == "openai" else ()
    optional = (
        form == "gemini" or form == "responses" and message.get("type") not in (None, "message")
    )
    if role is None and optional or isinstance(role, str) and role in known:
        return
    words = {"number": number, "role": role, "form": form, "roles": ", ".join(known)}
    raise ChatFileError(t("error.chat.role" if role else "error.chat.no_role", **words))
