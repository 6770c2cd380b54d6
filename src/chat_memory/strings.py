"""Every sentence, label and banner a reader sees, as one string under one id.

The English edition is the dict `EN`; a Korean edition will be a second dict with the same ids.
An id is `place.what`; ids stand in alphabetical order, so that two editions can lie side by side.
A string is a whole label or a whole sentence with named holes: no code glues pieces together,
because the order of the pieces, and the particles between them, differ from language to language.
What is not here: Markdown of the notebooks, texts of conversations (`data/`), errors that only
a programmer meets, and the names of the API (`promptTokenCount`), which no edition translates.
"""

EN = {
    "chart.estimated": "≈ the count is estimated",
    "chart.limit": "limit {tokens:,} tokens",
    "chart.new": "new messages",
    "chart.prompt": "promptTokenCount",
    "chart.refused": "refused",
    "chart.resent": "messages sent before",
    "chart.sum": "sum of promptTokenCount",
    "chart.system": "system and tools",
    "chart.thoughts": "thoughts sent again",
    "chart.title.empty": "Nothing is sent yet",
    "chart.title.line": "Turn {turn} sends {tokens:,} tokens",
    "chart.title.lines": "Turn {turn} sends {low:,} tokens ({least}) to {high:,} tokens ({most})",
    "chart.title.money": "After {turn} turns the bill is ${total:,.4f}",
    "chart.title.moneys": "After {turn} turns: ${low:,.4f} ({least}) to ${high:,.4f} ({most})",
    "chart.title.stack": "Turn {turn} sends {tokens:,} tokens, and {new:,} of them are new",
    "chart.title.sum": "After {turn} turns the prompts add up to {total:,} tokens",
    "chart.title.sums": "After {turn} turns: {low:,} tokens ({least}) to {high:,} tokens ({most})",
    "chart.turn": "turn",
}


def t(name: str, **values: object) -> str:
    """Give the string with this id, its holes filled.

    >>> t("chart.limit", tokens=3000)
    'limit 3,000 tokens'
    """
    if name not in EN:
        raise ValueError(f"strings.py has no string {name!r}: add it there, in alphabetical order.")
    return EN[name].format(**values)
