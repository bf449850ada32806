"""What a stretch of conversation was about, in a few words taken from it."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from pmem.core.words import STOP_WORDS
from pmem.records import Message

SENTENCE_CHARACTERS: Final = 160
TOPICS: Final = 8

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"[^\W\d_]\w{2,39}")


def summarise(messages: Iterable[Message]) -> str:
    """Say what messages hold: each one's first sentence after its speaker.

    Args:
        messages: In the order in which they were said.
    """
    lines = []
    for message in messages:
        first = next(iter(sentences(message.content)), "")
        if first:
            lines.append(f"{message.speaker or message.role}: {shortened(first)}")
    return "\n".join(lines)


def key_topics(messages: Iterable[Message], most: int = TOPICS) -> tuple[str, ...]:
    """Return the words that recur most, the most frequent first and equals by alphabet.

    Args:
        messages: What was said.
        most: How many words at the most.
    """
    counted = Counter(
        word
        for message in messages
        for word in _WORD.findall(message.content.casefold())
        if word not in STOP_WORDS
    )
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, _ in ordered[:most])


def sentences(text: str) -> list[str]:
    """Split a text at sentence ends and line breaks, without empty pieces.

    Args:
        text: Any text.
    """
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece.strip()]


def shortened(text: str, most: int = SENTENCE_CHARACTERS) -> str:
    """Cut a text at a word's end so that it has `most` characters, the ellipsis included.

    Args:
        text: One line.
        most: Characters at the most, at least two.
    """
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    head, _, _ = cut.rpartition(" ")
    return (head or cut).rstrip(" ,;:") + "…"
