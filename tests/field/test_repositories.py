"""Repositories as people have them: parts that are not there, and folders within others."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.faults.console import pmem
from tests.field.repositories import begin, commit, git

NOT_CHECKED_OUT = "the memory is in git but not checked out here"
COMMANDS = (
    ("list",),
    ("search", "tabs"),
    ("context", "tabs"),
    ("add", "Use spaces"),
    ("check", "records"),
    ("init",),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a memory."""
    return begin(tmp_path / "project", "Use tabs")


def _refused(why: str, hint: str) -> None:
    before = git("status", "--porcelain", "--ignored")
    for command in COMMANDS:
        done = pmem(*command)
        assert (done.code, done.out) == (4, b""), command
        assert why in done.err
        assert hint in done.err
    assert git("status", "--porcelain", "--ignored") == before


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_a_memory_that_a_sparse_checkout_leaves_out_is_named(project: Path, cone: str) -> None:
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text("a = 1\n", encoding="utf-8")
    commit()
    git("sparse-checkout", "set", cone, "src")
    for folder in (project, project / "src"):
        os.chdir(folder)
        _refused(NOT_CHECKED_OUT, "sparse-checkout add .project-memory")
    os.chdir(project)
    git("sparse-checkout", "add", ".project-memory")
    assert "Use tabs" in pmem("list").out.decode()


def test_what_git_does_not_track_hides_no_memory_that_was_left_out(project: Path) -> None:
    (project / "a.py").write_text("a = 1\n", encoding="utf-8")
    commit()
    assert pmem("search", "tabs").code == 0
    git("sparse-checkout", "set", "--no-cone", "/a.py")
    assert "local" in os.listdir(".project-memory")
    _refused(NOT_CHECKED_OUT, "sparse-checkout add .project-memory")


def test_a_memory_that_was_deleted_in_the_work_tree_is_named(project: Path) -> None:
    shutil.rmtree(".project-memory")
    _refused("the memory is in git but was deleted here", "git restore .project-memory")
    git("rm", "-r", "--quiet", "--cached", ".project-memory")
    assert pmem("init", "--quiet").code == 0


def test_a_submodule_that_is_not_checked_out_is_named(project: Path, tmp_path: Path) -> None:
    outer = begin(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(project), "lib")
    git("rm", "-r", "--quiet", ".project-memory")
    shutil.rmtree(".project-memory", ignore_errors=True)
    commit()
    os.chdir(tmp_path)
    git("clone", "--quiet", str(outer), "clone")
    os.chdir(tmp_path / "clone" / "lib")
    _refused("lib is a submodule that is not checked out", "submodule update --init lib")


def test_a_memory_in_a_submodule_that_is_not_checked_out_is_named(
    project: Path, tmp_path: Path
) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    os.chdir(outer)
    git("init", "--quiet", "--initial-branch=main")
    git("submodule", "--quiet", "add", str(project), ".project-memory")
    commit()
    os.chdir(tmp_path)
    git("clone", "--quiet", str(outer), "clone")
    os.chdir(tmp_path / "clone")
    _refused(".project-memory is a submodule", "submodule update --init .project-memory")


