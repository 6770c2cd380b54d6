"""The agent's case, data/conversations/debug.*.toml: what chapters 09 and 10 count on.

One turn holds fifteen steps with long results, and the line that explains all stands in the
middle of the first one. Each probe asks for what stood in another place, so that each strategy
loses its own. English and Korean are twins.

Not tested here: what the strategies do in general (test_agents.py), and how much any of them
saves beyond the half that is promised for this case.
"""

import ast
import functools

import cases
import pytest
from cases import assert_twins, calls, said_in

from chat_memory import ChatSession, Everything, LastTurns, connect, play
from chat_memory.agents import ConclusionsOnly, DropThoughts, Focus, ShortenToolResults
from chat_memory.contents import calls_of, from_json, text_of
from chat_memory.scores import score
from offline_gemini import count
from offline_gemini.replies import leaves
from offline_gemini.scripts import Found, current, fold, visible

PATHS, CASES = cases.paths("debug"), cases.load("debug")
LONG, CUT, TOO_EARLY, CORRECTION, BOARD = 2, 7, 9, 6, 10  # turns
MOST_BYTES = 160_000
HOLD_OUTS = {"author", "test_count"}
BROUGHT = {
    LONG: "error_seq",
    CUT: "clock_ahead",
    TOO_EARLY: "extension",
}  # by the turn's own tools

each_language = pytest.mark.parametrize("language", CASES)
thinking_or_not = pytest.mark.parametrize("thinking", [True, False], ids=["thinking", "not"])


def turn_of(language, number):
    return CASES[language].turns[number - 1]


def log_of(language, number):
    return calls(turn_of(language, number))[0].result["text"]


def conclusions(turn):
    return [call.args["conclusion"] for call in calls(turn) if call.name == "conclude"]


@functools.cache
def played(language, strategy=Everything, *parameters, thinking=False):
    """A session that has played the whole case offline; cached, as no test changes it."""
    client = connect(offline=True, conversations=[PATHS[language]])
    return play(CASES[language], ChatSession(client, strategy(*parameters), thinking=thinking))


def prompt_tokens(session, turns=range(1, 100)):
    return [c.usage.prompt_token_count for c in session.calls if c.scripted in turns]


def texts(session):
    return [text for text in map(text_of, session.transcript) if text]


def lost(language, strategy, *parameters):
    """The facts that were not in the request that asked for them."""
    scored = score(played(language, strategy, *parameters).calls, CASES[language])
    return {fact for probe in scored.probes for fact in probe.missing}


def test_the_two_languages_are_twins_and_their_tools_bring_the_same():
    assert_twins(CASES["en"], CASES["ko"])
    english, korean = ([calls(turn) for turn in case.turns] for case in CASES.values())
    assert [[c.result for c in turn] for turn in english] == [
        [c.result for c in turn] for turn in korean
    ]


@each_language
def test_the_files_stay_small_enough_to_read(language):
    assert PATHS[language].stat().st_size < MOST_BYTES


@each_language
def test_one_turn_holds_15_steps_with_long_results_and_closes_four_stretches(language):
    turn = turn_of(language, LONG)
    results = [count("\n".join(leaves(call.result))).tokens for call in calls(turn)]
    assert len(turn.steps) == 15 and len(conclusions(turn)) == 4
    assert any(len(step) == 2 for step in turn.steps)
    assert 22_000 <= sum(results) <= 30_000 and 3_500 <= max(results) <= 4_500
    assert [call.name for call in turn.steps[-1]] == ["conclude"]  # nothing is left open


@each_language
def test_a_call_is_made_once_in_a_turn_so_that_its_place_is_known(language):
    for number, turn in enumerate(CASES[language].turns, 1):
        made = [(call.name, repr(call.args)) for call in calls(turn)]
        assert len(made) == len(set(made)), f"turn {number}"


@each_language
def test_the_code_that_the_agent_reads_is_code(language):
    read = {
        c.args["path"]: c.result["text"]
        for t in CASES[language].turns
        for c in calls(t)
        if c.name == "read_file" and c.args["path"].endswith(".py")
    }
    assert len(read) == 4
    for path, text in read.items():
        ast.parse(text, path)


@each_language
def test_what_explains_the_night_stands_once_in_the_middle_of_a_log(language):
    case, log = CASES[language], log_of(language, LONG)
    head = log[: log.index("LedgerError")]
    assert 0.45 < count(head).tokens / count(log).tokens < 0.55
    for fact in ("error_seq", "gateway_node"):
        results = [call.result for turn in case.turns for call in calls(turn)]
        assert [visible(case.facts[fact], leaves(each)) for each in results].count(True) == 1


@each_language
@pytest.mark.parametrize("most", [300, 600, 1500, 3000])
def test_a_cut_in_the_middle_hides_that_line_and_leaves_its_consequence(language, most):
    row = {"functionResponse": {"name": "read_log", "response": {"text": log_of(language, LONG)}}}
    content = from_json([{"role": "user", "parts": [row]}])
    [short] = ShortenToolResults(most)(content).contents
    left = leaves(short.parts[0].function_response.response)
    for fact in ("error_seq", "gateway_node"):
        assert not visible(CASES[language].facts[fact], left)
    assert "exit code 1" in left[0]


@each_language
def test_every_spelling_of_a_fact_occurs(language):
    said = [text for turn in CASES[language].turns for text in said_in(turn)]
    for fact, spellings in CASES[language].facts.items():
        for spelling in spellings:
            assert visible([spelling], said), f"{fact}: {spelling}"


