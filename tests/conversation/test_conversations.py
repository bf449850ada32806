"""Conversations through the library: start, say, overflow, end, pause, resume, clear, show."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.conversation.conversations import (
    ConversationsRequest,
    EndRequest,
    SayRequest,
    StartRequest,
)
from pmem.errors import Ambiguous, Damaged, InvalidValue, NotFound
from pmem.memory.conversations import ConversationRequest, LookRequest, Transcript, current
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.upkeep.integrity import CheckRequest
from pmem.values.ids import short
from pmem.values.records import Conversation, EventKind, Message, Role, Status
from tests import strategies
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.in_memory import InMemory


def in_memory(**overrides: Any) -> Workspace:
    return Workspace("nowhere", actor="tester", now=NOW, backend=InMemory(), overrides=overrides)


@pytest.fixture
def quick() -> Workspace:
    """Return a workspace whose conversations overflow soon."""
    return in_memory(max_recent_messages=5, chunk_size=3)


def tell(workspace: Workspace, content: str, **fields: Any) -> Message:
    return ask(workspace, table.SAY, SayRequest(content=content, **fields)).message


def start(workspace: Workspace, title: str | None = None) -> Conversation:
    return ask(workspace, table.START, StartRequest(title=title))


def transcript(workspace: Workspace, reference: str | None = None) -> Transcript:
    return ask(workspace, table.TRANSCRIPT, LookRequest(conversation=reference))


def named(workspace: Workspace, reference: str) -> Conversation:
    return transcript(workspace, reference).conversation


def contents(workspace: Workspace, reference: str | None = None) -> list[str]:
    return [message.content for message in transcript(workspace, reference).messages]


def titles(workspace: Workspace, status: Status | None = None) -> list[str | None]:
    found = ask(workspace, table.CONVERSATIONS, ConversationsRequest(status=status))
    return [item.title for item in found.items]


def put(workspace: Workspace, identifier: str, external_id: str) -> None:
    with workspace.transaction():
        workspace.conversations.put(
            Conversation(id=identifier, external_id=external_id, started_at=NOW, updated_at=NOW)
        )


def test_a_new_conversation_is_the_current_one(workspace: Workspace) -> None:
    first = start(workspace, "  Database choice ")
    second = start(workspace)
    assert (first.title, second.title) == ("Database choice", None)
    assert (first.status, first.started_at, first.turns) == (Status.ACTIVE, NOW, 0)
    assert first.history[0].event is EventKind.ADD
    assert first.history[0].actor == "tester"
    assert first.id < second.id
    assert current(workspace) == second
    assert tell(workspace, "Hello").id in str(transcript(workspace, second.id))


@pytest.mark.row("S2.2.3")
def test_a_message_is_kept_verbatim_with_all_its_fields(workspace: Workspace) -> None:
    start(workspace)
    said = tell(
        workspace,
        "  Line one\n\tline two — ünï  ",
        role=Role.ASSISTANT,
        speaker="Bo",
        importance=0.9,
        tool_call={"name": "ls"},
        tool_result=["a"],
    )
    assert [said] == list(transcript(workspace).messages)
    assert said.content == "  Line one\n\tline two — ünï  "
    assert (said.role, said.speaker, said.importance) == (Role.ASSISTANT, "Bo", 0.9)
    assert said.tokens == workspace.count(said.content)


@pytest.mark.row("S3.1.1", "S3.1.3")
@settings(max_examples=examples(30))
@given(st.lists(strategies.filled, max_size=25), st.integers(1, 6), st.integers(1, 6))
def test_everything_said_is_kept_once_and_in_order(said: list[str], most: int, size: int) -> None:
    workspace = in_memory(max_recent_messages=most, chunk_size=size)
    conversation = start(workspace)
    for content in said:
        tell(workspace, content)
    found = transcript(workspace, conversation.id)
    assert [content.rstrip("\r\n") for content in said] == [item.content for item in found.messages]
    assert found.conversation.turns == len(said)
    assert len(found.conversation.recent_messages) <= most
    assert [chunk.number for chunk in found.chunks] == list(range(1, len(found.chunks) + 1))
    assert all(chunk.conversation == conversation.id for chunk in found.chunks)
    assert all(len(chunk.messages) <= size for chunk in found.chunks)
    assert ask(workspace, table.CHECK, CheckRequest()).findings == ()


@pytest.mark.row("S2.3.1", "S2.3.2")
def test_overflow_moves_the_oldest_into_a_summarised_chunk(quick: Workspace) -> None:
    start(quick)
    for number in range(6):
        tell(quick, f"Point {number}: the parser is slow. Really.", speaker="Ada")
    found = transcript(quick)
    assert [len(chunk.messages) for chunk in found.chunks] == [3]
    assert found.chunks[0].summary.splitlines()[0] == "Ada: Point 0: the parser is slow."
    assert "parser" in found.chunks[0].key_topics
    assert found.chunks[0].tokens == quick.count(found.chunks[0].summary)
    recent = [item.content[:7] for item in found.conversation.recent_messages]
    assert recent == ["Point 3", "Point 4", "Point 5"]


def test_the_current_conversation_is_the_latest_active_one(workspace: Workspace) -> None:
    first, second = start(workspace, "first"), start(workspace, "second")
    ask(workspace, table.END, EndRequest(conversation=second.id, outcome="done"))
    assert current(workspace) == workspace.conversations.get(first.id)
    tell(workspace, "to the first")
    assert contents(workspace, first.id) == ["to the first"]
    ask(workspace, table.PAUSE, ConversationRequest())
    assert current(workspace) is None
    with pytest.raises(NotFound, match="no conversation is active"):
        tell(workspace, "to nobody")
    resumed = ask(workspace, table.RESUME, ConversationRequest())
    assert (resumed.id, resumed.status) == (first.id, Status.ACTIVE)


def test_ending_keeps_the_outcome_and_the_history(workspace: Workspace) -> None:
    begun = start(workspace)
    ended = ask(workspace, table.END, EndRequest(outcome="PostgreSQL it is")).conversation
    assert (ended.status, ended.outcome, ended.ended_at) == (Status.ENDED, "PostgreSQL it is", NOW)
    assert [event.before for event in ended.history] == [
        {},
        {"status": "active", "outcome": None, "ended_at": None, "milestones": []},
    ]
    (episode,) = workspace.episodes.find()
    assert (episode.summary, episode.conversation) == ("PostgreSQL it is", begun.id)
    assert ended.milestones == (episode.id,)
    again = ask(workspace, table.END, EndRequest(conversation=begun.id)).conversation
    assert again == ended
    resumed = ask(workspace, table.RESUME, ConversationRequest(conversation=begun.id))
    assert (resumed.ended_at, resumed.outcome) == (None, "PostgreSQL it is")


@pytest.mark.row("S2.2.1")
@pytest.mark.parametrize("status", [Status.PAUSED, Status.ENDED])
def test_what_is_not_active_takes_no_message(workspace: Workspace, status: Status) -> None:
    conversation = start(workspace)
    request = EndRequest(conversation=conversation.id)
    if status is Status.PAUSED:
        ask(workspace, table.PAUSE, request)
    else:
        ask(workspace, table.END, request)
    with pytest.raises(InvalidValue, match=f"is {status}"):
        tell(workspace, "Hello", conversation=conversation.id)
    assert contents(workspace, conversation.id) == []


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"content": ""}, "must not be empty"),
        ({"content": " \n "}, "must not be empty"),
        ({"content": "x" * 21}, "has 21 characters, and the limit is 20"),
        ({"content": "\ud800"}, "not valid UTF-8"),
        ({"content": "x", "importance": 1.5}, "between 0 and 1"),
        ({"content": "x", "importance": float("nan")}, "between 0 and 1"),
        ({"content": "x", "speaker": " "}, "must not be empty"),
        ({"content": "x", "speaker": "x" * 201}, "limit is 200"),
    ],
)
def test_a_bad_message_is_refused_and_nothing_kept(
    fields: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmem.conversation.conversations.MESSAGE_CHARACTERS", 20)
    workspace = in_memory()
    start(workspace)
    with pytest.raises(InvalidValue, match=sentence):
        tell(workspace, **fields)
    assert contents(workspace) == []


@pytest.mark.parametrize("title", ["", " ", "x" * 201])
def test_a_bad_title_is_refused(workspace: Workspace, title: str) -> None:
    with pytest.raises(InvalidValue):
        start(workspace, title)
    assert titles(workspace) == []


def test_clearing_keeps_every_message(quick: Workspace) -> None:
    conversation = start(quick)
    for number in range(7):
        tell(quick, f"Point {number}")
    cleared = ask(quick, table.CLEAR, ConversationRequest(conversation=None))
    assert cleared.cleared_turns == 7
    assert [f"Point {number}" for number in range(7)] == contents(quick, conversation.id)
    assert ask(quick, table.CLEAR, ConversationRequest(conversation=None)) == cleared
    tell(quick, "Afresh")
    assert contents(quick)[-1] == "Afresh"
    assert transcript(quick).conversation.cleared_turns == 7


def test_overviews_are_in_order_of_their_start() -> None:
    backend = InMemory()
    for days in (3, 1, 2):
        at = NOW - timedelta(days=days)
        start(Workspace("nowhere", actor="tester", now=at, backend=backend), f"{days} days ago")
    workspace = Workspace("nowhere", actor="tester", now=NOW, backend=backend)
    assert titles(workspace) == ["3 days ago", "2 days ago", "1 days ago"]
    ask(workspace, table.PAUSE, ConversationRequest())
    assert titles(workspace, Status.PAUSED) == ["1 days ago"]


def test_references_are_prefixes_short_ids_or_external_ids(workspace: Workspace) -> None:
    one = start(workspace, "one")
    assert named(workspace, one.id[-8:-2]) == one
    two = start(workspace, "two")
    prefix = one.id[:4]
    assert two.id.startswith(prefix)
    with pytest.raises(Ambiguous, match=f"conversation {short(one.id)}"):
        transcript(workspace, prefix)
    twin = f"zzzzzzzz-{short(one.id)}"
    with workspace.transaction():
        workspace.conversations.put(msgspec.structs.replace(one, id=twin))
    with pytest.raises(Ambiguous, match=f"{one.id}, conversation {twin}"):
        transcript(workspace, short(one.id))
    with pytest.raises(NotFound):
        transcript(workspace, "nothing-like-it")
    put(workspace, "zz-00000001", "standup")
    assert named(workspace, "standup").id == "zz-00000001"


def test_an_external_id_counts_before_the_start_of_an_id(workspace: Workspace) -> None:
    one = start(workspace, "one")
    for identifier, name in (("zz-00000001", one.id[:3]), ("zz-00000002", one.id[-8:])):
        put(workspace, identifier, name)
    assert named(workspace, one.id[:3]).id == "zz-00000001"
    assert named(workspace, one.id[:4]) == one
    assert named(workspace, one.id[-8:]) == one


def test_one_external_id_for_two_conversations_is_ambiguous(workspace: Workspace) -> None:
    for identifier in ("zz-00000001", "zz-00000002"):
        put(workspace, identifier, "talk")
    with pytest.raises(Ambiguous, match="zz-00000001 and zz-00000002"):
        transcript(workspace, "talk")


def test_a_conversation_without_its_chunk_is_damaged(quick: Workspace) -> None:
    start(quick)
    for number in range(6):
        tell(quick, f"Point {number}")
    lost = transcript(quick).chunks[0]
    with quick.transaction():
        quick.chunks.remove(lost.id)
    with pytest.raises(Damaged, match=f"{lost.id}.json is missing"):
        transcript(quick)
    assert [finding.code for finding in ask(quick, table.CHECK, CheckRequest()).findings] == [
        "dangling"
    ]


@pytest.mark.row("S2.2.1")
def test_resuming_takes_the_paused_conversation_or_else_the_one_that_ended_last() -> None:
    made = Project(actor="ada", now=NOW, backend=InMemory())
    with pytest.raises(NotFound, match="no conversation is paused"):
        made.resume_conversation()
    first, second = made.start_conversation("First"), made.start_conversation("Second")
    made.pause_conversation(first.id)
    made.end_conversation(conversation=second.id)
    assert made.resume_conversation().id == first.id
    assert made.resume_conversation().id == second.id


def test_a_conversation_may_be_named_by_its_title() -> None:
    made = Project(actor="ada", now=NOW, backend=InMemory())
    first = made.start_conversation("Cache choice")
    made.start_conversation("Queue choice")
    assert made.transcript("Cache choice").conversation.id == first.id
    made.start_conversation("Queue choice")
    with pytest.raises(Ambiguous):
        made.transcript("Queue choice")
