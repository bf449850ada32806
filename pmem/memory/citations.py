"""What memories cite: files of the project and lines of them, and whether they still say it."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from pmem.core.citations import (
    CitationState,
    Content,
    Effort,
    FileRange,
    Hunt,
    Lines,
    each_once,
    judged,
    suffix_of,
)
from pmem.core.cited_sides import Sides
from pmem.core.filters import Filter
from pmem.core.journal import one_line
from pmem.core.retention import changed
from pmem.core.selection import Selection
from pmem.core.text.paths import named_paths
from pmem.errors import InvalidValue, NotFound, PmemError
from pmem.memory.citation_watch import sides_of
from pmem.memory.symbols import (
    CitationVerdict,
    Unfound,
    at_symbol,
    name_of,
    parse_symbol_citation,
    settled,
)
from pmem.project.references import is_gone
from pmem.project.workspace import Workspace
from pmem.storage.git import git
from pmem.storage.git.project_files import GIT, Listed, Sources, Unreadable, blob_of
from pmem.values.ids import short
from pmem.values.records import Citation, EventKind, Memory

MOST_CITATIONS: Final = 100
"""A memory cites so many places at the most."""
MOST_NAMED: Final = 5
"""Of the files that a text names so many are looked for."""
SEARCHED_BYTES: Final = 64 * 1024 * 1024
"""Lost texts are looked for in so much of the project."""
SEARCHED_LINES: Final = 10_000_000
"""In so many lines, those where texts may begin counted once for each of them."""
FEW_FILES: Final = 5_000
"""In so many files lost texts are looked for wherever they are."""
MOST_COMMITS: Final = 3
"""Git is asked what has changed since so many commits."""
SOURCE: Final = "verify"
_LINES: Final = re.compile(r"(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?", re.DOTALL)
_CITE: Final = "cite a file that is there, by its path from here"


_Verdicts = dict[Citation, CitationVerdict]


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the project: a file, or lines of it."""

    file: str
    lines: Lines | None


class BrokenCitation(msgspec.Struct, frozen=True, kw_only=True):
    """A citation that does not stand where it stood, and the memory that has it.

    `now` is where a text has moved to; `reason` says why a file cannot be read, what it lacks, or
    both sides of a change: `cited_text`, and `present_text` in its place, where both are known.
    """

    id: str
    short: str
    text: str
    file: str
    lines: Lines | None
    symbol: str | None
    state: CitationState
    now: Where | None = None
    reason: str = ""
    cited_text: str = ""
    present_text: str = ""

    @property
    def place(self) -> str:
        """What is cited."""
        return Citation(file=self.file, lines=self.lines, symbol=self.symbol, digest="").place

    @property
    def sides(self) -> Sides | None:
        """What was cited and what is there now, where both are known."""
        if not self.cited_text:
            return None
        return Sides(self.cited_text, self.present_text, is_value="=" in (self.symbol or ""))


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What verifying found: every citation that is not fresh, and how many there are of each state.

    `updated` counts the citations that were rewritten to where their text is now. Where the
    project is too large to be looked through, `complete` is false: a text may have moved further.
    """

    items: tuple[BrokenCitation, ...]
    counts: dict[CitationState, int]
    updated: int
    complete: bool

    @property
    def stale(self) -> int:
        """How many citations are not as they are written."""
        left = self.counts[CitationState.MOVED] - self.updated
        return left + self.counts[CitationState.CHANGED] + self.counts[CitationState.GONE]


def cite_all(workspace: Workspace, wanted: Sequence[Sequence[str]]) -> list[tuple[Citation, ...]]:
    """Look at what several memories are to cite.

    For each memory `wanted` has files, lines of files such as `src/a.py:10-20`, names that they
    define such as `src/a.py::settle`, or values of such a name (`src/a.py::RETRIES=3`); the files
    are seen from the current folder.
    """
    head = workspace.sources.head
    return [
        together((), [_make_citation(workspace, text, head) for text in texts]) for texts in wanted
    ]


def citable(workspace: Workspace, text: str) -> tuple[str, ...]:
    """Return the files that a text names, from the top of the project, as `cite_all` takes them."""
    sources = workspace.sources
    found = []
    for path in (os.path.join(sources.top, name) for name in named_paths(text)[:MOST_NAMED]):
        with suppress(InvalidValue, Unreadable):
            sources.read(sources.named(path))
            found.append(path)
    return tuple(found)


def together(known: Sequence[Citation], new: Iterable[Citation]) -> tuple[Citation, ...]:
    """Return citations and further ones; the same place is cited once, as it was seen last."""
    cited = each_once((*known, *new))
    if len(cited) > MOST_CITATIONS:
        raise InvalidValue(f"a memory cannot cite more than {MOST_CITATIONS} places")
    return cited


def without(
    workspace: Workspace, known: Sequence[Citation], unwanted: Iterable[str]
) -> tuple[Citation, ...]:
    """Return citations without some of them.

    `unwanted` are files, all citations of which go, or lines of files, or names in them; as `show`
    tells them, or seen from the current folder.
    """
    left = list(known)
    for text in unwanted:
        symbol = parse_symbol_citation(text)
        file, lines = (symbol[0], None) if symbol else parse_citation(text)
        names = {file}
        with suppress(InvalidValue):  # it need not be there any more
            names.add(workspace.sources.named(file))
        kept = [
            cited
            for cited in left
            if cited.place != text
            and not _is_meant(cited, names, lines, symbol[1] if symbol else None)
        ]
        if len(kept) == len(left):
            raise NotFound(f"the memory does not cite {text}", "`pmem show` tells what it cites")
        left = kept
    return tuple(left)


class VerifyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which memories' citations to look at, all active ones when none is named; `update` rewrites
    those whose text has moved.
    """

    references: tuple[str, ...] = ()
    update: bool = False


