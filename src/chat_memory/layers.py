"""Strategies in which old turns live on in short: as a summary, or as named facts.

The last turns stay verbatim. When a trigger fires, the closed turns before them give way to a
pair that stands for them: `SummaryPairs` and `LayeredHybrid` ask the model for a summary,
`KeyFacts` for named facts. `LayeredHybrid` has a third layer, pinned facts that never change.

A pair is taken only if the call stopped normally and what came is not blank, and smaller than
what it replaces; otherwise nothing changes and the chat goes on. The question of whether to make
one is put once a turn, before its first request. The originals stay in the transcript, and
`summaries` keeps what was made, taken or not, with the turns it covers.

This file does *not* word a prompt (`summary.py`) or decide when it is time (`triggers.py`).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from google.genai import types

from chat_memory.contents import calls_of, is_turn_start, text_of, turns, user
from chat_memory.prompts import language_of, prompt_text, prompts
from chat_memory.strategies import Context, Rung, require_count
from chat_memory.strings import t
from chat_memory.summary import Ask, Summary, pair, request, summarize, weight
from chat_memory.triggers import Trigger, Uncompressed, any_of, closed, over_tokens, over_turns
from offline_gemini import count
from offline_gemini.sentences import refusal

MOST_PINNED = 1_000  # tokens; every one of them is paid at every call
FACT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
    "required": ["name", "value"],
}
FACTS = {"type": "array", "items": FACT}  # the JSON schema of a reply that lists facts
DEFAULT_TRIGGER = any_of(over_tokens(3000), closed())


class Compressing(Rung):
    """What the strategies here share: turns before the last `recent_turns` give way to a pair.

    `summaries` holds a `Summary` for every attempt since the last clear.
    """

    layer = "summary pair"
    shadow = "shadow"
    pinned_text = ""
    least = 0  # tokens that a pair will weigh at the least, as far as is known beforehand

    def __init__(self, recent_turns: int, trigger: Trigger):
        self.recent_turns, self.trigger = recent_turns, trigger
        self._ask: Ask | None = None
        self._live = self._busy = False
        self._start_over()

    def bind(self, ask: Ask, live: bool = False) -> None:
        """Give this strategy the model that it asks; `live` says whether a real one answers."""
        self._ask, self._live = ask, live

    def reset(self) -> None:
        """Forget all pairs: `clear` begins a new transcript, and it wins over a running call."""
        self._start_over()

    def _start_over(self) -> None:
        self.summaries: list[Summary] = []
        self._note = ""  # what stands for the covered turns
        self._pair: list[types.Content] = []
        self._start = 0  # transcript[:_start] is covered,
        self._end: types.Content | None = None  # up to this content;
        self._turns = 0  # it holds so many turns,
        self._closed = 0  # and so many were closed when it was last covered

    def __call__(self, transcript: list[types.Content]) -> Context:
        """What is pinned, the pair, and the turns that no pair covers."""
        if self._start and not self._follows(transcript):
            self._start_over()
        if transcript and is_turn_start(transcript[-1]) and not self._busy:
            self._busy = True  # what the model is asked may itself be said through this strategy
            try:
                self._compress(transcript)
            finally:
                self._busy = False
        recent = transcript[self._start :]
        pinned, head, whole = self.pinned_text, len(self._pair), len(self._pair) + len(recent)
        layers = [("pinned", 0, 0)] if pinned else []  # in the system: no stretch of the contents
        layers += [(self.layer, 0, head)] if head else []
        layers += [("recent turns", head, whole)] if recent else []
        dropped = range(self._start)
        return Context([*self._pair, *recent], layers=layers, dropped=dropped, pinned=pinned)

    def _follows(self, transcript: list[types.Content]) -> bool:
        """Whether this is the transcript that was summarised, perhaps grown."""
        return len(transcript) >= self._start and transcript[self._start - 1] is self._end

    def _compress(self, transcript: list[types.Content]) -> None:
        """Put a pair in place of the older verbatim turns, if it is time and it succeeds."""
        record, start = self.summaries, self._start
        spans = turns(transcript[start:])
        if len(spans) <= self.recent_turns:
            return
        verbatim = [transcript[start + a : start + b] for a, b in spans]
        since = self._turns + len(spans) - 1 - self._closed
        now = Uncompressed(verbatim, self._pair, since, self._ask, self._live)
        if not self.trigger.fires(now):
            return
        if self._ask is None:
            raise refusal(f"{self!r} calls a model: give it to a ChatSession, or bind(ask).")
        self._refuse_thrashing(verbatim)
        stop = start + spans[-self.recent_turns][0]
        stretch, end = transcript[start:stop], transcript[stop - 1]
        last = self._turns + len(spans) - self.recent_turns
        place = {"first": self._turns + 1, "last": last, "start": start, "stop": stop}
        made = replace(self._made(stretch), **place)
        if self.summaries is not record or transcript[start:stop] != stretch:
            made = replace(made, refused=t("summary.cleared"))
        record.append(made)
        if not made.refused:
            self._closed = self._turns + len(spans) - 1
            self._note, self._pair = made.text, pair(made.text, self.shadow)
            self._start, self._turns, self._end = stop, last, end

    def _made(self, stretch: list[types.Content]) -> Summary:
        """What stands for a stretch; whatever the call raises, the chat goes on without it."""
        try:
            return self._condensed(stretch)
        except Exception as error:  # a session's ask raises nothing, a reader's own may
            return Summary("", refused=t("summary.failed", reason=error))

    def _condensed(self, stretch: list[types.Content]) -> Summary:
        raise NotImplementedError

    def _refuse_thrashing(self, verbatim: list[list[types.Content]]) -> None:
        """Raise ValueError if what is kept leaves no room for one more turn of usual weight."""
        limit = self.trigger.tokens
        if limit is None or self._note:
            return
        usual = median(map(weight, verbatim[:-1]))
        kept = round(self.recent_turns * usual) + self.least
        if kept + usual > limit:
            turns = self.recent_turns
            raise refusal(t("summary.thrashing", turns=turns, kept=kept, limit=limit))


class SummaryPairs(Compressing):
    """A summary pair and the last turns: it forgets what the summary left out.

    When more than `context_limit` turns stand verbatim, a summary takes the place of all but the
    last `keep_last_n_turns`. Both count real turns, the open one too, and never the pair;
    `context_limit` may be a trigger. `prompt` is "sections", "three_lines" or a text of your own,
    `words` its limit.
    Raises ValueError for limits out of range or crossed, or a prompt without its first line.
    """

    def __init__(
        self,
        context_limit: int | Trigger,
        keep_last_n_turns: int,
        prompt: str = "sections",
        words: int | None = None,
    ):
        require_count("keep_last_n_turns", keep_last_n_turns)
        self.context_limit, self.prompt, self.words = context_limit, prompt, words
        if not isinstance(context_limit, Trigger):
            require_count("context_limit", context_limit)
            context_limit = over_turns(context_limit)
        if context_limit.turns is not None and context_limit.turns < keep_last_n_turns:
            raise refusal(
                f"keep_last_n_turns is {keep_last_n_turns}, more than context_limit "
                f"({self.context_limit}): turns that are kept are counted in it, so keep fewer."
            )
        prompt_text(prompt, "en", words)
        super().__init__(keep_last_n_turns, context_limit)

    def _condensed(self, stretch: list[types.Content]) -> Summary:
        return summarize(stretch, self._ask, self._note, self.prompt, self.words)

    @property
    def least(self) -> int:
        """A summary may use up its words, and a word is a token or more."""
        return self.words or prompts("en")["words"].get(self.prompt, 0)

    def __repr__(self) -> str:
        return f"SummaryPairs({self.context_limit}, {self.recent_turns})"


class LayeredHybrid(SummaryPairs):
    """Three layers: pinned facts, a summary pair, and the last `recent_turns` turns.

    `pinned` never changes. `issue` is the matter at hand: set it when it changes; `clear` empties
    it. Both stand first in the system instruction. `trigger` says when older turns are summarised.
    Raises ValueError if nothing is pinned, too much (over 1,000 tokens), or a blank text; for
    limits out of range; and at the first summary if what is kept alone would fire the trigger.
    """

    def __init__(
        self,
        pinned: Sequence[str],
        recent_turns: int = 6,
        trigger: Trigger = DEFAULT_TRIGGER,
        issue: str = "",
        prompt: str = "sections",
        words: int | None = None,
    ):
        require_count("recent_turns", recent_turns)
        if not isinstance(trigger, Trigger):
            raise refusal(f"The trigger is {trigger!r}: write one such as over_tokens(3000).")
        if trigger.turns is not None and trigger.turns <= recent_turns:
            raise refusal(
                f"{trigger} fires at every turn, for {recent_turns} turns are always kept: "
                "give it a larger number, or keep fewer turns."
            )
        self.pinned, self.issue = _checked(pinned), issue
        super().__init__(trigger, recent_turns, prompt, words)

    @property
    def pinned_text(self) -> str:
        """What stands first in the system instruction: the pinned facts, then the issue."""
        language = language_of(map(user, self.pinned))
        issue = [prompts(language)["issue"].format(issue=self.issue)] if self.issue else []
        return "\n".join([*self.pinned, *issue])

    def reset(self) -> None:
        """Forget all summaries and the issue, which belongs to the chat that ends."""
        super().reset()
        self.issue = ""

    def __repr__(self) -> str:
        return f"LayeredHybrid({self.recent_turns}, {self.trigger})"


def _checked(pinned: Sequence[str]) -> tuple[str, ...]:
    """The pinned texts; ValueError if there is none, one is blank, or they are too long."""
    texts = tuple(pinned) if isinstance(pinned, list | tuple) else ()
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise refusal(
            f"pinned is {pinned!r}: give a list of one or more texts, none of them blank, "
            "or take SummaryPairs, which pins nothing."
        )
    tokens = count("\n".join(texts)).tokens
    if tokens > MOST_PINNED:
        raise refusal(
            f"The pinned texts weigh {tokens:,} tokens, and {MOST_PINNED:,} are allowed: every "
            "call pays for them, so pin only what must never be compressed."
        )
    return texts


class KeyFacts(Compressing):
    """Named facts from old turns, of each the newest value, and the last turns verbatim.

    When more than `context_limit` turns stand verbatim (by default twice `recent_turns`), the
    model is asked, by a structured-output call, which facts all but the last `recent_turns`
    state. What no fact names is forgotten. `facts` maps names to values.
    Raises ValueError for limits out of range or crossed.
    """

    layer = "key facts"
    shadow = "facts_shadow"

    def __init__(self, recent_turns: int, context_limit: int | None = None):
        require_count("recent_turns", recent_turns)
        self.context_limit = 2 * recent_turns if context_limit is None else context_limit
        require_count("context_limit", self.context_limit, recent_turns, "these are kept")
        super().__init__(recent_turns, over_turns(self.context_limit))

    @property
    def facts(self) -> dict[str, str]:
        """The facts that stand in the context, by name."""
        return dict(line.split(": ", 1) for line in self._note.splitlines())

    def _condensed(self, stretch: list[types.Content]) -> Summary:
        earlier = json.dumps(self.facts, ensure_ascii=False) if self._note else ""
        wanted = prompts(language_of(stretch))["facts"]
        call = self._ask([user(request(wanted, stretch, earlier))], "facts", FACTS)
        if call.error:
            return Summary("", call.usage, t("summary.failed", reason=call.error))
        new = None if calls_of(call.reply) else _facts_in(text_of(call.reply))
        if new is None:
            return Summary("", call.usage, t("summary.no_facts"))
        note = "\n".join(f"{name}: {value}" for name, value in (self.facts | new).items())
        size, room = weight(pair(note)), weight([*self._pair, *stretch])
        refused = t("summary.long", size=size, room=room) if size >= room else ""
        return Summary(note, call.usage, refused)

    def __repr__(self) -> str:
        usual = self.context_limit == 2 * self.recent_turns
        return f"KeyFacts({self.recent_turns}{'' if usual else f', {self.context_limit}'})"


def _facts_in(reply: str) -> dict[str, str] | None:
    """The facts in a reply, each on one line; None if it is not the JSON that was asked for."""
    try:
        rows: Iterable = json.loads(reply)
        facts = {_line(row["name"]): _line(row["value"]) for row in rows}
    except (ValueError, TypeError, KeyError):
        return None
    return {name: value for name, value in facts.items() if name and value}


def _line(text: str) -> str:
    return " ".join(str(text).replace(": ", " ").split())
