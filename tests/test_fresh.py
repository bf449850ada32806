"""A project that stays open answers from what is there now, whoever changed it meanwhile."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any
from unittest import mock

import pytest

from pmem import Memory, PmemError, Project
from pmem.storage.index import current_index
from pmem.storage.index.index import Index
from tests.faults.console import PROGRAM
from tests.storage.folders import contents, path_of, write
from tests.storage.in_memory import InMemory


@pytest.fixture
def project(root: str) -> Project:
    return Project(root, actor="ada")


def elsewhere(*arguments: str) -> None:
    """Run pmem in another process."""
    subprocess.run([PROGRAM, *arguments], check=True, capture_output=True)


def content_of(project: Project, reference: str) -> str:
    shown = project.show(reference)
    assert isinstance(shown, Memory)
    return shown.content


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def test_what_another_process_edits_is_shown_as_it_is_now(project: Project) -> None:
    kept = project.add("The oven is blue").memory
    assert content_of(project, kept.id) == "The oven is blue"
    assert [hit.text for hit in project.search("oven").hits] == ["The oven is blue"]
    elsewhere("edit", kept.id, "The oven is green")
    assert content_of(project, kept.id) == "The oven is green"
    assert [event.event for event in project.history(kept.id)] == ["ADD", "UPDATE"]
    assert [memory.content for memory in project.list().items] == ["The oven is green"]
    assert [hit.text for hit in project.search("green").hits] == ["The oven is green"]
    assert "green" in project.build_context("oven").text


def test_what_an_editor_rewrites_in_place_is_shown_at_once_and_found_within_a_moment(
    project: Project, root: str
) -> None:
    kept = project.add("The oven is blue").memory
    assert project.search("blue").total == 1
    path = path_of(root, kept.id)
    write(path, contents(path).replace(b"The oven is blue", b"The oven is grey"))
    assert content_of(project, kept.id) == "The oven is grey"
    with mock.patch.object(current_index, "TRUST_SECONDS", -1.0):
        project.pin(kept.id)
        write(path, contents(path).replace(b"oven is grey", b"oven is pink"))
        assert [hit.text for hit in project.search("pink").hits] == ["The oven is pink"]


def test_settings_that_others_make_count_from_the_next_call(project: Project) -> None:
    assert project.workspace.settings.chunk_size != 7
    elsewhere("config", "set", "chunk_size", "7")
    assert project.workspace.settings.chunk_size == 7
    for number in range(3):
        project.add(f"Oven {number}", force=True)
    elsewhere("config", "set", "retrieval_top_k", "2")
    assert len(project.search("oven").hits) == 2


def test_an_allowlist_that_others_narrow_holds_from_the_next_call(root: str) -> None:
    Project(root).add("The wheel turns", category="goals")
    agent = Project(root, agent="planner")
    assert agent.list().total == 1
    elsewhere("config", "set", "allowlists.planner", "tasks")
    assert agent.list().total == 0
    assert agent.search("wheel").hits == ()


def test_a_view_of_a_branch_follows_the_branch_and_one_of_a_commit_stays(project: Project) -> None:
    git("init", "--quiet", "--template=")
    git("config", "user.name", "Kim")
    git("config", "user.email", "kim@example.org")
    kept = project.add("The oven is blue").memory
    git("add", "-A")
    git("commit", "--quiet", "--message", "blue")
    head = project.at("HEAD")
    first = project.at(subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip())
    project.edit(kept.id, "The oven is green")
    assert content_of(head, kept.id) == "The oven is blue"
    git("commit", "--quiet", "--all", "--message", "green")
    assert content_of(head, kept.id) == "The oven is green"
    assert [hit.text for hit in head.search("oven").hits] == ["The oven is green"]
    assert content_of(first, kept.id) == "The oven is blue"


def test_a_view_of_a_branch_reads_a_commit_once(project: Project) -> None:
    git("init", "--quiet", "--template=")
    project.add("The oven is blue")
    git("add", "-A")
    git("-c", "user.name=k", "-c", "user.email=k@e", "commit", "--quiet", "--message", "blue")
    head = project.at("HEAD")
    assert head.search("oven").total == 1
    with mock.patch("pmem.storage.git.revision.parse", side_effect=AssertionError("read again")):
        assert head.search("oven").total == 1


def test_who_writes_is_whom_git_names_now(root: str) -> None:
    git("init", "--quiet", "--template=")
    git("config", "user.name", "Kim")
    project = Project(root)
    kept = project.add("The oven is blue").memory
    git("config", "user.name", "Lou")
    later = mock.patch("time.monotonic", return_value=1e12)
    with later:
        project.pin(kept.id)
    assert [event.actor for event in project.history(kept.id)] == ["Kim", "Lou"]


def test_files_that_could_not_be_used_are_told_until_they_are_mended_or_gone(
    project: Project, root: str
) -> None:
    paths = [path_of(root, project.add(text, force=True).memory.id) for text in ("One", "Two")]
    sound = contents(paths[0])
    for path in paths:
        write(path, b'{"id": ')
    assert project.list().total == 0
    assert sorted(problem.path for problem in project.problems) == sorted(paths)
    write(paths[0], sound)
    os.unlink(paths[1])
    assert project.list().total == 1
    assert project.problems == []


@pytest.fixture
def opened_indexes(monkeypatch: pytest.MonkeyPatch) -> list[Index]:
    """Return the indexes that are opened from now on."""
    seen: list[Index] = []
    ordinary = Index.__init__

    def noted(self: Index, *given: Any) -> None:
        seen.append(self)
        ordinary(self, *given)

    monkeypatch.setattr(Index, "__init__", noted)
    return seen


def at_once(number: int, act: Callable[[int], object]) -> None:
    """Run something in so many threads at once; what one of them raises is raised here."""
    raised: list[BaseException] = []
    start = Barrier(number)

    def run(mine: int) -> None:
        start.wait()
        try:
            act(mine)
        except BaseException as error:
            raised.append(error)

    threads = [Thread(target=run, args=(mine,)) for mine in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def test_few_indexes_stay_open_however_many_threads_search(
    project: Project, opened_indexes: list[Index]
) -> None:
    project.add("The oven is blue")
    at_once(16, lambda _: [project.search("oven") for _ in range(5)])
    assert len(opened_indexes) >= 1
    assert sum(index.is_open for index in opened_indexes) <= current_index.MOST_IDLE
    project.close()
    assert not any(index.is_open for index in opened_indexes)
    assert project.search("oven").total == 1


def test_an_index_that_is_lent_is_lent_to_nobody_else(project: Project) -> None:
    project.add("The oven is blue")
    lent: list[object] = []
    both = Barrier(2)

    def search(_: int) -> None:
        def look(pool: Any) -> None:
            lent.append(pool)
            both.wait()  # neither goes on before the other has one, too

        project.workspace.backend.searched(look)

    at_once(2, search)
    assert len({id(pool) for pool in lent}) == 2


def test_a_search_lets_go_of_its_files_when_the_project_is_gone(
    root: str, opened_indexes: list[Index]
) -> None:
    Project(root).search("oven")
    assert not any(index.is_open for index in opened_indexes)


def test_two_threads_that_write_lose_nothing_of_each_other(project: Project) -> None:
    kept = project.add("The oven is blue").memory

    def write_some(mine: int) -> None:
        for number in range(5):
            project.add(f"Thread {mine} adds {number}", force=True)
            project.edit(kept.id, f"The oven is number {mine}{number}")

    at_once(4, write_some)
    assert project.list().total == 21
    assert len(project.history(kept.id)) == 21
    assert project.check().findings == ()


def test_records_in_memory_can_be_shared_by_threads(tmp_path: Path) -> None:
    project = Project(str(tmp_path), backend=InMemory())

    def use(mine: int) -> None:
        for number in range(10):
            project.add(f"Thread {mine} adds {number}", force=True)
            assert project.search(f"adds {number}").total >= 1

    at_once(4, use)
    assert project.list().total == 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_both_sides_of_a_fork_go_on(project: Project) -> None:
    project.add("The oven is blue")
    assert project.search("oven").total == 1
    child = os.fork()
    if child == 0:
        code = 1
        try:
            project.add("The child bakes", force=True)
            code = 0 if project.search("oven bakes").total == 2 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert project.search("oven bakes").total == 2
    assert project.check().findings == ()


def test_a_reader_does_not_wait_for_a_writer_that_lives(project: Project) -> None:
    """Its commit is real and half rolled forward, and it holds the lock."""
    kept = [project.add(text, force=True).memory.id for text in ("One oven", "Two ovens")]
    entered, leave = Barrier(2), Barrier(2)
    from pmem.storage.files import durable

    ordinary = durable.finish

    def held(*given: str) -> None:
        entered.wait()
        leave.wait()
        ordinary(*given)

    def read() -> None:
        entered.wait()
        try:
            waiting = mock.patch("pmem.storage.files.lock.time.sleep", side_effect=AssertionError)
            with waiting:
                assert project.list().total == 0
                assert content_of(project, kept[0]) == "One oven"
        finally:
            leave.wait()

    with mock.patch.object(durable, "finish", held):
        at_once(2, lambda mine: read() if mine else project.remove(*kept))
    assert project.list().total == 0


def test_a_moment_that_cannot_be_is_refused_when_it_is_asked_for(project: Project) -> None:
    with pytest.raises(PmemError, match="no git revision"):
        project.at("no-such-branch")
