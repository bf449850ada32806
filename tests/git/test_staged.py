"""Checking what is about to be committed: in every state of a repository, by real hooks too."""

import os
from pathlib import Path

import pytest

from pmem.project.setup import initialise
from tests.core.threeway.sides import Json
from tests.faults.console import Done, added, pmem
from tests.git.branches import ROOT, begin, branches, data, git, ok, path_of, read
from tests.git.test_merging import BASE, OURS, PATH, RIVAL, STORE, THEIRS, memory
from tests.once import Once

HOOK = "#!/bin/sh\nexec pmem check --staged\n"


def staged(*options: str) -> Done:
    """Check what is staged."""
    return pmem("check", "records", "--staged", *options)


def codes() -> list[str]:
    """Return the codes of what is wrong with what is staged."""
    return [found["code"] for found in staged("--json").data["records"]["findings"]]


def write(path: str, content: bytes) -> None:
    """Write a file of the memory and stage it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_bytes(content)
    ok("add", "--force", path)


@pytest.fixture
def repository(once: Once) -> None:
    """Make a repository with two linked memories, the memory's files committed."""
    once(_begin)


def _begin() -> None:
    begin()
    write(PATH, data(BASE))
    write(path_of(STORE, OTHER), data(OTHER))
    ok("commit", "--quiet", "--all", "--message", "memory")


def linked(record: Json, target: str) -> Json:
    """Return a memory with a link to another one."""
    link = {"target": target, "type": "relates_to", "strength": 0.5}
    return {**record, "relationships": [link]}


OTHER = linked(memory("It runs on one machine", "b-p7q2p7q2"), BASE["id"])
THIRD = memory("It is backed up at night", "c-m4n5m4n5")


def test_a_hook_tells_an_agent_of_broken_settings_too(repository: None) -> None:
    write(f"{ROOT}/config.toml", b'chunk_size = "x"\n')
    done = pmem("check", "records", "--staged", environment={"PMEM_AGENT": "planner"})
    assert done.code == 1
    assert b"config.toml: invalid_value" in done.out


def test_nothing_staged_is_nothing_wrong(repository: None) -> None:
    Path(PATH).write_bytes(b"{")
    done = staged()
    assert (done.code, done.out) == (0, b"records    0 ok\n")
    ok("add", "--all")
    assert codes() == ["damaged"]


def test_the_index_counts_and_not_the_work_tree(repository: None) -> None:
    write(PATH, b"{")
    Path(PATH).write_bytes(data(BASE))
    assert pmem("check", "records").code == 0
    assert staged().code == 1


