from itertools import pairwise

import pytest
from shop import SHOP

from chat_memory import ChatSession, LastTurns, connect, play
from chat_memory.contents import calls_of, text_of
from chat_memory.conversations import Results, bundled, even_agent, even_chat, find
from offline_gemini import load_script
from offline_gemini.scripts import Call

CASE = (
    SHOP
    + """
[[turns]]
user = "My order 48213 is late."
states = ["order"]
reply = "I am sorry."
[[turns]]
user = "Where is it?"
needs = ["order"]
steps = [[{ name = "lookup_order", args = { order_id = "48213" }, result = { status = "here" } }]]
reply = "It is packed."
without = "Which order is it?"
again = "I told you: 48213."
[[turns]]
user = "And today?"
needs = ["order"]
steps = [[{ name = "lookup_order", args = { order_id = "48213" }, result = { status = "gone" } }]]
reply = "It is on its way."
without = "Which order do you mean?"
[[turns]]
command = "/clear"
[[turns]]
user = "Thanks."
reply = "You're welcome."
"""
)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "shop.toml"
    path.write_text(CASE, encoding="utf-8")
    return load_script(path)


@pytest.fixture
def start(script):
    def start(**options):
        return ChatSession(connect(offline=True, conversations=script, quiet=True), **options)

    return start


def said(session, role="user"):
    return [text_of(c) for c in session.transcript if c.role == role and text_of(c)]


def results(session):
    parts = [part for content in session.transcript for part in content.parts]
    return [part.function_response.response for part in parts if part.function_response]


def test_the_first_turns_are_played_through_the_session(script, start):
    session = play(script, start(), turns=2)
    assert said(session) == ["My order 48213 is late.", "Where is it?"]
    assert said(session, "model") == ["I am sorry.", "It is packed."]
    assert session.scenario == "shop.toml"


def test_no_turns_play_nothing(script, start):
    assert play(script, start(), turns=0).calls == []


@pytest.mark.parametrize("name", ["turns", "clear_every"])
@pytest.mark.parametrize("value", [-1, 1.5, True, "3"])
def test_what_is_no_number_of_turns_is_refused(script, start, name, value):
    session = start()
    with pytest.raises(ValueError, match=f"{name} is {value!r}, but it must be a whole number"):
        play(script, session, **{name: value})
    assert session.calls == []


@pytest.mark.parametrize("name", ["turns", "answer", "thoughts", "system"])
@pytest.mark.parametrize("value", [-1, 1.5, True, "3"])
def test_a_made_up_chat_has_whole_numbers(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value!r}, but it must be a whole number"):
        even_chat(**{"turns": 2, name: value})


@pytest.mark.parametrize("value", [-1, 1.5, True, "3"])
def test_a_made_up_agent_has_whole_numbers(value):
    for wrong in ({"steps": [3, value]}, {"tokens": value}, {"conclude_every": value}):
        with pytest.raises(ValueError, match="must be a whole number"):
            even_agent(**{"steps": [2], "tokens": 10} | wrong)


def test_a_made_up_agent_reads_pages_of_that_weight_and_concludes():
    agent = even_agent([4, 1], tokens=500, conclude_every=2)
    client = connect(True, [agent], quiet=True)
    session = play(agent, ChatSession(client, thinking=False))
    first = [call for call in session.calls if call.turn == 1]
    names = [each.name for call in first for each in calls_of(call.reply)]
    assert names == ["read_page", "read_page", "conclude"] * 2
    prompts = [call.usage.prompt_token_count for call in first]
    grown = [after - before for before, after in pairwise(prompts)]
    read = [name == "read_page" for name in names]
    assert [step > 500 for step in grown] == read
    assert not any(call.usage.estimated for call in session.calls)


def test_a_tools_result_is_the_one_of_the_turn(script, start):
    session = play(script, start(), turns=3)
    assert results(session) == [{"status": "here"}, {"status": "gone"}]


def test_a_command_is_obeyed_and_is_no_turn(script, start):
    session = play(script, start())
    assert said(session) == ["Thanks."]
    assert max(call.turn for call in session.calls) == 4


