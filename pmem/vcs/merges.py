"""Redoing the merges between two git revisions, to find those that lost or mixed something."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from pmem.core import rawjson
from pmem.core.findings import Finding
from pmem.core.threeway.markers import apart
from pmem.core.threeway.record import merged
from pmem.core.threeway.redoing import Mismatch, Mistake, mismatch
from pmem.core.threeway.shapes import SHAPES, checked
from pmem.core.threeway.values import Doubt
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX
from pmem.storage.git import repository
from pmem.storage.git.repository import FILES, Merge, Repository, TreeEntry, limits_of_history
from pmem.values.fields import RangeRequest
from pmem.values.ids import is_id, short
from pmem.vcs.changelog import HEAD, ends

_GROUP: Final = 50
"""Merges that are looked at together: so many bring few processes, and little in memory."""
Record = dict[str, Any]


class MergeFinding(Finding, frozen=True, kw_only=True):
    """Something that a merge did wrong, and its commit."""

    commit: str


class MergesChecked(msgspec.Struct, frozen=True, kw_only=True):
    """How many merges were redone, in how many records they had work to do, and what is wrong."""

    merges: int
    records: int
    findings: tuple[MergeFinding, ...]


class _Case(NamedTuple):
    """One record in one merge: its entries in the bases, the parents and the result.

    `root` is what several bases come from.
    """

    merge: Merge
    path: str
    root: TreeEntry | None
    bases: list[TreeEntry | None]
    ours: TreeEntry | None
    theirs: TreeEntry | None
    result: TreeEntry | None

    def entries(self) -> Iterator[TreeEntry]:
        """Yield all entries that there are."""
        every = (self.root, *self.bases, self.ours, self.theirs, self.result)
        yield from (entry for entry in every if entry is not None)

    def is_one_sides(self) -> bool:
        """Tell by names alone whether the result is that of the only side that changed anything."""
        known = self.bases or [None]
        if self.theirs == self.ours or self.theirs in known:
            return self.ours == self.result
        return self.ours in known and self.theirs == self.result


def check_merges(workspace: Workspace, request: RangeRequest) -> MergesChecked:
    """Redo every merge commit between two revisions, and report those that were done wrong.

    Only records that several sides changed, or that are not as the one side that changed them
    has them, are read. The working tree has no merges, so `A..` ends at HEAD.
    """
    git = Repository(workspace.root, workspace.environment)
    start, end = ends(git, request.revisions)
    every = git.merges(start.commit or git.commit(HEAD), end.commit or git.commit(HEAD))
    merges = [merge for merge in every if len(merge.parents) == 2]
    workspace.notes += limits_of_history(workspace.root)
    left = [
        MergeFinding(
            commit=merge.id,
            path=workspace.root,
            code="not_redone",
            message=f"merge {repository.short(merge.id)} has more than two parents: look yourself",
            severity="warning",
        )
        for merge in every
        if len(merge.parents) != 2
    ]
    place = git.place() if merges else ""
    findings: list[MergeFinding] = []
    records = 0
    for number in range(0, len(merges), _GROUP):
        cases = _cases_in(git, merges[number : number + _GROUP])
        records += len(cases)
        entries = (entry for case in cases for entry in case.entries())
        objects = list({entry.object for entry in entries if entry.mode in FILES})
        contents = dict(zip(objects, git.blobs(objects), strict=True))
        findings += (
            _merge_finding(case, found, workspace.root, place)
            for case in cases
            if (found := _judge(case, contents)) is not None
        )
    return MergesChecked(merges=len(every), records=records, findings=(*findings, *left))


_Differing = dict[tuple[str, str], dict[str, tuple[TreeEntry | None, TreeEntry | None]]]
"""For pairs of commits the files that differ, with their entries in the second and the first."""


def _differing(git: Repository, pairs: list[tuple[str, str]]) -> _Differing:
    return dict(zip(pairs, git.differing(pairs, [*SHAPES]), strict=True))


def _cases_in(git: Repository, merges: Sequence[Merge]) -> list[_Case]:
    known = _differing(git, [(merge.id, side) for merge in merges for side in merge.parents])
    bases = {merge: _bases(git, merge) for merge in merges if _records_of(merge, known)}
    known |= _differing(git, [(it.id, commit) for it in bases for commit in bases[it] if commit])
    return [case for merge in bases for case in _cases(merge, bases[merge], known)]


def _bases(git: Repository, merge: Merge) -> list[str]:
    """Return what several bases of a merge come from, nothing for one, and then its bases."""
    bases = git.merge_bases(*merge.parents)
    root = git.merge_bases(*bases)[:1] if len(bases) > 1 else []
    return [*(root or [""]), *bases]


def _records_of(merge: Merge, differing: _Differing) -> set[str]:
    paths = {path for side in merge.parents for path in differing[merge.id, side]}
    return set(filter(_is_record, paths))


def _cases(merge: Merge, bases: list[str], differing: _Differing) -> Iterator[_Case]:
    """Yield a merge's records that cannot be judged by the names of their objects."""
    files = {commit: differing[merge.id, commit] for commit in (*merge.parents, *bases) if commit}
    for path in sorted(_records_of(merge, differing)):
        result = next(found[path][1] for found in files.values() if path in found)
        at = {commit: found.get(path, (result,))[0] for commit, found in files.items()}
        root, *several = map(at.get, bases)
        ours, theirs = map(at.get, merge.parents)
        case = _Case(merge, path, root, several, ours, theirs, result)
        if not case.is_one_sides():
            yield case


