"""The inbox has what needs attention, and each of its commands settles it."""

import os
import shlex
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmem import Project
from pmem.core.inbox import InboxKind
from pmem.errors import InvalidValue, Refused
from pmem.operations import table
from pmem.operations.pipeline import run
from pmem.project.caller import Caller
from pmem.project.setup import write_setting
from pmem.report.collecting import ReportRequest
from pmem.report.page import head_figures
from pmem.upkeep.inbox import Inbox, InboxRequest
from pmem.values.records import Source
from tests.asking import ask
from tests.cli.shell import data_of, pmem
from tests.conftest import NOW
from tests.storage.folders import contradict, opened


def _contradiction(project: Project) -> None:
    contradict(project.workspace.root, project.add("Said on one branch").memory.id)


def _proposal(project: Project) -> None:
    project.add("The user lives in Graz", agent="planner")


def _fact(project: Project) -> None:
    project.start_conversation("Talk")
    project.add_message("user", "I think we prefer tabs in the parser")


def _subject(project: Project) -> None:
    project.add("We use MySQL", subject="database")
    project.add("We use PostgreSQL", subject="Database", force=True)


def _duplicate(project: Project) -> None:
    project.add("Money is integer cents, never a float")
    project.add("Money is always integer cents, never floats")


def _citation(project: Project) -> None:
    Path("port.py").write_text("PORT = 80\n", encoding="utf-8")
    project.add("It listens on port 80", cite=("port.py:1",))
    Path("port.py").write_text("PORT = 8080\n", encoding="utf-8")


def _due(project: Project) -> None:
    project.add("We pay for ten seats", "decision", review_at=NOW - timedelta(days=1))


def _expired(project: Project) -> None:
    start = NOW - timedelta(days=9)
    project.add("The beta is open", valid_from=start, valid_until=NOW - timedelta(days=2))


def _trust(project: Project) -> None:
    project.add("Somebody else's fact", source=Source(kind="import:notes"))


def _noted(project: Project) -> None:
    Project(project.workspace.root, agent="helper").add("Buoys are red")


def _fading(project: Project) -> None:
    root = project.workspace.root
    write_setting(f"{root}/config.toml", "decay", "s2")
    old = Project(root, now=NOW - timedelta(days=900))
    for number in range(40):
        old.add(f"Fact {number} of an old plan", importance=0.5, force=True)
    for number in range(40):
        project.add(f"Fact {number} that is new", importance=0.9, force=True)


MAKING: dict[InboxKind, Callable[[Project], None]] = {
    InboxKind.CONTRADICTION: _contradiction,
    InboxKind.PROPOSAL: _proposal,
    InboxKind.FACT: _fact,
    InboxKind.SUBJECT: _subject,
    InboxKind.DUPLICATE: _duplicate,
    InboxKind.CITATION: _citation,
    InboxKind.DUE: _due,
    InboxKind.EXPIRED: _expired,
    InboxKind.TRUST: _trust,
    InboxKind.NOTED: _noted,
    InboxKind.FADING: _fading,
}
KEYS = {
    InboxKind.CONTRADICTION: "koerv",
    InboxKind.PROPOSAL: "ker",
    InboxKind.FACT: "kerv",
    InboxKind.SUBJECT: "knoerv",
    InboxKind.DUPLICATE: "knoerv",
    InboxKind.CITATION: "ekcrv",
    InboxKind.DUE: "klgberv",
    InboxKind.EXPIRED: "kerv",
    InboxKind.TRUST: "kerv",
    InboxKind.NOTED: "kaerv",
    InboxKind.FADING: "ker",
}


