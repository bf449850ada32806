"""Facts in what people said at length."""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from pmem.core.extraction.facts import key
from pmem.errors import Damaged, NotFound
from pmem.memory.app_questions import told_message
from pmem.memory.facts import promoted_at_once
from pmem.model.tasks import FactsAnswer, FoundFact, TurnGiven
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed, is_talk_of_person
from pmem.values.ids import derived_id, short
from pmem.values.records import Chunk, Conversation, Fact, MemoryType, Message, Origin, Standing

LEAST_CHARACTERS: Final = 200
"""From which length on a model looks for facts in a message."""
_BEFORE = 500
"""Characters of what was said just before."""
_LEAST, _PER_POINT = 0.4, 0.1
"""An importance of 5 makes a fact as sure as one that is promoted at once."""


class _Place(msgspec.Struct, frozen=True):
    """Where a message stands, and what was said before it there."""

    conversation: Conversation
    chunk: Chunk | None
    message: Message
    before: str

    @property
    def facts(self) -> tuple[Fact, ...]:
        return self.conversation.facts if self.chunk is None else self.chunk.facts


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the messages of people that are long enough, the latest conversation's first."""
    for identifier in reversed([about] if about else workspace.conversations.ids()):
        conversation = workspace.conversations.get(identifier)
        for message in reversed(conversation.recent_messages):
            if is_talk_of_person(message, LEAST_CHARACTERS):
                yield f"{identifier}/{message.id}"
        for name in reversed(conversation.chunks):
            for message in _messages_of(workspace, name):
                if is_talk_of_person(message, LEAST_CHARACTERS):
                    yield f"{identifier}/{message.id}"


def given(workspace: Workspace, name: str) -> TurnGiven | None:
    """Return what was said; None where a model has found facts in it, or it is gone."""
    place = _find(workspace, name)
    if place is None or not workspace.settings.extract_facts:
        return None
    stated = [fact for fact in place.facts if fact.message == place.message.id]
    if any(fact.made_by is not None for fact in stated):
        return None
    said = told_message(place.message)
    return TurnGiven(
        who=said.who,
        text=said.text,
        before=place.before,
        known=tuple(sorted(fact.content for fact in stated)),
    )


def apply(workspace: Workspace, name: str, answer: FactsAnswer, made_by: Origin) -> Changed:
    """Note the facts that are new; the surest of a recent message become memories, as by rules."""
    place = _find(workspace, name)
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
    grown = replace(place.conversation, facts=facts)
    done, promoted = promoted_at_once(
        workspace, grown, place.conversation, already=_promoted_before(place)
    )
    workspace.conversations.put(done)
    return (done.id, *(item.memory.id for item in promoted.items))


def _noted_fact(fact: FoundFact, message: Message, made_by: Origin) -> Fact:
    return Fact(
        id=derived_id(message.created_at, "fact", key(fact.content)),
        content=fact.content,
        type=MemoryType(fact.type),
        confidence=round(_LEAST + _PER_POINT * fact.importance, 2),
        user=message.speaker,
        message=message.id,
        extracted_at=message.created_at,
        made_by=made_by,
    )


def _promoted_before(place: _Place) -> int:
    return sum(
        fact.message == place.message.id and fact.standing is Standing.PROMOTED
        for fact in place.facts
    )


def _messages_of(workspace: Workspace, chunk: str) -> tuple[Message, ...]:
    try:
        return workspace.chunks.get(chunk).messages
    except (NotFound, Damaged):
        return ()


def _find(workspace: Workspace, name: str) -> _Place | None:
    """Find a message where it stands first."""
    identifier, _, wanted = name.partition("/")
    try:
        conversation = workspace.conversations.get(identifier)
    except (NotFound, Damaged):
        return None
    for chunk in (*conversation.chunks, None):
        said = conversation.recent_messages if chunk is None else _messages_of(workspace, chunk)
        for number, message in enumerate(said):
            if message.id == wanted:
                before = told_message(said[number - 1]).text[-_BEFORE:] if number else ""
                held = None if chunk is None else workspace.chunks.get(chunk)
                return _Place(conversation, held, message, before)
    return None
