"""Records on every path of their life, with clocks that run as they like."""

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from pmem import Project
from pmem.conversation.episodes import EpisodeRequest
from pmem.core.lifecycle.plan import Action
from pmem.core.lifecycle.presence import last_use, presence
from pmem.core.lifecycle.states import MOVES
from pmem.core.retention import decay
from pmem.errors import InvalidValue, Refused
from pmem.memory.changes import Removable
from pmem.operations import table
from pmem.values.records import Access, Event, EventKind, Memory, State
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.in_memory import InMemory

TEXTS = (
    "We use PostgreSQL for the ledger.",
    "we use postgresql for the ledger",
    "The limit is 10 requests.",
    "The limit is 20 requests.",
    "Deploys never happen on Friday.",
    "Deploys happen on Friday.",
    "Ana owns the billing service.",
)
SPANS = (
    timedelta(milliseconds=1),
    timedelta(hours=3),
    timedelta(days=15),
    timedelta(days=45),
    timedelta(days=100),
    timedelta(days=-1),
    timedelta(days=-70),
    timedelta(days=-4000),
    timedelta(days=4000),
)
DOCS = Path(__file__).parents[2] / "docs"
shares = st.sampled_from((0.05, 0.2, 0.5, 0.9))


class Lives(RuleBasedStateMachine):
    """The model is what every record was after the step before."""

    known = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.backend = InMemory()
        self.clock = NOW
        self.before: dict[str, Removable] = {}
        self.left: dict[str, Removable] = {}
        self.said: dict[str, set[str]] = {}
        self.purged: set[str] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @property
    def project(self) -> Project:
        return Project(self.folder, actor="tester", now=self.clock, backend=self.backend)

    def records(self) -> dict[str, Removable]:
        workspace = self.project.workspace
        found: list[Removable] = [*workspace.memories.find(), *workspace.episodes.find()]
        return {record.id: record for record in found}

    @rule(span=st.sampled_from(SPANS))
    def time_passes(self, span: timedelta) -> None:
        self.clock += span

    @rule(target=known, text=st.sampled_from(TEXTS), importance=shares, pinned=st.booleans())
    def somebody_adds(self, text: str, importance: float, pinned: bool) -> str:
        added = self.project.add(text, importance=importance, pinned=pinned, force=True)
        return added.memory.id

    @rule(target=known, text=st.sampled_from(TEXTS), significance=shares)
    def something_happens(self, text: str, significance: float) -> str:
        request = EpisodeRequest(summary=text, significance=significance)
        return ask(self.project.workspace, table.ADD_EPISODE, request).id

    @rule(id_=known, text=st.sampled_from(TEXTS))
    def somebody_edits(self, id_: str, text: str) -> None:
        if isinstance(self.before.get(id_), Memory):
            try:
                self.project.edit(id_, text)
            except InvalidValue:
                return  # it was removed

    @rule(id_=known, days=st.sampled_from((-30, 1, 400)))
    def somebody_sets_an_end(self, id_: str, days: int) -> None:
        if isinstance(self.before.get(id_), Memory):
            try:
                self.project.edit(id_, valid_until=self.clock + timedelta(days=days))
            except InvalidValue:
                return

    @rule(id_=known, pinned=st.booleans())
    def somebody_pins(self, id_: str, pinned: bool) -> None:
        if id_ in self.before:
            self.project.pin(id_, pinned=pinned)

    @rule(one=known, other=known)
    def somebody_links(self, one: str, other: str) -> None:
        ends = (self.before.get(one), self.before.get(other))
        if one != other and all(isinstance(end, Memory) for end in ends):
            self.project.link(one, other)

    @rule(id_=known)
    def somebody_removes(self, id_: str) -> None:
        if id_ in self.before:
            self.project.remove(id_)
            assert self.records()[id_].state is State.SOFT_DELETED

    @rule(id_=known)
    def somebody_restores(self, id_: str) -> None:
        if id_ not in self.before:
            return
        self.project.restore(id_)
        now, was = self.records()[id_], self.left.get(id_)
        assert now.state is State.ACTIVE
        assert now.purge_at is None
        if was is not None:
            self.check_is_back(now, was)

    def check_is_back(self, now: Removable, was: Removable) -> None:
        """See that a record is as it was when it left, but for what was edited since."""
        edited = {name for event in now.history[len(was.history) + 1 :] for name in _edits(event)}
        for name in (
            set(now.__struct_fields__) - edited - {"history", "updated_at", "access", "tokens"}
        ):
            assert getattr(now, name) == getattr(was, name), name

    @rule(id_=known, text=st.sampled_from(TEXTS))
    def something_new_holds(self, id_: str, text: str) -> None:
        old = self.before.get(id_)
        if isinstance(old, Memory) and old.state is State.ACTIVE:
            try:
                done = self.project.supersede(id_, text)
            except InvalidValue:
                return  # it would end before it begins
            assert done.superseded.valid_until is not None
            assert done.superseded.valid_until <= max(self.clock, old.valid_from)

    @rule(one=known, other=known)
    def one_holds_instead_of_another(self, one: str, other: str) -> None:
        if isinstance(self.before.get(one), Memory) and isinstance(self.before.get(other), Memory):
            try:
                self.project.supersede_by(one, other)
            except InvalidValue:
                assert (
                    one == other
                    or self.before[one].state is not State.ACTIVE
                    or self.before[other].state is not State.ACTIVE
                )

    @rule(id_=known, times=st.integers(1, 12))
    def somebody_recalls(self, id_: str, times: int) -> None:
        for _ in range(times):
            self.project.workspace.own.access.note([id_], self.clock)

    @rule(dry_run=st.booleans())
    def upkeep_consolidates(self, dry_run: bool) -> None:
        planned = self.project.consolidate(dry_run=True)
        assert self.records() == self.before
        if not dry_run:
            done = self.project.consolidate()
            assert [step.id for step in done.steps] == [step.id for step in planned.steps]
            again = self.project.consolidate()
            assert again.steps == (), "the second run found something to do"

    @rule()
    def upkeep_sweeps(self) -> None:
        done = self.project.sweep()
        for step in done.steps:
            if step.action is Action.PURGE:
                gone = self.before[step.records[0].id]
                assert gone.state is State.SOFT_DELETED
                assert gone.purge_at is not None
                assert gone.purge_at <= self.clock
                self.purged.add(gone.id)
        assert self.project.sweep().steps == ()

    @rule(id_=consumes(known), force=st.booleans())
    def somebody_purges(self, id_: str, force: bool) -> None:
        if id_ not in self.before:
            return
        try:
            self.project.purge(id_, force=force)
        except Refused:
            assert self.before[id_].state is not State.SOFT_DELETED
            assert not force
        else:
            self.purged.add(id_)

    @invariant()
    def nothing_is_lost_and_every_state_is_explained(self) -> None:
        now = self.records()
        assert self.before.keys() - now.keys() <= self.purged
        assert not now.keys() & self.purged
        for id_, record in now.items():
            was = self.before.get(id_)
            if was is not None:
                assert record.history[: len(was.history)] == was.history, "history was rewritten"
                if was.state is State.ACTIVE and record.state is not State.ACTIVE:
                    self.left[id_] = was
            check_history(record)
            check_texts(record, self.said.setdefault(id_, set()))
            self.check_fields(record)
        self.before = now

    def check_fields(self, record: Removable) -> None:
        """See that a record's fields agree with its state."""
        assert (record.purge_at is not None) == (record.state is State.SOFT_DELETED)
        if isinstance(record, Memory):
            assert 0 <= presence(record, self.clock, 30) <= 1
            assert all(link.target not in self.purged for link in record.relationships)


