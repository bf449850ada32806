"""Work on what was said: summaries, facts, how moments are told, and workflows as steps."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import asdict, replace

from pmem.apps.remembering import KIND, left_before, put_app_memory
from pmem.core.extraction.facts import key
from pmem.core.filters import Filter
from pmem.core.retention import changed
from pmem.core.summaries import summary
from pmem.errors import Damaged, NotFound
from pmem.memory.app_questions import talk_given, told_message, told_messages
from pmem.memory.conversations import unfold
from pmem.memory.facts import promoted_at_once
from pmem.memory.memories import put_new
from pmem.memory.requests import AddRequest
from pmem.model import tasks
from pmem.model.models import AnswerRefused
from pmem.project.caller import check_leave
from pmem.project.workspace import Workspace
from pmem.values import records
from pmem.values.ids import derived_id, short

SHORTEST_SUMMARY: Final = 80  # characters below which there is no use in asking for a summary
CHARACTERS_A_TOKEN: Final = 4
LEAST_CHARACTERS: Final = 200  # from which length on a model looks for facts in a message
_BEFORE: Final = 500  # characters of what was said just before
_LEAST, _PER_POINT = 0.4, 0.1
"""An importance of 5 makes a fact as sure as one that is promoted at once."""
MOST_OF_EPISODE: Final = 30
MOST_OF_PROCEDURE: Final = 40
"""Messages that are told."""
FEWEST_TURNS: Final = 6
LEAST_SIGNIFICANCE: Final = 0.5

Changed = tuple[str, ...]
"""The ids of the records that an answer changed; none where it led to nothing."""


class WorkKind(NamedTuple):
    """One kind of work: where there is some, what is asked, and what an answer changes.

    `waiting` yields the names of what there may be work for, of one conversation if its id is
    given. `given` returns what is asked about one, as the records are now; it returns None, or
    misses a record, where there is no such work or a model has done it. `apply` changes records by
    a checked answer, inside a transaction that found its source unmoved, and returns which.
    """

    waiting: Callable[[Workspace, str | None], Iterable[str]]
    given: Callable[[Workspace, str], tasks.Given | None]
    apply: Callable[[Workspace, str, Any, records.Origin], Changed]


def _talks(workspace: Workspace, about: str | None) -> Iterator[records.Conversation]:
    for identifier in reversed([about] if about else workspace.conversations.ids()):
        yield workspace.conversations.get(identifier)


def _is_by_model(record: records.Memory | records.Episode) -> bool:
    return any("digest" in event.detail for event in record.history)


# what apps remember of conversations that have ended; a name is a conversation's id


def _ended_talks(workspace: Workspace, about: str | None) -> Iterator[str]:
    return (talk.id for talk in _talks(workspace, about) if _is_over(talk))


def _ended_talk(workspace: Workspace, name: str) -> tasks.ConversationGiven | None:
    conversation = workspace.conversations.get(name)
    left = left_before(workspace, _app_memory(conversation)) if _is_over(conversation) else None
    if left is None or _is_by_model(left):
        return None
    return talk_given(workspace, conversation.app or "", unfold(workspace, conversation))


def _renew_app_memory(
    workspace: Workspace, name: str, answer: tasks.SummaryAnswer, made_by: records.Origin
) -> Changed:
    if not answer.summary:  # the rules' one stays
        return ()
    wanted = _app_memory(workspace.conversations.get(name), answer.summary)
    done = put_app_memory(workspace, wanted, asdict(made_by))
    return () if done.memory is None or done.action == "known" else (done.memory.id,)


def _is_over(conversation: records.Conversation) -> bool:
    return conversation.app is not None and conversation.status is records.Status.ENDED


def _app_memory(conversation: records.Conversation, content: str = "") -> AddRequest:
    source = records.Source(kind=KIND, conversation=conversation.id)
    return AddRequest(content=content, app=conversation.app, source=source)


# summaries of older messages; a name is a chunk's id


def _chunks(workspace: Workspace, about: str | None) -> Iterator[str]:
    for conversation in _talks(workspace, about):
        yield from _chunks_of_their_own(conversation)


def _chunks_of_their_own(conversation: records.Conversation) -> tuple[str, ...]:
    """Return the chunks whose summaries are of their messages alone."""
    merged = conversation.merged_chunks
    return conversation.chunks[merged + 1 if merged else 0 :]


def _chunk(workspace: Workspace, name: str) -> tasks.ChunkGiven | None:
    chunk = workspace.chunks.get(name)
    conversation = workspace.conversations.get(chunk.conversation)
    if chunk.made_by is not None or name not in _chunks_of_their_own(conversation):
        return None
    cleared = conversation.cleared_turns
    if cleared:
        earlier = conversation.chunks[: conversation.chunks.index(name)]
        cleared -= sum(len(workspace.chunks.get(each).messages) for each in earlier)
    messages = chunk.messages[max(0, cleared) :]
    most = sum(message.tokens for message in messages) * summary.SHARE
    characters = int(most) * CHARACTERS_A_TOKEN
    if characters < SHORTEST_SUMMARY:
        return None
    return tasks.ChunkGiven(messages=told_messages(messages), most_characters=characters)


def _summarise_chunk(
    workspace: Workspace, name: str, answer: tasks.SummaryAnswer, made_by: records.Origin
) -> Changed:
    chunk, text = workspace.chunks.get(name), answer.summary
    tokens = workspace.count(text)
    workspace.chunks.put(replace(chunk, summary=text, tokens=tokens, made_by=made_by))
    return (name,)


# how key moments are told; a name is an episode's id


def _episodes(workspace: Workspace, about: str | None) -> Iterator[str]:
    found = [one for one in workspace.episodes.find(Filter()) if one.turns and one.conversation]
    return (one.id for one in reversed(found) if about in (None, one.conversation))


def _episode(workspace: Workspace, name: str) -> tasks.EpisodeGiven | None:
    episode = workspace.episodes.get(name)
    told = any({"title", "summary"} & event.before.keys() for event in episode.history)
    if episode.state is not records.State.ACTIVE or told or _is_by_model(episode):
        return None
    stretch = _stretch(workspace, episode)
    if not stretch:
        return None
    return tasks.EpisodeGiven(type=episode.type, messages=told_messages(stretch, MOST_OF_EPISODE))


def _stretch(workspace: Workspace, episode: records.Episode) -> tuple[records.Message, ...]:
    """Return the messages of an episode; none where no conversation made it."""
    if episode.turns is None or episode.conversation is None:
        return ()
    said = unfold(workspace, workspace.conversations.get(episode.conversation)).messages
    return said[max(0, episode.turns.start - 1) : episode.turns.end]


def _tell_episode(
    workspace: Workspace, name: str, answer: tasks.EpisodeAnswer, made_by: records.Origin
) -> Changed:
    episode = workspace.episodes.get(name)
    check_leave(workspace, episode, "let a person do this work")
    event = replace(workspace.event(records.EventKind.UPDATE, **asdict(made_by)), source="model")
    fields = {"title": answer.title, "summary": answer.summary}
    tokens = workspace.count(answer.summary)
    workspace.episodes.put(changed(episode, event, tokens=tokens, **fields))
    return (name,)


# workflows that led to finished tasks, as steps; a name is an episode's id


def _finished_tasks(workspace: Workspace, about: str | None) -> Iterator[str]:
    found = [
        one.id
        for one in workspace.episodes.find(Filter())
        if one.type is records.EpisodeType.TASK_COMPLETED
        and one.significance >= LEAST_SIGNIFICANCE
        and about in (None, one.conversation)
    ]
    return reversed(found)


def _finished_task(workspace: Workspace, name: str) -> tasks.ProcedureGiven | None:
    episode = workspace.episodes.get(name)
    stretch = _stretch(workspace, episode)
    is_written = any(
        memory.type is records.MemoryType.PROCEDURE
        and memory.source.conversation == episode.conversation
        for memory in workspace.memories.find(Filter())
    )
    if len(stretch) < FEWEST_TURNS or is_written:
        return None
    return tasks.ProcedureGiven(
        task=episode.title, messages=told_messages(stretch, MOST_OF_PROCEDURE)
    )


def _add_procedure(
    workspace: Workspace, name: str, answer: tasks.ProcedureAnswer, made_by: records.Origin
) -> Changed:
    if not answer.steps:
        return ()
    episode = workspace.episodes.get(name)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(answer.steps, 1))
    content = f"{answer.title}:\n{steps}"
    if len(content) > workspace.settings.limits.memory:
        raise AnswerRefused("the steps are longer than a memory may be")
    request = AddRequest(
        content=content,
        type=records.MemoryType.PROCEDURE,
        app=episode.app,
        source=records.Source(kind="conversation", conversation=episode.conversation),
    )
    added = put_new(workspace, request, **asdict(made_by))
    return (added.record.id,) if added.action == "added" and added.record is not None else ()


# facts in what people said at length; a name is a conversation's id and a message's


class _Place(NamedTuple):
    """Where a message stands, and what was said before it there."""

    conversation: records.Conversation
    chunk: records.Chunk | None
    message: records.Message
    before: str

    @property
    def facts(self) -> tuple[records.Fact, ...]:
        return self.conversation.facts if self.chunk is None else self.chunk.facts


def _long_messages(workspace: Workspace, about: str | None) -> Iterator[str]:
    for talk in _talks(workspace, about):
        older = (_messages_of(workspace, name) for name in reversed(talk.chunks))
        for said in (talk.recent_messages[::-1], *older):
            for message in said:
                if message.role == "user" and len(message.content) >= LEAST_CHARACTERS:
                    yield f"{talk.id}/{message.id}"


def _long_message(workspace: Workspace, name: str) -> tasks.TurnGiven | None:
    place = _place_of(workspace, name)
    if place is None or not workspace.settings.extract_facts:
        return None
    stated = [fact for fact in place.facts if fact.message == place.message.id]
    if any(fact.made_by is not None for fact in stated):
        return None
    said = told_message(place.message)
    known = tuple(sorted(fact.content for fact in stated))
    return tasks.TurnGiven(who=said.who, text=said.text, before=place.before, known=known)


def _note_facts(
    workspace: Workspace, name: str, answer: tasks.FactsAnswer, made_by: records.Origin
) -> Changed:
    """Note the facts that are new; the surest of a recent message become memories, as by rules."""
    place = _place_of(workspace, name)
    assert place is not None
    known = {short(fact.id) for fact in place.facts}
    found = [_noted_fact(fact, place.message, made_by) for fact in answer.facts]
    new = {short(fact.id): fact for fact in found if short(fact.id) not in known}
    if not new:
        return ()
    facts = (*place.facts, *new.values())
    if place.chunk is not None:
        workspace.chunks.put(replace(place.chunk, facts=facts))
        return (place.chunk.id,)
    before = sum(
        fact.message == place.message.id and fact.standing is records.Standing.PROMOTED
        for fact in place.facts
    )
    grown = replace(place.conversation, facts=facts)
    done, promoted = promoted_at_once(workspace, grown, place.conversation, already=before)
    workspace.conversations.put(done)
    return (done.id, *(item.memory.id for item in promoted.items))


def _noted_fact(
    fact: tasks.FoundFact, message: records.Message, made_by: records.Origin
) -> records.Fact:
    return records.Fact(
        id=derived_id(message.created_at, "fact", key(fact.content)),
        content=fact.content,
        type=records.MemoryType(fact.type),
        confidence=round(_LEAST + _PER_POINT * fact.importance, 2),
        user=message.speaker,
        message=message.id,
        extracted_at=message.created_at,
        made_by=made_by,
    )


def _messages_of(workspace: Workspace, chunk: str) -> tuple[records.Message, ...]:
    try:
        return workspace.chunks.get(chunk).messages
    except (NotFound, Damaged):
        return ()


def _place_of(workspace: Workspace, name: str) -> _Place | None:
    """Find a message where it stands first."""
    identifier, _, wanted = name.partition("/")
    conversation = workspace.conversations.get(identifier)
    for chunk in (*conversation.chunks, None):
        said = conversation.recent_messages if chunk is None else _messages_of(workspace, chunk)
        for number, message in enumerate(said):
            if message.id == wanted:
                before = told_message(said[number - 1]).text[-_BEFORE:] if number else ""
                held = None if chunk is None else workspace.chunks.get(chunk)
                return _Place(conversation, held, message, before)
    return None


KINDS_OF_TALK: Final[Mapping[tasks.TaskKind, WorkKind]] = {
    "conversation_summary": WorkKind(_ended_talks, _ended_talk, _renew_app_memory),
    "turn_facts": WorkKind(_long_messages, _long_message, _note_facts),
    "episode": WorkKind(_episodes, _episode, _tell_episode),
    "chunk_summary": WorkKind(_chunks, _chunk, _summarise_chunk),
    "procedure": WorkKind(_finished_tasks, _finished_task, _add_procedure),
}
