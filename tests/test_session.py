import json
import logging
import os
from pathlib import Path

import httpx2
import pytest
import wire
from google.genai import errors as sdk
from google.genai import types
from shop import SHOP

from chat_memory import (
    ChatError,
    ChatSession,
    Context,
    Everything,
    LastMessages,
    LastTurns,
    connect,
    play,
)
from chat_memory.contents import from_json, text_of, to_json, turns, user
from chat_memory.conversations import find
from chat_memory.errors import NoAnswer, RateLimited, RequestRefused, TooManyCalls, Unavailable
from chat_memory.usage import breakdown, published_runs, total
from offline_gemini.faults import NAMES, SWAP

CASE = (
    SHOP
    + """
[[turns]]
user = "Order 48213 and order 50001 are late."
states = ["order"]
steps = [
  [{ name = "lookup_order", args = { order_id = "48213" }, result = { status = "shipped" } },
   { name = "lookup_order", args = { order_id = "50001" }, result = { status = "packed" } }],
  [{ name = "lookup_order", args = { order_id = "50001" }, result = { status = "packed" } }],
]
reply = "One is shipped, one is packed, and both are on their way to you."
thoughts = 30
[[turns]]
user = "Which number did I give first?"
needs = ["order"]
reply = "48213."
without = "I do not know."
thoughts = 12
"""
)
FIRST = "Order 48213 and order 50001 are late."
SECOND = "Which number did I give first?"
ANSWER = "One is shipped, one is packed, and both are on their way to you."


def lookup_order(order_id: str) -> dict:
    """Look up an order."""
    return {"status": {"48213": "shipped"}.get(order_id, "packed")}


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(CASE, encoding="utf-8")
    return path


@pytest.fixture
def start(case):
    def start(faults=None, **options):
        client = connect(offline=True, conversations=case, faults=faults, quiet=True)
        return ChatSession(client, **{"tools": [lookup_order], "system": "You help."} | options)

    return start


def one_answer(*parts, **usage):
    client, bodies = wire.client(wire.said(*parts, **usage))
    return ChatSession(client), bodies


def test_each_request_sends_the_whole_list_again(start):
    session = start(tools=[])
    session.send(FIRST)
    session.send(SECOND)
    assert [len(call.contents) for call in session.calls] == [1, 3]
    assert session.calls[1].contents == session.transcript[:3]
    assert text_of(session.transcript[3]) == "48213."


def test_the_next_prompt_is_the_total_before_plus_the_question_and_two_roles(start):
    session = start(tools=[])
    first, second = session.send(FIRST).usage, session.send(SECOND).usage
    question = breakdown(session.calls[1]).new - 1  # without the token of its role
    assert second.prompt_token_count == first.total_token_count + question + 2


def test_a_reply_has_its_text_usage_and_calls(start):
    session = start()
    reply = session.send(FIRST)
    assert reply.text == ANSWER
    assert reply.calls == session.calls
    assert reply.usage is session.calls[-1].usage
    assert reply.contents == session.transcript[:-1]
    assert [call.answer for call in reply.calls] == [False, False, True]
    assert {call.turn for call in reply.calls} == {1}
    assert session.send(SECOND).calls[0].turn == 2


def test_the_parts_of_a_bill_add_up_to_the_prompt(start):
    session = start()
    session.send(FIRST)
    session.send(SECOND)
    for call in session.calls:
        split = breakdown(call)
        parts = split.system + split.tools + split.resent + split.new + split.thoughts
        assert parts == call.usage.prompt_token_count
    assert breakdown(session.calls[0]).tools > 0
    assert breakdown(session.calls[-1]).thoughts == 30


def test_seconds_are_measured_live_only(start):
    session, _ = one_answer("Hi")
    session.send("Hello")
    assert session.calls[0].seconds >= 0
    offline = start(tools=[])
    offline.send(SECOND)
    assert offline.calls[0].seconds is None


