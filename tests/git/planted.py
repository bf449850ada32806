"""Merges that are right, made in every way there is, and merges into which a mistake is planted."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from pmem.core import rawjson
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.values.fields import RangeRequest
from pmem.vcs.merges import MergesChecked
from tests.asking import ask
from tests.core.threeway.sides import Json
from tests.git.branches import ROOT, git, ok
from tests.git.scenarios import WAYS, Branch, Scenario, prepare
from tests.git.world import World, commit, fill, records

Records = dict[str, Json | None]
_PLAIN: Final = Path(".git", "info", "attributes")
_HEAD: Final = ("rev-parse", "HEAD")


def findings(start: str, end: str = "HEAD") -> MergesChecked:
    """Check the merges between two commits of the current repository."""
    workspace = Workspace(os.path.abspath(ROOT), environment=os.environ)
    return ask(workspace, table.CHECK_MERGES, RangeRequest(revisions=f"{start}..{end}"))


# Merges that are right


def _by(way: str, branches: int = 2) -> Callable[[World], str]:
    def make(world: World) -> str:
        scenario = prepare(world, branches, 2)
        WAYS[way](scenario)
        return scenario.base.tip

    return make


def _branches(world: World, *work: Callable[[], None]) -> Scenario:
    """Make branches by what is done on each."""
    fill(world, 6)
    base = Branch(ok(*_HEAD).strip(), records())
    sides = []
    for do in work:
        ok("checkout", "--quiet", "--detach", base.tip)
        do()
        sides.append(Branch(commit("work"), records()))
    return Scenario(base, tuple(sides), 0)


def _by_hand(**fields: Any) -> None:
    """Change the first memory's file as an editor does, and nothing else."""
    path = sorted(Path(ROOT, "long-term-memory").glob("*.json"))[0]
    path.write_bytes(rawjson.dump({**rawjson.load(path.read_bytes()), **fields}))


def _plain(world: World) -> str:
    """Let git alone merge lines that are far from each other, and records that one side changed."""

    def ours() -> None:
        _by_hand(category=world.text())
        world.do("add")

    def theirs() -> None:
        _by_hand(pinned=True, later_key=[1])
        world.do("note")

    scenario = _branches(world, ours, theirs)
    _PLAIN.write_text("* !merge\n", encoding="utf-8")
    try:
        ok("checkout", "--quiet", "--detach", scenario.sides[0].tip)
        ok("merge", "--quiet", "--no-edit", scenario.sides[1].tip)
    finally:
        _PLAIN.unlink()
    return scenario.base.tip


def _edited(world: World) -> str:
    """Go on with pmem after the merge, before committing it."""
    scenario = prepare(world, 2, 1)
    ok("checkout", "--quiet", "--detach", scenario.sides[0].tip)
    git("merge", "--quiet", "--no-edit", "--no-commit", "--no-ff", scenario.sides[1].tip)
    if any(record is None for record in records().values()):
        ok("merge", "--abort")
    else:
        world.do("reword", "tag", "link", "pin", "change", "say", "add")
    commit("merged")
    return scenario.base.tip


def _criss_cross(world: World) -> str:
    """Merge each branch into the other, work on, and merge again: there are two bases."""
    scenario = prepare(world, 2, 1)
    ways = []
    for sides in (scenario.sides, scenario.sides[::-1]):
        WAYS["merge"](scenario._replace(sides=sides))
        world.work(2)
        ways.append(Branch(commit("on"), records()))
    WAYS["merge"](scenario._replace(sides=tuple(ways)))
    return scenario.base.tip


RIGHT: Final[dict[str, Callable[[World], str]]] = {
    "driver": _by("merge"),
    "driver, -X ours": _by("merge -X ours"),
    "driver, three branches": _by("merge three", 3),
    "git alone": _plain,
    "pmem after the merge": _edited,
    "criss-cross": _criss_cross,
    "squash": _by("squash"),
}
"""Ways to make a right merge; each returns the commit that its branches began at."""


# Merges with a mistake


class Merged(NamedTuple):
    """A right merge, with the memories that it is made of."""

    base: Branch
    sides: tuple[Branch, Branch]
    memory: Records

    def known(self) -> Iterator[tuple[str, Json, list[Json], Json]]:
        """Yield the records that all of them have: path, base, sides and result."""
        for path, now in sorted(self.memory.items()):
            base, sides = self.base.memory.get(path), [s.memory.get(path) for s in self.sides]
            if base and now and sides[0] and sides[1]:
                yield path, base, [side for side in sides if side], now


