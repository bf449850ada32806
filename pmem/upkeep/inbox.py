"""What needs attention: collected from where it waits, for the inbox, and counted, for `stats`."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Final, NamedTuple

import msgspec

from pmem.core.citations import CitationState
from pmem.core.cited_sides import what_became
from pmem.core.filters import Filter
from pmem.core.inbox import InboxItem, InboxKind, inbox_item
from pmem.core.lifecycle.presence import last_use
from pmem.core.retrieval.documents import shown_text
from pmem.core.selection import NOTED, Selection, ticks
from pmem.core.threeway.history import open_conflicts
from pmem.core.trust import LEVELS, Trust
from pmem.core.visible import subject_before
from pmem.errors import PmemError
from pmem.memory import recalls
from pmem.memory.changes import list_noted
from pmem.memory.citations import BrokenCitation, VerifyRequest, find_broken_ids, verify
from pmem.memory.consent import WaitingRequest, list_waiting
from pmem.memory.facts import FactsRequest, Stated, list_facts
from pmem.memory.links import count_near_pairs, near_pairs
from pmem.memory.outcomes import WITHOUT, DueRequest, list_due
from pmem.project.workspace import Workspace
from pmem.storage.local.proposals import Proposal, without_expired
from pmem.upkeep.consolidation import faded_memories
from pmem.upkeep.integrity import count_rivals, on_one_subject
from pmem.values.fields import asked
from pmem.values.ids import short
from pmem.values.records import Episode, Memory, State, plain
from pmem.values.times import day
from pmem.vcs.doubts import pairs_on_one_subject

_ACTIVE: Final = Selection(wanted=Filter())
_DISPUTED: Final = Selection(wanted=Filter(), least=(("disputed", 1),))
"""What two branches contradict each other about."""
_SINGLE: Final = {
    "damaged files": "damaged file",
    "proposals that wait for consent": "proposal that waits for consent",
    "facts to review": "fact to review",
}
"""How a need reads where there is one of it."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Something that needs attention: what it is, how many there are, and the command for it."""

    what: str
    count: int
    command: str


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
    """Collect what needs attention. Nothing is changed."""
    found: list[InboxItem] = []
    for kind in request.kinds or InboxKind:
        items = (inbox_item(kind, *each) for each in _SOURCES[kind].items(workspace))
        found += sorted(items, key=lambda item: (item.since, item.id))
    counts = Counter(item.kind for item in found)
    return Inbox(
        items=tuple(found[: request.limit]),
        counts={str(kind): counts[kind] for kind in request.kinds or InboxKind},
        total=len(found),
        elsewhere=()
        if request.kinds
        else (*_to_check(workspace, count_rivals(workspace)), *_to_consolidate(workspace)),
    )


def list_needs(workspace: Workspace, *, due: int, rivals: int) -> tuple[Need, ...]:
    """Return what needs attention, the most urgent first; what nobody waits for is left out.

    So many memories are `due` to be archived, and several others took the place of so many.
    """
    counted = {
        kind: due if kind is InboxKind.FADING else row.count(workspace)
        for kind, row in _SOURCES.items()
    }
    return (
        *_to_check(workspace, rivals),
        *_needs(
            (_SOURCES[kind].said, count, f"pmem inbox --kind {kind}")
            for kind, count in counted.items()
        ),
        *_to_consolidate(workspace),
    )


def _to_check(workspace: Workspace, rivals: int) -> Iterator[Need]:
    found = (("damaged files", len(workspace.problems)), ("replaced in two ways", rivals))
    return _needs((what, count, "pmem check") for what, count in found)


def _to_consolidate(workspace: Workspace) -> Iterator[Need]:
    gone = Selection(
        wanted=Filter(states=(State.SOFT_DELETED,)), below=_until(workspace, "purge_at")
    )
    count = workspace.memories.count(gone) + workspace.episodes.count(gone)
    return _needs([("removed, to delete for good", count, "pmem consolidate --dry-run")])


def _needs(found: Iterable[tuple[str, int, str]]) -> Iterator[Need]:
    for what, count, command in found:
        if count:
            said = _SINGLE.get(what, what) if count == 1 else what
            yield Need(what=said, count=count, command=command)