WRONG: dict[str, tuple[str, bytes, str, int | None]] = {
    "damaged JSON": (PATH, data(BASE)[:60], "damaged", 5),
    "conflict markers": (PATH, b'{\n  "id": "a",\n<<<<<<< ours\n', "markers", 3),
    "another record's name": (PATH, data({**BASE, "id": "z-00000000"}), "damaged", None),
    "a newer schema": (PATH, data({**BASE, "schema": 99}), "newer_schema", 3),
    "a name that is no id": (f"{ROOT}/{STORE}/notes.json", b"{}", "damaged", None),
    "a dangling link": (path_of(STORE, THIRD), data(linked(THIRD, "d-00000000")), "dangling", 18),
    "an id in two stores": (f"{ROOT}/episodic-memory/{BASE['id']}.json", b"{}", "duplicate", None),
    "what is private to the clone": (f"{ROOT}/local/lock", b"", "local", None),
    "markers in the read-me": (f"{ROOT}/README.md", b"a\n<<<<<<< x\n>>>>>>> y\n", "markers", 2),
    "markers in the settings": (f"{ROOT}/config.toml", b"<<<<<<< x\n", "markers", None),
    "a setting out of bounds": (f"{ROOT}/config.toml", b"chunk_size = 0\n", "invalid_value", None),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_staged_file_is_told_with_its_line(
    what: str, repository: None
) -> None:
    path, content, code, line = WRONG[what]
    write(path, content)
    found = [item for item in staged("--json").data["records"]["findings"] if item["code"] == code]
    assert [(item["path"], item["line"]) for item in found] == [(os.path.abspath(path), line)]
    ok("commit", "--quiet", "--message", "all the same")
    assert codes() == []  # what is in already stops nobody


def test_a_link_among_records_of_one_commit_dangles_not(repository: None) -> None:
    write(path_of(STORE, THIRD), data(THIRD))
    write(PATH, data(linked(BASE, THIRD["id"])))
    assert codes() == []


def test_a_removal_leaves_links_dangling_in_files_that_the_commit_leaves_alone(
    repository: None,
) -> None:
    ok("rm", "--quiet", PATH)
    found = staged("--json").data["records"]["findings"]
    assert [(item["code"], item["line"]) for item in found] == [("dangling", 18)]
    assert found[0]["path"].endswith(f"{OTHER['id']}.json")
    write(path_of(STORE, OTHER), data({**OTHER, "relationships": []}))
    assert codes() == []


def test_taking_out_what_is_wrong_stops_nobody(repository: None) -> None:
    write(f"{ROOT}/local/lock", b"")
    write(path_of(STORE, THIRD), b"{")
    ok("commit", "--quiet", "--message", "both wrong")
    ok("rm", "--quiet", "-r", f"{ROOT}/local", path_of(STORE, THIRD))
    assert codes() == []


def test_a_circle_is_told_when_the_commit_closes_it(repository: None) -> None:
    gone = {"event": "MERGE", "at": BASE["created_at"], "actor": "ada"}
    first, second = (
        {
            **one,
            "state": "merged",
            "relationships": [],
            "history": [{**gone, "detail": {"into": other["id"]}}],
        }
        for one, other in ((BASE, OTHER), (OTHER, BASE))
    )
    write(PATH, data(first))
    ok("commit", "--quiet", "--message", "one way")
    write(path_of(STORE, OTHER), data(second))
    assert codes() == ["circle"]


def test_the_first_commit_is_compared_with_nothing(root: str) -> None:
    ok("init", "--quiet")
    write(PATH, data(BASE))
    assert codes() == []
    write(PATH, data(linked(BASE, "d-00000000")))
    assert codes() == ["dangling"]


def test_a_file_that_is_only_announced_is_not_committed(repository: None) -> None:
    Path(path_of(STORE, THIRD)).write_bytes(data(THIRD))
    ok("add", "--intent-to-add", path_of(STORE, THIRD))
    assert codes() == []


def test_links_and_folders_in_the_index_are_no_records(repository: None) -> None:
    os.unlink(PATH)
    os.symlink("/etc/passwd", PATH)
    ok("add", PATH)
    assert codes() == ["damaged"]
    ok("reset", "--quiet", "--hard")
    write(f"{ROOT}/{STORE}/c-m4n5m4n5.json/deeper.json", b"{}")
    assert codes() == []
    ok("rm", "--quiet", "--force", "-r", f"{ROOT}/{STORE}")
    os.symlink("/tmp", f"{ROOT}/{STORE}")
    ok("add", f"{ROOT}/{STORE}")
    assert "damaged" in codes()


@pytest.mark.parametrize("name", [b"\x1b[2J\n::error::x", b"\xff\xfe", b"caf\xe9"])
def test_names_that_drive_terminals_or_are_not_utf_8_are_written_out(
    name: bytes, repository: None
) -> None:
    write(os.fsdecode(f"{ROOT}/{STORE}/".encode() + name + b".json"), b"{}")
    for form in ("text", "github", "gitlab"):
        done = staged("--format", form)
        assert done.code == 1
        assert b"\x1b" not in done.out
        assert not any(line.startswith(b"::error::x") for line in done.out.splitlines())


def test_outside_of_git_it_is_one_sentence(root: str) -> None:
    done = staged()
    assert (done.code, done.out) == (3, b"")
    assert done.err.startswith(f"pmem: {root} is in no git work tree\n")


# A merge under way


def two(ours: Json, theirs: Json) -> None:
    """Make the branches `ours`, which is checked out, and `theirs`."""
    branches({PATH: data(BASE)}, ours={PATH: data(ours)}, theirs={PATH: data(theirs)})
    ok("checkout", "--quiet", "--force", "ours")


def test_an_unmerged_file_is_told_and_a_settled_one_is_not() -> None:
    begin()
    two(THEIRS, RIVAL)
    assert git("merge", "--no-edit", "theirs").code == 1
    assert codes() == ["unmerged"]
    ok("add", "--all")
    found = staged("--json").data["records"]["findings"]
    assert [(item["code"], item["line"]) for item in found] == [("conflict", 5)]
    assert pmem("edit", "k3v9", "We use Oracle and PostgreSQL").code == 0
    ok("add", "--all")
    assert codes() == []
    ok("commit", "--quiet", "--no-edit")


@pytest.mark.parametrize("taken", ["--ours", "--theirs", "neither"])
@pytest.mark.parametrize("way", ["merge", "cherry-pick"])
def test_a_side_that_is_taken_whole_or_taken_out_is_told(taken: str, way: str) -> None:
    begin()
    two(OURS, THEIRS)
    ok("config", "merge.pmem.driver", "false")
    assert git(way, "theirs").code == 1
    if taken == "neither":
        ok("rm", "--quiet", "--force", PATH)
    else:
        ok("checkout", "--quiet", taken, PATH)
        ok("add", "--all")
    assert codes() == ["dropped"]
    assert pmem("check", "records").code == 0  # nothing in the file itself gives it away


def test_a_side_that_cannot_be_read_may_be_left() -> None:
    begin()
    branches({PATH: data(BASE)}, ours={PATH: data(OURS)}, theirs={PATH: b"{\n"})
    ok("checkout", "--quiet", "--force", "ours")
    assert git("merge", "theirs").code == 1
    ok("checkout", "--quiet", "--ours", PATH)
    ok("add", "--all")
    assert codes() == []


def test_branches_without_a_common_ancestor_are_compared_too() -> None:
    begin()
    branches({PATH: data(OURS)})
    ok("checkout", "--quiet", "--force", "base")
    ok("checkout", "--quiet", "--orphan", "theirs")
    write(PATH, data(THEIRS))
    ok("commit", "--quiet", "--message", "theirs")
    ok("config", "merge.pmem.driver", "false")
    assert git("merge", "--allow-unrelated-histories", "base").code == 1
    ok("add", "--all")
    assert codes() == ["dropped"]


# Real hooks


def hooked(script: str = HOOK) -> None:
    """Let a hook check every commit."""
    Path(".git/hooks").mkdir(exist_ok=True)
    Path(".git/hooks/pre-commit").write_text(script, encoding="utf-8")
    Path(".git/hooks/pre-commit").chmod(0o755)


WAYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "add and commit": (("add", "--all"), ("commit", "--message", "x")),
    "commit --all": (("commit", "--all", "--message", "x"),),
    "commit one path": (("commit", "--message", "x", "--", PATH),),
    "commit --include": (("commit", "--include", "--message", "x", "--", PATH),),
    "amend": (("commit", "--amend", "--all", "--no-edit"),),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("content", [b"{\n", data(OURS)], ids=["damaged", "well"])
def test_a_hook_sees_what_each_way_to_commit_commits(
    way: str, content: bytes, repository: None
) -> None:
    hooked()
    Path(PATH).write_bytes(content)
    *before, last = WAYS[way]
    for arguments in before:
        ok(*arguments)
    done = git(*last)
    assert done.code == (content == b"{\n"), done.said
    assert (ok("show", f"HEAD:{PATH}").encode() == content) == (done.code == 0)


def test_a_path_that_is_not_committed_does_not_stop_the_one_that_is(repository: None) -> None:
    hooked()
    write(path_of(STORE, OTHER), b"{")
    Path(PATH).write_bytes(data(OURS))
    ok("commit", "--quiet", "--message", "one", "--", PATH)
    assert git("commit", "--message", "both").code == 1


def test_a_hook_works_in_a_second_work_tree(repository: None) -> None:
    hooked()
    ok("worktree", "add", "--quiet", "../second")
    os.chdir("../second")
    Path(PATH).write_bytes(b"{")
    for arguments in (("--all",), ("--", PATH)):
        assert git("commit", "--message", "x", *arguments).code == 1
    Path(PATH).write_bytes(data(OURS))
    ok("commit", "--quiet", "--message", "x", "--", PATH)
    os.chdir("../work")
    assert codes() == []


def test_a_hook_of_another_repository_looks_at_this_ones_own_index(
    repository: None, tmp_path: Path
) -> None:
    here = os.getcwd()
    write(PATH, b"{")
    other = tmp_path / "other"
    other.mkdir()
    os.chdir(other)
    ok("init", "--quiet")
    hooked(f"#!/bin/sh\nexec pmem -C '{here}' check --staged\n")
    Path("file").touch()
    ok("add", "--all")
    assert git("commit", "--all", "--message", "x").code == 1
    os.chdir(here)
    ok("reset", "--quiet", "--hard")
    os.chdir(other)
    ok("commit", "--quiet", "--all", "--message", "x")


def test_an_index_elsewhere_counts_where_the_commit_is_made(
    repository: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooked()
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    ok("read-tree", "HEAD")
    write(PATH, b"{")
    assert codes() == ["damaged"]
    assert git("commit", "--message", "x").code == 1
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert codes() == []
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "missing"))
    assert codes() == []


