"""Upkeep on real folders: it comes to rest, keeps to its plan, and whole groups survive."""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.lifecycle.plan import Action
from pmem.errors import Refused
from pmem.memory.changes import RestoreRequest
from pmem.operations import table
from pmem.project.setup import initialise, write_setting
from pmem.project.workspace import Workspace
from pmem.upkeep import consolidation
from pmem.upkeep.consolidation import PlannedStep, UpkeepReport, UpkeepRequest
from pmem.upkeep.integrity import CheckRequest
from pmem.values.records import Episode, EventKind, Memory, State
from tests.asking import ask
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY, TEXTS, crowds, event, identifier, memory
from tests.effort import examples
from tests.faults.console import PROGRAM, bytes_of, pmem
from tests.storage.faults import Act, fault, in_a_child, killed
from tests.storage.folders import opened

Crowd = Iterable[Memory | Episode]
SAME = ("We use PostgreSQL for the ledger.", "we use postgresql for the ledger")


def fill(root: str, crowd: Crowd) -> None:
    """Write records; their links lead only to what is there."""
    known = list(crowd)
    ids = {record.id for record in known}
    workspace = opened(root)
    with mock.patch("os.fsync"), workspace.transaction():
        for record in known:
            if isinstance(record, Episode):
                kept = tuple(id_ for id_ in record.linked_memories if id_ in ids)
                told = msgspec.structs.replace(record, linked_memories=kept, conversation=None)
                workspace.episodes.put(told)
            else:
                links = tuple(link for link in record.relationships if link.target in ids)
                workspace.memories.put(msgspec.structs.replace(record, relationships=links))


def memories(root: str) -> dict[str, Memory]:
    return {known.id: known for known in opened(root).memories.find()}


def upkept(root: str, **asked: Any) -> UpkeepReport:
    return ask(opened(root), table.CONSOLIDATE, UpkeepRequest(**asked))


def ids(report: UpkeepReport, *outcomes: str) -> list[str]:
    return [step.id for step in report.steps if not outcomes or step.outcome in outcomes]


def kept(report: UpkeepReport) -> list[PlannedStep]:
    steps = json.loads(msgspec.json.encode(report))["steps"]
    return msgspec.convert(steps, list[PlannedStep])


def check_whole(root: str) -> None:
    """See that every merge is complete on all its records, and nothing else is wrong."""
    workspace = opened(root)
    expected = {"ahead", "same_subject"}
    checked = ask(workspace, table.CHECK, CheckRequest())
    assert [found for found in checked.findings if found.code not in expected] == []
    known = memories(root)
    for record in known.values():
        for happened in record.history:
            if happened.event is EventKind.MERGE and "into" in happened.detail:
                survivor = known[happened.detail["into"]]
                lists = [e.detail.get("merged", ()) for e in survivor.history]
                assert sum(record.id in merged for merged in lists) == 1, "half a merge"
            for gone in happened.detail.get("merged", ()):
                into = [event.detail.get("into") for event in known[gone].history]
                assert record.id in into, "half a merge"
                assert known[gone].state is not State.ACTIVE, "half a merge"
                assert set(known[gone].tags) <= set(record.tags)


@pytest.mark.row("S2.9.4")
@settings(max_examples=examples(15))
@given(
    crowd=crowds(),
    recalled=st.lists(st.integers(0, 7), max_size=6),
    days=st.sampled_from((0, 10, 70)),
)
def test_a_run_does_what_the_dry_run_said_and_a_second_one_nothing(
    crowd: list[Memory | Episode], recalled: list[int], days: int
) -> None:
    folder = tempfile.mkdtemp()
    try:
        initialise(folder)
        fill(folder, crowd)
        now = NOW + days * DAY
        for number in recalled:
            opened(folder).own.access.note([identifier(number)], now - DAY)
        for operation in (table.CONSOLIDATE, table.SWEEP):
            before = bytes_of(folder, local=True)
            planned = ask(opened(folder, now=now), operation, UpkeepRequest(dry_run=True))
            assert bytes_of(folder, local=True) == before
            with mock.patch("os.fsync"):
                done = ask(opened(folder, now=now), operation, UpkeepRequest())
                assert ids(done) == ids(planned) == ids(done, "done")
                assert (done.plan, done.counts) == (planned.plan, planned.counts)
                later = opened(folder, now=now + timedelta(seconds=1))
                again = ask(later, operation, UpkeepRequest())
            assert (again.steps, again.waiting) == ((), 0)
            check_whole(folder)
    finally:
        shutil.rmtree(folder)


