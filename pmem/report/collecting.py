"""Collecting what a report says: everything that every reader of the project may see.

Never in it are transcripts and the facts found in them, what waits for consent, what belongs to an
app, and what was removed, but for a line among what was forgotten lately. Secrets are masked, and
hidden characters written out, in every text whatever field it stands in.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

import msgspec

from pmem.core.filters import Filter
from pmem.core.journal import JournalStep, steps
from pmem.core.lifecycle.consolidation import faded
from pmem.core.lifecycle.presence import with_recalls
from pmem.core.policy import app_of
from pmem.core.selection import Selection
from pmem.core.trust import trust_of
from pmem.core.visible import visible
from pmem.memory import recalls
from pmem.memory.journal import Week, WeekRequest, look_back
from pmem.memory.reading import disputed
from pmem.memory.recalls import counted_uses
from pmem.project.workspace import Workspace
from pmem.report.document import (
    Receipts,
    ReportDocument,
    ToldCitation,
    ToldEvent,
    ToldLink,
    ToldMemory,
    ToldWeek,
)
from pmem.report.needs import Broken, find_broken, list_needs
from pmem.report.receipts import DEFAULT_BUDGETS, write_receipts
from pmem.upkeep.consolidation import rules_of
from pmem.upkeep.statistics import MemoryFigures, count_figures
from pmem.values.fields import asked
from pmem.values.records import Memory, State, plain

D = TypeVar("D", bound=msgspec.Struct)
MOST_CHARACTERS: Final = 4_000
"""Of a longer text the page shows the beginning."""
MOST_EVENTS: Final = 50
"""Of a longer history the page shows the latest events."""
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
    """Return what a report says. Nothing counts as recalled, and nothing is changed.

    Raises:
        InvalidValue: A budget is below one token, or the week is still to come.
    """
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
        counts=_counts(memories, figures),
    )
    return _clean(workspace, document)


def collect_receipts(workspace: Workspace, request: ReceiptsRequest) -> Receipts:
    """Return what contexts for a task hold. Nothing counts as recalled.

    Raises:
        InvalidValue: A budget is below one token.
    """
    memories = _shown_memories(workspace)
    written = write_receipts(workspace, memories, (request.task,), request.budgets)
    return _clean(workspace, Receipts(items=tuple(written)))


def _shown_memories(workspace: Workspace) -> list[Memory]:
    wanted = Selection(wanted=Filter(states=_SHOWN))
    return [each for each in workspace.memories.select(wanted) if app_of(each) is None]


def _counts(memories: Sequence[Memory], figures: MemoryFigures) -> dict[str, int]:
    return {
        "active": sum(memory.state is State.ACTIVE for memory in memories),
        "episodes": figures.episodes,
        "tokens": figures.tokens,
        "budget": figures.budget,
    }


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
        for counted in [_access(memory, recalled)]
    )


def _access(memory: Memory, recalled: Mapping[str, Any]) -> Any:
    known = recalled.get(memory.id)
    return (memory if known is None else with_recalls(memory, known)).access


def _told_memory(memory: Memory, broken: Broken, names: set[str]) -> ToldMemory:
    return ToldMemory(
        id=memory.id,
        type=str(memory.type),
        text=_cut_text(memory.content),
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
        history=tuple(_told_event(step) for step in steps(memory)[-MOST_EVENTS:]),
    )


def _held_until(memory: Memory) -> datetime | None:
    """Return when what a memory says ceased to hold; of one that left recall, when it did."""
    if memory.valid_until is not None or memory.state is State.ACTIVE:
        return memory.valid_until
    return next((event.at for event in reversed(memory.history)), memory.updated_at)


def _told_event(step: JournalStep) -> ToldEvent:
    event = step.event
    return ToldEvent(
        at=event.at,
        event=str(event.event),
        by=event.actor,
        agent=event.agent,
        source=event.source,
        changes={name: (event.before[name], value) for name, value in step.after.items()},
        detail=event.detail,
    )


def _told_week(workspace: Workspace, week: Week) -> ToldWeek:
    """Return a week without what belongs to apps."""
    ids = tuple(week.by)
    of_apps = {
        record.id
        for store in (workspace.memories, workspace.episodes)
        for record in (store.select(Selection(ids=ids)) if ids else ())
        if app_of(record) is not None
    }
    by = {id_: people for id_, people in week.by.items() if id_ not in of_apps}
    return ToldWeek(
        since=week.since,
        learned=tuple(entry for entry in week.learned if entry.id in by),
        changed=tuple(entry for entry in week.changed if entry.id in by),
        forgotten=tuple(entry for entry in week.forgotten if entry.id in by),
        by=by,
        people=_count_people(by.values()),
    )


def _count_people(each: Iterable[Sequence[str]]) -> dict[str, int]:
    """Count in how many records each of them had a hand, the busiest first."""
    counts: dict[str, int] = {}
    for people in each:
        for name in people:
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _cut_text(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


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
