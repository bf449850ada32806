"""Redoing the merges between two git revisions, to find those that lost or mixed something."""

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from pmem.core import rawjson
from pmem.core.findings import Finding
from pmem.core.threeway import SHAPES, Doubt, Shape
from pmem.core.threeway.verify import Found, Json, Kind, common, undecided, verified
from pmem.errors import PmemError
from pmem.memory.reading import disputed
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX
from pmem.storage.git import repository
from pmem.storage.git.repository import Entry, Merge, Repository, entry_of
from pmem.values.ids import is_id, short
from pmem.values.records import STORES, Conversation
from pmem.vcs.changelog import HEAD, ends
from pmem.vcs.doubts import of_subject, strangers
from pmem.vcs.repeats import Repeated, repeats_of

_GROUP: Final = 50
"""Merges that are looked at together: so many bring few processes, and little in memory."""
_FILES: Final = ("100644", "100755", "100664")
_STORES: Final = tuple(SHAPES)
_MARKERS: Final = (b"<<<<<<<", b"=======", b">>>>>>>")
_SHOWN: Final = 5
"""Fields and items that are named of one finding."""

Objects = tuple[str | None, ...]
"""What a commit has in each store's place."""


class MergeFinding(Finding, frozen=True, kw_only=True):
    """Something that a merge did wrong, and its commit."""

    commit: str


class MergesChecked(msgspec.Struct, frozen=True, kw_only=True):
    """How many merges were redone, in how many records they had work to do, and what is wrong."""

    merges: int
    records: int
    findings: tuple[MergeFinding, ...]


class _Case(NamedTuple):
    """One record in one merge: its entries in the bases, the parents and the result."""

    merge: Merge
    store: str
    name: str
    bases: tuple[tuple[Entry | None, ...], ...]
    roots: tuple[Entry | None, ...]
    sides: tuple[Entry | None, ...]
    result: Entry | None

    @property
    def path(self) -> str:
        return f"{self.store}/{self.name}"


class _Place(NamedTuple):
    """Where the memory folder is: on disk, and in the repository."""

    root: str
    prefix: str


class _Work(NamedTuple):
    """A merge and its bases: for each parent but the first, and what several bases come from."""

    merge: Merge
    bases: tuple[tuple[str, ...], ...]
    roots: tuple[str, ...]

    def commits(self) -> Iterator[str]:
        """Yield every commit that matters."""
        yield from (self.merge.id, *self.merge.parents, *filter(None, self.roots))
        yield from (base for several in self.bases for base in several)


def check_merges(workspace: Workspace, revisions: str) -> MergesChecked:
    """Redo every merge commit between two revisions, and report those that were done wrong.

    Only records that several sides changed, or that are not as the one side that changed them
    has them, are read; and those that its sides have differently, which may be wrong together.

    Args:
        workspace: Where the memory is.
        revisions: See `changelog.changelog`; the working tree has no merges, so `A..` ends at
            HEAD.

    Raises:
        InvalidValue: One of the ends is no revision, or they have no common ancestor.
        NotFound: There is no git.
        StorageRefused: Git cannot read the repository.
    """
    workspace.must_reach_everything("check merges")
    git = Repository(workspace.root, workspace.environment)
    start, end = ends(git, revisions)
    merges = git.merges(start.commit or git.commit(HEAD), end.commit or git.commit(HEAD))
    place = git.place() if merges else ""
    findings: list[MergeFinding] = []
    records = 0
    waiting = iter(merges)
    while group := list(islice(waiting, _GROUP)):
        cases = _cases(git, group)
        records += len(cases)
        found = _findings(git, cases, _Place(workspace.root, place))
        findings += [each for each in found if not _is_settled(workspace, each)]
        stores = _stores(git, {commit for merge in group for commit in (merge.id, *merge.parents)})
        repeats = repeats_of(git, group, stores, partial(_trees, git))
        findings += [_told_repeat(each, workspace.root) for each in repeats]
    findings += _same_subjects(workspace, git, merges)
    return MergesChecked(merges=len(merges), records=records, findings=tuple(findings))


def _same_subjects(
    workspace: Workspace, git: Repository, merges: Sequence[Merge]
) -> Iterator[MergeFinding]:
    """Report memories on one subject that different sides of a merge added, while both hold."""
    pairs = list(strangers(workspace.memories.find(), workspace.now())) if merges else []
    for merge in merges if pairs else ():
        folders = git.folders(merge.parents, _STORES[:1])
        trees = _trees(git, set(folders))
        sides = [{entry_of(entry)[0] for entry in trees[folder]} for folder in folders]
        for pair in pairs:
            names = {f"{memory.id}{SUFFIX}" for memory in pair}
            together = [names & side for side in sides]
            if names not in together and names == set().union(*together):
                found = of_subject(workspace.root, *pair)
                yield MergeFinding(**msgspec.structs.asdict(found), commit=merge.id)


