"""Every deed on one branch beside every deed on another: what git's merge of the two leaves.

`python -m tests.git.pairs` writes `pairs.txt` anew: a line for each pair, with what is recalled
after the merge and what `check` says. Ada does her deed an hour before Bo does his.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, NamedTuple
from unittest import mock

import msgspec

from pmem import Project
from pmem.core.lifecycle.plan import Action
from pmem.errors import PmemError
from pmem.operations.table import CHANGE_SETTING
from pmem.project.configuration import CONFIG_FILE
from pmem.project.setup import SettingChangeRequest, write_setting
from pmem.upkeep.consolidation import PlannedStep
from pmem.values.records import STORES, Chunk, Conversation, Memory, State
from pmem.vcs.gitmerge import CONFLICT, merge_driver
from tests.asking import ask

TABLE: Final = Path(__file__).with_name("pairs.txt")
BEGUN: Final = datetime(2026, 1, 1, 10, tzinfo=UTC)
WHEN: Final = {"Ada": BEGUN + timedelta(days=20), "Bo": BEGUN + timedelta(days=20, hours=1)}
LATER: Final = BEGUN + timedelta(days=21)
UNTIL: Final = {"Ada": datetime(2031, 1, 1, tzinfo=UTC), "Bo": datetime(2032, 1, 1, tzinfo=UTC)}
_SHARE: Final = {"Ada": 0.81, "Bo": 0.91}
_MESSAGES: Final = 19
"""As many as a conversation keeps before the next ones move into a chunk."""

Files = Mapping[str, bytes]
"""The files of a memory folder, by path: the records and the settings."""


class Ground(NamedTuple):
    """Where both branches begin: the files, and the ids of the memories x and y."""

    files: Files
    x: str
    y: str


class Deed(NamedTuple):
    """What somebody does: the deed's name, and to which memory."""

    name: str
    to: str

    def __str__(self) -> str:
        return f"{self.name} {self.to}".strip()


class Pair(NamedTuple):
    """A ground, and what Ada and Bo do there."""

    ground: str
    ada: Deed
    bo: Deed

    def __str__(self) -> str:
        return f"{self.ground}: {self.ada} | {self.bo}"


class Merge(NamedTuple):
    """What git's merge leaves, and the paths that it asks about."""

    files: Files
    asked: frozenset[str]


def _upkeep(action: Action) -> Callable[[Project, str, str, str], object]:
    def do(project: Project, x: str, _y: str, _who: str) -> object:
        steps = [
            PlannedStep(step.id, step.action)
            for step in project.consolidate(dry_run=True).steps
            if step.action == action and x in [record.id for record in step.records]
        ]
        assert steps, "nothing is due"
        return project.consolidate(expected=steps)

    return do


def _end_and_remove(project: Project, x: str, _y: str, who: str) -> None:
    project.edit(x, valid_until=UNTIL[who])
    project.remove(x)


def _talk(project: Project, _x: str, _y: str, who: str) -> None:
    for number in range(4):
        project.add_message("user", f"{who} talks of lunch, part {number}.")


def _set(project: Project, _x: str, _y: str, who: str) -> None:
    request = SettingChangeRequest(name="chunk_size", value="7" if who == "Ada" else "8")
    ask(project.workspace, CHANGE_SETTING, request)


def _fact(project: Project) -> str:
    return next(iter(project.facts().items)).fact.id


