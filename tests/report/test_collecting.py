"""A report says what every reader of the project may see, and nothing else."""

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from pmem import Project
from pmem.errors import Refused
from pmem.operations import table
from pmem.project.caller import Caller
from pmem.project.workspace import Workspace
from pmem.report.collecting import MOST_CHARACTERS, ReportRequest
from pmem.report.document import ReportDocument
from pmem.report.page import render_page
from pmem.values.records import STORES, Memory, MemoryType, dump_line
from tests.asking import ask
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.hostile.projects import memory, write
from tests.report.stores import NOW as LATER
from tests.report.stores import LivedIn

TOKEN: Final = "ghp_" + "Zk4vQ9xT7bLm2RsW" + "8nYc3HdJ6fPqA1gEtUoB"


@pytest.fixture
def project(root: str) -> Project:
    """Return a memory that people write to."""
    return Project(root, actor="kim", now=NOW)


def collected(root: str, *tasks: str) -> ReportDocument:
    """Return what a report says of a memory, asked as every front end does."""
    return ask(Workspace(root, now=NOW), table.REPORT, ReportRequest(tasks=tasks, budgets=(800,)))


def said(root: str) -> str:
    """Return all that a report says, as text."""
    return dump_line(collected(root)).decode()


def contents(folder: str) -> dict[str, bytes]:
    """Return the tracked files of a memory folder."""
    return {
        str(path): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and f"{os.sep}local{os.sep}" not in str(path)
    }


def test_a_report_tells_what_is_kept_and_what_it_was_before(root: str) -> None:
    LivedIn(root)
    document = ask(Workspace(root, now=LATER), table.REPORT, ReportRequest())
    database = next(each for each in document.memories if each.subject == "database")
    assert database.text == "We use PostgreSQL 16 for orders and for sessions"
    assert [event.changes.get("content") for event in database.history if event.changes] == [
        (
            "We use MySQL 8 for orders and for sessions",
            "We use PostgreSQL 15 for orders and MySQL 8 for sessions",
        ),
        (
            "We use PostgreSQL 15 for orders and MySQL 8 for sessions",
            "We use PostgreSQL 16 for orders and for sessions",
        ),
    ]
    assert database.recalls == 3
    queues = [each for each in document.memories if each.subject == "queue"]
    assert [each.state for each in queues] == ["superseded", "active"]
    assert queues[0].held_until is not None
    assert [need.kind for need in document.needs] == ["subject", "expired"]
    assert [len(document.week.learned), len(document.week.changed)] == [1, 2]


def test_the_same_memory_at_the_same_time_gives_the_same_bytes(root: str) -> None:
    LivedIn(root)
    pages = {
        render_page(ask(Workspace(root, now=LATER), table.REPORT, ReportRequest()))
        for _ in range(2)
    }
    assert len(pages) == 1


def test_a_report_changes_no_file_and_recalls_nothing(root: str) -> None:
    LivedIn(root)
    log = Path(root, "local", "access.log")
    before, recalled = contents(root), log.read_bytes()
    ask(Workspace(root, now=LATER), table.REPORT, ReportRequest())
    assert contents(root) == before
    assert log.read_bytes() == recalled


def test_what_was_said_in_conversations_is_never_in_it(project: Project, root: str) -> None:
    project.start_conversation("Choosing")
    project.add_message("user", "I live in Lisbontown, and the queue might be called Zanzibar.")
    assert project.facts().total > 0
    found = collected(root, "Zanzibar Lisbontown")
    assert "Zanzibar" not in said(root)
    assert "Lisbontown" not in dump_line(found.memories).decode()
    assert [receipt.items for receipt in found.receipts] == [()]
    assert [need.kind for need in found.needs] == ["fact"]


def test_what_waits_for_consent_is_never_in_it(project: Project, root: str) -> None:
    agent = Project(root, agent="planner", now=NOW)
    held = agent.add("The user lives in Lisbontown", type=MemoryType.FACT, category="preference")
    assert held.action in ("queued", "waiting")
    assert "Lisbontown" not in said(root)


def test_what_one_keeps_for_oneself_is_never_in_it(project: Project, root: str) -> None:
    project.add("We use PostgreSQL for orders")
    assert (
        pmem("add", "Zanzibar is how I call the database", "--type", "preference", "--mine").code
        == 0
    )
    done = pmem("report", "-", "--json", "--task", "which database is Zanzibar")
    assert done.code == 0
    assert "is how I call" not in done.text
    assert "We use PostgreSQL" in done.text


