"""Messages that two branches moved into chunks of their own are told, and kept once again."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from pmem import Project
from tests.conftest import NOW
from tests.faults.console import pmem
from tests.git import world
from tests.git.branches import ROOT, ok
from tests.git.test_continued import said


@pytest.fixture
def repository() -> Iterator[None]:
    with world.tamed():
        world.begin()
        yield


def codes(*command: str) -> list[str]:
    return [finding["code"] for finding in pmem(*command, "--json").data["findings"]]


def test_messages_that_a_merge_keeps_twice_are_told(repository: None) -> None:
    usual = {"max_recent_messages": 4, "chunk_size": 2, "max_chunks": 8}
    Project(ROOT, actor="kim", now=NOW + timedelta(hours=0)).start_conversation("Modules")
    said(ROOT, "base", 4, 0, **usual)
    world.commit("base")
    for name, hour in (("one", 1), ("two", 2)):
        ok("checkout", "--quiet", "-b", name, "main")
        said(ROOT, name, 3, hour, **usual)
        world.commit(name)
    ok("merge", "--quiet", "--no-edit", "one")
    (finding,) = pmem("check", "--json").data["findings"]
    assert (finding["code"], finding["severity"]) == ("twice", "warning")
    assert (pmem("check").code, pmem("check", "--strict").code) == (0, 1)
    assert pmem("doctor", "--fix").code == 0
    assert codes("check") == []
