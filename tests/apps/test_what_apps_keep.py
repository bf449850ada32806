"""What apps keep besides texts: names, users, related conversations; and what is told of it."""

import json
from datetime import timedelta
from typing import Any

import pytest

from pmem import Project
from pmem.errors import InvalidValue, NotFound
from tests.apps import fakes
from tests.cli.shell import pmem
from tests.conftest import NOW

FADING: dict[str, Any] = {"fading.least": 0}
REVIEW = "The review is in room 4 on Thursday."


def data(*line: str) -> Any:
    """Return what a command answers in JSON."""
    return json.loads(pmem(*line, "--json").out)["data"]


def talk(project: Project, *said: str, app: str = "calendar") -> str:
    """Hold a conversation in an app, and end it."""
    begun = project.start_conversation(app=app).id
    for words in said:
        project.add_message("user", words)
    project.end_conversation(conversation=begun)
    return begun


@pytest.fixture
def project(root: str) -> Project:
    """Open the project."""
    return Project(root, now=NOW, actor="ada")


@pytest.mark.row("S0.1.3")
def test_f3_a_memory_names_every_conversation_that_said_so(project: Project) -> None:
    first, second, third = (talk(project, REVIEW) for _ in range(3))
    (memory,) = project.apps.list("calendar").items
    assert memory.conversation == first
    assert memory.related_conversations == (second, third)
    project.apps.remember("calendar", conversation=second)
    assert project.apps.list("calendar").items[0].related_conversations == (second, third)


@pytest.mark.row("S0.1.3")
def test_f3_a_merge_keeps_the_conversation_of_what_goes(root: str) -> None:
    project = Project(root, now=NOW)
    first = talk(project, REVIEW)
    project.apps.remember("calendar", "The lift is broken.")
    second = talk(project, "The review takes place with Ana.")
    by_talk = {one.conversation: one.id for one in project.apps.list("calendar").items}
    merge = fakes.merge(0, "The review is in room 4 on Thursday, with Ana.", 2)
    small = fakes.limited(root, limit=2, models=fakes.model(merge))
    small.apps.compact("calendar")
    merged = small.apps.show("calendar", by_talk[first])
    assert merged.related_conversations == (second,)


@pytest.mark.row("S0.10.3")
def test_f38_age_alone_takes_no_memory_from_an_app(root: str) -> None:
    project = Project(root, now=NOW)
    for number in range(3):
        project.apps.remember("calendar", f"Room {number} is on floor {number * 7}.")
    project.add("The stairs are steep.")
    later = Project(root, now=NOW + timedelta(days=2000), **FADING)
    later.consolidate()
    later.sweep()
    assert later.apps.list("calendar").total == 3
    assert later.list().total == 3  # what belongs to no app fades


@pytest.mark.row("S0.11.8")
def test_f44_a_retrieval_stands_in_the_log_of_operations(root: str) -> None:
    assert pmem("app", "remember", "calendar", REVIEW).code == 0
    assert pmem("app", "context", "calendar").code == 0
    assert pmem("app", "context", "mail").code == 0
    none, found, *_ = data("log", "--operations")["items"]
    assert (found["op"], found["reason"]) == ("retrieve", "1 memory of app calendar")
    assert (none["op"], none["status"]) == ("retrieve", "skipped")


@pytest.mark.row("S0.12.3")
def test_f47_what_an_app_keeps_is_exported_as_json(root: str) -> None:
    project = Project(root, now=NOW)
    talk(project, REVIEW)
    project.apps.remember("mail", "Newsletters go into the archive.")
    project.add("The deploy day is Tuesday.")
    ours = json.loads(pmem("export", "arrays", "--app", "calendar").out)
    assert [one["content"] for one in ours["long-term-memory"]] == [f"user: {REVIEW}"]
    assert len(ours["conversations"]) == 1
    everything = json.loads(pmem("export", "arrays").out)
    assert len(everything["long-term-memory"]) == 3
    done = pmem("export", "arrays", "--app", "calender")
    assert done.code == 3
    assert "did you mean calendar?" in done.said
    assert pmem("export", "arrays", "--app", "mail", environment={"PMEM_APP": "calendar"}).code == 7


