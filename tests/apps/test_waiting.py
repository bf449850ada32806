"""What models cost apps, and what waits until they may be asked."""

from typing import Any
from unittest import mock

import pytest

from pmem import Project
from pmem.errors import Refused
from tests.apps import fakes
from tests.apps.test_remembering import contents, ended
from tests.conftest import NOW


def test_an_uninstalled_app_is_there_again_once_it_remembers_and_nothing_waits(root: str) -> None:
    project = fakes.limited(root, energy=0, models=fakes.model())
    ended(project, "We decided to use PostgreSQL.")
    assert [(app.waiting, app.installed) for app in project.apps.all()] == [(1, True)]
    project.apps.uninstall("calendar")
    assert [(app.waiting, app.installed) for app in project.apps.all()] == [(0, False)]
    project.apps.remember("calendar", "The lift is broken.")
    assert [(app.waiting, app.installed) for app in project.apps.all()] == [(0, True)]
    assert contents(project) == ["The lift is broken."]


def test_work_that_waits_keeps_the_importance_and_the_tags_it_was_given(root: str) -> None:
    project = fakes.limited(root, energy=0, models=fakes.model())
    talk = ended(project, "Ben decided to use PostgreSQL.", app=None)
    project.apps.remember("calendar", conversation=talk, importance=9, tags=("db", "plan"))
    later = fakes.limited(root, hours=1, models=fakes.model())
    later.apps.compact("calendar")
    (memory,) = later.apps.list("calendar").items
    assert (memory.importance, memory.tags) == (9, ("db", "plan"))


def test_work_that_waits_and_can_never_be_done_keeps_no_other_work_back(root: str) -> None:
    project = fakes.limited(root, energy=0, models=fakes.model())
    talk = ended(project, "Ben chose A1.", app=None)
    assert project.apps.remember("calendar", conversation=talk).action == "deferred"
    later = fakes.limited(root, hours=1, models=fakes.model())
    with mock.patch("pmem.apps.remembering.put_new", side_effect=Refused("no")):
        later.apps.compact("calendar")
    figures = later.apps.stats().energy
    assert figures
    assert figures.waiting == 0
    assert later.apps.remember("calendar", "The lift is broken.").action == "created"


def test_work_waits_while_energy_is_low_and_is_done_by_the_next_command(root: str) -> None:
    project = fakes.limited(root, energy=40, models=fakes.model())
    talks = [ended(project, f"Ben chose {name}.", app=None) for name in ("A1", "B2", "C3")]
    done = [project.apps.remember("calendar", conversation=talk).action for talk in talks]
    assert done == ["created", "created", "created"]  # at 40, 28 and 16 units
    fourth = ended(project, "Ben chose D4.", app=None)
    assert project.apps.remember("calendar", conversation=fourth).action == "deferred"
    figures = project.apps.stats().energy
    assert figures
    assert (figures.spent, figures.waiting) == (36, 1)
    later = fakes.limited(root, hours=2, energy=40, models=fakes.model())
    later.apps.compact("calendar")
    assert len(contents(later)) == 4
    after = later.apps.stats().energy
    assert after
    assert after.waiting == 0
    assert later.apps.poll_energy() == 48
    assert later.apps.poll_energy() == 0


def test_rules_cost_nothing_and_never_wait(root: str) -> None:
    project = fakes.limited(root, energy=0)
    ended(project, "We decided to use PostgreSQL.")
    assert len(contents(project)) == 1
    energy = project.apps.stats().energy
    assert energy
    assert (energy.spent, energy.waiting) == (0, 0)


def test_what_was_asked_of_nobody_costs_no_energy_and_waits(root: str) -> None:
    models = fakes.model()
    one: dict[str, Any] = {"model.calls_per_day": 1}
    project = Project(root, now=NOW, actor="ada", models=models, **one)
    for name in ("A1", "B2"):
        talk = ended(project, f"Ben chose {name}.", app=None)
        done = project.apps.remember("calendar", conversation=talk)
    assert (done.action, done.reason) == ("deferred", "the day's 1 calls are used up")
    energy = project.apps.stats().energy
    assert energy
    assert (energy.spent, energy.waiting) == (12, 1)
    tomorrow = fakes.limited(root, hours=24, models=models)
    tomorrow.apps.compact("calendar")
    assert contents(tomorrow) == ["A talk: Ben chose B2.", "A talk: Ben chose A1."]


@pytest.mark.row("S0.12.7")
def test_what_concerns_a_user_does_not_wait_and_is_that_users(root: str) -> None:
    project = fakes.limited(root, energy=0, models=fakes.model())
    talk = ended(project, "We decided to use PostgreSQL.", app=None)
    done = project.apps.remember("calendar", conversation=talk, user="mira")
    assert (done.action, done.reason) == ("created", "too little energy")
    later = fakes.limited(root, hours=9, models=fakes.model())
    later.apps.compact("calendar")
    assert later.apps.list("calendar", user="bob").items == ()
    assert len(later.apps.list("calendar", user="mira").items) == 1
