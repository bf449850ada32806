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
    Thresholds,
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


def everything_but(keep: int) -> PruningRules:
    return PruningRules(most_messages=0, most_tokens=0, keep=keep, strategy="importance")


def is_of_a_tool(said: Message) -> bool:
    return said.role is Role.TOOL or bool(said.tool_call or said.tool_result)


def ids_tuple(said: list[Message], *places: int) -> tuple[str, ...]:
    return tuple(ids(said, *places))


def fits(made: PruningPlan, given_: PruningRules) -> bool:
    return len(made.kept) <= given_.most_messages and made.tokens_after <= given_.most_tokens


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


by_units = limits.map(
    lambda given_: msgspec.structs.replace(given_, strategy="importance", finished_only=False)
)
"""Limits by the strategy that takes whole units, finished tasks before anything else."""

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


@given(conversations(), by_messages, st.integers(1, 15))
def test_the_latest_of_tools_take_no_more_than_half_of_a_limit_from_talk(
    said: list[Message], given_: PruningRules, keep: int
) -> None:
    made = plan(said, msgspec.structs.replace(given_, keep=keep), NOW)
    kept = [item for item in said if item.id in set(made.kept)]
    tools = [item for item in kept if is_of_a_tool(item)]
    talk = [i for i in said if i.id not in set(made.kept) and not is_of_a_tool(i)]
    room = given_.most_tokens - made.tokens_after + sum(item.tokens for item in tools)
    half = sum(item.tokens for item in tools) > given_.most_tokens / 2
    if half and len(said) <= given_.most_messages / 2:
        assert all(item.tokens > room / 2 for item in talk if len(item.content.split()) > 4)


@given(conversations(), by_messages)
def test_what_is_worth_less_takes_no_room_from_talk(
    said: list[Message], given_: PruningRules
) -> None:
    made = plan(said, msgspec.structs.replace(given_, keep=0), NOW)
    lost = set(gone_from(made))
    room = given_.most_tokens - made.tokens_after
    spare = given_.most_messages - len(made.kept)
    talk_lost = [i for i in said if i.id in lost and i.role is Role.USER and not is_of_a_tool(i)]
    tools = sum(i.tokens for i in said if i.id not in lost and is_of_a_tool(i))
    if fits(made, given_) and spare > 0 and tools:
        assert all(item.tokens > room for item in talk_lost if len(item.content.split()) > 4)


@pytest.mark.row("S3.3.5", "S3.10.3")
@given(conversations(), by_units)
def test_what_belongs_together_leaves_or_stays_together(
    said: list[Message], given_: PruningRules
) -> None:
    lost = set(gone_from(plan(said, given_, NOW)))
    for unit in units(said):
        assert len({said[i].id in lost for i in unit}) == 1


@pytest.mark.row("S3.5.5")
@given(conversations(), by_units)
def test_pruning_stops_when_no_limit_is_passed_and_not_before(
    said: list[Message], given_: PruningRules
) -> None:
    made = plan(said, given_, NOW)
    if not fits(made, given_):
        everything = plan(said, everything_but(given_.keep), NOW)
        assert set(gone_from(made)) == set(gone_from(everything))


@pytest.mark.row("S3.5.2")
@given(conversations(), by_units)
def test_finished_tasks_go_whole_before_anything_else_and_the_oldest_first(
    said: list[Message], given_: PruningRules
) -> None:
    made = plan(said, given_, NOW)
    reason = {item.id: item.reason for item in made.pruned}
    removable = set(gone_from(plan(said, everything_but(given_.keep), NOW)))
    found = tasks(said)
    unit_of = {i: unit for unit in units(said) for i in unit}
    task_of = [n for n, task in enumerate(found) for _ in range(task.first, task.last + 1)]
    stays = []
    for n, task in enumerate(found):
        own = {
            said[i].id
            for i in range(task.first, task.last + 1)
            if said[i].id in removable
            and max(task_of[j] for j in unit_of[i]) == n
            and all(found[task_of[j]].finished for j in unit_of[i])
        }
        assert not own & set(reason) or own <= set(reason)
        stays += [not own & set(reason)] if own else []
    assert stays == sorted(stays)
    if True in stays:
        assert set(reason.values()) <= {"finished_task"}


