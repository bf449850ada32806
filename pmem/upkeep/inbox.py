"""The inbox: everything in the memory that needs attention, collected from where it waits."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Final

import msgspec

from pmem.core.citations import CitationState
from pmem.core.cited_sides import what_became
from pmem.core.filters import Filter
from pmem.core.inbox import InboxItem, InboxKind, inbox_item
from pmem.core.lifecycle.presence import last_use
from pmem.core.retrieval.documents import shown_text
from pmem.core.selection import Selection, ticks
from pmem.core.threeway.history import open_conflicts
from pmem.core.visible import subject_before
from pmem.memory import recalls
from pmem.memory.citations import BrokenCitation, VerifyRequest, verify
from pmem.memory.confirming import list_noted
from pmem.memory.consent import WaitingProposal, WaitingRequest, list_waiting
from pmem.memory.neighbours import near_pairs
from pmem.memory.outcomes import WITHOUT, DueRequest, list_due
from pmem.project.workspace import Workspace
from pmem.upkeep.faded import UNPINNED, faded_memories
from pmem.upkeep.integrity import count_rivals, on_one_subject
from pmem.upkeep.needs import (
    DISPUTED,
    Need,
    facts_to_review,
    list_elsewhere,
    list_proposals,
    untrusted,
)
from pmem.values.fields import asked
from pmem.values.ids import short
from pmem.values.records import Episode, Memory, plain
from pmem.values.times import day
from pmem.vcs.doubts import pairs_on_one_subject

_ACTIVE: Final = Selection(wanted=Filter())


class InboxRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to collect: some kinds, or all when none is named; so many items at the most."""

    kinds: Annotated[tuple[InboxKind, ...], asked("Only this kind.", flag="--kind")] = ()
    limit: Annotated[
        int | None, asked("Only the first N.", flag="--limit -n", shown="N", least=1)
    ] = None


class Inbox(msgspec.Struct, frozen=True, kw_only=True):
    """What needs attention, by kind and then the longest waiting first.

    `counts` says how much there is of each kind that was asked for, `total` how much in all.
    `elsewhere` is what other commands settle, where all kinds were asked for.
    """

    items: tuple[InboxItem, ...]
    counts: dict[str, int]
    total: int
    elsewhere: tuple[Need, ...] = ()


def collect_inbox(workspace: Workspace, request: InboxRequest) -> Inbox:
    """Collect what needs attention. Nothing is changed.

    Raises:
        Damaged, StorageRefused: What waits for consent cannot be read.
    """
    found: list[InboxItem] = []
    for kind in request.kinds or InboxKind:
        found += sorted(_SOURCES[kind](workspace), key=lambda item: (item.since, item.id))
    counts = Counter(item.kind for item in found)
    return Inbox(
        items=tuple(found[: request.limit]),
        counts={str(kind): counts[kind] for kind in request.kinds or InboxKind},
        total=len(found),
        elsewhere=()
        if request.kinds
        else list_elsewhere(workspace, rivals=count_rivals(workspace)),
    )


def _disputed(workspace: Workspace) -> list[Memory | Episode]:
    return [*workspace.memories.select(DISPUTED), *workspace.episodes.select(DISPUTED)]


def _contradictions(workspace: Workspace) -> Iterator[InboxItem]:
    for record in _disputed(workspace):
        fields = open_conflicts(plain(record.history))
        if "state" in fields:
            why = "one branch took it out of recall, another one kept it"
        else:
            named = ", ".join(name.replace("_", " ") for name in fields)
            why = f"two branches changed its {named}; the other side says: {_other(fields)}"
        yield inbox_item(
            InboxKind.CONTRADICTION, record.id, _text(record), why, record.history[-1].at
        )


def _other(fields: dict[str, object]) -> str:
    """Return what the other side says, on one line."""
    return "; ".join(" ".join(str(value).split()) for value in fields.values())


def _text(record: Memory | Episode) -> str:
    if isinstance(record, Episode):
        return shown_text(record)
    return subject_before(record.subject, record.content) + record.content


def _proposals(workspace: Workspace) -> Iterator[InboxItem]:
    if not workspace.own.is_ours:
        return
    for item in list_waiting(workspace, WaitingRequest()).items:
        text = item.content or "(only people see what it says)"
        if item.subject:
            text = f"{item.subject}: {text}"
        yield inbox_item(InboxKind.PROPOSAL, item.id, text, _proposed(item), item.at)


def _proposed(item: WaitingProposal) -> str:
    by, field = item.agent or "a conversation", item.field.replace("_", " ")
    of = f" of {short(item.target)}" if item.target is not None else ""
    waits = "a second signal" if item.kind == "signals" else "consent"
    return f"{by} proposes it ({field}{of}); it waits for {waits} until {day(item.until)}"


