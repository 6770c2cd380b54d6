"""What may leave the process: a client with a key, and a maximum of requests and of dollars.

`live_client()` takes the key from the environment, or from the keyboard, unseen. Within
`guarded(client, max_calls, max_dollars)` every request is counted before it leaves, those that
the SDK or a session repeats too, each at the most it can cost; the one too many is not sent.

A request's most is what it holds, every answer counted as long as an answer may be, and an answer
of that length to come. This file does *not* keep a key: it goes into the client, and nowhere
else. What is asked in an experiment is said in `experiments.py`.
"""

import getpass
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2
from google import genai

from chat_memory.connect import api_key, default_model, keyed_client
from chat_memory.errors import ChatError
from chat_memory.strings import t
from chat_memory.usage import Usage, cost
from offline_gemini import breakdown
from offline_gemini.sentences import refusal

# Sent as maxOutputTokens, so that a bill has an upper bound. It limits thoughts and text together
# (two recorded calls stopped at it). Whether a limit that is not reached changes how long a model
# thinks is not confirmed; no prediction here depends on it.
MOST = 4096


def live_client() -> genai.Client | None:
    """A client with the key in the environment, or one typed unseen; None if there is none.

    With CHAT_MEMORY_STATIC=1, and where nobody can type, there is none. The key goes into the
    client and nowhere else. Raises ValueError, without the key, for what can't be one.
    """
    key = "" if os.environ.get("CHAT_MEMORY_STATIC") == "1" else api_key() or _typed_key()
    if not key:
        print(t("experiment.no_key"))
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise refusal(t("experiment.bad_key"))
    print(t("banner.live", model=default_model()))
    return keyed_client(key)


def _typed_key() -> str:
    try:
        return getpass.getpass(t("experiment.key")).strip()
    except (EOFError, NotImplementedError):  # a notebook that is run without a reader
        return ""


@contextmanager
def guarded(client: genai.Client, max_calls: int, max_dollars: float) -> Iterator[None]:
    """Within this block the client sends at most so many requests, for at most so many dollars.

    Each request that leaves is counted, those that the SDK or a session repeats too, each at the
    most it can cost. The one that would pass a maximum raises CapReached instead.
    """
    calls, dollars = 0, 0.0

    def count_request(request: httpx2.Request) -> None:
        nonlocal calls, dollars
        model = request.url.path.rpartition("/")[2].partition(":")[0]
        calls, dollars = calls + 1, dollars + most(json.loads(request.read()), model)
        if calls > max_calls:
            raise CapReached(t("experiment.cap.calls", calls=max_calls))
        if dollars > max_dollars:
            raise CapReached(t("experiment.cap.dollars", dollars=max_dollars))

    http = client._api_client._httpx_client  # the SDK repeats requests below its public methods
    before = http.event_hooks
    http.event_hooks = {**before, "request": [*before["request"], count_request]}
    try:
        yield
    finally:
        http.event_hooks = before


def most(request: Mapping, model: str) -> float:
    """US dollars that a request can cost: every answer in it, and the one to come, `MOST` long.

    Raises ValueError if there is no price for the model.
    """
    bill = breakdown(request, model, {})
    sizes = zip(request["contents"], bill.contents, strict=True)
    sent = sum(MOST if content.get("role") == "model" else tokens for content, tokens in sizes)
    prompt = bill.system + bill.tools + sent
    return cost(Usage(prompt_token_count=prompt, candidates_token_count=MOST), model)


class CapReached(ChatError):
    """A request that would pass the maximum of an experiment; it was not sent."""
