"""What leaves a context, in which order, and what never does."""

from datetime import timedelta
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.pruning.plan import (
    PruningPlan,
    PruningRules,
    Strategy,
    Trigger,
    due,
    plan,
    rules_for,
    score,
)
from pmem.core.pruning.segments import tasks, units
from pmem.core.text.calls import call_links
from pmem.values.records import Message, Role
from pmem.values.rules import Scoring
from tests.conftest import NOW
from tests.work import STALLED, WITHIN, calls, seconds

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
PLENTY = 10**9


def message(number: int, content: str = "A plain line", **fields: Any) -> Message:
    role = Role.ASSISTANT if number % 2 else Role.USER
    known: dict[str, Any] = {"role": role, "created_at": NOW, "tokens": 10}
    return Message(id=f"m-{number:08d}", content=content, **known | fields)


def talk(count: int) -> list[Message]:
    """Return questions and answers in turn, ten tokens each."""
    return [message(number) for number in range(count)]


def rules(**given_: Any) -> PruningRules:
    return PruningRules(**{"most_messages": PLENTY, "most_tokens": PLENTY, **given_})


def is_of_a_tool(said: Message) -> bool:
    return said.role is Role.TOOL or bool(said.tool_call or said.tool_result)


def gone_from(made: PruningPlan) -> list[str]:
    return [item.id for item in made.pruned]


def ids(said: list[Message], *places: int) -> list[str]:
    return [said[place].id for place in places]


contents = st.sampled_from(
    [
        "A plain line",
        "Task complete",
        "Now let's work on the docs",
        "The build failed",
        "Actually, it was the cache",
        "thanks!",
        "You must use tabs",
        "As you said earlier",
    ]
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from([Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.SYSTEM]),
                contents,
                st.integers(0, 100),
                st.sampled_from([None, None, None, "call", "result"]),
                st.none() | st.none() | st.floats(0, 1),
            ),
            max_size=50,
        )
    )
    return [
        message(
            n,
            content,
            role=Role.TOOL if tool == "result" else role,
            tokens=tokens,
            importance=importance,
            tool_call="ls" if tool == "call" else None,
            tool_result="a file" if tool == "result" else None,
            created_at=NOW - timedelta(hours=len(drawn) - n),
        )
        for n, (role, content, tokens, tool, importance) in enumerate(drawn)
    ]


limits = st.builds(
    PruningRules,
    most_messages=st.integers(0, 60),
    most_tokens=st.integers(0, 3000),
    keep=st.integers(0, 15),
    strategy=st.sampled_from(STRATEGIES),
    finished_only=st.booleans(),
)


finishing = limits.map(lambda given_: msgspec.structs.replace(given_, finished_only=True))
"""Limits where a task has ended, whatever the strategy."""

by_messages = st.builds(
    msgspec.structs.replace,
    limits,
    strategy=st.sampled_from(("rolling_window", "hybrid")),
    finished_only=st.just(False),
)
"""Limits by the strategies that take single messages, tools before talk."""


@given(conversations(), limits)
def test_every_message_is_kept_or_pruned_in_its_order(
    said: list[Message], given_: PruningRules
) -> None:
    made = plan(said, given_, NOW)
    lost = set(gone_from(made))
    assert list(made.kept) == [item.id for item in said if item.id not in lost]
    assert gone_from(made) == [item.id for item in said if item.id in lost]
    assert made.tokens_before == sum(item.tokens for item in said)
    assert made.tokens_after == made.tokens_before - sum(item.tokens for item in made.pruned)


@pytest.mark.row("S3.3.2", "S3.3.3")
@given(conversations(), limits)
def test_system_messages_and_the_latest_never_leave(
    said: list[Message], given_: PruningRules
) -> None:
    """But for tools' messages, which leave half of a tight limit to the rest."""
    lost = set(gone_from(plan(said, given_, NOW)))
    if given_.strategy != "importance" and not given_.finished_only:
        lost -= {item.id for item in said if is_of_a_tool(item)}
    latest = said[len(said) - min(given_.keep, len(said)) :]
    users = [item for item in said if item.role is Role.USER][-1:] if given_.keep else []
    protected = [*latest, *users, *(item for item in said if item.role is Role.SYSTEM)]
    assert [item.id for item in protected if item.id in lost] == []


