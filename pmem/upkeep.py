"""Keeping the memory in order: what is wrong with it, what to mend."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from pmem import gitsetup
from pmem.core.lifecycle.states import successor_of
from pmem.core.threeway.conflicts import open_conflicts
from pmem.errors import InvalidValue, PmemError
from pmem.ids import short
from pmem.records import STORES, Chunk, Conversation, Episode, Memory, State, plain
from pmem.setup import initialise, missing_files
from pmem.storage import durable
from pmem.storage.jsonfiles import LOCAL
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


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `doctor` looked at: whether it is well, and whether it was mended."""

    name: str
    ok: bool
    detail: str
    fixed: bool = False


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
    findings += _settings_findings(workspace)
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


def doctor(workspace: Workspace, *, fix: bool = False) -> list[Diagnosis]:
    """Look at everything that pmem needs around the records.

    Args:
        workspace: What to look at.
        fix: Mend what can be mended without losing anything.

    Raises:
        Refused: It is to mend in a read-only workspace.
    """
    if fix:
        workspace.must_be_writable()
    return [
        _version(),
        _configuration(workspace),
        _tokenizer(workspace),
        _own_files(workspace, fix=fix),
        _writable(workspace),
        _unfinished(workspace, fix=fix),
        _records(workspace),
        _recalls(workspace, fix=fix),
        _git(workspace),
    ]


def _settings_findings(workspace: Workspace) -> list[Finding]:
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


def _version() -> Diagnosis:
    from pmem import __version__

    python = ".".join(str(part) for part in sys.version_info[:3])
    return Diagnosis(name="version", ok=True, detail=f"pmem {__version__} on Python {python}")


def _configuration(workspace: Workspace) -> Diagnosis:
    findings = _settings_findings(workspace)
    detail = findings[0].message if findings else "every setting is allowed"
    return Diagnosis(name="settings", ok=not findings, detail=detail)


def _tokenizer(workspace: Workspace) -> Diagnosis:
    if _settings_findings(workspace):
        return Diagnosis(name="tokenizer", ok=False, detail="not known while settings are wrong")
    try:
        workspace.count("")
    except InvalidValue as error:
        return Diagnosis(name="tokenizer", ok=False, detail=f"{error.message}; {error.hint}")
    return Diagnosis(name="tokenizer", ok=True, detail=workspace.settings.tokenizer)


def _own_files(workspace: Workspace, *, fix: bool) -> Diagnosis:
    missing = missing_files(workspace.root)
    if missing and fix:
        initialise(workspace.root)
    detail = f"{', '.join(missing)} missing" if missing else "all there"
    return Diagnosis(
        name="folder", ok=fix or not missing, detail=detail, fixed=bool(missing) and fix
    )


def _writable(workspace: Workspace) -> Diagnosis:
    folders = [workspace.root, *(os.path.join(workspace.root, part) for part in STORES.values())]
    closed = [path for path in folders if os.path.isdir(path) and not os.access(path, os.W_OK)]
    detail = f"{', '.join(closed)} cannot be written" if closed else workspace.root
    return Diagnosis(name="writable", ok=not closed, detail=detail)


def _unfinished(workspace: Workspace, *, fix: bool) -> Diagnosis:
    pending = durable.pending(os.path.join(workspace.root, LOCAL))
    if pending and fix:
        with workspace.transaction():
            pending = False
        return Diagnosis(name="commit", ok=True, detail="a writer's commit was open", fixed=True)
    detail = "a writer died in the middle of a commit" if pending else "none is unfinished"
    return Diagnosis(name="commit", ok=not pending, detail=detail)


def _records(workspace: Workspace) -> Diagnosis:
    checked = check(workspace)
    wrong = len(checked.findings)
    detail = f"{checked.records} records" + (f", {wrong} findings: run `pmem check`" * bool(wrong))
    return Diagnosis(name="records", ok=not wrong, detail=detail)


def _git(workspace: Workspace) -> Diagnosis:
    ok, detail = gitsetup.summary(workspace)
    return Diagnosis(name="git", ok=ok, detail=detail)


def _recalls(workspace: Workspace, *, fix: bool) -> Diagnosis:
    """Look at the recalls that wait to be folded into the records."""
    found = workspace.access.waiting()
    mended = fix and found.usable and not found.is_sound
    if mended:
        workspace.access.shorten()
        found = workspace.access.waiting()
    detail = f"{found.recalls} recalls of {found.records} records wait to be folded in"
    if not found.usable:
        detail = f"{workspace.access.path} is a link or a folder, not a file: remove it"
    elif not found.is_sound:
        detail += f"; {found.size:,} bytes with {found.damaged} damaged lines"
        detail += ": `pmem doctor --fix` shortens them"
    return Diagnosis(
        name="recalls", ok=found.usable and found.is_sound, detail=detail, fixed=mended
    )
