"""Keeping conversations: start, say, end, look back."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from pmem.conversation.episodes import noticed, outcome_of
from pmem.conversation.pruning import Pruning, filled_beyond, pruned_if_due
from pmem.core import checks
from pmem.core.chunking import fitting
from pmem.core.retention import changed
from pmem.errors import InvalidValue
from pmem.memory.conversations import (
    ConversationRequest,
    LookRequest,
    Transcript,
    current,
    extend,
    target,
    unfold,
)
from pmem.memory.facts import Promotion, UnpromotedFact, promoted_at_once
from pmem.memory.noted_facts import left_out, new_facts, noted
from pmem.memory.reading import MessageRef
from pmem.project.workspace import Workspace
from pmem.values.bounds import MESSAGE_CHARACTERS
from pmem.values.fields import AsOf, asked
from pmem.values.records import (
    Conversation,
    Episode,
    Event,
    EventKind,
    Fact,
    Message,
    Role,
    Status,
    plain,
)

if TYPE_CHECKING:
    from pmem.apps.remembering import Remembered
    from pmem.memory.proposals import Held


class SayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message to keep; without a conversation it joins the latest active one.

    With `learn`, the project's models look at it as well, where there are any.
    """

    content: Annotated[
        str, asked("What is said.", shown="TEXT|-", reading="text", is_argument=True)
    ]
    role: Annotated[Role, asked("Who speaks.")] = Role.USER
    speaker: Annotated[str | None, asked("The speaker's name.")] = None
    conversation: Annotated[
        str | None,
        asked("Where [the current conversation].", shown="REF", completes="conversation"),
    ] = None
    importance: Annotated[float | None, asked("From 0 to 1 [by its content].")] = None
    tool_call: Annotated[Any, asked("The tool call it makes.", shown="JSON", reading="json")] = None
    tool_result: Annotated[
        Any, asked("The tool result it brings.", shown="JSON", reading="json")
    ] = None
    learn: Annotated[bool, asked("Let the model that you chose look at it, too.")] = False


class SayResult(MessageRef, frozen=True, kw_only=True):
    """A message as it was kept, and what it led to.

    `facts` are new, those that were promoted at once among them; `episodes` are the key
    moments it made; `pruned` is what contexts leave out from now on; `held` is what waits for a
    person's consent, or was rejected before, without what it says; `unpromoted` are facts for
    which a memory should be updated or brought back instead, or that a cap keeps from becoming
    one; `beyond` is how many facts were not even noted, as one message states at most five.
    `filled` is how much of its token limit the conversation takes, in per cent, where that is still
    enough to prune it.
    """

    facts: tuple[Fact, ...] = ()
    promoted: tuple[Promotion, ...] = ()
    episodes: tuple[Episode, ...] = ()
    pruned: Pruning | None = None
    held: "tuple[Held, ...]" = ()
    unpromoted: tuple[UnpromotedFact, ...] = ()
    beyond: int = 0
    filled: float | msgspec.UnsetType = msgspec.UNSET

    @property
    def noted(self) -> dict[str, str]:
        """What the log of operations says of it."""
        return {"status": "ok" if self.facts else "skipped"}

    @property
    def worked_on(self) -> str:
        """The conversation that models look at."""
        return self.conversation

    def to_plain(self) -> dict[str, Any]:
        """Return it with where each of its facts stands, pending ones too."""
        facts = [{**plain(fact), "standing": fact.standing} for fact in self.facts]
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        told = {name: value for name, value in fields.items() if value is not msgspec.UNSET}
        return {**told, "facts": facts}


class StartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation to start: what it is about, and the app that it is held in.

    The app remembers it once it ends; it is the one that asks when None.
    """

    title: Annotated[str | None, asked("What it is about.", shown="[TITLE]", is_argument=True)] = (
        None
    )
    app: Annotated[
        str | None, asked("The app it belongs to; it remembers how it ends.", completes="app")
    ] = None


class EndRequest(ConversationRequest, frozen=True, kw_only=True):
    """Which conversation ends, and what came of it.

    The outcome is kept with the conversation, and as an episode of its own, but not where an
    agent says in it what needs a person's consent.
    """

    outcome: Annotated[
        str | None, asked("What came of it.", shown="[OUTCOME]", is_argument=True)
    ] = None
    conversation: Annotated[
        str | None, asked("Which one.", shown="REF", completes="conversation")
    ] = None


class ConversationsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which conversations to list: all, or those that stand so."""

    status: Annotated[Status | None, asked("Only with this status.")] = None
    at: AsOf = None
    revision: str | None = None


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that has ended, and what its app remembers of it, where it is held in one.

    `withheld` says that the outcome was not kept, as it needs a person's consent.
    """

    conversation: Conversation
    remembered: "Remembered | None" = None
    withheld: bool = False

    @property
    def worked_on(self) -> str:
        """The conversation that models look at."""
        return self.conversation.id

    def to_plain(self) -> Conversation:
        """Return the conversation."""
        return self.conversation


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


_AS_THEY_ARE: Final = [name for name in Overview.__struct_fields__ if name != "chunks"]


class Overviews(msgspec.Struct, frozen=True, kw_only=True):
    """Conversations, the earliest first, and how many there are."""

    items: tuple[Overview, ...]
    total: int


def start(workspace: Workspace, request: StartRequest) -> Conversation:
    """Start a conversation; it becomes the current one."""
    now, app = workspace.now(), request.app or workspace.caller.app
    return workspace.conversations.put(
        Conversation(
            id=workspace.new_id(),
            title=checks.word(request.title, "a title"),
            app=None if app is None else checks.app_name(app),
            started_at=now,
            updated_at=now,
            history=(Event(event=EventKind.ADD, at=now, actor=workspace.actor),),
        )
    )


def say(workspace: Workspace, request: SayRequest) -> SayResult:
    """Add a message to a conversation; what overflows moves into a chunk.

    Facts and key moments are noted, and what a context need not show any more is pruned.
    """
    checks.text(request.content, "a message", MESSAGE_CHARACTERS)
    if request.importance is not None:
        checks.share("importance", request.importance)
    conversation = target(workspace, request.conversation)
    if conversation.status is not Status.ACTIVE:
        raise InvalidValue(
            f"conversation {conversation.id} is {conversation.status}",
            "`pmem conversation resume` makes it active",
        )
    return _heard(workspace, conversation, _message(workspace, request))


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


def _heard(workspace: Workspace, before: Conversation, message: Message) -> SayResult:
    """Take a message in, and everything that follows from it, inside a transaction."""
    conversation = noted(workspace, before, [message])
    conversation, promoted = promoted_at_once(workspace, conversation, before)
    fresh = new_facts(conversation, before)
    beyond = left_out(workspace, message, len(fresh))
    facts = _told_facts(fresh, promoted.items)
    memories = [item.memory.id for item in promoted.items]
    conversation, episodes = noticed(workspace, conversation, message, memories)
    conversation = extend(workspace, conversation, [message], message.created_at)
    conversation, pruned = pruned_if_due(workspace, conversation)
    workspace.conversations.put(conversation)
    return SayResult(
        message=message,
        conversation=conversation.id,
        facts=facts,
        promoted=promoted.items,
        episodes=tuple(episodes),
        pruned=pruned,
        held=promoted.held,
        unpromoted=promoted.unpromoted,
        beyond=beyond,
        filled=filled_beyond(workspace, conversation) or msgspec.UNSET,
    )


def _told_facts(facts: Sequence[Fact], promoted: Sequence[Promotion]) -> tuple[Fact, ...]:
    """Leave out what was promoted or rejected where it was stated before."""
    now = {item.fact.id for item in promoted}
    return tuple(fact for fact in facts if fact.standing == "pending" or fact.id in now)


def pause(workspace: Workspace, request: ConversationRequest) -> Conversation:
    """Pause a conversation."""
    return _with_status(workspace, target(workspace, request.conversation), Status.PAUSED)


def resume(workspace: Workspace, request: ConversationRequest) -> Conversation:
    """Make a paused or ended conversation active again.

    Without a reference that is the latest paused one, or where none is paused the one that ended
    last.
    """
    conversation = None
    if request.conversation is None and current(workspace, Status.PAUSED) is None:
        ended = (one for one in workspace.conversations.find() if one.status is Status.ENDED)
        conversation = max(
            ended, key=lambda one: (one.ended_at or one.updated_at, one.id), default=None
        )
    if conversation is None:
        conversation = target(workspace, request.conversation, Status.PAUSED)
    return _with_status(workspace, workspace.conversations.get(conversation.id), Status.ACTIVE)


def end(workspace: Workspace, request: EndRequest) -> Ended:
    """End a conversation, and let its app remember it.

    Returns:
        That the conversation ends depends neither on its outcome nor on what its app remembers.
    """
    outcome = request.outcome
    with workspace.transaction():
        conversation = target(workspace, request.conversation)
        episode = None if outcome is None else outcome_of(workspace, conversation, outcome)
        ended = _with_status(workspace, conversation, Status.ENDED, episode)
    withheld = outcome is not None and ended.outcome != outcome.strip()
    if ended.app is None:
        return Ended(conversation=ended, withheld=withheld)
    from pmem.apps.remembering import on_end

    return Ended(conversation=ended, remembered=on_end(workspace, ended), withheld=withheld)


def _with_status(
    workspace: Workspace, before: Conversation, status: Status, episode: Episode | None = None
) -> Conversation:
    """Put a conversation with another status, and the episode of its outcome."""
    if before.status is status and episode is None:
        return before
    event = Event(event=EventKind.UPDATE, at=workspace.now(), actor=workspace.actor)
    fields: dict[str, Any] = {"status": status, "ended_at": None}
    if status is Status.ENDED:
        fields["ended_at"] = before.ended_at or event.at
    if episode is not None:
        fields["outcome"] = episode.outcome
        fields["milestones"] = (*before.milestones, episode.id)
    after = changed(before, event, **fields)
    if status is Status.ACTIVE:
        after, _ = pruned_if_due(workspace, after, resumed=True)
    return workspace.conversations.put(after)


def clear(workspace: Workspace, request: ConversationRequest) -> Conversation:
    """Let contexts of a conversation start afresh; every message stays kept and searchable."""
    conversation = target(workspace, request.conversation)
    if conversation.cleared_turns == conversation.turns:
        return conversation
    event = Event(event=EventKind.UPDATE, at=workspace.now(), actor=workspace.actor)
    fields = {"cleared_turns": conversation.turns, "merged_chunks": len(conversation.chunks)}
    return workspace.conversations.put(changed(conversation, event, **fields))


def list_conversations(workspace: Workspace, request: ConversationsRequest) -> Overviews:
    """Return the conversations that stand as asked for, the earliest first."""
    found = [
        Overview(
            chunks=len(conversation.chunks),
            **{name: getattr(conversation, name) for name in _AS_THEY_ARE},
        )
        for conversation in workspace.conversations.find()
        if request.status in (None, conversation.status)
    ]
    found.sort(key=lambda item: (item.started_at, item.id))
    return Overviews(items=tuple(found), total=len(found))


def show(workspace: Workspace, request: LookRequest) -> Transcript:
    """Return a conversation with everything that was said in it."""
    return unfold(workspace, target(workspace, request.conversation))
