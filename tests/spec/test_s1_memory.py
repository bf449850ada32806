"""S1, the memory system: the acceptance lines of sections 1, 2, 4, 7, 8, 9, 10, 13, 14 and 15.

Speed, damage and concurrency have tests of their own; here each line is held once.
"""

import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest

from pmem import AddRequest, Project
from pmem.core.filters import Filter
from pmem.core.operations import UPKEEP
from pmem.core.style_rules import lints
from pmem.memory.proposals import Withheld
from pmem.memory.requests import Added
from pmem.project.setup import write_setting
from pmem.storage.local.logs import MOST_BYTES, OPERATIONS_BEFORE, OPERATIONS_FILE, Operations
from pmem.values.records import EventKind, MemoryType, State
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.core.test_writing import labelled
from tests.work import WITHIN, calls


def opened(root: str, days: float = 0, **options: object) -> Project:
    """Open a memory as it is so many days later."""
    return Project(root, actor="kim", now=NOW + timedelta(days=days), **options)  # type: ignore[arg-type]


@pytest.mark.row("S1.1.1", "S1.1.4")
def test_1_a_header_of_at_most_3_changes_appears_once_and_the_revision_rises(root: str) -> None:
    project = opened(root)
    first = project.delta("review").revision
    for number in range(5):
        project.add(f"Rule {number} is about room {number}.")
    told = project.delta("review")
    assert 1 <= len(told.changes) <= 3
    assert told.revision > first


@pytest.mark.row("S1.1.3")
def test_1_a_context_has_the_header_where_something_changed(root: str) -> None:
    project = opened(root)
    project.add("Tea is green.")
    assert pmem("-C", root, "context", "--thread", "review").text.count("Memory updates") == 0
    project.add("Kettles whistle loudly.")
    told = pmem("-C", root, "context", "--thread", "review").text
    assert "Memory updates since rev 1:" in told
    assert "+created: [knowledge] Kettles whistle loudly." in told
    assert "Memory updates" not in pmem("-C", root, "context", "--thread", "review").text


@pytest.mark.row("S1.1.5")
def test_1_every_kind_of_change_is_told(root: str) -> None:
    project = opened(root)
    texts = (
        "Tea is green.",
        "Kettles whistle.",
        "Zebras graze.",
        "Noon is lunch.",
        "Lunch is noon.",
    )
    one, two, three, *_ = (project.add(text, force=True).memory.id for text in texts)
    project.add("Owls hoot.", importance=0.1)
    project.remove(two)
    project.delta("review")

    def told() -> set[EventKind]:
        return {change.event for _ in range(3) for change in project.delta("review").changes}

    project.edit(one, "Tea is black.")
    project.restore(two)
    project.remove(three)
    project.consolidate()
    assert told() == {EventKind.UPDATE, EventKind.RESTORE, EventKind.DELETE, EventKind.MERGE}
    opened(root, 61).sweep()
    assert EventKind.TTL in told()


@pytest.mark.row("S1.2.5")
def test_2_a_link_that_adding_makes_takes_less_than_2_ms(root: str) -> None:
    words = (
        "contract design plan budget schedule scope tests docs logs invoices labels maps".split()
    )
    texts = [f"Ana reviews the {word} of the billing service before the release" for word in words]
    requests = [AddRequest(content=text, force=True) for text in texts]
    linked, plain = opened(f"{root}-a"), opened(f"{root}-b", link_on_add=False)
    opened(f"{root}-c").add_all(requests)  # what only a process's first one does
    added: list[Added] = []
    more = calls(lambda: added.extend(linked.add_all(requests)))
    more -= calls(lambda: plain.add_all(requests))
    links = sum(len(item.links) for item in added)
    assert links >= len(words)
    assert more < links * WITHIN * 2


@pytest.mark.row("S1.2.6", "S1.2.8")
def test_2_no_link_is_made_twice_and_what_is_linked_comes_along(root: str) -> None:
    project = opened(root)
    one, two = (project.add(text).memory for text in ("Tea is green.", "Kettles whistle loudly."))
    for _ in range(2):
        project.link(one.id, two.id)
    assert len(project.show(one.id).relationships) == 1  # type: ignore[union-attr]
    assert [item.id for item in project.search("tea").related] == [two.id]


