"""S3, history and pruning: what no test of a single room tells as one story."""

from unittest import mock

import pytest

from pmem import Project
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.storage.in_memory import InMemory
from tests.work import WITHIN, calls


def begun() -> Project:
    made = Project(actor="tester", now=NOW, backend=InMemory())
    made.start_conversation("Bakery")
    return made


@pytest.mark.row("S3.1.2")
def test_a_message_has_a_role_a_time_its_tokens_and_an_importance() -> None:
    made = begun()
    said = made.add_message("user", "Bake two loaves of rye.", importance=0.9).message
    assert (said.role, said.created_at, said.importance) == ("user", NOW, 0.9)
    assert said.tokens == made.workspace.count(said.content) > 0
    assert made.transcript().messages == (said,)


@pytest.mark.row("S3.1.4")
def test_users_assistants_systems_and_tools_speak() -> None:
    made = begun()
    made.add_message("system", "You are the assistant of a bakery.")
    made.add_message("user", "How hot is the oven?")
    made.add_message(
        "assistant", "I look.", tool_call={"id": "1", "name": "oven", "arguments": "{}"}
    )
    made.add_message("tool", "220 degrees", tool_result={"id": "1"})
    roles = [message.role for message in made.transcript().messages]
    assert roles == ["system", "user", "assistant", "tool"]
    text = made.build_context(budget=2000).text
    assert "You are the assistant of a bakery." in text
    assert "How hot is the oven?" in text
    assert "220 degrees" in text
    done = pmem("conversation", "say", "--role", "judge", "Order!")
    assert done.code == 2


@pytest.mark.row("S3.1.5")
def test_tokens_are_counted_once_and_kept_with_the_message() -> None:
    made = begun()
    said = [made.add_message("user", f"Loaf {n} is made of rye.").message for n in range(30)]
    with mock.patch.object(type(made.workspace), "count", side_effect=AssertionError):
        figures = made.conversation_stats().usage
        done = made.prune_conversation(keep=12)
    assert figures.total_tokens == sum(message.tokens for message in said)
    assert done.tokens_after == sum(message.tokens for message in said[18:])


@pytest.mark.row("S3.10.11")
def test_counting_building_and_looking_take_no_pause_in_a_long_session() -> None:
    made = begun()
    for number in range(200):
        role = "assistant" if number % 2 else "user"
        made.add_message(role, f"Oven {number} bakes loaf {number % 7} for {number * 3} minutes.")
    message = "The loaf is made of rye and rests for an hour. " * 20
    assert calls(lambda: made.workspace.count(message)) < 10 * WITHIN
    made.build_context(budget=4000)  # once, for what is read but once a process
    assert calls(lambda: made.build_context(budget=4000)) < 200 * WITHIN
    assert calls(made.conversation_stats) < 100 * WITHIN