def verify(workspace: Workspace, request: VerifyRequest) -> Verified:
    """See whether what memories cite still stands in the files of the project."""
    references, update = request.references, request.update
    memories, verdicts, complete = _looked_at(workspace, references)
    told = [(memory, cited) for memory in memories for cited in memory.citations]
    counts = dict.fromkeys(CitationState, 0)
    for _, cited in told:
        counts[verdicts[cited].state] += 1
    changed_ones = [cited for cited, it in verdicts.items() if it.state is CitationState.CHANGED]
    sides = sides_of(workspace, changed_ones) if changed_ones else {}
    return Verified(
        items=tuple(
            _finding(memory, cited, verdicts[cited], sides.get(cited))
            for memory, cited in told
            if verdicts[cited].state is not CitationState.FRESH
        ),
        counts=counts,
        updated=_update(workspace, memories, verdicts) if update else 0,
        complete=complete,
    )


def find_broken_ids(workspace: Workspace) -> set[str]:
    """Return the ids of the memories of which a citation does not hold; see `verify`."""
    memories, verdicts, _ = _looked_at(workspace, ())
    broken = {cited for cited, told in verdicts.items() if told.state is not CitationState.FRESH}
    return {one.id for one in memories if not broken.isdisjoint(one.citations)}


def _looked_at(
    workspace: Workspace, references: Sequence[str]
) -> tuple[Sequence[Memory], _Verdicts, bool]:
    """Return memories, all that cite if none is named, what became of their citations, and whether
    all of the project was looked through.
    """
    if references:
        found = (workspace.resolve(reference, Memory)[1] for reference in references)
        memories = [workspace.memories.get(identifier) for identifier in dict.fromkeys(found)]
    else:
        memories = workspace.memories.select(Selection(wanted=Filter(), least=(("cites", 1),)))
    wanted = {cited for memory in memories for cited in memory.citations}
    return memories, *_verdicts(workspace, wanted)