def _is_settled(workspace: Workspace, finding: MergeFinding) -> bool:
    """Tell whether somebody has decided since what a merge left to be decided."""
    if finding.code != Kind.OVERRULED:
        return False
    name = os.path.basename(finding.path).removesuffix(SUFFIX)
    for store in (workspace.memories, workspace.episodes):
        with suppress(PmemError):
            return "state" not in disputed(store.get(name))
    return True


def _cases(git: Repository, merges: Sequence[Merge]) -> list[_Case]:
    """Return the records that cannot be judged by the names of their objects."""
    commits = {commit for merge in merges for commit in (merge.id, *merge.parents)}
    stores = _stores(git, commits)
    work = [
        _with_bases(git, merge)
        for merge in merges
        if any(stores[side] != stores[merge.id] for side in merge.parents)
    ]
    stores |= _stores(git, {commit for item in work for commit in item.commits()} - stores.keys())
    todo = [
        (item, number)
        for item in work
        for number in range(len(_STORES))
        if not _is_one_sides(
            [[stores[base][number] for base in several] for several in item.bases],
            [stores[side][number] for side in item.merge.parents],
            stores[item.merge.id][number],
        )
    ]
    trees = _trees(git, {stores[c][n] for item, n in todo for c in item.commits()})
    return [case for item, number in todo for case in _in_store(item, number, stores, trees)]


def _stores(git: Repository, commits: set[str]) -> dict[str, Objects]:
    """Return the trees of the stores in each commit."""
    order = sorted(commits)
    found = git.folders(order, _STORES) if order else []
    size = len(_STORES)
    return {c: tuple(found[n * size : (n + 1) * size]) for n, c in enumerate(order)}


def _with_bases(git: Repository, merge: Merge) -> _Work:
    parents = merge.parents
    bases = [
        tuple(git.merge_bases(side, *parents[:number]))
        for number, side in enumerate(parents)
        if number
    ]
    roots = [
        next(iter(git.merge_bases(several[0], *several[1:])), "") if len(several) > 1 else ""
        for several in bases
    ]
    return _Work(merge, tuple(bases), tuple(roots))


def _trees(git: Repository, names: set[str | None]) -> dict[str | None, frozenset[bytes]]:
    order = sorted(name for name in names if name)
    return {None: frozenset(), **dict(zip(order, git.trees(order), strict=True))}


def _in_store(
    work: _Work,
    number: int,
    stores: dict[str, Objects],
    trees: dict[str | None, frozenset[bytes]],
) -> Iterator[_Case]:
    """Yield the records of a store that differ between the commits of a merge."""
    whole = {commit: trees[stores[commit][number]] for commit in work.commits()}
    alike = frozenset.intersection(*whole.values())
    listed = {commit: dict(map(entry_of, tree - alike)) for commit, tree in whole.items()}
    for name in sorted({name for tree in listed.values() for name in tree}):
        if not name.endswith(SUFFIX) or not is_id(name.removesuffix(SUFFIX)):
            continue
        bases = tuple(tuple(listed[base].get(name) for base in several) for several in work.bases)
        roots = tuple(listed[root].get(name) if root else None for root in work.roots)
        sides = tuple(listed[side].get(name) for side in work.merge.parents)
        result = listed[work.merge.id].get(name)
        if not _is_one_sides(bases, sides, result):
            yield _Case(work.merge, _STORES[number], name, bases, roots, sides, result)


def _is_one_sides(
    bases: Sequence[Sequence[str | Entry | None]],
    sides: Sequence[str | Entry | None],
    result: str | Entry | None,
) -> bool:
    """Tell by names alone whether a result is that of the only side that changed anything."""
    whole = sides[0]
    for several, side in zip(bases, sides[1:], strict=True):
        known = several or (None,)
        if whole == side or side in known:
            continue
        if whole not in known:
            return False
        whole = side
    return whole == result


def _findings(git: Repository, cases: Sequence[_Case], place: _Place) -> list[MergeFinding]:
    wanted = {entry.object for case in cases for entry in _entries(case) if entry.mode in _FILES}
    order = sorted(wanted)
    data = dict(zip(order, git.blobs(order), strict=True))
    return [
        _told(case, found, place)
        for case in cases
        for found in _judged(case, data, SHAPES[case.store])
    ]


