"""The same search three ways: from the index, and from scratch with either scorer."""

import os
from datetime import timedelta
from typing import Any, Final
from unittest import mock

from pmem.core.filters import Filter
from pmem.core.retrieval.evidence import bm25_scores
from pmem.core.retrieval.factors import Weights
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchKind, SearchRequest
from pmem.search.search import SearchResult
from pmem.storage.backend import pool_of
from pmem.values.records import Chunk, Conversation, Message, Relationship, Role, State, dump
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.folders import memory, opened, path_of, write

WORDS: Final = ("apple", "river", "stone", "猫咪", "Python", "café", "cloud")
TEXTS: Final = (
    "The apple tree by the river",
    "A stone fell into the river yesterday",
    "我养了一只猫咪 הגיבויים",
    "Python parses the cloud of 3 apples",
    "A “stone river” at the café",
    "Ann ate an apple",
)
ANY: Final = Filter(states=())
REQUESTS: Final = (
    SearchRequest(query=" ".join(WORDS), wanted=ANY, top_k=50),
    SearchRequest(query="apple river", top_k=2),
    SearchRequest(query="What has Ann eaten?", kinds=(SearchKind.MESSAGE,)),
    SearchRequest(query='"stone river"', wanted=ANY),
    SearchRequest(query="猫", top_k=50),
    SearchRequest(query="לגיבוי", wanted=ANY),
    SearchRequest(query="riverside clouded Pythonist Äpples", wanted=ANY, top_k=50),
    SearchRequest(query="river stone", wanted=Filter(states=(State.SOFT_DELETED,))),
    SearchRequest(query="river apple", threshold=0.4),
    SearchRequest(query="apple", wanted=Filter(tags=("fruit",)), top_k=9),
    SearchRequest(query="river", top_k=1, related=9),
    SearchRequest(query="python cloud", at=NOW + timedelta(minutes=3)),
    SearchRequest(query="stone", at=NOW + timedelta(days=9)),
    SearchRequest(query="apple stone café", weights=Weights(), top_k=7),
    SearchRequest(query="when did the stone fall?", wanted=Filter(role="user")),
    SearchRequest(query="river", wanted=Filter(importance_min=0.5), kinds=(SearchKind.MEMORY,)),
    SearchRequest(query="apples in November 2026", wanted=Filter(speaker="Ann")),
    SearchRequest(query="the of", wanted=ANY),
    SearchRequest(query="apple", wanted=Filter(created_after=NOW + timedelta(minutes=2))),
)


def indexed(workspace: Workspace, request: SearchRequest) -> SearchResult:
    """Search in the index, and nowhere else."""
    with mock.patch("pmem.storage.jsonfiles.pool_of", side_effect=AssertionError("no index")):
        return ask(workspace, table.SEARCH, request)


class Scratch:
    """A memory folder searched without its index, by our formula and by rank-bm25."""

    def __init__(self, root: str) -> None:
        self.workspace = Workspace(root, now=AT, read_only=True)
        self._pool = pool_of(self.workspace.backend.scan)

    def find(self, request: SearchRequest) -> tuple[SearchResult, SearchResult]:
        """Return our answer, and that of the reference."""
        reference = self._find(request)
        scorer = mock.patch.object(self._pool, "_scorer", bm25_scores)
        with scorer, mock.patch("pmem.core.retrieval.pool.okapi_scores", bm25_scores):
            return self._find(request), reference

    def _find(self, request: SearchRequest) -> SearchResult:
        pool = mock.patch("pmem.storage.jsonfiles.pool_of", return_value=self._pool)
        with pool:
            return ask(self.workspace, table.SEARCH, request)


EVERYTHING: Final = SearchRequest(query=" ".join(TEXTS), wanted=ANY, top_k=99)

AT: Final = NOW + timedelta(minutes=20)
"""When searches are made."""


def check(root: str, *requests: SearchRequest, index: bool = True) -> None:
    """Check that every way gives the same answer to each request."""
    scratch = Scratch(root)
    for request in requests or REQUESTS:
        workspace = opened(root, now=AT)
        found = indexed(workspace, request) if index else ask(workspace, table.SEARCH, request)
        ours, reference = scratch.find(request)
        assert_alike(found, ours)
        assert_alike(found, reference)
        told = sorted(scratch.workspace.problems, key=str)
        assert request.at is not None or told == sorted(workspace.problems, key=str)


def assert_alike(found: SearchResult, other: SearchResult) -> None:
    """Check that two answers are the same, to the last bit and in every order."""
    assert found == other
    assert repr(found) == repr(other)


def message(identifier: str, content: str, *, speaker: str | None = None) -> Message:
    return Message(id=identifier, role=Role.USER, content=content, speaker=speaker, created_at=NOW)


def conversation(identifier: str, *messages: Message) -> Conversation:
    return Conversation(
        id=identifier,
        started_at=NOW,
        updated_at=NOW,
        turns=len(messages),
        recent_messages=messages,
    )


def put_memory(root: str, number: int, content: str, **fields: object) -> str:
    """Write a memory as an editor would; return its path."""
    record = memory(f"mjwaid1q-{number:08d}", content, **fields)
    path = path_of(root, record.id)
    write(path, dump(record))
    return path


def link_to(number: int, strength: float, type_: str = "related_to") -> Relationship:
    """Return a link to the memory that `put_memory` makes of a number."""
    return Relationship(target=f"mjwaid1q-{number:08d}", type=type_, strength=strength)


def put(root: str, record: Any) -> str:
    path = path_of(root, record.id, type(record))
    write(path, dump(record))
    return path


def age(root: str) -> None:
    """Make every file old, so that only its stamp tells whether it has changed."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".json"):
                os.utime(os.path.join(folder, name), ns=(1, 1_600_000_000_123_456_789))


def asks(root: str, query: str, **fields: Any) -> list[str]:
    """Return the texts that are found with the help of the index."""
    request = SearchRequest(query=query, **fields)
    return [hit.text for hit in indexed(opened(root, now=AT), request).hits]


def chunk(identifier: str, *messages: Any, number: int = 1) -> Chunk:
    return Chunk(
        id=identifier,
        conversation="mjwaid1q-c0000001",
        number=number,
        summary="The apple by the river",
        created_at=NOW,
        messages=messages,
    )


def fill(root: str) -> str:
    """Make memories, a conversation, a chunk, and an index of them, all old; return the folder."""
    for number, text in enumerate(TEXTS):
        links = (link_to((number * 5 + 1) % 7, 0.3 + number / 10),) if number != 2 else ()
        tags = ("fruit",) if number % 2 else ()
        put_memory(root, number, text, tags=tags, relationships=links)
    said = [message(f"m-{n:08d}", text, speaker="Ann") for n, text in enumerate(TEXTS)]
    put(root, conversation("mjwaid1q-c0000001", *said[3:]))
    put(root, chunk("mjwaid1q-k0000001", *said[:3]))
    age(root)
    indexed(opened(root, now=AT), EVERYTHING)
    return root