def _edits(event: Event) -> set[str]:
    if event.event in (EventKind.LINK, EventKind.UNLINK):
        return {"relationships"}
    if event.event in MOVES and "merged" not in event.detail:
        return set()
    return set(event.before)


def check_history(record: Removable) -> None:
    """Replay a record's history: every step is legal, and the last one is where it stands."""
    state = State.ACTIVE
    for event in record.history:
        if event.event in MOVES and "merged" not in event.detail:
            move = MOVES[event.event]
            assert state in move.starts, (record.id, state, event.event)
            state = move.end
    assert state is record.state


def check_texts(record: Removable, said: set[str]) -> None:
    """See that whatever a record ever said is in it, or in its history."""
    field = "content" if isinstance(record, Memory) else "summary"
    kept: set[Any] = {
        getattr(record, field),
        *(event.before.get(field) for event in record.history),
    }
    assert said <= kept
    said.add(getattr(record, field))


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)


moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))


@given(moments, st.integers(0, 10**9), moments, moments, st.integers(1, 10**12))
def test_decay_lies_between_0_and_1_and_only_falls_without_recalls(
    last: datetime, recalls: int, one: datetime, other: datetime, half_life: int
) -> None:
    sooner, later = sorted((one, other))
    early, late = (decay(last, recalls, now, half_life) for now in (sooner, later))
    assert 0 <= late <= early <= 1


@given(moments, moments, st.integers(0, 20))
def test_a_recall_never_makes_a_memory_less_present(
    made: datetime, recalled: datetime, recalls: int
) -> None:
    memory = Memory(
        id="1-aaaaaaaa",
        content="x",
        category="knowledge",
        valid_from=made,
        created_at=made,
        updated_at=made,
    )
    used = msgspec.structs.replace(memory, access=Access(count=recalls + 1, last_at=recalled))
    now = max(made, recalled)
    assert presence(used, now, 30) >= presence(memory, now, 30)
    assert last_use(used) == now


def test_the_table_in_the_documents_is_the_one_that_the_code_goes_by() -> None:
    rows = (DOCS / "life-cycle.md").read_text(encoding="utf-8").splitlines()
    told = {}
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if row.startswith("| `"):
            told[EventKind(cells[0].strip("`"))] = (set(cells[1].split(", ")), cells[2])
    assert told == {kind: (set(move.starts), move.end) for kind, move in MOVES.items()}


def test_every_state_can_be_reached_and_left() -> None:
    assert {move.end for move in MOVES.values()} == set(State)
    assert set().union(*(move.starts for move in MOVES.values())) == set(State)