@pytest.mark.long
def test_a_thousand_memories_come_to_rest(root: str) -> None:
    chance = random.Random(1)
    names = "billing login search export report queue cache parser router worker".split()
    crowd = [
        memory(
            n,
            f"The {chance.choice(names)} limit of the {chance.choice(names)} service is "
            f"{chance.randrange(3)} calls",
            created_at=NOW - chance.randrange(80) * DAY,
        )
        for n in range(1000)
    ]
    fill(root, crowd)
    with mock.patch("os.fsync"):
        for _ in range(8):
            done = upkept(root)
            assert ids(done) == ids(done, "done")
            if not done.waiting:
                break
        assert upkept(root).steps == ()
    check_whole(root)
    assert len(memories(root)) == 1000


@pytest.fixture
def due(root: str) -> str:
    """Return a folder in which much is due in S2's manner: an old memory, copies, an update."""
    write_setting(f"{root}/config.toml", "decay", "s2")
    fill(
        root,
        [
            memory(1, SAME[0], tags=("a",)),
            memory(2, SAME[1], tags=("b",)),
            memory(3, "Ana owns the billing service.", tags=("c",)),
            memory(4, "ana owns the billing service", tags=("d",)),
            memory(5, "The limit is 10 requests."),
            memory(6, "The limit is 20 requests."),
            memory(7, "The office plant is called Fern", created_at=NOW - 90 * DAY),
        ],
    )
    return root


DUE = [Action.ARCHIVE, Action.MERGE, Action.MERGE, Action.LINK]


def test_exactly_the_plan_that_was_kept_is_done(due: str) -> None:
    plan = kept(upkept(due, dry_run=True))
    assert [step.action for step in plan] == DUE
    some = [plan[0], plan[2]]
    done = ask(opened(due, now=NOW + DAY), table.CONSOLIDATE, UpkeepRequest(expected=tuple(some)))
    assert [(step.id, step.outcome) for step in done.steps] == [(s.id, "done") for s in some]
    assert (done.missing, done.beyond) == ((), 2)
    again = upkept(due, expected=tuple(some))
    assert (again.steps, again.beyond) == ((), 2)
    assert [step.id for step in again.missing] == [step.id for step in some]


def test_a_step_whose_record_was_edited_is_missing_and_the_others_are_done(due: str) -> None:
    plan = kept(upkept(due, dry_run=True))
    edit(due, 2, content="We use MongoDB.")
    fill(due, [memory(8, "ana owns the BILLING service!")])
    done = upkept(due, expected=tuple(plan))
    assert [step.action for step in done.steps] == [Action.ARCHIVE, Action.LINK]
    assert [step.id for step in done.missing] == [plan[1].id, plan[2].id]
    assert done.beyond == 1, "the merge of three is not the merge of two"
    assert not memories(due)[identifier(2)].history


def test_a_kept_plan_goes_through_a_file(due: str, tmp_path: Path) -> None:
    shown = pmem("consolidate", "--dry-run", "--json", "--now", "2026-11-22")
    assert shown.code == 0
    (tmp_path / "plan.json").write_bytes(shown.out)
    with opened(due).transaction():
        pass
    kept = ("--plan", str(tmp_path / "plan.json"), "--now", "2026-11-22")
    done = pmem("consolidate", *kept, "--json")
    assert done.code == 0, done.err
    assert [step["id"] for step in done.data["steps"]] == [s["id"] for s in shown.data["steps"]]
    again = pmem("consolidate", "--plan", "-", "--json", stdin=shown.out)
    assert again.code == 1
    assert len(again.data["missing"]) == len(shown.data["steps"])


