"""What can go wrong in a turn, each as one sentence: what happened and what to do.

Every error here is a `ChatError`, so `except ChatError` catches a turn that failed. The SDK's own
error, with Gemini's whole answer, is its `__cause__`. After any of them the transcript is as it
was before the turn: run the cell again, and the question is asked once.

This file does *not* retry anything: `session.py` decides that, by `RateLimited.wait`.
"""

import json
import textwrap

import httpx2
from google.genai import errors, types

from chat_memory.contents import calls_of, text_of
from chat_memory.strings import t
from offline_gemini import rules
from offline_gemini.sentences import OneLine

LONGEST = 300  # characters of Gemini's own message that are shown
STOPS = {
    "MAX_TOKENS": "error.cut",
    "MALFORMED_FUNCTION_CALL": "error.malformed_call",
}
BROKEN = (httpx2.RemoteProtocolError, errors.UnknownApiResponseError, json.JSONDecodeError)


class ChatError(OneLine):
    """A turn that failed; the transcript is as it was before."""


class RequestRefused(ChatError):
    """Gemini, or its rules asked before sending, refuses the request."""


class RateLimited(ChatError):
    """Too many requests; `wait` is the seconds Gemini asks for, None if waiting won't help."""

    def __init__(self, message: str, wait: float | None):
        super().__init__(message)
        self.wait = wait


class Unavailable(ChatError):
    """Gemini is busy, has failed, or can't be reached."""


class NoAnswer(ChatError):
    """A reply that is blocked, empty, or did not stop normally."""


class TooManyCalls(ChatError):
    """The model went on calling tools beyond `max_calls` requests."""


def explain(error: BaseException, model: str) -> BaseException:
    """The ChatError for what the SDK or its HTTP library raised; any other error as it is."""
    if isinstance(error, rules.Refused):
        return _refused(error.code, error.status, error.message)
    if isinstance(error, errors.APIError):
        return _explain_api(error, model)
    if isinstance(error, BROKEN):
        return NoAnswer(t("error.dropped"))
    if isinstance(error, httpx2.HTTPError):
        return Unavailable(t("error.network"))
    return error


def _explain_api(error: errors.APIError, model: str) -> ChatError:
    if error.code == 429:
        wait = retry_delay(error)
        if wait is None:
            return RateLimited(t("error.quota"), None)
        return RateLimited(t("error.rate_limit", seconds=round(wait)), wait)
    if error.code >= 500:
        return Unavailable(t("error.busy", code=error.code, status=error.status))
    if error.code in (401, 403) or "API_KEY_INVALID" in str(error.details):
        return RequestRefused(t("error.bad_key"))
    if error.code == 404:
        return RequestRefused(t("error.no_model", model=model))
    return _refused(error.code, error.status, error.message)


def _refused(code: int, status: str | None, message: str | None) -> RequestRefused:
    words = textwrap.shorten(message or "", LONGEST)  # Gemini may quote a whole message
    return RequestRefused(t("error.refused", code=code, status=status, message=words))


def retry_delay(error: errors.APIError) -> float | None:
    """Seconds that a 429's RetryInfo asks for; None without one, or if waiting won't help.

    A quota for a whole day, or one with "limit: 0", does not pass by waiting.
    """
    body = error.details if isinstance(error.details, dict) else {}
    details = body.get("error", body).get("details") or []
    if "PerDay" in json.dumps(details) or "limit: 0" in (error.message or ""):
        return None
    delays = [detail["retryDelay"] for detail in details if "retryDelay" in detail]
    return float(delays[0].removesuffix("s")) if delays else None


def content_of(response: types.GenerateContentResponse) -> types.Content:
    """The content of a reply as it came; NoAnswer if it is blocked, empty, or broken off."""
    feedback = response.prompt_feedback
    if feedback and feedback.block_reason:
        raise NoAnswer(t("error.blocked", reason=feedback.block_reason.value))
    candidate = response.candidates[0] if response.candidates else types.Candidate()
    reason = candidate.finish_reason.value if candidate.finish_reason else None
    if reason is None:
        raise NoAnswer(t("error.dropped"))
    if reason != "STOP":
        raise NoAnswer(t(STOPS.get(reason, "error.stopped"), reason=reason))
    content = candidate.content
    if content is None or not (calls_of(content) or text_of(content).strip()):
        raise NoAnswer(t("error.empty"))
    return content if content.role else content.model_copy(update={"role": "model"})