@pytest.mark.row("S0.12.7")
def test_f49_an_app_keeps_what_concerns_one_user_from_another(root: str) -> None:
    for user, text in (("mira", "Mira prefers mornings."), ("ben", "Ben prefers evenings.")):
        assert pmem("app", "remember", "calendar", text, "--user", user).code == 0
    assert pmem("app", "remember", "calendar", "The office is closed on Monday.").code == 0
    seen = pmem("app", "list", "calendar", "--user", "mira").text
    assert "mornings" in seen
    assert "evenings" not in seen
    assert "Monday" in seen
    block = pmem("app", "context", "calendar", "--user", "ben").text
    assert "evenings" in block
    assert "mornings" not in block
    assert data("app", "list", "calendar")["total"] == 3


@pytest.mark.row("S0.12.9")
@pytest.mark.parametrize("name", ["../../etc", "mail box", "a\nb", "..", "*", "", "x" * 201])
def test_f51_what_is_no_name_is_no_app(project: Project, name: str) -> None:
    with pytest.raises(InvalidValue):
        project.apps.remember(name, REVIEW)
    if name:
        with pytest.raises(InvalidValue):
            project.add(REVIEW, app=name)
        with pytest.raises(InvalidValue):
            project.start_conversation(app=name)


def test_f51_letter_case_makes_no_other_app(root: str) -> None:
    project = Project(root, now=NOW)
    project.apps.remember("Calendar", REVIEW)
    project.add("The lift is broken.", app="CALENDAR")
    talk(project, "We decided to use PostgreSQL.", app=" calendaR ")
    assert [(app.name, app.memories) for app in project.apps.all()] == [("calendar", 3)]
    assert project.apps.list("cAlendar").total == 3
    assert "PostgreSQL" in Project(root, now=NOW, app="Calendar").apps.context("CALENDAR").text
    assert pmem("list", "--app", "Calendar").text.count("\n") == 3


@pytest.mark.row("S0.12.9")
@pytest.mark.parametrize("verb", [("compact",), ("purge", "--yes"), ("uninstall",)])
def test_f51_a_mistyped_app_changes_nothing_and_is_asked_about(
    root: str, verb: tuple[str, ...]
) -> None:
    assert pmem("app", "remember", "calendar", REVIEW).code == 0
    done = pmem("app", verb[0], "calender", *verb[1:])
    assert done.code == 3
    assert "there is no app 'calender'" in done.said
    assert "did you mean calendar?" in done.said


@pytest.mark.parametrize("verb", ["list", "context"])
def test_f51_a_mistyped_app_that_is_only_read_is_empty_and_asked_about(
    root: str, verb: str
) -> None:
    assert pmem("app", "remember", "calendar", REVIEW).code == 0
    done = pmem("app", verb, "calender")
    assert (done.code, done.out) == (0, b"")
    assert "did you mean calendar?" in done.said


def test_an_app_whose_memories_are_gone_is_no_typing_mistake(project: Project) -> None:
    talk(project, REVIEW)
    assert project.apps.purge("calendar").deleted == 1
    assert project.apps.purge("calendar").deleted == 0
    with pytest.raises(NotFound):
        project.apps.purge("mail")


@pytest.mark.row("S0.11.6", "S0.11.7")
def test_what_is_made_and_what_goes_stands_in_the_log_of_operations(root: str) -> None:
    for text in ("The lift is broken.", "The stairs are steep.", "Lunch is at noon."):
        done = pmem("app", "remember", "mail", text, environment={"PMEM_APPS_LIMIT": "2"})
        assert done.code == 0
    ran = [item["op"] for item in data("log", "--operations")["items"]][::-1]
    assert sorted(ran) == ["create", "create", "create", "delete"]
