"""What a stretch of conversation was about, in a few words taken from it."""

from collections import Counter
from collections.abc import Iterable

from pmem.core.text import sentences, terms
from pmem.records import Message

SENTENCE_CHARACTERS = 160
TOPICS = 8


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
        word for message in messages for word in terms(message.content) if len(word) > 2
    )
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, _ in ordered[:most])


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