@given(conversations(), by_units, st.integers(0, 60), st.integers(0, 3000))
def test_a_higher_limit_never_prunes_more(
    said: list[Message], given_: PruningRules, messages: int, tokens: int
) -> None:
    higher = msgspec.structs.replace(
        given_,
        most_messages=given_.most_messages + messages,
        most_tokens=given_.most_tokens + tokens,
    )
    assert set(gone_from(plan(said, higher, NOW))) <= set(gone_from(plan(said, given_, NOW)))


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


@given(conversations(), limits)
def test_planning_again_prunes_nothing_more(said: list[Message], given_: PruningRules) -> None:
    first = plan(said, given_, NOW)
    again = plan(said, given_, NOW, gone_from(first))
    assert again.kept == first.kept
    assert {item.reason for item in again.pruned} <= {"earlier"}
    assert (again.tokens_before, again.tokens_after) == (first.tokens_after, first.tokens_after)


@given(conversations(), limits, st.data())
def test_what_was_pruned_stays_pruned_and_counts_for_nothing(
    said: list[Message], given_: PruningRules, data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.sampled_from(said))) if said else set()
    names = {item.id for item in gone}
    made = plan(said, given_, NOW, names)
    assert names <= set(gone_from(made))
    assert {item.id for item in made.pruned if item.reason == "earlier"} == names
    assert made.tokens_before == sum(item.tokens for item in said if item.id not in names)
    if given_.keep:
        latest = [item for item in said if item.id not in names][-given_.keep :]
        assert {item.id for item in latest if not is_of_a_tool(item)} <= set(made.kept)


def test_ids_of_other_conversations_are_nobody_s_business() -> None:
    said = talk(4)
    assert plan(said, rules(), NOW, ["unknown"]) == plan(said, rules(), NOW)


@pytest.mark.row("S3.10.9")
@given(conversations(), limits)
def test_the_same_messages_are_always_pruned(said: list[Message], given_: PruningRules) -> None:
    assert plan(said, given_, NOW) == plan(list(said), given_, NOW, frozenset())


@pytest.mark.row("S3.3.1", "S3.10.3")
def test_where_no_tools_are_called_the_latest_of_both_sides_stay() -> None:
    said = talk(60)
    made = plan(said, rules(most_messages=20), NOW)
    assert made.kept == ids_tuple(said, 0, *range(41, 60))
    with_tools = plan([*said, *tool(60, "a")], rules(most_messages=20), NOW)
    assert all(said[place].id in with_tools.kept for place in range(38, 50, 2))


@pytest.mark.row("S3.3.4")
def test_of_a_class_the_oldest_go_first() -> None:
    said = talk(30)
    made = plan(said, rules(most_messages=25), NOW)
    assert gone_from(made) == ids(said, 1, 2, 3, 4, 5)
    assert {item.reason for item in made.pruned} == {"oldest"}


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
    assert made.kept == ids_tuple(said, 0, 6, 11)


def test_the_opening_request_may_stand_behind_a_system_message() -> None:
    said = [message(0, "You are careful.", role=Role.SYSTEM), *talk(20)[2:]]
    assert plan(said, rules(most_messages=5, keep=3), NOW).kept == ids_tuple(said, 0, 1, 16, 17, 18)


def test_of_a_class_finished_tasks_go_first() -> None:
    said = work(40)
    said[9] = message(9, "Task complete")
    said[10] = message(10, "Now let's work on the tests")
    said[1] = message(1, role=Role.USER)
    made = plan(said, rules(most_messages=36), NOW)
    assert gone_from(made) == ids(said, 3, 5, 7, 9)
    assert {item.reason for item in made.pruned} == {"finished_task"}


def test_a_short_answer_goes_and_stays_with_its_question() -> None:
    said = work(30)
    said[5] = message(5, "Shall the port be 8443 or 8080?")
    said[6] = message(6, "the first")
    made = plan(said, rules(most_messages=19), NOW)
    assert set(ids(said, 5, 6)) <= set(made.kept)
    said[6] = message(6, "I have no idea what ports are")
    assert said[5].id not in plan(said, rules(most_messages=19), NOW).kept


@pytest.mark.parametrize(
    ("asked", "stays"),
    [
        ("Is it 8443?", True),
        ("端口是 8443 吗？", True),
        ("Both ports are free.", False),
        ("Here it is:\n```\ncurl 'localhost/?port=1'\n```", False),
    ],
)
def test_what_asks_is_told_by_an_assistant_s_own_words(asked: str, stays: bool) -> None:
    said = work(30)
    said[5], said[6] = message(5, asked), message(6, "the first")
    made = plan(said, rules(most_messages=19), NOW)
    assert (said[5].id in made.kept) == stays


