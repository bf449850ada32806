"""Holding an app to its limit: one decision for each memory too many, and what it does."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from pmem.core import checks
from pmem.core.apps.deciding import AppDecision, OfflineRules, oldest_goes
from pmem.core.retention import changed
from pmem.errors import InvalidValue, Locked, StorageRefused
from pmem.memory.app_memories import (
    CONVERSATIONS,
    AppAnswer,
    WorkWaits,
    asks,
    members,
    related_conversations,
    state_of,
    worths_of,
)
from pmem.memory.changes import out_of_recall
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import DeferredWork
from pmem.values.records import Event, EventKind, Memory, State

SOURCE: Final = "compaction"
"""The source of the events that a compaction leaves."""
_ASKED: Final = 3
"""How often a model is asked again because other writers were quicker."""
T = TypeVar("T")


class Compacted(AppAnswer, frozen=True, kw_only=True):
    """What a compaction did, how many memories there are now, and why a decision is put off."""

    decisions: tuple[AppDecision, ...]
    memories: int
    limit: int
    deferred: bool = False
    reason: str = ""


def compact(workspace: Workspace, app: str) -> Compacted:
    """Hold an app to its limit: one decision for each memory too many.

    The rules decide under the writers' lock, in one commit. A model is asked before it; what
    others have written meanwhile is looked at again.
    """
    app, limit = checks.app_name(app), workspace.settings.apps.limit
    if asks(workspace, "compaction"):
        made, reason = _one_by_one(workspace, app)
    else:
        made, reason = once_more(lambda: _by_rules(workspace, app)), ""
    left = len(members(workspace, app))
    return Compacted(
        app=app,
        decisions=tuple(made),
        memories=left,
        limit=limit,
        deferred=bool(reason),
        reason=reason,
    )


def once_more(attempt: Callable[[], T]) -> T:
    """Return what an attempt does; where storage refuses, try it once more."""
    try:
        return attempt()
    except (StorageRefused, Locked):
        return attempt()


def within(workspace: Workspace, app: str) -> list[AppDecision]:
    """Hold an app to its limit by the rules, inside a transaction; return what was decided.

    Raises:
        InvalidValue: A new memory would go because every other one is pinned.
    """
    limit, memories = workspace.settings.apps.limit, workspace.memories
    kept = members(workspace, app)
    if len(kept) <= limit:
        return []
    new = {change.id for change in memories.changes() if memories.before(change.id) is None}
    kept.sort(key=lambda memory: memory.id in new)  # another clone's clock may have run ahead
    rules, worths = OfflineRules(kept), worths_of(workspace, kept)
    made: list[AppDecision] = []
    while len(kept) > limit:
        decision = rules.decide(kept, worths)
        kept = carry_out(workspace, kept, decision)
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
    """Hold apps to which a transaction gives memories to their limit, inside it, by the rules."""
    grown = {
        change.record.scope.app
        for change in workspace.memories.changes()
        if isinstance(change.record, Memory) and change.record.state is State.ACTIVE
    }
    return tuple(made for app in sorted(filter(None, grown)) for made in within(workspace, app))


def check_room(workspace: Workspace, app: str) -> None:
    """See that an app may have one more memory; an InvalidValue says that it may not."""
    limit = workspace.settings.apps.limit
    if len(members(workspace, app)) >= limit:
        raise InvalidValue(
            f"the app {app} has as many memories as it may, {limit}",
            f"make room with `pmem app delete {app} REF`, or raise apps.limit",
        )


def _by_rules(workspace: Workspace, app: str) -> list[AppDecision]:
    with workspace.transaction():
        return within(workspace, app)


def _one_by_one(workspace: Workspace, app: str) -> tuple[list[AppDecision], str]:
    """Ask for one decision after the other, without the lock; tell why one is put off."""
    from pmem.memory.app_questions import ask_decision

    made: list[AppDecision] = []
    overtaken = 0
    while len(kept := members(workspace, app)) > workspace.settings.apps.limit:
        try:
            decision = ask_decision(workspace, app, kept)
        except WorkWaits as waits:
            work = DeferredWork(app, "compact", "", workspace.now(), waits.reason)
            state_of(workspace).put_off(work)
            return made, waits.reason
        last = overtaken >= _ASKED
        try:
            done = once_more(partial(_if_it_holds, workspace, app, kept, decision, last=last))
        except (StorageRefused, Locked) as error:  # as S0 has it: then the oldest goes
            instead = oldest_goes(kept, error.message)
            done = _if_it_holds(workspace, app, kept, instead, last=True)
        overtaken = 0 if done else overtaken + 1
        made += [done] if done else []
    return made, ""


def _if_it_holds(
    workspace: Workspace, app: str, seen: Sequence[Memory], decision: AppDecision, *, last: bool
) -> AppDecision | None:
    """Carry a decision out, unless others have changed what it is about; return what was done.

    In the `last` attempt that is the end of the oldest one, then.
    """
    with workspace.transaction():
        kept = members(workspace, app)
        if len(kept) <= workspace.settings.apps.limit:
            return None
        names = (decision.target, decision.merged)
        was, now = ([one for one in each if one.id in names] for each in (seen, kept))
        if was != now:
            if not last:
                return None
            decision = oldest_goes(kept, "other writers changed the memories meanwhile")
        carry_out(workspace, kept, decision)
        return decision


def carry_out(workspace: Workspace, kept: Sequence[Memory], decision: AppDecision) -> list[Memory]:
    """Do what was decided, inside a transaction; return the memories that are left."""
    by_id = {memory.id: memory for memory in kept}
    target = by_id[decision.target]
    if decision.merged is None:
        event = _event(workspace, EventKind.DELETE, decision)
        workspace.memories.put(out_of_recall(workspace, target, event))
        return [memory for memory in kept if memory is not target]
    _merge_memories(workspace, kept, target, by_id[decision.merged], decision)
    left = (memory.id for memory in kept if memory.id != decision.merged)
    return [workspace.memories.get(identifier) for identifier in left]


def _event(workspace: Workspace, kind: EventKind, decision: AppDecision) -> Event:
    at, actor = workspace.now(), workspace.actor
    return Event(event=kind, at=at, actor=actor, source=SOURCE, detail=_detail(decision))


def _merge_memories(
    workspace: Workspace,
    kept: Sequence[Memory],
    target: Memory,
    gone: Memory,
    decision: AppDecision,
) -> None:
    """Let one memory take another one in."""
    from pmem.core.lifecycle.merging import absorbed, absorbing, redirected

    at, actor, told = workspace.now(), workspace.actor, _detail(decision)
    said = [*filter(None, [gone.source.conversation]), *related_conversations(gone)]
    more = {CONVERSATIONS: said} if said else {}
    survivor = _explained(absorbing(target, [gone], actor, at), told | more)
    if decision.content is not None and decision.content != survivor.content:
        event = _event(workspace, EventKind.UPDATE, decision)
        tokens = workspace.count(decision.content)
        survivor = changed(survivor, event, content=decision.content, tokens=tokens)
    workspace.memories.put(_explained(absorbed(gone, target.id, actor, at), told))
    workspace.memories.put(survivor)
    for memory in kept:
        new = redirected(memory, gone.id, target.id, actor, at)
        if new is not memory and memory.id not in (target.id, gone.id):
            workspace.memories.put(new)


def _explained(memory: Memory, detail: Mapping[str, Any]) -> Memory:
    """Say in the last event of a history what was decided."""
    *earlier, last = memory.history
    told = replace(last, source=SOURCE, detail={**last.detail, **detail})
    return replace(memory, history=(*earlier, told))


def _detail(decision: AppDecision) -> dict[str, Any]:
    detail = {"reason": decision.reason, "by": decision.by}
    return {**detail, "failure": decision.failure} if decision.failure else detail
