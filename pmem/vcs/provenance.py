"""Where a record comes from: the commits that touched its file, also one that is gone."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from pmem.core.changelog import FieldChange, LinkChange, changed_fields, links
from pmem.errors import Ambiguous, Damaged, NotFound, PmemError
from pmem.memory.journal import HistoryRequest
from pmem.memory.reading import get
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.recordfile import parse
from pmem.storage.git.objects import PartialClone
from pmem.storage.git.repository import Commit, Repository, limits_of_history
from pmem.values.ids import is_id, matches, short
from pmem.values.records import (
    KINDS,
    RECORD_TYPES,
    STORES,
    Episode,
    Event,
    Memory,
    Record,
    RecordType,
)

_HEAD: Final = "HEAD"
_BODIES: Final[dict[RecordType, str]] = {Memory: "content", Episode: "summary"}


class What(StrEnum):
    """What a commit did to a record's file; `DAMAGED` left one that cannot be read."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    DAMAGED = "damaged"


class Touch(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that touched a record's file, and the fields and links that it changed."""

    commit: str
    author: str
    at: datetime
    subject: str
    what: What
    fields: dict[str, FieldChange]
    linked: tuple[LinkChange, ...]
    unlinked: tuple[LinkChange, ...]


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What git knows of a record.

    `events` is the record's own history, as it is now or was in the last commit that had it.
    `origin` is the commit that brought the present content; none while that is not committed.
    `present` tells whether the record still exists and can be read.
    """

    id: str
    kind: str
    present: bool
    events: tuple[Event, ...]
    commits: tuple[Touch, ...]
    origin: Touch | None


def provenance(workspace: Workspace, request: HistoryRequest) -> Provenance:
    """Return the commits that touched a record, the newest last; up to a revision that is given.

    A record that only git knows, or can still read, will do.
    """
    repository = Repository(workspace.root, workspace.environment)
    head = repository.commit(workspace.revision.commit_id if workspace.revision else _HEAD)
    now: Record | None = None
    try:
        now = get(workspace, request.reference)
        type_, identifier = type(now), now.id
    except (NotFound, Damaged) as missing:
        type_, identifier = _in_git(repository, head, request.reference, missing)
    path = record_file(STORES[type_], identifier)
    commits = repository.log(head, path, whole=now is None)
    workspace.notes += limits_of_history(workspace.root)
    states = _states(repository, type_, path, commits)
    touches = tuple(_touch(commit, states) for commit in commits)
    last = now or next(
        (states[commit.after] for commit in reversed(commits) if states.get(commit.after)), None
    )
    return Provenance(
        id=identifier,
        kind=KINDS[type_],
        present=now is not None,
        events=getattr(last, "history", ()),
        commits=touches,
        origin=_origin(now, touches, commits, states),
    )


_States = Mapping[str | None, Record | None]
"""Versions of a record by their objects; None where there is none, or none that can be read."""


def _in_git(
    repository: Repository, head: str, reference: str, missing: PmemError
) -> tuple[RecordType, str]:
    found = sorted(
        (folder, file.removesuffix(SUFFIX))
        for folder, file in repository.touched(head, list(STORES.values()))
        if folder in RECORD_TYPES and is_id(file.removesuffix(SUFFIX))
        if reference and matches(reference, file.removesuffix(SUFFIX))
    )
    exact = [it for it in found if reference in (it[1], short(it[1]))] or found
    if not exact:
        raise missing
    if len(exact) > 1:
        shown = ", ".join(f"{KINDS[RECORD_TYPES[folder]]} {id_}" for folder, id_ in exact[:10])
        raise Ambiguous(f"{reference!r} fits, in git, {shown}", "give more of the id")
    folder, identifier = exact[0]
    return RECORD_TYPES[folder], identifier


def _states(repository: Repository, type_: RecordType, path: str, commits: list[Commit]) -> _States:
    """Read every version of a record that the commits know, each once."""
    named = {name: None for commit in commits for name in (*commit.before, commit.after) if name}
    try:
        contents = dict(zip(named, repository.blobs(list(named)), strict=True))
    except PartialClone:  # the commits are there, if not what they say
        contents = {}
    return {name: _parse_record(type_, path, contents.get(name)) for name in named}


def _parse_record(type_: RecordType, path: str, data: bytes | None) -> Record | None:
    try:
        return None if data is None else parse(data, type_, path)
    except PmemError:
        return None


def _touch(commit: Commit, states: _States) -> Touch:
    known = next((name for name in commit.before if name), None)
    before, after = states.get(known), states.get(commit.after)
    if commit.after is None:
        what = What.REMOVED
    elif after is None:
        what = What.DAMAGED
    else:
        what = What.ADDED if known is None else What.CHANGED
    made, cut = links(before, after) if before and after else ((), ())
    return Touch(
        commit=commit.id,
        author=commit.author,
        at=commit.at,
        subject=commit.subject,
        what=what,
        fields=changed_fields(before, after) if before and after else {},
        linked=made,
        unlinked=cut,
    )


def _origin(
    now: Record | None, touches: tuple[Touch, ...], commits: list[Commit], states: _States
) -> Touch | None:
    """Return the last commit that brought the content that is there now."""
    content = _content(now)
    if not commits or content is None or _content(states.get(commits[-1].after)) != content:
        return None
    brought = (
        touch
        for touch, commit in reversed(list(zip(touches, commits, strict=True)))
        if _content(states.get(commit.after)) == content
        if all(_content(states.get(name)) != content for name in commit.before)
    )
    return next(brought, None)


def _content(record: Record | None) -> str | None:
    if record is None:
        return None
    return getattr(record, _BODIES.get(type(record), "title"), None)