def list_proposals(workspace: Workspace) -> tuple[Proposal, ...]:
    """Return what waits for consent; a queue that cannot be read `check` tells of."""
    if workspace.is_past or not workspace.own.is_ours:
        return ()
    with suppress(PmemError):
        return without_expired(workspace.own.proposals.read(), workspace.now()).proposals
    return ()


def facts_to_review(workspace: Workspace, proposals: Iterable[Proposal]) -> list[Stated]:
    """Return the pending facts, without those that wait for consent: proposals tell of them."""
    proposed = {item.fact for item in proposals}
    found = list_facts(workspace, FactsRequest()).items
    return [item for item in found if short(item.fact.id) not in proposed]


class _Open(NamedTuple):
    """What one source finds: the arguments of `inbox_item` but the kind."""

    id: str
    text: str
    why: str
    since: datetime
    other: str = ""
    without: str = ""


def _open(
    record: Memory | Episode, why: str, since: datetime, other: str = "", without: str = ""
) -> _Open:
    if isinstance(record, Episode):
        text = shown_text(record)
    else:
        text = subject_before(record.subject, record.content) + record.content
    return _Open(record.id, text, why, since, other, without)


def _contradictions(workspace: Workspace) -> Iterator[_Open]:
    memories, episodes = workspace.memories.select(_DISPUTED), workspace.episodes.select(_DISPUTED)
    disputed: list[Memory | Episode] = [*memories, *episodes]
    for record in disputed:
        fields = open_conflicts(plain(record.history))
        if "state" in fields:
            why = "one branch took it out of recall, another one kept it"
        else:
            named = ", ".join(name.replace("_", " ") for name in fields)
            other = "; ".join(" ".join(str(value).split()) for value in fields.values())
            why = f"two branches changed its {named}; the other side says: {other}"
        yield _open(record, why, record.history[-1].at)


def _proposals(workspace: Workspace) -> Iterator[_Open]:
    if not workspace.own.is_ours:
        return
    for item in list_waiting(workspace, WaitingRequest()).items:
        text = item.content or "(only people see what it says)"
        if item.subject:
            text = f"{item.subject}: {text}"
        by, field = item.agent or "a conversation", item.field.replace("_", " ")
        of = f" of {short(item.target)}" if item.target is not None else ""
        waits = "a second signal" if item.kind == "signals" else "consent"
        why = f"{by} proposes it ({field}{of}); it waits for {waits} until {day(item.until)}"
        yield _Open(item.id, text, why, item.at)


def _facts(workspace: Workspace) -> Iterator[_Open]:
    for item in facts_to_review(workspace, list_proposals(workspace)):
        fact = item.fact
        why = f"a message states this {fact.type} (confidence {fact.confidence:.2f})"
        yield _Open(fact.id, fact.content, why, fact.extracted_at, fact.message or "")


def _noted(workspace: Workspace) -> Iterator[_Open]:
    for agent, memory in list_noted(workspace):
        why = f"{agent} noted it, and nobody has confirmed it"
        yield _open(memory, why, memory.created_at, shlex.quote(agent))


def _subjects(workspace: Workspace) -> Iterator[_Open]:
    found = pairs_on_one_subject(on_one_subject(workspace), workspace.now())
    return (_pair(*both, "says otherwise on the same subject") for both in found)


def _duplicates(workspace: Workspace) -> Iterator[_Open]:
    return (_pair(*both, "says nearly the same") for both in near_pairs(workspace))


def _pair(older: Memory, newer: Memory, what: str) -> _Open:
    why = f"{short(older.id)} {what}: {' '.join(older.content.split())}"
    return _open(newer, why, newer.created_at, short(older.id))


def _citations(workspace: Workspace) -> Iterator[_Open]:
    broken: dict[str, list[BrokenCitation]] = {}
    for item in verify(workspace, VerifyRequest()).items:
        broken.setdefault(item.id, []).append(item)
    for memory in workspace.memories.select(Selection(ids=tuple(broken))) if broken else ():
        items = broken[memory.id]
        why = ", ".join(what_became(item.place, item.state, item.sides) for item in items)
        named = " ".join(f"--uncite {shlex.quote(item.place)}" for item in items)
        is_lost = any(  # what is gone, or what the memory says, cannot be accepted as it is now
            it.state is CitationState.GONE or (it.sides and it.sides.old_value_in(memory.content))
            for it in items
        )
        yield _open(memory, why, memory.updated_at, named, "k" * is_lost)


