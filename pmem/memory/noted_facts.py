"""Facts noted as messages state them, each once, and what a correction takes the place of."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, takewhile
from typing import Final

import msgspec

from pmem.core.extraction.attempts import FAILED, failed_attempts
from pmem.core.extraction.facts import NEAR, corrected, extract, is_correction, key, with_corrected
from pmem.core.lines import shortened
from pmem.core.outcomes import describe_attempt
from pmem.core.places import exact_place
from pmem.core.text.commands import edited_files
from pmem.core.text.paths import named_paths
from pmem.core.text.speech import Speech, is_talk, speech_of
from pmem.core.visible import visible
from pmem.project.workspace import Workspace
from pmem.values.ids import derived_id, short
from pmem.values.records import Conversation, Fact, MemoryType, Message, Role, Standing

_FIRST_WORDS: Final = "“{}”"
"""How the title is written of a conversation that nobody gave one."""
_TITLE: Final = 60
"""Characters of such a title."""
MOST_FACTS: Final = 5
"""Facts noted of one message."""


def noted(
    workspace: Workspace, conversation: Conversation, messages: Iterable[Message]
) -> Conversation:
    """Return a conversation with the facts that messages state, those it knows left out.

    What a person corrects takes the place of what is pending and was said just before.
    """
    fresh = tuple(messages)
    new = stated(workspace, fresh, conversation.facts, conversation.title)
    facts = (*conversation.facts, *new)
    said = [one for one in (*conversation.recent_messages, *fresh) if is_talk(one)]
    ids = {message.id for message in fresh}
    for place, message in enumerate(said):
        if message.id in ids and message.role is Role.USER and is_correction(message.content):
            facts = _after_correction(facts, said[max(0, place - NEAR) : place], message.id)
    return msgspec.structs.replace(conversation, facts=facts)


def _after_correction(
    facts: tuple[Fact, ...], before: Sequence[Message], correcting: str
) -> tuple[Fact, ...]:
    """Return facts without the one that a message corrects by the first that it states."""
    near = {message.id for message in before}
    new = next((fact for fact in facts if fact.message == correcting), None)
    old = [one for one in facts if one.message in near and one.standing is Standing.PENDING]
    place = None if new is None else corrected(new.content, [one.content for one in old])
    if new is None or place is None:
        return facts
    content = with_corrected(new.content, old[place].content)
    renewed = msgspec.structs.replace(new, content=content)
    return tuple(renewed if one is new else one for one in facts if one is not old[place])


def stated(
    workspace: Workspace, messages: Iterable[Message], known: Iterable[Fact], title: str | None
) -> tuple[Fact, ...]:
    """Return the facts that messages state, each once, those that are known left out.

    A decision that names no subject is about what the conversation is called.
    """
    fresh: dict[str, Fact] = {}
    said = tuple(messages) if workspace.settings.extract_facts else ()
    for place, message in enumerate(said):
        found = [*_facts_of(message, title), *_dead_ends_of(workspace, said, place)]
        surest = sorted(found, key=lambda one: -one.confidence)[:MOST_FACTS]
        for fact in (one for one in found if one in surest):
            fresh.setdefault(short(fact.id), fact)
    for fact in known if fresh else ():
        fresh.pop(short(fact.id), None)
    return tuple(fresh.values())


def states_anything(workspace: Workspace, messages: Iterable[Message]) -> bool:
    """Tell whether any message states a fact; it stops at the first."""
    return workspace.settings.extract_facts and any(map(extract, messages))


def left_out(workspace: Workspace, message: Message, noted_: int) -> int:
    """Return how many facts of a message were not noted, as one message states at most so many."""
    if not workspace.settings.extract_facts or noted_ < MOST_FACTS:
        return 0
    return max(0, len({short(fact.id) for fact in _facts_of(message, None)}) - MOST_FACTS)


def _facts_of(message: Message, title: str | None) -> Iterator[Fact]:
    """Yield the facts of a message; those that say the same have the same short id."""
    for found in extract(message):
        about = title if found.type is MemoryType.DECISION and not _is_first_words(title) else None
        yield Fact(
            id=derived_id(message.created_at, "fact", key(found.content)),
            content=found.content,
            type=found.type,
            confidence=found.confidence,
            subject=found.subject or about,
            user=message.speaker,
            message=message.id,
            extracted_at=message.created_at,
        )


def first_words(messages: Iterable[Message]) -> str | None:
    """Return the first words that a person says, in quotes, as a title."""
    prompts = (one.content for one in messages if one.role is Role.USER)
    words = " ".join(visible(next(prompts, "")).split())
    return _FIRST_WORDS.format(shortened(words, _TITLE)) if words else None


def _is_first_words(title: str | None) -> bool:
    """Tell whether a title says no more than how a conversation began."""
    return title is not None and title.startswith(_FIRST_WORDS[0])


def _dead_ends_of(workspace: Workspace, said: Sequence[Message], place: int) -> Iterator[Fact]:
    """Yield what a message says was tried and failed.

    Its places are the files that it names; where it names none, the one that is edited next in
    the same turn, else the one that was edited last.
    """
    message = said[place]
    if not is_talk(message):
        return
    for attempt in failed_attempts(message.content):
        named = named_paths(f"{attempt.tried} {attempt.because}")
        later = takewhile(lambda one: speech_of(one) is not Speech.PERSON, said[place + 1 :])
        near = chain(later, reversed(said[:place]))
        edited = (file for one in near for file in _edited_by(workspace, one))
        files = named or tuple(islice(edited, 1))
        content = describe_attempt(attempt.tried, attempt.because)
        yield Fact(
            id=derived_id(message.created_at, "fact", key(content)),
            content=content,
            type=MemoryType.DEAD_END,
            confidence=FAILED,
            message=message.id,
            extracted_at=message.created_at,
            places=tuple(exact_place(file) for file in files if not file.startswith(("/", "~"))),
            tried=attempt.tried,
            because=attempt.because,
        )


def _edited_by(workspace: Workspace, message: Message) -> Iterator[str]:
    """Yield the project's files that a tool's call writes to, seen from the project's top."""
    project = f"{os.path.dirname(workspace.root)}{os.sep}"
    for file in edited_files(message) if message.tool_call else ():
        inside = file.removeprefix(project).replace(os.sep, "/")
        if not inside.startswith(("/", "~", "..")) and ":" not in inside:
            yield inside


