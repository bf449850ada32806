"""Random work on branches of a real repository, and every way to bring it together."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tests.core.threeway.sides import Json
from tests.git.branches import ROOT, git, ok
from tests.git.branches import WAYS as COMMANDS
from tests.git.oracle import Fault, judge
from tests.git.world import World, commit, fill, records

MARKERS: Final = b"<<<<<<< "


class Branch(NamedTuple):
    """A branch: its last commit, and its memory there."""

    tip: str
    memory: dict[str, Json | None]


class Scenario(NamedTuple):
    """Where the branches began, and what was done on each."""

    base: Branch
    sides: tuple[Branch, ...]
    deeds: int


class Outcome(NamedTuple):
    """What bringing branches together left: the memory, and what git asked about meanwhile."""

    memory: dict[str, Json | None]
    unmerged: frozenset[str]
    paired: int


def prepare(world: World, branches: int, commits: int) -> Scenario:
    """Work on so many branches, each with so many commits."""
    fill(world, 6)
    base = Branch(ok("rev-parse", "HEAD").strip(), records())
    sides, deeds = [], 0
    for _ in range(branches):
        ok("checkout", "--quiet", "--detach", base.tip)
        for _ in range(commits):
            deeds += world.work(world.dice.randint(1, 4))
            commit("work")
        sides.append(Branch(ok("rev-parse", "HEAD").strip(), records()))
    return Scenario(base, tuple(sides), deeds)


class _Run:
    """One way under way: what git asked about so far."""

    def __init__(self) -> None:
        self.unmerged: set[str] = set()
        self.paired = 0

    def do(self, *arguments: str, then: tuple[str, ...] = ()) -> None:
        """Run git; where it asks, take what is in the files and go on."""
        done = git(*arguments)
        for _ in range(20):
            asked = ok("diff", "--name-only", "--diff-filter=U").split()
            if not asked:
                break
            self.unmerged |= {path.removeprefix(f"{ROOT}/") for path in asked}
            self._part(asked)
            ok("add", "--all")
            if not then:
                return
            done = git(*then)
        assert done.code == 0 or not then or "empty" in done.said + done.out, (arguments, done.said)

    def _part(self, asked: list[str]) -> None:
        """Part records that git took for one: the driver wrote both whole, between markers."""
        for path in map(Path, asked):
            if path.exists() and path.read_bytes().startswith(MARKERS):
                self.paired += 1
                ours, theirs = path.read_bytes().split(b"=======\n")
                for data in (ours.split(b"\n", 1)[1], theirs.rpartition(b">>>>>>> ")[0]):
                    identifier = data.split(b'"id": "', 1)[1].split(b'"')[0].decode()
                    path.with_name(f"{identifier}.json").write_bytes(data)

    def outcome(self) -> Outcome:
        """Return what there is now."""
        return Outcome(records(), frozenset(self.unmerged), self.paired)


_COMMIT: Final = ("commit", "--quiet", "--no-edit", "--allow-empty")


def _merge(scenario: Scenario, *options: str) -> Outcome:
    run = _Run()
    ok("checkout", "--quiet", "--force", "--detach", scenario.sides[0].tip)
    for side in scenario.sides[1:]:
        run.do("merge", "--quiet", "--no-edit", *options, side.tip, then=_COMMIT)
    return run.outcome()


def _by_commands(way: str, scenario: Scenario) -> Outcome:
    """Bring the second branch to the first, or the first onto the second, as the way says."""
    run = _Run()
    start, commands, _ = COMMANDS[way]
    tips = {"base": scenario.base.tip}
    tips |= zip(("ours", "theirs"), (side.tip for side in scenario.sides), strict=True)
    tips |= {"chain": tips["theirs"], "HEAD~1": tips["ours"]}
    ok("checkout", "--quiet", "--force", "--detach", tips[start])
    for words in commands:
        run.do(*(tips.get(word, word) for word in words), then=_THEN.get(way, ()))
    if way == "squash":
        commit("squashed")
    for operation in ("rebase", "cherry-pick", "revert"):
        git(operation, "--quit")
    git("stash", "clear")
    return run.outcome()


_THEN: Final = {"rebase": ("rebase", "--continue")}
WAYS: Final[dict[str, Callable[[Scenario], Outcome]]] = {
    "merge": _merge,
    "merge -X ours": lambda scenario: _merge(scenario, "-Xours"),
    "merge -X theirs": lambda scenario: _merge(scenario, "-Xtheirs"),
    "merge three": _merge,
    **{
        way: partial(_by_commands, way)
        for way in ("squash", "rebase", "cherry-pick", "stash pop", "revert")
    },
}


def run(way: str, seed: int) -> tuple[Counter[str], list[Fault]]:
    """Play one scenario in the current repository; count what happened and return the faults."""
    world = World(seed)
    ok("checkout", "--quiet", "--force", "--detach")
    scenario = prepare(
        world, 3 if way == "merge three" else 2, 1 if way in ("rebase", "cherry-pick") else 2
    )
    if way == "revert":
        scenario = _in_a_row(world, scenario)
    outcome = WAYS[way](scenario)
    sides = [side.memory for side in scenario.sides]
    base = scenario.base.memory
    if way == "revert":
        base, sides = scenario.sides[0].memory, [scenario.base.memory, scenario.sides[1].memory]
    faults = judge(base, sides, outcome.memory, outcome.unmerged)
    if way.startswith("merge") and len(sides) == 2:
        faults += _the_other_way(scenario)
    counts = Counter(
        scenarios=1,
        deeds=scenario.deeds,
        asked=len(outcome.unmerged),
        **Counter(fault.what for fault in faults),
    )
    ok("reset", "--quiet", "--hard")
    return counts, [fault for fault in faults if fault.what != "paired"]


def _in_a_row(world: World, scenario: Scenario) -> Scenario:
    """Put the work of one side behind that of the other, so that the first can be reverted."""
    first = scenario.sides[0]
    ok("reset", "--quiet", "--hard", first.tip)
    ok("reset", "--quiet", "--soft", scenario.base.tip)
    first = Branch(commit("first"), first.memory)
    deeds = world.work(3)
    second = Branch(commit("second"), records())
    return Scenario(scenario.base, (first, second), scenario.deeds + deeds)


def _the_other_way(scenario: Scenario) -> list[Fault]:
    """Merge again with the branches exchanged: the memory must be the same, to the byte."""
    ok("add", "--all")
    one = ok("write-tree")
    _merge(scenario._replace(sides=scenario.sides[::-1]))
    ok("add", "--all")
    return [] if ok("write-tree") == one else [Fault("asymmetric", "the two ways")]