@pytest.mark.row("S3.3.5", "S3.10.3")
@given(conversations(), by_messages | finishing, st.data())
def test_a_call_is_shown_with_its_results_only_and_these_with_it(
    said: list[Message], given_: PruningRules, data: st.DataObject
) -> None:
    """Also where one of them was pruned earlier, such as a call before its result came."""
    gone = data.draw(st.sets(st.sampled_from(ids(said, *range(len(said)))))) if said else set()
    lost = set(gone_from(plan(said, given_, NOW, gone)))
    for call, result in call_links(said):
        assert (said[call].id in lost) == (said[result].id in lost)


@given(conversations(), finishing)
def test_at_the_end_of_a_task_nothing_goes_but_what_is_finished(
    said: list[Message], given_: PruningRules
) -> None:
    """Whatever the limits are and whichever strategy: no limit was passed."""
    finished = {
        said[i].id
        for task in tasks(said)
        if task.finished
        for i in range(task.first, task.last + 1)
    }
    made = plan(said, given_, NOW)
    bound = {place for link in call_links(said) for place in link}
    assert set(gone_from(made)) <= finished | set(ids(said, *bound))
    assert {item.reason for item in made.pruned} <= {"finished_task"}


def test_work_whose_tools_were_pruned_stays_work_with_tools() -> None:
    said = [
        *(message(n) for n in range(2)),
        message(2, tool_call="ls"),
        message(3, "Task complete"),
    ]
    rules = PruningRules(most_messages=9, most_tokens=900, keep=0, finished_only=True)
    first = plan(said, rules, NOW)
    assert gone_from(first) == ids(said, 2)
    assert plan(said, rules, NOW, gone_from(first)).kept == first.kept


@pytest.mark.row("S3.3.1", "S3.10.3")
def test_where_no_tools_are_called_the_latest_of_both_sides_stay() -> None:
    said = talk(60)
    made = plan(said, rules(most_messages=20), NOW)
    assert list(made.kept) == ids(said, 0, *range(41, 60))
    with_tools = plan([*said, *tool(60, "a")], rules(most_messages=20), NOW)
    assert all(said[place].id in with_tools.kept for place in range(38, 50, 2))


def tool(number: int, name: str, *, fails: bool = False) -> list[Message]:
    """Return a call and its result, of ten tokens each."""
    told = {"tool_call_id": name, "is_error": fails}
    return [
        message(number, role=Role.ASSISTANT, tool_call={"id": name}),
        message(number + 1, role=Role.TOOL, tool_result=told),
    ]


def work(count: int) -> list[Message]:
    """Return questions and answers in turn, and a tool that is called in the end."""
    return [*talk(count - 2), *tool(count - 2, "a")]


def session() -> list[Message]:
    """Return a request, work with tools of which one fails, and another request."""
    return [
        message(0, "Please look at the parser", role=Role.USER),
        *tool(1, "a"),
        *tool(3, "b", fails=True),
        message(5, "I found the cause in the lexer", role=Role.ASSISTANT),
        message(6, "Never touch the lexer tables", role=Role.USER),
        *tool(7, "c"),
        message(9, "What does the table hold in the end", role=Role.USER),
        message(10, "The table holds the kinds of tokens", role=Role.ASSISTANT),
        message(11, "Then write that down in the docs", role=Role.USER),
    ]


@pytest.mark.parametrize(
    ("most", "gone"),
    [
        (12, []),
        (11, [1, 2]),
        (8, [1, 2, 7, 8]),
        (6, [1, 2, 3, 4, 7, 8]),
        (5, [1, 2, 3, 4, 5, 7, 8]),
        (4, [1, 2, 3, 4, 5, 7, 8, 10]),
        (3, [1, 2, 3, 4, 5, 7, 8, 9, 10]),
    ],
)
def test_tools_go_before_assistants_and_these_before_people(most: int, gone: list[int]) -> None:
    said = session()
    made = plan(said, rules(most_messages=most, keep=1), NOW)
    assert gone_from(made) == ids(said, *gone)


