"""Write data/token_counts.tsv: the counts of every word that the workbook bills.

Run it after a conversation or a notebook changed, with the vocabulary at hand:

    CHAT_MEMORY_TOKENIZER=gemma3.model python tools/build_token_counts.py
    CHAT_MEMORY_TOKENIZER=gemma3.model python tools/build_token_counts.py --check

`--check` writes nothing; it lists missing and wrong words and exits with 1 if there are any.
`--quick` runs no notebook and keeps the words that stand in the table.
A row is a word (or a run of one) as JSON, a tab, and its tokens. Words are found by billing: every
conversation, and every notebook in both languages, run in a process of its own, at every position
of every `Live`. Words a reader will type are *not* covered; they are estimated.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT / "src") not in sys.path:
    sys.path.insert(0, str(ROOT / "src"))

from chat_memory.prompts import prompts  # noqa: E402 - run from a checkout
from offline_gemini import billing, replies, scripts, tokens  # noqa: E402 - run from a checkout
from offline_gemini.texts import sentences_in  # noqa: E402 - run from a checkout

CONVERSATIONS = sorted((ROOT / "data" / "conversations").glob("*.toml"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LANGUAGES = ("en", "ko")
ALWAYS = [*string.digits, " ", *string.punctuation, *(f" {mark}" for mark in string.punctuation)]
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
MOST_POSITIONS = 500  # of a Live whose controls would give more, each control moves alone


def main(arguments: list[str] | None = None) -> int:
    """Build or check the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    parser.add_argument("--quick", action="store_true", help="run no notebook, keep all words")
    parser.add_argument("--run", metavar="NOTEBOOK", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not os.environ.get("CHAT_MEMORY_TOKENIZER"):
        print("Set CHAT_MEMORY_TOKENIZER to the SentencePiece file of Gemma 3.", file=sys.stderr)
        return 2
    if options.run:
        return run_notebook(Path(options.run))
    billed = stored() if options.quick else words_of_notebooks(NOTEBOOKS)
    table = table_of(words_of_data().union(billed))
    if options.check:
        return check(table, stored())
    tokens.TABLE.write_bytes(written(table).encode())
    print(f"{len(table)} words in {tokens.TABLE.relative_to(ROOT)}")
    return 0


def table_of(words: Iterable[str]) -> dict[str, int]:
    """Words and their runs with their counts, in order."""
    every = {*words, *ALWAYS}
    every |= {run for word in every for run in tokens.runs(word)}
    return {word: tokens.count(word).tokens for word in sorted(every)}


def written(table: Mapping[str, int]) -> str:
    """The table as its file; a word that can't be seen whole is written in ASCII.

    >>> written({" a": 1, "네": 1, "x\\u2028": 4})
    '" a"\\t1\\n"네"\\t1\\n"x\\\\u2028"\\t4\\n'
    """
    names = {word: json.dumps(word, ensure_ascii=not word.isprintable()) for word in table}
    return "".join(f"{names[word]}\t{count}\n" for word, count in table.items())


def stored() -> dict[str, int]:
    """The table as it stands in its file; empty if there is none."""
    return tokens._table()


def check(table: Mapping[str, int], stored: Mapping[str, int]) -> int:
    """Print what is missing or wrong in the stored table; 1 if anything is, else 0."""
    missing = [word for word in table if word not in stored]
    wrong = [word for word in stored if tokens.count(word).tokens != stored[word]]
    for name, found in (("missing", missing), ("wrong", wrong)):
        for word in found:
            print(f"{name}: {json.dumps(word, ensure_ascii=False)}")
    unused = len(stored.keys() - table.keys())
    print(f"{len(missing)} missing, {len(wrong)} wrong, {unused} no longer used")
    return 1 if missing or wrong else 0


def words_of_data() -> set[str]:
    """Every word of the conversations and of our own prompts, as billing cuts them."""
    found = [texts_of_script(scripts.load_script(path)) for path in CONVERSATIONS]
    found += map(texts_of_prompts, ("en", "ko"))
    return {word for texts in found for text in texts for word in tokens.words(text)}


def texts_of_prompts(language: str) -> list[str]:
    """What we ask a model for in a language, with the usual word limits."""
    table = prompts(language)
    texts = [text for text in table.values() if isinstance(text, str)]
    return [text.replace("{words}", str(n)) for text in texts for n in table["words"].values()]


def texts_of_script(script: scripts.Script) -> list[str]:
    """What a conversation can be billed for: its texts, quoted too, its tools and their calls."""
    texts = [script.system, *script.pinned, *itertools.chain(*script.facts.values())]
    for turn in script.turns:
        texts += [turn.user, turn.reply, turn.without, turn.outdated, turn.again]
    texts += list(_quotes(texts))
    rendered = [billing.render_declaration(tool) for tool in script.tools]
    for call in (call for turn in script.turns for step in turn.steps for call in step):
        response = call.result if isinstance(call.result, dict) else {"result": call.result}
        rendered.append(billing.render_call({"name": call.name, "args": call.args}))
        rendered.append(billing.render_response({"name": call.name, "response": response}))
    return texts + [piece for text in rendered for piece in text.split(billing.QUOTE)]


def _quotes(texts: Iterable[str]) -> Iterator[str]:
    """Each sentence as the offline Gemini quotes it, in both languages."""
    for text in texts:
        for sentence in sentences_in(text):
            for words in replies.QUOTES.values():
                yield words["user"].format(sentence=sentence)
                yield words["model"].format(sentence=sentence)


def words_of_notebooks(notebooks: Iterable[Path]) -> set[str]:
    """Every word counted while the notebooks run, in each language."""
    runs = itertools.product(notebooks, LANGUAGES)
    return set().union(*(words_of_notebook(notebook, language) for notebook, language in runs))


def words_of_notebook(notebook: Path, language: str) -> set[str]:
    """Every word counted while one notebook runs in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "words"
        log.touch()
        environment = {key: os.environ[key] for key in os.environ if key not in KEYS} | {
            "CHAT_MEMORY_WORD_LOG": str(log),
            "CHAT_MEMORY_LANGUAGE": language,
            "CHAT_MEMORY_STATIC": "1",
        }
        command = [sys.executable, str(Path(__file__).resolve()), "--run", str(notebook)]
        if subprocess.run(command, env=environment, cwd=notebook.parent).returncode:
            sys.exit(f"{notebook.name} fails in the language {language}: mend it, then run again.")
        return {json.loads(line) for line in log.read_text(encoding="utf-8").split("\n") if line}


def run_notebook(notebook: Path) -> int:
    """Run a notebook's code cells in this process, at all positions; 1 if a cell fails."""
    import nbformat
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.io import capture_output

    tokens.TABLE = Path(os.devnull)  # with no table, every word is logged
    visit_every_position()
    shell = InteractiveShell.instance()
    for number, cell in enumerate(nbformat.read(notebook, as_version=4).cells, 1):
        if cell.cell_type != "code":
            continue
        with capture_output():
            result = shell.run_cell(cell.source)
        if not result.success and "raises-exception" not in cell.metadata.get("tags", []):
            error = result.error_before_exec or result.error_in_exec
            print(f"{notebook.name}, cell {number}: {error!r}", file=sys.stderr)
            return 1
    return 0


def visit_every_position() -> None:
    """Make every `Live` of this process play all its positions when it is made."""
    from chat_memory.charts.live import Live

    make = Live.__init__

    def make_and_visit(self: Live, *arguments: object, **named: object) -> None:
        make(self, *arguments, **named)
        for position in positions(self.controls):
            with contextlib.suppress(Exception):  # a reader sees it; it bills nothing
                self.play(**position)

    Live.__init__ = make_and_visit


def positions(controls: Mapping[str, object]) -> list[dict]:
    """Every combination of a Live's controls; if they are too many, each control moves alone."""
    choices = {name: choices_of(control) for name, control in controls.items()}
    if math.prod(map(len, choices.values())) <= MOST_POSITIONS:
        return [
            dict(zip(choices, each, strict=True)) for each in itertools.product(*choices.values())
        ]
    start = {name: control.value for name, control in controls.items()}
    return [start | {name: value} for name in choices for value in choices[name]]


def choices_of(control: object) -> list:
    """All values of a control: of a slider, a checkbox or a list."""
    if hasattr(control, "options"):
        return list(control.options)
    if hasattr(control, "min"):
        return list(range(control.min, control.max + 1, control.step))
    return [False, True]


if __name__ == "__main__":
    sys.exit(main())
