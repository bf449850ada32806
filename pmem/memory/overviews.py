"""Which tags, subjects and types memories have, and how many have each."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import msgspec

from pmem.core.filters import Filter, fold
from pmem.core.selection import Selection
from pmem.core.type_guide import GUIDE, TypeGuide
from pmem.project.workspace import Workspace
from pmem.values.defaults import DEFAULT_CATEGORY, DEFAULT_IMPORTANCE
from pmem.values.records import Memory, MemoryType
from pmem.values.requests import NoArguments

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


class TypeCount(TypeGuide, frozen=True, kw_only=True):
    """A type, what it is for, what a memory of it starts with, and how many there are."""

    type: MemoryType
    category: str
    importance: float
    count: int


class TypeListing(msgspec.Struct, frozen=True, kw_only=True):
    """All types, and how many active memories there are."""

    items: tuple[TypeCount, ...]
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


def list_types(workspace: Workspace, request: NoArguments) -> TypeListing:  # noqa: ARG001 - a row's form
    """Say what each type of memory is for, and how many active ones there are."""
    counts = {
        type_: workspace.memories.count(Selection(wanted=Filter(types=(type_,))))
        for type_ in MemoryType
    }
    items = tuple(
        TypeCount(
            type=type_,
            category=DEFAULT_CATEGORY[type_],
            importance=DEFAULT_IMPORTANCE[type_],
            count=counts[type_],
            **msgspec.structs.asdict(GUIDE[type_]),
        )
        for type_ in MemoryType
    )
    return TypeListing(items=items, total=sum(counts.values()))


def _names(memory: Memory, of: Naming) -> Iterator[str]:
    if of == "tags":
        yield from memory.tags
    elif memory.subject:
        yield memory.subject
