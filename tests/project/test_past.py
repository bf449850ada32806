"""The past, against brute force: every state of a project is kept, and asked for again."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from unittest import mock

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.filters import Filter, passes
from pmem.core.retention import valid_at
from pmem.errors import Ambiguous, NotFound, PmemError
from pmem.search.hits import SearchKind
from pmem.storage.backend import Change
from pmem.values.records import STORES, Conversation, Episode, Memory, Record, RecordType, State
from tests.conftest import NOW
from tests.effort import examples
from tests.memory.test_undo import STEPS
from tests.storage.in_memory import InMemory

SMALL: Final[dict[str, Any]] = {
    "max_recent_messages": 4,
    "chunk_size": 2,
    "max_chunks": 50,
    "max_episodic_memories": 2,
}
State_ = dict[RecordType, dict[str, Record]]


class Step(NamedTuple):
    """Something that is done, with a number that says on what, and how long after the last."""

    name: str
    number: int
    wait: int


DOING: Final[dict[str, Callable[[Project, list[str], int], Any]]] = {
    **STEPS,
    "start": lambda p, _, n: p.start_conversation(f"Talk {n}"),
    "end": lambda p, _, n: p.end_conversation(["Bread", None][n % 2]),
    "valid": lambda p, ids, n: p.edit(
        ids[n % len(ids)],
        valid_from=NOW + timedelta(seconds=n * 3 - 90),
        valid_until=NOW + timedelta(seconds=n * 9),
    ),
}
moments = st.integers(-90, 400).map(lambda seconds: NOW + timedelta(seconds=seconds))
TALK: Final = [
    *["say"] * 7, *["state"] * 2, "clear", "pause", "resume", "end", "promote", "reject", "episode"
]  # fmt: skip
CHANGE: Final = [
    *["add"] * 4, "decide", "edit", "tag", *["link"] * 3, "relink", "unlink", "pin", "rm", "restore"
]  # fmt: skip
KEEP: Final = [*CHANGE, "episode", "supersede", "consolidate", "valid", "valid"]


def steps(among: list[str]) -> st.SearchStrategy[list[Step]]:
    waits = st.sampled_from([0, 1, 1, 40])
    one = st.builds(Step, st.sampled_from(among), st.integers(0, 50), waits)
    return st.lists(one, min_size=5, max_size=25)


class Timeline:
    """A project, and what its memory held after each step."""

    def __init__(self) -> None:
        self.backend = InMemory()
        self.now = NOW
        self.states: list[tuple[datetime, State_]] = []

    def project(self, backend: InMemory | None = None, now: datetime | None = None) -> Project:
        return Project(backend=backend or self.backend, now=now or self.now, actor="ada", **SMALL)

    def do(self, step: Step) -> None:
        self.now += timedelta(seconds=step.wait)
        with suppress(PmemError):
            ids = [*self.backend.ids(Memory), *self.backend.ids(Episode)] or ["none"]
            DOING[step.name](self.project(), ids, step.number)
        self.states.append((self.now, held(self.backend)))

    def at(self, moment: datetime) -> InMemory:
        """Return a backend that holds what was held then."""
        before = [state for at, state in self.states if at <= moment]
        return loaded(before[-1] if before else {})


def held(backend: InMemory) -> State_:
    return {type_: {r.id: r for r in backend.scan(type_)} for type_ in STORES}


def loaded(state: State_) -> InMemory:
    backend = InMemory()
    for type_, known in state.items():
        backend.commit([Change(type_, id_, record) for id_, record in known.items()])
    return backend


walks = st.sampled_from([TALK, KEEP, sorted({*TALK, *KEEP, "start"})]).flatmap(steps)


@settings(max_examples=examples(50), phases=[Phase.reuse, Phase.generate])
@given(walk=walks, data=st.data())
def test_the_past_is_what_it_was(walk: list[Step], data: st.DataObject) -> None:
    timeline = Timeline()
    timeline.do(Step("start", 0, 0))
    for step in walk:
        timeline.do(step)
    last = (timeline.now - NOW) // timedelta(seconds=1)
    for _ in range(4):
        seconds = data.draw(st.integers(-1, last + 1))
        check(timeline, NOW + timedelta(seconds=seconds), data)
    check(timeline, timeline.now + timedelta(days=data.draw(st.integers(1, 4000))), data)


def check(timeline: Timeline, moment: datetime, data: st.DataObject) -> None:
    """Ask the view of a moment, and a project that holds just what was held then."""
    view = timeline.project(now=timeline.now + timedelta(days=1)).at(moment)
    then = timeline.at(moment)
    known = timeline.project(then, moment)
    for mine, stored in zip(view.workspace.stores, known.workspace.stores, strict=True):
        assert list(mine.find()) == list(stored.find())
        assert [mine.get(id_) for id_ in mine.ids()] == list(stored.find())
    check_list(view, then, moment, data.draw(filters))
    query = data.draw(st.sampled_from(["tool", "which text of the plan", "build spaces"]))
    assert view.search(query) == known.search(query)
    assert view.build_context(query) == known.build_context(query)
    assert view.build_context() == known.build_context()
    assert view.stats() == known.stats()
    assert view.facts(standing=None) == known.facts(standing=None)
    assert view.episodes() == known.episodes()
    assert view.conversations() == known.conversations()
    assert view.export_arrays() == known.export_arrays()
    for talk in known.conversations():
        assert view.transcript(talk.id) == known.transcript(talk.id)
        assert view.conversation_stats(talk.id) == known.conversation_stats(talk.id)
        assert view.narrative_arc(talk.id) == known.narrative_arc(talk.id)


filters = st.builds(
    Filter,
    types=st.sampled_from([(), ("fact", "decision")]),
    tags=st.sampled_from([(), ("t1",)]),
    importance_min=st.sampled_from([None, 0.5]),
    pinned=st.sampled_from([None, True, False]),
    states=st.sampled_from([(), (State.ACTIVE,), (State.SOFT_DELETED,)]),
    created_before=st.none() | moments,
)


def check_list(view: Project, then: InMemory, moment: datetime, wanted: Filter) -> None:
    expected = tuple(
        memory
        for memory in then.scan(Memory)
        if passes(memory, wanted) and (memory.state is not State.ACTIVE or valid_at(memory, moment))
    )
    assert view.list(wanted).items == expected
    assert {id_: view.show(id_) for id_ in then.ids(Memory)} == {
        memory.id: memory for memory in then.scan(Memory)
    }


def test_to_show_a_record_as_it_was_only_that_record_is_read() -> None:
    timeline = Timeline()
    for number in range(20):
        timeline.do(Step("add", number, 1))
    wanted = timeline.backend.ids(Memory)[7]
    with mock.patch.object(InMemory, "read", autospec=True, side_effect=InMemory.read) as read:
        shown = timeline.project().at(timeline.now).show(wanted)
    assert isinstance(shown, Memory)
    assert {call.args[2] for call in read.call_args_list} == {wanted} == {shown.id}


def test_what_is_purged_is_gone_at_every_time() -> None:
    timeline = Timeline()
    for name in ("start", "episode", *["say"] * 9, "add"):
        timeline.do(Step(name, 1, 1))
    before, project = timeline.now, timeline.project()
    (episode, *_), (talk,) = project.episodes().items, project.conversations()
    (memory, *_) = project.list().items
    project.purge(memory.id, episode.id, force=True)
    view = timeline.project().at(before)
    for identifier in (memory.id, episode.id):
        with pytest.raises(NotFound):
            view.show(identifier)
    left = view.show(talk.id)
    assert isinstance(left, Conversation)
    assert episode.id not in left.milestones
    project.purge(talk.id, force=True)
    gone = timeline.project().at(before)
    assert gone.conversations() == ()
    assert gone.search("tool", kinds=(SearchKind.CHUNK, SearchKind.MESSAGE)).total == 0


def test_an_ambiguous_reference_is_not_so_before_the_second_record() -> None:
    timeline = Timeline()
    timeline.do(Step("add", 1, 0))
    timeline.do(Step("add", 2, 1))
    start = timeline.backend.ids(Memory)[0][:4]
    with pytest.raises(Ambiguous):
        timeline.project().at(timeline.now).show(start)
    assert timeline.project().at(NOW).show(start) == next(timeline.backend.scan(Memory))
    with pytest.raises(NotFound, match="did not exist at that time"):
        timeline.project().at(NOW - timedelta(days=1)).show(start)