@pytest.mark.row("S3.5.4")
def test_directives_and_the_opening_request_go_last() -> None:
    said = session()
    made = plan(said, rules(most_messages=3, keep=1), NOW)
    assert list(made.kept) == ids(said, 0, 6, 11)


def test_the_latest_output_of_tools_leaves_half_of_a_tight_limit_to_talk() -> None:
    said = [message(0, "Fix the lexer", role=Role.USER), *tool(1, "a"), *tool(3, "b")]
    said[2] = msgspec.structs.replace(said[2], tokens=40)
    said[4] = msgspec.structs.replace(said[4], tokens=40)
    made = plan(said, rules(most_tokens=60, keep=4), NOW)
    assert gone_from(made) == ids(said, 1, 2)
    assert plan(said, rules(most_tokens=130, keep=4), NOW).pruned == ()


def test_a_long_directive_has_room_before_the_latest_output_of_tools() -> None:
    said = [message(0, "Never touch the tables", tokens=70), *talk(6)[1:], *tool(6, "a")]
    said += [message(8, "Go on with the docs", role=Role.USER)]
    said[7] = msgspec.structs.replace(said[7], tokens=30)
    made = plan(said, rules(most_tokens=100, keep=3), NOW)
    assert list(made.kept) == ids(said, 0, 2, 4, 8)
    made = plan(said, rules(most_tokens=79, keep=3), NOW)
    assert said[0].id not in made.kept
    assert {item.id: item.reason for item in made.pruned}[said[0].id] == "no_room"


@pytest.mark.row("S3.12.2")
def test_hybrid_weighs_age_and_importance_equally() -> None:
    said = [message(n, importance=0.5) for n in range(40)]
    said[21] = message(21, importance=0.1)
    # 1: (0.5 + 1/40) / 2 = 0.2625; 2: 0.275; 3: 0.2875; 4: 0.3; 5 and 21: 0.3125; 6: 0.325
    for most, gone in ((39, [1]), (36, [1, 2, 3, 4]), (35, [1, 2, 3, 4, 5])):
        made = plan(said, rules(most_messages=most, strategy="hybrid"), NOW)
        assert gone_from(made) == ids(said, *gone)
    for most, gone in ((34, [1, 2, 3, 4, 5, 21]), (33, [1, 2, 3, 4, 5, 6, 21])):
        made = plan(said, rules(most_messages=most, strategy="hybrid"), NOW)
        assert gone_from(made) == ids(said, *gone)
        assert {item.reason for item in made.pruned} == {"hybrid"}


@pytest.mark.row("S3.4.4")
def test_scores_follow_the_table_that_is_configured() -> None:
    said = talk(30)
    said[2] = message(2, "You must use tabs")
    table = Scoring(directive=-0.4)
    made = plan(said, rules(most_messages=29, strategy="importance", scoring=table), NOW)
    assert gone_from(made) == ids(said, 0, 1)
    assert made.pruned[0].importance == score(said[0], 29, NOW, table)
    said[3] = message(3, importance=0.2)
    made = plan(said, rules(most_messages=29, strategy="importance", scoring=table), NOW)
    assert gone_from(made) == ids(said, 2, 3)


@pytest.mark.row("S3.5.3")
def test_by_importance_an_error_leaves_with_its_correction_only() -> None:
    said = [message(n, importance=0.5) for n in range(30)]
    said[1] = message(1, "The build failed", importance=0.5)
    said[5] = message(5, "The problem was the cache", importance=0.5)
    made = plan(said, rules(most_messages=28, strategy="importance"), NOW)
    assert gone_from(made) == ids(said, 2, 3)
    made = plan(said, rules(most_messages=27, strategy="importance"), NOW)
    assert gone_from(made) == ids(said, 0, 1, 4, 5)


