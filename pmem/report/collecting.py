"""Collecting what a report says: everything that every reader of the project may see.

Never in it are transcripts and the facts found in them, what waits for consent, what belongs to an
app, and what was removed, but for a line among what was forgotten lately. Secrets are masked, and
hidden characters written out, in every text whatever field it stands in.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

import msgspec

from pmem.core.filters import Filter, fold
from pmem.core.inbox import InboxKind
from pmem.core.journal import one_line, steps
from pmem.core.lifecycle.consolidation import faded
from pmem.core.lifecycle.presence import with_recalls
from pmem.core.policy import app_of
from pmem.core.selection import Selection
from pmem.core.trust import trust_of
from pmem.core.visible import visible
from pmem.errors import PmemError
from pmem.memory import recalls
from pmem.memory.citations import VerifyRequest, verify
from pmem.memory.journal import Week, WeekRequest, look_back
from pmem.memory.reading import disputed
from pmem.memory.recalls import counted_uses
from pmem.project.workspace import Workspace
from pmem.report.document import (
    LeftOut,
    Receipt,
    ReceiptItem,
    Receipts,
    ReportDocument,
    ToldChoice,
    ToldCitation,
    ToldEvent,
    ToldLink,
    ToldMemory,
    ToldNeed,
    ToldWeek,
)
from pmem.search.context_reasons import say_why
from pmem.search.context_request import BuiltContext, ContextRequest
from pmem.search.contexts import build_context
from pmem.upkeep.consolidation import rules_of
from pmem.upkeep.inbox import InboxRequest, collect_inbox, facts_to_review, list_proposals
from pmem.upkeep.statistics import count_figures
from pmem.values.fields import asked
from pmem.values.records import Memory, MemoryType, State, plain

D = TypeVar("D", bound=msgspec.Struct)
MOST_CHARACTERS: Final = 4_000
"""Of a longer text the page shows the beginning."""
MOST_EVENTS: Final = 50
"""Of a longer history the page shows the latest events."""
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
DEFAULT_BUDGETS: Final = (200, 400, 800, 1600, 3200, 6400)
"""The places of the slider, in tokens."""
MOST_TASKS: Final = 12
MOST_LEFT_OUT: Final = 60
"""So many of the candidates that are left out are named."""
MOST_NAMED: Final = 1_000
"""Of a larger memory a context tells only what it leaves out of all that came near."""
_OWN_TASKS: Final = 3
_SHOWN: Final = (State.ACTIVE, State.SUPERSEDED, State.MERGED, State.ARCHIVED)
_MORE: Final = (
    *("places", "tried", "because", "evidence", "settled", "instead_of", "outcomes"),
    *("review_at", "review_if", "stops_edits"),
)
"""Fields that few memories have; each is shown by its name."""


class ReportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a report is to say.

    `tasks` are those whose contexts it shows (a few of its own when empty), `budgets` the tokens
    that these may cost. `since` is when the week begins: seven days ago when None.
    """

    tasks: Annotated[
        tuple[str, ...],
        asked("Show what a context for this task holds.", flag="--task", shown="TEXT"),
    ] = ()
    budgets: tuple[int, ...] = DEFAULT_BUDGETS
    since: Annotated[
        datetime | None, asked("Since when to tell what changed [7 days ago].", reading="time")
    ] = None


class ReceiptsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """For which task to show what contexts hold, within which budgets in tokens."""

    task: str
    budgets: tuple[int, ...] = DEFAULT_BUDGETS


def collect(workspace: Workspace, request: ReportRequest) -> ReportDocument:
    """Return what a report says. Nothing counts as recalled, and nothing is changed."""
    memories = _shown_memories(workspace)
    figures = count_figures(workspace)
    broken = find_broken(workspace)
    document = ReportDocument(
        project=workspace.project_name,
        now=workspace.now(),
        memories=_told_memories(workspace, memories, broken),
        week=_told_week(workspace, look_back(workspace, WeekRequest(since=request.since))),
        needs=tuple(list_needs(workspace, memories)),
        receipts=tuple(write_receipts(workspace, memories, request.tasks, request.budgets)),
        growth=figures.growth,
        growth_per=figures.growth_per,
        counts={
            "active": sum(memory.state is State.ACTIVE for memory in memories),
            "episodes": figures.episodes,
            "tokens": figures.tokens,
            "budget": figures.budget,
        },
    )
    return _clean(workspace, document)