def test_small_messages_stay_where_a_large_one_does_not_fit() -> None:
    said = [message(n, role=Role.USER, tokens=10) for n in range(20)]
    said[9] = message(9, role=Role.USER, tokens=500)
    made = plan(said, rules(most_tokens=150), NOW)
    assert gone_from(made) == ids(said, 0, 1, 2, 3, 9)
    assert made.tokens_after == 150


def test_the_latest_output_of_tools_leaves_half_of_a_tight_limit_to_talk() -> None:
    said = [message(0, "Fix the lexer", role=Role.USER), *tool(1, "a"), *tool(3, "b")]
    said[2] = msgspec.structs.replace(said[2], tokens=40)
    said[4] = msgspec.structs.replace(said[4], tokens=40)
    made = plan(said, rules(most_tokens=60, keep=4), NOW)
    assert gone_from(made) == ids(said, 1, 2)
    assert plan(said, rules(most_tokens=130, keep=4), NOW).pruned == ()


def test_the_latest_output_of_tools_leaves_half_of_a_tight_number_to_talk() -> None:
    said = [*talk(20), *tool(20, "a"), *tool(22, "b"), *tool(24, "c"), *tool(26, "d")]
    made = plan(said, rules(most_messages=10, keep=8), NOW)
    assert made.kept == ids_tuple(said, 0, 6, 8, 10, 12, 14, 16, 18, 26, 27)


def test_a_long_directive_has_room_before_the_latest_output_of_tools() -> None:
    said = [message(0, "Never touch the tables", tokens=70), *talk(6)[1:], *tool(6, "a")]
    said += [message(8, "Go on with the docs", role=Role.USER)]
    said[7] = msgspec.structs.replace(said[7], tokens=30)
    made = plan(said, rules(most_tokens=100, keep=3), NOW)
    assert made.kept == ids_tuple(said, 0, 2, 4, 8)
    made = plan(said, rules(most_tokens=79, keep=3), NOW)
    assert said[0].id not in made.kept
    assert {item.id: item.reason for item in made.pruned}[said[0].id] == "no_room"


@pytest.mark.row("S3.12.1")
def test_importance_lets_the_least_important_pair_go() -> None:
    said = talk(30)
    said[14] = message(14, "thanks!", importance=0.1)
    said[15] = message(15, importance=0.2)
    made = plan(said, rules(most_messages=28, strategy="importance"), NOW)
    assert gone_from(made) == ids(said, 14, 15)
    assert [(item.importance, item.reason) for item in made.pruned] == [
        (0.1, "least_important"),
        (0.2, "least_important"),
    ]


def test_a_unit_is_as_important_as_its_most_important_message() -> None:
    said = talk(30)
    said[14], said[15] = message(14, importance=0.0), message(15, importance=1.0)
    made = plan(said, rules(most_messages=12, strategy="importance"), NOW)
    assert said[14].id in made.kept


def test_of_equally_important_units_the_older_goes() -> None:
    said = [message(n, importance=0.5) for n in range(30)]
    made = plan(said, rules(most_messages=28, strategy="importance"), NOW)
    assert gone_from(made) == ids(said, 0, 1)


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
    assert gone_from(made) == ids(said, 0, 1, 2, 3, 4, 5)


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


def test_limits_that_the_protected_alone_pass_are_not_kept() -> None:
    made = plan(talk(20), rules(most_messages=5), NOW)
    assert len(made.kept) == 10


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


def test_nothing_can_be_pruned_of_nothing() -> None:
    assert plan([], everything_but(0), NOW) == PruningPlan(
        kept=(), pruned=(), tokens_before=0, tokens_after=0
    )


SIZED: list[tuple[int, int, Trigger | None]] = [
    (79, 50, None),
    (80, 50, "normal"),
    (89, 50, "normal"),
    (90, 50, "aggressive"),
    (500, 50, "aggressive"),
    (10, 9, "messages"),
    (80, 9, "normal"),
    (0, 50, None),
]


@pytest.mark.parametrize(("tens", "most", "expected"), SIZED)
def test_pruning_is_due_at_its_thresholds(tens: int, most: int, expected: Trigger | None) -> None:
    said = [message(n, tokens=tens) for n in range(10)]
    assert due(said, (), 1000, rules(most_messages=most)) == expected
    assert due([*said, *talk(90)[10:]], ids(talk(90), *range(10, 90)), 1000, rules()) == (
        expected if expected != "messages" else None
    )


