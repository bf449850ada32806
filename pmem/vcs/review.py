"""What a change to the project has to do with what is remembered: for whoever reviews it."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from pmem.core.citations import Content, Lines, constant_of, values_of
from pmem.core.cited_sides import (
    FileVersion,
    sides_of_constant,
    sides_of_lines,
    stands_after,
    went_to,
)
from pmem.core.journal import one_line
from pmem.core.lines import split_lines
from pmem.core.outcomes import FIXES, warns
from pmem.core.places import applies
from pmem.core.review import (
    ChangedPlace,
    ReviewFinding,
    ReviewKind,
    clashes,
    finding,
    has_source,
    is_rule,
    most_important,
)
from pmem.core.trust import may_stop
from pmem.errors import InvalidValue
from pmem.project.views import seen_in
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.git.changed_files import (
    ChangedFiles,
    ChangedPath,
    Hunk,
    hunks,
    lines_after,
    touching,
)
from pmem.storage.git.git_index import Staged
from pmem.storage.git.repository import NoRevision, Repository
from pmem.values.fields import asked
from pmem.values.records import Citation, Memory, MemoryType, Relationship, State
from pmem.vcs.changelog import HEAD, End, ends, standing_at
from pmem.vcs.reviewed_memories import ReviewedMemories

MOST_FILES: Final = 1000
"""So many files of a change are held against rules, and searched for lost texts."""
MOST_PLACES: Final = 20
"""So many files are named that a rule applies to."""
_INDEX: Final = "index"
_LOOKED_AT: Final = 200
"""Of the lines that came in one place so many are compared with the cited one."""
_ALIKE: Final = 0.5
_LONGEST: Final = 500
"""Characters of a line that are compared."""


NOW: Final = "HEAD.."
"""What has not been committed."""


class ReviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which change to review: that between two revisions, or what is about to be committed.

    `revisions`: see `RangeRequest`.
    """

    revisions: Annotated[
        str,
        asked("Two git revisions; `A..` is up to now.", shown="[A..B]", is_argument=True),
    ] = NOW
    staged: Annotated[bool, asked("Look only at what is staged for the next commit.")] = False


