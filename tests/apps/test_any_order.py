"""Apps in any order: models that lie, storage that refuses, others that write at the same time.

After each step the limit holds, nothing but what was chosen has gone, and its history says why.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pmem import AddRequest, Project
from pmem.apps.remembering import Remembered
from pmem.core.filters import Filter
from pmem.errors import NotFound, StorageRefused
from pmem.memory.app_limit import Compacted
from pmem.model.models import Models
from pmem.model.tasks import CompactionGiven
from pmem.project.setup import initialise
from pmem.storage.jsonfiles import JsonFiles
from pmem.values.records import Memory, State
from tests.apps import fakes
from tests.apps.test_compaction import LIES
from tests.conftest import NOW

APPS = ("calendar", "mail", "calendar-2")
LIMIT = 3
RULES: dict[str, Any] = {"apps.limit": LIMIT, "model.timeout": 0.05, "apps.energy": 1e6}
EMPTY_TALKS: tuple[fakes.Summarise, ...] = (
    fakes.raising,
    fakes.stammering,
    fakes.hanging,
    lambda given: {"summary": ""},
    lambda given: {"summary": "word " * 200},
    lambda given: {"text": 1},
    lambda given: {"summary": "The user lives in Quuxville."},
)
DECIDERS = {**LIES, "no answer": fakes.hanging, "the least": fakes.least}


class Apps(RuleBasedStateMachine):
    """Apps that remember, with everything around them failing at times."""

    def __init__(self) -> None:
        super().__init__()
        self.base = tempfile.mkdtemp()
        self.root = os.path.join(self.base, "memory")
        initialise(self.root)
        self.hours = 0
        self.count = 0
        self.others: set[str] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.base)

    def project(self, models: Models | None = None) -> Project:
        self.hours += 1
        now = NOW + timedelta(hours=self.hours)
        return Project(self.root, now=now, actor="ada", models=models, **RULES)

    def text(self) -> str:
        self.count += 1
        return f"Case {self.count} has {self.count * 7} parts and {self.count * 3} files."

    def memories(self) -> dict[str, Memory]:
        found = Project(self.root, now=NOW, **RULES).list(Filter(states=())).items
        return {memory.id: memory for memory in found}

    def holds(self, app: str, act: Callable[[], Remembered | Compacted]) -> None:
        """Act, and see that nothing but what was chosen has changed."""
        before, self.others = self.memories(), set()
        done = act()
        after = self.memories()
        assert before.keys() <= after.keys()
        gone = {item.merged or item.target: item for item in done.decisions}
        assert len(gone) == len(done.decisions)
        edited = {item.target for item in done.decisions if item.merged}
        fresh = after.keys() - before.keys()
        for id_, memory in after.items():
            if id_ in gone:
                assert memory.scope.app == app
                assert memory.state in (State.SOFT_DELETED, State.MERGED)
                last, chosen = memory.history[-1], gone[id_]
                told = (last.source, last.detail["reason"], last.detail["by"])
                assert told == ("compaction", chosen.reason, chosen.by)
                assert last.detail.get("failure", "") == chosen.failure
            elif id_ not in fresh | edited | self.others:
                assert memory == before[id_]
            else:
                assert id_ in self.others or memory.state is State.ACTIVE
        assert len(self.active(app)) <= LIMIT

    def active(self, app: str) -> list[str]:
        return [item.id for item in Project(self.root, now=NOW, **RULES).apps.list(app).items]

    @rule(app=st.sampled_from(APPS), importance=st.integers(0, 10))
    def remember(self, app: str, importance: int) -> None:
        self.holds(
            app, lambda: self.project().apps.remember(app, self.text(), importance=importance)
        )

    @rule(app=st.sampled_from(APPS), decider=st.sampled_from(sorted(DECIDERS)))
    def remember_with_a_model(self, app: str, decider: str) -> None:
        theirs = self.project(fakes.model(DECIDERS[decider])).apps
        self.holds(app, lambda: theirs.remember(app, self.text()))

    @rule(
        app=st.sampled_from(APPS),
        decider=st.sampled_from(sorted(DECIDERS)),
        summarise=st.sampled_from(EMPTY_TALKS),
    )
    def sum_up(self, app: str, decider: str, summarise: fakes.Summarise) -> None:
        project = self.project(fakes.model(DECIDERS[decider], summarise))
        talk = project.start_conversation().id
        project.add_message("user", f"We decided this: {self.text()} I live in Quuxville.")
        project.end_conversation(conversation=talk)
        self.holds(app, lambda: project.apps.remember(app, conversation=talk))

    @rule(app=st.sampled_from(APPS), count=st.integers(1, 9), decider=st.sampled_from(sorted(LIES)))
    def import_many(self, app: str, count: int, decider: str) -> None:
        project = self.project(fakes.model(DECIDERS[decider]) if count % 2 else None)
        project.add_all([AddRequest(content=self.text(), app=app) for _ in range(count)])
        self.holds(app, lambda: project.apps.compact(app))

    @rule(app=st.sampled_from(APPS), pick=st.integers(0, 9), again=st.booleans())
    def others_are_quicker(self, app: str, pick: int, again: bool) -> None:
        """Let another writer remove what a model is about to choose, once or each time."""
        rounds: list[str] = []

        def decide(given: CompactionGiven) -> Any:
            place = pick % len(given.memories)
            name = given.memories[place].id
            (target,) = (id_ for id_ in self.memories() if id_.endswith(name))
            if again or not rounds:
                other = self.project()
                other.edit(target, self.text())
                self.others.add(target)
            rounds.append(target)
            return fakes.delete(place)(given)

        theirs = self.project(fakes.model(decide)).apps
        self.holds(app, lambda: theirs.remember(app, self.text()))
        assert len(rounds) <= 4

    @rule(app=st.sampled_from(APPS), times=st.integers(1, 2), decider=st.sampled_from(sorted(LIES)))
    def storage_refuses(self, app: str, times: int, decider: str) -> None:
        project = self.project(fakes.model(DECIDERS[decider]))
        project.add_all([AddRequest(content=self.text(), app=app) for _ in range(LIMIT + 1)])
        commit, failures = JsonFiles.commit, [StorageRefused("the disk hiccups")] * times

        def failing(files: JsonFiles, changes: Any) -> None:
            if failures:
                raise failures.pop()
            commit(files, changes)

        with mock.patch.object(JsonFiles, "commit", failing):
            self.holds(app, lambda: project.apps.compact(app))

    @rule(app=st.sampled_from(APPS), pick=st.integers(0, 9))
    def pin(self, app: str, pick: int) -> None:
        if mine := self.active(app):
            self.project().pin(mine[pick % len(mine)])

    @rule(app=st.sampled_from(APPS), pick=st.integers(0, 9))
    def delete(self, app: str, pick: int) -> None:
        if mine := self.active(app):
            self.project().apps.delete(app, mine[pick % len(mine)])

    @rule(app=st.sampled_from(APPS))
    def purge(self, app: str) -> None:
        before = self.memories()
        with suppress(NotFound):  # nothing was ever kept for it
            self.project().apps.purge(app)
        kept = {id_: memory for id_, memory in before.items() if memory.scope.app != app}
        assert self.memories().keys() == kept.keys()

    @invariant()
    def no_app_sees_another_one(self) -> None:
        project = Project(self.root, now=NOW, **RULES)
        for app in APPS:
            shown = project.apps.context(app)
            assert {item.app for item in shown.items} <= {app}
            assert len(shown.items) <= LIMIT
            assert "Quuxville" not in shown.text


Apps.TestCase.settings = settings(max_examples=4, stateful_step_count=10, deadline=None)
TestApps = Apps.TestCase
