"""A project in which every writing command has something to do, and the commands that do it."""

import io
import json
import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Final, NamedTuple
from unittest import mock

from pmem.cli import app
from tests.conversation.assistants import ClaudeCode
from tests.faults import sqlite_calls
from tests.storage.folders import contradict

ROOT: Final = ".project-memory"
SETTINGS: Final = (
    "max_recent_messages = 4\nchunk_size = 2\nlock_timeout = 0.0\nmax_chunks = 2\n"
    "min_recent_messages = 1\n"
    "[apps]\nlimit = 2\n"
)
THEN: Final = "2026-08-01"
NOW: Final = "2026-11-21T14:30:00Z"
ACTOR: Final = "tester"
State = dict[str, str]
"""What the project holds, as people and other programs see it, by place."""


class Write(NamedTuple):
    """How a writing command is run, and what it takes.

    `whole`: it is one transaction, so nothing in between may ever be seen. The others change
    several things one after another, each whole, and are finished by being run again.
    `answers`: it answers where nothing can be written, too, and tells the same again next time.
    """

    arguments: tuple[str, ...]
    stdin: bytes = b""
    whole: bool = True
    prepare: Callable[[], None] | None = None
    answers: bool = False
    finds: bool = False
    """It tells with exit code 1 what is wrong: the refusal itself, too."""
    reads: bool = False
    """It reads, and notes on the way what it learnt; a fault there may change nothing it says."""


class Ran(NamedTuple):
    """What a command left: its exit code, and what it printed."""

    code: int
    out: bytes
    err: str


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _repository() -> None:
    """Make a repository that was not told yet how records merge."""
    subprocess.run(["git", "init", "--quiet", "--template="], check=True)
    with open(f"{ROOT}/.gitattributes", "w", encoding="utf-8") as file:
        file.write("*.json text eol=lf\n")


def _unmerged() -> None:
    """Leave a record as a merge without the driver does."""
    path = f"{ROOT}/long-term-memory/{names()['MEMORY']}.json"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ours = '  "subject": null,\n'
    assert ours in text
    both = "<<<<<<< ours\n" + ours + '=======\n  "subject": "breakfast",\n>>>>>>> theirs\n'
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(ours, both))


def _contradiction() -> None:
    contradict(os.path.abspath(ROOT), names()["MEMORY"])


def _incomplete() -> None:
    os.unlink(f"{ROOT}/.gitattributes")


def _moved() -> None:
    """Move the lines that a memory cites."""
    with open("retry.py", encoding="utf-8") as file:
        text = file.read()
    with open("retry.py", "w", encoding="utf-8") as file:
        file.write("# first\n" + text)


def _planned() -> None:
    with open("plan.json", "wb") as file:
        file.write(_must("consolidate", "--dry-run", "--json").out)


def _set_up() -> None:
    _repository()
    _must("setup", "git")
    _must("setup", "pre-commit")


def _nonsense() -> None:
    """Damage what a clone keeps for itself, so that it must be moved away."""
    with open(f"{ROOT}/local/state.sqlite3", "wb") as file:
        file.write(b"no database" * 999)


def _away() -> None:
    os.rename(ROOT, "elsewhere")


