"""Key moments of work with an assistant, by the shape of the dialogue."""

import pytest

from pmem.core.extraction.episodes import Moment, moments
from pmem.values.records import EpisodeType, Message, Role
from tests import work
from tests.conftest import NOW
from tests.core.extraction.scores import message

ISSUE, SOLVED = EpisodeType.ISSUE_IDENTIFIED, EpisodeType.PROBLEM_SOLVED
DECIDED, COMPLETED = EpisodeType.DECISION_MADE, EpisodeType.TASK_COMPLETED
ASKED = "Add an export of the tables as `csv` files."
FIXED = "I've fixed the reader in `read.py`."


def person(text: str) -> Message:
    return message(text, Role.USER, "Ada")


def assistant(text: str) -> Message:
    return message(text, Role.ASSISTANT, "Bot")


def calls(count: int = 6) -> list[Message]:
    """Return calls of a tool, in which everything that could be a sign stands."""
    text = "We decided to use it. The site is down. I've fixed `it`. Done."
    one = Message(
        id="c",
        role=Role.ASSISTANT,
        content=text,
        created_at=NOW,
        speaker="Bot",
        tool_call={"name": "s"},
    )
    return [one] * count


def of_last(*said: Message) -> Moment | None:
    found = moments(said)
    assert len(found) <= 1
    return found[0] if found else None


def type_of(*said: Message) -> EpisodeType | None:
    moment = of_last(*said)
    return None if moment is None else moment.type


@pytest.mark.parametrize(
    "text",
    [
        "The table is empty.",
        "it does not show the names",
        "you left out the header",
        "$ make all\nnothing to do",
        "look at this\nTypeError: x is none\n  at a.py",
        "I get an error from the second page",
    ],
)
def test_a_person_who_reports_or_pastes_trouble_raises_an_issue(text: str) -> None:
    assert ISSUE is type_of(*calls(), person(text))


@pytest.mark.parametrize(
    "text",
    [
        "fix the error in the second table",
        "is there an error in it?",
        "run it once more",
        "thanks",
        "can you write option 2 down",
        "which of both do you like?",
    ],
)
def test_what_asks_for_work_or_asks_is_neither_an_issue_nor_a_decision(text: str) -> None:
    assert type_of(*calls(), person(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "the names should be in a column of their own",
        "let's use one table for all of them",
        "I like option 2",
        "start with #3",
        "the second one please",
        "neither, leave it",
    ],
)
def test_a_rule_or_a_choice_is_a_decision(text: str) -> None:
    assert DECIDED is type_of(*calls(), person(text))


def test_the_last_words_of_a_long_turn_complete_a_task() -> None:
    done = assistant("I've added the export in `out.py`.")
    moment = of_last(person(ASKED), *calls(), done)
    assert moment is not None
    assert (moment.type, moment.first, moment.context) == (COMPLETED, 0, ASKED)
    assert moment.title == "I've added the export in `out.py`."
    assert moment.outcome == "I've added the export in `out.py`."
    assert moment.participants == ("Ada", "Bot")


def test_a_short_turn_completes_none_unless_it_went_out() -> None:
    assert type_of(person(ASKED), *calls(5), assistant(FIXED)) is None
    assert COMPLETED is type_of(person(ASKED), *calls(1), assistant("Committed as `ab12cd3`."))


def test_a_turn_is_completed_once() -> None:
    assert type_of(person(ASKED), *calls(), assistant(FIXED), assistant(FIXED)) is None
    again = (person("next"), *calls(), assistant(FIXED))
    assert COMPLETED is type_of(person(ASKED), *calls(), assistant(FIXED), *again)


def test_a_summary_is_called_by_what_was_asked_for() -> None:
    summary = assistant("Here's a summary of the changes: `a.py` is new.")
    moment = of_last(person(ASKED), *calls(), summary)
    assert moment is not None
    assert moment.title == ASKED
    alone = of_last(*calls(), summary)
    assert alone is not None
    assert alone.title == "`a.py` is new."


def test_a_word_to_go_on_is_no_request() -> None:
    moment = of_last(person(ASKED), *calls(), person("go on"), *calls(), assistant(FIXED))
    assert moment is not None
    assert (moment.first, moment.context) == (0, ASKED)


@pytest.mark.row("S2.5.1")
@pytest.mark.parametrize(
    ("told", "title"),
    [
        ("Committed. The parser and its tests are in `a.py` now.", "The parser and its tests"),
        ("Fixed. All done.", "Add an export of the tables"),
        ("I've added the **export** in `out.py`:\n1. **Rows** come first", "I've added the export"),
    ],
)
def test_g7_a_title_says_more_than_that_it_is_done_and_has_no_marks(told: str, title: str) -> None:
    moment = of_last(person(ASKED), *calls(), assistant(told))
    assert moment is not None
    assert moment.title.startswith(title)
    assert not moment.title.endswith(":")
    assert "**" not in moment.title


def test_what_is_done_about_an_open_issue_solves_it() -> None:
    moment = of_last(*calls(1), person("The table is empty."), *calls(1), assistant(FIXED))
    assert moment is not None
    assert (moment.type, moment.first) == (SOLVED, 1)
    assert moment.context == "The table is empty."
    assert moment.summary == f"The table is empty. {FIXED}"


def test_an_issue_is_told_and_solved_once() -> None:
    told = [*calls(1), person("The table is empty.")]
    assert type_of(*told, person("It is not there.")) is None
    solved = [*told, *calls(), assistant(FIXED)]
    assert ISSUE is type_of(*solved, person("It is still empty."))
    assert ISSUE is type_of(*solved, person("The header is missing."))
    assert COMPLETED is type_of(*solved, person("Thanks, on we go."), *calls(), assistant(FIXED))


@pytest.mark.parametrize("piece", ["not ", "$ ", "error", "option ", "\n", "I've added `a`. "])
def test_long_messages_take_no_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    said = [*calls(1), *(one(text + str(i)) for i in range(15) for one in (person, assistant))]
    assert work.calls(lambda: moments(said)) < work.WITHIN * 20
    assert work.seconds(lambda: moments(said)) < work.STALLED


@pytest.mark.parametrize(
    "text",
    [
        "Stop hook feedback:\nBad.\n\nfatal: the table is empty",
        "<system-reminder>\nfatal: the table is empty\n</system-reminder>",
    ],
)
def test_trouble_that_only_a_program_tells_of_is_not_what_a_person_reports(text: str) -> None:
    assert type_of(*calls(), person(text)) is None
