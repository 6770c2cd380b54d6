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
