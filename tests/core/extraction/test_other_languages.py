"""Cues are English: in another language words that look like them state nothing and do no harm."""

from pathlib import Path
from typing import Final

import pytest

from pmem import Project
from pmem.core.extraction.facts import extract
from pmem.values.records import MemoryType, Message, Role
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

LINES: Final = (Path(__file__).parent / "other_languages.tsv").read_text("utf-8").split("\n")
EVERY = pytest.mark.parametrize("text", [line.partition("\t")[2] for line in LINES if line])


@EVERY
@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT])
def test_it_states_no_fact_and_no_decision(text: str, role: Role) -> None:
    assert not extract(Message(id="m-00000001", role=role, content=text, created_at=NOW))


@EVERY
def test_a_memory_of_it_is_a_plain_fact_that_waits_for_nothing_and_is_kept_as_it_is(
    text: str,
) -> None:
    added = Project("/nowhere", backend=InMemory(), actor="tester", now=NOW).add(text)
    assert (added.action, added.memory.content) == ("added", text)
    assert added.memory.type is MemoryType.FACT
    assert not added.lints
    assert not added.held
