"""What git tracks below `local` came with the project: nothing of it is used, and that is said."""

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Final
from unittest import mock

import pytest

from pmem import Project
from pmem.errors import Refused
from pmem.project.setup import IGNORE_CONVERSATIONS, IGNORE_HEAD, SHARE_CONVERSATIONS, initialise
from pmem.storage.files.worktree import index_of
from pmem.storage.git import tracked
from tests.faults.console import added, bytes_of, pmem
from tests.git.branches import ROOT, git, ok
from tests.hostile.projects import GOOD, OTHER, STORE, memory, write
from tests.policy.paths import MATRIX

PLAN: Final = f"{ROOT}/local/commit/plan.json"
REFUSED: Final = Refused.exit_code
READS: Final = (
    ("list",),
    ("show", GOOD),
    ("search", "gear"),
    ("context", "gear"),
    ("log", GOOD),
    ("log",),
    ("stats",),
    ("conversation", "list"),
    ("app", "list"),
    ("export", "audit"),
    ("query", "-"),
    ("config", "list"),
    ("--read-only", "list"),
)


def project() -> None:
    """Make a repository with two memories in the current folder."""
    ok("init", "--quiet", "--initial-branch=main")
    initialise(ROOT)
    shutil.rmtree(f"{ROOT}/local")
    for identifier in (GOOD, OTHER):
        write(f"{ROOT}/{STORE}/{identifier}.json", memory(identifier, f"gear {identifier}"))
    commit()


def commit(*forced: str) -> None:
    ok("add", "--all")
    if forced:
        ok("add", "--force", *forced)
    ok("commit", "--quiet", "--allow-empty", "--message", "memory")


def plan(path: str = f"{STORE}/{GOOD}.json") -> None:
    """Plant an unfinished commit that removes a record."""
    write(PLAN, json.dumps([{"path": path, "staged": None}]))


def planted() -> None:
    """Clone a project whose pull request brought an unfinished commit, and go there."""
    project()
    plan()
    commit(PLAN)
    ok("clone", "--quiet", ".", "../clone")
    os.chdir("../clone")


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_a_planted_commit_is_not_rolled_forward_by_a_read(command: tuple[str, ...]) -> None:
    planted()
    before = bytes_of(ROOT, local=True)
    done = pmem(*command, stdin=b'{"query": "gear"}')
    assert done.code == 0, done
    assert ok("status", "--porcelain") == ""
    assert bytes_of(ROOT, local=True) == before


def test_a_read_says_that_something_was_planted() -> None:
    planted()
    done = pmem("list")
    assert GOOD.partition("-")[2].encode() in done.out
    assert f"git tracks {os.path.abspath(PLAN)}" in done.err


def test_every_write_is_refused_in_one_sentence() -> None:
    planted()
    before = bytes_of(ROOT, local=True)
    for command in (
        ("add", "We use Go"),
        ("edit", GOOD, "Other words"),
        ("rm", GOOD),
        ("consolidate",),
        ("config", "set", "chunk_size", "4"),
        ("conversation", "start"),
        ("checkpoint", "save", "t", "{}"),
        ("checkpoint", "load", "t"),
        ("delta", "--thread", "t"),
        ("inbox", "proposals"),
        ("resolve",),
        ("init",),
        ("check", "setup", "--fix"),
        ("setup", "git"),
    ):
        done = pmem(*command)
        assert (done.code, done.err.count("\n")) == (REFUSED, 2), (command, done)
        assert "git rm -r -f" in done.err
    with pytest.raises(Refused, match="git tracks"):
        Project(ROOT).add("We use Go")
    assert bytes_of(ROOT, local=True) == before


def test_check_and_doctor_fail_and_scan_looks_into_it() -> None:
    project()
    token = "-".join(("kW9!m", "q27X"))
    write(f"{ROOT}/local/pmem.log", f"password: {token}\n")
    commit(f"{ROOT}/local/pmem.log")
    done = pmem("check", "records")
    assert (done.code, "tracked" in done.out.decode()) == (1, True)
    assert pmem("check", "records", "--strict").code == 1
    done = pmem("check", "setup")
    assert (done.code, "git tracks" in done.out.decode()) == (1, True)
    done = pmem("check", "secrets")
    assert (done.code, "local/pmem.log" in done.out.decode()) == (1, True)


