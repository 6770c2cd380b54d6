"""A chat in Gemini's, OpenAI's and Anthropic's JSON, or plain text, in and out.

    from chat_memory.dialects import load_chat, save_chat, sendable

    transcript = load_chat("my_agent.jsonl")
    transcript.notes                                    # what was repaired, or not kept
    save_chat(transcript, "for_gemini.json", "gemini")  # and what this form can't hold
    client.models.generate_content(model=..., contents=sendable(transcript))

The list is the same everywhere: who said what, in which order. What differs is where the system
stands, what a tool's result is, and what has to come back unchanged.

This package does *not* send anything, and it counts no tokens.
"""

from chat_memory.dialects.chats import load_chat, save_chat
from chat_memory.dialects.sending import PLACEHOLDER, sendable
from chat_memory.dialects.transcript import ChatFileError, Transcript

__all__ = ["PLACEHOLDER", "ChatFileError", "Transcript", "load_chat", "save_chat", "sendable"]
