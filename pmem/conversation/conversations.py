"""Keeping conversations: start, say, end, look back."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pmem.conversation.episodes import noticed, outcome_of
from pmem.conversation.pruning import Pruning, pruned_if_due
from pmem.core import checks
from pmem.core.chunking import fitting
from pmem.core.policy import ACTIVITY
from pmem.core.retention import changed
from pmem.errors import InvalidValue
from pmem.memory.chunking import Transcript, extend, unfold
from pmem.memory.facts import Promotion, noted, promoted_at_once
from pmem.memory.reading import Said, target
from pmem.project.workspace import Workspace, note_operation
from pmem.values.records import (
    Conversation,
    Episode,
    Event,
    EventKind,
    Fact,
    Message,
    Role,
    Status,
)

if TYPE_CHECKING:
    from pmem.apps import Remembered
    from pmem.memory.proposals import Held


class SayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message to keep; without a conversation it joins the latest active one."""

    content: str
    role: Role = Role.USER
    speaker: str | None = None
    conversation: str | None = None
    importance: float | None = None
    tool_call: Any = None
    tool_result: Any = None


class Heard(Said, frozen=True, kw_only=True):
    """A message as it was kept, and what it led to.

    `facts` are new, those that were promoted at once among them; `episodes` are the key
    moments it made; `pruned` is what contexts leave out from now on; `held` is what waits for a
    person's consent, or was rejected before, without what it says.
    """

    facts: tuple[Fact, ...] = ()
    promoted: tuple[Promotion, ...] = ()
    episodes: tuple[Episode, ...] = ()
    pruned: Pruning | None = None
    held: "tuple[Held, ...]" = ()


