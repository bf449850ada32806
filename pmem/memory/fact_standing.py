"""What became of facts: pending, promoted or rejected, the same wherever they were stated."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from pmem.project.workspace import Workspace
from pmem.values.ids import short
from pmem.values.records import Conversation, Fact


def write_standing(workspace: Workspace, facts: Sequence[Fact]) -> None:
    """Write what became of facts wherever they were stated.

    Args:
        workspace: Inside a transaction.
        facts: The facts as they are from now on.
    """
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

    Args:
        conversation: The conversation.
        settled: The facts as they are from now on, by the short part of their ids.
        elsewhere: The memories that facts of its chunks became.
        before: The memories that these were before.
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
    """Return a fact with what became of it, wherever else that was said.

    Args:
        fact: The fact as it stands in one place.
        settled: What became of facts, by the short part of their ids.
    """
    same = settled.get(short(fact.id))
    if same is None:
        return fact
    return msgspec.structs.replace(
        fact, standing=same.standing, memory=same.memory, settled_at=same.settled_at
    )
