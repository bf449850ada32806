"""Undo after a merge of two clones: it refuses, or takes back what this clone did and no more."""

import os
import re
import shutil
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.errors import BuiltOn, InvalidValue, NotFound
from pmem.project.workspace import Workspace
from pmem.vcs import gitsetup
from tests.cli.shell import pmem
from tests.core.threeway.sides import Json
from tests.effort import examples
from tests.git import world
from tests.git.branches import ROOT, commit, git, ok
from tests.git.world import World

_BOOKS: Final = ("history", "updated_at", "tokens", "access")
_OURS: Final = sorted(world.DEEDS.keys() - {"unknown", "purge", "say"})
_THEIRS: Final = sorted(world.DEEDS.keys() - {"unknown"})
Records = dict[str, Json | None]


@pytest.fixture
def clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders: a repository with a memory, and a place for a clone of it."""
    first = tmp_path / "first"
    first.mkdir()
    monkeypatch.chdir(first)
    world.begin()
    return first, tmp_path / "second"


def _values(record: Json | None) -> Json:
    return {name: value for name, value in (record or {}).items() if name not in _BOOKS}


def _changed(before: Records, after: Records) -> set[tuple[str, str]]:
    """Return which fields of which records differ; of what is new all."""
    found = set()
    for path in before.keys() | after.keys():
        old, new = _values(before.get(path)), _values(after.get(path))
        found |= {
            (path, name) for name in old.keys() | new.keys() if old.get(name) != new.get(name)
        }
    return found


class Side(NamedTuple):
    """What is there after a side's work, and the records that it changed, also back again."""

    records: Records
    paths: frozenset[str]


def _work(one: World, deeds: list[str], name: str) -> Side:
    """Do things in the current folder, and commit them."""
    before, paths = world.records(), set()
    for deed in deeds:
        one.does(deed)
        after = world.records()
        paths |= {path for path, _ in _changed(before, after)}
        before = after
    world.commit(name)
    return Side(world.records(), frozenset(paths))


def _merged(clones: tuple[Path, Path], seed: int, ours: list[str], theirs: list[str]) -> Any:
    """Let two clones go their own ways, and merge the second one into the first."""
    first, second = clones
    one = World(seed)
    world.fill(one, 4)
    base = world.records()
    (first / ROOT / "local" / "commands.log").unlink(missing_ok=True)
    shutil.rmtree(second, ignore_errors=True)
    ok("clone", "--quiet", str(first), str(second))
    sides = {}
    turns = [(first, ours), (second, theirs)]
    for folder, deeds in turns if one.dice.random() < 0.5 else turns[::-1]:
        os.chdir(folder)
        if folder == second:
            assert gitsetup.install(Workspace(os.path.abspath(ROOT), environment=os.environ)).ok
        sides[folder] = _work(one, deeds, folder.name)
    os.chdir(first)
    ok("fetch", "--quiet", str(second), "HEAD")
    done = git("merge", "--quiet", "--no-edit", "FETCH_HEAD")
    return one, base, sides[first], sides[second], done.code == 0


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from(_OURS), min_size=1, max_size=3),
    st.lists(st.sampled_from(_THEIRS), min_size=1, max_size=4),
)
def test_after_a_merge_undo_refuses_or_leaves_what_the_other_branch_wrote(
    clones: tuple[Path, Path], seed: int, ours: list[str], theirs: list[str]
) -> None:
    with world.tamed():
        one, base, our_side, their_side, is_clean = _merged(clones, seed, ours, theirs)
        if not is_clean:
            git("merge", "--abort")
            return
        others = _changed(base, their_side.records)
        merged = world.records()
        while True:
            before = world.records()
            try:
                with one.project() as project:
                    project.undo()
            except NotFound:
                break
            except (BuiltOn, InvalidValue):
                assert world.records() == before
                return
            touched = _changed(merged, world.records())
            assert touched & others == set()
            assert {path for path, _ in touched} <= our_side.paths
        _check_all_is_taken_back(base, our_side.records, their_side.records)


def _check_all_is_taken_back(base: Records, our_side: Records, their_side: Records) -> None:
    """See that what is left is what was before, and what the other clone made of it."""
    now, others = world.records(), _changed(base, their_side)
    for path, name in _changed(base, our_side):
        if path in base and (path, name) not in others and name != "purge_at":
            assert _values(now[path]).get(name) == _values(base[path]).get(name)
        elif path not in base:
            assert _values(now[path])["state"] == "soft_deleted"


