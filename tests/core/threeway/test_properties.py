"""What holds for every merge, whatever the records and whatever was done to them."""

import json
from typing import Any

import msgspec

from pmem.core import rawjson
from pmem.core.threeway.record import Merged, merged
from pmem.core.threeway.shapes import SHAPES, RecordShape, Rule
from pmem.core.threeway.values import moment_in
from pmem.values.records import STORES, RecordType
from tests.core.threeway.sides import Json, differ, identified, mentions, on_every_store, sides

TYPES: dict[str, RecordType] = {folder: type_ for type_, folder in STORES.items()}
PLAIN = (Rule.VALUE, Rule.STATEMENT)


def texts_of(result: Merged) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return (json.dumps(result.result), result.conflicts, result.notes)


@on_every_store
def test_a_into_b_is_b_into_a_to_the_byte(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    shape = SHAPES[store]
    one, other = merged(base, ours, theirs, shape), merged(base, theirs, ours, shape)
    assert rawjson.dump(one.result) == rawjson.dump(other.result)
    assert texts_of(one) == texts_of(other)
    assert texts_of(merged(None, ours, theirs, shape)) == texts_of(
        merged(None, theirs, ours, shape)
    )


@on_every_store
def test_what_one_side_alone_did_holds(store: str, seed: int) -> None:
    base, ours, _, _ = sides(seed, store)
    shape = SHAPES[store]
    assert merged(base, ours, base, shape) == Merged(ours)
    assert merged(base, base, ours, shape) == Merged(ours)
    assert merged(base, ours, ours, shape) == Merged(ours)
    assert merged(None, ours, ours, shape) == Merged(ours)


@on_every_store
def test_the_result_is_a_record_and_has_every_event_and_key(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    result = merged(base, ours, theirs, SHAPES[store]).result
    assert result is not None
    record = msgspec.json.decode(rawjson.dump(result), type=TYPES[store])
    assert record.id == base["id"]
    for side in (ours, theirs):
        assert set(side) <= set(result)
        events = [differ(event) for event in result.get("history", [])]
        for event in side.get("history", []):
            assert differ(event) in events
        assert moment_in(result, "updated_at") >= moment_in(side, "updated_at")


@on_every_store
def test_no_value_of_either_side_is_lost(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    shape = SHAPES[store]
    result = merged(base, ours, theirs, shape).result
    assert result is not None
    _nothing_lost(shape, base, ours, result, mentions(result.get("history", [])))
    _nothing_lost(shape, base, theirs, result, mentions(result.get("history", [])))


@on_every_store
def test_merging_again_changes_nothing(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    shape = SHAPES[store]
    result = merged(base, ours, theirs, shape).result
    assert merged(base, result, result, shape) == Merged(result)
    assert merged(ours, result, ours, shape) == Merged(result)
    assert merged(theirs, theirs, result, shape) == Merged(result)


@on_every_store
def test_three_branches_lose_nothing_in_any_order(store: str, seed: int) -> None:
    base, one, two, three = sides(seed, store)
    shape = SHAPES[store]
    for first, second, third in ((one, two, three), (three, two, one), (two, one, three)):
        middle = merged(base, first, second, shape).result
        result = merged(base, middle, third, shape).result
        assert result is not None
        kept = mentions(result.get("history", []))
        for side in (one, two, three):
            _nothing_lost(shape, base, side, result, kept, added_only=True)


def _nothing_lost(
    shape: RecordShape,
    base: Json,
    side: Json,
    result: Json,
    history: set[str],
    *,
    added_only: bool = False,
) -> None:
    for key, value in side.items():
        rule = shape.rules.get(key, Rule.VALUE) if key in shape.fields else None
        before = base.get(key)
        if differ(value) == differ(before) or key in shape.derived:
            continue
        if rule is Rule.SET:
            assert set(value) - set(before or []) <= set(result[key])
            if not added_only:
                assert not (set(before or []) - set(value)) & set(result[key])
        elif rule is Rule.ITEMS:
            _no_item_lost(shape.inside[key], before or [], value, result[key], history)
        elif rule in PLAIN:
            assert differ(value) in {differ(result[key])} | history
        elif rule is Rule.PART or rule is None:
            _no_part_lost(shape.inside.get(key), before, value, result[key], history)


def _no_part_lost(
    shape: RecordShape | None, before: Any, value: Any, result: Any, history: set[str]
) -> None:
    if not isinstance(value, dict):
        _no_value_lost(value, result, history)
        return
    for key, inner in value.items():
        rule = shape.rules.get(key) if shape else None
        if rule is None and differ(inner) != differ((before or {}).get(key)):
            _no_value_lost(inner, result, history)


def _no_value_lost(value: Any, result: Any, history: set[str]) -> None:
    """See that a value is still there, or all that a list or an object holds."""
    found = mentions(result) | history
    inner = value.values() if isinstance(value, dict) else value
    assert differ(value) in found or (
        isinstance(value, list | dict) and {differ(item) for item in inner} <= found
    )


def _no_item_lost(
    shape: RecordShape, before: list[Json], items: list[Json], result: list[Json], history: set[str]
) -> None:
    was, now = identified(shape, before), identified(shape, result)
    for key, item in identified(shape, items).items():
        if differ(item) != differ(was.get(key)):
            assert key in now
            for field, value in item.items():
                ruled = field in shape.rules or field in shape.derived
                if not ruled and differ(value) != differ(was.get(key, {}).get(field)):
                    _no_value_lost(value, now[key], history)
