"""A recount is the bill: what a strategy would have sent, to the token, and Gemini's refusals."""

from dataclasses import replace
from unittest import mock

import pytest
from google.genai import types
from hypothesis import given, settings
from transcripts import SIGNATURES, chat, response, step, transcripts
from transcripts import call as asks

from chat_memory import Chain, Everything, LastMessages, LastTurns, connect, load, play
from chat_memory.agents import ConclusionsOnly, DropThoughts, Focus, ShortenToolResults
from chat_memory.caching import uncached
from chat_memory.calls import body
from chat_memory.contents import check, model, user
from chat_memory.conversations import even_chat, find
from chat_memory.errors import ChatError
from chat_memory.ladder import ladder
from chat_memory.layers import KeyFacts, LayeredHybrid, SummaryPairs
from chat_memory.recount import Record, recount_table, recounted
from chat_memory.session import ChatSession
from chat_memory.strategies import Context, bind, context_of
from chat_memory.tools import tool
from chat_memory.triggers import over_turns
from chat_memory.usage import Price, breakdown, cost, total
from offline_gemini import Refused, Script, prompt_token_count
from offline_gemini import breakdown as bill
from offline_gemini.billing import known_thoughts
from offline_gemini.caching import common_prefix, prompt_pieces


def played(strategy, model="gemini-3.6-flash", **options):
    client = connect(offline=True, quiet=True)
    session = ChatSession(client, strategy=strategy, model=model)
    return play("support", session, turns=8, **options)


def prompts(session):
    return [call.usage.prompt_token_count for call in session.calls]


def resent(session, strategy):
    """What the server bills when each recorded transcript is sent through the strategy."""
    billed = []
    for call in session.calls:
        again = ChatSession(connect(offline=True, quiet=True), strategy, session.system)
        again.tools, again.model = session.tools, session.model
        again.transcript = call.contents[:-1]
        again._call(strategy(call.contents), len(call.contents), None)
        billed.append(again.calls[0].usage.prompt_token_count)
    return billed


@pytest.mark.parametrize("model", ["gemini-3.6-flash", "gemini-3.1-pro"])
@pytest.mark.parametrize("most", [1, 2, 5, 8])
def test_a_recount_equals_what_the_strategy_builds_and_the_server_bills(model, most):
    session = played(Everything(), model)
    assert Record(session.calls).prompts(LastTurns(most)) == resent(session, LastTurns(most))


def test_with_everything_the_recount_is_the_record(tmp_path):
    session = played(Everything(), clear_every=3)
    assert Record(session.calls).prompts(Everything()) == prompts(session)
    loaded = load(session.save(tmp_path / "run.json"))
    assert Record(loaded.calls).prompts(Everything()) == prompts(session)


def test_a_question_after_clear_begins_a_new_chat():
    session = played(Everything(), clear_every=1)
    assert Record(session.calls).prompts(Everything()) == prompts(session)


@pytest.mark.parametrize(("system", "tokens"), [(None, 0), ("345", 3 - 80)])
def test_a_strategy_that_adds_to_the_list_is_billed_for_it(system, tokens):
    session = played(Everything())
    assert breakdown(session.calls[0]).system == 80

    def greeted(transcript):
        return Context([user("12"), *transcript], system=system)

    more = [prompt + 3 + tokens for prompt in prompts(session)]
    assert Record(session.calls).prompts(greeted) == more


def test_a_chain_is_recounted_like_the_strategy_it_amounts_to():
    record = Record(played(Everything()).calls)
    chained = record.prompts(Chain(Everything(), LastTurns(2)))
    assert chained == record.prompts(LastTurns(2))


@pytest.mark.parametrize("strategy", [LastTurns(2), DropThoughts()])
def test_a_record_that_lacks_messages_is_refused(strategy):
    with pytest.raises(ValueError, match="record it with Everything"):
        Record(played(strategy).calls)


def test_recounted_calls_weigh_what_the_record_says_and_keep_their_replies():
    session = played(Everything())
    calls = recounted(session.calls, LastTurns(2))
    weights = [call.usage.prompt_token_count for call in calls]
    assert weights == Record(session.calls).prompts(LastTurns(2)) != prompts(session)
    assert [call.reply for call in calls if call.answer] == [
        call.reply for call in session.calls if call.answer
    ]


def test_a_recounted_call_that_gemini_refuses_has_its_error_and_no_usage():
    calls = recounted(played(Everything()).calls, LastMessages(2))
    refused = [call for call in calls if call.error]
    assert refused and all(call.usage is None for call in refused)
    assert "immediately after" in refused[0].error


# --- a transcript, as it is read from a file -----------------------------------------------------


def lookup(order_id: str) -> str:
    """Look an order up."""


