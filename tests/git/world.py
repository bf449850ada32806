"""Random work on a memory in a real repository: what people do between two commits."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

from pmem import Project
from pmem.core import rawjson
from pmem.core.threeway.shapes import SHAPES
from pmem.errors import PmemError
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.vcs import gitsetup
from tests.core.threeway.sides import Json
from tests.git.branches import ROOT, git, ok

BEGUN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_THINGS: Final = (
    "the parser",
    "the queue",
    "the office",
    "lunch",
    "the 索引",
    "the build",
    "Ada 🦤",
)
_DOES: Final = ("uses", "needs", "avoids", "replaces", "waits for", "explains")
_WHAT: Final = ("a cache", "PostgreSQL", "two keys", "coffee", "a lock", "検索", "five retries")
_TAGS: Final = ("db", "api", "team", "food", "ops", "後")
_NAMES: Final = ("ada", "kim", "lee")
_IDS: Final = Random(0)
"""Where ids come from in `tamed`, so that the same seed gives the same work."""


class World:
    """A memory in the current folder's repository, and somebody who works on it."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        _IDS.seed(seed)
        self._now = BEGUN
        self._number = 0

    def text(self) -> str:
        """Return a sentence that nobody has said before."""
        self._number += 1
        parts = (self.dice.choice(words) for words in (_THINGS, _DOES, _WHAT))
        return f"{' '.join(parts)} since {self._number}"

    @contextmanager
    def project(self) -> Iterator[Project]:
        """Open the memory a little later than before; now and then at the same moment."""
        self._now += timedelta(minutes=self.dice.choice((0, 1, 7)))
        yield Project(ROOT, actor=self.dice.choice(_NAMES), now=self._now)

    def work(self, times: int) -> int:
        """Do so many random things, and return how many."""
        done = 0
        while done < times:
            done += self.does(self.dice.choice(sorted(DEEDS)))
        return done

    def does(self, name: str) -> bool:
        """Try to do something to a memory drawn by lot; tell whether that could be done."""
        with self.project() as project:
            try:
                DEEDS[name](self, project)
            except (PmemError, IndexError):
                return False
        return True

    def do(self, *names: str) -> None:
        """Do things one after the other, each with the first memory drawn that allows it."""
        for name in names:
            assert any(self.does(name) for _ in range(100)), name

    def memory(self, project: Project) -> str:
        """Choose a memory; the older ones more often, so that branches meet."""
        ids = sorted(record.id for record in project.workspace.memories.find())
        return ids[min(self.dice.randrange(len(ids)), self.dice.randrange(len(ids)))]


def _add(world: World, project: Project) -> None:
    tags = tuple(world.dice.sample(_TAGS, 2))
    kind = world.dice.choice(("fact", "decision", "goal"))
    project.add(world.text(), kind, tags=tags, force=True)


def _change(world: World, project: Project) -> None:
    fields: dict[str, Any] = world.dice.choice(
        (
            {"importance": round(world.dice.random(), 2)},
            {"category": world.dice.choice(("project", "team", "tools"))},
            {"subject": world.text()},
            {"valid_until": BEGUN + timedelta(days=world.dice.randint(900, 990))},
        )
    )
    project.edit(world.memory(project), **fields)


def _tag(world: World, project: Project) -> None:
    reference = world.memory(project)
    tags = set(project.workspace.memories.get(reference).tags)
    tags ^= set(world.dice.sample(_TAGS, world.dice.randint(1, 2)))
    project.edit(reference, tags=tuple(sorted(tags)))


def _link(world: World, project: Project) -> None:
    start, end = world.memory(project), world.memory(project)
    strength = round(world.dice.random(), 2)
    project.link(start, end, world.dice.choice(("related_to", "updates")), strength)


def _unlink(world: World, project: Project) -> None:
    linked = [record for record in project.workspace.memories.find() if record.relationships]
    chosen = world.dice.choice(sorted(linked, key=lambda record: record.id))
    project.unlink(chosen.id, world.dice.choice(chosen.relationships).target)


def _unknown(world: World, project: Project) -> None:
    """Write by hand what only a later version of pmem knows."""
    path = Path(ROOT, "long-term-memory", f"{world.memory(project)}.json")
    record = rawjson.load(path.read_bytes())
    record[f"later_{world.dice.randint(1, 4)}"] = world.dice.choice((world.text(), {"k": 1}, [2]))
    path.write_bytes(rawjson.dump(record))


DEEDS: Final[dict[str, Callable[[World, Project], object]]] = {
    "add": _add,
    "change": _change,
    "link": _link,
    "note": lambda world, project: project.add_episode(world.text(), title=world.text()),
    "pin": lambda world, project: project.pin(
        world.memory(project), pinned=world.dice.random() < 0.7
    ),
    "purge": lambda world, project: project.purge(world.memory(project), force=True),
    "remove": lambda world, project: project.remove(world.memory(project)),
    "restore": lambda world, project: project.restore(world.memory(project)),
    "reword": lambda world, project: project.edit(world.memory(project), world.text()),
    "say": lambda world, project: project.add_message(
        world.dice.choice(("user", "assistant")), world.text()
    ),
    "supersede": lambda world, project: project.supersede(world.memory(project), world.text()),
    "tag": _tag,
    "unknown": _unknown,
    "unlink": _unlink,
}


def begin(*, driver: bool = True) -> None:
    """Make a repository with a memory that shares its conversations in the current folder."""
    ok("init", "--quiet", "--initial-branch=main")
    for name, value in (("gc.auto", "0"), ("user.name", "Kim"), ("user.email", "kim@example.org")):
        ok("config", name, value)
    initialise(ROOT, track_conversations=True)
    if driver:
        assert gitsetup.install(Workspace(os.path.abspath(ROOT), environment=os.environ)).ok


@contextmanager
def tamed() -> Iterator[None]:
    """Make ids by the world's seed, and write without waiting for the disk."""
    with mock.patch("os.fsync"), mock.patch("os.urandom", _IDS.randbytes):
        yield


def fill(world: World, memories: int) -> None:
    """Start afresh with so many memories, a conversation and an episode, and commit that."""
    git("checkout", "--quiet", "--orphan", f"root-{world.dice.randrange(10**12)}")
    for store in SHAPES:
        for path in Path(ROOT, store).glob("*.json"):
            path.unlink()
    with world.project() as project:
        for _ in range(memories):
            _add(world, project)
        project.start_conversation(world.text())
        project.add_episode(world.text(), title=world.text())
    for _ in range(3):
        with world.project() as project:
            DEEDS["say"](world, project)
    commit("base")


def commit(message: str) -> str:
    """Commit everything and return the commit."""
    ok("add", "--all")
    ok("commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)
    return ok("rev-parse", "HEAD").strip()


def records(where: str = ROOT) -> dict[str, Json | None]:
    """Return every record by its path in the memory; None for one that does not parse."""
    found: dict[str, Json | None] = {}
    for store in SHAPES:
        for path in sorted(Path(where, store).glob("*.json")):
            try:
                found[f"{store}/{path.name}"] = json.loads(path.read_bytes())
            except ValueError:
                found[f"{store}/{path.name}"] = None
    return found
