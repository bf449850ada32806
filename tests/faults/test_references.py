"""What a command names is looked up under the lock: it may be gone by the time that it gets it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from unittest import mock

import pytest

from pmem import Project
from pmem.assistants.harnesses import HARNESSES
from pmem.storage.jsonfiles import JsonFiles
from tests.effort import examples
from tests.faults.console import added, bytes_of, pmem
from tests.faults.test_disk import TRANSCRIPT
from tests.faults.test_locked import WRITING
from tests.once import Once

TIMES = examples(40)

NAMING: dict[str, tuple[tuple[str, ...], ...]] = {
    "edit": (
        ("MEMORY", "Another text"),
        ("MEMORY", "Another text", "--supersede"),
        ("MEMORY", "--superseded-by", "OTHER"),
        ("OTHER", "--superseded-by", "MEMORY"),
        ("MEMORY", "--pin"),
        ("EPISODE", "--pin"),
        ("MEMORY", "--link", "OTHER"),
        ("OTHER", "--link", "MEMORY"),
        ("MEMORY", "--unlink", "LINKED"),
        ("LINKED", "--unlink", "MEMORY"),
    ),
    "rm": (("MEMORY",), ("OTHER", "MEMORY")),
    "restore": (("MEMORY",),),
    "purge": (("MEMORY", "--force"),),
    "undo": (("MEMORY",),),
    "outcome": (("MEMORY", "good"),),
    "resolve": (("MEMORY",),),
    "conversation say": (("Hello", "--conversation", "TALK"),),
    "conversation end": (("--conversation", "TALK"),),
    "conversation pause": (("TALK",),),
    "conversation resume": (("TALK",),),
    "conversation clear": (("TALK", "--yes"),),
    "conversation prune": (("TALK",),),
    "conversation mark": (("SAID", "--pin"),),
    "conversation rm": (("SAID",),),
    "inbox accept": (("FACT",), ("HELD",)),
    "inbox reject": (("FACT",),),
    "episode add": (
        ("The kitchen was painted", "--memory", "MEMORY"),
        ("The kitchen was painted", "--conversation", "TALK"),
    ),
    "app delete": (("calendar", "NOTE"), ("calendar", "NOTE", "--for-good")),
    "eval add": (("breakfast", "MEMORY"),),
}
"""Every command that names records, and what it may name; the first of these that it names goes.

`MEMORY`, `EPISODE`, `TALK` and `NOTE` are purged themselves, `FACT` and `SAID` with their
conversation.
"""
_NAMES_NONE = {
    *(
        "init",
        "add",
        "share",
        "work apply",
        "tried",
        "check citations",
        "consolidate",
        "check setup",
        "conversation start",
    ),
    *("app remember", "app compact", "app purge", "app uninstall", "app stats"),
    *("checkpoint save", "checkpoint rm", "config set", "config unset", "import messages"),
    *("import arrays", "setup git", "setup pre-commit", "export arrays", "export audit"),
    "export markdown",
    *("import claude-code", "import codex", "import gemini", "import auto", "import notes"),
    *("import git", "import adr", "setup rules", "eval run", "eval misses"),
    *(f"setup {name}" for name in HARNESSES),
}
_GOES = {"HELD": "MEMORY", "FACT": "TALK", "SAID": "TALK"}
_VICTIMS = ("MEMORY", "EPISODE", "TALK", "NOTE", *_GOES)
CASES = [
    pytest.param((*command.split(), *words), id=f"{command} {' '.join(words)}")
    for command, several in NAMING.items()
    for words in several
]


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    return once(_build)


def _build() -> dict[str, str]:
    found = {"MEMORY": added("Pancakes on Sundays"), "OTHER": added("The kitchen closes at ten")}
    found["LINKED"] = added("Ada bakes the bread")
    for start, end in (("MEMORY", "LINKED"), ("LINKED", "MEMORY")):
        assert pmem("edit", found[start], "--link", found[end]).code == 0
    made = pmem("episode", "add", "The oven broke", "--memory", found["OTHER"], "--json")
    found["EPISODE"] = made.data["id"]
    with open("../talk.jsonl", "wb") as file:
        file.write(TRANSCRIPT)
    assert pmem("import", "messages", "../talk.jsonl").code == 0
    found["TALK"] = pmem("conversation", "list", "--json").data["items"][0]["id"]
    assert pmem("conversation", "resume", found["TALK"]).code == 0
    assert pmem("conversation", "say", "I live in Graz.", "--conversation", found["TALK"]).code == 0
    facts = pmem("inbox", "facts", "--json").data["items"]
    found["FACT"] = facts[0]["id"]
    found["SAID"] = facts[0]["message"]
    found["NOTE"] = added("Meetings after two", "--app", "calendar")
    agent = {"PMEM_AGENT": "planner"}
    pmem("edit", found["MEMORY"], "The user lives in Graz.", environment=agent)
    found["HELD"] = pmem("inbox", "proposals", "--json").data["items"][0]["id"]
    return found


@contextmanager
def purged_meanwhile(target: str) -> Iterator[list[dict[str, bytes]]]:
    """Let another command purge a record while the first one waits for the lock."""
    lock = JsonFiles.lock
    waiting = [target]

    def late(self: JsonFiles) -> AbstractContextManager[None]:
        if waiting:
            done = pmem("purge", waiting.pop(), "--force")
            assert done.code == 0, done
            states.append(bytes_of("."))
        return lock(self)

    states: list[dict[str, bytes]] = []
    with mock.patch.object(JsonFiles, "lock", late):
        yield states


def test_every_writing_command_is_known_to_name_records_or_not() -> None:
    assert NAMING.keys() | _NAMES_NONE == WRITING.keys()
    assert not NAMING.keys() & _NAMES_NONE


@pytest.mark.some(12)
@pytest.mark.parametrize("command", CASES)
def test_what_is_purged_while_a_command_waits_for_the_lock_is_not_found(
    command: tuple[str, ...], ids: dict[str, str]
) -> None:
    named = next(word for word in command if word in _VICTIMS)
    with purged_meanwhile(ids[_GOES.get(named, named)]) as states:
        done = pmem(*(ids.get(word, word) for word in command))
    assert states, "the command took no lock"
    assert (done.code, done.out) == (3, b""), done
    assert states[0] == bytes_of(".")
    assert pmem("check").code == 0


@pytest.mark.long
@pytest.mark.parametrize("processes", [8])
def test_links_are_whole_however_many_tie_and_cut_them_at_once(root: str, processes: int) -> None:
    commands = [
        [sys.executable, "-m", "tests.faults.tangle", root, str(seed), str(TIMES)]
        for seed in range(processes)
    ]
    top = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PMEM_LOCK_TIMEOUT": "300"}
    running = [subprocess.Popen(each, stdout=subprocess.PIPE, env=top) for each in commands]
    done = [json.loads(line) for each in running for line in each.communicate()[0].splitlines()]
    assert [each.returncode for each in running] == [0] * processes
    project = Project(root)
    assert [each.code for each in project.check().findings] == []
    gone = {identifier for each in done for identifier in each.get("gone", ())}
    left = {memory.id: memory for memory in project.workspace.memories.find()}
    assert not gone & left.keys()
    assert len(done) >= processes
    for each in done:
        for identifier in set(each["changed"]) - gone:
            assert each["actor"] in {event.actor for event in left[identifier].history}, each