def _make_citation(workspace: Workspace, text: str, head: str | None) -> Citation:
    """Look at what is to be cited."""
    sources = workspace.sources
    symbol = parse_symbol_citation(text)
    path, lines = (symbol[0], None) if symbol else parse_citation(text)
    file = sources.named(path)
    try:
        data = sources.read(file)
    except Unreadable as error:
        raise InvalidValue(f"{path} cannot be cited: it {error.reason}", _CITE) from None
    content = Content(data)
    if lines is not None and content.is_binary:
        raise InvalidValue(f"{path} is binary and has no lines", "cite it as a whole")
    if lines is not None and not content.has(lines):
        said = text.rpartition(":")[2]
        why = "they end before they begin" if lines[0] > lines[1] else f"it has {content.size}"
        raise InvalidValue(f"{path} has no lines {said}: {why}")
    if symbol is not None:
        lines = at_symbol(content, file, symbol, workspace.environment)
    return Citation(
        file=file,
        lines=lines,
        symbol=symbol[1] if symbol else None,
        digest=content.digest(lines),
        folded=content.folded(lines, file),
        blob=blob_of(data, head),
        commit=head and GIT + head,
    )


def parse_citation(text: str) -> tuple[str, Lines | None]:
    """Read a file, or lines of one; a file of exactly that name comes first."""
    if not text:
        raise InvalidValue("a citation must not be empty", "write it as src/main.py:10-20")
    found = None if os.path.lexists(text) else _LINES.fullmatch(text)
    if found is None:
        return text, None
    return found[1], (int(found[2]), int(found[3] or found[2]))


def _is_meant(cited: Citation, names: set[str], lines: Lines | None, symbol: str | None) -> bool:
    if cited.file not in names:
        return False
    if symbol is not None:
        return symbol in (cited.symbol, (cited.symbol or "").partition("=")[0])
    return lines is None or (cited.symbol is None and lines == cited.lines)


def _verdicts(workspace: Workspace, wanted: Iterable[Citation]) -> tuple[_Verdicts, bool]:
    """Judge citations, one file after another; what is lost is looked for everywhere else."""
    sources, effort = workspace.sources, Effort()
    verdicts: _Verdicts = {}
    unfound: list[Unfound] = []
    by_file: dict[str, list[Citation]] = {}
    for cited in wanted:
        by_file.setdefault(cited.file, []).append(cited)
    for file, citations in sorted(by_file.items()):
        try:
            content = Content(sources.read(file), effort)
        except Unreadable as error:
            reason = "" if error.is_missing else error.reason
            verdicts |= dict.fromkeys(citations, CitationVerdict(CitationState.GONE, reason=reason))
            continue
        for cited in citations:
            place = judged(cited, content)
            if place is None and name_of(cited) is not None:
                unfound.append(Unfound(cited, content))
            else:
                verdicts[cited] = _verdict(cited, place)
    verdicts |= settled(unfound, workspace.environment)
    lost = [one for one, found in verdicts.items() if found.now is None and not found.is_sure]
    if not lost:
        return verdicts, True
    hunt = Hunt(lost)
    complete = _looked_around(workspace, lost, hunt, effort)
    for cited in lost:
        place = hunt.found(cited, everywhere=complete)
        if place is not None:
            verdicts[cited] = CitationVerdict(CitationState.MOVED, place)
    return verdicts, complete


def _verdict(cited: Citation, place: FileRange | None) -> CitationVerdict:
    if place is None:
        return CitationVerdict(CitationState.CHANGED)
    is_fresh = cited.symbol is not None or place.lines == cited.lines
    return CitationVerdict(CitationState.FRESH if is_fresh else CitationState.MOVED, place)


def _looked_around(
    workspace: Workspace, lost: Sequence[Citation], hunt: Hunt, effort: Effort
) -> bool:
    """Look for lost texts wherever they can have moved; tell whether everywhere.

    In a large project git tells what has changed since they were cited: there a text is, if it
    moved. Where one was seen that is too short to be sure of, all files are looked into.
    """
    sources, looked = workspace.sources, set[str]()
    blobs, files = {cited.blob or "" for cited in lost}, {cited.file for cited in lost}
    alike = sources.alike(blobs, {file.rpartition("/")[2] for file in files}, FEW_FILES)
    since = None if alike is None else _changed_since(workspace, {cited.commit for cited in lost})
    if alike is not None and since is not None:
        for file in sorted({*alike, *since}):
            looked.add(file)
            _look(sources, file, lost, hunt, effort)
        if all(hunt.found(cited, everywhere=False) or not hunt.saw(cited) for cited in lost):
            return True
    return _looked_everywhere(sources, lost, hunt, effort, looked)


