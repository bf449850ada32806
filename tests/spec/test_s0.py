"""S0, the memory feature of apps: the scenarios of its section "Testing Strategy"."""

import json
from datetime import timedelta
from typing import Any

import pytest

from pmem import AddRequest, Project
from pmem.core.filters import Filter
from pmem.errors import InvalidValue
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.work import WITHIN, calls

LIMIT_OF_TWO: dict[str, Any] = {"apps.limit": 2}


def app_memories(project: Project, app: str) -> list[str]:
    return [memory.content for memory in project.apps.list(app).items]


@pytest.mark.row("S0.2.1")
def test_s0_scenario_1_creates_memory_when_conversation_ends(root: str) -> None:
    project = Project(root, now=NOW)
    begun = project.start_conversation("Planning", app="calendar")
    project.add_message("user", "I prefer meetings after 2pm on weekdays.")
    project.add_message("assistant", "I moved the review to Thursday at 15:00.")
    project.end_conversation()
    (memory,) = project.apps.list("calendar").items
    assert memory.conversation == begun.id
    assert memory.content == (
        "The user prefers meetings after 2pm on weekdays. "
        "The assistant moved the review to Thursday at 15:00."
    )


@pytest.mark.row("S0.4.1", "S0.11.4")
def test_s0_scenario_2_includes_memories_in_context_for_same_app(root: str) -> None:
    project = Project(root, now=NOW)
    project.apps.remember("calendar", "User prefers meetings after 2pm on weekdays.")
    project.start_conversation(app="calendar")
    assert project.apps.context("calendar").text == (
        "(memories for app: calendar)\n"
        "The following are memories from previous conversations with this app:\n"
        "\n"
        "1. [Created: 2026-11-21] User prefers meetings after 2pm on weekdays.\n"
        "\n"
        "Use these memories to provide context-aware responses.\n"
    )
    assert project.apps.stats().injection_rate == 1


@pytest.mark.row("S0.4.4")
def test_s0_scenario_3_isolates_memories_between_apps(root: str) -> None:
    project = Project(root, now=NOW)
    project.apps.remember("calendar", "User prefers meetings after 2pm on weekdays.")
    project.apps.remember("mail", "Newsletters go into the archive.")
    project.start_conversation(app="mail")
    text = project.apps.context("mail").text
    assert "Newsletters" in text
    assert "meetings" not in text


@pytest.mark.row("S0.3.1")
def test_s0_scenario_4_compacts_memories_when_limit_reached(root: str) -> None:
    project = Project(root, now=NOW)
    for number in range(10):
        project.apps.remember("calendar", f"Room {number} is on floor {number * 7}.")
    assert len(app_memories(project, "calendar")) == 10
    done = project.apps.remember("calendar", "The lift is broken.")
    assert len(app_memories(project, "calendar")) == 10
    (decided,) = done.decisions
    assert decided.reason
    gone = project.list(Filter(states=(), app="calendar")).items
    assert len(gone) == 11


@pytest.mark.row("S0.1.6", "S0.5.6")
def test_s0_scenario_5_retains_memories_after_app_uninstall(root: str) -> None:
    project = Project(root, now=NOW)
    project.apps.remember("calendar", "The lift is broken.")
    project.apps.uninstall("calendar")
    assert app_memories(project, "calendar") == ["The lift is broken."]
    assert [app.installed for app in project.apps.all()] == [False]


@pytest.mark.row("S0.10.4")
def test_s0_scenario_6_purges_memories_on_admin_request(root: str) -> None:
    project = Project(root, now=NOW)
    for text in ("The lift is broken.", "The stairs are steep."):
        project.apps.remember("calendar", text)
    project.apps.remember("mail", "Newsletters go into the archive.")
    assert project.apps.purge("calendar").deleted == 2
    assert app_memories(project, "calendar") == []
    assert [memory.scope.app for memory in project.list(Filter(states=())).items] == ["mail"]


@pytest.mark.row("S0.4.2", "S0.10.4")
def test_s0_admin_endpoints_have_their_commands(root: str) -> None:
    for text in ("The lift is broken.", "The stairs are steep."):
        assert pmem("app", "remember", "calendar", text).code == 0
    items = json.loads(pmem("app", "list", "calendar", "--json").out)["data"]["items"]
    assert [item["content"] for item in items] == ["The stairs are steep.", "The lift is broken."]
    assert pmem("app", "delete", "calendar", items[0]["id"]).code == 0
    done = pmem("app", "purge", "calendar", "--yes", "--json")
    assert json.loads(done.out)["data"]["deleted"] == 2


