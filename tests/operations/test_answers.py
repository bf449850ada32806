"""Every operation runs on a small project, and its answer is what its row names, as JSON."""

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from pmem import Project
from pmem.apps.remembering import RememberRequest
from pmem.conversation.conversations import SayRequest, StartRequest
from pmem.conversation.episodes import EpisodeRequest
from pmem.conversation.exchange import ExportRequest, MessagesRequest
from pmem.errors import Refused
from pmem.library.typed import made
from pmem.memory.changes import RecordsRequest
from pmem.memory.consent import WaitingRequest
from pmem.memory.facts import FactsRequest
from pmem.memory.requests import AddRequest, LinkRequest
from pmem.operations import table
from pmem.operations.operation import plain_form
from pmem.operations.pipeline import run
from pmem.project.caller import Caller
from pmem.project.workspace import Workspace
from pmem.search.golden import QuestionRequest
from pmem.search.threads import SaveRequest
from pmem.storage.postgres.server import Server
from tests.asking import ask
from tests.conftest import NOW
from tests.conversation.assistants import ClaudeCode
from tests.faults.world import DECISION
from tests.once import Once
from tests.operations.rows import Row, rows, structs
from tests.postgres import served

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "setup.assistant": {"harness": "codex", "scope": "project"},
    "hook": {"event": "prompt", "prompt": "which one is known?", "longest": 1500},
    "add": {"content": "The office is in Lisbon."},
    "show": {"reference": "@memory"},
    "add_all": {"memories": [{"content": "Backups run at night."}]},
    "edit": {"reference": "@memory", "importance": 0.9},
    "supersede": {"reference": "@memory", "content": "We use SQLite."},
    "supersede_by": {"reference": "@memory", "successor": "@other"},
    "share": {"reference": "@own"},
    "rm": {"references": ["@memory"]},
    "restore": {"references": ["@removed"]},
    "purge": {"references": ["@memory"], "force": True},
    "pin": {"reference": "@memory"},
    "link": {"start": "@memory", "end": "@other"},
    "unlink": {"start": "@linked", "end": "@other"},
    "history": {"reference": "@memory"},
    "versions": {"reference": "@memory"},
    "confirm": {"agent": "claude-code"},
    "facts.promote": {"references": ["@fact"]},
    "facts.reject": {"references": ["@fact"]},
    "consent.list": {"decisions": True},
    "consent.approve": {"references": ["@waiting"]},
    "consent.reject": {"references": ["@waiting"]},
    "conversation.start": {"title": "Names"},
    "conversation.say": {"content": "We decided to call it Otter."},
    "conversation.end": {"outcome": "It is called Otter."},
    "conversation.resume": {"conversation": "talk"},
    "conversation.prune": {"tokens": 0},
    "conversation.mark": {"message": "@said", "pinned": True},
    "conversation.rm": {"message": "@said"},
    "episode.add": {"summary": "The first release.", "memories": ["@other"]},
    "episode.show": {"reference": "@episode"},
    "work.next": {"limit": 3},
    "work.apply": {"answers": [{"id": "insight:latest", "digest": "0", "answer": {}}]},
    "import.messages": {"lines": [b'{"content": "Hello."}', b"no JSON"]},
    "import.auto": {"path": "session.jsonl"},
    "import.adr": {"paths": ["0001-bake.md"]},
    "import.notes": {"paths": ["RULES.md"]},
    "import.arrays": {"folder": "arrays"},
    "export.arrays": {"camel_case": True},
    "app.remember": {"app": "calendar", "content": "Meets at noon."},
    "app.memories": {"app": "calendar"},
    "app.show": {"app": "calendar", "reference": "@of_app"},
    "app.context": {"app": "calendar"},
    "app.compact": {"app": "calendar"},
    "app.delete": {"app": "calendar", "reference": "@of_app"},
    "app.purge": {"app": "calendar"},
    "app.uninstall": {"app": "calendar"},
    "search": {"query": "which database"},
    "context": {"query": "which database", "thread": "review"},
    "query": {"query": "which database"},
    "eval.run": {"accept": True},
    "eval.misses": {"drop": ["all"]},
    "eval.add": {"query": "which office", "reference": "@other"},
    "delta": {"thread": "review"},
    "checkpoint.save": {"thread": "review", "state": {"step": 4}},
    "checkpoint.load": {"thread": "review"},
    "checkpoint.rm": {"thread": "review"},
    "doctor": {"fix": True},
    "check.accept": {"references": ["@memory"]},
    "verify": {"update": True},
    "outcome": {"reference": "@other", "verdict": "bad"},
    "undo": {"reference": "@memory"},
    "report": {"budgets": [200]},
    "receipts": {"task": "gear", "budgets": [200]},
    "names": {"of": "tags"},
    "why": {"place": "src/gear.py"},
    "tried": {"tried": "bake", "failed": "flat", "worked": "wait"},
    "verify.accept": {"references": ["@memory"]},
}
"""What an operation is asked; `@memory` is a reference of `kept_in`. The others need no field."""
WITHOUT: Final = ("pmem.project", "pmem.vcs", "pmem.upkeep.work.trying")
"""Where operations are not asked here, or need a model."""
TRIED: Final = [row for row in rows() if not str(row.operation.function).startswith(WITHOUT)]