def _entries(case: _Case) -> Iterator[Entry]:
    several = (*case.bases, case.roots, case.sides, (case.result,))
    yield from (entry for entries in several for entry in entries if entry is not None)


class _Unreadable(Exception):
    """A version of a record that is none."""


def _judged(case: _Case, data: dict[str, bytes | None], shape: Shape) -> list[Found]:
    try:
        result = _record(case.result, data)
    except _Unreadable as error:
        return [Found(Kind.UNREADABLE_MERGE, None, (str(error),))]
    try:
        sides = [_record(side, data) for side in case.sides]
        bases = [
            _bases([_record(base, data) for base in several], _record(root, data), shape)
            for several, root in zip(case.bases, case.roots, strict=True)
        ]
        return verified(bases, sides, result, shape) or undecided(sides, result)
    except (Doubt, _Unreadable):
        return []  # a side that was not a record already is not this merge's doing
    except RecursionError:
        return [Found(Kind.UNREADABLE_MERGE, None, ("nested too deep",))]


def _record(entry: Entry | None, data: dict[str, bytes | None]) -> Json | None:
    if entry is None:
        return None
    content = data.get(entry.object) if entry.mode in _FILES else None
    if content is None:
        raise _Unreadable("not a file in this clone, damaged or too large")
    try:
        return rawjson.load(content)
    except rawjson.NotJson as error:
        marked = any(line.startswith(_MARKERS) for line in content.splitlines())
        raise _Unreadable("git's conflict markers" if marked else str(error)) from None


def _bases(several: list[Json | None], root: Json | None, shape: Shape) -> list[Json | None]:
    """Add to the bases of branches that crossed the one that merging them gives."""
    if len(several) < 2:
        return several or [None]
    return [*several, common(root, several, shape)]


def _told_repeat(found: Repeated, root: str) -> MergeFinding:
    return MergeFinding(
        commit=found.merge.id,
        path=os.path.join(root, STORES[Conversation], f"{found.conversation}{SUFFIX}"),
        code="twice",
        severity="warning",
        message=f"merge {repository.short(found.merge.id)} keeps {found.messages}"
        f" message{'s' * (found.messages != 1)} twice: `pmem repair` keeps each once, as it counts",
    )


def _told(case: _Case, found: Found, place: _Place) -> MergeFinding:
    whole = f"{place.prefix}{case.path}".encode("utf-8", "backslashreplace").decode()
    commit = repository.short(case.merge.id)
    side = None if found.side is None else repository.short(case.merge.parents[found.side])
    what = ", ".join(found.what[:_SHOWN])
    if len(found.what) > _SHOWN:
        what += f" and {len(found.what) - _SHOWN} more"
    shown = shlex.quote(f"{side or f'{commit}^'}:{whole}")
    record = short(case.name.removesuffix(SUFFIX))
    sentences = {
        Kind.LOST_RECORD: f"lost the record that {side} has: `git show {shown}` shows it",
        Kind.RESURRECTED_RECORD: f"brought back the record that {side} purged: `pmem purge"
        f" {record}` purges it again",
        Kind.DROPPED_SIDE: f"dropped all that {side} changed: `git show {shown}` has it",
        Kind.DROPPED_FIELD: f"dropped {what} of {side}: `git show {shown}` has it",
        Kind.DROPPED_ITEMS: f"dropped {what} of {side or 'both sides'}: `git show {shown}` has it",
        Kind.RESURRECTED_ITEMS: f"brought back {what}, which {side} had removed: `git show"
        f" {shown}` is without",
        Kind.MIXED_RECORD: f"has {what} of neither side: `git show {shown}` has a side's",
        Kind.LEFT_RECALL: f"took the record out of recall that {side} kept: `pmem restore {record}`"
        " brings it back",
        Kind.OVERRULED: f"kept the record in recall that {side} took out of it: `pmem settle"
        f" {record}` keeps it, `pmem settle {record} --other` takes it out",
        Kind.UNREADABLE_MERGE: f"left no record ({what}): `git show {shown}` has a side's",
    }
    return MergeFinding(
        commit=case.merge.id,
        path=os.path.join(place.root, case.store, case.name),
        code=found.kind,
        message=f"merge {commit} {sentences[found.kind]}",
        severity="warning" if found.kind is Kind.OVERRULED else "error",
    )
