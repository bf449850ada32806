"""Which words of a text have changed from one version to the next."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

WordFate = Literal["same", "removed", "added"]
MOST_WORDS: Final = 2_000
"""Of longer texts all words count as changed: comparing them takes too long."""


class WordChange(NamedTuple):
    """Words in a row that share a fate, joined by spaces."""

    fate: WordFate
    text: str


def word_changes(before: str, after: str) -> Iterator[WordChange]:
    """Yield the words of both texts, in an order in which either can be read."""
    old, new = before.split(" "), after.split(" ")
    if max(len(old), len(new)) > MOST_WORDS:
        yield WordChange("removed", before)
        yield WordChange("added", after)
        return
    for tag, start, end, from_, to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield WordChange("same", " ".join(old[start:end]))
            continue
        if end > start:
            yield WordChange("removed", " ".join(old[start:end]))
        if to > from_:
            yield WordChange("added", " ".join(new[from_:to]))
