"""A reader that met a commit on its way reads the right files, however many commits follow."""

import os
from unittest import mock

from pmem.storage.files import durable
from pmem.storage.files.lock import LOCK, writer_lock
from pmem.values.records import STORES, Memory, dump
from tests.storage.folders import json_files, memory

IDS = [f"0{number}bcdefg-0000000{number}" for number in range(4)]


def commit(root: str, *contents: tuple[str, str]) -> None:
    """Make a commit real without moving its files to their places. Hold the writers' lock."""
    changes = [
        durable.FileChange(f"{STORES[Memory]}/{name}.json", dump(memory(name, content)))
        for name, content in contents
    ]
    with mock.patch("pmem.storage.files.durable.finish"):
        durable.apply(root, os.path.join(root, "local"), changes)


def test_a_reader_takes_no_file_of_a_later_commit_for_one_of_the_commit_that_it_met(
    root: str,
) -> None:
    local = os.path.join(root, "local")
    os.mkdir(local)
    with writer_lock(os.path.join(local, LOCK), 0.0):
        commit(root, (IDS[0], "first"), (IDS[1], "second"))
        reader = json_files(root)
        assert reader.read(Memory, IDS[0]).content == "first"
        durable.finish(root, local)
        commit(root, (IDS[2], "third"), (IDS[3], "fourth"))
        assert [reader.read(Memory, name).content for name in IDS[:2]] == ["first", "second"]
        assert {record.content for record in reader.scan(Memory)} >= {"first", "second"}
        durable.finish(root, local)
    found = json_files(root).scan(Memory)
    assert {record.content for record in found} == {"first", "second", "third", "fourth"}
