"""The workbook in a terminal: `python -m chat_memory chat`, `run NAME` and `compare [NAME ...]`.

`chat` is a chat you type, with `/clear` and `/quit`; after each turn its run log is written, so
that Ctrl-C and Ctrl-D lose nothing. `run` plays a conversation (a `.toml` or `.txt` file, or the
name of a bundled one), prints the transcript, what each call cost and the sum in US dollars, and
writes a log if asked. `compare` plays conversations under every strategy and prints one table;
with `--chat FILE` it recounts a chat of your own instead.

Whatever goes wrong is one sentence on the error stream and exit code 2.
This file does *not* draw: charts are for notebooks.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from google.genai import types
from tqdm import tqdm

from chat_memory.calls import Call
from chat_memory.comparison import Row, compared, comparison_table
from chat_memory.connect import connect
from chat_memory.conversations import bundled, find, language, play
from chat_memory.dialects import load_chat
from chat_memory.errors import ChatError
from chat_memory.ladder import ladder
from chat_memory.lines import shortened
from chat_memory.prices import day_of_prices
from chat_memory.recount import recount_table
from chat_memory.runs import RunError, new_path
from chat_memory.session import ChatSession
from chat_memory.strategies import Strategy
from chat_memory.strings import t
from chat_memory.usage import Usage, cost, total
from chat_memory.words import PINNING, named, strategy_of
from offline_gemini import Script

COMMAND = re.compile(r"/[^/\s]*(\s|$)")  # one word; a path has another slash in it
SUMMED = ("promptTokenCount", "thoughtsTokenCount", "candidatesTokenCount", "totalTokenCount")
COLUMNS = ("call", "contents", "prompt", "thoughts", "candidates", "total", "seconds")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ValueErrors, so that all errors are said alike."""

    def error(self, message: str) -> None:
        """Raise instead of printing the usage and leaving."""
        raise ValueError(f"{message[:1].upper()}{message[1:]}: see python -m chat_memory --help.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
        return options.do(options)
    except (ValueError, ChatError) as error:
        print(error, file=sys.stderr)
        return 2


def parser() -> Parser:
    """The command line: its commands and their options."""
    words = f"A strategy is {t('cli.words')}."
    whole = Parser(prog="python -m chat_memory", description="A chat with memory.", epilog=words)
    commands = whole.add_subparsers(required=True, metavar="chat|run|compare")
    chatting = commands.add_parser("chat", help="chat in the terminal")
    chatting.add_argument("--system", help="the system instruction")
    chatting.set_defaults(do=chat)
    running = commands.add_parser("run", help="play a conversation and print what it cost")
    running.add_argument("scenario", help="a .toml or .txt file, or a bundled name")
    running.set_defaults(do=run)
    for command in (chatting, running):
        command.add_argument("--strategy", default="everything", help=words)
        command.add_argument("--log", type=Path, help="write the run log to this file")
    comparing = commands.add_parser("compare", help="put every strategy into one table")
    comparing.add_argument("conversation", nargs="*", help="files or bundled names; all if none")
    comparing.add_argument("--strategy", action="append", help=f"Repeat for several. {words}")
    comparing.add_argument("--chat", type=Path, help="recount a chat of your own from this file")
    comparing.set_defaults(do=compare)
    return whole


def run(options: argparse.Namespace) -> int:
    """Play a conversation; print its transcript and usage, whatever happens on the way."""
    script = scripted(options.scenario)
    strategy = strategy_of(options.strategy, script.pinned)
    session = ChatSession(connect(conversations=[script]), strategy=strategy)
    size = sum(1 for turn in script.turns if turn.user)
    code = 0
    with tqdm(total=size, unit="turn", leave=False, disable=None) as bar:
        try:
            play(script, session, each=printer(bar))
        except KeyboardInterrupt:
            bar.write(t("cli.interrupted"))
            code = 130
        except ChatError as error:
            bar.write(str(error), file=sys.stderr)
            code = 2
    print("\n" + bill(session))
    if options.log:
        print(t("cli.saved", path=session.save(options.log)))
    return code


def compare(options: argparse.Namespace) -> int:
    """Print a table of every strategy, on conversations or for a chat of one's own.

    Raises ValueError if both are named.
    """
    if options.chat and options.conversation:
        raise ValueError(t("cli.either"))
    if options.chat:
        transcript = load_chat(options.chat)
        print(recount_table(transcript, chosen(options.strategy, (), options.chat.name)))
        for note in transcript.notes:
            print(note)
        return 0
    scripts = [scripted(name) for name in options.conversation or bundled(language())]
    todo = [(s, chosen(options.strategy, s.pinned, s.name) or ladder(s)) for s in scripts]
    rows: list[Row] = []
    code = 0
    size = sum(len(strategies) for _, strategies in todo)
    with tqdm(total=size, unit="chat", leave=False, disable=None) as bar:
        try:
            for script, strategies in todo:
                compared(script, strategies, each=lambda row: (rows.append(row), bar.update()))
        except KeyboardInterrupt:
            bar.write(t("cli.stopped"), file=sys.stderr)
            code = 130
    print(comparison_table(rows))
    return code


def scripted(name: str | Path) -> Script:
    """The conversation of this name; ValueError for a file of JSON, which is a chat to recount."""
    if Path(name).suffix in (".json", ".jsonl"):
        raise ValueError(t("cli.is_chat", path=name))
    return find(name)


def chosen(
    specs: Sequence[str] | None, pinned: Sequence[str], name: str
) -> dict[str, Strategy] | None:
    """The strategies that words on the command line name, under these words; None without any.

    Raises ValueError for a word that names none, and for a hybrid where `name` pins nothing.
    """
    if any(named(spec) in PINNING for spec in specs or ()) and not pinned:
        raise ValueError(t("cli.no_pins", name=name))
    return {spec: strategy_of(spec, pinned) for spec in specs} if specs else None


def printer(bar: tqdm) -> Callable[[ChatSession], None]:
    """What prints the contents that each turn has added."""
    shown: list[types.Content] = []

    def each(session: ChatSession) -> None:
        nonlocal shown
        if shown and session.transcript[:1] != shown[:1]:
            bar.write(t("cli.cleared"))
            shown = []
        for content in session.transcript[len(shown) :]:
            for line in lines(content):
                bar.write(line)
        shown = list(session.transcript)
        bar.update()

    return each


def lines(content: types.Content) -> Iterator[str]:
    """A content as the lines a reader sees."""
    for part in content.parts or ():
        if part.function_call:
            call = part.function_call
            arguments = ", ".join(f"{k}={v!r}" for k, v in (call.args or {}).items())
            yield t("cli.calls", name=call.name, arguments=arguments)
        elif part.function_response:
            response = part.function_response
            yield t("cli.result", name=response.name, result=response.response)
        elif part.text and not part.thought:
            yield t("cli.user" if content.role == "user" else "cli.model", text=part.text)


def usage_table(calls: Sequence[Call]) -> str:
    """What each call sent and cost, one row a call; what is not known is a dash."""
    rows = [COLUMNS, *(row_of(number, call) for number, call in enumerate(calls))]
    texts = [["-" if value is None else str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    texts.insert(1, ["-" * (width - 1) + ":" for width in widths])
    padded = ([text.rjust(width) for text, width in zip(r, widths, strict=True)] for r in texts)
    return "\n".join(f"| {' | '.join(row)} |" for row in padded)


def row_of(number: int, call: Call) -> tuple[object, ...]:
    """A call as a row of the usage table."""
    usage = call.usage or Usage()
    return (
        number,
        len(call.contents),
        usage.prompt_token_count,
        usage.thoughts_token_count,
        usage.candidates_token_count,
        usage.total_token_count,
        call.seconds,
    )


def bill(session: ChatSession) -> str:
    """What a session's calls cost: the usage table, their sum, and that in US dollars."""
    table = usage_table(session.calls)
    if not session.calls:
        return table
    used = total(session.calls)
    lines = [table, t("cli.sum", **{name: used.to_json()[name] for name in SUMMED})]
    try:
        dollars = cost(used, session.model)
        lines.append(t("cli.bill", as_of=day_of_prices(), dollars=dollars))
    except ValueError:
        lines.append(t("cli.no_price", model=session.model))
    return "\n".join(lines)


def chat(options: argparse.Namespace) -> int:
    """Chat until /quit, Ctrl-D or Ctrl-C; the log is written after each turn."""
    strategy = strategy_of(options.strategy)
    session = ChatSession(connect(), strategy=strategy, system=options.system)
    session.scenario = "chat"
    log = Log(session, options.log or new_path("chat").with_suffix(".json"))
    print(t("cli.chat"))
    for text in typed():
        if text.casefold() == "/clear":
            session.clear()
            print(t("cli.cleared"))
        elif COMMAND.match(text):
            print(t("cli.no_command", word=shortened(text)))
        else:
            answer(session, text, log)
    if not session.calls:
        return 0
    print("\n" + bill(session))
    if not log.write():
        return 2
    print(t("cli.saved", path=log.path))
    return 0


class Log:
    """The run log of a chat; that it can't be written is said once, and the chat goes on."""

    def __init__(self, session: ChatSession, path: Path):
        self.session, self.path = session, path
        self._said = ""

    def write(self) -> bool:
        """Write the log; returns whether it is written."""
        try:
            self.session.save(self.path)
        except RunError as error:
            if str(error) != self._said:
                print(error, file=sys.stderr)
            self._said = str(error)
            return False
        self._said = ""
        return True


def typed() -> Iterator[str]:
    """What the reader types, line by line, until /quit, Ctrl-D or Ctrl-C."""
    while True:
        try:
            text = input(t("cli.prompt")).strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return
        if text.casefold() == "/quit":
            return
        if text:
            yield text


def answer(session: ChatSession, text: str, log: Log) -> None:
    """One turn of the chat: print the answer as it comes, and write the log."""
    print(t("cli.model", text=""), end="", flush=True)
    try:
        session.send(text, stream=lambda piece: print(piece, end="", flush=True))
        print()
        log.write()
    except KeyboardInterrupt:
        print("\n" + t("cli.interrupted"))
    except (ValueError, ChatError) as error:
        print(f"\n{error}", file=sys.stderr)


if __name__ == "__main__":
    for output in (sys.stdout, sys.stderr):
        output.reconfigure(encoding="utf-8", errors="replace")
    sys.stdin.reconfigure(errors="surrogateescape")  # what is no letter is refused in a sentence
    sys.exit(main())
