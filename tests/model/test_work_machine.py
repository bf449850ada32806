"""The work that two workers do while its sources move, as a state machine."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from pmem.model.tasks import TASKS
from pmem.project.workspace import Workspace
from tests.conftest import NOW
from tests.model.scripted import data_of, say
from tests.model.talks import Perfect, fill, make_eager, opened

_BUILT: dict[str, str] = {}


def built() -> str:
    if not _BUILT:
        from pmem.project.setup import initialise

        top = tempfile.mkdtemp(prefix="pmem-work-")
        folder = os.path.join(top, ".project-memory")
        initialise(folder)
        fill(folder)
        _BUILT["folder"] = folder
    return _BUILT["folder"]


class WorkMachine(RuleBasedStateMachine):
    """Workers take work and answer, rightly or not, early or late; others write meanwhile."""

    taken = Bundle("taken")
    given = Bundle("given")

    def __init__(self) -> None:
        super().__init__()
        self.hours = 0.0
        self.done: dict[str, int] = {}

    @initialize()
    def start(self) -> None:
        self.patch = pytest.MonkeyPatch()
        make_eager(self.patch)
        self.top = tempfile.mkdtemp(prefix="pmem-work-")
        self.root = os.path.join(self.top, ".project-memory")
        shutil.copytree(built(), self.root)

    def teardown(self) -> None:
        self.patch.undo()
        shutil.rmtree(self.top, ignore_errors=True)

    @property
    def project(self) -> Any:
        return opened(self.root, hours=self.hours)

    @rule(target=taken, many=st.integers(1, 4), kind=st.sampled_from(sorted(TASKS)))
    def take(self, many: int, kind: Any) -> Any:
        return multiple(*self.project.next_work(many, kinds=(kind,)).items)

    @rule(target=given, piece=taken)
    def answer(self, piece: Any) -> Any:
        asked = msgspec.convert(data_of(piece.prompt), TASKS[piece.kind].given)
        right = getattr(Perfect(), piece.kind)(asked)
        return {"id": piece.id, "digest": piece.digest, "answer": right, "model": "worker"}

    @rule(answer=given)
    def apply(self, answer: Any) -> None:
        before = self.now_asked(answer["id"])
        kept = self.records()
        (item,) = self.project.apply_work([answer]).items
        if item.status in ("applied", "nothing"):
            assert before == answer["digest"], "it was applied to what had moved"
            self.done[answer["digest"]] = self.done.get(answer["digest"], 0) + 1
            assert self.done[answer["digest"]] == 1, "it was applied twice"
        else:
            assert self.records() == kept
            assert item.status in ("known", "moved")
        if item.status == "moved" and item.next is not None:
            assert item.next.digest == before != answer["digest"]

    @rule(answer=given, mode=st.sampled_from(["half", "invented", "secret", "huge"]))
    def apply_wrongly(self, answer: Any, mode: str) -> None:
        """A worker answers badly: nothing changes."""
        kept = self.records()
        kind = answer["id"].partition(":")[0]
        (item,) = self.project.apply_work([{**answer, "answer": say(mode, kind)}]).items
        assert item.status in ("refused", "known", "moved")
        assert self.records() == kept

    @rule(answer=given, other=given)
    def forge(self, answer: Any, other: Any) -> None:
        if answer["id"] == other["id"]:
            return
        kept = self.records()
        (item,) = self.project.apply_work([{**answer, "digest": other["digest"]}]).items
        assert item.status in ("moved", "known", "refused")
        assert self.records() == kept

    @rule(answer=consumes(given))
    def lose(self, answer: Any) -> None:
        """A worker never comes back."""

    @rule(place=st.integers(0, 20), words=st.sampled_from(["in Hamburg.", "on Mondays."]))
    def change_a_memory(self, place: int, words: str) -> None:
        self.hours += 1
        memories = [one for one in self.workspace().memories.find() if one.state == "active"]
        if memories:
            memory = memories[place % len(memories)]
            self.project.edit(memory.id, f"The note {place} changed {words}")

    @rule(place=st.integers(0, 20))
    def remove_a_memory(self, place: int) -> None:
        memories = [one for one in self.workspace().memories.find() if one.state == "active"]
        if len(memories) > 2:
            self.project.remove(memories[place % len(memories)].id)

    @rule(text=st.sampled_from(["The pool of orders grew to 30.", "Ada likes the new pool."]))
    def go_on_talking(self, text: str) -> None:
        self.hours += 1
        talks = list(self.project.conversations())
        self.project.resume_conversation(talks[0].id)
        self.project.add_message("user", text, speaker="ada", conversation=talks[0].id)

    @invariant()
    def every_file_can_be_read(self) -> None:
        if hasattr(self, "root"):
            assert self.workspace().problems == []

    def workspace(self) -> Workspace:
        return Workspace(self.root, now=NOW)

    def now_asked(self, identifier: str) -> str | None:
        from pmem.upkeep.work.doing import find_work

        kind, _, name = identifier.partition(":")
        found = find_work(self.project.workspace, kind, name)  # type: ignore[arg-type]
        return None if found is None else found.digest

    def records(self) -> dict[str, bytes]:
        files = (path for path in Path(self.root).rglob("*.json") if "local" not in path.parts)
        return {path.name: path.read_bytes() for path in files}


TestWork = WorkMachine.TestCase
TestWork.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
