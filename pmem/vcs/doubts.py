"""What branches leave in doubt that git brought together without a word: reasons to look."""

import os
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from pmem.core.filters import fold
from pmem.core.findings import Finding
from pmem.core.lifecycle.states import successor_of, successors_of
from pmem.core.lifecycle.successors import was_unseen
from pmem.core.retention import valid_at
from pmem.values.ids import short
from pmem.values.records import STORES, Conversation, Episode, Memory, State

_LEFT: Final[dict[str, str]] = {
    State.SOFT_DELETED: "was removed",
    State.ARCHIVED: "was archived",
    State.SUPERSEDED: "was replaced",
    State.MERGED: "was merged into",
}


def overruled(path: str, record: Memory | Episode, state: Any, line: int | None) -> Finding:
    """Say that a record holds which one branch took out of recall and another one kept.

    Args:
        path: The record's file.
        record: The record.
        state: Its state on the branch that took it out.
        line: Where the file tells its state.
    """
    name, heirs = short(record.id), successors_of(record)
    left = _LEFT.get(state, "left recall") if isinstance(state, str) else "left recall"
    if state in (State.SUPERSEDED, State.MERGED) and heirs:
        left += f" by {short(heirs[-1])}" if state == State.SUPERSEDED else f" {short(heirs[-1])}"
    sentence = (
        f"{path} {left} on one branch and kept on another, so it holds: `pmem settle {name}` keeps"
        f" it, `pmem settle {name} --other` takes it out of recall"
    )
    return Finding(path, "overruled", sentence, line, severity="warning")


def forsaken(
    root: str, memories: Mapping[str, Memory], known: Collection[str]
) -> Iterator[Finding]:
    """Report memories that gave way to one that is gone, or was removed before that was known.

    Args:
        root: The memory folder.
        memories: The memories by their ids, as far as they can be read.
        known: The ids of all that there are.
    """
    for memory in memories.values():
        heir = successor_of(memory)
        is_there = heir in known
        if heir and (was_unseen(memories.get(heir), memory.id) if is_there else True):
            path, name = _path(root, memory), short(memory.id)
            gone = "was removed" if is_there else "is gone"
            sentence = (
                f"{path} gave way to {short(heir)}, which {gone}: `pmem restore {name}` brings it"
                f" back, `pmem rm {name}` removes it"
            )
            yield Finding(path, "forsaken", sentence, severity="warning")


def kept_twice(root: str, conversation: str, count: int) -> Finding:
    """Say that a conversation keeps messages twice.

    Args:
        root: The memory folder.
        conversation: Its id.
        count: How many messages.
    """
    path = os.path.join(root, STORES[Conversation], f"{conversation}.json")
    sentence = (
        f"{path} keeps {count} message{'s' * (count != 1)} twice: `pmem repair` keeps each once,"
        " as it counts"
    )
    return Finding(path, "twice", sentence, severity="warning")


def same_subjects(root: str, memories: Mapping[str, Memory], now: datetime) -> Iterator[Finding]:
    """Report memories on one subject that know nothing of each other, as two branches add them.

    Args:
        root: The memory folder.
        memories: The memories by their ids.
        now: The present.
    """
    latest: dict[tuple[Any, str], Memory] = {}
    for memory in sorted(memories.values(), key=lambda memory: (memory.created_at, memory.id)):
        if memory.subject and memory.state is State.ACTIVE and valid_at(memory, now):
            key = (memory.scope, fold(memory.subject))
            older = latest.get(key)
            if older is not None and not _is_linked(memory, older):
                yield _on_subject(root, older, memory)
            latest[key] = memory


def _on_subject(root: str, older: Memory, newer: Memory) -> Finding:
    path, one, other = _path(root, newer), short(older.id), short(newer.id)
    sentence = (
        f"{path} is on the same subject as {one}: `pmem edit {one} --superseded-by {other}` keeps"
        f" the newer one alone, `pmem link {other} {one}` says that both hold"
    )
    return Finding(path, "same_subject", sentence, severity="warning")


def _is_linked(one: Memory, other: Memory) -> bool:
    return any(link.target == other.id for link in one.relationships) or any(
        link.target == one.id for link in other.relationships
    )


def _path(root: str, memory: Memory) -> str:
    return os.path.join(root, STORES[Memory], f"{memory.id}.json")
