"""Teaching git how records merge: where it may be done, and what it leaves alone."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pmem.errors import Locked, NotFound
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.values.records import STORES
from pmem.vcs import gitsetup
from tests.faults.console import pmem
from tests.git.branches import BIN, ROOT, begin, branches, commit, data, git, ok
from tests.git.test_merging import BASE, OURS, PATH


def opened(folder: str = ROOT) -> Workspace:
    """Open a memory folder."""
    return Workspace(os.path.abspath(folder), environment=os.environ)


def settings() -> dict[str, str]:
    """Return this clone's settings that concern pmem."""
    found = git("config", "--local", "--null", "--get-regexp", r"\.pmem\.").out.split("\0")
    return dict(line.split("\n", 1) for line in found if line)


def test_setting_up_twice_is_setting_up_once() -> None:
    begin()
    before = Path(".git/config").read_bytes(), Path(ROOT, ".gitattributes").read_bytes()
    assert gitsetup.install(opened()).ok
    assert before == (Path(".git/config").read_bytes(), Path(ROOT, ".gitattributes").read_bytes())
    assert settings() == gitsetup.SETTINGS


def test_removing_leaves_the_clone_as_it_was() -> None:
    ok("init", "--quiet")
    initialise(ROOT)
    before = Path(".git/config").read_bytes()
    gitsetup.install(opened())
    gitsetup.remove(opened())
    assert before == Path(".git/config").read_bytes()
    assert not gitsetup.remove(opened()).begun


def test_removing_keeps_settings_of_somebody_elses() -> None:
    begin()
    ok("config", "merge.pmem.recursive", "binary")
    gitsetup.remove(opened())
    assert settings() == {"merge.pmem.recursive": "binary"}


def test_attributes_of_an_older_folder_are_completed_and_kept() -> None:
    ok("init", "--quiet")
    initialise(ROOT)
    Path(ROOT, ".gitattributes").write_bytes(b"*.json text eol=lf\n# ours, no line end")
    assert gitsetup.install(opened()).ok
    text = Path(ROOT, ".gitattributes").read_text(encoding="utf-8")
    assert text.startswith("*.json text eol=lf\n# ours, no line end\n/long-term-memory/")
    asked = ok(
        "check-attr", "merge", "diff", "--", f"{ROOT}/conversations/a.json", f"{ROOT}/x.json"
    )
    assert asked.splitlines() == [
        f"{ROOT}/conversations/a.json: merge: pmem",
        f"{ROOT}/conversations/a.json: diff: pmem",
        f"{ROOT}/x.json: merge: unspecified",
        f"{ROOT}/x.json: diff: unspecified",
    ]


@pytest.mark.parametrize("where", [".git/info/attributes", f"{ROOT}/.gitattributes"])
def test_attributes_that_others_overrule_are_not_as_they_should_be(where: str) -> None:
    begin()
    text = Path(where).read_text(encoding="utf-8") if Path(where).exists() else ""
    Path(where).write_text(f"{text}*.json merge=union\n", encoding="utf-8")
    before = Path(ROOT, ".gitattributes").read_bytes()
    found = gitsetup.install(opened())
    assert [part.found for part in found.parts if not part.ok] == [
        f"/{folder}/*.json merge=union diff=pmem" for folder in STORES.values()
    ]
    assert Path(ROOT, ".gitattributes").read_bytes() == before
    assert gitsetup.summary(opened()) == (
        False,
        "other attributes overrule .gitattributes: see `git check-attr --all`",
    )


def test_a_stale_or_doubled_setting_is_replaced() -> None:
    begin()
    ok("config", "--add", "merge.pmem.driver", "another %A")
    assert gitsetup.summary(opened())[0] is False
    assert pmem("check", "setup").code == 1
    assert gitsetup.install(opened()).ok
    assert settings() == gitsetup.SETTINGS


def test_it_works_in_a_worktree_and_from_a_folder_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    ok("init", "--quiet")
    os.makedirs("parts/engine/src")
    initialise(f"parts/engine/{ROOT}")
    commit("memory")
    ok("worktree", "add", "--quiet", "../second")
    os.makedirs("../second/parts/engine/src")
    os.chdir("../second/parts/engine/src")
    assert pmem("setup", "git").code == 0
    assert settings() == gitsetup.SETTINGS
    os.chdir("../../../../work")
    assert gitsetup.look(opened(f"parts/engine/{ROOT}")).ok
    assert gitsetup.summary(opened(f"parts/engine/{ROOT}")) == (True, "records merge by field")


def test_outside_of_git_it_says_so_and_writes_nothing(root: str) -> None:
    before = Path(root, ".gitattributes").read_bytes()
    for act in (gitsetup.look, gitsetup.install, gitsetup.remove):
        with pytest.raises(NotFound, match="in no git work tree"):
            act(opened(root))
    assert before == Path(root, ".gitattributes").read_bytes()
    assert gitsetup.summary(opened(root)) == (True, "not in a git work tree")
    assert pmem("check", "setup").code == 0


def test_a_configuration_that_another_git_holds_is_left_alone() -> None:
    ok("init", "--quiet")
    initialise(ROOT)
    Path(".git/config.lock").touch()
    with pytest.raises(Locked, match="refused to change"):
        gitsetup.install(opened())


def test_the_projects_own_hooks_and_helpers_do_not_run() -> None:
    begin()
    trap = Path("trap.sh")
    trap.write_text("#!/bin/sh\ntouch sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    ok("config", "core.fsmonitor", str(trap.resolve()))
    ok("config", "core.hooksPath", str(Path.cwd()))
    gitsetup.install(opened())
    gitsetup.look(opened())
    assert not Path("sprung").exists()


def test_the_script_does_what_setting_up_does() -> None:
    begin()
    before = settings()
    gitsetup.remove(opened())
    commands = gitsetup.script().partition("#")[0]
    subprocess.run(["sh", "-e", "-c", commands], check=True, timeout=60)
    assert settings() == before


def test_starting_a_memory_tells_git_once_and_says_so() -> None:
    ok("init", "--quiet")
    assert "git merges records by field" in pmem("init").err
    assert settings() == gitsetup.SETTINGS
    assert pmem("init").err == ""
    gitsetup.remove(opened())
    assert "git merges" not in pmem("init", "--no-git").err
    assert settings() == {}


def test_starting_a_memory_outside_of_git_says_nothing_of_it() -> None:
    assert pmem("init").err == 'next: pmem add "what should be remembered"\n'


def test_a_git_that_refuses_stops_no_memory_from_starting() -> None:
    ok("init", "--quiet")
    Path(".git/config.lock").touch()
    done = pmem("init")
    assert done.code == 0
    assert "git was not told how records merge" in done.err


def test_the_doctor_finds_a_clone_that_was_not_told_and_tells_it() -> None:
    ok("init", "--quiet")
    initialise(ROOT)
    assert pmem("check", "setup").code == 1
    mended = pmem("check", "setup", "--fix", "--json").data["setup"]["items"][-1]
    assert (mended["name"], mended["ok"], mended["fixed"]) == ("git", True, True)
    assert pmem("check", "setup").code == 0


def test_git_shows_records_as_they_stand_where_pmem_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    branches({PATH: data(BASE)}, ours={PATH: data(OURS)})
    ok("checkout", "--quiet", "--force", "ours")
    assert '"before": {' not in ok("show", "HEAD")
    (tmp_path / "bin").mkdir()
    for name in ("git", "sh", "cat"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or name)
    shown = git("show", "HEAD", environment={"PATH": str(tmp_path / "bin")})
    assert (shown.code, shown.said) == (0, "")
    assert '"before": {' in shown.out
