"""Where there is room, a context shows a conversation word for word, its chunks too."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.search.context_request import BuiltContext
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.in_memory import InMemory


def talked(count: int, **overrides: Any) -> Project:
    """Return a project with so many messages of some twelve tokens, four outside chunks."""
    small = {"max_recent_messages": 4, "chunk_size": 4, "extract_facts": False}
    made = Project(actor="tester", now=NOW, backend=InMemory(), **{**small, **overrides})
    made.start_conversation("Bakery")
    say(made, 0, count)
    return made


def say(made: Project, first: int, end: int) -> None:
    for number in range(first, end):
        made.add_message("user", f"Loaf number {number} is made of rye and salt.")


def shown(built: BuiltContext, name: str = "recent") -> list[int]:
    """Return the numbers of the loaves that a section tells of."""
    texts = [item.text for part in built.sections if part.name == name for item in part.items]
    return [int(text.split()[2]) for text in texts]


def has_summaries(built: BuiltContext) -> bool:
    return any(part.name == "summaries" for part in built.sections)


@pytest.mark.row("S3.9.6")
def test_a_talk_that_fits_stands_word_for_word_without_summaries() -> None:
    built = talked(22).build_context(budget=4000)
    assert shown(built) == list(range(22))
    assert not has_summaries(built)


def test_also_with_a_task_and_nothing_stands_twice() -> None:
    built = talked(22).build_context("Which loaf is number 3?", budget=8000)
    assert shown(built) == list(range(22))
    assert shown(built, "earlier") == []


def test_of_one_that_does_not_fit_the_latest_chunks_come_back_whole() -> None:
    made = talked(42)
    sizes = {len(shown(made.build_context(budget=budget))) for budget in range(400, 8000, 200)}
    assert len(sizes) > 3
    assert all((size - 2) % 4 == 0 for size in sizes)


def test_what_comes_back_has_no_summary_and_the_rest_has() -> None:
    built = talked(42, max_messages=10).build_context(budget=20_000)
    assert shown(built) == list(range(32, 42))
    assert has_summaries(built)


@pytest.mark.parametrize("before", [1, 2, 3])
def test_of_a_chunk_that_was_half_cleared_only_the_rest_comes_back(before: int) -> None:
    made = talked(before)
    made.clear_conversation()
    say(made, before, 12)
    assert len(made.transcript().chunks[0].messages) == 4
    assert shown(made.build_context(budget=4000)) == list(range(before, 12))


def test_no_memory_gives_way_to_it() -> None:
    made = talked(22)
    kept = [made.add(f"Shop {n} sells rye bread on day {n * 7}.").memory.id for n in range(12)]
    for budget in range(600, 9000, 300):
        built = made.build_context("Which shop sells rye bread?", budget=budget)
        if len(shown(built)) > 4:
            text = {item.id for part in built.sections for item in part.items}
            assert text.issuperset(kept)
            return
    pytest.fail("it never came back")


def test_no_more_messages_come_back_than_a_context_may_show() -> None:
    assert len(shown(talked(82).build_context(budget=50_000))) == 50
    assert len(shown(talked(42, max_messages=13).build_context(budget=50_000))) == 10


def test_no_more_tokens_come_back_than_a_conversation_may_take() -> None:
    made = talked(42, max_tokens=300, min_recent_messages=2)
    most = made.workspace.settings.conversation_tokens
    numbers = shown_of(made)
    messages = made.transcript().messages[-len(numbers) - 4 :]
    shown_tokens = sum(one.tokens for one in messages[4:])
    assert len(numbers) > 2
    assert shown_tokens <= most < shown_tokens + sum(one.tokens for one in messages[:4])


def shown_of(made: Project) -> list[int]:
    return shown(made.build_context(budget=50_000))


def test_what_was_cleared_does_not_come_back() -> None:
    made = talked(10)
    made.clear_conversation()
    say(made, 10, 23)
    assert min(shown_of(made)) >= 10


def test_a_summary_that_stands_for_other_chunks_stays() -> None:
    built = talked(42, max_chunks=2).build_context(budget=20_000)
    assert has_summaries(built)
    assert shown(built)[-1] == 41
    assert 0 not in shown(built)


def test_the_system_prompt_stands_once() -> None:
    made = Project(actor="tester", now=NOW, backend=InMemory(), max_recent_messages=4, chunk_size=4)
    made.start_conversation("Bakery")
    made.add_message("system", "You are the assistant of a bakery.")
    say(made, 0, 12)
    built = made.build_context(budget=20_000)
    assert built.text.count("You are the assistant of a bakery.") == 1
    assert shown(built) == list(range(12))


@settings(max_examples=examples(30))
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 4000))
def test_what_stands_is_the_end_of_the_talk_in_order(first: int, more: int, budget: int) -> None:
    made = talked(first)
    if more % 3 == 0:
        made.clear_conversation()
    say(made, first, first + more)
    built = made.build_context(budget=budget)
    numbers = shown(built)
    assert numbers == list(range(first + more))[first + more - len(numbers) :]
    assert built.tokens <= budget
    assert len(numbers) <= 50
