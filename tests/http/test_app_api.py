"""What apps remember, over HTTP: each endpoint, and each field of its shapes."""

import pytest

from pmem import Project
from tests.conftest import NOW
from tests.http.serving import Asked

THEN = "2026-11-21T14:30:00.250Z"


def remember(root: str, *texts: str, app: str = "calendar") -> None:
    for text in texts:
        Project(root, now=NOW).apps.remember(app, text, importance=7, tags=["time"])


@pytest.mark.row("S0.1.1", "S0.5.3")
def test_get_apps_memories_lists_them_in_camel_case_newest_first(root: str, ask: Asked) -> None:
    remember(root, "Meets at noon.", "Works until four.")
    remember(root, "Posts on Mondays.", app="blog")
    found = ask("GET", "/apps/calendar/memories").json()
    assert found.keys() == {"memories"}
    first, second = found["memories"]
    assert len(first.pop("id")) == 8
    assert first == {
        "content": "Works until four.",
        "createdAt": THEN,
        "updatedAt": THEN,
        "metadata": {"importance": 7.0, "tags": ["time"]},
    }
    assert second["content"] == "Meets at noon."


@pytest.mark.row("S0.1.2")
def test_get_apps_memories_names_the_conversation_that_a_memory_came_from(ask: Asked) -> None:
    talk = ask.run("conversation.start", {"app": "calendar"})["id"]
    ask.run("conversation.say", {"content": "We decided to meet after 2pm on weekdays."})
    ask.run("conversation.end")
    (memory,) = ask("GET", "/apps/calendar/memories").json()["memories"]
    assert memory["sourceConversationId"] == talk


@pytest.mark.row("S0.4.5")
def test_get_apps_memories_lists_all_and_the_rules_leave_ten(root: str, ask: Asked) -> None:
    remember(root, *(f"The meeting number {n} is in room {n * 7}." for n in range(12)))
    assert len(ask("GET", "/apps/calendar/memories").json()["memories"]) == 10


@pytest.mark.row("S0.5.3")
def test_get_apps_memories_of_an_app_without_any_is_an_empty_list(ask: Asked) -> None:
    assert ask("GET", "/apps/unheard-of/memories").json() == {"memories": []}


@pytest.mark.row("S0.5.4")
def test_delete_apps_memories_purges_all_and_counts_those_that_were_active(
    root: str, ask: Asked
) -> None:
    remember(root, "Meets at noon.", "Works until four.", "Takes Fridays off.")
    first = ask("GET", "/apps/calendar/memories").json()["memories"][0]
    ask("DELETE", f"/apps/calendar/memories/{first['id']}")
    gone = ask("DELETE", "/apps/calendar/memories")
    assert gone.status_code == 200
    assert gone.json() == {"success": True, "deletedCount": 2}
    assert ask("GET", "/apps/calendar/memories").json() == {"memories": []}
    assert ask("DELETE", "/apps/calendar/memories").json()["deletedCount"] == 0


@pytest.mark.row("S0.5.5")
def test_delete_apps_memories_id_deletes_one_which_can_be_restored(root: str, ask: Asked) -> None:
    remember(root, "Meets at noon.")
    (memory,) = ask("GET", "/apps/calendar/memories").json()["memories"]
    gone = ask("DELETE", f"/apps/calendar/memories/{memory['id']}")
    assert gone.status_code == 200
    assert gone.json() == {"success": True}
    assert ask("GET", "/apps/calendar/memories").json() == {"memories": []}
    ask.run("restore", {"references": [memory["id"]]})
    assert ask("GET", "/apps/calendar/memories").json() == {"memories": [memory]}


def test_a_memory_of_another_app_is_not_found(root: str, ask: Asked) -> None:
    remember(root, "Meets at noon.")
    (memory,) = ask("GET", "/apps/calendar/memories").json()["memories"]
    for path in (f"/apps/blog/memories/{memory['id']}", "/apps/calendar/memories/nowhere1"):
        refused = ask("DELETE", path)
        assert refused.status_code == 404
        assert refused.json()["error"]["code"] == "not_found"


@pytest.mark.row("S0.10.1")
def test_an_app_sees_and_removes_what_is_its_own_alone(root: str, ask: Asked) -> None:
    remember(root, "Meets at noon.")
    remember(root, "Posts on Mondays.", app="blog")
    assert len(ask("GET", "/apps/calendar/memories", who="app").json()["memories"]) == 1
    for method in ("GET", "DELETE"):
        refused = ask(method, "/apps/blog/memories", who="app")
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "refused"
    assert len(ask("GET", "/apps/blog/memories").json()["memories"]) == 1
