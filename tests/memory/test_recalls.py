"""Recalls are counted: what counts, what does not, and that no reader ever notices."""

import fcntl
import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.core.lifecycle.presence import with_recalls
from pmem.memory import recalls
from pmem.project.views import at_moment
from pmem.project.workspace import Workspace
from pmem.values.records import Access, Memory
from tests import strategies
from tests.conftest import NOW
from tests.faults.console import Done, added, bytes_of, pmem, real

LOG = ".project-memory/local/access.log"
FIXED = {"PMEM_NOW": NOW.isoformat()}


@pytest.fixture
def project() -> Project:
    return Project(".project-memory", actor="tester", now=NOW)


def counted(project: Project) -> dict[str, int]:
    return {id_: found.count for id_, found in project.workspace.own.access.known().items()}


def filled(project: Project) -> tuple[str, str, str]:
    """Add two memories, a conversation and an episode, and return the ids of what counts."""
    first = project.add("The parser reads the archive").memory
    second = project.add("The kitchen closes at ten").memory
    project.start_conversation("Live")
    project.add_message("user", "What about the parser?")
    episode = project.add_episode("The parser was rewritten")
    return first.id, second.id, episode.id


# What counts


@pytest.mark.row("S2.4.6")
def test_a_search_counts_its_memories_and_episodes_once_each(project: Project) -> None:
    first, _, episode = filled(project)
    found = project.search("parser")
    assert {hit.kind for hit in found.hits} == {"memory", "episode", "message"}
    assert counted(project) == {first: 1, episode: 1}
    project.search("parser", top_k=1, kinds=("memory",))
    assert counted(project) == {first: 2, episode: 1}
    assert project.workspace.own.access.known()[first].last_at == NOW


def test_showing_a_memory_or_an_episode_counts(project: Project) -> None:
    first, _, episode = filled(project)
    for reference in (first, first[-8:], episode):
        project.show(reference)
    assert counted(project) == {first: 2, episode: 1}


@pytest.mark.row("S2.11.3")
@pytest.mark.parametrize("decay", ["by_type", "s2"])
def test_a_context_counts_what_it_recalls_and_what_it_shows_that_would_fade(
    root: str, decay: str
) -> None:
    project = Project(root, actor="tester", now=NOW, decay=decay)
    first, second, episode = filled(project)
    project.pin(second)
    lifted = project.add("The harbour freezes in March", importance=0.9).memory.id
    decision = project.add("Boats are painted green", type="decision", importance=0.9).memory.id
    built = project.build_context("parser", budget=2000)
    shown = {part.name: {item.id for item in part.items} for part in built.sections}
    assert shown["memory"] == {second, lifted, decision}
    assert shown["recalled"] == {first, episode}
    in_use = {lifted: 0} if decay == "by_type" else {}
    assert counted(project) == {first: 1, episode: 1, **in_use}


def test_what_a_context_shows_without_an_answer_is_used_and_not_recalled(root: str) -> None:
    project = Project(root, actor="tester", now=NOW)
    rule = project.add("Never commit on Friday", "constraint", subject="commits").memory.id
    fact = project.add("The parser reads the archive").memory.id
    project.add("Amounts are in pennies", "constraint", subject="money")
    for number in range(3):
        start = {"session_id": f"s{number}", "source": "startup"}
        told = pmem("hook", "session-start", stdin=json.dumps(start).encode())
        assert "parser" in told.out.decode()
        assert "Friday" in told.out.decode()
        project.build_context("the parser and the archive", budget=400)
    found = project.workspace.own.access.known()
    assert (found[fact].count, rule in found) == (3, False)
    assert pmem("stats").out.decode().partition("Recalled most")[2].strip().startswith("3×")
    figures = json.loads(pmem("stats", "--json").out)["data"]
    assert [(used["id"], used["count"]) for used in figures["most_used"]] == [(fact, 3)]
    assert [used["count"] for used in figures["least_used"][:2]] == [0, 0]


def test_a_context_counts_nothing_that_it_had_no_room_for(project: Project) -> None:
    filled(project)
    assert project.build_context("parser", budget=1).retrieval_results != ()
    assert counted(project) == {}


