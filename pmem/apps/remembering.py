"""Making memories for an app: from a text, or from a conversation that has ended."""

from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from pmem.core import checks
from pmem.core.apps.deciding import Unusable, impersonal, usable
from pmem.core.apps.digest import digest
from pmem.core.consent import sensitive
from pmem.core.retention import changed
from pmem.errors import Ambiguous, InvalidValue, NotFound, PmemError, Refused, UsageError
from pmem.memory.app_limit import Compacted, compact, once_more, within
from pmem.memory.app_memories import (
    MOST_IMPORTANT,
    AppMemory,
    AppRequest,
    Decided,
    members,
    name_of,
    share_of,
    shown,
    state_of,
)
from pmem.memory.app_models import Models, Talk, answer, may_work, offline
from pmem.memory.chunking import unfold
from pmem.memory.memories import put_new
from pmem.memory.reading import conversation_named
from pmem.memory.requests import Added, AddRequest
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import Waiting
from pmem.values.records import Conversation, Event, EventKind, Memory, Source, Status

KIND = "conversation"
"""The kind of source of a memory that was made from a conversation."""

Action = Literal["created", "updated", "known", "deferred", "skipped"]


class RememberRequest(AppRequest, frozen=True, kw_only=True):
    """What an app is to remember: a text, or what an ended conversation leaves.

    `importance` goes from 0 to 10; half of that when it is None. `models` sum up and decide; the
    rules do when None.
    """

    content: str | None = None
    conversation: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    models: Models | None = None


