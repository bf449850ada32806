"""Pairs that are left alone are mentioned once in 14 days, whatever happens to that list."""

from typing import Any
from unittest import mock

import pytest

from pmem.errors import StorageRefused
from pmem.operations import table
from pmem.storage.local.state import LocalState
from pmem.upkeep.consolidation import UpkeepRequest
from tests.asking import ask
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY, memory
from tests.storage.folders import opened
from tests.upkeep.test_consolidation import SAME, fill


def told(root: str, days: float = 0.0, **options: Any) -> int:
    report = ask(opened(root, now=NOW + days * DAY), table.CONSOLIDATE, UpkeepRequest(**options))
    return len(report.notices)


@pytest.fixture
def alike(root: str) -> str:
    """Return a folder with two memories that say the same in two categories."""
    fill(
        root, [memory(1, SAME[0], pinned=True), memory(2, SAME[1], category="project", pinned=True)]
    )
    return root


@pytest.mark.row("S1.4.4")
def test_a_pair_that_is_left_alone_is_mentioned_once_in_14_days(alike: str) -> None:
    assert told(alike, dry_run=True) == 1
    assert told(alike) == 1
    assert told(alike, dry_run=True) == 0
    assert told(alike, 13.9) == 0
    assert told(alike, 14) == 1
    assert told(alike, 14.1) == 0


def test_a_list_that_cannot_be_written_is_harmless(alike: str) -> None:
    assert told(alike) == 1
    with mock.patch.object(LocalState, "writing", side_effect=StorageRefused("the disk is full")):
        assert told(alike, 15) == 1
    assert told(alike, 15) == 1
    assert told(alike, 15) == 0