def _count_broken(workspace: Workspace) -> int:
    if not workspace.is_past:
        with suppress(PmemError):
            return len(find_broken_ids(workspace))
    return 0


def _due(workspace: Workspace) -> Iterator[_Open]:
    listing = list_due(workspace, DueRequest())
    for memory in listing.items:
        if memory.review_at is not None and memory.review_at <= listing.moment:
            why = f"it is due since {day(memory.review_at)}"
            why += f", and due if {memory.review_if}" if memory.review_if else ""
            yield _open(memory, why, memory.review_at, without="gb" * (memory.type in WITHOUT))


def _expired(workspace: Workspace) -> Iterator[_Open]:
    for memory in workspace.memories.select(_over(workspace, "valid_until")):
        assert memory.valid_until is not None  # else it is below nothing
        yield _open(memory, f"it was valid until {day(memory.valid_until)}", memory.valid_until)


def _untrusted(workspace: Workspace) -> Iterator[_Open]:
    disputed = {record.id for record in workspace.memories.select(_DISPUTED)}
    low = Selection(wanted=Filter(), noted_for="", below=(("trust", LEVELS.index(Trust.LOW) + 1),))
    for memory in workspace.memories.select(low):
        kind = memory.source.kind
        came = f"it came by {kind}" if kind.startswith("import") else "others wrote in it"
        if memory.id not in disputed:
            why = f"{came}, and no person has looked at it since"
            yield _open(memory, why, memory.updated_at)


def _fading(workspace: Workspace) -> Iterator[_Open]:
    tally = workspace.memories.tally(_ACTIVE, ("type", "importance", "pinned"))
    importances = [
        (str(type_), importance) for type_, importance, is_pinned in tally if not is_pinned
    ]
    many, recalled = sum(tally.values()), recalls.waiting(workspace)
    for memory, left in faded_memories(workspace, importances, recalled, many):
        used = last_use(memory)
        why = f"nobody used it since {day(used)}: `pmem consolidate` archives it"
        yield _open(memory, f"{why} (importance {memory.importance:g} x presence {left:.2f})", used)


def _until(workspace: Workspace, column: str) -> tuple[tuple[str, int], ...]:
    """Return how records are selected for which a moment has come."""
    return ((column, ticks(workspace.now()) + 1),)


def _over(workspace: Workspace, column: str) -> Selection:
    return msgspec.structs.replace(_ACTIVE, below=_until(workspace, column))


class _Source(NamedTuple):
    """Where the items of one kind come from, what they are called, and how many there are."""

    items: Callable[[Workspace], Iterator[_Open]]
    said: str
    counted: Callable[[Workspace], int] | None = None

    def count(self, workspace: Workspace) -> int:
        """Count them; where that is quicker, without collecting them."""
        return self.counted(workspace) if self.counted else sum(1 for _ in self.items(workspace))


_SOURCES: Final = {
    InboxKind.CONTRADICTION: _Source(
        _contradictions,
        "disputed between branches",
        lambda it: it.memories.count(_DISPUTED) + it.episodes.count(_DISPUTED),
    ),
    InboxKind.CITATION: _Source(_citations, "citing what has changed or moved", _count_broken),
    InboxKind.PROPOSAL: _Source(
        _proposals, "proposals that wait for consent", lambda it: len(list_proposals(it))
    ),
    InboxKind.FACT: _Source(_facts, "facts to review"),
    InboxKind.NOTED: _Source(
        _noted, "noted by agents, not confirmed", lambda it: it.memories.count(NOTED)
    ),
    InboxKind.DUE: _Source(
        _due, "to look at again", lambda it: it.memories.count(_over(it, "review_at"))
    ),
    InboxKind.EXPIRED: _Source(
        _expired, "expired", lambda it: it.memories.count(_over(it, "valid_until"))
    ),
    InboxKind.SUBJECT: _Source(_subjects, "in disagreement on a subject"),
    InboxKind.DUPLICATE: _Source(_duplicates, "nearly the same as another one", count_near_pairs),
    InboxKind.TRUST: _Source(_untrusted, "imported or merged, not reviewed"),
    InboxKind.FADING: _Source(_fading, "faded, to archive"),
}
