"""A power cut at any moment loses no acknowledged write and leaves no file that cannot be read."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.files import durable
from tests.storage import powercut
from tests.storage.commands import (
    COMMANDS,
    add_one,
    add_several,
    edit_one,
    prepare,
    say_and_overflow,
)
from tests.storage.folders import Tree, copied, fixed_chance, opened, tree
from tests.storage.powercut import Recorder

Command = Callable[[Workspace], None]


def failures(folder: Path, command: Command, *, bare: bool = False) -> list[str]:
    """Run a command and check every state that a power cut during it, or after it, can leave.

    Returns:
        What went wrong, once each; empty for a sound design.
    """
    root = str(folder / "root")
    prepare(root)
    for part in ("local", "conversations", "conversation-chunks") if bare else ():
        shutil.rmtree(os.path.join(root, part))
    before = tree(root)
    with fixed_chance(), powercut.recorded(root) as log:
        command(opened(root))
    after = tree(root)
    assert before != after
    return sorted(set(_judged(folder, log, before, after)))


def _judged(folder: Path, log: Recorder, before: Tree, after: Tree) -> Iterator[str]:
    root = str(folder / "cut")
    for acknowledged, left in powercut.cuts(log):
        powercut.rebuilt(left, root)
        try:
            workspace = opened(root)
            for store in workspace.stores:
                list(store.find())
            found = {path: data for path, data in tree(root).items() if "/." not in path}
            if workspace.problems:
                yield "a file that cannot be read"
            elif acknowledged and found != after:
                yield "an acknowledged write is lost"
            elif found not in (before, after):
                yield "half of a commit"
        except PmemError as error:
            yield type(error).__name__
        shutil.rmtree(root)


@pytest.mark.some(2)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_a_power_cut_at_any_moment_does_no_harm(tmp_path: Path, command: Command) -> None:
    assert not failures(tmp_path, command)


@pytest.mark.long
@pytest.mark.parametrize("command", [COMMANDS[-1], add_several], ids=["import", "add"])
def test_folders_that_a_commit_makes_outlast_a_power_cut(tmp_path: Path, command: Command) -> None:
    """A fresh clone has no empty folders; making one is a change to sync, too."""
    assert not failures(tmp_path, command, bare=True)


@contextmanager
def without_sync(*, of_folders: bool) -> Iterator[None]:
    """Leave out fsync for files, or for folders."""
    sync = os.fsync

    def call(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode) != of_folders:
            sync(descriptor)

    with mock.patch.object(os, "fsync", call):
        yield


def unsynced(command: Command, *, folders: bool) -> Command:
    """Return a command whose files, or whose folders, are not synced."""

    def design(workspace: Workspace) -> None:
        with without_sync(of_folders=folders):
            command(workspace)

    return design


def acknowledged_before_sync(workspace: Workspace) -> None:
    """Answer first, and leave the syncs to a moment that may never come."""
    later: list[int] = []
    with mock.patch.object(os, "fsync", lambda descriptor: later.append(os.dup(descriptor))):
        add_several(workspace)
    for descriptor in later:
        os.close(descriptor)


def source_first(workspace: Workspace) -> None:
    """Take messages out of the conversation before the chunk that gets them is durable."""

    def apply(root: str, local: str, changes: list[durable.FileChange]) -> None:
        for change in sorted(changes, key=lambda change: change.path, reverse=True):
            assert change.data is not None
            durable.write_file(os.path.join(root, change.path), change.data)

    with mock.patch.object(durable, "apply", apply):
        say_and_overflow(workspace)


def in_place(workspace: Workspace) -> None:
    def write_file(path: str, data: bytes, scratch: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.write(descriptor, data)
        os.fsync(descriptor)
        os.close(descriptor)

    with mock.patch.object(durable, "write_file", write_file):
        edit_one(workspace)


def file_by_file(workspace: Workspace) -> None:
    def apply(root: str, local: str, changes: list[durable.FileChange]) -> None:
        for change in changes:
            if change.data is not None:
                durable.write_file(os.path.join(root, change.path), change.data)

    with mock.patch.object(durable, "apply", apply):
        add_several(workspace)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("design", "expected"),
    [
        (unsynced(edit_one, folders=False), "a file that cannot be read"),
        (unsynced(add_one, folders=True), "an acknowledged write is lost"),
        (unsynced(add_several, folders=True), "an acknowledged write is lost"),
        (unsynced(add_several, folders=False), "a file that cannot be read"),
        (in_place, "a file that cannot be read"),
        (file_by_file, "half of a commit"),
        (acknowledged_before_sync, "an acknowledged write is lost"),
        (source_first, "half of a commit"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_the_model_sees_what_is_wrong_with_bad_designs(
    tmp_path: Path, design: Command, expected: str
) -> None:
    found = failures(tmp_path, design)
    assert expected in found


def test_what_was_copied_is_what_the_model_starts_from(tmp_path: Path) -> None:
    root, again = str(tmp_path / "root"), str(tmp_path / "again")
    prepare(root)
    log = Recorder(root)
    (only,) = {frozenset(left.items()) for _, left in powercut.cuts(log)}
    powercut.rebuilt(dict(only), again)
    assert powercut.snapshot(root) == powercut.snapshot(again)
    assert tree(copied(root, str(tmp_path / "copy"))) == tree(again)
