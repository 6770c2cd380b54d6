"""The bundled cases: twins in two languages, each playable as a whole, each showing its one thing.

A case is there to be counted: independent questions that need two turns, a serial number that is
given first and asked for late, wishes that add up. Chapter 10 reads figures of them aloud; what it
says is held here in both languages, measured as the chapter measures it.

support and debug are left out where their own files prove the same. Not tested here: the format
(the loader refuses a broken file), how a row is measured (test_comparison.py), and whether the
probes of the three cases to choose by are honest (test_choice_cases.py).
"""

import functools

import pytest
from cases import FOLDER, LANGUAGES, assert_twins, load, said_in

from chat_memory import Everything, LastTurns
from chat_memory.agents import DropThoughts
from chat_memory.comparison import compared, measured
from chat_memory.contents import text_of, turns
from chat_memory.layers import KeyFacts
from offline_gemini.scripts import Found, current, superseded, visible

FILES = {
    language: {path.name.partition(".")[0] for path in FOLDER.glob(f"*.{language}.toml")}
    for language in LANGUAGES
}
WITH_A_FILE_OF_THEIR_OWN = {"support", "debug"}
NAMES = sorted((FILES["en"] & FILES["ko"]) - WITH_A_FILE_OF_THEIR_OWN)
CASES = {name: load(name) for name in NAMES}
AFTER_CLEAR = {("queue", 3)}  # the turn that shows what /clear takes away
OLD_DATE_READ, DATE_ASKED = 23, 27  # turns of the bug desk

each_case = pytest.mark.parametrize("name", NAMES)
each_language = pytest.mark.parametrize("language", LANGUAGES)


@functools.cache
def row_of(name, language, strategy=Everything, *parameters):
    """A case measured under a strategy, new for it; cached, as no test changes it."""
    return measured(CASES[name][language], strategy(*parameters))


@functools.cache
def ladder_of(name, language):
    return {row.strategy: row for row in compared(CASES[name][language])}


def lost(row):
    """The facts that were not in the request that asked for them."""
    assert len(row.score.probes) == row.probes > 0 and not row.refused
    return {fact for probe in row.score.probes for fact in probe.missing}


def probed(name, language):
    return {fact for turn in CASES[name][language].turns if turn.probe for fact in turn.needs}


def answers(row):
    return [text_of(call.reply) for call in row.calls if call.answer]


def their_words(transcript):
    """The last six turns whole, and of the older ones what the customer said."""
    starts = [start for start, _ in turns(transcript)]
    old, recent = starts[:-6], starts[-6:]
    return [transcript[start] for start in old] + transcript[recent[0] :]


def test_every_case_is_there_in_both_languages():
    assert FILES["en"] == FILES["ko"] > WITH_A_FILE_OF_THEIR_OWN


@each_case
def test_the_two_languages_are_twins(name):
    assert_twins(*CASES[name].values())


@each_case
@each_language
def test_with_the_whole_transcript_every_turn_gets_its_reply_and_nobody_asks_again(name, language):
    row, said = row_of(name, language), [t for t in CASES[name][language].turns if t.user]
    expected = [t.without if (name, n) in AFTER_CLEAR else t.reply for n, t in enumerate(said, 1)]
    assert answers(row) == expected
    assert row.score.tool_accuracy == (1 if any(turn.steps for turn in said) else None)


@each_case
@each_language
def test_who_lacks_a_fact_does_not_name_it(name, language):
    case = CASES[name][language]
    for number, turn in enumerate(case.turns):
        for fact in turn.needs:
            assert not visible(case.facts[fact], [turn.without]), f"turn {number + 1}: without"
            new = current(Found(case, number), fact)
            assert not visible(new, [turn.outdated]), f"turn {number + 1}: outdated"


@each_case
@each_language
def test_every_spelling_of_a_fact_is_used(name, language):
    case = CASES[name][language]
    said = [text for turn in case.turns for text in (*said_in(turn), turn.again)]
    for fact, spellings in case.facts.items():
        for spelling in spellings:
            assert visible([spelling], said), f"{fact}: {spelling}"


# The hotline: independent questions


@each_language
def test_a_hotline_needs_two_turns_and_nothing_that_keeps_all_is_cheaper(language):
    rows = ladder_of("hotline", language)
    for worth in ("dollars", "uncached"):
        costs = {n: getattr(row, worth) for n, row in rows.items() if not lost(row)}
        least = min(costs.values())
        assert [name for name, cost in costs.items() if cost == least] == ["LastTurns(2)"]


@each_language
def test_each_probe_of_the_hotline_leans_on_the_turn_before_it(language):
    alone = row_of("hotline", language, LastTurns, 1)
    assert lost(alone) == probed("hotline", language)
    assert len(alone.score.repeated) == alone.probes == 4


# The bug desk: one fact from the first turn


@each_language
def test_facts_keep_the_serial_number_that_six_turns_lose_with_nearly_all_that_is_asked(language):
    turns_kept, facts = (row_of("bug_desk", language, s, 6) for s in (LastTurns, KeyFacts))
    assert "serial" in lost(turns_kept) and turns_kept.kept <= 1 / 4
    assert facts.from_case and not lost(facts)
    assert facts.prompt < row_of("bug_desk", language).prompt / 2


@each_language
def test_two_turns_lose_all_of_the_bug_desk_and_the_customer_repeats_himself(language):
    row = row_of("bug_desk", language, LastTurns, 2)
    assert lost(row) == probed("bug_desk", language)
    assert len(row.score.repeated) == row.probes


@each_language
def test_a_report_brings_the_replaced_date_back_between_its_correction_and_the_question(language):
    case = CASES["bug_desk"][language]
    old = superseded(Found(case, DATE_ASKED - 1), "deadline")
    new = current(Found(case, DATE_ASKED - 1), "deadline")
    report = said_in(case.turns[OLD_DATE_READ - 1])
    assert visible(old, report) and not visible(new, report)


@each_language
def test_what_the_customer_said_holds_all_that_the_bug_desk_needs(language):
    ours = measured(CASES["bug_desk"][language], their_words)
    assert not lost(ours) and not ours.score.repeated
    assert ours.prompt < row_of("bug_desk", language).prompt / 2


@each_language
def test_dropped_thoughts_save_a_third_of_the_bug_desk_s_price_without_a_cache(language):
    bare, whole = row_of("bug_desk", language, DropThoughts), row_of("bug_desk", language)
    assert not lost(bare) and 0.30 < 1 - bare.uncached / whole.uncached < 0.40


# The recommendation: wishes that add up


@each_language
@pytest.mark.parametrize("kept", [2, 6])
def test_few_recent_turns_lose_every_wish_that_the_recommendation_asks_for(language, kept):
    row = row_of("recommend", language, LastTurns, kept)
    assert lost(row) == probed("recommend", language) and row.kept == 0