ON_ONE: Final[dict[str, Callable[[Project, str, str, str], object]]] = {
    "text": lambda p, x, _y, who: p.edit(x, f"{who} says: the mail port is 2525."),
    "importance": lambda p, x, _y, who: p.edit(x, importance=_SHARE[who]),
    "tags": lambda p, x, _y, who: p.edit(x, tags=(f"by-{who.lower()}",)),
    "subject": lambda p, x, _y, who: p.edit(x, subject=f"mail of {who}"),
    "category": lambda p, x, _y, who: p.edit(x, category=f"{who.lower()}s"),
    "until": lambda p, x, _y, who: p.edit(x, valid_until=UNTIL[who]),
    "until, rm": _end_and_remove,
    "pin": lambda p, x, _y, _who: p.pin(x),
    "unpin": lambda p, x, _y, _who: p.pin(x, pinned=False),
    "rm": lambda p, x, _y, _who: p.remove(x),
    "restore": lambda p, x, _y, _who: p.restore(x),
    "purge": lambda p, x, _y, _who: p.purge(x, force=True),
    "link": lambda p, x, y, who: p.link(x, y, "updates", _SHARE[who]),
    "unlink": lambda p, x, y, _who: p.unlink(x, y),
    "replace": lambda p, x, _y, who: p.supersede(x, f"{who} has it anew: mail is on port 465."),
    "give way": lambda p, x, y, _who: p.supersede_by(x, y),
    "merge": _upkeep(Action.MERGE),
    "archive": _upkeep(Action.ARCHIVE),
    "settle": lambda p, x, _y, _who: p.settle(x),
    "settle --other": lambda p, x, _y, _who: p.settle(x, other=True),
}
"""What is done to one memory."""

ELSEWHERE: Final[dict[str, Callable[[Project, str, str, str], object]]] = {
    "add": lambda p, _x, _y, who: p.add(f"{who} adds: the lift is slow.", subject="The lift"),
    "set": _set,
    "say": _talk,
    "end": lambda p, _x, _y, _who: p.end_conversation(),
    "prune": lambda p, _x, _y, _who: p.prune_conversation(keep=10),
    "promote": lambda p, _x, _y, _who: p.promote_facts(_fact(p)),
    "reject": lambda p, _x, _y, _who: p.reject_facts(_fact(p)),
}
"""What is done to none, or to the conversation."""

_X: Final = tuple(Deed(name, "x") for name in ON_ONE)
_Y: Final = tuple(Deed(name, "y") for name in ON_ONE)
_TALKS: Final = tuple(Deed(name, "") for name in ELSEWHERE)

_WANTED: Final[dict[str, Callable[[Deed, Deed], bool]]] = {
    "linked": lambda one, other: one.to == "x",
    "twins": lambda one, other: one.name == "merge",
    "faded": lambda one, other: one.name == "archive",
    "pinned": lambda one, other: one.name == "unpin",
    "removed": lambda one, other: one.name in ("restore", "purge"),
    "disputed": lambda one, other: one.name.startswith("settle"),
    "talk": lambda one, other: one.to == other.to == "",
}
"""Which deeds come first on each ground: elsewhere, the others give nothing new."""


def pairs() -> list[Pair]:
    """Return every pair, with each of its two deeds as Ada's and as Bo's."""
    found: dict[Pair, None] = {}
    for ground, wanted in _WANTED.items():
        for one in (*_X, *_TALKS):
            for other in (*_X, *_Y, *_TALKS):
                both = one == other == Deed("set", "")
                if wanted(one, other) and not both:
                    found[Pair(ground, one, other)] = None
                    found[Pair(ground, other, one)] = None
    return [
        pair
        for pair in found
        if done(pair.ground, pair.ada, "Ada") and done(pair.ground, pair.bo, "Bo")
    ]


@cache
def ground(name: str) -> Ground:
    """Return where branches begin."""
    with folder({}) as root, mock.patch("os.urandom", Random(name).randbytes):
        Project(root, actor="Cy", now=BEGUN)
        if name == "faded":
            write_setting(os.path.join(root, CONFIG_FILE), "decay", "s2")
        old = BEGUN - timedelta(days=400 if name == "faded" else 9)
        x = _add(root, "The mail port is 25.", old, 0.1 if name == "faded" else 0.6)
        text = "the mail port is 25" if name == "twins" else "Lunch is at noon in the canteen."
        y = _add(root, text, BEGUN, 0.5)
        project = Project(root, actor="Cy", now=BEGUN)
        project.link(x, y)
        _prepare(name, project, x)
        return Ground(files_of(root), x, y)


def _add(root: str, text: str, at: datetime, importance: float) -> str:
    project = Project(root, actor="Cy", now=at)
    found = project.add(text, importance=importance, force=True).record
    assert found is not None
    return found.id


