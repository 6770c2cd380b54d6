"""What tests of the bundled conversations share: where they lie, and what makes two of them twins.

A case comes in English and in Korean. Twins have equal turns, facts, tools, arguments, probes and
states; they differ in what is said. What a tool is *told* in prose is said, too: the conclusion
of an agent.

Nothing here looks at what a strategy keeps of a case: its own test file does.
"""

from dataclasses import replace
from pathlib import Path

from offline_gemini import Script, load_script
from offline_gemini.replies import leaves
from offline_gemini.scripts import Call, Turn

FOLDER = Path(__file__).resolve().parents[1] / "data" / "conversations"
LANGUAGES = ("en", "ko")
PROSE = {"conclude"}  # tools whose arguments are written in the language of the case


def paths(name: str) -> dict[str, Path]:
    """The files of a case, by language."""
    return {language: FOLDER / f"{name}.{language}.toml" for language in LANGUAGES}


def load(name: str) -> dict[str, Script]:
    """The twins of a case, by language."""
    return {language: load_script(path) for language, path in paths(name).items()}


def calls(turn: Turn) -> list[Call]:
    return [call for step in turn.steps for call in step]


def shape(value: object) -> object:
    """A JSON value with its keys, lengths and kinds, and without its texts."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return type(value).__name__ if isinstance(value, str) else value


def asked(call: Call) -> tuple:
    """A call without its result, and without prose."""
    return call.name, shape(call.args) if call.name in PROSE else call.args


def skeleton(turn: Turn) -> tuple:
    """What twins share of a turn: all but its words."""
    said = {key: bool(getattr(turn, key)) for key in ("without", "outdated", "again")}
    steps = [[(asked(call), shape(call.result)) for call in step] for step in turn.steps]
    wordless = replace(turn, user="", reply="", without="", outdated="", again="", steps=())
    return wordless, said, steps


def assert_twins(english: Script, korean: Script) -> None:
    """Fail at the first turn, fact or tool in which two scripts differ by more than words."""
    for number, (one, other) in enumerate(zip(english.turns, korean.turns, strict=True), 1):
        assert skeleton(one) == skeleton(other), f"turn {number}"
    assert list(english.facts) == list(korean.facts)
    assert [(t["name"], t["parameters"]) for t in english.tools] == [
        (t["name"], t["parameters"]) for t in korean.tools
    ]
    assert len(english.pinned) == len(korean.pinned)


def said_in(turn: Turn, tools: bool = True) -> list[str]:
    """The texts of a turn that is answered by its reply, as they are seen in a later request."""
    traffic = [leaves(call.args, call.result) for call in calls(turn)] if tools else []
    return [turn.user, turn.reply, *(text for texts in traffic for text in texts)]
