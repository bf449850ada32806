"""S0, the memory feature of apps: the scenarios of its section "Testing Strategy"."""

import json

from pmem import Project
from pmem.core.filters import Filter
from tests.cli.shell import pmem
from tests.conftest import NOW


def app_memories(project: Project, app: str) -> list[str]:
    return [memory.content for memory in project.apps.list(app).items]


def test_s0_scenario_1_creates_memory_when_conversation_ends(root: str) -> None:
    project = Project(root, now=NOW)
    begun = project.start_conversation("Planning", app="calendar")
    project.add_message("user", "I prefer meetings after 2pm on weekdays.")
    project.add_message("assistant", "I moved the review to Thursday at 15:00.")
    project.end_conversation()
    (memory,) = project.apps.list("calendar").items
    assert memory.conversation == begun.id
    assert "I prefer meetings after 2pm on weekdays." in memory.content
    assert "I moved the review to Thursday at 15:00." in memory.content


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


def test_s0_scenario_3_isolates_memories_between_apps(root: str) -> None:
    project = Project(root, now=NOW)
    project.apps.remember("calendar", "User prefers meetings after 2pm on weekdays.")
    project.apps.remember("mail", "Newsletters go into the archive.")
    project.start_conversation(app="mail")
    text = project.apps.context("mail").text
    assert "Newsletters" in text
    assert "meetings" not in text


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


def test_s0_scenario_5_retains_memories_after_app_uninstall(root: str) -> None:
    project = Project(root, now=NOW)
    project.apps.remember("calendar", "The lift is broken.")
    project.apps.uninstall("calendar")
    assert app_memories(project, "calendar") == ["The lift is broken."]
    assert [app.installed for app in project.apps.all()] == [False]


def test_s0_scenario_6_purges_memories_on_admin_request(root: str) -> None:
    project = Project(root, now=NOW)
    for text in ("The lift is broken.", "The stairs are steep."):
        project.apps.remember("calendar", text)
    project.apps.remember("mail", "Newsletters go into the archive.")
    assert project.apps.purge("calendar").deleted == 2
    assert app_memories(project, "calendar") == []
    assert [memory.scope.app for memory in project.list(Filter(states=())).items] == ["mail"]


def test_s0_admin_endpoints_have_their_commands(root: str) -> None:
    for text in ("The lift is broken.", "The stairs are steep."):
        assert pmem("app", "remember", "calendar", text).code == 0
    items = json.loads(pmem("app", "list", "calendar", "--json").out)["data"]["items"]
    assert [item["content"] for item in items] == ["The stairs are steep.", "The lift is broken."]
    assert pmem("app", "delete", "calendar", items[0]["id"]).code == 0
    done = pmem("app", "purge", "calendar", "--yes", "--json")
    assert json.loads(done.out)["data"]["deleted"] == 2


def test_s0_no_name_of_an_app_passes_for_another_line(root: str) -> None:
    done = pmem("app", "remember", "mail\nother  1 of 10", "The lift is broken.", "--json")
    reference = json.loads(done.out)["data"]["memory"]["id"]
    assert pmem("app", "list").out.count(b"\n") == 1
    shown = pmem("app", "show", "mail\nother  1 of 10", reference)
    assert not shown.text.splitlines()[1].startswith("other")


def test_s0_memories_persist_across_restarts(root: str) -> None:
    Project(root, now=NOW).apps.remember("calendar", "The lift is broken.")
    assert app_memories(Project(root, now=NOW), "calendar") == ["The lift is broken."]


def test_s0_old_conversations_leave_no_memories_by_themselves(root: str) -> None:
    project = Project(root, now=NOW)
    project.start_conversation()
    project.add_message("user", "We decided to use PostgreSQL.")
    project.end_conversation()
    assert list(project.apps.all()) == []