class Ended(NamedTuple):
    """A conversation that has ended, and what its app remembers of it, where it is held in one.

    `withheld` says that the outcome was not kept, as it needs a person's consent.
    """

    conversation: Conversation
    remembered: "Remembered | None"
    withheld: bool


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list."""

    id: str
    external_id: str | None
    title: str | None
    app: str | None
    status: Status
    started_at: datetime
    updated_at: datetime
    turns: int
    chunks: int


def start(workspace: Workspace, title: str | None = None, app: str | None = None) -> Conversation:
    """Start a conversation; it becomes the current one.

    Args:
        workspace: Where to.
        title: What it is about.
        app: The app that it is held in, and that remembers it once it ends; the one that asks
            when None.

    Raises:
        InvalidValue: The title, or the app's name, is empty or too long.
    """
    workspace.must_reach(ACTIVITY)
    title, app = workspace.gate.admit(title, "the title"), workspace.gate.admit(app, "the app")
    title, app = checks.word(title, "a title"), checks.word(app or workspace.app, "an app")
    with workspace.transaction():
        now = workspace.now()
        return workspace.conversations.put(
            Conversation(
                id=workspace.new_id(),
                title=title,
                app=app,
                started_at=now,
                updated_at=now,
                history=(Event(event=EventKind.ADD, at=now, actor=workspace.actor),),
            )
        )


def say(workspace: Workspace, request: SayRequest) -> Heard:
    """Add a message to a conversation; what overflows moves into a chunk.

    Facts and key moments are noted, and what a context need not show any more is pruned.

    Args:
        workspace: Where to.
        request: What is said.

    Raises:
        NotFound, Ambiguous: The conversation, or none is active.
        InvalidValue: The message is empty or too long, or its conversation is not active.
    """
    workspace.must_reach(ACTIVITY)
    request = workspace.gate.admit(request)
    checks.text(request.content, "a message", workspace.settings.limits.message)
    if request.importance is not None:
        checks.share("importance", request.importance)
    with workspace.transaction():
        conversation = target(workspace, request.conversation)
        if conversation.status is not Status.ACTIVE:
            raise InvalidValue(
                f"conversation {conversation.id} is {conversation.status}",
                "`pmem conversation resume` makes it active",
            )
        heard = _heard(workspace, conversation, _message(workspace, request))
    note_operation(workspace, "hotpath", "classify", status="ok" if heard.facts else "skipped")
    return heard


def _message(workspace: Workspace, request: SayRequest) -> Message:
    content = request.content.rstrip("\r\n")  # a pipe's last line end is none of the message
    message = Message(
        id=workspace.new_id(),
        role=request.role,
        speaker=checks.word(request.speaker, "a speaker"),
        content=content,
        created_at=workspace.now(),
        tokens=workspace.count(content),
        importance=request.importance,
        tool_call=_tool(request.tool_call, "the tool's call"),
        tool_result=_tool(request.tool_result, "the tool's result"),
    )
    try:
        return fitting(message)
    except InvalidValue as error:
        raise InvalidValue(f"a message {error.message}", error.hint) from None


def _tool(value: Any, what: str) -> Any:
    try:
        return checks.json(checks.nesting(value, checks.MOST_TOOL_LEVELS))
    except InvalidValue as error:
        raise InvalidValue(f"{what} {error.message}") from None


def _heard(workspace: Workspace, before: Conversation, message: Message) -> Heard:
    """Take a message in, and everything that follows from it, inside a transaction."""
    conversation = noted(workspace, before, [message])
    conversation, promoted = promoted_at_once(workspace, conversation, before)
    facts = _new_facts(conversation.facts[len(before.facts) :], promoted.items)
    conversation, episodes = noticed(workspace, conversation, message)
    conversation = extend(workspace, conversation, [message], message.created_at)
    conversation, pruned = pruned_if_due(workspace, conversation)
    workspace.conversations.put(conversation)
    return Heard(
        message=message,
        conversation=conversation.id,
        facts=facts,
        promoted=promoted.items,
        episodes=tuple(episodes),
        pruned=pruned,
        held=promoted.held,
    )


def _new_facts(facts: Sequence[Fact], promoted: Sequence[Promotion]) -> tuple[Fact, ...]:
    """Leave out what was promoted or rejected where it was stated before."""
    now = {item.fact.id for item in promoted}
    return tuple(fact for fact in facts if fact.standing == "pending" or fact.id in now)


def change_status(
    workspace: Workspace, reference: str | None, status: Status, outcome: str | None = None
) -> Conversation:
    """End, pause or resume a conversation.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None (the latest paused one for
            resuming).
        status: What it becomes; resuming makes an ended one active again.
        outcome: What came of it; kept with the conversation, and as an episode of its own, but
            not where an agent says in it what needs a person's consent.

    Raises:
        NotFound, Ambiguous: The conversation.
    """
    workspace.must_reach(ACTIVITY)
    outcome = workspace.gate.admit(outcome, "the outcome")
    wanted = Status.PAUSED if status is Status.ACTIVE else Status.ACTIVE
    with workspace.transaction():
        conversation = target(workspace, reference, wanted)
        episode = None if outcome is None else outcome_of(workspace, conversation, outcome)
        if conversation.status is status and episode is None:
            return conversation
        event = Event(event=EventKind.UPDATE, at=workspace.now(), actor=workspace.actor)
        fields: dict[str, Any] = {"status": status, "ended_at": None}
        if status is Status.ENDED:
            fields["ended_at"] = conversation.ended_at or event.at
        if episode is not None:
            fields |= {
                "outcome": episode.outcome,
                "milestones": (*conversation.milestones, episode.id),
            }
        conversation = changed(conversation, event, **fields)
        if status is Status.ACTIVE:
            conversation, _ = pruned_if_due(workspace, conversation, resumed=True)
        return workspace.conversations.put(conversation)


def end(workspace: Workspace, reference: str | None, outcome: str | None = None) -> Ended:
    """End a conversation, and let its app remember it.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None.
        outcome: What came of it; see `change_status`.

    Returns:
        That the conversation ends depends neither on its outcome nor on what its app remembers.

    Raises:
        NotFound, Ambiguous: The conversation.
    """
    ended = change_status(workspace, reference, Status.ENDED, outcome)
    withheld = outcome is not None and ended.outcome != outcome.strip()
    if ended.app is None:
        return Ended(ended, None, withheld)
    from pmem.apps import on_end

    return Ended(ended, on_end(workspace, ended), withheld)


def clear(workspace: Workspace, reference: str | None) -> Conversation:
    """Let contexts of a conversation start afresh; every message stays kept and searchable.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None.

    Raises:
        NotFound, Ambiguous: The conversation.
    """
    workspace.must_reach(ACTIVITY)
    with workspace.transaction():
        conversation = target(workspace, reference)
        if conversation.cleared_turns == conversation.turns:
            return conversation
        event = Event(event=EventKind.UPDATE, at=workspace.now(), actor=workspace.actor)
        fields = {"cleared_turns": conversation.turns, "merged_chunks": len(conversation.chunks)}
        return workspace.conversations.put(changed(conversation, event, **fields))


def overviews(workspace: Workspace, status: Status | None = None) -> list[Overview]:
    """Return every conversation, the earliest first.

    Args:
        workspace: Where they are.
        status: Only those that stand so.
    """
    workspace.must_reach(ACTIVITY)
    found = [
        Overview(
            id=conversation.id,
            external_id=conversation.external_id,
            title=conversation.title,
            app=conversation.app,
            status=conversation.status,
            started_at=conversation.started_at,
            updated_at=conversation.updated_at,
            turns=conversation.turns,
            chunks=len(conversation.chunks),
        )
        for conversation in workspace.conversations.find()
        if status in (None, conversation.status)
    ]
    return sorted(found, key=lambda item: (item.started_at, item.id))


def transcript(workspace: Workspace, reference: str | None) -> Transcript:
    """Return a conversation with everything that was said in it.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None.

    Raises:
        NotFound, Ambiguous: The conversation.
        Damaged: A file of it cannot be used.
    """
    workspace.must_reach(ACTIVITY)
    return unfold(workspace, target(workspace, reference))


def all_messages(workspace: Workspace) -> Iterator[Said]:
    """Yield every message that is kept, by conversation and chunk."""
    workspace.must_reach(ACTIVITY)
    seen: set[str] = set()
    for conversation in workspace.conversations.find():
        for message in conversation.recent_messages:
            seen.add(message.id)
            yield Said(message=message, conversation=conversation.id)
    for chunk in workspace.chunks.find():
        for message in chunk.messages:
            if message.id not in seen:
                seen.add(message.id)
                yield Said(message=message, conversation=chunk.conversation)
