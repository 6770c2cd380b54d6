"""What our side says of a cache: prefix, cached share, money with and without; and what keeps it.

Every figure comes from a session that was played through the real SDK with `caching=True`. Not
tested here: when the stand-in gives a hit (test_caching.py, test_cached_contents.py).
"""

from dataclasses import replace

import pytest
from google.genai import types

from chat_memory import Chain, ChatSession, Everything, LastTurns, connect, play
from chat_memory.caching import both_ways, prefix, prefixes, share, uncached
from chat_memory.contents import user
from chat_memory.conversations import even_chat, filler
from chat_memory.recount import Record, recounted
from chat_memory.strategies import Context
from chat_memory.usage import breakdown, cost, price, total
from offline_gemini import count

MODEL = "gemini-3.6-flash"
RATE = price(MODEL)


def played(strategy, conversation="support", caching=True, **options):
    conversations = None if conversation == "support" else conversation
    client = connect(offline=True, quiet=True, caching=caching, conversations=conversations)
    return play(conversation, ChatSession(client, strategy, thinking=False), **options)


def money(calls):
    return sum(cost(call.usage, call.model) for call in calls)


def cached(calls):
    return [call.usage.cached_content_token_count or 0 for call in calls]


def prompts(calls):
    return [call.usage.prompt_token_count for call in calls]


def head(session):
    """Tokens before the first content: system and tools."""
    split = breakdown(session.calls[0])
    return split.system + split.tools


@pytest.fixture(scope="module")
def everything():
    return played(Everything())


@pytest.fixture(scope="module")
def sliding():
    return played(LastTurns(6))


def test_a_growing_list_begins_with_the_whole_prompt_before_it(everything):
    assert prefixes(everything.calls) == [0, *prompts(everything.calls)[:-1]]


def test_a_prefix_is_cached_from_the_minimum_on_and_below_it_not_at_all(everything):
    found = prefixes(everything.calls)
    assert cached(everything.calls) == [tokens if tokens >= 4096 else 0 for tokens in found]
    assert min(filter(None, cached(everything.calls))) < 4300 < max(prompts(everything.calls))


def test_a_list_held_under_3000_tokens_never_hits(sliding):
    assert max(prompts(sliding.calls)) < 3000
    assert not any(cached(sliding.calls)) and share(sliding.calls) == 0


def test_sliding_by_one_leaves_only_system_and_tools_at_every_new_turn(sliding):
    calls, begins = sliding.calls, prefixes(sliding.calls)
    new = [n for n in range(1, len(calls)) if calls[n].turn != calls[n - 1].turn]
    cut = [n for n in new if calls[n].turn > 6]
    assert len(cut) > 40
    assert {begins[n] for n in cut} == {head(sliding)}


def test_between_two_cuts_the_prefix_stays_and_the_cache_follows():
    chat = even_chat(40, answer=200, system=2000)
    session = played(LastTurns(12, drop_to=4), chat)
    begins = prefixes(session.calls)
    cuts = [n for n in range(1, 40) if begins[n] == head(session)]
    assert [n + 1 for n in cuts] == [13, 22, 31, 40]  # from 12 turns back to 4, then 9 at a time
    for n in set(range(1, 40)) - set(cuts):
        assert begins[n] == prompts(session.calls)[n - 1]
    assert cached(session.calls) == [tokens if tokens >= 4096 else 0 for tokens in begins]


def test_cutting_rarely_and_deep_costs_less_than_sliding_at_the_same_most_turns(everything):
    slid, deep = played(LastTurns(24)), played(LastTurns(24, drop_to=6))
    assert share(slid.calls) < share(deep.calls) < share(everything.calls)
    assert money(deep.calls) < 0.7 * money(slid.calls)


def test_a_shorter_prompt_costs_more_than_a_longer_one_whose_beginning_stays(everything, sliding):
    assert total(sliding.calls).prompt_token_count < (
        0.3 * total(everything.calls).prompt_token_count
    )
    assert money(sliding.calls) > money(everything.calls)


def test_6000_tokens_with_a_cached_system_cost_half_of_3000_without():
    short, long = (
        played(LastTurns(6), even_chat(24, answer=100, system=system)) for system in (2500, 5500)
    )
    assert (prompts(short.calls)[-1], prompts(long.calls)[-1]) == (3059, 6059)
    assert money(long.calls) < 0.5 * money(short.calls)
    assert not any(cached(short.calls))


def test_a_new_conversation_keeps_the_head_only():
    session = played(Everything(), even_chat(4, answer=50, system=4096), clear_every=2)
    assert prefixes(session.calls)[2] == head(session) == 4096 == cached(session.calls)[2]


def test_the_bill_adds_up_to_the_token_and_to_the_cent(everything):
    usage, calls = total(everything.calls), everything.calls
    assert usage.prompt_token_count == sum(prompts(calls))
    assert usage.cached_content_token_count == sum(cached(calls))
    parts = (
        (usage.prompt_token_count - usage.cached_content_token_count) * RATE.input,
        usage.cached_content_token_count * RATE.cached,
        usage.candidates_token_count * RATE.output,
    )
    assert sum(parts) / 1e6 == pytest.approx(money(calls), abs=1e-9)
    assert share(calls) == usage.cached_content_token_count / usage.prompt_token_count


