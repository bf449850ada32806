"""What is wrong with the next commit: the same check, on git's index in place of the files.

Only what the commit brings is reported: what is wrong with files that it changes, links to
records that it removes, and what a merge left undecided.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from pmem.core.findings import Finding, has_conflict, line_of_markers
from pmem.core.lifecycle.states import successors_of
from pmem.core.policy import EVERYTHING
from pmem.core.rawjson import NotJson, load
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from pmem.core.threeway.values import Doubt
from pmem.errors import Damaged, InvalidValue, PmemError
from pmem.project.caller import within
from pmem.project.configuration import CONFIG_FILE
from pmem.project.setup import IGNORE_FILE
from pmem.project.views import seen_in
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.git.git_index import Staged
from pmem.storage.git.repository import Repository, TreeEntry
from pmem.storage.git.tracked import LOCAL
from pmem.upkeep.integrity import Checked, of_problem, settings_findings
from pmem.upkeep.record_checks import RecordCheck
from pmem.values.fields import NoArguments
from pmem.values.ids import is_id
from pmem.values.records import RECORD_TYPES, STORES, Memory, RecordType
from pmem.vcs.doubts import find_unsound_successions
from pmem.vcs.ignoring import TRANSCRIPTS, says_shared

_ID: Final = re.compile(rb'"([0-9a-z]{1,11}-[0-9A-Za-z]{8})"')
_MOST_SUCCESSORS: Final = 20
_OTHER_SIDES: Final = ("MERGE_HEAD", "CHERRY_PICK_HEAD")
"""What git calls the commit that it is bringing in."""

Names = dict[RecordType, list[str]]  # by store the ids of some records
Files = Mapping[str, TreeEntry]  # what a commit holds, by path


def check_staged(workspace: Workspace, request: NoArguments) -> Checked:  # noqa: ARG001
    """Report what is wrong with what is about to be committed, whoever commits.

    Who may not see every record is told which files, and not what is wrong with them. Nothing is
    changed.
    """
    repository = Repository(workspace.root, workspace.environment)
    staged = Staged(repository, workspace.root, workspace.environment)
    kept = [path for path, left in staged.changes.items() if left and path not in staged.unmerged]
    changed = _records_among(kept)
    findings = [
        Finding(where, "unmerged", f"{where} has a merge conflict that waits for a decision")
        for where in map(staged.where, staged.unmerged)
    ]
    findings += [*_others(staged, kept), *_sides(staged, repository)]
    findings += _of_transcripts(staged, kept)
    try:
        findings += _of_records(staged, workspace.root, changed, workspace.now())
        findings += _of_removals(staged)
    except Damaged as error:  # a store is a link
        findings.append(Finding(workspace.root, error.code, error.message))
    if CONFIG_FILE in kept:
        findings += settings_findings(seen_in(within(workspace, EVERYTHING), staged))
    try:
        is_limited = workspace.reach is not None
    except PmemError:
        is_limited = True
    if is_limited:  # what is wrong could quote what may not be seen
        findings = [
            Finding(
                found.path,
                found.code,
                f"{found.path} must not be committed: who may see everything is told why",
            )
            for found in findings
        ]
    return Checked(
        records=sum(map(len, changed.values())),
        findings=tuple(sorted(findings, key=lambda finding: (finding.path, finding.code))),
    )


def _records_among(paths: Iterable[str]) -> Names:
    found: Names = {type_: [] for type_ in STORES}
    for path in sorted(paths):
        folder, _, name = path.partition("/")
        type_ = RECORD_TYPES.get(folder)
        if type_ and name.endswith(SUFFIX) and not name.startswith(".") and "/" not in name:
            found[type_].append(name.removesuffix(SUFFIX))
    return found


def _others(staged: Staged, paths: Iterable[str]) -> Iterator[Finding]:
    """Report files that are never to be committed, and texts in which a conflict was left."""
    for path in paths:
        where = staged.where(path)
        if path.startswith(f"{LOCAL}/"):
            sentence = f"{where} is each clone's own: `git rm --cached` takes it out"
            yield Finding(where, "local", sentence)
        elif path.partition("/")[0] not in RECORD_TYPES and path != CONFIG_FILE:
            data = staged.text(path)
            if has_conflict(data):
                sentence = f"{where} has git's conflict markers"
                yield Finding(where, "markers", sentence, line_of_markers(data))


def _of_transcripts(staged: Staged, kept: Iterable[str]) -> Iterator[Finding]:
    """Report the first transcripts of a project, unless it was decided that they are shared."""
    known = {path for path in staged.files if path.partition("/")[0] in TRANSCRIPTS}
    new = sorted(known.intersection(kept))
    is_decided = says_shared(staged.text(IGNORE_FILE).decode("utf-8", "replace"))
    if new and new == sorted(known) and not is_decided:
        where = staged.where(new[0])
        sentence = (
            f"{where} is a transcript, which is private: `git rm --cached` takes it out,"
            " `pmem init --track-conversations` shares it"
        )
        yield Finding(where, "exposed", sentence)


def _of_records(staged: Staged, root: str, changed: Names, now: datetime) -> Iterator[Finding]:
    times = Counter(id_ for type_ in STORES for id_ in staged.ids(type_))
    memories: dict[str, Memory] = {}
    for type_, names in changed.items():
        for record in staged.some(type_, names):
            path = staged.where(record_file(STORES[type_], record.id))
            look = RecordCheck(path, record, staged.data)
            yield from look.dangling(times)
            yield from look.findings(now)
            if isinstance(record, Memory):
                memories[record.id] = record
        for name in names:
            if times[name] > 1:
                sentence = f"the id {name} stands in {times[name]} stores"
                yield Finding(staged.where(record_file(STORES[type_], name)), "duplicate", sentence)
    yield from (of_problem(problem, staged.data) for problem in staged.problems)
    yield from _of_successors(staged, root, memories)


def _of_successors(staged: Staged, root: str, changed: Mapping[str, Memory]) -> Iterator[Finding]:
    """Report what is wrong with those that memories which the commit changes gave way to."""
    known, memories, latest = set(staged.ids(Memory)), dict(changed), list(changed.values())
    for _ in range(_MOST_SUCCESSORS):
        named = {id_ for memory in latest for id_ in successors_of(memory)}
        wanted = named & known - memories.keys()
        latest = list(staged.some(Memory, sorted(wanted)))
        memories |= {memory.id: memory for memory in latest}
        if not latest:
            break
    names = {staged.where(record_file(STORES[Memory], id_)) for id_ in changed}
    findings = find_unsound_successions(root, memories, known)
    yield from (found for found in findings if found.path in names)


def _of_removals(staged: Staged) -> Iterator[Finding]:
    removed = _records_among(path for path, left in staged.changes.items() if not left)
    held = {id_ for type_ in STORES for id_ in staged.ids(type_)}
    gone = {name for names in removed.values() for name in names if is_id(name)} - held
    if not gone:
        return
    wanted = {id_.encode() for id_ in gone}
    for type_ in STORES:
        names = [
            name
            for name in staged.ids(type_)
            if record_file(STORES[type_], name) not in staged.changes
        ]
        held_in = [
            name
            for name, data in staged.bytes_of(type_, names)
            if data and not wanted.isdisjoint(_ID.findall(data))
        ]
        for record in staged.some(type_, held_in):
            path = staged.where(record_file(STORES[type_], record.id))
            yield from RecordCheck(path, record, staged.data).left_by(gone)


def _sides(staged: Staged, repository: Repository) -> Iterator[Finding]:
    """Report records of which a merge under way would keep one side's changes only.

    A merge driver that fails without a fallback leaves our side in the file, and whoever then
    commits everything drops the other side without a word.
    """
    for name in _OTHER_SIDES:
        if os.path.isfile(os.path.join(staged.own_folder, name)):
            head, other = repository.commit("HEAD"), repository.commit(name)
            base = _base(repository, head, other, name)
            sides = (base, repository.files(head), repository.files(other))
            yield from _taken_whole(staged, repository, sides, name)
            yield from _taken_out(staged, sides)


def _base(repository: Repository, head: str, other: str, name: str) -> Files:
    """Return the files that both sides started from."""
    try:
        if name == _OTHER_SIDES[0]:
            return repository.files(repository.merge_base(head, other))
        return repository.files(repository.commit(f"{other}^"))
    except InvalidValue:  # there is no such commit
        return {}


def _taken_whole(
    staged: Staged, repository: Repository, sides: tuple[Files, Files, Files], name: str
) -> Iterator[Finding]:
    """Report records of which the index has one side as it is, where both have changed them."""
    for path in sorted(staged.files.keys() - staged.unmerged):
        base, ours, theirs = (side.get(path) for side in sides)
        index = staged.files[path]
        if ours and theirs and len({base, ours, theirs}) == 3 and index in (ours, theirs):
            taken, left = (ours, theirs) if index == ours else (theirs, ours)
            if _loses(repository, path, base, taken, left):
                where = staged.where(path)
                lost = name if index == ours else "HEAD"
                sentence = (
                    f"{where} has nothing of what {lost} changed in it:"
                    " `git checkout --merge` merges the file again"
                )
                yield Finding(where, "dropped", sentence)


def _taken_out(staged: Staged, sides: tuple[Files, Files, Files]) -> Iterator[Finding]:
    """Report records that the index has no more, although a side has changed them."""
    base, ours, theirs = sides
    for path in sorted((ours.keys() | theirs.keys()) - staged.files.keys()):
        there = {side[path] for side in (ours, theirs) if path in side} - {base.get(path)}
        if there and os.path.dirname(path) in SHAPES:
            where = staged.where(path)
            sentence = (
                f"{where} is taken out, and what was changed in it with it: `pmem rm` keeps it"
            )
            yield Finding(where, "dropped", sentence)


def _loses(
    repository: Repository, path: str, base: TreeEntry | None, taken: TreeEntry, left: TreeEntry
) -> bool:
    """Tell whether taking one side of a record whole is not what merging both would give."""
    shape = SHAPES.get(os.path.dirname(path))
    if shape is None:
        return False
    names = [entry.object for entry in (taken, left, base) if entry is not None]
    try:
        one, other, *start = [load(data or b"") for data in repository.blobs(names)]
        return merged(start[0] if start else None, one, other, shape).result != one
    except NotJson:  # nothing that a merge could have kept
        return False
    except Doubt:
        return True
