"""Public recordings of Gemini 3.x: prompts and candidates to the token, every request accepted.

The recordings are not shipped: CHAT_MEMORY_RECORDINGS names their file, a list of objects with
`path call model request usage signatures response_parts` (`signatures` maps a re-sent signature
to the thoughts of its reply). The prompts that do not come out are named here one by one.
"""

import functools
import json
import os

import pytest
from request_json import need_vocabulary

from offline_gemini import breakdown, rules
from offline_gemini.billing import candidates_token_count

# Recorded minus counted. No rule on what a request holds can give these, since a sibling with
# the same texts comes out exactly; what differs is how the recorded thoughts were fed back.
# - multi_tool: of 299 tokens 138 have no text in the request, and the next call re-sends 104
#   thoughts fewer than were billed. 138 = 104 + the 2 calls (2 x 16) + 2 roles: as if the server
#   had thought and called once, and tried again by itself. multi_tool_streaming 0, with the same
#   tools and question, is exact.
# - multi_tool_streaming 1: parallel calls with their responses, exact in 7 other recordings.
# - thinking: its thinkingLevel costs nothing. Two other recordings of the very same request, with
#   80 and 73 thoughts re-sent, weigh 175 and 168: 95 + thoughts, exactly as counted here.
# - ...-image: the sibling ...-document differs in one word of one token, and is exact.
KNOWN = {
    ("gemini-3-pro-preview/multi_tool.yaml", 0): 138,
    ("gemini-3-pro-preview/multi_tool.yaml", 1): -104,
    ("gemini-3-pro-preview/multi_tool_streaming.yaml", 1): -3,
    ("gemini-3-pro-preview/thinking.yaml", 1): 1,
    ("matrix[direct-url_force_download-image-google_gemini3].yaml", 1): 7,
}


@functools.cache
def read(path: str) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture
def recordings() -> list[dict]:
    if not os.environ.get("CHAT_MEMORY_RECORDINGS"):
        pytest.skip("CHAT_MEMORY_RECORDINGS names no file of recorded calls")
    return read(os.environ["CHAT_MEMORY_RECORDINGS"])


def differences(recordings: list[dict]) -> dict[tuple[str, int], int]:
    """Recorded minus counted prompt tokens, where they differ, by place."""
    found = {}
    for each in recordings:
        counted = breakdown(each["request"], each["model"], each["signatures"]).total
        if difference := each["usage"]["promptTokenCount"] - counted:
            found[(each["path"], each["call"])] = difference
    return found


def short(found: dict[tuple[str, int], int]) -> dict[tuple[str, int], int]:
    """The same by the shortened paths of KNOWN, where there is one."""
    ends = {end for end, _ in KNOWN}
    return {
        (next((end for end in ends if path.endswith(end)), path), call): difference
        for (path, call), difference in found.items()
    }


def test_all_but_a_few_recorded_prompts_come_out_to_the_token(recordings):
    need_vocabulary()
    found = differences(recordings)
    assert len(recordings) >= 30 * len(found), found


def test_the_recorded_prompts_that_do_not_come_out_are_the_known_ones(recordings):
    need_vocabulary()
    places = short({(each["path"], each["call"]): 0 for each in recordings})
    assert short(differences(recordings)) == {k: v for k, v in KNOWN.items() if k in places}


def test_recorded_replies_of_text_or_calls_come_out_to_the_token_in_nine_of_ten(recordings):
    need_vocabulary()
    missed = [
        (each["path"], each["call"], each["usage"]["candidatesTokenCount"] - counted.tokens)
        for each in recordings
        if "candidatesTokenCount" in each["usage"]
        for counted in [candidates_token_count(each["response_parts"])]
        if counted.tokens != each["usage"]["candidatesTokenCount"]
    ]
    assert len(missed) <= len(recordings) / 10, missed
    assert all(difference == -1 for *_, difference in missed), missed


def test_every_recorded_request_is_accepted(recordings):
    for each in recordings:
        rules.check(each["request"], each["model"])
        rules.check_model(each["model"])
