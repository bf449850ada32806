"""Records as JSON, and what two sides may have made of one; a seed decides."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.threeway.deciding import Versions
from pmem.core.threeway.shapes import SHAPES, RecordShape, Rule
from tests.effort import examples

Json = dict[str, Any]

WORDS: Final = ("ant", "bee", "cat", "dog", "日本", "emu 🦤", 'q"\\\n')
IDS: Final = ("a-00000001", "b-00000002", "c-00000003", "d-00000004", "e-00000005")
STATES: Final = ("active", "archived", "superseded", "merged", "soft_deleted")
_ROLES: Final = ("user", "assistant", "system", "tool")


def on_every_store(test: Callable[..., None]) -> Any:
    """Return a test that runs for records of every store, with many seeds."""
    many = settings(max_examples=examples(60))(given(seed=st.integers(0, 2**32))(test))
    return pytest.mark.parametrize("store", list(SHAPES))(many)


class Dice:
    """Draws values."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._clock = 0

    def one_of(self, *values: Any) -> Any:
        return self.random.choice(values)

    def often(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def word(self) -> str:
        return self.random.choice(WORDS) + str(self.random.randint(0, 3))

    def words(self) -> list[str]:
        return sorted({self.word() for _ in range(self.random.randint(0, 4))})

    def ids(self) -> list[str]:
        return sorted(self.random.sample(IDS, self.random.randint(0, 3)))

    def share(self) -> float:
        return round(self.random.random(), 2)

    def time(self) -> str:
        thousandth = self.one_of("", "", ".250", ".001")
        return (
            f"2026-0{self.random.randint(1, 9)}-1{self.random.randint(0, 9)}T10:00:00{thousandth}Z"
        )

    def tick(self) -> str:
        """Return a time that is later than all those before; now and then the same again."""
        self._clock += self.random.randint(0, 3)
        return f"2027-01-01T{self._clock // 60:02d}:{self._clock % 60:02d}:00Z"

    def anything(self) -> Any:
        return self.one_of(
            None, True, 1, 1.0, 2**70, 0.1, "x", [], {}, ["p", "q"], [1, [2]], {"k": 1}
        )

    def unknown(self) -> Json:
        return {
            f"new_{self.one_of(*'xyz')}": self.anything() for _ in range(self.random.randint(0, 2))
        }

    def event(self, at: str, **fields: Any) -> Json:
        return {"event": self.one_of("UPDATE", "ARCHIVE", "TTL"), "at": at, **fields}


def _link(dice: Dice) -> Json:
    link = {"target": dice.one_of(*IDS), "type": dice.one_of("related_to", "updates")}
    return {**link, **dice.one_of({}, {"strength": dice.share(), "created_at": dice.time()})}


def _citation(dice: Dice) -> Json:
    known: Json = {
        "file": dice.one_of("a.py", "docs/b.md"),
        "digest": dice.one_of("0f", "1e", "2d"),
    }
    lines = dice.one_of({}, {"lines": [1, dice.random.randint(1, 4)]})
    symbol = dice.one_of({}, {"symbol": dice.one_of("settle", "RETRIES=3"), "folded": dice.word()})
    return {
        **known,
        **lines,
        **symbol,
        **dice.one_of({}, {"blob": dice.word(), "commit": dice.word()}),
    }


def _outcome(dice: Dice) -> Json:
    return {"at": dice.time(), "verdict": dice.one_of("good", "bad"), "text": dice.word()}


def _message(dice: Dice) -> Json:
    number = dice.random.randint(1, 9)
    known = {
        "id": f"m-0000000{number}",
        "role": dice.one_of(*_ROLES),
        "content": dice.word(),
        "created_at": f"2026-01-0{number}T10:00:00Z",
        "tokens": dice.random.randint(1, 3),
    }
    return {**known, **dice.one_of({}, {"tool_call": dice.anything()})}


def _fact(dice: Dice) -> Json:
    settled = {"standing": "promoted", "memory": dice.one_of(*IDS), "settled_at": dice.time()}
    known = {
        "id": f"f-0000000{dice.random.randint(1, 6)}",
        "content": dice.word(),
        "type": "fact",
        "confidence": dice.share(),
        "message": "m-00000001",
        "extracted_at": dice.time(),
    }
    found = {"made_by": _origin(dice)}
    return {**known, **dice.one_of({}, settled), **dice.one_of({}, found)}


def _origin(dice: Dice) -> Json:
    return {"model": dice.word(), "prompt": "chunk_summary/1.1", "digest": dice.word()}


def _several(dice: Dice, make: Callable[[Dice], Json], *keys: str) -> list[Json]:
    made = [make(dice) for _ in range(dice.random.randint(0, 4))]
    return list({tuple(map(item.get, keys)): item for item in made}.values())


_DRAWN: Final[dict[str, Callable[[Dice], Any]]] = {
    **dict.fromkeys(("content", "category", "title", "summary", "context"), Dice.word),
    **dict.fromkeys(
        ("subject", "outcome", "app", "tried", "because", "review_if"),
        lambda dice: dice.one_of(None, dice.word()),
    ),
    **dict.fromkeys(
        ("tags", "participants", "key_topics", "places", "evidence", "instead_of"), Dice.words
    ),
    **dict.fromkeys(
        ("linked_memories", "chunks", "pruned", "active_facts", "milestones"), Dice.ids
    ),
    **dict.fromkeys(("importance", "significance", "valence"), Dice.share),
    **dict.fromkeys(("valid_from", "created_at", "updated_at", "started_at"), Dice.time),
    **dict.fromkeys(
        ("valid_until", "purge_at", "ended_at", "pruned_at", "review_at"),
        lambda dice: dice.one_of(None, dice.time()),
    ),
    **dict.fromkeys(
        ("tokens", "turns_count", "number", "cleared_turns", "merged_chunks"),
        lambda dice: dice.random.randint(0, 9),
    ),
    **dict.fromkeys(("pinned", "stops_edits"), lambda dice: dice.often()),
    "settled": lambda dice: dice.one_of(None, {"at": dice.time(), "reason": dice.word()}),
    "outcomes": lambda dice: _several(dice, _outcome, "at", "verdict", "text"),
    "state": lambda dice: dice.one_of(*STATES),
    "status": lambda dice: dice.one_of("active", "paused", "ended"),
    "scope": lambda dice: dice.one_of({}, {"app": dice.word()}, {"user": dice.word()}),
    "source": lambda dice: {"file": dice.word(), "lines": dice.word()} | dice.unknown(),
    "access": lambda dice: dice.one_of({}, {"count": 2, "last_at": dice.time()} | dice.unknown()),
    "relationships": lambda dice: _several(dice, _link, "target", "type"),
    "citations": lambda dice: _several(dice, _citation, "file", "digest", "symbol"),
    "recent_messages": lambda dice: _several(dice, _message, "id"),
    "messages": lambda dice: _several(dice, _message, "id"),
    "facts": lambda dice: _several(dice, _fact, "id"),
    "history": lambda dice: [{"event": "ADD", "at": "2026-01-01T00:00:00Z", "actor": "ada"}],
}
_LEFT_ALONE: Final = ("id", "schema", "history", "updated_at", "made_by")
_SELDOM: Final = ("made_by",)
"""What few records have, and no file holds as null; parts of records have it."""


def _value(dice: Dice, store: str, field: str) -> Any:
    if field == "type":
        episode = store == "episodic-memory"
        return dice.one_of("pivot", "breakthrough") if episode else dice.one_of("fact", "goal")
    if field == "turns":
        part = dice.one_of(None, {"start": 1, "end": dice.random.randint(1, 4)})
        return part if store == "episodic-memory" else dice.random.randint(0, 50)
    if field == "conversation":
        return dice.one_of(*IDS)
    if field in ("external_id", "merged_into", "unread_from") or (
        field == "title" and store == "conversations"
    ):
        return dice.one_of(None, dice.word())
    return _DRAWN[field](dice)


def record(dice: Dice, store: str) -> Json:
    """Draw a record of a store."""
    shape = SHAPES[store]
    fields = [field for field in shape.fields[2:] if field not in _SELDOM]
    drawn = {field: _value(dice, store, field) for field in fields}
    return {"id": "a-00000000", "schema": 1, **drawn}


def changed(dice: Dice, store: str, base: Json, *, properly: bool) -> Json:
    """Draw what somebody may have made of a record."""
    shape = SHAPES[store]
    side: Json = json.loads(json.dumps(base))
    for _ in range(dice.random.randint(1, 4)):
        field = dice.one_of(*(field for field in shape.fields if field not in _LEFT_ALONE))
        value = _changed_value(dice, store, field, side)
        at = dice.tick() if properly or dice.often() else dice.time()
        if "updated_at" in side:
            side["updated_at"] = max(at, side["updated_at"])
        if "history" in side and (properly or dice.often()):
            side["history"].append(dice.event(at, before={field: side[field]}))
        side[field] = value
    return side if properly else _with_unknown(dice, side)


def _changed_value(dice: Dice, store: str, field: str, side: Json) -> Any:
    value = _value(dice, store, field)
    shape = SHAPES[store]
    if shape.rules.get(field) is not Rule.ITEMS or not dice.often(0.7):
        return value
    key_of = shape.inside[field].identity_of
    items = {key_of(item): item for item in side[field] if dice.often(0.8)}
    items |= {key_of(item): item for item in value[:2]}
    return list(items.values())


def _with_unknown(dice: Dice, side: Json) -> Json:
    parts = [part for part in side.values() if isinstance(part, dict) and dice.often(0.3)]
    items = [item for part in side.values() if isinstance(part, list) for item in part]
    parts += [i for i in items if isinstance(i, dict) and "event" not in i and dice.often(0.2)]
    for part in parts:
        part.update(dice.unknown())
    return side | dice.unknown()


def sides(seed: int, store: str) -> tuple[Json, Json, Json, Json]:
    """Draw a record and three versions of it."""
    dice = Dice(seed)
    base = record(dice, store)
    properly = dice.often()
    one, two, three = (changed(dice, store, base, properly=properly) for _ in range(3))
    return base, one, two, three


def differ(value: Any) -> str:
    """Return a text that is the same for the same JSON alone."""
    return json.dumps(value, sort_keys=True)


def mentions(value: Any) -> set[str]:
    """Return every value that stands somewhere in a JSON value, itself included."""
    found = {differ(value)}
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, dict | list):
        for item in inner:
            found |= mentions(item)
    return found


def identified(shape: RecordShape, items: list[Json]) -> dict[str, Json]:
    """Return items by what tells them apart."""
    return {differ(shape.identity_of(item)): item for item in items}


_COUNTED: Final = (Rule.EVENTS, Rule.SUM, Rule.GREATEST, Rule.LATEST)
"""Fields that a merge adds up or lets grow: what either side had need not show."""


def keeps_all(result: Json, versions: Versions, shape: RecordShape) -> bool:
    """Tell whether every value of either side still stands in a record or in its history."""
    kept = mentions(result)
    for field, value in (pair for side in versions[1:] for pair in (side or {}).items()):
        wanted = {part for part in mentions(value) if part[0] not in "[{"}
        if field == "history":
            wanted = set(map(differ, value))
        if shape.rules.get(field) in _COUNTED and field != "history":
            continue
        if field not in shape.derived and field != "access" and not wanted <= kept:
            return False
    return True
