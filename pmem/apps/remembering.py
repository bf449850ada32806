"""Making memories for an app: from a text, or from a conversation that has ended."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec.structs import asdict, replace

from pmem.apps.reading import known_app, slip
from pmem.core import checks
from pmem.core.apps.deciding import AppDecision
from pmem.core.apps.digest import digest, importance
from pmem.core.retention import changed
from pmem.errors import Ambiguous, InvalidValue, NotFound, PmemError, Refused, UsageError
from pmem.memory.app_limit import Compacted, compact, once_more, within
from pmem.memory.app_memories import (
    CONVERSATIONS,
    MOST_IMPORTANT,
    AppAnswer,
    AppMemory,
    AppRequest,
    WorkWaits,
    all_of,
    asks,
    members,
    one_of,
    related_conversations,
    share_of,
    shown,
    state_of,
)
from pmem.memory.changes import RecordsRequest
from pmem.memory.conversations import Transcript, conversation_named, unfold
from pmem.memory.memories import put_new
from pmem.memory.requests import AddRequest
from pmem.project.caller import check_leave
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import DeferredWork
from pmem.values.fields import AppRef, asked
from pmem.values.records import Conversation, Event, EventKind, Memory, Source, State, Status

KIND = "conversation"
"""The kind of source of a memory that was made from a conversation."""

Action = Literal["created", "updated", "known", "deferred", "skipped"]
_Draft = tuple[AddRequest, Conversation | None]


class RememberRequest(AppRequest, frozen=True, kw_only=True):
    """What an app is to remember: a text, or what an ended conversation leaves.

    `importance` goes from 0 to 10. When None it is half of that, or what the facts of the
    conversation are worth. `user` is whom the memory concerns.
    """

    content: str | None = None
    conversation: Annotated[
        str | None,
        asked("Summarise this ended conversation instead.", shown="REF", completes="conversation"),
    ] = None
    importance: Annotated[float | None, asked("From 0 to 10 [5, or by what was said].")] = None
    tags: Annotated[tuple[str, ...], asked("A tag.", flag="--tag", completes="tag")] = ()
    user: Annotated[str | None, asked("The user whom it concerns.", completes="user")] = None


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What remembering led to, what made room for it, and why nothing was made or what went wrong.

    The action is `created`; `updated`, where the conversation had left a memory before; `known`,
    where the app has a memory that says so; `deferred`, until there is energy for a model; or
    `skipped`, where there is nothing to remember.
    """

    action: Action
    app: str
    memory: AppMemory | None = None
    decisions: tuple[AppDecision, ...] = ()
    reason: str = ""


def remember(workspace: Workspace, request: RememberRequest) -> Remembered:
    """Make a memory for an app, and room for it."""
    if (request.content is None) == (request.conversation is None):
        raise UsageError("give a text or --conversation, one of the two")
    app = checks.app_name(request.app)
    draft = _draft(workspace, app, request)
    before = catch_up(workspace, app)
    note = "" if request.conversation else slip(workspace, app)
    state_of(workspace).install(app)
    done = _remember_draft(workspace, draft)
    workspace.notes += filter(None, [note])
    return replace(done, decisions=(*before, *done.decisions))


def tidy(workspace: Workspace, request: AppRequest) -> Compacted:
    """Do the work for an app that was put off, and hold it to its limit; see `compact`."""
    app = known_app(workspace, request.app)
    before = catch_up(workspace, app)
    done = compact(workspace, app)
    return replace(done, decisions=(*before, *done.decisions))


def on_end(workspace: Workspace, conversation: Conversation) -> Remembered | None:
    """Let the app of a conversation that has ended, if it has one, remember it; never fail."""
    app = conversation.app
    if app is None or conversation.status is not Status.ENDED:
        return None
    try:
        return remember(workspace, RememberRequest(app=app, conversation=conversation.id))
    except PmemError as error:
        return Remembered(action="skipped", app=app, reason=error.message)
    except Exception as error:  # the end of the conversation stands, come what may
        return Remembered(action="skipped", app=app, reason=f"{type(error).__name__}: {error}")


def catch_up(workspace: Workspace, app: str) -> tuple[AppDecision, ...]:
    """Do what was put off for an app, as far as there is energy; return what was decided."""
    made: list[AppDecision] = []
    for work in state_of(workspace).waiting(app):
        waits, decisions = _caught_up(workspace, work)
        made += decisions
        if not waits:
            state_of(workspace).settle(work)
    return tuple(made)


