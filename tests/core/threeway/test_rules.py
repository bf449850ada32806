"""The rules of merging, one by one."""

from typing import Any, get_args

import msgspec
import pytest

from pmem.core.threeway.history import open_conflicts
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES, RecordShape
from pmem.core.threeway.values import Doubt, together
from pmem.values import records
from tests.core.threeway.sides import Dice, Json, record

MEMORY = SHAPES["long-term-memory"]
BEGUN = "2026-01-01T00:00:00Z"


def day(number: int) -> str:
    return f"2026-01-{number:02d}T00:00:00Z"


def memory(**fields: Any) -> Json:
    drawn = record(Dice(1), "long-term-memory")
    known = {"content": "first", "tags": [], "relationships": [], "access": {}, "state": "active"}
    times = {"purge_at": None, "valid_until": None, "updated_at": BEGUN}
    added = [{"event": "ADD", "at": BEGUN}]
    return drawn | known | times | {"importance": 0.5, "type": "fact", "history": added} | fields


def edited(base: Json, number: int, kind: str = "UPDATE", **fields: Any) -> Json:
    before = {name: base.get(name) for name in fields}
    event = {"event": kind, "at": day(number), "before": before}
    return {**base, **fields, "updated_at": day(number), "history": [*base["history"], event]}


def whole(base: Json, ours: Json, theirs: Json, shape: RecordShape = MEMORY) -> Json:
    """Merge a record that stays."""
    result = merged(base, ours, theirs, shape).result
    assert result is not None
    return result


BASE = memory()
LINK = {"target": "b-00000001", "type": "updates", "strength": 0.2, "created_at": BEGUN}
CITED = {"file": "a", "lines": [1, 2], "digest": "00", "blob": "b1", "commit": "c1"}