def test_taking_it_out_makes_all_well_again() -> None:
    planted()
    ok("rm", "-r", "-f", "--quiet", f"{ROOT}/local")
    assert pmem("check", "records").code == 0
    assert pmem("add", "We use Go").code == 0


def test_one_that_a_pull_brings_into_a_working_clone_is_not_used_either() -> None:
    project()
    ok("clone", "--quiet", ".", "../clone")
    os.chdir("../clone")
    added("The clone has a memory")
    open_ = Project(ROOT)
    assert open_.list().total == 3
    os.chdir("../work")
    plan()
    commit(PLAN)
    os.chdir("../clone")
    ok("pull", "--quiet")
    assert open_.search("gear").total == 2
    with pytest.raises(Refused, match="git tracks"):
        open_.add("We use Go")
    assert Project(ROOT).list().total == 3


@pytest.mark.parametrize("name", ["access.log", "state.sqlite3", "operations.log", "index.sqlite3"])
def test_nothing_else_of_it_counts(name: str) -> None:
    project()
    planted_file = f"{ROOT}/local/{name}"
    if name.endswith(".sqlite3"):
        os.makedirs(f"{ROOT}/local")
        sqlite3.connect(planted_file).executescript("create table checkpoint (x)")
    else:
        write(planted_file, f"2026-11-01T00:00:00.000Z {GOOD} 500\n")
    commit(planted_file)
    before = Path(planted_file).read_bytes()
    for command in READS:
        done = pmem(*command, stdin=b'{"query": "gear"}')
        assert done.code == 0, (command, done)
    assert pmem("app", "stats").code == 0
    assert Path(planted_file).read_bytes() == before
    assert ok("status", "--porcelain") == ""


@pytest.mark.parametrize("version", ["2", "4"])
def test_every_form_of_gits_index_is_understood(version: str) -> None:
    planted()
    ok("update-index", f"--index-version={version}")
    assert pmem("list").err.count("git tracks") == 1


def test_a_split_index_and_a_second_work_tree_are_understood() -> None:
    planted()
    ok("update-index", "--split-index")
    assert "git tracks" in pmem("list").err
    ok("worktree", "add", "--quiet", "--detach", "../second")
    os.chdir("../second")
    assert index_of(os.getcwd()).endswith("worktrees/second/index")
    assert "git tracks" in pmem("list").err
    assert GOOD.encode() in pmem("show", GOOD).out


def test_a_link_or_a_repository_in_its_place_is_seen() -> None:
    project()
    os.symlink(STORE, f"{ROOT}/local")
    commit(f"{ROOT}/local")
    assert tracked.tracked(os.path.abspath(ROOT), os.environ) == ("local",)


def test_a_name_that_only_begins_alike_is_none_of_it() -> None:
    project()
    write(f"{ROOT}/local-notes.md", "x")
    commit()
    assert pmem("add", "We use Go").code == 0
    assert tracked.tracked(os.path.abspath(ROOT), os.environ) == ()


def test_where_git_cannot_be_asked_the_index_is_enough_for_those_who_track_nothing() -> None:
    project()
    with mock.patch("subprocess.run", side_effect=FileNotFoundError):
        assert pmem("add", "We use Go").code == 0
    planted_folder = os.path.abspath(ROOT)
    plan()
    commit(PLAN)
    with mock.patch("subprocess.run", side_effect=FileNotFoundError):
        assert tracked.tracked(planted_folder, os.environ) is None
        assert pmem("add", "We use Rust").code == REFUSED
        assert pmem("list").code == 0


