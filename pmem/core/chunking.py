"""Which messages of a growing conversation move into chunks, and how all are read, each once.

Two branches that continue one conversation each make chunks of their own, of messages that both
have. So a message counts where it stands first, and nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from pmem.core.text.speech import Speech, speech_of
from pmem.errors import InvalidValue
from pmem.values.bounds import MESSAGE_BYTES, MESSAGES_BYTES, RECORD_VALUES, is_crowded
from pmem.values.ids import short
from pmem.values.records import Chunk, Conversation, Fact, Message, Standing, dump

Batch = tuple[Message, ...]
_INDENT = 4
"""Spaces before every line of a message, as it stands in a record's list."""
_ELSEWHERE = "keep what is large in a file, and say where it is"


class Whole(NamedTuple):
    """A conversation and its chunks in their order, each message in one of them."""

    conversation: Conversation
    chunks: tuple[Chunk, ...]


def size_of(message: Message) -> int:
    """Return how many bytes a message takes in its record's file."""
    return _in_record(dump(message))


def fitting(message: Message) -> Message:
    """Return a message that a record can hold; refuse a larger one."""
    data = dump(message)
    if (size := _in_record(data)) > MESSAGE_BYTES:
        raise InvalidValue(
            f"takes {size} bytes with its tool's call and result, and the limit is {MESSAGE_BYTES}",
            _ELSEWHERE,
        )
    if is_crowded(data):
        raise InvalidValue(f"holds more than {RECORD_VALUES} values", _ELSEWHERE)
    return message


def _in_record(data: bytes) -> int:
    return len(data) + _INDENT * data.count(b"\n")


def overflow(
    recent: Sequence[Message],
    most: int,
    size: int,
    weigh: Callable[[Message], int] = size_of,
    most_bytes: int = MESSAGES_BYTES,
) -> tuple[list[Batch], Batch]:
    """Return the messages that move into chunks, and those that stay; all are the oldest first.

    Whenever there are more than `most`, the oldest `size` leave together; half of `most` where
    `size` is larger than that, so that some stay, and fewer where a tool's call would leave
    without its results. Whenever they take more than `most_bytes`, as `weigh` tells, the oldest
    leave until the others take half of that. The latest one always stays, whatever it takes.
    """
    size = size if size <= most else (most + 1) // 2
    sizes = [weigh(message) for message in recent]
    chunks: list[Batch] = []
    start = held = 0
    for end in range(1, len(recent) + 1):
        held += sizes[end - 1]
        while end - start > most or (held > most_bytes and end - start > 1):
            if end - start > most:
                stop = _between_calls(recent, start, start + size)
            else:
                latest = min(start + size, end - 1)
                stop = _relieved(sizes, start, latest, held - most_bytes // 2)
            chunks.append(tuple(recent[start:stop]))
            held -= sum(sizes[start:stop])
            start = stop
    return chunks, tuple(recent[start:])


def _between_calls(messages: Sequence[Message], start: int, stop: int) -> int:
    """Return the last place up to `stop` that parts no call from its results; else `stop`."""
    return next(
        (
            place
            for place in range(stop, start, -1)
            if speech_of(messages[place - 1]) is not Speech.CALL
            and speech_of(messages[place]) is not Speech.RESULT
        ),
        stop,
    )


def _relieved(sizes: Sequence[int], start: int, latest: int, bytes_: int) -> int:
    """Return the place, `latest` at the latest, before which messages take so many bytes."""
    for place in range(start, latest):
        bytes_ -= sizes[place]
        if bytes_ <= 0:
            return place + 1
    return latest


def whole(conversation: Conversation, chunks: Sequence[Chunk]) -> Whole:
    """Return a conversation with every message once: where it stands first, as it reads last.

    A chunk that is left without a message is left out, and what was merged into it stands for
    itself again. The facts of a message go where it is; what was settled stays settled. A summary
    still speaks of all that its chunk held.
    """
    if not repeated(chunks, conversation.recent_messages):
        return Whole(conversation, tuple(chunks))
    every = [item for chunk in chunks for item in chunk.messages]
    every += conversation.recent_messages
    texts = {item.id: item for item in every}
    texts |= {item.id: item for item in every if item.removed}  # on one branch: gone on both
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
    """
    recent = {message.id for message in conversation.recent_messages}
    return any(
        chunk.number != place + 1 or not recent.isdisjoint(item.id for item in chunk.messages)
        for place, chunk in chunks.items()
    )


def repeated(chunks: Iterable[Chunk], recent: Iterable[Message] = ()) -> set[str]:
    """Return the ids of the messages that stand in several places."""
    seen: set[str] = set()
    found: set[str] = set()
    for message in chain(chain.from_iterable(chunk.messages for chunk in chunks), recent):
        (found if message.id in seen else seen).add(message.id)
    return found


def by_conversation(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    """Return chunks by the conversation that each says it is a part of."""
    found: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        found.setdefault(chunk.conversation, []).append(chunk)
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
