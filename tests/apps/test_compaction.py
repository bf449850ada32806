"""The limit holds, and nothing but the chosen memory goes, whoever decides and however many."""

import subprocess
import sys
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest

from pmem import AddRequest, Project
from pmem.core.apps.deciding import adds_little
from pmem.core.filters import Filter
from pmem.errors import InvalidValue, StorageRefused
from pmem.model.tasks import CompactionGiven
from pmem.storage.jsonfiles import JsonFiles
from pmem.upkeep.work.doing import count_waiting
from pmem.values.records import EventKind, Memory, State
from tests.apps import fakes
from tests.conftest import NOW

EVERY = Filter(states=())
NUMBERS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "isle", "jade")


def filled(root: str, count: int, decide: fakes.Decide | None = None, **rules: float) -> Project:
    """Give an app so many memories, as a merge in git may, and hold it to its limit from now on."""
    models = None if decide is None else fakes.model(decide)
    project = fakes.limited(root, 0, None, models, **rules)
    fakes.limited(root, limit=max(count, 10)).add_all(
        [
            AddRequest(content=f"The {NUMBERS[n % 10]} room {n} has {n * 3} seats.", app="calendar")
            for n in range(count)
        ]
    )
    return project


def every(project: Project) -> dict[str, Memory]:
    return {memory.id: memory for memory in project.list(EVERY).items}


def active(project: Project, app: str = "calendar") -> list[str]:
    return [memory.id for memory in project.apps.list(app).items]


@pytest.mark.some(2)
@pytest.mark.row("S0.3.6")
@pytest.mark.parametrize("count", [10, 11, 12, 100, 1000])
def test_any_number_comes_down_to_the_limit_one_decision_each(root: str, count: int) -> None:
    project = filled(root, count)
    before = every(project)
    done = project.apps.compact("calendar")
    assert (len(done.decisions), done.memories) == (count - 10, 10)
    after = every(project)
    assert after.keys() == before.keys()
    gone = {decided.merged or decided.target: decided for decided in done.decisions}
    assert len(gone) == count - 10
    for id_, memory in after.items():
        if id_ in gone:
            last = memory.history[-1]
            assert (last.source, last.detail["reason"]) == ("compaction", gone[id_].reason)
        else:
            assert memory == before[id_]


def test_what_a_compaction_took_can_be_restored(root: str) -> None:
    project = filled(root, 11)
    (decided,) = project.apps.compact("calendar").decisions
    content = every(project)[decided.target].content
    with pytest.raises(InvalidValue, match="calendar has as many memories as it may, 10"):
        project.restore(decided.target)
    project.apps.delete("calendar", active(project)[0])
    (back,) = project.restore(decided.target)
    assert isinstance(back, Memory)
    assert (back.state, back.content) == (State.ACTIVE, content)


@pytest.mark.row("S0.3.2")
def test_what_says_the_same_becomes_one_before_anything_goes(root: str) -> None:
    project = fakes.limited(root, limit=2)
    first = project.apps.remember("calendar", "The lift is broken.", importance=2, tags=("lift",))
    project.apps.remember("calendar", "The user likes tea.", importance=1)
    assert first.memory
    text = "Note that the lift is broken."
    again = fakes.limited(root).add(text, app="calendar", tags=("news",), force=True).memory
    (decided,) = project.apps.compact("calendar").decisions
    assert (decided.action, decided.by) == ("edit", "offline")
    assert {decided.target, decided.merged} == {first.memory.id, again.id}
    kept = project.apps.show("calendar", decided.target)
    assert (set(kept.tags), kept.importance) == ({"lift", "news"}, 5)
    merged = every(project)[decided.merged or ""]
    assert merged.state is State.MERGED
    assert merged.history[-1].detail["into"] == decided.target


@pytest.mark.row("S0.3.3")
def test_importance_use_and_age_decide_and_the_new_one_stays(root: str) -> None:
    texts = ("The lift is broken.", "The user likes tea.", "Lunch is at noon.")
    for hours, text, importance in zip((0, 2000, 2001), texts, (6, 5, 5), strict=True):
        fakes.limited(root, hours).apps.remember("calendar", text, importance=importance)
    project = fakes.limited(root, 2002, limit=3)
    (decided,) = project.apps.remember("calendar", "It rains.", importance=0).decisions
    assert every(project)[decided.target].content == "The lift is broken."  # faded by now


def test_what_is_pinned_stays(root: str) -> None:
    project = filled(root, 10)
    for id_ in active(project)[1:]:
        project.pin(id_)
    loose = active(project)[0]
    (decided,) = project.apps.remember("calendar", "The lift is broken.").decisions
    assert decided.target == loose


@pytest.mark.parametrize("lie", ["delete the pinned one", "nonsense"])
def test_no_model_and_no_failure_takes_what_is_pinned(root: str, lie: str) -> None:
    answers = {"delete the pinned one": fakes.delete(0), "nonsense": lambda given: "nonsense"}
    project = filled(root, 11, answers[lie])
    first, second, *_ = sorted(every(project))
    project.pin(first)
    (decided,) = project.apps.compact("calendar").decisions
    assert (decided.target, decided.by) == (second, "fifo")
    assert ("pinned" in decided.failure) == (lie != "nonsense")


