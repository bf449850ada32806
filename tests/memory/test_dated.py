"""What was decided earlier counts from that day: in lists, searches, contexts and disputes."""

from datetime import UTC, datetime

from pmem import Project
from pmem.storage.unindexed import InMemory
from tests.cli.shell import pmem
from tests.conftest import NOW

MARCH = datetime(2026, 3, 14, tzinfo=UTC)


def test_a_decision_of_last_march_has_that_date_wherever_it_is_shown(root: str) -> None:
    def ran(*words: str) -> str:
        done = pmem("-C", root, "--now", "2026-11-28", *words)
        assert done.code == 0, done.said
        return done.text

    ran("add", "Deploys go out on Tuesdays")
    added = ran(
        "add", "Orders are kept in Postgres", "--type", "decision", "--valid-from", "2026-03-14"
    )
    name = added.split()[1]

    first, *_ = ran("list").splitlines()
    assert first.endswith("Orders are kept in Postgres (since 2026-03-14)")
    assert "memory  2026-03-14 Orders" in ran("search", "postgres")
    assert "- Orders are kept in Postgres (since 2026-03-14)" in ran("context", "postgres")
    shown = ran("show", name)
    assert "valid from:    2026-03-14T00:00:00Z" in shown
    assert "created at:    2026-11-28T00:00:00Z" in shown


def test_what_was_decided_earlier_is_sorted_and_aged_by_it() -> None:
    made = Project(actor="ada", now=NOW, backend=InMemory())
    fresh = made.add("The queue is Redis", force=True).memory
    old = made.add("The cache is Redis", valid_from=MARCH, force=True).memory

    hits = {hit.id: hit for hit in made.search("Redis").hits}
    assert hits[old.id].signals["prior"] < hits[fresh.id].signals["prior"]
    assert (hits[old.id].dated, hits[old.id].created_at) == (MARCH, NOW)
    assert [memory.id for memory in made.list().items] == [old.id, fresh.id]
    assert [memory.id for memory in made.list(limit=1).items] == [fresh.id]


def test_what_was_decided_earlier_updates_nothing_that_was_said_since() -> None:
    made = Project(actor="ada", now=NOW, backend=InMemory())
    newer = made.add("The database is Postgres").memory
    added = made.add("The database is MySQL", valid_from=MARCH)

    assert [(link.type, link.target) for link in added.links] == [("contradicts", newer.id)]
    assert [neighbour.is_newer for neighbour in added.neighbours] == [True]
    said = made.build_context("database").text
    assert "(2026-03-14; a newer memory contradicts it) The database is MySQL" in said


def test_the_advice_names_the_earlier_decision_as_the_older_one(root: str) -> None:
    newer = pmem("-C", root, "add", "The database is Postgres").text.split()[1]
    done = pmem("-C", root, "add", "The database is MySQL", "--valid-from", "2024-03-14")

    assert f"`pmem edit {done.text.split()[1]} --superseded-by {newer}`" in done.text