class Reviewed(msgspec.Struct, frozen=True, kw_only=True, rename={"start": "from", "end": "to"}):
    """What a change has to do with memories, each once, the most important first.

    `files` is how many files of the project it changes, `folder` the memory folder's path from the
    top with a slash at the end, `problems` are the files of the memory at its ends that could not
    be used.
    """

    start: End
    end: End
    files: int
    folder: str
    items: tuple[ReviewFinding, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def is_of_index(self) -> bool:
        """Whether the change is what is staged for the next commit."""
        return self.end.name == _INDEX

    @property
    def waiting(self) -> int:
        """How many findings wait for an answer."""
        return sum(found.waits for found in self.items)

    def to_plain(self) -> dict[str, Any]:
        """Return what was found; of each finding also whether it waits, and what to do."""
        items = [
            {**msgspec.structs.asdict(found), "waits": found.waits, "advice": found.advice}
            for found in self.items
        ]
        return {
            "from": self.start,
            "to": self.end,
            "files": self.files,
            "items": items,
            "waiting": self.waiting,
        }


class _Change(NamedTuple):
    """A change: its two ends, its files, and the memory at both ends, where there was one."""

    start: End
    end: End
    files: ChangedFiles
    before: Workspace | None
    after: Workspace | None

    @property
    def problems(self) -> tuple[Problem, ...]:
        views = (view for view in (self.before, self.after) if view is not None and view.is_past)
        return tuple(problem for view in views for problem in view.problems)


def review(workspace: Workspace, request: ReviewRequest) -> Reviewed:
    """Say what a change has to do with what is remembered."""
    change = (_staged if request.staged else _between)(workspace, request)
    listed = change.files.listed()
    place = Repository(workspace.root, workspace.environment).place()
    own = [one for one in listed if _is_below(one, place)]
    touched = [one for one in listed if not _is_below(one, place)]
    found: list[ReviewFinding] = []
    if change.after is not None:
        memories = ReviewedMemories(change.before, change.after, own, place)
        look = _FileReview(change.files, touched, memories, workspace.environment)
        found = [*look.findings(), *_of_records(memories)]
    return Reviewed(
        start=change.start,
        end=change.end,
        files=len(touched),
        folder=place,
        items=most_important(found),
        problems=change.problems,
    )


def _between(workspace: Workspace, request: ReviewRequest) -> _Change:
    repository = Repository(workspace.root, workspace.environment)
    try:
        start, end = ends(repository, request.revisions)
    except NoRevision as error:
        if error.hint != NoRevision.default_hint or _is_known(repository, HEAD):
            raise
        raise InvalidValue(
            "there is no commit yet to compare with", "`pmem review --staged` looks at the first"
        ) from None
    assert start.commit is not None
    files = ChangedFiles(
        workspace.sources, workspace.environment, start.commit, head=end.commit, index=None
    )
    views = (standing_at(workspace, repository, each) for each in (start, end))
    return _Change(start, end, files, *views)


def _is_known(repository: Repository, revision: str) -> bool:
    try:
        repository.commit(revision)
    except NoRevision:
        return False
    return True


def _staged(workspace: Workspace, request: ReviewRequest) -> _Change:  # noqa: ARG001
    repository = Repository(workspace.root, workspace.environment)
    tree = Staged(repository, workspace.root, workspace.environment)
    base = repository.head_or_nothing()
    start, before = End(name=HEAD, commit=base), None
    try:
        before = standing_at(workspace, repository, End(name=HEAD, commit=repository.commit(HEAD)))
    except InvalidValue:  # it is the first commit
        start = End(name="nothing", commit=None)
    files = ChangedFiles(
        workspace.sources, workspace.environment, base, head=None, index=tree.index
    )
    after = seen_in(workspace, tree) if tree.files else None
    return _Change(start, End(name=_INDEX, commit=None), files, before, after)


def _is_below(change: ChangedPath, place: str) -> bool:
    return any((name or "").startswith(place) for name in (change.before, change.after))


class _FileReview:
    """Looks at the files of a change: what memories rest on, and where rules apply."""

    def __init__(
        self,
        files: ChangedFiles,
        touched: Sequence[ChangedPath],
        memories: ReviewedMemories,
        environment: dict[str, str],
    ) -> None:
        self._files = files
        self._touched = touched
        self._memories = memories
        self._environment = environment
        self._by_name: dict[str, list[ChangedPath]] = {}
        self._versions: dict[tuple[ChangedPath, bool], FileVersion | None] = {}
        for one in touched:
            for name in dict.fromkeys(filter(None, (one.before, one.after))):
                self._by_name.setdefault(name, []).append(one)

    def findings(self) -> Iterator[ReviewFinding]:
        """Yield what the changed files have to do with memories."""
        memories = self._memories.active.values()
        cited = [one for one in memories if any(c.file in self._by_name for c in one.citations)]
        self._files.load(
            change for one in cited for c in one.citations for change in self._changes_of(c)
        )
        for one in cited:
            places = [place for c in one.citations if (place := self._lost(one, c))]
            if places:
                kind = ReviewKind.STANDING if warns(one) else ReviewKind.CITED
                yield finding(kind, one, places=tuple(places))
        for one in memories:
            stops = may_stop(one)
            if (stops or is_rule(one)) and not self._memories.is_new(one):
                places = self._ruled(one)
                if places:
                    kind = ReviewKind.STOPS if stops else ReviewKind.APPLIES
                    yield finding(kind, one, places=tuple(places))

    def _ruled(self, rule: Memory) -> list[ChangedPlace]:
        """Return files that a rule's places fit by name, before or after, and that say more now."""
        named = [
            one
            for one in self._touched[:MOST_FILES]
            if any(applies(rule.places, name) for name in {one.after, one.before} if name)
        ]
        self._files.load(named)
        more = (ChangedPlace(file=one.name) for one in named if self._says_more(one))
        return list(islice(more, MOST_PLACES))

    def _says_more(self, change: ChangedPath) -> bool:
        """Tell whether a file differs in more than its name and its format."""
        before, after = self._version(change, is_after=False), self._version(change, is_after=True)
        if before is None or after is None:
            return change.old != change.new
        return not before.says_the_same(after)

    def _changes_of(self, cited: Citation) -> list[ChangedPath]:
        return self._by_name.get(cited.file, [])

    def _lost(self, memory: Memory, cited: Citation) -> ChangedPlace | None:
        """Return where a cited text stood that the change took away; None if it still stands."""
        changes = self._changes_of(cited)
        after = [self._version(one, is_after=True) for one in changes]
        if any(version is not None and version.place(cited) for version in after):
            return None
        for change in changes:
            before = self._version(change, is_after=False)
            if before is not None and change.before == cited.file and before.place(cited):
                return None if self._stands(cited, change, before) else self._place(cited, change)
        earlier = self._memories.earlier(memory)
        if not changes or (earlier is not None and cited in earlier.citations):
            return None  # it was not there before the change either
        return _cited_place(changes[0], cited)

    def _stands(self, cited: Citation, change: ChangedPath, before: FileVersion) -> bool:
        """Tell whether a text of one file stands after the change, there or in another file."""
        after = self._version(change, is_after=True)
        if after is not None and stands_after(cited, before, after):
            return True
        others = [one for one in self._touched[:MOST_FILES] if one is not change and one.new]
        self._files.load(others)
        for other in others:
            there = self._version(other, is_after=True)
            earlier = self._version(other, is_after=False)
            if there is not None and went_to(cited, before, earlier, there):
                return True
        return False

    def _place(self, cited: Citation, change: ChangedPath) -> ChangedPlace:
        """Return where a text stood, as a place after the change."""
        before, after = (self._files.before(change), self._files.after(change))
        stood = self._version(change, is_after=False)
        place = stood and stood.place(cited)
        if before is None or after is None or not place or not place.lines:
            return _cited_place(change, cited)
        line, said = _change_of(cited, place.lines, (before, after), self._environment)
        return _cited_place(change, cited, line, said)

    def _version(self, change: ChangedPath, *, is_after: bool) -> FileVersion | None:
        key = (change, is_after)
        if key not in self._versions:
            data = self._files.after(change) if is_after else self._files.before(change)
            name = (change.after if is_after else change.before) or change.name
            self._versions[key] = None if data is None else FileVersion(name, data)
        return self._versions[key]


def _cited_place(
    change: ChangedPath, cited: Citation, line: int | None = None, said: str = ""
) -> ChangedPlace:
    is_gone = change.after is None
    return ChangedPlace(file=change.name, line=line, cited=cited.place, gone=is_gone, change=said)


def _of_records(memories: ReviewedMemories) -> Iterator[ReviewFinding]:
    """Yield what is to be said of the memories that a change wrote."""
    others = memories.active
    for memory in memories.written.values():
        earlier = memories.earlier(memory)
        settled = memory.settled
        if settled is not None and (earlier is None or earlier.settled is None):
            yield finding(ReviewKind.SETTLED, memory, reason=one_line(settled.reason))
        if memory.id not in others:
            continue
        for target in _new_fixes(memory, earlier):
            fixed = others.get(target)
            if fixed is not None and fixed.type is MemoryType.DEAD_END:
                fix = {"other": memory.id, "other_text": one_line(memory.content)}
                yield finding(ReviewKind.SETTLED, fixed, **fix)
        for other in clashes(memory, others.values()) if _says_else(memory, earlier) else ():
            both = sorted((memory, other), key=lambda one: one.id, reverse=True)
            head, rest = both if other.id in memories.written else (memory, other)
            told = {"other": rest.id, "other_text": one_line(rest.content)}
            yield finding(ReviewKind.CLASH, head, **told)
    for memory in memories.added:
        if not has_source(memory):
            yield finding(ReviewKind.UNSOURCED, memory)


def _new_fixes(memory: Memory, earlier: Memory | None) -> list[str]:
    """Return the dead ends that a memory fixes, and did not fix before."""
    known = set() if earlier is None else {_end(tie) for tie in earlier.relationships}
    ties = (_end(tie) for tie in memory.relationships if tie.type == FIXES)
    return [target for target, type_ in ties if (target, type_) not in known]


def _end(tie: Relationship) -> tuple[str, str]:
    return tie.target, tie.type


def _says_else(memory: Memory, earlier: Memory | None) -> bool:
    if earlier is None or earlier.state is not State.ACTIVE:
        return True
    return (memory.content, memory.subject, memory.scope) != (
        earlier.content,
        earlier.subject,
        earlier.scope,
    )


def _change_of(
    cited: Citation, lines: Lines, versions: tuple[bytes, bytes], environment: Mapping[str, str]
) -> tuple[int | None, str]:
    """Return the line after a change, if one can be named, and both texts in words."""
    found = hunks(*versions, environment)
    before, after = (split_lines(data.decode("utf-8-sig", "replace")) for data in versions)
    line = _line(found, lines, (before, after))
    here = Content(versions[1])
    sides = sides_of_constant(cited, here)
    if sides is not None:
        return _assigned(cited, here, line or lines[0]), sides.said
    place = lines_after(found, lines)
    if place is not None:
        sides = sides_of_lines(before[lines[0] - 1 : lines[1]], after[place[0] - 1 : place[1]])
    return line, sides.said if sides else ""


def _line(
    found: Sequence[Hunk], lines: Lines, texts: tuple[Sequence[str], Sequence[str]]
) -> int | None:
    """Return the line after a change that stands for the first cited one that it touches."""
    hunk = touching(found, lines)
    if hunk is None or hunk.new_size == 0:
        return None if hunk is None else max(1, hunk.new)
    touched = max(hunk.old, lines[0])
    near = min(hunk.new + touched - hunk.old, hunk.new + hunk.new_size - 1)
    if not hunk.old_size:
        return near
    matcher = SequenceMatcher(b=texts[0][touched - 1].strip()[:_LONGEST], autojunk=False)

    def alike(line: int) -> float:
        matcher.set_seq1(texts[1][line - 1].strip()[:_LONGEST])
        return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0

    new = range(hunk.new, hunk.new + min(hunk.new_size, _LOOKED_AT))
    best = max(new, key=lambda line: (alike(line), -abs(line - near)))
    return best if alike(best) >= _ALIKE else near


def _assigned(cited: Citation, here: Content, near: int) -> int | None:
    """Return the line that gives a constant its value, the nearest one."""
    constant = constant_of(cited)
    values = values_of(cited, here, constant[0]) if constant else []
    return min((one.first for one in values), key=lambda first: abs(first - near), default=None)
