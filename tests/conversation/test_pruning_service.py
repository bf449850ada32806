"""Pruning as conversations live through it: when it happens, what stays, what contexts show."""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.conversation.pruning import window
from pmem.conversation.window import Usage
from pmem.core.context.parts import Format
from pmem.errors import InvalidValue
from pmem.memory.conversations import LookRequest
from pmem.operations import table
from pmem.values.records import Message
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.faults.console import pmem
from tests.storage.in_memory import InMemory

MARKER = re.compile(r"\.\.\. \[([\d,]+) messages?, ([\d,]+) tokens? removed\] \.\.\.")
PROMPT = "You are the assistant of a bakery."
TASK = (
    ("user", "Please bake the login page."),
    ("assistant", "The login page is in place, and all tests pass."),
    ("user", "That's fixed, thanks."),
    ("assistant", "You are welcome."),
)
TURN = "Now let's turn to the payment page."


def project(**overrides: Any) -> Project:
    """Return a project with a conversation that takes 1,000 tokens and protects two messages."""
    small = {"max_tokens": 1000, "min_recent_messages": 2, "max_recent_messages": 100}
    return Project(
        actor="tester",
        now=NOW,
        backend=InMemory(),
        **{**small, "extract_facts": False, **overrides},
    )


def begun(**overrides: Any) -> Project:
    made = project(**overrides)
    made.start_conversation("Bakery")
    return made


def text(made: Project, tokens: int, name: str = "bread") -> str:
    """Return a text of exactly so many tokens."""
    words = name
    while made.workspace.count(f"{words} {name}") <= tokens:
        words += f" {name}"
    while made.workspace.count(words) < tokens:
        words += "."
    assert made.workspace.count(words) == tokens
    return words


def say(made: Project, *sizes: int) -> list[Message]:
    return [made.add_message("user", text(made, size)).message for size in sizes]


def figures(made: Project) -> Usage:
    return ask(made.workspace, table.USAGE, LookRequest(conversation=None)).usage


def pruned(made: Project) -> tuple[str, ...]:
    return made.transcript().conversation.pruned


def task(made: Project) -> list[Message]:
    return [made.add_message(role, content).message for role, content in TASK]


def markers(shown: str) -> list[tuple[int, int]]:
    return [(int(a.replace(",", "")), int(b.replace(",", ""))) for a, b in MARKER.findall(shown)]


# When


@pytest.mark.row("S3.6.1", "S3.6.2")
@pytest.mark.parametrize(
    ("sizes", "trigger", "left"),
    [
        ([100] * 7 + [99], None, 799),
        ([100] * 8, "normal", 700),
        ([100] * 7 + [199], "normal", 699),
        ([100] * 7 + [200], "aggressive", 500),
        ([100] * 7 + [400], "aggressive", 500),
    ],
)
def test_the_limits_decide(sizes: list[int], trigger: str | None, left: int) -> None:
    made = begun()
    said = say(made, *sizes[:-1])
    assert pruned(made) == ()
    heard = made.add_message("user", text(made, sizes[-1]))
    assert (heard.pruned and heard.pruned.trigger) == trigger
    assert figures(made).tokens_in_context == left
    if heard.pruned is not None:
        gone = [item.id for item in heard.pruned.pruned]
        assert gone == [message.id for message in said[: len(gone)]]
        assert heard.pruned.tokens_after == left
        assert heard.pruned.messages_left == figures(made).messages_in_context
        assert pruned(made) == tuple(gone)


@pytest.mark.row("S3.8.1")
def test_too_many_messages_are_pruned_too() -> None:
    made = begun(max_messages=5)
    say(made, *[10] * 5)
    assert pruned(made) == ()
    heard = made.add_message("user", "bread")
    assert heard.pruned is not None
    assert heard.pruned.trigger == "messages"
    assert figures(made).messages_in_context == 5


