"""Episodes: key moments of conversations, noticed as they happen or added by hand."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Final

import msgspec

from pmem.core import checks
from pmem.core.extraction.episodes import REACH, Arc, Moment, arc, moments
from pmem.core.filters import Filter, rejected_by
from pmem.core.lines import shortened
from pmem.core.policy import EVENT
from pmem.core.text.speech import is_talk
from pmem.errors import Damaged, InvalidValue, NotFound
from pmem.memory.conversations import LookRequest, conversation_named, target
from pmem.memory.reading import ShowRequest
from pmem.project.caller import reaches
from pmem.project.workspace import Workspace
from pmem.values.fields import AsOf, OfConversation, asked
from pmem.values.ids import derived_id
from pmem.values.records import (
    Conversation,
    Episode,
    EpisodeType,
    EventKind,
    Memory,
    Message,
    State,
    TurnRange,
)

MESSAGES: Final = "import messages"
"""The source of a conversation that was given as messages, by whoever has them."""


class EpisodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An episode to add; the title is the summary's start when it is left out.

    `start` and `end` are turns of the conversation, counted from one.
    """

    summary: Annotated[
        str, asked("What happened.", shown="TEXT|-", reading="text", is_argument=True)
    ]
    title: Annotated[str | None, asked("A few words [the text's start].")] = None
    type: Annotated[EpisodeType, asked("What kind of moment.")] = EpisodeType.DECISION_MADE
    context: Annotated[str, asked("What led to it.")] = ""
    outcome: Annotated[str | None, asked("What came of it.")] = None
    participants: Annotated[tuple[str, ...], asked("Who took part.", flag="--participant")] = ()
    valence: Annotated[float, asked("How it felt, from -1 to 1.")] = 0.0
    significance: Annotated[float, asked("From 0 to 1.")] = 0.5
    conversation: Annotated[
        str | None,
        asked("The conversation in which it happened.", shown="REF", completes="conversation"),
    ] = None
    start: Annotated[int | None, asked("Its first turn.", shown="TURN")] = None
    end: Annotated[int | None, asked("Its last turn.", shown="TURN")] = None
    memories: Annotated[
        tuple[str, ...],
        asked("A memory that belongs to it.", flag="--memory", shown="REF", completes="memory"),
    ] = ()
    tags: Annotated[tuple[str, ...], asked("A tag.", flag="--tag", completes="tag")] = ()


class EpisodesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which episodes to list: the latest of those that pass, at the most so many.

    An empty field lets everything through; `at` lists them as they were.
    """

    types: Annotated[tuple[EpisodeType, ...], asked("Only this kind.", flag="--type")] = ()
    conversation: OfConversation = None
    above: Annotated[float, asked("At least this significant, from 0 to 1.", shown="N")] = 0.0
    states: tuple[State, ...] = (State.ACTIVE,)
    limit: Annotated[int | None, asked("Only the latest N.", least=0)] = None
    at: AsOf = None
    revision: str | None = None


class EpisodeListing(msgspec.Struct, frozen=True, kw_only=True):
    """Episodes that pass the filters, and how many there are in all."""

    items: tuple[Episode, ...]
    total: int


def add(workspace: Workspace, request: EpisodeRequest) -> Episode:
    """Add an episode."""
    _hold_to_rules(workspace, request.summary)
    named = request.conversation
    conversation = None if named is None else conversation_named(workspace, named)
    episode = workspace.episodes.put(_make_episode(workspace, request, conversation))
    if conversation is not None:
        workspace.conversations.put(
            msgspec.structs.replace(
                conversation,
                milestones=(*conversation.milestones, episode.id),
                updated_at=max(episode.created_at, conversation.updated_at),
            )
        )
    return episode


def _hold_to_rules(workspace: Workspace, summary: str) -> None:
    """Tell what could be written better in an episode, or refuse it where rules are enforced."""
    from pmem.core.style_rules import lints

    is_agent = workspace.caller.agent is not None
    wanted = workspace.settings.writing.lint
    broken = lints(summary, episodic=True)
    if is_agent:
        from pmem.memory.proposals import check_rules

        check_rules(workspace.settings, broken)
    if wanted == "everyone" or (wanted == "agents" and is_agent):
        workspace.notes += [f"better: {lint.sentence}" for lint in broken]


def noticed(
    workspace: Workspace,
    conversation: Conversation,
    message: Message,
    memories: Iterable[str] = (),
) -> tuple[Conversation, list[Episode]]:
    """Keep the key moments that a message makes, which its conversation is still without.

    The episodes lead to `memories`, the ids of those that the message was promoted to.

    Returns:
        The conversation with its new milestones, and the episodes.
    """
    if not _may_notice(workspace) or not is_talk(message):
        return conversation, []
    said = (*last_said(workspace, conversation), message)
    made = _keep(workspace, conversation, said, conversation.turns + 1, tuple(memories))
    milestones = (*conversation.milestones, *(episode.id for episode in made))
    return msgspec.structs.replace(conversation, milestones=milestones), made


def noticed_at_import(
    workspace: Workspace,
    conversation: Conversation,
    before: Sequence[Message],
    fresh: Sequence[Message],
) -> Conversation:
    """Keep the key moments of messages that a transcript brings, as if they were said one by one.

    The same messages make the same episodes on every machine; of each no more than the messages
    just before it are read. Those of a session of another program say that it came in from there,
    so that nothing tells them before a person agrees (see `core.trust`).

    Returns:
        The conversation with its new milestones.
    """
    if not _may_notice(workspace):
        return conversation
    said = (*before[-REACH:], *fresh)
    turns = conversation.turns - min(len(before), REACH)
    made: list[Episode] = []
    for end in range(len(said) - len(fresh) + 1, len(said) + 1):
        heard = said[max(0, end - REACH - 1) : end]
        made += _keep(workspace, conversation, heard, turns + end, (), is_imported=True)
    milestones = dict.fromkeys((*conversation.milestones, *(episode.id for episode in made)))
    return msgspec.structs.replace(conversation, milestones=tuple(milestones))


def last_said(workspace: Workspace, conversation: Conversation) -> tuple[Message, ...]:
    """Return the last messages of a conversation, those of its last chunks with them if needed."""
    said = conversation.recent_messages
    chunks = list(conversation.chunks) if conversation.cleared_turns == 0 else []
    with suppress(NotFound, Damaged):  # a damaged chunk stops no conversation
        while chunks and len(said) < REACH:
            said = (*workspace.chunks.get(chunks.pop()).messages, *said)
    return said[-REACH:]


def _may_notice(workspace: Workspace) -> bool:
    return workspace.settings.detect_episodes and reaches(workspace, EVENT)


def _keep(
    workspace: Workspace,
    conversation: Conversation,
    said: Sequence[Message],
    turn: int,
    memories: tuple[str, ...],
    *,
    is_imported: bool = False,
) -> list[Episode]:
    """Keep the moments that the last of the messages makes, except what needs consent."""
    made = []
    came = conversation.history[0].source if is_imported and conversation.history else ""
    source = "" if came == MESSAGES else came
    for moment in moments(said):
        name = None
        if is_imported:
            name = derived_id(said[-1].created_at, conversation.id, said[-1].id, moment.type)
        episode = _from_moment(workspace, conversation, moment, said, turn, memories, name, source)
        if not _needs_consent(workspace, episode):
            made.append(workspace.episodes.put(episode))
    return made


def _needs_consent(workspace: Workspace, episode: Episode) -> bool:
    """Tell whether an episode says something that nobody has agreed to keep."""
    from pmem.core.consent import field_of

    return field_of(episode, workspace.settings.consent.fields) is not None


def list_episodes(workspace: Workspace, wanted: EpisodesRequest) -> EpisodeListing:
    """Return the episodes that pass a filter, the oldest first."""
    limit = wanted.limit
    only = wanted.conversation and conversation_named(workspace, wanted.conversation).id
    found = [
        episode
        for episode in workspace.episodes.find(Filter(states=wanted.states))
        if episode.significance >= wanted.above
        and (not wanted.types or episode.type in wanted.types)
        and only in (None, episode.conversation)
    ]
    found.sort(key=lambda episode: (episode.created_at, episode.id))
    shown = found if limit is None else found[max(0, len(found) - limit) :]
    return EpisodeListing(items=tuple(shown), total=len(found))


def show(workspace: Workspace, request: ShowRequest) -> Episode:
    """Return an episode."""
    _, identifier = workspace.resolve(request.reference, Episode)
    return workspace.episodes.get(identifier)


def narrative(workspace: Workspace, request: LookRequest) -> Arc:
    """Return the narrative arc of a conversation: its episodes by thirds, and its key moments."""
    conversation = target(workspace, request.conversation)
    active = Filter()
    own = [
        episode
        for episode in workspace.episodes.find()
        if episode.conversation == conversation.id and rejected_by(episode, active) is None
    ]
    return arc(own, conversation.turns)


def outcome_of(workspace: Workspace, conversation: Conversation, outcome: str) -> Episode | None:
    """Make the episode that keeps what came of a conversation.

    None is made where an agent says something that nobody has agreed to keep.
    """
    said = conversation.recent_messages
    title = conversation.title or conversation.external_id
    request = EpisodeRequest(
        type=EpisodeType.TASK_COMPLETED,
        title=shortened(title, 200) if title else None,
        summary=checks.text(outcome, "an outcome", workspace.settings.limits.memory),
        outcome=outcome,
        participants=tuple(sorted({message.speaker or message.role for message in said})),
        start=1 if conversation.turns else None,
    )
    episode = _make_episode(workspace, request, conversation)
    if workspace.caller.agent is not None and _needs_consent(workspace, episode):
        return None
    return workspace.episodes.put(episode)


def _make_episode(
    workspace: Workspace, request: EpisodeRequest, conversation: Conversation | None
) -> Episode:
    """Make the record that a request asks for, every value checked."""
    most = workspace.settings.limits.memory
    summary = checks.text(request.summary, "a summary", most)
    given = (request.context, request.outcome)
    context, outcome = (text and checks.text(text, "a text", most) for text in given)
    if not -1 <= request.valence <= 1:
        raise InvalidValue(f"valence must lie between -1 and 1, not {request.valence:g}")
    return _episode(
        workspace,
        workspace.now(),
        type=request.type,
        title=checks.word(request.title, "a title") or shortened(summary.split("\n")[0], 80),
        summary=summary,
        context=context or "",
        participants=tuple(
            name for given in request.participants if (name := checks.word(given, "a participant"))
        ),
        outcome=outcome,
        valence=request.valence,
        significance=checks.share("significance", request.significance),
        linked_memories=tuple(
            workspace.resolve(reference, Memory)[1] for reference in request.memories
        ),
        conversation=conversation.id if conversation else None,
        app=conversation.app if conversation else workspace.caller.app,
        turns=_turns(request, conversation),
        tags=checks.tags(request.tags),
    )


def _turns(request: EpisodeRequest, conversation: Conversation | None) -> TurnRange | None:
    if request.start is None and request.end is None:
        return None
    if conversation is None:
        raise InvalidValue("turns are a conversation's", "give --conversation")
    start = 1 if request.start is None else request.start
    end = conversation.turns if request.end is None else request.end
    if not 1 <= start <= end <= conversation.turns:
        raise InvalidValue(
            f"turns {start} to {end} do not lie within the {conversation.turns} of the conversation"
        )
    return TurnRange(start=start, end=end)


def _from_moment(
    workspace: Workspace,
    conversation: Conversation,
    moment: Moment,
    said: Sequence[Message],
    turn: int,
    memories: tuple[str, ...],
    name: str | None,
    source: str,
) -> Episode:
    """Make the episode of a moment, which the last of some messages made at a turn."""
    fields = moment._asdict()
    start = turn - len(said) + 1 + fields.pop("first")
    return _episode(
        workspace,
        said[-1].created_at,
        id=name or workspace.new_id(),
        conversation=conversation.id,
        app=conversation.app,
        turns=TurnRange(start=start, end=turn),
        linked_memories=memories,
        source=source,
        **fields,
    )


def _episode(
    workspace: Workspace, at: datetime, summary: str, source: str = "", **fields: object
) -> Episode:
    fields.setdefault("id", workspace.new_id())
    return Episode(
        summary=summary,
        created_at=at,
        updated_at=at,
        tokens=workspace.count(summary),
        history=(msgspec.structs.replace(workspace.event(EventKind.ADD), at=at, source=source),),
        **fields,  # type: ignore[arg-type]
    )