def _changed_since(workspace: Workspace, commits: Collection[str | None]) -> set[str] | None:
    """Return the files that are not as they were at some commits; None where git cannot tell."""
    from pmem.storage.git.changed_files import ChangedFiles

    if None in commits or len(commits) > MOST_COMMITS:
        return None
    found: set[str] = set()
    for commit in filter(None, commits):
        base = commit.removeprefix(GIT)
        with suppress(PmemError, *git.UNAVAILABLE):
            changes = ChangedFiles(
                workspace.sources, workspace.environment, base, head=None, index=None
            ).listed()
            found |= {one.after for one in changes if one.after is not None}
            continue
        return None
    return found


def _look(sources: Sources, file: str, lost: Sequence[Citation], hunt: Hunt, effort: Effort) -> int:
    """Look for lost texts in a file; return its size."""
    try:
        data = sources.read(file)
    except Unreadable:
        return 0
    hunt.look(file, Content(data, effort), blob_of(data, lost[0].commit))
    return len(data)


def _looked_everywhere(
    sources: Sources, lost: Sequence[Citation], hunt: Hunt, effort: Effort, looked: set[str]
) -> bool:
    """Look for lost texts in all further files, the likeliest first; tell whether in all."""
    blobs = {cited.blob for cited in lost} - {None}
    suffixes = {suffix_of(cited.file) for cited in lost}

    def likeliest(one: Listed) -> tuple[bool, bool, str]:
        return f"{GIT}{one.blob}" not in blobs, suffix_of(one.file) not in suffixes, one.file

    left = SEARCHED_BYTES
    for listed in sorted(sources.listed(), key=likeliest):
        if left <= 0 or hunt.work >= SEARCHED_LINES:
            return False
        if listed.file not in looked:
            left -= _look(sources, listed.file, lost, hunt, effort)
    return True


def _finding(
    memory: Memory, cited: Citation, verdict: CitationVerdict, sides: Sides | None
) -> BrokenCitation:
    now = verdict.now
    return BrokenCitation(
        id=memory.id,
        short=short(memory.id),
        text=one_line(memory.content),
        file=cited.file,
        lines=cited.lines,
        symbol=cited.symbol,
        state=verdict.state,
        now=None if now is None else Where(file=now.file, lines=now.lines),
        reason=sides.said if sides else verdict.reason,
        cited_text=sides.was if sides else "",
        present_text=sides.now if sides else "",
    )


def _update(workspace: Workspace, memories: Iterable[Memory], verdicts: _Verdicts) -> int:
    """Rewrite the citations whose text has moved; return how many there were."""
    fresh = _moved_citations(workspace.sources, verdicts)
    stale = [one for one in memories if any(cited in fresh for cited in one.citations)]
    if not stale:
        return 0
    updated = 0
    with workspace.transaction():
        for memory in stale:
            if is_gone(workspace, Memory, memory.id):
                continue
            known = workspace.memories.get(memory.id)
            moved = sum(cited in fresh for cited in known.citations)
            if moved:  # else another process has updated it meanwhile
                updated += moved
                cited = each_once(fresh.get(one, one) for one in known.citations)
                event = msgspec.structs.replace(workspace.event(EventKind.UPDATE), source=SOURCE)
                workspace.memories.put(changed(known, event, citations=cited))
    return updated


def _moved_citations(sources: Sources, verdicts: _Verdicts) -> dict[Citation, Citation]:
    """Return the citations whose text has moved, as they are to be; what changed since is none."""
    moved = {
        cited: it.now
        for cited, it in verdicts.items()
        if it.state is CitationState.MOVED and it.now
    }
    head = sources.head if moved else None
    found: dict[Citation, Citation] = {}
    for cited, place in sorted(moved.items(), key=lambda item: item[1].file):
        try:
            data = sources.read(place.file)
        except Unreadable:
            continue
        content = Content(data)
        new = msgspec.structs.replace(
            cited,
            file=place.file,
            lines=place.lines,
            blob=blob_of(data, head),
            commit=head and GIT + head,
        )
        if judged(new, content) == place:
            found[cited] = msgspec.structs.replace(
                new,
                digest=content.digest(place.lines),
                folded=content.folded(place.lines, place.file),
            )
    return found
