import json

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import MODEL, chat, step, transcripts

from chat_memory.contents import check, from_json, is_turn_start, model, to_json, turns, user
from chat_memory.strategies import (
    Chain,
    Context,
    Everything,
    LastMessages,
    LastTurns,
    context_of,
    name_of,
    reset,
)
from offline_gemini import OfflineGemini, Refused

quick = settings(max_examples=40, deadline=None)
counts = st.integers(1, 12)


@st.composite
def safe_strategies(draw):
    """Every strategy but LastMessages, which is there to fail."""
    most = draw(counts)
    last_turns = st.builds(LastTurns, st.just(most), st.none() | st.integers(1, most))
    simple = st.just(Everything()) | last_turns
    return draw(simple | st.builds(Chain, simple, simple))


def status_of(contents):
    body = json.dumps({"contents": to_json(contents)}).encode()
    path = f"/v1/models/{MODEL}:generateContent"
    return OfflineGemini([]).handle("POST", path, "key", body).status


@quick
@given(transcripts(), safe_strategies())
def test_every_context_is_one_that_gemini_accepts(transcript, strategy):
    contents = strategy(transcript).contents
    check(contents)
    assert status_of(contents) == 200


@quick
@given(transcripts(), safe_strategies())
def test_a_context_is_the_transcript_without_what_was_dropped(transcript, strategy):
    before = list(transcript)
    context = strategy(transcript)
    kept = [c for i, c in enumerate(transcript) if i not in context.dropped]
    assert list(map(id, context.contents)) == list(map(id, kept))
    assert list(map(id, transcript)) == list(map(id, before))


@quick
@given(transcripts(), safe_strategies())
def test_the_open_turn_is_never_cut(transcript, strategy):
    start, stop = turns(transcript)[-1]
    assert strategy(transcript).contents[-(stop - start) :] == transcript[start:stop]


@quick
@given(transcripts(), counts)
def test_max_turns_counts_the_open_turn(transcript, most):
    contents = LastTurns(most)(transcript).contents
    assert len(turns(contents)) == min(most, len(turns(transcript)))
    assert is_turn_start(contents[0])


@quick
@given(transcripts(max_turns=12), st.integers(0, 3))
def test_with_nothing_to_cut_the_context_is_the_transcript(transcript, more):
    enough = len(turns(transcript)) + more
    for strategy in (LastTurns(enough), LastTurns(enough, drop_to=1), LastMessages(10**6)):
        assert strategy(transcript).contents == transcript
        assert not strategy(transcript).dropped


@quick
@given(transcripts(max_turns=20), safe_strategies())
def test_a_round_trip_through_json_changes_nothing(transcript, strategy):
    again = from_json(to_json(transcript))
    made = to_json(strategy(transcript).contents)
    reset(strategy)
    assert to_json(strategy(again).contents) == made


@pytest.mark.parametrize(
    "strategy",
    [
        Everything(),
        LastMessages(3),
        LastTurns(2),
        LastTurns(2, 1),
        Chain(LastTurns(2), LastTurns(1)),
    ],
)
def test_empty_in_empty_out(strategy):
    assert strategy([]).contents == []
    assert not strategy([]).dropped


def test_what_stands_before_the_first_turn_is_kept_until_something_is_cut():
    greeted = [model("Hello, how can I help?"), *chat(2)]
    assert LastTurns(2)(greeted).contents == greeted
    assert LastTurns(1)(greeted).contents == greeted[3:]


def test_last_messages_splits_a_tool_pair_and_gemini_refuses_it():
    transcript = [
        user("Where is it?"),
        *step(["track"], b"s"),
        model("On its way."),
        user("When?"),
    ]
    with pytest.raises(Refused, match="function response turn comes immediately after"):
        check(LastMessages(3)(transcript).contents)
    with pytest.raises(Refused, match="function call turn comes immediately after"):
        check(LastMessages(4)(transcript).contents)
    check(LastMessages(5)(transcript).contents)


@pytest.mark.parametrize("make", [LastTurns, LastMessages])
@pytest.mark.parametrize("value", [0, -1, 2.5, "3", True, None])
def test_a_count_that_is_no_whole_number_from_1_on_is_refused(make, value):
    with pytest.raises(ValueError, match="must be a whole number from 1 on"):
        make(value)


