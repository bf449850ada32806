"""Memories as a resource: each endpoint, and each field of its shapes."""

import pytest

from pmem import Project
from tests.http.serving import Asked

SARAH = {"content": "Sarah works on the Platform team.", "category": "person", "subject": "Sarah"}
THEN = "2026-11-21T14:30:00.250Z"


@pytest.mark.row("S4.3.1")
def test_get_api_memory_lists_all_active_memories_by_category_then_age(
    root: str, ask: Asked
) -> None:
    for content, category in (
        ("Releases go out on Friday.", "project"),
        ("Sarah works on the Platform team.", "person"),
        ("The office is in Lisbon.", "context"),
        ("Alec leads the review board.", "person"),
    ):
        created = ask("POST", "/api/memory/", {"content": content, "category": category})
        assert created.status_code == 201, created.text
    gone = Project(root).add("Nobody needs this any more.", category="context").memory
    Project(root).remove(gone.id)
    Project(root).apps.remember("calendar", "Meets at noon.")
    found = ask("GET", "/api/memory/").json()
    assert found.keys() == {"memories", "total"}
    assert found["total"] == 4
    assert [(each["category"], each["content"]) for each in found["memories"]] == [
        ("context", "The office is in Lisbon."),
        ("person", "Sarah works on the Platform team."),
        ("person", "Alec leads the review board."),
        ("project", "Releases go out on Friday."),
    ]


@pytest.mark.row("S4.3.3", "S4.3.7")
def test_post_api_memory_creates_one_and_answers_each_field_of_memory_response(ask: Asked) -> None:
    created = ask("POST", "/api/memory/", SARAH)
    assert created.status_code == 201
    memory = created.json()
    assert len(memory.pop("id")) == 8
    assert memory == {**SARAH, "version": 1, "created_at": THEN, "updated_at": None}


@pytest.mark.row("S4.3.3")
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"content": "four"}, "content"),
        ({"content": "  four  "}, "content must have at least 5 characters"),
        ({"content": "x" * 501}, "content"),
        ({"content": None}, "content"),
        ({"category": "gossip"}, "category must be one of person, preference, context, project"),
        ({"subject": "x" * 201}, "subject"),
        ({"mood": "good"}, "mood"),
    ],
)
def test_post_api_memory_refuses_what_create_memory_request_does_not_allow(
    change: dict[str, object], word: str, ask: Asked
) -> None:
    refused = ask("POST", "/api/memory/", {**SARAH, **change})
    assert refused.status_code == 422
    assert word in refused.json()["error"]["message"]
    assert ask("GET", "/api/memory/").json() == {"memories": [], "total": 0}


@pytest.mark.row("S4.3.3")
@pytest.mark.parametrize("content", ["12345", "x" * 500])
def test_post_api_memory_takes_five_to_five_hundred_characters(content: str, ask: Asked) -> None:
    assert ask("POST", "/api/memory/", {**SARAH, "content": content}).status_code == 201


@pytest.mark.row("S4.3.4")
def test_post_api_memory_on_a_known_subject_suggests_update_memory_and_writes_nothing(
    ask: Asked,
) -> None:
    known = ask("POST", "/api/memory/", SARAH).json()
    again = ask("POST", "/api/memory/", {**SARAH, "content": "Sarah works on the Design team."})
    assert again.status_code == 409
    error = again.json()["error"]
    assert error["code"] == "exists"
    assert error["suggestion"] == "update_memory"
    assert error["memory"] == known
    assert known["id"] in error["hint"]
    assert ask("GET", "/api/memory/").json()["total"] == 1


@pytest.mark.row("S4.3.2", "S4.3.7")
def test_get_api_memory_id_answers_the_memory_with_its_version_history(ask: Asked) -> None:
    name = ask("POST", "/api/memory/", SARAH).json()["id"]
    for content in ("Sarah works on the Design team.", "Sarah leads the Design team."):
        ask("PUT", f"/api/memory/{name}", {"content": content})
    memory = ask("GET", f"/api/memory/{name}").json()
    versions = memory.pop("versions")
    assert memory == {
        **SARAH,
        "id": name,
        "content": "Sarah leads the Design team.",
        "version": 3,
        "created_at": THEN,
        "updated_at": THEN,
    }
    assert [each["version_number"] for each in versions] == [1, 2, 3]
    assert [each["content"] for each in versions] == [
        "Sarah works on the Platform team.",
        "Sarah works on the Design team.",
        "Sarah leads the Design team.",
    ]
    assert all(each["source_conversation_id"] is None for each in versions)
    assert all(each["created_at"] == THEN for each in versions)


