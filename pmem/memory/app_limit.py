"""Holding an app to its limit: one decision for each memory too many, and what it does."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from pmem.core.apps.deciding import Decision, Surplus, Unusable, checked, impersonal, oldest
from pmem.core.consent import sensitive
from pmem.core.lifecycle.presence import presence
from pmem.core.retention import changed, purge_time
from pmem.errors import InvalidValue, Locked, StorageRefused
from pmem.memory import recalls
from pmem.memory.app_memories import AppAnswer, Decided, members, name_of
from pmem.memory.app_models import Decider, Models, answer, may_work, offline
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import Waiting
from pmem.values.records import Event, EventKind, Memory, State

SOURCE: Final = "compaction"
"""The source of the events that a compaction leaves."""
FIFO: Final = "fifo"
_ASKED: Final = 3
"""How often a decider is asked again because other writers were quicker."""
T = TypeVar("T")
_Kept = list[Memory]


class Compacted(AppAnswer, frozen=True, kw_only=True):
    """What a compaction did, and how many memories there are now; `deferred` if it waits."""

    decisions: tuple[Decided, ...]
    memories: int
    limit: int
    deferred: bool = False


def compact(workspace: Workspace, app: str, models: Models | None = None) -> Compacted:
    """Hold an app to its limit: one decision for each memory too many.

    A decider that works by rules is asked under the writers' lock, in one commit. A model is
    asked before it; what others have written meanwhile is looked at again.

    Args:
        workspace: Where the memories are.
        app: The app's name.
        models: Who decides; by rules when None.

    Raises:
        InvalidValue: The app's name is not allowed.
        Locked, StorageRefused, Refused: See `Workspace.transaction`; nothing changed.
    """
    app, decider = name_of(app), (models or offline()).decider
    limit = workspace.settings.apps.limit
    if decider.is_free:
        made, deferred = once_more(lambda: _at_once(workspace, app, decider)), False
    else:
        made, deferred = _one_by_one(workspace, app, decider)
    left = len(members(workspace, app))
    return Compacted(app=app, decisions=tuple(made), memories=left, limit=limit, deferred=deferred)


def once_more(attempt: Callable[[], T]) -> T:
    """Return what an attempt does; where storage refuses, try it once more.

    Raises:
        Locked, StorageRefused: It did so twice.
    """
    try:
        return attempt()
    except (StorageRefused, Locked):
        return attempt()


def within(workspace: Workspace, app: str, decider: Decider) -> list[Decided]:
    """Hold an app to its limit inside a transaction.

    Args:
        workspace: Where the memories are.
        app: The app's name.
        decider: Who decides.

    Raises:
        InvalidValue: A new memory would go because every other one is pinned.
    """
    kept = members(workspace, app)
    if len(kept) <= workspace.settings.apps.limit:
        return []
    new = {change.id for change in workspace.memories.changes() if _is_new(workspace, change.id)}
    kept.sort(key=lambda memory: memory.id in new)  # another clone's clock may have run ahead
    worths = _worths(workspace, kept)
    made: list[Decided] = []
    while len(kept) > workspace.settings.apps.limit:
        surplus = _surplus(workspace, app, kept, worths)
        decided = _decided(workspace, decider, surplus)
        kept = _carried_out(workspace, kept, decided)
        if decided.merged:
            worths[decided.target] = max(worths[decided.target], worths[decided.merged])
        made.append(decided)
    gone = {decided.target for decided in made if decided.merged is None}
    if gone & new and all(memory.pinned for memory in kept):
        raise InvalidValue(
            f"the app {app} has no room: each of its {len(kept)} memories is pinned",
            "unpin or delete one, or raise apps.limit",
        )
    return made


def _is_new(workspace: Workspace, identifier: str) -> bool:
    return workspace.memories.before(identifier) is None


def make_room(workspace: Workspace) -> tuple[Decided, ...]:
    """Hold the apps to their limit that a transaction gives more memories, inside it.

    Args:
        workspace: With the memories put.

    Returns:
        What went, by the rules.
    """
    grown = {
        change.record.scope.app
        for change in workspace.memories.changes()
        if isinstance(change.record, Memory) and change.record.state is State.ACTIVE
    }
    decider = offline().decider
    apps = sorted(filter(None, grown))
    return tuple(made for app in apps for made in within(workspace, app, decider))


def must_have_room(workspace: Workspace, app: str) -> None:
    """See that an app may have one more memory.

    Args:
        workspace: Where its memories are.
        app: The app's name.

    Raises:
        InvalidValue: It has as many as it may.
    """
    limit = workspace.settings.apps.limit
    if len(members(workspace, app)) >= limit:
        raise InvalidValue(
            f"the app {app} has as many memories as it may, {limit}",
            f"make room with `pmem app delete {app} REF`, or raise apps.limit",
        )


def _at_once(workspace: Workspace, app: str, decider: Decider) -> list[Decided]:
    with workspace.transaction():
        return within(workspace, app, decider)


def _one_by_one(workspace: Workspace, app: str, decider: Decider) -> tuple[list[Decided], bool]:
    """Ask for one decision after the other, without the lock; tell whether work is put off."""
    made: list[Decided] = []
    asked = 0
    cost = workspace.settings.apps.compaction_energy
    while len(kept := members(workspace, app)) > workspace.settings.apps.limit:
        work = Waiting(app, "compact", "", workspace.now(), "too little energy")
        if not may_work(workspace, decider, work, cost):
            return made, True
        surplus = _surplus(workspace, app, kept, _worths(workspace, kept))
        decided = _decided(workspace, decider, surplus)
        done = _stubbornly(workspace, surplus, decided, last=asked >= _ASKED)
        asked = 0 if done else asked + 1
        made += [done] if done else []
    return made, False


def _stubbornly(
    workspace: Workspace, surplus: Surplus, decided: Decided, *, last: bool
) -> Decided | None:
    """Carry a decision out; where storage refuses twice, let the oldest go instead."""
    try:
        return once_more(lambda: _if_it_holds(workspace, surplus, decided, last=last))
    except (StorageRefused, Locked) as error:
        instead = _fallback(surplus, error.message)
        return _if_it_holds(workspace, surplus, instead, last=True)


def _if_it_holds(
    workspace: Workspace, surplus: Surplus, decided: Decided, *, last: bool
) -> Decided | None:
    """Carry a decision out, unless others have changed what it is about.

    Returns:
        What was done: the decision, the oldest's end where it is the `last` attempt, or nothing.
    """
    with workspace.transaction():
        kept = members(workspace, surplus.app)
        if len(kept) <= surplus.limit:
            return None
        named = {decided.target, decided.merged} - {None}
        before = {memory.id: memory for memory in surplus.memories if memory.id in named}
        now = {memory.id: memory for memory in kept if memory.id in named}
        if before != now:
            if not last:
                return None
            present = replace(surplus, memories=tuple(kept))
            decided = _fallback(present, "other writers changed the memories meanwhile")
        _carried_out(workspace, kept, decided)
        return decided


def _surplus(
    workspace: Workspace, app: str, kept: Sequence[Memory], worths: Mapping[str, float]
) -> Surplus:
    settings = workspace.settings
    return Surplus(
        app=app,
        memories=tuple(kept),
        limit=settings.apps.limit,
        most=settings.limits.app_memory,
        worths=worths,
    )


def _worths(workspace: Workspace, kept: Sequence[Memory]) -> dict[str, float]:
    """Return each memory's importance times its presence, which falls with age and grows by use."""
    now, half_life = workspace.now(), workspace.settings.half_life_days
    return {
        memory.id: memory.importance * presence(memory, now, half_life)
        for memory in recalls.counted(workspace, kept)
    }


