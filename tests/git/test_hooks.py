"""Having every commit checked: where the lines go, what they do, and what they leave alone."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core import managed_block
from pmem.errors import NotFound, Refused
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.vcs import hooksetup
from pmem.vcs.hooksetup import PreCommitRequest
from tests.asking import ask
from tests.faults.console import added, pmem
from tests.git.branches import ROOT, Ran, begin, data, git, ok, read
from tests.git.test_merging import BASE, OURS, PATH
from tests.once import Once

HOOK = ".git/hooks/pre-commit"
CONFIG = ".pre-commit-config.yaml"
OWN = "#!/bin/bash -e\n# ours\nif true; then\n  touch ran\nfi\nexit 0\n"
ENTRY = """\
# BEGIN PMEM - `pmem setup pre-commit --remove` takes these lines away
- repo: local
  hooks:
    - id: pmem-check
      name: pmem check
      entry: 'pmem check --staged'
      language: system
      files: '^\\.project-memory/'
      pass_filenames: false
    - id: pmem-review
      name: pmem review
      entry: 'pmem review --staged'
      language: system
      files: ''
      pass_filenames: false
      always_run: true
      verbose: true
# END PMEM
"""


def opened(folder: str = ROOT, *, read_only: bool = False) -> Workspace:
    """Open a memory folder."""
    return Workspace(os.path.abspath(folder), environment=os.environ, read_only=read_only)


@pytest.fixture
def repository(once: Once) -> None:
    """Make a repository whose commits are not checked."""
    once(_begin)


def _begin() -> None:
    begin()
    Path(PATH).write_bytes(data(BASE))
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "memory")


def hook(text: str, mode: int = 0o755) -> None:
    """Put a hook there."""
    Path(HOOK).parent.mkdir(exist_ok=True)
    Path(HOOK).write_bytes(text.encode())
    Path(HOOK).chmod(mode)


def commit(content: bytes, *options: str, environment: dict[str, str] | None = None) -> Ran:
    """Change the memory and commit it."""
    Path(PATH).write_bytes(content)
    return git("commit", "--all", "--message", "x", *options, environment=environment)


# Git's own hook


def test_a_hook_stops_a_commit_that_would_damage_the_memory(repository: None) -> None:
    assert hooksetup.install(opened()).ok
    done = commit(b"{\n")
    assert done.code == 1
    assert f"{PATH}:2: damaged: " in done.said
    assert "`pmem resolve`" in done.said
    assert "`git commit --no-verify`" in done.said
    assert commit(data(OURS)).said == ""
    assert commit(b"{\n", "--no-verify").code == 0


def test_setting_up_twice_is_setting_up_once(repository: None) -> None:
    hooksetup.install(opened())
    before = read(HOOK)
    assert hooksetup.install(opened()).ok
    assert before == read(HOOK)
    assert stat.S_IMODE(os.stat(HOOK).st_mode) & 0o111 == 0o111
    subprocess.run(["sh", "-n", HOOK], check=True, timeout=60)


def test_without_pmem_a_commit_goes_on_with_one_line(repository: None, tmp_path: Path) -> None:
    hooksetup.install(opened())
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name in ("git", "sh"):
        (bin_ / name).symlink_to(f"/usr/bin/{name}")
    done = commit(b"{\n", environment={"PATH": str(bin_)})
    assert done.code == 0
    assert done.said == "pmem: not installed, so the memory in this commit was not checked\n"


@pytest.mark.parametrize("code", [0, 1, 2, 4, 70])
def test_only_a_finding_stops_a_commit(code: int, repository: None, tmp_path: Path) -> None:
    hooksetup.install(opened())
    stand_in = tmp_path / "pmem"
    script = f"[ $1 != review ] || exit 0\necho it said this\nexit {code}"
    stand_in.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    stand_in.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = commit(data(OURS), environment={"PATH": path})
    assert done.code == (code == 1)
    assert ("it said this" in done.said) == (code in (1, 2, 70))
    assert ("was not checked (exit" in done.said) == (code in (2, 70))


def test_a_hook_that_is_there_keeps_its_lines_and_still_runs(repository: None) -> None:
    hook(OWN)
    hooksetup.install(opened())
    lines = read(HOOK).decode().splitlines(keepends=True)
    assert lines[0] == "#!/bin/bash -e\n"
    assert "".join([lines[0], *lines[-5:]]) == OWN
    assert commit(b"{\n").code == 1
    assert not Path("ran").exists()
    assert commit(data(OURS)).code == 0
    assert Path("ran").exists()
    hooksetup.remove(opened())
    assert read(HOOK).decode() == OWN
    assert stat.S_IMODE(os.stat(HOOK).st_mode) == 0o755


def test_a_new_hook_is_run_by_those_that_may_read_it_and_no_others(repository: None) -> None:
    mask = os.umask(0o077)
    try:
        hooksetup.install(opened())
    finally:
        os.umask(mask)
    assert stat.S_IMODE(os.stat(HOOK).st_mode) == 0o700


def test_a_hook_of_one_line_without_an_end_still_runs(repository: None) -> None:
    Path(HOOK).write_text("#!/bin/sh", encoding="utf-8")
    Path(HOOK).chmod(0o755)
    assert pmem("setup", "pre-commit").code == 0
    first, second, *_ = Path(HOOK).read_text(encoding="utf-8").splitlines()
    assert (first, second[:12]) == ("#!/bin/sh", "# BEGIN PMEM")


def test_removing_leaves_no_hook_where_none_was(repository: None) -> None:
    assert hooksetup.remove(opened()).found is None
    hooksetup.install(opened())
    Path(CONFIG).write_text("repos:\n- repo: a\n", encoding="utf-8")
    hooksetup.install(opened())
    hooksetup.remove(opened())
    assert not Path(HOOK).exists()
    assert Path(CONFIG).read_text(encoding="utf-8") == "repos:\n- repo: a\n"


def test_an_older_block_is_replaced_where_it_stands(repository: None) -> None:
    hook(OWN.replace("# ours\n", "# BEGIN PMEM old\nexit 1\n# END PMEM\n# ours\n"))
    assert not hooksetup.look(opened()).ok
    assert pmem("setup", "pre-commit", "--check").out.startswith(b"differs")
    assert hooksetup.install(opened()).ok
    assert b"old" not in read(HOOK)
    hooksetup.remove(opened())
    assert read(HOOK).decode() == OWN


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("#!/usr/bin/env python3\nprint()\n", 0o755, "no shell script"),
        ("\x7fELF\0", 0o755, "no shell script"),
        ("echo no first line\n", 0o755, "no shell script"),
        ("#!/usr/bin/fish\n", 0o755, "no shell script"),
        ("#!/bin/sh\n# BEGIN PMEM\n", 0o755, "cannot be told"),
        ("#!/bin/sh\n# END PMEM\n# BEGIN PMEM\n", 0o755, "cannot be told"),
        ("#!/bin/sh\n" + "# BEGIN PMEM\n# END PMEM\n" * 2, 0o755, "cannot be told"),
        ("#!/bin/sh\nexit 1\n", 0o644, "cannot be executed"),
    ],
)
def test_what_takes_no_lines_is_refused_and_left_alone(
    text: str, mode: int, why: str, repository: None
) -> None:
    hook(text, mode)
    with pytest.raises(Refused, match=why):
        hooksetup.install(opened())
    assert read(HOOK) == text.encode()


def test_a_hook_that_is_a_link_is_refused(repository: None) -> None:
    Path("shared.sh").write_text(OWN, encoding="utf-8")
    Path("shared.sh").chmod(0o755)
    Path(HOOK).parent.mkdir(exist_ok=True)
    Path(HOOK).symlink_to("../../shared.sh")
    with pytest.raises(Refused, match="is a link"):
        hooksetup.install(opened())
    assert Path("shared.sh").read_text(encoding="utf-8") == OWN


@pytest.mark.parametrize("shell", ["/bin/sh", "/usr/bin/env bash", "/bin/dash -e", " /bin/zsh"])
def test_shells_are_known_by_their_first_line(shell: str) -> None:
    assert managed_block.is_shell_script(f"#!{shell}\n")
    assert not managed_block.is_shell_script(shell)


def test_hooks_are_shared_by_work_trees(repository: None) -> None:
    ok("worktree", "add", "--quiet", "../second")
    os.chdir("../second")
    found = hooksetup.install(opened())
    assert found.path.endswith("work/.git/hooks/pre-commit")
    assert commit(b"{\n").code == 1
    hooksetup.remove(opened())
    assert commit(b"{\n").code == 0


@pytest.mark.some(1)
@pytest.mark.parametrize("place", ["parts/the engine", "it's", "."])
@pytest.mark.parametrize("name", [ROOT, ".notes"])
def test_a_memory_anywhere_below_the_top_is_found_by_the_hook(
    place: str, name: str, tmp_path: Path
) -> None:
    ok("init", "--quiet")
    folder = os.path.join(place, name)
    os.makedirs(place, exist_ok=True)
    initialise(folder)
    assert hooksetup.install(opened(folder)).ok
    path = os.path.join(folder, "long-term-memory", "a-k3v9k3v9.json")
    for content, code in ((b"{", 1), (data(BASE), 0)):
        Path(path).write_bytes(content)
        ok("add", "--all")
        done = git("commit", "--message", "x")
        assert (done.code, "not checked" in done.said) == (code, False), done.said


def test_a_hook_for_many_repositories_is_silent_where_there_is_no_memory(
    repository: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "gitconfig"
    shared.write_text(f"[core]\n  hooksPath = {tmp_path}/hooks\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(shared))
    assert hooksetup.install(opened()).path == f"{tmp_path}/hooks/pre-commit"
    assert commit(b"{\n").code == 1
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    ok("init", "--quiet")
    Path("file").touch()
    ok("add", "--all")
    assert git("commit", "--quiet", "--message", "x").said == ""


def test_outside_of_git_and_read_only_it_says_so(root: str) -> None:
    for act in (hooksetup.look, hooksetup.install, hooksetup.remove):
        with pytest.raises(NotFound, match="in no git work tree"):
            act(opened(root))
    begin()
    for request in (PreCommitRequest(), PreCommitRequest(remove=True)):
        with pytest.raises(Refused):
            ask(opened(read_only=True), table.SETUP_PRE_COMMIT, request)


# What the memory has to do with the commit


@pytest.fixture
def cited(repository: None) -> str:
    """Remember something of a program, both committed."""
    Path("retry.py").write_text("RETRIES = 3\nWAIT = 2\n", encoding="utf-8")
    identifier = added("Three retries are allowed", "--cite", "retry.py:1")
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "memory")
    return identifier


def test_a_commit_is_told_what_it_has_to_do_with_the_memory_and_goes_on(cited: str) -> None:
    hooksetup.install(opened())
    Path("retry.py").write_text("RETRIES = 3\nWAIT = 9\n", encoding="utf-8")
    assert git("commit", "--quiet", "--all", "--message", "x").said == ""
    Path("retry.py").write_text("RETRIES = 5\nWAIT = 9\n", encoding="utf-8")
    done = git("commit", "--quiet", "--all", "--message", "x")
    assert done.code == 0
    assert "Three retries are allowed" in done.said
    assert "the commit continues" in done.said


def test_a_review_stops_a_commit_where_that_was_asked_for(cited: str) -> None:
    assert pmem("setup", "pre-commit", "--strict").code == 0
    for words in (["--check"], ["--check", "--strict"], []):
        assert pmem("setup", "pre-commit", *words).code == 0
    Path("retry.py").write_text("RETRIES = 5\nWAIT = 2\n", encoding="utf-8")
    done = git("commit", "--quiet", "--all", "--message", "x")
    assert done.code == 1
    assert "`git commit --no-verify`" in done.said
    assert pmem("check", "--accept", cited).code == 0
    ok("add", "--all")
    assert git("commit", "--quiet", "--message", "x").said == ""
    assert pmem("setup", "pre-commit", "--remove").code == 0
    assert pmem("setup", "pre-commit").code == 0
    assert pmem("setup", "pre-commit", "--check", "--strict").code == 1


def test_who_may_not_see_everything_is_told_nothing_and_commits(cited: str) -> None:
    hooksetup.install(opened())
    assert pmem("config", "set", "allowlists.planner", "goals").code == 0
    Path("retry.py").write_text("RETRIES = 5\n", encoding="utf-8")
    agent = {"PMEM_AGENT": "planner"}
    done = git("commit", "--quiet", "retry.py", "--message", "x", environment=agent)
    assert "Three retries" not in done.said
    assert "not reviewed" not in done.said


# The configuration of the pre-commit tool

CONFIGS: dict[str, tuple[str, str]] = {
    "not indented": ("repos:\n- repo: a\n  rev: v1\n", ""),
    "indented": ("# ours\nfail_fast: true\nrepos:\n\n    # first\n    - repo: a\n", "    "),
    "with a comment": ("repos:  # all of them\n  -\n    repo: a\nci:\n  skip: []\n", "  "),
    "empty": ("repos:\n", ""),
    "windows": ("repos:\r\n  - repo: a\r\n    rev: v1", "  "),
    "not last": ("---\nrepos:\n- repo: a\nexclude: |\n  repos:\n", ""),
}


@pytest.mark.parametrize("which", CONFIGS)
def test_an_entry_takes_the_indentation_of_its_neighbours(which: str, repository: None) -> None:
    text, indent = CONFIGS[which]
    Path(CONFIG).write_bytes(text.encode())
    assert hooksetup.install(opened()).ok
    end = "\r\n" if "\r" in text else "\n"
    entry = "".join(f"{indent}{line}{end}" for line in ENTRY.splitlines())
    head = next(line for line in text.splitlines(keepends=True) if line.startswith("repos:"))
    assert read(CONFIG).decode() == text.replace(head, head + entry, 1)
    assert not Path(HOOK).exists()
    after = read(CONFIG)
    assert hooksetup.install(opened()).ok
    assert after == read(CONFIG)
    hooksetup.remove(opened())
    assert read(CONFIG).decode() == text


@pytest.mark.parametrize(
    "text",
    [
        "repos: []\n",
        "repos: [{repo: a}]\n",
        "repos: &all\n- repo: a\n",
        "repos: *all\n",
        "{repos: []}\n",
        "repos:\n- repo: a\nrepos:\n- repo: b\n",
        '"repos":\n- repo: a\n',
        "repos:\n  [{repo: a}]\n",
        "repos:\nci: {}\n",
        "repos:",
        "",
    ],
)
def test_where_no_place_is_safe_the_entry_is_printed(text: str, repository: None) -> None:
    Path(CONFIG).write_text(text, encoding="utf-8")
    done = pmem("setup", "pre-commit")
    assert (done.code, done.out.decode()) == (1, ENTRY)
    assert "add these lines" in done.err
    assert Path(CONFIG).read_text(encoding="utf-8") == text


def test_an_entry_of_their_own_is_enough(repository: None) -> None:
    text = "repos:\n- repo: https://example.org/pmem\n  hooks:\n  - id: pmem-check\n"
    Path(CONFIG).write_text(text, encoding="utf-8")
    assert pmem("setup", "pre-commit", "--check").code == 0
    assert pmem("setup", "pre-commit").code == 0
    assert Path(CONFIG).read_text(encoding="utf-8") == text


def test_an_entry_names_a_memory_that_is_somewhere_else() -> None:
    ok("init", "--quiet")
    os.makedirs("it's (a) part")
    initialise(f"it's (a) part/{ROOT}")
    Path(CONFIG).write_text("repos:\n- repo: a\n", encoding="utf-8")
    hooksetup.install(opened(f"it's (a) part/{ROOT}"))
    said = read(CONFIG).decode()
    assert "      files: '^it''s\\ \\(a\\)\\ part/\\.project-memory/'\n" in said
    assert "entry: 'pmem -C ''it''\"''\"''s (a) part'' check --staged'\n" in said


LINE = st.text("ab -:#[]'\"\\é\x85\u2028\x0b\r", max_size=12)
TEXT = st.lists(LINE, max_size=8).map("\n".join)


@given(TEXT, TEXT, st.sampled_from(["", "  "]), st.sampled_from(["\n", "\r\n"]))
def test_putting_in_and_taking_away_is_doing_nothing(
    before: str, after: str, indent: str, end: str
) -> None:
    text = f"{before}\nrepos:{end}{indent}- repo: a{end}{after}"
    placed = managed_block.first_repository(text, ENTRY)
    assert placed is not None
    assert managed_block.without(placed) == text
    found = managed_block.found(placed)
    assert found is not None
    assert [line.strip() for line in found.splitlines()] == [
        line.strip() for line in ENTRY.splitlines()
    ]
    script = managed_block.after_first_line(f"#!/bin/sh\n{text}", ENTRY)
    assert managed_block.without(script) == f"#!/bin/sh\n{text}"
    assert managed_block.found(script) == ENTRY


# Whoever commits


@pytest.mark.some(1)
@pytest.mark.parametrize("agent", ["planner", "nobody"])
@pytest.mark.parametrize("variable", ["PMEM_AGENT", "PMEM_APP"])
def test_a_hook_checks_what_somebody_commits_who_may_not_see_it(
    variable: str, agent: str, repository: None
) -> None:
    """It names the file, and nothing of what is in it."""
    hooksetup.install(opened())
    pmem("config", "set", "allowlists.planner", "goals")
    environment = {variable: agent}
    before = read(PATH)
    done = commit(b'{"secret": "qx001zz"', environment=environment)
    assert done.code == 1
    assert "must not be committed" in done.said
    assert PATH.rpartition("/")[2] in done.said
    assert "qx001zz" not in done.said
    assert "line" not in done.said
    Path(PATH).write_bytes(before)
    git("commit", "--all", "--message", "settings", environment=environment)
    assert commit(data(OURS), environment=environment).code == 0


def test_records_that_something_else_changed_stop_a_commit_where_that_was_asked(
    repository: None,
) -> None:
    assert pmem("setup", "pre-commit").code == 0
    changed = data({**BASE, "content": "Anything else"})
    assert pmem("setup", "pre-commit", "--origin").code == 0
    for words in (["--check"], ["--check", "--origin"], []):
        assert pmem("setup", "pre-commit", *words).code == 0, words
    assert pmem("setup", "pre-commit", "--check", "--origin", "--strict").code == 1
    assert pmem("setup", "pre-commit", "--strict").code == 0
    assert pmem("setup", "pre-commit", "--check", "--origin").code == 0
    stopped = commit(changed)
    assert (stopped.code, "changed outside pmem" in stopped.said) == (1, True), stopped.said
    assert pmem("check", "origin", "--accept", Path(PATH).stem).code == 0
    assert commit(changed).code == 0
    pmem("setup", "pre-commit", "--remove")
    Path(CONFIG).write_text("repos:\n- repo: a\n", encoding="utf-8")
    assert pmem("setup", "pre-commit", "--origin").code == 0
    assert "entry: 'pmem check origin'" in Path(CONFIG).read_text(encoding="utf-8")