def test_a_tool_s_result_leaves_with_its_call_only() -> None:
    said = talk(30)
    said[1] = message(1, tool_call={"id": "a"})
    said[6] = message(6, role=Role.TOOL, tool_result={"tool_call_id": "a"})
    made = plan(said, rules(most_messages=29), NOW)
    assert gone_from(made) == ids(said, 1, 6)


def test_the_request_that_is_worked_on_stays_in_a_very_long_turn() -> None:
    said = [message(0), *(message(n, role=Role.ASSISTANT) for n in range(1, 200))]
    made = plan(said, rules(most_messages=60), NOW)
    assert said[0].id in made.kept
    assert len(made.kept) == 60


@pytest.mark.long
@pytest.mark.row("S3.10.1", "S3.10.6")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_long_conversation_is_planned_without_a_pause(strategy: Strategy) -> None:
    said = [
        message(n, ["The build failed", "Fixed the build.", "You must retry"][n % 3] * 3)
        for n in range(5000)
    ]
    asked = rules(most_messages=50, strategy=strategy)
    assert len(plan(said, asked, NOW).kept) <= 50
    assert calls(lambda: plan(said, asked, NOW)) < WITHIN * 1000
    assert seconds(lambda: plan(said, asked, NOW)) < STALLED


@pytest.mark.row("S3.11.1")
def test_a_conversation_below_its_limits_is_never_pruned() -> None:
    said = talk(20)
    assert due(said, (), 8000, rules(most_messages=50)) is None
    assert plan(said, rules(most_messages=50, most_tokens=8000), NOW).pruned == ()


@pytest.mark.row("S3.11.2")
def test_a_long_conversation_is_pruned_when_it_reaches_80_percent() -> None:
    base, limit = rules(most_messages=50), 500
    said = talk(39)
    assert due(said, (), limit, base) is None
    said = talk(40)
    assert due(said, (), limit, base) == "normal"
    made = plan(said, rules_for("normal", base, limit), NOW)
    assert gone_from(made) == ids(said, 1, 2, 3, 4, 5)
    assert made.tokens_after == 350


def refactoring(length: int) -> list[Message]:
    """Return a finished task of some messages, after a system message."""
    said = talk(length)
    said[0] = message(0, "You are careful.", role=Role.SYSTEM)
    said[1] = message(1, "Refactor the parser", role=Role.USER)
    said[-1] = message(length - 1, "Task complete. Refactored 3 files.", role=Role.ASSISTANT)
    return said


@pytest.mark.row("S3.11.3")
def test_a_finished_task_goes_when_the_next_begins() -> None:
    base, limit = rules(most_messages=50), 100_000
    said = [*refactoring(30), message(30, "Now let's work on the tests")]
    assert due(said[:-1], (), limit, base) is None
    assert due(said, (), limit, base) == "task_boundary"
    made = plan(said, rules_for("task_boundary", base, limit), NOW)
    assert made.kept == (said[0].id, *ids(said, *range(21, 31)))
    assert {item.reason for item in made.pruned} == {"finished_task"}
    near = msgspec.structs.replace(base, keep=1)
    made = plan(said, rules_for("task_boundary", near, limit), NOW)
    assert made.kept == (said[0].id, said[30].id)
    assert due(said, gone_from(made), limit, near) is None


def test_directives_outlive_their_task() -> None:
    said = [*refactoring(30), message(30, "Now let's work on the tests")]
    said[1] = message(1, "Please refactor the parser", role=Role.USER)
    said[4] = message(4, "Never touch the tables")
    made = plan(said, rules_for("task_boundary", rules(keep=1), 100_000), NOW)
    assert list(made.kept) == ids(said, 0, 4, 30)


def test_at_the_end_of_work_with_tools_their_messages_go_and_what_was_said_stays() -> None:
    said = [*session(), message(12, "Done.", role=Role.ASSISTANT)]
    said.append(message(13, "Now let's work on the release"))
    made = plan(said, rules_for("task_boundary", rules(keep=1), 100_000), NOW)
    assert gone_from(made) == ids(said, 1, 2, 3, 4, 7, 8)


