"""Generated transcripts that Gemini accepts: text, images, tools, parallel calls, open turns."""

from google.genai import types
from hypothesis import strategies as st

from chat_memory.contents import from_json, model, user
from offline_gemini.billing import sign

MODEL = "gemini-3.6-flash"
WORDS = st.text("abc 한글,.?\n", min_size=1, max_size=12).filter(str.strip)
IMAGE = types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
FILE = types.Part.from_uri(file_uri="files/manual", mime_type="application/pdf")


def signed(number: int) -> bytes:
    row = {
        "role": "model",
        "parts": [{"text": "", "thoughtSignature": sign(7, MODEL, str(number))}],
    }
    return from_json([row])[0].parts[0].thought_signature


SIGNATURES = [signed(number) for number in range(8)]


def call(name: str, number: int, signature: bytes | None = None) -> types.Part:
    asked = types.FunctionCall(id=f"{number}", name=name, args={"order_id": number})
    return types.Part(function_call=asked, thought_signature=signature)


def response(name: str, number: int, result: object) -> types.Part:
    found = types.FunctionResponse(id=f"{number}", name=name, response={"result": result})
    return types.Part(function_response=found)


def step(names: list[str], signature: bytes) -> list[types.Content]:
    """A model content that asks for calls, the first of them signed, and the user's responses."""
    calls = [call(name, n, None if n else signature) for n, name in enumerate(names)]
    responses = [response(name, n, "shipped") for n, name in enumerate(names)]
    return [
        types.Content(role="model", parts=calls),
        types.Content(role="user", parts=responses),
    ]


questions = st.one_of(
    WORDS.map(user),
    st.just(types.Content(role="user", parts=[IMAGE])),
    st.builds(lambda text: types.Content(role="user", parts=[FILE, types.Part(text=text)]), WORDS),
)
answers = st.builds(
    lambda text, signature: types.Content(
        role="model", parts=[types.Part(text=text, thought_signature=signature)]
    ),
    WORDS,
    st.none() | st.sampled_from(SIGNATURES),
)
steps = st.builds(
    step,
    st.lists(st.sampled_from(["lookup_order", "track"]), min_size=1, max_size=3),
    st.sampled_from(SIGNATURES),
)


@st.composite
def turn(draw, closed: bool = True) -> list[types.Content]:
    contents = [draw(questions).model_copy(deep=True)]
    for pair in draw(st.lists(steps, max_size=2)):
        contents += pair
    return contents + ([draw(answers)] if closed else [])


@st.composite
def transcripts(draw, max_turns: int = 60) -> list[types.Content]:
    """A transcript that ends in an open turn, as a strategy gets it."""
    closed = draw(st.lists(turn(), max_size=max_turns - 1))
    return [content for each in closed for content in each] + draw(turn(closed=False))


def chat(turns: int) -> list[types.Content]:
    """A plain chat of closed turns."""
    pairs = [[user(f"question {n}"), model(f"answer {n}")] for n in range(1, turns + 1)]
    return [content for pair in pairs for content in pair]


# An agent's work: conclusions, long results, thoughts, calls spread over contents.

LOG = "".join(f"line {n} of the log is like all others\n" for n in range(40))
SMALL = [{"id": n, "state": "open"} for n in range(60)]
NESTED = {"log": LOG, "tail": ["short", LOG[:400]], "code": 7}
RESULTS = ({"result": "shipped"}, {"log": LOG}, {"rows": SMALL}, NESTED, {"error": LOG}, {})
NOTED = ({"noted": True}, {"error": "The conclusion is blank."})
THOUGHT = types.Part(text="Let me see.", thought=True)


def asks(*calls: types.Part) -> types.Content:
    return types.Content(role="model", parts=list(calls))


def brings(*responses: types.Part) -> types.Content:
    return types.Content(role="user", parts=list(responses))


def concluded(text: str, number: int = 0, signature: bytes | None = SIGNATURES[0]) -> types.Part:
    """A call of `conclude`."""
    asked = types.FunctionCall(id=f"{number}", name="conclude", args={"conclusion": text})
    return types.Part(function_call=asked, thought_signature=signature)


def brought(name: str, number: int, found: dict) -> types.Part:
    answer = types.FunctionResponse(id=f"{number}", name=name, response=found)
    return types.Part(function_response=answer)


@st.composite
def works(draw) -> list[types.Content]:
    """A step of an agent: parallel calls, perhaps spread over contents, and their responses."""
    names = draw(st.lists(st.sampled_from(["track", "track", "conclude"]), min_size=1, max_size=3))
    signature = draw(st.sampled_from(SIGNATURES))
    calls, responses = [], []
    for number, name in enumerate(names):
        first = None if number else signature
        ends = name == "conclude"
        calls.append(concluded("c", number, first) if ends else call(name, number, first))
        found = draw(st.sampled_from(NOTED if ends else RESULTS))
        responses.append(brought(name, number, found))
    spread = st.sampled_from([lambda parts: [parts], lambda parts: [[part] for part in parts]])
    asked = [asks(*parts) for parts in draw(spread)(calls)]
    answered = [brings(*parts) for parts in draw(spread)(responses)]
    before = draw(st.sampled_from([[], [], [model("One moment.")], [asks(THOUGHT)]]))
    if draw(st.integers(0, 9)) == 0:
        answered[-1].parts.append(types.Part(text="And hurry."))
    return [content.model_copy(deep=True) for content in [*before, *asked, *answered]]


endings = st.one_of(
    answers,
    st.just(asks(THOUGHT)),
    st.just(asks(types.Part(text="", thought_signature=SIGNATURES[1]))),
    st.builds(lambda a: asks(THOUGHT, *a.parts), answers),
)


@st.composite
def agent_turn(draw, closed: bool = True) -> list[types.Content]:
    contents = [draw(questions).model_copy(deep=True)]
    for step_ in draw(st.lists(works(), max_size=4)):
        contents += step_
    ending = draw(endings).model_copy(deep=True) if closed and draw(st.integers(0, 5)) else None
    return contents + ([ending] if ending else [])  # now and then a turn was interrupted


@st.composite
def agent_transcripts(draw, max_turns: int = 8) -> list[types.Content]:
    """What an agent's strategy gets: long turns, an open one at the end."""
    before = draw(st.sampled_from([[], [], [model("Hello.")]]))
    closed = draw(st.lists(agent_turn(), max_size=max_turns - 1))
    turns = [content for each in closed for content in each]
    greeting = [content.model_copy(deep=True) for content in before]
    return greeting + turns + draw(agent_turn(closed=False))
