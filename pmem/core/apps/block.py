"""The block of an app's memories that a model reads (S0's context format)."""

from collections.abc import Iterable, Sequence

from pmem.core.visible import visible
from pmem.values.records import Memory
from pmem.values.times import day


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Return memories by their latest change, the newest first."""
    return sorted(memories, key=lambda memory: (memory.updated_at, memory.id), reverse=True)


def fitting(
    memories: Iterable[Memory], most: int, characters: int
) -> tuple[list[Memory], list[Memory]]:
    """Choose what a block shows: whole memories, the newest first.

    Args:
        memories: In any order.
        most: How many at the most.
        characters: Of all contents together at the most.

    Returns:
        The memories that it shows, and those that it has no room for.
    """
    shown: list[Memory] = []
    omitted: list[Memory] = []
    left = characters
    for memory in newest_first(memories):
        length = len(_one_line(memory.content))
        if len(shown) < most and length <= left:
            shown.append(memory)
            left -= length
        else:
            omitted.append(memory)
    return shown, omitted


def block(app: str, memories: Sequence[Memory]) -> str:
    """Write the block; nothing where there is no memory.

    Each memory is one line that begins with its number, and hidden characters are written out: no
    content can pass for another line of the block.

    Args:
        app: The app's name.
        memories: In the order in which they are shown.
    """
    if not memories:
        return ""
    lines = (
        f"{number}. [Created: {day(memory.created_at)}] {_one_line(memory.content)}"
        for number, memory in enumerate(memories, 1)
    )
    return "\n".join(
        (
            f"(memories for app: {_one_line(app)})",
            "The following are memories from previous conversations with this app:",
            "",
            *lines,
            "",
            "Use these memories to provide context-aware responses.",
            "",
        )
    )


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))
