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


def codes(part: str, *words: str) -> list[str]:
    found = pmem("check", part, *words, "--json").data[part]["findings"]
    return [finding["code"] for finding in found]


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
    (finding,) = pmem("check", "records", "--json").data["records"]["findings"]
    assert (finding["code"], finding["severity"]) == ("twice", "warning")
    assert (pmem("check", "records").code, pmem("check", "records", "--strict").code) == (0, 1)
    assert pmem("check", "setup", "--fix").code == 0
    assert codes("records") == []