def test_after_three_more_questions_nobody_is_asked_again(root: str) -> None:
    asked: list[str] = []

    def decide(given: CompactionGiven) -> Any:
        asked.append(given.memories[5].id)
        if len(asked) > 10:
            raise RuntimeError("asked for ever")
        fakes.limited(root).edit(asked[-1], f"Room 5 has {len(asked)} seats.")
        return fakes.delete(5)(given)

    project = filled(root, 11, decide)
    (decided,) = project.apps.compact("calendar").decisions
    assert (len(asked), decided.by) == (4, "fifo")
    assert (decided.target, "other writers" in decided.failure) == (min(every(project)), True)


LIES: dict[str, fakes.Decide] = {
    "an exception": fakes.raising,
    "no JSON": lambda given: "delete the first one",
    "endless brackets": lambda given: "[" * 100_000,
    "nothing": lambda given: None,
    "an unknown id": lambda given: {
        "action": "delete",
        "targetMemoryId": "mwqi0000-00000000",
        "reason": "old",
    },
    "no id": lambda given: {"action": "delete", "targetMemoryId": "", "reason": "old"},
    "an unknown action": lambda given: {
        "action": "keep",
        "targetMemoryId": given.memories[3].id,
        "reason": "good",
    },
    "an empty text": fakes.merge(3, "  "),
    "a long text": fakes.merge(3, "room " * 41),
    "half a character": fakes.merge(3, "\ud800"),
    "itself": fakes.merge(3, "Both rooms have seats.", 3),
    "itself as the newest": fakes.merge(-1, "Both rooms have seats."),
    "no reason": fakes.delete(3, " "),
    "half a character as the reason": fakes.delete(3, "odd \ud800"),
    "an exception that says half a character": fakes.stammering,
}


@pytest.mark.row("S0.7.7")
@pytest.mark.parametrize("lie", LIES)
def test_after_a_failure_or_a_lie_the_oldest_goes_and_the_history_says_why(
    lie: str, root: str
) -> None:
    project = filled(root, 11, LIES[lie])
    before = every(project)
    done = project.apps.compact("calendar")
    (decided,) = done.decisions
    assert (decided.action, decided.by, decided.target) == ("delete", "fifo", min(before))
    event = every(project)[decided.target].history[-1]
    assert event.event is EventKind.DELETE
    assert event.detail == {
        "reason": "it is the oldest",
        "by": "fifo",
        "failure": decided.failure,
    }
    assert decided.failure
    assert len(active(project)) == 10


def test_the_new_one_stays_also_where_clocks_disagree(root: str) -> None:
    ahead = fakes.limited(root, hours=5)
    for number in range(10):
        ahead.apps.remember("calendar", f"Room {number} has {number * 7} seats.")
    done = fakes.limited(root).apps.remember("calendar", "The lift is broken.", importance=1)
    assert done.memory
    assert done.memory.state is State.ACTIVE
    assert done.decisions[0].target != done.memory.id


def test_a_model_writes_nothing_of_people_into_a_merge(root: str) -> None:
    project = filled(root, 11, fakes.merge(0, "The user lives in Quuxville."))
    (decided,) = project.apps.compact("calendar").decisions
    assert (decided.by, "city" in decided.failure) == ("fifo", True)
    assert "Quuxville" not in repr(every(project))


def test_an_agent_can_make_room_where_what_people_agreed_to_is_merged(root: str) -> None:
    project = fakes.limited(root, limit=2)
    for text, tag in (
        ("The user lives in Graz.", "home"),
        ("Note that the user lives in Graz.", "x"),
    ):
        project.add(text, app="calendar", tags=(tag,), force=True)
    agent: dict[str, Any] = {"apps.limit": 2}
    bot = Project(root, now=NOW + timedelta(hours=1), agent="bot", **agent)
    (decided,) = bot.apps.remember("calendar", "The lift is broken.").decisions
    assert (decided.action, decided.by) == ("edit", "offline")
    assert "The lift is broken." in [item.content for item in bot.apps.list("calendar").items]


@pytest.mark.row("S0.3.4")
def test_a_model_may_merge_two_and_write_the_content(root: str) -> None:
    def decide(given: CompactionGiven) -> bytes:
        target = given.memories[2].id
        return (
            b'{"action": "edit", "targetMemoryId": "%b", "newContent": "Rooms have seats.",'
            b' "reason": "both are about rooms", "confidence": 1}'
        ) % target.encode()

    project = filled(root, 11, decide)
    (decided,) = project.apps.compact("calendar").decisions
    ids = sorted(every(project))
    assert (decided.target, decided.merged) == (ids[2], ids[10])
    assert project.apps.show("calendar", decided.target).content == "Rooms have seats."
    kinds = [event.event for event in project.history(decided.target)]
    assert kinds == [EventKind.ADD, EventKind.MERGE, EventKind.UPDATE]