def _decided(workspace: Workspace, decider: Decider, surplus: Surplus) -> Decided:
    """Ask for a decision; where none can be used, let the oldest go."""
    seconds = workspace.settings.apps.timeout
    try:
        decision = checked(answer(decider, lambda: decider.decide(surplus), seconds), surplus)
        _must_be_agreed(decision, surplus, workspace.settings.consent.fields)
    except Unusable as unusable:
        return _fallback(surplus, str(unusable))
    return _named(decision, decider.name)


def _must_be_agreed(decision: Decision, surplus: Surplus, private: Collection[str]) -> None:
    """See that an edit says nothing of a person that neither of the two memories said."""
    said = [m.content for m in surplus.memories if m.id in (decision.target, decision.merged)]
    known = {sensitive(text, private) for text in said}
    if decision.content is not None and decision.content not in said:
        impersonal(decision.content, [item for item in private if item not in known], "the edit")


def _named(decision: Decision, by: str) -> Decided:
    return Decided(
        action=decision.action,
        target=decision.target,
        merged=decision.merged,
        content=decision.content,
        reason=decision.reason,
        by=by,
    )


def _fallback(surplus: Surplus, failure: str) -> Decided:
    return Decided(
        action="delete",
        target=oldest(surplus.memories).id,
        reason="it is the oldest",
        by=FIFO,
        failure=failure,
    )