def test_what_was_only_shown_is_kept_in_use_and_told_so(root: str) -> None:
    pmem("add", "Ana likes tea", "--importance", "0.95")
    assert "Ana" in pmem("context", "zebra").out.decode()
    done = pmem("consolidate")
    assert done.code == 0, done.err
    assert "shown    " in done.out.decode()
    assert "+0" not in done.out.decode()


@pytest.mark.parametrize(
    "plan", [b"", b"[]", b"7", b'"data"', b'{"data": []}', b'{"steps": [{}]}', b"[" * 10_000]
)
def test_what_is_no_plan_is_refused_with_one_sentence(due: str, plan: bytes) -> None:
    before = bytes_of(due)
    done = pmem("consolidate", "--plan", "-", stdin=plan)
    assert done.code == 3
    assert "standard input holds no plan" in done.err
    assert bytes_of(due) == before


@contextmanager
def meanwhile(body: Callable[[], None]) -> Iterator[None]:
    """Let others do something between the planning and the doing."""
    original = consolidation._consolidation
    bodies = [body]

    def planner(*args: Any) -> Any:
        plan = original(*args)
        while bodies:
            bodies.pop()()
        return plan

    with mock.patch.object(consolidation, "_consolidation", planner):
        yield


def edit(root: str, number: int, **fields: Any) -> None:
    workspace = opened(root, lock_timeout=0.0)
    with workspace.transaction():
        known = workspace.memories.get(identifier(number))
        workspace.memories.put(msgspec.structs.replace(known, **fields))


@pytest.mark.parametrize(
    ("number", "fields", "left"),
    [
        (2, {"content": "We use MongoDB."}, Action.MERGE),
        (1, {"pinned": True}, Action.MERGE),
        (7, {"importance": 0.9}, Action.ARCHIVE),
        (6, {"tags": ("new",)}, Action.LINK),
        (5, {"content": "The limit is gone."}, Action.LINK),
        (5, {"state": State.SUPERSEDED}, Action.LINK),
    ],
)
def test_what_changes_between_planning_and_doing_is_left_and_the_rest_is_done(
    due: str, number: int, fields: dict[str, Any], left: Action
) -> None:
    with meanwhile(lambda: edit(due, number, **fields)):
        done = upkept(due)
    changed = [step for step in done.steps if step.outcome == "changed"]
    assert [step.action for step in changed] == [left]
    assert sorted(step.action for step in done.steps) == sorted(DUE)
    found = memories(due)
    for record in changed[0].records:
        assert not found[record.id].history, "a part of the step was done"
    check_whole(due)


def test_a_link_to_what_was_purged_meanwhile_is_not_made(due: str) -> None:
    def purge() -> None:
        workspace = opened(due, lock_timeout=0.0)
        with workspace.transaction():
            workspace.memories.remove(identifier(5))

    with meanwhile(purge):
        done = upkept(due)
    assert [step.action for step in done.steps if step.outcome == "changed"] == [Action.LINK]
    check_whole(due)


def test_what_others_add_meanwhile_waits_for_the_next_run(due: str) -> None:
    with meanwhile(lambda: fill(due, [memory(9, SAME[0])])):
        done = upkept(due)
    assert ids(done) == ids(done, "done")
    assert [s.action for s in upkept(due).steps] == [Action.MERGE]
    assert upkept(due).steps == ()


def test_two_runs_that_planned_the_same_do_it_once(due: str) -> None:
    busy = (event(EventKind.UPDATE, before={"content": "x"}),) * 3
    fill(due, [memory(8, "Bo owns login", subject="login", history=busy)])
    inner: list[UpkeepReport] = []
    later = NOW + timedelta(seconds=1)
    with meanwhile(
        lambda: inner.append(ask(opened(due, now=later), table.CONSOLIDATE, UpkeepRequest()))
    ):
        outer = upkept(due)
    assert len(ids(inner[0], "done")) == len(ids(outer, "changed")) == 5
    found = list(memories(due).values())
    assert sum("unsettled" in known.tags for known in found) == 1
    check_whole(due)


