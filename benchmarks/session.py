"""What a session's call costs offline, beside the SDK that is given contents as types.

The session builds the JSON body itself; the SDK makes types of every content again at each call.
The same offline stand-in answers both, and its work is in both figures.

This file does *not* measure a network or a model: live, those take a hundred times longer.
Whole conversations are played in playing.py.
"""

from collections.abc import Iterator

from google import genai
from google.genai import types
from ratios import Ratio
from timing import Measure, least, timed

from chat_memory import ChatSession, connect
from chat_memory.calls import NO_AUTOMATIC_CALLS
from chat_memory.connect import default_model
from chat_memory.contents import model, user
from chat_memory.conversations import even_chat
from chat_memory.tables import Table

AIMS = {8: 3, 501: 15}  # turns, the open one counted: milliseconds that one call may take


def report(quick: bool) -> Iterator[str | Table | Ratio]:
    """One table, in milliseconds and as ratios."""
    yield "One call with all history, milliseconds; every answer has 100 words."
    rows = [call_row(turns, rounds=1 if quick else 25) for turns in list(AIMS)[: 1 + (not quick)]]
    yield Table(["turns", "contents", "session", "aim", "SDK with types", "ratio"], rows)
    for _, contents, session, aim, sdk, _ in rows:
        yield Ratio(
            f"a call with {contents:,} contents", session, "ms", "SDK with types", sdk, aim
        )


def call_row(turns: int, rounds: int) -> tuple:
    """One call at `turns` turns: the session's, and the SDK's with the same contents."""
    script = even_chat(turns)
    client = connect(offline=True, conversations=script, quiet=True)
    session = ChatSession(client)
    for turn in script.turns[:-1]:
        session.transcript += [user(turn.user), model(turn.reply)]
    contents = [*session.transcript, user(script.turns[-1].user)]

    def send() -> float:
        seconds = timed(lambda: session.send(script.turns[-1].user))
        del session.transcript[len(contents) - 1 :]
        return seconds

    best = least({"session": send, "SDK": plain_call(client, contents)}, rounds)
    ours, theirs = best["session"] * 1e3, best["SDK"] * 1e3
    ratio = round(theirs / ours, 1)
    return turns, len(contents), round(ours, 1), AIMS[turns], round(theirs, 1), ratio


def plain_call(client: genai.Client, contents: list[types.Content], **config: object) -> Measure:
    """The SDK's own call with contents as types."""
    settings = types.GenerateContentConfig(automatic_function_calling=NO_AUTOMATIC_CALLS, **config)
    ask = {"model": default_model(), "contents": contents, "config": settings}
    return lambda: timed(lambda: client.models.generate_content(**ask))
