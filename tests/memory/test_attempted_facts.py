"""Where a dead end that talk tells of applies: the file it names, or the one edited with it."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from pmem import Project
from tests.storage.in_memory import InMemory

TOLD = "The issue is that `flock` is not honoured on NFS. Use a lease file instead."


def edit(file: str) -> dict[str, Any]:
    call = {"id": file, "name": "Edit", "input": {"file_path": file}}
    return {"role": "assistant", "content": f"Edit: {file}", "tool_call": call}


def says(text: str, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": text}


def places(made: Project, *messages: dict[str, Any]) -> tuple[str, ...]:
    """Return where the only dead end that messages tell of applies."""
    lines = (
        {"timestamp": f"2026-01-01T10:{number:02d}:00Z", "conversation": "work", **message}
        for number, message in enumerate(messages)
    )
    made.import_messages([orjson.dumps(line) for line in lines])
    (found,) = (one.fact for one in made.facts().items if one.fact.type == "dead_end")
    return found.places


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(backend=InMemory())


def test_a_dead_end_applies_to_the_file_that_is_edited_next(made: Project) -> None:
    said = (edit("src/log.py"), says(TOLD), edit("src/lock.py"), edit("src/late.py"))
    assert places(made, *said) == ("/src/lock.py",)


def test_a_file_that_it_names_comes_first(made: Project) -> None:
    text = "We reverted the lock in src/queue.py because it hung on NFS."
    assert places(made, edit("src/log.py"), says(text)) == ("/src/queue.py",)


def test_what_is_edited_after_the_next_word_of_a_person_is_another_matter(made: Project) -> None:
    said = (edit("src/lock.py"), says(TOLD), says("Now the log.", "user"), edit("src/log.py"))
    assert places(made, *said) == ("/src/lock.py",)


def test_files_are_seen_from_the_top_of_the_project(made: Project, tmp_path: Path) -> None:
    assert places(made, says(TOLD), edit(str(tmp_path / "src/lock.py"))) == ("/src/lock.py",)


@pytest.mark.parametrize("file", ["/etc/hosts", "~/plan.md", "../other/a.py", "C:\\a.py"])
def test_files_outside_of_the_project_are_no_place(made: Project, file: str) -> None:
    assert places(made, edit(file), says(TOLD)) == ()
