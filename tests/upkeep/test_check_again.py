"""A second `check` passes over what the first found sound, and misses nothing that has changed."""

import os
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest

from pmem import Project
from pmem.upkeep.integrity import Checked
from pmem.upkeep.record_checks import RecordCheck
from tests.conftest import NOW
from tests.storage.folders import contents, path_of, write


@pytest.fixture
def project(root: str) -> Project:
    made = Project(root, now=NOW)
    for text in ("Ovens are blue", "Doors are open", "Parsers are tables"):
        made.add(text, subject=text.split()[0])
    return made


def looked_at(project: Project, *, full: bool = False) -> tuple[Checked, list[str]]:
    paths: list[str] = []
    ordinary = RecordCheck.__init__

    def noted(self: RecordCheck, path: str, *given: object) -> None:
        paths.append(path)
        ordinary(self, path, *given)  # type: ignore[arg-type]

    with mock.patch.object(RecordCheck, "__init__", noted):
        checked = project.check(full=full)
    return checked, paths


def codes(checked: Checked) -> list[str]:
    return [finding.code for finding in checked.findings]


def test_what_was_found_sound_is_passed_over_until_somebody_wants_all(project: Project) -> None:
    assert len(looked_at(project)[1]) == 3
    again, paths = looked_at(project)
    assert (again.records, again.findings, paths) == (3, (), [])
    assert len(looked_at(project, full=True)[1]) == 3


def test_what_has_changed_is_looked_into_again(project: Project, root: str) -> None:
    project.check()
    path = path_of(root, project.list().items[0].id)
    write(path, contents(path).replace(b'"type": "fact",', b'"type": "fact",\n  "type": "fact",'))
    for _ in range(2):  # what is not sound is looked into each time
        checked, paths = looked_at(project)
        assert (codes(checked), paths) == (["damaged"], [path])


def test_a_link_that_leads_nowhere_any_more_is_found(project: Project, root: str) -> None:
    one, other, _ = (memory.id for memory in project.list().items)
    project.link(one, other)
    assert codes(project.check()) == []
    os.unlink(path_of(root, other))
    assert codes(project.check()) == ["dangling"]


@pytest.mark.parametrize(
    ("place", "is_lost"),
    [
        ("src/tides/**", True),
        ("src/tides/", True),
        ("/src/tides/ebb.py", True),
        ("src/**/ebb.py", False),
        ("*.sql", False),
        ("tides/", False),
        ("src/*/ebb.py", False),
    ],
)
def test_a_place_whose_folder_was_renamed_is_named_until_it_is_changed(
    project: Project, root: str, place: str, is_lost: bool
) -> None:
    top = Path(root).parent
    (top / "src/tides").mkdir(parents=True)
    (top / "src/tides/ebb.py").write_text("EBB = 1\n")
    made = project.add("Tides come from tables", places=(place, "!src/tides/old/")).memory
    assert codes(project.check()) == []
    (top / "src/tides").rename(top / "src/tide")
    for _ in range(2):
        assert codes(project.check()) == ["place"] * is_lost
    assert is_lost == (f"applies to {place}, but " in str(project.check().findings))
    project.edit(made.id, places=("src/tide/",), not_places=(place,))
    assert codes(project.check()) == []


def test_a_time_ahead_of_a_clock_that_was_set_right_is_found(project: Project, root: str) -> None:
    assert codes(project.check()) == []
    earlier = Project(root, now=NOW - timedelta(days=9))
    assert codes(earlier.check()) == ["ahead"] * 3
    assert codes(project.check()) == []


def test_memories_on_one_subject_are_told_each_time(project: Project, root: str) -> None:
    other = project.list().items[1]
    path = path_of(root, other.id)
    write(path, contents(path).replace(b'"Doors', b'"Ovens'))
    for _ in range(2):
        assert codes(project.check()) == ["same_subject"]


def test_a_replacement_that_went_is_told_each_time(project: Project) -> None:
    one, other, _ = (memory.id for memory in project.list().items)
    project.supersede_by(one, other)
    assert codes(project.check()) == []
    project.remove(other)
    first = codes(project.check())
    assert first == codes(project.check()) == codes(project.check(full=True))


def test_messages_kept_twice_are_told_each_time(project: Project, root: str) -> None:
    talk = project.start_conversation(title="Talk")
    for number in range(3):
        project.add_message("user", f"Line {number} of the talk")
    assert codes(project.check()) == []
    path = os.path.join(root, "conversations", f"{talk.id}.json")
    data = contents(path)
    start = data.index(b'"recent_messages": [') + len(b'"recent_messages": [')
    end = data.index(b"\n    }", start) + len(b"\n    }")
    write(path, data[:start] + data[start:end] + b"," + data[start:])
    for _ in range(2):
        assert "twice" in codes(project.check())
