"""One memory out of several that say the same; nothing that any of them held is lost."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from pmem.core.lifecycle.presence import last_use
from pmem.core.lifecycle.states import moved
from pmem.core.retention import changed, linked, same_link
from pmem.core.trust import doubt, peers
from pmem.values.records import Access, Citation, Episode, Event, EventKind, Memory, Relationship

SOURCE: Final = "consolidate"


def rank(memory: Memory) -> tuple[int, bool, float, datetime, str]:
    """Order memories by which survives a merge: trusted, pinned, important, old ones first."""
    return (doubt(memory), not memory.pinned, -memory.importance, memory.created_at, memory.id)


def absorbing(
    survivor: Memory, others: Sequence[Memory], actor: str, at: datetime, reason: str = ""
) -> Memory:
    """Return a memory that has taken others in: their tags, links, citations, validity and recalls.

    What another one says or claims to be worth (subject, tags, importance, pin, validity) counts
    only where it is trusted as far as the survivor, so that what becomes of both is trusted as the
    survivor was, and rightly so.
    """
    together = (survivor, *others)
    trusted = (survivor, *peers(survivor, others))
    ids = {memory.id for memory in together}
    links: dict[tuple[str, str], Relationship] = {}
    for link in (link for memory in together for link in memory.relationships):
        if link.target not in ids:
            links.setdefault((link.target, link.type), link)
    cited: dict[tuple[str, Any], Citation] = {}
    for one in (one for memory in together for one in memory.citations):
        cited.setdefault((one.file, one.symbol or one.lines), one)
    recalled = [memory.access.last_at for memory in together if memory.access.last_at]
    used = max(last_use(memory) for memory in others)
    if used > last_use(survivor):
        recalled.append(used)  # else it would fade before they would have
    event = _merge_event({"merged": [memory.id for memory in others]}, actor, at, reason)
    return changed(
        survivor,
        event,
        tags=tuple(dict.fromkeys(tag for memory in trusted for tag in memory.tags)),
        subject=next((memory.subject for memory in trusted if memory.subject), None),
        importance=max(memory.importance for memory in trusted),
        pinned=any(memory.pinned for memory in trusted),
        valid_from=min(memory.valid_from for memory in trusted),
        relationships=tuple(links.values()),
        citations=tuple(cited.values()),
        access=Access(
            count=sum(memory.access.count for memory in together),
            last_at=max(recalled, default=None),
        ),
    )


def absorbed(memory: Memory, survivor: str, actor: str, at: datetime, reason: str = "") -> Memory:
    """Return a memory that another one has taken in."""
    event = _merge_event({"into": survivor}, actor, at, reason)
    return moved(memory, event)


def _merge_event(detail: dict[str, Any], actor: str, at: datetime, reason: str) -> Event:
    why = {"reason": reason} if reason else {}
    return Event(event=EventKind.MERGE, at=at, actor=actor, source=SOURCE, detail={**detail, **why})


def redirected(memory: Memory, gone: str, survivor: str, actor: str, at: datetime) -> Memory:
    """Return a memory whose links to a merged one lead to the survivor as well."""
    for link in memory.relationships:
        also = msgspec.structs.replace(link, target=survivor, created_at=at)
        known = any(same_link(also, other) for other in memory.relationships)
        if link.target == gone and not known:
            memory = linked(memory, also, actor, at)
    return memory


def was_undone(one: Memory | Episode, other: Memory | Episode) -> bool:
    """Tell whether two active records were one once, one in the other or both in a third."""
    return not _parts_of(one).isdisjoint(_parts_of(other))


def _parts_of(record: Memory | Episode) -> set[Any]:
    """Return the ids under which a record was known: its own, and those it was merged into."""
    into = (e.detail.get("into") for e in record.history if e.event is EventKind.MERGE)
    return {record.id, *(id_ for id_ in into if isinstance(id_, str))}


def was_cut(memory: Memory, target: str) -> bool:
    """Tell whether a link from a memory to another one was removed on purpose."""
    cuts = (e.detail.get("removed") for e in memory.history if e.event is EventKind.UNLINK)
    return any(
        isinstance(link, dict) and link.get("target") == target
        for links in cuts
        if isinstance(links, list)
        for link in links
    )
