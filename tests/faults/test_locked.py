"""A store that another writer holds, and runs that may not write at all."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pmem.cli.commands import COMMANDS, GROUPS
from tests.conversation.assistants import ClaudeCode, Codex, Gemini
from tests.faults.console import added, bytes_of, pmem
from tests.faults.test_disk import TRANSCRIPT
from tests.faults.world import DECISION
from tests.once import Once
from tests.policy.paths import PARTS

_HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
WRITING: dict[str, tuple[str, ...]] = {
    "init": (),
    "add": ("One more",),
    "edit": ("MEMORY", "Another text"),
    "rm": ("MEMORY",),
    "share": ("MINE",),
    "restore": ("MEMORY",),
    "purge": ("MEMORY", "--force"),
    "check citations": ("--fix",),
    "outcome": ("MEMORY", "good"),
    "work apply": ('{"id":"insight:latest","digest":"0","answer":0}',),
    "tried": ("bake without yeast", "--failed", "flat"),
    "undo": ("MEMORY",),
    "consolidate": (),
    "check setup": ("--fix",),
    "resolve": (),
    "conversation start": (),
    "conversation say": ("Hello", "--conversation", "talk"),
    "conversation end": ("--conversation", "talk"),
    "conversation pause": ("talk",),
    "conversation resume": ("talk",),
    "conversation clear": ("talk", "--yes"),
    "conversation prune": ("talk",),
    "conversation mark": ("SAID", "--pin"),
    "conversation rm": ("SAID",),
    "inbox accept": ("--above", "0.5"),
    "inbox reject": ("k3v9",),
    "episode add": ("The kitchen was painted",),
    "app remember": ("calendar", "Meetings after two"),
    "app compact": ("calendar",),
    "app delete": ("calendar", "MEMORY"),
    "app purge": ("calendar", "--yes"),
    "app uninstall": ("calendar",),
    "app stats": ("--poll",),
    "checkpoint save": ("review", "{}"),
    "checkpoint rm": ("review",),
    "config set": ("chunk_size", "7"),
    "config unset": ("chunk_size",),
    "import messages": ("../talk.jsonl",),
    "import claude-code": ("../claude.jsonl",),
    "import codex": ("../codex.jsonl",),
    "import gemini": ("../gemini.jsonl",),
    "import auto": ("../claude.jsonl",),
    "import notes": ("RULES.md",),
    "setup rules": ("cursor",),
    "import git": (),
    "import adr": ("0001-bake.md",),
    "import arrays": ("../arrays",),
    "setup git": (),
    "setup pre-commit": (),
    "setup claude-code": (),
    "setup codex": (),
    "setup gemini": (),
    "setup cursor": (),
    "setup vscode": (),
    "setup opencode": (),
    "setup zed": ("--user",),
    "setup agents-md": (),
    "export arrays": ("../exported",),
    "export markdown": ("../pages",),
    "export audit": ("../trail.jsonl",),
    "eval run": ("--accept",),
    "eval add": ("breakfast", "OTHER"),
    "eval misses": ("--drop", "all"),
}
READING = {
    "hook",
    "setup list",
    "setup completion",
    "help",
    # by themselves: what is called through them is tried in tests/mcp, http, browse and database
    *("mcp", "serve", "browse", "db init", "db migrate", "db status", "db sync"),
    "report",
    "work list",
    "work next",
    "model test",
    "show",
    "why",
    "inbox walk",
    "list",
    "log",
    "review",
    "search",
    "query",
    "context",
    "delta",
    "stats",
    *("check", "check records", "check origin", "check due", "check secrets", "check merges"),
    "conversation list",
    "conversation show",
    "conversation stats",
    "inbox facts",
    "inbox proposals",
    "episode list",
    "episode show",
    "episode arc",
    "app list",
    "app show",
    "app context",
    "checkpoint load",
    "checkpoint list",
    "config list",
    "config get",
}


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Fill the memory and prepare files to import."""
    mine = pmem("add", "--mine", "I prefer small commits.", "--json").data["memory"]["id"]
    return {**once(_build), "MINE": mine}


