"""Which messages of a growing conversation move into chunks."""

from collections.abc import Sequence

from pmem.records import Message


def overflow(
    recent: Sequence[Message], most: int, size: int
) -> tuple[list[tuple[Message, ...]], tuple[Message, ...]]:
    """Decide which of the recent messages move into chunks.

    Whenever there are more than `most`, the oldest `size` leave together; half of `most` where
    `size` is larger than that, so that some stay.

    Args:
        recent: Messages outside chunks, the oldest first.
        most: How many may stay.
        size: How many one chunk takes.

    Returns:
        The chunks' messages, the oldest chunk first, and the messages that stay.
    """
    size = size if size <= most else (most + 1) // 2
    taken = 0
    while len(recent) - taken > most:
        taken = min(taken + size, len(recent))
    chunks = [tuple(recent[i : min(i + size, taken)]) for i in range(0, taken, size)]
    return chunks, tuple(recent[taken:])
