"""promptTokenCount: the published runs, each rule of the bill, and what must not change it.

Rules are proven by differences between two requests, so that they hold with and without the
vocabulary; totals need it, and are skipped without CHAT_MEMORY_TOKENIZER. The public recordings
are in test_recordings.py. This file does *not* prove T(text) itself: test_tokens.py does.
"""

import base64
import csv
import json
from pathlib import Path

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from request_json import MODEL, body, call, client_of, model, need_vocabulary, response, tool, user

from offline_gemini import OfflineGemini, breakdown, count, load_script, prompt_token_count
from offline_gemini.billing import (
    QUOTE,
    candidates_token_count,
    declaration_tokens,
    known_thoughts,
    read_signature,
    render_call,
    render_declaration,
    render_response,
    rendered_tokens,
    sign,
)

ROOT = Path(__file__).parents[1]
QUESTIONS = {("v1-1", 1): 20, ("v1-2", 1): 21, ("v1-2", 2): 12}  # tokens


def published() -> list[dict]:
    """The six published calls, figures as numbers."""
    with open(ROOT / "data" / "published_runs.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figures = ("call", "contents", "prompt", "thoughts", "candidates", "total")
    return [row | {name: int(row[name]) for name in figures} for row in rows]


# --- the published runs -------------------------------------------------------------------------


def test_the_published_totals_add_up():
    assert [row["run"] for row in published()] == ["v1-1"] * 3 + ["v1-2"] * 3
    for row in published():
        assert row["total"] == row["prompt"] + row["thoughts"] + row["candidates"]
        assert float(row["seconds"]) > 0 and row["source"]


def test_each_later_published_prompt_is_the_total_before_plus_the_question_plus_two_roles():
    rows = published()
    later = {
        (row["run"], row["call"]): row["prompt"] - before["total"]
        for before, row in zip(rows, rows[1:], strict=False)
        if row["contents"] > 1
    }
    assert later == {place: question + 2 for place, question in QUESTIONS.items()}


def play(path: Path) -> list[dict]:
    """The conversation of a file through the SDK: one row of usage a call."""
    script = load_script(path)
    client, contents, rows = client_of(OfflineGemini([script])), [], []
    system = types.Content(parts=[types.Part(text=script.system)])  # without a role
    for turn in script.turns:
        if turn.command:
            contents = []
            continue
        contents.append(types.Content(role="user", parts=[types.Part(text=turn.user)]))
        reply = client.models.generate_content(
            model=MODEL,
            contents=contents,
            config=types.GenerateContentConfig(system_instruction=system),
        )
        rows.append(usage_row(reply, len(contents)))
        contents.append(reply.candidates[0].content)
    return rows


def usage_row(reply: types.GenerateContentResponse, contents: int) -> dict:
    usage = reply.usage_metadata
    return {
        "contents": contents,
        "prompt": usage.prompt_token_count,
        "thoughts": usage.thoughts_token_count,
        "candidates": usage.candidates_token_count,
        "total": usage.total_token_count,
    }


@pytest.mark.parametrize("number", [1, 2])
def test_texts_of_our_own_bring_the_published_figures_through_the_sdk(number):
    need_vocabulary()
    rows = [row for row in published() if row["run"] == f"v1-{number}"]
    played = play(ROOT / "tests" / "data" / f"published_run_{number}.toml")
    assert played == [{name: row[name] for name in played[0]} for row in rows]


def test_the_questions_of_these_texts_weigh_what_the_published_ones_did():
    need_vocabulary()
    for run in (1, 2):
        turns = load_script(ROOT / "tests" / "data" / f"published_run_{run}.toml").turns
        weights = {(f"v1-{run}", n): count(turn.user).tokens for n, turn in enumerate(turns)}
        expected = {place: tokens for place, tokens in QUESTIONS.items() if place in weights}
        assert {place: weights[place] for place in expected} == expected


# --- rules 1 to 3: texts, roles, what is free ---------------------------------------------------


def prompt(*contents: dict, model: str = MODEL, thoughts: dict | None = None, **fields) -> int:
    return prompt_token_count(body(*contents, **fields), model, thoughts or {})


def test_texts_add_up_and_a_part_costs_nothing():
    assert prompt(user("Hello there.", "How are you?")) == prompt(user("Hello there.")) + (
        count("How are you?").tokens
    )
    assert prompt(user("Hello there.", "")) == prompt(user("Hello there."))


def test_a_role_costs_one():
    without = {"parts": [{"text": "Hello."}]}
    assert prompt(without) == count("Hello.").tokens
    assert prompt(without | {"role": "user"}) == prompt(without) + 1
    assert prompt(without | {"role": "model"}) == prompt(without) + 1


def test_a_system_instruction_costs_its_text_and_a_role_if_it_has_one():
    system = {"parts": [{"text": "Be brief."}]}
    alone = prompt(user("Hello."))
    assert prompt(user("Hello."), systemInstruction=system) == alone + count("Be brief.").tokens
    with_role = prompt(user("Hello."), systemInstruction=system | {"role": "user"})
    assert with_role == alone + count("Be brief.").tokens + 1


def test_parts_need_no_list_around_a_single_one():
    assert prompt({"role": "user", "parts": {"text": "Hello."}}) == prompt(user("Hello."))


@pytest.mark.parametrize(
    "fields",
    [
        {"generationConfig": {"maxOutputTokens": 4000, "temperature": 0.5}},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}},
        {"generationConfig": {"responseJsonSchema": {"type": "object", "title": "An answer"}}},
        {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
        {"tools": []},
        {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT"}]},
    ],
)
def test_configuration_is_free(fields):
    assert prompt(user("Hello."), **fields) == prompt(user("Hello."))


def test_call_ids_are_free():
    plain, named = call(order_id="7"), call(order_id="7")
    named["functionCall"]["id"] = "a-long-id-0123456789"
    assert prompt(user("Hi."), model(named)) == prompt(user("Hi."), model(plain))


@pytest.mark.parametrize("kind", ["inlineData", "fileData", "file_data"])
def test_data_weighs_nothing_here_and_the_count_says_that_it_is_none(kind):
    image = {kind: {"mimeType": "image/png", "data": "aGVsbG8="}}
    assert prompt(user("Look.", image)) == prompt(user("Look."))
    shown, plain = ({"contents": [user("Hello.", *more)]} for more in ([image], []))
    assert breakdown(shown, MODEL, {}).estimated
    assert not breakdown(plain, MODEL, {}).estimated
    answered = response(status="here")
    answered["functionResponse"]["parts"] = [image]
    assert breakdown({"contents": [user(answered)]}, MODEL, {}).estimated


# --- rules 4 and 5: declarations, calls, responses ----------------------------------------------


def shown(text: str) -> str:
    return text.replace(QUOTE, "E")


def test_a_declaration_is_laid_out_with_sorted_keys_and_types_in_upper_case():
    declaration = {
        "name": "lookup_order",
        "description": "Finds an order.",
        "parameters": {
            "type": "object",
            "required": ["order_id"],
            "properties": {
                "when": {"type": "string", "enum": ["now", "then"]},
                "order_id": {"type": "string", "description": "Its number."},
            },
        },
    }
    assert shown(render_declaration(declaration)) == (
        "declaration:lookup_order{description:EFinds an order.E,parameters:{properties:{"
        "order_id:{description:EIts number.E,type:ESTRINGE},"
        "when:{enum:[EnowE,EthenE],type:ESTRINGE}},required:[Eorder_idE],type:EOBJECTE}}"
    )


def test_what_is_empty_in_a_declaration_is_left_out():
    declaration = {
        "name": "now",
        "description": "",
        "parameters": {
            "type": "OBJECT",
            "properties": {},
            "required": [],
            "additionalProperties": False,
            "$schema": "a-schema",
        },
    }
    assert shown(render_declaration(declaration)) == "declaration:now{parameters:{type:EOBJECTE}}"
    assert shown(render_declaration({"name": "now"})) == "declaration:now{}"


@pytest.mark.parametrize(
    ("kind", "rendered"),
    [
        (["null", "string"], "{nullable:true,type:ESTRINGE}"),
        (["integer", "null"], "{nullable:true,type:EINTEGERE}"),
        (["integer"], "{type:EINTEGERE}"),
        (["null"], "{nullable:true,type:ENULLE}"),
    ],
)
def test_a_type_that_may_be_null_is_nullable(kind, rendered):
    properties = {"properties": {"a": {"type": kind}}}
    text = shown(render_declaration({"name": "f", "parameters": properties}))
    assert text == f"declaration:f{{parameters:{{properties:{{a:{rendered}}}}}}}"


def test_a_response_schema_is_rendered_and_json_schemas_are_schemas():
    declaration = {
        "name": "f",
        "parameters_json_schema": {"type": "object"},
        "responseJsonSchema": {"type": "string"},
    }
    expected = "declaration:f{parameters:{type:EOBJECTE},response:{type:ESTRINGE}}"
    assert shown(render_declaration(declaration)) == expected


def test_a_propertys_name_is_no_key_of_the_schema_language():
    schema = {"type": "object", "properties": {"max_price": {"type": "number"}}}
    text = shown(render_declaration({"name": "f", "parameters": schema}))
    assert "{max_price:{type:ENUMBERE}}" in text


def test_calls_and_responses_are_laid_out_with_sorted_keys():
    args = {"tags": ["a", "b"], "count": 5, "deep": {"y": None, "x": True}, "half": 0.5, "one": 1}
    assert shown(render_call({"name": "f", "args": args})) == (
        "call:f{count:5,deep:{x:true,y:null},half:0.5,one:1,tags:[EaE,EbE]}"
    )
    assert shown(render_response({"name": "f", "response": {"result": "늦음"}})) == (
        "response:f{result:E늦음E}"
    )
    assert render_call({"name": "f"}) == "call:f{}"


def test_a_quote_mark_is_one_token_and_a_seam():
    assert rendered_tokens(f"a:{QUOTE}two words{QUOTE}}}").tokens == (
        count("a:").tokens + count("two words").tokens + count("}").tokens + 2
    )


def test_a_declaration_a_call_and_a_response_cost_two_more_than_their_text():
    declaration = {"name": "lookup_order", "description": "Finds an order."}
    text = rendered_tokens(render_declaration(declaration)).tokens
    assert declaration_tokens(declaration).tokens == text + 2
    tools = {"functionDeclarations": [declaration, declaration]}
    assert prompt(user("Hi."), tools=[tools]) == prompt(user("Hi.")) + 2 * (text + 2)

    made, got = call(order_id="48213"), response(status="shipped")
    for part, rendered in (
        (made, render_call(made["functionCall"])),
        (got, render_response(got["functionResponse"])),
    ):
        cost = rendered_tokens(rendered).tokens + 2
        assert prompt(user("Hi."), user(part)) == prompt(user("Hi.")) + 1 + cost
        assert prompt(user("Hi."), user(part, part)) == prompt(user("Hi.")) + 1 + 2 * cost


# --- rule 6: thoughts ---------------------------------------------------------------------------

CLOSED = (user("One?"), model({"text": "One.", "thoughtSignature": "old"}), user("Two?"))
OPEN = (*CLOSED, model(call(signature="new")), user(response(status="shipped")))


@pytest.mark.parametrize(
    ("name", "added"),
    [
        ("gemini-3-flash-preview", [0, 0, 0, 9, 0]),
        ("gemini-3.1-pro-preview", [0, 0, 0, 9, 0]),
        ("gemini-3.5-flash", [0, 100, 0, 9, 0]),
        ("gemini-3.6-flash", [0, 100, 0, 9, 0]),
        ("models/gemini-3.7-flash", [0, 100, 0, 9, 0]),
        ("gemini-4-argon", [0, 100, 0, 9, 0]),
        ("a-model-nobody-knows", [0, 100, 0, 9, 0]),
    ],
)
def test_a_resent_signature_adds_its_thoughts_of_closed_turns_only_from_3_5_on(name, added):
    assert breakdown(body(*OPEN), name, {"old": 100, "new": 9}).thoughts == added


def test_a_reply_adds_its_thoughts_once():
    twice = model(call(signature="same"), {"text": "", "thoughtSignature": "same"})
    contents = (user("Hi."), twice, model({"text": "", "thoughtSignature": "same"}))
    assert breakdown(body(*contents), MODEL, {"same": 7}).thoughts == [0, 7, 0]


def test_two_replies_add_both_their_thoughts():
    both = model(call(signature="a"), call(signature="b"))
    assert breakdown(body(user("Hi."), both), MODEL, {"a": 7, "b": 5}).thoughts == [0, 12]


def test_a_signature_nobody_knows_and_a_placeholder_add_nothing():
    for signature in ("unknown", "skip_thought_signature_validator"):
        signed = model({"text": "One.", "thoughtSignature": signature})
        assert prompt(user("Hi."), signed, thoughts={"other": 5}) == (
            prompt(user("Hi."), model("One."))
        )


def test_a_resent_thought_text_costs_its_text():
    thought = {"text": "The user wants a number.", "thought": True}
    assert prompt(user("Hi."), model(thought, "One.")) == (
        prompt(user("Hi."), model("One.")) + count(thought["text"]).tokens
    )


def test_a_signature_holds_its_thoughts_and_model_in_either_base64_alphabet():
    found_both = set()
    for number in range(200):
        signature = sign(126, MODEL, f"{number:x}?>")
        urlsafe = signature.replace("+", "-").replace("/", "_")
        assert read_signature(signature) == read_signature(urlsafe) == (126, MODEL)
        assert read_signature(urlsafe.rstrip("=")) == (126, MODEL)
        found_both |= set(signature) & set("+/")
    assert found_both == {"+", "/"}  # else the alphabets were not told apart


@pytest.mark.parametrize("place", [0, 8, 20, -4])
def test_a_changed_signature_is_not_read(place):
    raw = bytearray(base64.b64decode(sign(126, MODEL, "nonce")))
    raw[place] ^= 1
    assert read_signature(base64.b64encode(raw).decode()) is None


@pytest.mark.parametrize("forged", ["", "forged", "옛", "====", "QUJD" * 9])
def test_a_forged_signature_is_not_read(forged):
    assert read_signature(forged) is None


def test_the_thoughts_behind_a_requests_signatures_are_known_by_themselves():
    signature = sign(126, MODEL, "a")
    signed = model({"text": "One.", "thought_signature": signature}, call(signature="foreign"))
    assert known_thoughts(body(user("Hi."), signed)) == {signature: 126}


# --- rule 7: candidates -------------------------------------------------------------------------


def test_a_reply_costs_its_text_a_call_four_more_than_its_text_and_thoughts_nothing():
    made = call(order_id="48213")
    text = rendered_tokens(render_call(made["functionCall"])).tokens
    assert candidates_token_count([{"text": "One."}]).tokens == count("One.").tokens
    assert candidates_token_count([made, made]).tokens == 2 * (text + 4)
    thought = {"text": "Let me see.", "thought": True}
    assert candidates_token_count([thought, {"text": "One."}]).tokens == count("One.").tokens
    assert candidates_token_count([]).tokens == 0


# --- the breakdown ------------------------------------------------------------------------------


def test_a_breakdown_has_one_figure_a_content_and_sums_to_the_prompt():
    request = body(*OPEN, systemInstruction=user("Be brief."), tools=[tool()])
    bill = breakdown(request, MODEL, {"old": 100, "new": 9})
    assert len(bill.contents) == len(bill.thoughts) == 5
    assert bill.system == count("Be brief.").tokens + 1
    assert bill.tools == declaration_tokens({"name": "lookup_order"}).tokens
    assert bill.total == bill.system + bill.tools + sum(bill.contents) + 109
    assert bill.total == prompt_token_count(request, MODEL, {"old": 100, "new": 9})


def test_a_count_says_that_it_is_estimated_only_where_a_word_is_unknown(monkeypatch):
    monkeypatch.delenv("CHAT_MEMORY_TOKENIZER", raising=False)
    unknown = "xqzzyvwk"
    assert not breakdown(body(user("12 34")), MODEL, {}).estimated
    for request in (
        body(user(unknown)),
        body(user("12"), systemInstruction=user(unknown)),
        body(user("12"), tools=[tool(unknown)]),
        body(user("12"), model(call(id=unknown))),
        body(user("12"), user(response(id=unknown))),
    ):
        assert breakdown(request, MODEL, {}).estimated


# --- what must not change a count ---------------------------------------------------------------

WORDS = st.text(alphabet="ab é주문 1.{}:<>", max_size=12)
VALUES = st.recursive(
    WORDS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
FIELDS = st.dictionaries(WORDS, VALUES, max_size=3)
PARTS = st.one_of(
    st.builds(lambda text: {"text": text}, WORDS),
    st.builds(lambda text, s: {"text": text, "thoughtSignature": s}, WORDS, st.sampled_from("st")),
    st.builds(lambda args, id: {"functionCall": {"name": "f", "args": args, "id": id}},
              FIELDS, WORDS),
    st.builds(lambda values: {"functionResponse": {"name": "f", "response": values}}, FIELDS),
)  # fmt: skip
CONTENTS = st.builds(
    lambda role, parts: {"role": role, "parts": parts},
    st.sampled_from(["user", "model"]),
    st.lists(PARTS, min_size=1, max_size=3),
)
SCHEMAS = st.builds(
    lambda names: {
        "type": "object",
        "properties": {name: {"type": ["string", "null"], "description": name} for name in names},
        "required": names,
        "additionalProperties": False,
    },
    st.lists(WORDS, max_size=2, unique=True),
)
REQUESTS = st.builds(
    lambda contents, system, schemas: {
        "contents": contents,
        "systemInstruction": {"parts": [{"text": system}]},
        "tools": [
            {"functionDeclarations": [{"name": "f", "parametersJsonSchema": s} for s in schemas]}
        ],
    },
    st.lists(CONTENTS, min_size=1, max_size=4),
    WORDS,
    st.lists(SCHEMAS, max_size=2),
)
SNAKE = {
    "systemInstruction": "system_instruction",
    "functionDeclarations": "function_declarations",
    "parametersJsonSchema": "parameters_json_schema",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "thoughtSignature": "thought_signature",
}


def respelled(value: object) -> object:
    """The same JSON with Gemini's fields in snake_case; the generated names hold no such word."""
    if isinstance(value, dict):
        return {SNAKE.get(key, key): respelled(each) for key, each in value.items()}
    return [respelled(each) for each in value] if isinstance(value, list) else value


def reordered(value: object) -> object:
    """The same JSON with the keys of every object in reverse."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(each) for each in value] if isinstance(value, list) else value


@given(REQUESTS)
@settings(max_examples=100)
def test_spelling_and_order_of_keys_do_not_change_the_bill(request):
    assert respelled(request) != request
    bill = breakdown(request, MODEL, {"s": 100, "t": 9})
    assert breakdown(respelled(request), MODEL, {"s": 100, "t": 9}) == bill
    assert breakdown(reordered(request), MODEL, {"s": 100, "t": 9}) == bill
    again = json.loads(json.dumps(request))
    assert breakdown(again, MODEL, {"s": 100, "t": 9}) == bill


@given(REQUESTS)
@settings(max_examples=50)
def test_one_content_more_adds_what_it_weighs_alone(request):
    more = user("And one more thing.")
    grown = request | {"contents": [*request["contents"], more]}
    alone = breakdown(body(more), MODEL, {}).total
    before = breakdown(request, MODEL, {"s": 100, "t": 9}).total
    assert breakdown(grown, MODEL, {"s": 100, "t": 9}).total == before + alone
