"""Pairs that a person was told of: kept a while, never through a link, and no loss when lost."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from pmem.storage.local.model_answers import KEPT, JudgedPairs
from pmem.storage.local.state import FILE, LocalState
from tests.conftest import NOW

PAIR = "mwqi0000-aaaaaaaa mwqi0000-bbbbbbbb 0.90"
OTHER = "mwqi0000-aaaaaaaa mwqi0000-cccccccc 0.90"


def judged(root: str, days: float = 0.0) -> JudgedPairs:
    """Return the pairs of a folder as they are some days after now."""
    return JudgedPairs(LocalState(root), NOW + timedelta(days=days))


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


def test_nothing_is_lost_when_several_note_at_once(root: str) -> None:
    judged(root).note([PAIR])
    names = [f"{OTHER} {number}" for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: judged(root).note([name]), names))
    assert {PAIR, *names} == set(judged(root).known())


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


def test_where_nothing_can_be_written_nothing_fails(root: str) -> None:
    Path(root, "local").write_bytes(b"a file")
    judged(root).note([PAIR])
    assert [] == list(judged(root).known())
