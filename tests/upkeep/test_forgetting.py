"""A project does not forget by the calendar: a year of its life, and what would end it."""

from datetime import timedelta
from pathlib import Path

import pytest

from pmem import Project
from pmem.core.filters import Filter
from pmem.project.setup import initialise
from pmem.values.records import State
from tests.conftest import NOW

SIXTEEN = (
    ("decision", "We use PostgreSQL for the ledger"),
    ("decision", "Invoices are numbered by year"),
    ("constraint", "Never log card numbers"),
    ("constraint", "Every fix comes with a test"),
    ("procedure", "A release is made with make release"),
    ("procedure", "Restore a backup with make restore"),
    ("preference", "The team prefers small commits"),
    ("goal", "Invoices go out within a minute"),
    ("entity", "Mercury is the staging host"),
    ("entity", "Fern owns the billing service"),
    ("insight", "Timeouts come back after each upgrade"),
    ("fact", "The API limit is 100 requests"),
    ("fact", "Exit code 9 means that a lock is stale"),
    ("fact", "The nightly build takes forty minutes"),
    ("fact", "Reports are kept for ten years"),
    ("fact", "The old parser lives in legacy"),
)


def opened(root: str, weeks: int, **settings: object) -> Project:
    now = NOW + timedelta(weeks=weeks)
    return Project(root, actor="ada", now=now, **settings)  # type: ignore[arg-type]


def live_a_year(root: str, **settings: object) -> Project:
    """Ask for a context each week of half a year, then rest; consolidate now and then."""
    start = opened(root, 0, **settings)
    for type_, text in SIXTEEN:
        start.add(text, type=type_)
    for week in range(1, 27):
        opened(root, week, **settings).build_context("ledger", budget=400)
        if week % 4 == 0:
            opened(root, week, **settings).consolidate()
    for week in (30, 40, 52):
        opened(root, week, **settings).consolidate()
    return opened(root, 52, **settings)


@pytest.mark.row("S1.7.7")
def test_after_a_year_nothing_that_a_project_needs_is_gone(root: str) -> None:
    later = live_a_year(root)
    assert later.list().total == len(SIXTEEN)
    for query, text in (("card numbers", SIXTEEN[2][1]), ("exit code 9", SIXTEEN[12][1])):
        assert text in [hit.text for hit in later.search(query).hits]


def test_beyond_the_small_store_only_what_is_bound_to_its_time_goes(root: str) -> None:
    later = live_a_year(root, **{"fading.least": 0})
    kept = {str(memory.type) for memory in later.list().items}
    assert {"decision", "constraint", "procedure", "preference", "goal"} <= kept
    archived = later.list(Filter(states=(State.ARCHIVED,))).items
    assert {str(memory.type) for memory in archived} <= {"fact", "entity", "insight"}
    assert archived


def test_what_every_context_shows_is_in_use(root: str, tmp_path: Path) -> None:
    totals = []
    for name, asks in (("asked", True), ("unasked", False)):
        folder = str(tmp_path / name)
        initialise(folder)
        opened(folder, 0, **{"fading.least": 0}).add("The API limit is 100 requests")
        for week in range(1, 31):
            if asks:
                opened(folder, week).build_context()
        opened(folder, 31, **{"fading.least": 0}).consolidate()
        totals.append(opened(folder, 31).list().total)
    assert totals == [1, 0]


def test_in_the_manner_of_s2_all_but_the_pinned_is_gone(root: str) -> None:
    start = opened(root, 0, decay="s2")
    pinned = start.add("Never log card numbers", pinned=True).memory.id
    for type_, text in SIXTEEN[:2]:
        start.add(text, type=type_)
    opened(root, 26, decay="s2").consolidate()
    assert [memory.id for memory in opened(root, 26).list().items] == [pinned]


@pytest.mark.parametrize("decay", ["by_type", "s2"])
def test_what_an_app_remembers_stays_until_it_is_purged(root: str, decay: str) -> None:
    opened(root, 0).apps.remember("calendar", "Meetings are after two", importance=2)
    later = opened(root, 52, decay=decay, **{"fading.least": 0})
    later.consolidate()
    later.sweep()
    assert len(later.apps.list("calendar").items) == (1 if decay == "by_type" else 0)
