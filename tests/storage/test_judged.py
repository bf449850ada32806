"""Pairs that a person was told of: kept a while, never through a link, and no loss when lost."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest

from pmem.storage.local.seen_pairs import KEPT, LEFT, JudgedPairs
from pmem.storage.local.state import FILE, LocalState
from tests.conftest import NOW

PAIR = "mwqi0000-aaaaaaaa mwqi0000-bbbbbbbb 0.90"
OTHER = "mwqi0000-aaaaaaaa mwqi0000-cccccccc 0.90"


def judged(root: str, days: float = 0.0) -> JudgedPairs:
    """Return the pairs of a folder as they are some days after now."""
    return JudgedPairs(LocalState(root), NOW + timedelta(days=days))


def leave_behind(root: str, data: bytes) -> Path:
    """Put a file where older versions kept the pairs."""
    path = Path(root, "local", LEFT)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_pair_is_known_for_fourteen_days(root: str) -> None:
    judged(root).note([PAIR])
    judged(root, 1).note([OTHER])
    almost = JudgedPairs(LocalState(root), NOW + KEPT - timedelta(seconds=1))
    assert {PAIR, OTHER} == set(almost.known())
    assert [OTHER] == list(JudgedPairs(LocalState(root), NOW + KEPT).known())
    assert [] == list(judged(root, 15).known())


def test_what_is_no_longer_known_leaves_the_file(root: str) -> None:
    judged(root).note([PAIR])
    judged(root, 20).note([OTHER])
    assert PAIR.encode() not in Path(root, "local", FILE).read_bytes()
    assert OTHER.encode() in Path(root, "local", FILE).read_bytes()


def test_a_clock_that_was_far_ahead_keeps_nothing(root: str) -> None:
    judged(root, 4000).note([PAIR])
    assert [] == list(judged(root).known())


def test_what_an_older_version_left_is_known_and_taken_over_once(root: str) -> None:
    old = json.dumps({PAIR: "2026-11-20T10:00:00.000Z"}).encode()
    path = leave_behind(root, old)
    assert [PAIR] == list(judged(root).known())
    with mock.patch.object(LocalState, "remove_left"):
        judged(root).note([OTHER])
    assert path.read_bytes() == old
    assert {PAIR, OTHER} == set(judged(root).known())
    judged(root, 13).note([])
    assert not path.exists(), "the next write removes it"
    assert [OTHER] == list(judged(root, 13).known())


def test_nothing_is_lost_when_several_take_over_at_once(root: str) -> None:
    leave_behind(root, json.dumps({PAIR: "2026-11-20T10:00:00.000Z"}).encode())
    names = [f"{OTHER} {number}" for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: judged(root).note([name]), names))
    assert {PAIR, *names} == set(judged(root).known())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"[]",
        b'{"a": 5}',
        b'{"a": "2026-11-21T14:30:00"}',
        b'{"a": "now"}',
        b"[" * 9999,
    ],
)
def test_a_damaged_file_of_an_older_version_is_forgotten(root: str, data: bytes) -> None:
    leave_behind(root, data)
    assert [] == list(judged(root).known())
    judged(root).note([PAIR])
    assert [PAIR] == list(judged(root).known())


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_nothing_is_read_or_written_through_a_folder_that_is_a_link(
    root: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    judged(str(outside)).note([PAIR])
    kept = (outside / "local" / FILE).read_bytes()
    os.symlink(outside / "local", os.path.join(root, "local"))
    judged(root).note([OTHER])
    assert [] == list(judged(root).known())
    assert kept == (outside / "local" / FILE).read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_in_the_place_of_an_older_versions_file_is_not_followed(
    root: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_bytes(json.dumps({OTHER: "2026-11-20T10:00:00.000Z"}).encode())
    os.mkdir(os.path.join(root, "local"))
    os.symlink(outside, os.path.join(root, "local", LEFT))
    judged(root).note([PAIR])
    assert [PAIR] == list(judged(root).known())
    assert outside.exists()


def test_where_nothing_can_be_written_nothing_fails(root: str) -> None:
    Path(root, "local").write_bytes(b"a file")
    judged(root).note([PAIR])
    assert [] == list(judged(root).known())
