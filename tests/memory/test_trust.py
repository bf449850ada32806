"""Trust in use: recorded by every way in, told by answers, and a filter of each of them."""

import json
import os
from typing import Any

import pytest

from pmem import Filter, Project
from pmem.core.queries import Bullet
from pmem.errors import InvalidValue
from pmem.values.records import EventKind, Memory, Source
from tests.conftest import NOW
from tests.faults.console import bytes_of, pmem
from tests.once import Once


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Keep a memory of each level."""
    return once(lambda: _build(root))


def _build(root: str) -> dict[str, str]:
    high = Project(root, actor="ada", now=NOW).add("The gear of bronze turns")
    talk = Source(kind="conversation")
    medium = Project(root, actor="ada").add("The gear of iron squeaks loudly", source=talk)
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
        assert (f"trust     {name}" in pmem("show", id_).out.decode()) == (name != "high")
    assert {item["trust"] for item in pmem("list", "--json").data["items"]} == {*ids}
    assert {hit["trust"] for hit in pmem("search", "gear", "--json").data["hits"]} == {*ids}
    for line in (["list"], ["search", "gear"], ["context", "gear"], ["list", "--block"]):
        told = pmem(*line).out.decode()
        assert told.count("(trust: medium)") == told.count("(trust: low)") == 1, line
        assert "(trust: high)" not in told


def test_other_answers_to_models_tell_it_too(root: str, ids: dict[str, str]) -> None:
    asked = {"query": "gear"}
    found = Project(root).query(asked)
    bullets = {item.id: item.text for item in found if isinstance(item, Bullet)}
    assert bullets[ids["high"]].startswith("[knowledge] The")
    assert bullets[ids["medium"]].startswith("[knowledge] (trust: medium) The")
    assert bullets[ids["low"]].startswith("[knowledge] (trust: low) Push")
    full = json.dumps({**asked, "return": "full"}).encode()
    told = pmem("query", "--json", stdin=full).data
    assert {item["id"]: item["metadata"]["trust"] for item in told} == {
        id_: name for name, id_ in ids.items()
    }


@pytest.mark.parametrize("line", [("delta",), ("context", "gear")], ids=" ".join)
def test_news_tells_it(line: tuple[str, ...], root: str) -> None:
    assert pmem(*line, "--thread", "t").code == 0
    Project(root, actor="ada").add("The gear of bronze turns")
    Project(root, actor="ada", agent="planner").add("The wheel of iron squeaks loudly")
    told = pmem(*line, "--thread", "t").out.decode()
    assert "- +created: [knowledge] The gear of bronze turns" in told
    mark = "(noted by planner, not confirmed)"
    assert f"- +created: [knowledge] {mark} The wheel of iron squeaks loudly" in told


def test_an_apps_memories_tell_it_beside_the_block(root: str) -> None:
    Project(root, actor="ada").apps.remember("mail", "The gear of bronze turns")
    Project(root, agent="planner").apps.remember("mail", "The wheel of iron squeaks loudly")
    data = pmem("app", "context", "mail", "--json").data
    assert [item["trust"] for item in data["items"]] == ["low", "high"]
    assert "trust" not in data["text"]


def test_what_an_agent_did_is_recorded_by_its_name(root: str, ids: dict[str, str]) -> None:
    agent = Project(root, actor="ada", agent="planner", consent={"changes": False})
    agent.edit(ids["high"], "The gear of bronze is old")
    record = Project(root).show(ids["high"])
    assert isinstance(record, Memory)
    assert [(event.actor, event.agent) for event in record.history] == [
        ("ada", ""),
        ("ada", "planner"),
    ]
    assert pmem("show", ids["high"], "--json").data["trust"] == "low"
    Project(root, actor="ada").edit(ids["high"], importance=0.9)
    assert pmem("show", ids["high"], "--json").data["trust"] == "high"


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


def array_of(root: str, id_: str, **fields: Any) -> None:
    """Write the folder `arrays` with a record of the memory, changed."""
    record = json.loads(bytes_of(root)[f"long-term-memory/{id_}.json"])
    os.makedirs("arrays", exist_ok=True)
    with open("arrays/long-term-memory.json", "w", encoding="utf-8") as file:
        json.dump([record | fields], file)


CLAIMS: dict[str, Any] = {
    "type": "constraint",
    "category": "constraints",
    "pinned": True,
    "importance": 1.0,
    "access": {"count": 10**6},
}


@pytest.mark.parametrize("category", ["constraints", "profile"])
def test_what_somebody_else_wrote_claims_nothing_for_itself(
    category: str, root: str, ids: dict[str, str]
) -> None:
    array_of(root, ids["high"], id="mjwaid1q-00000008", **{**CLAIMS, "category": category})
    assert Project(root, actor="ada").import_arrays("arrays", untrusted=True).added == 1
    kept = Project(root).show("mjwaid1q-00000008")
    assert isinstance(kept, Memory)
    assert (kept.type, kept.category, kept.pinned, kept.importance, kept.access.count) == (
        "fact",
        "knowledge",
        False,
        0.5,
        0,
    )
    before = kept.history[-1].before
    assert (before["category"], before["pinned"], before["importance"]) == (category, True, 1.0)


def test_an_episode_of_somebody_else_claims_nothing_either(root: str) -> None:
    made = Project(root, actor="ada").add_episode("All fell down.", title="Crash", significance=1)
    files = Project(root).export_arrays()
    Project(root).purge(made.id, force=True)
    os.mkdir("arrays")
    with open("arrays/episodic-memory.json", "wb") as file:
        file.write(files["episodic-memory.json"].replace(b'"pinned": false', b'"pinned": true'))
    Project(root).import_arrays("arrays", untrusted=True)
    shown = pmem("show", made.id, "--json").data
    assert (shown["pinned"], shown["significance"], shown["trust"]) == (False, 0.5, "low")


@pytest.mark.parametrize(
    ("name", "done", "left"),
    [("high", "skipped", "high"), ("medium", "skipped", "medium"), ("low", "updated", "low")],
)
def test_what_somebody_else_wrote_replaces_nothing_that_is_trusted_more(
    name: str, done: str, left: str, root: str, ids: dict[str, str]
) -> None:
    array_of(root, ids[name], content="Push it", updated_at="2030-01-01T00:00:00Z")
    told = pmem("import", "arrays", "arrays", "--untrusted", "--json").data
    assert len(told["skipped"]) == (done == "skipped")
    assert told["updated"] == (done == "updated")
    shown = pmem("show", ids[name], "--json").data
    assert (shown["content"] == "Push it") == (done == "updated")
    assert shown["trust"] == left


@pytest.mark.parametrize(("goes_on", "trust"), [(True, "high"), (False, "low")])
def test_what_a_person_takes_in_instead_of_a_memory_is_trusted_if_it_goes_on_from_it(
    goes_on: bool, trust: str, root: str, ids: dict[str, str]
) -> None:
    record = json.loads(bytes_of(root)[f"long-term-memory/{ids['high']}.json"])
    at = "2030-01-01T00:00:00Z"
    changed = {"event": "UPDATE", "at": at, "actor": "ada", "before": {"content": "x"}}
    history = [*record["history"], changed] if goes_on else [{**changed, "event": "ADD"}]
    array_of(root, ids["high"], content="Pull it", updated_at=at, history=history)
    assert Project(root, actor="ada").import_arrays("arrays").updated == 1
    shown = pmem("show", ids["high"], "--json").data
    assert (shown["content"], shown["trust"]) == ("Pull it", trust)


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


def pending(root: str) -> list[str]:
    """Take in a transcript that states a constraint; return its facts, none of them promoted."""
    assert pmem("config", "set", "promotion_threshold", "1").code == 0
    said = {"role": "user", "content": "We must never deploy to production on a Friday."}
    agent = {"PMEM_AGENT": "planner"}
    done = pmem("import", "messages", "-", stdin=json.dumps(said).encode(), environment=agent)
    assert done.code == 0, done
    return [item["id"] for item in pmem("inbox", "facts", "--json").data["items"]]


@pytest.mark.parametrize(
    ("way", "agent", "trust"),
    [
        ("name", None, "high"),
        ("threshold", None, "medium"),
        ("name", "planner", "medium"),
        ("threshold", "planner", "medium"),
    ],
)
def test_only_a_person_who_names_a_fact_agrees_to_it(
    way: str, agent: str | None, trust: str, root: str
) -> None:
    (fact,) = pending(root)
    words = [fact] if way == "name" else ["--above", "0"]
    environment = {"PMEM_AGENT": agent} if agent else {}
    done = pmem("inbox", "accept", *words, "--json", environment=environment)
    (item,) = done.data["items"]
    shown = pmem("show", item["memory"]["id"], "--json").data
    assert (shown["type"], shown["trust"]) == ("constraint", trust)


def test_a_fact_that_the_settings_promote_is_nobodys_agreement(root: str) -> None:
    assert pmem("conversation", "start").code == 0
    assert pmem("conversation", "say", "We decided to use PostgreSQL for the ledger.").code == 0
    (item,) = pmem("list", "--json").data["items"]
    assert item["trust"] == "medium"