def collect_receipts(workspace: Workspace, request: ReceiptsRequest) -> Receipts:
    """Return what contexts for a task hold. Nothing counts as recalled."""
    memories = _shown_memories(workspace)
    written = write_receipts(workspace, memories, (request.task,), request.budgets)
    return _clean(workspace, Receipts(items=tuple(written)))


def _shown_memories(workspace: Workspace) -> list[Memory]:
    wanted = Selection(wanted=Filter(states=_SHOWN))
    return [each for each in workspace.memories.select(wanted) if app_of(each) is None]


def _told_memories(
    workspace: Workspace, memories: Sequence[Memory], broken: Broken
) -> tuple[ToldMemory, ...]:
    recalled, uses = recalls.waiting(workspace), counted_uses(workspace)
    active = [memory for memory in memories if memory.state is State.ACTIVE]
    fading = {each.id for each, _ in faded(active, workspace.now(), rules_of(workspace))}
    names = {memory.id for memory in memories}
    return tuple(
        msgspec.structs.replace(
            _told_memory(memory, broken, names),
            recalls=counted.count,
            recalled_at=counted.last_at,
            shown=uses[memory.id].shown if memory.id in uses else 0,
            used=uses[memory.id].used if memory.id in uses else 0,
            fading=memory.id in fading,
        )
        for memory in memories
        for known in [recalled.get(memory.id)]
        for counted in [(memory if known is None else with_recalls(memory, known)).access]
    )


def _told_memory(memory: Memory, broken: Broken, names: set[str]) -> ToldMemory:
    text = memory.content
    return ToldMemory(
        id=memory.id,
        type=str(memory.type),
        text=text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…",
        category=memory.category,
        subject=memory.subject or "",
        tags=memory.tags,
        state=str(memory.state),
        created=memory.created_at,
        held_from=memory.valid_from,
        held_until=_held_until(memory),
        trust=str(trust_of(memory) or ""),
        importance=memory.importance,
        pinned=memory.pinned,
        by=next((event.actor for event in memory.history if event.actor), ""),
        cites=tuple(
            ToldCitation(place=cited.place, state=broken.get((memory.id, cited.place), ""))
            for cited in memory.citations
        ),
        links=tuple(
            ToldLink(to=tie.target, type=tie.type)
            for tie in memory.relationships
            if tie.target in names
        ),
        disputed=disputed(memory),
        more={name: plain(value) for name in _MORE if (value := getattr(memory, name))},
        history=tuple(
            ToldEvent(
                at=step.event.at,
                event=str(step.event.event),
                by=step.event.actor,
                agent=step.event.agent,
                source=step.event.source,
                changes={
                    name: (step.event.before[name], value) for name, value in step.after.items()
                },
                detail=step.event.detail,
            )
            for step in steps(memory)[-MOST_EVENTS:]
        ),
    )


def _held_until(memory: Memory) -> datetime | None:
    """Return when what a memory says ceased to hold; of one that left recall, when it did."""
    if memory.valid_until is not None or memory.state is State.ACTIVE:
        return memory.valid_until
    return next((event.at for event in reversed(memory.history)), memory.updated_at)


def _told_week(workspace: Workspace, week: Week) -> ToldWeek:
    ids = tuple(week.by)
    of_apps = {
        record.id
        for store in (workspace.memories, workspace.episodes)
        for record in (store.select(Selection(ids=ids)) if ids else ())
        if app_of(record) is not None
    }
    by = {id_: people for id_, people in week.by.items() if id_ not in of_apps}
    counts = Counter(name for people in by.values() for name in people)
    return ToldWeek(
        since=week.since,
        learned=tuple(entry for entry in week.learned if entry.id in by),
        changed=tuple(entry for entry in week.changed if entry.id in by),
        forgotten=tuple(entry for entry in week.forgotten if entry.id in by),
        by=by,
        people=dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))),
    )