@pytest.mark.parametrize(
    ("field", "base", "early", "late", "wanted"),
    [
        ("importance", 0.5, 0.6, 0.7, 0.7),
        ("importance", 0.5, 0.6, 0.6, 0.6),
        ("importance", 0.5, 0.6, 0.5, 0.6),
        ("tags", ["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]),
        (
            "access",
            {},
            {"count": 2},
            {"count": 3, "last_at": day(9)},
            {"count": 5, "last_at": day(9)},
        ),
        ("access", {}, {"count": 2}, {"count": 2}, {"count": 2}),
        ("relationships", [], [LINK], [LINK], [LINK]),
        ("relationships", [LINK], [], [LINK], []),
        ("relationships", [LINK], [], [{**LINK, "strength": 0.9}], [{**LINK, "strength": 0.9}]),
        ("citations", [], [CITED], [{**CITED, "file": "b"}], [CITED, {**CITED, "file": "b"}]),
        ("citations", [CITED], [], [CITED, {**CITED, "file": "b"}], [{**CITED, "file": "b"}]),
        ("citations", [CITED], [{**CITED, "lines": [5, 6]}], [], [{**CITED, "lines": [5, 6]}]),
        ("access", {"count": 5}, {"count": 1}, {"count": 2}, {"count": 0}),  # counted anew on both
        ("new_list", ["a"], ["a", "b"], ["c"], ["b", "c"]),
        ("new_numbers", [1, 2], [1, 3], [2, 2], [2, 2]),
        ("new_part", {"a": 1}, {"a": 1, "b": 2}, {"a": 3}, {"a": 3, "b": 2}),
    ],
)
def test_what_a_field_becomes(field: str, base: Any, early: Any, late: Any, wanted: Any) -> None:
    begun = memory(**{field: base})
    sides = edited(begun, 2, **{field: early}), edited(begun, 3, **{field: late})
    result = whole(begun, *sides)
    assert result[field] == wanted


def test_the_strength_of_a_link_is_that_of_the_later_linking() -> None:
    begun = memory(relationships=[LINK])
    strong, weak = {**LINK, "strength": 0.9, "created_at": day(5)}, {**LINK, "strength": 0.1}
    late = edited(begun, 9, relationships=[weak])
    result = whole(begun, edited(begun, 5, relationships=[strong]), late)
    assert result["relationships"] == [strong]
    assert result["history"][-1]["detail"]["kept"][0]["value"] == 0.1


def test_what_is_no_longer_there_takes_along_what_follows_it() -> None:
    pending = {"id": "f-1", "content": "x", "type": "fact", "extracted_at": BEGUN}
    promoted = {**pending, "standing": "promoted", "memory": "a-1", "settled_at": day(2)}
    base = {**record(Dice(1), "conversations"), "facts": [promoted], "updated_at": BEGUN}
    late = {**base, "facts": [pending], "updated_at": day(3)}
    early = {**base, "facts": [{**promoted, "new_key": 1}], "updated_at": day(2)}
    result = whole(base, early, late, SHAPES["conversations"])
    assert result["facts"] == [{**pending, "new_key": 1}]


def test_every_message_counts_once_as_a_turn() -> None:
    said = [{"id": f"m-{n}", "content": "x", "created_at": day(n)} for n in range(1, 5)]
    drawn = record(Dice(1), "conversations") | {"updated_at": BEGUN}
    base = {**drawn, "turns": 1, "recent_messages": said[:1]}
    early = {**base, "turns": 3, "recent_messages": said[:3], "updated_at": day(2)}
    late = {**base, "turns": 3, "recent_messages": [*said[:2], said[3]], "updated_at": day(3)}
    result = whole(base, early, late, SHAPES["conversations"])
    assert (result["turns"], result["recent_messages"]) == (4, said)


def test_branches_whose_base_knew_no_citations_keep_both() -> None:
    begun = {key: value for key, value in BASE.items() if key != "citations"}
    other = {**CITED, "file": "b"}
    one, two = edited(begun, 2, citations=[CITED]), edited(begun, 3, citations=[other])
    result = whole(begun, one, two)
    assert result["citations"] == [CITED, other]


def test_a_citation_that_moved_on_both_branches_has_the_names_of_the_later_place() -> None:
    begun = memory(citations=[CITED])
    early = {**CITED, "lines": [3, 4], "blob": "b2", "commit": "c2"}
    late = {**CITED, "lines": [5, 6], "blob": "b3", "commit": "c1"}
    sides = edited(begun, 2, citations=[early]), edited(begun, 3, citations=[late])
    result = whole(begun, *sides)
    assert result["citations"] == [late]


def test_the_other_value_is_kept_in_the_history() -> None:
    done = merged(BASE, edited(BASE, 2, importance=0.6), edited(BASE, 3, importance=0.7), MEMORY)
    assert done.result is not None
    event = {
        "event": "MERGE",
        "at": day(3),
        "source": "git",
        "before": {"importance": 0.6},
        "detail": {"branch": {"importance": [day(2)]}},
    }
    assert done.result["history"][-1] == event
    assert (done.conflicts, done.notes) == ((), ("importance",))


def test_of_two_values_the_one_that_was_set_later_wins_whatever_else_changed_after_it() -> None:
    later = edited(BASE, 5, importance=0.9)
    earlier = edited(edited(BASE, 2, importance=0.1), 9, pinned=True)
    for sides in ((later, earlier), (earlier, later)):
        result = whole(BASE, *sides)
        assert (result["importance"], result["updated_at"]) == (0.9, day(9))
        assert result["history"][-1]["before"] == {"importance": 0.1}


def test_what_follows_a_field_comes_from_the_side_that_set_it_later() -> None:
    removed = edited(BASE, 5, "DELETE", state="soft_deleted", purge_at=day(30))
    archived = edited(edited(BASE, 2, "ARCHIVE", state="archived"), 9, pinned=True)
    result = whole(BASE, removed, archived)
    assert (result["state"], result["purge_at"]) == ("soft_deleted", day(30))


def test_an_earlier_merge_makes_no_value_later_than_it_is() -> None:
    early = edited(edited(BASE, 2, importance=0.1), 9, pinned=True)
    met = merged(BASE, early, edited(BASE, 3, importance=0.2), MEMORY).result
    assert met is not None
    result = whole(BASE, met, edited(BASE, 5, importance=0.9))
    assert result["importance"] == 0.9


@pytest.mark.parametrize(("edit", "delete"), [(3, 2), (2, 3)])
def test_an_edit_survives_a_deletion_whose_author_had_not_seen_it(edit: int, delete: int) -> None:
    one = edited(BASE, edit, content="second")
    other = edited(BASE, delete, "DELETE", state="soft_deleted", purge_at=day(30))
    done = merged(BASE, one, other, MEMORY)
    assert done.result is not None
    assert (done.result["content"], done.result["state"]) == ("second", "active")
    assert (done.conflicts, done.overruled) == ((), True)
    kept = {"state": "soft_deleted", "purge_at": day(30)}
    assert done.result["history"][-1]["before"] == kept
    assert open_conflicts(done.result["history"]) == {"state": "soft_deleted"}
    gone = edited(done.result, 9, "DELETE", state="soft_deleted")
    assert open_conflicts(gone["history"]) == {}


def test_a_deletion_holds_over_an_edit_that_its_author_had_seen() -> None:
    said = edited(BASE, 2, content="second")
    removed = edited(said, 3, "DELETE", state="soft_deleted", purge_at=day(30))
    picked = edited(said, 9, tags=["a"])
    done = merged(BASE, removed, picked, MEMORY)
    assert done.result is not None
    assert (done.result["state"], done.overruled) == ("soft_deleted", False)


TOOK_IN = {"event": "MERGE", "at": day(2), "source": "consolidate", "detail": {"merged": ["b-1"]}}
SUPERSEDES = {"link": {**LINK, "type": "supersedes"}, "replaced": []}


@pytest.mark.parametrize(
    "event", [TOOK_IN, {"event": "LINK", "at": day(2), "detail": SUPERSEDES}], ids=["merge", "link"]
)
@pytest.mark.parametrize("state", ["soft_deleted", "archived", "superseded", "merged"])
def test_what_stands_in_the_place_of_another_stays_unless_its_remover_had_seen_that(
    event: Json, state: str
) -> None:
    heir = {**BASE, "updated_at": day(2), "history": [*BASE["history"], event]}
    unseen = merged(BASE, heir, edited(BASE, 3, "DELETE", state=state), MEMORY)
    assert unseen.result is not None
    assert (unseen.result["state"], unseen.overruled) == ("active", True)
    seen = merged(BASE, {**heir, "tags": ["a"]}, edited(heir, 3, "DELETE", state=state), MEMORY)
    assert seen.result is not None
    assert (seen.result["state"], seen.overruled) == (state, False)


def test_two_memories_that_were_each_merged_into_the_other_both_stay() -> None:
    heir = {**BASE, "updated_at": day(2), "history": [*BASE["history"], TOOK_IN]}
    gone = edited(BASE, 3, "MERGE", state="merged")
    result = whole(BASE, heir, gone)
    assert result["state"] == "active"


@pytest.mark.parametrize("until", [day(20), None])
def test_an_end_that_a_person_gave_holds_where_the_record_stays_in_recall(
    until: str | None,
) -> None:
    base = memory(valid_until=day(25))
    ended = edited(base, 2, valid_until=until)
    reworded = edited(base, 4, content="second")
    for left in (
        edited(ended, 3, "DELETE", state="soft_deleted", purge_at=day(30)),
        edited(ended, 3, "SUPERSEDE", state="superseded", valid_until=day(3)),
    ):
        result = whole(base, left, reworded)
        assert (result["state"], result["valid_until"]) == ("active", until)


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"pinned": True}, "active"),
        ({"pinned": False}, "soft_deleted"),
        ({"tags": ["new"]}, "soft_deleted"),
    ],
)
def test_a_pin_survives_a_removal_and_other_changes_bring_nothing_back(
    change: Json, state: str
) -> None:
    base = memory(pinned=change.get("pinned") is False)
    removed = edited(base, 2, "TTL", state="soft_deleted", purge_at=day(30))
    result = whole(base, removed, edited(base, 3, **change))
    assert result["state"] == state
    assert result | change == result


