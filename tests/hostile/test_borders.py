"""A memory folder that is somebody else's, or leads elsewhere, is refused before it is read."""

import os
import shutil
from functools import partial
from pathlib import Path
from typing import Final
from unittest import mock

import pytest

from pmem import Project
from pmem.errors import NoProject, Refused
from pmem.project.discovery import discover
from pmem.project.setup import initialise
from pmem.vcs import gitmerge
from tests.faults.console import Done, added, bytes_of, pmem
from tests.git.branches import ROOT, ok
from tests.policy.paths import MATRIX

REFUSED: Final = Refused.exit_code
NEED_NO_MEMORY: Final = {"help", "setup completion", "hook"}
"""`browse` is left out beside them, as it needs a terminal first."""
SOMEBODY_ELSE: Final = 54_321


@pytest.fixture
def private(tmp_path: Path) -> str:
    """Make the memory of another project, which nobody but its owner should see."""
    folder = str(tmp_path / "private" / ROOT)
    initialise(folder)
    Project(folder, actor="ada").add("The product launches in March")
    return folder


def clone_with_link(target: str) -> None:
    """Make the current folder a repository that tracks a link in the place of its memory."""
    ok("init", "--quiet", "--initial-branch=main")
    os.symlink(target, ROOT)
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "memory")


def ask(command: str) -> Done:
    words = () if command == "eval run" else MATRIX[command][1]
    return pmem(*command.split(), *words, stdin=b'{"query": "product"}')


@pytest.mark.some(24)
@pytest.mark.parametrize("command", sorted(set(MATRIX) - NEED_NO_MEMORY - {"browse"}))
def test_no_command_follows_a_memory_folder_that_is_a_link(command: str, private: str) -> None:
    clone_with_link("../private/.project-memory")
    before = bytes_of(private, local=True)
    done = pmem("init") if command == "init" else ask(command)
    assert done.code == REFUSED, done
    assert done.err.count("\n") <= 2
    assert "is a link to ../private/.project-memory" in done.err
    assert b"March" not in done.out
    assert bytes_of(private, local=True) == before


def test_a_link_that_is_named_is_no_better_than_one_that_is_found(private: str) -> None:
    clone_with_link("../private/.project-memory")
    assert pmem("-C", ROOT, "list").code == REFUSED
    assert pmem("list", environment={"PMEM_DIR": ROOT}).code == REFUSED
    os.mkdir("below")
    assert pmem("-C", "below", "list").code == REFUSED
    assert b"March" in pmem("-C", private, "list").out


def test_outside_of_git_a_link_is_refused_as_well(private: str) -> None:
    os.symlink(private, ROOT)
    assert pmem("list").code == REFUSED


def test_the_library_follows_no_link_either(private: str) -> None:
    clone_with_link(private)
    for open_ in (
        partial(Project),
        partial(Project, read_only=True),
        partial(Project.discover),
        partial(Project.discover, ROOT),
    ):
        with pytest.raises(Refused, match="is a link"):
            open_()
    assert Project(safe_folders=["*"]).list().total == 1
    assert Project.discover(safe_folders=[os.path.abspath(".")]).list().total == 1


@pytest.mark.parametrize(
    "named",
    ["*", "{work}", "{work}/.project-memory", "{work}/../work/.project-memory/", "~/../work"],
)
def test_the_user_may_allow_a_folder_in_the_environment_or_in_the_configuration(
    named: str, private: str, tmp_path: Path
) -> None:
    clone_with_link(private)
    name = named.format(work=os.getcwd())
    assert b"March" in pmem("list", environment={"PMEM_SAFE_FOLDERS": f"/else,{name}"}).out
    own = tmp_path / "home" / ".config" / "pmem" / "config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f"safe_folders = ['/else', '{name}']\n", encoding="utf-8")
    assert b"March" in pmem("list").out
    own.write_text("safe_folders = ['/else', 'work']\n", encoding="utf-8")
    assert pmem("list").code == REFUSED


def test_naming_where_a_link_leads_to_allows_no_link(private: str) -> None:
    clone_with_link(private)
    assert pmem("list", environment={"PMEM_SAFE_FOLDERS": private}).code == REFUSED


def test_a_project_cannot_call_itself_safe(private: str) -> None:
    Path(private, "config.toml").write_text("safe_folders = ['*']\n", encoding="utf-8")
    clone_with_link(private)
    assert pmem("list").code == REFUSED
    assert pmem("-C", private, "config", "set", "safe_folders", "*").code == 3
    assert pmem("-C", private, "config", "get", "safe_folders").out == b"\n"
    assert (
        "safe_folders = ['*'] counts for nothing"
        in pmem("-C", private, "check", "records").out.decode()
    )


