"""Requests of all kinds, odd ones too, answered by the index as by a look at every file."""

import msgspec
import pytest

from pmem.operations import table
from pmem.search.hits import SearchKind, SearchRequest
from tests.asking import ask
from tests.storage.folders import opened
from tests.storage.searches import ANY, AT, REQUESTS, Scratch, asks, check, fill, indexed
from tests.work import STALLED, seconds


@pytest.fixture
def filled(root: str) -> str:
    """Return a folder of everything with an index of it, all old."""
    return fill(root)


@pytest.mark.parametrize("request_", REQUESTS, ids=[request.query for request in REQUESTS])
def test_raising_the_threshold_only_takes_hits_away(filled: str, request_: SearchRequest) -> None:
    before = None
    for threshold in (0.0, 0.05, 0.2, 0.5, 0.9, 1.0):
        request = msgspec.structs.replace(request_, threshold=threshold, top_k=99)
        found = indexed(opened(filled, now=AT), request) if request.at is None else None
        found = found or Scratch(filled).find(request)[0]
        ids = [hit.id for hit in found.hits]
        assert all(hit.score >= threshold for hit in found.hits)
        assert found.total == len(ids)
        left = [hit.id for hit in before or found.hits if hit.score >= threshold]
        assert ids == left
        before = found.hits


@pytest.mark.some(7)
@pytest.mark.parametrize("request_", REQUESTS, ids=[request.query for request in REQUESTS])
def test_fewer_hits_are_the_first_of_more(filled: str, request_: SearchRequest) -> None:
    workspace = opened(filled, now=AT)
    more = ask(workspace, table.SEARCH, msgspec.structs.replace(request_, top_k=99))
    for top_k in (1, 2, 5):
        found = ask(workspace, table.SEARCH, msgspec.structs.replace(request_, top_k=top_k))
        assert found.hits == more.hits[:top_k]
        assert found.total == more.total


@pytest.mark.parametrize(
    "query",
    ["", " \t\n", "the of and", '"', '"""', ".*(a|b)+$[", "\0", "\ud800\udfff", "%_'; drop", "*"],
)
def test_odd_queries_find_nothing_and_say_so(filled: str, query: str) -> None:
    check(filled, SearchRequest(query=query, wanted=ANY))
    assert [text for text in asks(filled, query) if "drop" not in query] == []


@pytest.mark.parametrize("query", ["apple\0river", "apple \ud800 river", "apple.*|river$"])
def test_odd_characters_do_not_hide_the_words_beside_them(filled: str, query: str) -> None:
    check(filled, SearchRequest(query=query))
    assert asks(filled, query, kinds=(SearchKind.MEMORY,))[0] == "The apple tree by the river"


@pytest.mark.long
@pytest.mark.parametrize(
    "query", ["apple " * 17_000, '"' * 100_000, ".*(a|b)+$[" * 10_000, "猫" * 33_000]
)
def test_a_pasted_text_is_answered_quickly(filled: str, query: str) -> None:
    request = SearchRequest(query=query)
    indexed(opened(filled, now=AT), request)
    assert seconds(lambda: indexed(opened(filled, now=AT), request)) < STALLED


def test_an_empty_memory_is_searched_without_harm(root: str) -> None:
    check(root)
    assert asks(root, "apple") == []
