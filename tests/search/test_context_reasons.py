"""Each reason that a context gives is true of its memory, as a reader checks it by hand."""

import random
import re
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from pmem.core.context.parts import ShownItem
from pmem.core.filters import Filter, covers, passes
from pmem.core.places import applies_within
from pmem.core.retention import valid_at
from pmem.core.retrieval.related_words import related
from pmem.core.text.terms import terms
from pmem.project.workspace import Workspace
from pmem.search.context_memories import LINE_TOKENS
from pmem.search.contexts import SMALL_BUDGET
from pmem.storage.backend import Change
from pmem.values.records import Memory
from pmem.values.rules import ContextRules
from tests.conftest import NOW
from tests.effort import examples
from tests.search.test_context_selection import NONE, built, drawn
from tests.storage.in_memory import InMemory

TASKS = (
    "the parser and its cache",
    "deploy the gateway, and test src/router.py",
    "write a poem",
    "Why does docs/billing.md name the queue?",
    "ship the router",
    None,
)
STANDING = ContextRules().standing
PLACES = ((), (), (), ("src/**",), ("docs/billing.md",), ("web/*.ts", "src/router.py"))
TAGS = ((), (), ("release",), ("test", "queue"))
RULES = {"constraint", "procedure", "preference", "decision"}
QUOTED = re.compile(r"\"(.+?)\"|'(.+?)'")


def store(seed: int) -> tuple[Workspace, dict[str, Memory]]:
    chance = random.Random(seed)
    memories = [
        replace(one, places=chance.choice(PLACES), tags=chance.choice(TAGS))
        for one in drawn(seed, chance.choice((3, 20, 60)))
    ]
    backend = InMemory()
    with backend.lock():
        backend.commit([Change(Memory, one.id, one) for one in memories])
    workspace = Workspace("nowhere", now=NOW, backend=backend, overrides=NONE)
    return workspace, {one.id: one for one in memories}


def is_rule(memory: Memory) -> bool:
    return not memory.places and memory.type in RULES


def named(item: ShownItem, known: Mapping[str, Memory]) -> Memory:
    """Return the memory whose short id a reason names."""
    found = [one for id_, one in known.items() if id_.rpartition("-")[2] in item.reason]
    assert len(found) == 1, item.reason
    return found[0]


def is_small(known: Mapping[str, Memory], budget: int) -> bool:
    usable = [one for one in known.values() if passes(one, Filter()) and valid_at(one, NOW)]
    shown = [one for one in usable if one.scope.app is None and one.category != "event"]
    return sum(LINE_TOKENS + one.tokens for one in shown) <= budget / 2


def is_true(item: ShownItem, task: str, known: Mapping[str, Memory], budget: int | None) -> bool:
    """Tell whether what a reason says can be seen in the record, the task and the other records."""
    memory, said = known[item.id], item.reason
    words = [first or second for first, second in QUOTED.findall(item.reason)]
    text = f"{memory.subject or ''} {memory.content}"
    if said.startswith("its tag "):
        said, text = said.removeprefix("its tag "), " ".join(memory.tags)
    if said.startswith("shares "):
        asked = set(terms(task))
        return bool(words) and all(word in text and asked & set(terms(word)) for word in words)
    if said.startswith("has "):
        word, asked_word = words
        meant = {near for term in terms(asked_word) for near in related(term)}
        return word in text and asked_word in task and bool(set(terms(word)) & meant)
    if said.startswith(f"a {memory.type} of the whole project"):
        asked = set(terms(STANDING))
        named_all = all(word in text and asked & set(terms(word)) for word in words)
        return bool(words) == ("context.standing" in said) and named_all and is_rule(memory)
    if said.startswith("its importance is "):
        is_lifted = memory.importance >= 0.9 and not memory.places
        return said.endswith(f" {memory.importance:g}") and is_lifted
    if said.startswith("by importance, which is "):
        return said.endswith(f" {memory.importance:g}")
    if said.startswith(("it is for ", "it cites ")):
        path = item.reason.split(" ", 3)[-1] if said.startswith("it is for ") else said[9:]
        is_placed = bool(memory.places) and applies_within(memory.places, path)
        return path in task and covers(memory, path) and is_placed == said.startswith("it is for ")
    if said.startswith("it has the subject of an answer"):
        other = named(item, known)
        same = (other.subject or "").casefold() == (memory.subject or "").casefold() != ""
        return same and other.id != memory.id
    if said.startswith("it is newer than ") or said.endswith(" is linked to it"):
        other = named(item, known)
        links = [(link.target, one.id) for one in (other, memory) for link in one.relationships]
        return bool({(memory.id, other.id), (other.id, memory.id)} & set(links))
    return {
        "it is pinned": memory.pinned,
        "contexts show all of its category": memory.category == "profile",
        "all memories fit into half of the budget": is_small(known, budget or SMALL_BUDGET),
    }[said]


@pytest.mark.parametrize("seed", range(examples(420)))
def test_every_reason_is_true_of_its_memory(seed: int) -> None:
    workspace, known = store(seed)
    chance = random.Random(seed)
    for task in TASKS:
        for budget in (chance.choice((60, 200)), 900, None, None):
            found = built(workspace, query=task, budget=budget, omitted=True, counts=False)
            items = [item for part in found.sections for item in part.items]
            untrue = [item for item in items if not is_true(item, task or "", known, budget)]
            assert untrue == [], (task, budget)
            if budget is None:
                assert "over_budget" not in {left.reason for left in found.omitted}
