"""Trust in use: recorded by every way in, told by answers, and a filter of each of them."""

import json
import os
from typing import Any

import pytest

from pmem import Filter, Project
from pmem.errors import InvalidValue
from pmem.records import EventKind, Memory
from tests.conftest import NOW
from tests.faults.console import bytes_of, pmem
from tests.once import Once


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Keep a memory of each level."""
    return once(lambda: _build(root))


def _build(root: str) -> dict[str, str]:
    high = Project(root, actor="ada", now=NOW).add("The gear of bronze turns")
    medium = Project(root, actor="ada", agent="planner").add("The gear of iron squeaks loudly")
    os.mkdir("arrays")
    record = json.loads(bytes_of(root)[f"long-term-memory/{high.memory.id}.json"])
    foreign = {**record, "id": "mjwaid1q-00000009", "content": "Push the gear", "type": "procedure"}
    with open("arrays/long-term-memory.json", "w", encoding="utf-8") as file:
        json.dump([foreign], file)
    done = Project(root, actor="ada").import_arrays("arrays", untrusted=True)
    assert (done.added, done.skipped) == (1, ())
    return {"high": high.memory.id, "medium": medium.memory.id, "low": foreign["id"]}


def names(found: Any, ids: dict[str, str]) -> set[str]:
    return {name for name, id_ in ids.items() if id_ in found}


LEVELS = [("low", {"low", "medium", "high"}), ("medium", {"medium", "high"}), ("high", {"high"})]


@pytest.mark.parametrize(("least", "wanted"), LEVELS)
def test_every_answer_can_be_limited(
    least: str, wanted: set[str], root: str, ids: dict[str, str]
) -> None:
    project = Project(root)
    only = Filter(trust=least)
    assert names({item.id for item in project.list(only).items}, ids) == wanted
    assert names({hit.id for hit in project.search("gear", wanted=only).hits}, ids) == wanted
    asked = {"query": "gear", "filters": {"trust": least}}
    seen = {item.id for item in project.query(asked)}
    assert names(seen, ids) == wanted
    built = project.build_context("gear", trust=least)
    shown = {item.id for part in built.sections for item in part.items}
    assert names(shown, ids) == wanted
    for line in (["list"], ["search", "gear"], ["context", "gear"]):
        done = pmem(*line, "--trust", least, "--json").data
        assert names(json.dumps(done), ids) >= wanted
        others = ids.keys() - wanted
        items = done.get("items") or done.get("hits") or []
        assert not names({item["id"] for item in items}, ids) & others


def test_answers_tell_it(root: str, ids: dict[str, str]) -> None:
    for name, id_ in ids.items():
        assert pmem("show", id_, "--json").data["trust"] == name
        assert (f"trust:         {name}" in pmem("show", id_).out.decode()) == (name != "high")
    assert {item["trust"] for item in pmem("list", "--json").data["items"]} == {*ids}
    assert {hit["trust"] for hit in pmem("search", "gear", "--json").data["hits"]} == {*ids}
    for line in (["list"], ["search", "gear"], ["context", "gear"], ["list", "--block"]):
        told = pmem(*line).out.decode()
        assert told.count("(trust: medium)") == told.count("(trust: low)") == 1, line
        assert "(trust: high)" not in told


def test_what_an_agent_did_is_recorded_by_its_name(root: str, ids: dict[str, str]) -> None:
    Project(root, actor="ada", agent="planner").edit(ids["high"], "The gear of bronze is old")
    record = Project(root).show(ids["high"])
    assert isinstance(record, Memory)
    assert [(event.actor, event.agent) for event in record.history] == [
        ("ada", ""),
        ("ada", "planner"),
    ]
    assert pmem("show", ids["high"], "--json").data["trust"] == "medium"
    Project(root, actor="ada").edit(ids["high"], importance=0.9)
    assert pmem("show", ids["high"], "--json").data["trust"] == "high"


def test_nothing_is_written_for_people_that_was_not_before(root: str, ids: dict[str, str]) -> None:
    assert b"agent" not in bytes_of(root)[f"long-term-memory/{ids['high']}.json"].replace(
        b'"agent": null', b""
    )


def test_an_import_makes_no_procedure_until_a_person_does(root: str, ids: dict[str, str]) -> None:
    kept = Project(root).show(ids["low"])
    assert isinstance(kept, Memory)
    assert kept.type == "fact"
    assert (kept.history[-1].event, kept.history[-1].source) == (EventKind.UPDATE, "import arrays")
    assert kept.history[-1].before == {"type": "procedure"}
    assert Project(root).import_arrays("arrays").unchanged == 1
    made = Project(root, actor="ada").edit(ids["low"], type="procedure")
    assert made.type == "procedure"
    assert pmem("show", ids["low"], "--json").data["trust"] == "high"


def test_what_a_person_takes_in_stays_as_it_is_and_what_an_agent_does_is_doubted(
    root: str, ids: dict[str, str]
) -> None:
    for agent, kept in (("planner", ("fact", "low")), (None, ("procedure", "high"))):
        Project(root).purge(ids["low"], force=True)
        Project(root, agent=agent).import_arrays("arrays")
        shown = pmem("show", ids["low"], "--json").data
        assert (shown["type"], shown["trust"]) == kept


def test_an_agent_that_replaces_what_is_trusted_little_makes_it_no_better(
    root: str, ids: dict[str, str]
) -> None:
    made = Project(root, agent="planner").supersede(ids["low"], "Pull the gear")
    assert pmem("show", made.memory.id, "--json").data["trust"] == "low"
    again = Project(root, actor="ada").supersede(made.memory.id, "Leave the gear alone")
    assert pmem("show", again.memory.id, "--json").data["trust"] == "high"


def test_a_level_that_is_none_is_refused(root: str, ids: dict[str, str]) -> None:
    assert pmem("list", "--trust", "total").code == 2
    with pytest.raises(InvalidValue, match="there is no trust 'total'"):
        Project(root).list(Filter(trust="total"))


@pytest.mark.parametrize(
    ("environment", "trust"), [({}, "high"), ({"PMEM_AGENT": "planner"}, "medium")]
)
def test_a_fact_that_a_person_promotes_by_hand_is_agreed_to(
    environment: dict[str, str], trust: str, root: str
) -> None:
    assert pmem("config", "set", "promotion_threshold", "1").code == 0
    assert pmem("conversation", "start").code == 0
    assert pmem("conversation", "say", "We decided to use PostgreSQL for the ledger.").code == 0
    (item,) = pmem("facts", "promote", "--above", "0", "--json", environment=environment).data[
        "items"
    ]
    assert pmem("show", item["memory"]["id"], "--json").data["trust"] == trust


def test_a_fact_that_the_settings_promote_is_nobodys_agreement(root: str) -> None:
    assert pmem("conversation", "start").code == 0
    assert pmem("conversation", "say", "We decided to use PostgreSQL for the ledger.").code == 0
    (item,) = pmem("list", "--json").data["items"]
    assert item["trust"] == "medium"
