"""Chunks: older messages move into them, the oldest are merged, and nothing is lost."""

import os
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.summaries import summary
from pmem.errors import Damaged
from pmem.memory.conversations import MERGED_TOKENS, LookRequest
from pmem.operations import table
from pmem.values.records import Chunk, Status
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.in_memory import InMemory

TOPICS = ("parser", "lexer", "linker", "loader", "editor", "viewer", "broker", "router")


def project(**overrides: Any) -> Project:
    small = {"max_recent_messages": 3, "chunk_size": 2, "max_chunks": 2}
    return Project(actor="tester", now=NOW, **{**small, **overrides})


def in_memory(**overrides: Any) -> Project:
    return project(backend=InMemory(), **overrides)


def sentence(number: int) -> str:
    return f"The {TOPICS[number % len(TOPICS)]} of module {number} takes {number} seconds."


def filled(made: Project, count: int = 15) -> list[str]:
    """Start a conversation, and say sentences."""
    made.start_conversation("Modules")
    said = [sentence(number) for number in range(count)]
    for content in said:
        made.add_message("user", content)
    return said


def lines(contents: list[str]) -> list[bytes]:
    said = {"conversation": "talk", "role": "user"}
    return [
        orjson.dumps(
            {**said, "id": str(n), "content": text, "timestamp": f"2026-01-02T10:{n:02d}:00Z"}
        )
        for n, text in enumerate(contents)
    ]


def contents(made: Project, reference: str | None = None) -> list[str]:
    return [message.content for message in made.transcript(reference).messages]


def path_of(chunk: Chunk) -> str:
    return f".project-memory/conversation-chunks/{chunk.id}.json"


# Merging


@pytest.mark.row("S2.3.9")
def test_merging_keeps_every_message_in_its_order_and_findable() -> None:
    made = project()
    said = filled(made)
    assert contents(made) == said
    shown = made.transcript()
    assert [len(chunk.messages) for chunk in shown.chunks] == [2] * 6
    assert shown.conversation.merged_chunks == 4
    for number in range(15):
        hits = made.search(f'"module {number} takes"', kinds=("message",)).hits
        assert hits[0].text == sentence(number)


@pytest.mark.row("S2.3.6")
def test_each_merged_chunk_leads_to_the_next_and_the_last_tells_of_all() -> None:
    made = in_memory()
    filled(made)
    shown = made.transcript()
    order = [chunk.id for chunk in shown.chunks]
    assert [chunk.merged_into for chunk in shown.chunks] == [*order[1:5], None, None]
    told = shown.chunks[4].summary
    assert told.startswith("Earlier: ")
    assert "\nThen: " in told
    first, then = told.split("\nThen: ")
    assert any(f"module {number} takes" in first for number in range(4))
    assert any(f"module {number} takes" in then for number in (8, 9))
    assert "Earlier" not in shown.chunks[5].summary
    assert len(set(shown.chunks[4].key_topics)) == len(shown.chunks[4].key_topics)


def test_a_merged_summary_stays_small_however_long_the_conversation_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(summary, "SHARE", 1.0)
    made = in_memory(max_chunks=1)
    filled(made, 150)
    (*_, last) = made.transcript().chunks
    assert last.summary.startswith("Earlier: ")
    assert last.tokens == made.workspace.count(last.summary) <= MERGED_TOKENS


def test_a_search_for_chunks_shows_what_is_merged_once() -> None:
    made = project()
    filled(made)
    shown = made.transcript()
    own = {chunk.id for chunk in shown.chunks[4:]}
    for query in ("module seconds", "parser", "lexer takes"):
        assert {hit.id for hit in made.search(query, kinds=("chunk",)).hits} <= own
    assert {hit.id for hit in made.search("module seconds", kinds=("chunk",)).hits} == own


@pytest.mark.row("S2.7.4")
def test_the_index_follows_a_merge() -> None:
    made = project()
    filled(made, 7)
    first, second = made.transcript().chunks
    found = {hit.id for hit in made.search("module takes seconds", kinds=("chunk",)).hits}
    assert found == {first.id, second.id}
    made.add_message("user", sentence(7))
    made.add_message("user", sentence(8))
    again = {hit.id for hit in made.search("module takes seconds", kinds=("chunk",)).hits}
    assert first.id not in again
    assert second.id in again


def test_a_lower_limit_merges_more_with_the_next_chunk() -> None:
    backend = InMemory()
    filled(project(backend=backend, max_chunks=50))
    tighter = project(backend=backend, max_chunks=1)
    for number in range(15, 17):
        tighter.add_message("user", sentence(number))
    shown = tighter.transcript().conversation
    assert (len(shown.chunks), shown.merged_chunks) == (7, 6)


# Transcripts from elsewhere