class Loaded(list):
    """A list of contents with what `load_chat` adds."""

    system = "You are a support assistant."
    tools = [tool(lookup).declaration]


MODELS = ["gemini-3.6-flash", "gemini-3.1-pro"]
MADE = {
    "Everything": Everything,
    "LastMessages": lambda: LastMessages(3),
    "LastTurns": lambda: LastTurns(3),
    "LastTurns deep": lambda: LastTurns(5, drop_to=2),
    "SummaryPairs": lambda: SummaryPairs(3, 1),
    "LayeredHybrid": lambda: LayeredHybrid(["Order 48213."], 2, over_turns(4)),
    "ShortenToolResults": lambda: ShortenToolResults(50),
    "ConclusionsOnly": lambda: ConclusionsOnly(1),
    "Focus": lambda: Focus("track"),
    "DropThoughts": DropThoughts,
    "Chain": lambda: Chain(DropThoughts(), LastTurns(4)),
    "a function": lambda: every_other_turn,
    "a careless function": lambda: copied,
    "another system": lambda: moody,
}


CARELESS = ("LastMessages", "a function", "a careless function")  # they may split a pair


def every_other_turn(transcript):
    return [
        c for place, c in enumerate(transcript) if place % 4 < 2 or place > len(transcript) - 3
    ]


def moody(transcript):
    system = "Be brief." if len(transcript) % 3 else None
    return Context(transcript, system=system, pinned="Hi." if len(transcript) % 5 else "")


def copied(transcript):
    return [content.model_copy() for content in transcript[-5:]]


def replies(transcript):
    """Where the calls of a transcript end: before each run of contents of the model."""
    return [
        place
        for place, content in enumerate(transcript)
        if place and content.role == "model" and transcript[place - 1].role != "model"
    ]


def sent(chat, strategy, ask):
    """The contexts and request bodies that a strategy sends, made one after another."""
    bind(strategy, ask)
    for place in replies(chat):
        context = context_of(strategy, chat[:place])
        yield context, body(context, chat.system, [tool(lookup)], True)


def is_refused(context):
    try:
        check(context.contents)
    except Refused:
        return True
    return False


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", MADE)
@settings(deadline=None, max_examples=10)
@given(contents=transcripts(max_turns=14).filter(replies))
def test_a_recount_is_the_bill_of_what_the_strategy_would_send(name, model, contents):
    chat = Loaded(contents)
    server = ChatSession(connect(offline=True, conversations=[], quiet=True), model=model)
    requests = list(sent(chat, MADE[name](), server.ask))
    record = Record(chat, model)
    counted = record.recount(MADE[name]())
    assert (
        counted.prompts
        == record.prompts(MADE[name]())
        == [prompt_token_count(request, model, known_thoughts(request)) for _, request in requests]
    )
    assert counted.refused == sum(is_refused(context) for context, _ in requests)
    assert not counted.refused or name in CARELESS
    assert [replace(each, estimated=False) for each in counted.extra] == [
        replace(call.usage, estimated=False) for call in server.calls
    ]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", MADE)
@settings(deadline=None, max_examples=10)
@given(contents=transcripts(max_turns=10).filter(replies))
def test_what_a_cache_could_bring_is_the_common_beginning(name, model, contents):
    chat = Loaded(contents)
    server = ChatSession(connect(offline=True, conversations=[], quiet=True), model=model)
    with mock.patch("chat_memory.counter.minimum", lambda model: 1):
        counted = Record(chat, model).recount(MADE[name]())
    before, found = [], []
    for _, request in sent(chat, MADE[name](), server.ask):
        pieces = prompt_pieces(request, bill(request, model, known_thoughts(request)))
        found.append(common_prefix(pieces, before))
        before = pieces
    assert counted.cached == found


def test_it_begins_anew_for_every_strategy_and_gives_the_same_again():
    record = Record(Loaded(chat(12)))
    first = [record.recount(made()) for made in MADE.values()]
    again = [record.recount(made()) for made in reversed(MADE.values())][::-1]
    assert first == again
    strategy = SummaryPairs(3, 1)
    assert record.recount(strategy) == record.recount(strategy)


# --- beside a chat that was really played --------------------------------------------------------

EVEN = even_chat(40, answer=120, system=4200)


def even(strategy):
    client = connect(offline=True, conversations=EVEN, caching=True, quiet=True)
    return play(EVEN, ChatSession(client, strategy, thinking=False))