def test_the_tail_of_a_finished_task_goes_when_it_is_none_of_the_latest_any_more() -> None:
    base = rules(keep=3)
    said = [*refactoring(10), message(10, "Now let's work on the tests")]
    gone = gone_from(plan(said, rules_for("task_boundary", base, 0), NOW))
    assert gone == ids(said, *range(1, 8))
    assert due(said, gone, 0, base) is None
    said += [message(11), message(12, "Is there one for the lexer")]
    assert due(said[:-1], gone, 0, base) is None
    assert due(said, gone, 0, base) == "task_boundary"
    made = plan(said, rules_for("task_boundary", base, 0), NOW, gone)
    assert [item.id for item in made.pruned if item.reason == "finished_task"] == ids(said, 8, 9)
    assert due(said, gone_from(made), 0, base) is None


@pytest.mark.row("S3.11.3")
def test_a_task_shorter_than_the_latest_messages_goes_once_it_is_none_of_them() -> None:
    base = rules(keep=10)
    said = [*refactoring(6), message(6, "Now let's work on the tests")]
    assert due(said, (), 0, base) is None
    said += [message(number, role=Role.ASSISTANT) for number in range(7, 13)]
    assert due(said, (), 0, base) is None  # nobody has gone on yet
    said.append(message(13, "Is there one for the lexer", role=Role.USER))
    assert due(said, (), 0, base) == "task_boundary"
    made = plan(said, rules_for("task_boundary", base, 0), NOW)
    assert gone_from(made) == ids(said, 1, 2, 3)


def test_finished_tasks_go_when_a_conversation_is_taken_up_again() -> None:
    said = refactoring(30)
    made = plan(said, rules_for("session_start", rules(keep=2), 100_000), NOW)
    assert list(made.kept) == ids(said, 0, 28, 29)


@pytest.mark.row("S3.5.5")
@given(conversations(), limits)
def test_no_more_goes_than_has_to(said: list[Message], given_: PruningRules) -> None:
    given_ = msgspec.structs.replace(given_, keep=0, finished_only=False)
    made = plan(said, given_, NOW)
    room, spare = given_.most_tokens - made.tokens_after, given_.most_messages - len(made.kept)
    bound = {said[place].id for unit in units(said) for place in unit if len(unit) > 1}
    alone = [item for item in made.pruned if item.id not in bound]
    assert spare <= 0 or all(item.tokens > room for item in alone)


@pytest.mark.row("S3.10.9")
@given(conversations(), limits, st.data())
def test_what_was_pruned_stays_pruned_and_planning_again_prunes_nothing_more(
    said: list[Message], given_: PruningRules, data: st.DataObject
) -> None:
    names = {item.id for item in data.draw(st.sets(st.sampled_from(said)))} if said else set()
    made = plan(said, given_, NOW, {*names, "of another conversation"})
    assert made == plan(list(said), given_, NOW, names)
    assert {item.id for item in made.pruned if item.reason == "earlier"} == names
    assert made.tokens_before == sum(item.tokens for item in said if item.id not in names)
    again = plan(said, given_, NOW, gone_from(made))
    assert again.kept == made.kept
    assert {item.reason for item in again.pruned} <= {"earlier"}
    assert (again.tokens_before, again.tokens_after) == (made.tokens_after, made.tokens_after)


@pytest.mark.row("S3.3.4")
def test_of_a_class_the_oldest_go_first_and_small_ones_stay_where_a_large_one_has_no_room() -> None:
    made = plan(talk(30), rules(most_messages=25), NOW)
    assert gone_from(made) == ids(talk(30), 1, 2, 3, 4, 5)
    assert {item.reason for item in made.pruned} == {"oldest"}
    said = [message(n, role=Role.USER, tokens=500 if n == 9 else 10) for n in range(20)]
    made = plan(said, rules(most_tokens=150), NOW)
    assert gone_from(made) == ids(said, 0, 1, 2, 3, 9)


