"""Every deed on one branch beside every deed on another: nothing that both knew leaves recall.

What must hold is asked of the records themselves; `pairs.txt` is what there is to read of it, and
`python -m tests.git.pairs` writes it anew.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final
from unittest import mock

import pytest

from pmem.core import rawjson
from pmem.core.lifecycle.states import successors_of
from pmem.core.retention import json_value
from pmem.core.threeway.history import open_conflicts
from pmem.values.records import Memory, State
from tests.core.threeway.sides import differ, mentions
from tests.effort import IS_THOROUGH
from tests.faults.console import pmem
from tests.git import pairs
from tests.git.branches import ROOT, begin, git, ok
from tests.git.pairs import ELSEWHERE, TABLE, UNTIL, WHEN, Deed, Files, Pair

_SHARE: Final = 1 if IS_THOROUGH else 4
"""Every so manieth pair is looked at."""
_DECIDED: Final = frozenset({"conflict", "overruled"})
"""What `settle` decides."""
_TOLD: Final = _DECIDED | {"dangling", "rivals", "same_subject"}
"""What `check` may say of two branches that meant different things; nothing is damaged by it."""
_FIELDS: Final = ("content", "type", "importance", "tags", "subject", "category", "pinned")


@pytest.fixture(autouse=True)
def _no_disk() -> Iterator[None]:
    with mock.patch("os.fsync"):
        yield


def drawn() -> list[Pair]:
    return pairs.pairs()[::_SHARE]


def holds(known: dict[str, Memory], identifier: str) -> bool:
    """Tell whether a memory is recalled, or one that stands in its place."""
    waiting, met = [identifier], set()
    while waiting:
        memory = known.get(waiting.pop())
        if memory is None or memory.id in met:
            continue
        if memory.state is State.ACTIVE:
            return True
        met.add(memory.id)
        if memory.state in (State.SUPERSEDED, State.MERGED):
            waiting += successors_of(memory)
    return False


class Sides:
    """The memories of a pair: at first, with Ada, with Bo, and merged."""

    def __init__(self, pair: Pair) -> None:
        ada, bo = (pairs.done(pair.ground, *by) for by in ((pair.ada, "Ada"), (pair.bo, "Bo")))
        files = (pairs.ground(pair.ground).files, ada, bo, pairs.merged(pair).files)
        self.base, self.ada, self.bo, self.result = map(pairs.memories, files)
        self.messages = [pairs.messages(each) for each in files]


def faults(pair: Pair) -> Iterator[str]:
    """Yield what is wrong with the records of a merge."""
    sides = Sides(pair)
    for id_ in sides.base:
        if holds(sides.ada, id_) and holds(sides.bo, id_) and not holds(sides.result, id_):
            yield f"{id_} left recall, and nobody removed it"
    for who, side, other in (("Ada", sides.ada, sides.bo), ("Bo", sides.bo, sides.ada)):
        deed = pair.ada if who == "Ada" else pair.bo
        for memory in side.values():
            if memory != sides.base.get(memory.id):
                yield from _of_side(memory, who, deed, sides, other.get(memory.id))
    if not sides.messages[1] | sides.messages[2] <= sides.messages[3]:
        yield "messages are lost"


def _of_side(
    memory: Memory, who: str, deed: Deed, sides: Sides, other: Memory | None
) -> Iterator[str]:
    """Yield what is lost of a memory that somebody changed or added."""
    base, result = sides.base.get(memory.id), sides.result.get(memory.id)
    if result is None:
        yield f"{memory.id} is gone, which {who} changed"
        return
    kept = mentions(json_value(result.history))
    if base is None or base.content != memory.content:
        is_open = "content" in open_conflicts(json_value(result.history))
        stands = result.content == memory.content and result.state is State.ACTIVE
        if memory.state is State.ACTIVE and not stands and not is_open:
            yield f"what {who} wrote left recall"
    for field in _FIELDS if base is not None else ():
        value, now = (json_value(getattr(each, field)) for each in (memory, result))
        if value == json_value(getattr(base, field)):
            continue
        alone = other is None or getattr(other, field) == getattr(base, field)
        stands = now == value or (field == "tags" and set(value) <= set(now))
        if not stands and (alone or differ(value) not in kept):
            yield f"{field} of {who} is lost"
    if deed.name.startswith("until") and memory.valid_until == UNTIL[who]:
        closed = other is not None and other.valid_until is not None
        stands = result.valid_until == UNTIL[who]
        if not stands and not (closed and differ(json_value(UNTIL[who])) in kept):
            yield f"the end that {who} gave is lost"


def unnamed(pair: Pair) -> Iterator[str]:
    """Yield the ids of memories that two branches contradict each other about."""
    sides = Sides(pair)
    for id_, base in sides.base.items():
        ada, bo, result = (each.get(id_) for each in (sides.ada, sides.bo, sides.result))
        if ada is None or bo is None or result is None:
            continue
        left = {each.state for each in (ada, bo)} - {base.state, State.ACTIVE}
        if left and base.state is result.state is State.ACTIVE:
            yield id_
        if len({ada.content, bo.content, base.content}) == 3 and result.state is State.ACTIVE:
            yield id_


@pytest.mark.long
def test_nothing_leaves_recall_that_nobody_removed_after_having_seen_it() -> None:
    wrong = {str(pair): found for pair in drawn() if (found := list(faults(pair)))}
    assert wrong == {}


@pytest.mark.long
def test_nothing_leaves_recall_however_much_was_done_before_the_merge() -> None:
    base, ids = pairs.several()
    known = pairs.memories(base)
    for seed in range(1200 if IS_THOROUGH else 60):
        dice = Random(seed)
        ada, bo = (pairs.worked(base, ids, who, dice) for who in WHEN)
        once = pairs.merge(base, ada, bo)
        assert pairs.merge(base, bo, ada) == once
        sides, result = [pairs.memories(each) for each in (ada, bo)], pairs.memories(once.files)
        for id_ in known:
            assert not all(holds(side, id_) for side in sides) or holds(result, id_), (seed, id_)
        for side in sides:
            for memory in side.values():
                is_new = memory.id not in known or known[memory.id].content != memory.content
                if is_new and memory.state is State.ACTIVE:
                    assert holds(result, memory.id), (seed, memory.id)
        assert "circle" not in {code for code, _ in pairs.seen(once.files).findings}


@pytest.mark.long
def test_it_makes_no_difference_which_branch_is_merged_into_which_nor_how_often() -> None:
    for pair in drawn():
        base = pairs.ground(pair.ground).files
        ada, bo = pairs.done(pair.ground, pair.ada, "Ada"), pairs.done(pair.ground, pair.bo, "Bo")
        once = pairs.merged(pair)
        assert pairs.merge(base, bo, ada) == once, pair
        for side in (ada, bo):
            assert pairs.merge(side, once.files, side).files == once.files, pair
            assert pairs.merge(side, side, once.files).files == once.files, pair
        for path, data in once.files.items():
            if path.endswith(".json"):
                assert rawjson.load(data)["id"] == Path(path).stem


@pytest.mark.long
def test_what_two_branches_contradict_each_other_about_is_named_and_can_be_settled() -> None:
    for pair in drawn():
        files = pairs.merged(pair).files
        seen = pairs.seen(files)
        assert seen.problems == 0
        assert {code for code, _ in seen.findings} <= _TOLD, pair
        named = {id_ for code, id_ in seen.findings if code in _DECIDED}
        assert set(unnamed(pair)) <= named, pair
        for id_ in named:
            _settle(files, id_, pair)


def _settle(files: Files, id_: str, pair: Pair) -> None:
    was_removed = ("overruled", id_) in pairs.seen(files).findings
    for other in (False, True):
        after = pairs.settled(files, id_, other=other)
        assert not {code for code, named in after.findings if named == id_} & _DECIDED, pair
        assert (id_ in after.recalled) == (not (other and was_removed)), pair


def test_the_table_tells_what_every_pair_leaves() -> None:
    known = dict(each.split(" -> ") for each in TABLE.read_text(encoding="utf-8").splitlines())
    every = pairs.pairs()
    assert {str(pair) for pair in every} >= known.keys()
    found = {str(pair): pairs.line(pair) for pair in drawn() if str(pair) in known}
    assert found == {pair: known[pair] for pair in found}
    assert len(found) > 100


def test_every_deed_is_somewhere_in_the_table() -> None:
    deeds = {deed.name for pair in pairs.pairs() for deed in (pair.ada, pair.bo)}
    assert deeds == {*pairs.ON_ONE, *ELSEWHERE}


@pytest.mark.some(4)
@pytest.mark.parametrize("number", range(120 if IS_THOROUGH else 12))
def test_git_itself_leaves_what_the_driver_leaves(number: int) -> None:
    every = pairs.pairs()
    pair = every[number * len(every) // (120 if IS_THOROUGH else 12)]
    begin()
    base = pairs.ground(pair.ground).files
    ok("checkout", "--quiet", "--orphan", "first")
    _commit(base, "base")
    for branch, who, deed in (("ada", "Ada", pair.ada), ("bo", "Bo", pair.bo)):
        ok("checkout", "--quiet", "--detach", "base")
        _commit(pairs.done(pair.ground, deed, who), branch)
    ok("checkout", "--quiet", "--detach", "ada")
    asks = git("merge", "--quiet", "--no-edit", "bo").code != 0
    wanted = pairs.merged(pair)
    assert asks == bool(wanted.asked)
    assert pairs.files_of(ROOT) == wanted.files
    if not asks:
        codes = {
            found["code"]
            for found in pmem("check", "merges", "--range", "base..", "--json").data["merges"][
                "findings"
            ]
        }
        assert codes <= {"overruled", "same_subject"}


def _commit(files: Files, branch: str) -> None:
    for path in pairs.files_of(ROOT).keys() - files.keys():
        Path(ROOT, path).unlink()
    for path, data in files.items():
        where = Path(ROOT, path)
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(data)
    ok("add", "--all", "--force", ROOT)
    ok("commit", "--quiet", "--allow-empty", "--message", branch)
    ok("branch", "--force", branch)
