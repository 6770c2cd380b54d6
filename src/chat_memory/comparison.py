"""Every strategy on every conversation, in one table: what it sends, costs, keeps and breaks.

`measured` plays one strategy on one conversation, `compared` all of the ladder on all. Each is
played offline, through a session of its own on a fresh client, so every figure was billed. A plain
function of yours joins in: it gets the transcript and returns a list.

What is measured is whether a fact was in the request: a model that gets it may still miss it.
The cache is shown at its best and left out; Gemini guarantees no hit.
This file does *not* choose the strategies (`ladder.py`) or draw (`charts/frontier.py`), and a chat
of your own, which can't be played again, is counted in `recount.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from chat_memory.caching import share
from chat_memory.calls import Call
from chat_memory.connect import connect, default_model
from chat_memory.conversations import Conversation, find, find_all, play
from chat_memory.errors import ChatError
from chat_memory.ladder import ladder
from chat_memory.probes import probe_numbers
from chat_memory.scores import Score, score
from chat_memory.session import ChatSession
from chat_memory.strategies import Strategy, name_of, require_count
from chat_memory.strings import t
from chat_memory.tables import Right, Table, wrapped
from chat_memory.usage import Price, Usage, cost, total
from offline_gemini import Refused, Script
from offline_gemini.billing import resent_thoughts

HEADS = (
    *("strategy", "messages", "thoughts", "cached", "best", "full"),
    *("extra", "facts", "wrong", "tools", "again"),
)


@dataclass(frozen=True)
class Row:
    """One strategy on one conversation: what its calls cost, and what they scored.

    `thoughts` are the tokens that re-sent signatures added to all prompts. `refused` says why the
    chat stopped, and at which turn; then all figures end there. `price` is None for the model's.
    """

    strategy: str
    script: Script = field(repr=False)
    calls: list[Call] = field(repr=False)
    usage: Usage = field(repr=False)
    score: Score = field(repr=False)
    thoughts: int
    probes: int
    refused: str = ""
    model: str = field(default="", repr=False)
    price: Price | None = field(default=None, repr=False)

    @property
    def conversation(self) -> str:
        """The name of the conversation, without its language."""
        return self.script.name.partition(".")[0]

    @property
    def prompt(self) -> int:
        """promptTokenCount of all calls added up."""
        return self.usage.prompt_token_count

    @property
    def messages(self) -> int:
        """The same without re-sent thoughts: system, tools and messages."""
        return self.prompt - self.thoughts

    @property
    def dollars(self) -> float:
        """US dollars for all calls, with the cache at its best; ValueError without a price."""
        return cost(self.usage, self.price or self.model)

    @property
    def uncached(self) -> float:
        """US dollars for all calls if nothing is read from a cache."""
        return cost(replace(self.usage, cached_content_token_count=0), self.price or self.model)

    @property
    def cached(self) -> float:
        """The share of all prompt tokens that was read from a cache, from 0 to 1."""
        return share(self.calls)

    @property
    def extra(self) -> int:
        """Calls for summaries and facts, and turns in which the customer repeats himself."""
        notes = sum(1 for call in self.calls if call.purpose != "answer")
        return notes + len(self.score.repeated)

    @property
    def kept(self) -> float | None:
        """The share of probes whose facts were in the request; None without any probe."""
        return self.score.in_request / self.probes if self.probes else None

    @property
    def from_case(self) -> bool:
        """Whether its facts came from the case file: the stand-in finds none by itself."""
        return any(call.purpose == "facts" for call in self.calls)


def measured(
    conversation: Conversation,
    strategy: Strategy,
    name: str | None = None,
    *,
    turns: int | None = None,
    thinking: bool = True,
    tools: bool = True,
    model: str | None = None,
    price: Price | None = None,
) -> Row:
    """Play a conversation through a strategy, on a fresh client, and measure it.

    `turns` and `tools` are those of `play`. If Gemini or the strategy itself refuses a request,
    the row says so and nothing is raised; an error in your own function is raised as it is.
    """
    if turns is not None:
        require_count("turns", turns, 0, "it says how many turns are played")
    script = find(conversation)
    client = connect(offline=True, conversations=[script], caching=True, quiet=True)
    session = ChatSession(client, strategy, model=model, thinking=thinking)
    done: list[ChatSession] = []
    refused = ""
    try:
        play(script, session, turns=turns, tools=tools, each=done.append)
    except (ChatError, ValueError) as error:
        if not is_ours(error):
            raise
        refused = t("compare.refused", turn=len(done) + 1, reason=_reason(error))
    return Row(
        strategy=name or name_of(strategy),
        script=script,
        calls=session.calls,
        usage=total(session.calls),
        score=score(session.calls, script),
        thoughts=sum(map(_thoughts, session.calls)),
        probes=sum(1 for n in probe_numbers(script) if turns is None or n <= turns),
        refused=refused,
        model=model or default_model(),
        price=price,
    )


def is_ours(error: Exception) -> bool:
    """Whether an error was worded here; any other has to show where it came from."""
    return hasattr(error, "_render_traceback_")


def _reason(error: Exception) -> str:
    """Gemini's own words where it refuses, else what the error says."""
    cause = error.__cause__
    if isinstance(cause, Refused):
        return t("compare.gemini", code=cause.code, status=cause.status, message=cause.message)
    return str(error)