@pytest.mark.row("S3.5.2")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_finished_tasks_go_before_anything_of_the_task_at_hand(strategy: Strategy) -> None:
    said = talk(40)
    said[9] = message(9, "Task complete", importance=1.0)
    said[10] = message(10, "Now let's work on the tests")
    made = plan(said, rules(most_messages=30, strategy=strategy), NOW)
    assert gone_from(made) == ids(said, *range(10))
    assert {item.reason for item in made.pruned} == {"finished_task"}


@pytest.mark.row("S3.12.1")
@pytest.mark.parametrize(
    ("worth", "most", "gone"),
    [
        pytest.param({14: 0.1, 15: 0.2}, 28, [14, 15], id="the least important pair"),
        pytest.param(dict.fromkeys(range(30), 0.5), 28, [0, 1], id="of equals the older"),
        pytest.param({14: 0.0, 15: 1.0, 8: 0.1, 9: 0.2}, 28, [8, 9], id="a pair is as its best"),
    ],
)
def test_importance_lets_the_least_important_pair_go(
    worth: dict[int, float], most: int, gone: list[int]
) -> None:
    said = [message(n, importance=worth.get(n)) for n in range(30)]
    made = plan(said, rules(most_messages=most, strategy="importance"), NOW)
    assert gone_from(made) == ids(said, *gone)
    assert {item.reason for item in made.pruned} == {"least_important"}


@pytest.mark.parametrize(
    ("asked", "answer", "stays"),
    [
        ("Shall the port be 8443 or 8080?", "the first", True),
        ("端口是 8443 吗？", "the first", True),
        ("Shall the port be 8443 or 8080?", "I have no idea what ports are", False),
        ("Both ports are free.", "the first", False),
        ("Here it is:\n```\ncurl 'localhost/?port=1'\n```", "the first", False),
    ],
)
def test_a_short_answer_stays_with_its_question(asked: str, answer: str, stays: bool) -> None:
    said = work(30)
    said[5], said[6] = message(5, asked), message(6, answer)
    made = plan(said, rules(most_messages=19), NOW)
    assert (said[5].id in made.kept) == stays


@pytest.mark.parametrize(
    ("tens", "most", "limit", "expected"),
    [
        (79, 50, 1000, None),
        (80, 50, 1000, "normal"),
        (89, 50, 1000, "normal"),
        (90, 50, 1000, "aggressive"),
        (10, 9, 1000, "messages"),
        (80, 9, 1000, "normal"),
        (80, 50, 0, None),
        (80, 9, 0, "messages"),
    ],
)
def test_pruning_is_due_at_its_thresholds(
    tens: int, most: int, limit: int, expected: Trigger | None
) -> None:
    said = [message(n, tokens=tens) for n in range(10)]
    assert due(said, (), limit, rules(most_messages=most)) == expected
    assert due(said, ids(said, *range(10)), limit, rules(most_messages=most)) is None


@pytest.mark.parametrize(
    ("trigger", "changed"),
    [
        ("messages", {}),
        ("normal", {"most_tokens": 700}),
        ("aggressive", {"most_tokens": 500}),
        ("task_boundary", {"finished_only": True}),
        ("session_start", {"finished_only": True}),
    ],
)
def test_each_trigger_has_its_aim(trigger: Trigger, changed: dict[str, Any]) -> None:
    assert rules_for(trigger, rules(), 1000) == rules(**changed)


def test_somebody_can_ask_for_fewer_messages_but_not_for_what_is_protected() -> None:
    said = talk(30)
    assert list(plan(said, rules(most_messages=4), NOW).kept) == ids(said, *range(20, 30))
    assert len(plan(said, rules(most_messages=20), NOW).kept) == 20
    assert len(plan(said, rules(most_tokens=150), NOW).kept) == 15
    assert len(plan(said, rules(most_tokens=0), NOW).kept) == 10


def test_the_latest_output_of_tools_leaves_half_of_a_tight_number_to_talk() -> None:
    said = [*talk(20), *tool(20, "a"), *tool(22, "b"), *tool(24, "c"), *tool(26, "d")]
    made = plan(said, rules(most_messages=10, keep=8), NOW)
    assert list(made.kept) == ids(said, 0, 6, 8, 10, 12, 14, 16, 18, 26, 27)