# The request


def plain_body(contents, **config):
    client, bodies = wire.client(wire.said("Hi"))
    off = types.AutomaticFunctionCallingConfig(disable=True)
    config = types.GenerateContentConfig(automatic_function_calling=off, **config)
    client.models.generate_content(model="gemini-3.6-flash", contents=contents, config=config)
    return bodies[0]


def no_parameters() -> str:
    """Say the time."""


def test_the_body_equals_that_of_the_sdks_plain_call(start):
    record = start()
    record.send(FIRST)
    record.send(SECOND)
    client, bodies = wire.client(wire.said("Hi"))
    session = ChatSession(
        client, system="You help.", tools=[lookup_order, no_parameters], thinking=False
    )
    session.transcript = record.transcript[:]
    session.send("한글 too?")
    assert bodies[0] == plain_body(
        session.calls[0].contents,
        system_instruction=types.Content(parts=[types.Part(text="You help.")]),
        tools=[lookup_order, no_parameters],
        thinking_config=types.ThinkingConfig(thinking_budget=0),
    )
    assert session.calls[0].request == bodies[0]


def test_the_sdk_calls_no_function_itself(start, caplog):
    caplog.set_level(logging.INFO)
    start().send(FIRST)
    assert "AFC" not in caplog.text


def test_an_image_is_sent_as_the_plain_call_sends_it_but_for_the_spelling():
    photo = types.Part.from_bytes(data=b"\xff\xfe\xfd", mime_type="image/png")
    session, bodies = one_answer("A cat.")
    session.transcript = [types.Content(role="user", parts=[photo])]
    session.send("What is it?")
    plain = json.dumps(plain_body(session.calls[0].contents)).replace("mime_type", "mimeType")
    assert bodies[0] == json.loads(plain)


def test_the_system_instruction_has_no_role(start):
    session = start(tools=[])
    session.send(SECOND)
    assert session.calls[0].request["systemInstruction"] == {"parts": [{"text": "You help."}]}


def test_a_strategys_system_wins():
    client, bodies = wire.client(wire.said("Hi"))
    strategy = lambda transcript: Context(transcript, system="Be brief.")  # noqa: E731
    ChatSession(client, strategy=strategy, system="You help.").send("Hello")
    assert bodies[0]["systemInstruction"]["parts"][0]["text"] == "Be brief."


def test_the_strategy_chooses_what_is_sent_and_the_transcript_keeps_all(start):
    session = start(strategy=LastTurns(1), tools=[])
    session.send(FIRST)
    assert session.send(SECOND).text == "I do not know."
    assert [len(call.contents) for call in session.calls] == [1, 1]
    assert session.calls[1].contents_before == 3
    assert session.calls[1].context.dropped == range(2)
    assert len(session.transcript) == 4


def test_an_edited_transcript_is_sent_as_it_is_now(start):
    session = start(tools=[])
    session.send(FIRST)
    session.transcript[0].parts[0].text = "Order 1 is late."
    assert session.send(SECOND).text == "I do not know."


def test_records_share_what_was_sent_before(start):
    session = start(tools=[])
    session.send(FIRST)
    session.send(SECOND)
    first, second = (call.request["contents"] for call in session.calls)
    assert second[0] is first[0]


def test_a_content_that_a_strategy_repeats_is_sent_twice():
    client, bodies = wire.client(wire.said("Hi"))
    session = ChatSession(client, strategy=lambda transcript: transcript * 2)
    session.send("Hello")
    session.send("Again")
    assert [len(body["contents"]) for body in bodies] == [2, 6]
    assert bodies[1]["contents"] == to_json(session.transcript[:3] * 2)


def test_thinking_can_be_turned_off(start):
    assert start(tools=[]).send(FIRST).usage.thoughts_token_count == 30
    assert start(tools=[], thinking=False).send(FIRST).usage.thoughts_token_count is None