UNCOUNTED: dict[str, Callable[[Project, str], Any]] = {
    "list": lambda project, _: project.list(),
    "a search in the past": lambda project, _: project.search("parser", at=NOW),
    "a context of the past": lambda project, _: project.build_context("parser", at=NOW),
    "what was": lambda project, id_: project.show(id_, at=NOW),
    "a history": lambda project, id_: project.history(id_),
    "figures": lambda project, _: project.stats(),
    "a conversation's figures": lambda project, _: project.conversation_stats(),
    "a check": lambda project, _: project.check(),
    "news": lambda project, _: project.delta("review"),
    "a twin": lambda project, _: project.add("The parser reads the archive"),
    "a change": lambda project, id_: project.edit(id_, importance=0.9),
    "a message": lambda project, _: project.add_message("user", "The parser it is."),
    "a question": lambda project, id_: project.add_question("parser", id_),
    "an evaluation": lambda project, id_: (project.add_question("parser", id_), project.evaluate()),
    "a read-only run": lambda _, id_: Project(".project-memory", read_only=True, now=NOW).show(id_),
    "an empty search": lambda project, _: project.search("nothing like it"),
    "a search that is said not to count": lambda project, _: project.search("parser", counts=False),
    "a conversation": lambda project, _: project.show(next(iter(project.conversations())).id),
}


@pytest.mark.parametrize("do", UNCOUNTED.values(), ids=UNCOUNTED)
def test_nothing_else_counts(project: Project, do: Callable[[Project, str], Any]) -> None:
    first, *_ = filled(project)
    do(project, first)
    assert counted(project) == {}
    assert not os.path.exists(LOG)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", True),
        ("record_access = true", True),
        ("record_access = false", False),
        ('"record\\u005faccess" = false', False),
        ("record_access = 'perhaps'", False),
        ("record_access = ", False),
        ("chunk_size = 0", True),
    ],
)
def test_the_setting_is_heeded_without_the_others(
    project: Project, text: str, *, counts: bool
) -> None:
    first, *_ = filled(project)
    Path(".project-memory/config.toml").write_text(text)
    Project(".project-memory", now=NOW).show(first)
    assert counted(project) == ({first: 1} if counts else {})


def test_every_source_of_settings_may_forbid_counting(project: Project) -> None:
    root = project.workspace.root
    home = Path(os.environ["XDG_CONFIG_HOME"]) / "pmem" / "config.toml"
    forbidden = Workspace(root, overrides={"record_access": False})
    assert not forbidden.configuration.records_access
    assert not Workspace(
        root, environment={"PMEM_RECORD_ACCESS": "false"}
    ).configuration.records_access
    assert Workspace(root, environment=dict(os.environ)).configuration.records_access
    home.parent.mkdir(parents=True)
    home.write_text("record_access = false\n")
    assert not Workspace(root, environment=dict(os.environ)).configuration.records_access
    home.unlink()
    home.mkdir()
    assert not Workspace(root, environment=dict(os.environ)).configuration.records_access
    home.rmdir()
    assert forbidden.settings.record_access is forbidden.configuration.records_access is False


# What follows from it


@pytest.mark.row("S2.4.8")
def test_a_recall_changes_no_later_answer(project: Project) -> None:
    filled(project)
    before = [pmem("search", "parser", "--json", environment=FIXED) for _ in range(3)]
    assert before[0] == before[1] == before[2]
    contexts = [pmem("context", "parser", environment=FIXED) for _ in range(2)]
    assert contexts[0] == contexts[1]


def test_what_waits_counts_with_what_is_folded(project: Project) -> None:
    first, second, _ = filled(project)
    folded = Access(count=3, last_at=NOW - timedelta(days=2))
    workspace = project.workspace
    with workspace.transaction():
        kept = workspace.memories.get(first)
        workspace.memories.put(msgspec.structs.replace(kept, access=folded))
    one, other = (project.workspace.memories.get(id_) for id_ in (first, second))
    assert recalls.counted(project.workspace, [one, other]) == [one, other]
    project.show(first)
    (now,) = recalls.counted(project.workspace, [one])
    assert now.access == Access(count=4, last_at=NOW)
    assert recalls.counted(at_moment(project.workspace, NOW), [one]) == [one]


MEMORY = Memory(
    id="1-aaaaaaaa", content="x", category="c", valid_from=NOW, created_at=NOW, updated_at=NOW
)
accesses = st.builds(
    lambda count, at: Access(count=count, last_at=at), strategies.counts, strategies.times
) | st.just(Access())


@given(accesses, accesses, accesses)
def test_adding_up_recalls_depends_on_no_order(one: Access, two: Access, three: Access) -> None:
    def together(*recalls: Access) -> Access:
        return reduce(with_recalls, recalls, MEMORY).access

    assert together(one, two) == together(two, one)
    assert together(one, two, three) == together(three, one, two)
    assert together(one, Access()) == one


