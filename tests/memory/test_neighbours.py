"""Links that a memory gets when it is added: to its best neighbours, and to nothing else."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import AddRequest, Project
from pmem.conversation.conversations import SayRequest
from pmem.core.duplicates import claim_of, pairs
from pmem.core.lifecycle import linking
from pmem.core.lifecycle.neighbours import may_meet
from pmem.core.lifecycle.plan import Action
from pmem.core.retention import valid_at
from pmem.errors import InvalidValue
from pmem.operations import table
from pmem.storage.store import Store
from pmem.values.records import EventKind, Memory, State
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.in_memory import InMemory

TEXTS = (
    "The ledger keeps its entries in PostgreSQL",
    "The ledger keeps its entries in MySQL",
    "Entries of the ledger are kept in PostgreSQL for ten years",
    "The nightly backup of the ledger starts at 02:00",
    "The nightly backup of the ledger starts at 04:00",
    "Deploys never happen on Friday afternoon",
    "Deploys happen on Friday afternoon",
    "Releases and deploys happen after the Friday review",
    "Mira owns the billing service",
    "Jonas owns the billing service",
    "The billing service sends invoices by mail",
    "猫は台所で魚を食べるのが好きです",
)
LINK_AT = 0.4
Make = Callable[..., Project]


@pytest.fixture(autouse=True)
def _links_from_afar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "LINK_AT", LINK_AT)


@pytest.fixture(params=["memory", "files"])
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return what opens an empty project, again and again if it is given the same place."""

    def opened(**overrides: Any) -> Project:
        known: dict[str, Any] = {"actor": "tester", "now": NOW}
        if request.param == "memory":
            return Project("/nowhere", backend=InMemory(), **known | overrides)
        return Project(str(tmp_path_factory.mktemp("files")), **known | overrides)

    return opened


def links(memory: Memory) -> list[tuple[str, str, float]]:
    return [(link.target, link.type, link.strength) for link in memory.relationships]


def say(project: Project, text: str) -> None:
    ask(project.workspace, table.SAY, SayRequest(content=text))


def active(project: Project, memory: Memory) -> list[Memory]:
    """Return what a memory may be linked to."""
    return [
        other
        for other in project.workspace.memories.find()
        if other.state is State.ACTIVE
        and may_meet(other.scope, memory.scope)
        and other.id != memory.id
        and valid_at(other, NOW)
    ]


def expected(memory: Memory, others: Sequence[Memory], most: int = 3) -> list[tuple[str, float]]:
    """Compare a memory with all others, as consolidation would."""
    claims = [claim_of(other.content) for other in (*others, memory)]
    found = pairs(claims, [0] * len(claims), link_min=LINK_AT, most_links=99)
    close = [
        (others[pair.first].id, round(pair.verdict.score, 3))
        for pair in found
        if pair.second == len(others)
    ]
    close = [pair for pair in close if pair[1] >= LINK_AT]
    return sorted(close, key=lambda pair: (-pair[1], pair[0]))[:most]


requests = st.builds(
    AddRequest,
    content=st.sampled_from(TEXTS),
    user=st.sampled_from((None, "mira", "jonas")),
    valid_from=st.sampled_from((None, NOW - timedelta(days=9))),
    valid_until=st.sampled_from((None, NOW - timedelta(days=1), NOW + timedelta(days=9))),
    force=st.just(value=True),
)


@pytest.mark.row("S1.2.3")
@settings(max_examples=examples(40))
@given(
    batches=st.lists(st.lists(requests, min_size=1, max_size=4), max_size=4),
    removed=st.lists(st.integers(0, 15), max_size=3),
)
def test_links_are_those_that_a_comparison_with_every_memory_finds(
    make: Make, batches: list[list[AddRequest]], removed: list[int]
) -> None:
    project = make()
    for batch in batches:
        try:
            done = project.add_all(batch)
        except InvalidValue:
            continue  # it would end before it begins
        new = [added.memory for added in done]
        for place, memory in enumerate(new):
            before = {other.id for other in new[place:]}
            others = [other for other in active(project, memory) if other.id not in before]
            wanted = expected(memory, others) if valid_at(memory, NOW) else []
            assert wanted == [(target, strength) for target, _, strength in links(memory)]
            assert links(memory) == links(project.show(memory.id))  # type: ignore[arg-type]
        known = project.workspace.memories.ids()
        for number in removed:
            project.remove(known[number % len(known)])


