"""What the commands for apps, agents and consent say, and what they never do unasked."""

import json
import os
import re
from typing import Any

import pytest

from tests.cli.shell import pmem


@pytest.fixture(autouse=True)
def _memory(root: str) -> None:
    """Work beside a memory."""


def data(*arguments: str, **given: Any) -> Any:
    done = pmem(*arguments, "--json", **given)
    assert done.code == 0, done.said
    return json.loads(done.out)["data"]


BOT = {"PMEM_AGENT": "bot"}


@pytest.mark.parametrize("line", ["app purge calendar", "app uninstall calendar --purge"])
def test_nothing_is_deleted_for_good_where_nobody_can_be_asked(line: str) -> None:
    pmem("app", "remember", "calendar", "The lift is broken.")
    done = pmem(*line.split())
    assert done.code == 2
    assert "for good, and nobody can be asked\nhint: give --yes" in done.said
    assert data("app", "list", "calendar")["total"] == 1
    assert pmem(*line.split(), "--yes").code == 0
    assert data("app", "list", "calendar")["total"] == 0


def test_an_app_that_is_uninstalled_without_its_memories_asks_nobody() -> None:
    pmem("app", "remember", "calendar", "The lift is broken.")
    assert pmem("app", "uninstall", "calendar").code == 0