def test_looking_changes_nothing(repository: None) -> None:
    added("Unrelated")
    write(PATH, b"{")
    os.utime(PATH, (1, 1))
    before = read(".git/index")
    assert staged().code == 1
    assert before == read(".git/index")


def test_the_projects_own_programs_do_not_run(repository: None) -> None:
    trap = Path("trap.sh")
    trap.write_text("#!/bin/sh\ntouch sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "diff.pmem.command", "diff.pmem.textconv"):
        ok("config", name, str(trap.resolve()))
    ok("config", "diff.orderFile", str(trap.resolve()))
    write(PATH, b"{")
    Path("sprung").unlink(missing_ok=True)
    assert staged().code == 1
    assert not Path("sprung").exists()


def test_a_memory_below_the_top_is_checked_alone() -> None:
    ok("init", "--quiet")
    for name in ("one", "two"):
        os.mkdir(name)
        initialise(f"{name}/{ROOT}")
    write(f"one/{PATH}", b"{")
    assert [pmem("-C", name, "check", "records", "--staged").code for name in ("one", "two")] == [
        1,
        0,
    ]


def test_what_one_branch_purged_may_stay_purged_in_a_merge() -> None:
    begin()
    other = {**OTHER, "relationships": []}
    kept = path_of(STORE, other)
    branches(
        {PATH: data(BASE), kept: data(other)},
        ours={kept: data({**other, "pinned": True})},
        theirs={PATH: b""},
    )
    ok("checkout", "--quiet", "--force", "ours")
    ok("merge", "--quiet", "--no-commit", "--no-ff", "theirs")
    assert codes() == []