def test_without_the_cache_the_same_calls_cost_what_a_client_without_one_bills(everything):
    plain = played(Everything(), caching=False)
    assert money(uncached(everything.calls)) == pytest.approx(money(plain.calls))
    saved = total(everything.calls).cached_content_token_count * (RATE.input - RATE.cached) / 1e6
    assert money(plain.calls) - money(everything.calls) == pytest.approx(saved)


def test_both_ways_holds_the_calls_as_they_are_and_without_the_cache(everything):
    ways = list(both_ways(everything.calls).values())
    assert ways == [everything.calls, uncached(everything.calls)]
    assert sum(cached(ways[1])) == 0 < sum(cached(ways[0]))


def test_a_call_that_failed_stays_as_it_is():
    client = connect(offline=True, quiet=True, faults={1: "internal"})
    session = ChatSession(client)
    with pytest.raises(Exception, match="busy"):
        session.send("Hello")
    assert uncached(session.calls)[0].usage is None
    assert share(session.calls) == 0
    assert prefixes(session.calls) == [0]


def test_a_prefix_is_of_one_model_and_one_purpose(everything):
    first, second = everything.calls[:2]
    assert prefix(second, first) == prompts([first])[0]
    assert prefix(second, replace(first, model="gemini-3.7-flash")) == 0
    assert prefix(second, None) == 0
    summary = replace(second, purpose="summary")
    assert prefixes([first, summary, second]) == [0, 0, prefix(second, first)]


@pytest.mark.parametrize("tokens", [0, 1, 700, 4096])
def test_filler_has_the_tokens_asked_for_and_none_is_estimated(tokens):
    assert count(filler(tokens)) == (tokens, False)


# --- explicit ----------------------------------------------------------------------------------


def pinned(session, text, **fields):
    """A cachedContents with the session's tools, and a strategy that names it."""
    tools = [{"function_declarations": [tool.declaration for tool in session.tools.values()]}]
    config = types.CreateCachedContentConfig(
        system_instruction=types.Content(parts=[types.Part(text=text)]),
        tools=tools if session.tools else None,
    )
    made = session.client.caches.create(model=session.model, config=config)
    tail = LastTurns(2)
    return made, lambda chat: replace(tail(chat), system=text, cached=made.name)


@pytest.fixture(scope="module")
def kept():
    chat = even_chat(6, answer=100, system=1500)
    client = connect(offline=True, quiet=True, caching=True, conversations=chat)
    session = ChatSession(client, thinking=False)
    made, session.strategy = pinned(session, chat.system)
    return made, play(chat, session), played(LastTurns(2), chat)


def test_a_pinned_layer_below_4096_is_cached_explicitly_and_only_so(kept):
    made, explicit, implicit = kept
    assert cached(explicit.calls) == [made.usage_metadata.total_token_count] * 6 == [1500] * 6
    assert not any(cached(implicit.calls))
    assert prompts(explicit.calls) == prompts(implicit.calls)
    assert money(explicit.calls) < 0.6 * money(implicit.calls)


def test_what_is_held_is_not_sent_and_yet_part_of_the_prompt(kept):
    _, explicit, implicit = kept
    for call, plain in zip(explicit.calls, implicit.calls, strict=True):
        assert "systemInstruction" not in call.request and "tools" not in call.request
        assert breakdown(call) == breakdown(plain)
    assert prefixes(explicit.calls) == prefixes(implicit.calls)


def test_a_recount_bills_what_is_held_too(kept):
    made, explicit, _ = kept
    whole = [replace(call, context=Context(call.contents)) for call in explicit.calls[:2]]
    assert Record(whole).prompts(Everything()) == prompts(whole)
    held = [call.usage.cached_content_token_count for call in whole]
    counted = Record(whole).recount(Everything())
    assert counted.cached == held and all(held) and counted.prompts == prompts(whole)
    one = recounted(explicit.calls[1:2], LastTurns(1))[0].usage.prompt_token_count
    assert one == 1500 + breakdown(explicit.calls[1]).new


def test_tools_that_are_held_are_called_by_a_session():
    client = connect(offline=True, quiet=True, caching=True)
    plain = played(Everything(), turns=3)
    session = ChatSession(client, thinking=False)
    session.tools = plain.tools
    made, session.strategy = pinned(session, filler(1200))
    play("support", session, turns=3)
    assert all(call.request["cachedContent"] == made.name for call in session.calls)
    assert len(session.calls) == len(plain.calls) > 3


def test_another_cache_has_no_common_prefix(kept):
    _, explicit, _ = kept
    first, second = explicit.calls[:2]
    other = replace(first, request=first.request | {"cachedContent": "cachedContents/other"})
    assert prefix(second, first) > 1500 and prefix(second, other) == 0


def test_a_chain_hands_on_the_name_of_a_cache():
    def named(transcript):
        return Context(transcript, system="pins", cached="cachedContents/a")

    for chain in (Chain(named, LastTurns(1)), Chain(LastTurns(1), named)):
        context = chain([user("Hello")])
        assert (context.system, context.cached) == ("pins", "cachedContents/a")
