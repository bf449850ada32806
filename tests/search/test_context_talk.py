"""A task that only points at the talk before it is looked for with the end of that talk."""

from pathlib import Path

import pytest

from pmem import Project
from tests.conftest import NOW

REASON = "Redis was picked since sessions must outlive a restart"
OTHERS = (
    "The oven door has to stay closed while the rolls bake",
    "Invoices are sent on the first Monday of a month",
    "The parser reads one line at a time",
    "Release notes live beside the code",
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a memory with a talk on Redis."""
    made = Project(str(tmp_path / ".project-memory"), now=NOW)
    for text in (REASON, *OTHERS):
        made.add(text)
    made.start_conversation("sessions")
    made.add_message("user", "Redis keeps the sessions, does it not?")
    made.add_message("assistant", "Redis keeps them, and it has for a year.")
    return made


@pytest.mark.row("S2.6.4")
@pytest.mark.parametrize(
    "task", ["what was the reason again?", "why is that?", "Tell me the reason for it."]
)
def test_a_task_that_points_back_finds_what_the_talk_was_on(task: str, project: Project) -> None:
    assert REASON in project.build_context(task, budget=600).text


@pytest.mark.parametrize(
    "task", ["What was the reason?", "send invoices and bake rolls again", "bake the rolls"]
)
def test_a_task_of_its_own_words_is_looked_for_alone(task: str, project: Project) -> None:
    assert REASON not in project.build_context(task, budget=120).text


def test_what_a_task_says_itself_comes_first(project: Project) -> None:
    text = project.build_context("the rolls again", budget=120).text
    assert text.index(OTHERS[0]) < text.index(REASON)


def test_without_a_talk_a_task_that_points_back_finds_nothing(tmp_path: Path) -> None:
    made = Project(str(tmp_path / ".project-memory"), now=NOW)
    made.add(REASON)
    assert REASON not in made.build_context("what was the point of it again?", budget=60).text
