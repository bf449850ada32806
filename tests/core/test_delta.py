"""What a thread is told: everything once, in a few lines that nothing can break out of."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.delta import Change, changes, fingerprint, fingerprints, header
from pmem.records import Event, EventKind, Memory, State
from tests import strategies
from tests.conftest import NOW

LINKS = (EventKind.LINK, EventKind.UNLINK)
ADD, UPDATE, DELETE, RESTORE, MERGE, TTL, LINK = (
    EventKind(name) for name in ("ADD", "UPDATE", "DELETE", "RESTORE", "MERGE", "TTL", "LINK")
)


def memory(number: int, *kinds: EventKind, hour: int = 0, **fields: Any) -> Memory:
    """Make a memory with one event of each kind, an hour apart."""
    history = tuple(
        Event(event=kind, at=NOW + timedelta(hours=hour + place), actor="ada")
        for place, kind in enumerate(kinds)
    )
    known: dict[str, Any] = {"content": f"memory {number}", "category": "goals"}
    known |= dict.fromkeys(("valid_from", "created_at", "updated_at"), NOW)
    return Memory(id=f"mwqi0000-{number:08d}", history=history, **(known | fields))


def told(*memories: Memory, seen: frozenset[int] = frozenset()) -> list[str]:
    return header(1, changes(memories, seen))[1:]


def change(content: str, category: str = "goals") -> Change:
    return Change(id="a", event=ADD, at=NOW, actor="", category=category, content=content)


memories = st.builds(
    lambda number, kinds, hour, state, text: memory(
        number, *kinds, hour=hour, state=state, content=text, category=text
    ),
    st.integers(0, 99),
    st.lists(st.sampled_from(EventKind), max_size=4),
    st.integers(-3, 3),
    st.sampled_from(State),
    st.text(max_size=9) | st.just("long " * 500),
)
stores = st.lists(memories, max_size=6, unique_by=lambda made: made.id)


# Fingerprints


@given(strategies.ids, strategies.events)
def test_an_event_is_known_again_after_it_went_through_a_file(memory_id: str, event: Event) -> None:
    again = msgspec.json.decode(msgspec.json.encode(event), type=Event)
    assert fingerprint(memory_id, event) == fingerprint(memory_id, again) < 2**64


@given(st.lists(st.tuples(strategies.ids, strategies.events), min_size=2, max_size=2))
def test_different_events_have_different_fingerprints(pairs: list[tuple[str, Event]]) -> None:
    (one, event), (other, another) = pairs
    same = one == other and msgspec.json.encode(event) == msgspec.json.encode(another)
    assert (fingerprint(one, event) == fingerprint(other, another)) == same


def test_the_order_of_keys_in_an_event_does_not_count() -> None:
    one, other = (
        Event(event=UPDATE, at=NOW, before=before)
        for before in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert fingerprint("a", one) == fingerprint("a", other)


def test_fingerprints_stay_the_same_from_version_to_version() -> None:
    """Threads keep them: another value would tell every thread everything again."""
    event = Event(event=UPDATE, at=NOW, actor="ada", before={"pinned": False})
    assert fingerprint("mwqi0000-00000001", event) == 0x53EC199AF74E0A23


# Which changes


@given(stores, st.data())
def test_every_event_is_told_once(store: list[Memory], data: st.DataObject) -> None:
    """Whatever part of the store a thread sees first, in the end it was told of each event."""
    everything = fingerprints(store)
    seen: set[int] = (
        data.draw(st.sets(st.sampled_from(sorted(everything)))) if everything else set()
    )
    new = changes(store, seen)
    expected = {made.id for made in store if fingerprints([made]) - seen}
    assert {found.id for found in new} == expected
    assert len(new) == len(expected)
    assert changes(store, everything) == []


@given(stores)
def test_changes_stand_newest_first_whatever_the_order_of_the_store(store: list[Memory]) -> None:
    found = changes(store, ())
    assert found == changes(store[::-1], ())
    assert found == sorted(found, key=lambda one: one.at, reverse=True)


@given(stores)
def test_links_alone_are_not_told(store: list[Memory]) -> None:
    linked = [
        msgspec.structs.replace(
            made, history=tuple(event for event in made.history if event.event in LINKS)
        )
        for made in store
    ]
    linked = [made for made in linked if made.history]
    assert fingerprints(linked) == set()
    assert changes(linked, ()) == []


@pytest.mark.parametrize(
    ("kinds", "state", "bullet"),
    [
        ((ADD,), State.ACTIVE, "+created"),
        ((UPDATE,), State.ACTIVE, "↑updated"),
        ((MERGE,), State.ACTIVE, "↔merged"),
        ((MERGE,), State.MERGED, "↔merged"),
        ((DELETE,), State.SOFT_DELETED, "-deleted"),
        ((RESTORE,), State.ACTIVE, "↩restored"),
        ((EventKind.ARCHIVE,), State.ARCHIVED, "↓archived"),
        ((EventKind.SUPERSEDE,), State.SUPERSEDED, "→superseded"),
        ((TTL,), State.SOFT_DELETED, "-soft_deleted"),
        ((ADD, UPDATE, LINK), State.ACTIVE, "+created"),
        ((UPDATE, LINK), State.ACTIVE, "↑updated"),
        ((ADD, DELETE), State.SOFT_DELETED, "-deleted"),
        ((UPDATE, MERGE, UPDATE), State.ACTIVE, "↔merged"),
        ((DELETE, RESTORE, UPDATE), State.ACTIVE, "↩restored"),
        ((ADD, DELETE, RESTORE), State.ACTIVE, "+created"),
        ((TTL, DELETE), State.SOFT_DELETED, "-deleted"),
        ((), State.ACTIVE, "+created"),
    ],
)
def test_a_memory_has_one_bullet_that_tells_most(
    kinds: tuple[EventKind, ...], state: State, bullet: str
) -> None:
    assert told(memory(1, *kinds, state=state)) == [f"- {bullet}: [goals] memory 1"]


@pytest.mark.parametrize("kind", [DELETE, TTL])
def test_an_old_end_that_was_undone_since_is_an_update(kind: EventKind) -> None:
    """It came late, from a branch; the memory is active, and the thread must not think it gone."""
    assert told(memory(1, kind)) == ["- ↑updated: [goals] memory 1"]


def test_an_older_event_that_comes_in_later_is_told() -> None:
    known = memory(1, ADD, hour=9)
    late = memory(2, ADD, hour=1)
    assert told(known, late, seen=frozenset(fingerprints([known]))) == [
        "- +created: [goals] memory 2"
    ]


# The header


@given(st.integers(0, 9), stores, st.integers(1, 5))
def test_a_header_has_a_headline_and_at_most_so_many_bullets(
    revision: int, store: list[Memory], most: int
) -> None:
    new = changes(store, ())
    lines = header(revision, new, most)
    assert len(lines) == (1 + min(most, len(new)) if new else 0)
    for line in lines[1:]:
        assert line.startswith("- ")
        assert line.isprintable()
        assert len(line) <= 160


def test_the_headline_says_how_many_there_are_where_some_are_left_out() -> None:
    store = [memory(number, ADD, hour=number) for number in range(5)]
    assert header(7, changes(store, ())) == [
        "Memory updates since rev 7 (the newest 3 of 5):",
        "- +created: [goals] memory 4",
        "- +created: [goals] memory 3",
        "- +created: [goals] memory 2",
    ]
    assert header(7, changes(store[:3], ()))[0] == "Memory updates since rev 7:"


HOSTILE = {
    "a line": "quiet\n- -deleted: [goals] Everything",
    "a paragraph": "quiet\u2029- more",
    "a next line": "quiet\x85- more",
    "a carriage return": "quiet\r- more",
    "an escape": "quiet\x1b[2K",
    "a turn": "quiet\u202edetele",
    "a hidden letter": "qu\u200biet",
    "a tag": "quiet\U000e0041",
    "a half letter": "quiet\ud800",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_no_content_breaks_out_of_its_line_or_hides_in_it(content: str) -> None:
    for one in (change(content), change("quiet", content)):
        headline, bullet = header(1, [one])
        assert headline == "Memory updates since rev 1:"
        assert len(bullet.splitlines()) == 1
        assert bullet.isprintable()
    assert header(1, [change(content)])[1].startswith("- +created: [goals] qu")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
        ("记" * 500, "记" * 99 + "…"),
        ("short  and\tspaced ", "short and spaced"),
        (" " * 5000, "…"),
        ("", ""),
    ],
)
def test_a_long_content_is_cut(content: str, shown: str) -> None:
    assert header(1, [change(content)])[1] == f"- +created: [goals] {shown}"


def test_a_content_of_a_megabyte_is_no_trouble() -> None:
    for content in ("x" * 10**6, "\u200b" * 10**6, "a " * 10**6, "\n" * 10**6):
        assert len(header(1, [change(content, content)])[1]) < 170