@pytest.mark.parametrize(
    "name", ["Everything", "LastTurns", "LastTurns deep", "SummaryPairs", "LayeredHybrid"]
)
def test_a_chat_whose_answers_stay_the_same_is_recounted_as_it_would_have_been_played(name):
    played = even(MADE[name]())
    counted = Record(even(Everything())).recount(MADE[name]())
    answers = [call for call in played.calls if call.purpose == "answer"]
    assert counted.prompts == [call.usage.prompt_token_count for call in answers]
    assert counted.cached == [call.usage.cached_content_token_count or 0 for call in answers]
    assert counted.extra == [call.usage for call in played.calls if call.purpose != "answer"]
    assert counted.total == total(played)
    assert counted.dollars == cost(total(played), played.model)
    assert counted.uncached == pytest.approx(cost(total(uncached(played.calls)), played.model))
    assert any(counted.cached) and (counted.uncached > counted.dollars)


def test_thoughts_that_are_dropped_are_off_the_bill_of_a_recount_too():
    script = find("support")

    def session(strategy):
        client = connect(offline=True, conversations=script, caching=True, quiet=True)
        return play(script, ChatSession(client, strategy))

    counted = Record(session(Everything())).recount(DropThoughts())
    assert counted.total == total(session(DropThoughts()))


def test_a_transcript_is_recounted_as_its_calls_are():
    session = even(Everything())
    transcript = Loaded(session.transcript)
    transcript.system, transcript.tools = session.system, []
    for strategy in (Everything(), LastTurns(4), DropThoughts()):
        assert Record(transcript).recount(strategy) == Record(session).recount(strategy)


def test_thoughts_of_a_transcript_are_those_its_signatures_tell():
    session = played(Everything())
    transcript = Loaded(session.transcript)
    transcript.system, transcript.tools = session.system, declared(session)
    counted = Record(transcript).recount(Everything())
    assert counted.usage == total(session)
    foreign = [c.model_copy(deep=True) for c in transcript]
    for part in (part for content in foreign for part in content.parts):
        part.thought_signature = part.thought_signature and b"of another server"
    without = Record(foreign).recount(Everything())
    assert without.usage.thoughts_token_count == 0 < counted.usage.thoughts_token_count


def declared(session):
    return [each.declaration for each in session.tools.values()]


# --- what a chat may hold ------------------------------------------------------------------------


def test_a_transcript_has_a_call_for_each_reply_and_neighbours_are_one():
    split = [
        model("Welcome."),
        user("Where are my two orders?"),
        types.Content(role="model", parts=[asks("track", 1, SIGNATURES[0])]),
        types.Content(role="model", parts=[asks("track", 2)]),
        types.Content(
            role="user", parts=[response("track", 1, "sea"), response("track", 2, "air")]
        ),
        model("At sea, and in the air."),
        user("Thanks."),
    ]
    counted = Record(split).recount(Everything())
    assert len(counted.prompts) == 2 and counted.refused == 0


@pytest.mark.parametrize("items", [[], [user("Hello?")], [model("Welcome."), user("Hello?")]])
def test_a_chat_without_a_reply_has_nothing_to_recount(items):
    for count in (Record, recount_table):
        with pytest.raises(ValueError, match="This chat holds no reply of a model, so there is"):
            count(items)


def test_a_failed_call_is_left_out_of_a_recount_and_stays_in_a_chart():
    client = connect(offline=True, quiet=True, faults={3: "internal", 5: "max_tokens"})
    session = ChatSession(client)
    for text in ("One.", "Two.", "Three.", "Four.", "Five."):
        try:
            session.send(text)
        except ChatError:
            session.send(text)
    failed = [n for n, each in enumerate(session.calls) if each.error]
    assert failed == [2, 4] and session.calls[4].usage
    record = Record(session.calls)
    answered = [each for each in session.calls if not each.error]
    assert record.prompts(Everything()) == [c.usage.prompt_token_count for c in answered]
    assert record.prompts(LastTurns(1)) == [
        call.usage.prompt_token_count
        for call in recounted(session.calls, LastTurns(1))
        if not call.error
    ]
    again = recounted(session.calls, LastTurns(1))
    assert [n for n, each in enumerate(again) if each.error] == failed
    assert again[2] == session.calls[2]


def test_after_clear_a_strategy_begins_anew_as_in_a_session():
    hybrid = LayeredHybrid(["Order 48213."], issue="The desk is crooked.")
    session = ChatSession(connect(offline=True, quiet=True), hybrid, thinking=False)
    play("support", session, turns=4, clear_every=2)
    hybrid.issue = "The desk is crooked."
    plain = ChatSession(connect(offline=True, quiet=True), thinking=False)
    record = Record(play("support", plain, turns=4, clear_every=2))
    expected = prompts(session)
    assert record.recount(hybrid).prompts == expected
    hybrid.issue = "The desk is crooked."
    assert record.prompts(hybrid) == expected


def test_a_strategy_s_own_calls_are_no_part_of_a_record():
    script = even_chat(3)
    client = connect(offline=True, conversations=script, quiet=True)
    session = play(script, ChatSession(client, thinking=False))
    session.ask([user("Summarise.")], "summary")
    assert len(Record(session).prompts(Everything())) == 3