def test_a_pin_brings_nothing_back_that_another_memory_replaced() -> None:
    base = memory(pinned=False)
    replaced = edited(base, 2, "SUPERSEDE", state="superseded", valid_until=day(2))
    result = whole(base, replaced, edited(base, 3, pinned=True))
    assert (result["state"], result["pinned"]) == ("superseded", True)


@pytest.mark.parametrize("back", [4, 2])
def test_what_was_restored_on_one_side_stays(back: int) -> None:
    gone = {"state": "soft_deleted", "purge_at": day(30)}
    fresh = {"state": "active", "purge_at": None}
    returned = edited(edited(BASE, 1, "DELETE", **gone), back, "RESTORE", **fresh)
    result = whole(BASE, returned, edited(BASE, 3, "DELETE", **gone))
    assert result["state"] == "active"


def test_reverting_a_restore_removes_again_whatever_was_edited_since() -> None:
    removed = edited(BASE, 2, "DELETE", state="soft_deleted", purge_at=day(30))
    back = edited(removed, 3, "RESTORE", state="active", purge_at=None)
    result = whole(back, edited(back, 4, content="second"), removed)
    assert (result["state"], result["content"]) == ("soft_deleted", "second")
    assert result["purge_at"] == day(30)


def test_a_memory_that_was_archived_and_edited_later_is_valid_again() -> None:
    one = edited(BASE, 2, "ARCHIVE", state="archived", valid_until=day(2))
    result = whole(BASE, one, edited(BASE, 3, content="second"))
    assert (result["state"], result["valid_until"]) == ("active", None)