DECISION: Final = "# 1. Bake at noon\n\n## Status\n\nAccepted\n\n## Decision\n\nWe bake at noon.\n"
"""A decision record."""
TALK: Final = _lines(
    *({"conversation": "new", "id": n, "content": f"turn {n}: we use SQLite"} for n in range(7))
)
WRITES: Final[dict[str, Write]] = {
    "init": Write(("init",), whole=False, prepare=_away),
    "add": Write(("add", "One more thing to keep", "--subject", "more")),
    "add --batch": Write(
        ("add", "--batch", "-"), _lines(*({"content": f"Item {n} of a batch"} for n in range(3)))
    ),
    "add --agent": Write(("add", "The user lives in Linz.", "--agent", "planner")),
    "add --cite": Write(("add", "It imports what it needs", "--cite", "retry.py:1")),
    "outcome": Write(("outcome", "MEMORY", "bad", "Nobody came")),
    "tried": Write(("tried", "bake without yeast", "--failed", "flat", "--worked", "Use yeast")),
    "edit": Write(("edit", "MEMORY", "Pancakes are served on Mondays")),
    "edit --cite": Write(("edit", "MEMORY", "--cite", "retry.py:1-3", "--type", "procedure")),
    "edit --supersede": Write(("edit", "MEMORY", "No pancakes any more", "--supersede")),
    "edit --superseded-by": Write(("edit", "MEMORY", "--superseded-by", "OTHER")),
    "rm": Write(("rm", "MEMORY", "OTHER")),
    "restore": Write(("restore", "REMOVED")),
    "purge": Write(("purge", "OTHER", "--force")),
    "purge a conversation": Write(("purge", "TALK", "--force")),
    "pin": Write(("edit", "MEMORY", "--pin")),
    "undo": Write(("undo", "MEMORY")),
    "unpin": Write(("edit", "PINNED", "--no-pin")),
    "link": Write(("edit", "MEMORY", "--link", "PINNED")),
    "unlink": Write(("edit", "MEMORY", "--unlink", "OTHER")),
    "resolve REF": Write(("resolve", "MEMORY"), prepare=_contradiction),
    "check citations": Write(("check", "citations", "--fix"), prepare=_moved),
    "consolidate": Write(("consolidate",), whole=False),
    "consolidate --plan": Write(
        ("consolidate", "--plan", "plan.json"), whole=False, prepare=_planned
    ),
    "check setup": Write(("check", "setup", "--fix"), whole=False, prepare=_incomplete, finds=True),
    "check setup --fix of a database": Write(
        ("check", "setup", "--fix"), whole=False, prepare=_nonsense, finds=True
    ),
    "resolve": Write(("resolve",), prepare=_unmerged),
    "conversation start": Write(("conversation", "start", "Another talk")),
    "conversation say": Write(
        ("conversation", "say", "We decided to use RabbitMQ.", "--conversation", "TALK")
    ),
    "conversation end": Write(("conversation", "end", "Agreed", "--conversation", "TALK")),
    "conversation pause": Write(("conversation", "pause", "TALK")),
    "conversation resume": Write(("conversation", "resume", "PAUSED")),
    "conversation clear": Write(("conversation", "clear", "TALK", "--yes")),
    "conversation prune": Write(("conversation", "prune", "TALK", "--keep", "1")),
    "conversation mark": Write(("conversation", "mark", "SAID", "--pin")),
    "conversation rm": Write(("conversation", "rm", "SAID", "--reason", "a slip")),
    "inbox accept": Write(("inbox", "accept", "--above", "0.1")),
    "inbox reject": Write(("inbox", "reject", "FACT")),
    "inbox accept, a proposal": Write(("inbox", "accept", "HELD"), whole=False),
    "inbox reject, a proposal": Write(("inbox", "reject", "HELD"), whole=False),
    "episode add": Write(("episode", "add", "The kitchen was painted", "--title", "Paint")),
    "app remember": Write(("app", "remember", "calendar", "Meetings after two"), whole=False),
    "app compact": Write(("app", "compact", "crowded"), whole=False),
    "app delete": Write(("app", "delete", "calendar", "APP"), whole=False),
    "app purge": Write(("app", "purge", "calendar", "--yes"), whole=False),
    "app uninstall": Write(("app", "uninstall", "calendar", "--purge", "--yes"), whole=False),
    "app stats": Write(("app", "stats", "--poll")),
    "checkpoint save": Write(("checkpoint", "save", "review", '{"step": 2}')),
    "checkpoint rm": Write(("checkpoint", "rm", "review")),
    "delta": Write(("delta", "--thread", "review"), answers=True),
    "config set": Write(("config", "set", "chunk_size", "7")),
    "config unset": Write(("config", "unset", "chunk_size")),
    "import messages": Write(("import", "messages", "-"), TALK),
    "import claude-code": Write(("import", "claude-code", "session.jsonl", "--learn")),
    "import notes": Write(("import", "notes", "RULES.md")),
    "setup rules": Write(("setup", "rules", "agents-md", "cursor"), whole=False),
    "import adr": Write(("import", "adr", "0001-bake.md")),
    "import arrays": Write(("import", "arrays", "arrays")),
    "import arrays --untrusted": Write(("import", "arrays", "arrays", "--untrusted")),
    "setup git": Write(("setup", "git"), whole=False, prepare=_repository),
    "setup pre-commit": Write(("setup", "pre-commit"), whole=False, prepare=_repository),
    "setup gemini": Write(("setup", "gemini"), whole=False),
    "setup git --remove": Write(("setup", "git", "--remove"), whole=False, prepare=_set_up),
    "setup pre-commit --remove": Write(
        ("setup", "pre-commit", "--remove"), whole=False, prepare=_set_up
    ),
    "export arrays": Write(("export", "arrays", "exported"), whole=False),
    "export markdown": Write(("export", "markdown", "pages"), whole=False),
    "export audit": Write(("export", "audit", "trail.jsonl")),
    "eval run": Write(("eval", "run", "--accept")),
    "eval add": Write(("eval", "add", "breakfast", "OTHER")),
    "search": Write(("search", "pancakes"), whole=False, reads=True),
    "context": Write(("context", "pancakes"), whole=False, reads=True),
    "query": Write(("query", "-"), b'{"query": "pancakes"}', whole=False, reads=True),
    "list": Write(("list",), whole=False, reads=True),
    "app context": Write(("app", "context", "calendar"), whole=False, reads=True),
}
"""Every writing command, on the project that `build` makes."""