@pytest.fixture
def project(root: str, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(os.path.dirname(root))
    monkeypatch.setenv("PMEM_NOW", NOW.strftime("%Y-%m-%dT%H:%M:%SZ"))
    monkeypatch.setenv("PMEM_ACTOR", "ada")
    return Project(root, now=NOW)


def found(project: Project, *kinds: InboxKind) -> Inbox:
    return project.inbox(*kinds)


def test_every_kind_is_tried() -> None:
    assert set(MAKING) == set(KEYS) == set(InboxKind)


def test_a_memory_in_order_has_an_empty_inbox(project: Project) -> None:
    project.add("We deploy on Mondays")
    assert found(project) == Inbox(items=(), counts=dict.fromkeys(InboxKind, 0), total=0)


@pytest.mark.parametrize("kind", InboxKind)
def test_what_needs_somebody_is_in_the_inbox(project: Project, kind: InboxKind) -> None:
    MAKING[kind](project)
    inbox = found(project)
    assert {item.kind for item in inbox.items} == {kind}
    assert inbox.counts[kind] == inbox.total == len(inbox.items)
    assert found(project, kind) == msgspec.structs.replace(inbox, counts={str(kind): inbox.total})
    others = [one for one in InboxKind if one is not kind]
    assert found(project, *others).total == 0
    assert "".join(one.key for one in inbox.items[0].commands) == KEYS[kind]


def _moved(project: Project) -> None:
    Path("port.py").write_text("PORT = 80\n", encoding="utf-8")
    project.add("It listens on port 80", cite=("port.py:1",))
    Path("port.py").write_text("import os\n\nPORT = 80\n", encoding="utf-8")


def _two_facts(project: Project) -> None:
    _fact(project)
    project.add_message("user", "I think we prefer cairo in the printer")


@pytest.mark.parametrize("make", [*MAKING.values(), _moved, _two_facts])
def test_stats_and_a_report_count_what_the_inbox_has(
    project: Project, make: Callable[[Project], None]
) -> None:
    make(project)
    inbox = found(project)
    assert inbox.total
    needs = {one.command.split()[-1]: one.count for one in project.stats().needs}
    assert needs == {kind: count for kind, count in inbox.counts.items() if count}
    report = ask(project.workspace, table.REPORT, ReportRequest())
    assert dict(head_figures(report))["open items"] == inbox.total


@pytest.mark.some(12)
@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in KEYS for key in KEYS[kind]])
def test_every_command_of_an_item_settles_it(project: Project, kind: InboxKind, key: str) -> None:
    MAKING[kind](project)
    inbox = found(project)
    item = inbox.items[0]
    (command,) = [one.command for one in item.commands if one.key == key]
    words = shlex.split(command)[1:]
    if key == "e":  # only a terminal has an editor
        words = [word for word in words if word != "--edit"]
        words += ["Another text altogether"] if words[0] == "edit" else []
    done = pmem(*words)
    assert (done.code, done.said if done.code else "") == (0, "")
    left = {(one.kind, one.id) for one in found(project).items}
    stays = key == "v" or (key == "e" and kind not in (InboxKind.PROPOSAL, InboxKind.FACT))
    if stays and key == "e":
        return  # another text settles it or not: that is for a person to see
    assert ((item.kind, item.id) in left) is stays


def test_an_old_text_that_is_edited_fades_no_more(project: Project) -> None:
    _fading(project)
    item = found(project).items[0]
    assert pmem("edit", item.short, "It is as true as ever").code == 0
    assert item.id not in {one.id for one in found(project).items}


def test_a_fact_that_waits_for_consent_is_there_once(project: Project) -> None:
    project.start_conversation("Talk")
    project.add_message("user", "Remember that I live in Graz.")
    (item,) = found(project).items
    assert item.kind is InboxKind.PROPOSAL
    assert [(need.what, need.count) for need in project.stats().needs] == [
        ("proposal that waits for consent", 1)
    ]
    later = Project(project.workspace.root, now=NOW + timedelta(days=400))
    assert InboxKind.PROPOSAL not in {one.kind for one in found(later).items}
    assert [one.text for one in found(later, InboxKind.FACT).items] == ["The user lives in Graz"]