@pytest.mark.row("S3.6.4")
def test_a_new_task_ends_the_one_before() -> None:
    made = begun()
    done = task(made)
    heard = made.add_message("user", TURN)
    assert heard.pruned is not None
    assert heard.pruned.trigger == "task_boundary"
    assert {item.id for item in heard.pruned.pruned} <= {message.id for message in done}
    assert {item.reason for item in heard.pruned.pruned} == {"finished_task"}


@pytest.mark.row("S3.6.5")
def test_taking_a_conversation_up_again_ends_finished_tasks() -> None:
    made = begun()
    done = task(made)
    assert made.pause_conversation().pruned == ()
    made.resume_conversation()
    assert set(pruned(made)) <= {message.id for message in done}
    assert len(pruned(made)) == 2
    assert figures(made).last_prune == NOW


# By hand


@pytest.mark.row("S3.3.1", "S3.6.3")
def test_pruning_by_hand_keeps_so_many() -> None:
    made = begun()
    said = say(made, *[20] * 10)
    done = made.prune_conversation(keep=4)
    assert (done.trigger, done.messages_left, done.tokens_after) == ("by_hand", 4, 80)
    assert pruned(made) == tuple(message.id for message in said[:6])
    assert figures(made).messages_in_context == 4
    assert made.prune_conversation(keep=4).pruned == ()
    assert made.prune_conversation(tokens=60).tokens_after == 60
    assert len(made.transcript().messages) == 10


@pytest.mark.row("S3.3.3")
@pytest.mark.parametrize("keep", [1, 0, -1])
def test_fewer_than_are_protected_cannot_be_kept(keep: int) -> None:
    made = begun()
    say(made, *[20] * 10)
    for dry_run in (True, False):
        with pytest.raises(InvalidValue, match="never pruned"):
            made.prune_conversation(keep=keep, dry_run=dry_run)
    assert pruned(made) == ()


def test_tokens_cannot_be_negative() -> None:
    made = begun()
    with pytest.raises(InvalidValue, match="at least 0"):
        made.prune_conversation(tokens=-1)


def test_no_tokens_at_all_leave_what_is_protected() -> None:
    made = begun()
    say(made, *[20] * 10)
    assert made.prune_conversation(tokens=0).messages_left == 2


@pytest.mark.row("S3.7.2")
@pytest.mark.parametrize(("said", "could_go"), [(2, 0), (5, 3)])
def test_pruning_by_hand_says_how_much_more_could_go(said: int, could_go: int) -> None:
    made = begun()
    say(made, *[20] * said)
    done = made.prune_conversation()
    assert (done.pruned, done.could_go) == ((), could_go)
    assert len(made.prune_conversation(tokens=0).pruned) == could_go


@pytest.mark.row("S3.7.2")
def test_the_last_time_that_contexts_were_cleared_counts_as_pruning() -> None:
    made = Project(actor="tester", now=NOW, min_recent_messages=2)
    made.start_conversation("Bakery")
    say(made, *[20] * 5)
    made.prune_conversation(keep=4)
    later = NOW + timedelta(hours=1)
    Project(actor="tester", now=later).clear_conversation()
    shown = figures(made)
    assert (shown.pruned_messages, shown.last_prune) == (5, later)


@pytest.mark.row("S3.8.3")
@pytest.mark.parametrize("strategy", ["rolling_window", "importance", "hybrid"])
def test_every_strategy_keeps_so_many(strategy: str) -> None:
    made = begun()
    say(made, *[20] * 10)
    assert made.prune_conversation(keep=5, strategy=strategy).messages_left == 5


def test_a_trial_changes_no_byte() -> None:
    made = Project(actor="tester", now=NOW, min_recent_messages=2)
    made.start_conversation("Bakery")
    say(made, *[20] * 10)
    before = files()
    trial = made.prune_conversation(keep=4, dry_run=True)
    assert files() == before
    assert pruned(made) == ()
    looking = Project(now=NOW, min_recent_messages=2, read_only=True)
    assert looking.prune_conversation(keep=4, dry_run=True) == trial
    assert made.prune_conversation(keep=4) == trial
    assert files() != before