def busy(root: str, days: float, subject: str) -> None:
    """Change what is known about a subject three times, which says something by itself."""
    project = opened(root, days)
    memory = project.add(f"{subject} costs 0 euros.", subject=subject, force=True).memory
    for price in range(3):
        project.edit(memory.id, f"{subject} costs {price + 1} euros.")


def insights(root: str) -> list[str]:
    """Return what upkeep has concluded."""
    items = opened(root).list(Filter(types=(MemoryType.INSIGHT,))).items
    return [item.content for item in items]


@pytest.mark.row("S1.3.4", "S1.3.5")
def test_3_insights_come_from_upkeep_alone_and_only_where_there_is_one(root: str) -> None:
    project = opened(root)
    project.add("Tea is green.", subject="tea")
    project.consolidate()
    assert insights(root) == []
    busy(root, 0, "Ledger")
    assert insights(root) == []
    project.consolidate()
    (insight,) = insights(root)
    assert len(insight) <= 280


@pytest.mark.row("S1.4.3", "S1.4.5")
def test_4_upkeep_reduces_duplicates_and_is_bounded(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmem.core.lifecycle.consolidation.MOST_PAIRS", 1)
    project = opened(root)
    for text in ("Tea is served at noon.", "At noon tea is served.", "Tea at noon is served."):
        project.add(text, force=True)
    project.consolidate()
    assert project.list().total == 2


@pytest.mark.row("S1.7.2", "S1.7.5")
def test_7_what_is_soft_deleted_is_in_no_context_and_purged_when_due(root: str) -> None:
    project = opened(root)
    memory = project.add("Zebras graze here.", importance=0.1).memory
    opened(root, 61).sweep()
    swept = opened(root, 61)
    assert swept.show(memory.id).state is State.SOFT_DELETED  # type: ignore[union-attr]
    assert "Zebras" not in swept.build_context("zebras").text
    opened(root, 92).sweep()
    assert memory.id not in repr(opened(root, 92).events(limit=0))


@pytest.mark.row("S1.7.3", "S1.7.4")
def test_7_what_is_soft_deleted_is_told_once_and_can_be_restored(root: str) -> None:
    memory = opened(root).add("Zebras graze here.", importance=0.1).memory
    opened(root).delta("review")
    opened(root, 61).sweep()
    swept = opened(root, 61)
    assert [change.event for change in swept.delta("review").changes] == [EventKind.TTL]
    assert swept.delta("review").changes == ()
    swept.restore(memory.id)
    assert "Zebras" in swept.build_context("zebras").text


@pytest.mark.row("S1.8.1")
def test_8_no_kind_of_write_is_left_out(root: str) -> None:
    write_setting(f"{root}/config.toml", "decay", "s2")  # so that a few old ones are archived
    project = opened(root)
    texts = ("Tea is green.", "Zebras graze.", "Noon is lunch.", "Lunch is noon.", "Ink is red.")
    one, two, _, _, five = (project.add(text, force=True, user="mira").memory.id for text in texts)
    project.edit(one, "Tea is black.")
    project.link(one, two)
    project.unlink(one, two)
    project.pin(one)
    project.supersede(five, "Ink is blue.")
    project.consolidate()
    project.remove(two)
    project.restore(two)
    project.add("Zebras sleep at night.", force=True, user="mira", importance=0.1)
    opened(root, 61).sweep()
    opened(root, 400).consolidate()
    kinds = {str(row.event) for row in opened(root, 400).audit("mira")}
    assert kinds == {kind.value for kind in EventKind}


@pytest.mark.row("S1.8.4")
def test_8_every_write_is_recorded_and_exported_per_user(root: str) -> None:
    project = opened(root)
    memory = project.add("Mira likes tea.", user="mira").memory
    project.add("Ben likes milk.", user="ben")
    project.edit(memory.id, "Mira likes green tea.")
    project.remove(memory.id)
    project.restore(memory.id)
    rows = list(project.audit("mira"))
    assert [row.event for row in rows] == ["ADD", "UPDATE", "DELETE", "RESTORE"]
    assert {row.memory_id for row in rows} == {memory.id}
    done = pmem("-C", root, "export", "audit", "--user", "mira")
    assert done.out.count(b"\n") == 4


@pytest.mark.row("S1.9.5")
def test_9_texts_of_agents_are_held_to_the_writing_rules_where_enforced(root: str) -> None:
    environment = {"PMEM_WRITING_LINT": "refuse"}
    refused = pmem("-C", root, "add", "We like it", "--agent", "a", environment=environment)
    assert (refused.code, "writing rules" in refused.said) == (3, True)
    noted = pmem("-C", root, "add", "We like it", "--agent", "a")
    assert (noted.code, noted.said.count("better: ")) == (0, 2)
    silent = pmem("-C", root, "add", "We like them")
    assert (silent.code, silent.said) == (0, "")
    assert lints("Ana Reyes leads the platform team.") == []


@pytest.mark.row("S1.9.6")
def test_9_at_least_95_percent_of_sound_texts_pass_at_once() -> None:
    texts = [text for text, rules in labelled("sound") if not rules]
    passed = sum(not lints(text) for text in texts)
    assert passed / len(texts) >= 0.95


SENSITIVE = {
    "preferred_name": ("The user's preferred name is Quux.", "My name is Quux"),
    "pronouns": ("The user's pronouns are qu/uux.", "My pronouns are qu/uux"),
    "city": ("The user lives in Quux.", "I live in Quux"),
    "language": ("The user speaks Basque.", "I speak Basque"),
}


@pytest.mark.row("S1.10.1", "S1.10.2")
@pytest.mark.parametrize("field", SENSITIVE)
def test_10_each_sensitive_field_waits_seven_days_on_every_way_in(field: str, root: str) -> None:
    told, heard = SENSITIVE[field]
    project = opened(root)
    project.add("The user likes tea.", subject="user")
    (known,) = project.list().items
    assert project.add(told, agent="planner", force=True).action == "queued"
    with pytest.raises(Withheld):
        opened(root, agent="planner").edit(known.id, told)
    project.start_conversation(app="calendar")
    project.add_message("user", f"Remember that {heard}.")
    project.end_conversation()
    items = opened(root, 6.9).waiting().items
    assert {item.field for item in items} == {field}
    assert len(items) >= 2
    assert opened(root, 7).waiting().total == 0
    assert [item.content for item in opened(root, 8).list().items] == ["The user likes tea."]


@pytest.mark.row("S1.10.5")
def test_10_a_benign_field_is_applied_after_two_signals(root: str) -> None:
    actions = [
        opened(root, days).add("Ship the beta by May.", category="goals", agent="planner").action
        for days in (0, 0.01, 1)
    ]
    assert actions == ["waiting", "waiting", "added"]


@pytest.mark.row("S1.10.4", "S1.10.8")
def test_10_no_sensitive_field_changes_without_consent_and_the_trail_tells(root: str) -> None:
    project = opened(root)
    held = project.add("The user's pronouns are they/them.", agent="planner").held
    assert held is not None
    assert project.list().total == 0
    project.approve(held.id)
    (row,) = project.audit()
    assert (row.event, row.actor) == ("ADD", "kim")
    assert row.meta["detail"]["consent"]["field"] == "pronouns"


WISHES = " ".join(f"Remember that room {n} has {n} tall windows." for n in range(2, 10))


@pytest.mark.row("S1.13.1", "S1.13.2")
def test_13_one_message_makes_at_most_5_candidates_and_3_memories(root: str) -> None:
    project = opened(root)
    project.start_conversation()
    heard = project.add_message("user", WISHES)
    assert (len(heard.facts), len(heard.promoted)) == (5, 3)


@pytest.mark.row("S1.13.6")
def test_13_a_long_message_is_taken_in_within_150_ms(root: str) -> None:
    project = opened(root)
    project.start_conversation()
    assert calls(lambda: project.add_message("user", WISHES * 3)) < WITHIN * 150


@pytest.mark.row("S1.13.3")
def test_13_a_day_has_a_cap_and_the_next_one_begins_anew(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmem.memory.facts.MOST_PROMOTIONS_A_DAY", 4)
    project = opened(root)
    project.start_conversation()
    made = [
        len(project.add_message("user", WISHES.replace("room", room)).promoted)
        for room in ("hall", "loft")
    ]
    assert made == [3, 1]
    later = opened(root, 1)
    assert len(later.add_message("user", WISHES.replace("room", "attic")).promoted) == 3


@pytest.mark.row("S1.14.1")
def test_14_counts_by_node_and_op_over_time(root: str) -> None:
    project = opened(root)
    memory = project.add("Tea is green.").memory
    project.edit(memory.id, "Tea is black.")
    project.search("tea")
    opened(root, 1).build_context("tea")
    project.add("The user lives in Quuxville.", agent="planner")
    counts = {
        (item.day, item.node, item.op, item.status): item.count
        for item in opened(root, 1).stats().operations
    }
    assert counts == {
        ("2026-11-21", "hotpath", "create", "ok"): 1,
        ("2026-11-21", "hotpath", "create", "skipped"): 1,
        ("2026-11-21", "hotpath", "search", "ok"): 1,
        ("2026-11-21", "hotpath", "update", "ok"): 1,
        ("2026-11-22", "context", "search", "ok"): 1,
    }


@pytest.mark.row("S1.14.5")
def test_14_the_log_holds_no_texts_and_stays_small(root: str) -> None:
    project = opened(root)
    project.add("Oolongs are green.", subject="secret leaves", tags=("steeping",))
    project.search("oolongs")
    with open(f"{root}/local/{OPERATIONS_FILE}", "rb") as file:
        told = file.read().lower()
    assert not [word for word in (b"oolong", b"secret", b"steeping") if word in told]
    log = Operations(root)
    entry = log.all()[-1]
    for _ in range(30):
        log.note([entry] * 1000)
    sizes = [
        os.path.getsize(f"{root}/local/{name}")
        for name in (OPERATIONS_FILE, OPERATIONS_BEFORE)
        if name
    ]
    assert max(sizes) < 1.2 * MOST_BYTES
    assert len(log.all()) > 1000


@pytest.mark.row("S1.14.1", "S1.14.3")
def test_14_counts_go_back_a_fortnight_and_links_say_how_close_they_are(root: str) -> None:
    project = opened(root)
    project.add("Ana reviews the plan of the billing service before the release.")
    near = project.add("Ana reviews the scope of the billing service before the release.")
    last = project.operations(limit=0).items[-1]
    assert last.sim == max(link.strength for link in near.links)
    assert [item.count for item in opened(root, 13).stats().operations] == [2]
    assert opened(root, 14).stats().operations == ()


@pytest.mark.row("S1.14.4")
def test_14_upkeep_is_told_apart(root: str) -> None:
    project = opened(root)
    project.add("Tea is served at noon.")
    project.add("At noon tea is served.", force=True)
    project.consolidate()
    found = {(item.node, item.op) for item in project.operations(limit=0).items}
    assert ("worker", "merge") in found
    assert UPKEEP in {event.source for event in project.list().items[0].history}


@pytest.mark.parametrize("line", [b"", b"{}", b"nonsense", b'{"ts": 1}', b"\xff", b"[" * 9999])
def test_14_a_damaged_line_is_left_out(line: bytes, root: str) -> None:
    project = opened(root)
    project.add("Tea is green.")
    with open(f"{root}/local/{OPERATIONS_FILE}", "ab") as file:
        file.write(line + b"\n")
    assert project.operations(limit=0).total == 1


@pytest.mark.row("S1.15.4")
def test_15_nothing_is_lost_when_states_that_were_held_in_memory_move_here(root: str) -> None:
    """A program writes all that it held, stops, and another clone's folder takes its place."""
    held: dict[tuple[str, str], dict[str, Any]] = {
        (f"thread {number}", user): {
            "graph": {"node": number, "steps": [number / 7, None, True]},
            "context": ["茶", "a\u0000b", "x" * number],
            "agents": {},
        }
        for number in range(60)
        for user in ("", "mira", "ben")
    }
    project = opened(root)
    for (thread, user), state in held.items():
        project.save_checkpoint(thread, state, user)
    moved = f"{root}-moved"
    os.rename(root, moved)
    found = opened(moved)
    kept = {(item.thread, item.user) for item in found.checkpoints()}
    assert kept == held.keys()
    assert {key: found.load_checkpoint(*key).state for key in held} == held


@pytest.mark.row("S1.15.1")
def test_15_a_checkpoint_outlives_its_process_and_takes_less_than_100_ms(root: str) -> None:
    state = {"graph": {"node": "plan"}, "context": ["tea"], "agents": {"a": 1}, "history": ["hi"]}
    script = f"from pmem import Project; Project({root!r}).save_checkpoint('t', {state!r}, 'mira')"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    project = opened(root)
    assert project.load_checkpoint("t", "mira").state == state
    assert calls(lambda: project.load_checkpoint("t", "mira")) < WITHIN * 100
    assert calls(lambda: project.save_checkpoint("t", state, "mira")) < WITHIN * 100
