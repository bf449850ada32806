"""One message changed by hand: how much it counts, pinned, its text removed with a trace."""

from pathlib import Path
from typing import Any

import pytest

from pmem import Project
from pmem.errors import Ambiguous, InvalidValue, NotFound
from pmem.memory.undo import UndoRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.values.records import EventKind, Message
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.in_memory import InMemory


def talk(*said: str, **overrides: Any) -> tuple[Project, list[Message]]:
    """Return a project with a conversation in which a user said all that."""
    small = {"min_recent_messages": 1, "max_recent_messages": 100, **overrides}
    made = Project(actor="ada", now=NOW, backend=InMemory(), **small)
    made.start_conversation("Queues")
    return made, [made.add_message("user", text).message for text in said]


def pruned(made: Project) -> list[str]:
    return [item.text for item in made.pruned_messages().items]


def shown(made: Project, budget: int) -> set[str]:
    """Return the ids of what a context shows."""
    built = made.build_context(budget=budget)
    assert built.tokens <= budget
    return {item.id for part in built.sections for item in part.items}


WORDS = ("one apple", "two pears", "three plums", "four figs")


@pytest.mark.row("S3.12.3")
def test_a_pinned_message_is_never_pruned() -> None:
    made, said = talk(*WORDS)
    made.mark_message(said[0].id, pinned=True)
    made.prune_conversation(keep=1)
    assert pruned(made) == ["two pears", "three plums"]


def test_a_pruned_message_that_is_pinned_comes_back() -> None:
    made, said = talk(*WORDS)
    made.prune_conversation(keep=1)
    assert "two pears" not in made.build_context(budget=500).text
    made.mark_message(said[1].id, pinned=True)
    assert "two pears" in made.build_context(budget=500).text
    assert pruned(made) == ["one apple", "three plums"]


@pytest.mark.row("S3.12.3")
def test_a_pinned_message_is_shown_word_for_word_from_its_chunk() -> None:
    filler = [f"filler number {n} " + "word " * 40 for n in range(12)]
    small: dict[str, Any] = {"max_recent_messages": 4, "chunk_size": 2}
    made, said = talk("The password of the printer is on its back.", *filler, **small)
    assert said[0].id not in shown(made, 400)
    made.mark_message(said[0].id, pinned=True)
    assert said[0].id in shown(made, 400)


def test_a_pinned_message_that_does_not_fit_is_told() -> None:
    made, said = talk("word " * 300, "short")
    made.mark_message(said[0].id, pinned=True)
    assert any(
        "pinned message does not fit" in note for note in made.build_context(budget=60).notes
    )


@pytest.mark.row("S3.12.3")
def test_the_importance_of_a_message_can_be_changed_afterwards() -> None:
    made, said = talk(*WORDS)
    made.mark_message(said[0].id, importance=1.0)
    made.mark_message(said[1].id, importance=0.0)
    made.prune_conversation(keep=3, strategy="importance")
    assert pruned(made) == ["two pears"]


def test_a_mark_must_say_something_that_is_allowed() -> None:
    made, said = talk(*WORDS)
    with pytest.raises(InvalidValue, match="nothing is to change"):
        made.mark_message(said[0].id)
    with pytest.raises(InvalidValue, match="between 0 and 1"):
        made.mark_message(said[0].id, importance=2.0)
    with pytest.raises(NotFound, match="no message has an id"):
        made.mark_message("nothing", pinned=True)
    start = said[0].id[:3]
    with pytest.raises(Ambiguous):
        made.mark_message(start, pinned=True)


def test_the_same_mark_again_leaves_no_event() -> None:
    made, said = talk(*WORDS)
    made.mark_message(said[0].id, pinned=True)
    before = made.transcript().conversation
    made.mark_message(said[0].id, pinned=True)
    assert made.transcript().conversation == before


@pytest.mark.row("S3.13.3")
def test_the_text_of_a_removed_message_is_gone_and_its_trace_is_kept() -> None:
    made, said = talk("We decided to use Kafka for the queue.", *WORDS)
    done = made.remove_message(said[0].id, reason="a slip")
    shown = made.transcript().messages
    assert [message.id for message in shown] == [message.id for message in said]
    left = shown[0]
    assert (left.content, left.tokens, left.role) == ("", 0, said[0].role)
    assert left.created_at == said[0].created_at
    assert left.removed is not None
    assert (left.removed.by, left.removed.reason, left.removed.at) == ("ada", "a slip", NOW)
    assert made.facts().items == ()
    assert [made.workspace.memories.get(each).source.message for each in done.memories] == [
        said[0].id
    ]
    assert len(done.episodes) == 1
    assert made.search("Kafka", kinds=["message", "chunk"]).hits == ()


