"""Run logs: every request and reply of a session as one JSON file, written and read again.

The file holds {scenario, strategy, model, calls, usage_total}; each call {turn, purpose,
contents_before, request, response, usageMetadata, seconds, error}, and what its context dropped.
It is UTF-8 with real Hangul and Gemini's wire names. A key is never in it, for a request's
headers are not. It is written beside its place and then moved there: a log is whole or absent.

This file does *not* decide when a log is written: `session.save` and the terminal do.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chat_memory import contents
from chat_memory.calls import Call
from chat_memory.files import write_whole
from chat_memory.places import ROOT
from chat_memory.strategies import Context, name_of
from chat_memory.strings import t
from chat_memory.usage import Usage, total
from offline_gemini.sentences import OneLine

if TYPE_CHECKING:
    from chat_memory.session import ChatSession

FOLDER = ROOT / "runs"


class RunError(OneLine, ValueError):
    """A run log that can't be written or read: which file, and why."""


@dataclass(frozen=True)
class Run:
    """A run log that was read: `calls` has the same attributes as a session's."""

    scenario: str
    strategy: str
    model: str
    calls: list[Call] = field(repr=False)


def new_path(what: str) -> Path:
    """A path in `runs/` for a new log, or for a folder of logs.

    It names the moment; random digits keep apart what a class starts in the same second.
    """
    return FOLDER / f"{what}-{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def save(session: "ChatSession", path: str | Path) -> Path:
    """Write a session's run log and return its path; RunError if it can't be written."""
    path = Path(path)
    log = {
        "scenario": session.scenario,
        "strategy": name_of(session.strategy),
        "model": session.model,
        "calls": [_call_to_json(call) for call in session.calls],
        "usage_total": total(session.calls).to_json(),
    }
    try:
        write_whole(path, json.dumps(log, ensure_ascii=False, indent=1))
    except OSError as error:
        raise RunError(t("error.run_write", path=path, reason=error.strerror)) from error
    return path


def _call_to_json(call: Call) -> dict:
    return {
        "turn": call.turn,
        "scripted": call.scripted,
        "purpose": call.purpose,
        "contents_before": call.contents_before,
        "request": call.request,
        "response": call.response,
        "usageMetadata": call.usage.to_json() if call.usage else None,
        "estimated": bool(call.usage and call.usage.estimated),
        "seconds": call.seconds,
        "error": call.error,
        "layers": [list(layer) for layer in call.context.layers],
        "dropped": list(call.context.dropped),
        "rewritten": list(call.context.rewritten),
        "pinned": call.context.pinned,
    }


def load(path: str | Path) -> Run:
    """Read a run log; RunError if there is none, or the file is no run log."""
    path = Path(path)
    try:
        log = json.loads(path.read_text(encoding="utf-8"))
        calls = _calls_from_json(log["calls"], log["model"])
        return Run(log["scenario"], log["strategy"], log["model"], calls)
    except OSError as error:
        raise RunError(t("error.run_read", path=path, reason=error.strerror)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(t("error.run_broken", path=path)) from error


def _calls_from_json(rows: list[Mapping], model: str) -> list[Call]:
    """The calls in a log; what their signatures weigh is found again, reply by reply."""
    calls, signatures = [], {}
    for row in rows:
        call = _call_from_json(row, model, signatures)
        signatures |= signatures_of(call)
        calls.append(call)
    return calls


def _call_from_json(row: Mapping, model: str, signatures: dict[str, int]) -> Call:
    context = Context(
        contents.from_json(row["request"]["contents"]),
        layers=tuple(tuple(layer) for layer in row["layers"]),
        dropped=row["dropped"],
        pinned=row.get("pinned", ""),
        rewritten=row.get("rewritten", ()),
    )
    usage = row["usageMetadata"]
    return Call(
        turn=row["turn"],
        purpose=row["purpose"],
        model=model,
        context=context,
        contents_before=row["contents_before"],
        request=row["request"],
        signatures=signatures,
        response=row["response"],
        usage=None if usage is None else Usage.from_json(usage, row["estimated"]),
        error=row["error"],
        seconds=row["seconds"],
        scripted=row.get("scripted"),
    )


def signatures_of(call: Call) -> dict[str, int]:
    """The first signature of a call's reply, with the thoughts it brings back when re-sent."""
    if call.error or not call.response:
        return {}
    parts = call.response["candidates"][0]["content"]["parts"]
    signed = [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]
    return dict.fromkeys(signed[:1], call.usage.thoughts_token_count or 0)