# clear


def test_clear_begins_a_new_list_and_sends_nothing(start):
    session = start(strategy=LastTurns(3, drop_to=1), tools=[])
    session.send(FIRST)
    old = session.transcript
    session.clear()
    assert (session.transcript, len(old), len(session.calls)) == ([], 2, 1)
    assert session.send(SECOND).text == "I do not know."
    assert len(session.calls[1].contents) == 1


def test_clear_resets_the_strategy(start):
    class Counting:
        resets = 0

        def __call__(self, transcript):
            return transcript

        def reset(self):
            self.resets += 1

    session = start(strategy=Counting())
    session.clear()
    assert session.strategy.resets == 1


def test_a_clear_from_within_a_turn_wins():
    def forget() -> str:
        """Forget everything."""
        session.clear()
        return "done"

    client, _ = wire.client(wire.said(wire.asked("forget")), wire.said("Forgotten."))
    session = ChatSession(client, tools=[forget])
    assert session.send("Forget me.").text == "Forgotten."
    assert session.transcript == []


# Tools


def test_parallel_calls_are_answered_in_one_content(start):
    session = start()
    session.send(FIRST)
    roles = [content.role for content in session.transcript]
    assert roles == ["user", "model", "user", "model", "user", "model"]
    responses = [part.function_response for part in session.transcript[2].parts]
    asked = [part.function_call for part in session.transcript[1].parts]
    assert [r.id for r in responses] == [c.id for c in asked]
    assert [r.response["status"] for r in responses] == ["shipped", "packed"]
    assert len(turns(session.transcript)) == 1


def test_a_tool_that_raises_is_told_to_the_model():
    def broken(order_id: str) -> dict:
        """Look up an order."""
        raise TimeoutError("the shop is closed")

    client, bodies = wire.client(
        wire.said(wire.asked("broken", order_id="1")), wire.said("Sorry.")
    )
    session = ChatSession(client, tools=[broken])
    assert session.send("Where is it?").text == "Sorry."
    response = bodies[1]["contents"][-1]["parts"][0]["functionResponse"]["response"]
    assert response == {"error": "broken failed: TimeoutError: the shop is closed"}


def test_a_loop_that_never_ends_is_stopped_and_leaves_no_trace():
    runs = []

    def again() -> str:
        """Ask again."""
        runs.append(1)
        return "again"

    client, _ = wire.client(wire.said(wire.asked("again")))
    session = ChatSession(client, tools=[again], max_calls=4)
    with pytest.raises(TooManyCalls, match="in 4 calls and gave no answer"):
        session.send("Go.")
    assert (session.transcript, len(session.calls), len(runs)) == ([], 4, 3)
    assert not any(call.answer for call in session.calls)


def test_an_interrupt_in_a_tool_rolls_the_turn_back():
    def stopped() -> str:
        """Wait."""
        raise KeyboardInterrupt

    client, _ = wire.client(wire.said(wire.asked("stopped")))
    session = ChatSession(client, tools=[stopped])
    with pytest.raises(KeyboardInterrupt):
        session.send("Go.")
    assert session.transcript == []


# Errors: the transcript is as before, or complete


FAULTS = [fault for fault in NAMES if fault not in ("rate_limit", SWAP)]