def test_without_a_token_limit_only_messages_count() -> None:
    assert due(talk(60), (), 0, rules()) is None
    assert due(talk(60), (), 0, rules(most_messages=50)) == "messages"
    assert due(talk(51), (), 0, rules(most_messages=50)) == "messages"
    assert due(talk(50), (), 0, rules(most_messages=50)) is None
    assert rules_for("normal", rules(), 0) == rules()


def test_thresholds_can_be_set() -> None:
    early = Thresholds(normal=0.1, aggressive=0.2, normal_aim=0.05, aggressive_aim=0.01)
    assert due(talk(10), (), 1000, rules(), early) == "normal"
    assert due(talk(20), (), 1000, rules(), early) == "aggressive"
    assert rules_for("normal", rules(), 1000, early).most_tokens == 50
    assert rules_for("aggressive", rules(), 1000, early).most_tokens == 10


def test_each_trigger_has_its_aim() -> None:
    base = rules(most_messages=50)
    assert rules_for("messages", base, 1000) == base
    assert rules_for("normal", base, 1000) == rules(most_messages=50, most_tokens=700)
    assert rules_for("aggressive", base, 1000) == rules(most_messages=50, most_tokens=500)
    for trigger in ("task_boundary", "session_start"):
        assert rules_for(trigger, base, 1000) == rules(most_messages=50, finished_only=True)


@given(conversations(), st.integers(1, 3000), st.integers(1, 60))
def test_once_pruned_as_far_as_asked_nothing_is_due_any_more(
    said: list[Message], limit: int, most: int
) -> None:
    base = rules(most_messages=most, keep=3)
    trigger = due(said, (), limit, base)
    if trigger is not None:
        made = plan(said, rules_for(trigger, base, limit), NOW)
        if fits(made, rules_for(trigger, base, limit)) and limit >= 10:
            assert due(said, gone_from(made), limit, base) in (None, "task_boundary")


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


def test_by_importance_the_oldest_finished_task_goes_first_and_whole() -> None:
    strategy: Strategy = "importance"
    said = talk(40)
    said[9] = message(9, "Task complete", importance=1.0)
    said[10] = message(10, "Now let's work on the tests")
    said[19] = message(19, "Task complete", importance=0.0)
    said[20] = message(20, "Now let's work on the docs")
    made = plan(said, rules(most_messages=39, strategy=strategy), NOW)
    assert gone_from(made) == ids(said, *range(10))
    made = plan(said, rules(most_messages=29, strategy=strategy), NOW)
    assert gone_from(made) == ids(said, *range(20))
    assert {item.reason for item in made.pruned} == {"finished_task"}
    made = plan(said, rules(most_messages=19, strategy=strategy), NOW)
    assert len(made.kept) == 18


def test_directives_outlive_their_task() -> None:
    said = [*refactoring(30), message(30, "Now let's work on the tests")]
    said[1] = message(1, "Please refactor the parser", role=Role.USER)
    said[4] = message(4, "Never touch the tables")
    made = plan(said, rules_for("task_boundary", rules(keep=1), 100_000), NOW)
    assert made.kept == ids_tuple(said, 0, 4, 30)


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


def test_an_unfinished_task_does_not_go_when_the_next_begins() -> None:
    said = [*talk(30), message(30, "Now let's work on the tests")]
    assert due(said, (), 100_000, rules()) is None
    assert plan(said, rules_for("task_boundary", rules(), 100_000), NOW).pruned == ()


def test_finished_tasks_go_when_a_conversation_is_taken_up_again() -> None:
    said = refactoring(30)
    made = plan(said, rules_for("session_start", rules(keep=2), 100_000), NOW)
    assert made.kept == ids_tuple(said, 0, 28, 29)


def test_somebody_can_ask_for_fewer_messages_but_not_for_what_is_protected() -> None:
    said = talk(30)
    assert plan(said, rules(most_messages=4), NOW).kept == ids_tuple(said, *range(20, 30))
    assert len(plan(said, rules(most_messages=20), NOW).kept) == 20
    assert len(plan(said, rules(most_tokens=150), NOW).kept) == 15
    assert len(plan(said, rules(most_tokens=0), NOW).kept) == 10
