"""Explicit caches: `cachedContents`, which hold the beginning of a prompt under a name.

A cachedContents holds system, tools and first contents; a request that names it sends none of
them, and its usage says that they were read from the cache. Answers and refusals are those that
public recordings of gemini-3.5-flash-lite, 3.6-flash and 3.7-flash show, word for word. Beyond
what is held no implicit hit is played: there, too, Gemini's usage shows none.

This file does *not* know the time: a cachedContents is always made on one fixed day and never
expires. It does not price the storage either: models.toml has no figure of the fee.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from offline_gemini import billing, rules
from offline_gemini.billing import Breakdown, get, model_version
from offline_gemini.rules import Refused, invalid

CREATED = "2026-11-30T00:00:00Z"  # fixed, so that what a notebook stores stays true
ONE_HOUR = "3600s"  # Gemini's own time to live where none is given
DURATION = re.compile(r"\d{1,9}(\.\d{1,9})?s")
SETTINGS = ("systemInstruction", "tools", "toolConfig")  # held beside contents
BODY = rules.REQUEST | {
    "contents": [rules.CONTENT],
    "toolConfig": dict,
    **dict.fromkeys(("model", "ttl", "expireTime", "displayName"), str),
}
BOTH = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, "
    "tools or tool_config.\n\nProposed fix: move those values to CachedContent from "
    "GenerateContent request."
)


def explicit_minimum(model: str) -> int:
    """The smallest cachedContents that Gemini makes, in tokens; from its refusals, in public.

    >>> explicit_minimum("gemini-3.6-flash"), explicit_minimum("gemini-2.5-flash")
    (1024, 2048)
    """
    return 1024 if model_version(model) >= (3, 0) else 2048


@dataclass(frozen=True)
class Kept:
    """One cachedContents: what Gemini tells of it, and the part of a request that it holds."""

    card: dict
    held: dict


@dataclass
class CachedContents:
    """The cachedContents that one client has made, by name."""

    kept: dict[str, Kept] = field(default_factory=dict)
    made: int = 0

    def create(self, request: Mapping) -> tuple[dict, bool]:
        """Make one: what Gemini tells of it, and whether its size rests on an estimate."""
        rules.check_types(request, BODY)
        model = check_model(request.get("model") or "")
        held = {name: get(request, name) for name in SETTINGS if get(request, name)}
        held["contents"] = billing.listed(request.get("contents"))
        if held["contents"]:
            rules.check_contents(held["contents"])
        bill = billing.breakdown(held, model, billing.known_thoughts(held))
        check_size(bill.total, model)
        self.made += 1
        name = self._name(request)
        self.kept[name] = Kept(card(name, model, request, bill.total), held)
        return self.kept[name].card, bill.estimated

    def get(self, name: str) -> dict:
        """What Gemini tells of one; Refused if there is none."""
        return self._find(name).card

    def delete(self, name: str) -> dict:
        """Forget one; Refused if there is none."""
        self._find(name)
        del self.kept[name]
        return {}

    def whole(self, request: Mapping, model: str) -> tuple[Mapping, int | None]:
        """The request with what its cachedContents holds, and how many contents were added.

        None instead of a number if it names no cachedContents. Its system, tools and contents
        come first. A request without contents of its own stays without, and is refused for it.
        Raises Refused for an unknown name, another model, or system and tools beside the name.
        """
        rules.check_types(request, {"cachedContent": str})
        name = get(request, "cachedContent")
        if not name:
            return request, None
        kept = self._find(name)
        if any(get(request, setting) for setting in SETTINGS):
            raise invalid(BOTH)
        if kept.card["model"] != full_name(model):
            raise invalid(
                f"Model used by GenerateContent request ({full_name(model)}) and CachedContent "
                f"({kept.card['model']}) has to be the same."
            )
        own = request.get("contents") or []
        first = kept.held["contents"] if own else []
        return {**request, **kept.held, "contents": [*first, *own]}, len(first)

    def _find(self, name: str) -> Kept:
        if name not in self.kept:
            message = "CachedContent not found (or permission denied)"
            raise Refused(403, "PERMISSION_DENIED", message)
        return self.kept[name]

    def _name(self, request: Mapping) -> str:
        body = json.dumps([self.made, request], sort_keys=True).encode()
        return f"cachedContents/{hashlib.sha256(body).hexdigest()[:40]}"


def held_tokens(bill: Breakdown, contents: int) -> int:
    """Tokens of a prompt that stand in its cachedContents: system, tools, its first contents."""
    first = sum(bill.contents[:contents]) + sum(bill.thoughts[:contents])
    return bill.system + bill.tools + first


def keeps_explicitly(model: str) -> bool:
    """Whether a model takes cachedContents: 2.5 and 3.x do, Gemini 4 does not.

    >>> keeps_explicitly("gemini-3.6-flash"), keeps_explicitly("gemini-4-argon")
    (True, False)
    """
    return model_version(model) < (4, 0)


def full_name(model: str) -> str:
    """A model's name as Gemini writes it in an answer.

    >>> full_name("gemini-3.6-flash")
    'models/gemini-3.6-flash'
    """
    return f"models/{model.removeprefix('models/')}"


def check_model(model: str) -> str:
    """The model; Refused if there is none of that name, or it takes no cachedContents."""
    rules.check_model(model)
    if not keeps_explicitly(model):
        raise rules.not_found(full_name(model), "createCachedContent")
    return model


def check_size(tokens: int, model: str) -> None:
    """Raise Refused for a cachedContents that is too small, or too large for the window."""
    rules.check_size(tokens)
    least = explicit_minimum(model)
    if tokens < least:
        raise invalid(
            f"Cached content is too small. total_token_count={tokens}, "
            f"min_total_token_count={least}"
        )


def card(name: str, model: str, request: Mapping, tokens: int) -> dict:
    """What Gemini tells of a cachedContents; it repeats nothing of what is held."""
    return {
        "name": name,
        "model": full_name(model),
        "createTime": CREATED,
        "updateTime": CREATED,
        "expireTime": get(request, "expireTime") or expire_time(request.get("ttl") or ONE_HOUR),
        "displayName": get(request, "displayName") or "",
        "usageMetadata": {"totalTokenCount": tokens},
    }


def expire_time(ttl: object) -> str:
    """When a cachedContents made at CREATED ends; Refused if ttl is no duration.

    >>> expire_time("3600s")
    '2026-11-30T01:00:00Z'
    """
    if not isinstance(ttl, str) or not DURATION.fullmatch(ttl):
        raise invalid(
            f"Invalid value at 'cached_content.ttl' (type.googleapis.com/google.protobuf.Duration)"
            f", {json.dumps(ttl)[: rules.LONGEST]}"
        )
    end = datetime.fromisoformat(CREATED) + timedelta(seconds=float(ttl[:-1]))
    return end.isoformat().replace("+00:00", "Z")
