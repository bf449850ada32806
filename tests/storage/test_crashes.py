"""A commit that is cut off leaves all of it or nothing, and whoever comes next finishes it.

That every command bears every fault at every step is seen by `tests.faults.sweep`.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pmem.errors import StorageRefused
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.storage.files import durable
from tests.asking import ask
from tests.effort import IS_THOROUGH
from tests.storage import faults
from tests.storage.commands import COMMANDS, add_several, prepare, say_and_overflow
from tests.storage.folders import Tree, copied, fixed_chance, opened, strays, tree, values

Command = Callable[[Workspace], None]
MOST_STEPS = 200


class Bench:
    """A prepared folder, copied afresh for every run of a command."""

    def __init__(self, folder: Path) -> None:
        self.template = str(folder / "template")
        self._copy = str(folder / "copy")
        prepare(self.template)
        self.before = tree(self.template)

    def fresh(self, source: str = "") -> str:
        shutil.rmtree(self._copy, ignore_errors=True)
        return copied(source or self.template, self._copy)

    def after(self, command: Command) -> Tree:
        """Return the files as the undisturbed command leaves them."""
        root = self.fresh()
        run(root, command)
        return tree(root)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def run(root: str, command: Command) -> None:
    with fixed_chance():
        command(opened(root))


def steps_until_it_succeeds(once: Callable[[int], bool]) -> int:
    """Run with a fault at every call, or at some in a hurry, until no fault is met."""
    for step in range(1, MOST_STEPS, 1 if IS_THOROUGH else 3):
        if once(step):
            return step - 1
    raise AssertionError("the command never came to its end")


def check_whole(root: str, *allowed: Tree) -> None:
    """Check what is left: one of the states allowed, read and written without any repair."""
    reader = opened(root, read_only=True)
    seen = {record.id for store in reader.stores for record in store.find()}
    assert not reader.problems
    assert seen in [ids_in(state) for state in allowed]
    workspace = opened(root)
    assert not [record for store in workspace.stores for record in store.find() if not record.id]
    assert visible(tree(root)) in allowed
    added = ask(workspace, table.ADD, AddRequest(content="afterwards")).memory.id
    assert not strays(root)
    left = values(root)
    assert left.pop(added)["content"] == "afterwards"
    assert set(left) in [ids_in(state) for state in allowed]


def visible(found: Tree) -> Tree:
    return {path: data for path, data in found.items() if os.path.basename(path)[0] != "."}


def ids_in(state: Tree) -> set[str]:
    return {os.path.basename(path).removesuffix(".json") for path in state}


@pytest.mark.parametrize("number", faults.ERRORS, ids=os.strerror)
def test_a_disk_that_refuses_everything_from_a_step_on_is_harmless(
    bench: Bench, number: int
) -> None:
    """A full disk stays full: the clean-up fails as well."""
    after = bench.after(add_several)

    def once(step: int) -> bool:
        root = bench.fresh()
        fail = faults.failing(number)
        try:
            with faults.fault(step, fail, from_then_on=True) as counter:
                run(root, add_several)
        except StorageRefused:
            check_whole(root, bench.before, after)
            return False
        return counter.calls < step

    steps_until_it_succeeds(once)


@pytest.mark.long
@pytest.mark.parametrize("command", [add_several, say_and_overflow], ids=["add", "say"])
def test_recovery_killed_at_any_step_is_finished_by_the_next(
    bench: Bench, command: Command
) -> None:
    after = bench.after(command)
    stages = [copied(root, f"{root}-{n}") for n, root in enumerate(half_done(bench, command))]
    for source in (stages[0], stages[len(stages) // 2], stages[-1]):

        def once(step: int, source: str = source) -> bool:
            root = bench.fresh(source)

            def body() -> None:
                with faults.fault(step, faults.killed):
                    opened(root).memories.ids()

            done = faults.in_a_child(body) == 0
            check_whole(root, after)
            return done

        assert steps_until_it_succeeds(once) > 3
    for source in stages:
        shutil.rmtree(source)


def half_done(bench: Bench, command: Command) -> Iterator[str]:
    """Yield folders whose commit was made real and then rolled forward so far."""
    for step in range(1, MOST_STEPS):
        root = bench.fresh()

        def body(step: int = step, root: str = root) -> None:
            with faults.fault(step, faults.killed):
                run(root, command)

        if faults.in_a_child(body) == 0:
            return
        if durable.pending(os.path.join(root, "local")):
            yield root


@pytest.mark.long
def test_a_read_only_reader_sees_an_unfinished_commit_whole_and_leaves_it(bench: Bench) -> None:
    after = bench.after(say_and_overflow)
    seen = 0
    for root in half_done(bench, say_and_overflow):
        files = tree(root)
        reader = Workspace(root, read_only=True)
        found = {record.id: record for store in reader.stores for record in store.find()}
        assert ids_in(after) == set(found)
        (talk,) = reader.conversations.find()
        kept = [message for id_ in talk.chunks for message in reader.chunks.get(id_).messages]
        assert talk.turns == len(kept) + len(talk.recent_messages)
        assert files == tree(root)
        seen += 1
    assert seen >= 3


@pytest.mark.long
def test_a_reader_that_is_refused_the_recovery_sees_the_commit_whole(bench: Bench) -> None:
    after = bench.after(add_several)
    root = next(half_done(bench, add_several))
    with faults.fault(2, faults.failing(faults.ERRORS[0]), from_then_on=True, calls=("replace",)):
        assert (
            ids_in(after)
            >= set(opened(root).memories.ids())
            > ids_in(bench.before) & set(opened(root).memories.ids())
        )


def test_what_a_dead_writer_left_is_swept_by_the_next_write(bench: Bench) -> None:
    root = bench.fresh()
    with open(os.path.join(root, "local", ".tmp-1-00"), "wb"):
        pass
    os.mkdir(os.path.join(root, "local", ".tmp-2-00"))
    os.symlink(bench.template, os.path.join(root, "local", ".tmp-3-00"))
    check_whole(root, bench.before)
    assert bench.before == tree(bench.template)


def test_a_full_disk_that_takes_half_of_a_write_is_noticed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`os.write` may write less than it was given without an error."""
    root = bench.fresh()
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
        run(root, add_several)
    assert bench.after(add_several) == tree(bench.fresh()) | bench.after(add_several)
    assert len(values(root)) == len(bench.before) + 3


def test_a_commit_waits_for_no_folder_that_git_left_out(bench: Bench) -> None:
    """A fresh clone has no empty folders and no `local/`."""
    root = bench.fresh()
    for folder in ("conversations", "conversation-chunks", "local"):
        shutil.rmtree(os.path.join(root, folder))
    assert list(opened(root).conversations.find()) == []
    run(root, COMMANDS[-1])
    assert len(list(opened(root).conversations.find())) == 1
