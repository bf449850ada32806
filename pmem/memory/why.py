"""Why a file, or a line of it, is as it is: what was decided, tried and replaced there."""

import os
from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple

import msgspec

from pmem.core.checks import nearest
from pmem.core.citations import Content, Lines, judged, values_of
from pmem.core.code.definitions import parse_symbol
from pmem.core.filters import Filter
from pmem.core.lifecycle.states import successor_of
from pmem.core.outcomes import COMMIT, warns
from pmem.core.places import applies_within, nearness
from pmem.core.record_keys import proven_key
from pmem.core.retention import valid_at
from pmem.core.selection import Selection
from pmem.core.trust import RecordOrigin, with_trust
from pmem.errors import InvalidValue, NotFound
from pmem.memory.citations import cite_all, parse_citation
from pmem.memory.reading import Staleness, fix_of
from pmem.project.origins import Doubts
from pmem.project.workspace import Workspace
from pmem.storage.git.commits import LineOrigin, origin_of
from pmem.storage.git.project_files import Unreadable
from pmem.values.fields import asked
from pmem.values.records import Citation, Memory, MemoryType, State

_STATES: Final = (State.ACTIVE, State.SUPERSEDED, State.ARCHIVED)
"""What was removed, or merged into another memory, explains nothing."""
_CITING: Final = ("cites ", "verified: ")
_TYPES: Final = (MemoryType.DEAD_END, MemoryType.CONSTRAINT, MemoryType.DECISION)
"""What is told first."""


class WhyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A file seen from the current folder, or lines of it or a name in it, as in a citation."""

    place: Annotated[
        str,
        asked(
            "A file, lines of it, or a name in it: FILE::NAME.",
            shown="FILE[:LINE]", is_argument=True,
        ),
    ]  # fmt: skip


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that explains a place.

    `how` is what leads to it: `verified: src/a.py:10-20 unchanged`, with `(cited as src/a.py:8-18)`
    where it has moved, `cites src/a.py:10-20`, `applies to src/**`, `commit 4f3a2b1`. `standing` is
    `active`, `stale` where a citation changed, `settled`, `superseded`, `archived`, `expired` or
    `not valid yet`. `by` is the memory that took its place, and `fix` what worked where it failed,
    unless that is in doubt.
    `origin` is there where nobody has reviewed it, and whoever works here did not write it.
    """

    memory: Memory
    how: tuple[str, ...]
    standing: str
    stale: tuple[str, ...] = ()
    by: str | None = None
    fix: Memory | None = None
    origin: RecordOrigin | None = None

    def to_plain(self) -> dict[str, object]:
        """Return its fields, the memory with how far it can be trusted."""
        fix = None if self.fix is None else with_trust(self.fix)
        told = {**msgspec.structs.asdict(self), "memory": with_trust(self.memory), "fix": fix}
        return {name: value for name, value in told.items() if name != "origin" or value}


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """What explains a place: what holds first, then what did. `origin` is the line's commit, or
    `no_origin` why that is not known; `note` says that there is no such file.
    """

    file: str
    line: int | None
    origin: LineOrigin | None
    items: tuple[Reason, ...]
    note: str = ""
    no_origin: str = ""

    @property
    def recalled(self) -> list[str]:
        """The ids of what counts as recalled."""
        return [reason.memory.id for reason in self.items]

    def to_plain(self) -> dict[str, object]:
        """Return what was found."""
        return {
            **msgspec.structs.asdict(self),
            "items": [reason.to_plain() for reason in self.items],
        }


def explain(workspace: Workspace, request: WhyRequest) -> Why:
    """Return the memories whose place or citation covers a file, or a line of it.

    Where the text of a citation has moved within its file, it covers the lines where it is now.
    """
    sources = workspace.sources
    path, lines = _place(workspace, request.place)
    file = sources.named(path) + "/" * os.path.isdir(path)
    try:
        data: bytes | None = sources.read(file)
    except Unreadable as error:
        if lines is not None:
            raise InvalidValue(f"{path} has no lines to look at: it {error.reason}") from None
        data = None
    content = None if data is None else Content(data)
    line = lines[0] if lines and lines[0] == lines[1] else None
    if lines is not None and (content is None or not content.has(lines)):
        raise InvalidValue(f"{path} has no line {lines[1]}", "name a line that is there")
    found: LineOrigin | str = ""
    if line is not None and data is not None:
        found = origin_of(sources.top, workspace.environment, file, line, data)
    origin, no_origin = (None, found) if isinstance(found, str) else (found, "")
    items = tuple(_Look(workspace, file, lines, content, origin).reasons())
    note = (
        ""
        if data is not None or os.path.lexists(path)
        else f"there is no file {path}: {_near(path)}"
    )
    if note and not items:
        raise NotFound(f"there is no file {path}", _near(path))
    return Why(file=file, line=line, origin=origin, items=items, note=note, no_origin=no_origin)


