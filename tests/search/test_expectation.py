"""Why a search did not recall what it should have: the stage that dropped it."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.conversation.conversations import SayRequest, StartRequest
from pmem.core.filters import Filter
from pmem.errors import Ambiguous
from pmem.memory.changes import RecordsRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.hits import Expectation, SearchKind, SearchRequest, Stage
from pmem.search.search import SearchResult
from pmem.values.records import Memory, MemoryType, State
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

WORDS = ("parser", "webhook", "refund", "gear")


def in_memory(**overrides: Any) -> Workspace:
    return Workspace("nowhere", actor="tester", now=NOW, backend=InMemory(), overrides=overrides)


def keep(workspace: Workspace, content: str, **fields: Any) -> Memory:
    return ask(workspace, table.ADD, AddRequest(content=content, force=True, **fields)).memory


def find(workspace: Workspace, query: str, **fields: Any) -> SearchResult:
    return ask(workspace, table.SEARCH, SearchRequest(query=query, **fields))


def expect(workspace: Workspace, query: str, reference: str, **fields: Any) -> Expectation:
    found = find(workspace, query, expect=reference, **fields).expected
    assert found is not None
    return found


@pytest.fixture
def parsers() -> Workspace:
    workspace = in_memory()
    for number in range(4):
        keep(workspace, f"The parser {'parser ' * number}is case {number}")
    return workspace


def named(workspace: Workspace, text: str) -> str:
    return next(one.id for one in workspace.memories.find() if text in one.content)


def test_what_is_among_the_hits_is_found_at_its_rank(parsers: Workspace) -> None:
    hits = find(parsers, "parser").hits
    for rank, hit in enumerate(hits, start=1):
        found = expect(parsers, "parser", hit.short)
        assert (found.stage, found.is_met, found.id) == (Stage.FOUND, True, hit.id)
        assert found.hit is not None
        assert (found.hit.rank, found.hit.score, found.hit.signals) == (
            rank, hit.score, hit.signals
        )  # fmt: skip
        assert found.matches == 4


def test_what_is_beyond_the_hits_has_its_rank_beside_the_last_hit(parsers: Workspace) -> None:
    everything = find(parsers, "parser").hits
    found = expect(parsers, "parser", everything[3].id, top_k=2)
    assert found.stage is Stage.CAP
    assert found.hit is not None
    assert found.last is not None
    assert (found.hit.rank, found.matches, found.last.rank) == (4, 4, 2)
    assert found.hit.score == everything[3].score <= everything[1].score == found.last.score
    assert found.hit.signals == everything[3].signals
    assert "rank 4 of 4, beyond the 2" in found.reason


def test_what_scores_less_than_the_threshold_has_its_score(parsers: Workspace) -> None:
    everything = find(parsers, "parser").hits
    between = (everything[0].score + everything[-1].score) / 2
    found = expect(parsers, "parser", everything[-1].id, threshold=between)
    assert (found.stage, found.hit and found.hit.rank) == (Stage.THRESHOLD, 4)


def test_what_nothing_of_the_query_is_in_does_not_match(parsers: Workspace) -> None:
    other = keep(parsers, "Lunch is at noon").id
    assert expect(parsers, "parser", other).stage is Stage.WORDS
    assert "no word that counts" in expect(parsers, "the of", other).reason


def test_what_has_no_such_id_is_missing(parsers: Workspace) -> None:
    found = expect(parsers, "parser", "zzzzzzzz")
    assert (found.stage, found.id, found.is_met) == (Stage.MISSING, None, False)


def test_a_reference_that_fits_several_is_an_error_as_everywhere(parsers: Workspace) -> None:
    start = parsers.memories.ids()[0][:4]
    with pytest.raises(Ambiguous):
        expect(parsers, "parser", start)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        (Filter(types=("decision",)), "type"),
        (Filter(tags=("gone",)), "tag"),
        (Filter(importance_min=0.99), "importance-min"),
        (Filter(path="src/other.py"), "path"),
    ],
)
def test_a_filter_that_takes_it_away_is_named(
    parsers: Workspace, wanted: Filter, name: str
) -> None:
    found = expect(parsers, "parser", named(parsers, "case 0"), wanted=wanted)
    assert found.stage is Stage.FILTER
    assert name in found.reason


def test_a_kind_that_was_not_searched_is_named(parsers: Workspace) -> None:
    found = expect(parsers, "parser", named(parsers, "case 0"), kinds=(SearchKind.MESSAGE,))
    assert (found.stage, "memory" in found.reason) == (Stage.KIND, True)


def test_a_state_out_of_recall_is_named_with_the_option_that_finds_it(parsers: Workspace) -> None:
    gone = named(parsers, "case 0")
    ask(parsers, table.REMOVE, RecordsRequest(references=(gone,)))
    found = expect(parsers, "parser", gone)
    assert found.stage is Stage.STATE
    assert "--state soft_deleted" in found.reason
    met = expect(parsers, "parser", gone, wanted=Filter(states=(State.SOFT_DELETED,)))
    assert met.is_met


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"valid_from": NOW + timedelta(days=3)}, "only from 2026-11-24"),
        ({"valid_from": NOW - timedelta(days=9), "valid_until": NOW - timedelta(days=3)}, "until"),
    ],
)
def test_what_does_not_hold_now_has_its_time(
    parsers: Workspace, fields: dict[str, Any], said: str
) -> None:
    bounded = keep(parsers, "The parser is closed in winter", **fields).id
    found = expect(parsers, "parser", bounded)
    assert found.stage is Stage.VALIDITY
    assert said in found.reason


def test_a_message_is_expected_like_a_memory_and_a_conversation_is_never_found() -> None:
    workspace = in_memory(max_recent_messages=4, chunk_size=2)
    talk = ask(workspace, table.START, StartRequest(title="Live")).id
    said = [
        ask(workspace, table.SAY, SayRequest(content=f"Message {n} on the parser")).message.id
        for n in range(6)
    ]
    for message in said:
        assert expect(workspace, "parser", message).is_met
        assert expect(workspace, "gear", message).stage is Stage.WORDS
        away = expect(workspace, "parser", message, wanted=Filter(role="assistant"))
        assert (away.stage, "role" in away.reason) == (Stage.FILTER, True)
    assert expect(workspace, "parser", talk).stage is Stage.KIND


def test_to_ask_what_became_of_something_is_no_recall(root: str) -> None:
    workspace = Workspace(root, actor="tester", now=NOW)
    one = keep(workspace, "The parser is written in C").id
    assert expect(workspace, "parser", one).is_met
    assert workspace.own.access.known() == {}
    find(workspace, "parser")
    assert workspace.own.access.known()[one].count == 1


def test_the_library_answers_the_same(root: str) -> None:
    from pmem import Project

    project = Project(root, actor="ada", now=NOW)
    one = project.add("The parser is written in C").memory.id
    asked = (project.search(query, expect=one).expected for query in ("parser", "lunch"))
    assert [msgspec.to_builtins(found)["stage"] for found in asked] == ["found", "words"]


@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), max_size=6),
    types=st.lists(st.sampled_from([MemoryType.FACT, MemoryType.DECISION]), min_size=6, max_size=6),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    top_k=st.integers(1, 4),
    threshold=st.sampled_from([0.0, 0.3, 0.7]),
    wanted=st.sampled_from([Filter(), Filter(types=("decision",))]),
)
def test_a_stage_is_told_of_everything_that_is_kept_and_it_is_the_right_one(
    texts: list[list[str]],
    types: list[MemoryType],
    query: list[str],
    top_k: int,
    threshold: float,
    wanted: Filter,
) -> None:
    workspace = in_memory()
    kept = [
        keep(workspace, " ".join(["It", *words]), type=type_)
        for words, type_ in zip(texts, types, strict=False)
    ]
    asked: dict[str, Any] = {"wanted": wanted, "threshold": threshold}
    shown = [hit.id for hit in find(workspace, " ".join(query), top_k=top_k, **asked).hits]
    all_good = [hit.id for hit in find(workspace, " ".join(query), top_k=99, **asked).hits]
    ranked = find(workspace, " ".join(query), top_k=99, wanted=wanted).hits
    for memory in kept:
        found = expect(workspace, " ".join(query), memory.id, top_k=top_k, **asked)
        assert found.is_met == (memory.id in shown)
        assert (found.stage is Stage.CAP) == (memory.id in all_good and memory.id not in shown)
        below = memory.id in {hit.id for hit in ranked} and memory.id not in all_good
        assert (found.stage is Stage.THRESHOLD) == below
        assert (found.stage is Stage.FILTER) == (bool(wanted.types) and memory.type != "decision")
        rank = {hit.id: n for n, hit in enumerate(ranked, start=1)}.get(memory.id)
        assert (found.hit and found.hit.rank) == rank
