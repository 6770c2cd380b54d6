"""Gemini's side of the wire, played inside the process.

A small, honest, stateless server behind the google-genai SDK's own HTTP transport. It counts as
Gemini bills, refuses what Gemini refuses, and answers from a script or by quoting the request.
It is no language model, and it knows nothing of the package `chat_memory`.
"""

from offline_gemini.billing import Breakdown, breakdown, prompt_token_count, read_signature
from offline_gemini.protocol import OfflineGemini
from offline_gemini.rules import Refused
from offline_gemini.scripts import Script, ScriptError, load_script
from offline_gemini.tokens import Count, count

__all__ = [
    "Breakdown",
    "Count",
    "OfflineGemini",
    "Refused",
    "Script",
    "ScriptError",
    "breakdown",
    "count",
    "load_script",
    "prompt_token_count",
    "read_signature",
]
