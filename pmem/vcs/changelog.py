"""What the memory learned, changed and forgot between two git revisions."""

from typing import Final

import msgspec

from pmem.core.changelog import Changed, Forgotten, Kept, Learned, Records, compare
from pmem.errors import InvalidValue, NotFound
from pmem.project.views import seen_in
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.git.repository import Repository
from pmem.storage.git.revision import Revision
from pmem.values.fields import RangeRequest
from pmem.values.records import Episode, Memory

HEAD: Final = "HEAD"
_KEPT: Final[tuple[type[Kept], ...]] = (Memory, Episode)


class End(msgspec.Struct, frozen=True, kw_only=True):
    """One end of a comparison: how it was named, and its commit; none is the working tree."""

    name: str
    commit: str | None


class Changelog(msgspec.Struct, frozen=True, kw_only=True, rename={"start": "from", "end": "to"}):
    """What was learned, changed and forgotten between two ends, and how many entries that is."""

    start: End
    end: End
    learned: tuple[Learned, ...]
    changed: tuple[Changed, ...]
    forgotten: tuple[Forgotten, ...]
    total: int


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The differences, and the files of past revisions that could not be used."""

    changelog: Changelog
    problems: tuple[Problem, ...]

    def to_plain(self) -> Changelog:
        """Return the differences alone."""
        return self.changelog


def changelog(workspace: Workspace, request: RangeRequest) -> Compared:
    """Compare the memories and episodes of two git revisions.

    What cannot be read at one of the ends is left out: nothing is known of how it changed.
    """
    repository = Repository(workspace.root, workspace.environment)
    before, after = ends(repository, request.revisions)
    sides = [standing_at(workspace, repository, end) for end in (before, after)]
    if sides == [None, None]:
        raise NotFound(f"the memory was not there at {before.name} and not at {after.name}")
    found = compare(*_differing(*sides))
    total = len(found.learned) + len(found.changed) + len(found.forgotten)
    past = [view for view in sides if view is not None and view.revision is not None]
    return Compared(
        changelog=Changelog(start=before, end=after, **msgspec.structs.asdict(found), total=total),
        problems=tuple(problem for view in past for problem in view.problems),
    )


def ends(repository: Repository, revisions: str) -> tuple[End, End]:
    """Return the two ends of a range; see `RangeRequest`.

    Raises:
        InvalidValue: One of the ends is no revision, or they have no common ancestor.
        NotFound: There is no git.
    """
    dots = "..." if "..." in revisions else ".."
    left, dots, right = revisions.strip().partition(dots)
    if ".." in right or not left + dots:
        raise InvalidValue(f"{revisions!r} is no range of revisions", "write it as main..HEAD")
    start = End(name=left or HEAD, commit=repository.commit(left or HEAD))
    if not dots:
        return start, End(name=HEAD, commit=repository.commit(HEAD))
    end = End(name="working tree", commit=None)
    if right:
        end = End(name=right, commit=repository.commit(right))
    if dots == "...":
        other = end.commit or repository.commit(HEAD)
        start = End(name=start.name, commit=repository.merge_base(start.commit or HEAD, other))
    return start, end


def standing_at(workspace: Workspace, repository: Repository, end: End) -> Workspace | None:
    """Return the memory at one end; None where there was none yet."""
    if end.commit is None:
        return workspace
    try:
        return seen_in(workspace, Revision(repository, end.commit, end.name))
    except NotFound:
        return None


def _differing(before: Workspace | None, after: Workspace | None) -> tuple[Records, Records]:
    same: set[str] = set()
    if before and after and before.revision and after.revision:
        for type_ in _KEPT:
            known, now = before.revision.entries(type_), after.revision.entries(type_)
            same |= {id_ for id_, entry in known.items() if now.get(id_) == entry}
    records: list[dict[str, Kept]] = []
    unknown: set[str] = set()
    for side in (before, after):
        found, unusable = ({}, set()) if side is None else _read_side(side, same)
        records.append(found)
        unknown |= unusable
    left, right = ({id_: it for id_, it in part.items() if id_ not in unknown} for part in records)
    return left, right


def _read_side(side: Workspace, same: set[str]) -> tuple[dict[str, Kept], set[str]]:
    """Return the records of a side that are wanted, and the ids of those that cannot be used."""
    found: dict[str, Kept] = {}
    present: set[str] = set()
    for type_ in _KEPT:
        wanted = [id_ for id_ in side.backend.ids(type_) if id_ not in same]
        read = side.revision.some(type_, wanted) if side.revision else side.backend.scan(type_)
        found |= {record.id: record for record in read}
        present.update(wanted)
    return found, present - found.keys()
