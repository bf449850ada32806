"""Each text that a memory has had, numbered from the first."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.core.retention import version_number, versions
from pmem.errors import InvalidValue, NotFound
from pmem.values.records import Memory
from tests.cli.shell import pmem
from tests.conftest import NOW


def _kept(project: Project, reference: str) -> Memory:
    found = project.show(reference)
    assert isinstance(found, Memory)
    return found


@pytest.mark.row("S4.2.4", "S4.2.6")
def test_versions_are_numbered_from_one_and_the_last_is_what_holds(root: str) -> None:
    sarah = Project(root, actor="ana", now=NOW).add("Sarah works on Platform.").memory
    for day, text in enumerate(("Sarah works on Design.", "Sarah leads Design."), start=1):
        Project(root, actor="ben", now=NOW + timedelta(days=day)).edit(sarah.id, text)
    project = Project(root)
    told = [(one.number, one.content, one.actor) for one in project.versions(sarah.id[-8:])]
    assert told == [
        (1, "Sarah works on Platform.", "ana"),
        (2, "Sarah works on Design.", "ben"),
        (3, "Sarah leads Design.", "ben"),
    ]
    days = [(one.created_at - NOW).days for one in project.versions(sarah.id)]
    assert days == [0, 1, 2]


def test_what_leaves_the_text_alone_makes_no_version(root: str) -> None:
    project = Project(root, now=NOW)
    kept = project.add("The API answers within 200 ms.").memory
    project.edit(kept.id, importance=0.9)
    project.pin(kept.id)
    assert version_number(_kept(project, kept.id)) == 1


@pytest.mark.row("S4.2.5")
def test_a_version_names_the_conversation_that_it_comes_from(root: str) -> None:
    project = Project(root, now=NOW)
    begun = project.start_conversation("Teams")
    kept = project.add("Sarah works on Platform.").memory
    project.edit(kept.id, "Sarah works on Design.", conversation=begun.id[-8:])
    assert [one.conversation for one in project.versions(kept.id)] == [None, begun.id]
    with pytest.raises(NotFound):
        project.edit(kept.id, "Sarah leads Design.", conversation="nosuch")


@pytest.mark.row("S4.4.4")
def test_an_edit_answers_with_what_was_and_the_number_of_the_version(root: str) -> None:
    kept = Project(root, now=NOW).add("Sarah works on Platform.").memory
    done = pmem("-C", root, "edit", kept.id, "Sarah works on Design.", "--json")
    assert b'"version":2,"was":"Sarah works on Platform."' in done.out
    listed = pmem("-C", root, "log", kept.id, "--versions").text.splitlines()[::-1]
    assert [line.split()[0] for line in listed] == ["v1", "v2"]
    assert "was" not in pmem("-C", root, "edit", kept.id, "Sarah works on Design.", "--json").text


@pytest.mark.row("S4.2.3")
def test_what_was_removed_cannot_be_changed_until_it_is_restored(root: str) -> None:
    project = Project(root, now=NOW)
    kept = project.add("Sarah works on Platform.").memory
    project.remove(kept.id)
    with pytest.raises(InvalidValue, match="was removed") as refused:
        project.edit(kept.id, "Sarah works on Design.")
    assert f"pmem restore {kept.id[-8:]}" in (refused.value.hint or "")
    project.restore(kept.id)
    assert project.edit(kept.id, "Sarah works on Design.").content == "Sarah works on Design."


@given(st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=6))
def test_versions_are_the_texts_in_the_order_in_which_they_were_given(texts: list[str]) -> None:
    from pmem.core.retention import changed
    from pmem.values.records import Event, EventKind

    first = Event(event=EventKind.ADD, at=NOW)
    memory = Memory(
        id="m", content="none", category="c", valid_from=NOW, created_at=NOW, updated_at=NOW,
        history=(first,)
    )  # fmt: skip
    for text in texts:
        if text != memory.content:
            memory = changed(memory, Event(event=EventKind.UPDATE, at=NOW), content=text)
    distinct = ["none", *(t for n, t in enumerate(texts) if n == 0 or texts[n - 1] != t)]
    assert [one.content for one in versions(memory)] == distinct
    assert version_number(memory) == len(distinct)