def test_the_doctor_says_what_waits(project: Project) -> None:
    first, *_ = filled(project)
    assert _doctor(project).detail == "every use of a record is saved"
    project.show(first)
    project.search("parser")
    assert _doctor(project).detail == "3 uses of 2 records are not saved yet (`pmem consolidate`)"
    assert _doctor(project).ok


def test_the_doctor_drops_damaged_lines_and_nothing_else(project: Project) -> None:
    first, *_ = filled(project)
    project.show(first)
    with open(LOG, "a", encoding="utf-8") as file:
        file.write("half a li")
    found = _doctor(project)
    assert not found.ok
    assert "1 damaged line" in found.detail
    mended = _doctor(project, fix=True)
    assert (mended.ok, mended.fixed) == (True, True)
    assert counted(project) == {first: 1}


def test_the_doctor_names_what_stands_in_the_logs_place(project: Project) -> None:
    filled(project)
    os.mkdir(LOG)
    for fix in (False, True):
        found = _doctor(project, fix=fix)
        assert (found.ok, found.fixed) == (False, False)
        assert os.path.abspath(LOG) in found.detail


def _doctor(project: Project, *, fix: bool = False) -> Any:
    (found,) = (item for item in project.doctor(fix=fix) if item.name == "recalls")
    return found


# No trouble with the log changes an answer


def _locked(path: str) -> None:
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(file, fcntl.LOCK_EX)  # until the process that runs the test ends


def _linked(path: str) -> None:
    Path("../elsewhere").write_text("theirs")
    os.symlink(os.path.abspath("../elsewhere"), path)


TROUBLE: dict[str, Callable[[str], Any]] = {
    "locked": _locked,
    "a link": _linked,
    "a dangling link": lambda path: os.symlink("nowhere", path),
    "a folder": os.mkdir,
    "a pipe": os.mkfifo,
    "read-only": lambda path: os.close(os.open(path, os.O_CREAT, stat.S_IREAD)),
    "damaged": lambda path: Path(path).write_bytes(b"\xff" * 10**6),
    "without its folder": lambda path: shutil.rmtree(os.path.dirname(path)),
}
RECALLS = (("show", "MEMORY"), ("show", "MEMORY", "--json"), ("search", "parser"), ("context", "?"))


def uncounted(done: Done) -> Done:
    """Return an answer without how often the log itself says that a record was recalled."""
    return replace(done, out=re.sub(rb"(?m)^recalled  .*$", b"", done.out))


@pytest.mark.some(3)
@pytest.mark.parametrize("make", TROUBLE.values(), ids=TROUBLE)
def test_no_trouble_with_the_log_changes_an_answer(
    root: str, plain: tuple[str, ...], make: Callable[[str], Any]
) -> None:
    memory = added("The parser reads the archive")
    lines = [[memory if word == "MEMORY" else word for word in line] for line in RECALLS]
    expected = [uncounted(pmem(*line, environment=FIXED)) for line in lines]
    os.unlink(LOG)
    before = bytes_of(root)
    make(LOG)
    assert [uncounted(pmem(*line, environment=FIXED)) for line in lines] == expected
    assert uncounted(real(*lines[0], environment=FIXED, before=plain)) == expected[0]
    assert bytes_of(root) == before
    assert not os.path.exists("../elsewhere") or Path("../elsewhere").read_text() == "theirs"


def test_recalls_of_what_is_not_here_wait_until_it_is(project: Project) -> None:
    first, *_ = filled(project)
    elsewhere = "mzzzzzzz-elsewher"
    project.workspace.own.access.note([first, elsewhere], NOW)
    project.workspace.own.access.note([elsewhere], NOW)
    project.consolidate()
    assert counted(project) == {elsewhere: 2}
    later = Project(".project-memory", actor="tester", now=NOW + timedelta(days=90))
    later.consolidate()
    assert counted(project) == {}


def test_a_recall_by_a_clock_that_was_ahead_counts_as_one_of_now(project: Project) -> None:
    first, *_ = filled(project)
    project.workspace.own.access.note([first], NOW + timedelta(days=9999))
    project.consolidate()
    assert project.workspace.memories.get(first).access == Access(count=1, last_at=NOW)


def test_recalls_of_episodes_are_folded_and_keep_them(project: Project) -> None:
    kept = project.add_episode("The import failed", significance=0.2).id
    later = Project(".project-memory", actor="tester", now=NOW + timedelta(days=100))
    later.show(kept)
    after = Project(".project-memory", actor="tester", now=NOW + timedelta(days=101))
    assert [step.action for step in after.sweep().steps] == ["fold"]
    assert after.workspace.episodes.get(kept).access.count == 1
