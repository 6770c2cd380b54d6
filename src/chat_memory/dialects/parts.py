"""Parts of a message as JSON: what the forms share, and what only one of them knows.

Every form is read into Gemini's parts and written from them. What Gemini has no place for goes
into the part's own `partMetadata`, under the name of the form: {"anthropic": {"cache_control":
...}}. The same form gets it back, another one can't hold it and says so. That mark also tells
whose signature a thought carries, for one provider's signature is worth nothing to another.

A block that nobody here knows is kept whole, as data of a JSON type of ours: it weighs an unknown
number of tokens, and the same form gets back exactly what it had.

This file does *not* know the shape of any form.
"""

import base64
import json
import mimetypes
import re
from collections.abc import Mapping

from chat_memory.dialects.transcript import Notes

VENDOR = re.compile(r"application/vnd\.chat-memory\.(\w+)\+json")
DATA_URL = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.DOTALL)
KINDS = {
    "functionCall": "call",
    "functionResponse": "response",
    "inlineData": "data",
    "fileData": "data",
}
MADE_UP = "made_up"  # the mark of a part that stands in no file
ALPHABET = "alphabet"  # the mark of a signature in the base64 alphabet with - and _
HELD = (ALPHABET, "arguments", "message")  # marks that need no note: their content stays
EMPTY = (None, "", [], {})


def kind(part: Mapping) -> str:
    """What a part is: call, response, data, unknown, thought, text, or the name of its field."""
    for field, name in KINDS.items():
        if part.get(field) is not None:
            return "unknown" if name == "data" and vendor_of(part) else name
    if part.get("text") is not None:
        return "thought" if part.get("thought") else "text"
    return next((key for key in part if key not in ("partMetadata", "thoughtSignature")), "text")


def unknown(value: object, form: str) -> dict:
    """The part that keeps a block, or a whole message, of a form as it is."""
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    mime = f"application/vnd.chat-memory.{form}+json"
    return {"inlineData": {"mimeType": mime, "data": base64.b64encode(data).decode()}}


def vendor_of(part: Mapping) -> str | None:
    """The form whose unknown block a part keeps; None for any other part."""
    mime = (part.get("inlineData") or {}).get("mimeType") or ""
    found = VENDOR.fullmatch(mime)
    return found[1] if found else None


def block_in(part: Mapping) -> object:
    """The block that `unknown` kept."""
    data = base64.urlsafe_b64decode(standard(part["inlineData"]["data"], "-_"))
    return json.loads(data.decode("utf-8", "surrogatepass"))


def marked(part: dict, form: str, /, **found: object) -> dict:
    """The part with what only this form knows of it; what is empty says nothing."""
    kept = {key: value for key, value in found.items() if value not in EMPTY}
    return part | ({"partMetadata": {form: kept}} if kept else {})


def mark(part: Mapping, form: str) -> dict:
    """What only this form knows of a part."""
    return (part.get("partMetadata") or {}).get(form) or {}


def rest(block: Mapping, *known: str) -> dict:
    """What a block holds beside the keys that its reader has used."""
    return {key: value for key, value in block.items() if key not in known}


def is_of(part: Mapping, form: str) -> bool:
    """Whether a thought came from this form, and its signature from this form's model."""
    return form in (part.get("partMetadata") or {})


def thought(text: str, signature: str | None, form: str, /, **found: object) -> dict | None:
    """The thought part of a foreign model; None if its signature would not come back unchanged."""
    kept = {key: value for key, value in found.items() if value not in EMPTY}
    part = {"text": text, "thought": True, "partMetadata": {form: kept}}
    if signature:
        if not _survives(signature):
            return None
        part["thoughtSignature"] = signature
        if _alphabet(signature) == "-_":
            kept[ALPHABET] = "-_"
    return part


def signature_of(part: Mapping, form: str) -> str | None:
    """The signature of a foreign thought, in the alphabet it had."""
    signature = part.get("thoughtSignature")
    return standard(signature, mark(part, form).get(ALPHABET, "+/")) if signature else None


def standard(data: str, alphabet: str = "+/") -> str:
    """Base64 in one of its two alphabets; the SDK writes the one with - and _."""
    return data.translate(str.maketrans("+/-_", alphabet * 2))


def _survives(data: str) -> bool:
    """Whether base64 text is the same after it was bytes."""
    try:
        raw = base64.b64decode(standard(data), validate=True)
    except ValueError:  # binascii.Error is one
        return False
    return standard(base64.b64encode(raw).decode(), _alphabet(data)) == data


def _alphabet(data: str) -> str:
    return "-_" if set("-_") & set(data) else "+/"


def data_part(mime: object, data: object) -> dict | None:
    """The part of an image in base64; None if it would not come back unchanged."""
    if not isinstance(mime, str) or not isinstance(data, str):
        return None
    if "-" in data or "_" in data or not _survives(data):
        return None
    return {"inlineData": {"mimeType": mime, "data": data}}


def image_part(url: object) -> dict | None:
    """The part of an image that is given by an address or a data URL; None for anything else."""
    if not isinstance(url, str):
        return None
    if found := DATA_URL.fullmatch(url):
        return data_part(found[1], found[2])
    if not re.match("https?://", url):
        return None
    mime = mimetypes.guess_type(url)[0] or ""
    return {
        "fileData": {"mimeType": mime if mime.startswith("image/") else "image/*", "fileUri": url}
    }


def image_url(part: Mapping) -> str | None:
    """The address or data URL of an image; None if the part is no image that has one."""
    data, file = part.get("inlineData") or {}, part.get("fileData") or {}
    if not (data.get("mimeType") or file.get("mimeType") or "").startswith("image/"):
        return None
    if data.get("data"):
        return f"data:{data['mimeType']};base64,{standard(data['data'])}"
    uri = file.get("fileUri") or ""
    return uri if re.match("https?://", uri) else None


def note_left_out(part: Mapping, form: str, number: int, notes: Notes) -> None:
    """Name what a form can't hold of a part that it has left out."""
    found = kind(part)
    if found == "unknown":
        notes.add("dialect.lost.unknown", number, form=vendor_of(part))
    elif found in ("thought", "data"):
        notes.add(f"dialect.lost.{found}", number, form=form)
    else:
        notes.add("dialect.lost.part", number, form=form, kind=found)


def note_foreign(part: Mapping, form: str, number: int, notes: Notes) -> None:
    """Name a signature, or what another form knows of a part, that this form can't hold."""
    if part.get("thoughtSignature") and not is_of(part, form):
        notes.add("dialect.lost.signature", number, form=form)
    for other, found in (part.get("partMetadata") or {}).items():
        if other not in (form, MADE_UP):
            for key in [*rest(found, *HELD), *found.get("message", ())]:
                notes.add("dialect.lost.mark", number, form=form, key=key, other=other)