def _caught_up(workspace: Workspace, work: DeferredWork) -> tuple[bool, tuple[AppDecision, ...]]:
    """Do what waits; tell whether it still waits, and what was decided.

    A conversation that can never be summed up waits no more: it was purged meanwhile, or goes on,
    or may not leave what it would leave.
    """
    if work.work == "compact":
        compacted = compact(workspace, work.app)
        return compacted.deferred, compacted.decisions
    request = RememberRequest(
        app=work.app, conversation=work.conversation, importance=work.importance, tags=work.tags
    )
    try:
        draft = _draft(workspace, work.app, request)
        done = _remember_draft(workspace, draft)
    except (NotFound, Ambiguous, InvalidValue, Refused):
        return False, ()
    return done.action == "deferred", done.decisions


def _draft(workspace: Workspace, app: str, request: RememberRequest) -> _Draft:
    """Return the memory that is wanted, and the conversation that is to give its content."""
    content = request.content
    if content is not None:
        content = checks.text(content, "an app's memory", workspace.settings.limits.app_memory)
    wanted = AddRequest(
        content=content or "",
        importance=share_of(request.importance),
        tags=checks.tags(request.tags),
        app=app,
        user=request.user,
    )
    reference = request.conversation
    return wanted, None if reference is None else _ended(workspace, app, reference)


def _ended(workspace: Workspace, app: str, reference: str) -> Conversation:
    """Return the ended conversation that a reference means."""
    conversation = conversation_named(workspace, reference)
    if conversation.app not in (None, app):
        raise InvalidValue(f"conversation {conversation.id} belongs to another app")
    if conversation.status is not Status.ENDED:
        raise InvalidValue(
            f"conversation {conversation.id} has not ended",
            "`pmem conversation end` ends it; one that was started with --app is remembered then",
        )
    return conversation


def _remember_draft(workspace: Workspace, draft: _Draft) -> Remembered:
    wanted, conversation = draft
    if conversation is None:
        return _make_memory(workspace, wanted, {})
    app, share = wanted.app or "", wanted.importance
    talk = unfold(workspace, conversation)
    try:
        text, detail = _summed_up(workspace, app, talk)
    except WorkWaits as waits:
        why, now = waits.reason, workspace.now()
        if wanted.user is None:
            given = None if share is None else round(share * MOST_IMPORTANT, 6)
            work = DeferredWork(app, "create", conversation.id, now, why, given, wanted.tags)
            state_of(workspace).put_off(work)
            return Remembered(action="deferred", app=app, reason=why)
        text, detail = _by_rules(workspace, talk), {"failure": why}  # what waits names no user
    if not text:
        most = workspace.settings.limits.app_memory
        reason = f"no sentence that may be kept without consent says something in {most} characters"
        if "model" in detail:
            reason = f"{detail['model']} found nothing to keep"
        return Remembered(action="skipped", app=app, reason=reason)
    source = Source(kind=KIND, conversation=conversation.id)
    worth = importance(talk.messages) if share is None else share
    wanted = replace(wanted, content=text, source=source, importance=worth)
    return _make_memory(workspace, wanted, detail)


def _summed_up(workspace: Workspace, app: str, talk: Transcript) -> tuple[str, dict[str, str]]:
    """Sum a conversation up, by the rules where a model fails.

    With the summary comes what the memory's history says of it: who made it, or what failed.
    """
    detail: dict[str, str] = {}
    if asks(workspace, "conversation_summary"):
        from pmem.memory.app_questions import ask_summary

        said, detail = ask_summary(workspace, app, talk)
        if said is not None:
            return said, detail
    return _by_rules(workspace, talk), detail


def _by_rules(workspace: Workspace, talk: Transcript) -> str:
    most, private = workspace.settings.limits.app_memory, workspace.settings.consent.fields
    return digest(talk.messages, talk.conversation.outcome, most, private)


def _make_memory(workspace: Workspace, wanted: AddRequest, detail: Mapping[str, str]) -> Remembered:
    """Make the memory and room for it; with rules that is one commit."""
    waits = asks(workspace, "compaction")
    done = once_more(lambda: _commit(workspace, wanted, detail, makes_room=not waits))
    if not waits:
        return done
    compacted = compact(workspace, done.app)
    deferred = ""
    if compacted.deferred:
        later = f"`pmem app compact {done.app}` makes it later"
        deferred = f"a decision is put off: {compacted.reason}; {later}"
    reason = "; ".join(filter(None, (done.reason, deferred)))
    return replace(done, decisions=compacted.decisions, reason=reason)


def _commit(
    workspace: Workspace, wanted: AddRequest, detail: Mapping[str, str], *, makes_room: bool
) -> Remembered:
    with workspace.transaction():
        return put_app_memory(workspace, wanted, detail, makes_room=makes_room)


def put_app_memory(
    workspace: Workspace, wanted: AddRequest, detail: Mapping[str, str], *, makes_room: bool = True
) -> Remembered:
    """Make a memory, or renew the one that the same conversation left, inside a transaction."""
    app, failure = wanted.app or "", detail.get("failure", "")
    earlier = left_before(workspace, wanted)
    if earlier is None:
        action, memory = _new(workspace, wanted, detail)
    else:
        action, memory = _renewed(workspace, earlier, wanted.content, detail)
    made = within(workspace, app) if makes_room else ()
    now = shown(workspace.memories.get(memory.id))
    return Remembered(action=action, app=app, memory=now, decisions=tuple(made), reason=failure)