def test_a_clones_own_unfinished_commit_is_finished_without_asking_git(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PMEM_TRUST_UNREVIEWED", "show")  # as where records come from, git says
    project()
    plan()
    with mock.patch("subprocess.run", side_effect=AssertionError):
        assert Project(ROOT).list().total == 1
    assert not os.path.lexists(PLAN)


def test_outside_of_git_all_is_as_it_was() -> None:
    initialise(ROOT)
    write(f"{ROOT}/{STORE}/{GOOD}.json", memory(GOOD))
    plan()
    assert Project(ROOT).list().total == 0


@pytest.mark.parametrize("text", ["", IGNORE_CONVERSATIONS, IGNORE_HEAD, "*.tmp\n# no line end"])
def test_an_ignore_file_that_lost_its_rules_is_told_and_mended(text: str) -> None:
    project()
    Project(ROOT, actor="ada").start_conversation("Private")
    Path(ROOT, ".gitignore").write_text(text, encoding="utf-8")
    done = pmem("check", "records")
    assert (done.code, "exposed" in done.out.decode()) == (1, True)
    done = pmem("check", "setup")
    assert (done.code, "does not hide" in done.out.decode()) == (1, True)
    pmem("check", "setup", "--fix")
    assert pmem("check", "records").code == 0
    assert Path(ROOT, ".gitignore").read_text(encoding="utf-8").startswith(text)
    assert f"{ROOT}/local" not in ok("status", "--porcelain", "--untracked-files=all")
    assert "conversations/" not in ok("status", "--porcelain", "--untracked-files=all")


def test_transcripts_that_are_shared_by_choice_are_nothing_to_tell() -> None:
    ok("init", "--quiet")
    initialise(ROOT, track_conversations=True)
    assert SHARE_CONVERSATIONS in Path(ROOT, ".gitignore").read_text(encoding="utf-8")
    Project(ROOT, actor="ada").start_conversation("Public")
    assert pmem("check", "records").code == 0


def test_who_tracks_transcripts_already_has_chosen() -> None:
    project()
    Path(ROOT, ".gitignore").write_text(IGNORE_HEAD, encoding="utf-8")
    Project(ROOT, actor="ada").start_conversation("Public")
    commit()
    Project(ROOT, actor="ada").start_conversation("Public as well")
    assert pmem("check", "records").code == 0
    ok("add", "--all")
    assert pmem("check", "records", "--staged").code == 0


def test_the_commit_that_would_bring_the_first_transcripts_is_stopped() -> None:
    project()
    Path(ROOT, ".gitignore").write_text("", encoding="utf-8")
    Project(ROOT, actor="ada").start_conversation("Private")
    ok("add", "--all")
    done = pmem("check", "records", "--staged")
    assert done.code == 1
    assert "is a transcript, which is private" in done.out.decode()
    assert "is each clone's own" in done.out.decode()
    git("reset", "--quiet")
    assert pmem("init", "--track-conversations").code == 0
    assert pmem("check", "setup", "--fix").code in (0, 1)
    ok("add", "--all")
    assert pmem("check", "records", "--staged").code == 0


def test_every_command_lives_with_what_was_planted() -> None:
    planted()
    for command, (_, words) in MATRIX.items():
        given = [{"REF": GOOD, "OTHER": OTHER, "TEXT": "gear"}.get(word, word) for word in words]
        done = pmem(*command.split(), *given, stdin=b'{"query": "gear"}')
        assert done.code in (0, 1, 2, 3, 7), (command, done)
    assert ok("status", "--porcelain", "--", ROOT) == ""


@pytest.mark.parametrize("how", ["a pipe", "a name with a zero byte"])
def test_a_planted_git_folder_stops_no_read(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "planted"
    work.mkdir()
    monkeypatch.chdir(work)
    assert pmem("init").code == 0
    assert pmem("add", "The oven is blue").code == 0
    if how == "a pipe":
        Path(".git").mkdir()
        os.mkfifo(".git/index")
    else:
        Path(".git").write_bytes(b"gitdir: a\0b\n")
    done = pmem("search", "oven")
    assert (done.code, b"blue" in done.out) == (0, True)
    assert "git cannot tell" in done.err
    assert pmem("add", "The oven is red").code == 7
