"""Which messages of a growing conversation move into chunks, and each of them read once.

Two branches that go on with one conversation each make chunks of their own, of messages that both
have. So a message counts where it stands first, and nowhere else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from pmem.ids import short
from pmem.records import Chunk, Conversation, Fact, Message, Standing


class Whole(NamedTuple):
    """A conversation and its chunks in their order, each message in one of them."""

    conversation: Conversation
    chunks: tuple[Chunk, ...]


def overflow(
    recent: Sequence[Message], most: int, size: int
) -> tuple[list[tuple[Message, ...]], tuple[Message, ...]]:
    """Decide which of the recent messages move into chunks.

    Whenever there are more than `most`, the oldest `size` leave together; half of `most` where
    `size` is larger than that, so that some stay.

    Args:
        recent: Messages outside chunks, the oldest first.
        most: How many may stay.
        size: How many one chunk takes.

    Returns:
        The chunks' messages, the oldest chunk first, and the messages that stay.
    """
    size = size if size <= most else (most + 1) // 2
    taken = 0
    while len(recent) - taken > most:
        taken = min(taken + size, len(recent))
    chunks = [tuple(recent[i : min(i + size, taken)]) for i in range(0, taken, size)]
    return chunks, tuple(recent[taken:])


def whole(conversation: Conversation, chunks: Sequence[Chunk]) -> Whole:
    """Return a conversation with every message once: where it stands first, as it reads last.

    A chunk that is left without a message is left out, and what was merged into it stands for
    itself again. The facts of a message go where it is; what was settled stays settled. A summary
    still speaks of all that its chunk held.

    Args:
        conversation: As it is kept.
        chunks: All of its chunks, in their order.
    """
    if not repeated(chunks, conversation.recent_messages):
        return Whole(conversation, tuple(chunks))
    texts = {item.id: item for chunk in chunks for item in chunk.messages}
    texts |= {item.id: item for item in conversation.recent_messages}
    seen: set[str] = set()
    own = [(chunk, tuple(_fresh(chunk.messages, texts, seen))) for chunk in chunks]
    kept = [(chunk, said) for chunk, said in own if said or not chunk.messages]
    recent = tuple(_fresh(conversation.recent_messages, texts, seen))
    facts = _facts_by_message(conversation, chunks)
    left = _led({chunk.id: chunk.merged_into for chunk in chunks}, {chunk.id for chunk, _ in kept})
    result = tuple(
        msgspec.structs.replace(
            chunk,
            messages=said,
            merged_into=left[chunk.id],
            facts=tuple(chain.from_iterable(facts.pop(item.id, ()) for item in said)),
        )
        for chunk, said in kept
    )
    grown = msgspec.structs.replace(
        conversation,
        chunks=tuple(chunk.id for chunk in result),
        merged_chunks=_without_summary(result, conversation.cleared_turns),
        recent_messages=recent,
        pruned=tuple(id_ for id_ in conversation.pruned if id_ in {item.id for item in recent}),
        facts=tuple(chain.from_iterable(facts.values())),
    )
    return Whole(grown, result)


def may_repeat(conversation: Conversation, chunks: Mapping[int, Chunk]) -> bool:
    """Tell from some of its chunks whether a conversation may hold messages twice.

    Where two branches went on with it, the chunks of one of them are numbered as those of the
    other are, and so stand elsewhere than their numbers say.

    Args:
        conversation: As it is kept.
        chunks: Some of its chunks by their places, counted from zero.
    """
    recent = {message.id for message in conversation.recent_messages}
    return any(
        chunk.number != place + 1 or not recent.isdisjoint(item.id for item in chunk.messages)
        for place, chunk in chunks.items()
    )


def repeated(chunks: Iterable[Chunk], recent: Iterable[Message] = ()) -> set[str]:
    """Return the ids of the messages that stand in several places.

    Args:
        chunks: Chunks, of whatever conversations.
        recent: Messages outside of them.
    """
    seen: set[str] = set()
    found: set[str] = set()
    for message in chain(chain.from_iterable(chunk.messages for chunk in chunks), recent):
        (found if message.id in seen else seen).add(message.id)
    return found


def each_once(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield messages without those that came before."""
    seen: set[str] = set()
    for message in messages:
        if message.id not in seen:
            seen.add(message.id)
            yield message


def _fresh(
    messages: Iterable[Message], texts: dict[str, Message], seen: set[str]
) -> Iterator[Message]:
    """Yield the messages that were not seen before, and note them."""
    for message in messages:
        if message.id not in seen:
            seen.add(message.id)
            yield texts[message.id]


def _facts_by_message(conversation: Conversation, chunks: Sequence[Chunk]) -> dict[str, list[Fact]]:
    """Return every fact once, by the message that states it; a settled one before a pending one."""
    best: dict[tuple[str, str], Fact] = {}
    for fact in chain(*(chunk.facts for chunk in chunks), conversation.facts):
        name = (fact.message, short(fact.id))
        if name not in best or best[name].standing is Standing.PENDING:
            best[name] = fact
    found: dict[str, list[Fact]] = {}
    for fact in best.values():
        found.setdefault(fact.message, []).append(fact)
    return found


def _led(into: dict[str, str | None], kept: set[str]) -> dict[str, str | None]:
    """Return what each chunk's summary is a part of, chunks that are left out passed over."""
    found: dict[str, str | None] = {}
    for identifier, target in into.items():
        found[identifier] = target
        for _ in into:
            next_ = found[identifier]
            if next_ is None or next_ in kept:
                break
            found[identifier] = into.get(next_)
    return {key: value if value in kept else None for key, value in found.items()}


def _without_summary(chunks: Sequence[Chunk], cleared_turns: int) -> int:
    """Return how many of the first chunks have no summary of their own in contexts."""
    turn = 0
    for number, chunk in enumerate(chunks):
        turn += len(chunk.messages)
        if chunk.merged_into is None and turn > cleared_turns:
            return number
    return len(chunks)
