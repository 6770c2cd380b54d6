"""Faults a test can ask for: what Gemini answers on a bad day.

The shapes are Gemini's: an error with its code and details, a candidate without content, a
blocked prompt. Sources: ai.google.dev/gemini-api/docs/troubleshooting, and error reports in public
issue trackers.

This file does *not* decide at which call one happens: the caller of
`OfflineGemini(faults={2: "internal"})` does.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from offline_gemini.rules import Refused
from offline_gemini.sentences import refusal

if TYPE_CHECKING:
    from offline_gemini.protocol import Generated

TYPE = "type.googleapis.com/google.rpc."
METRIC = "generativelanguage.googleapis.com/generate_content_free_tier_requests"
HELP = "https://ai.google.dev/gemini-api/docs/rate-limits"
QUOTA_MESSAGE = (
    "You exceeded your current quota, please check your plan and billing details. For more "
    f"information on this error, head to: {HELP}.\n* Quota exceeded for metric: {METRIC}, limit: "
)
ERRORS = {
    "internal": (500, "INTERNAL", "An internal error has occurred. Please retry or report."),
    "unavailable": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
}
FINISH_REASONS = {
    "safety": "SAFETY",
    "recitation": "RECITATION",
    "max_tokens": "MAX_TOKENS",
    "malformed_call": "MALFORMED_FUNCTION_CALL",
}
SWAP = "summary_swaps_value"  # an older value, stated as current in a summary
NAMES = ("rate_limit", "per_day", *ERRORS, "dropped_stream", *FINISH_REASONS, "blocked", SWAP)


def check_faults(faults: Mapping[int, str]) -> None:
    """Raise ValueError for a fault that is not known, or a call number that is no number."""
    for number, name in faults.items():
        if name not in NAMES or not isinstance(number, int) or number < 1:
            raise refusal(
                f"faults={{{number!r}: {name!r}}} is not known: write the number of a call, "
                f"from 1, and one of {', '.join(NAMES)}."
            )


def faulty(fault: str, reply: "Generated", stream: bool, model: str) -> "Generated":
    """The reply as the fault leaves it; raises Refused where the fault is an error."""
    if fault in ("rate_limit", "per_day"):
        raise quota(model, per_day=fault == "per_day")
    if fault in ERRORS or (fault == "dropped_stream" and not stream):
        raise Refused(*ERRORS.get(fault, ERRORS["unavailable"]))
    if fault in FINISH_REASONS:
        reply.body["candidates"] = [{"finishReason": FINISH_REASONS[fault], "index": 0}]
        _take_off(reply.body["usageMetadata"], "candidatesTokenCount")
    if fault == "blocked":  # before the model thinks or writes
        del reply.body["candidates"]
        reply.body["promptFeedback"] = {"blockReason": "SAFETY"}
        _take_off(reply.body["usageMetadata"], "candidatesTokenCount", "thoughtsTokenCount")
    return reply


def _take_off(usage: dict, *names: str) -> None:
    for name in names:
        usage["totalTokenCount"] -= usage.pop(name, 0)


def quota(model: str, per_day: bool) -> Refused:
    """A 429: a quota per minute passes by waiting, a quota per day does not."""
    period, limit, delay = ("Day", "250", "40000s") if per_day else ("Minute", "10", "2s")
    violation = {
        "quotaMetric": METRIC,
        "quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier",
        "quotaDimensions": {"location": "global", "model": model},
        "quotaValue": limit,
    }
    details = [
        {"@type": f"{TYPE}QuotaFailure", "violations": [violation]},
        {"@type": f"{TYPE}Help", "links": [{"description": "Gemini API quotas", "url": HELP}]},
        {"@type": f"{TYPE}RetryInfo", "retryDelay": delay},
    ]
    message = f"{QUOTA_MESSAGE}{limit}, model: {model}\nPlease retry in {delay}."
    return Refused(429, "RESOURCE_EXHAUSTED", message, details)
