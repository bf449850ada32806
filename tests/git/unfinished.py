"""Merges without the driver: many records on two branches, and what must be left of each."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from pmem.core.rawjson import NotJson, load
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES, Rule
from tests.core.threeway.sides import Dice, Json, changed, mentions, record, sides
from tests.faults.console import pmem
from tests.git.branches import ROOT, WAYS, begin, branches, data, git, ok, path_of

MARKED: Final = ("merge", "squash", "cherry-pick")
"""Ways after which the markers may be committed by somebody who does not look."""
STYLES: Final = ("merge", "diff3", "zdiff3")
BAD: Final = ("damaged", "markers", "unmerged", "newer_schema", "storage")


class Fate(NamedTuple):
    """A record's file, and its three versions; None where it is not there."""

    path: str
    store: str
    base: Json | None
    ours: Json | None
    theirs: Json | None

    @property
    def wanted(self) -> Json | None:
        """What merging the three gives."""
        return merged(self.base, self.ours, self.theirs, SHAPES[self.store]).result


def begin_without_driver() -> None:
    """Make a repository in the current folder as a fresh clone has it: attributes, no driver."""
    begin()
    ok("config", "--remove-section", "merge.pmem")


def drawn(seed: int, *, renames: bool = False) -> list[Fate]:
    """Draw records and what two branches made of them."""
    dice = Dice(seed)
    fates = []
    for number, (store, kind) in enumerate((store, kind) for store in SHAPES for kind in "bbogtpx"):
        base, one, two, _ = sides(seed * 100 + number, store)
        name = {"id": f"{kind}{seed}-{number:08d}"}
        base, one, two = ({**side, **name} for side in (base, one, two))
        chosen: dict[str, tuple[Json | None, Json | None, Json | None]] = {
            "b": (base, one, two),
            "o": (None, one, None),
            "g": (base, None, base),
            "t": (None, None, two),
            "p": (base, *dice.one_of((None, two), (one, None))),
            "x": (None, one, two),
        }
        fates.append(Fate(path_of(store, base), store, *chosen[kind]))
    if renames:
        fates += _twins(dice, seed)
    return fates


def _twins(dice: Dice, seed: int) -> Iterator[Fate]:
    for number, store in enumerate(SHAPES):
        base = {**record(dice, store), "id": f"r{seed}-{number:08d}"}
        edited = changed(dice, store, base, properly=True)
        born = {"id": f"s{seed}-{number:08d}", SHAPES[store].time: "2026-12-01T00:00:00Z"}
        twin = {**base, **born}
        if "history" in twin:
            twin["history"] = [{**twin["history"][0], "at": "2026-12-01T00:00:00Z"}]
        yield Fate(path_of(store, base), store, base, None, edited)
        yield Fate(path_of(store, twin), store, None, twin, None)


def bring_together(way: str, fates: list[Fate], style: str) -> None:
    """Make the branches and run what the way is, as far as git goes."""
    base = {fate.path: data(fate.base) for fate in fates if fate.base is not None}
    ours, theirs = (
        {
            fate.path: b"" if side is None else data(side)
            for fate, side in zip(fates, sides_, strict=True)
            if side is not None or fate.base is not None
        }
        for sides_ in ([fate.ours for fate in fates], [fate.theirs for fate in fates])
    )
    branches(base, ours=ours, theirs=theirs)
    if way == "revert":
        tip = ok("commit-tree", "theirs^{tree}", "-m", "theirs").strip()
        for name in ("base", "ours"):
            tip = ok("commit-tree", f"{name}^{{tree}}", "-p", tip, "-m", name).strip()
        ok("branch", "--force", "chain", tip)
    start, commands, _ = WAYS[way]
    ok("checkout", "--quiet", "--force", "--detach", start)
    for command in commands:
        git("-c", f"merge.conflictStyle={style}", *command)


def unmerged() -> set[str]:
    """Return the paths that git has as unmerged."""
    listed = ok("ls-files", "-u", "-z").split("\0")[:-1]
    return {line.partition("\t")[2] for line in listed}