@pytest.mark.parametrize("stream", [None, lambda text: None], ids=["whole", "stream"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_fault_the_transcript_is_as_before_and_the_cell_runs_again(
    start, fault, number, stream
):
    whole, session = start(), start(faults={number: fault})
    expected = [whole.send(FIRST, stream).text, whole.send(SECOND, stream).text]
    answers, failures = [], 0
    for question in (FIRST, SECOND):
        before = list(session.transcript)
        try:
            answers.append(session.send(question, stream).text)
        except ChatError as error:
            assert session.transcript == before
            assert session.calls[-1].error == str(error) and "\n" not in str(error)
            failures += 1
            answers.append(session.send(question, stream).text)
    assert (answers, failures) == (expected, 1)
    assert to_json(session.transcript) == to_json(whole.transcript)
    assert [call.turn for call in session.calls if call.answer] == [1, 2]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_rate_limit_is_waited_out_once(start, number):
    waits = []
    session = start(faults={number: "rate_limit"}, sleep=waits.append)
    assert session.send(FIRST).text == ANSWER
    assert waits == [2.0]
    assert "wait 2 seconds" in session.calls[number - 1].error
    assert session.calls[number].request == session.calls[number - 1].request


def test_a_second_rate_limit_is_an_error(start):
    waits = []
    session = start(faults={1: "rate_limit", 2: "rate_limit"}, sleep=waits.append)
    with pytest.raises(RateLimited, match="wait 2 seconds"):
        session.send(FIRST)
    assert (waits, session.transcript) == ([2.0], [])


def test_offline_nothing_waits_by_default(start):
    start(faults={1: "rate_limit"}).send(FIRST)


VIOLATION = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (wire.error(429, "RESOURCE_EXHAUSTED", details=wire.retry_in("61s")), "wait 61 seconds"),
        (wire.error(429, "RESOURCE_EXHAUSTED"), "quota of this key is used up"),
        (
            wire.error(
                429, "RESOURCE_EXHAUSTED", "Exceeded, limit: 0", details=wire.retry_in("5s")
            ),
            "quota of this key is used up",
        ),
        (
            wire.error(429, "RESOURCE_EXHAUSTED", details=[VIOLATION, *wire.retry_in("5s")]),
            "quota of this key is used up",
        ),
    ],
)
def test_a_rate_limit_that_waiting_does_not_help_is_an_error_at_once(answer, words):
    waits = []
    client, bodies = wire.client(answer)
    session = ChatSession(client, sleep=waits.append)
    with pytest.raises(RateLimited, match=words):
        session.send("Hello")
    assert (waits, len(bodies)) == ([], 1)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (wire.error(400, "INVALID_ARGUMENT", "Bad\n thing."), RequestRefused, "Bad thing."),
        (wire.error(400, "INVALID_ARGUMENT", "Bad " * 999), RequestRefused, "Bad Bad [...]"),
        (
            wire.error(
                400, "INVALID_ARGUMENT", "API key", details=[{"reason": "API_KEY_INVALID"}]
            ),
            RequestRefused,
            "does not accept the key",
        ),
        (wire.error(403, "PERMISSION_DENIED"), RequestRefused, "does not accept the key"),
        (wire.error(404, "NOT_FOUND"), RequestRefused, "no model called gemini-3.6-flash"),
        (wire.error(500, "INTERNAL"), Unavailable, "500 INTERNAL"),
        (wire.error(503, "UNAVAILABLE"), Unavailable, "503 UNAVAILABLE"),
        (httpx2.ConnectError("no route"), Unavailable, "can't be reached"),
        (httpx2.ReadTimeout("slow"), Unavailable, "can't be reached"),
        (wire.said("Half an ans", finish="MAX_TOKENS"), NoAnswer, "ask for a shorter one"),
        (wire.said("Hi", finish="SAFETY"), NoAnswer, "SAFETY"),
        (wire.said("Hi", finish=None), NoAnswer, "broke off"),
        (wire.said(), NoAnswer, "answered with nothing"),
        (wire.said(" \n"), NoAnswer, "answered with nothing"),
        ({"candidates": [{"finishReason": "STOP"}]}, NoAnswer, "answered with nothing"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, NoAnswer, "blocked the message (SAFETY)"),
    ],
)
def test_each_error_is_one_sentence_and_changes_nothing(answer, kind, words):
    client, _ = wire.client(answer)
    session = ChatSession(client)
    with pytest.raises(kind) as caught:
        session.send("Hello")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert session.transcript == []
    assert session.calls[0].error == str(caught.value)
    assert session.calls[0].reply is None


