"""`connect()`: the real google-genai client, live with a key and offline without one.

Nothing in a notebook knows which one answers. Offline, the client's HTTP transport is
`OfflineGemini`, a stand-in inside the process: the request and its token count are real, the
words come from a script. One line says which one it is.

Live, the SDK repeats a request that met a passing server error. A 429 is not among them: the
session waits as long as Gemini asks, which the SDK does not read.

This file does *not* print or keep a key: it goes into the client, and a client is never printed.
"""

import os
import ssl
import weakref
from collections.abc import Iterable, Mapping

from google import genai
from google.genai import types

from chat_memory.conversations import Conversation, bundled, find_all
from chat_memory.strings import t
from offline_gemini import OfflineGemini, Script
from offline_gemini.sentences import refusal

MODEL = "gemini-3.6-flash"  # the model of the published runs
KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")  # in the SDK's order
RETRIES = types.HttpRetryOptions(attempts=3, http_status_codes=[408, 500, 502, 503, 504])
TIMEOUT = 120_000  # milliseconds
NO_CERTIFICATES = {"ssl": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}  # reading them costs 16 ms

_scripts: weakref.WeakKeyDictionary[genai.Client, list[Script]] = weakref.WeakKeyDictionary()


def connect(
    offline: bool | None = None,
    conversations: Conversation | Iterable[Conversation] | None = None,
    faults: Mapping[int, str] | None = None,
    caching: bool = False,
    quiet: bool = False,
) -> genai.Client:
    """A client that answers: live if a key is set, else offline; `offline` decides otherwise.

    `conversations` (one or several, as `play` takes them) replaces the bundled ones,
    `faults={2: "rate_limit"}` makes call 2 of this client fail, `caching` lets it bill cached
    prefixes and make cachedContents; all three are for offline. A line says who answers, unless
    `quiet`.

    Raises ValueError if a live client has no key or is asked for faults, and for a fault or a
    conversation that there is not; ScriptError if a conversation's file is broken.
    """
    key = api_key()
    if offline or (offline is None and not key):
        client, banner = _offline_client(conversations, faults, caching), "banner.offline"
    elif not key:
        raise refusal(t("error.no_key"))
    elif faults:
        raise refusal(t("error.faults"))
    else:
        client, banner = keyed_client(key), "banner.live"
    if not quiet:
        print(t(banner, model=default_model()))
    return client


def keyed_client(key: str) -> genai.Client:
    """A client that reaches Gemini with this key; the SDK repeats what met a passing error."""
    options = types.HttpOptions(retry_options=RETRIES, timeout=TIMEOUT)
    return genai.Client(vertexai=False, api_key=key, http_options=options)


def _offline_client(
    conversations: Conversation | Iterable[Conversation] | None,
    faults: Mapping[int, str] | None,
    caching: bool,
) -> genai.Client:
    scripts = find_all(bundled() if conversations is None else conversations)
    sync, asynchronous = OfflineGemini(scripts, faults, caching).clients()
    options = types.HttpOptions(
        httpx_client=sync, httpx_async_client=asynchronous, async_client_args=NO_CERTIFICATES
    )
    client = genai.Client(vertexai=False, api_key="offline", http_options=options)
    _scripts[client] = scripts
    return client


def offline_scripts(client: genai.Client) -> list[Script] | None:
    """The conversations an offline client of `connect` knows; None for any other client."""
    return _scripts.get(client)


def is_offline(client: genai.Client) -> bool:
    """Whether this client came from `connect` and no request of it leaves the process."""
    return client in _scripts


def api_key() -> str | None:
    """The key in the environment, None if there is none."""
    found = [os.environ.get(name, "").strip() for name in KEYS]
    return next((key for key in found if key), None)


def default_model() -> str:
    """The model that CHAT_MEMORY_MODEL names, else the one of the published runs."""
    return os.environ.get("CHAT_MEMORY_MODEL", "").strip() or MODEL