@pytest.mark.row("S0.12.8")
def test_an_update_and_a_contradiction_are_named_so(make: Make) -> None:
    project = make()
    first = project.add("The ledger keeps its entries in PostgreSQL").memory
    update = project.add("The ledger keeps its entries in MySQL")
    assert [(first.id, "updates", 0.8)] == links(update.memory)
    assert update.links == update.memory.relationships
    assert "PostgreSQL became MySQL".casefold() in update.neighbours[0].reason.casefold()
    third = project.add("Deploys happen on Friday").memory
    against = project.add("Deploys never happen on Friday").memory
    assert [(third.id, "contradicts", 0.85)] == links(against)


def test_nothing_is_linked_to_what_concerns_another_user_or_app(make: Make) -> None:
    project = make()
    first = project.add("The ledger keeps its entries in PostgreSQL", user="mira").memory
    for scope in ({"user": "jonas"}, {"app": "mira"}, {"app": "mail", "user": "mira"}):
        assert not project.add("The ledger keeps its entries in MySQL", force=True, **scope).links
    own = project.add("The ledger keeps its entries in SQLite", user="mira")
    assert [first.id] == [link.target for link in own.links]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ({"agent": "bot"}, {}),
        ({}, {"agent": "bot"}),
        ({"agent": "bot"}, {"agent": "helper"}),
        ({"user": "mira"}, {}),
        ({}, {"user": "mira"}),
        ({"user": "mira", "agent": "bot"}, {"user": "mira"}),
    ],
)
def test_what_one_context_would_show_is_linked_whoever_noted_it(
    make: Make, first: dict[str, str], later: dict[str, str]
) -> None:
    project = make()
    known = project.add("We use Redis for sessions", **first).memory
    added = project.add("We do not use Redis for sessions", **later)
    assert [(known.id, "contradicts", 0.85)] == links(added.memory)


def test_many_memories_of_others_do_not_hide_the_own(make: Make) -> None:
    project = make()
    own = project.add("The ledger keeps its entries in PostgreSQL", user="mira").memory
    project.add_all(
        [AddRequest(content=f"The ledger keeps its entries in shelf {n}") for n in range(300)]
    )
    found = project.add("The ledger keeps its entries in MySQL", user="mira")
    assert [own.id] == [link.target for link in found.links]


@pytest.mark.row("S1.2.1")
def test_a_link_is_in_the_history_and_at_most_so_many_are_made(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "MOST_LINKS", 2)
    project = make()
    for text in ("Deploys happen on Friday", "Friday deploys", "We do deploys on Friday at noon"):
        project.add(text)
    last = project.add("Deploys happen on Friday at ten").memory
    assert len(last.relationships) == 2
    assert [EventKind.ADD] + [EventKind.LINK] * 2 == [event.event for event in last.history]
    assert sorted(links(last), key=lambda link: (-link[2], link[0])) == links(last)


def test_a_series_is_a_list_and_no_chain_of_updates(make: Make) -> None:
    project = make()
    for number in range(6):
        project.add(f"Service {number} listens on port 80{number}")
    last = project.add("Service 7 listens on port 807")
    assert [link.type for link in last.links].count("updates") == 0


def test_consolidation_finds_nothing_more_to_link_and_no_link_twice(make: Make) -> None:
    project = make()
    project.add("The ledger keeps its entries in PostgreSQL")
    project.add("The ledger keeps its entries in MySQL")
    project.add("The nightly backup of the ledger starts at 02:00")
    project.add("The nightly backup of the ledger starts at 04:00")
    done = project.consolidate()
    assert [] == [step for step in done.steps if step.action is Action.LINK]


def test_links_wait_for_consolidation_where_the_setting_says_so(make: Make) -> None:
    project = make(link_on_add=False)
    project.add("The ledger keeps its entries in PostgreSQL")
    later = project.add("The ledger keeps its entries in MySQL")
    assert not later.links
    done = project.consolidate()
    assert [later.memory.id] == [
        step.records[0].id for step in done.steps if step.action is Action.LINK
    ]


def test_nothing_alike_means_that_nothing_is_compared(make: Make) -> None:
    project = make()
    project.add("Whales breathe air")
    with mock.patch("pmem.core.lifecycle.linking.close_to", side_effect=AssertionError):
        project.add("The printer is on the second floor")


def test_a_fact_that_a_memory_says_already_is_found_by_its_words(make: Make) -> None:
    project = make()
    project.add_all(
        [AddRequest(content=f"The port of service {number} is open") for number in range(40)]
    )
    known = project.add("The staging port is 8443").memory
    ordinary = Store.find

    def find(store: Store[Any], *wanted: Any) -> Any:
        assert store.type is not Memory
        return ordinary(store, *wanted)

    with mock.patch.object(Store, "find", find):
        project.start_conversation("Set-up")
        say(project, "Remember that the staging port is 8443.")
    (stated,) = project.facts(standing=None).items
    assert known.id == stated.fact.memory
