"""What a session's call costs offline, beside the SDK that is given contents as types.

The session builds the JSON body itself; the SDK makes types of every content again at each call.
The same offline stand-in answers both, and its work is in both figures. Then the support case is
played, tools and thinking included, and the SDK sends the same requests.

This file does *not* measure a network or a model: live, those take a hundred times longer.
"""

from collections.abc import Iterator

from google import genai
from google.genai import types
from timing import Measure, least, timed

from chat_memory import Call, ChatSession, Everything, LastTurns, connect, play
from chat_memory.calls import NO_AUTOMATIC_CALLS
from chat_memory.connect import default_model
from chat_memory.contents import model, user
from chat_memory.conversations import even_chat
from chat_memory.strategies import Strategy
from chat_memory.tables import Table

AIMS = {8: 3, 501: 15}  # turns, the open one counted: milliseconds that one call may take
PLAYED = (24, 48)  # turns of the support case


def report(quick: bool) -> Iterator[str | Table]:
    """Both tables, in milliseconds and as ratios."""
    yield "One call with all history, milliseconds; every answer has 100 words."
    rows = [call_row(turns, rounds=1 if quick else 25) for turns in list(AIMS)[: 1 + (not quick)]]
    yield Table(["turns", "contents", "session", "aim", "SDK with types", "ratio"], rows)
    yield "The support case with its tools, milliseconds for all turns."
    played = (4,) if quick else PLAYED
    ways = [(turns, strategy) for strategy in (Everything(), LastTurns(6)) for turns in played]
    rows = [played_row(turns, strategy, rounds=1 if quick else 7) for turns, strategy in ways]
    heads = ["turns", "strategy", "calls", "session", "a call", "SDK with types", "ratio"]
    yield Table(heads, rows)


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
    return turns, len(contents), *_compared(best["session"], best["SDK"], AIMS[turns])


def _compared(session: float, sdk: float, middle: float) -> tuple:
    """The end of a row: the session's milliseconds, a figure to read them by, the SDK's, ratio."""
    return round(session * 1e3, 1), middle, round(sdk * 1e3, 1), round(sdk / session, 1)


def plain_call(client: genai.Client, contents: list[types.Content], **config: object) -> Measure:
    """The SDK's own call with contents as types."""
    settings = types.GenerateContentConfig(automatic_function_calling=NO_AUTOMATIC_CALLS, **config)
    ask = {"model": default_model(), "contents": contents, "config": settings}
    return lambda: timed(lambda: client.models.generate_content(**ask))


def played_row(turns: int, strategy: Strategy, rounds: int) -> tuple:
    """The support case played through a session, and its requests sent by the SDK alone."""
    session = ChatSession(connect(offline=True, quiet=True), strategy)
    play("support", session, turns=turns)

    def fresh() -> float:
        again = ChatSession(connect(offline=True, quiet=True), strategy)
        return timed(lambda: play("support", again, turns=turns))

    resend = [resent(session, call) for call in session.calls]
    best = least({"session": fresh, "SDK": lambda: sum(each() for each in resend)}, rounds)
    calls = len(session.calls)
    a_call = round(best["session"] * 1e3 / calls, 1)
    return turns, repr(strategy), calls, *_compared(best["session"], best["SDK"], a_call)


def resent(session: ChatSession, call: Call) -> Measure:
    """A request of the session as the SDK's own call."""
    tools = [types.Tool.model_validate(tool) for tool in call.request["tools"]]
    system = types.Content(parts=[types.Part(text=session.system)])
    return plain_call(session.client, call.contents, system_instruction=system, tools=tools)
