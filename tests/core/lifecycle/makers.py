"""Memories and episodes with a few words, for tests of the life cycle."""

from datetime import datetime, timedelta
from typing import Any, Final

from hypothesis import strategies as st

from pmem.core.lifecycle import consolidation
from pmem.core.lifecycle.plan import Draft, UpkeepPlan
from pmem.core.lifecycle.presence import fading_rules
from pmem.values.config import Settings
from pmem.values.records import (
    Access,
    Episode,
    EpisodeType,
    Event,
    EventKind,
    Memory,
    Relationship,
    Scope,
    TurnRange,
)
from tests.conftest import NOW

DAY: Final = timedelta(days=1)
S2: Final = fading_rules(Settings(decay="s2"))
BY_TYPE: Final = fading_rules(Settings())
RULES: Final = consolidation.ConsolidationRules(
    fading=S2,
    consolidation_threshold_days=30,
    max_pairs=500,
    max_episodes=100,
    most_characters=4000,
    insights=True,
)
TEXTS: Final = (
    "We use PostgreSQL for the ledger.",
    "we use postgresql for the ledger",
    "For the ledger we use PostgreSQL.",
    "We do not use PostgreSQL for the ledger.",
    "We use SQLite for the ledger.",
    "The limit is 10 requests.",
    "The limit is 20 requests.",
    "Deploys never happen on Friday.",
    "Ana owns the billing service.",
    "Billing is owned by Ana.",
    "我们用 PostgreSQL",
    "🙂",
    "",
)


def identifier(number: int) -> str:
    return f"1{number:06d}-aaaaaaaa"


def memory(number: int = 1, content: str = "We use PostgreSQL", **fields: Any) -> Memory:
    """Return a memory, a day old unless `created_at` says otherwise."""
    made = fields.pop("created_at", NOW - DAY)
    known = {
        "id": identifier(number),
        "content": content,
        "category": "knowledge",
        "valid_from": made,
        "created_at": made,
        "updated_at": made,
        "tokens": 5,
    }
    return Memory(**{**known, **fields})


def episode(number: int = 1, turns: tuple[int, int] | None = None, **fields: Any) -> Episode:
    made = fields.pop("created_at", NOW - DAY)
    known = {
        "id": f"2{number:06d}-bbbbbbbb",
        "type": EpisodeType.DECISION_MADE,
        "title": f"moment {number}",
        "summary": f"moment {number}",
        "conversation": "c-cccccccc",
        "turns": None if turns is None else TurnRange(start=turns[0], end=turns[1]),
        "created_at": made,
        "updated_at": made,
    }
    return Episode(**{**known, **fields})


def link(number: int, type_: str = "related_to", strength: float = 0.5) -> Relationship:
    return Relationship(target=identifier(number), type=type_, strength=strength, created_at=NOW)


def event(kind: EventKind, at: datetime = NOW, **fields: Any) -> Event:
    return Event(event=kind, at=at, actor="ada", **fields)


def draft_of(*records: Memory | Episode, now: datetime = NOW) -> Draft:
    return Draft(records, "ada", now)


def planned(*records: Memory | Episode, now: datetime = NOW, **rules: Any) -> UpkeepPlan:
    """Plan a consolidation of records."""
    from msgspec.structs import replace

    return consolidation.plan_consolidation(
        records,
        replace(RULES, **rules),
        "ada",
        now,
        len,
    )


def after(plan: UpkeepPlan, *records: Memory | Episode) -> dict[str, Memory | Episode]:
    """Return what records become when a plan is carried out; each step must fit."""
    found = {record.id: record for record in records}
    for part in (part for step in plan.steps for part in step.touched):
        assert found.get(part.record.id) == part.old
        if part.new is None:
            del found[part.record.id]
        else:
            found[part.new.id] = part.new
    return found


ages = st.sampled_from((0.0, 1.0, 29.0, 31.0, 90.0, -5.0)).map(lambda days: NOW - days * DAY)
few = st.integers(0, 7)


def _links(own: int, targets: list[int]) -> tuple[Relationship, ...]:
    return tuple(link(target) for target in dict.fromkeys(targets) if target != own)


@st.composite
def crowds(draw: st.DrawFn) -> list[Memory | Episode]:
    """Draw records that have much to do with each other."""
    number = draw(st.integers(0, 8))
    memories = [
        memory(
            place,
            draw(st.sampled_from(TEXTS)),
            created_at=draw(ages),
            subject=draw(st.sampled_from((None, None, "Ledger", "ledger ", "limits"))),
            category=draw(st.sampled_from(("knowledge", "knowledge", "project"))),
            scope=draw(st.sampled_from((Scope(), Scope(), Scope(user="ada")))),
            tags=tuple(draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True))),
            importance=draw(st.sampled_from((0.1, 0.5, 0.9))),
            pinned=draw(st.integers(0, 5)) == 0,
            relationships=_links(place, draw(st.lists(few, max_size=2))),
            access=Access(count=draw(few), last_at=draw(st.none() | ages)),
            history=tuple(
                event(EventKind.UPDATE, draw(ages), before={"content": "before"})
                for _ in range(draw(st.integers(0, 3)))
            ),
        )
        for place in range(number)
    ]
    episodes = []
    for place in range(draw(st.integers(0, 5))):
        start = draw(st.integers(1, 10))
        episodes.append(
            episode(
                place,
                (start, start + draw(st.integers(0, 10))),
                created_at=draw(ages),
                significance=draw(st.sampled_from((0.2, 0.8))),
                pinned=draw(st.integers(0, 4)) == 0,
                type=draw(st.sampled_from((EpisodeType.PIVOT, EpisodeType.ISSUE_IDENTIFIED))),
                title=draw(st.sampled_from(("The cache is slow", "Cache broken"))),
                linked_memories=tuple(identifier(n) for n in draw(st.lists(few, max_size=2))),
            )
        )
    return [*memories, *episodes]