def test_the_first_version_names_the_conversation_that_it_came_from(ask: Asked) -> None:
    conversation = ask.run("conversation.start", {"title": "Names"})["id"]
    ask.run("conversation.say", {"content": "We decided to call the service Otter."})
    (memory,) = ask("GET", "/api/memory/").json()["memories"]
    (version,) = ask("GET", f"/api/memory/{memory['id']}").json()["versions"]
    assert version["source_conversation_id"] == conversation


@pytest.mark.row("S4.3.5")
def test_put_api_memory_id_makes_a_new_version_and_answers_old_and_new(ask: Asked) -> None:
    name = ask("POST", "/api/memory/", SARAH).json()["id"]
    changed = ask("PUT", f"/api/memory/{name}", {"content": "Sarah works on the Design team."})
    assert changed.status_code == 200
    assert changed.json() == {
        **SARAH,
        "id": name,
        "content": "Sarah works on the Design team.",
        "version": 2,
        "created_at": THEN,
        "updated_at": THEN,
        "old_content": SARAH["content"],
        "old_version": 1,
    }
    refused = ask("PUT", f"/api/memory/{name}", {"content": "  none  "})
    assert refused.status_code == 422
    assert ask("GET", f"/api/memory/{name}").json()["version"] == 2


@pytest.mark.row("S4.3.6")
def test_delete_api_memory_id_is_soft_and_quotes_the_content(root: str, ask: Asked) -> None:
    name = ask("POST", "/api/memory/", SARAH).json()["id"]
    gone = ask("DELETE", f"/api/memory/{name}")
    assert gone.status_code == 200
    assert gone.json() == {
        "id": name,
        "content": SARAH["content"],
        "message": "Deleted: 'Sarah works on the Platform team.'",
    }
    assert ask("GET", "/api/memory/").json()["total"] == 0
    Project(root).restore(name)
    assert ask("GET", f"/api/memory/{name}").status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_memory_that_is_gone_or_never_was_is_not_found(method: str, ask: Asked) -> None:
    name = ask("POST", "/api/memory/", SARAH).json()["id"]
    ask("DELETE", f"/api/memory/{name}")
    body = {"content": "Anything else."} if method == "PUT" else None
    for reference in (name, "nowhere1"):
        refused = ask(method, f"/api/memory/{reference}", body)
        assert refused.status_code == 404, refused.text
        assert refused.json()["error"]["code"] == "not_found"


def test_what_an_agent_would_change_of_a_persons_words_waits_for_a_person(ask: Asked) -> None:
    name = ask("POST", "/api/memory/", SARAH).json()["id"]
    waits = ask("PUT", f"/api/memory/{name}", {"content": "Sarah has left."}, who="agent")
    assert waits.status_code == 403
    assert waits.json()["error"]["code"] == "consent"
    assert ask("GET", f"/api/memory/{name}").json()["version"] == 1
    (waiting,) = ask.run("consent.list")["items"]
    ask.run("consent.approve", {"references": [waiting["id"]]})
    assert ask("GET", f"/api/memory/{name}").json()["version"] == 2


def test_what_an_agent_says_of_a_person_is_queued_and_not_created(ask: Asked) -> None:
    held = ask(
        "POST", "/api/memory/",
        {"content": "The user's name is Maria Lopez.", "category": "person"}, who="agent",
    )  # fmt: skip
    assert held.status_code == 202, held.text
    assert held.json()["data"]["action"] == "queued"
    assert ask("GET", "/api/memory/").json()["total"] == 0


def test_an_app_sees_its_own_memories_here_and_nobody_elses_app_does(root: str, ask: Asked) -> None:
    Project(root).apps.remember("calendar", "Meets at noon.")
    assert [
        each["content"] for each in ask("GET", "/api/memory/", who="app").json()["memories"]
    ] == ["Meets at noon."]
    assert ask("GET", "/api/memory/").json()["total"] == 0


def test_a_secret_is_not_created(ask: Asked) -> None:
    secret = "The key is AKIA" + "Z7Q2M4N6B5V3C4XY"
    refused = ask("POST", "/api/memory/", {"content": secret, "category": "project"})
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "secret"
    assert "Z7Q2" not in refused.text