def findings(*codes: str) -> set[str]:
    """Return the paths that `check` reports under some codes."""
    found = pmem("check", "records", "--json").data["records"]["findings"]
    return {os.path.relpath(each["path"]) for each in found if each["code"] in codes}


def finish(way: str) -> None:
    """Commit a repaired merge, and see that git has nothing left to do."""
    for command in WAYS[way][2]:
        done = git(*command)
        assert done.code == 0 or "nothing to commit" in done.out, (way, done.out, done.said)
    assert unmerged() == set()
    assert ok("status", "--porcelain", "--untracked-files=no") == ""


def clean_up() -> None:
    """Leave the repository as it began, whatever was under way."""
    for operation in ("rebase", "cherry-pick", "revert"):
        git(operation, "--quit")
    ok("reset", "--quiet", "--hard", "base")
    git("clean", "--quiet", "--force", "-d")


def values(fate: Fate) -> list[Json]:
    """Return the sides that a record has."""
    return [side for side in (fate.ours, fate.theirs) if side is not None]


def outcome(way: str, seed: int, *, marked: bool = False, renames: bool = False) -> Counter[str]:
    """Bring two branches together without the driver, repair, go on, and count."""
    fates = drawn(seed, renames=renames)
    bring_together(way, fates, STYLES[seed % 3])
    open_ = unmerged()
    if marked:
        ok("add", "--all", ROOT)
        git("commit", "--quiet", "--no-edit", "--message", "unseen")
        open_ = {path for path in open_ if b"<<<<<<< " in Path(path).read_bytes()}
    codes = ("markers",) if marked else ("unmerged",)
    found = Counter(conflicts=len(open_), seen=len(open_ & findings(*codes)))
    found["false alarms"] = len(findings(*codes) - open_)
    done = pmem("resolve", "--json")
    repaired = {os.path.relpath(each["path"]) for each in done.data["repaired"]}
    found["left"] = len(done.data["left"])
    found["finished"] = len(open_ & repaired)
    found += _counted(fates, open_, exact=not marked)
    found["bad after"] = len(findings(*BAD))
    if marked:
        ok("commit", "--quiet", "--all", "--allow-empty", "--message", "repaired")
    elif not done.data["left"]:
        finish(way)
    clean_up()
    return found


def _counted(fates: list[Fate], open_: set[str], *, exact: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    for fate in fates:
        here = _here(fate.path)
        kind = "conflicted" if fate.path in open_ else "clean"
        if here is NotImplemented:
            found["unparsable"] += 1
        elif here is None or fate.wanted is None:
            found["lost records"] += here is None and fate.wanted is not None
            found["resurrected"] += here is not None and fate.wanted is None
        elif kind == "clean" or not exact:
            found[f"{kind}, lost events"] += _lost_events(fate, here)
            found[f"{kind}, lost values"] += _lost_values(fate, here)
        else:
            found["wrong"] += Path(fate.path).read_bytes() != data(fate.wanted)
    return found


def _here(path: str) -> Any:
    """Return a record as it is; None where it is gone, NotImplemented where it is no JSON."""
    try:
        return load(Path(path).read_bytes())
    except FileNotFoundError:
        return None
    except NotJson:
        return NotImplemented


def _lost_events(fate: Fate, here: Json) -> int:
    kept = {json.dumps(event, sort_keys=True) for event in here.get("history", ())}
    told = {json.dumps(e, sort_keys=True) for side in values(fate) for e in side.get("history", ())}
    return len(told - kept)


def _lost_values(fate: Fate, here: Json) -> int:
    """Count the fields of which something is missing that merging the three would have kept."""
    shape, kept = SHAPES[fate.store], mentions(here)
    counted = (Rule.EVENTS, Rule.SUM, Rule.GREATEST, Rule.LATEST)
    left_out = {"access", *shape.derived, *(f for f, r in shape.rules.items() if r in counted)}
    wanted = fate.wanted or {}
    return sum(
        any(part[0] not in "[{" and part not in kept for part in mentions(wanted[field]))
        for field in wanted
        if field not in left_out and field != "history"
    )