def _clean(workspace: Workspace, document: D) -> D:
    """Return a document without secrets and hidden characters, whichever field held them."""
    mask = workspace.mask.text
    known: dict[tuple[str, str], str] = {}

    def clean(value: Any, name: str = "") -> Any:
        if isinstance(value, str):
            key = (name, value)
            if key not in known:
                known[key] = visible(mask(value, name))
            return known[key]
        if isinstance(value, list | tuple):
            return [clean(each, name) for each in value]
        if isinstance(value, dict):
            return {clean(key): clean(each, key) for key, each in value.items()}
        return value

    return msgspec.convert(clean(plain(document)), type(document))


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
    """Yield what waits for somebody, what matters most first."""
    known = {memory.id for memory in memories}
    inbox = collect_inbox(workspace, InboxRequest(kinds=(*_KINDS, InboxKind.FADING)))
    told = [item for item in inbox.items if item.kind in _KINDS and item.id in known]
    for problem in workspace.problems:  # by no path of this machine
        name = os.path.basename(problem.path)
        yield ToldNeed(kind="damaged", text=f"{name} cannot be used", choices=(_CHECK,))
    for item in told[:MOST_NEEDS]:
        yield ToldNeed(
            kind=str(item.kind),
            text=one_line(item.text, _TEXT),
            why=item.why,
            choices=tuple(ToldChoice(does=one.does, command=one.command) for one in item.commands),
            memory=item.id,
        )
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


def write_receipts(
    workspace: Workspace, memories: Sequence[Memory], tasks: Sequence[str], budgets: Sequence[int]
) -> Iterator[Receipt]:
    """Yield a receipt for each task within each budget."""
    active = [memory for memory in memories if memory.state is State.ACTIVE]
    known = {memory.id for memory in memories}
    names_all = len(active) <= MOST_NAMED
    asked = tuple(tasks[:MOST_TASKS]) or (tuple(suggest_tasks(active)) if active else ())
    for task in asked:
        for budget in sorted(set(budgets)):
            request = ContextRequest(
                query=task or None,
                budget=budget,
                only="memories",
                ids=True,
                counts=False,
                omitted=names_all,
            )
            yield _receipt(task, build_context(workspace, request), known, len(active))


def suggest_tasks(active: Sequence[Memory]) -> Iterator[str]:
    """Yield tasks that a memory knows: a session's start, its latest goals, its main subjects."""
    yield ""
    goals = [memory.content for memory in active if memory.type is MemoryType.GOAL]
    subjects = Counter(fold(memory.subject) for memory in active if memory.subject)
    named = sorted(subjects, key=lambda name: (-subjects[name], name))
    yield from list(dict.fromkeys([*goals[::-1][:2], *named]))[:_OWN_TASKS]


def _receipt(task: str, built: BuiltContext, known: set[str], many: int) -> Receipt:
    omitted = sorted(built.omitted, key=lambda left: (-(left.score or 0.0), left.id))
    shown = sum(len(part.items) for part in built.sections)
    reasons = dict(Counter(say_why(left.reason) for left in omitted).most_common())
    further = many - shown - len(omitted)
    if further > 0:
        reasons["further from the task"] = further
    return Receipt(
        task=task,
        budget=built.budget,
        tokens=built.tokens,
        text=built.text,
        spent={part.name: part.tokens for part in built.sections if part.tokens},
        items=tuple(
            ReceiptItem(
                id=item.id,
                section=part.name,
                why=item.reason or say_why(item.why or part.name),
                score=None if item.score is None else round(item.score, 3),
                text="" if item.id in known else item.text,
            )
            for part in built.sections
            for item in part.items
        ),
        left_out=tuple(
            LeftOut(
                id=left.id,
                reason=say_why(left.reason),
                score=None if left.score is None else round(left.score, 3),
            )
            for left in omitted
            if left.id in known
        )[:MOST_LEFT_OUT],
        reasons=reasons,
    )
