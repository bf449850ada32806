"""What a conversation holds, counted by where each message is."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.conversation.pruning import statistics
from pmem.values.records import Chunk, Message, Role
from tests.conftest import NOW
from tests.core.pruning.test_plan import conversations, ids, message, talk


def chunk(*tokens: int) -> Chunk:
    """Return a chunk whose messages have so many tokens."""
    held = tuple(
        Message(id=f"c{i}", role=Role.USER, content="x", created_at=NOW, tokens=each)
        for i, each in enumerate(tokens)
    )
    return Chunk(id="c", conversation="t", number=1, summary="", created_at=NOW, messages=held)


@pytest.mark.row("S3.2.3", "S3.7.3", "S3.7.4")
def test_statistics_say_what_is_gone_and_since_when() -> None:
    said = [message(0, role=Role.SYSTEM), *talk(20)[1:]]
    gone = [*ids(said, *range(1, 11)), "moved-into-a-chunk"]
    earlier = NOW - timedelta(minutes=15)
    found = statistics(said, gone, [chunk(*[30] * 10), chunk(10, 20, 30, 10, 7)], 1000, earlier)
    assert msgspec.to_builtins(found) == {
        "total_messages": 35,
        "messages_in_context": 10,
        "pruned_messages": 10,
        "summarised_messages": 15,
        "total_tokens": 577,
        "tokens_in_context": 100,
        "token_limit": 1000,
        "percent_used": 10.0,
        "tokens_by_role": {"assistant": 50, "system": 10, "user": 40},
        "messages_by_role": {"assistant": 5, "system": 1, "user": 4},
        "oldest_in_context": msgspec.to_builtins(NOW),
        "last_prune": msgspec.to_builtins(earlier),
    }


def test_an_empty_conversation_has_statistics() -> None:
    found = statistics([], [], [], 0)
    assert (found.total_messages, found.percent_used, found.oldest_in_context) == (0, 0.0, None)


@pytest.mark.row("S3.2.2", "S3.2.5")
@given(conversations(), st.data())
def test_statistics_add_up(said: list[Message], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from([item.id for item in said]))) if said else set()
    found = statistics(said, gone, [chunk(2, 3, 4)], 100)
    parts = (found.messages_in_context, found.pruned_messages, found.summarised_messages)
    assert found.total_messages == sum(parts) == len(said) + 3
    assert sum(found.tokens_by_role.values()) == found.tokens_in_context
    assert sum(found.messages_by_role.values()) == found.messages_in_context
    assert found.messages_in_context == len(said) - len(gone)
