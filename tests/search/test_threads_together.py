"""One thread, many readers at once: distinct, increasing revisions, each change told once."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.filters import Filter
from pmem.core.retention import changed
from pmem.operations import table
from pmem.search.context_request import ContextRequest
from pmem.search.threads import Delta
from pmem.values.records import Event, EventKind, State, plain
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import IS_THOROUGH, examples

EVERY = Filter(states=())

PROCESSES = 8 if IS_THOROUGH else 4
READS = 20 if IS_THOROUGH else 10
_READS = """
import sys
from pmem import Project
from pmem.values.records import dump_line
for number in range(int(sys.argv[1])):
    found = Project(".project-memory").delta("shared")
    print(dump_line(found).decode())
"""
_COMMAND = (sys.executable, "-m", "pmem", "--json", "delta", "--thread", "shared")


@pytest.fixture
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody wait for the lock as long as a busy machine needs."""
    monkeypatch.setenv("PMEM_LOCK_TIMEOUT", "120")


@pytest.mark.usefixtures("_patience")
def test_many_readers_of_a_thread_share_its_news() -> None:
    project = Project(".project-memory", now=NOW)
    assert project.delta("shared").revision == 1
    children = [_child(sys.executable, "-c", _READS, str(READS)) for _ in range(PROCESSES)]
    commands = [_child(*_COMMAND) for _ in range(3)]
    added = [project.add(f"table {n} wobbles", force=True).memory.id for n in range(30)]
    answers = [[orjson.loads(line) for line in _lines(child)] for child in children]
    answers += [[orjson.loads(line)["data"] for line in _lines(child)] for child in commands]
    assert [len(found) for found in answers] == [READS] * PROCESSES + [1] * 3
    answers.append([plain(rest) for rest in iter_rest(project)])
    for found in answers:
        revisions = [answer["revision"] for answer in found]
        assert revisions == sorted(set(revisions))
        assert all(len(answer["changes"]) <= 3 for answer in found)
    every = [answer for found in answers for answer in found]
    assert sorted(answer["revision"] for answer in every) == list(range(2, len(every) + 2))
    assert all(answer["since"] == answer["revision"] - 1 for answer in every)
    assert Counter(_told(every)) == Counter(added)


@pytest.mark.long
@pytest.mark.row("S1.1.1")
@pytest.mark.usefixtures("_patience")
def test_contexts_and_deltas_at_once_tell_each_change_once() -> None:
    project = Project(".project-memory", now=NOW)
    project.delta("shared")
    added = [project.add(f"table {n} wobbles", force=True).memory.id for n in range(14)]
    line = (*_COMMAND[:4], "context", "--thread", "shared", "--budget", "3000")
    contexts = [_child(*line) for _ in range(5)]
    deltas = [_child(*_COMMAND) for _ in range(2)]
    told: list[str] = []
    revisions = []
    for child in deltas:
        data = orjson.loads(_lines(child)[0])["data"]
        told += _told([data])
        revisions.append(data["revision"])
    for child in contexts:
        data = orjson.loads(_lines(child)[0])["data"]
        shown = [part["items"] for part in data["sections"] if part["name"] == "updates"]
        told += [item["id"].partition("@")[0] for items in shown for item in items]
        revisions.append(data["revision"])
    assert sorted(revisions) == list(range(2, 9))
    told += [change.id for rest in iter_rest(project) for change in rest.changes]
    assert Counter(told) == Counter(added)


STEPS = ("add", "edit", "remove", "restore", "link", "merge", "read", "look", "context", "small")


@settings(max_examples=examples(12))
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.sampled_from("ab"), st.integers(0, 99)), max_size=14
    )
)
def test_whatever_the_order_each_change_is_told_once_to_each_thread(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    """After every event that makes a bullet, a thread is told of its memory, and only then."""
    place = str(tmp_path_factory.mktemp("memory"))
    due: dict[str, set[str]] = {}
    last = Counter[str]()
    deeds = [*steps, *[("read", name, 0) for name in "ab" * 5]]
    for seconds, (step, thread, number) in enumerate(deeds):
        project = Project(place, actor="tester", now=NOW + timedelta(seconds=seconds))
        if step in ("read", "context", "small"):
            told, revision = _read(project, step, thread)
            assert len(told) <= 3
            assert len(set(told)) == len(told)
            assert set(told) <= due.get(thread, set())
            assert step == "small" or len(told) == min(3, len(due.get(thread, ())))
            due[thread] = due.get(thread, set()) - set(told) if revision else due.get(thread, set())
            assert revision == last[thread] + 1 or (step == "small" and not last[thread])
            last[thread] = revision
            continue
        changed, silent = _change(project, step, number)
        for name in (name for name in last if last[name]):
            due[name] = (due.get(name, set()) | changed) - silent
    assert not any(due.values())


def _read(project: Project, step: str, thread: str) -> tuple[list[str], int]:
    if step == "read":
        found = project.delta(thread)
        return [change.id for change in found.changes], found.revision
    request = ContextRequest(thread=thread, budget=5000 if step == "context" else 1)
    built = ask(project.workspace, table.CONTEXT, request)
    assert built.revision is not None
    shown = [item.id for part in built.sections if part.name == "updates" for item in part.items]
    return [name.partition("@")[0] for name in shown], built.revision


def _change(project: Project, step: str, number: int) -> tuple[set[str], set[str]]:
    """Change something; return the memories that threads must be told of, and must not be."""
    known = [memory.id for memory in project.list().items]
    if step == "add" or not known:
        return {project.add(f"table {number} wobbles", force=True).memory.id}, set()
    one, other = known[number % len(known)], known[number // 2 % len(known)]
    if step == "edit":
        before = project.workspace.memories.get(one)
        return {one} if project.edit(one, f"text {number}") != before else set(), set()
    if step == "remove":
        project.remove(one)
        return {one}, set()
    if step == "restore":
        gone = [found.id for found in project.list(EVERY).items if found.id not in known]
        project.restore(*gone[:1])
        return set(gone[:1]), set()
    if step == "link" and one != other:
        project.link(one, other)
    if step == "merge" and one != other:
        merge(project, min(one, other), max(one, other))
        return {min(one, other)}, {max(one, other)}
    return set(), set()


def merge(project: Project, survivor: str, gone: str) -> None:
    """Merge a memory into another one, as consolidation does."""
    workspace = project.workspace
    store = workspace.memories
    with workspace.transaction():
        for name, detail, state in (
            (survivor, {"merged": [gone]}, State.ACTIVE),
            (gone, {"into": survivor}, State.MERGED),
        ):
            event = Event(event=EventKind.MERGE, at=workspace.now(), actor="tester", detail=detail)
            store.put(changed(store.get(name), event, state=state))


def iter_rest(project: Project) -> Iterator[Delta]:
    """Read the thread until there is nothing new."""
    while (found := project.delta("shared")).total:
        yield found
    yield found


def _child(*command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def _lines(child: "subprocess.Popen[bytes]") -> list[bytes]:
    out = child.communicate()[0]
    assert child.returncode == 0
    return out.splitlines()


def _told(answers: list[dict[str, Any]]) -> list[str]:
    return [change["id"] for answer in answers for change in answer["changes"]]
