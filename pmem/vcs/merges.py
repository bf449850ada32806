"""Redoing the merges between two git revisions, to find those that lost or mixed something."""

import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from pmem.core import rawjson
from pmem.core.findings import Finding
from pmem.core.lines import file_lines
from pmem.core.threeway.redoing import Mismatch, Mistake, differences, redone
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
_MARKERS: Final = (b"<<<<<<<", b"=======", b">>>>>>>")
_SHOWN: Final = 5
"""Fields and items that are named of one finding."""

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
    """One record in one merge: its entries in the parents, the bases and the result.

    For each parent but the first there are the bases, and what several bases come from.
    """

    merge: Merge
    path: str
    bases: tuple[tuple[TreeEntry | None, ...], ...]
    roots: tuple[TreeEntry | None, ...]
    sides: tuple[TreeEntry | None, ...]
    result: TreeEntry | None

    def entries(self) -> Iterator[TreeEntry]:
        """Yield all entries that there are."""
        several = (*self.bases, self.roots, self.sides, (self.result,))
        yield from (entry for entries in several for entry in entries if entry is not None)

    def is_one_sides(self) -> bool:
        """Tell by names alone whether the result is that of the only side that changed anything."""
        whole = self.sides[0]
        for several, side in zip(self.bases, self.sides[1:], strict=True):
            known = several or (None,)
            if whole == side or side in known:
                continue
            if whole not in known:
                return False
            whole = side
        return whole == self.result


def check_merges(workspace: Workspace, request: RangeRequest) -> MergesChecked:
    """Redo every merge commit between two revisions, and report those that were done wrong.

    Only records that several sides changed, or that are not as the one side that changed them
    has them, are read. The working tree has no merges, so `A..` ends at HEAD.
    """
    git = Repository(workspace.root, workspace.environment)
    start, end = ends(git, request.revisions)
    merges = git.merges(start.commit or git.commit(HEAD), end.commit or git.commit(HEAD))
    workspace.notes += limits_of_history(workspace.root)
    place = git.place() if merges else ""
    findings: list[MergeFinding] = []
    records = 0
    for number in range(0, len(merges), _GROUP):
        group = merges[number : number + _GROUP]
        differing = _differing(git, [(merge.id, side) for merge in group for side in merge.parents])
        cases = [case for merge in group for case in _cases(git, merge, differing)]
        records += len(cases)
        objects = {it.object for case in cases for it in case.entries() if it.mode in FILES}
        contents = dict(zip(objects, git.blobs([*objects]), strict=True))
        findings += [
            _merge_finding(case, found, workspace.root, place)
            for case in cases
            for found in _verify_case(case, contents)
        ]
    return MergesChecked(merges=len(merges), records=records, findings=tuple(findings))


_Differing = dict[tuple[str, str], dict[str, tuple[TreeEntry | None, TreeEntry | None]]]
"""For pairs of commits the files that differ, with their entries in the second and the first."""


def _differing(git: Repository, pairs: list[tuple[str, str]]) -> _Differing:
    return dict(zip(pairs, git.differing(pairs, [*SHAPES]), strict=True))


def _cases(git: Repository, merge: Merge, differing: _Differing) -> Iterator[_Case]:
    """Yield a merge's records that cannot be judged by the names of their objects."""
    changed = {path for side in merge.parents for path in differing[merge.id, side]}
    paths = sorted(filter(_is_record, changed))
    if not paths:
        return
    bases = [
        git.merge_bases(side, *merge.parents[:number])
        for number, side in enumerate(merge.parents)
        if number
    ]
    roots = [
        next(iter(git.merge_bases(several[0], *several[1:])), "") if len(several) > 1 else ""
        for several in bases
    ]
    others = {commit for several in (*bases, roots) for commit in several if commit}
    known = {(merge.id, side): differing[merge.id, side] for side in merge.parents}
    known |= _differing(git, [(merge.id, other) for other in sorted(others)])
    for path in paths:
        pairs = {other: files.get(path) for (_, other), files in known.items()}
        result = next(pair[1] for side in merge.parents if (pair := pairs[side]) is not None)
        at = {other: result if pair is None else pair[0] for other, pair in pairs.items()}
        case = _Case(
            merge,
            path,
            bases=tuple(tuple(map(at.get, several)) for several in bases),
            roots=tuple(map(at.get, roots)),  # no commit at all has nothing
            sides=tuple(map(at.get, merge.parents)),
            result=result,
        )
        if not case.is_one_sides():
            yield case