def test_a_folder_within_the_work_tree_may_be_reached_by_a_link_that_stays_in_it() -> None:
    ok("init", "--quiet")
    initialise(os.path.abspath(f"real/{ROOT}"))
    os.symlink("real", "near")
    assert pmem("-C", "near", "list").code == 0


def test_a_folder_that_leads_out_of_its_work_tree_is_refused(private: str, tmp_path: Path) -> None:
    ok("init", "--quiet")
    os.symlink(os.path.dirname(private), "docs")
    done = pmem("list", environment={"PMEM_MEMORY_DIR": f"docs/{ROOT}"})
    assert (done.code, "leads out of its work tree" in done.err) == (REFUSED, True)
    assert pmem("-C", "docs", "list").code == REFUSED
    with pytest.raises(Refused, match="leads out"):
        Project(f"docs/{ROOT}")


def test_links_above_a_work_tree_do_not_matter(tmp_path: Path) -> None:
    os.makedirs("top/project")
    os.chdir("top/project")
    ok("init", "--quiet")
    assert pmem("init").code == 0
    os.symlink(tmp_path / "work" / "top", tmp_path / "short")
    assert pmem("-C", str(tmp_path / "short" / "project"), "list").code == 0
    assert Project(str(tmp_path / "short" / "project" / ROOT)).list().total == 0


def test_a_second_work_tree_has_its_memory_through_no_link() -> None:
    ok("init", "--quiet", "--initial-branch=main")
    initialise(ROOT)
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "memory")
    ok("worktree", "add", "--quiet", "../second")
    assert pmem("-C", "../second", "add", "hello").code == 0


def owned_by(folder: str, owner: int) -> "mock._patch[object]":
    """Let a folder belong to another user."""
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        status = real(path)
        if os.path.abspath(path) != os.path.abspath(folder):
            return status
        return os.stat_result((*status[:4], owner, *status[5:10]))

    return mock.patch("pmem.project.discovery.os.lstat", lstat)


def test_the_memory_of_another_user_in_a_parent_is_refused(root: str) -> None:
    added("The gear turns to the left")
    os.mkdir("below")
    with owned_by(root, SOMEBODY_ELSE):
        done = pmem("-C", "below", "list")
        assert (done.code, f"number {SOMEBODY_ELSE}" in done.err) == (REFUSED, True)
        with pytest.raises(Refused, match="belongs to another user"):
            Project.discover("below")
        assert pmem("-C", "below", "list", environment={"PMEM_SAFE_FOLDERS": "*"}).code == 0


def test_another_users_memory_in_the_very_folder_is_used(root: str) -> None:
    with owned_by(root, SOMEBODY_ELSE):
        assert pmem("list").code == 0
        assert pmem("-C", ROOT, "list").code == 0


def test_who_became_root_by_sudo_has_his_own_memory(root: str) -> None:
    os.mkdir("below")
    given = {"SUDO_UID": str(SOMEBODY_ELSE)}
    with (
        owned_by(root, SOMEBODY_ELSE),
        mock.patch("pmem.project.discovery.os.geteuid", return_value=0),
    ):
        assert pmem("-C", "below", "list", environment=given).code == 0
        assert pmem("-C", "below", "list", environment={"SUDO_UID": "1"}).code == REFUSED
    with (
        owned_by(root, SOMEBODY_ELSE),
        mock.patch("pmem.project.discovery.os.geteuid", return_value=7),
    ):
        assert pmem("-C", "below", "list", environment=given).code == REFUSED


def test_looking_costs_no_process_and_few_looks_at_the_disk(root: str) -> None:
    ok("init", "--quiet")
    with (
        mock.patch("subprocess.Popen", side_effect=AssertionError),
        mock.patch("os.lstat", side_effect=os.lstat) as looked,
    ):
        discover(os.getcwd(), environment=os.environ)
    assert looked.call_count <= 6


def test_the_merge_driver_makes_its_files_through_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "local").mkdir(parents=True)
    os.symlink(outside, ROOT)
    Path("ours").write_text("before", encoding="utf-8")
    seen = []
    real = os.replace

    def replace(source: str, target: str) -> None:
        seen.append(os.path.dirname(source))
        real(source, target)

    with mock.patch("os.replace", replace):
        gitmerge._replace("ours", b"after", ROOT)
    assert seen == ["."]
    shutil.rmtree(outside)


def test_where_there_is_none_there_is_none() -> None:
    with pytest.raises(NoProject):
        Project.discover()
