"""The offline summariser: lines copied from a request, under the headings that it asks for.

A request is known by the first line of its prompt, "Summarise the conversation below ..." or
"아래 대화를 ... 요약하십시오". Headings stand in it as "## ...", the limit as "230 words" or
"170단어", perhaps "one line" (한 줄씩) for each. Then come <earlier>, a summary to fold in, and
<conversation>: a line for each part ("user: ...", "model: ...", "call: ...", "response: ..."),
its further lines indented.

The earlier summary's lines come first, then what `extract.py` finds. If that is too long, the
oldest lines go, from the section that is most over its share. So it may lose things, but it never
misremembers: it is *no* language model, and there is no chance in it.
"""

import functools
import re
from dataclasses import dataclass

from offline_gemini.extract import VALUE, Line, alike, lines, values

FIRST_LINE = re.compile(r"Summarise the conversation below\b|아래 대화를 .*요약하십시오")
LIMIT = re.compile(r"(\d+) ?(?:words|단어)")
ONE_LINE = re.compile("one line|한 줄씩")
EARLIER = r"(?:<earlier>\n(.*?)\n</earlier>\n)?"
PARTS = re.compile(rf"{EARLIER}<conversation>\n(.*)\n</conversation>", re.DOTALL)
KINDS = {  # what stands under a heading, and its share of the room
    "product and environment|제품과 환경": ("product", 3),
    "reported issue|접수된 문제": ("issue", 2),
    "steps tried and results|해 본 조치와 결과": ("steps", 3),
    "identifiers|식별 정보": ("identifiers", 6),
    "timeline|시간 순서": ("timeline", 4),
    "tool insights|도구에서 알게 된 것": ("tools", 3),
    "status and blockers|상태와 걸림돌": ("status", 2),
    "next step|다음 단계": ("next", 2),
    "conclusions|결론": ("steps identifiers timeline", 4),
    "open issues|남은 문제": ("status", 2),
}
OTHER = ("identifiers", 2)  # a heading of the reader's own
NEWEST_ONLY = {"status", "next"}
WHAT_IT_IS_ABOUT = {"product", "issue", "steps"}  # their first line stays
MARKS = {"en": ("(UNVERIFIED)", "(superseded: "), "ko": ("(미확인)", "(대체됨: ")}
SUPERSEDED = re.compile(r"(.*) \((?:superseded|대체됨): ([^)]+)\)")
MARKED = re.compile(r" \((?:superseded|대체됨): [^)]+\)")  # the same, quick in a long line

Sections = dict[str, list[str]]  # the lines under each heading


@dataclass(frozen=True)
class Wanted:
    """A request for a summary, taken apart: headings, limit in words, what to summarise."""

    headings: list[str]
    limit: int
    glue: str  # between the lines of a section
    earlier: str
    parts: list[tuple[str, str]]

    @property
    def marks(self) -> tuple[str, str]:
        """How a guess and a superseded value are marked, in the language of the headings."""
        return MARKS["ko" if re.search("[가-힣]", "".join(self.headings)) else "en"]


def summary(text: str) -> str | None:
    """The summary that a user text asks for; None if it asks for none."""
    wanted = wanted_in(text)
    return _written(_fitted(_folded(wanted), wanted.limit), wanted.glue) if wanted else None


def wanted_in(text: str) -> Wanted | None:
    """What a user text asks to be summarised, and how; None if it asks for no summary."""
    found = PARTS.search(text)
    if not FIRST_LINE.match(text) or not found:
        return None
    prompt = text[: found.start()]
    limit, headings = LIMIT.search(prompt), re.findall("^## (.+)", prompt, re.MULTILINE)
    return Wanted(
        headings or ["Identifiers"],
        int(limit[1]) if limit else 200,
        "; " if ONE_LINE.search(prompt) else "\n",
        found[1] or "",
        unflattened(found[2]),
    )


def unflattened(conversation: str) -> list[tuple[str, str]]:
    """The parts of a conversation that was flattened to lines, as (label, text).

    >>> unflattened("user: Hello,\\n  it is me.\\nmodel: Hello.")
    [('user', 'Hello,\\nit is me.'), ('model', 'Hello.')]
    """
    found = [line.partition(": ") for line in re.split(r"\n(?!  )", conversation)]
    return [(label, text.replace("\n  ", "\n")) for label, _, text in found]


