"""The four array files as programs of the multi-tier design read them, and back in again."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pmem import Project
from pmem.interchange import arrays
from pmem.values.records import Chunk, Conversation, Episode, Memory
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

LONG_TERM = {"id", "type", "content", "category", "tags", "relationships", "validFrom", "metadata"}
METADATA = {"source", "importance", "accessCount", "lastAccessedAt", "decayFactor", "tokens"}
EPISODIC = {
    *("id", "type", "title", "summary", "context", "participants", "emotionalValence"),
    *("significance", "linkedMemories", "conversationRef", "metadata"),
}
CONVERSATION = {
    *("id", "projectId", "startedAt", "status", "totalTurns", "chunks", "recentMessages"),
    *("activeFacts", "milestones"),
}
CHUNK = {
    *("id", "conversationId", "chunkNumber", "messages", "summary", "keyTopics", "tokenCount"),
    "createdAt",
}


def talked() -> Project:
    made = Project(actor="ada", now=NOW, backend=InMemory(), max_recent_messages=4, chunk_size=2)
    first = made.add("Invoices are rendered by the billing service.", type="decision").memory
    second = made.add("The billing service is written in Go.", tags=["go"]).memory
    made.link(first.id, second.id, type="depends_on", strength=0.8)
    gone = made.add("The office is in Lisbon.").memory
    made.remove(gone.id)
    made.start_conversation("Queues")
    made.add_message("user", "We decided to use RabbitMQ for the queue.")
    for number in range(5):
        made.add_message("assistant", f"Step {number} of the plan is done now.")
    return made


def exported(made: Project) -> dict[str, list[dict[str, Any]]]:
    files = made.export_arrays(camel_case=True)
    return {name: json.loads(data) for name, data in files.items()}


@pytest.mark.row("S2.10.1", "S2.10.2")
def test_each_file_has_the_fields_that_the_design_names() -> None:
    found = exported(talked())
    for name, wanted in (
        ("long-term-memory.json", LONG_TERM),
        ("episodic-memory.json", EPISODIC),
        ("conversations.json", CONVERSATION),
        ("conversation-chunks.json", CHUNK),
    ):
        assert found[name], name
        assert all(entry.keys() >= wanted for entry in found[name]), name
    assert all(each["metadata"].keys() >= METADATA for each in found["long-term-memory.json"])
    (talk,) = found["conversations.json"]
    assert talk["totalTurns"] == 6
    assert [chunk["chunkNumber"] for chunk in talk["chunks"]] == [1]
    assert talk["milestones"][0]["turn"] == 1  # the decision


def test_no_key_is_written_in_the_manner_of_this_project() -> None:
    assert all("_" not in key for entries in exported(talked()).values() for key in keys(entries))


def keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if isinstance(value, dict):
        return set(value) | set().union(*map(keys, value.values()))
    return set()


def test_what_was_removed_is_not_given_out() -> None:
    assert all(
        "Lisbon" not in each["content"] for each in exported(talked())["long-term-memory.json"]
    )


@pytest.mark.row("S2.4.10")
def test_how_present_a_memory_is_follows_the_formula_of_the_design() -> None:
    made = talked()
    later = Project(actor="ada", now=NOW + timedelta(days=30), backend=made.workspace.backend)
    found = exported(later)["long-term-memory.json"]
    assert {each["metadata"]["decayFactor"] for each in found} == {0.5}


def test_what_is_given_out_so_comes_in_again() -> None:
    made = talked()
    parsed = arrays.parse(dict(made.export_arrays(camel_case=True)))
    assert parsed.skipped == []
    kept = made.workspace
    (talk,) = parsed.records[Conversation]
    (before,) = kept.conversations.find()
    assert isinstance(talk, Conversation)
    assert (talk.turns, talk.chunks, talk.milestones) == (
        before.turns,
        before.chunks,
        before.milestones,
    )
    assert [m.content for m in talk.recent_messages] == [m.content for m in before.recent_messages]
    assert {each.id for each in parsed.records[Memory]} <= set(kept.memories.ids())
    assert {each.id for each in parsed.records[Chunk]} == set(kept.chunks.ids())
    for episode in parsed.records[Episode]:
        assert isinstance(episode, Episode)
        known = kept.episodes.get(episode.id)
        for name in ("type", "title", "summary", "turns", "valence", "linked_memories"):
            assert getattr(episode, name) == getattr(known, name)


def test_an_entry_without_a_time_of_its_own_has_that_of_its_id(tmp_path: Path) -> None:
    entry = {"id": "mlk2p0a1-9f3c21de", "type": "episode", "title": "Met", "summary": "We met."}
    (tmp_path / "episodic-memory.json").write_text(json.dumps([entry]))
    made = Project(actor="ada", now=NOW, backend=InMemory())
    assert made.import_arrays(str(tmp_path)).skipped == ()
    (kept,) = made.workspace.episodes.find()
    assert kept.created_at.year == 2026
