"""Every operation runs on a small project, and its answer is what its row names, as JSON."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from pmem import Project
from pmem.apps.reading import AppContextRequest, AppListRequest, AppShowRequest
from pmem.apps.remembering import AppDeleteRequest, RememberRequest, UninstallRequest
from pmem.assistants.hook_answers import HookRequest
from pmem.assistants.setup import AssistantSetupRequest
from pmem.conversation.conversations import (
    ConversationsRequest,
    EndRequest,
    SayRequest,
    StartRequest,
)
from pmem.conversation.decision_records import DecisionsRequest
from pmem.conversation.episodes import EpisodeRequest, EpisodesRequest
from pmem.conversation.exchange import ArraysRequest, ExportRequest, MessagesRequest
from pmem.conversation.git_history import HistoryImportRequest
from pmem.conversation.message_changes import MarkRequest, RemoveMessageRequest
from pmem.conversation.notes import NotesRequest
from pmem.conversation.pages import MarkdownRequest
from pmem.conversation.project_sources import ProjectImportRequest
from pmem.conversation.pruning import PruneRequest
from pmem.conversation.sessions import SessionsRequest
from pmem.core.queries import QueryRequest
from pmem.errors import Refused
from pmem.memory.app_memories import AppRequest
from pmem.memory.changes import RecordsRequest, RestoreRequest
from pmem.memory.citations import VerifyRequest
from pmem.memory.consent import ApproveRequest, ConfirmRequest, WaitingRequest
from pmem.memory.conversations import ConversationRequest, LookRequest
from pmem.memory.facts import FactsRequest, PromoteRequest
from pmem.memory.journal import AuditRequest, EventsRequest, HistoryRequest, RanRequest, WeekRequest
from pmem.memory.lifecycle import PurgeRequest, SupersedeByRequest
from pmem.memory.outcomes import DueRequest, OutcomeRequest, TriedRequest
from pmem.memory.reading import ListRequest, NamesRequest, ShowRequest
from pmem.memory.requests import (
    AddAllRequest,
    AddRequest,
    EditRequest,
    LinkRequest,
    PinRequest,
    UnlinkRequest,
)
from pmem.memory.sharing import ShareRequest
from pmem.memory.undo import UndoRequest
from pmem.memory.why import WhyRequest
from pmem.operations import table
from pmem.operations.operation import Operation
from pmem.operations.outcome import plain_form
from pmem.operations.pipeline import run
from pmem.project.caller import Caller
from pmem.project.workspace import Workspace
from pmem.report.collecting import ReceiptsRequest, ReportRequest
from pmem.search.context_request import ContextRequest
from pmem.search.evaluation import EvaluationRequest
from pmem.search.golden import QuestionRequest
from pmem.search.misses import MissesRequest
from pmem.search.search import SearchRequest
from pmem.search.threads import CheckpointRequest, CheckpointsRequest, SaveRequest, ThreadRequest
from pmem.storage.postgres.server import Server
from pmem.upkeep.consolidation import UpkeepRequest
from pmem.upkeep.database import DatabaseRequest
from pmem.upkeep.doctor import DoctorRequest
from pmem.upkeep.inbox import InboxRequest
from pmem.upkeep.integrity import CheckRequest
from pmem.upkeep.secret_scan import ScanRequest
from pmem.upkeep.sync import SyncRequest
from pmem.upkeep.work.doing import WorkAnswer, WorkAnswersRequest, WorkListRequest, WorkRequest
from pmem.values.fields import AtRequest, NoArguments
from pmem.values.records import OutcomeVerdict
from tests.asking import ask
from tests.conftest import NOW
from tests.conversation.assistants import ClaudeCode
from tests.faults.world import DECISION
from tests.once import Once
from tests.operations.rows import Row, rows, structs
from tests.postgres import served


class Kept(NamedTuple):
    """What the small project holds, by the references of each."""

    memory: str
    other: str
    removed: str
    linked: str
    episode: str
    fact: str
    waiting: str
    of_app: str
    said: str


REQUESTS: Final[dict[str, Callable[[Kept], Any]]] = {
    "db.init": lambda _: DatabaseRequest(),
    "db.migrate": lambda _: NoArguments(),
    "db.status": lambda _: NoArguments(),
    "sync": lambda _: SyncRequest(),
    "setup.assistant": lambda kept: AssistantSetupRequest(harness="codex", scope="project"),
    "setup.list": lambda kept: NoArguments(),
    "hook": lambda kept: HookRequest(event="prompt", prompt="which one is known?", longest=1500),
    "add": lambda _: AddRequest(content="The office is in Lisbon."),
    "show": lambda kept: ShowRequest(reference=kept.memory),
    "list": lambda _: ListRequest(),
    "block": lambda _: ListRequest(),
    "add_all": lambda _: AddAllRequest(memories=(AddRequest(content="Backups run at night."),)),
    "edit": lambda kept: EditRequest(reference=kept.memory, importance=0.9),
    "supersede": lambda kept: EditRequest(reference=kept.memory, content="We use SQLite."),
    "supersede_by": lambda kept: SupersedeByRequest(reference=kept.memory, successor=kept.other),
    "share": lambda _: ShareRequest(reference=_own_memory()),
    "rm": lambda kept: RecordsRequest(references=(kept.memory,)),
    "restore": lambda kept: RestoreRequest(references=(kept.removed,)),
    "purge": lambda kept: PurgeRequest(references=(kept.memory,), force=True),
    "pin": lambda kept: PinRequest(reference=kept.memory),
    "link": lambda kept: LinkRequest(start=kept.memory, end=kept.other),
    "unlink": lambda kept: UnlinkRequest(start=kept.linked, end=kept.other),
    "history": lambda kept: HistoryRequest(reference=kept.memory),
    "versions": lambda kept: HistoryRequest(reference=kept.memory),
    "events": lambda _: EventsRequest(),
    "operations": lambda _: RanRequest(),
    "export.audit": lambda _: AuditRequest(),
    "facts.list": lambda _: FactsRequest(),
    "confirm": lambda kept: ConfirmRequest(agent="claude-code"),
    "facts.promote": lambda kept: PromoteRequest(references=(kept.fact,)),
    "facts.reject": lambda kept: RecordsRequest(references=(kept.fact,)),
    "consent.list": lambda _: WaitingRequest(decisions=True),
    "consent.approve": lambda kept: ApproveRequest(references=(kept.waiting,)),
    "consent.reject": lambda kept: RecordsRequest(references=(kept.waiting,)),
    "conversation.start": lambda _: StartRequest(title="Names"),
    "conversation.say": lambda _: SayRequest(content="We decided to call it Otter."),
    "conversation.end": lambda _: EndRequest(outcome="It is called Otter."),
    "conversation.pause": lambda _: ConversationRequest(),
    "conversation.resume": lambda _: ConversationRequest(conversation="talk"),
    "conversation.clear": lambda _: ConversationRequest(),
    "conversation.list": lambda _: ConversationsRequest(),
    "conversation.show": lambda _: LookRequest(),
    "conversation.prune": lambda _: PruneRequest(tokens=0),
    "pruned_messages": lambda _: LookRequest(),
    "conversation.mark": lambda kept: MarkRequest(message=kept.said, pinned=True),
    "conversation.rm": lambda kept: RemoveMessageRequest(message=kept.said),
    "conversation.stats": lambda _: LookRequest(),
    "episode.add": lambda kept: EpisodeRequest(
        summary="The first release.", memories=(kept.other,)
    ),
    "episode.list": lambda _: EpisodesRequest(),
    "episode.show": lambda kept: ShowRequest(reference=kept.episode),
    "episode.arc": lambda _: LookRequest(),
    "work.list": lambda _: WorkListRequest(),
    "work.next": lambda _: WorkRequest(limit=3),
    "work.apply": lambda _: WorkAnswersRequest(
        answers=(WorkAnswer(id="insight:latest", digest="0", answer={"insights": []}),)
    ),
    "import.messages": lambda _: MessagesRequest(lines=[b'{"content": "Hello."}', b"no JSON"]),
    "import.auto": lambda _: SessionsRequest(path="session.jsonl"),
    "import.git": lambda _: HistoryImportRequest(),
    "import.adr": lambda _: DecisionsRequest(paths=("0001-bake.md",)),
    "import.notes": lambda _: NotesRequest(paths=("RULES.md",)),
    "import.project": lambda _: ProjectImportRequest(),
    "import.arrays": lambda _: ArraysRequest(folder="arrays"),
    "export.markdown": lambda _: MarkdownRequest(),
    "export.arrays": lambda _: ExportRequest(camel_case=True),
    "app.remember": lambda _: RememberRequest(app="calendar", content="Meets at noon."),
    "app.list": lambda _: AtRequest(),
    "app.memories": lambda _: AppListRequest(app="calendar"),
    "app.show": lambda kept: AppShowRequest(app="calendar", reference=kept.of_app),
    "app.context": lambda _: AppContextRequest(app="calendar"),
    "app.compact": lambda _: AppRequest(app="calendar"),
    "app.delete": lambda kept: AppDeleteRequest(app="calendar", reference=kept.of_app),
    "app.purge": lambda _: AppRequest(app="calendar"),
    "app.uninstall": lambda _: UninstallRequest(app="calendar"),
    "app.stats": lambda _: AtRequest(),
    "app.poll": lambda _: NoArguments(),
    "search": lambda _: SearchRequest(query="which database"),
    "context": lambda _: ContextRequest(query="which database", thread="review"),
    "query": lambda _: QueryRequest(query="which database"),
    "eval.run": lambda _: EvaluationRequest(accept=True),
    "eval.misses": lambda _: MissesRequest(drop=("all",)),
    "eval.add": lambda kept: QuestionRequest(query="which office", reference=kept.other),
    "delta": lambda _: ThreadRequest(thread="review"),
    "checkpoint.save": lambda _: SaveRequest(thread="review", state={"step": 4}),
    "checkpoint.load": lambda _: CheckpointRequest(thread="review"),
    "checkpoint.list": lambda _: CheckpointsRequest(),
    "checkpoint.rm": lambda _: CheckpointRequest(thread="review"),
    "check": lambda _: CheckRequest(),
    "check.staged": lambda _: NoArguments(),
    "scan": lambda _: ScanRequest(),
    "doctor": lambda _: DoctorRequest(fix=True),
    "consolidate": lambda _: UpkeepRequest(),
    "sweep": lambda _: UpkeepRequest(),
    "stats": lambda _: AtRequest(),
    "verify": lambda _: VerifyRequest(update=True),
    "outcome": lambda kept: OutcomeRequest(reference=kept.other, verdict=OutcomeVerdict.BAD),
    "due": lambda _: DueRequest(),
    "undo": lambda kept: UndoRequest(reference=kept.memory),
    "week": lambda _: WeekRequest(),
    "inbox": lambda _: InboxRequest(),
    "report": lambda _: ReportRequest(budgets=(200,)),
    "receipts": lambda _: ReceiptsRequest(task="gear", budgets=(200,)),
    "names": lambda _: NamesRequest(of="tags"),
    "why": lambda _: WhyRequest(place="src/gear.py"),
    "tried": lambda _: TriedRequest(tried="bake", failed="flat", worked="wait"),
    "verify.accept": lambda kept: RecordsRequest(references=(kept.memory,)),
}
"""A request for every operation, made of what the small project holds."""


def _own_memory() -> str:
    return Project.mine().add("I like small commits.", force=True).memory.id


WITHOUT: Final = ("project", "vcs", "upkeep.work.trying")
"""Where operations have no request here yet, or need a model."""


@pytest.fixture
def project(root: str, once: Once) -> tuple[Workspace, Kept]:
    """Return a small project, and what it holds."""
    return Workspace(root, actor="kim", now=NOW), once(
        lambda: kept_in(Workspace(root, actor="kim", now=NOW))
    )


def kept_in(workspace: Workspace) -> Kept:
    """Fill a project with one of everything, in a git work tree."""
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
    return Kept(
        memory=memory,
        other=other,
        removed=removed,
        linked=linked,
        episode=episode.id,
        fact=fact.fact.id,
        waiting=waiting.id,
        of_app=remembered.memory.id,
        said=said.id,
    )


TRIED: Final = [row for row in rows() if not row.operation.function.startswith(WITHOUT)]


def test_there_is_a_request_for_every_operation() -> None:
    assert {row.operation.name for row in TRIED} == set(REQUESTS)


@pytest.mark.some(24)
@pytest.mark.parametrize("row", TRIED, ids=[row.operation.name for row in TRIED])
def test_an_answer_is_of_the_type_of_its_row_and_plain_json(
    row: Row, project: tuple[Workspace, Kept], request: pytest.FixtureRequest
) -> None:
    workspace, kept = project
    if row.operation.name.startswith(("db.", "sync")):
        server: Server = request.getfixturevalue("new_project")()
        workspace = served(workspace.root, server)
    asked = REQUESTS[row.operation.name](kept)
    assert type(asked) is row.request
    answer = run(workspace, row.operation, asked).result
    assert type(answer) in set(structs(row.answer))
    assert msgspec.json.decode(msgspec.json.encode(plain_form(answer)))


WRITING: Final = [row.operation for row in TRIED if row.operation.writes]


@pytest.mark.parametrize("operation", WRITING, ids=[operation.name for operation in WRITING])
def test_what_writes_is_refused_where_nothing_may_be_written(
    operation: Operation[Any, Any], project: tuple[Workspace, Kept]
) -> None:
    workspace, kept = project
    with pytest.raises(Refused, match="read-only"):
        run(Workspace(workspace.root, read_only=True), operation, REQUESTS[operation.name](kept))