@functools.lru_cache(maxsize=256)
def _kinds(heading: str) -> tuple[list[str], int]:
    known = (KINDS[names] for names in KINDS if heading.strip().casefold() in names.split("|"))
    names, share = next(known, OTHER)
    return names.split(), share


def _folded(wanted: Wanted) -> Sections:
    """Under each heading the lines of the earlier summary, and then the new ones."""
    sections: Sections = {heading: [] for heading in wanted.headings}
    heading = wanted.headings[0]
    for line in filter(None, wanted.earlier.splitlines()):
        heading = line[3:] if line[3:] in sections else heading
        sections[heading] += [] if line.startswith("## ") else line.split(wanted.glue)
    homes = {kind: each for each in wanted.headings for kind in _kinds(each)[0]}
    for line in lines(wanted.parts):
        if line.kind in homes:
            _add(line, sections[homes[line.kind]], sections, wanted)
    return sections


def _add(line: Line, home: list[str], sections: Sections, wanted: Wanted) -> None:
    """Add a line, unless its values stand there already, or it corrects one that does."""
    if line.kind in NEWEST_ONLY:
        home[:] = [" ".join(line.text.split()[: wanted.limit // 6])]
    elif not (line.corrects and _corrected(line.text, sections, wanted.marks)):
        known = {
            value for section in sections.values() for each in section for value in alike(each)
        }
        new = alike(line.text)
        if not (new <= known if new else line.text in home):
            home.append(f"{line.text} {wanted.marks[0]}" if line.guess else line.text)


def _corrected(text: str, sections: Sections, marks: tuple[str, str]) -> bool:
    """Put a corrected value where one of the same shape stood, and the old one behind it."""
    for new in sorted(each for each in values(text) if len(each) > 2):
        for section in sections.values():
            for place, line in enumerate(section):
                for old in sorted(values(line) - {new}):
                    if shape(old) == shape(new):
                        told = line.replace(old, new).replace(f" {marks[0]}", "")
                        section[place] = f"{told} {marks[1]}{old})"
                        return True
    return False


def shape(value: str) -> str:
    """A value with its letters and digits taken alike.

    >>> shape("TK-5520")
    'AA-9999'
    """
    return re.sub("[A-Za-z]", "A", re.sub(r"\d", "9", value))


def _fitted(sections: Sections, limit: int) -> Sections:
    """The lines that fit: the oldest goes first, from the section that is most over its share."""
    sections = {heading: each for heading, each in sections.items() if each}
    sizes = {heading: _size({heading: each}) for heading, each in sections.items()}
    while sum(sizes.values()) > limit:
        many = [heading for heading, each in sections.items() if len(each) > 1] or list(sections)
        heading = max(many, key=lambda heading: sizes[heading] / _kinds(heading)[1])
        section = sections[heading]
        del section[_weakest(section, bool(WHAT_IT_IS_ABOUT.intersection(_kinds(heading)[0])))]
        sizes[heading] = _size({heading: section})
        if not section:
            del sections[heading], sizes[heading]
    return sections


def _weakest(section: list[str], first_stays: bool) -> int:
    """Which line goes: the oldest, but a correction last, lest the old value come back."""
    corrected = [MARKED.search(line) is not None for line in section]
    order = [(corrected[n], n == 0 and first_stays, n) for n in range(len(section))]
    return order.index(min(order))


def swapped(text: str, asked: str) -> str:
    """A summary with an older value stated as current: the fault summary_swaps_value.

    It is a value that was corrected, else the first that has another of its shape in the request.
    """
    for line, old in SUPERSEDED.findall(text):
        new = [each for each in VALUE.findall(line) if shape(each) == shape(old)]
        if new:
            return SUPERSEDED.sub(r"\1", text).replace(new[0], old)
    for value in VALUE.findall(text):
        others = [each for each in VALUE.findall(asked) if each != value]
        same = [each for each in others if len(each) > 2 and shape(each) == shape(value)]
        if same:
            return text.replace(value, same[0])
    return text


def _size(sections: Sections) -> int:
    return len(_written(sections).split())


def _written(sections: Sections, glue: str = "\n") -> str:
    return "\n".join(f"## {heading}\n{glue.join(each)}" for heading, each in sections.items())
