"""What branches leave in doubt that git brought together without a word: reasons to look."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from pmem.core.filters import fold
from pmem.core.findings import Finding
from pmem.core.lifecycle.states import successor_of, successors_of, was_unseen
from pmem.core.retention import valid_at
from pmem.values.ids import short
from pmem.values.records import JUDGEMENTS, STORES, Conversation, Episode, Memory, State

_LONGEST_CIRCLE: Final = 20
_PAIR: Final = 2
_LEFT: Final[dict[str, str]] = {
    State.SOFT_DELETED: "was removed",
    State.ARCHIVED: "was archived",
    State.SUPERSEDED: "was replaced",
    State.MERGED: "was merged into",
}


def overruled(path: str, record: Memory | Episode, state: Any, line: int | None) -> Finding:
    """Say that a record holds which one branch took out of recall and another one kept.

    `state` is its state on the branch that took it out, `line` where the file tells its state.
    """
    name, heirs = short(record.id), successors_of(record)
    left = _LEFT.get(state, "left recall") if isinstance(state, str) else "left recall"
    if state in (State.SUPERSEDED, State.MERGED) and heirs:
        left += f" by {short(heirs[-1])}" if state == State.SUPERSEDED else f" {short(heirs[-1])}"
    sentence = (
        f"{path} {left} on one branch and kept on another, so it holds: `pmem resolve {name}` keeps"
        f" it, `pmem resolve {name} --other` takes it out of recall"
    )
    return Finding(path, "overruled", sentence, line, severity="warning")


def find_unsound_successions(
    root: str, memories: Mapping[str, Memory], known: Collection[str] | None
) -> Iterator[Finding]:
    """Report memories that gave way to others, where that does not hold together any more.

    `known` has the ids of all that there are; it is None where not all of them can be known.
    """
    ways = {memory.id: heir for memory in memories.values() if (heir := successor_of(memory))}
    for memory in memories.values():
        path, name = _path(root, memory), short(memory.id)
        heirs = [memories[id_] for id_ in successors_of(memory) if id_ in memories]
        active = [short(heir.id) for heir in heirs if heir.state is State.ACTIVE]
        if len(active) > 1:
            sentence = (
                f"{path} was replaced on two branches, by {' and '.join(active)}:"
                f" `pmem edit {active[0]} --superseded-by {active[1]}` keeps the second alone"
            )
            yield Finding(path, "rivals", sentence)
        heir = ways.get(memory.id, "")
        if _leads_back(memory.id, ways):
            sentence = f"{path} gave way to {heir}, and that to it: restore one of them"
            yield Finding(path, "circle", sentence)
        gone = _why_forsaken(memory, heir, memories, known) if heir and known is not None else ""
        if gone:
            sentence = (
                f"{path} gave way to {short(heir)}, which {gone}: `pmem restore {name}` brings it"
                f" back, `pmem rm {name}` removes it"
            )
            yield Finding(path, "forsaken", sentence, severity="warning")


def _leads_back(start: str, ways: Mapping[str, str]) -> bool:
    """Tell whether a memory gave way to others that gave way to it, so that none is active.

    Git leaves such a circle when two clones merged or replaced a pair each its own way, and one
    side of each file was taken.
    """
    reached = start
    for _ in range(_LONGEST_CIRCLE):
        reached = ways.get(reached, "")
        if reached in ("", start):
            break
    return reached == start


def _why_forsaken(
    memory: Memory, heir: str, memories: Mapping[str, Memory], known: Collection[str]
) -> str:
    """Say what became of the one that took a memory's place, if it cannot stand for it now."""
    if heir not in known:
        return "is gone"
    return "was removed" if was_unseen(memories.get(heir), memory.id) else ""


def kept_twice(root: str, conversation: str, count: int) -> Finding:
    """Say that a conversation keeps messages twice."""
    path = os.path.join(root, STORES[Conversation], f"{conversation}.json")
    sentence = (
        f"{path} keeps {count} message{'s' * (count != 1)} twice: `pmem resolve` keeps each once,"
        " as it counts"
    )
    return Finding(path, "twice", sentence, severity="warning")


def same_subjects(root: str, memories: Iterable[Memory], now: datetime) -> Iterator[Finding]:
    """Report memories that disagree on one subject unlinked, as two branches add them."""
    for older, newer in pairs_on_one_subject(memories, now):
        path, one, other = _path(root, newer), short(older.id), short(newer.id)
        sentence = (
            f"{path} is on the same subject as {one} and says otherwise:"
            f" `pmem edit {one} --superseded-by {other}` keeps the newer one alone,"
            f" `pmem edit {other} --link {one}` says that both hold"
        )
        yield Finding(path, "same_subject", sentence, severity="warning")


def pairs_on_one_subject(
    memories: Iterable[Memory], now: datetime
) -> Iterator[tuple[Memory, Memory]]:
    """Yield pairs, the older first: each with the last that it disagrees with on its subject.

    Where the two are linked, both are known to be there, but for what an import linked by itself.
    """
    found = [
        memory
        for memory in sorted(memories, key=lambda memory: (memory.created_at, memory.id))
        if memory.subject and memory.state is State.ACTIVE and valid_at(memory, now)
    ]
    if len(found) < _PAIR:
        return
    from pmem.core.duplicates import Relation, pairs
    from pmem.core.lifecycle.linking import statement_of

    groups = [(memory.scope, fold(memory.subject or "")) for memory in found]
    related = pairs(list(map(statement_of, found)), groups, link_min=1.0, most_links=0)
    latest = {
        pair.second: pair.first
        for pair in related
        if pair.verdict.relation is not Relation.DUPLICATE
    }
    for newer, older in sorted(latest.items()):
        one, other = found[older], found[newer]
        if not _are_known(one, other):
            yield one, other


def _are_known(one: Memory, other: Memory) -> bool:
    """Tell whether people know of both; of rules of two files for the same places, nobody does."""
    ties = [tie for tie in one.relationships if tie.target == other.id]
    ties += [tie for tie in other.relationships if tie.target == one.id]
    files = {one.source.file, other.source.file} - {None}
    if len(files) == _PAIR and set(one.places) == set(other.places):
        ties = [tie for tie in ties if tie.type not in JUDGEMENTS]
    return bool(ties)


def _path(root: str, memory: Memory) -> str:
    return os.path.join(root, STORES[Memory], f"{memory.id}.json")