def _prepare(name: str, project: Project, x: str) -> None:
    if name == "pinned":
        project.pin(x)
    elif name == "removed":
        project.remove(x)
    elif name == "talk":
        project.start_conversation("Office")
        for number in range(_MESSAGES - 1):
            project.add_message("user", f"Part {number} of a long story about the lift.")
        project.add_message("user", "I usually prefer tabs.")
    elif name == "disputed":
        path = Path(project.workspace.root, _path(x))
        base = path.read_bytes()
        sides = []
        for who in ("Dee", "Eli"):
            path.write_bytes(base)
            Project(project.workspace.root, actor=who, now=BEGUN).edit(
                x, f"{who} says: it is port 587."
            )
            sides.append(path.read_bytes())
        path.write_bytes(_driven(_path(x), base, *sides)[1])


def _path(identifier: str) -> str:
    return f"{STORES[Memory]}/{identifier}.json"


@contextmanager
def folder(files: Files) -> Iterator[str]:
    """Make a memory folder with some files, for as long as a block runs."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as top:
        root = os.path.join(top, ".project-memory")
        for path, data in files.items():
            where = Path(root, path)
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_bytes(data)
        yield root


def files_of(root: str) -> Files:
    """Return what git would track of a memory folder's records and settings."""
    places = [Path(root, store) for store in STORES.values()]
    paths = [path for place in places if place.is_dir() for path in sorted(place.glob("*.json"))]
    paths.append(Path(root, CONFIG_FILE))
    return {str(path.relative_to(root)): path.read_bytes() for path in paths if path.exists()}


@cache
def done(name: str, deed: Deed, who: str) -> Files:
    """Return what somebody's deed leaves; nothing where it cannot be done there, or is nothing."""
    begun = ground(name)
    x, y = (begun.y, begun.x) if deed.to == "y" else (begun.x, begun.y)
    seed = Random(f"{name} {deed} {who}")
    with folder(begun.files) as root, mock.patch("os.urandom", seed.randbytes):
        project = Project(root, actor=who, now=WHEN[who])
        try:
            (ON_ONE | ELSEWHERE)[deed.name](project, x, y, who)
        except (PmemError, AssertionError, StopIteration):
            return {}
        files = files_of(root)
    return {} if files == begun.files else files


def worked(begun: Files, ids: tuple[str, ...], who: str, dice: Random) -> Files:
    """Return what several deeds drawn by lot leave, on memories drawn by lot."""
    at = WHEN[who]
    with folder(begun) as root, mock.patch("os.urandom", dice.randbytes):
        for _ in range(dice.randint(1, 4)):
            x, y = dice.sample(ids, 2)
            project = Project(root, actor=who, now=at)
            deed = ON_ONE[dice.choice([*ON_ONE, "rm", "merge", "give way", "give way"])]
            with suppress(PmemError, AssertionError):
                deed(project, x, y, who)
            at += timedelta(minutes=dice.choice((7, 90)))
        return files_of(root)


@cache
def several() -> tuple[Files, tuple[str, ...]]:
    """Return a memory with three memories that say the same, and one that does not."""
    begun = ground("twins")
    with folder(begun.files) as root, mock.patch("os.urandom", Random("several").randbytes):
        third = _add(root, "The mail port is 25!", BEGUN + timedelta(hours=1), 0.4)
        other = _add(root, "Lunch is at noon in the canteen.", BEGUN, 0.5)
        return files_of(root), (begun.x, begun.y, third, other)


def merge(base: Files, ours: Files, theirs: Files) -> Merge:
    """Merge two branches as git does: file by file, with the driver where both changed one."""
    files, asked = {}, set()
    for path in sorted(base.keys() | ours.keys() | theirs.keys()):
        before, one, other = (side.get(path) for side in (base, ours, theirs))
        left = other if one == before else one
        if before not in (one, other) and one != other:
            left, code = one or other, CONFLICT
            if one is not None and other is not None:
                code, left = _driven(path, before or b"", one, other)
            if code:
                asked.add(path)
        if left is not None:
            files[path] = left
    return Merge(files, frozenset(asked))