def new_facts(conversation: Conversation, before: Conversation) -> tuple[Fact, ...]:
    """Return the facts of a conversation that it did not have before."""
    known = {fact.id for fact in before.facts}
    return tuple(fact for fact in conversation.facts if fact.id not in known)


def write_standing(workspace: Workspace, facts: Sequence[Fact]) -> None:
    """Write what became of facts wherever they were stated."""
    settled = {short(fact.id): fact for fact in facts}
    active: dict[str, list[str]] = {}
    left: dict[str, set[str]] = {}
    for chunk in [chunk for chunk in workspace.chunks.find() if _holds(chunk.facts, settled)]:
        left.setdefault(chunk.conversation, set()).update(_promoted_to(chunk.facts, settled))
        own = tuple(settled_fact(fact, settled) for fact in chunk.facts)
        workspace.chunks.put(msgspec.structs.replace(chunk, facts=own))
        active.setdefault(chunk.conversation, []).extend(_promoted_to(own, settled))
    for conversation in list(workspace.conversations.find()):
        if conversation.id in active or _holds(conversation.facts, settled):
            changed = with_standing(
                conversation,
                settled,
                active.get(conversation.id, ()),
                left.get(conversation.id, ()),
            )
            at = max(workspace.now(), conversation.updated_at)
            workspace.conversations.put(msgspec.structs.replace(changed, updated_at=at))


def with_standing(
    conversation: Conversation,
    settled: Mapping[str, Fact],
    elsewhere: Sequence[str] = (),
    before: Collection[str] = (),
) -> Conversation:
    """Return a conversation with what became of its facts.

    `settled` are the facts as they are from now on, by the short part of their ids; `elsewhere` are
    the memories that facts of its chunks became, and `before` those that they were before.
    """
    own = tuple(settled_fact(fact, settled) for fact in conversation.facts)
    gone = {*before, *_promoted_to(conversation.facts, settled)}
    kept = (memory for memory in conversation.active_facts if memory not in gone)
    memories_ = (*kept, *elsewhere, *_promoted_to(own, settled))
    return msgspec.structs.replace(
        conversation, facts=own, active_facts=tuple(dict.fromkeys(memories_))
    )


def _holds(facts: Sequence[Fact], settled: Mapping[str, Fact]) -> bool:
    return any(short(fact.id) in settled for fact in facts)


def _promoted_to(facts: Sequence[Fact], settled: Mapping[str, Fact]) -> list[str]:
    return [fact.memory for fact in facts if short(fact.id) in settled and fact.memory]


def settled_fact(fact: Fact, settled: Mapping[str, Fact]) -> Fact:
    """Return a fact with what became of it, wherever else that was said."""
    same = settled.get(short(fact.id))
    if same is None:
        return fact
    return msgspec.structs.replace(
        fact, standing=same.standing, memory=same.memory, settled_at=same.settled_at
    )
