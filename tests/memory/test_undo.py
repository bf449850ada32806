"""Commands are taken back one by one, and what was seen before them is seen again."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.filters import Filter
from pmem.errors import BuiltOn, InvalidValue, NotFound
from pmem.memory.requests import AddRequest
from pmem.memory.undo import UndoRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.storage.local.commands import FILE
from pmem.values.records import Memory
from tests.asking import ask
from tests.effort import examples
from tests.storage.folders import opened

_BOOKS: Final = ("history", "updated_at", "access")

Step = Callable[[Project, list[str], int], Any]


def _ref(ids: list[str], number: int) -> str:
    return ids[number % len(ids)]


STEPS: Final[dict[str, Step]] = {
    "add": lambda p, _, n: p.add(f"Fact number {n} of the plan", force=True, tags=(f"t{n}",)),
    "decide": lambda p, _, n: p.add(
        f"We use tool {n}", "decision", subject=f"tool {n}", force=True, instead_of=("none",)
    ),
    "edit": lambda p, ids, n: p.edit(_ref(ids, n), f"Another text {n}", importance=(n % 10) / 10),
    "tag": lambda p, ids, n: p.edit(_ref(ids, n), add_tags=(f"x{n}",), subject=f"subject {n}"),
    "place": lambda p, ids, n: p.edit(_ref(ids, n), places=(f"src/{n}/**",), review_if="later"),
    "supersede": lambda p, ids, n: p.supersede(_ref(ids, n), f"It holds now that {n}"),
    "rm": lambda p, ids, n: p.remove(_ref(ids, n)),
    "restore": lambda p, ids, n: p.restore(_ref(ids, n)),
    "pin": lambda p, ids, n: p.pin(_ref(ids, n), pinned=n % 2 == 0),
    "link": lambda p, ids, n: p.link(_ref(ids, n), _ref(ids, n + 1), "depends_on", 0.7),
    "relink": lambda p, ids, n: p.link(_ref(ids, n), _ref(ids, n + 1), "depends_on", 0.2),
    "unlink": lambda p, ids, n: p.unlink(_ref(ids, n), _ref(ids, n + 1)),
    "tried": lambda p, _, n: p.tried(f"raise it to {n}", "it blocked", worked=f"wait {n} seconds"),
    "outcome": lambda p, ids, n: p.outcome(_ref(ids, n), "bad", f"It lost {n}"),
    "episode": lambda p, _, n: p.add_episode(f"A turn of {n}", title=f"Turn {n}"),
    "consolidate": lambda p, _ids, _n: p.consolidate(),
}


def seen(root: str) -> dict[str, Any]:
    """Return what lists, searches and contexts go by: every active record, the books apart."""
    workspace = opened(root)
    found = [*workspace.memories.find(Filter()), *workspace.episodes.find(Filter())]
    return {
        one.id: {k: v for k, v in msgspec.structs.asdict(one).items() if k not in _BOOKS}
        for one in found
    }


def commands(root: str) -> int:
    log = Path(root, "local", FILE)
    return len(log.read_bytes().splitlines()) if log.exists() else 0


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 40)), max_size=12))
def test_whatever_was_done_is_undone_step_by_step(steps: list[tuple[str, int]]) -> None:
    root = os.path.join(tempfile.mkdtemp(prefix="undo-", dir="."), ".project-memory")
    initialise(root)
    project = Project(root)
    project.add("The first memory of all", tags=("first",))
    before = [seen(root)]
    for name, number in steps:
        ids = sorted(one.id for one in opened(root).memories.find() if isinstance(one, Memory))
        known = commands(root)
        try:
            STEPS[name](project, ids or ["none"], number)
        except (InvalidValue, NotFound):
            continue
        if commands(root) > known:
            before.append(seen(root))
    for state in reversed(before):
        assert seen(root) == state
        project.undo()
    assert seen(root) == {}
    with pytest.raises(NotFound):
        project.undo()


@pytest.fixture
def project(root: str) -> Project:
    return Project(root)


def _forget_last(root: str) -> None:
    """Make the last command one of another clone."""
    log = Path(root, "local", FILE)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))


def test_what_others_built_on_is_not_taken_back(project: Project, root: str) -> None:
    memory = project.add("We use MySQL").memory
    project.edit(memory.id, "We use PostgreSQL")
    project.edit(memory.id, "We use PostgreSQL 17")
    _forget_last(root)
    with pytest.raises(BuiltOn, match=r"has changed since `edit` of .*: content"):
        project.undo()
    assert project.list().items[0].content == "We use PostgreSQL 17"
    project.edit(memory.id, "We use PostgreSQL")
    _forget_last(root)
    project.undo()
    assert project.list().items[0].content == "We use MySQL"


def test_a_history_that_a_merge_took_apart_is_left_alone(project: Project, root: str) -> None:
    memory = project.add("We use MySQL").memory
    project.tried("raise the retries", "they blocked us", worked="wait a minute")
    project.edit(memory.id, "We use Go")
    project.supersede(memory.id, "We use Rust")
    workspace = opened(root)
    with workspace.transaction():
        old = workspace.memories.get(memory.id)
        events = (*old.history[:-1], msgspec.structs.replace(old.history[-1], actor="somebody"))
        workspace.memories.put(msgspec.structs.replace(old, history=events))
    with pytest.raises(BuiltOn, match="was merged since"):
        project.undo()


def test_all_of_several_commands_are_taken_back_or_none(project: Project, root: str) -> None:
    first, second = project.add("One thing").memory, project.add("Another thing").memory
    project.edit(first.id, "One thing more")
    project.edit(second.id, "Another thing more")
    _forget_last(root)
    before = seen(root)
    with pytest.raises(BuiltOn):
        project.undo(2)
    assert seen(root) == before
    assert project.undo(1).total == 1


def test_a_dry_run_changes_nothing(project: Project, root: str) -> None:
    memory = project.add("One thing").memory
    project.edit(memory.id, "One thing more")
    before, known = seen(root), commands(root)
    told = ask(opened(root), table.UNDO, UndoRequest(many=2, dry_run=True))
    assert [one.operation for one in told.items] == ["edit", "add"]
    assert project.undo(2, dry_run=True).total == 2
    assert (seen(root), commands(root)) == (before, known)


def test_a_batch_is_one_command(project: Project, root: str) -> None:
    project.add_all([AddRequest(content=f"Thing {n} of the plan") for n in range(3)])
    assert len(seen(root)) == 3
    (done,) = project.undo().items
    assert len(done.changes) == 3
    assert seen(root) == {}


def test_a_log_that_is_lost_or_damaged_takes_nothing_back(project: Project, root: str) -> None:
    project.add("One thing")
    log = Path(root, "local", FILE)
    kept = log.read_bytes()
    empty = b'{"at":"2026-01-01T00:00:00Z","operation":"add","changes":[]}\n'
    for data in (b"not a line\n" + kept[:-9], empty, b"[" * 100_000, b"\0" * 2**23):
        log.write_bytes(data)
        with pytest.raises(NotFound):
            project.undo()
        assert len(seen(root)) == 1
    log.write_bytes(empty + b"not a line\n" + kept)
    assert project.undo().total == 1
