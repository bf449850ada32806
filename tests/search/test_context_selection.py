"""A context that reads only what it could come to is the one that reads every memory."""

import random
from datetime import timedelta
from unittest import mock

import msgspec
import pytest

from pmem.core.context.parts import Section
from pmem.core.context.worth import mode_of
from pmem.core.filters import Filter, passes
from pmem.core.retention import valid_at
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.context_memories import UsableMemories
from pmem.search.context_request import BuiltContext, ContextRequest
from pmem.storage.backend import Change
from pmem.values.records import Memory, MemoryType, Relationship, Scope, State
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.folders import json_files, memory
from tests.storage.in_memory import InMemory

WORDS = "parser cache gateway index billing queue router deploy test changelog".split()
CATEGORIES = ("knowledge", "constraints", "procedural", "profile", "event", "secretive")
NONE = {"categories.context": {"event": "none", "procedural": "rag", "profile": "all"}}
TASKS = ("the parser and its cache", "deploy the gateway", "write a poem", None)


def id_of(number: int) -> str:
    return f"mjwaid1q-{number:08d}"


def drawn(seed: int, many: int) -> list[Memory]:
    """Return memories of every kind that contexts tell apart, many of them alike."""
    chance = random.Random(seed)
    subjects = (None, "billing", "Parser", "parser", "rules")

    def one(number: int) -> Memory:
        at = NOW - timedelta(minutes=chance.randrange(5))
        links = tuple(
            Relationship(
                target=id_of(chance.randrange(many)),
                type=chance.choice(("updates", "contradicts", "related_to")),
                created_at=at,
            )
            for _ in range(chance.choice((0, 0, 0, 1, 2)))
        )
        return memory(
            id_of(number),
            " ".join(chance.choices(WORDS, k=chance.randrange(2, 9))) + chance.choice((".", "")),
            type=chance.choice((*MemoryType, MemoryType.CONSTRAINT, MemoryType.FACT)),
            category=chance.choice(CATEGORIES),
            subject=chance.choice(subjects),
            importance=chance.choice((0.1, 0.5, 0.5, 0.9, 1.0)),
            pinned=chance.random() < 0.03,
            state=chance.choice((State.ACTIVE,) * 5 + (State.ARCHIVED,)),
            scope=Scope(
                app=chance.choice((None, None, None, "mail")), agent=chance.choice((None, "bo"))
            ),
            valid_from=chance.choice((at, at, at, NOW + timedelta(days=1))),
            valid_until=chance.choice((None, None, None, NOW, NOW + timedelta(days=1))),
            created_at=at,
            updated_at=at,
            relationships=links,
            tokens=chance.randrange(1, 30),
        )

    return [one(number) for number in range(many)]


def kept(root: str, memories: list[Memory]) -> Workspace:
    """Return a workspace over files, with an index."""
    files = json_files(root)
    with files.lock():
        files.commit([Change(Memory, each.id, each) for each in memories])
    return Workspace(root, now=NOW, backend=files, overrides=NONE)


def built(workspace: Workspace, **fields: object) -> BuiltContext:
    return ask(workspace, table.CONTEXT, ContextRequest(**fields))  # type: ignore[arg-type]


def shown(context: BuiltContext) -> list[Section]:
    """Return what is shown, without the sentences that only some requests want."""
    return [
        msgspec.structs.replace(
            part, items=tuple(msgspec.structs.replace(each, reason="") for each in part.items)
        )
        for part in context.sections
    ]


@pytest.mark.parametrize("seed", range(examples(12)))
def test_a_context_is_the_same_whatever_else_was_read(root: str, seed: int) -> None:
    chance = random.Random(seed)
    workspace = kept(root, drawn(seed, chance.choice((20, 120, 400))))
    for task in TASKS:
        for budget in (30, 90, 300, 900):
            fields = {
                "query": task,
                "budget": budget,
                "agent": chance.choice((None, "bo")),
                "app": chance.choice((None, "mail")),
                "only": chance.choice((None, "memories")),
                "counts": False,
            }
            with mock.patch.object(UsableMemories, "read_all", side_effect=AssertionError("all")):
                found = built(workspace, omitted=False, **fields)
            whole = built(workspace, omitted=True, **fields)
            assert found.text == whole.text
            assert shown(found) == shown(whole)
            assert len(found.omitted) <= len(whole.omitted)


@pytest.mark.parametrize("seed", range(4))
def test_usable_is_what_is_active_holds_and_is_of_a_mode_that_shows(root: str, seed: int) -> None:
    memories = drawn(seed, 150)
    workspace = kept(root, memories)
    modes = workspace.settings.categories.context
    wanted = Filter(agent="bo" if seed % 2 else None)
    usable = UsableMemories(workspace, ContextRequest(agent=wanted.agent), 600)
    usable.read_all()
    fitting = [each for each in memories if passes(each, wanted)]
    holding = [each for each in fitting if valid_at(each, NOW)]
    expected = [each for each in holding if mode_of(each, modes) != "none"]
    assert list(usable) == expected
    assert usable.count == len(expected)
    assert usable.tokens == sum(each.tokens for each in expected)
    early = sum(each.valid_from > NOW for each in fitting)
    ended = len(fitting) - len(holding) - early
    counts = {
        "mode_none": len(holding) - len(expected),
        "not_valid_yet": early,
        "expired": ended,
    }
    assert usable.hidden() == counts
    reasons = [left.reason for left in usable.hidden_ids()]
    assert {name: reasons.count(name) for name in counts} == counts


def test_a_context_of_a_large_memory_reads_few_records(root: str) -> None:
    workspace = kept(root, drawn(1, 2000))
    usable = UsableMemories(workspace, ContextRequest(query="parser"), 90)
    usable.read_standing({"parser"})
    usable.read_judged()
    assert 0 < len(list(usable)) < 900


def test_without_an_index_a_context_is_the_same(root: str) -> None:
    memories = drawn(5, 60)
    backend = InMemory()
    backend.commit([Change(Memory, each.id, each) for each in memories])
    other = Workspace("nowhere", now=NOW, backend=backend, overrides=NONE)
    indexed = kept(root, memories)
    for task in TASKS:
        found = built(indexed, query=task, budget=200, counts=False, omitted=False)
        assert found.text == built(other, query=task, budget=200, counts=False).text