@pytest.mark.row("S0.5.7", "S0.5.8")
def test_s0_a_limit_shows_the_newest_and_counts_all(root: str) -> None:
    project = Project(root, now=NOW)
    for text in ("The lift is broken.", "The stairs are steep.", "Newsletters are archived."):
        project.apps.remember("calendar", text)
    found = project.apps.list("calendar", limit=2)
    assert [memory.content[:3] for memory in found.items] == ["New", "The"]
    assert found.total == 3
    assert project.apps.list("calendar", limit=9) == project.apps.list("calendar")
    with pytest.raises(InvalidValue, match="below zero"):
        project.apps.list("calendar", limit=-1)
    done = pmem("app", "list", "calendar", "-n", "1")
    assert (done.text.count("\n"), done.said) == (1, "2 more\n")
    for option in (("-n", "1"), ("--user", "ada")):
        refused = pmem("app", "list", *option)
        assert (refused.code, "name the app" in refused.said) == (2, True)


def test_s0_no_name_of_an_app_passes_for_another_line(root: str) -> None:
    done = pmem("app", "remember", "mail\nother  1 of 10", "The lift is broken.")
    assert done.code == 3
    assert "cannot be an app's name" in done.said
    assert pmem("app", "list").out == b""


@pytest.mark.row("S0.9.3")
def test_s0_memories_persist_across_restarts(root: str) -> None:
    Project(root, now=NOW).apps.remember("calendar", "The lift is broken.")
    assert app_memories(Project(root, now=NOW), "calendar") == ["The lift is broken."]


@pytest.mark.row("S0.9.1")
def test_s0_a_hundred_memories_of_ten_apps_stay_apart_and_are_read_within_100_ms(root: str) -> None:
    project = Project(root, now=NOW)
    rooms = [
        AddRequest(content=f"Room {n} of {app} has {n * 3} seats.", app=app, force=True)
        for app in map("app-{}".format, range(10))
        for n in range(10)
    ]
    project.add_all(rooms)
    for app in map("app-{}".format, range(10)):
        found = app_memories(Project(root, now=NOW), app)
        assert len(found) == 10
        assert all(f"of {app} " in content for content in found)
    assert calls(lambda: app_memories(Project(root, now=NOW), "app-5")) < WITHIN * 100


@pytest.mark.row("S0.9.4")
def test_s0_a_memory_of_a_long_conversation_is_made_within_5_seconds(root: str) -> None:
    project = Project(root, now=NOW)
    project.start_conversation(app="calendar")
    for number in range(60):
        project.add_message("user", f"We decided to hold meeting {number} in room {number * 7}.")
    assert calls(project.end_conversation) < WITHIN * 5000
    assert project.apps.list("calendar").total == 1


@pytest.mark.row("S0.11.1", "S0.11.2", "S0.11.3", "S0.11.5", "S0.12.4")
def test_s0_the_five_figures_are_counted(root: str) -> None:
    project = Project(root, now=NOW, **LIMIT_OF_TWO)
    for number in range(4):
        project.apps.remember("calendar", f"Room {number} is on floor {number * 7}.")
    project.apps.remember("mail", "Newsletters go into the archive.")
    project.apps.delete("mail", project.apps.list("mail").items[0].id)
    project.start_conversation(app="calendar")
    project.start_conversation(app="mail")
    project.start_conversation(app="calendar")
    project.apps.context("calendar")
    figures = project.apps.stats()
    assert (figures.apps, figures.with_memories, figures.utilisation) == (2, 1, 0.5)
    assert figures.memories == 2
    assert figures.created_per_hour == round(5 / 24, 4)
    assert figures.compactions_per_app_per_day == round(2 / 7 / 2, 4)
    assert (figures.conversations, figures.with_context) == (3, 1)
    assert figures.injection_rate == round(1 / 3, 4)
    assert figures.energy
    assert figures.energy.spent == 0
    project.apps.uninstall("mail")
    assert project.apps.stats().apps == 1
    later = Project(root, now=NOW + timedelta(days=8), **LIMIT_OF_TWO).apps.stats()
    assert (later.created_per_hour, later.compactions_per_app_per_day) == (0, 0)


@pytest.mark.row("S0.9.2")
def test_s0_old_conversations_leave_no_memories_by_themselves(root: str) -> None:
    project = Project(root, now=NOW)
    project.start_conversation()
    project.add_message("user", "We decided to use PostgreSQL.")
    project.end_conversation()
    assert list(project.apps.all()) == []