def files() -> dict[str, bytes]:
    found = {}
    for folder, _, names in os.walk(".project-memory"):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.join(folder, name)] = file.read()
    return found


# What stays


def test_pruned_messages_leave_the_list_when_they_move_into_chunks() -> None:
    made = begun(max_recent_messages=8, chunk_size=3)
    said = say(made, *[20] * 8)
    made.prune_conversation(keep=3)
    assert pruned(made) == tuple(message.id for message in said[:5])
    made.add_message("user", "bread")
    assert pruned(made) == tuple(message.id for message in said[3:5])
    seen = figures(made)
    assert (seen.messages_in_context, seen.pruned_messages, seen.summarised_messages) == (4, 2, 3)
    assert made.search('"bread bread"', kinds=("message",)).total >= 8


@pytest.mark.row("S3.2.3", "S3.2.6", "S3.7.3", "S3.7.4")
def test_statistics_follow_every_step() -> None:
    made = begun(max_recent_messages=6, chunk_size=2)
    assert parts(made) == (0, 0, 0, 0)
    assert figures(made).oldest_in_context is None
    say(made, *[20] * 6)
    assert parts(made) == (6, 6, 0, 0)
    made.prune_conversation(keep=4)
    assert parts(made) == (6, 4, 2, 0)
    assert (figures(made).tokens_in_context, figures(made).total_tokens) == (80, 120)
    assert figures(made).percent_used == 8.0
    assert (figures(made).token_limit, figures(made).tokens_by_role) == (1000, {"user": 80})
    assert figures(made).oldest_in_context == figures(made).last_prune == NOW
    say(made, 20)
    assert parts(made) == (7, 5, 0, 2)
    made.clear_conversation()
    assert parts(made) == (7, 0, 5, 2)
    made.add_message("assistant", "bread")
    assert parts(made) == (8, 1, 5, 2)
    assert figures(made).messages_by_role == {"assistant": 1}


def parts(made: Project) -> tuple[int, int, int, int]:
    seen = figures(made)
    return (
        seen.total_messages,
        seen.messages_in_context,
        seen.pruned_messages,
        seen.summarised_messages,
    )


def test_a_conversation_that_was_cleared_starts_afresh() -> None:
    made = begun(max_recent_messages=4, chunk_size=2)
    for number in range(7):
        made.add_message("user", f"Bread number {number} is rye.")
    made.clear_conversation()
    built = made.build_context(budget=2000)
    assert "rye" not in built.text
    assert markers(built.text) == []
    made.add_message("user", "The oven is hot.")
    built = made.build_context(budget=2000)
    assert "The oven is hot." in built.text
    assert "rye" not in built.text
    assert "rye" in made.build_context("which bread is rye", budget=2000).text


@pytest.mark.parametrize("most", [1, 2, 50])
@pytest.mark.parametrize("before", [1, 4, 5, 8, 12])
def test_a_summary_tells_nothing_of_what_was_cleared(before: int, most: int) -> None:
    made = begun(max_recent_messages=4, chunk_size=3, max_chunks=most)
    for number in range(before):
        made.add_message("user", f"Bread number {number} is made of rye.")
    made.clear_conversation()
    for number in range(12):
        made.add_message("user", f"Cake number {number} is made of almonds.")
    text = made.build_context("cake", budget=400).text
    summaries = text.partition("## Earlier in this conversation")[2].partition("\n## ")[0]
    assert "almonds" in summaries
    assert "rye" not in summaries
    assert figures(made).merged_chunks <= len(made.transcript().chunks) - 1


