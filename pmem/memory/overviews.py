"""Which tags, subjects and types memories have, and how many have each."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import msgspec

from pmem.core.filters import Filter, fold
from pmem.core.selection import Selection
from pmem.project.workspace import Workspace
from pmem.values.records import Memory

Naming = Literal["tags", "subjects"]


class NamesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the tags or the subjects of active memories are to be counted."""

    of: Naming


class NameCount(msgspec.Struct, frozen=True, kw_only=True):
    """A tag or a subject as it is written most often, how many memories have it, and since when.

    Attributes:
        name: The tag or the subject.
        count: Active memories that have it, letter case aside.
        latest: When the newest of them was made.
    """

    name: str
    count: int
    latest: datetime


class NameListing(msgspec.Struct, frozen=True, kw_only=True):
    """Tags or subjects, the most used first, and how many there are."""

    items: tuple[NameCount, ...]
    total: int


def list_names(workspace: Workspace, request: NamesRequest) -> NameListing:
    """Count the tags, or the subjects, of active memories; letter case makes no difference."""
    spellings: dict[str, Counter[str]] = {}
    latest: dict[str, datetime] = {}
    for memory in workspace.memories.select(Selection(wanted=Filter())):
        for name in _names(memory, request.of):
            key = fold(name)
            spellings.setdefault(key, Counter())[name] += 1
            latest[key] = max(memory.created_at, latest.get(key, memory.created_at))
    found = [
        NameCount(name=known.most_common(1)[0][0], count=sum(known.values()), latest=latest[key])
        for key, known in spellings.items()
    ]
    found.sort(key=lambda item: (-item.count, fold(item.name)))
    return NameListing(items=tuple(found), total=len(found))


def _names(memory: Memory, of: Naming) -> Iterator[str]:
    if of == "tags":
        yield from memory.tags
    elif memory.subject:
        yield memory.subject
