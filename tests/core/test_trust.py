"""How far a memory can be trusted follows from where it came from and who changed it since."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.trust import (
    LEVELS,
    Trust,
    label_of,
    lowest,
    mark_of,
    may_be_told,
    noted_by,
    reaches,
    trust_of,
)
from pmem.errors import InvalidValue
from pmem.values.records import Episode, Event, EventKind, Memory, Source, TurnRange
from tests.conftest import NOW

ADD, UPDATE, MERGE = EventKind.ADD, EventKind.UPDATE, EventKind.MERGE


def event(kind: EventKind, says: bool = True, **fields: Any) -> Event:
    before = {"content": "before"} if says and kind is not ADD else {}
    return Event(event=kind, at=NOW, actor="ada", before=before, **fields)


def memory(*events: Event, kind: str = "manual") -> Memory:
    return Memory(
        id="mjwaid1q-00000001",
        content="The gear turns",
        category="knowledge",
        valid_from=NOW,
        created_at=NOW,
        updated_at=NOW,
        source=Source(kind=kind),
        history=events,
    )


PERSON, AGENT = event(UPDATE), event(UPDATE, agent="planner")
IMPORT = event(UPDATE, source="import arrays")
GIT = event(MERGE, source="git", detail={"conflict": ["content"]})
KEPT = event(MERGE, source="git", says=False)
AGREED = event(UPDATE, source="consent", detail={"consent": {}})
POOR = event(MERGE, source="consolidate", detail={"trust": "low"})

TABLE = [
    ((event(ADD),), "manual", Trust.HIGH),
    ((), "manual", Trust.HIGH),
    ((event(ADD, agent="planner"),), "manual", Trust.LOW),
    ((event(ADD),), "conversation", Trust.MEDIUM),
    ((event(ADD, agent="planner"),), "conversation", Trust.MEDIUM),
    ((event(ADD), AGENT), "conversation", Trust.LOW),
    ((event(ADD, source="consolidate"),), "consolidate", Trust.MEDIUM),
    ((event(ADD),), "import arrays", Trust.LOW),
    ((event(ADD), IMPORT), "manual", Trust.LOW),
    ((event(ADD), GIT), "manual", Trust.LOW),
    ((event(ADD), KEPT), "manual", Trust.HIGH),
    ((event(ADD), GIT, KEPT), "manual", Trust.LOW),
    ((event(ADD, agent="planner"), KEPT), "manual", Trust.LOW),
    ((event(ADD), GIT, event(UPDATE, says=False)), "manual", Trust.HIGH),
    ((event(ADD), AGENT), "manual", Trust.LOW),
    ((event(ADD), event(UPDATE, says=False, agent="planner")), "manual", Trust.HIGH),
    ((event(ADD), AGENT, PERSON), "manual", Trust.HIGH),
    ((event(ADD), IMPORT, AGENT), "manual", Trust.LOW),
    ((event(ADD), IMPORT, PERSON), "manual", Trust.HIGH),
    ((event(ADD, agent="planner"), AGREED), "manual", Trust.HIGH),
    ((event(ADD), event(UPDATE, source="compaction")), "manual", Trust.MEDIUM),
    ((event(ADD), event(UPDATE, says=False, source="verify")), "manual", Trust.HIGH),
    ((event(ADD), event(MERGE, source="consolidate")), "manual", Trust.HIGH),
    ((event(ADD), POOR), "manual", Trust.LOW),
    ((event(ADD, agent="planner", detail={"trust": "low"}),), "manual", Trust.LOW),
    ((event(ADD, agent="planner"), event(EventKind.LINK)), "manual", Trust.LOW),
    ((event(ADD, agent="planner"), event(EventKind.RESTORE)), "manual", Trust.LOW),
]


@pytest.mark.parametrize(("events", "kind", "trust"), TABLE)
def test_trust_follows_from_the_history(events: tuple[Event, ...], kind: str, trust: Trust) -> None:
    assert trust_of(memory(*events, kind=kind)) is trust


@given(st.lists(st.sampled_from([AGENT, IMPORT, GIT, KEPT, POOR]), max_size=8))
def test_only_a_person_ever_raises_it(events: list[Event]) -> None:
    levels = [
        LEVELS.index(trust_of(memory(*events[:n])) or Trust.LOW) for n in range(len(events) + 1)
    ]
    assert levels == sorted(levels, reverse=True)
    assert trust_of(memory(*events, PERSON)) is Trust.HIGH


NOTED = [
    ((event(ADD),), "manual", ""),
    ((event(ADD, agent="planner"),), "manual", "planner"),
    ((event(ADD, agent="planner"),), "conversation", ""),
    ((event(ADD, agent="planner"), event(EventKind.LINK)), "manual", "planner"),
    ((event(ADD), AGENT), "manual", "planner"),
    ((event(ADD), event(UPDATE, agent="other"), AGENT), "manual", "planner"),
    ((event(ADD), event(UPDATE, says=False, agent="planner")), "manual", ""),
    ((event(ADD, agent="planner"), PERSON), "manual", ""),
    ((event(ADD, agent="planner"), AGREED), "manual", ""),
    ((event(ADD, agent="planner"), IMPORT), "manual", ""),
    ((event(ADD, agent="planner"), GIT), "manual", ""),
    ((event(ADD), event(UPDATE, source="import arrays", agent="planner")), "manual", ""),
    ((event(ADD),), "import arrays", ""),
]


@pytest.mark.parametrize(("events", "kind", "agent"), NOTED)
def test_what_an_agent_noted_is_its_own_until_a_person_agrees(
    events: tuple[Event, ...], kind: str, agent: str
) -> None:
    made = memory(*events, kind=kind)
    assert noted_by(made) == agent
    mark = f"(noted by {agent}, not confirmed) " if agent else mark_of(trust_of(made))
    assert label_of(made) == mark
    assert (label_of(made, plain=True) == "") == (bool(agent) or trust_of(made) is Trust.HIGH)
    own = {f"{agent} ada"} if agent else {"", "planner ada", "planner bob"}
    for someone in ("", "planner ada", "planner bob", "other ada"):
        assert may_be_told(made, someone) == (not agent or someone in own)
    assert may_be_told(made, None)


def test_an_episode_that_pmem_made_is_trusted_as_what_was_said() -> None:
    fields: dict[str, Any] = {
        "id": "mjwaid1q-00000002",
        "type": "decision_made",
        "title": "t",
        "summary": "s",
        "created_at": NOW,
        "updated_at": NOW,
    }
    episode = msgspec.convert(fields, Episode)
    assert trust_of(episode) is Trust.HIGH
    assert trust_of(msgspec.structs.replace(episode, turns=TurnRange(start=1, end=2))) == "medium"


def test_what_has_no_trust_reaches_no_level() -> None:
    assert trust_of(timedelta()) is None
    assert not reaches(timedelta(), "low")
    assert reaches(memory(), "high")
    assert not reaches(memory(GIT), "medium")
    assert lowest(memory(), memory(GIT), memory(AGENT)) is Trust.LOW
    with pytest.raises(InvalidValue, match="there is no trust 'total'"):
        reaches(memory(), "total")
