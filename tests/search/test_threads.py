"""Threads: each is told what is new to it, once, and gets its state back as it left it."""

import os
import subprocess
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, settings

from pmem import Project
from pmem.errors import Damaged, InvalidValue, NotFound, Refused, StorageRefused
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search import threads
from pmem.search.threads import (
    CheckpointInfo,
    CheckpointRequest,
    CheckpointsRequest,
    Delta,
    SaveRequest,
)
from pmem.storage.local.state import LocalState, Threads
from pmem.values.records import Event, EventKind, dump
from tests import strategies
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples


@pytest.fixture
def project() -> Project:
    """Return a project's memory in a git repository, with everything committed."""
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    made = Project(".project-memory", actor="tester", now=NOW)
    made.add("The kitchen closes at ten", "constraint")
    made.add("Serve pancakes on Sundays", "goal")
    subprocess.run(["git", "add", "--all"], check=True)
    commit = ["git", "-c", "user.name=Kim", "-c", "user.email=k@example.org", "commit", "-qm", "x"]
    subprocess.run(commit, check=True)
    return made


def status() -> str:
    done = subprocess.run(["git", "status", "--porcelain"], capture_output=True, check=True)
    return done.stdout.decode()


def delta(project: Project, thread: str = "review", **options: Any) -> Delta:
    return threads.delta(project.workspace, thread, **options)


def save(project: Project, state: Any, thread: str = "review", user: str = "") -> CheckpointInfo:
    request = SaveRequest(thread=thread, state=state, user=user)
    return ask(project.workspace, table.SAVE_CHECKPOINT, request)


def load(project: Project, thread: str = "review", user: str = "") -> dict[str, Any]:
    request = CheckpointRequest(thread=thread, user=user)
    return ask(project.workspace, table.LOAD_CHECKPOINT, request).state


def users(project: Project, user: str | None = None) -> list[str]:
    listed = ask(project.workspace, table.CHECKPOINTS, CheckpointsRequest(user=user)).items
    return [info.user for info in listed]


def revisions(found: Delta) -> tuple[int, int, int]:
    return (found.since, found.revision, found.total)


# News


def test_a_new_thread_is_told_nothing(project: Project) -> None:
    assert revisions(delta(project)) == (0, 1, 0)
    assert revisions(delta(project)) == (1, 2, 0)
    assert delta(project).lines == ()


def test_a_thread_is_told_once_what_is_new(project: Project) -> None:
    delta(project)
    project.add("Ship the menu by September", "goal")
    found = delta(project)
    assert revisions(found) == (1, 2, 1)
    assert list(found.lines) == [
        "Memory updates since rev 1:",
        "- +created: [goals] Ship the menu by September (imp=4)",
    ]
    assert revisions(delta(project)) == (2, 3, 0)


def test_threads_do_not_take_news_from_each_other(project: Project) -> None:
    delta(project, "one")
    project.add("Ship the menu by September", "goal")
    delta(project, "two")
    project.add("Mira peels the apples")
    assert [revisions(delta(project, name)) for name in ("one", "two", "three")] == [
        (1, 2, 2),
        (1, 2, 1),
        (0, 1, 0),
    ]


def test_links_are_no_news(project: Project) -> None:
    delta(project)
    first, second = (memory.id for memory in project.list().items)
    project.link(first, second)
    assert revisions(delta(project)) == (1, 2, 0)


def test_an_older_event_that_a_pull_brings_in_is_told_once(project: Project) -> None:
    delta(project)
    long_ago = NOW.replace(year=2001)
    late = msgspec.structs.replace(
        project.list().items[0],
        id="mwqi0000-00000001",
        content="Written on a branch, long ago",
        history=(Event(event=EventKind.ADD, at=long_ago, actor="ben"),),
    )
    with open(f".project-memory/long-term-memory/{late.id}.json", "wb") as file:
        file.write(dump(late))
    found = delta(project)
    assert [change.content for change in found.changes] == ["Written on a branch, long ago"]
    assert revisions(delta(project)) == (2, 3, 0)


def test_looking_without_marking_tells_the_same_again(project: Project) -> None:
    assert revisions(delta(project, mark=False)) == (0, 0, 0)
    assert not os.path.exists(".project-memory/local/state.sqlite3")
    delta(project)
    project.add("Mira peels the apples")
    looking = Project(".project-memory", now=NOW, read_only=True)
    for found in (delta(project, mark=False), delta(looking), delta(looking), delta(project)):
        assert found.total == 1
        assert found.lines[0] == "Memory updates since rev 1:"
    assert delta(project).total == 0


def test_a_folder_that_cannot_be_written_tells_the_same_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    delta(project)
    project.add("Mira peels the apples")

    def refuses(*args: object) -> None:
        raise StorageRefused("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Threads, "advance_by", refuses)
        assert [revisions(delta(project)) for _ in range(2)] == [(1, 1, 1)] * 2
        assert revisions(delta(project, "new")) == (0, 0, 0)
    assert revisions(delta(project)) == (1, 2, 1)


def test_memories_that_were_read_already_are_not_read_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    delta(project)
    project.add("Mira peels the apples")
    known = list(project.workspace.memories.find())
    monkeypatch.setattr(type(project.workspace.memories), "find", None)
    assert revisions(delta(project, memories=iter(known))) == (1, 2, 1)


def test_nothing_that_git_tracks_changes(project: Project) -> None:
    delta(project)
    save(project, {"context": "step 3"})
    load(project)
    assert status() == ""


def test_a_damaged_state_is_named_and_kept(project: Project) -> None:
    delta(project)
    path = os.path.abspath(".project-memory/local/state.sqlite3")
    with open(path, "wb") as file:
        file.write(b"no database")
    for request in (
        lambda: delta(project),
        lambda: save(project, {}),
        lambda: users(project),
    ):
        with pytest.raises(Damaged) as caught:
            request()
        assert path in caught.value.message
    with open(path, "rb") as file:
        assert file.read() == b"no database"


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "half \ud800"])
def test_a_name_must_be_usable(name: str, project: Project) -> None:
    with pytest.raises(InvalidValue):
        delta(project, name)
    with pytest.raises(InvalidValue):
        save(project, {}, name)
    with pytest.raises(InvalidValue):
        load(project, name)


