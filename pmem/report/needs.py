"""What waits for somebody: open contradictions, what is stale, what ended, what is in doubt."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pmem.core.citations import CitationState
from pmem.core.journal import one_line
from pmem.core.trust import Trust, trust_of
from pmem.errors import PmemError
from pmem.memory.citations import VerifyRequest, verify
from pmem.memory.facts import FactsRequest, list_facts
from pmem.memory.reading import disputed
from pmem.project.workspace import Workspace
from pmem.report.document import ToldNeed
from pmem.upkeep.integrity import CheckRequest, check
from pmem.values.ids import short
from pmem.values.records import Memory, State
from pmem.values.times import day

Broken = Mapping[tuple[str, str], str]
"""What became of citations that do not hold, by the memory's id and the place that it cites."""

MOST_OF_A_KIND: Final = 200
"""So many needs of one kind are listed; the last one says how many more there are."""
_NAMED: Final = 90
"""Characters of a memory that a need is about."""
_TOLD: Final = frozenset({"conflict", "expired"})
"""Codes of findings that are told of their memories already."""
_STALE: Final = {
    CitationState.MOVED: ("has moved", "pmem verify --update"),
    CitationState.CHANGED: ("has changed", "pmem verify --accept {}"),
    CitationState.GONE: ("is gone", "pmem edit {}"),
}


def find_broken(workspace: Workspace) -> dict[tuple[str, str], str]:
    """Return the citations that do not hold; none where the project's files cannot be read."""
    try:
        found = verify(workspace, VerifyRequest())
    except PmemError:
        return {}
    memories = {memory.id: memory for memory in workspace.memories.find()}
    states = {(item.id, item.file, item.lines, item.symbol): item.state for item in found.items}
    return {
        (id_, cited.place): str(states[id_, cited.file, cited.lines, cited.symbol])
        for id_ in {item.id for item in found.items}
        for cited in memories[id_].citations
        if (id_, cited.file, cited.lines, cited.symbol) in states
    }


def list_needs(
    workspace: Workspace, memories: Sequence[Memory], broken: Broken
) -> Iterator[ToldNeed]:
    """Yield what waits for somebody, what is worst first.

    Args:
        memories: Those that the report shows.
        broken: Their citations that do not hold.
    """
    active = [memory for memory in memories if memory.state is State.ACTIVE]
    kinds = (
        _findings(workspace, active),
        _conflicts(active),
        _stale(active, broken),
        _ended(workspace, active),
        _due(workspace, active),
        _doubtful(active),
        _facts(workspace),
    )
    for needs in kinds:
        yield from _limited(list(needs))


def _limited(needs: Sequence[ToldNeed]) -> Iterator[ToldNeed]:
    yield from needs[:MOST_OF_A_KIND]
    more = len(needs) - MOST_OF_A_KIND
    if more > 0:
        last = needs[MOST_OF_A_KIND]
        yield ToldNeed(kind=last.kind, text=f"{more} more of this kind", command=last.command)


def _findings(workspace: Workspace, active: Sequence[Memory]) -> Iterator[ToldNeed]:
    """Yield what `check` finds, with no path of this machine."""
    root, known = f"{workspace.root}/", {memory.id: memory for memory in active}
    for finding in check(workspace, CheckRequest()).findings:
        if finding.severity == "notice" or finding.code in _TOLD:
            continue
        name = os.path.basename(finding.path)
        memory = known.get(name.removesuffix(".json"))
        what = name if memory is None else f"“{_name_memory(memory)}”"
        yield ToldNeed(
            kind=finding.code.replace("_", " "),
            text=f"{what} {finding.sentence.replace(root, '')}",
            command="pmem check" if memory is None else f"pmem show {short(memory.id)}",
            memory="" if memory is None else memory.id,
        )


def _conflicts(active: Sequence[Memory]) -> Iterator[ToldNeed]:
    for memory in active:
        fields = disputed(memory)
        if fields:
            text = f"two branches disagree about {', '.join(fields)}: {_name_memory(memory)}"
            command = f"pmem settle {short(memory.id)}"
            yield ToldNeed(kind="conflict", text=text, command=command, memory=memory.id)


def _stale(active: Sequence[Memory], broken: Broken) -> Iterator[ToldNeed]:
    for memory in active:
        for cited in memory.citations:
            state = broken.get((memory.id, cited.place))
            if state is None:
                continue
            what, command = _STALE[CitationState(state)]
            yield ToldNeed(
                kind="stale",
                text=f"{cited.place} {what}: {_name_memory(memory)}",
                command=command.format(short(memory.id)),
                memory=memory.id,
            )


def _ended(workspace: Workspace, active: Sequence[Memory]) -> Iterator[ToldNeed]:
    now = workspace.now()
    for memory in active:
        if memory.valid_until is not None and memory.valid_until <= now:
            text = f"held until {day(memory.valid_until)}: {_name_memory(memory)}"
            command = f"pmem edit {short(memory.id)}"
            yield ToldNeed(kind="expired", text=text, command=command, memory=memory.id)


def _due(workspace: Workspace, active: Sequence[Memory]) -> Iterator[ToldNeed]:
    now = workspace.now()
    for memory in active:
        if memory.review_at is not None and memory.review_at <= now:
            text = f"was to be looked at again on {day(memory.review_at)}: {_name_memory(memory)}"
            command = f"pmem outcome {short(memory.id)}"
            yield ToldNeed(kind="due", text=text, command=command, memory=memory.id)


def _doubtful(active: Sequence[Memory]) -> Iterator[ToldNeed]:
    for memory in active:
        if trust_of(memory) is Trust.LOW:
            text = f"nobody has confirmed it: {_name_memory(memory)}"
            command = f"pmem edit {short(memory.id)}"
            yield ToldNeed(kind="low trust", text=text, command=command, memory=memory.id)


def _facts(workspace: Workspace) -> Iterator[ToldNeed]:
    """Say how many facts wait; what they say stands in transcripts, which are private."""
    waiting = list_facts(workspace, FactsRequest(limit=1)).total
    if waiting:
        text = f"{waiting} found in conversations; what they say is not told here"
        yield ToldNeed(kind="facts", text=text, command="pmem facts list")


def _name_memory(memory: Memory) -> str:
    text = one_line(memory.content, _NAMED)
    return f"{memory.subject}: {text}" if memory.subject else text