@pytest.mark.parametrize("value", [0, -1, 2.5, "3", True, 5])
def test_drop_to_is_from_1_to_max_turns(value):
    with pytest.raises(ValueError, match="drop_to is"):
        LastTurns(4, drop_to=value)


def test_drop_to_cuts_rarely_and_deep():
    strategy = LastTurns(6, drop_to=2)
    kept = [len(turns(strategy(chat(n)).contents)) for n in range(1, 17)]
    assert kept == [1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6]


def test_between_two_cuts_the_beginning_stays_the_same():
    strategy, transcript, starts = LastTurns(6, drop_to=2), [], []
    for content in chat(16):
        transcript.append(content)
        starts.append(len(strategy(transcript).dropped))
    assert sorted(set(starts)) == [0, 10, 20]
    assert starts == sorted(starts)


@quick
@given(transcripts(), st.integers(1, 5), st.integers(0, 5), st.data())
def test_drop_to_remembers_only_what_it_could_count_again(transcript, drop_to, more, data):
    used = LastTurns(drop_to + more, drop_to)
    for _ in range(3):
        stop = data.draw(st.integers(0, len(transcript)))
        fresh = LastTurns(drop_to + more, drop_to)
        assert used(transcript[:stop]).contents == fresh(transcript[:stop]).contents


def test_drop_to_counts_anew_in_another_transcript():
    used = LastTurns(4, drop_to=2)
    used(chat(6))
    longer = [content for n in range(5) for content in [user("Hello"), *step(["track"], b"s")]]
    assert used(longer).contents == LastTurns(4, drop_to=2)(longer).contents


class Counted(list):
    """A transcript that counts how many of its contents are looked at."""

    looks = 0

    def __getitem__(self, index):
        got = super().__getitem__(index)
        self.looks += len(got) if isinstance(index, slice) else 1
        return got


@pytest.mark.parametrize("strategy", [LastTurns(8), LastTurns(8, 3), LastMessages(16)])
def test_the_cost_of_a_turn_depends_on_what_is_kept(strategy):
    looks = []
    for length in (100, 10_000):
        transcript = Counted(chat(length))
        strategy(transcript)
        transcript.looks = 0
        strategy(transcript)
        looks.append(transcript.looks)
    assert looks[0] == looks[1] < 60


def test_a_chain_counts_what_it_dropped_in_the_whole_transcript():
    transcript = chat(6)
    context = Chain(LastTurns(4), LastMessages(3))(transcript)
    assert context.contents == transcript[-3:]
    assert context.dropped == range(9)
    assert Chain(LastTurns(4), lambda t: t[1:])(transcript).dropped == [0, 1, 2, 3, 4]


def test_a_chain_whose_first_strategy_adds_a_content_still_names_what_was_dropped():
    transcript = chat(3)
    first = lambda t: [user("Earlier you said hello."), *t[2:]]  # noqa: E731
    assert Chain(first, LastTurns(1))(transcript).dropped == [0, 1, 2, 3]


def test_a_chain_keeps_the_last_system_and_resets_both():
    first = lambda t: Context(t, system="Be brief.")  # noqa: E731
    chain = Chain(first, LastTurns(2, drop_to=1))
    assert chain(chat(3)).system == "Be brief."
    assert chain.second._turns == 3
    reset(chain)
    assert chain.second._turns == 0


def test_a_plain_function_works_and_cannot_lose_a_message():
    transcript = chat(3)

    def newest(contents):
        contents[:] = contents[-1:]
        return contents

    context = context_of(newest, transcript)
    assert context.contents == transcript[-1:]
    assert context.dropped == [0, 1, 2, 3, 4]
    assert len(transcript) == 6
    assert name_of(newest) == "newest"


@pytest.mark.parametrize("made", [None, "text", ["text"], (user("a tuple"),)])
def test_a_function_that_returns_no_list_of_contents_is_named(made):
    with pytest.raises(ValueError, match="return a Context, or a list of contents"):
        context_of(lambda transcript: made, chat(1))


def test_strategies_are_named_as_they_are_written():
    chain = Chain(LastTurns(4, drop_to=2), LastMessages(3))
    assert name_of(chain) == "Chain(LastTurns(4, 2), LastMessages(3))"
    assert name_of(Everything()) == "Everything()"


def test_last_turns_names_its_layer():
    assert LastTurns(1)(chat(2)).layers == (("recent turns", 0, 2),)
    assert isinstance(LastTurns(1)(chat(2)).contents[0], types.Content)