def test_two_texts_are_a_conflict_until_somebody_edits() -> None:
    one, other = edited(BASE, 2, content="second"), edited(BASE, 3, content="third")
    done = merged(BASE, one, other, MEMORY)
    assert done.result is not None
    assert (done.conflicts, done.result["content"]) == (("content",), "third")
    assert open_conflicts(done.result["history"]) == {"content": "second"}
    pinned = edited(done.result, 4, pinned=True)
    assert open_conflicts(pinned["history"]) == {"content": "second"}
    assert open_conflicts(edited(pinned, 5, content="both")["history"]) == {}


def test_a_text_that_grew_out_of_the_other_is_no_conflict() -> None:
    picked = edited(BASE, 2, content="second")
    grown = edited(picked, 3, content="third")
    for at in (2, 9):
        done = merged(BASE, grown, {**picked, "pinned": True, "updated_at": day(at)}, MEMORY)
        assert done.result is not None
        assert (done.conflicts, done.result["content"]) == ((), "third")


def test_two_types_are_a_conflict() -> None:
    done = merged(BASE, edited(BASE, 2, type="goal"), edited(BASE, 3, type="insight"), MEMORY)
    assert done.conflicts == ("type",)


def test_a_purge_holds_unless_the_other_side_changed_something() -> None:
    changed = edited(BASE, 2, pinned=True)
    assert merged(BASE, None, dict(BASE), MEMORY).result is None
    assert merged(BASE, changed, None, MEMORY).result == changed


def test_two_events_that_are_alike_stay_two() -> None:
    event = {"event": "UPDATE", "at": day(2), "before": {}}
    begun = memory(history=[*BASE["history"], event, event])
    result = whole(begun, edited(begun, 3, importance=0.6), edited(begun, 4, type="decision"))
    assert result["history"].count(event) == 2


def test_the_history_goes_by_time_and_keeps_every_event_once() -> None:
    shared = edited(BASE, 2, subject="x")
    one = edited(edited(shared, 4, pinned=True), 7, tags=["a"])
    other = edited(edited(shared, 3, tags=["b"]), 5, category="c")
    result = whole(BASE, one, other)
    assert [event["at"] for event in result["history"]] == [BEGUN, *map(day, (2, 3, 4, 5, 7))]


