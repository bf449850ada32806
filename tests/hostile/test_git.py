"""Git runs nothing that came with a project when pmem asks it something."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from pmem.storage.git import git as git_of_pmem
from pmem.storage.git import repository
from tests.faults.console import pmem
from tests.hostile.projects import GOOD, OTHER, STORE, memory, write
from tests.hostile.watch import watching
from tests.policy.paths import MATRIX

TRAPS = (
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "diff.external",
    "diff.trap.command",
    "diff.trap.textconv",
    "filter.trap.clean",
    "filter.trap.smudge",
    "filter.trap.process",
    "gpg.program",
    "credential.helper",
    "sequence.editor",
    "pager.log",
    "pager.diff",
    "trailer.x.command",
    "uploadpack.packObjectsHook",
)
"""Settings of git that name programs."""
VARIABLES = ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_ASKPASS")
HOOKS = ("post-index-change", "pre-commit", "reference-transaction", "post-checkout", "fsmonitor")


@pytest.fixture
def trap(tmp_path: Path) -> str:
    """Make a program that tells that it was run."""
    path = tmp_path / "trap"
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> "{tmp_path}/ran"\ncat\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def git(*words: str, folder: str = ".") -> None:
    who = ("-c", "user.name=Eve", "-c", "user.email=eve@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(root: str) -> str:
    """Make a repository with two memories, and a branch that changed one of them."""
    git("init", "-q", "-b", "main")
    for identifier in (GOOD, OTHER):
        write(f"{root}/{STORE}/{identifier}.json", memory(identifier, f"gear {identifier}"))
    git("add", "-A")
    git("commit", "-qm", "One")
    write(f"{root}/{STORE}/{OTHER}.json", memory(OTHER, "gear and wheel", pinned=True))
    git("add", "-A")
    git("commit", "-qm", "Two")
    return root


def line_of(command: str) -> list[str]:
    more = {
        "review": ["HEAD~1.."],
        "check": ["--staged"],
        "show": ["--at", "HEAD~1"],
    }
    if command.startswith("log "):
        return [GOOD if word == "REF" else word for word in command.split()]
    given = {"TEXT": "gear", "REF": GOOD, "OTHER": OTHER}
    words = [given.get(word, word) for word in MATRIX[command][1]]
    return [*command.split(), *words, *more.get(command, [])]


def nothing_ran(trap: str) -> None:
    told = f"{os.path.dirname(trap)}/ran"
    if os.path.exists(told):
        with open(told, encoding="utf-8") as file:
            raise AssertionError(file.read())


@pytest.mark.some(20)
@pytest.mark.parametrize("command", MATRIX)
def test_no_setting_hook_or_variable_runs_a_program(command: str, project: str, trap: str) -> None:
    for name in TRAPS:
        git("config", name, trap)
    git("config", "core.hooksPath", os.path.dirname(trap))
    for hook in HOOKS:
        os.link(trap, f"{os.path.dirname(trap)}/{hook}")
        if not os.path.exists(f".git/hooks/{hook}"):
            os.link(trap, f".git/hooks/{hook}")
    write("./.gitattributes", "* diff=trap filter=trap\n")
    stdin = json.dumps({"query": "gear"}).encode()
    done = pmem(*line_of(command), stdin=stdin, environment=dict.fromkeys(VARIABLES, trap))
    assert done.code in (0, 1, 2, 3, 4, 7, 9), done
    nothing_ran(trap)


@pytest.mark.parametrize("driver", ["trap", "Trap.one", "tr=ap"])
def test_a_review_runs_no_filter_where_git_is_in_doubt(
    driver: str, project: str, trap: str
) -> None:
    """Git compares the content of a file that is as new as the index."""
    write("./.gitattributes", f"*.py filter={driver}\n")
    write("./gear.py", "wheel = 1\n")
    git("add", "-A")
    git("commit", "-qm", "Three")
    git("config", f"filter.{driver}.clean", trap)
    git("config", f"filter.{driver}.process", trap)
    git("config", f"filter.{driver}.required", "true")
    os.utime(".git/index", (1, 1))
    done = pmem("review", "HEAD..", "--json")
    assert done.code == 0, done
    nothing_ran(trap)


@pytest.mark.parametrize(
    "command", ["list", "check", "log REF --git", "log HEAD~1..HEAD", "show", "check setup"]
)
def test_a_bare_repository_in_the_memory_folder_is_none(
    command: str, project: str, trap: str
) -> None:
    git("init", "-q", "--bare", "inner.git")
    for name in os.listdir("inner.git"):
        if name not in os.listdir(project):
            os.rename(f"inner.git/{name}", f"{project}/{name}")
    with open(f"{project}/config", "w", encoding="utf-8") as file:
        file.write(f"[core]\n\tbare = true\n\tfsmonitor = {trap}\n\tworktree = {project}\n")
    done = pmem(*line_of(command))
    assert "Traceback" not in done.err
    nothing_ran(trap)


def test_variables_of_git_lead_nowhere_else(project: str, tmp_path: Path) -> None:
    git("init", "-q", str(tmp_path / "other"))
    git("config", "user.name", "Mallory", folder=str(tmp_path / "other"))
    git("config", "user.name", "Ada")
    where = {"GIT_DIR": f"{tmp_path}/other/.git", "GIT_WORK_TREE": f"{tmp_path}/other"}
    assert pmem("add", "The wheel squeaks", environment=where).code == 0
    (last,) = pmem("log", "--limit", "1", "--json").data["items"]
    assert last["actor"] == "Ada"


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_attributes_are_read_from_a_file_only(kind: str, project: str, trap: str) -> None:
    os.unlink(f"{project}/.gitattributes")
    if kind == "pipe":
        os.mkfifo(f"{project}/.gitattributes")
    else:
        os.symlink(trap, f"{project}/.gitattributes")
    with watching(project, os.path.dirname(trap) + "/none", 3):
        done = pmem("setup", "git")
    assert done.code == 5, done
    assert ".gitattributes is " in done.err


@pytest.mark.parametrize("line", [
    ["show", OTHER, "--at", "HEAD~1"], ["log", "HEAD~1..HEAD"], ["log", OTHER, "--git"],
    ["check", "records", "--staged"], ["check", "merges", "--range", "HEAD~1..HEAD"],
    ["check", "secrets", "--history"],
    ["check", "setup"], ["check", "citations"], ["setup", "pre-commit"], ["resolve"],
    ["review", "HEAD~1.."], ["review", "--staged"],
], ids=" ".join)  # fmt: skip
def test_every_call_of_git_is_kept_from_running_something(line: list[str], project: str) -> None:
    with watching(project, "/nowhere", 20) as watch:
        done = pmem(*line, environment={"GIT_DIR": "/nowhere"})
    assert watch.found == []
    assert done.code in (0, 1, 2), done


def test_every_call_says_what_git_must_not_do() -> None:
    said = git_of_pmem.command(["log"])
    for setting in ("safe.bareRepository=explicit", "core.fsmonitor=false"):
        assert said[said.index(setting) - 1] == "-c"
    assert said[said.index(f"core.hooksPath={os.devnull}") - 1] == "-c"
    surroundings = git_of_pmem.surroundings({"GIT_DIR": "elsewhere", "GIT_CONFIG_COUNT": "1"})
    assert not {"GIT_DIR", "GIT_CONFIG_COUNT"} & surroundings.keys()
    assert surroundings["GIT_ALLOW_PROTOCOL"] == "none"
    assert surroundings["GIT_NO_LAZY_FETCH"] == "1"
    assert surroundings["GIT_OPTIONAL_LOCKS"] == "0"


@pytest.mark.parametrize("name", ["_LOG", "_CHANGES"])
def test_differences_are_shown_by_no_program_of_the_project(name: str) -> None:
    assert {"--no-textconv", "--no-ext-diff", "-O/dev/null"} <= set(getattr(repository, name))


def test_no_signature_is_checked_by_a_program_and_no_path_is_a_pattern() -> None:
    assert {"log.showSignature=false", "--literal-pathspecs"} <= set(repository._LOG)


@pytest.mark.parametrize("name", ["--output=pwned", "-p", "^HEAD", "HEAD..HEAD~1", "a\nb", "@{0}"])
def test_no_name_of_a_revision_is_an_option(name: str, project: str) -> None:
    assert pmem("show", OTHER, f"--at={name}").code == 3
    assert not os.path.lexists("pwned")