def build(place: str) -> None:
    """Make the project in an empty folder."""
    os.chdir(place)
    with surroundings(place), fixed_chance(1):
        _must("init", "--track-conversations")
        with open(f"{ROOT}/config.toml", "w", encoding="utf-8") as file:
            file.write(SETTINGS)
        found = {**_memories(), **_talks(), **_held()}
        _must("checkpoint", "save", "review", '{"step": 1}')
        _must("delta", "--thread", "other")
        _must("eval", "add", "pancakes", found["MEMORY"])
        _must("search", "pancakes")
        session = ClaudeCode()
        session.ask("Which oven do we take?")
        session.say("The small one.")
        with open("session.jsonl", "wb") as file:
            file.write(session.bytes())
        with open("0001-bake.md", "w", encoding="utf-8") as file:
            file.write(DECISION)
        with open("RULES.md", "w", encoding="utf-8") as file:
            file.write("# Kitchen\n\n- Never burn the pancakes.\n- Buy flour on Fridays.\n")
        os.mkdir("arrays")
        _must("export", "arrays", "arrays")
        _must("add", "Zebras sleep while they stand", "--force")
        os.unlink(f"{ROOT}/long-term-memory/{found.pop('SPARE')}.json")
        with open("names.json", "w", encoding="utf-8") as file:
            json.dump(found, file)


def _memories() -> dict[str, str]:
    with open("retry.py", "w", encoding="utf-8") as file:
        file.write("import time\n\nRETRIES = 3\n")
    found = {
        "MEMORY": _added("Pancakes are served on Sundays"),
        "OTHER": _added("The kitchen closes at ten"),
        "REMOVED": _added("The old printer is gone"),
        "PINNED": _added("The office plant is called Fern", "--pin"),
        "SPARE": _added("Only the arrays hold this"),
        "APP": _added("The dentist is on Tuesday.", "--app", "calendar", "--importance", "0.2"),
    }
    _added("The review moves to Thursday.", "--app", "calendar")
    for number in range(3):
        _must("config", "set", "apps.limit", "9")
        _added(f"Crowded subject {number}", "--app", "crowded", "--importance", f"0.{number + 3}")
    _must("config", "set", "apps.limit", "2")
    _added("The queue retries three times", "--cite", "retry.py:3")
    _added("We use PostgreSQL for the ledger", "--type", "decision", "--tag", "db")
    _added("we use postgres for the ledger.", "--type", "decision", "--importance", "0.9")
    _added("Lunch was late", "--importance", "0.1", "--now", THEN)
    long_gone = _added("The fax is broken", "--now", THEN)
    _must("rm", long_gone, "--now", THEN)
    _must("rm", found["REMOVED"])
    _must("edit", found["MEMORY"], "--link", found["OTHER"])
    _must("edit", found["PINNED"], "--link", long_gone)
    _must("episode", "add", "We chose a queue", "--title", "Queue")
    return found


def _talks() -> dict[str, str]:
    paused = _data("conversation", "start", "Later")["id"]
    _must("conversation", "pause", paused)
    talk: str = _data("conversation", "start", "Talk")["id"]
    for number in range(10):
        said = f"We prefer small messages {number}." if number < 3 else f"Message {number}"
        _must("conversation", "say", said, "--conversation", talk)
    fact = _data("inbox", "facts")["items"][0]
    return {"PAUSED": paused, "TALK": talk, "FACT": fact["id"], "SAID": fact["message"]}


def _held() -> dict[str, str]:
    assert ran("add", "The user lives in Graz.", "--agent", "planner").code == 7
    return {"HELD": _data("inbox", "proposals")["items"][0]["id"]}


