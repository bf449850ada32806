"""What waits for somebody, as far as every reader of the project may know of it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pmem.core.inbox import InboxItem, InboxKind
from pmem.core.journal import one_line
from pmem.errors import PmemError
from pmem.memory.citations import VerifyRequest, verify
from pmem.project.workspace import Workspace
from pmem.report.document import ToldChoice, ToldNeed
from pmem.upkeep.inbox import InboxRequest, collect_inbox, facts_to_review, list_proposals
from pmem.values.records import Memory

Broken = Mapping[tuple[str, str], str]
"""What became of citations that do not hold, by the memory's id and the place that it cites."""

MOST_NEEDS: Final = 500
"""So many are listed; the last one says how many more there are."""
_TEXT: Final = 160
_KINDS: Final = (
    InboxKind.CONTRADICTION, InboxKind.SUBJECT, InboxKind.DUPLICATE, InboxKind.CITATION,
    InboxKind.DUE, InboxKind.EXPIRED, InboxKind.TRUST, InboxKind.NOTED,
)  # fmt: skip
"""What is told. Proposals and facts are private, and what fades stands where use is shown."""
_COUNTED: Final = {
    InboxKind.PROPOSAL: "wait for consent; what they say is not told here",
    InboxKind.FACT: "found in conversations; what they say is not told here",
    InboxKind.FADING: "faded, to archive",
}
"""What is only counted."""
_CHECK: Final = ToldChoice(does="say what is wrong", command="pmem check")
_INBOX: Final = ToldChoice(does="go through all of it", command="pmem inbox")


def find_broken(workspace: Workspace) -> dict[tuple[str, str], str]:
    """Return the citations that do not hold; none where the project's files cannot be read."""
    try:
        found = verify(workspace, VerifyRequest())
    except PmemError:
        return {}
    memories = {memory.id: memory for memory in workspace.memories.find()}
    states = {
        (item.id, item.file, item.lines, item.symbol): item.sides.said if item.sides else item.state
        for item in found.items
    }
    return {
        (id_, cited.place): str(states[id_, cited.file, cited.lines, cited.symbol])
        for id_ in {item.id for item in found.items}
        for cited in memories[id_].citations
        if (id_, cited.file, cited.lines, cited.symbol) in states
    }


def list_needs(workspace: Workspace, memories: Sequence[Memory]) -> Iterator[ToldNeed]:
    """Yield what waits for somebody, what matters most first.

    Args:
        memories: Those that the report shows: what is about others is left out.
    """
    known = {memory.id for memory in memories}
    inbox = collect_inbox(workspace, InboxRequest(kinds=(*_KINDS, InboxKind.FADING)))
    told = [item for item in inbox.items if item.kind in _KINDS and item.id in known]
    yield from _damaged(workspace)
    yield from map(_told_need, told[:MOST_NEEDS])
    more = len(told) - MOST_NEEDS
    if more > 0:
        yield ToldNeed(kind="more", text=f"{more} more", choices=(_INBOX,), count=more)
    proposals = list_proposals(workspace)
    counts = {
        InboxKind.PROPOSAL: len(proposals),
        InboxKind.FACT: len(facts_to_review(workspace, proposals)),
        InboxKind.FADING: inbox.counts[InboxKind.FADING],
    }
    for kind, count in counts.items():
        if count:
            choice = ToldChoice(does="list them", command=f"pmem inbox --kind {kind}")
            text = f"{count} {_COUNTED[kind]}"
            yield ToldNeed(kind=str(kind), text=text, choices=(choice,), count=count)


def _told_need(item: InboxItem) -> ToldNeed:
    return ToldNeed(
        kind=str(item.kind),
        text=one_line(item.text, _TEXT),
        why=item.why,
        choices=tuple(ToldChoice(does=one.does, command=one.command) for one in item.commands),
        memory=item.id,
    )


def _damaged(workspace: Workspace) -> Iterator[ToldNeed]:
    """Yield the files that cannot be used, by no path of this machine."""
    for problem in workspace.problems:
        name = os.path.basename(problem.path)
        yield ToldNeed(kind="damaged", text=f"{name} cannot be used", choices=(_CHECK,))
