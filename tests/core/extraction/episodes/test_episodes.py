"""Key moments as a conversation goes on, and its arc."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.extraction.episodes import (
    AT_ONCE,
    REACH,
    SUMMARY,
    TITLE,
    Moment,
    arc,
    moments,
)
from pmem.values.records import Episode, EpisodeType, Message, Role, TurnRange
from tests.conftest import NOW
from tests.core.extraction.scores import message
from tests.work import STALLED, WITHIN, calls, seconds

LINES = st.sampled_from(
    [
        "The site is down!", "it's fixed", "works now, thanks", "Let's go with Kafka.", "hi",
        "Which broker do we want?", "We decided to use Kafka because it is fast.", "Done.",
        "The root cause was a typo.", "Scrap that, we use Go instead.", "Please write the guide.",
        "I finished the guide.", "Is it fixed?", "```\ndone\n```", "", "Traceback (most recent",
        "There is a memory leak in the worker.", "完了",
    ]
)  # fmt: skip
TALKS = st.lists(st.tuples(st.sampled_from(Role), LINES | st.text(max_size=60)), max_size=12)


def talk(*lines: str) -> list[Message]:
    """Return messages of Ada and Bo in turn."""
    return [message(line, speaker=("Ada", "Bo")[i % 2]) for i, line in enumerate(lines)]


def only(*lines: str) -> Moment:
    (moment,) = moments(talk(*lines))
    return moment


def episode(
    number: int, end: int | None = None, significance: float = 0.5, start: int = 1
) -> Episode:
    at = NOW + timedelta(minutes=number)
    return Episode(
        id=f"e-{number:08d}",
        type=EpisodeType.PIVOT,
        title="A turn",
        summary="",
        significance=significance,
        turns=None if end is None else TurnRange(start=min(start, end), end=end),
        created_at=at,
        updated_at=at,
    )


def numbers(episodes: tuple[Episode, ...]) -> list[int]:
    return [int(one.id[2:]) for one in episodes]


def test_a_decision_carries_its_question_its_reason_and_its_outcome() -> None:
    moment = only(
        "Hello.",
        "Which broker do we want for the events?",
        "Kafka or NATS.",
        "So, we decided to use NATS. The reason is that it is easier to run.",
    )
    assert moment == Moment(
        type=EpisodeType.DECISION_MADE,
        title="We decided to use NATS",
        summary="So, we decided to use NATS. The reason is that it is easier to run.",
        context="Which broker do we want for the events?",
        participants=("Bo", "Ada"),
        outcome="we decided to use NATS",
        valence=0.2,
        significance=0.8,
        first=1,
    )


def test_a_solved_problem_begins_with_the_report_and_tells_both() -> None:
    moment = only(
        "The import fails with a timeout.", "I raised the limit.", "ok", "It's fixed now."
    )
    assert (EpisodeType.PROBLEM_SOLVED, 0) == (moment.type, moment.first)
    assert "The import fails with a timeout. It's fixed now." == moment.summary
    assert ("The import fails with a timeout.", "It's fixed now") == (moment.title, moment.outcome)


def test_of_many_moments_in_one_message_the_first_two_are_told() -> None:
    found = moments(
        talk(
            "The import fails with a timeout.",
            "It works now. The root cause was a typo. We decided to use Kafka because it is fast. "
            "I finished the guide.",
        )
    )
    assert [moment.type for moment in found] == [
        EpisodeType.PROBLEM_SOLVED,
        EpisodeType.BREAKTHROUGH,
    ]


def test_a_solution_without_a_problem_is_no_moment() -> None:
    assert [] == moments(talk("Hello", "It's fixed now."))


@pytest.mark.parametrize(
    ("solution", "first"),
    [
        ("The login works now.", 0),
        ("I raised the limit of the invoices. It's fixed.", 1),
        ("It's fixed now.", 1),
    ],
)
def test_of_two_problems_the_one_with_the_same_words_is_solved_else_the_latest(
    solution: str, first: int
) -> None:
    said = ("The login page shows an error.", "The export of invoices crashes.", "ok")
    moment = only(*said, solution)
    assert (EpisodeType.PROBLEM_SOLVED, first) == (moment.type, moment.first)
    assert moment.context == said[first]


def test_after_a_solution_the_other_problem_is_still_open_by_its_name() -> None:
    said = ("The login page shows an error.", "The export crashes.", "The export is fixed.")
    assert 0 == only(*said, "The login works now.").first
    assert [] == moments(talk(*said, "It works now, thanks."))


def test_a_problem_that_goes_on_begins_where_it_was_first_told() -> None:
    said = ("The login page shows an error.", "It is still broken.", "Here is the login error.")
    assert 0 == only(*said, "Fixed.").first


@pytest.mark.parametrize(
    "lines",
    [
        ("The import is broken.", "It's fixed.", "yes, fixed now"),
        ("Let's go with Kafka.", "ok", "yes, we go with Kafka"),
        ("I released 2.0 today!", "great", "We released 2.0, wow"),
        ("The site is down!", "really?", "Yes, the site is down"),
        ("Aha! The pool was too small.", "Right.", "The root cause is the pool size."),
        (
            "The root cause was a typo.",
            "So the root cause was a typo?!",
            "The root cause was a typo",
        ),
    ],
)
def test_the_same_moment_is_told_once(lines: tuple[str, ...]) -> None:
    assert [] == moments(talk(*lines))


@pytest.mark.parametrize(
    ("line", "kind", "significance", "valence"),
    [
        ("We decided to use Kafka.", EpisodeType.DECISION_MADE, 0.7, 0.2),
        ("We decided to use Kafka because it is fast.", EpisodeType.DECISION_MADE, 0.8, 0.2),
        ("The root cause was a typo.", EpisodeType.BREAKTHROUGH, 0.8, 0.8),
        ("There is a memory leak in the worker.", EpisodeType.ISSUE_IDENTIFIED, 0.7, -0.7),
        ("The site is down!", EpisodeType.ISSUE_IDENTIFIED, 0.9, -0.9),
        (
            "The login is broken and blocks the release!",
            EpisodeType.ISSUE_IDENTIFIED,
            0.9,
            -0.9,
        ),
        ("I finished the first chapter.", EpisodeType.TASK_COMPLETED, 0.6, 0.6),
        ("We released version 2 today.", EpisodeType.TASK_COMPLETED, 0.8, 0.6),
        ("Great, we released version 2 today.", EpisodeType.TASK_COMPLETED, 0.8, 0.7),
        ("Change of plan: we build a web app.", EpisodeType.PIVOT, 0.8, 0.0),
        ("Unfortunately there is a change of plan.", EpisodeType.PIVOT, 0.8, -0.2),
    ],
)
def test_significance_and_valence_follow_from_the_type(
    line: str, kind: EpisodeType, significance: float, valence: float
) -> None:
    moment = only(line)
    assert (kind, significance, valence) == (moment.type, moment.significance, moment.valence)


@pytest.mark.parametrize(
    "line",
    [
        "Is the site down?",
        "If the site is down, call me.",
        "The docs say the bug is fixed.",
        "> We decided to use Kafka.",
        "```\nThe site is down!\n```",
        "Maybe we should change the plan.",
        "I'm done for today.",
        "Finally weekend!",
        "The warnings are gone.",
        "The site is not down.",
        "My broken arm hurts.",
        "",
        "👍",
    ],
)
def test_small_talk_questions_and_quotations_are_no_moments(line: str) -> None:
    assert [] == moments(talk("The weather is nice.", line))


@pytest.mark.parametrize(
    ("lines", "title", "outcome"),
    [
        (("Change of plan: we build a web app.",), "We build a web app", "we build a web app"),
        (("Change of plan! We build a web app.",), "We build a web app", "We build a web app"),
        (("Scrap that. It has to be Go.",), "It has to be Go", "It has to be Go"),
        (("Scrap that. Why not Go?",), "Scrap that", "Scrap that"),
        (("Aha! The pool was too small.",), "The pool was too small", "The pool was too small"),
        (("Done: I wrote the guide.",), "I wrote the guide", "I wrote the guide"),
        (("Please write the guide. It is late.", "Done."), "Please write the guide.", "Done"),
        (("The shop is down.", "Fixed!"), "The shop is down.", "Fixed"),
        (
            ("The shop is down.", "Fixed: the certificate had expired."),
            "Fixed: the certificate had expired",
            "Fixed: the certificate had expired",
        ),
    ],
)
def test_a_title_says_what_was_done_or_found_or_planned(
    lines: tuple[str, ...], title: str, outcome: str
) -> None:
    moment = only(*lines)
    assert (title, outcome) == (moment.title, moment.outcome)
    assert (moment.outcome or "").rstrip(".") in moment.summary


def test_a_change_of_plan_is_not_a_decision_as_well() -> None:
    assert EpisodeType.PIVOT is only("Scrap that. We decided to use Go.").type
    assert EpisodeType.PIVOT is only("Instead of the shop we build a catalogue.").type


@given(TALKS)
def test_moments_keep_their_bounds(lines: list[tuple[Role, str]]) -> None:
    said = [message(text, role) for role, text in lines]
    found = moments(said)
    assert len(found) <= AT_ONCE
    assert len({moment.type for moment in found}) == len(found)
    assert not found or said[-1].role in (Role.USER, Role.ASSISTANT)
    for moment in found:
        assert 0 <= moment.significance <= 1
        assert -1 <= moment.valence <= 1
        assert 0 < len(moment.title) <= TITLE
        assert 0 < len(moment.summary) <= SUMMARY
        assert 0 <= moment.first < len(said)
        assert (moment.outcome is None) == (moment.type is EpisodeType.ISSUE_IDENTIFIED)
    assert found == moments(said)


@given(TALKS)
def test_what_was_said_long_ago_does_not_matter(lines: list[tuple[Role, str]]) -> None:
    said = [message("The mail is broken.")] + [message("hm")] * REACH
    said += [message(text, role) for role, text in lines]
    late = said[max(0, len(said) - 1 - REACH) :]
    moved = len(said) - len(late)
    shifted = [one._replace(first=one.first + moved) for one in moments(late)]
    assert shifted == moments(said)


@pytest.mark.parametrize("last", ["The site is down.\n", "The root cause was the site. "])
def test_long_messages_take_no_time(last: str) -> None:
    said = [message("Sarah is our lead and the site is down.\n" * 25_000)] * REACH
    said.append(message(last * 25_000))
    assert calls(lambda: moments(said)) < WITHIN * 100
    assert seconds(lambda: moments(said)) < STALLED


@given(
    st.lists(st.tuples(st.none() | st.integers(0, 60), st.floats(0, 1)), max_size=12),
    st.none() | st.integers(0, 60),
)
def test_every_episode_is_in_one_third_and_in_order(
    drawn: list[tuple[int | None, float]], turns: int | None
) -> None:
    episodes = [episode(i, end, worth) for i, (end, worth) in enumerate(drawn)]
    told = arc(reversed(episodes), turns)
    placed = [*told.beginning, *told.middle, *told.end]
    assert sorted(one.id for one in placed) == sorted(one.id for one in episodes)
    assert list(told.key_moments) == [one for one in placed if one.significance >= 0.7]
    ends = [one.turns.end for one in placed if one.turns]
    assert ends == sorted(ends)


def test_an_arc_goes_by_the_turns_of_the_conversation() -> None:
    told = arc([episode(1, 30), episode(2, 1), episode(3, 10), episode(4, 11), episode(5, 21)], 30)
    thirds = [numbers(told.beginning), numbers(told.middle), numbers(told.end)]
    assert [[2, 3], [4], [5, 1]] == thirds


def test_what_comes_of_a_whole_conversation_stands_at_its_end() -> None:
    told = arc([episode(1, 12, start=1), episode(2, 2, start=2)], 12)
    assert [[2], [], [1]] == [numbers(told.beginning), numbers(told.middle), numbers(told.end)]


def test_episodes_without_turns_go_by_their_time() -> None:
    told = arc([episode(3), episode(1), episode(2)])
    assert [[1], [2], [3]] == [numbers(told.beginning), numbers(told.middle), numbers(told.end)]
    mixed = arc([episode(1, 1), episode(2, 29), episode(3), episode(4, 15)], 30)
    assert [[1], [4], [2, 3]] == [
        numbers(mixed.beginning), numbers(mixed.middle), numbers(mixed.end),
    ]  # fmt: skip
