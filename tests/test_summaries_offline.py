"""The stand-in's summariser and its facts: copied from the request, and from nothing else.

Not tested here: that it knows our prompts (test_summary.py), and what becomes of a summary in a
chat (test_layers.py).
"""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import transcripts

from chat_memory import ChatSession, Everything, LayeredHybrid, SummaryPairs, connect, play
from chat_memory.contents import text_of, to_json, user
from chat_memory.probes import probes
from chat_memory.prompts import language_of, prompt_text
from chat_memory.summary import request
from offline_gemini import count, load_script
from offline_gemini.billing import breakdown
from offline_gemini.extract import values
from offline_gemini.facts import facts
from offline_gemini.faults import SWAP
from offline_gemini.replies import Answer, answer, misremembered
from offline_gemini.scripts import fold
from offline_gemini.summaries import shape, summary, swapped

FOLDER = Path(__file__).resolve().parents[1] / "data" / "conversations"
CASES = {language: load_script(FOLDER / f"support.{language}.toml") for language in ("en", "ko")}
RECORDS = {}

each_language = pytest.mark.parametrize("language", CASES)


def record(language):
    """The transcript of the whole case, tools and all; played once."""
    if language not in RECORDS:
        session = ChatSession(
            connect(offline=True, conversations=[CASES[language]], quiet=True), thinking=False
        )
        RECORDS[language] = play(CASES[language], session).transcript
    return RECORDS[language]


def asked(language, stop=None, earlier="", prompt="sections", words=None, start=None):
    wanted = prompt_text(prompt, language, words)
    return request(wanted, record(language)[start:stop], earlier)


def told(*lines, prompt="## Identifiers\n## Timeline", earlier="", limit=200):
    """The summary of a conversation given as flattened lines."""
    first = f"Summarise the conversation below.\nAt most {limit} words.\n{prompt}\n"
    before = f"<earlier>\n{earlier}\n</earlier>\n" if earlier else ""
    said = "\n".join(lines)
    return summary(f"{first}{before}<conversation>\n{said}\n</conversation>")


# --- copied, and from the request alone ---------------------------------------------------------


@each_language
@pytest.mark.parametrize("prompt", ["sections", "three_lines"])
@pytest.mark.parametrize("words", [None, 30, 60, 400])
def test_it_keeps_the_word_limit_and_the_language(language, prompt, words):
    made = summary(asked(language, prompt=prompt, words=words))
    limit = int(re.search(r"(\d+) ?(?:words|단어)", prompt_text(prompt, language, words))[1])
    assert 0 < len(made.split()) <= limit
    assert language_of([user(made)]) == language


@each_language
def test_every_line_is_copied_word_for_word(language):
    text = asked(language)
    source = fold(text.replace('", "', " ").replace('"', ""))
    marks = r" \((?:UNVERIFIED|미확인|superseded: .*|대체됨: .*)\)$"
    for line in summary(text).splitlines():
        if line.startswith("## ") or re.match(r"(look_up|track_shipment|update_ticket) ", line):
            continue
        if "superseded" in line or "대체됨" in line:  # a corrected value stands in an old line
            line = re.sub(r"4471", "4417", line)
        assert fold(re.sub(marks, "", line)) in source, line


@each_language
def test_every_value_in_it_stands_in_the_request(language):
    text = asked(language)
    assert all(value in text for value in values(summary(text)))


@each_language
def test_equal_requests_get_equal_summaries(language):
    text = asked(language, stop=40)
    assert summary(text) == summary(str(text))


@settings(max_examples=60, deadline=None)
@given(transcripts(max_turns=10), st.sampled_from(["sections", "three_lines"]))
def test_any_transcript_is_summarised_within_the_limit(transcript, prompt):
    made = summary(request(prompt_text(prompt, language_of(transcript), 25), transcript))
    assert made is not None and len(made.split()) <= 25


@each_language
def test_headings_come_in_the_order_asked_for_and_empty_ones_are_left_out(language):
    text = asked(language, stop=12)
    wanted = re.findall("^## (.+)", text.split("<conversation>")[0], re.M)
    made = re.findall("^## (.+)", summary(text), re.M)
    assert made == [heading for heading in wanted if heading in made] and len(made) >= 5


