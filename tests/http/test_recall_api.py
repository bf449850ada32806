"""What agents ask for over HTTP: a query within an allowlist, and a memory's history."""

import pytest

from pmem import Project
from pmem.core.journal import digest
from tests.conftest import NOW
from tests.http.serving import Asked

THEN = "2026-11-21T14:30:00.250Z"


def allow(root: str, *categories: str) -> None:
    """Let the planner see these categories alone."""
    with open(f"{root}/config.toml", "a", encoding="utf-8") as file:
        listed = ", ".join(f'"{category}"' for category in categories)
        file.write(f"\n[allowlists]\nplanner = [{listed}]\n")


@pytest.mark.row("S1.8.7")
def test_get_memory_history_answers_rows_of_the_history_the_newest_first(
    root: str, ask: Asked
) -> None:
    memory = Project(root, actor="ada", now=NOW).add("The queue is RabbitMQ.").memory
    Project(root, actor="kim", now=NOW).edit(memory.id, "The queue is NATS.")
    latest, first = ask("GET", f"/memory/{memory.id}/history").json()
    assert latest == {
        "id": f"{memory.id}:2",
        "memory_id": memory.id,
        "event": "UPDATE",
        "old_ref": digest("The queue is RabbitMQ."),
        "new_ref": digest("The queue is NATS."),
        "actor": "kim",
        "meta": latest["meta"],
        "ts": THEN,
    }
    assert latest["meta"]["before"]["content"] == "The queue is RabbitMQ."
    assert (first["event"], first["old_ref"], first["actor"]) == ("ADD", None, "ada")


@pytest.mark.row("S1.8.7")
def test_get_memory_history_takes_a_limit(root: str, ask: Asked) -> None:
    name = Project(root).add("The queue is RabbitMQ.").memory.id
    for number in range(5):
        Project(root).edit(name, importance=number / 10)
    rows = ask("GET", f"/memory/{name}/history?limit=2").json()
    assert [row["id"] for row in rows] == [f"{name}:6", f"{name}:5"]


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1001", "9" * 400, "", "²"])
def test_get_memory_history_refuses_what_is_no_limit(limit: str, root: str, ask: Asked) -> None:
    name = Project(root).add("The queue is RabbitMQ.").memory.id
    refused = ask("GET", f"/memory/{name}/history", params={"limit": limit})
    assert refused.status_code == 422
    assert "limit" in refused.json()["error"]["message"]


def test_get_memory_history_of_nothing_is_not_found(ask: Asked) -> None:
    assert ask("GET", "/memory/nowhere1/history").status_code == 404


def test_memory_query_answers_bullets(root: str, ask: Asked) -> None:
    memory = Project(root).add("The queue is RabbitMQ.", category="knowledge").memory
    found = ask("POST", "/api/query", {"query": "queue", "top_k": 3, "return": "bullets"})
    assert found.status_code == 200
    assert found.json() == [
        {"id": memory.id, "category": "knowledge", "text": "[knowledge] The queue is RabbitMQ."}
    ]


def test_memory_query_answers_summaries_and_metadata_in_full(root: str, ask: Asked) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.", subject="queue", importance=0.5)
    (full,) = ask("POST", "/api/query", {"query": "queue", "return": "full"}).json()
    assert full.keys() == {"id", "category", "summary", "metadata"}
    assert full["summary"] == "The queue is RabbitMQ."
    assert full["metadata"]["importance"] == 3
    assert full["metadata"]["created_at"] == THEN


def test_memory_query_takes_every_field_of_the_document(root: str, ask: Asked) -> None:
    Project(root).add("The deployment plan stands.", category="tasks", user="ada", importance=0.5)
    request = {
        "agent": "planner",
        "query": "deployment plan context",
        "categories": ["tasks", "projects"],
        "filters": {
            "user_id": "ada", "agent_id": None, "run_id": None, "actor_id": None, "role": None,
            "pinned": False, "importance_min": 1, "importance_max": 5,
            "updated_after": "2025-07-01", "updated_before": None,
        },
        "top_k": 3,
        "threshold": 0.1,
        "return": "bullets",
        "budget_tokens": 512,
    }  # fmt: skip
    assert len(ask("POST", "/api/query", request).json()) == 1
    request["filters"] = {"user_id": "eve"}
    assert ask("POST", "/api/query", request).json() == []


def test_who_asks_a_query_comes_from_the_token(root: str, ask: Asked) -> None:
    Project(root).add("The queue is RabbitMQ.", category="knowledge")
    Project(root).add("The queue of the canteen is long.", category="history")
    allow(root, "history")
    found = ask("POST", "/api/query", {"query": "queue"}, who="agent").json()
    assert [each["category"] for each in found] == ["history"]
    for request in (
        {"query": "queue", "agent": "somebody-else"},
        {"query": "queue", "categories": ["knowledge"]},
    ):
        refused = ask("POST", "/api/query", request, who="agent")
        assert refused.status_code == 403, refused.text


@pytest.mark.parametrize(
    "request_", [{}, {"query": 1}, {"query": "x", "colour": "red"}, {"query": "x", "top_k": 0}]
)
def test_what_is_no_query_is_refused(request_: dict[str, object], ask: Asked) -> None:
    refused = ask("POST", "/api/query", request_)
    assert refused.status_code == 422
    assert refused.json()["error"]["message"]
