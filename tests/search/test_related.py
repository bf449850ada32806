"""Linked memories in searches and contexts: who brings whom along, and where it shows."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.context.parts import Context, ShownItem
from pmem.core.filters import Filter
from pmem.core.retrieval.factors import Weights
from pmem.core.retrieval.ranked import total
from pmem.memory.changes import RecordsRequest, RestoreRequest
from pmem.memory.requests import EditRequest, LinkRequest, PinRequest, UnlinkRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.search.evaluation import EvaluationRequest
from pmem.search.golden import Golden, Question
from pmem.search.hits import SearchKind
from pmem.search.search import SearchResult
from pmem.values.ids import short
from pmem.values.records import Source
from tests.asking import ask
from tests.conftest import NOW
from tests.search.test_search import find, in_memory, keep, later

Ids = dict[str, str]


@pytest.fixture
def linked() -> tuple[Workspace, Ids]:
    """Return a memory in which the parser brings its grammar and its tests along."""
    workspace = in_memory(**{"context.standing": ""})
    contents = {
        "parser": "The parser is written in C",
        "grammar": "The grammar has forty rules",
        "tests": "Its tests take a minute",
        "owner": "Mira owns all of it",
        "fast": "The parser is fast",
    }
    ids = {name: keep(workspace, content).id for name, content in contents.items()}
    link(workspace, ids["parser"], ids["grammar"], "depends_on", strength=0.9)
    link(workspace, ids["tests"], ids["parser"], strength=0.8)
    link(workspace, ids["parser"], ids["owner"], strength=0.3)
    return workspace, ids


def link(
    workspace: Workspace, start: str, end: str, type_: str = "related_to", **more: Any
) -> None:
    ask(workspace, table.LINK, LinkRequest(start=start, end=end, type=type_, **more))


def edit(workspace: Workspace, reference: str, **fields: Any) -> None:
    ask(workspace, table.EDIT, EditRequest(reference=reference, **fields))


def pin(workspace: Workspace, *references: str) -> None:
    for reference in references:
        ask(workspace, table.PIN, PinRequest(reference=reference))


def pin_rules(workspace: Workspace, count: int) -> None:
    """Pin memories that leave the others no room in the stable block."""
    rules = (keep(workspace, f"Rule {number} " + "words " * 10) for number in range(count))
    pin(workspace, *(rule.id for rule in rules))


def brought(found: SearchResult, ids: Ids) -> list[str]:
    names = {id_: name for name, id_ in ids.items()}
    return [names[related.id] for related in found.related]


@pytest.mark.row("S2.11.7")
def test_a_hit_brings_its_two_strongest_links_along_in_either_direction(
    linked: tuple[Workspace, Ids],
) -> None:
    workspace, ids = linked
    found = find(workspace, "parser written in C")
    assert brought(found, ids) == ["grammar", "tests"]
    first = found.related[0]
    assert (first.short, first.text) == (short(ids["grammar"]), "The grammar has forty rules")
    assert (first.type, first.strength, first.via) == ("depends_on", 0.9, ids["parser"])


def test_the_request_says_how_many_come_along(
    linked: tuple[Workspace, Ids],
) -> None:
    workspace, ids = linked
    assert brought(find(workspace, "parser", related=9), ids) == ["grammar", "tests", "owner"]
    assert brought(find(workspace, "parser", related=1), ids) == ["grammar"]
    without = find(workspace, "parser", related=0)
    assert without.related == ()
    assert without.hits == find(workspace, "parser").hits


def test_what_is_a_hit_itself_is_not_brought_along(linked: tuple[Workspace, Ids]) -> None:
    workspace, ids = linked
    assert brought(find(workspace, "parser grammar"), ids) == ["tests", "owner"]
    narrow = find(workspace, "parser grammar rules", top_k=1)
    assert [hit.id for hit in narrow.hits] == [ids["grammar"]]
    assert brought(narrow, ids) == ["parser"]


def test_a_better_hit_brings_its_memories_first(linked: tuple[Workspace, Ids]) -> None:
    workspace, ids = linked
    link(workspace, ids["fast"], ids["owner"], strength=0.9)
    found = find(workspace, "parser fast", related=1)
    assert brought(found, ids) == ["owner"]
    assert found.related[0].via == ids["fast"]


def test_what_is_removed_brings_nothing_and_is_not_brought(linked: tuple[Workspace, Ids]) -> None:
    workspace, ids = linked
    ask(workspace, table.REMOVE, RecordsRequest(references=(ids["grammar"],)))
    assert brought(find(workspace, "parser"), ids) == ["tests", "owner"]
    ask(workspace, table.RESTORE, RestoreRequest(references=(ids["grammar"],)))
    assert brought(find(workspace, "parser"), ids) == ["grammar", "tests"]
    ask(workspace, table.REMOVE, RecordsRequest(references=(ids["parser"],)))
    assert find(workspace, "parser", wanted=Filter(states=())).related == ()
    assert find(workspace, "parser").related == ()


def test_what_does_not_hold_or_pass_the_filters_is_not_brought_along() -> None:
    workspace = in_memory()
    parser = keep(workspace, "The parser is in C", tags=("code",), importance=0.9)
    old = keep(workspace, "Lunch is at noon", tags=("code",), valid_from=NOW + timedelta(days=2))
    other = keep(workspace, "Dinner is at six")
    for id_ in (old.id, other.id):
        link(workspace, parser.id, id_)
    assert [one.id for one in find(workspace, "parser").related] == [other.id]
    assert find(workspace, "parser", wanted=Filter(tags=("code",))).related == ()
    both = find(later(workspace, days=3), "parser").related
    assert [one.id for one in both] == [old.id, other.id]


def test_what_is_not_brought_along_is_not_counted_as_removed(
    linked: tuple[Workspace, Ids],
) -> None:
    workspace, _ = linked
    found = find(workspace, "written", wanted=Filter(types=("fact",), importance_max=0.4))
    assert found.removed == {"importance_max": 1}
    narrow = Filter(created_before=NOW + timedelta(days=1), subject="code")
    assert find(workspace, "written", wanted=narrow).removed == {"subject": 1}
    edit(workspace, find(workspace, "written").hits[0].id, subject="code")
    found = find(workspace, "written", wanted=narrow)
    assert (len(found.hits), found.related, found.removed) == (1, (), {})


def test_only_memories_bring_memories_along(linked: tuple[Workspace, Ids]) -> None:
    workspace, _ = linked
    found = find(
        workspace, "parser", kinds=(SearchKind.MESSAGE, SearchKind.EPISODE, SearchKind.CHUNK)
    )
    assert (found.hits, found.related) == ((), ())


def test_time_travel_follows_the_links_of_that_time() -> None:
    workspace = in_memory()
    parser, lunch = keep(workspace, "The parser is in C"), keep(workspace, "Lunch is at noon")
    link(later(workspace, days=2), parser.id, lunch.id, "x", strength=0.4)
    edit(later(workspace, days=3), lunch.id, content="Lunch is at one")
    ask(later(workspace, days=4), table.UNLINK, UnlinkRequest(start=parser.id, end=lunch.id))
    texts = [
        [one.text for one in find(later(workspace, days=9), "parser", at=at).related]
        for at in (NOW + timedelta(days=day, hours=1) for day in (1, 2, 3, 4))
    ]
    assert texts == [[], ["Lunch is at noon"], ["Lunch is at one"], []]


@pytest.mark.row("S1.2.7")
def test_a_link_settles_a_tie_and_shows_in_the_prior_alone() -> None:
    workspace = in_memory()
    ids = [
        keep(workspace, text, source=Source(conversation=f"talk {place}")).id
        for place, text in enumerate(("parser alpha", "parser omega", "lunch"))
    ]
    assert [hit.id for hit in find(workspace, "parser").hits] == ids[:2]
    plain = {hit.id: hit.signals for hit in find(workspace, "parser").hits}
    link(workspace, ids[2], ids[1], strength=0.8)
    found = find(later(workspace), "parser").hits
    assert [hit.id for hit in found] == [ids[1], ids[0]]
    assert found[0].signals == {**plain[ids[1]], "prior": found[0].signals["prior"]}
    assert found[1].signals == plain[ids[0]]
    assert all(hit.score == total(hit.signals) for hit in found)
    assert 0 < found[0].score - found[1].score < 0.003


@pytest.mark.parametrize("type_", ["contradicts", "supersedes", "updates"])
def test_a_link_that_speaks_against_a_memory_brings_it_along_without_a_boost(type_: str) -> None:
    workspace = in_memory()
    ids = [keep(workspace, text).id for text in ("parser one", "lunch")]
    before = find(workspace, "parser").hits[0]
    link(workspace, ids[1], ids[0], type_, strength=1.0)
    after = find(workspace, "parser")
    assert (after.hits[0].score, after.hits[0].signals) == (before.score, before.signals)
    assert [(one.id, one.type) for one in after.related] == [(ids[1], type_)]


def test_the_weighted_sum_brings_along_too(linked: tuple[Workspace, Ids]) -> None:
    workspace, ids = linked
    found = find(workspace, "parser written", weights=Weights())
    assert brought(found, ids) == ["grammar", "tests"]


def context(workspace: Workspace, query: str | None, budget: int, **fields: Any) -> Context:
    return ask(workspace, table.CONTEXT, ContextRequest(query=query, budget=budget, **fields))


def recalled(built: Context) -> list[ShownItem]:
    parts = [part.items for part in built.sections if part.name == "recalled"]
    return [item for items in parts for item in items if item.why != "pinned"]


@pytest.fixture
def crowded(linked: tuple[Workspace, Ids]) -> tuple[Workspace, Ids]:
    """Return the same among pinned memories that leave the others no room in the stable block."""
    workspace, ids = linked
    pin_rules(workspace, 40)
    return workspace, ids


def test_a_context_shows_what_a_memory_brings_along_right_behind_it(
    crowded: tuple[Workspace, Ids],
) -> None:
    workspace, ids = crowded
    shown = recalled(context(workspace, "parser written in C", 2000))
    order = [ids[name] for name in ("parser", "grammar", "tests", "fast")]
    assert [item.id for item in shown] == order
    assert [item.label for item in shown[1:3]] == ["(related) ", "(related) "]
    named = recalled(context(workspace, "parser written in C", 2000, ids=True))
    assert [item.label for item in named[1:3]] == [
        f"[{short(ids[name])}] (related to {short(ids['parser'])}) "
        for name in ("grammar", "tests")
    ]
    assert shown[0].score is not None
    assert shown[1].score == pytest.approx(0.9 * shown[0].score)


def test_a_context_without_related_memories_is_possible(crowded: tuple[Workspace, Ids]) -> None:
    workspace, ids = crowded
    shown = recalled(context(workspace, "parser written in C", 2000, related=0))
    assert [item.id for item in shown] == [ids["parser"], ids["fast"]]


def test_what_the_stable_block_shows_is_not_shown_again(linked: tuple[Workspace, Ids]) -> None:
    workspace, ids = linked
    pin(workspace, *ids.values())
    built = context(workspace, "parser written in C", 2000)
    assert recalled(built) == []
    assert "(related" not in built.text
    assert sorted(item.id for part in built.sections for item in part.items) == sorted(ids.values())


def test_a_hit_in_the_stable_block_still_brings_its_memories_along(
    crowded: tuple[Workspace, Ids],
) -> None:
    workspace, ids = crowded
    edit(workspace, ids["parser"], importance=1.0)
    pin(workspace, ids["parser"])
    shown = recalled(context(workspace, "parser written in C", 2000))
    assert [item.id for item in shown] == [ids[name] for name in ("grammar", "tests", "fast")]


def test_what_answers_too_badly_may_still_be_brought_along() -> None:
    workspace = in_memory(ranking="weighted_sum", relevance_threshold=0.5)
    good = keep(workspace, "parser speed parser speed")
    text = "one parser among " + "very many other words indeed " * 20
    weak = keep(workspace, text, source=Source(conversation="another talk"))
    pin_rules(workspace, 40)
    before = context(workspace, "parser speed", 2000)
    assert [item.id for item in recalled(before)] == [good.id]
    assert weak.id in {item.id for item in before.omitted}
    link(workspace, weak.id, good.id)
    after = context(workspace, "parser speed", 2000)
    assert [item.id for item in recalled(after)] == [good.id, weak.id]
    assert weak.id not in {item.id for item in after.omitted}


def test_what_is_brought_along_is_no_hit_of_a_context(crowded: tuple[Workspace, Ids]) -> None:
    workspace, ids = crowded
    request = ContextRequest(query="parser written in C", budget=800, hits=True)
    hits = ask(workspace, table.CONTEXT, request).retrieval_results
    assert [hit.id for hit in hits] == [ids["parser"], ids["fast"]]


def test_an_evaluation_does_not_count_what_is_brought_along(
    crowded: tuple[Workspace, Ids],
) -> None:
    workspace, ids = crowded
    edit(workspace, ids["grammar"], content="The grammar " + "has rules " * 30)
    question = Question(query="parser written in C", must=(ids["grammar"],), budget=800)
    request = EvaluationRequest(golden=Golden((question,), "set.jsonl"))
    (judged,) = ask(workspace, table.EVALUATE, request).questions
    assert judged.ranks == {ids["grammar"]: None}
    assert not judged.covered
    shown = recalled(context(workspace, question.query, 2000))
    assert ids["grammar"] in {item.id for item in shown}


@given(budget=st.integers(1, 1500))
def test_a_context_never_shows_a_related_memory_without_what_brought_it(budget: int) -> None:
    workspace = in_memory()
    ids = [keep(workspace, f"parser {n} " + "words " * (n * 7 % 40)).id for n in range(4)]
    along = [keep(workspace, f"other {n}").id for n in range(4)]
    for number, id_ in enumerate(along):
        link(workspace, ids[number], id_, strength=0.5 + number / 10)
    pin_rules(workspace, 12)
    built = context(workspace, "parser", budget)
    assert built.tokens <= budget
    assert built == context(workspace, "parser", budget)
    shown = {item.id for part in built.sections for item in part.items}
    for item in recalled(built):
        if "(related" in item.label:
            assert ids[along.index(item.id)] in shown