def test_identifiers_amounts_dates_and_errors_stand_verbatim():
    made = told(
        "user: The order is 48213 and it cost 89,900원. It broke on 3 October.",
        "user: The log says ConnectionResetError: socket 0x7f closed.",
        "model: I noted TK-5520. It will be there on 2026-11-04, as agreed.",
        prompt="## Identifiers\n## Timeline\n## Reported issue",
    )
    for verbatim in ("48213", "89,900원", "3 October", "ConnectionResetError: socket 0x7f closed"):
        assert verbatim in made
    assert "TK-5520" in made and "2026-11-04" in made


def test_of_a_tool_it_copies_what_failed_word_for_word_else_the_first_values():
    failed = "2026-10-23 contact failed: text to number ending 4417 rejected, number not in use"
    made = told(
        'call: track {"id": "SH-1"}',
        'call: look_up {"kind": "order", "id": "7"}',
        f'response: track {{"ok": true, "log": ["2026-10-22 scan", "{failed}"]}}',
        'response: look_up {"status": "shipped", "eta": {"day": "2026-10-24"}}',
        prompt="## Tool insights",
    )
    assert made.splitlines() == [
        "## Tool insights",
        f"track SH-1: {failed}",
        "look_up order 7: shipped, 2026-10-24",
    ]


def test_plain_words_without_number_name_or_step_are_lost():
    assert told("user: My table is brown and I love it. It is for my cat.") == ""


def test_a_guess_is_marked():
    made = told("user: I think it ends in 4417. The order is 48213.")
    assert made.splitlines()[1:] == [
        "I think it ends in 4417 (UNVERIFIED)",
        "The order is 48213",
    ]


def test_a_corrected_value_takes_the_place_of_the_old_one_which_is_named():
    made = told(
        "user: My number should be 4417. The order is 48213.",
        "user: Sorry, the right one is 4471.",
    )
    assert made.splitlines()[1:] == [
        "My number should be 4471 (superseded: 4417)",
        "The order is 48213",
    ]


@each_language
def test_in_the_case_the_corrected_phone_number_is_the_current_one(language):
    made = summary(asked(language, stop=60))
    [line] = [line for line in made.splitlines() if "4417)" in line]
    assert "4471" in line and ("superseded: 4417" in line or "대체됨: 4417" in line)


def test_a_date_counts_as_known_however_it_is_written():
    made = told("user: It came on 2 October.", "model: Yes, on 2026-10-02, I see it here.")
    assert made.splitlines() == ["## Timeline", "It came on 2 October"]


# --- folding ------------------------------------------------------------------------------------


def test_the_earlier_summary_is_folded_in_and_its_lines_come_first():
    earlier = "## Identifiers\nThe order is 48213\n## Timeline\nIt came on 2 October"
    made = told("user: The ticket is TK-5520. It broke on 5 October.", earlier=earlier)
    assert made.splitlines() == [
        "## Identifiers",
        "The order is 48213",
        "The ticket is TK-5520",
        "## Timeline",
        "It came on 2 October",
        "It broke on 5 October",
    ]


def test_what_stands_there_already_is_not_written_twice():
    earlier = "## Identifiers\nThe order is 48213"
    assert told("user: Again, the order is 48213.", earlier=earlier) == earlier


def test_when_room_runs_out_the_oldest_goes_and_a_correction_last():
    lines = [f"user: Code number {n} is AB-{n}00." for n in range(1, 9)]
    corrected = "## Identifiers\nIt ends in 4471 (superseded: 4417)"
    made = told(*lines, earlier=corrected, prompt="## Identifiers", limit=20)
    assert made.splitlines() == [
        *corrected.splitlines(),
        "Code number 7 is AB-700",
        "Code number 8 is AB-800",
    ]


