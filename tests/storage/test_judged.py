"""Pairs that a person was told of: kept a while, never through a link, and no loss when lost."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from pmem.storage.local.judged import FILE, KEPT, Judged
from tests.conftest import NOW

PAIR = "mwqi0000-aaaaaaaa mwqi0000-bbbbbbbb 0.90"
OTHER = "mwqi0000-aaaaaaaa mwqi0000-cccccccc 0.90"


@pytest.fixture
def local(root: str) -> str:
    folder = os.path.join(root, "local")
    os.mkdir(folder)
    return folder


def test_a_pair_is_known_for_fourteen_days(local: str) -> None:
    Judged(local, NOW).note([PAIR])
    Judged(local, NOW + timedelta(days=1)).note([OTHER])
    assert {PAIR, OTHER} == set(Judged(local, NOW + KEPT - timedelta(seconds=1)).known())
    assert [OTHER] == list(Judged(local, NOW + KEPT).known())
    assert [] == list(Judged(local, NOW + timedelta(days=15)).known())


def test_what_is_no_longer_known_leaves_the_file(local: str) -> None:
    Judged(local, NOW).note([PAIR])
    Judged(local, NOW + timedelta(days=20)).note([OTHER])
    assert [OTHER] == list(json.loads(Path(local, FILE).read_bytes()))


def test_a_clock_that_was_far_ahead_keeps_nothing(local: str) -> None:
    Judged(local, NOW + timedelta(days=4000)).note([PAIR])
    assert [] == list(Judged(local, NOW).known())


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
def test_a_damaged_file_is_forgotten(local: str, data: bytes) -> None:
    Path(local, FILE).write_bytes(data)
    assert [] == list(Judged(local, NOW).known())
    Judged(local, NOW).note([PAIR])
    assert [PAIR] == list(Judged(local, NOW).known())


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_nothing_is_read_or_written_through_a_folder_that_is_a_link(
    root: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    Judged(str(outside), NOW).note([PAIR])
    kept = (outside / FILE).read_bytes()
    os.symlink(outside, os.path.join(root, "local"))
    judged = Judged(os.path.join(root, "local"), NOW)
    judged.note([OTHER])
    assert [] == list(judged.known())
    assert kept == (outside / FILE).read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_file_that_is_a_link_is_replaced(local: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_bytes(b"mine")
    os.symlink(outside, os.path.join(local, FILE))
    Judged(local, NOW).note([PAIR])
    assert [PAIR] == list(Judged(local, NOW).known())
    assert outside.read_bytes() == b"mine"


def test_a_draft_that_a_killed_process_left_stops_nobody(local: str) -> None:
    Path(local, f"{FILE}.{os.getpid()}").touch()
    Judged(local, NOW).note([PAIR])
    assert [PAIR] == list(Judged(local, NOW).known())


def test_where_nothing_can_be_written_nothing_fails(root: str) -> None:
    Path(root, "local").write_bytes(b"a file")
    Judged(os.path.join(root, "local"), NOW).note([PAIR])
    assert [] == list(Judged(os.path.join(root, "local"), NOW).known())