def _near(path: str) -> str:
    """Say which file somebody may have meant."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return "name a file of the project"
    near = nearest(name, names)
    return f"did you mean {os.path.join(folder, near)}?" if near else "name one that is there"


def _place(workspace: Workspace, place: str) -> tuple[str, Lines | None]:
    """Return a file and the lines of it that are meant, by their numbers or by a name in it."""
    path, lines = parse_citation(place)
    head, _, rest = path.partition(":")
    if lines is not None or not rest or os.path.lexists(path) or not os.path.isfile(head):
        return path, lines
    if not rest.startswith(":"):
        raise InvalidValue(f"{rest!r} is no line of {head}", "write it as src/main.py:12")
    try:
        ((cited,),) = cite_all(workspace, [[place]])
    except InvalidValue as refused:
        symbol, file = parse_symbol(rest[1:]), workspace.sources.named(head)
        try:
            content = Content(workspace.sources.read(file))
        except Unreadable:
            raise refused from None
        named = Citation(file=file, symbol=rest[1:], digest="")
        given = values_of(named, content, symbol) if symbol is not None else []
        if not given:
            raise
        return head, (given[0].first, given[0].last)  # of a constant, whatever its value
    return head, cited.lines


class _Look(NamedTuple):
    """Looks for what explains one place."""

    workspace: Workspace
    file: str
    lines: Lines | None
    content: Content | None
    origin: LineOrigin | None

    def reasons(self) -> Iterator[Reason]:
        """Yield what explains it, what holds and is about the very line first."""
        doubts = Doubts(self.workspace)
        known = self._known()
        doubted = doubts.of(known)
        if doubts.treats == "hide":
            known = [memory for memory in known if memory.id not in doubted]
        staleness = Staleness(self.workspace)
        found = []
        for memory in known:
            how = tuple(self._ways(memory))
            if how:
                stale = staleness(memory)
                standing = self._standing(memory, stale)
                by = successor_of(memory) if memory.state is not State.ACTIVE else None
                fix = fix_of(self.workspace, memory)
                if fix is not None and doubts.mark(fix) is not None:
                    fix = None
                origin = doubted.get(memory.id)
                found.append(
                    Reason(
                        memory=memory,
                        how=how,
                        standing=standing,
                        stale=stale,
                        by=by,
                        fix=fix,
                        origin=origin,
                    )
                )
        last = doubted if doubts.treats == "below" else ()
        yield from sorted(found, key=lambda it: (it.memory.id in last, _rank(it, self.file)))

    def _known(self) -> list[Memory]:
        """Return the memories that may have to do with it."""
        wanted = Filter(path=self.file, states=_STATES)
        known = {one.id: one for one in self.workspace.memories.select(Selection(wanted=wanted))}
        if self.origin is not None:
            proven = proven_key(f"{COMMIT}{self.origin.commit}")
            known |= {one.id: one for one in self.workspace.memories.twins(proven)}
        return [*known.values()]

    def _ways(self, memory: Memory) -> Iterator[str]:
        for cited in memory.citations:
            inside = cited.file.startswith(self.file) and self.file.endswith("/")
            if inside or cited.file == self.file:
                yield from self._citing(cited)
        if applies_within(memory.places, self.file):
            yield f"applies to {', '.join(memory.places)}"
        if self.origin and f"{COMMIT}{self.origin.commit}" in memory.evidence:
            yield f"commit {self.origin.commit[:10]}"

    def _citing(self, cited: Citation) -> Iterator[str]:
        """Yield what is cited, where it covers a line asked for, and where it stands unchanged."""
        content = self.content if cited.file == self.file else None
        now = None if content is None else judged(cited, content)
        lines = cited.lines and ((now and now.lines) or cited.lines)
        asked = self.lines
        is_covered = not (asked and lines) or (lines[0] <= asked[1] and asked[0] <= lines[1])
        if content is None or is_covered:
            if now is None:
                yield f"cites {cited.place}"
                return
            place = msgspec.structs.replace(cited, lines=now.lines).place
            moved = f" (cited as {cited.place})" * (place != cited.place)
            yield f"verified: {place} unchanged{moved}"

    def _standing(self, memory: Memory, stale: tuple[str, ...]) -> str:
        if memory.state is not State.ACTIVE:
            return str(memory.state)
        if memory.settled is not None:
            return "settled"
        now = self.workspace.now()
        if not valid_at(memory, now):
            return "not valid yet" if memory.valid_from > now else "expired"
        return "stale" if stale else str(State.ACTIVE)


def _rank(reason: Reason, file: str) -> tuple[object, ...]:
    """Order reasons: what is valid, what warns, what cites the place, what is closest, what binds.

    Of those the newest come first, but what was written in one minute in its order: an import's.
    """
    memory = reason.memory
    type_ = _TYPES.index(memory.type) if memory.type in _TYPES else len(_TYPES)
    return (
        reason.standing not in (State.ACTIVE, "stale"),
        not warns(memory),
        not reason.how[0].startswith(_CITING),
        -nearness(memory.places, file),
        type_,
        -(memory.created_at.timestamp() // 60),
        memory.id,
    )