def test_the_customer_repeats_himself_in_an_extra_turn(script, start):
    session = play(script, start(strategy=LastTurns(1)), turns=2)
    assert said(session)[1:] == ["Where is it?", "I told you: 48213."]
    assert said(session, "model")[1:] == ["Which order is it?", "It is packed."]
    assert [call.turn for call in session.calls if call.answer] == [1, 2, 3]


def test_clear_every_clears_between_turns(script, start):
    lengths = []
    play(script, start(), turns=3, clear_every=2, each=lambda s: lengths.append(len(s.transcript)))
    assert lengths[0] == 2
    assert lengths[1] == 6
    assert lengths[2] == 2


def test_each_is_called_after_every_turn(script, start):
    turns = []
    play(script, start(), each=lambda session: turns.append(session.calls[-1].turn))
    assert turns == [1, 2, 3, 4]


def test_an_interrupt_keeps_the_turns_that_were_played(script, start):
    session = start()

    def stop(played):
        if len(played.calls) > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(script, session, each=stop)
    assert said(session) == ["My order 48213 is late.", "Where is it?"]


def test_the_sessions_own_system_and_tools_win(script, start):
    def lookup_order(order_id: str) -> dict:
        """Look up an order of mine."""
        return {"status": "mine"}

    session = play(script, start(system="Mine.", tools=[lookup_order]), turns=2)
    assert (session.system, results(session)) == ("Mine.", [{"status": "mine"}])
    assert play(script, start(), turns=1).system == "You help a shop."


def test_without_tools_nothing_is_declared_and_the_reply_stands(script, start):
    session = play(script, start(), turns=2, tools=False)
    assert said(session, "model") == ["I am sorry.", "It is packed."]
    assert not any("tools" in call.request for call in session.calls)


def test_a_call_that_the_script_does_not_hold_gets_an_error_response():
    tool = Results().tool({"name": "lookup_order"})
    assert "holds no result of lookup_order" in tool.run(order_id="1")["error"]


def test_the_same_call_twice_in_a_turn_brings_its_results_in_order():
    results = Results()
    tool = results.tool({"name": "track"})
    results.learn([[Call("track", {"id": 1}, "first")], [Call("track", {"id": 1}, "second")]])
    assert [tool.run(id=1) for _ in range(3)] == ["first", "second", "second"]


def test_a_text_file_plays_one_message_a_line(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("Hello, I am Mina.\n\n/clear\nWho am I?\n", encoding="utf-8")
    session = play(path, ChatSession(connect(offline=True, quiet=True)))
    assert said(session) == ["Who am I?"]
    assert len(session.calls) == 2


def test_a_script_that_the_stand_in_does_not_know_is_refused(script):
    session = ChatSession(connect(offline=True, quiet=True))
    with pytest.raises(ValueError, match=r"does not know shop\.toml: write connect"):
        play(script, session)
    assert session.calls == []


def test_a_bundled_name_is_found_in_the_readers_language(monkeypatch):
    monkeypatch.delenv("CHAT_MEMORY_LANGUAGE", raising=False)
    assert find("queue").language == "en"
    monkeypatch.setenv("CHAT_MEMORY_LANGUAGE", "ko")
    assert find("queue").language == "ko"
    assert find("queue.en").language == "en"


def test_a_language_that_is_not_there_is_named_and_what_needs_none_is_found(monkeypatch, script):
    monkeypatch.setenv("CHAT_MEMORY_LANGUAGE", "xx")
    with pytest.raises(ValueError) as caught:
        find("queue")
    sentence = "There is no language xx: set CHAT_MEMORY_LANGUAGE to en or ko."
    assert str(caught.value) == sentence
    assert find("queue.ko").language == "ko" and find(script) is script


def test_every_bundled_conversation_plays_to_its_end():
    for path in bundled():
        session = play(path, ChatSession(connect(offline=True, quiet=True), thinking=False))
        turns = [turn for turn in load_script(path).turns if turn.user]
        closed = [call for call in session.calls if call.answer]
        assert len(closed) == len(turns), path.name
        assert not any(call.error for call in session.calls)
