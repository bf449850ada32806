"""Search and context over a whole memory: what is found, filtered, left out, and why."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from pmem import Project
from pmem.conversation.conversations import EndRequest, SayRequest, StartRequest
from pmem.conversation.exchange import MessagesRequest
from pmem.core import tokens
from pmem.core.context.parts import Context
from pmem.core.filters import Filter
from pmem.core.tokens import counter
from pmem.errors import InvalidValue, NotFound
from pmem.memory.changes import RecordsRequest
from pmem.memory.requests import AddRequest, EditRequest, PinRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchKind, SearchRequest
from pmem.search.search import SearchResult
from pmem.values.records import Chunk, Episode, EpisodeType, Memory, MemoryType, State
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.in_memory import InMemory
from tests.vocabulary import LIBRARY, bring_library_back, needs_the_library


def in_memory(**overrides: Any) -> Workspace:
    return Workspace("nowhere", actor="tester", now=NOW, backend=InMemory(), overrides=overrides)


def keep(workspace: Workspace, content: str, **fields: Any) -> Memory:
    return ask(workspace, table.ADD, AddRequest(content=content, force=True, **fields)).memory


def crowd(workspace: Workspace) -> None:
    """Keep more than fits into half of a context, none of which a test asks for."""
    for number in range(70):
        keep(workspace, f"Shelf {number} holds jar {number * 7}")


def later(workspace: Workspace, **delta: float) -> Workspace:
    return Workspace(
        "nowhere", actor="tester", now=NOW + timedelta(**delta), backend=workspace.backend
    )


def find(workspace: Workspace, query: str, **fields: Any) -> SearchResult:
    return ask(workspace, table.SEARCH, SearchRequest(query=query, **fields))


def texts(found: SearchResult) -> list[str]:
    return [hit.text for hit in found.hits]


@pytest.fixture
def full() -> Workspace:
    """Return a memory with something of every kind about a parser."""
    workspace = in_memory(max_recent_messages=4, chunk_size=2)
    keep(workspace, "The parser is written in C", category="architecture", tags=("speed",))
    keep(workspace, "Lunch is at noon")
    with workspace.transaction():
        workspace.episodes.put(
            Episode(
                id="e-00000001",
                type=EpisodeType.PROBLEM_SOLVED,
                title="Faster",
                summary="The parser no longer copies its input",
                created_at=NOW,
                updated_at=NOW,
            )
        )
    ask(workspace, table.START, StartRequest(title="Live"))
    for number in range(6):
        ask(
            workspace,
            table.SAY,
            SayRequest(content=f"Message {number} on the parser", speaker="Ada"),
        )
    return workspace


def test_search_finds_every_kind(full: Workspace) -> None:
    found = find(full, "parser")
    assert {hit.kind for hit in found.hits} == set(SearchKind)
    assert len(found.hits) == found.total == 9
    assert all(0 < hit.score <= 1 for hit in found.hits)
    *told, summary = found.hits
    assert summary.kind is SearchKind.CHUNK
    assert [hit.score for hit in told] == sorted((hit.score for hit in told), reverse=True)
    assert "Lunch is at noon" not in texts(found)


@pytest.mark.row("S2.7.8")
@pytest.mark.parametrize("kind", SearchKind)
def test_kinds_limit_the_search(full: Workspace, kind: SearchKind) -> None:
    found = find(full, "parser", kinds=(kind,))
    assert {hit.kind for hit in found.hits} == {kind}


@pytest.mark.row("S2.3.5")
def test_messages_moved_into_a_chunk_are_found_like_the_others(full: Workspace) -> None:
    found = find(full, "parser", kinds=(SearchKind.MESSAGE,))
    assert sorted(texts(found)) == [f"Message {number} on the parser" for number in range(6)]
    assert {hit.speaker for hit in found.hits} == {"Ada"}
    assert len({hit.conversation for hit in found.hits}) == 1


@pytest.mark.row("S2.7.9", "S4.8.2")
def test_top_k_limits_the_hits_and_not_the_total(full: Workspace) -> None:
    found = find(full, "parser", top_k=2)
    assert (len(found.hits), found.total) == (2, 9)
    assert texts(find(full, "parser"))[:2] == texts(found)


@pytest.mark.parametrize(
    "query", ["", "   ", "the of and", "qwertyuiop", "\x00", "((", "*", "a" * 10_000, "🦜"]
)
def test_a_query_that_finds_nothing_is_an_empty_answer(full: Workspace, query: str) -> None:
    assert (find(full, query).hits, find(full, query).total) == ((), 0)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("数据库使用 PostgreSQL", "数据库"),
        ("ビルドはとても遅い", "ビルド"),
        ("한국어 문서를 읽다", "한국어"),
        ("Über die Straße nach Köln", "uber strasse koln"),
        ("café au lait", "CAFE"),
        ("Call parse_config_file first", "parse_config_file"),
        ("Released as v2.11", "v2.11"),
    ],
)
def test_words_of_many_scripts_are_found(content: str, query: str) -> None:
    workspace = in_memory()
    keep(workspace, content)
    keep(workspace, "Something else entirely")
    assert texts(find(workspace, query)) == [content]


@pytest.mark.row("S2.7.7")
def test_filters_say_what_they_removed(full: Workspace) -> None:
    found = find(full, "parser", wanted=Filter(categories=("architecture",)))
    assert texts(found) == ["The parser is written in C"]
    assert found.removed == {"category": 8}
    found = find(full, "parser", wanted=Filter(tags=("slow",)), kinds=(SearchKind.MEMORY,))
    assert (found.hits, found.removed) == ((), {"tag": 1})


def test_a_threshold_says_what_it_removed(full: Workspace) -> None:
    found = find(full, "parser written in C", threshold=0.7)
    assert texts(found) == ["The parser is written in C"]
    assert found.removed == {"threshold": 8}


@pytest.mark.parametrize(
    "fields",
    [
        *({"top_k": 0}, {"top_k": -1}, {"related": -1}),
        *({"threshold": 1.5}, {"threshold": float("nan")}),
    ],
)
def test_limits_out_of_range_are_refused(full: Workspace, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        find(full, "parser", **fields)


@pytest.mark.row("S2.11.4")
def test_what_is_removed_or_no_longer_valid_is_not_found() -> None:
    workspace = in_memory()
    gone = keep(workspace, "The parser was slow")
    keep(workspace, "The parser is frozen", valid_until=NOW + timedelta(days=1))
    keep(workspace, "The parser will be rewritten", valid_from=NOW + timedelta(days=5))
    ask(workspace, table.REMOVE, RecordsRequest(references=(gone.id,)))
    assert texts(find(workspace, "parser")) == ["The parser is frozen"]
    assert texts(find(later(workspace, days=6), "parser")) == ["The parser will be rewritten"]
    assert texts(find(workspace, "parser", wanted=Filter(states=(State.SOFT_DELETED,)))) == [
        "The parser was slow"
    ]


def test_time_travel_searches_what_was_known_then() -> None:
    workspace = in_memory()
    memory = keep(workspace, "The parser is written in C")
    changed = later(workspace, days=2)
    ask(
        changed,
        table.EDIT,
        EditRequest(reference=memory.id, content="The parser is written in Rust"),
    )
    assert texts(find(changed, "parser")) == ["The parser is written in Rust"]
    assert texts(find(changed, "parser", at=NOW + timedelta(days=1))) == [
        "The parser is written in C"
    ]
    assert texts(find(changed, "parser", at=NOW - timedelta(days=1))) == []


def test_time_travel_finds_what_had_been_said_by_then() -> None:
    workspace = in_memory(max_recent_messages=2, chunk_size=4)
    ask(workspace, table.START, StartRequest())
    for minute in range(6):
        ask(
            later(workspace, minutes=minute), table.SAY, SayRequest(content=f"parser note {minute}")
        )
    chunked = later(workspace, minutes=10)
    found = find(chunked, "parser", at=NOW + timedelta(minutes=1))
    assert sorted(texts(found)) == ["parser note 0", "parser note 1"]


def test_equal_relevance_is_settled_by_importance_and_recency() -> None:
    workspace = in_memory()
    keep(workspace, "parser alpha", importance=0.1)
    keep(workspace, "parser beta", importance=0.9)
    assert texts(find(workspace, "parser")) == ["parser beta", "parser alpha"]
    fresh = later(in_memory(), days=0)
    keep(fresh, "parser old")
    keep(later(fresh, days=90), "parser new")
    assert texts(find(later(fresh, days=90), "parser")) == ["parser new", "parser old"]


def test_relevance_beats_every_prior() -> None:
    workspace = in_memory()
    keep(workspace, "parser speed matters", importance=0.0)
    keep(workspace, "parser " + "filler words all around here " * 5, importance=1.0)
    assert texts(find(later(workspace, days=3650), "parser speed"))[0] == "parser speed matters"


def context(workspace: Workspace, query: str | None = None, **fields: Any) -> Context:
    return ask(workspace, table.CONTEXT, ContextRequest(query=query, **fields))


def section(built: Context, name: str) -> list[str]:
    return [item.text for part in built.sections if part.name == name for item in part.items]


@pytest.mark.row("S2.1.1", "S2.1.2", "S3.9.1")
def test_a_context_has_the_memory_what_was_recalled_and_the_conversation(full: Workspace) -> None:
    crowd(full)
    built = context(full, "parser", budget=700)
    assert section(built, "memory") == []
    assert section(built, "recent") == [f"Message {n} on the parser" for n in (2, 3, 4, 5)]
    assert len(section(built, "summaries")) == 1
    assert "The parser is written in C" in section(built, "recalled")
    assert "Faster" in " ".join(section(built, "recalled"))
    assert "Lunch" not in built.text
    assert section(built, "earlier") == [f"Message {n} on the parser" for n in (0, 1)]
    assert "Ada: Message 0 on the parser\n" in built.text
    assert built.tokens <= 700


@needs_the_library
def test_a_context_says_which_vocabulary_counted_it(
    full: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert context(full, "parser", budget=80).tokenizer == "estimate"
    bring_library_back(monkeypatch)
    again = Workspace("nowhere", actor="tester", now=NOW, backend=full.backend)
    built = context(again, "parser", budget=80)
    assert built.tokenizer == "o200k_base"
    assert counter("o200k_base")(built.text) == built.tokens <= 80


@needs_the_library
def test_a_second_context_of_the_same_words_loads_no_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_library_back(monkeypatch)
    project = Project(tmp_path / ".project-memory")
    project.add("The parser keeps 1024 lines, as ever.")
    tokens._known.cache_clear()
    first = project.build_context("parser", budget=80)
    assert first.tokenizer == "o200k_base"
    tokens._known.cache_clear()
    monkeypatch.setattr(LIBRARY.openai, "o200k_base", mock.Mock(side_effect=AssertionError))
    assert project.build_context("parser", budget=80).text == first.text


@pytest.mark.row("S2.1.3")
@pytest.mark.parametrize("budget", [50, 80, 120, 200, 500, 2000, 200_000])
def test_a_context_of_any_budget_holds_it(full: Workspace, budget: int) -> None:
    for query in (None, "parser", "nothing like it"):
        built = context(full, query, budget=budget)
        assert full.budget_counter.count(built.text) == built.tokens <= budget
        assert built == context(full, query, budget=budget)


def test_the_memory_block_does_not_depend_on_the_task(full: Workspace) -> None:
    keep(full, "Every change needs a test", importance=0.9)
    ask(full, table.PIN, PinRequest(reference=keep(full, "Dinner is at six").id))
    blocks = {
        context(full, query, budget=700).text.partition("## Re")[0].partition("## Earl")[0]
        for query in ("parser", "lunch noon", "nothing like it", "message")
    }
    (block,) = blocks
    assert "Dinner is at six" in block
    assert "Every change needs a test" in block


@pytest.mark.row("S2.1.5")
def test_the_receipt_agrees_with_sections_and_omissions(full: Workspace) -> None:
    keep(full, "Parser parser parser parser")
    for budget in (100, 150, 250, 1000):
        built = context(full, "parser copies lunch", budget=budget)
        shown = [item.id for part in built.sections for item in part.items]
        left = [item.id for item in built.omitted]
        assert len(set(shown)) == len(shown)
        assert len(set(left)) == len(left)
        assert not set(shown) & set(left)
        assert f"(pmem: {len(shown)} shown, {len(left)} left out" in built.text


@pytest.mark.row("S2.7.5")
def test_in_the_weighted_sum_memories_below_the_threshold_are_not_recalled() -> None:
    workspace = in_memory(ranking="weighted_sum", relevance_threshold=0.7)
    keep(workspace, "parser speed parser speed")
    weak = keep(workspace, "one parser among " + "very many other words indeed " * 100)
    built = context(workspace, "parser speed", budget=400)
    assert {item.id: item.reason for item in built.omitted} == {weak.id: "below_threshold"}


def test_a_context_of_an_agent_leaves_other_agents_out() -> None:
    workspace = in_memory()
    keep(workspace, "For the reviewer: parser", agent="reviewer")
    keep(workspace, "For the writer: parser", agent="writer")
    text = context(workspace, "parser", agent="reviewer", budget=500).text
    assert "For the reviewer" in text
    assert "For the writer" not in text


def test_a_context_without_anything_is_still_one() -> None:
    built = context(in_memory(), budget=100)
    assert built.sections == ()
    assert "(pmem: 0 shown, 0 left out)" in built.text


@pytest.mark.row("S2.1.4")
def test_important_and_pinned_memories_come_first_when_room_is_short() -> None:
    workspace = in_memory()
    for number in range(20):
        keep(workspace, f"Rule {number} " + "words " * 10, importance=0.5)
    best = keep(workspace, "Best " + "words " * 10, importance=1.0)
    pinned = keep(workspace, "Pinned " + "words " * 10, importance=0.0)
    ask(workspace, table.PIN, PinRequest(reference=pinned.id))
    built = context(workspace, "qwertyuiop", budget=350)
    shown = {item.id for part in built.sections for item in part.items}
    assert {best.id, pinned.id} <= shown
    assert len(shown) < 22


def test_an_ended_conversation_is_shown_only_when_it_is_named(full: Workspace) -> None:
    ended = ask(full, table.END, EndRequest()).conversation
    assert section(context(full, budget=1000), "recent") == []
    named = context(full, budget=1000, conversation=ended.id)
    assert len(section(named, "recent")) == 6
    with pytest.raises(NotFound):
        context(full, conversation="nothing-like-it")


@pytest.mark.parametrize("budget", [0, -5])
def test_a_budget_below_one_is_refused(full: Workspace, budget: int) -> None:
    with pytest.raises(InvalidValue, match="at least 1 token"):
        context(full, budget=budget)


def test_types_and_categories_group_the_memory_block() -> None:
    workspace = in_memory()
    keep(workspace, "Use tabs", type=MemoryType.PREFERENCE)
    keep(workspace, "We ship on Friday", type=MemoryType.DECISION)
    keep(workspace, "Use spaces in YAML", type=MemoryType.PREFERENCE)
    lines = context(workspace, budget=500).text.splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        "- Use tabs",
        "- Use spaces in YAML",
        "- We ship on Friday",
    ]


def test_a_missing_chunk_does_not_stop_a_context(full: Workspace) -> None:
    lost = next(full.chunks.find())
    with full.transaction():
        full.chunks.remove(lost.id)
    assert isinstance(lost, Chunk)
    assert "Lunch is at noon" in context(full, budget=1000).text


def test_what_was_said_at_one_time_stands_in_the_order_in_which_it_was_said() -> None:
    workspace = in_memory()
    said = ["The parser is slow", "Lunch?", "The slow parser is the old slow parser", "The parser!"]
    lines = [
        json.dumps({"conversation": name, "content": f"{text} {name}", "timestamp": "2026-03-01"})
        for text in said
        for name in ("monday", "tuesday")
    ]
    ask(
        workspace,
        table.IMPORT_MESSAGES,
        MessagesRequest(
            lines=[line.encode() for line in lines], name="talk", progress=lambda done, total: None
        ),
    )
    texts_ = section(context(workspace, "slow parser", budget=1000), "earlier")
    expected = [f"{text} {name}" for name in ("monday", "tuesday") for text in said]
    places = [expected.index(text) for text in texts_]
    assert len(places) > 3
    first, second = ([place for place in places if place // 4 == talk] for talk in (0, 1))
    assert (first, second) == (sorted(first), sorted(second))
    assert places in ([*first, *second], [*second, *first])