def test_one_by_one_and_at_once_make_the_same_messages() -> None:
    said = [sentence(number) for number in range(20)]
    whole, parts = in_memory(), in_memory()
    whole.import_messages(lines(said))
    for end in range(1, 21):
        assert parts.import_messages(lines(said)[:end]).added == 1
    assert contents(whole, "talk") == contents(parts, "talk") == said
    one, other = whole.transcript("talk"), parts.transcript("talk")
    assert [message.id for message in one.messages] == [message.id for message in other.messages]
    assert one.conversation.turns == other.conversation.turns == 20
    assert one.chunks == other.chunks


def test_saying_and_importing_divide_a_conversation_alike() -> None:
    spoken, taken = in_memory(), in_memory()
    taken.import_messages(lines(filled(spoken, 14)))
    for one, other in zip(spoken.transcript().chunks, taken.transcript("talk").chunks, strict=True):
        assert one.summary == other.summary
        assert one.key_topics == other.key_topics
        assert one.number == other.number


@pytest.mark.parametrize("place", [0, 5, 9, 13])
def test_an_edited_transcript_is_merged_again(place: int) -> None:
    made, fresh = in_memory(), in_memory()
    said = [sentence(number) for number in range(14)]
    made.import_messages(lines(said))
    said[place] = "The gearbox of the windmill is oiled on Mondays."
    assert made.import_messages(lines(said)).updated == 1
    fresh.import_messages(lines(said))
    assert contents(made, "talk") == said
    assert made.transcript("talk").chunks == fresh.transcript("talk").chunks
    assert made.transcript("talk").conversation.merged_chunks == 4


def test_a_conversation_that_was_taken_up_again_does_not_end_with_the_next_import() -> None:
    made = in_memory()
    said = [sentence(number) for number in range(6)]
    made.import_messages(lines(said[:3]))
    made.resume_conversation("talk")
    made.import_messages(lines(said))
    conversation = made.transcript("talk").conversation
    assert (conversation.status, conversation.ended_at) == (Status.ACTIVE, None)


# Damage


@pytest.mark.some(3)
@pytest.mark.parametrize("damage", ["gone", "garbled", "unreadable"])
@pytest.mark.parametrize("place", [0, 4, 5])
def test_a_damaged_chunk_does_not_stop_a_conversation(damage: str, place: int) -> None:
    made = project()
    said = filled(made)
    chunk = made.transcript().chunks[place]
    if damage == "gone":
        os.remove(path_of(chunk))
    elif damage == "garbled":
        with open(path_of(chunk), "wb") as file:
            file.write(b"{")
    else:
        os.remove(path_of(chunk))
        os.mkdir(path_of(chunk))
    for number in range(15, 22):
        heard = made.add_message("user", sentence(number))
        assert heard.message.content == sentence(number)
    assert sentence(21) in made.build_context(budget=2000).text
    with pytest.raises(Damaged):
        made.transcript()
    with pytest.raises(Damaged):
        ask(made.workspace, table.USAGE, LookRequest(conversation=None))
    assert made.check().findings
    left = [content for content in said if content not in {m.content for m in chunk.messages}]
    for content in left:
        assert made.search(f'"{content}"', kinds=("message",)).hits[0].text == content


# For any conversation


@pytest.mark.row("S3.2.2", "S3.2.5", "S3.10.7")
@settings(max_examples=examples(40))
@given(
    count=st.integers(0, 40),
    most=st.integers(1, 7),
    size=st.integers(1, 7),
    chunks=st.integers(1, 4),
    cleared=st.integers(0, 40),
)
def test_nothing_is_lost_whatever_the_sizes(
    count: int, most: int, size: int, chunks: int, cleared: int
) -> None:
    made = in_memory(
        max_recent_messages=most,
        chunk_size=size,
        max_chunks=chunks,
        max_tokens=200,
        min_recent_messages=2,
        promotion_threshold=1.0,
    )
    made.start_conversation()
    said = [
        f"We must never drop table {number}, said {sentence(number)}" for number in range(count)
    ]
    for number, content in enumerate(said):
        made.add_message("user", content)
        if number == cleared:
            made.clear_conversation()
    shown = made.transcript()
    conversation = shown.conversation
    assert contents(made) == said
    assert conversation.turns == count
    assert len(conversation.recent_messages) <= most
    assert all(len(chunk.messages) <= size for chunk in shown.chunks)
    assert len(shown.chunks) - conversation.merged_chunks <= chunks
    stated = [*conversation.facts, *(fact for chunk in shown.chunks for fact in chunk.facts)]
    held = [fact.id for fact in stated]
    assert len(held) == len(set(held)) == made.facts().total
    recent = {message.id for message in conversation.recent_messages}
    assert set(conversation.pruned) <= recent
    figures = ask(made.workspace, table.USAGE, LookRequest(conversation=None)).usage
    parts = (figures.messages_in_context, figures.pruned_messages, figures.summarised_messages)
    assert sum(parts) == figures.total_messages == count
    assert sum(figures.messages_by_role.values()) == figures.messages_in_context
    assert sum(figures.tokens_by_role.values()) == figures.tokens_in_context
    assert figures.pending_facts == len(held)
    assert made.check().findings == ()