def test_the_longest_waiting_comes_first_and_as_many_as_are_wanted(project: Project) -> None:
    for days in (3, 9, 6):
        project.add(f"Decision of {days}", "decision", review_at=NOW - timedelta(days=days))
    inbox = project.inbox("due", limit=2)
    assert [item.text for item in inbox.items] == ["Decision of 9", "Decision of 6"]
    assert inbox.total == 3


def test_collecting_changes_nothing(project: Project, root: str) -> None:
    for make in MAKING.values():
        make(project)

    def files() -> dict[str, bytes]:
        records = Path(root).glob("*/*.json")
        return {str(path): path.read_bytes() for path in records}

    before = files()
    assert {item.kind for item in found(project).items} == set(InboxKind)
    assert files() == before


def test_a_citation_of_a_file_that_is_gone_cannot_be_kept(project: Project) -> None:
    _citation(project)
    Path("port.py").unlink()
    (item,) = found(project).items
    assert "port.py:1 gone" in item.why
    assert "k" not in {one.key for one in item.commands}
    (command,) = [one.command for one in item.commands if one.key == "c"]
    assert pmem(*shlex.split(command)[1:]).code == 0
    assert found(project).total == 0


def test_a_file_with_an_odd_name_is_named_so_that_a_shell_takes_it(project: Project) -> None:
    name = "a b; touch 'owned'.py"
    Path(name).write_text("one\n", encoding="utf-8")
    project.add("It says one", cite=(f"{name}:1",))
    Path(name).write_text("two\n", encoding="utf-8")
    (item,) = found(project).items
    (command,) = [one.command for one in item.commands if one.key == "c"]
    assert shlex.split(command)[-2:] == ["--uncite", f"{name}:1"]
    assert pmem(*shlex.split(command)[1:]).code == 0
    assert found(project).total == 0


def test_an_agent_sees_that_something_waits_and_not_what(project: Project, root: str) -> None:
    _proposal(project)
    answer = run(opened(root), table.INBOX, InboxRequest(), Caller(agent="planner")).result
    assert [item.text for item in answer.items] == ["(only people see what it says)"]


def test_an_agent_that_sees_a_part_has_no_inbox(project: Project, root: str) -> None:
    assert pmem("config", "set", "allowlists.planner", "goals").code == 0
    with pytest.raises(Refused, match="look into the inbox"):
        run(opened(root), table.INBOX, InboxRequest(), Caller(agent="planner"))


def test_a_kind_that_does_not_exist_is_refused(project: Project) -> None:
    with pytest.raises(InvalidValue, match="kinds"):
        project.inbox("nothing")


def test_what_is_past_its_date_holds_on_without_an_end(project: Project) -> None:
    _expired(project)
    (item,) = found(project).items
    assert pmem("edit", item.short, "--no-end").code == 0
    assert project.list().items[0].valid_until is None
    project.undo()
    assert found(project).items == (item,)


def test_who_looks_at_a_memory_vouches_for_it_and_an_agent_does_not(
    project: Project, root: str
) -> None:
    _trust(project)
    (item,) = found(project).items
    assert pmem("edit", item.short, "--reviewed", "--agent", "planner").code in (0, 7)
    assert found(project).items == (item,)
    assert pmem("edit", item.short, "--reviewed").code == 0
    assert found(project).total == 0
    again = data_of("log", item.short)
    assert pmem("edit", item.short, "--reviewed").code == 0
    assert data_of("log", item.short) == again


def test_nothing_of_the_inbox_is_kept(project: Project, root: str) -> None:
    """The same question has the same answer."""
    for make in MAKING.values():
        make(project)
    first: Any = ask(opened(root), table.INBOX, InboxRequest())
    assert ask(opened(root), table.INBOX, InboxRequest()) == first


def test_no_key_of_an_item_is_one_that_the_walk_keeps_for_itself() -> None:
    assert not set("".join(KEYS.values())) & set("usq?")