def test_the_sdks_own_error_is_the_cause():
    client, _ = wire.client(wire.error(400, "INVALID_ARGUMENT"))
    with pytest.raises(RequestRefused) as caught:
        ChatSession(client).send("Hello")
    assert isinstance(caught.value.__cause__, sdk.APIError)


def test_an_answer_that_was_billed_and_not_kept_is_in_the_usage():
    answer = wire.said("Half", finish="MAX_TOKENS", promptTokenCount=9, totalTokenCount=20)
    client, _ = wire.client(answer)
    session = ChatSession(client)
    with pytest.raises(NoAnswer):
        session.send("Hello")
    assert total(session.calls).total_token_count == 20


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The message is blank"),
        (" \n\t", "The message is blank"),
        (None, "A message is a text, in quotes, and this is of type NoneType"),
        (7, "A message is a text, in quotes, and this is of type int"),
        (["Hello"], "A message is a text, in quotes, and this is of type list"),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_is_sent(start, text, words):
    session = start()
    with pytest.raises(ValueError, match=words):
        session.send(text)
    assert (session.calls, session.transcript) == ([], [])


def test_half_a_letter_is_refused(start):
    with pytest.raises(ValueError, match="half a letter"):
        start().send("Hello \ud83d")


def test_a_list_that_gemini_refuses_is_not_sent():
    client, bodies = wire.client(wire.said("Hi"))
    session = ChatSession(client, strategy=lambda transcript: [])
    with pytest.raises(RequestRefused, match="400 INVALID_ARGUMENT.*contents is not specified"):
        session.send("Hello")
    assert (bodies, session.transcript) == ([], [])


def test_a_split_tool_pair_is_refused_in_geminis_words(start):
    session = start(strategy=LastMessages(2))
    with pytest.raises(RequestRefused, match="immediately after a function call turn|user turn"):
        session.send(FIRST)
    assert session.transcript == []


@pytest.mark.parametrize("strategy", [LastTurns, "LastTurns", None])
def test_what_is_no_strategy_is_refused(start, strategy):
    with pytest.raises(ValueError, match="can't be used: give one such as"):
        start(strategy=strategy)


def test_a_reply_without_a_role_is_the_models():
    answer = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
    session = ChatSession(wire.client(answer)[0])
    session.send("Hello")
    assert session.transcript[1].role == "model"


# Streams


def test_a_stream_gives_the_pieces_and_the_same_answer(start):
    pieces = []
    streamed, whole = start(), start()
    reply = streamed.send(FIRST, stream=pieces.append)
    assert "".join(pieces) == reply.text == whole.send(FIRST).text
    assert len(pieces) > 1
    assert reply.usage == whole.calls[-1].usage


def test_a_signature_in_a_last_empty_part_is_kept_apart():
    chunks = [
        wire.said("One ", finish=None),
        wire.said("two.", finish=None),
        wire.said({"text": ""}, finish=None),
        wire.said({"text": "", "thoughtSignature": "AQID"}),
    ]
    client, bodies = wire.client(chunks)
    session = ChatSession(client)
    session.send("Count.", stream=lambda text: None)
    parts = to_json(session.transcript)[1]["parts"]
    assert parts == [{"text": "One two."}, {"text": "", "thoughtSignature": "AQID"}]
    assert session.calls[0].signatures == {"AQID": 0}


def test_signed_and_thought_parts_are_not_merged():
    chunks = [
        wire.said(
            {"text": "Hmm ", "thought": True}, {"text": "so.", "thought": True}, finish=None
        ),
        wire.said("A", {"text": "B", "thoughtSignature": "AQID"}, "C", finish=None),
        wire.said("D"),
    ]
    client, _ = wire.client(chunks)
    session, heard = ChatSession(client), []
    assert session.send("Go.", stream=heard.append).text == "ABCD"
    texts = [part.text for part in session.transcript[1].parts]
    assert (texts, heard) == (["Hmm so.", "A", "B", "CD"], ["A", "B", "C", "D"])