@pytest.mark.row("S3.13.3")
def test_what_was_removed_is_in_no_summary_of_its_chunk() -> None:
    small: dict[str, Any] = {"max_recent_messages": 2, "chunk_size": 1, "max_chunks": 2}
    made, said = talk(
        "The zebra must never be fed after noon.", *WORDS, **small, extract_facts=False
    )
    kept = made.workspace.chunks
    assert any("zebra" in chunk.summary for chunk in kept.find())
    made.remove_message(said[0].id)
    assert not any("zebra" in chunk.summary for chunk in kept.find())
    assert not any("zebra" in each.content for chunk in kept.find() for each in chunk.messages)
    assert made.check().findings == ()


def test_what_was_removed_is_removed_once_and_not_marked() -> None:
    made, said = talk(*WORDS)
    made.remove_message(said[0].id)
    with pytest.raises(InvalidValue, match="was removed before"):
        made.remove_message(said[0].id)
    with pytest.raises(InvalidValue, match="was removed"):
        made.mark_message(said[0].id, pinned=True)


def test_importing_its_transcript_again_does_not_bring_a_removed_text_back() -> None:
    made = Project(actor="ada", now=NOW, backend=InMemory())
    lines = [b'{"conversation":"c","id":"1","role":"user","content":"zebra"}']
    made.import_messages(lines)
    message = made.transcript("c").messages[0]
    made.remove_message(message.id)
    made.import_messages(lines)
    assert [each.content for each in made.transcript("c").messages] == [""]


@pytest.mark.row("S3.7.2", "S3.6.3")
def test_what_was_pruned_is_listed_with_the_time_and_the_reasons() -> None:
    made, said = talk(*WORDS)
    made.prune_conversation(keep=2)
    found = made.pruned_messages()
    assert [(item.id, item.reason, item.trigger, item.at, item.now) for item in found.items] == [
        (said[0].id, "oldest", "by_hand", NOW, "left_out"),
        (said[1].id, "oldest", "by_hand", NOW, "left_out"),
    ]
    assert (found.total, found.unexplained, found.cleared) == (2, 0, 0)


def test_what_was_pruned_stays_listed_once_it_is_in_a_chunk() -> None:
    made, said = talk(*WORDS, max_recent_messages=4, chunk_size=2)
    made.prune_conversation(keep=2)
    made.add_message("user", "five limes")
    assert {item.id: item.now for item in made.pruned_messages().items} == {
        said[0].id: "in_chunk",
        said[1].id: "in_chunk",
    }


@pytest.mark.row("S3.7.2")
def test_pruning_and_changing_messages_are_events() -> None:
    made, said = talk(*WORDS)
    made.prune_conversation(keep=2)
    made.mark_message(said[2].id, pinned=True)
    made.remove_message(said[3].id, reason="wrong")
    events = made.transcript().conversation.history[1:]
    assert {event.event for event in events} == {EventKind.UPDATE}
    assert [event.detail for event in events] == [
        {"trigger": "by_hand", "pruned": {"oldest": [said[0].id, said[1].id]}},
        {"message": said[2].id, "pinned": True, "was": {"pinned": False}},
        {"removed_message": said[3].id, "reason": "wrong"},
    ]


def test_undo_refuses_to_take_back_what_changed_a_message(tmp_path: Path) -> None:
    root = str(tmp_path / ".project-memory")
    initialise(root)
    made = Project(root, actor="ada", now=NOW)
    made.add("The deploy command is make release.")
    made.start_conversation("Queues")
    said = made.add_message("user", "one apple").message
    made.remove_message(said.id)
    with pytest.raises(InvalidValue, match="cannot be undone"):
        ask(made.workspace, table.UNDO, UndoRequest())
    assert len(made.list().items) == 1


@pytest.mark.row("S3.2.4")
def test_a_conversation_near_its_limit_is_told_where_nothing_may_be_pruned() -> None:
    made, _ = talk("word " * 30, max_tokens=100, min_recent_messages=10)
    heard = made.add_message("user", "word " * 80)
    assert isinstance(heard.filled, float)
    assert heard.filled >= 80
    assert heard.pruned is None
    calm, _ = talk("word " * 30, max_tokens=1000)
    assert not calm.add_message("user", "word " * 45).filled