Change = dict[str, Json | bytes | None]
"""What a mistake makes of some files; None takes one away."""


def merged(seed: int) -> Merged:
    """Make a right merge in which there is much to get wrong; no conflict is among it."""
    for number in range(100):
        world = World(seed * 1000 + number)
        scenario = prepare(world, 2, 2)
        outcome = WAYS["merge"](scenario)
        if not outcome.unmerged and len(scenario.sides) == 2:
            one, two = scenario.sides
            return Merged(scenario.base, (one, two), outcome.memory)
    raise AssertionError("every merge has conflicts")


def plant(found: Merged, change: Change) -> str:
    """Commit the merge with a mistake in it, and return the commit."""
    ok("checkout", "--quiet", "--force", "--detach", "HEAD")
    for path, record in change.items():
        file = Path(ROOT, path)
        if record is None:
            file.unlink()
        else:
            file.write_bytes(record if isinstance(record, bytes) else rawjson.dump(record))
    ok("add", "--all")
    tree = ok("write-tree").strip()
    parents = [word for side in found.sides for word in ("-p", side.tip)]
    made = ok("commit-tree", tree, *parents, "-m", "a mistake").strip()
    ok("reset", "--quiet", "--hard")
    return made


def _lost(found: Merged) -> Iterator[Change]:
    for path in found.memory:
        yield {path: None}


def _resurrected(found: Merged) -> Iterator[Change]:
    for path, record in found.base.memory.items():
        if path not in found.memory:
            yield {path: record}


def _dropped_side(found: Merged) -> Iterator[Change]:
    for path, base, sides, now in found.known():
        for other in (base, *sides):
            if other != now:
                yield {path: other}


def _changed_back(found: Merged) -> Iterator[Change]:
    """Give a field the base's value, where nobody changed it since."""
    kept = ("history", "updated_at", "tokens", "turns", "access")
    for path, base, sides, now in found.known():
        known = [event for side in sides for event in side.get("history", [])]
        if all(event in known for event in now.get("history", [])):
            for field in base.keys() - {*kept}:
                alone = sum(side.get(field) != base[field] for side in sides) == 1
                if alone and base[field] != now.get(field):
                    yield {path: {**now, field: base[field]}}


def _dropped_items(found: Merged) -> Iterator[Change]:
    for path, _, sides, now in found.known():
        for field in ("tags", "relationships", "recent_messages"):
            for item in now.get(field, []):
                if any(item in side[field] for side in sides):
                    yield {path: {**now, field: [each for each in now[field] if each != item]}}


def _mixed(found: Merged) -> Iterator[Change]:
    every = list(found.known())
    for path, base, sides, now in every:
        if now in sides and (base in sides):
            continue  # no side or one side changed it: that is a side dropped
        for other in (record for _, _, _, record in every if record is not now):
            for field in ("content", "subject", "importance", "id", "category"):
                values = [record.get(field) for record in (base, *sides, now)]
                if field in now and field in other and other[field] not in values:
                    yield {path: {**now, field: other[field]}}
    for path, _, _, now in every:
        for field in ("content", "summary", "category"):
            if field in now:
                yield {path: {**now, field: "what nobody ever said"}}


def _unreadable(found: Merged) -> Iterator[Change]:
    for path, _, sides, now in found.known():
        ours, theirs = (rawjson.dump(side) for side in sides)
        if ours != theirs:
            yield {path: b"<<<<<<< ours\n" + ours + b"=======\n" + theirs + b">>>>>>> theirs\n"}
        yield {path: rawjson.dump(now)[:-3]}
        yield {path: rawjson.dump({key: now[key] for key in now if key != "updated_at"})}


WRONG: Final[dict[str, tuple[str, Callable[[Merged], Iterator[Change]]]]] = {
    "record lost": ("lost_record", _lost),
    "record that is none": ("lost_record", _unreadable),
    "record brought back": ("resurrected_record", _resurrected),
    "side dropped": ("differing_record", _dropped_side),
    "field changed back": ("differing_record", _changed_back),
    "items dropped": ("differing_record", _dropped_items),
    "records mixed": ("differing_record", _mixed),
}
"""Mistakes, each with the code that it is reported with, and all that can be planted in a merge."""
