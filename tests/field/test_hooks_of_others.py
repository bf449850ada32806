"""Files that other programs write or run: what they generate is left alone."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from pmem.core import managed_block
from tests.faults.console import pmem
from tests.field.repositories import begin, git

GENERATED = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"'
HARNESSES = ("claude-code", "codex", "gemini", "cursor", "vscode")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a memory."""
    return begin(tmp_path / "project", "Use tabs")


def _write(path: str, text: str, mode: int = 0o644) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    os.chmod(path, mode)


def test_the_hook_that_people_own_is_used_where_husky_generates_the_others(project: Path) -> None:
    _write(".husky/_/pre-commit", GENERATED, 0o755)
    _write(".husky/pre-commit", "echo team-hook\n")
    git("config", "core.hooksPath", ".husky/_")
    done = pmem("setup", "pre-commit")
    assert (done.code, done.out.decode()) == (0, f"set      {project}/.husky/pre-commit\n")
    assert Path(".husky/_/pre-commit").read_text(encoding="utf-8") == GENERATED
    text = Path(".husky/pre-commit").read_text(encoding="utf-8")
    assert text.startswith("# BEGIN PMEM")
    assert text.endswith("echo team-hook\n")
    subprocess.run(["sh", "-e", ".husky/pre-commit"], check=True, capture_output=True)
    _write(".husky/_/pre-commit", GENERATED, 0o755)
    assert pmem("setup", "pre-commit", "--check").code == 0
    assert pmem("setup", "pre-commit", "--remove").code == 0
    assert Path(".husky/pre-commit").read_text(encoding="utf-8") == "echo team-hook\n"


@pytest.mark.parametrize(
    "file",
    ["lefthook.yml", ".lefthook.toml", "lefthook-local.yml", ".overcommit.yml", "captainhook.json"],
)
def test_a_program_that_writes_hooks_itself_is_told_by_its_own_file(
    project: Path, file: str
) -> None:
    _write(file, "{}\n")
    done = pmem("setup", "pre-commit")
    assert done.code == 1
    assert "pmem check --staged" in done.out.decode()
    assert f"add these lines to {project / file}" in done.err
    assert not Path(".git/hooks/pre-commit").exists()
    _write(file, done.out.decode())
    assert pmem("setup", "pre-commit").code == 0


def test_doctor_says_when_lines_that_were_set_are_gone(project: Path) -> None:
    assert "hook" not in pmem("check", "setup").out.decode()
    assert pmem("setup", "pre-commit").code == 0
    assert "ok    hook" in pmem("check", "setup").out.decode()
    _write(".git/hooks/pre-commit", GENERATED, 0o755)
    done = pmem("check", "setup")
    assert done.code == 1
    assert f"the lines of pmem are gone from {project}/.git/hooks/pre-commit" in done.out.decode()
    assert pmem("setup", "pre-commit", "--remove").code == 0
    assert "hook" not in pmem("check", "setup").out.decode()


def test_doctor_goes_on_where_the_lines_cannot_be_told_from_the_rest(project: Path) -> None:
    assert pmem("setup", "pre-commit").code == 0
    _write(".git/hooks/pre-commit", f"#!/bin/sh\n{managed_block.BEGIN}\n", 0o755)
    done = pmem("check", "setup")
    assert done.code == 1
    assert "cannot be told from the rest" in done.out.decode()


def _commands(value: object) -> list[str]:
    """Return the commands of hooks, wherever they are in an assistant's settings."""
    if isinstance(value, list):
        return [one for each in value for one in _commands(each)]
    if not isinstance(value, dict):
        return []
    own = [value["command"]] if "hook " in str(value.get("command", "")) else []
    return own + [one for each in value.values() for one in _commands(each)]


@pytest.mark.parametrize("harness", HARNESSES)
def test_committed_hooks_do_nothing_where_pmem_is_not_installed(
    project: Path, harness: str
) -> None:
    assert pmem("setup", harness).code == 0
    found = [
        one
        for path in project.rglob("*.json")
        if ".project-memory" not in path.parts
        for one in _commands(json.loads(path.read_text(encoding="utf-8")))
    ]
    assert found
    for command in set(found):
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            check=False,
            env={"PATH": "/usr/bin:/bin"},
            input=b"{}",
            capture_output=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), command


def test_committed_hooks_answer_where_pmem_is_installed(project: Path) -> None:
    assert pmem("setup", "claude-code").code == 0
    settings = json.loads(Path(".claude/settings.json").read_text(encoding="utf-8"))
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    told = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(project)}
    done = subprocess.run(
        ["/bin/sh", "-c", command], check=True, input=json.dumps(told).encode(), capture_output=True
    )
    assert "Use tabs" in done.stdout.decode()