def _carried_out(workspace: Workspace, kept: Sequence[Memory], decided: Decided) -> _Kept:
    """Do what was decided, inside a transaction; return the memories that are left."""
    by_id = {memory.id: memory for memory in kept}
    target = by_id[decided.target]
    if decided.merged is None:
        _delete(workspace, target, decided)
        return [memory for memory in kept if memory is not target]
    changes = _merged(workspace, kept, target, by_id[decided.merged], decided)
    return [changes.get(memory.id, memory) for memory in kept if memory.id != decided.merged]


def _delete(workspace: Workspace, memory: Memory, decided: Decided) -> None:
    from pmem.core.lifecycle.states import moved

    at = workspace.now()
    event = Event(
        event=EventKind.DELETE,
        at=at,
        actor=workspace.actor,
        source=SOURCE,
        detail=_detail(decided),
    )
    end = purge_time(at, workspace.settings.purge_days)
    workspace.memories.put(moved(memory, event, purge_at=end))


def _merged(
    workspace: Workspace,
    kept: Sequence[Memory],
    target: Memory,
    gone: Memory,
    decided: Decided,
) -> dict[str, Memory]:
    """Let one memory take another one in; return what changed and stays, by id."""
    from pmem.core.lifecycle.merging import absorbed, absorbing, redirected

    at, actor = workspace.now(), workspace.actor
    survivor = _explained(absorbing(target, [gone], actor, at), decided)
    if decided.content is not None and decided.content != survivor.content:
        event = Event(
            event=EventKind.UPDATE, at=at, actor=actor, source=SOURCE, detail=_detail(decided)
        )
        tokens = workspace.count(decided.content)
        survivor = changed(survivor, event, content=decided.content, tokens=tokens)
    into = _explained(absorbed(gone, target.id, actor, at), decided)
    workspace.memories.put(into)
    changes = {target.id: workspace.memories.put(survivor)}
    for memory in kept:
        if memory.id not in (target.id, gone.id):
            new = redirected(memory, gone.id, target.id, actor, at)
            if new is not memory:
                changes[memory.id] = workspace.memories.put(new)
    return changes


def _explained(memory: Memory, decided: Decided) -> Memory:
    """Say in the last event of a history what was decided."""
    *earlier, last = memory.history
    told = replace(last, source=SOURCE, detail={**last.detail, **_detail(decided)})
    return replace(memory, history=(*earlier, told))


def _detail(decided: Decided) -> dict[str, str]:
    detail = {"reason": decided.reason, "by": decided.by}
    return {**detail, "failure": decided.failure} if decided.failure else detail