class CompactRequest(AppRequest, frozen=True, kw_only=True):
    """Which app is to be held to its limit; `models` decide, or the rules when None."""

    models: Models | None = None


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What remembering led to.

    Attributes:
        action: `created`; `updated`, where the conversation had left a memory before; `known`,
            where the app has a memory that says so; `deferred`, until there is energy for a
            model; `skipped`, where there is nothing to remember.
        app: The app's name.
        memory: The memory, if there is one.
        decisions: What made room for it.
        reason: Why nothing was made, or what went wrong on the way.
    """

    action: Action
    app: str
    memory: AppMemory | None = None
    decisions: tuple[Decided, ...] = ()
    reason: str = ""


class _Draft(NamedTuple):
    """A memory to be made, and what a model failed at."""

    request: AddRequest
    failure: str = ""


def remember(workspace: Workspace, request: RememberRequest) -> Remembered:
    """Make a memory for an app, and room for it.

    Raises:
        UsageError: The request has both a text and a conversation, or neither.
        InvalidValue: A value is not allowed, or the conversation has not ended or is another
            app's.
        NotFound, Ambiguous: The conversation.
        Locked, StorageRefused, Refused: See `Workspace.transaction`.
    """
    if (request.content is None) == (request.conversation is None):
        raise UsageError("give a text or --conversation, one of the two")
    app = name_of(request.app)
    wanted = _wanted(workspace, app, request)
    conversation = _ended(workspace, app, request.conversation)
    models = request.models or offline()
    before = catch_up(workspace, app, models)
    state_of(workspace).install(app)
    if conversation is None:
        done = _made(workspace, _Draft(wanted), models)
    else:
        done = _from_talk(workspace, conversation, wanted, models)
    return replace(done, decisions=(*before, *done.decisions))


def tidy(workspace: Workspace, request: CompactRequest) -> Compacted:
    """Do the work for an app that was put off, and hold it to its limit; see `compact`."""
    models = request.models or offline()
    before = catch_up(workspace, name_of(request.app), models)
    done = compact(workspace, request.app, models)
    return replace(done, decisions=(*before, *done.decisions))


def on_end(workspace: Workspace, conversation: Conversation) -> Remembered | None:
    """Let the app of a conversation that has ended remember it, by the rules; never fail.

    Args:
        workspace: Where to.
        conversation: As it ended; one of no app leaves nothing.
    """
    app = conversation.app
    if app is None or conversation.status is not Status.ENDED:
        return None
    try:
        request = RememberRequest(app=app, conversation=conversation.id)
        return remember(workspace, request)
    except PmemError as error:
        return Remembered(action="skipped", app=app, reason=error.message)
    except Exception as error:  # the end of the conversation stands, come what may
        return Remembered(action="skipped", app=app, reason=f"{type(error).__name__}: {error}")


def catch_up(workspace: Workspace, app: str, models: Models) -> tuple[Decided, ...]:
    """Do the work for an app that was put off, as far as there is energy.

    Args:
        workspace: Where to.
        app: The app's name.
        models: Who does it.

    Returns:
        The decisions that this led to.
    """
    made: list[Decided] = []
    for work in state_of(workspace).waiting(app):
        if work.work == "compact":
            compacted = compact(workspace, app, models)
            waits, decisions = compacted.deferred, compacted.decisions
        else:
            done = _caught_up(workspace, work, models)
            waits = done is not None and done.action == "deferred"
            decisions = done.decisions if done else ()
        made += decisions
        if not waits:
            state_of(workspace).settle(work)
    return tuple(made)


def _caught_up(workspace: Workspace, work: Waiting, models: Models) -> Remembered | None:
    """Sum up a conversation that waits; None where that can never be done.

    It was purged meanwhile, or goes on, or may not leave what it would leave.
    """
    request = RememberRequest(
        app=work.app, conversation=work.conversation, importance=work.importance, tags=work.tags
    )
    try:
        conversation = _ended(workspace, work.app, work.conversation)
        assert conversation is not None
        return _from_talk(workspace, conversation, _wanted(workspace, work.app, request), models)
    except (NotFound, Ambiguous, InvalidValue, Refused):
        return None


def _wanted(workspace: Workspace, app: str, request: RememberRequest) -> AddRequest:
    content = request.content
    if content is not None:
        content = checks.text(content, "an app's memory", workspace.settings.limits.app_memory)
    return AddRequest(
        content=content or "",
        importance=share_of(request.importance),
        tags=checks.tags(request.tags),
        app=app,
    )


def _ended(workspace: Workspace, app: str, reference: str | None) -> Conversation | None:
    """Return the ended conversation that a reference means; None for none."""
    if reference is None:
        return None
    conversation = conversation_named(workspace, reference)
    if conversation.app not in (None, app):
        raise InvalidValue(f"conversation {conversation.id} belongs to another app")
    if conversation.status is not Status.ENDED:
        raise InvalidValue(
            f"conversation {conversation.id} has not ended",
            "`pmem conversation end` ends it; one that was started with --app is remembered then",
        )
    return conversation


def _from_talk(
    workspace: Workspace, conversation: Conversation, wanted: AddRequest, models: Models
) -> Remembered:
    app = wanted.app or ""
    why, share = "too little energy", wanted.importance
    given = None if share is None else round(share * MOST_IMPORTANT, 6)
    work = Waiting(app, "create", conversation.id, workspace.now(), why, given, wanted.tags)
    cost = workspace.settings.apps.creation_energy
    if not may_work(workspace, models.summariser, work, cost):
        return Remembered(action="deferred", app=app, reason=work.why)
    text, failure = _summary(workspace, conversation, app, models)
    if not text:
        most = workspace.settings.limits.app_memory
        reason = f"no sentence that may be kept without consent says something in {most} characters"
        return Remembered(action="skipped", app=app, reason=reason)
    source = Source(kind=KIND, conversation=conversation.id)
    draft = _Draft(msgspec.structs.replace(wanted, content=text, source=source), failure)
    return _made(workspace, draft, models)


def _summary(
    workspace: Workspace, conversation: Conversation, app: str, models: Models
) -> tuple[str, str]:
    """Sum a conversation up, by the rules where a model fails; return the failure as well."""
    talk = Talk(
        app=app,
        conversation=conversation.id,
        messages=unfold(workspace, conversation).messages,
        outcome=conversation.outcome,
        most=workspace.settings.limits.app_memory,
        private=workspace.settings.consent.fields,
    )
    model = models.summariser
    try:
        found = answer(model, lambda: model.summarise(talk), workspace.settings.apps.timeout)
        if model.is_free and found == "":
            return "", ""
        text = usable(found, talk.most, f"what {model.name} wrote")
        impersonal(text, talk.private, f"what {model.name} wrote")
        return text, ""
    except Unusable as unusable:
        failure = str(unusable)
        if sensitive(failure, talk.private):  # an error may quote what it failed at
            failure = f"{model.name} failed"
        return digest(talk.messages, talk.outcome, talk.most, talk.private), failure


def _made(workspace: Workspace, draft: _Draft, models: Models) -> Remembered:
    """Make the memory and room for it; with rules that is one commit."""
    done = once_more(lambda: _commit(workspace, draft, models))
    if models.decider.is_free:
        return done
    compacted = compact(workspace, done.app, models)
    waits = "compaction waits for energy" if compacted.deferred else ""
    return replace(
        done,
        decisions=compacted.decisions,
        reason="; ".join(filter(None, (done.reason, waits))),
    )


def _commit(workspace: Workspace, draft: _Draft, models: Models) -> Remembered:
    app = draft.request.app or ""
    with workspace.transaction():
        earlier = _left_before(workspace, draft.request)
        action, memory = _renewed(workspace, earlier, draft) if earlier else _new(workspace, draft)
        made = within(workspace, app, models.decider) if models.decider.is_free else []
        now = workspace.memories.get(memory.id)
        return Remembered(
            action=action,
            app=app,
            memory=shown(now),
            decisions=tuple(made),
            reason=draft.failure,
        )


def _left_before(workspace: Workspace, request: AddRequest) -> Memory | None:
    """Return the memory that a conversation has left before, if nobody has rewritten it."""
    if request.source.conversation is None:
        return None
    for memory in members(workspace, request.app or ""):
        if memory.source == request.source and _is_as_made(memory):
            return memory
    return None


def _is_as_made(memory: Memory) -> bool:
    rewritten = (event for event in memory.history if "content" in event.before)
    merged = any("merged" in event.detail for event in memory.history)
    return not merged and all(event.source == KIND for event in rewritten)


def _renewed(workspace: Workspace, memory: Memory, draft: _Draft) -> tuple[Action, Memory]:
    content = draft.request.content
    if memory.content == content:
        return "known", memory
    event = Event(
        event=EventKind.UPDATE,
        at=workspace.now(),
        actor=workspace.actor,
        source=KIND,
        detail=_detail(draft),
    )
    new = changed(memory, event, content=content, tokens=workspace.count(content))
    return "updated", workspace.memories.put(new)


def _new(workspace: Workspace, draft: _Draft) -> tuple[Action, Memory]:
    added: Added = put_new(workspace, draft.request)
    if added.held is not None:
        from pmem.memory.proposals import Withheld

        raise Withheld(added.held)
    if added.action == "suggested":
        return "known", added.memory
    memory = added.memory
    if draft.failure:
        first, *later = memory.history
        first = replace(first, detail=_detail(draft))
        memory = workspace.memories.put(replace(memory, history=(first, *later)))
    return "created", memory


def _detail(draft: _Draft) -> dict[str, str]:
    return {"failure": draft.failure} if draft.failure else {}