def _is_record(path: str) -> bool:
    folder, name = os.path.split(path)
    return folder in SHAPES and name.endswith(SUFFIX) and is_id(name.removesuffix(SUFFIX))


class _Unreadable(Exception):
    """A version of a record that is none."""


def _judge(case: _Case, contents: Mapping[str, bytes | None]) -> Mismatch | None:
    shape = SHAPES[os.path.dirname(case.path)]

    def version(entry: TreeEntry | None) -> Record | None:
        found = _record(entry, contents)
        if found is not None:
            checked(found, shape)
        return found

    try:
        result = _record(case.result, contents)
    except _Unreadable as error:
        return Mismatch(Mistake.LOST, None, (str(error),))
    try:
        root, ours, theirs = map(version, (case.root, case.ours, case.theirs))
        base, *others = map(version, case.bases) if case.bases else [None]
        for other in others:  # git merges several bases into one
            base = merged(root, base, other, shape).result
        return mismatch(base, (ours, theirs), result, shape)
    except (Doubt, _Unreadable):
        return None  # a side that was not a record already is not this merge's doing
    except RecursionError:
        return Mismatch(Mistake.LOST, None, ("nested too deep",))


def _record(entry: TreeEntry | None, contents: Mapping[str, bytes | None]) -> Record | None:
    if entry is None:
        return None
    content = contents.get(entry.object) if entry.mode in FILES else None
    if content is None:
        raise _Unreadable("not a file in this clone, damaged or too large")
    try:
        return rawjson.load(content)
    except rawjson.NotJson as error:
        raise _Unreadable("git's conflict markers" if apart(content) else str(error)) from None


def _merge_finding(case: _Case, found: Mismatch, root: str, prefix: str) -> MergeFinding:
    whole = f"{prefix}{case.path}".encode("utf-8", "backslashreplace").decode()
    commit = repository.short(case.merge.id)
    side = None if found.side is None else repository.short(case.merge.parents[found.side])
    record = short(os.path.basename(case.path).removesuffix(SUFFIX))
    what = ", ".join(found.what)
    if found.mistake is Mistake.RESURRECTED:
        said = f"brought back the record that {side} purged: `pmem purge {record}` purges it again"
    else:
        if found.mistake is Mistake.LOST:
            said = f"left no record ({what})" if what else f"lost the record that {side} has"
        elif what:
            said = f"is not as merging its sides again makes it: {what}"
        else:
            said = f"dropped all that {side} changed"
        shown = shlex.quote(f"{side or f'{commit}^'}:{whole}")
        said += f": `git show {shown}` shows one side"
    return MergeFinding(
        commit=case.merge.id,
        path=os.path.join(root, case.path),
        code=found.mistake,
        message=f"merge {commit} {said}",
    )
