"""How answers read for models: ids first, what was recorded in a fence, all of it in a budget.

What is recorded is data: it stands in a fence that it cannot close, and everything outside of the
fence is pmem's own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pmem.core.context.parts import Item
from pmem.core.context.writing import cut, fence_of, naming
from pmem.core.lifecycle.presence import describe_matches
from pmem.core.own_words import RECORDED
from pmem.core.queries import Bullet
from pmem.core.text.terms import snippet, terms
from pmem.core.trust import label_of, mark_of, origin_mark
from pmem.memory.changes import ChangedRecords
from pmem.memory.outcomes import Tried
from pmem.memory.reading import MessageRef, ShownRecord
from pmem.memory.requests import Added, Edited
from pmem.memory.why import Why
from pmem.operations import table
from pmem.operations.operation import Operation, plain_form
from pmem.search.context_request import BuiltContext
from pmem.search.hits import SearchHit, SearchKind
from pmem.search.queries import QueryAnswer
from pmem.search.search import SearchResult
from pmem.values.ids import short
from pmem.values.records import KINDS, State, dump_line, plain
from pmem.values.times import day, iso

BUDGETS: Final[Mapping[Operation[Any, Any], int]] = {
    table.SEARCH: 1000,
    table.SHOW: 2000,
    table.CONTEXT: 2000,
    table.QUERY: 1000,
}
"""Tokens of an answer where nobody says how many."""
OTHERS_BUDGET: Final = 4000
"""Tokens of any other answer."""

_YOURS: Final = "yours, not part of this project: "
_BY_MEANING: Final = "(by meaning) "
_WORDS: Final = 60
_FRAME: Final = 40
_LEAST: Final = 60
_HIDDEN: Final = frozenset(("schema", "history", "tokens", "access", "messages", "recent_messages"))
Count = Callable[[str], int]


class NotDone(Exception):
    """Nothing was done, and the text says what to do instead."""


def written(name: str, result: Any, budget: int, count: Count) -> str:
    """Return the answer of a tool as a model reads it."""
    return _WRITERS.get(name, _any)(result, budget, count)


def fenced(head: str, items: Sequence[Item], budget: int, count: Count) -> str:
    """Return a line, and items in a fence below it, as many as the budget has room for.

    The best come first; one that is too long leaves its room to the next.
    """
    room = budget - count(head) - _FRAME
    kept: list[Item] = []
    for item in items:
        fitting = item if kept else _shortened(item, room, count)
        cost = _cost(fitting, count)
        if cost <= room:
            kept.append(fitting)
            room -= cost
    left = len(items) - len(kept)
    if not items:
        return head
    more = [f"{left} more left out: over the budget of {budget} tokens"] if left else []
    return "\n".join([f"{head} ({RECORDED})", *fence_of(kept), *more])


def _cost(item: Item, count: Count) -> int:
    return count(f"- {item.label}{item.text}\n") + 1


def _shortened(item: Item, room: int, count: Count) -> Item:
    """Return an item that is cut until it fits."""
    kept = len(item.text)
    fitting = item
    while _cost(fitting, count) > room and kept > _LEAST:
        kept = max(_LEAST, kept // 2)
        (fitting,) = cut([item], kept)
    return fitting


def _search(found: SearchResult, budget: int, count: Count) -> str:
    asked = frozenset(terms(found.query))
    if not found.hits and not found.yours:
        head = f"nothing found: {_why_nothing(found)}"
        recent = [_hit_item(hit, asked) for hit in found.fill]
        return fenced(f"{head}; the newest instead", recent, budget, count) if recent else head
    near = found.by_meaning
    items = [_hit_item(hit, asked, _BY_MEANING * (hit.id in near)) for hit in found.hits]
    items += [
        Item(
            id=one.id,
            label=f"{naming(one.id)}{origin_mark(one.origin)}"
            f"({one.type.replace('_', ' ')} {short(one.via)}) ",
            text=snippet(one.text.split(), asked, _WORDS),
        )
        for one in found.related
    ]
    items += [Item(id=hit.id, label=_YOURS, text=_hit_item(hit, asked).text) for hit in found.yours]
    many = len(found.hits) + len(found.yours)
    return "\n".join([fenced(f"{many} found", items, budget, count), *found.notes])


def _hit_item(hit: SearchHit, asked: frozenset[str], mark: str = "") -> Item:
    who = f"{hit.speaker}: " if hit.speaker else ""
    state = f"({hit.state}) " if hit.state not in (None, "active") else ""
    stale = f" (stale: {', '.join(hit.stale)})" if hit.stale else ""
    about = () if hit.kind is SearchKind.MEMORY else (f"{hit.kind} {day(hit.created_at)}",)
    name = naming(hit.id, hit.places or about)
    trust = mark_of(hit.trust, hit.noted_by or "")
    label = f"{name}{origin_mark(hit.origin)}{trust}{state}{mark}{who}"
    return Item(id=hit.id, label=label, text=snippet(hit.text.split(), asked, _WORDS) + stale)


def _why_nothing(found: SearchResult) -> str:
    if not terms(found.query):
        return "the query has no word that counts"
    if found.out_of_recall:
        return describe_matches(found.out_of_recall)
    if found.removed:
        return ", ".join(f"{name} removed {n}" for name, n in found.removed.items())
    return "no word of the query is in the memory"


def _fetch(found: ShownRecord, budget: int, count: Count) -> str:
    record = found.record
    if isinstance(record, MessageRef):
        said = record.message
        label = f"{said.speaker or said.role}, {iso(said.created_at)}: "
        item = Item(id=said.id, label=label, text=said.content)
        head = f"message {short(said.id)} of conversation {short(record.conversation)}"
        return fenced(head, [item], budget, count)
    fields = plain_form(found)
    items = [
        Item(id=name, label=f"{name}: ", text=_text(value))
        for name, value in sorted(fields.items(), key=lambda pair: pair[0] not in _FIRST)
        if name not in _HIDDEN and value not in (None, (), {}, False, "")
    ]
    items += [Item(id=name, label=f"stale: {name}", text="") for name in found.stale]
    items += [
        Item(id=name, label=f"the other side of a merge says of {name}: ", text=_text(value))
        for name, value in found.disputed.items()
    ]
    for event in getattr(record, "history", ()):
        who = f"{event.actor}, {event.agent}" if event.agent else event.actor
        before = {name: value for name, value in event.before.items() if name != "tokens"}
        before_it = f" before: {_text(before)}" if before else ""
        items.append(Item(id="", label=f"{iso(event.at)} {event.event} by {who}", text=before_it))
    return fenced(f"{KINDS[type(record)]} {short(record.id)}", items, budget, count)


_FIRST: Final = ("content", "title", "summary")


def _text(value: Any) -> str:
    value = plain(value)
    return value if isinstance(value, str) else dump_line(value).decode()


def _context(built: BuiltContext, budget: int, count: Count) -> str:  # noqa: ARG001 - it is held
    if not built.text:
        return f"the budget of {built.budget} tokens is too small for anything"
    return "\n".join([built.text.rstrip("\n"), *built.notes])


def _query(answer: QueryAnswer, budget: int, count: Count) -> str:
    if not answer.items:
        return answer.reason
    items = [
        Item(
            id=item.id,
            label=naming(item.id),
            text=item.text if isinstance(item, Bullet) else _text(item),
        )
        for item in answer.items
    ]
    text = fenced(f"{len(items)} found", items, budget, count)
    return f"{text}\n{answer.reason}" if answer.reason else text


def _added(added: Added, budget: int, count: Count, update: str = "update") -> str:
    if added.held is not None:
        hint = "" if added.held.rejected else "; go on without it, a person decides"
        raise NotDone(f"{added.held.sentence}{hint}")
    memory = added.memory
    name = short(memory.id)
    if added.action == "added":
        return "\n".join(
            [f"added {name} ({memory.type}, {memory.category})", *_neighbours(added, budget, count)]
            + [added.shares_subject] * bool(added.shares_subject)
            + [f"better: {lint}" for lint in added.lints]
        )
    what_next = (
        f"It was archived: a person can bring it back with `pmem restore {name}`"
        if added.is_archived
        else f"If yours is newer, call {update} with id {name}"
    )
    item = Item(id=memory.id, label=naming(memory.id), text=memory.content)
    known = fenced("It says", [item], budget, count)
    if added.is_removed:
        raise NotDone(f"Nothing was added: {added.reason}; leave it out.\n{known}")
    raise NotDone(
        f"Nothing was added: {added.reason}.\n{known}\n"
        f"{what_next}; if both hold, add yours with force"
    )


def _tried(done: Tried, budget: int, count: Count) -> str:
    """Say what became of both memories; what is known already is named, and nothing is wrong."""
    said = []
    for one in filter(None, (done.dead_end, done.fix)):
        if one.held is not None:
            said.append(one.held.sentence)
        elif one.action == "added":
            said.append(_added(one, budget, count))
        else:
            item = Item(id="", label=naming(one.memory.id), text=one.memory.content)
            said.append(fenced(f"known already: {one.reason}", [item], budget, count))
    return "\n".join(said)


def _why(found: Why, budget: int, count: Count) -> str:
    items = [
        Item(
            id=one.memory.id,
            label=f"{naming(one.memory.id, one.memory.places)}{origin_mark(one.origin)}"
            + label_of(one.memory)
            + (f"({one.standing}) " if one.standing != State.ACTIVE else ""),
            text=one.memory.content + (f" Fixed by: {one.fix.content}" if one.fix else ""),
        )
        for one in found.items
    ]
    place = found.file if found.line is None else f"{found.file}:{found.line}"
    if found.origin is not None:
        said = f"{day(found.origin.at).strip()}, {found.origin.author}: {found.origin.subject}"
        items.append(Item(id="", label=f"{place} is of ", text=said))
    head = f"{len(found.items)} found" if found.items else f"nothing is recorded of {place}"
    return "\n".join(filter(None, (fenced(head, items, budget, count), found.note)))


def _neighbours(done: Added | Edited, budget: int, count: Count) -> Iterator[str]:
    """Yield what else a memory has to do with, which may have to change as well."""
    items = [
        Item(id=one.link.target, label=naming(one.link.target), text=one.content)
        for one in done.neighbours
    ]
    if items:
        kinds = {one.link.type.replace("_", " ") for one in done.neighbours}
        yield fenced(f"it {' or '.join(sorted(kinds))}", items, budget, count)


def _edited(done: Edited, budget: int, count: Count) -> str:
    memory = done.memory
    lines = [f"updated {short(memory.id)}", *_neighbours(done, budget, count)]
    event = memory.history[-1] if memory.history else None
    if event is not None and "content" in event.before:
        items = [
            Item(id="", label="before: ", text=str(event.before["content"])),
            Item(id="", label="now: ", text=memory.content),
        ]
        lines.insert(1, fenced("what it says", items, budget, count))
    if done.same is not None:
        lines.append(f"{short(done.same.id)} says the same: a person can remove one with `pmem rm`")
    return "\n".join(lines)


def _removed(done: ChangedRecords[Any], budget: int, count: Count) -> str:  # noqa: ARG001
    names = ", ".join(short(record.id) for record in done.records)
    return f"removed {names}; a person can bring it back with `pmem restore`"


def _any(result: Any, budget: int, count: Count) -> str:
    """Return the plain form of an answer, in a fence."""
    value = plain(plain_form(result))
    parts = value if isinstance(value, list) else [value]
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        parts = value["items"]
    items = [Item(id="", text=_text(part)) for part in parts]
    return fenced(f"{len(items)} answered", items, budget, count)


_WRITERS: Final[Mapping[str, Callable[[Any, int, Count], str]]] = {
    "search": _search,
    "fetch": _fetch,
    "context": _context,
    "memory_query": _query,
    "show": _fetch,
    "why": _why,
    "remember": _added,
    "tried": _tried,
    "update": _edited,
    "add_to_memory": partial(_added, update="update_memory"),
    "update_memory": _edited,
    "forget": _removed,
}