def test_what_the_talk_is_about_stays_and_the_last_news_replace_older_ones():
    made = told(
        "user: I tried to hold the down key. I tried the up key as well, for a long while.",
        "model: I have opened a ticket. Please pull the plug.",
        "model: It is booked now. Please wait at home.",
        prompt="## Steps tried and results\n## Status and blockers\n## Next step",
        limit=30,
    )
    assert "hold the down key" in made and "up key" not in made
    assert made.count("booked now") == made.count("wait at home") == 1
    news = told(
        "model: I have opened it.", "model: It is booked now.", prompt="## Status and blockers"
    )
    assert news.splitlines()[1:] == ["It is booked now"]


def test_a_section_with_one_line_keeps_it_while_another_has_more():
    made = told(
        *(f"user: Code number {n} is AB-{n}00." for n in range(1, 5)),
        "user: It stopped on 5 October while I was away for the weekend.",
        limit=22,
    )
    assert "It stopped on 5 October" in made and "AB-400" in made and "AB-300" not in made


def test_a_step_stands_once_and_a_request_is_no_news():
    made = told(
        "user: I tried the reset, and it is still broken.",
        "model: Please tell me as soon as it is booked.",
        prompt="## Reported issue\n## Steps tried and results\n"
        "## Status and blockers\n## Next step",
    )
    assert made.splitlines() == [
        "## Steps tried and results",
        "I tried the reset, and it is still broken",
        "## Next step",
        "Please tell me as soon as it is booked",
    ]


def test_measures_belong_to_the_product_and_error_names_count_as_values():
    made = told(
        "user: The screen is 8.2 kg. It says ConnectionResetError and stops.",
        prompt="## Product and environment\n## Identifiers",
    )
    assert made.splitlines() == [
        "## Product and environment",
        "The screen is 8.2 kg",
        "## Identifiers",
        "It says ConnectionResetError and stops",
    ]
    assert values("It says ConnectionResetError or TIMED_OUT") == {
        "ConnectionResetError",
        "TIMED_OUT",
    }


def test_no_line_is_longer_than_24_words_and_news_take_a_sixth_of_the_room():
    long = "My order 48213 is late because " + " ".join(["and so on"] * 20)
    [_, line] = told(f"user: {long}.", prompt="## Identifiers").splitlines()
    assert len(line.split()) == 24
    news = "It is booked and " + " ".join(["goes on"] * 20)
    made = told(f"model: {news}.", prompt="## Status and blockers", limit=60)
    assert len(made.splitlines()[1].split()) == 10


def test_calls_of_one_name_and_their_responses_are_matched_in_order():
    made = told(
        'call: look_up {"id": "A-1"}',
        'call: look_up {"id": "B-2"}',
        'response: look_up {"at": "10:00"}',
        'response: look_up {"at": "11:00"}',
        prompt="## Tool insights",
    )
    assert made.splitlines()[1:] == ["look_up A-1: 10:00", "look_up B-2: 11:00"]


def test_a_heading_of_ones_own_gets_what_is_worth_keeping():
    made = told("user: The order is 48213.", prompt="## Numbers")
    assert made == "## Numbers\nThe order is 48213"


@pytest.mark.parametrize(
    "text",
    [
        "Summarise my order, please.",
        "Summarise the conversation below.",
        "Hello. Summarise the conversation below.\n<conversation>\nuser: Hi\n</conversation>",
        "",
    ],
)
def test_anything_else_is_no_request_for_a_summary(text):
    assert summary(text) is None


# --- through the wire ---------------------------------------------------------------------------


@each_language
def test_a_summary_is_answered_over_the_wire_and_billed_like_any_reply(language):
    client = connect(offline=True, conversations=[CASES[language]], quiet=True)
    session = ChatSession(client, thinking=False)
    call = session.ask([user(asked(language, stop=40))], "summary")
    text = text_of(call.reply)
    assert text == summary(asked(language, stop=40))
    assert call.usage.candidates_token_count == count(text).tokens
    assert call.usage.prompt_token_count == breakdown(call.request, call.model, {}).total
    assert call.usage.thoughts_token_count is None
    assert call.usage.total_token_count == (
        call.usage.prompt_token_count + call.usage.candidates_token_count
    )


