"""S2, memory in tiers: what no test of a single room tells as one story."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pmem import Project
from pmem.core.retrieval.factors import Weights
from pmem.values.json_layout import fold_lists
from pmem.values.records import STORES
from tests.conftest import NOW
from tests.storage.folders import tree
from tests.storage.in_memory import InMemory
from tests.work import WITHIN, calls


def kept_in_memory(**settings: Any) -> Project:
    return Project(actor="tester", now=NOW, backend=InMemory(), **settings)


@pytest.mark.row("S2.2.2")
def test_a_conversation_counts_its_turns_and_knows_when_it_began_and_ended() -> None:
    made = kept_in_memory(max_recent_messages=2, chunk_size=2)
    begun = made.start_conversation("Bakery")
    assert (begun.turns, begun.started_at, begun.ended_at) == (0, NOW, None)
    for number in range(7):
        made.add_message("user", f"Loaf {number} is made of rye.")
    ended = made.end_conversation()
    assert (ended.turns, ended.started_at, ended.ended_at) == (7, NOW, NOW)


@pytest.mark.row("S2.1.6")
def test_what_is_at_hand_is_gone_when_the_conversation_ends() -> None:
    made = kept_in_memory(extract_facts=False, detect_episodes=False)
    made.start_conversation("Bakery")
    made.add_message("user", "Two loaves of rye, please.")
    assert [part.name for part in made.build_context(budget=500).sections] == ["recent"]
    made.end_conversation()
    assert made.build_context(budget=500).sections == ()


@pytest.mark.row("S2.6.1")
def test_a_context_leaves_room_for_the_system_prompt_and_the_turn_at_hand() -> None:
    small = {"max_context_tokens": 1000, "system_prompt_tokens": 300}
    made = kept_in_memory(**small, working_memory_tokens=500)
    for number in range(60):
        made.add(f"Rule {number} of the bakery is about loaf {number * 7}.", pinned=True)
    built = made.build_context("bakery")
    assert built.budget == 200
    assert 150 < built.tokens <= 200
    assert kept_in_memory().build_context("bakery").budget == 128_000 - 2000 - 8000


@pytest.mark.row("S2.6.7")
def test_where_room_is_short_the_latest_summaries_stand() -> None:
    made = kept_in_memory(max_recent_messages=2, chunk_size=2, extract_facts=False)
    made.start_conversation("Bakery")
    for number in range(40):
        made.add_message("user", f"Loaf {number} rests in oven {number}. " * 6)
    chunks = [chunk.id for chunk in made.transcript().chunks]
    seen = set()
    for budget in range(150, 700, 50):
        shown = [
            item.id
            for part in made.build_context(budget=budget).sections
            if part.name == "summaries"
            for item in part.items
        ]
        assert shown == chunks[len(chunks) - len(shown) :]
        seen.add(len(shown))
    assert len(seen) > 3


@pytest.mark.row("S2.7.1")
def test_the_weighted_sum_has_the_five_signals_of_the_design() -> None:
    made = kept_in_memory()
    made.add("The parser reads one line", importance=1.0)
    made.add("The bakery opens at six")
    equal = Weights(1, 1, 1, 1, 1)
    (hit,) = made.search("parser", weights=equal).hits
    assert hit.signals.keys() == {"semantic", "keyword", "recency", "importance", "access"}
    assert hit.score == sum(hit.signals.values())
    for name in ("semantic", "keyword", "recency", "importance"):
        alone = Weights(**{**dict.fromkeys(hit.signals, 0), name: 1})
        (again,) = made.search("parser", weights=alone).hits
        assert again.score == again.signals[name] > 0


@pytest.mark.row("S2.9.4")
def test_a_run_says_what_it_merged_and_how_many_tokens_that_gives_back() -> None:
    made = kept_in_memory()
    for _ in range(3):
        copy = made.add("The harbour closes at nine.", force=True).memory
    counts = made.consolidate().counts
    assert (counts["merge"], counts["tokens_reclaimed"]) == (2, 2 * copy.tokens)


@pytest.mark.row("S2.12.6")
def test_a_hundred_memories_are_consolidated_without_a_pause() -> None:
    made = kept_in_memory(link_on_add=False)
    for number in range(100):
        text = f"Oven {number} bakes loaf {number % 7} for {number * 3} minutes."
        made.add(text, force=True, importance=number / 100)
    made.search("oven")
    work = calls(made.consolidate)
    assert 100 < work < 100 * WITHIN


NEEDED = {
    "long-term-memory.json": {"id", "content"},
    "episodic-memory.json": {"id", "title", "summary"},
    "conversations.json": {"id", "startedAt"},
    "conversation-chunks.json": {"id", "conversationId", "chunkNumber", "summary", "createdAt"},
}


@pytest.mark.row("S2.10.3")
@pytest.mark.parametrize("name", NEEDED)
def test_the_designs_files_are_read_whatever_field_is_missing(name: str, tmp_path: Path) -> None:
    filled = kept_in_memory(max_recent_messages=2, chunk_size=2)
    filled.start_conversation("Bakery")
    for number in range(5):
        filled.add_message("user", f"We decided to bake rye in oven {number}.", speaker="Mira")
    (entry, *_) = json.loads(filled.export_arrays(camel_case=True)[name])
    for field in entry.keys() - NEEDED[name]:
        less = {key: value for key, value in entry.items() if key != field}
        (tmp_path / name).write_text(json.dumps([less]))
        done = kept_in_memory().import_arrays(str(tmp_path))
        assert done.added > 0, field
        assert f"{name}[0]" not in [skipped.where for skipped in done.skipped], field


@pytest.mark.row("S2.10.3")
def test_the_designs_messages_need_no_more_than_a_role_and_a_content(tmp_path: Path) -> None:
    began, later = "2026-01-01T09:00:00Z", "2026-01-01T09:05:00Z"
    talk = {"id": "talk", "startedAt": began}
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "Which cache do we take?"},
        {"role": "assistant", "content": "Redis.", "timestamp": later},
        {"role": "user", "content": "So be it."},
    ]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{**talk, "totalTurns": 3, "recentMessages": said}]))
    made = kept_in_memory()
    assert made.import_arrays(str(tmp_path)).skipped == ()
    (overview,) = made.conversations()
    read = made.transcript(overview.id).messages
    assert [one.content for one in read] == [one["content"] for one in said]
    assert [one.created_at.minute for one in read] == [0, 5, 5]
    assert [one.tokens for one in read] == [made.workspace.count(one.content) for one in read]
    assert len({one.id for one in read}) == 3
    assert made.import_arrays(str(tmp_path)).unchanged == 1


@pytest.mark.row("S2.10.3")
def test_tokens_that_the_designs_files_do_not_tell_are_counted(tmp_path: Path) -> None:
    memory = {"id": "mlk2p0a1-9f3c21df", "content": "Redis runs on host r1"}
    (tmp_path / "long-term-memory.json").write_text(json.dumps([memory]))
    episode = {"id": "mlk2p0a1-9f3c21e0", "title": "Cache", "summary": "We chose Redis"}
    (tmp_path / "episodic-memory.json").write_text(json.dumps([episode]))
    made = kept_in_memory()
    made.import_arrays(str(tmp_path))
    assert made.list().items[0].tokens == made.workspace.count("Redis runs on host r1")
    assert made.episodes().items[0].tokens == made.workspace.count("We chose Redis")


@pytest.mark.row("S2.10.4")
def test_every_record_is_json_that_people_can_read(root: str) -> None:
    made = Project(root, actor="tester", now=NOW, max_recent_messages=2, chunk_size=2)
    made.add("Die Brücke schließt um neun.", tags=["brücke"])
    made.start_conversation("Bakery")
    for number in range(5):
        made.add_message("user", f"We decided to bake loaf {number} of rye.")
    made.end_conversation("Rye it is")
    files = tree(root)
    assert {path.split(os.sep)[0] for path in files} == {*STORES.values()}
    for data in files.values():
        read = json.loads(data)
        written = json.dumps(read, indent=2, ensure_ascii=False) + "\n"
        assert data == fold_lists(written.encode())


@pytest.mark.row("S2.10.5")
def test_the_id_of_a_record_has_its_moment_and_a_part_of_chance() -> None:
    texts = ["The harbour closes at nine.", "The bakery opens at six."]
    here, there = kept_in_memory(), kept_in_memory()
    ids = [made.add(text).memory.id for made in (here, there) for text in texts]
    moments, chances = zip(*(one.split("-") for one in ids), strict=True)
    began = int(NOW.timestamp() * 1000)
    assert [int(moment, 36) for moment in moments] == [began, began + 1] * 2
    assert len(set(chances)) == 4


@pytest.mark.row("S2.11.1")
def test_nothing_is_read_before_it_is_needed(root: str) -> None:
    first = Project(root, actor="tester", now=NOW)
    wanted = first.add("The harbour closes at nine.").memory
    first.add("The bakery opens at six.")
    for path in tree(root):
        if wanted.id not in path:
            Path(root, path).write_bytes(b"no record")
    again = Project(root, actor="tester", now=NOW)
    assert again.show(wanted.id) == wanted
    assert again.workspace.backend.problems == []
    assert again.list().total == 1
    assert len(again.workspace.backend.problems) == 1


@pytest.mark.row("S2.11.2")
def test_only_what_changed_is_written(root: str) -> None:
    made = Project(root, actor="tester", now=NOW)
    ids = [made.add(f"Rule {n} is about room {n}.", force=True).memory.id for n in range(5)]
    made.flush()
    written = {path: os.stat(os.path.join(root, path)) for path in tree(root)}
    made.edit(ids[2], importance=0.9)
    made.flush()
    changed = [
        path
        for path, before in written.items()
        if (after := os.stat(os.path.join(root, path))).st_ino != before.st_ino
        or after.st_mtime_ns != before.st_mtime_ns
    ]
    assert [os.path.basename(path) for path in changed] == [f"{ids[2]}.json"]
    assert tree(root).keys() == written.keys()
