"""Every sentence, label and banner a reader sees, as one string under one id.

The English edition is the dict `EN`; a Korean edition will be a second dict with the same ids.
An id is `place.what`; ids stand in alphabetical order, so that two editions can lie side by side.
A string is a whole label or a whole sentence with named holes: no code glues pieces together,
because the order of the pieces, and the particles between them, differ from language to language.
What is not here: Markdown of the notebooks, texts of conversations (`data/`), errors that only
a programmer meets, and the names of the API (`promptTokenCount`), which no edition translates.
"""

EN = {
    "chart.label": "{name}: {value}",
    "chart.limit": "limit {tokens:,} tokens",
    "chart.limit.above": "the limit of {tokens:,} tokens is far above this axis",
    "chart.money.sum": "US dollars so far",
    "chart.money.turn": "US dollars a turn",
    "chart.new": "new messages",
    "chart.prompt": "promptTokenCount",
    "chart.refused": "refused",
    "chart.resent": "messages sent before",
    "chart.sum": "sum of promptTokenCount",
    "chart.system": "system and tools",
    "chart.thoughts": "thoughts sent again",
    "chart.title.empty": "Nothing is sent yet",
    "chart.title.money.sum.many": "In all, {most} costs {high}, and {least} costs {low}",
    "chart.title.money.sum.one": "Up to turn {turn} the calls cost {value}",
    "chart.title.money.turn.many": "The last turn costs {high} ({most}) or {low} ({least})",
    "chart.title.money.turn.one": "Turn {turn} costs {value}",
    "chart.title.stack": "Turn {turn} sends {tokens:,} tokens, and {new:,} of them are new",
    "chart.title.sum.many": "In all, {most} sends {high} tokens, and {least} sends {low}",
    "chart.title.sum.one": "Up to turn {turn} the prompts add up to {value} tokens",
    "chart.title.tokens.many": "In the last turn {most} sends {high} tokens, {least} sends {low}",
    "chart.title.tokens.one": "Turn {turn} sends {value} tokens",
    "chart.turn": "turn",
    "lens.data": "(data)",
    "lens.dropped": "dropped",
    "lens.error": "Turn {turn} sent nothing. Choose a turn from 1 to {last}.",
    "lens.kept": "kept",
    "lens.number": "message",
    "lens.pinned": "pinned",
    "lens.place": "place",
    "lens.role": "role",
    "lens.summarised": "inside the summary",
    "lens.system": "system",
    "lens.title": "In turn {turn} the model sees {seen} of {all} messages",
    "lens.tokens": "tokens",
    "lens.words": "first words",
    "live.error.api": "{code} {status}: {message}",
    "predict.button": "I have written my prediction",
    "predict.kept": "You predicted: {choice}",
    "predict.kept.answer": "You predicted: {choice}. The figure shows: {answer}.",
}


def t(name: str, /, **values: object) -> str:
    """Give the string with this id, its holes filled.

    >>> t("chart.limit", tokens=3000)
    'limit 3,000 tokens'
    """
    if name not in EN:
        raise ValueError(
            f"strings.py has no string {name!r}: add it there, in alphabetical order."
        )
    return EN[name].format(**values)