def left_before(workspace: Workspace, wanted: AddRequest) -> Memory | None:
    """Return the memory that a conversation has left before, if nobody has rewritten it."""
    if wanted.source.conversation is None:
        return None
    for memory in members(workspace, wanted.app or ""):
        rewritten = (event.source for event in memory.history if "content" in event.before)
        merged = any("merged" in event.detail for event in memory.history)
        if memory.source == wanted.source and not merged and all(by == KIND for by in rewritten):
            return memory
    return None


def _renewed(
    workspace: Workspace, memory: Memory, content: str, detail: Mapping[str, str]
) -> tuple[Action, Memory]:
    if memory.content == content:
        return "known", memory
    at, actor = workspace.now(), workspace.actor
    event = Event(event=EventKind.UPDATE, at=at, actor=actor, source=KIND, detail=dict(detail))
    new = changed(memory, event, content=content, tokens=workspace.count(content))
    return "updated", workspace.memories.put(new)


def _said_again(workspace: Workspace, memory: Memory, conversation: str | None) -> Memory:
    """Note that a further conversation says what a memory says already."""
    known = (None, memory.source.conversation, *related_conversations(memory))
    if conversation in known or memory.scope.app is None:
        return memory
    at, actor, detail = workspace.now(), workspace.actor, {CONVERSATIONS: [conversation]}
    event = Event(event=EventKind.UPDATE, at=at, actor=actor, source=KIND, detail=detail)
    return workspace.memories.put(changed(memory, event))


def _new(
    workspace: Workspace, wanted: AddRequest, detail: Mapping[str, str]
) -> tuple[Action, Memory]:
    added = put_new(workspace, wanted)
    if added.is_archived:
        added = put_new(workspace, replace(wanted, force=True))
    memory = added.memory
    if added.action == "suggested":
        return "known", _said_again(workspace, memory, wanted.source.conversation)
    if detail:
        first, *later = memory.history
        told = replace(first, detail=dict(detail))
        memory = workspace.memories.put(replace(memory, history=(told, *later)))
    return "created", memory


class AppDeleteRequest(AppRequest, frozen=True, kw_only=True):
    """Which memory of an app is to go; `for_good` deletes it at once."""

    reference: AppRef
    for_good: Annotated[bool, asked("Delete it for good at once.")] = False


class UninstallRequest(AppRequest, frozen=True, kw_only=True):
    """Which app is gone; `purge` deletes its memories for good."""

    purge: Annotated[bool, asked("Delete its memories for good.")] = False


class Purged(AppAnswer, frozen=True, kw_only=True):
    """How many memories of an app were deleted for good, and how many of them were active."""

    deleted: int = 0
    active: int = 0


class Uninstalled(Purged, frozen=True, kw_only=True):
    """An app that is gone: memories that are kept, and those that were deleted for good."""

    kept: int


def purge(workspace: Workspace, request: AppRequest) -> Purged:
    """Delete all memories of an app for good, whatever their state, and what was put off for it."""
    app = known_app(workspace, request.app)
    with workspace.transaction():
        memories = {memory.id: memory for memory in all_of(workspace, app)}
        for memory in memories.values():
            check_leave(workspace, memory, "a person deletes them")
            workspace.memories.remove(memory.id)
    state_of(workspace).give_up(app)
    active = sum(memory.state is State.ACTIVE for memory in memories.values())
    return Purged(app=app, deleted=len(memories), active=active)


def delete(workspace: Workspace, request: AppDeleteRequest) -> AppMemory:
    """Remove one memory of an app; `restore` brings it back, unless it is deleted for good."""
    from pmem.memory import lifecycle

    memory = one_of(workspace, checks.app_name(request.app), request.reference)
    if request.for_good:
        with workspace.transaction():
            lifecycle.purge(workspace, lifecycle.PurgeRequest(references=(memory.id,), force=True))
        return shown(memory)
    with workspace.transaction():
        lifecycle.remove(workspace, RecordsRequest(references=(memory.id,)))
    return shown(workspace.memories.get(memory.id))


def uninstall(workspace: Workspace, request: UninstallRequest) -> Uninstalled:
    """Note that an app is gone; its memories outlive it, unless they are purged."""
    app = known_app(workspace, request.app)
    state_of(workspace).uninstall(app, workspace.now())  # first: it can be repeated afterwards
    gone = purge(workspace, request) if request.purge else Purged(app=app)
    return Uninstalled(**asdict(gone), kept=len(members(workspace, app)))
