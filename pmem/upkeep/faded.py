"""The memories that `consolidate` would archive now, found without reading the others."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from pmem.core.filters import Filter
from pmem.core.lifecycle.consolidation import ARCHIVE_BELOW, faded
from pmem.core.lifecycle.presence import with_recalls
from pmem.core.retention import days_until
from pmem.core.selection import Selection, ticks
from pmem.project.workspace import Workspace
from pmem.upkeep.consolidation import rules_of
from pmem.values.records import Access, Memory, MemoryType
from pmem.values.times import shifted

UNPINNED: Final = Selection(wanted=Filter(pinned=False))
"""The active memories that may fade."""


def faded_memories(
    workspace: Workspace,
    importances: Iterable[tuple[str, float]],
    recalled: Mapping[str, Access],
    many: int,
) -> list[tuple[Memory, float]]:
    """Return the memories that are due to be archived, each with its presence, by id.

    Of one importance those that nobody has used for long enough are looked at.

    Args:
        workspace: Where they are.
        importances: The types and importances that active memories which may fade have.
        recalled: The recalls that no record knows yet.
        many: How many active memories there are.
    """
    rules, now = rules_of(workspace), workspace.now()
    found: list[Memory] = []
    for type_, importance in importances:
        half_life = rules.fading.half_lives.get(MemoryType(type_))
        if half_life is None:
            continue
        days = days_until(ARCHIVE_BELOW, importance, half_life)
        wanted = replace(
            UNPINNED.wanted, types=(type_,), importance_min=importance, importance_max=importance
        )
        unused = (("used", ticks(shifted(now, -timedelta(days=days))) + 1),)
        found += workspace.memories.select(replace(UNPINNED, wanted=wanted, below=unused))
    return faded(counted(found, recalled), now, rules, many)


def counted(memories: Iterable[Memory], recalled: Mapping[str, Access]) -> list[Memory]:
    """Return memories with the recalls that their records do not know yet.

    Args:
        memories: Some memories.
        recalled: Those recalls, by id.
    """
    return [
        with_recalls(memory, recalled[memory.id]) if memory.id in recalled else memory
        for memory in memories
    ]