@pytest.fixture
def begun(clones: tuple[Path, Path]) -> tuple[Path, Path, str]:
    """Two clones that know one memory, and its id."""
    first, second = clones
    memory = Project(ROOT).add("We use MySQL", tags=("db",)).memory.id
    world.commit("base")
    ok("clone", "--quiet", str(first), str(second))
    os.chdir(second)
    assert gitsetup.install(Workspace(os.path.abspath(ROOT), environment=os.environ)).ok
    return first, second, memory


def _merge_second(first: Path, second: Path) -> Project:
    os.chdir(second)
    world.commit("second")
    os.chdir(first)
    world.commit("first")
    ok("fetch", "--quiet", str(second), "HEAD")
    ok("merge", "--quiet", "--no-edit", "FETCH_HEAD")
    return Project(ROOT)


def test_what_only_this_clone_changed_is_taken_back_after_a_merge(
    begun: tuple[Path, Path, str],
) -> None:
    first, second, memory = begun
    Project(ROOT).add("The other clone's own")
    os.chdir(first)
    Project(ROOT).edit(memory, "We use PostgreSQL")
    project = _merge_second(first, second)
    project.undo()
    assert {one.content for one in project.list().items} == {
        "We use MySQL",
        "The other clone's own",
    }


def _links(project: Project, memory: str) -> list[str]:
    (found,) = [one for one in project.list().items if one.id == memory]
    return [link.target for link in found.relationships]


def test_what_was_taken_away_again_comes_back_after_a_merge_one_command_at_a_time(
    begun: tuple[Path, Path, str],
) -> None:
    """The record is as it was before both commands; the last one is still there to be undone."""
    first, second, memory = begun
    Project(ROOT).add("The other clone's own")
    os.chdir(first)
    other = Project(ROOT).add("We use Kafka").memory.id
    Project(ROOT).link(memory, other)
    Project(ROOT).unlink(memory, other)
    project = _merge_second(first, second)
    project.undo()
    assert _links(project, memory) == [other]
    project.undo()
    assert _links(project, memory) == []


BUILT_ON: Final[dict[str, Any]] = {
    "superseded here, removed there": (
        lambda project, memory: project.supersede(memory, "We use PostgreSQL"),
        lambda project, memory: project.remove(memory),
    ),
    "tags that both added": (
        lambda project, memory: project.edit(memory, add_tags=("ours",)),
        lambda project, memory: project.edit(memory, add_tags=("theirs",)),
    ),
    "pinned by both": (lambda project, memory: project.pin(memory),) * 2,
    "removed here, reworded there": (
        lambda project, memory: project.remove(memory),
        lambda project, memory: project.edit(memory, "We use PostgreSQL"),
    ),
}


@pytest.mark.parametrize("is_ours_first", [True, False])
@pytest.mark.parametrize("case", BUILT_ON)
def test_what_another_clone_changed_as_well_is_left_as_the_merge_made_it(
    begun: tuple[Path, Path, str], case: str, is_ours_first: bool
) -> None:
    first, second, memory = begun
    turns = list(zip((first, second), BUILT_ON[case], strict=True))
    for folder, deed in turns if is_ours_first else turns[::-1]:
        os.chdir(folder)
        deed(Project(ROOT), memory)
    project = _merge_second(first, second)
    before = world.records()
    with pytest.raises(BuiltOn):
        project.undo()
    assert world.records() == before


@pytest.mark.parametrize("words", [("edit", "{}", "Bo owns the winch"), ("add", "Sails are red")])
def test_a_command_of_another_branch_is_not_said_to_be_merged(
    begun: tuple[Path, Path, str], words: tuple[str, ...]
) -> None:
    ok("checkout", "--quiet", "-b", "other")
    assert pmem(*(word.format(begun[2]) for word in words)).code == 0
    commit("other")
    ok("checkout", "--quiet", "-")
    before = world.records()
    done = pmem("undo")
    assert (done.code, world.records()) == (9, before)
    assert re.search("does not have `edit` of|is not here, so `add` of", done.said)
    assert "another branch may have it" in done.said
    ok("checkout", "--quiet", "other")
    assert pmem("undo").code == 0
