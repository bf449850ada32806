"""Questions in many scripts and spellings, with traps: what must come first, and what must not."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from pmem.memory.requests import AddAllRequest, AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchHit, SearchRequest
from pmem.search.search import SearchResult
from pmem.values.records import Conversation, Message, Role
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

_LINES: Final = Path(__file__).with_name("languages.jsonl").read_text(encoding="utf-8").split("\n")
_ROWS: Final = [json.loads(line) for line in _LINES if line]
MEMORIES: Final[dict[str, str]] = {row["key"]: row["text"] for row in _ROWS if "key" in row}


def said(number: int, speaker: str, content: str, at: datetime) -> Message:
    return Message(
        id=f"mjwaid1q-m{number:07d}",
        role=Role.USER,
        speaker=speaker,
        content=content,
        created_at=at,
    )


def on(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, 12, tzinfo=UTC)


TALKS: Final = (
    (
        ("Nina", "I adopted a hamster last Friday", on(2023, 5, 10)),
        ("Oleg", "Wonderful! What is it called?", on(2023, 5, 10)),
        ("Nina", "Biscuit, because of the colour.", on(2023, 5, 10)),
    ),
    (
        ("Nina", "The concert by the lake was loud", on(2023, 8, 2)),
        ("Oleg", "I broke my wrist on the ice", on(2024, 1, 15)),
        ("Nina", "I broke my favourite cup", on(2024, 1, 15)),
    ),
    (
        ("小明", "我昨天买了一辆自行车", on(2024, 6, 3)),
        ("小红", "什么颜色的?", on(2024, 6, 3)),
        ("小明", "蓝色的,很轻", on(2024, 6, 3)),
    ),
    (
        ("Zoë", "The naïve approach failed in production", on(2022, 2, 1)),
        ("Oleg", "The concert in the church was quiet", on(2022, 12, 24)),
    ),
)


class Case(NamedTuple):
    """A question: the start of what must be found, among how many, and what must not be first."""

    query: str
    wanted: str
    within: int = 1
    trap: str = ""


def known(key: str) -> str:
    return MEMORIES.get(key, key)


CASES: Final = tuple(
    Case(row["query"], row["wanted"], row.get("within", 1), row.get("trap", ""))
    for row in _ROWS
    if "query" in row
)


@pytest.fixture(scope="module")
def store() -> Workspace:
    """Return everything above in one store."""
    workspace = Workspace("nowhere", actor="tester", now=NOW, backend=InMemory())
    ask(
        workspace,
        table.ADD_ALL,
        AddAllRequest(
            memories=tuple(AddRequest(content=text, force=True) for text in MEMORIES.values())
        ),
    )
    with workspace.transaction():
        number = 0
        for place, talk in enumerate(TALKS):
            messages = []
            for speaker, text, at in talk:
                number += 1
                messages.append(said(number, speaker, text, at))
            workspace.conversations.put(
                Conversation(
                    id=f"mjwaid1q-c{place:07d}",
                    started_at=talk[0][2],
                    updated_at=talk[-1][2],
                    turns=len(messages),
                    recent_messages=tuple(messages),
                )
            )
    return workspace


def find(workspace: Workspace, query: str, **fields: object) -> SearchResult:
    return ask(workspace, table.SEARCH, SearchRequest(query=query, **fields))  # type: ignore[arg-type]


def texts(hits: tuple[SearchHit, ...]) -> list[str]:
    return [hit.text for hit in hits]


@pytest.mark.some(30)
@pytest.mark.parametrize("case", CASES, ids=[case.query for case in CASES])
def test_a_question_finds_its_memory_and_no_trap(store: Workspace, case: Case) -> None:
    found = texts(find(store, case.query).hits)
    assert any(text.startswith(known(case.wanted)) for text in found[: case.within]), found[:5]
    if case.trap:
        assert not found[0].startswith(known(case.trap))
