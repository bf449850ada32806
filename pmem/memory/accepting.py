"""Saying that a memory still holds though what it cites has changed: it cites that as it is now."""

import os
from collections.abc import Sequence

import msgspec

from pmem.core.citations import CitationState, Content, Lines, constant_of, values_of
from pmem.core.journal import one_line
from pmem.core.lines import split_lines
from pmem.core.retention import changed
from pmem.errors import InvalidValue
from pmem.memory.changes import RecordsRequest
from pmem.memory.citation_watch import as_cited
from pmem.memory.citations import SOURCE, BrokenCitation, VerifyRequest, cite_all, together, verify
from pmem.project.workspace import Workspace
from pmem.storage.git.changed_files import hunks, lines_after
from pmem.storage.git.project_files import Sources, Unreadable
from pmem.values.ids import short
from pmem.values.records import Citation, EventKind, Memory


class AcceptedCitation(msgspec.Struct, frozen=True, kw_only=True):
    """A citation that was taken as it is now: what was cited, what is, and the text there."""

    id: str
    short: str
    was: str
    now: str
    text: str


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The citations that were taken as they are now."""

    items: tuple[AcceptedCitation, ...]


def accept(workspace: Workspace, request: RecordsRequest) -> Accepted:
    """Take the text that memories cite as it is now; their histories keep what they cited.

    Where git has the text that a file had then, its place now follows from what changed around it;
    else the same lines count.
    """
    found = verify(workspace, VerifyRequest(references=request.references)).items
    by_memory: dict[str, list[BrokenCitation]] = {}
    for item in found:
        by_memory.setdefault(item.id, []).append(item)
    accepted: list[AcceptedCitation] = []
    for identifier, items in by_memory.items():
        accepted += _accept_of(workspace, workspace.memories.get(identifier), items)
    return Accepted(items=tuple(accepted))


def _accept_of(
    workspace: Workspace, memory: Memory, items: Sequence[BrokenCitation]
) -> list[AcceptedCitation]:
    """Renew a memory's citations, and return those that are new."""
    sources = workspace.sources
    known = {(one.file, one.lines, one.symbol): one for one in memory.citations}
    new: dict[Citation, Citation] = {}
    accepted = []
    for item in items:
        _check_text(memory, item)
        cited = known[item.file, item.lines, item.symbol]
        wanted = os.path.join(sources.top, _place_now(workspace, memory, cited, item))
        ((now,),) = cite_all(workspace, [(wanted,)])
        new[cited] = now
        accepted.append(
            AcceptedCitation(
                id=memory.id,
                short=short(memory.id),
                was=cited.place,
                now=now.place,
                text=_said_there(sources, now),
            )
        )
    citations = together((), (new.get(one, one) for one in memory.citations))
    event = msgspec.structs.replace(workspace.event(EventKind.UPDATE), source=SOURCE)
    workspace.memories.put(changed(memory, event, citations=citations))
    return accepted


def _check_text(memory: Memory, item: BrokenCitation) -> None:
    """See that a memory's own text does not hold what its citation says no longer."""
    sides = item.sides
    value = "" if sides is None else sides.old_value_in(memory.content)
    if sides is not None and value:
        name = short(memory.id)
        raise InvalidValue(
            f"the text of {name} says {value}, which is no longer so: {sides.said}",
            f"correct the text first: `pmem edit {name} TEXT`",
        )


def _place_now(workspace: Workspace, memory: Memory, cited: Citation, item: BrokenCitation) -> str:
    """Return what to cite in the place of a citation, with a file seen from the top."""
    if item.now is not None:
        moved = msgspec.structs.replace(cited, file=item.now.file, lines=item.now.lines)
        return moved.place
    if item.state is CitationState.GONE:
        raise _unknown(memory, cited, "it is gone")
    try:
        data = workspace.sources.read(cited.file)
    except Unreadable as error:
        raise _unknown(memory, cited, f"its file {error.reason}") from None
    constant = constant_of(cited)
    if constant is not None:
        name = (cited.symbol or "").partition("=")[0]
        found = values_of(cited, Content(data), constant[0])
        values = {one.value.decode("utf-8", "replace") for one in found}
        if len(values) != 1:
            raise _unknown(memory, cited, f"{name} has {len(values)} values")
        return f"{cited.file}::{name}={values.pop()}"
    if cited.symbol is not None or cited.lines is None:
        return cited.place
    lines: Lines | None = cited.lines
    old = as_cited(workspace, [cited]).get(cited)
    if old is not None:
        lines = lines_after(hunks(old, data, workspace.environment), cited.lines)
    if lines is None or not Content(data).has(lines):
        raise _unknown(memory, cited, "nothing stands in its place")
    return msgspec.structs.replace(cited, lines=lines).place


def _unknown(memory: Memory, cited: Citation, why: str) -> InvalidValue:
    name = short(memory.id)
    return InvalidValue(
        f"{cited.place} cannot be accepted for {name}: {why}",
        f"`pmem edit {name} --uncite {cited.file}` takes it away, --cite says what it rests on now",
    )


def _said_there(sources: Sources, cited: Citation) -> str:
    """Return what is cited, on one line and no longer than is read at a glance."""
    try:
        lines = split_lines(sources.read(cited.file).decode("utf-8-sig", "replace"))
    except Unreadable:
        return ""
    first, last = cited.lines or (1, len(lines))
    return one_line(" ".join(line.strip() for line in lines[first - 1 : last]))
