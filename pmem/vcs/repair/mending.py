"""Mending what is wrong between records: links to nothing, and messages kept twice."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from pmem.core.chunking import by_conversation, repeated
from pmem.core.filters import EVERYTHING
from pmem.errors import Damaged, NotFound, StorageRefused
from pmem.memory.conversations import put_whole, read_once
from pmem.project.references import leads, living
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import record_file
from pmem.values.ids import short
from pmem.values.records import STORES, Chunk, Conversation, RecordType, Status

Decision = Literal["cut", "tidied", "made"]
CODES: Final = frozenset({"dangling", "twice"})
"""What `check` calls what can be mended here."""
_UNUSABLE: Final = (NotFound, Damaged, StorageRefused)


class Mended(NamedTuple):
    """A record that was mended: how, and why."""

    type: RecordType
    id: str
    decision: Decision
    why: str

    @property
    def path(self) -> str:
        """Where its file is in the memory folder."""
        return record_file(STORES[self.type], self.id)


def mend(workspace: Workspace, *, dry_run: bool = False) -> list[Mended]:
    """Mend what is wrong between records; nothing that anybody wrote is lost by that."""
    if dry_run:
        return list(_mend_conversations(workspace, writes=False))
    if not any(_mend_conversations(workspace, writes=False)):
        return []
    with workspace.transaction():
        return list(_mend_conversations(workspace, writes=True))


def _mend_conversations(workspace: Workspace, *, writes: bool) -> Iterator[Mended]:
    chunks = by_conversation(workspace.chunks.find())
    yield from _remake_conversations(workspace, chunks, writes=writes)
    for conversation in list(workspace.conversations.find()):
        yield from _tidied(workspace, conversation, chunks.get(conversation.id, ()), writes=writes)
    yield from _cut_dangling_links(workspace, writes=writes)


def _remake_conversations(
    workspace: Workspace, chunks: dict[str, list[Chunk]], *, writes: bool
) -> Iterator[Mended]:
    """Make the conversations anew of which only chunks are left."""
    known = set(workspace.conversations.ids())
    for identifier, parts in sorted(chunks.items()):
        if identifier not in known:
            if writes:
                workspace.conversations.put(_of_chunks(identifier, parts))
            why = f"made again of {len(parts)} chunk{'s' * (len(parts) != 1)}: it was gone"
            yield Mended(Conversation, identifier, "made", why)


def _of_chunks(identifier: str, parts: Iterable[Chunk]) -> Conversation:
    held = sorted(parts, key=lambda chunk: (chunk.number, chunk.id))
    times = [chunk.created_at for chunk in held]
    times += [message.created_at for chunk in held for message in chunk.messages]
    return Conversation(
        id=identifier,
        app=held[0].app,
        status=Status.ENDED,
        started_at=min(times),
        ended_at=max(times),
        updated_at=max(times),
        turns=sum(len(chunk.messages) for chunk in held),
        chunks=tuple(chunk.id for chunk in held),
    )


def _tidied(
    workspace: Workspace, conversation: Conversation, chunks: Sequence[Chunk], *, writes: bool
) -> Iterator[Mended]:
    twice = repeated(chunks, conversation.recent_messages)
    if not twice:
        return
    try:
        found = read_once(workspace, conversation, chunks)
    except _UNUSABLE:
        return
    if writes:
        ids = [chunk.id for chunk in chunks]
        workspace.conversations.put(put_whole(workspace, ids, found))
    why = f"{len(twice)} message{'s' * (len(twice) != 1)} of it stood in several places"
    yield Mended(Conversation, conversation.id, "tidied", why)


def _cut_dangling_links(workspace: Workspace, *, writes: bool) -> Iterator[Mended]:
    there = {(store.type, id_) for store in workspace.stores for id_ in store.ids()}
    for type_ in STORES:
        store = workspace.store(type_)
        for record in list(store.find(EVERYTHING)):
            dangles = any((lead.target, lead.id) not in there for lead in leads(record))
            left = living(workspace, record) if dangles else record
            if left is not record:
                if writes:
                    store.put(left)
                lost = sorted(
                    {each.id for each in leads(record)} - {each.id for each in leads(left)}
                )
                why = f"it led to {', '.join(map(short, lost))}, which is gone"
                yield Mended(type_, record.id, "cut", why)
