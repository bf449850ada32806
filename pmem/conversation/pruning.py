"""Pruning conversations: which of the messages outside chunks a context leaves out."""

from datetime import datetime
from typing import Annotated, Final

import msgspec

from pmem.core.pruning.plan import (
    NORMAL,
    PruningRules,
    Strategy,
    Trigger,
    due,
    plan,
    rules_for,
)
from pmem.errors import InvalidValue
from pmem.memory.conversations import ConversationRequest, LookRequest, target, unfold
from pmem.project.workspace import Workspace
from pmem.values.config import Settings
from pmem.values.fields import DryRun, asked
from pmem.values.records import Conversation, EventKind, Message

_PRUNED: Final = "pruned"
"""What the detail of an event says of pruning: ids of messages by the reason."""


class PruneRequest(ConversationRequest, frozen=True, kw_only=True):
    """What to prune by hand: down to `keep` messages, or `tokens`, or what is due.

    With `dry_run` nothing is changed.
    """

    keep: Annotated[int | None, asked("Keep at most N messages.", shown="N")] = None
    tokens: Annotated[int | None, asked("Keep at most N tokens.", shown="N")] = None
    strategy: Annotated[Strategy | None, asked("What goes first [pruning_strategy].")] = None
    dry_run: DryRun = False


class Leaving(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is pruned, why, and how it begins."""

    id: str
    role: str
    tokens: int
    importance: float
    reason: str
    text: str


class Pruning(msgspec.Struct, frozen=True, kw_only=True):
    """What pruning a conversation did, or would do.

    `trigger` is what called for it, None when nothing did. Of the messages left, `could_go` are
    those that a smaller `keep` or `tokens` would take; the others are never pruned.
    """

    conversation: str
    trigger: str | None
    pruned: tuple[Leaving, ...] = ()
    messages_left: int
    could_go: int
    tokens_before: int
    tokens_after: int
    token_limit: int


class PrunedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was pruned: when, what called for it, why it was this one.

    `now` is where it stands: `left_out` of contexts, or `in_chunk`, which has a summary of it.
    """

    id: str
    role: str
    tokens: int
    text: str
    at: datetime
    trigger: str
    reason: str
    now: str


class PrunedListing(msgspec.Struct, frozen=True, kw_only=True):
    """What was pruned from a conversation, the earliest first, and how many messages that is.

    `cleared` is how many messages were said before contexts last started afresh, `unexplained`
    how many are left out without a word why: by an earlier pmem.
    """

    conversation: str
    items: tuple[PrunedMessage, ...]
    total: int
    cleared: int
    unexplained: int


def prune(workspace: Workspace, request: PruneRequest) -> Pruning:
    """Prune a conversation by hand; every message stays kept and searchable."""
    conversation = target(workspace, request.conversation)
    done = _by_hand(workspace, conversation, request)
    if done.pruned and not request.dry_run:
        workspace.conversations.put(_without_pruned(workspace, conversation, done))
    return done


def list_pruned(workspace: Workspace, request: LookRequest) -> PrunedListing:
    """Return which messages were pruned from a conversation, when, and why."""
    found = unfold(workspace, target(workspace, request.conversation))
    conversation = found.conversation
    said = {message.id: message for message in found.messages}
    recent = {message.id for message in conversation.recent_messages}
    items: dict[str, PrunedMessage] = {}
    for event in conversation.history:
        for reason, identifiers in event.detail.get(_PRUNED, {}).items():
            for message in (said[one] for one in identifiers if one in said):
                if message.pinned or (message.id in recent - set(conversation.pruned)):
                    continue  # it came back
                items[message.id] = PrunedMessage(
                    id=message.id,
                    role=message.role,
                    tokens=message.tokens,
                    text=message.content,
                    at=event.at,
                    trigger=str(event.detail.get("trigger")),
                    reason=reason,
                    now="left_out" if message.id in recent else "in_chunk",
                )
    return PrunedListing(
        conversation=conversation.id,
        items=tuple(items.values()),
        total=len(items),
        cleared=conversation.cleared_turns,
        unexplained=len(set(conversation.pruned) - items.keys()),
    )


def pruned_if_due(
    workspace: Workspace, conversation: Conversation, *, resumed: bool = False
) -> tuple[Conversation, Pruning | None]:
    """Return a conversation pruned as far as its last message, or taking it up, calls for."""
    trigger, wanted = _due(workspace.settings, conversation, otherwise="session_start")
    if trigger is None or (trigger == "session_start" and not resumed):
        return conversation, None
    done = _planned(workspace, conversation, wanted, trigger)
    if not done.pruned:
        return conversation, None
    return _without_pruned(workspace, conversation, done), done


def filled_beyond(workspace: Workspace, conversation: Conversation) -> float | None:
    """Return how much of its token limit a conversation takes, in per cent, once pruning is due."""
    settings = workspace.settings
    limit = settings.conversation_tokens
    left = (one.tokens for one in window(conversation) if one.id not in conversation.pruned)
    tokens = sum(left)
    if not limit or tokens < NORMAL * limit:
        return None
    return round(100 * tokens / limit, 1)


def gone(workspace: Workspace, conversation: Conversation) -> frozenset[str]:
    """Return the ids of the messages that a context leaves out by the limits of today."""
    said = window(conversation)
    trigger, wanted = _due(workspace.settings, conversation)
    if trigger in (None, "task_boundary"):  # no limit is passed
        return frozenset(conversation.pruned) & {message.id for message in said}
    found = plan(said, wanted, workspace.now(), conversation.pruned)
    return frozenset(item.id for item in found.pruned)


def window(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages outside chunks since the conversation was last cleared.

    Those whose text was removed are not among them.
    """
    in_chunks = max(0, conversation.turns - len(conversation.recent_messages))
    said = conversation.recent_messages[max(0, conversation.cleared_turns - in_chunks) :]
    return tuple(message for message in said if not message.removed)


def rules(settings: Settings) -> PruningRules:
    """Return the rules that settings give."""
    return PruningRules(
        most_messages=settings.max_messages,
        most_tokens=settings.conversation_tokens,
        keep=settings.min_recent_messages,
        strategy=settings.pruning_strategy,
        scoring=settings.importance,
    )


def _by_hand(workspace: Workspace, conversation: Conversation, request: PruneRequest) -> Pruning:
    settings = workspace.settings
    given = rules(settings)
    if request.keep is not None and request.keep < given.keep:
        raise InvalidValue(
            f"the last {given.keep} messages are never pruned, so {request.keep} cannot be kept",
            "`pmem conversation clear` starts afresh, and min_recent_messages is the setting",
        )
    if request.tokens is not None and request.tokens < 0:
        raise InvalidValue(f"tokens must be at least 0, not {request.tokens}")
    if request.strategy is not None:
        given = msgspec.structs.replace(given, strategy=request.strategy)
    if request.keep is not None or request.tokens is not None:
        wanted = msgspec.structs.replace(
            given,
            most_messages=given.most_messages if request.keep is None else request.keep,
            most_tokens=given.most_tokens if request.tokens is None else request.tokens,
        )
        return _planned(workspace, conversation, wanted, "by_hand")
    trigger, wanted = _due(settings, conversation, given, otherwise="session_start")
    called = "by_hand" if trigger == "session_start" else trigger
    return _planned(workspace, conversation, wanted, called or "by_hand")


def _planned(
    workspace: Workspace, conversation: Conversation, wanted: PruningRules, trigger: str
) -> Pruning:
    said = window(conversation)
    made = plan(said, wanted, workspace.now(), conversation.pruned)
    emptied = msgspec.structs.replace(
        wanted, most_messages=0, most_tokens=0, finished_only=False, strategy="rolling_window"
    )
    gone_so_far = {item.id for item in made.pruned}
    least = plan(said, emptied, workspace.now(), gone_so_far)
    known = {message.id: message for message in said}
    fresh = [item for item in made.pruned if item.id not in conversation.pruned]
    return Pruning(
        conversation=conversation.id,
        trigger=trigger if fresh else None,
        pruned=tuple(
            Leaving(
                **msgspec.structs.asdict(item),
                role=known[item.id].role,
                text=known[item.id].content,
            )
            for item in fresh
        ),
        messages_left=len(made.kept),
        could_go=len(made.kept) - len(least.kept),
        tokens_before=made.tokens_before,
        tokens_after=made.tokens_after,
        token_limit=workspace.settings.conversation_tokens,
    )


def _without_pruned(
    workspace: Workspace, conversation: Conversation, done: Pruning
) -> Conversation:
    """Return a conversation without what was pruned; an event says what that was, and why."""
    reasons: dict[str, list[str]] = {}
    for item in done.pruned:
        reasons.setdefault(item.reason, []).append(item.id)
    event = workspace.event(EventKind.UPDATE, **{"trigger": done.trigger, _PRUNED: reasons})
    return msgspec.structs.replace(
        conversation,
        pruned=(*conversation.pruned, *(item.id for item in done.pruned)),
        pruned_at=event.at,
        updated_at=max(event.at, conversation.updated_at),
        history=(*conversation.history, event),
    )


def _due(
    settings: Settings,
    conversation: Conversation,
    given: PruningRules | None = None,
    otherwise: Trigger | None = None,
) -> tuple[Trigger | None, PruningRules]:
    """Return what calls for pruning, or what else does, and the rules to prune by then."""
    given = given or rules(settings)
    limit = settings.conversation_tokens
    trigger = due(window(conversation), conversation.pruned, limit, given) or otherwise
    return trigger, given if trigger is None else rules_for(trigger, given, limit)