def request_for(row: Row, kept: dict[str, str], **further: Any) -> Any:

    def given(value: Any) -> Any:
        if isinstance(value, list):
            return [given(each) for each in value]
        if value == "@own":
            return Project.mine().add("I like small commits.", force=True).memory.id
        return kept[value[1:]] if isinstance(value, str) and value[:1] == "@" else value

    fields = FIELDS.get(row.operation.name, {})
    return made(row.request, **{name: given(each) for name, each in fields.items()} | further)


@pytest.fixture
def project(root: str, once: Once) -> tuple[Workspace, dict[str, str]]:
    return Workspace(root, actor="kim", now=NOW), once(
        lambda: kept_in(Workspace(root, actor="kim", now=NOW))
    )


def kept_in(workspace: Workspace) -> dict[str, str]:
    """Fill a project with one of everything, in a git work tree; return the references of each."""
    subprocess.run(["git", "init", "--quiet", "--template="], check=True)
    Path("src").mkdir()
    Path("src/gear.py").write_text("WHEELS = 3\n")

    def add(content: str) -> str:
        added = ask(workspace, table.ADD, AddRequest(content=content, force=True))
        return added.memory.id

    memory, other, removed, linked = map(
        add,
        ("We use PostgreSQL.", "Tests run on each push.", "Mira reviews.", "Deploys on Monday."),
    )
    ask(workspace, table.LINK, LinkRequest(start=linked, end=other))
    ask(workspace, table.REMOVE, RecordsRequest(references=(removed,)))
    line = b'{"content": "We decided to use tabs.", "conversation": "talk"}'
    ask(workspace, table.IMPORT_MESSAGES, MessagesRequest(lines=[line]))
    ask(workspace, table.START, StartRequest(title="Database choice"))
    said = ask(workspace, table.SAY, SayRequest(content="Which database do we take?")).message
    episode = ask(workspace, table.ADD_EPISODE, EpisodeRequest(summary="The first meeting."))
    wanted = RememberRequest(app="calendar", content="The team meets on Tuesdays.")
    remembered = ask(workspace, table.REMEMBER, wanted)
    held = AddRequest(content="The user lives in Quuxville.")
    ask(workspace, table.ADD, held, Caller("planner"))
    ask(workspace, table.SAVE_CHECKPOINT, SaveRequest(thread="review", state={"step": 3}))
    ask(workspace, table.ADD_QUESTION, QuestionRequest(query="which database", reference=memory))
    session = ClaudeCode()
    session.ask("Which database?")
    Path("session.jsonl").write_bytes(session.bytes())
    Path("RULES.md").write_text("- Never burn it.\n")
    Path("AGENTS.md").write_text("- Let it cool.\n")
    Path("0001-bake.md").write_text(DECISION)
    os.mkdir("arrays")
    for name, data in ask(workspace, table.EXPORT_ARRAYS, ExportRequest()).files.items():
        Path("arrays", name).write_bytes(data)
    assert remembered.memory is not None
    (fact, *_) = ask(workspace, table.FACTS, FactsRequest()).items
    (waiting, *_) = ask(workspace, table.WAITING, WaitingRequest()).items
    return {
        **{"memory": memory, "other": other, "removed": removed, "linked": linked},
        **{"episode": episode.id, "fact": fact.fact.id, "waiting": waiting.id},
        **{"of_app": remembered.memory.id, "said": said.id},
    }


def test_every_field_is_of_an_operation() -> None:
    assert set(FIELDS) <= {row.operation.name for row in TRIED}


@pytest.mark.some(24)
@pytest.mark.parametrize("row", TRIED, ids=[row.operation.name for row in TRIED])
def test_an_answer_is_of_the_type_of_its_row_and_plain_json(
    row: Row, project: tuple[Workspace, dict[str, str]], request: pytest.FixtureRequest
) -> None:
    workspace, kept = project
    if row.operation.name.startswith(("db.", "sync")):
        server: Server = request.getfixturevalue("new_project")()
        workspace = served(workspace.root, server)
    answer = run(workspace, row.operation, request_for(row, kept)).result
    assert type(answer) in set(structs(row.answer))
    assert msgspec.json.decode(msgspec.json.encode(plain_form(answer)))


WRITING: Final = [row for row in TRIED if row.operation.writes]


@pytest.mark.parametrize("row", WRITING, ids=[row.operation.name for row in WRITING])
def test_what_writes_is_refused_where_nothing_may_be_written(
    row: Row, project: tuple[Workspace, dict[str, str]]
) -> None:
    workspace, kept = project
    with pytest.raises(Refused, match="read-only"):
        run(Workspace(workspace.root, read_only=True), row.operation, request_for(row, kept))
