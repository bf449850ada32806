"""What goes into a context as its items: memories, episodes, summaries, messages."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Final

import msgspec

from pmem.core.context.filling import PINNED
from pmem.core.context.parts import Item
from pmem.core.context.worth import made
from pmem.core.context.writing import naming
from pmem.core.outcomes import failed, told_with, warns
from pmem.core.retrieval.documents import place_of, shown_text
from pmem.core.text.speech import TOOLS, speech_of
from pmem.core.text.terms import terms
from pmem.core.trust import label_of, origin_mark
from pmem.memory.reading import Staleness, disputed, is_merged_by_git
from pmem.search.hits import LoadedHit
from pmem.values.ids import short
from pmem.values.records import Chunk, Conversation, Episode, Memory, Message
from pmem.values.times import day

if TYPE_CHECKING:
    from pmem.search.context_answers import ContextSource

TRIED: Final = "Already tried"
"""What dead ends stand below, and decisions that failed."""


def memory_item(
    memory: Memory,
    *,
    ids: bool = False,
    score: float | None = None,
    via: str | None = None,
    why: str = "",
    plain: bool = False,
) -> Item:
    """Describe a memory; see `trust.label_of`."""
    named = naming(memory.id, memory.places) if ids else ""
    brought = f"(related to {short(via)}) " if ids and via else "(related) " if via else ""
    return Item(
        id=memory.id,
        text=memory.content + told_with(memory),
        label=f"{named}{label_of(memory, plain=plain)}{brought}{_about(memory)}",
        heading=TRIED if warns(memory) or failed(memory) else "",
        order=(f"{memory.category} {stamp(made(memory)[0])} {made(memory)[1]} {memory.content}", 0),
        score=score,
        tokens=memory.tokens,
        via=via,
        why=why,
    )


def _about(memory: Memory) -> str:
    """Return a memory's subject, unless its content has every word of it."""
    subject = memory.subject or ""
    if set(terms(subject)) <= set(terms(memory.content)):
        return ""
    return f"[{subject}] "


def said_item(found: LoadedHit, message: Message) -> Item:
    """Describe a message that was found."""
    assert isinstance(found.record, Chunk | Conversation)
    item = _earlier_item(message, place_of(found.document, found.record), found.conversation)
    return msgspec.structs.replace(item, score=found.hit.score, why="answers")


def pinned_item(message: Message, chunk: Chunk) -> Item:
    """Describe a pinned message that has moved into a chunk."""
    places = {each.id: place for place, each in enumerate(chunk.messages)}
    place = place_of(chunk.messages[places[message.id]], chunk)
    return msgspec.structs.replace(_earlier_item(message, place, chunk.conversation), why=PINNED)


def _earlier_item(message: Message, place: int, conversation: str | None) -> Item:
    """Describe a message below its day, in the order of time."""
    item = message_item(message, place)
    heading, order = day(message.created_at).strip(), f"{item.order[0]} {conversation}"
    return msgspec.structs.replace(item, heading=heading, order=(order, item.order[1]))


def episode_item(found: LoadedHit, *, plain: bool = False) -> Item:
    """Describe an episode that was found; see `trust.label_of`."""
    episode: Episode = found.document
    return Item(
        id=episode.id,
        text=shown_text(episode),
        label=f"[{day(episode.created_at).strip()}] {label_of(episode, plain=plain)}",
        score=found.hit.score,
        tokens=episode.tokens,
        why="answers",
    )


def summary_item(chunk: Chunk) -> Item:
    """Describe a chunk by its summary."""
    return Item(id=chunk.id, text=chunk.summary, order=("", chunk.number), tokens=chunk.tokens)


def stamp(at: datetime) -> str:
    """Write a moment so that texts sort as times do."""
    return at.isoformat(timespec="milliseconds")


def message_item(message: Message, place: int, budget: int | None = None) -> Item:
    """Describe a message by its place in its conversation."""
    return Item(
        id=message.id,
        external_id=message.external_id,
        text=_text(message, budget),
        label=f"{message.speaker or message.role}: ",
        order=(stamp(message.created_at), place),
        role=message.role,
        speaker=message.speaker,
        tokens=message.tokens,
    )


def _text(message: Message, budget: int | None) -> str:
    if speech_of(message) not in TOOLS:
        return message.content
    from pmem.core.text.commands import shown_of_tools, tool_text

    return tool_text(message, None if budget is None else shown_of_tools(budget))


_DISPUTED: Final = "(conflict: "  # begins the label of what two branches contradict each other in


def marking(source: "ContextSource") -> Callable[[Item], Item]:
    """Return what takes secrets out of items, and labels those that something speaks against.

    Their citations do not hold any more, or another branch, or a newer memory, contradicts them.
    """
    workspace, memories, differing = source.workspace, source.usable, source.differing
    mask = workspace.mask.fields
    citing = {memory.id: memory for memory in memories if memory.citations}
    merged = {memory.id: memory for memory in memories if is_merged_by_git(memory)}
    doubts = memories.doubts
    records = {memory.id: memory for memory in memories} if doubts.treats != "show" else {}
    if not citing and not merged and not differing and not records:
        return mask
    staleness = Staleness(workspace)
    stale_by_id = cache(lambda identifier: staleness(citing.get(identifier)))
    disputed_by_id = cache(lambda identifier: tuple(disputed(merged.get(identifier))))

    def mark(item: Item) -> Item:
        item = mask(item)
        if item.id in differing:
            item = msgspec.structs.replace(item, difference=differing[item.id])
        fields, stale = disputed_by_id(item.id), () if item.stale else stale_by_id(item.id)
        record = records.get(item.id)
        doubt = origin_mark(record and doubts.mark(record))
        label = item.label if item.label.startswith(doubt) else f"{doubt}{item.label}"
        if fields and _DISPUTED not in label:
            label += f"{_DISPUTED}{', '.join(fields)}) "
        if stale:
            label += f"(stale: {', '.join(stale)}) "
        if label == item.label:
            return item
        return msgspec.structs.replace(item, label=label, stale=stale or item.stale)

    return mark
