"""The offline answer to a request for facts: those of a script that the conversation states.

A request is known by its first line, "List the facts that the conversation below states ..." or
"아래 대화에서 밝혀진 사실을 ..."; the conversation is flattened as for a summary. The script is
the one whose customer speaks there. A fact that its customer states somewhere counts only where
he does, any other where it is seen. Of several values the newest wins.

It knows only what a script's [facts] name: any other conversation has no facts for it. It does
*not* keep them: the strategy `KeyFacts` does.
"""

import json
import re
from collections.abc import Iterable

from offline_gemini.scripts import Script
from offline_gemini.summaries import PARTS, unflattened
from offline_gemini.texts import fold, visible

FIRST_LINE = re.compile(
    r"List the facts that the conversation below states\b|아래 대화에서 밝혀진"
)


def facts(text: str, scripts: Iterable[Script]) -> str | None:
    """The facts that a user text asks for, as JSON; None if it asks for none.

    The reply is a list of {"name", "value"}, as the schema of such a request has it.
    """
    found = PARTS.search(text)
    if not FIRST_LINE.match(text) or not found:
        return None
    parts = unflattened(found[2])
    script = _script(parts, scripts)
    known = _known(script, parts) if script else {}
    rows = [{"name": name, "value": value} for name, value in known.items()]
    return json.dumps(rows, ensure_ascii=False)


def _script(parts: list[tuple[str, str]], scripts: Iterable[Script]) -> Script | None:
    """The script whose customer says most of what the customer says here."""
    said = {fold(text) for label, text in parts if label == "user"}
    ranked = [(len(said & {fold(turn.user) for turn in s.turns if turn.user}), s) for s in scripts]
    most, script = max(ranked, key=lambda pair: pair[0], default=(0, None))
    return script if most else None


def _known(script: Script, parts: list[tuple[str, str]]) -> dict[str, str]:
    stated = {fact for turn in script.turns for fact in turn.states}
    known = {}
    for label, text in parts:
        for fact, spellings in script.facts.items():
            if label == "user" or fact not in stated:
                seen = [spelling for spelling in spellings if visible([spelling], [text])]
                known |= {fact: seen[-1]} if seen else {}
    return known