def _thoughts(call: Call) -> int:
    """Tokens that signatures, sent again, add to a prompt; none if the call failed."""
    if call.usage is None:
        return 0
    return sum(resent_thoughts(call.request["contents"], call.model, call.signatures))


def compared(
    conversations: Conversation | Iterable[Conversation],
    strategies: Mapping[str, Strategy] | Iterable[Strategy] | None = None,
    *,
    also: Iterable[Strategy] = (),
    each: Callable[[Row], None] | None = None,
    **options: object,
) -> list[Row]:
    """Measure every strategy on every conversation, conversation by conversation.

    `strategies` are those of `ladder` unless others are given, `also` joins them. `each(row)` is
    called after every row; the other options are those of `measured`.
    """
    rows = []
    for script in find_all(conversations):
        offered = ladder(script) if strategies is None else strategies
        for name, strategy in chosen(offered, also).items():
            rows.append(measured(script, strategy, name, **options))
            if each:
                each(rows[-1])
    return rows


def chosen(
    strategies: Mapping[str, Strategy] | Iterable[Strategy], also: Iterable[Strategy] = ()
) -> dict[str, Strategy]:
    """Strategies by the name they have in a table; those without one have their own."""
    named = strategies if isinstance(strategies, Mapping) else {name_of(s): s for s in strategies}
    return {**named, **{name_of(strategy): strategy for strategy in also}}


def priced(rows: Iterable[Row], price: Price | None) -> list[Row]:
    """The same rows at another price, or at the model's again; nothing is played for it."""
    return [replace(row, price=price) for row in rows]


def comparison_table(rows: Sequence[Row]) -> Table:
    """One row a strategy, under the name of its conversation; what was refused stands below.

    In it are prompt tokens of all calls from messages (system and tools with them) and from
    re-sent thoughts, the cached share, US dollars with the cache at its best and without it, extra
    calls, probes with their facts in the request, and of `Score` the contaminated turns, the
    accuracy of tools and the turns that had to be repeated.
    """
    cells: list[tuple] = []
    for conversation, group in groupby(rows, _conversation):
        cells.append((f"{conversation}:", *[Right("")] * (len(HEADS) - 1)))
        cells += map(_cells, group)
    return Table([t(f"compare.{head}") for head in HEADS], cells, _notes(rows))


def _cells(row: Row) -> tuple:
    name = f"{row.strategy}{t('compare.mark') if row.from_case else ''}"
    if row.refused:
        return (name, *[None] * (len(HEADS) - 1))
    right = row.score.tool_accuracy
    return (
        name,
        row.messages,
        row.thoughts,
        Right(f"{row.cached:.0%}"),
        Right(f"{row.dollars:.4f}"),
        Right(f"{row.uncached:.4f}"),
        row.extra,
        Right(f"{row.score.in_request}/{row.probes}") if row.probes else None,
        len(row.score.contaminated),
        None if right is None else Right(f"{right:.0%}"),
        len(row.score.repeated),
    )


def _notes(rows: Sequence[Row]) -> list[str]:
    """What the reader of the table has to know: its words, marks, and what is missing."""
    notes = [t("compare.note.money"), t("compare.note.turns")]
    notes += [t("compare.note.case")] if any(row.from_case for row in rows) else []
    unpinned = [name for name, group in groupby(rows, _conversation) if _lacks_pins(list(group))]
    notes += [t("compare.note.pins", names=", ".join(unpinned))] if unpinned else []
    for row in (row for row in rows if row.refused):
        names = {"strategy": row.strategy, "conversation": row.conversation}
        notes.append(t("compare.note.refused", reason=row.refused, **names))
    return wrapped(notes)


def _conversation(row: Row) -> str:
    return row.conversation


def _lacks_pins(rows: Sequence[Row]) -> bool:
    """Whether the whole ladder was played, and the hybrid left out of it."""
    script = rows[0].script
    return not script.pinned and ladder(script).keys() <= {row.strategy for row in rows}
