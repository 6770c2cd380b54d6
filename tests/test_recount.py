import pytest

from chat_memory import (
    Chain,
    ChatSession,
    Everything,
    LastMessages,
    LastTurns,
    connect,
    load,
    play,
)
from chat_memory.contents import user
from chat_memory.recount import Record, recounted
from chat_memory.strategies import Context
from chat_memory.usage import breakdown


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


def test_a_record_that_lacks_messages_is_refused():
    with pytest.raises(ValueError, match="record it with Everything"):
        Record(played(LastTurns(2)).calls)


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