@pytest.mark.parametrize("place", [".claude/worktrees/f", "../beside"])
def test_a_linked_work_tree_never_uses_the_memory_of_another_one(
    tmp_path: Path, place: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    os.chdir(project)
    git("init", "--quiet", "--initial-branch=main")
    (project / "a").write_text("a\n", encoding="utf-8")
    commit()
    assert pmem("init", "--quiet").code == 0
    assert pmem("add", "Use tabs").code == 0
    git("worktree", "add", "--quiet", place, "-b", "f")
    os.chdir(place)
    _refused("this work tree has no memory, but the one at", f"-C {project}")
    assert pmem("list", "-C", str(project)).code == 0
    assert pmem("init", "--here").code == 0


def test_work_trees_of_a_bare_repository_are_told_of_each_other(
    project: Path, tmp_path: Path
) -> None:
    os.chdir(tmp_path)
    git("clone", "--quiet", "--bare", str(project), "bare.git")
    os.chdir(tmp_path / "bare.git")
    git("worktree", "add", "--quiet", "main", "main")
    git("worktree", "add", "--quiet", "--detach", "new", _empty_commit())
    os.chdir("new")
    _refused("this work tree has no memory", f"-C {tmp_path / 'bare.git' / 'main'}")


def _empty_commit() -> str:
    tree = subprocess.run(
        ["git", "mktree"], input=b"", check=True, capture_output=True
    ).stdout.decode()
    return git("commit-tree", tree.strip(), "-m", "Empty").strip()


def test_what_is_written_outside_of_the_repository_is_told(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    os.chdir(inner)
    git("init", "--quiet")
    told = f"written to the memory of {project}, outside the repository {inner}"
    for text in ("Use spaces", "Ship on Fridays"):
        assert told in pmem("add", text).err
    assert told not in pmem("list").err
    os.chdir(project)
    assert "outside the repository" not in pmem("add", "Test on Mondays").err


def test_a_repository_that_git_distrusts_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git has a variable by which its own tests make a repository somebody else's."""
    monkeypatch.setattr("pmem.storage.git.git._KEPT", ("GIT_TEST_ASSUME_DIFFERENT_OWNER",))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    cure = f"git config --global --add safe.directory {project}"
    for command in (
        ("review", "HEAD"),
        ("log", "HEAD.."),
        ("import", "git"),
        ("list", "--at", "HEAD"),
        ("setup", "git"),
    ):
        done = pmem(*command)
        assert done.code == 3, command
        assert "git does not trust the repository" in done.err
        assert cure in done.err
    assert pmem("list").code == 0
    assert cure in pmem("check", "setup").out.decode()
    assert cure in pmem("check", "records").out.decode()
    assert pmem("check").out.decode().count("git config --global") == 1
    assert pmem("why", "README:1").code == 3


RULES = {
    ".gitignore": "*.json\n",
    ".git/info/exclude": ".project-memory\n",
    "../excludes": ".*\n",
}


@pytest.mark.parametrize("file", RULES)
def test_a_memory_that_git_ignores_is_named_with_the_rule(tmp_path: Path, file: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    os.chdir(project)
    git("init", "--quiet")
    Path(file).write_text(RULES[file], encoding="utf-8")
    git("config", "core.excludesFile", str(tmp_path / "excludes"))
    rule = RULES[file].strip()
    for command in (("init",), ("add", "We use PostgreSQL")):
        assert f":1 `{rule}`)" in pmem(*command).err, command
    assert "git ignores" not in pmem("add", "Lunch is at noon").err
    assert f":1 `{rule}`)" in pmem("check", "setup").out.decode()
    checked = pmem("check", "records")
    assert (checked.code, checked.out.decode().count(f"`{rule}`")) == (1, 1)
    assert pmem("config", "set", "ignored_by_git", "true").code == 0
    assert pmem("check", "records").code == 0


def test_a_rule_that_takes_records_in_again_is_no_finding(project: Path) -> None:
    Path(".gitignore").write_text("*.json\n!.project-memory/**/*.json\n", encoding="utf-8")
    assert pmem("check", "records").code == 0


HISTORY = (
    ("review", "HEAD~1..HEAD"),
    ("log", "HEAD~1..HEAD"),
    ("check", "merges", "--range", "HEAD~1..HEAD"),
    ("list", "--at", "HEAD~1"),
    ("import", "git", "HEAD~1..HEAD"),
)


@pytest.mark.parametrize("command", HISTORY)
def test_a_shallow_clone_is_named_as_the_cause(
    project: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (project / "b").write_text("b\n", encoding="utf-8")
    commit()
    os.chdir(tmp_path)
    git("clone", "--quiet", "--depth=1", f"file://{project}", "clone")
    os.chdir("clone")
    done = pmem(*command)
    assert done.code == 3
    assert "this clone is shallow" in done.err
    assert "`git fetch --unshallow`" in done.err
    assert "`fetch-depth: 0`" in done.err


def test_what_a_shallow_clone_lacks_of_a_history_is_told(project: Path, tmp_path: Path) -> None:
    (project / "b").write_text("b\n", encoding="utf-8")
    commit()
    os.chdir(tmp_path)
    git("clone", "--quiet", "--depth=1", f"file://{project}", "clone")
    os.chdir("clone")
    for command in (("import", "git"), ("check", "secrets", "--history")):
        assert "this clone is shallow, so older commits were not read" in pmem(*command).err
    assert pmem("add", "There is a b", "--cite", "b:1").code == 0
    assert "b:1  older than this shallow clone" in pmem("why", "b:1").out.decode()


@pytest.mark.parametrize("command", [HISTORY[1], HISTORY[3]])
def test_a_partial_clone_is_named_where_it_lacks_a_file(
    project: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    memory = os.listdir(".project-memory/long-term-memory")[0].removesuffix(".json")
    assert pmem("edit", memory, "Use spaces").code == 0
    commit()
    git("config", "uploadpack.allowFilter", "true")
    os.chdir(tmp_path)
    git("clone", "--quiet", "--filter=blob:none", f"file://{project}", "clone")
    os.chdir("clone")
    project.rename(tmp_path / "away")
    done = pmem(*command)
    assert done.code == 3
    assert "this clone is partial" in done.err
    assert "`git fetch --refetch --no-filter`" in done.err


def test_a_pointer_of_git_lfs_is_named(project: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"
    (record,) = Path(".project-memory/long-term-memory").iterdir()
    record.write_text(pointer, encoding="utf-8")
    assert "run `git lfs pull`" in pmem("list").err
    checked = pmem("check", "records")
    assert checked.code == 1
    assert "is a pointer of Git LFS" in checked.out.decode()
    Path(".project-memory/config.toml").write_text(pointer, encoding="utf-8")
    done = pmem("add", "Lunch is at noon")
    assert done.code == 5
    assert "config.toml is a pointer of Git LFS" in done.err
