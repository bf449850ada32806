"""Handing work out: which there is, and each piece with all that is needed to do it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated, Any, Final

import msgspec

from pmem.errors import PmemError
from pmem.model.asking import clean_given, key_of
from pmem.model.tasks import TASKS, Given, Kinds, TaskKind, write_prompt
from pmem.project.workspace import Workspace
from pmem.storage.local.model_answers import SettledWork
from pmem.upkeep.work.table import KINDS
from pmem.values.fields import asked

MOST_LISTED: Final = 500


class WorkListRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which kinds of work are to be listed, all when empty."""

    kinds: Kinds = ()


class WorkRequest(WorkListRequest, frozen=True, kw_only=True):
    """Which kinds of work are wanted, all when empty, and how many pieces at the most."""

    limit: Annotated[int, asked("So many pieces.", flag="--for", shown="N", least=1)] = 1


class WaitingWork(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work: its id, its kind, what is to be done, and the digest of its sources."""

    id: str
    kind: TaskKind
    meaning: str
    digest: str


class WorkListing(msgspec.Struct, frozen=True, kw_only=True):
    """The work that waits, and how many pieces it is."""

    items: tuple[WaitingWork, ...]
    total: int


class WorkPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work with the prompt that asks for it and the schema of its answer."""

    id: str
    kind: TaskKind
    digest: str
    prompt: str
    schema: dict[str, Any]


class WorkHandedOut(msgspec.Struct, frozen=True, kw_only=True):
    """The pieces of work that were asked for."""

    items: tuple[WorkPiece, ...]


class FoundWork(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work as the records are now.

    Attributes:
        kind: What is to be done.
        name: To what, as its kind names it.
        given: What it is done with, clean.
        digest: What tells this very work from all other.
        settled: What became of it before, if it was refused.
    """

    kind: TaskKind
    name: str
    given: Given
    digest: str
    settled: SettledWork | None = None

    @property
    def id(self) -> str:
        """How it is called, whatever its sources say."""
        return f"{self.kind}:{self.name}"


def list_work(workspace: Workspace, request: WorkListRequest) -> WorkListing:
    """List the work that waits for a model, or for whoever takes its place."""
    found = islice(waiting_work(workspace, request.kinds), MOST_LISTED)
    items = tuple(
        WaitingWork(id=one.id, kind=one.kind, meaning=TASKS[one.kind].meaning, digest=one.digest)
        for one in found
    )
    return WorkListing(items=items, total=len(items))


def count_waiting(workspace: Workspace) -> int:
    """Count the work that waits, conversations put off for apps with it, up to a point.

    A decision that was put off is found as any other.
    """
    from pmem.memory.app_memories import state_of

    found = sum(1 for _ in islice(waiting_work(workspace), MOST_LISTED))
    return found + sum(work.work == "create" for work in state_of(workspace).waiting())


def hand_out(workspace: Workspace, request: WorkRequest) -> WorkHandedOut:
    """Return the next pieces of work, each with its prompt. Nothing is changed or reserved."""
    found = islice(waiting_work(workspace, request.kinds), max(0, request.limit))
    return WorkHandedOut(items=tuple(map(work_piece, found)))


def waiting_work(
    workspace: Workspace, kinds: Sequence[TaskKind] = (), about: str | None = None
) -> Iterator[FoundWork]:
    """Yield the work that waits."""
    for kind, rules in KINDS.items():
        if kinds and kind not in kinds:
            continue
        for name in rules.waiting(workspace, about):
            found = find_work(workspace, kind, name)
            if found is not None and not _is_done(found.settled):
                yield found


def find_work(workspace: Workspace, kind: TaskKind, name: str) -> FoundWork | None:
    """Return a piece of work as the records are now; None where there is none."""
    raw = KINDS[kind].given(workspace, name)
    if raw is None:
        return None
    given = clean_given(workspace, raw)
    digest = key_of(kind, given)
    return FoundWork(
        kind=kind,
        name=name,
        given=given,
        digest=digest,
        settled=settled_before(workspace, digest),
    )


def settled_before(workspace: Workspace, digest: str) -> SettledWork | None:
    """Return what became of a piece of work; None where that is not known."""
    try:
        return workspace.own.model_answers.settled(digest)
    except PmemError:
        return None


def work_piece(found: FoundWork) -> WorkPiece:
    """Return a piece of work with all that is needed to do it."""
    prompt = write_prompt(found.kind, found.given)
    return WorkPiece(
        id=found.id, kind=found.kind, digest=found.digest, prompt=prompt.text, schema=prompt.schema
    )


def _is_done(settled: SettledWork | None) -> bool:
    return settled is not None and settled.state != "refused"