def test_what_belongs_to_an_app_is_never_in_it(project: Project, root: str) -> None:
    project.add("Meetings only after Zanzibar time", app="calendar")
    project.add("We use PostgreSQL")
    assert "Zanzibar" not in said(root)
    assert [each.text for each in collected(root).memories] == ["We use PostgreSQL"]


def test_what_was_removed_is_only_among_what_was_forgotten_lately(
    project: Project, root: str
) -> None:
    gone = project.add("The launch is on Zanzibar day").memory
    project.remove(gone.id)
    found = collected(root)
    assert found.memories == ()
    month = ask(
        Workspace(root, now=NOW + timedelta(days=30)), table.REPORT, ReportRequest(budgets=(800,))
    )
    assert "Zanzibar" not in dump_line(month).decode()


FIELDS: Final[dict[str, Any]] = {
    "content": "{}",
    "subject": "{}",
    "tags": ["{}"],
    "category": "{}",
    "because": "{}",
    "places": ["{}"],
    "review_if": "{}",
    "instead_of": ["{}"],
    "source": {"kind": "{}", "file": "{}"},
    "relationships": [{"target": "mjwaid1q-00000001", "type": "{}"}],
    "history": [
        {
            "event": "UPDATE", "at": "2026-01-05T12:00:00.000Z", "actor": "{}", "agent": "{}",
            "source": "{}", "before": {"content": "{}"}, "detail": {"{}": "{}"},
        }
    ],
}  # fmt: skip


def filled(value: Any, text: str) -> Any:
    """Return a value with a text in each place that waits for one."""
    if isinstance(value, str):
        return value.replace("{}", text)
    if isinstance(value, list):
        return [filled(each, text) for each in value]
    if isinstance(value, dict):
        return {filled(key, text): filled(each, text) for key, each in value.items()}
    return value


def plant(root: str, field: str, text: str) -> None:
    """Put a record into a memory whose field holds a text, as an editor or a merge could."""
    fields = {field: filled(FIELDS[field], text)}
    write(f"{root}/{STORES[Memory]}/mjwaid1q-00000001.json", memory("mjwaid1q-00000001"))
    write(f"{root}/{STORES[Memory]}/mjwaid1q-00000002.json", memory("mjwaid1q-00000002", **fields))


@pytest.mark.parametrize("field", FIELDS)
def test_a_secret_is_masked_whichever_field_holds_it(root: str, field: str) -> None:
    plant(root, field, TOKEN)
    assert TOKEN not in said(root)


@pytest.mark.parametrize("field", FIELDS)
def test_hidden_characters_are_written_out_whichever_field_holds_them(
    root: str, field: str
) -> None:
    plant(root, field, "left\u202eright\u200b")
    assert {sign for sign in strings(json.loads(said(root))) if sign in "\u202e\u200b"} == set()


def strings(value: Any) -> Iterator[str]:
    """Yield every character of every text in JSON."""
    if isinstance(value, str):
        yield from value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from (*key, *strings(each))
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def test_an_agent_with_an_allowlist_gets_no_report(root: str) -> None:
    with open(f"{root}/config.toml", "a", encoding="utf-8") as file:
        file.write('[allowlists]\nplanner = ["goals"]\n')
    with pytest.raises(Refused, match="may not make a report"):
        ask(Workspace(root, now=NOW), table.REPORT, ReportRequest(), Caller("planner"))


def test_a_very_long_text_is_cut(root: str) -> None:
    long = "gear " * 3000
    write(f"{root}/{STORES[Memory]}/mjwaid1q-00000001.json", memory("mjwaid1q-00000001", long))
    text = collected(root).memories[0].text
    assert (len(text), text[-1]) == (MOST_CHARACTERS, "…")


def test_a_receipt_says_of_each_candidate_why_it_is_in_or_out(project: Project, root: str) -> None:
    project.add("We use PostgreSQL for orders", subject="database")
    project.add("The office is closed on Mondays")
    receipt = collected(root, "which database do we use").receipts[0]
    assert receipt.tokens <= receipt.budget == 800
    assert [item.why for item in receipt.items] == [
        'shares "database", "use" with the task',
        "all memories fit into half of the budget",
    ]
    assert len(receipt.items) + sum(receipt.reasons.values()) == 2


def test_an_empty_memory_has_a_report_too(root: str) -> None:
    found = collected(root)
    assert (found.memories, found.needs, found.receipts) == ((), (), ())
