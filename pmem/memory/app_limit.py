"""Holding an app to its limit: one decision for each memory too many, and what it does."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from pmem.core.apps.deciding import (
    AppDecision,
    Model,
    OfflineModel,
    Surplus,
    Unusable,
    checked,
    impersonal,
    may_be_told,
    oldest,
    without_secret,
)
from pmem.core.consent import sensitive
from pmem.core.lifecycle.presence import presence
from pmem.core.retention import changed, purge_time
from pmem.errors import InvalidValue, Locked, StorageRefused
from pmem.memory import recalls
from pmem.memory.app_memories import (
    CONVERSATIONS,
    AppAnswer,
    members,
    name_of,
    related_conversations,
)
from pmem.memory.app_models import answer, may_work, signature
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import DeferredWork
from pmem.values.config import Settings
from pmem.values.records import Event, EventKind, Memory, State

SOURCE: Final = "compaction"
"""The source of the events that a compaction leaves."""
FIFO: Final = "fifo"
_ASKED: Final = 3
"""How often a decider is asked again because other writers were quicker."""
T = TypeVar("T")


class Compacted(AppAnswer, frozen=True, kw_only=True):
    """What a compaction did, and how many memories there are now; `deferred` if it waits."""

    decisions: tuple[AppDecision, ...]
    memories: int
    limit: int
    deferred: bool = False


def compact(workspace: Workspace, app: str, model: Model) -> Compacted:
    """Hold an app to its limit: one decision for each memory too many.

    The rules are asked under the writers' lock, in one commit. A model that is not free is asked
    before it; what others have written meanwhile is looked at again.

    Raises:
        InvalidValue: The app's name is not allowed.
        Locked, StorageRefused, Refused: See `Workspace.transaction`; nothing changed.
    """
    app, limit = name_of(app), workspace.settings.apps.limit
    if model.is_free:
        made, deferred = once_more(lambda: _at_once(workspace, app, model)), False
    else:
        made, deferred = _one_by_one(workspace, app, model)
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


def within(workspace: Workspace, app: str, model: Model) -> list[AppDecision]:
    """Hold an app to its limit inside a transaction, and return what was decided.

    Raises:
        InvalidValue: A new memory would go because every other one is pinned.
    """
    limit, memories = workspace.settings.apps.limit, workspace.memories
    kept = members(workspace, app)
    if len(kept) <= limit:
        return []
    new = {change.id for change in memories.changes() if memories.before(change.id) is None}
    kept.sort(key=lambda memory: memory.id in new)  # another clone's clock may have run ahead
    worths = _worths(workspace, kept)
    made: list[AppDecision] = []
    while len(kept) > limit:
        decision = _decision(workspace, model, _surplus(workspace, app, kept, worths))
        kept = _carry_out(workspace, kept, decision)
        if decision.merged:
            worths[decision.target] = max(worths[decision.target], worths[decision.merged])
        made.append(decision)
    gone = {decision.target for decision in made if decision.merged is None}
    if gone & new and all(memory.pinned for memory in kept):
        raise InvalidValue(
            f"the app {app} has no room: each of its {len(kept)} memories is pinned",
            "unpin or delete one, or raise apps.limit",
        )
    return made


def make_room(workspace: Workspace) -> tuple[AppDecision, ...]:
    """Hold the apps to their limit that a transaction gives more memories, by the rules.

    It is called inside the transaction, with the memories put.
    """
    grown = {
        change.record.scope.app
        for change in workspace.memories.changes()
        if isinstance(change.record, Memory) and change.record.state is State.ACTIVE
    }
    rules, apps = OfflineModel(), sorted(filter(None, grown))
    return tuple(made for app in apps for made in within(workspace, app, rules))


def check_room(workspace: Workspace, app: str) -> None:
    """See that an app may have one more memory.

    Raises:
        InvalidValue: It has as many as it may.
    """
    limit = workspace.settings.apps.limit
    if len(members(workspace, app)) >= limit:
        raise InvalidValue(
            f"the app {app} has as many memories as it may, {limit}",
            f"make room with `pmem app delete {app} REF`, or raise apps.limit",
        )


def surplus_of(workspace: Workspace, app: str) -> Surplus:
    """Return an app's memories as a decision is taken about them.

    Args:
        app: The app's name.
    """
    kept = members(workspace, app)
    return _surplus(workspace, app, kept, _worths(workspace, kept))


def carry_out_decision(workspace: Workspace, surplus: Surplus, decision: AppDecision) -> None:
    """Do what was decided about an app's memories, inside a transaction.

    Args:
        surplus: The memories as they are.
        decision: A checked decision.

    Raises:
        Unusable: It says something of a person that nobody agreed to.
    """
    _check_agreed(decision, surplus, workspace.settings)
    _carry_out(workspace, list(surplus.memories), decision)


def _at_once(workspace: Workspace, app: str, model: Model) -> list[AppDecision]:
    with workspace.transaction():
        return within(workspace, app, model)


def _one_by_one(workspace: Workspace, app: str, model: Model) -> tuple[list[AppDecision], bool]:
    """Ask for one decision after the other, without the lock; tell whether work is put off."""
    rules = workspace.settings.apps
    made: list[AppDecision] = []
    overtaken = 0
    while len(kept := members(workspace, app)) > rules.limit:
        work = DeferredWork(app, "compact", "", workspace.now(), "too little energy")
        surplus = _surplus(workspace, app, kept, _worths(workspace, kept))
        if not may_work(workspace, model, work, rules.compaction_energy, surplus):
            return made, True
        decision = _decision(workspace, model, surplus)
        last = overtaken >= _ASKED
        try:
            done = once_more(partial(_if_it_holds, workspace, surplus, decision, last=last))
        except (StorageRefused, Locked) as error:  # as S0 has it: then the oldest goes
            instead = _fallback(surplus, error.message)
            done = _if_it_holds(workspace, surplus, instead, last=True)
        overtaken = 0 if done else overtaken + 1
        made += [done] if done else []
    return made, False


def _if_it_holds(
    workspace: Workspace, surplus: Surplus, decision: AppDecision, *, last: bool
) -> AppDecision | None:
    """Carry a decision out, unless others have changed what it is about.

    Returns:
        What was done: the decision, the oldest's end where it is the `last` attempt, or nothing.
    """
    with workspace.transaction():
        kept = members(workspace, surplus.app)
        if len(kept) <= surplus.limit:
            return None
        if _memories_named(surplus.memories, decision) != _memories_named(kept, decision):
            if not last:
                return None
            present = replace(surplus, memories=tuple(kept))
            decision = _fallback(present, "other writers changed the memories meanwhile")
        _carry_out(workspace, kept, decision)
        return decision


def _memories_named(memories: Sequence[Memory], decision: AppDecision) -> list[Memory]:
    return [memory for memory in memories if memory.id in (decision.target, decision.merged)]


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


def _decision(workspace: Workspace, model: Model, surplus: Surplus) -> AppDecision:
    """Ask for a decision; where none can be used, let the oldest go."""
    settings = workspace.settings
    try:
        said = answer(model, lambda: model.decide(surplus), settings.apps.timeout)
        decision = checked(said, surplus)
        _check_agreed(decision, surplus, settings)
    except Unusable as unusable:
        told = may_be_told(str(unusable), settings.consent.fields, settings.secrets.allow)
        return _fallback(surplus, str(unusable) if told else f"{model.name} failed")
    return replace(decision, by=signature(model))


def _check_agreed(decision: AppDecision, surplus: Surplus, settings: Settings) -> None:
    """See that an edit says nothing new of a person, and that a decision holds no secret."""
    without_secret(decision.reason, settings.secrets.allow, "the decision's reason")
    said = [memory.content for memory in _memories_named(surplus.memories, decision)]
    known = {sensitive(text, settings.consent.fields) for text in said}
    if decision.content is not None and decision.content not in said:
        private = [item for item in settings.consent.fields if item not in known]
        impersonal(decision.content, private, "the edit")
        without_secret(decision.content, settings.secrets.allow, "the edit")


def _fallback(surplus: Surplus, failure: str) -> AppDecision:
    target, reason = oldest(surplus.memories).id, "it is the oldest"
    return AppDecision(action="delete", target=target, reason=reason, by=FIFO, failure=failure)


def _carry_out(workspace: Workspace, kept: Sequence[Memory], decision: AppDecision) -> list[Memory]:
    """Do what was decided, inside a transaction; return the memories that are left."""
    by_id = {memory.id: memory for memory in kept}
    target = by_id[decision.target]
    if decision.merged is None:
        _delete(workspace, target, decision)
        return [memory for memory in kept if memory is not target]
    changes = _merge_memories(workspace, kept, target, by_id[decision.merged], decision)
    return [changes.get(memory.id, memory) for memory in kept if memory.id != decision.merged]


def _delete(workspace: Workspace, memory: Memory, decision: AppDecision) -> None:
    from pmem.core.lifecycle.states import moved

    event = _event(workspace, EventKind.DELETE, decision)
    end = purge_time(event.at, workspace.settings.purge_days)
    workspace.memories.put(moved(memory, event, purge_at=end))


def _event(workspace: Workspace, kind: EventKind, decision: AppDecision) -> Event:
    return Event(
        event=kind,
        at=workspace.now(),
        actor=workspace.actor,
        source=SOURCE,
        detail=_detail(decision),
    )


def _merge_memories(
    workspace: Workspace,
    kept: Sequence[Memory],
    target: Memory,
    gone: Memory,
    decision: AppDecision,
) -> dict[str, Memory]:
    """Let one memory take another one in; return what changed and stays, by id."""
    from pmem.core.lifecycle.merging import absorbed, absorbing, redirected

    at, actor = workspace.now(), workspace.actor
    survivor = _explained(absorbing(target, [gone], actor, at), decision, _said_in(gone))
    if decision.content is not None and decision.content != survivor.content:
        event = _event(workspace, EventKind.UPDATE, decision)
        tokens = workspace.count(decision.content)
        survivor = changed(survivor, event, content=decision.content, tokens=tokens)
    workspace.memories.put(_explained(absorbed(gone, target.id, actor, at), decision))
    changes = {target.id: workspace.memories.put(survivor)}
    for memory in kept:
        if memory.id not in (target.id, gone.id):
            new = redirected(memory, gone.id, target.id, actor, at)
            if new is not memory:
                changes[memory.id] = workspace.memories.put(new)
    return changes


def _said_in(gone: Memory) -> dict[str, list[str]]:
    """Return what a history says of where a memory came from that goes into another one."""
    said = [*filter(None, [gone.source.conversation]), *related_conversations(gone)]
    return {CONVERSATIONS: said} if said else {}


def _explained(
    memory: Memory, decision: AppDecision, more: Mapping[str, Any] = MappingProxyType({})
) -> Memory:
    """Say in the last event of a history what was decided, and what more there is to say."""
    *earlier, last = memory.history
    told = replace(last, source=SOURCE, detail={**last.detail, **_detail(decision), **more})
    return replace(memory, history=(*earlier, told))


def _detail(decision: AppDecision) -> dict[str, str]:
    detail = {"reason": decision.reason, "by": decision.by}
    return {**detail, "failure": decision.failure} if decision.failure else detail