@each_language
def test_every_needed_fact_was_seen_before_or_is_brought_by_the_turn_itself(language):
    turns = CASES[language].turns
    for number, turn in enumerate(turns, 1):
        earlier = [text for past in turns[: number - 1] for text in said_in(past)]
        brought = leaves([call.result for call in calls(turn)])
        for fact in turn.needs:
            spellings = current(Found(CASES[language], number - 1), fact)
            assert visible(spellings, brought) == (BROUGHT.get(number) == fact), f"turn {number}"
            assert visible(spellings, [*earlier, *brought]), f"turn {number} needs {fact}"


@each_language
def test_a_turn_that_lacks_its_fact_says_so_and_the_customer_repeats_it_but_twice(language):
    for number, turn in enumerate(CASES[language].turns, 1):
        assert bool(turn.needs) == bool(turn.without), f"turn {number}"
        assert bool(turn.again) == (bool(turn.needs) and number not in (CUT, TOO_EARLY))
        for fact in turn.needs:
            assert not visible(CASES[language].facts[fact], [turn.user, turn.without])


@each_language
def test_no_two_customer_messages_are_alike(language):
    turns = CASES[language].turns
    messages = [fold(text) for turn in turns for text in (turn.user, turn.again) if text]
    assert len(messages) == len(set(messages))


@each_language
@thinking_or_not
def test_with_the_whole_transcript_every_turn_calls_and_gets_its_reply(language, thinking):
    session = played(language, thinking=thinking)
    scored = score(session.calls, CASES[language])
    turns = CASES[language].turns
    assert texts(session) == [text for turn in turns for text in (turn.user, turn.reply)]
    assert scored.tool_accuracy == 1 and not lost(language, Everything)


@each_language
@thinking_or_not
@pytest.mark.parametrize("strategy", [ConclusionsOnly, Focus])
def test_conclusions_only_and_focus_send_less_than_half(language, strategy, thinking):
    whole = sum(prompt_tokens(played(language, thinking=thinking)))
    less = sum(prompt_tokens(played(language, strategy, thinking=thinking)))
    assert less < whole / 2


@each_language
def test_trimming_has_no_effect_within_the_long_turn(language):
    trimmed, whole = played(language, LastTurns, 2), played(language)
    assert prompt_tokens(trimmed, [LONG]) == prompt_tokens(whole, [LONG])


@each_language
def test_only_focus_makes_the_open_turn_itself_smaller(language):
    whole, least = prompt_tokens(played(language), [LONG]), prompt_tokens(played(language, Focus))
    assert prompt_tokens(played(language, ConclusionsOnly), [LONG]) == whole
    assert max(least) < max(whole) / 2


@each_language
def test_dropping_thoughts_loses_nothing_of_what_can_be_read(language):
    assert not lost(language, DropThoughts)


@each_language
@pytest.mark.parametrize("most", [300, 600])
def test_a_cut_in_the_middle_loses_what_stood_in_the_middle(language, most):
    assert lost(language, ShortenToolResults, most) == {"gateway_node", "clock_ahead"}


@each_language
def test_conclusions_only_loses_what_stood_in_results_and_in_conclusions(language):
    designed = lost(language, ConclusionsOnly) - HOLD_OUTS
    assert designed == {"gateway_node", "retry_pause", "commit", "backfill_line"}


@each_language
def test_focus_loses_what_no_conclusion_took_along(language):
    assert lost(language, Focus) - HOLD_OUTS == {"gateway_node", "retry_pause", "extension"}


@each_language
def test_of_the_hold_outs_conclusions_only_loses_both_and_focus_one(language):
    assert lost(language, ConclusionsOnly) & HOLD_OUTS == HOLD_OUTS
    assert lost(language, Focus) & HOLD_OUTS == {"author"}


@each_language
def test_each_of_the_three_loses_a_fact_that_the_other_two_keep(language):
    losses = [
        lost(language, *s) for s in ((ShortenToolResults, 600), (ConclusionsOnly,), (Focus,))
    ]
    for own in losses:
        others = [each for each in losses if each is not own]
        assert own.difference(*others)


@each_language
def test_a_hidden_error_line_stops_the_agent_until_somebody_sends_it(language):
    turn, spoken = turn_of(language, LONG), texts(played(language, ShortenToolResults, 600))
    assert spoken[2:6] == [turn.user, turn.without, turn.again, turn.reply]
    short = [c for c in played(language, ShortenToolResults, 600).calls if c.scripted == LONG]
    made = [call.name for c in short for call in calls_of(c.reply)]
    assert made[0] == "read_log" and made[1:] == [call.name for call in calls(turn)]


@each_language
@pytest.mark.parametrize(
    ("number", "strategy", "parameters"),
    [(CUT, ShortenToolResults, (600,)), (TOO_EARLY, Focus, ())],
    ids=["cut in the middle", "closed too early"],
)
def test_what_is_missing_within_a_turn_is_admitted_and_not_guessed(
    language, number, strategy, parameters
):
    turn = turn_of(language, number)
    assert turn.without in texts(played(language, strategy, *parameters))
    assert turn.without not in texts(played(language, ConclusionsOnly))


@each_language
def test_the_deadline_is_corrected_and_the_board_brings_the_old_one_back(language):
    case = CASES[language]
    old, new = case.facts["deadline"]
    stated = [n for n, turn in enumerate(case.turns, 1) if "deadline" in turn.states]
    assert stated == [1, CORRECTION] and visible([new], [turn_of(language, CORRECTION).user])
    assert visible([old], leaves(calls(turn_of(language, TOO_EARLY))[1].result))
    assert turn_of(language, BOARD).outdated in texts(played(language, LastTurns, 4))
