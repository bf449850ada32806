"""What a command says beside its answer: loaded by those that have something to say."""

from collections.abc import Iterator, Sequence
from typing import Final

from pmem.memory.app_memories import Decided
from pmem.values.ids import short

_TOLD: Final = 20
"""Decisions that are told one by one."""


def room_notes(decisions: Sequence[Decided]) -> Iterator[str]:
    """Say what went so that apps keep to their limits.

    Args:
        decisions: What was decided.
    """
    for decided in decisions[:_TOLD]:
        why = decided.reason + (f" ({decided.failure})" if decided.failure else "")
        if decided.merged:
            yield f"made room: {short(decided.merged)} went into {short(decided.target)}; {why}"
        else:
            yield f"made room: removed {short(decided.target)}; {why}"
    if len(decisions) > _TOLD:
        yield f"and {len(decisions) - _TOLD} more; --json has them all"
