"""The pipelines that docs/ci.md shows, and the action, do what it says, where a memory is."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.shell import through_sh
from tests.docs.examples import blocks
from tests.faults.console import pmem
from tests.git.branches import ROOT, ok

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"


def lines() -> Iterator[str]:
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.language == "yaml":
            within_script = False
            for line in block.lines:
                run = re.fullmatch(r" +- run: (.+)", line)
                item = re.fullmatch(r"    - (.+)", line)
                if run or (within_script and item):
                    yield (run or item)[1]  # type: ignore[index]
                within_script = line == "  script:" or (within_script and item is not None)


LINES = list(lines())
ACTION = yaml.safe_load((PAGE.parents[1] / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
COMMENT = "Keep the comment up to date"
GH = '#!/bin/sh\necho "$@" >> "{0}/asked"\ncat "{0}/known"\n'
"""Stands in for GitHub's program: it notes what it is asked, and knows some comments."""


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a clone whose branch has learned something that its origin's main does not know."""
    (tmp_path / "origin").mkdir()
    os.chdir(tmp_path / "origin")
    ok("init", "--quiet", "--initial-branch=main")
    assert pmem("init").code == 0
    added = pmem("add", "The database is PostgreSQL", "--json").data["memory"]["id"]
    assert pmem("eval", "add", "which database", added).code == 0
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "memory")
    ok("clone", "--quiet", ".", "../clone")
    os.chdir("../clone")
    ok("checkout", "--quiet", "-b", "branch")
    assert pmem("add", "The queue is RabbitMQ").code == 0
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "queue")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "pip").write_text('#!/bin/sh\n[ "$*" = "install pmem-cli" ]\n', encoding="utf-8")
    (bin_ / "pip").chmod(0o755)
    (bin_ / "gh").write_text(GH.format(tmp_path), encoding="utf-8")
    (bin_ / "gh").chmod(0o755)
    for name in ("check.json", "review.json"):
        Path(name).write_text(json.dumps([{"fingerprint": name}]), encoding="utf-8")
    (tmp_path / "known").touch()
    monkeypatch.setenv("RANGE", "origin/main..HEAD")
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("COMMENTS", "repos/us/shop/issues/7/comments")
    monkeypatch.setenv("COMMENT", "repos/us/shop/issues/comments")
    monkeypatch.setenv("MINE", STEPS[COMMENT]["env"]["MINE"])
    monkeypatch.setenv("PATH", f"{bin_}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))


def test_the_page_has_both_pipelines() -> None:
    assert len(LINES) == 7 + 10
    assert LINES[0] == LINES[7] == "pip install pmem-cli"
    assert sum("pmem log" in line for line in LINES) == 2


@pytest.mark.long
def test_every_line_of_a_pipeline_works(branch: None) -> None:
    for line in dict.fromkeys(LINES):
        done = through_sh(line, os.getcwd())
        assert done.code == 0, (line, done.said)


def test_the_summary_has_what_the_branch_learned(branch: None, tmp_path: Path) -> None:
    for line in LINES:
        if "pmem log" in line:
            assert through_sh(line, os.getcwd()).code == 0
    for file in (tmp_path / "summary.md", Path("memory-changelog.md")):
        assert "RabbitMQ" in file.read_text(encoding="utf-8")
        assert "PostgreSQL" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("pmem check records")])
def test_a_damaged_record_fails_the_pipeline(line: str, branch: None) -> None:
    record = next(Path(ROOT, "long-term-memory").iterdir())
    record.write_text("{", encoding="utf-8")
    assert through_sh(line, os.getcwd()).code == 1


def test_every_step_of_the_action_works(branch: None, tmp_path: Path) -> None:
    for name in list(STEPS)[1:]:
        done = through_sh(STEPS[name]["run"], os.getcwd())
        assert done.code == (name == "See who signed"), (name, done.said)  # nobody did
    for name in ("review.md", "summary.md"):
        assert "RabbitMQ" in (tmp_path / name).read_text(encoding="utf-8")


def test_the_action_installs_its_own_pmem_and_needs_no_secret() -> None:
    assert '"$GITHUB_ACTION_PATH"' in STEPS["Install pmem"]["run"]
    for step in STEPS.values():
        assert "${{" not in step["run"]  # what a branch is called is no part of a command
    assert STEPS[COMMENT]["env"]["GH_TOKEN"] == "${{ github.token }}"
    assert "secrets." not in str(ACTION)
    assert "head.repo.full_name == github.repository" in STEPS[COMMENT]["if"]


def test_the_comment_is_made_once_and_then_brought_up_to_date(branch: None, tmp_path: Path) -> None:
    for known, asked in (("", "repos/us/shop/issues/7/comments"), ("12\n13\n", "PATCH")):
        (tmp_path / "asked").unlink(missing_ok=True)
        (tmp_path / "known").write_text(known, encoding="utf-8")
        assert through_sh(STEPS[COMMENT]["run"], os.getcwd()).code == 0
        _, said = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
        assert asked in said
        assert said.endswith(f"-F body=@{tmp_path}/review.md --silent")
    assert "issues/comments/12 " in said


def test_the_comments_first_line_is_what_it_is_found_by(branch: None, tmp_path: Path) -> None:
    assert through_sh(STEPS["Review the change"]["run"], os.getcwd()).code == 0
    first = (tmp_path / "review.md").read_text(encoding="utf-8").partition("\n")[0]
    assert f'startswith("{first}")' in STEPS[COMMENT]["env"]["MINE"]


def test_both_reports_are_one(branch: None) -> None:
    for line in LINES:
        if "gl-code-quality-report.json" in line:
            assert through_sh(line, os.getcwd()).code == 0
    report = Path("gl-code-quality-report.json").read_text(encoding="utf-8")
    assert report.index("check.json") < report.index("review.json")
