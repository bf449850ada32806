"""Whether a memory may stop an edit: a person wrote it, and a person marked it."""

from typing import Final

from pmem.core.trust import Trust, trust_of
from pmem.values.records import EventKind, Memory

_MARK: Final = "stops_edits"


def may_be_marked(memory: Memory) -> bool:
    """Tell whether a person may mark a memory: no agent made it, and no import brought it."""
    begun = [event for event in memory.history if event.event is EventKind.ADD]
    return memory.source.kind == "manual" and not any(each.agent or each.source for each in begun)


def may_stop(memory: Memory) -> bool:
    """Tell whether a memory's mark counts.

    It does where a person set it by an edit, and nobody who is trusted less has changed what the
    memory says since. A history can be forged, so the user's own settings have to allow it as well.
    """
    if not memory.stops_edits or not may_be_marked(memory) or trust_of(memory) is not Trust.HIGH:
        return False
    marked = [event for event in memory.history if _MARK in event.before]
    return bool(marked) and not (marked[-1].agent or marked[-1].source)