def _build() -> dict[str, str]:
    found = {"MEMORY": added("Pancakes on Sundays"), "OTHER": added("The kitchen closes at ten")}
    with open("../talk.jsonl", "wb") as file:
        file.write(TRANSCRIPT)
    assert pmem("import", "messages", "../talk.jsonl").code == 0
    claude, codex, gemini = ClaudeCode(), Codex(), Gemini()
    claude.ask("Which oven?")
    codex.message("user", "Which sink?")
    gemini.put("m1", "user", "Which door?")
    Path("RULES.md").write_text("- Never burn the pancakes\n")
    Path("0001-bake.md").write_text(DECISION)
    for name, session in (("claude", claude), ("codex", codex), ("gemini", gemini)):
        Path(f"../{name}.jsonl").write_bytes(session.bytes())
    assert pmem("export", "arrays", "../arrays").code == 0
    assert pmem("eval", "add", "pancakes", found["MEMORY"]).code == 0
    assert pmem("add", "The user lives in Graz.", "--agent", "planner").code == 7
    found["SAID"] = pmem("conversation", "show", "talk", "--json").data["messages"][0]["id"]
    found["HELD"] = pmem("inbox", "proposals", "--json").data["items"][0]["id"]
    return found


@contextmanager
def held(root: str) -> Iterator[None]:
    """Let another process hold the writers' lock."""
    command = [sys.executable, "-c", _HOLDER, os.path.join(root, "local", "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.communicate()


def test_a_locked_store_is_waited_for_and_then_named(ids: dict[str, str], root: str) -> None:
    before = bytes_of(root)
    with held(root):
        begun = time.monotonic()
        done = pmem("add", "One more", environment={"PMEM_LOCK_TIMEOUT": "0.2"})
        waited = time.monotonic() - begun
        listed = pmem("list", environment={"PMEM_LOCK_TIMEOUT": "0.2"})
    assert (done.code, done.out) == (6, b"")
    assert f"{root}/local/lock" in done.err.splitlines()[0]
    assert 0.2 <= waited < 5
    assert (listed.code, listed.out.count(b"\n")) == (0, 2)
    assert before == bytes_of(root)
    assert pmem("add", "One more").code == 0


def test_every_command_is_known_to_read_or_to_write() -> None:
    grouped = {f"{group} {name}" for group, (_, entries) in GROUPS.items() for name in entries}
    assert set(COMMANDS) | grouped | PARTS.keys() == READING | WRITING.keys()


@pytest.mark.some(16)
@pytest.mark.parametrize("with_local", [True, False])
@pytest.mark.parametrize("command", WRITING)
def test_a_read_only_run_writes_nothing(
    command: str, with_local: bool, ids: dict[str, str], root: str
) -> None:
    if not with_local:
        shutil.rmtree(f"{root}/local")
    os.unlink(f"{root}/.gitattributes")  # so that `check --fix` has something to mend
    before = bytes_of("..", local=True)
    words = [ids.get(word, word) for word in WRITING[command]]
    done = pmem("--read-only", *command.split(), *words)
    assert (done.code, done.out) == (7, b""), done
    assert "read-only" in done.err
    assert before == bytes_of("..", local=True)
    assert with_local == os.path.exists(f"{root}/local")


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("search", "pancakes"),
        ("show", "MEMORY"),
        ("log", "MEMORY"),
        ("log",),
        ("export", "audit"),
        ("context", "pancakes"),
        ("stats",),
        ("check",),
        ("check", "citations"),
        ("check", "--format", "gitlab"),
        ("conversation", "list"),
        ("conversation", "show", "talk"),
        ("delta", "--thread", "review"),
        ("checkpoint", "list"),
        ("inbox", "proposals"),
        ("log", "--operations"),
        ("config", "get", "chunk_size"),
        ("export", "arrays", "-"),
        ("eval",),
    ],
)
def test_a_read_only_run_reads(command: tuple[str, ...], ids: dict[str, str], root: str) -> None:
    shutil.rmtree(f"{root}/local")
    before = bytes_of("..", local=True)
    done = pmem(*[ids.get(word, word) for word in command], "--read-only")
    assert done.code == 0, done
    assert before == bytes_of("..", local=True)
    assert not os.path.exists(f"{root}/local")
