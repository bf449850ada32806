"""`search --worktrees`: what other work trees know and this one does not yet, with its branch."""

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchRequest
from pmem.storage.local.sessions import NotedTranscript
from tests.asking import ask
from tests.cli.shell import pmem
from tests.conftest import NOW

ORDERS: Final = SearchRequest(query="orders", worktrees=True)


def git(*words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.fixture
def second(root: str, tmp_path: Path) -> Path:
    """Return a second work tree, on a branch, with a memory that the first one lacks."""
    git("init", "-q", "-b", "main")
    assert pmem("add", "We use PostgreSQL for orders").code == 0
    git("add", "--all")
    git("commit", "-q", "-m", "one")
    git("worktree", "add", "-q", "-b", "queue", str(tmp_path / "second"))
    assert pmem("-C", str(tmp_path / "second"), "add", "We use RabbitMQ for orders").code == 0
    return tmp_path / "second"


@pytest.mark.usefixtures("second")
def test_a_memory_of_another_branch_is_found_with_its_branch() -> None:
    assert "RabbitMQ" not in pmem("search", "orders").text
    lines = pmem("search", "orders", "--worktrees").text.splitlines()
    assert len(lines) == 2
    assert "PostgreSQL" in lines[0]
    assert "[queue] We use RabbitMQ for orders" in lines[1]


def test_what_is_here_already_is_not_told_twice(root: str, second: Path) -> None:
    found = ask(Workspace(root, now=NOW), table.SEARCH, ORDERS)
    assert [hit.branch for hit in found.elsewhere] == ["queue"]
    assert len(found.recalled) == 1
    back = ask(Workspace(str(second / ".project-memory"), now=NOW), table.SEARCH, ORDERS)
    assert back.elsewhere == ()


def test_nothing_is_written_in_the_other_work_tree(second: Path) -> None:
    before = sorted(os.walk(second / ".project-memory" / "long-term-memory"))
    recalls = second / ".project-memory" / "local" / "access.log"
    kept = recalls.read_bytes() if recalls.exists() else None
    assert pmem("search", "orders", "--worktrees").code == 0
    assert sorted(os.walk(second / ".project-memory" / "long-term-memory")) == before
    assert (recalls.read_bytes() if recalls.exists() else None) == kept


def test_a_work_tree_without_a_memory_or_with_a_broken_one_is_passed_over(
    second: Path, tmp_path: Path
) -> None:
    git("worktree", "add", "-q", "-b", "empty", str(tmp_path / "third"), "HEAD")
    for path in sorted((tmp_path / "third" / ".project-memory").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (second / ".project-memory" / "config.toml").write_text("no TOML [")
    done = pmem("search", "orders", "--worktrees")
    assert done.code == 0
    assert "PostgreSQL" in done.text


def test_an_allowlist_holds_in_every_work_tree(second: Path) -> None:
    for place in (".", str(second)):
        assert pmem("-C", place, "config", "set", "allowlists.planner", "goals").code == 0
    done = pmem("search", "orders", "--worktrees", "--agent", "planner")
    assert "RabbitMQ" not in done.text


def test_without_git_there_is_nothing_elsewhere(root: str, tmp_path: Path) -> None:
    initialise(str(tmp_path / "apart" / ".project-memory"))
    found = ask(Workspace(root, now=NOW), table.SEARCH, ORDERS)
    assert found.elsewhere == ()


def test_a_thread_that_was_told_in_one_work_tree_is_not_told_again_in_another(
    second: Path,
) -> None:
    assert pmem("delta", "--thread", "s").code == 0
    assert pmem("add", "Deploys run on Tuesdays").code == 0
    assert "Tuesdays" in pmem("delta", "--thread", "s").text
    git("add", "--all")
    git("commit", "-q", "-m", "two")
    git("-C", str(second), "add", "--all")
    git("-C", str(second), "commit", "-q", "-m", "three")
    git("-C", str(second), "merge", "-q", "main")
    told = pmem("-C", str(second), "delta", "--thread", "s").text
    assert "RabbitMQ" in told
    assert "Tuesdays" not in told
    assert not (second / ".project-memory" / "local" / "state.sqlite3").exists()


def test_what_hooks_noted_in_one_work_tree_waits_in_all(root: str, second: Path) -> None:
    there = Workspace(str(second / ".project-memory"), now=NOW)
    noted = NotedTranscript(
        harness="codex", path="/w/a.jsonl", offset=0, session="s", noted_at=there.now()
    )
    there.own.noted_transcripts.note(noted)
    assert Workspace(root, now=NOW).own.noted_transcripts.all() == [noted]


def test_checkpoints_and_consent_stay_a_work_trees_own(root: str, second: Path) -> None:
    assert pmem("-C", str(second), "checkpoint", "save", "t", "{}").code == 0
    assert pmem("checkpoint", "load", "t").code == 3


def test_without_the_memory_in_the_main_work_tree_a_second_one_keeps_its_own(
    root: str, second: Path
) -> None:
    os.rename(root, f"{root}-away")
    assert pmem("-C", str(second), "delta", "--thread", "s").code == 0
    assert (second / ".project-memory" / "local" / "state.sqlite3").exists()
