"""What is wrong with the records of a memory."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from pmem.core.lifecycle.states import successor_of
from pmem.core.threeway.conflicts import open_conflicts
from pmem.errors import PmemError
from pmem.ids import short
from pmem.records import STORES, Chunk, Conversation, Episode, Memory, State, plain
from pmem.workspace import Workspace

_LONGEST_CIRCLE: Final = 20


class Finding(msgspec.Struct, frozen=True):
    """Something that is wrong: where, the machine code, and one sentence."""

    path: str
    code: str
    message: str


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What `check` looked at and found."""

    records: int
    findings: tuple[Finding, ...]


def check(workspace: Workspace) -> Checked:
    """Read everything and report all that is wrong, by path.

    Args:
        workspace: What to look at. Nothing is changed.
    """
    from pmem.repair import problems

    found: dict[str, list[Any]] = {
        folder: list(store.find())
        for folder, store in zip(STORES.values(), workspace.stores, strict=True)
    }
    findings = [
        Finding(problem.path, problem.code, problem.message)
        for problem in (*workspace.problems, *problems(workspace))
    ]
    findings += settings_findings(workspace)
    ids = _all_ids(workspace)
    findings += _duplicates(workspace, ids)
    findings += _circles(workspace, found[STORES[Memory]])
    everything = set(ids)
    for folder, records in found.items():
        for record in records:
            path = os.path.join(workspace.root, folder, f"{record.id}.json")
            findings += [
                Finding(path, "dangling", f"{path} leads to {target}, which does not exist")
                for target in _targets(record)
                if target not in everything
            ]
            findings += _contradictions(path, record)
    return Checked(
        records=sum(len(records) for records in found.values()),
        findings=tuple(sorted(findings, key=lambda finding: (finding.path, finding.code))),
    )


def settings_findings(workspace: Workspace) -> list[Finding]:
    """Report settings that do not allow their values."""
    try:
        assert workspace.settings
    except PmemError as error:
        path = os.path.join(workspace.root, "config.toml")
        return [Finding(path, error.code, error.message)]
    return []


def _all_ids(workspace: Workspace) -> list[str]:
    return [identifier for store in workspace.stores for identifier in store.ids()]


def _duplicates(workspace: Workspace, ids: list[str]) -> list[Finding]:
    """Report ids that several stores use."""
    return [
        Finding(workspace.root, "duplicate", f"the id {identifier} stands in {times} stores")
        for identifier, times in Counter(ids).items()
        if times > 1
    ]


def _contradictions(path: str, record: Any) -> Iterator[Finding]:
    """Report what two branches said differently, until somebody settles it."""
    if isinstance(record, Memory | Episode) and record.state is not State.SOFT_DELETED:
        for field in open_conflicts(plain(record.history)):
            message = (
                f"{path} was changed on two branches: the later {field} holds, `pmem history"
                f" {short(record.id)}` shows the other; `pmem settle` or `pmem edit` settles it"
            )
            yield Finding(path, "conflict", message)


def _circles(workspace: Workspace, memories: list[Memory]) -> Iterator[Finding]:
    """Report memories that give way to each other, so that none of them is active.

    Git leaves such a circle when two clones merged or replaced a pair each its own way, and one
    side of each file was taken.
    """
    into = {memory.id: successor_of(memory) for memory in memories if successor_of(memory)}
    for start, first in into.items():
        reached = start
        for _ in range(_LONGEST_CIRCLE):
            reached = into.get(reached, "")
            if reached in ("", start):
                break
        if reached == start:
            path = os.path.join(workspace.root, STORES[Memory], f"{start}.json")
            sentence = f"{path} gave way to {first}, and that to it: restore one of them"
            yield Finding(path, "circle", sentence)


def _targets(record: Memory | Episode | Conversation | Chunk) -> Iterator[str]:
    """Yield the ids of the records that a record leads to."""
    if isinstance(record, Memory):
        yield from (link.target for link in record.relationships)
    elif isinstance(record, Episode):
        yield from record.linked_memories
    elif isinstance(record, Conversation):
        yield from (*record.chunks, *record.milestones)
    else:
        yield from filter(None, (record.conversation, record.merged_into))