def test_without_energy_a_compaction_waits_and_the_block_stays_small(root: str) -> None:
    project = filled(root, 11, fakes.least, energy=0)
    assert project.apps.compact("calendar").deferred
    assert len(project.apps.context("calendar").items) == 10
    assert project.apps.remember("calendar", "The lift is broken.").decisions == ()
    later = fakes.limited(root, models=fakes.model()).apps
    assert later.compact("calendar").memories == 10
    energy = later.stats().energy
    assert energy
    assert (energy.spent, energy.waiting) == (50, 0)


def test_a_decision_that_waits_is_counted_once_and_caught_up_by_consolidate(root: str) -> None:
    project = filled(root, 12, fakes.least, energy=0)
    assert project.apps.compact("calendar").reason == "too little energy"
    assert count_waiting(project.workspace) == 1
    fakes.limited(root, models=fakes.model()).consolidate()
    assert len(active(project)) == 10


def test_others_that_are_quicker_are_asked_about_again(root: str) -> None:
    def decide(given: CompactionGiven) -> Any:
        if len(given.memories) == 12:
            fakes.limited(root).remove(given.memories[5].id)
        return fakes.delete(5)(given)

    project = filled(root, 12, decide)
    ids = sorted(every(project))
    (decided,) = project.apps.compact("calendar").decisions
    assert decided.by.startswith("fake compaction/")
    assert sorted(active(project)) == [id_ for id_ in ids if id_ not in (ids[5], ids[6])]


@pytest.mark.row("S0.7.8")
def test_a_storage_error_is_tried_again_and_then_the_oldest_goes(root: str) -> None:
    project = filled(root, 11, fakes.delete(3))
    commit, failures = JsonFiles.commit, [StorageRefused("the disk hiccups")] * 2

    def failing(files: JsonFiles, changes: Any) -> None:
        if failures:
            raise failures.pop()
        commit(files, changes)

    with mock.patch.object(JsonFiles, "commit", failing):
        (decided,) = project.apps.compact("calendar").decisions
    assert (decided.by, decided.failure) == ("fifo", "the disk hiccups")
    assert len(active(project)) == 10


_WRITER = """
import sys
from pmem import Project
project = Project(sys.argv[1], lock_timeout=60)
for number in range(6):
    project.apps.remember("calendar", f"Writer {sys.argv[2]} saw case {number} of {sys.argv[2]}.")
"""


@pytest.mark.long
def test_writers_in_many_processes_keep_the_limit(root: str) -> None:
    filled(root, 9)
    command = (sys.executable, "-c", _WRITER, root)
    writers = [subprocess.Popen([*command, name]) for name in ("ada", "ben", "cleo", "dora")]
    seen = []
    while any(writer.poll() is None for writer in writers):
        seen.append(len(active(Project(root, read_only=True))))
    assert [writer.returncode for writer in writers] == [0] * 4
    project = Project(root)
    assert len(active(project)) == 10
    assert max(seen) <= 10
    kept = every(project)
    assert len(kept) == 9 + 24
    for memory in kept.values():
        assert (memory.state is State.ACTIVE) == (memory.id in active(project))
        assert memory.state is State.ACTIVE or memory.history[-1].source == "compaction"


SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.mark.row("S0.7.7")
@pytest.mark.parametrize("field", ["reason", "newContent"])
def test_f33_a_decision_with_a_secret_lets_the_oldest_go(root: str, field: str) -> None:
    said = {"newContent": "Both rooms have seats.", "reason": "near"}
    said[field] = f"The key is {SECRET}"
    project = filled(root, 11, lambda given: fakes.merge(1, "")(given) | said)
    (decided,) = project.apps.compact("calendar").decisions
    assert (decided.target, decided.by) == (min(every(project)), "fifo")
    assert "secret" in decided.failure


@pytest.mark.row("S0.3.2")
def test_f17_of_two_that_say_nearly_the_same_the_less_valuable_goes(root: str) -> None:
    project = fakes.limited(root, limit=3)
    texts = {
        "The user's manager is Alec and approves budgets above 500 euros.": 5,
        "The weekly team sync takes place on Tuesday at 10.": 6,
        "The printer is on floor 3.": 5,
        "The weekly team sync is on Tuesday at 10 o'clock in the morning.": 5,
    }
    done = [
        project.apps.remember("calendar", text, importance=worth) for text, worth in texts.items()
    ]
    (decided,) = done[-1].decisions
    assert every(project)[decided.target].content == list(texts)[1]
    assert "says nearly the same" in decided.reason
    assert decided.merged is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Room 0 is on floor 0.", "Room 1 is on floor 7."),
        ("Ben likes green tea.", "Ada likes green tea."),
        ("We use Redis for the session cache.", "We do not use Redis for the session cache."),
        ("The lift is broken.", "The printer is broken."),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_not_is_not_nearly_the_same(
    one: str, other: str
) -> None:
    assert not adds_little(one, other)
    assert not adds_little(other, one)