def _facts(workspace: Workspace) -> Iterator[InboxItem]:
    for item in facts_to_review(workspace, list_proposals(workspace)):
        fact = item.fact
        why = f"a message states this {fact.type} (confidence {fact.confidence:.2f})"
        yield inbox_item(
            InboxKind.FACT, fact.id, fact.content, why, fact.extracted_at, fact.message or ""
        )


def _noted(workspace: Workspace) -> Iterator[InboxItem]:
    for agent, memory in list_noted(workspace):
        why = f"{agent} noted it, and nobody has confirmed it"
        yield inbox_item(
            InboxKind.NOTED, memory.id, _text(memory), why, memory.created_at, shlex.quote(agent)
        )


def _subjects(workspace: Workspace) -> Iterator[InboxItem]:
    for older, newer in pairs_on_one_subject(on_one_subject(workspace), workspace.now()):
        yield _pair(InboxKind.SUBJECT, older, newer, "says otherwise on the same subject")


def _duplicates(workspace: Workspace) -> Iterator[InboxItem]:
    for older, newer in near_pairs(workspace):
        yield _pair(InboxKind.DUPLICATE, older, newer, "says nearly the same")


def _pair(kind: InboxKind, older: Memory, newer: Memory, what: str) -> InboxItem:
    why = f"{short(older.id)} {what}: {' '.join(older.content.split())}"
    return inbox_item(kind, newer.id, _text(newer), why, newer.created_at, short(older.id))


def _citations(workspace: Workspace) -> Iterator[InboxItem]:
    broken: dict[str, list[BrokenCitation]] = {}
    for item in verify(workspace, VerifyRequest()).items:
        broken.setdefault(item.id, []).append(item)
    for memory in workspace.memories.select(Selection(ids=tuple(broken))) if broken else ():
        items = broken[memory.id]
        yield inbox_item(
            InboxKind.CITATION,
            memory.id,
            _text(memory),
            ", ".join(what_became(item.place, item.state, item.sides) for item in items),
            memory.updated_at,
            " ".join(f"--uncite {shlex.quote(item.place)}" for item in items),
            without="k" if any(_is_lost(memory, item) for item in items) else "",
        )


def _is_lost(memory: Memory, item: BrokenCitation) -> bool:
    """Tell whether what is cited cannot be accepted as it is now."""
    is_told = item.sides is not None and bool(item.sides.old_value_in(memory.content))
    return is_told or item.state is CitationState.GONE


def _due(workspace: Workspace) -> Iterator[InboxItem]:
    listing = list_due(workspace, DueRequest())
    for memory in listing.items:
        if memory.review_at is not None and memory.review_at <= listing.moment:
            why = f"it is due since {day(memory.review_at)}"
            why += f", and due if {memory.review_if}" if memory.review_if else ""
            left_out = "gb" if memory.type in WITHOUT else ""
            yield inbox_item(
                InboxKind.DUE, memory.id, _text(memory), why, memory.review_at, without=left_out
            )


def _expired(workspace: Workspace) -> Iterator[InboxItem]:
    below = (("valid_until", ticks(workspace.now()) + 1),)
    for memory in workspace.memories.select(msgspec.structs.replace(_ACTIVE, below=below)):
        assert memory.valid_until is not None  # else it is below nothing
        why = f"it was valid until {day(memory.valid_until)}"
        yield inbox_item(InboxKind.EXPIRED, memory.id, _text(memory), why, memory.valid_until)


def _untrusted(workspace: Workspace) -> Iterator[InboxItem]:
    for memory in untrusted(workspace):
        kind = memory.source.kind
        came = f"it came by {kind}" if kind.startswith("import") else "others wrote in it"
        why = f"{came}, and no person has looked at it since"
        yield inbox_item(InboxKind.TRUST, memory.id, _text(memory), why, memory.updated_at)


def _fading(workspace: Workspace) -> Iterator[InboxItem]:
    importances = [
        (str(type_), importance)
        for type_, importance in workspace.memories.tally(UNPINNED, ("type", "importance"))
    ]
    many = workspace.memories.count(_ACTIVE)
    recalled = recalls.waiting(workspace)
    for memory, left in faded_memories(workspace, importances, recalled, many):
        used = last_use(memory)
        why = f"nobody used it since {day(used)}: `pmem consolidate` archives it"
        why += f" (importance {memory.importance:g} x presence {left:.2f})"
        yield inbox_item(InboxKind.FADING, memory.id, _text(memory), why, used)


_SOURCES: Final[dict[InboxKind, Callable[[Workspace], Iterator[InboxItem]]]] = {
    InboxKind.CONTRADICTION: _contradictions,
    InboxKind.PROPOSAL: _proposals,
    InboxKind.FACT: _facts,
    InboxKind.NOTED: _noted,
    InboxKind.SUBJECT: _subjects,
    InboxKind.DUPLICATE: _duplicates,
    InboxKind.CITATION: _citations,
    InboxKind.DUE: _due,
    InboxKind.EXPIRED: _expired,
    InboxKind.TRUST: _untrusted,
    InboxKind.FADING: _fading,
}