def test_a_transcript_that_is_edited_after_a_clearing_tells_nothing_of_what_was_cleared() -> None:
    made = project(max_recent_messages=4, chunk_size=3, max_chunks=1)
    said = [f"Bread number {number} is made of rye." for number in range(8)]
    made.import_messages(lines(said))
    made.resume_conversation("talk")
    made.clear_conversation("talk")
    said += [f"Cake number {number} is made of almonds." for number in range(12)]
    made.import_messages(lines(said))
    said[7] = "Bread number 7 is made of rye and salt."
    assert made.import_messages(lines(said)).updated == 1
    text = made.build_context("cake", budget=400).text
    summaries = text.partition("## Earlier in this conversation")[2].partition("\n## ")[0]
    assert "almonds" in summaries
    assert "rye" not in summaries


def lines(contents: list[str]) -> list[bytes]:
    return [
        orjson.dumps({"id": str(number), "conversation": "talk", "content": content})
        for number, content in enumerate(contents)
    ]


# Contexts


def test_markers_add_up_with_the_statistics() -> None:
    made = begun()
    said = say(made, *[20] * 12)
    made.prune_conversation(keep=5)
    built = made.build_context(budget=4000)
    assert markers(built.text) == [(7, 140)]
    assert figures(made).pruned_messages == 7
    shown = [item.id for part in built.sections if part.name == "recent" for item in part.items]
    assert shown == [message.id for message in said[7:]]
    assert {item.id for item in built.omitted if item.reason == "pruned"} == set(pruned(made))


@pytest.mark.row("S3.3.6")
def test_every_stretch_has_its_marker() -> None:
    made = begun(pruning_strategy="importance")
    for number in range(12):
        made.add_message("user", f"Loaf {number}", importance=0.9 if number in (3, 6) else 0.1)
    made.prune_conversation(keep=4)
    built = made.build_context(budget=4000)
    assert [count for count, _ in markers(built.text)] == [3, 2, 3]
    assert sum(tokens for _, tokens in markers(built.text)) == (
        figures(made).total_tokens - figures(made).tokens_in_context
    )


@pytest.mark.row("S2.6.5", "S3.9.2", "S3.11.5")
@pytest.mark.parametrize("format_", ["markdown", "json", "messages"])
@pytest.mark.parametrize("state", ["fresh", "pruned", "in a chunk", "merged", "cleared"])
def test_the_system_prompt_stands_first(format_: Format, state: str) -> None:
    small = {"max_recent_messages": 4, "chunk_size": 2} if state in ("in a chunk", "merged") else {}
    made = begun(**small, max_chunks=1 if state == "merged" else 50)
    made.add("The oven takes two trays", pinned=True)
    made.add_message("system", PROMPT)
    for number in range(9):
        made.add_message("user", f"Bread number {number} is rye.")
    if state == "pruned":
        made.prune_conversation(keep=3)
    if state == "cleared":
        made.clear_conversation()
        made.add_message("user", "The oven is hot.")
    built = made.build_context("rye", budget=3000, format=format_)
    assert built.text.count(PROMPT) == 1
    assert built.sections[0].name == "system"
    assert built.text.index(PROMPT) < built.text.index("two trays")
    if format_ == "messages":
        assert orjson.loads(built.text)[0] == {"role": "system", "content": PROMPT}


def test_a_later_system_message_is_no_prompt_but_stays() -> None:
    made = begun()
    say(made, *[20] * 3)
    made.add_message("system", "The shop is closed today.")
    say(made, *[20] * 6)
    made.prune_conversation(keep=2)
    built = made.build_context(budget=3000)
    assert "The shop is closed today." in built.text
    assert "system" not in {part.name for part in built.sections}


# The past


def at_minutes(backend: InMemory, contents: list[str], **options: Any) -> Iterator[Project]:
    for minute, content in enumerate(contents):
        made = Project(
            backend=backend, now=NOW + timedelta(minutes=minute), actor="tester", **options
        )
        if not minute:
            made.start_conversation("Bakery")
        made.add_message("user", content)
        yield made


