"""Which of the records that a session was shown it named or quoted.

That is counted, not understood: who was shown two records that say the same has quoted both.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from pmem.values.ids import short

LEAST_QUOTED: Final = 6
"""So many words in a row are a quotation."""
_CHARACTERS: Final = r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+"
"""Words, where Chinese and Japanese characters stand for themselves."""
_HALF: Final = 2
"""A Chinese or Japanese character counts for half a word."""


class ShownText(NamedTuple):
    """A record as it stands before a session's eyes."""

    record: Any
    text: str


class SessionWork(NamedTuple):
    """What was done in a part of a session.

    Attributes:
        written: What the assistant wrote, to people and into its tools' arguments.
        edited: The files that it edited, seen from the top of the project.
        asked: What people asked, and when, as the transcript writes it.
    """

    written: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    asked: tuple[tuple[str, str], ...] = ()


def named(ids: Iterable[str], work: SessionWork) -> set[str]:
    """Return the ids that an assistant named, whole or in their short form."""
    said = set[str]().union(*(re.findall(r"[0-9A-Za-z]+", text) for text in work.written))
    return {identifier for identifier in ids if short(identifier) in said}


def quoted(shown: Iterable[ShownText], work: SessionWork) -> set[str]:
    """Return the ids of the records that an assistant wrote some words in a row of.

    It takes time by the length of the texts, and no more.
    """
    of_record: dict[tuple[str, ...], set[str]] = {}
    for one in shown:
        for run in _runs(_words(one.text)):
            of_record.setdefault(run, set()).add(one.record.id)
    starts = {run[0] for run in of_record}
    found: set[str] = set()
    for text in work.written if starts else ():
        for run in _runs(_words(text), starts):
            found |= of_record.get(run, set())
    return found


def _words(text: str) -> list[str]:
    text = text.casefold()
    return re.findall(r"\w+" if text.isascii() else _CHARACTERS, text)


def _runs(words: Sequence[str], starts: Collection[str] | None = None) -> Iterator[tuple[str, ...]]:
    """Yield, from each word on, as many words as make a quotation."""
    for first, word in enumerate(words):
        if starts is None or word in starts:
            halves, end = 0, first
            while halves < LEAST_QUOTED * _HALF and end < len(words):
                halves += 1 if _is_character(words[end]) else _HALF
                end += 1
            if halves >= LEAST_QUOTED * _HALF:
                yield tuple(words[first:end])


def _is_character(word: str) -> bool:
    return len(word) == 1 and word >= "\u3040"
