"""Which of two memories is newer, where their links say that they differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.neighbours import SaidOtherwise, differences, newer_first
from pmem.values.records import EventKind, Memory
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY, event, identifier, link, memory

OLD, NEW = NOW - 9 * DAY, NOW - 2 * DAY


def pair(type_: str = "updates") -> list[Memory]:
    older = memory(1, "The port is 80", created_at=OLD)
    newer = memory(2, "The port is 81", created_at=NEW, relationships=(link(1, type_),))
    return [older, newer]


@pytest.mark.row("S2.11.8")
def test_the_older_one_is_marked_with_what_the_newer_one_does_and_both_are_dated() -> None:
    found = differences(pair("contradicts"))
    assert found[identifier(1)].mark == "(2026-11-12; a newer memory contradicts it) "
    assert found[identifier(1)].against == identifier(2)
    assert found[identifier(2)].mark == "(2026-11-19) "


def test_other_links_and_links_to_what_is_not_shown_mark_nothing() -> None:
    assert differences(pair("related_to")) == differences(pair("supersedes")) == {}
    assert differences(pair()[1:]) == {}


def test_a_memory_that_is_linked_to_itself_differs_from_nothing() -> None:
    alone = memory(1, "The port is 80", relationships=(link(1, "contradicts"),))
    assert differences([alone]) == {}


def test_who_said_it_later_is_newer_whichever_way_a_link_leads() -> None:
    older = memory(1, "The port is 80", created_at=OLD, relationships=(link(2, "contradicts"),))
    found = differences([older, memory(2, "The port is 81", created_at=NEW)])
    assert found[identifier(1)].against == identifier(2)


def test_a_link_tells_nothing_once_one_of_them_says_something_else() -> None:
    older, newer = pair()
    rewritten = event(EventKind.UPDATE, NOW + DAY, before={"content": "The port is 80"})
    assert (
        differences([older, memory(2, history=(rewritten,), relationships=(link(1, "updates"),))])
        == {}
    )
    tagged = event(EventKind.UPDATE, NOW + DAY, before={"tags": []})
    told = memory(2, created_at=NEW, history=(tagged,), relationships=newer.relationships)
    assert set(differences([older, told])) == {identifier(1), identifier(2)}


def test_what_nobody_stands_for_goes_behind_what_it_contradicts() -> None:
    older, newer = pair("contradicts")
    found = differences([older, newer], lambda one: one is newer)
    assert found[newer.id].mark == "(2026-11-19; what is trusted more says otherwise) "
    assert found[older.id].mark == "(2026-11-12) "
    assert newer_first([newer.id, older.id], found) == [1, 0]
    assert differences([older, newer], lambda one: True) == differences([older, newer])


def test_of_several_the_newest_counts() -> None:
    between = memory(3, created_at=NEW - DAY, relationships=(link(1, "contradicts"),))
    found = differences([*pair(), between])
    assert (found[identifier(1)].against, found[identifier(1)].relation) == (
        identifier(2),
        "updates",
    )
    assert found[identifier(2)].mark == "(2026-11-19) "
    assert found[identifier(3)].mark == "(2026-11-18) "


@given(st.permutations("abcdefg"), st.lists(st.tuples(*[st.sampled_from("abcdefg")] * 2)))
def test_every_newer_one_comes_first_and_nothing_else_moves(
    ids: list[str], pairs: list[tuple[str, str]]
) -> None:
    differing = {
        one: SaidOtherwise(said="", against=other, relation="updates")
        for one, other in pairs
        if one < other
    }
    order = [ids[place] for place in newer_first(ids, differing)]
    assert sorted(order) == sorted(ids)
    for one, what in differing.items():
        assert what.against is not None
        assert order.index(what.against) < order.index(one)
    if all(ids.index(what.against or "") < ids.index(one) for one, what in differing.items()):
        assert order == list(ids)