def test_a_scripted_turn_goes_before_a_summary_and_a_quote_after_it():
    case = CASES["en"]
    scripted = {"contents": to_json([user(case.turns[0].user)])}
    assert answer(scripted, [case]).text == case.turns[0].reply
    free = {"contents": to_json([user("Summarise the conversation below.")])}
    assert "nothing on that" in answer(free, [case]).text


# --- the planted error --------------------------------------------------------------------------


def played(language, faults=None, strategy=None):
    case = CASES[language]
    client = connect(offline=True, conversations=[case], faults=faults, quiet=True)
    session = ChatSession(client, strategy or SummaryPairs(8, 4), thinking=False)
    return play(case, session, turns=32)


@each_language
def test_a_swapped_value_is_stated_as_current_and_survives_every_later_summary(language):
    right = played(language)
    numbers = [n for n, call in enumerate(right.calls, 1) if call.purpose == "summary"]
    texts = [made.text for made in right.strategy.summaries]
    corrected = next(n for n, text in enumerate(texts) if "4417)" in text)
    wrong = played(language, faults={numbers[corrected]: SWAP})
    poisoned = [made.text for made in wrong.strategy.summaries]
    assert poisoned[:corrected] == texts[:corrected]
    for text in poisoned[corrected:]:
        assert "4417" in text and "4471" not in text and "4417)" not in text
    assert len(poisoned) > corrected + 1
    asked_for = {session: probes(session.calls, CASES[language])[-1] for session in (right, wrong)}
    assert [asked_for[session].in_request for session in (right, wrong)] == [True, False]
    assert text_of(wrong.calls[-1].reply) == CASES[language].turns[31].outdated


def test_without_a_correction_a_value_is_swapped_for_another_of_its_shape():
    text = "## Identifiers\nThe order is 48213"
    assert swapped(text, "user: 48213 and 55555.") == "## Identifiers\nThe order is 55555"
    assert swapped(text, "user: 48213 only.") == text
    assert swapped("At the bottom it says 64", "user: 62?") == "At the bottom it says 64"
    stray = "It is TK-5520 (superseded: the old one)"
    assert swapped(stray, "user: TK-5520") == stray


def test_the_fault_changes_no_answer_that_is_no_summary():
    plain, faulty = (
        played("en", faults, Everything()) for faults in (None, {1: SWAP, 2: SWAP, 5: SWAP})
    )
    assert to_json(plain.transcript) == to_json(faulty.transcript)
    said = Answer("You paid 89.90 for it.")
    asked = {"contents": to_json([user("The shop says 79.90 today.")])}
    assert misremembered(said, asked) == said


def test_the_shape_of_a_value():
    assert shape("TV-140-LL") == "AA-999-AA" and shape("4417") != shape("441")


# --- facts --------------------------------------------------------------------------------------


def known(*lines, script=CASES["en"]):
    first = "List the facts that the conversation below states."
    return facts(f"{first}\n<conversation>\n" + "\n".join(lines) + "\n</conversation>", [script])


def test_a_fact_that_the_customer_states_counts_where_he_states_it_and_the_newest_wins():
    turns = CASES["en"].turns
    said = [f"user: {turns[n].user}" for n in (5, 14)]
    log = 'response: track_shipment {"log": ["text to number ending 4417 rejected"]}'
    assert '"phone_last4", "value": "4471"' in known(*said, log)
    assert '"phone_last4", "value": "4417"' in known(said[0])
    assert "phone_last4" not in known(f"user: {turns[0].user}", log)


def test_a_fact_that_no_customer_states_counts_where_it_is_seen():
    turns = CASES["en"].turns
    assert '"ticket_id", "value": "TK-5520"' in known(
        f"user: {turns[1].user}", 'response: look_up {"ticket_id": "TK-5520"}'
    )


def test_another_conversation_has_no_facts():
    assert known("user: The order is 730416.", "model: Fine.") == "[]"


@each_language
def test_a_hybrid_speaks_the_language_of_its_conversation(language):
    session = played(language, strategy=LayeredHybrid(CASES[language].pinned))
    pairs = [c.contents[:2] for c in session.calls if "summary pair" in str(c.context.layers)]
    assert pairs and all(language_of(pair) == language for pair in pairs)