def _driven(path: str, *sides: bytes) -> tuple[int, bytes]:
    """Run the merge driver for a file, and return its exit code and what it leaves."""
    with folder({str(number): side for number, side in enumerate(sides)}) as root:
        names = [os.path.join(root, str(number)) for number in range(3)]
        code, _ = merge_driver([*names, "7", path])
        assert code in (0, CONFLICT), (path, code)
        return code, Path(names[1]).read_bytes()


@cache
def merged(pair: Pair) -> Merge:
    """Return what merging Bo's branch into Ada's leaves."""
    base = ground(pair.ground).files
    return merge(base, done(pair.ground, pair.ada, "Ada"), done(pair.ground, pair.bo, "Bo"))


def memories(files: Files) -> dict[str, Memory]:
    """Return the memories among files, by their ids."""
    store = f"{STORES[Memory]}/"
    data = [data for path, data in files.items() if path.startswith(store)]
    return {record.id: record for record in (msgspec.json.decode(it, type=Memory) for it in data)}


def messages(files: Files) -> set[str]:
    """Return the ids of all messages that conversations and chunks hold."""
    found = set()
    for path, data in files.items():
        if path.startswith(f"{STORES[Conversation]}/"):
            talk = msgspec.json.decode(data, type=Conversation)
            found |= {message.id for message in talk.recent_messages}
        elif path.startswith(f"{STORES[Chunk]}/"):
            found |= {message.id for message in msgspec.json.decode(data, type=Chunk).messages}
    return found


class Seen(NamedTuple):
    """What a memory folder shows: what is recalled, by id, and what `check` says of which ids."""

    recalled: dict[str, str]
    findings: list[tuple[str, str]]
    problems: int


def seen(files: Files) -> Seen:
    """Look at a memory as everybody does."""
    with folder(files) as root:
        project = Project(root, read_only=True, now=LATER)
        found = {item.id: item.content for item in project.list().items}
        says = [
            (finding.code, Path(finding.path).stem.removesuffix(".json"))
            for finding in project.check().findings
        ]
        return Seen(found, says, len(project.problems))


def settled(files: Files, identifier: str, *, other: bool) -> Seen:
    """Settle a contradiction, and look again."""
    with folder(files) as root:
        Project(root, actor="Cy", now=LATER).settle(identifier, other=other)
        return seen(files_of(root))


def line(pair: Pair) -> str:
    """Return a pair's line of the table."""
    left = merged(pair)
    looked = seen(left.files)
    names = {id_: name for name, id_ in ground(pair.ground)._asdict().items() if name != "files"}
    known = {id_: memory.content for id_, memory in memories(ground(pair.ground).files).items()}
    recalled = sorted(
        names.get(id_, "new") + ("" if text == known.get(id_) else f" ({text.split()[0]}'s)")
        for id_, text in looked.recalled.items()
    )
    says = sorted({f"{code} {names.get(id_, '')}".strip() for code, id_ in looked.findings})
    asked = sorted(names.get(Path(path).stem, Path(path).parent.name) for path in left.asked)
    told = [f"recall: {', '.join(recalled)}", *([f"check: {', '.join(says)}"] if says else [])]
    return "; ".join([*told, *([f"git asks: {', '.join(asked)}"] if asked else [])])


def table() -> Iterator[str]:
    """Yield the lines of the table; a pair that gives the same with both exchanged has one."""
    known: dict[Pair, str] = {}
    for pair in pairs():
        found = line(pair)
        exchanged = pair._replace(ada=pair.bo, bo=pair.ada)
        if known.get(exchanged) != _exchanged(found):
            known[pair] = found
            yield f"{pair} -> {found}"


def _exchanged(found: str) -> str:
    return found.replace("Ada", "\0").replace("Bo", "Ada").replace("\0", "Bo")


def is_removed(memory: Memory | None) -> bool:
    """Tell whether a memory is gone, or on its way."""
    return memory is None or memory.state is State.SOFT_DELETED


def main() -> None:
    """Write the table anew."""
    with mock.patch("os.fsync"):
        lines = list(table())
    TABLE.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    sys.stdout.write(f"{len(lines)} lines, {len(pairs())} pairs\n")


if __name__ == "__main__":
    main()