def test_a_prompt_over_the_window_is_refused_and_not_billed():
    long = [each for n in range(3) for each in (user(f"{n} " + "1" * 500_000), model("Noted."))]
    counted = Record(long).recount(Everything())
    assert counted.refused == 1 and "exceeds the maximum number of tokens" in counted.why
    assert counted.why.startswith("call 3 is refused (400 INVALID_ARGUMENT)")
    assert counted.usage.prompt_token_count == sum(counted.prompts[:2])
    assert Record(long).recount(LastTurns(1)).refused == 0


def test_gemini_s_first_sentence_is_kept_and_refused_calls_are_not_billed():
    contents = [user("Where?"), *step(["track"], SIGNATURES[0]), model("At sea."), user("When?")]
    chat = Loaded([*contents, model("Soon."), user("Thanks."), model("Welcome.")])
    counted = Record(chat).recount(LastMessages(1))
    assert (counted.refused, len(counted.prompts)) == (1, 4)
    assert counted.why.startswith("call 2 is refused") and "function call turn" in counted.why
    assert counted.usage.prompt_token_count == sum(counted.prompts) - counted.prompts[1]


def test_facts_are_found_only_in_a_case_file_so_the_strategy_is_stopped():
    chat = Loaded(globals()["chat"](20))
    counted = Record(chat).recount(KeyFacts(2))
    assert counted.stopped and counted.why.startswith("call 5: It asks for facts")
    with pytest.raises(ValueError, match="asks for facts"):
        Record(chat).prompts(KeyFacts(2))


def test_an_error_in_a_function_of_yours_is_raised():
    def broken(transcript):
        raise KeyError("order")

    with pytest.raises(KeyError):
        Record(Loaded(chat(2))).recount(broken)


def test_a_fact_is_gone_from_the_call_on_at_which_it_is_not_sent():
    said = [user("My serial number is SN-4411."), model("Noted."), *chat(6)]
    facts = {"serial": ["SN-4411"], "never": ["SN-9"]}
    record = Record(said, facts=facts)
    assert record.recount(Everything()).gone == {"serial": 0, "never": 0}
    assert record.recount(LastTurns(3)).gone == {"serial": 4, "never": 0}
    pinned = LayeredHybrid(["Serial SN-4411."], 2, over_turns(3))
    assert record.recount(pinned).gone["serial"] == 0


# --- the table -----------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_strategy_that_needs_no_case_file():
    chat = Loaded(globals()["chat"](30))
    table = recount_table(chat, facts={"first": ["answer 1"]})
    names = [row[0] for row in table.rows]
    every = list(ladder(Script(name="")))
    assert names == [name for name in every if "KeyFacts" not in name]
    assert table.heads[-1] == "first gone" and "KeyFacts is left out" in repr(table)
    whole = Record(chat).recount(Everything())
    assert table.rows[0][:4] == ("Everything()", 30, sum(whole.prompts), max(whole.prompts))
    assert table.rows[0][-1] == 0 < table.rows[1][-1]
    assert max(map(len, repr(table).splitlines())) <= 100


def test_refused_and_stopped_strategies_have_dashes_and_a_note():
    chat = Loaded(globals()["chat"](8))

    def nothing(transcript):
        return None

    def empty(transcript):
        return [] if len(transcript) > 5 else transcript

    table = recount_table(chat, [LastTurns(2)], also=[nothing, empty], price=Price(1, 1, 1))
    assert [row[2] for row in table.rows][1:] == [None, None]
    text = " ".join(repr(table).split())
    assert "nothing stops at call 1: The strategy nothing returned NoneType" in text
    assert "empty: 5 of 8 calls are refused; call 4 is refused (400 INVALID_ARGUMENT)" in text


def test_a_price_of_yours_and_the_strategy_s_own_calls_are_in_the_dollars():
    chat = Loaded(globals()["chat"](20))
    counted = Record(chat).recount(SummaryPairs(4, 2), "mine", Price(input=1, output=0, cached=1))
    assert counted.strategy == "mine" and counted.extra
    assert counted.dollars * 1e6 == pytest.approx(counted.total.prompt_token_count)
    own = sum(each.prompt_token_count for each in counted.extra)
    assert counted.extra_dollars * 1e6 == pytest.approx(own)
    assert counted.total.prompt_token_count == sum(counted.prompts) + own


def test_words_that_are_not_in_the_table_are_estimated(monkeypatch):
    monkeypatch.delenv("CHAT_MEMORY_TOKENIZER", raising=False)
    known, unknown = ([user(text), model("1")] for text in ("1", "Zyxomatrup"))
    assert not Record(known).recount(Everything()).estimated
    assert Record(unknown).recount(Everything()).estimated
    assert "counts are estimates" in repr(recount_table(unknown))
