"""What a merge of whole memories must give, told by set algebra on single values.

It knows nothing of `core.threeway`: a value, a tag, a link, a message or an event is there or not,
changed or not, and from that follows what has to be there in the end.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.core.threeway.sides import Json

Memory = Mapping[str, Json | None]
"""Records by their paths; None for a file that does not parse."""

_SETS: Final = ("tags", "linked_memories", "participants", "chunks", "pruned", "active_facts")
_ITEMS: Final = {
    "relationships": ("target", "type"),
    "recent_messages": ("id",),
    "messages": ("id",),
    "facts": ("id",),
}
_STATE: Final = ("state", "purge_at", "valid_until")
_STATEMENTS: Final = ("content", "summary", "type")
_TEXTS: Final = (*_STATEMENTS, "title", "context", "outcome")
_LEFT_OUT: Final = ("tokens", "access", "id", "schema")


class Fault(NamedTuple):
    """What is wrong: `lost`, `resurrected`, `value`, `unparsed` or `conflict`, and where.

    `paired` is git's own doing: it takes a record that is purged and a new one for a renamed file.
    """

    what: str
    where: str


def judge(
    base: Memory, sides: Sequence[Memory], result: Memory, unmerged: frozenset[str] = frozenset()
) -> list[Fault]:
    """Return everything that is wrong with a merge."""
    faults = []
    for path in sorted({path for memory in (base, *sides, result) for path in memory}):
        before, now = base.get(path), [side.get(path) for side in sides]
        if path in result and result[path] is None:
            faults.append(Fault("unparsed", path))
            continue
        faults += [
            Fault(f.what, f"{path} {f.where}") for f in _record(before, now, result.get(path))
        ]
        if path in unmerged and not contradicts(before, now):
            sides_left = sum(side is not None for side in now)
            is_paired = sides_left == (1 if before is None else 0)
            faults.append(Fault("paired" if is_paired else "conflict", path))
    return faults


def contradicts(before: Json | None, sides: Sequence[Json | None]) -> bool:
    """Tell whether sides say different things of one record, so that somebody has to choose."""
    changed = [side for side in sides if side is not None and side != before]
    if before is not None and any(side is None for side in sides):
        return bool(changed)
    for field in _STATEMENTS:
        said = {
            _text(side[field]) for side in changed if side.get(field) != (before or {}).get(field)
        }
        if len(said) > 1 and not any(_grew(before, side, field, said) for side in changed):
            return True
    return False


def _grew(before: Json | None, side: Json, field: str, said: set[str]) -> bool:
    """Tell whether a side has said, since the beginning, all that the others say."""
    known = (before or {}).get("history", [])
    new = [event for event in side.get("history", []) if event not in known]
    had = {_text(event["before"][field]) for event in new if field in event.get("before", {})}
    return said <= had | {_text(side[field])}


def _record(
    before: Json | None, sides: Sequence[Json | None], result: Json | None
) -> Iterator[Fault]:
    here = [side for side in sides if side is not None]
    changed = [side for side in here if side != before]
    wanted = bool(changed) or (before is not None and len(here) == len(sides))
    if wanted and result is None:
        yield Fault("lost", "record")
    elif not wanted and result is not None:
        yield Fault("resurrected", "record")
    elif result is not None and len({_text(side) for side in changed}) == 1:
        if result != changed[0]:
            yield Fault("value", "is not what the only side made of it that changed it")
    elif result is not None:
        told = set().union(
            *(_inner(e.get("before")) | _inner(e.get("detail")) for e in result.get("history", ())),
            (),
        )
        yield from _fields(before or {}, here, result, told)


def _fields(before: Json, sides: Sequence[Json], result: Json, told: set[str]) -> Iterator[Fault]:
    reworded = any(side.get(text) != before.get(text) for side in sides for text in _TEXTS)
    for field in sorted({key for side in sides for key in side}):
        was: Any = before.get(field)
        now: list[Any] = [side.get(field) for side in sides]
        is_: Any = result.get(field)
        if field == "history":
            yield from _events(now, is_)
        elif field in _SETS:
            yield from _members(
                field, set(was or ()), [set(side or ()) for side in now], set(is_ or ())
            )
        elif field in _ITEMS:
            yield from _items(field, was or [], [side or [] for side in now], is_ or [], told)
        elif field == "turns" and isinstance(was, int):
            if is_ != was + sum(side - was for side in now):
                yield Fault("value", field)
        elif field == "updated_at":
            if is_ != max(now):
                yield Fault("value", field)
        elif field not in _LEFT_OUT:
            loose = field in _STATE and (
                reworded or len({_text(s.get("state")) for s in sides}) > 1
            )
            yield from _value(field, was, now, is_, told, loose=loose)


def _value(
    field: str, was: Any, now: list[Any], is_: Any, told: set[str], *, loose: bool
) -> Iterator[Fault]:
    new = {_text(value) for value in now if value != was}
    allowed = (new or {_text(was)}) | ({_text(was)} if loose else set())
    if _text(is_) not in allowed:
        yield Fault("value", f"{field} is {_text(is_)}, not {sorted(allowed)}")
    for value in new - {_text(is_), "null"} - told:
        yield Fault("lost", f"{field} {value}")


def _members(field: str, was: set[Any], now: Sequence[set[Any]], is_: set[Any]) -> Iterator[Fault]:
    wanted = set[Any]().union(*(side - was for side in now)) | was.intersection(*now)
    yield from (Fault("lost", f"{field} {item}") for item in sorted(wanted - is_))
    yield from (Fault("resurrected", f"{field} {item}") for item in sorted(is_ - wanted))


def _items(
    field: str, was: list[Json], now: Sequence[list[Json]], is_: list[Json], told: set[str]
) -> Iterator[Fault]:
    before, *sides, found = (
        {tuple(item[key] for key in _ITEMS[field]): item for item in part}
        for part in (was, *now, is_)
    )
    for key in sorted({*before, *found, *(key for side in sides for key in side)}):
        have = [side[key] for side in sides if key in side]
        new = [item for item in have if item != before.get(key)]
        wanted = bool(new) or (key in before and len(have) == len(sides))
        if wanted != (key in found):
            yield Fault("lost" if wanted else "resurrected", f"{field} {key}")
        elif wanted:
            for name in sorted({name for item in new for name in item}):
                old = before.get(key, {}).get(name)
                values = {_text(item[name]) for item in new if name in item and item[name] != old}
                lost = values - {_text(found[key].get(name))} - told
                if lost and name not in ("created_at", "tokens"):
                    yield Fault("lost", f"{field} {key} {name}")


def _events(now: list[Any], is_: Any) -> Iterator[Fault]:
    there = {_text(event) for event in is_ or ()}
    for side in now:
        for event in side or ():
            if _text(event) not in there:
                yield Fault("lost", f"history {_text(event)}")


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _inner(value: Any) -> set[str]:
    """Return a value and all that is in it, as texts."""
    found = {_text(value)}
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        found |= _inner(inner)
    return found
