"""What a clone keeps of apps and of look-alikes, a server keeps of a project in the same words."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from pmem.errors import ReadOnly
from pmem.storage.local.appstate import AppState, DeferredWork
from pmem.storage.local.model_answers import JudgedPairs
from pmem.storage.local.state import LocalState
from pmem.storage.postgres.project_state import ServerTables
from pmem.storage.postgres.server import Server
from pmem.values.rules import AppRules
from tests.conftest import NOW

Tables = LocalState | ServerTables
RULES = AppRules()


@pytest.fixture(params=["clone", "server"])
def made(request: pytest.FixtureRequest, root: str) -> Callable[[], Tables]:
    """Return what opens the same state again, beside that of another project."""
    if request.param == "clone":
        return lambda: LocalState(root)
    new_project: Callable[[], Server] = request.getfixturevalue("new_project")
    other, server = new_project(), new_project()
    note_everything(AppState(ServerTables(other)))
    JudgedPairs(ServerTables(other), NOW).note(["same:other"])
    return lambda: ServerTables(server)


def note_everything(apps: AppState) -> None:
    apps.spend(1.0, NOW, RULES)
    apps.put_off(DeferredWork("other", "compact", "", NOW, "elsewhere"))
    apps.note_context("c-0", "other")
    apps.uninstall("gone elsewhere", NOW)


def test_pairs_of_today_are_counted_by_how_they_begin(made: Callable[[], Tables]) -> None:
    pairs = JudgedPairs(made(), NOW)
    pairs.note(["same:a b", "same:c d", "a b 0.90"])
    pairs.note(["same:a b"])
    assert (pairs.noted_today("same:"), set(pairs.known()) >= {"same:a b"}) == (2, True)
    tomorrow = JudgedPairs(made(), NOW + timedelta(days=1))
    assert tomorrow.noted_today("same:") == 0
    tomorrow.note(["same:e f"])
    assert tomorrow.noted_today("same:") == 1
    assert len(tomorrow.known()) == 4
    late = JudgedPairs(made(), NOW + timedelta(days=14, hours=1))
    assert list(late.known()) == ["same:e f"]


def test_energy_is_spent_comes_back_and_is_polled_once(made: Callable[[], Tables]) -> None:
    apps = AppState(made())
    assert apps.level(NOW, RULES).units == RULES.energy
    assert apps.spend(RULES.energy, NOW, RULES)
    assert not apps.spend(1.0, NOW, RULES)
    later = NOW + timedelta(hours=1)
    assert 0 < AppState(made()).level(later, RULES).units < RULES.energy
    assert [apps.poll(later, RULES), apps.poll(later, RULES)] == [RULES.energy, 0.0]
    assert apps.level(later, RULES).spent == RULES.energy


def test_work_waits_once_in_its_order_until_it_is_settled(made: Callable[[], Tables]) -> None:
    apps = AppState(made())
    works = [
        DeferredWork("cal", "create", f"c-{number}", NOW, "low", 7.5, ("a?", "%s"))
        for number in (2, 1)
    ]
    for work in (*works, works[0], DeferredWork("crm", "compact", "", NOW, "low")):
        apps.put_off(work)
    assert AppState(made()).waiting("cal") == works
    assert [work.app for work in apps.waiting()] == ["cal", "cal", "crm"]
    apps.settle(works[0])
    assert apps.waiting("cal") == works[1:]
    apps.uninstall("cal", NOW)
    assert [work.app for work in apps.waiting()] == ["crm"]
    apps.give_up("crm")
    assert apps.waiting() == []


def test_apps_that_are_gone_and_whose_contexts_were_shown_are_known(
    made: Callable[[], Tables],
) -> None:
    apps = AppState(made())
    for _ in range(2):
        apps.uninstall("cal", NOW)
        apps.note_context("c-1", "cal")
    assert (apps.gone(), apps.with_context()) == ({"cal"}, {"c-1"})
    apps.install("cal")
    assert AppState(made()).gone() == set()


def test_a_read_only_run_takes_nothing_from_a_server(new_project: Callable[[], Server]) -> None:
    tables = ServerTables(new_project(), read_only=True)
    with pytest.raises(ReadOnly):
        AppState(tables).poll(NOW, RULES)
    JudgedPairs(tables, NOW).note(["same:a"])
    assert list(JudgedPairs(tables, NOW).known()) == []