def _is_record(path: str) -> bool:
    folder, name = os.path.split(path)
    return folder in SHAPES and name.endswith(SUFFIX) and is_id(name.removesuffix(SUFFIX))


class _Unreadable(Exception):
    """A version of a record that is none."""


def _verify_case(case: _Case, contents: Mapping[str, bytes | None]) -> list[Mismatch]:
    shape = SHAPES[os.path.dirname(case.path)]

    def version(entry: TreeEntry | None) -> Record | None:
        found = _record(entry, contents)
        if found is not None:
            checked(found, shape)
        return found

    try:
        result = _record(case.result, contents)
    except _Unreadable as error:
        return [Mismatch(Mistake.UNREADABLE_MERGE, None, (str(error),))]
    try:
        sides = list(map(version, case.sides))
        bases = []
        for several, root in zip(case.bases, map(version, case.roots), strict=True):
            crossed = list(map(version, several))  # git merges several bases into one
            bases.append(redone([root] * (len(crossed) - 1), crossed, shape) if crossed else None)
        return differences(bases, sides, result, shape)
    except (Doubt, _Unreadable):
        return []  # a side that was not a record already is not this merge's doing
    except RecursionError:
        return [Mismatch(Mistake.UNREADABLE_MERGE, None, ("nested too deep",))]


def _record(entry: TreeEntry | None, contents: Mapping[str, bytes | None]) -> Record | None:
    if entry is None:
        return None
    content = contents.get(entry.object) if entry.mode in FILES else None
    if content is None:
        raise _Unreadable("not a file in this clone, damaged or too large")
    try:
        return rawjson.load(content)
    except rawjson.NotJson as error:
        marked = any(line.startswith(_MARKERS) for line in file_lines(content))
        raise _Unreadable("git's conflict markers" if marked else str(error)) from None


def _merge_finding(case: _Case, found: Mismatch, root: str, prefix: str) -> MergeFinding:
    whole = f"{prefix}{case.path}".encode("utf-8", "backslashreplace").decode()
    commit = repository.short(case.merge.id)
    side = None if found.side is None else repository.short(case.merge.parents[found.side])
    whose = side or "both sides"
    what = ", ".join(found.what[:_SHOWN])
    if len(found.what) > _SHOWN:
        what += f" and {len(found.what) - _SHOWN} more"
    shown = shlex.quote(f"{side or f'{commit}^'}:{whole}")
    record = short(os.path.basename(case.path).removesuffix(SUFFIX))
    sentences = {
        Mistake.LOST_RECORD: f"lost the record that {side} has: `git show {shown}` shows it",
        Mistake.RESURRECTED_RECORD: f"brought back the record that {side} purged: `pmem purge"
        f" {record}` purges it again",
        Mistake.DROPPED_SIDE: f"dropped all that {side} changed: `git show {shown}` has it",
        Mistake.DROPPED_FIELD: f"dropped {what} of {whose}: `git show {shown}` has it",
        Mistake.DROPPED_ITEMS: f"dropped {what} of {whose}: `git show {shown}` has it",
        Mistake.RESURRECTED_ITEMS: f"brought back {what}, which {side} had removed: `git show"
        f" {shown}` is without",
        Mistake.MIXED_RECORD: f"has {what} of neither side: `git show {shown}` has a side's",
        Mistake.UNREADABLE_MERGE: f"left no record ({what}): `git show {shown}` has a side's",
    }
    return MergeFinding(
        commit=case.merge.id,
        path=os.path.join(root, case.path),
        code=found.mistake,
        message=f"merge {commit} {sentences[found.mistake]}",
    )
