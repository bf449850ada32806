"""Summaries of older messages."""

from collections.abc import Iterator

from msgspec.structs import replace

from pmem.core.summaries import summary
from pmem.errors import Damaged, NotFound
from pmem.memory.app_questions import told_messages
from pmem.model.tasks import ChunkGiven, SummaryAnswer
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed
from pmem.values.records import Chunk, Message, Origin

CHARACTERS_A_TOKEN = 4
SHORTEST = 80
"""Characters below which there is no use in asking."""


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the chunks that may wait for a summary, the latest conversation's first."""
    for identifier in reversed([about] if about else workspace.conversations.ids()):
        conversation = workspace.conversations.get(identifier)
        yield from conversation.chunks[_first_of_its_own(conversation.merged_chunks) :]


def given(workspace: Workspace, name: str) -> ChunkGiven | None:
    """Return what there is to sum up; None where the summary is made of others' or a model's."""
    try:
        chunk = workspace.chunks.get(name)
        messages = _summed_up(workspace, chunk)
    except (NotFound, Damaged):
        return None
    most = sum(message.tokens for message in messages) * summary.SHARE
    characters = int(most) * CHARACTERS_A_TOKEN
    if chunk.made_by is not None or characters < SHORTEST:
        return None
    return ChunkGiven(messages=told_messages(messages), most_characters=characters)


def apply(workspace: Workspace, name: str, answer: SummaryAnswer, made_by: Origin) -> Changed:
    """Give a chunk another summary."""
    chunk, text = workspace.chunks.get(name), answer.summary
    tokens = workspace.count(text)
    workspace.chunks.put(replace(chunk, summary=text, tokens=tokens, made_by=made_by))
    return (name,)


def _first_of_its_own(merged: int) -> int:
    """Return the place of the first chunk whose summary is of its messages alone."""
    return merged + 1 if merged else 0


def _summed_up(workspace: Workspace, chunk: Chunk) -> tuple[Message, ...]:
    """Return the messages that a chunk's summary is of; none where it is not of its own alone."""
    conversation = workspace.conversations.get(chunk.conversation)
    if chunk.id not in conversation.chunks:
        return ()
    place = conversation.chunks.index(chunk.id)
    if place < _first_of_its_own(conversation.merged_chunks):
        return ()
    if not conversation.cleared_turns:
        return chunk.messages
    earlier = map(workspace.chunks.get, conversation.chunks[:place])
    cleared = conversation.cleared_turns - sum(len(each.messages) for each in earlier)
    return chunk.messages[max(0, cleared) :]
