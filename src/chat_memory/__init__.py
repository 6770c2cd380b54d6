"""How a chat with an LLM remembers: the program sends the whole list of messages again.

    from chat_memory import connect, ChatSession, LastTurns

    client = connect()
    session = ChatSession(client, strategy=LastTurns(max_turns=4), system="...")
    reply = session.send("My order 48213 arrived broken.")

Charts are imported on their own, as `chat_memory.charts`: plotly takes its time to load.
In a notebook, importing this also lets a NameError say which cell to run first (order.py).
This package does *not* hold Gemini's side of the wire: that is `offline_gemini`.
"""

from chat_memory import order
from chat_memory.agents import (
    ConclusionsOnly,
    DropThoughts,
    Focus,
    ShortenToolResults,
    conclude,
)
from chat_memory.calls import Call
from chat_memory.connect import connect
from chat_memory.conversations import play
from chat_memory.dialects import load_chat, save_chat
from chat_memory.errors import ChatError
from chat_memory.layers import KeyFacts, LayeredHybrid, SummaryPairs
from chat_memory.runs import load
from chat_memory.session import ChatSession, Reply
from chat_memory.strategies import Chain, Context, Everything, LastMessages, LastTurns
from chat_memory.usage import Price, Usage

__all__ = [
    "Call",
    "Chain",
    "ChatError",
    "ChatSession",
    "ConclusionsOnly",
    "Context",
    "DropThoughts",
    "Everything",
    "Focus",
    "KeyFacts",
    "LastMessages",
    "LastTurns",
    "LayeredHybrid",
    "Price",
    "Reply",
    "ShortenToolResults",
    "SummaryPairs",
    "Usage",
    "conclude",
    "connect",
    "load",
    "load_chat",
    "play",
    "save_chat",
]

order.watch()  # in a notebook, an error about a missing name says which cell to run first