@pytest.mark.parametrize("minute", [0, 2, 5, 11])
def test_the_past_knows_nothing_that_was_said_later(minute: int) -> None:
    backend = InMemory()
    said = [f"Loaf number {number} is baked." for number in range(12)]
    *_, made = at_minutes(backend, said, max_recent_messages=5, chunk_size=2, max_chunks=2)
    at = NOW + timedelta(minutes=minute)
    for query in (None, "loaf"):
        built = made.build_context(query, budget=4000, at=at)
        for number in range(12):
            if number > minute:
                assert f"number {number} " not in built.text
        later = {message.id for message in made.transcript().messages[minute + 1 :]}
        assert not later & {item.id for item in built.omitted}


def test_what_was_pruned_later_is_left_out_of_the_past_without_counting_more() -> None:
    backend = InMemory()
    said = [f"Loaf number {number} is baked." for number in range(12)]
    *_, made = at_minutes(backend, said, min_recent_messages=2)
    made.prune_conversation(keep=2)
    built = made.build_context(budget=4000, at=NOW + timedelta(minutes=3))
    assert sum(count for count, _ in markers(built.text)) <= 4
    assert len([item for item in built.omitted if item.reason == "pruned"]) <= 4


def test_before_a_conversation_there_is_nothing_of_it() -> None:
    made = begun()
    made.add_message("system", PROMPT)
    say(made, 20)
    built = made.build_context(budget=1000, at=datetime(2020, 1, 1, tzinfo=UTC))
    assert built.sections == ()
    assert PROMPT not in built.text


# For any course of a conversation


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), st.integers(1, 60)),
        st.tuples(st.just("task"), st.just(0)),
        st.tuples(st.just("turn"), st.just(0)),
        st.tuples(st.just("clear"), st.just(0)),
        st.tuples(st.just("prune"), st.integers(2, 8)),
        st.tuples(st.just("resume"), st.just(0)),
    ),
    max_size=30,
)


@pytest.mark.row("S3.9.4")
@settings(max_examples=examples(40))
@given(steps=STEPS, most=st.integers(3, 12), size=st.integers(1, 6), prompt=st.booleans())
def test_a_context_and_the_statistics_agree(
    steps: list[tuple[str, int]], most: int, size: int, prompt: bool
) -> None:
    made = begun(
        max_tokens=300, max_recent_messages=most, chunk_size=size, max_chunks=2, max_messages=9
    )
    if prompt:
        made.add_message("system", PROMPT)
    for name, number in steps:
        step(made, name, number)
    shown, seen = made.transcript(), figures(made)
    built = made.build_context(budget=20_000)
    parts_ = {part.name: [item.id for item in part.items] for part in built.sections}
    recent = parts_.get("recent", [])
    assert ("system" in parts_) is (bool(shown.messages) and shown.messages[0].role == "system")
    first = {message.id for message in shown.messages[:1] if message.role == "system"}
    said = {message.id for message in shown.conversation.recent_messages}
    cleared = said - {message.id for message in window(shown.conversation)}
    assert not set(recent) & (first | cleared)
    assert len(said.intersection(recent)) == seen.messages_in_context - len(
        (first & said) - cleared
    )
    assert len(recent) <= max(9, len(said))
    assert sum(count for count, _ in markers(built.text)) == seen.pruned_messages - len(cleared)
    assert seen.total_messages == shown.conversation.turns == len(shown.messages)
    assert seen.messages_in_context + seen.pruned_messages == len(said)
    assert built.tokens <= built.budget
    assert made.check().findings == ()


def step(made: Project, name: str, number: int) -> None:
    if name == "task":
        task(made)
    elif name == "turn":
        made.add_message("user", TURN)
    elif name == "clear":
        made.clear_conversation()
    elif name == "prune":
        made.prune_conversation(keep=number)
    elif name == "resume":
        made.pause_conversation()
        made.resume_conversation()
    else:
        made.add_message(name, "bread " * number)


@pytest.mark.row("S3.7.5")
def test_help_says_of_each_strategy_what_goes_first() -> None:
    told = " ".join(pmem("conversation", "prune", "--help").out.decode().split())
    for name in ("rolling_window takes tools' output", "importance what matters", "hybrid weighs"):
        assert name in told