@pytest.mark.parametrize(
    "damage",
    [
        {"id": "z-00000000"},
        {"id": 1},
        {"schema": 2},
        {"schema": True},
        {"updated_at": "soon"},
        {"updated_at": "2026-01-01T00:00:00"},
        {"tags": "a"},
        {"tags": [1]},
        {"history": {}},
        {"history": [{"event": "ADD"}]},
        {"history": [{"event": "ADD", "at": BEGUN, "before": []}]},
        {"relationships": [{"target": "a"}]},
        {"relationships": [{"target": [], "type": "updates"}]},
        {"relationships": [LINK, LINK]},
        {"relationships": [{**LINK, "target": ["a"]}]},
        {"access": []},
        {"access": {"count": "2"}},
        {"scope": "all"},
    ],
)
def test_what_pmem_never_writes_is_not_merged(damage: Json) -> None:
    with pytest.raises(Doubt):
        merged(BASE, edited(BASE, 2, pinned=True) | damage, edited(BASE, 3, subject="x"), MEMORY)


def test_a_number_and_a_time_are_not_compared() -> None:
    ours, theirs = (
        edited(BASE, n, access={"last_at": value}) for n, value in ((2, 5), (3, day(3)))
    )
    with pytest.raises(Doubt):
        merged(BASE, ours, theirs, MEMORY)


def test_a_side_without_a_needed_field_is_not_merged() -> None:
    lacking = {key: value for key, value in BASE.items() if key != "content"}
    with pytest.raises(Doubt, match="content is missing"):
        merged(None, lacking, BASE, MEMORY)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("abc", "abc", "abc"),
        ("ac", "bc", "abc"),
        ("abd", "acd", "abcd"),
        ("ab", "ba", "ab"),
        ("", "ba", "ba"),
        ("xa", "a", "xa"),
    ],
)
def test_two_orders_become_one(one: str, other: str, wanted: str) -> None:
    assert "".join(together(one, other, str)) == wanted
    assert "".join(together(other, one, str)) == wanted


def _parts(type_: Any) -> list[Any]:
    """Return the record parts that a field's type names."""
    named = [type_, *(inner for outer in get_args(type_) for inner in _parts(outer))]
    return [part for part in named if isinstance(part, type) and issubclass(part, records.Part)]


@pytest.mark.parametrize("type_", records.STORES, ids=lambda type_: type_.__name__)
def test_the_shapes_are_those_of_the_records(type_: records.RecordType) -> None:
    shape = SHAPES[records.STORES[type_]]
    fields = {field.name: field for field in msgspec.structs.fields(type_)}
    assert shape.fields == tuple(fields)
    assert set(shape.required) == {name for name, field in fields.items() if field.required}
    for name, field in fields.items():
        inner = [part for part in _parts(field.type) if part is not records.Event]
        assert (name in shape.inside) == bool(inner)
        for part in inner:
            assert shape.inside[name].fields == part.__struct_fields__
    assert _names(shape) <= {*shape.fields, "history"}


def _names(shape: RecordShape) -> set[str]:
    return {
        *shape.rules,
        *shape.inside,
        *shape.follows,
        *shape.follows.values(),
        *shape.derived,
        *shape.texts,
    }


@pytest.mark.parametrize("detail", [None, [], "x", {"link": 7}, {"merged": []}, {"conflict": {}}])
def test_what_other_programs_write_into_events_stops_no_merge(detail: Any) -> None:
    event = {"event": "MERGE", "at": day(2), "source": "git", "detail": detail}
    heir = {**BASE, "updated_at": day(2), "history": [*BASE["history"], event]}
    result = whole(BASE, heir, edited(BASE, 3, "DELETE", state="soft_deleted"))
    assert result["state"] == "soft_deleted"
    assert open_conflicts(result["history"]) == {}
