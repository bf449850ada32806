"""Every command and group explains itself, with an example that works."""

import json
import os
import re
import shlex
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pmem.cli.commands import COMMANDS, GROUPS, MORE, SECTIONS
from pmem.cli.tree import root
from tests.cli.shell import Outcome, Shell, new_repository, pmem
from tests.conversation.assistants import ClaudeCode, Codex, Gemini
from tests.model import scripted
from tests.once import Once
from tests.postgres import TestDatabase
from tests.storage.folders import contradict

EXAMPLES = {name: entry.example for name, entry in COMMANDS.items()} | {
    f"{group} {name}": entry.example
    for group, (_, entries) in GROUPS.items()
    for name, entry in entries.items()
}
_OWN = ("agent",)
"""Options of commands that go by a shared one's name: `pmem add --agent` is the one that adds."""
GIT = "git -c user.name=Kim -c user.email=kim@example.org"
BEFORE = {
    "db": ["pmem db init"],
    "why": ["mkdir -p src/billing && touch src/billing/retry.py"],
    "restore": ["pmem rm k3v9"],
    "purge": ["pmem rm k3v9"],
    "conversation resume:": ["pmem conversation pause"],
    "review": [f"git add --all && {GIT} commit --quiet -m memory && git branch -M main"],
    "checkpoint load:": [EXAMPLES["checkpoint save"]],
    "checkpoint rm:": [EXAMPLES["checkpoint save"]],
}
"""What must have been done before an example of a command, or of one of its commands."""
OWN = {
    "of facts": ("inbox accept", "inbox reject"),
    "of message": ("conversation mark", "conversation rm"),
    "of talk": [name for name in EXAMPLES if name.startswith("conversation")],
    "of episode": [name for name in EXAMPLES if name.startswith("episode")],
    "of app": [name for name in EXAMPLES if name.startswith("app ")],
}
"""Whose id stands in the examples of which commands."""
EVERY_EXAMPLE = pytest.mark.parametrize("words", EXAMPLES, ids=str)


@pytest.mark.parametrize("words", ["", *GROUPS, *EXAMPLES])
def test_help_says_what_it_does_and_gives_an_example(words: str) -> None:
    done = told(words)
    assert done.code == 0
    assert done.err == b""
    usage, _, text = done.text.partition("\n\n")
    assert usage.startswith(f"Usage: pmem {words}".rstrip())
    assert text.lstrip()[0].isupper()
    assert "Example:\n    pmem " in text


@EVERY_EXAMPLE
def test_an_example_shows_its_own_command(words: str) -> None:
    assert EXAMPLES[words].startswith(f"pmem {words}")


