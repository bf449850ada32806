"""Where tasks begin and end, and which messages belong together."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.pruning.segments import CORRECTED_WITHIN, TOGETHER, Task, tasks, units
from pmem.values.records import Message, Role
from tests.conftest import NOW
from tests.core.pruning.conversations import MISSED, OPENINGS, TRAPS, Labelled

USER, ASSISTANT, SYSTEM, TOOL = Role.USER, Role.ASSISTANT, Role.SYSTEM, Role.TOOL
EXAMPLES = [*OPENINGS, *TRAPS]
last_lines = [example.messages[-1].content for example in EXAMPLES]


def say(*said: tuple[Role, str] | Message) -> list[Message]:
    return [
        item
        if isinstance(item, Message)
        else Message(
            id=f"m-{n:08d}", role=item[0], content=item[1], created_at=NOW + timedelta(minutes=n)
        )
        for n, item in enumerate(said)
    ]


def call(value: Any, content: str = "I look") -> Message:
    return Message(id="c", role=ASSISTANT, content=content, created_at=NOW, tool_call=value)


def result(value: Any = None, content: str = "a file") -> Message:
    return Message(id="r", role=TOOL, content=content, created_at=NOW, tool_result=value)


U, A = (USER, "What is in the folder?"), (ASSISTANT, "Three files.")


@pytest.mark.row("S3.5.1")
@pytest.mark.parametrize("example", EXAMPLES, ids=last_lines)
def test_tasks_are_found_where_people_see_them(example: Labelled) -> None:
    found = tasks(example.messages)
    assert [task.first for task in found] == example.opens
    assert [task.finished for task in found] == example.finished


def test_boundaries_are_seldom_wrong_and_seldom_missed() -> None:
    right, noticed, told = 0, 0, 0
    for example in [*EXAMPLES, *MISSED]:
        found = {task.first for task in tasks(example.messages)[1:]}
        right += len(found & set(example.opens[1:]))
        noticed += len(found)
        told += len(example.opens) - 1
    assert right / noticed >= 0.95, "precision"
    assert right / told >= 0.9, "recall"


def test_a_task_that_was_followed_up_is_finished_when_the_user_moves_on() -> None:
    said = say(
        (USER, "Add a flag"),
        (ASSISTANT, "Done."),
        (USER, "Can you also document it?"),
        (ASSISTANT, "I wrote two lines."),
    )
    assert tasks(said) == [Task(0, 3, finished=False)]
    said += say((USER, "Now let's work on the release"))
    assert tasks(said) == [Task(0, 3, finished=True), Task(4, 4, finished=False)]


def test_an_objection_reopens_a_task_for_good() -> None:
    said = say((USER, "Add a flag"), (ASSISTANT, "Done."), (USER, "No, that's wrong"))
    said += say((USER, "Now let's work on the release"))
    assert [task.finished for task in tasks(said)] == [False, False]


texts = st.sampled_from(
    ["Done.", "Task complete", "Now let's do the docs", "It failed", "thanks", "Actually, no", "x"]
)
messages = st.lists(
    st.builds(
        lambda role, text, minutes, call, result: (role, text, minutes, call, result),
        st.sampled_from(Role),
        texts,
        st.integers(0, 600),
        st.none() | st.sampled_from(["ls", {"id": "1"}, {"id": "2"}, [{"id": "1"}, {"id": "3"}]]),
        st.none() | st.sampled_from(["ok", {"tool_call_id": "1"}, {"call_id": "2"}, {"id": "9"}]),
    ),
    max_size=60,
).map(
    lambda drawn: [
        Message(
            id=f"m-{n:08d}",
            role=role,
            content=text,
            created_at=NOW + timedelta(minutes=n * 10 + minutes),
            tool_call=call,
            tool_result=result,
        )
        for n, (role, text, minutes, call, result) in enumerate(drawn)
    ]
)


@given(messages)
def test_tasks_cover_a_conversation_without_gaps(said: list[Message]) -> None:
    found = tasks(said)
    assert [i for task in found for i in range(task.first, task.last + 1)] == [*range(len(said))]
    assert all(said[task.first].role is USER for task in found[1:])


@given(messages)
def test_a_later_message_never_moves_an_earlier_boundary(said: list[Message]) -> None:
    firsts = [task.first for task in tasks(said)]
    for n in range(1, len(said) + 1):
        assert [task.first for task in tasks(said[:n])] == [first for first in firsts if first < n]


@given(messages)
def test_every_message_is_in_one_unit(said: list[Message]) -> None:
    found = units(said)
    assert sorted(i for unit in found for i in unit) == [*range(len(said))]
    assert all(list(unit) == sorted(unit) for unit in found)
    assert [unit[0] for unit in found] == sorted(unit[0] for unit in found)
    alone = {i for i, message in enumerate(said) if message.role is SYSTEM}
    assert all(len(unit) == 1 for unit in found if alone & set(unit))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([U, A, U, A], [(0, 1), (2, 3)], id="a question and its answer"),
        pytest.param([U, A, A, U], [(0, 1, 2), (3,)], id="two answers"),
        pytest.param([U, U, A], [(0,), (1, 2)], id="an answer to the second question"),
        pytest.param([A, A, U], [(0,), (1,), (2,)], id="a monologue before any question"),
        pytest.param([(SYSTEM, "Be kind"), U, A], [(0,), (1, 2)], id="a system message"),
        pytest.param([U, (SYSTEM, "Hurry"), A], [(0, 2), (1,)], id="a system message between"),
        pytest.param([call("ls"), result("x")], [(0, 1)], id="a call and its result, by order"),
        pytest.param([call("ls"), result()], [(0, 1)], id="a result that is the content"),
        pytest.param(
            [call("ls"), call("cat"), result("1"), result("2")], [(0, 2), (1, 3)], id="by order"
        ),
        pytest.param(
            [
                call({"id": "a"}),
                call({"id": "b"}),
                result({"tool_call_id": "b"}),
                result({"call_id": "a"}),
            ],
            [(0, 3), (1, 2)],
            id="by id, whatever the order",
        ),
        pytest.param(
            [call([{"id": "a"}, {"id": "b"}]), result({"id": "b"}), result({"id": "a"})],
            [(0, 1, 2)],
            id="two calls in one message",
        ),
        pytest.param(
            [call({"id": "a"}), call({"id": "b"}), result({"id": "b"}), result("x")],
            [(0, 3), (1, 2)],
            id="a result without an id goes to the call that waits",
        ),
        pytest.param(
            [call("ls"), call({"id": "a"}), result("x")],
            [(0, 2), (1,)],
            id="a result without an id goes to the call that waits longest",
        ),
        pytest.param(
            [call({"id": 7}), result({"id": "8"})], [(0,), (1,)], id="ids that do not match"
        ),
        pytest.param(
            [call({"id": 7}), U, result({"id": 7})], [(0, 1, 2)], id="groups that share a message"
        ),
        pytest.param([result("x"), U], [(0,), (1,)], id="a result of no call"),
        pytest.param(
            [
                (USER, "The build failed"),
                (ASSISTANT, "Let me look"),
                (USER, "Which room is it?"),
                (ASSISTANT, "Room 3"),
                (USER, "Actually, I had the wrong branch"),
            ],
            [(0, 1, 4), (2, 3)],
            id="an error and its correction, with something else between",
        ),
        pytest.param(
            [
                (USER, "The build failed"),
                *([U] * (CORRECTED_WITHIN - 1)),
                (USER, "Fixed the build"),
            ],
            [(0, CORRECTED_WITHIN), *((n,) for n in range(1, CORRECTED_WITHIN))],
            id="a correction that comes just in time",
        ),
        pytest.param(
            [(USER, "The build failed"), *([U] * CORRECTED_WITHIN), (USER, "Fixed the build")],
            [(n,) for n in range(CORRECTED_WITHIN + 2)],
            id="a correction that comes too late",
        ),
    ],
)
def test_what_belongs_together(
    said: list[tuple[Role, str] | Message], expected: list[tuple[int, ...]]
) -> None:
    assert units(say(*said)) == expected


@pytest.mark.parametrize(("at_once", "parts"), [(1, 6), (3, 5)])
def test_a_very_long_turn_is_cut_between_calls(at_once: int, parts: int) -> None:
    steps = [
        kind({"id": number})
        for first in range(0, 51, at_once)
        for kind in (call, result)
        for number in range(first, first + at_once)
    ]
    found = units(say(U, *steps, A))
    assert len(found) == parts
    assert all(len(unit) <= TOGETHER + 2 * at_once for unit in found)
    assert all(unit == tuple(range(unit[0], unit[-1] + 1)) for unit in found)


def test_errors_that_follow_each_other_do_not_make_one_endless_unit() -> None:
    said = say(*[(USER, "I fixed the import, now the build failed")] * 200)
    assert max(len(unit) for unit in units(said)) == TOGETHER