def names() -> dict[str, str]:
    """Return the ids of the project's records by what the commands call them."""
    with open("names.json", encoding="utf-8") as file:
        found: dict[str, str] = json.load(file)
    return found


def ran(*arguments: str, stdin: bytes = b"") -> Ran:
    """Run a command within this process, in the current folder, with every sync."""
    out, err = io.BytesIO(), io.BytesIO()
    stdout = io.TextIOWrapper(out, write_through=True)
    stderr = io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    given = io.TextIOWrapper(io.BytesIO(stdin))
    with mock.patch("sys.stdin", given), redirect_stdout(stdout), redirect_stderr(stderr):
        code = app.run(arguments)
        stdout.flush()
        stderr.flush()
    return Ran(code, out.getvalue(), err.getvalue().decode())


def do(write: Write, known: Mapping[str, str], seed: int = 7) -> Ran:
    """Run a writing command, with the same chance every time; another seed draws other names."""
    with fixed_chance(seed):
        return ran(*(known.get(word, word) for word in write.arguments), stdin=write.stdin)


@contextmanager
def fixed_chance(seed: int = 7) -> Iterator[None]:
    """Make ids come out the same every time."""
    chance = random.Random(seed)
    sqlite_calls.with_fixed_chance()
    with mock.patch.object(os, "urandom", chance.randbytes):
        yield


@contextmanager
def surroundings(home: str) -> Iterator[None]:
    """Run with nothing of this computer's own, and at a fixed time."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PMEM_", "GIT_", "XDG_"))
    }
    fixed = {"HOME": home, "PMEM_ACTOR": ACTOR, "PMEM_NOW": NOW, "GIT_CEILING_DIRECTORIES": home}
    own = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PMEM_TOKENIZER": "estimate",  # whether or not the extra is installed
    }
    with mock.patch.dict(os.environ, {**clean, **fixed, **own}, clear=True):
        yield


def copied(template: str, place: str) -> str:
    """Make a copy of a project, and go there."""
    os.chdir("/")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(template, place, symlinks=True)
    os.chdir(place)
    return place


def state(place: str) -> State:
    """Return what a project holds: every file but what is made again, and the databases' rows."""
    found: State = {}
    for folder, _, files in os.walk(place):
        for name in files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, place)
            if name == "state.sqlite3":
                found |= {f"{relative}:{table}": rows for table, rows in _tables(path)}
            elif not _is_passing(relative):
                with open(path, encoding="utf-8", errors="backslashreplace") as file:
                    found[relative] = file.read()
    return found


def records(found: State) -> State:
    """Return the part of a state that the stores hold."""
    return {path: data for path, data in found.items() if path.endswith(".json") and _stored(path)}


def strays(place: str) -> list[str]:
    """Return what a finished write has no use for in the memory folder."""
    found = []
    for folder, folders, files in os.walk(os.path.join(place, ROOT)):
        found += [
            os.path.relpath(os.path.join(folder, name), place)
            for name in (*folders, *files)
            if ".tmp-" in name or name in ("commit", "pmem.log") or name.endswith("-journal")
        ]
    return found


def _is_passing(path: str) -> bool:
    """Tell whether a file is nobody's: logs, locks, indexes, and what a dead writer left."""
    local = f"{ROOT}/local/"
    logs = ("lock", "operations.log", "commands.log", "access", "index.", "commit/", "pmem.log")
    mine = path.startswith(local) and path[len(local) :].startswith((*logs, "state.sqlite3-"))
    return mine or ".tmp-" in path


def _stored(path: str) -> bool:
    return path.startswith(ROOT) and path.count(os.sep) == 2 and "/local/" not in path


def _tables(path: str) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        query = "select name from sqlite_master where type = 'table' order by name"
        try:
            names = connection.execute(query).fetchall()
        except sqlite3.DatabaseError:
            names = []  # a damaged one, as one of the commands is to find it
        for (name,) in names:
            yield name, repr(sorted(connection.execute(f"select * from {name}").fetchall()))


def _must(*arguments: str) -> Ran:
    done = ran(*arguments)
    assert done.code == 0, (arguments, done)
    return done


def _data(*arguments: str) -> Any:
    return json.loads(_must(*arguments, "--json").out)["data"]


def _added(content: str, *options: str) -> str:
    identifier: str = _data("add", content, "--force", *options)["memory"]["id"]
    return identifier