def recall(root: str, number: int, times: int) -> None:
    for _ in range(times):
        opened(root).own.access.note([identifier(number)], NOW - DAY)


def interrupted(root: str, at: int, act: Act) -> int:
    """Consolidate in a child process, with something done at the n-th call to the system."""

    def body() -> None:
        with mock.patch.object(consolidation, "BATCH", 1), fault(at, act):
            ask(opened(root, lock_timeout=60.0), table.CONSOLIDATE, UpkeepRequest())

    return in_a_child(body)


def _interrupt(name: str, args: tuple[Any, ...]) -> None:
    raise KeyboardInterrupt


@pytest.mark.long
@pytest.mark.parametrize("act", [killed, _interrupt])
def test_whoever_is_interrupted_leaves_whole_groups_and_loses_no_recall(
    due: str, tmp_path: Path, act: Act
) -> None:
    recall(due, 1, 3)
    recall(due, 4, 2)
    calls = 400
    chance = random.Random(2)
    stopped = 0
    for at in sorted(chance.sample(range(1, calls), 14)):
        folder = str(tmp_path / f"at-{at}")
        shutil.copytree(due, folder)
        with mock.patch("os.fsync"), mock.patch("sys.stderr"):
            stopped += interrupted(folder, at, act) != 0
            check_whole(folder)
            done = upkept(folder)
            assert "changed" not in {step.outcome for step in done.steps}
            assert upkept(folder).steps == ()
        check_whole(folder)
        found = memories(folder)
        assert [n for n in range(1, 8) if found[identifier(n)].state is State.ACTIVE] == [
            1,
            3,
            5,
            6,
        ]
        assert found[identifier(1)].access.count >= 3, "a recall was lost"
        assert found[identifier(3)].access.count >= 2, "a recall was lost"
    assert stopped >= 3