def test_of_usage_in_a_stream_the_last_value_counts():
    chunks = [
        wire.said("a", finish=None, promptTokenCount=7, thoughtsTokenCount=5),
        wire.said("b", finish=None, promptTokenCount=7, candidatesTokenCount=1),
        wire.said("c", promptTokenCount=7, candidatesTokenCount=3, totalTokenCount=15),
    ]
    client, _ = wire.client(chunks)
    used = ChatSession(client).send("Go.", stream=lambda text: None).usage
    counts = used.prompt_token_count, used.candidates_token_count, used.thoughts_token_count
    assert (counts, used.total_token_count) == ((7, 3, 5), 15)


def test_a_last_chunk_without_a_finish_reason_takes_none_away():
    usage_only = {"candidates": [{}], "usageMetadata": {"promptTokenCount": 3}}
    client, _ = wire.client([wire.said("Hi"), usage_only])
    reply = ChatSession(client).send("Go.", stream=lambda text: None)
    assert (reply.text, reply.usage.prompt_token_count) == ("Hi", 3)


def test_a_listener_that_fails_rolls_the_turn_back(start):
    def full(text):
        raise OSError("disk full")

    session = start()
    with pytest.raises(OSError, match="disk full"):
        session.send(FIRST, stream=full)
    assert session.transcript == []


# Keys and names


def test_the_key_is_nowhere_but_in_the_client(caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    client, _ = wire.client(wire.error(400, "INVALID_ARGUMENT"))
    session = ChatSession(client)
    with pytest.raises(ChatError) as caught:
        session.send("Hello")
    shown = f"{session!r}{session.calls!r}{client!r}{caught.value!r}{caplog.text}"
    assert "SECRET-KEY" not in shown + session.save(tmp_path / "run.json").read_text()


def test_the_model_can_be_chosen(start, monkeypatch):
    monkeypatch.setenv("CHAT_MEMORY_MODEL", "gemini-3.8-flash")
    assert start().model == "gemini-3.8-flash"
    assert start(model="gemini-3.5-flash").model == "gemini-3.5-flash"
    with pytest.raises(RequestRefused, match="no model called gpt-5"):
        start(model="gpt-5").send("Hello")


def test_a_session_says_what_it_is(start):
    session = start(strategy=LastTurns(4))
    session.send(SECOND)
    assert repr(session) == "ChatSession(LastTurns(4), 1 turns, gemini-3.6-flash)"
    assert start().strategy == Everything()


def test_a_list_of_contents_from_elsewhere_goes_on(start):
    session = start(tools=[])
    session.transcript = from_json(to_json([user(FIRST)]))
    assert session.send(SECOND).text == "48213."


def test_the_published_calls_come_out_of_a_session_to_the_token():
    if not os.environ.get("CHAT_MEMORY_TOKENIZER"):
        pytest.skip("CHAT_MEMORY_TOKENIZER names no vocabulary to count with")
    names = ("prompt", "thoughts", "candidates", "total")
    for number, run in ((1, "v1-1"), (2, "v1-2")):
        path = Path(__file__).parent / "data" / f"published_run_{number}.toml"
        script = find(path)
        client = connect(offline=True, conversations=[path], quiet=True)
        session = ChatSession(client, strategy=Everything(), system=script.system)
        play(path, session)
        rows = [row for row in published_runs() if row["run"] == run]
        assert [len(call.contents) for call in session.calls] == [row["contents"] for row in rows]
        counts = [[row[name] for name in names] for row in rows]
        assert [list(map(call.usage.to_json().get, USAGE)) for call in session.calls] == counts


USAGE = ("promptTokenCount", "thoughtsTokenCount", "candidatesTokenCount", "totalTokenCount")