@pytest.mark.parametrize("name", ["会话 42", "a'; drop table thread; --", "../../evil", "🧵"])
def test_any_other_name_will_do(name: str, project: Project) -> None:
    assert revisions(delta(project, name)) == (0, 1, 0)
    save(project, {"context": name}, name, name)
    assert load(project, name, name) == {"context": name}
    assert sorted(os.listdir(".project-memory/local")).count("state.sqlite3") == 1


# Checkpoints


STATE = {
    "graph_state": {"node": "plan", "step": 3, "ratio": 0.1, "done": None},
    "context": "Grüße 🌱\u2028\x00",
    "messages": [{"role": "user", "content": "Which database?"}],
    "agents": {"writer": {"turns": 2**63}},
}


def test_a_state_comes_back_in_another_process_as_it_was_saved(project: Project) -> None:
    saved = save(project, STATE)
    again = ask(
        Workspace(project.workspace.root), table.LOAD_CHECKPOINT, CheckpointRequest(thread="review")
    )
    assert again.state == STATE
    assert list(again.state) == list(STATE)
    assert (again.created_at, again.updated_at) == (NOW, NOW)
    assert saved.size == len(orjson.dumps(STATE))


@pytest.mark.row("S1.15.3")
@settings(max_examples=examples(30))
@given(state=strategies.objects)
def test_any_json_object_comes_back(
    tmp_path_factory: pytest.TempPathFactory, state: dict[str, Any]
) -> None:
    workspace = Workspace(str(tmp_path_factory.mktemp("state")), now=NOW)
    ask(workspace, table.SAVE_CHECKPOINT, SaveRequest(thread="review", state=state))
    again = ask(workspace, table.LOAD_CHECKPOINT, CheckpointRequest(thread="review")).state
    assert orjson.dumps(again) == orjson.dumps(state)


@pytest.mark.row("S1.15.2")
def test_users_do_not_share_a_thread(project: Project) -> None:
    for user in ("", "mira", "ben"):
        save(project, {"context": user}, user=user)
    assert load(project, user="mira") == {"context": "mira"}
    assert (users(project), users(project, "ben")) == (["", "ben", "mira"], ["ben"])
    bens = CheckpointRequest(thread="review", user="ben")
    ask(project.workspace, table.REMOVE_CHECKPOINT, bens)
    with pytest.raises(NotFound) as caught:
        load(project, user="ben")
    assert "checkpoint list" in caught.value.hint
    with pytest.raises(NotFound):
        ask(project.workspace, table.REMOVE_CHECKPOINT, bens)


def _nested(levels: int) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for _ in range(levels):
        state = {"inner": state}
    return state


REFUSED: dict[str, Any] = {
    "a list": [1],
    "a text": "text",
    "nothing": None,
    "no number": {"step": float("nan")},
    "an infinite number": {"steps": [1.0, {"inner": float("-inf")}]},
    "a number that readers would change": {"step": 2**64},
    "a key that is no text": {1: "one"},
    "a value that is no JSON": {"step": {1, 2}},
    "a time": {"at": NOW},
    "half a letter": {"context": "\ud800"},
    "far too deep": _nested(2000),
    "too deep for an answer to hold it": _nested(253),
    "too large": {"context": "x" * threads.MOST_CHECKPOINT_BYTES},
}


@pytest.mark.parametrize("state", REFUSED.values(), ids=REFUSED)
def test_what_would_not_come_back_is_refused(state: Any, project: Project) -> None:
    save(project, {"context": "kept"})
    with pytest.raises(InvalidValue) as caught:
        save(project, state)
    assert "state" in caught.value.message
    assert len(caught.value.message) < 200
    assert load(project) == {"context": "kept"}


@pytest.mark.long
def test_the_largest_and_the_deepest_state_come_back(project: Project) -> None:
    largest = {"context": "x" * (threads.MOST_CHECKPOINT_BYTES - len('{"context":""}'))}
    for state in (largest, _nested(240)):
        save(project, state)
        assert load(project) == state


def test_a_read_only_run_saves_and_removes_nothing(project: Project) -> None:
    save(project, {"context": "kept"})
    looking = Project(".project-memory", read_only=True)
    with pytest.raises(Refused):
        save(looking, {})
    with pytest.raises(Refused):
        ask(looking.workspace, table.REMOVE_CHECKPOINT, CheckpointRequest(thread="review"))
    assert load(looking) == {"context": "kept"}


@pytest.mark.parametrize("data", [b"[1]", b"{", b"\xff", b""])
def test_a_checkpoint_that_is_no_object_is_damaged(data: bytes, project: Project) -> None:
    LocalState(project.workspace.root).checkpoints.save("review", "", data, NOW)
    with pytest.raises(Damaged) as caught:
        load(project)
    assert "review" in caught.value.message
