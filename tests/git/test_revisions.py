"""`--at REV`: the answer of a checkout of that revision, without one."""

import json
import os
import shutil
import subprocess
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.errors import Refused
from pmem.storage.git.repository import Repository
from pmem.values.records import Memory
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.effort import examples
from tests.git import world
from tests.git.branches import ROOT, commit
from tests.git.branches import ok as git
from tests.git.scenarios import WAYS, prepare
from tests.git.world import World

NOW_TEXT: Final = "2027-01-01T00:00:00Z"
READING: Final = (
    ("list",),
    ("list", "--all-states", "--json"),
    ("search", "rye oven"),
    ("search", "which flour?", "--json", "--explain"),
    ("context", "rye oven 面粉", "--budget", "2000"),
    ("context", "--json"),
    ("stats",),
    ("log", "--json"),
    ("conversation", "list"),
    ("episode", "list", "--json"),
    ("inbox", "facts", "--all"),
    ("export", "arrays"),
)


@pytest.fixture(autouse=True)
def _no_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone alone knows what ran in it."""
    monkeypatch.setenv("PMEM_RECORD_OPERATIONS", "false")


@pytest.fixture
def place() -> str:
    """Return a repository with one commit: a memory without records, in a folder of its own."""
    os.makedirs("shop/app")
    os.chdir("shop")
    git("init", "--quiet", "--initial-branch=main")
    os.chdir("app")
    assert pmem("init", "--track-conversations").code == 0
    commit("start")
    return os.path.abspath(ROOT)


def answer(*arguments: str) -> str:
    done = pmem(*arguments, "--now", NOW_TEXT)
    assert done.code == 0, (arguments, done.said)
    return done.text


def added(text: str, *options: str) -> str:
    return str(
        json.loads(answer("add", text, "--json", "--force", *options))["data"]["memory"]["id"]
    )


@settings(max_examples=examples(6), phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.integers(0, 10**6))
def test_a_revision_answers_as_its_checkout_does(seed: int) -> None:
    here = os.getcwd()
    named = mock.patch.dict(os.environ, {"PMEM_PROJECT_NAME": "Bakery"})  # not as its folder
    with tempfile.TemporaryDirectory(dir=here) as folder, world.tamed(), named:
        os.chdir(folder)
        try:
            world.begin()
            scenario = prepare(World(seed), 2, 2)
            assert WAYS["merge"](scenario).memory
            for revision in (scenario.sides[1].tip, world.commit("merged")):
                assert_same(revision)
        finally:
            os.chdir(here)


def assert_same(revision: str) -> None:
    """Compare with a checkout, which counts no recalls: a fresh one has none."""
    there = tempfile.mkdtemp(dir="..")
    git("worktree", "add", "--quiet", "--detach", there, revision)
    folder = os.path.join(there, git("rev-parse", "--show-prefix").strip())
    try:
        for command in READING:
            assert answer(*command, "--at", revision) == fresh(folder, *command), command
        for memory in json.loads(answer("list", "--json", "--at", revision))["data"]["items"]:
            for word in ("show", "log"):
                command = (word, memory["id"])
                assert answer(*command, "--at", revision) == fresh(folder, *command)
    finally:
        git("worktree", "remove", "--force", there)


def fresh(folder: str, *command: str) -> str:
    with mock.patch.dict(os.environ, {"PMEM_RECORD_ACCESS": "false"}):
        return answer("-C", folder, *command)


def test_a_branch_a_tag_an_id_and_its_ancestors_are_revisions(place: str) -> None:
    added("Rye keeps for a week")
    first = commit()
    git("tag", "-a", "v1.0", "-m", "first")
    git("branch", "feature/rye")
    added("Dough rests overnight")
    commit()
    for name in ("v1.0", "feature/rye", first, first[:8], "HEAD~1", "main^", "@~1"):
        assert answer("list", "--at", name).count("\n") == 1, name
    assert answer("list", "--at", "HEAD").count("\n") == 2
    assert answer("list", "--at", "HEAD") == answer("list")


def test_what_reads_as_a_time_is_a_time(place: str) -> None:
    added("Rye keeps for a week")
    commit()
    git("branch", "2001-01-01")
    git("branch", "3d")
    assert answer("list", "--at", "2001-01-01") == ""
    assert answer("list", "--at", "refs/heads/2001-01-01").count("\n") == 1
    assert answer("list", "--at", "heads/3d").count("\n") == 1


@pytest.mark.parametrize(
    "name",
    [
        *(
            "nowhere",
            "-x",
            "--all",
            "--output=stolen",
            "a b",
            "HEAD\n--all",
            "HEAD:README",
            ":/start",
        ),
        *(
            "HEAD..main",
            "^HEAD",
            "@{yesterday}",
            "HEAD@{1}",
            "*",
            "",
            " ",
            "\x1b[31m",
            "ü",
            "x" * 5000,
        ),
    ],
)
def test_what_is_neither_a_time_nor_a_revision_gets_one_sentence(name: str, place: str) -> None:
    done = pmem("list", f"--at={name}")
    assert (done.code, done.out) == (3, b"")
    sentence, hint = done.said.splitlines()
    assert "is neither a time nor a git revision: git " in sentence
    assert hint.startswith("hint: write it as 2026-11-21")
    assert not os.path.exists("stolen")


@pytest.mark.parametrize(
    "line",
    [("check", "secrets", "--history"), ("log", "HEAD.."), ("review",)],
)
def test_n12_without_a_repository_nothing_is_said_of_disks_and_branches(
    line: tuple[str, ...], root: str
) -> None:
    done = pmem(*line)
    assert done.code == 3
    assert f"{root} is not in a git repository" in done.said
    assert "hint: run `git init` around it" in done.said


def test_without_a_repository_no_name_is_a_revision(root: str) -> None:
    done = pmem("list", "--at", "v1.0")
    assert (done.code, f"git revision: {root} is not in a git repository" in done.said) == (3, True)


def test_without_git_the_sentence_says_so(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = pmem("list", "--at", "HEAD")
    assert done.code == 3
    assert done.said.startswith("pmem: git cannot be run")


def test_before_there_was_a_memory_the_sentence_says_so(place: str) -> None:
    git("checkout", "--quiet", "--orphan", "empty")
    git("rm", "-r", "--quiet", "--cached", "..")
    git("commit", "--quiet", "--allow-empty", "--message", "nothing")
    git("checkout", "--quiet", "--force", "main")
    done = pmem("list", "--at", "empty")
    assert (done.code, done.said) == (3, "pmem: the memory was not there at empty\n")


def test_a_record_that_came_later_did_not_exist_at_the_revision(place: str) -> None:
    identifier = added("Rye keeps for a week")
    commit()
    done = pmem("show", identifier, "--at", "HEAD~1")
    assert (done.code, done.said) == (3, f"pmem: memory {identifier} did not exist at HEAD~1\n")


def test_what_was_purged_is_still_in_its_revision(place: str) -> None:
    identifier = added("Rye keeps for a week")
    commit()
    answer("purge", identifier, "--force")
    commit()
    assert "Rye keeps" in answer("show", identifier, "--at", "HEAD~1")
    assert pmem("show", identifier, "--at", "HEAD").code == 3


def test_settings_are_those_of_the_revision(place: str) -> None:
    added("Rye keeps for a week")
    pmem("init", "--name", "Old")
    commit()
    pmem("init", "--name", "New")
    commit()
    assert "Memory of Old" in answer("context", "--at", "HEAD~1")
    assert "Memory of New" in answer("context", "--at", "HEAD")
    with open(f"{ROOT}/config.toml", "w", encoding="utf-8") as file:
        file.write("no toml")
    commit()
    git("checkout", "--quiet", "HEAD~1")
    done = pmem("context", "--at", "main")
    assert done.code == 5
    assert "main:app/.project-memory/config.toml is not valid TOML" in done.said


def test_only_what_is_tracked_exists_in_a_revision() -> None:
    git("init", "--quiet")
    pmem("init")
    answer("conversation", "start", "Private")
    commit()
    assert answer("conversation", "list", "--at", "HEAD") == ""


@pytest.fixture
def broken(place: str) -> str:
    """Commit files of every unusable kind beside one memory; return its id."""
    good = added("Rye keeps for a week")
    store = Path(ROOT, "long-term-memory")
    (store / "mwqi8ls0-aaaaaaaa.json").write_text("{")
    os.symlink("/etc/passwd", store / "mwqi8ls0-bbbbbbbb.json")
    (store / "strange näme\n.json").write_text("{}")
    (store / "mwqi8ls0-cccccccc.json").mkdir()
    (store / "mwqi8ls0-cccccccc.json" / "x").write_text("x")
    (store / ".hidden.json").write_text("{}")
    (store / "notes.txt").write_text("not a record")
    commit()
    return good


def test_damaged_files_and_links_are_named_and_left_out(broken: str) -> None:
    done = pmem("list", "--at", "HEAD")
    assert (done.code, done.out.count(b"\n")) == (0, 1)
    for name, what in (
        ("mwqi8ls0-aaaaaaaa.json", "is not valid JSON"),
        ("mwqi8ls0-bbbbbbbb.json", "is a link, not a record"),
        ("mwqi8ls0-cccccccc.json", "is no file, not a record"),
    ):
        assert f"HEAD:app/{ROOT}/long-term-memory/{name} {what}" in done.said
    assert "has a name that is no id" in done.said
    assert done.said.count("left out") == 4
    assert b"root:" not in done.out + done.err
    shown = pmem("show", "bbbbbbbb", "--at", "HEAD")
    assert (shown.code, shown.out) == (5, b"")


def test_damage_counts_as_in_a_checkout(broken: str) -> None:
    assert_same("HEAD")


def test_a_store_that_is_a_link_is_not_followed(place: str) -> None:
    shutil.rmtree(f"{ROOT}/long-term-memory")
    os.symlink("/etc", f"{ROOT}/long-term-memory")
    commit()
    done = pmem("list", "--at", "HEAD")
    assert done.code == 5
    assert f"HEAD:app/{ROOT}/long-term-memory is a link, not a store" in done.said


def test_a_submodule_in_a_stores_place_is_empty(place: str) -> None:
    head = git("rev-parse", "HEAD").strip()
    path = f"app/{ROOT}/episodic-memory"
    git("update-index", "--add", "--cacheinfo", f"160000,{head},{path}", cwd="..")
    git("commit", "--quiet", "--message", "submodule")
    assert answer("episode", "list", "--at", "HEAD") == ""


def test_a_huge_file_is_named_and_the_others_are_read(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmem.storage.git.objects.RECORD_BYTES", 100_000)
    for number in range(3):
        added(f"Rye, step {number}")
    for name in ("0wqi8ls0-aaaaaaaa", "nwqi8ls0-bbbbbbbb", "zwqi8ls0-cccccccc"):
        Path(ROOT, "long-term-memory", f"{name}.json").write_text(name * 10_000)
    commit()
    done = pmem("list", "--at", "HEAD")
    assert (done.code, done.out.count(b"\n")) == (0, 3)
    assert done.said.count("larger than") == 3


def test_an_object_that_is_missing_is_named_and_the_others_are_read(place: str) -> None:
    lost = added("Rye keeps for a week")
    added("Dough rests overnight")
    commit()
    path = f"HEAD:./{ROOT}/long-term-memory/{lost}.json"
    blob = git("rev-parse", path).strip()
    os.unlink(f"../.git/objects/{blob[:2]}/{blob[2:]}")
    done = pmem("list", "--at", "HEAD")
    assert (done.code, done.out.count(b"\n")) == (0, 1)
    assert f"{lost}.json is not in this clone" in done.said
    damaged = f"../.git/objects/{blob[:2]}"
    os.makedirs(damaged, exist_ok=True)
    Path(damaged, blob[2:]).write_bytes(b"no zlib")
    assert pmem("list", "--at", "HEAD").out == done.out


@pytest.mark.parametrize("folder", ["wïth späce", "new\nline", '"quoted"', "-dash", "[a]*?"])
def test_folders_of_any_name_are_found(folder: str) -> None:
    git("init", "--quiet")
    os.mkdir(folder)
    os.chdir(folder)
    pmem("init")
    added("Rye keeps for a week")
    commit()
    assert answer("list", "--at", "HEAD") == answer("list")


def test_a_linked_worktree_sees_the_same_revisions(place: str) -> None:
    added("Rye keeps for a week")
    commit()
    git("worktree", "add", "--quiet", "../../second", "HEAD~1")
    os.chdir("../../second/app")
    assert answer("list") == ""
    assert answer("list", "--at", "main").count("\n") == 1


def test_nothing_of_the_repositorys_own_is_run(place: str) -> None:
    script = Path("../../evil.sh").absolute()
    script.write_text(f"#!/bin/sh\ntouch {script}.ran\n")
    script.chmod(0o755)
    identifier = added("Rye keeps for a week")
    commit()
    for name in ("core.fsmonitor", "gpg.program", "core.pager", "core.sshCommand", "diff.external"):
        git("config", name, str(script))
    for name, value in (("log.showSignature", "true"), ("log.follow", "true")):
        git("config", name, value)
    Path("../.git/hooks").mkdir(exist_ok=True)
    shutil.copy(script, "../.git/hooks/post-index-change")
    for command in (
        ("list", "--at", "HEAD"),
        ("log", "HEAD~1.."),
        ("log", identifier, "--git"),
    ):
        answer(*command)
    assert not os.path.exists(f"{script}.ran")


def test_a_partial_clone_fetches_nothing(place: str) -> None:
    lost = added("Rye keeps for a week")
    added("Dough rests overnight")
    commit()
    mark = Path("../../fetched").absolute()
    trap = str(mark).replace(" ", "% ")
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", f"ext::touch {trap}"),
        ("protocol.ext.allow", "always"),
    ):
        git("config", name, value)
    blob = git("rev-parse", f"HEAD:./{ROOT}/long-term-memory/{lost}.json").strip()
    os.unlink(f"../.git/objects/{blob[:2]}/{blob[2:]}")
    done = pmem("list", "--at", "HEAD")
    assert done.code == 3
    assert "this clone is partial" in done.said
    assert "git fetch --refetch --no-filter" in done.said
    assert pmem("log", lost, "--git").code == 0
    assert not mark.exists()
    subprocess.run(["git", "cat-file", "-p", blob], check=False, capture_output=True, timeout=60)
    assert mark.exists(), "the trap would not have worked"


def test_a_repository_inside_the_memory_folder_is_not_trusted(place: str) -> None:
    added("Rye keeps for a week")
    commit()
    subprocess.run(["git", "init", "--quiet", "--bare", "bare"], check=True)
    for name in ("HEAD", "config", "objects", "refs"):
        shutil.move(f"bare/{name}", f"{ROOT}/{name}")
    done = pmem("list", "--at", "HEAD")
    assert (done.code, done.out) == (3, b"")
    assert "safe.bareRepository" in done.said


def test_gits_own_variables_do_not_lead_elsewhere(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    added("Rye keeps for a week")
    commit()
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "other")], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert answer("list", "--at", "HEAD").count("\n") == 1


def test_a_revision_is_read_by_few_processes(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        added(f"Rye, step {number}")
    lines = "".join(
        json.dumps({"conversation": "talk", "id": n, "content": f"Step {n}"}) + "\n"
        for n in range(90)
    )
    assert pmem("import", "messages", "-", stdin=lines.encode()).code == 0
    commit()
    started: list[Any] = []
    start = subprocess.Popen.__init__

    def noted(process: Any, *arguments: Any, **options: Any) -> None:
        started.append(arguments)
        start(process, *arguments, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    for command in (("list",), ("search", "rye"), ("conversation", "show", "talk")):
        started.clear()
        answer(*command, "--at", "HEAD")
        assert 0 < len(started) <= 9, command


def test_the_library_opens_a_revision(place: str) -> None:
    identifier = added("Rye keeps for a week")
    commit()
    answer("edit", identifier, "Rye keeps for a month")
    project = Project(ROOT, now=NOW)
    then = project.at("HEAD")
    assert isinstance(then.show(identifier), Memory)
    assert then.list().items[0].content == "Rye keeps for a week"
    assert project.list().items[0].content == "Rye keeps for a month"
    with pytest.raises(Refused):
        then.add("Too late")


def test_a_moment_within_a_revision_is_what_its_records_tell(place: str) -> None:
    project = Project(ROOT, now=NOW)
    identifier = project.add("Rye keeps for a week").memory.id
    Project(ROOT, now=NOW + timedelta(hours=2)).edit(identifier, "Rye keeps for a month")
    commit()
    Project(ROOT, now=NOW + timedelta(hours=3)).purge(identifier, force=True)
    assert project.at("HEAD").at(NOW + timedelta(hours=1)).list().items[0].content.endswith("week")


def test_the_repository_lists_what_the_memory_folder_holds(place: str) -> None:
    repository = Repository(place, dict(os.environ))
    files = repository.files(repository.commit("HEAD"))
    assert {"README.md", "config.toml", ".gitignore", ".gitattributes"} == set(files)
    assert repository.place() == f"app/{ROOT}/"