def _start(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [PROGRAM, *arguments, "--json", "--now", "2026-11-22"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _crowd(number: int) -> list[Memory]:
    """Return pairs of copies, each about something of its own."""
    return [
        memory(n, f"The {'kmrstv'[n // 2 % 6]}{n // 2}x plan holds", tags=(f"t{n}",))
        for n in range(number)
    ]


@pytest.mark.long
def test_processes_killed_at_random_leave_whole_merges(root: str) -> None:
    fill(root, _crowd(240))
    recall(root, 1, 3)
    chance = random.Random(4)
    codes = []
    for begin in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4):  # machines differ in how soon it begins
        process = _start("consolidate")
        time.sleep(chance.uniform(begin, begin + 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        codes.append(process.returncode)
        check_whole(root)
    assert -signal.SIGKILL in codes
    done = pmem("consolidate", "--json", "--now", "2026-11-22")
    assert done.code == 0
    assert pmem("consolidate", "--json").data["steps"] == []
    found = memories(root)
    assert sum(known.state is State.ACTIVE for known in found.values()) == 120
    assert found[identifier(0)].access.count >= 3
    assert {
        tag for known in found.values() if known.state is State.ACTIVE for tag in known.tags
    } == {f"t{n}" for n in range(240)}


def test_two_processes_at_once_double_nothing(root: str) -> None:
    fill(root, _crowd(300))
    recall(root, 1, 3)
    both = [_start("consolidate") for _ in range(2)]
    answers = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], answers
    outcomes = [
        step["outcome"]
        for out, _ in answers
        for step in json.loads(out)["data"]["steps"]
        if step["action"] == "merge"
    ]
    assert outcomes.count("done") == 150
    assert set(outcomes) <= {"done", "changed"}
    check_whole(root)
    found = memories(root)
    assert sum(known.access.count for known in found.values() if known.state is State.ACTIVE) == 3
    assert upkept(root).steps == ()


def test_a_read_only_run_plans_but_does_nothing(due: str) -> None:
    recall(due, 5, 1)
    before = bytes_of(due, local=True)
    workspace = Workspace(due, actor="tester", now=NOW, read_only=True)
    for operation in (table.CONSOLIDATE, table.SWEEP):
        with pytest.raises(Refused, match="read-only"):
            ask(workspace, operation, UpkeepRequest())
    planned = ask(workspace, table.CONSOLIDATE, UpkeepRequest(dry_run=True))
    assert [step.action for step in planned.steps] == [Action.FOLD, *DUE]
    assert bytes_of(due, local=True) == before


def test_damaged_files_are_left_out_and_reported(due: str) -> None:
    path = os.path.join(due, "long-term-memory", f"{identifier(2)}.json")
    Path(path).write_bytes(b"{ half")
    recall(due, 2, 1)
    recall(due, 5, 1)
    workspace = opened(due)
    done = ask(workspace, table.CONSOLIDATE, UpkeepRequest())
    assert sorted(ids(done)) == sorted(ids(done, "done"))
    assert [step.action for step in done.steps].count(Action.MERGE) == 1
    assert [problem.path for problem in workspace.problems] == [path]
    assert Path(path).read_bytes() == b"{ half"
    shown = pmem("consolidate")
    assert identifier(2) in shown.err


def test_a_file_that_may_not_be_read_is_left_out_also_when_it_was_recalled(due: str) -> None:
    path = os.path.join(due, "long-term-memory", f"{identifier(2)}.json")
    os.unlink(path)
    os.mkdir(path)
    recall(due, 2, 1)
    done = upkept(due)
    assert sorted(ids(done)) == sorted(ids(done, "done"))
    assert os.path.isdir(path)


def test_what_was_deleted_takes_late_links_with_it(root: str) -> None:
    gone = memory(1, state=State.SOFT_DELETED, purge_at=NOW)
    fill(root, [gone, memory(2, "Ana owns billing.")])
    link = pmem("edit", identifier(2), "--link", identifier(1))
    assert link.code == 0
    original = consolidation._sweep

    def planner(*args: Any) -> Any:
        plan = original(*args)
        fill(root, [memory(3, "Late", relationships=())])
        assert pmem("edit", identifier(3), "--link", identifier(1)).code == 0
        return plan

    with mock.patch.object(consolidation, "_sweep", planner):
        done = ask(opened(root), table.SWEEP, UpkeepRequest())
    assert ids(done, "done")
    assert memories(root).keys() == {identifier(2), identifier(3)}
    assert all(not known.relationships for known in memories(root).values())
    check_whole(root)


@settings(max_examples=examples(25))
@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_a_merged_memory_comes_back_by_restore_and_stays(one: str, other: str) -> None:
    folder = tempfile.mkdtemp()
    try:
        initialise(folder)
        fill(folder, [memory(1, one), memory(2, other)])
        with mock.patch("os.fsync"):
            upkept(folder)
            gone = [known.id for known in memories(folder).values() if known.state is State.MERGED]
            if gone:
                ask(opened(folder), table.RESTORE, RestoreRequest(references=tuple(gone)))
                upkept(folder)
                found = memories(folder).values()
                assert {known.state for known in found} == {State.ACTIVE}
                assert upkept(folder).steps == ()
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["ttl_days", "consolidation_threshold_days", "purge_days"])
def test_a_time_beyond_the_calendar_is_never_over(name: str, root: str) -> None:
    never: dict[str, Any] = {name: 10**12}
    project = Project(root, now=NOW, **never)
    for content in ("The port is 80", "The host is called Mercury"):
        project.add(content, importance=0.1)
    long_after = Project(root, now=NOW + 5000 * DAY, **never)
    long_after.show(long_after.list().items[0].id)
    steps = [*long_after.consolidate().steps, *long_after.sweep().steps]
    idle = {"ttl_days": Action.EXPIRE, "consolidation_threshold_days": Action.ARCHIVE}
    assert idle.get(name, Action.PURGE) not in {step.action for step in steps}
    assert long_after.stats().memories == 2
