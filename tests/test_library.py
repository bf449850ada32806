"""pmem in Python: the multi-tier design's example, and every operation of the command line."""

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import pmem
from pmem import AddRequest, Memory, PmemError, Project
from pmem.errors import InvalidValue, NoProject, NotFound, Refused
from pmem.values.records import State, Status
from tests.conftest import NOW


@pytest.mark.row("S2.6.9", "S2.14.1", "S3.13.1")
def test_the_multi_tier_designs_example_runs() -> None:
    """S2, Usage Example, in Python's naming."""
    memory = Project(
        memory_dir="./.project-memory",
        project_name="My Project",
        max_context_tokens=128000,
        chunk_size=10,
        max_recent_messages=20,
    )

    memory.start_conversation()
    memory.add_message("user", "What database should we use?")
    memory.add_message("assistant", "I recommend PostgreSQL for this use case.")
    memory.add_message("user", "We decided to use PostgreSQL.")

    context = memory.build_context("What was our database decision?")
    assert 0 < context.allocation.total_tokens <= 128000
    assert context.allocation.total_tokens == context.tokens
    assert "We decided to use PostgreSQL." in context.text
    assert context.text.startswith("# Memory of My Project")
    assert context.retrieval_results

    results = memory.search("PostgreSQL database")
    assert "PostgreSQL" in results.hits[0].text

    ended = memory.end_conversation("Database selection complete")
    memory.flush()
    assert (ended.status, ended.outcome) == (Status.ENDED, "Database selection complete")
    again = Project("./.project-memory")
    assert len(again.transcript(ended.id).messages) == 3


def test_what_the_command_line_does_the_library_does() -> None:
    project = Project(actor="ada", now=NOW)
    one = project.add("We use PostgreSQL", type="decision", subject="database").memory
    two = project.add_all([AddRequest(content="Tests use SQLite")])[0].memory
    assert project.add("We use MySQL", subject="database").action == "suggested"
    assert [one.id, two.id] == [memory.id for memory in project.list().items]
    assert project.edit(two.id, "Tests use DuckDB").content == "Tests use DuckDB"
    assert [event.event for event in project.history(two.id)] == ["ADD", "UPDATE"]
    assert project.link(one.id, two.id).relationships[0].target == two.id
    assert project.unlink(one.id, two.id).relationships == ()
    assert project.pin(one.id).pinned
    (removed,) = project.remove(two.id)
    assert removed.state is State.SOFT_DELETED
    (restored,) = project.restore(two.id)
    assert restored.state is State.ACTIVE
    project.purge(two.id, force=True)
    with pytest.raises(NotFound):
        project.show(two.id)
    assert project.stats().memories == 1
    assert project.check().findings == ()
    assert all(item.ok for item in project.doctor())
    assert project.problems == []


def test_conversations_and_exchange_are_there_too(tmp_path: Path) -> None:
    project = Project(actor="ada")
    begun = project.start_conversation("Queue")
    project.pause_conversation()
    assert project.resume_conversation().status is Status.ACTIVE
    project.add_message("user", "Kafka or RabbitMQ?", speaker="Mira")
    assert project.clear_conversation().cleared_turns == 1
    assert [item.id for item in project.conversations(Status.ACTIVE)] == [begun.id]
    line = b'{"content": "Imported", "conversation": "c", "id": "1"}'
    assert project.import_messages([line]).added == 1
    assert project.import_messages([line]).unchanged == 1
    (tmp_path / "out").mkdir()
    for name, data in project.export_arrays().items():
        (tmp_path / "out" / name).write_bytes(data)
    assert project.import_arrays(str(tmp_path / "out")).added == 0


def test_a_project_is_discovered_from_below() -> None:
    Project()
    os.makedirs("src/deep")
    os.chdir("src/deep")
    found = Project.discover()
    assert isinstance(found.add("From below").memory, Memory)
    os.chdir("/")
    with pytest.raises(NoProject):
        Project.discover("/")


def test_a_read_only_project_refuses_to_write() -> None:
    Project().add("Deploy on Friday")
    project = Project(read_only=True)
    assert project.search("deploy").total == 1
    with pytest.raises(Refused):
        project.add("More")


def test_a_project_shows_what_it_was() -> None:
    begun = Project(actor="ada", now=NOW)
    memory = begun.add("We use MySQL", valid_until=NOW + timedelta(days=9)).memory
    project = Project(actor="ada", now=NOW + timedelta(days=2))
    project.edit(memory.id, "We use PostgreSQL")
    then = NOW + timedelta(days=1)
    view = project.at(then)
    assert view.show(memory.id) == project.show(memory.id, at=then) == memory
    assert view.list() == project.list(at=then)
    assert view.list().items == (memory,)
    assert project.at(NOW + timedelta(days=9)).list().total == 0
    assert project.list().total == 1
    assert view.search("MySQL") == project.search("MySQL", at=then)
    assert view.build_context().text == project.build_context(at=then).text
    assert len(view.history(memory.id)) == 1
    assert len(project.history(memory.id)) == 2
    assert view.at(NOW - timedelta(days=1)).list().total == 0
    with pytest.raises(Refused, match="what has been cannot be changed"):
        view.add("More")
    with pytest.raises(InvalidValue, match="calendar"):
        project.at(datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))))


def test_a_setting_that_is_wrong_says_so() -> None:
    with pytest.raises(InvalidValue, match="chunk_size"):
        Project(chunk_size=0).start_conversation()


def test_the_package_offers_what_it_names_and_nothing_else() -> None:
    assert {name: getattr(pmem, name).__name__ for name in pmem.__all__} == {
        name: name for name in pmem.__all__
    }
    with pytest.raises(AttributeError):
        _ = pmem.NoSuchName
    assert issubclass(InvalidValue, PmemError)


def test_what_is_no_text_gets_a_sentence(root: str) -> None:
    project = Project(root)
    for call in (
        lambda: project.apps.remember(5, "x"),
        lambda: project.apps.remember("mail", 5),
        lambda: project.apps.remember("mail", "x", importance="much"),
        lambda: project.add(5),
    ):
        with pytest.raises(InvalidValue, match=r"must be (text|a number), not (text|a whole)"):
            call()


def test_settings_may_be_given_as_nested_tables(root: str) -> None:
    project = Project(root, categories={"context": {"profile": "rag"}}, limits={"memory": 9})
    settings = project.workspace.settings
    assert settings.categories.context["profile"] == "rag"
    assert settings.limits.memory == 9
    assert Project(root, allowlists={"bot": ["goals"]}).workspace.settings.allowlists == {
        "bot": ("goals",)
    }


@pytest.mark.parametrize(
    "given", [{"nonsense": 1}, {"limits": {"memry": 9}}, {"categories": {"contexts": {"a": "rag"}}}]
)
def test_a_setting_that_does_not_exist_is_told_on_use(given: dict[str, Any], root: str) -> None:
    with pytest.raises(InvalidValue, match="there is no setting"):
        Project(root, **given).stats()


def test_memories_that_several_processes_add_by_one_given_clock_keep_their_order(
    tmp_path: Path,
) -> None:
    place = str(tmp_path / ".project-memory")
    said = [f"Step {number} of the release is done." for number in range(8)]
    made = [Project(place, now=NOW).add(text, force=True).memory.id for text in said]
    assert made == sorted(made)