@pytest.mark.some(40)
@EVERY_EXAMPLE
def test_an_example_works(
    words: str,
    filled: tuple[Shell, dict[str, str]],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell, ids = filled
    if words.startswith("db"):
        database: TestDatabase = request.getfixturevalue("test_database")
        monkeypatch.setenv("PMEM_DATABASE", database.address)
    own = next((ids[name] for name in ids if name.startswith("of ") and words in OWN[name]), None)
    for line in BEFORE.get(words.partition(" ")[0], []) + BEFORE.get(f"{words}:", []):
        assert shell.run(line.replace("k3v9", ids["k3v9"])).code == 0
    example = EXAMPLES[words].replace("k3v9", own or ids["k3v9"]).replace("p7q2", ids["p7q2"])
    if words == "share":
        mine = shell.run('pmem add --mine "Ada prefers small commits" --json')
        example = f"pmem share {json.loads(mine.out)['data']['memory']['id']}"
    if words == "resolve":
        contradict(f"{shell.folder}/.project-memory", ids["k3v9"])
    if words == "model test":
        folder = Path(os.environ["XDG_CONFIG_HOME"], "pmem")
        folder.mkdir(parents=True, exist_ok=True)
        command = json.dumps([sys.executable, scripted.__file__, "good"])
        (folder / "config.toml").write_text(f"[model]\ncommand = {command}\n")
    if words == "work apply":
        found = shell.run("pmem work next --kind insight --json").out
        (piece,) = json.loads(found)["data"]["items"]
        given = {"id": "insight:latest", "digest": piece["digest"], "answer": {"insights": []}}
        assert shell.run(f"echo '{json.dumps(given)}' > answers.jsonl").code == 0
    if words.startswith("import "):
        _keep_sessions(shell.folder)
    done = shell.run(example)
    if words == "browse":  # here is nobody at a terminal; tests/browse presses its keys
        assert (done.code, "needs a terminal" in done.said) == (2, True)
        return
    assert done.code == 0, done.said


@pytest.mark.parametrize("words", ["", *GROUPS])
def test_what_a_list_says_of_a_command_fits_on_one_line_of_80_columns(words: str) -> None:
    names = set(GROUPS[words][1] if words else [*COMMANDS, *GROUPS])
    shown = told(words).text.splitlines()
    rows = [line for line in shown if line[2:].partition(" ")[0] in names and line[2:3] != " "]
    assert {line[2:].partition(" ")[0] for line in rows} == names
    assert [line for line in rows if len(line) > 80 or not line.endswith(".")] == []


def test_every_command_stands_in_one_section() -> None:
    placed = [name for names in [*SECTIONS.values(), *MORE.values()] for name in names]
    assert sorted(placed) == sorted([*COMMANDS, *GROUPS])


@pytest.mark.parametrize("words", ["", *GROUPS, *EXAMPLES])
def test_the_short_form_of_help_is_the_same(words: str) -> None:
    assert told(words, "-h") == told(words)


@pytest.mark.parametrize("words", [*GROUPS, *EXAMPLES])
def test_options_that_all_share_are_explained_once(words: str) -> None:
    text = told(words).text
    shared = [param.opts[0] for param in root().params]
    own = [param.opts[0] for param in _command(words).params if param.name in _OWN]
    assert [flag for flag in shared if f"  {flag} " in text and flag not in own] == []
    assert text.endswith(
        "Every command also takes -C, --json, --quiet and more: see `pmem --help`.\n"
    )


def test_every_option_and_argument_has_help() -> None:
    silent = [
        f"{words} {param.name}"
        for words in EXAMPLES
        for param in _command(words).params
        if not getattr(param, "help", None)
    ]
    assert silent == []


def told(words: str, option: str = "--help") -> Outcome:
    return pmem(*words.split(), option, "--all", environment={"COLUMNS": "80"})


def _keep_sessions(project: str) -> None:
    """Put a session of each program where it keeps those of a project, and one beside it."""
    claude, codex = ClaudeCode(project), Codex(project)
    claude.ask("Which database?")
    codex.message("user", "Which queue?")
    gemini = Gemini(sha256(os.path.realpath(project).encode()).hexdigest())
    folder = re.sub("[^A-Za-z0-9]", "-", os.path.realpath(project))
    for place, data in (
        (f".claude/projects/{folder}/a.jsonl", claude.bytes()),
        (".codex/sessions/2026/11/22/rollout-a.jsonl", codex.bytes()),
        (".gemini/tmp/project/chats/session-a.jsonl", gemini.bytes()),
    ):
        path = Path.home() / place
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    Path(project, "session.jsonl").write_bytes(claude.bytes())
    Path(project, "AGENTS.md").write_text("- Use tabs\n")
    Path(project, "0001-queue.md").write_text("# 1. Queue\n\n## Decision\n\nIt is RabbitMQ.\n")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(new_repository(str(tmp_path / "repository")))


@pytest.fixture
def filled(shell: Shell, once: Once) -> tuple[Shell, dict[str, str]]:
    first, ids = once(lambda: (shell, _fill(shell)))
    return first.in_a_copy(shell.folder), ids


def _fill(shell: Shell) -> dict[str, str]:
    assert shell.run("pmem init").code == 0
    first, second = (
        json.loads(shell.run(f"pmem add {shlex.quote(text)} --json").out)["data"]["memory"]["id"]
        for text in ("The database is old", "The cache is new")
    )
    talk = json.loads(shell.run("pmem conversation start --json").out)["data"]["id"]
    said = shell.run("pmem conversation say hello --json")
    assert shell.run("pmem export arrays old-memory").code == 0
    assert shell.run('echo \'{"content": "hi"}\' > chat.jsonl').code == 0
    assert shell.run('echo \'{"query": "hi"}\' > request.json').code == 0
    assert shell.run(f"pmem eval add database {first} --file golden.jsonl").code == 0
    assert shell.run("pmem conversation say 'We prefer small commits.'").code == 0
    fact = json.loads(shell.run("pmem inbox facts --json").out)["data"]["items"][0]["id"]
    episode = json.loads(shell.run("pmem episode add 'A turn' --json").out)["data"]["id"]
    remembered = json.loads(shell.run("pmem app remember calendar 'After two' --json").out)["data"]
    shell.run("pmem add 'The user lives in Graz.' --agent planner --json")
    return {
        "k3v9": first,
        "p7q2": second,
        "of facts": fact,
        "of message": json.loads(said.out)["data"]["message"]["id"],
        "of talk": talk,
        "of episode": episode,
        "of app": remembered["memory"]["id"],
    }


def _command(words: str) -> Any:
    command: Any = root()
    for word in words.split():
        command = command.get_command(None, word)
    return command
