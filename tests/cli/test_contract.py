"""The command line as a contract: the envelope, the exit codes, the options of every command."""

import json
import os
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from unittest import mock

import msgspec
import pytest
from msgspec import Meta

from pmem.assistants.harnesses import HARNESSES
from pmem.cli.app import root
from pmem.cli.commands import COMMANDS, GROUPS
from pmem.cli.setup import CompletionSetup
from pmem.search import search
from pmem.values.records import Conversation, Episode, Event, EventKind, Memory, Relationship
from tests.cli.shell import Outcome, installed, pmem
from tests.conversation.assistants import ClaudeCode, Codex, Gemini
from tests.faults.world import DECISION
from tests.once import Once
from tests.storage.folders import contradict

pytestmark = pytest.mark.usefixtures("project")

Short = Annotated[str, Meta(pattern="^[0-9a-z]{8}$")]


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    """Base of every answer: what is not promised must not be there."""


class Initialised(Strict):
    path: str
    created: bool


class Added(Strict):
    action: Literal["added", "suggested"]
    memory: Memory
    links: list[Relationship]


class Held(Strict):
    id: str
    kind: Literal["consent", "signals"]
    field: str
    until: datetime
    signals: int
    rejected: bool


class HeldBack(Strict):
    action: Literal["queued", "waiting", "rejected"]
    memory: None
    links: list[Relationship]
    held: Held


class Waiting(Strict):
    id: str
    short: Short
    kind: Literal["consent", "signals"]
    field: str
    target: str | None
    content: str | None
    subject: str | None
    agent: str | None
    actor: str
    at: datetime
    until: datetime
    signals: int


class Decision(Strict):
    id: str
    decision: Literal["approved", "rejected", "expired"]
    field: str
    digest: str
    agent: str | None
    user: str | None
    actor: str
    at: datetime
    memory: str | None


class ConsentListing(Strict):
    items: list[Waiting]
    total: int
    decisions: list[Decision]


class Operation(Strict):
    ts: datetime
    node: Literal["hotpath", "context", "episodic", "worker", "model"]
    op: str
    status: Literal["ok", "error", "skipped"] = "ok"
    memory: str | None = None
    category: str | None = None
    sim: float | None = None
    user: str | None = None
    thread: str | None = None
    reason: str | None = None
    shown: list[str] = []


class Ran(Strict):
    items: list[Operation]
    total: int


class OperationCount(Strict):
    day: str
    node: str
    op: str
    status: str
    count: int


class Block(Strict):
    text: str
    total: int


Trust = Literal["low", "medium", "high"]


class Trusted(Memory, frozen=True, kw_only=True):
    trust: Trust


class Listing(Strict):
    items: list[Trusted]
    total: int


class Hit(Strict):
    id: str
    short: Short
    kind: Literal["memory", "episode", "chunk", "message"]
    score: Annotated[float, Meta(ge=0, le=1)]
    text: str
    created_at: datetime
    external_id: str | None
    conversation: str | None
    speaker: str | None
    signals: dict[str, float]
    stale: list[str]
    trust: Trust | None
    state: str | None


class Bullet(Strict):
    id: str
    category: str
    text: str


class QueryMetadata(Strict):
    kind: Literal["memory", "episode", "chunk", "message"]
    type: str | None
    subject: str | None
    tags: list[str]
    importance: Annotated[int, Meta(ge=1, le=5)] | None
    pinned: bool
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    actor_id: str | None
    role: str | None
    created_at: datetime
    updated_at: datetime
    score: Annotated[float, Meta(ge=0, le=1)]
    trust: Trust | None
    via: dict[str, Any] | None


class Full(Strict):
    id: str
    category: str
    summary: str
    metadata: QueryMetadata


class Related(Strict):
    id: str
    short: str
    text: str
    type: str
    strength: float
    via: str
    forward: bool


class Found(Strict):
    query: str
    hits: list[Hit]
    total: int
    removed: dict[str, int]
    related: list[Related]
    out_of_recall: dict[str, int] = {}
    fill: list[Hit] = []


class Item(Strict):
    id: str
    external_id: str | None
    text: str
    label: str
    heading: str
    role: str
    score: float | None
    stale: list[str]
    why: str
    reason: str = ""
    difference: dict[str, str] | None = None
    mine: bool = False


class Section(Strict):
    name: str
    tokens: int
    items: list[Item]


class Omitted(Strict):
    id: str
    reason: str
    score: float | None
    text: str
    mine: bool = False


class Fact(Strict):
    id: str
    content: str
    type: str
    confidence: float
    subject: str | None
    user: str | None
    message: str
    extracted_at: datetime
    standing: Literal["pending", "promoted", "rejected"]
    memory: str | None
    settled_at: datetime | None
    places: list[str]
    tried: str | None
    because: str | None
    evidence: list[str]
    made_by: dict[str, str] | None
    conversation: str


class WaitingWork(Strict):
    id: str
    kind: str
    meaning: str
    digest: str


class WorkListing(Strict):
    items: list[WaitingWork]
    total: int


class WorkPiece(Strict):
    id: str
    kind: str
    digest: str
    prompt: str
    schema: dict[str, Any]


class WorkHandedOut(Strict):
    items: list[WorkPiece]


class AnsweredWork(Strict):
    id: str
    status: Literal["applied", "nothing", "known", "moved", "refused"]
    reason: str
    records: list[str]
    next: WorkPiece | None


class AnsweredAll(Strict):
    items: list[AnsweredWork]


class Facts(Strict):
    items: list[Fact]
    total: int


class Episodes(Strict):
    items: list[Episode]
    total: int


class Arc(Strict):
    beginning: list[Episode]
    middle: list[Episode]
    end: list[Episode]
    key_moments: list[Episode]


class Leaving(Strict):
    id: str
    role: str
    tokens: int
    importance: float
    reason: str
    text: str


class Repaired(Strict):
    path: str
    id: str
    decision: Literal["merged", "taken", "added", "kept", "purged"]
    detail: str
    conflicts: list[str]


class Unrepaired(Strict):
    path: str
    why: str


class Repair(Strict):
    repaired: list[Repaired]
    left: list[Unrepaired]


class Pruning(Strict):
    conversation: str
    trigger: str | None
    pruned: list[Leaving]
    messages_left: int
    could_go: int
    tokens_before: int
    tokens_after: int
    token_limit: int


class Usage(Strict):
    total_messages: int
    messages_in_context: int
    pruned_messages: int
    summarised_messages: int
    total_tokens: int
    tokens_in_context: int
    token_limit: int
    percent_used: float
    tokens_by_role: dict[str, int]
    messages_by_role: dict[str, int]
    oldest_in_context: datetime | None
    last_prune: datetime | None
    conversation: str
    title: str | None
    status: str
    chunks: int
    merged_chunks: int
    pending_facts: int
    prune_at: float
    prune_hard_at: float


class Overlay(Strict):
    usage: Usage
    budget: int
    used: int
    parts: dict[str, int]


class Heard(Strict):
    message: dict[str, Any]
    conversation: str
    facts: list[dict[str, Any]]
    promoted: list[dict[str, Any]]
    episodes: list[Episode]
    pruned: Pruning | None
    held: list[Held]
    unpromoted: list[dict[str, Any]]
    beyond: int


class Marked(Strict):
    message: dict[str, Any]
    conversation: str


class RemovedText(Marked):
    memories: list[str]
    episodes: list[str]


class Context(Strict):
    text: str
    tokens: int
    budget: int
    sections: list[Section]
    omitted: list[Omitted]
    revision: int | None
    tokenizer: str
    notes: list[str] = []


class Judged(Strict):
    query: str
    must: list[str]
    passed: bool
    ranks: dict[str, int | None]
    covered: bool
    reason: str
    max_rank: int | None = None


class Change(Strict):
    figure: str
    query: str | None
    before: float | None
    after: float
    reason: str


class Evaluation(Strict):
    questions: list[Judged]
    totals: dict[str, float]
    accepted: dict[str, float] | None
    regressions: list[Change]
    improvements: list[Change]
    languages: dict[str, float]


class QuestionAdded(Strict):
    action: Literal["added", "unchanged"]
    file: str
    question: dict[str, Any]


class Miss(Strict):
    name: str
    query: str
    at: datetime
    id: str
    short: str
    score: float
    text: str


class Misses(Strict):
    items: list[Miss]
    total: int
    dropped: int


class Changed(Strict):
    id: str
    event: Literal["ADD", "UPDATE", "MERGE", "ARCHIVE", "SUPERSEDE", "DELETE", "TTL", "RESTORE"]
    at: datetime
    actor: str
    category: str
    content: str
    trust: Trust
    combined: int
    importance: int


class Delta(Strict):
    thread: str
    since: int
    revision: int
    changes: list[Changed]
    total: int
    lines: list[str]


class CheckpointInfo(Strict):
    thread: str
    user: str
    size: int
    created_at: datetime
    updated_at: datetime


class Checkpoint(Strict):
    thread: str
    user: str
    state: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class Checkpoints(Strict):
    items: list[CheckpointInfo]
    total: int


class Entry(Strict):
    id: str
    kind: Literal["memory", "episode", "conversation"]
    event: EventKind
    at: datetime
    actor: str
    agent: str
    source: str
    before: dict[str, Any]
    after: dict[str, Any]
    detail: dict[str, Any]
    text: str
    place: Annotated[int, Meta(ge=1)]


class Journal(Strict):
    items: list[Entry]
    total: int


class Row(Strict):
    id: str
    memory_id: str
    event: Annotated[str, Meta(pattern="^[A-Z_]+$")]
    old_ref: str | None
    new_ref: str | None
    actor: str | None
    meta: dict[str, Any]
    ts: datetime


class Trail(Strict):
    items: list[Row]
    total: int


class MarkdownPages(Strict):
    files: dict[str, str]
    memories: int


class PagesWritten(Strict):
    path: str
    pages: int
    memories: int


class Exported(Strict):
    file: str
    events: int


class Period(Strict):
    start: datetime
    added: int
    total: int


class Ending(Strict):
    id: str
    what: Literal["expires", "purge"]
    when: datetime
    text: str


class Used(Strict):
    id: str
    count: int
    last_at: datetime | None
    text: str


class Helped(Strict):
    id: str
    shown: int
    used: int
    last_at: datetime
    text: str


class UndoneChange(Strict):
    id: str
    short: Short
    text: str
    before: dict[str, Any]
    after: dict[str, Any]
    gone: bool
    deleted: bool
    staged: str


class UndoneCommand(Strict):
    operation: str
    at: datetime
    changes: list[UndoneChange]
    facts: list[Short]
    stays: bool


class Undone(Strict):
    items: list[UndoneCommand]
    dry_run: bool
    total: int


class NameCount(Strict):
    name: str
    count: int
    latest: datetime


class Names(Strict):
    items: list[NameCount]
    total: int


class Need(Strict):
    what: str
    count: int
    command: str


class Statistics(Strict):
    memories: int
    by_type: dict[str, int]
    by_category: dict[str, int]
    by_state: dict[str, int]
    pinned: int
    due: int
    tokens: int
    episodes: int
    episodes_limit: int
    conversations: int
    by_status: dict[str, int]
    messages: int
    chunks: int
    message_tokens: int
    oldest: datetime | None
    newest: datetime | None
    damaged: int
    by_age: dict[str, int]
    growth_per: Literal["day", "week", "month", "year"]
    growth: list[Period]
    expiring: list[Ending]
    overdue: int
    to_review: int
    most_used: list[Used]
    least_used: list[Used]
    helped_most: list[Helped]
    never_helped: list[Helped]
    budget: int
    budget_share: float
    apps: "AppFigures"
    operations: list[OperationCount]
    needs: list[Need]


class AppMemory(Strict):
    id: str
    app: str
    content: str
    importance: Annotated[float, Meta(ge=0, le=10)]
    tags: list[str]
    pinned: bool
    state: str
    trust: Trust
    conversation: str | None
    created_at: datetime
    updated_at: datetime


class AppDecision(Strict):
    action: Literal["delete", "edit"]
    target: str
    merged: str | None
    content: str | None
    reason: str
    by: str
    failure: str


class AppRemembered(Strict):
    action: Literal["created", "updated", "known", "deferred", "skipped"]
    app: str
    memory: AppMemory | None
    decisions: list[AppDecision]
    reason: str


class AppListing(Strict):
    app: str
    items: list[AppMemory]
    total: int
    limit: int


class AppOverview(Strict):
    name: str
    memories: int
    limit: int
    conversations: int
    waiting: int
    installed: bool


class AppOverviews(Strict):
    items: list[AppOverview]
    total: int


class AppContext(Strict):
    app: str
    text: str
    items: list[AppMemory]
    omitted: list[str]


class AppCompacted(Strict):
    app: str
    decisions: list[AppDecision]
    memories: int
    limit: int
    deferred: bool
    reason: str


class AppPurged(Strict):
    app: str
    deleted: int
    active: int


class AppUninstalled(AppPurged):
    kept: int


class AppEnergy(Strict):
    units: float
    capacity: float
    spent: float
    since_last_poll: float
    waiting: int


class AppFigures(Strict):
    apps: int
    with_memories: int
    utilisation: float
    memories: int
    created_per_hour: float
    compactions_per_app_per_day: float
    conversations: int
    with_context: int
    injection_rate: float
    energy: AppEnergy | None


class RecordChange(Strict):
    id: str
    short: Short
    kind: Literal["memory", "episode"]
    text: str
    before: dict[str, Any]
    after: dict[str, Any]


class Step(Strict):
    id: Annotated[str, Meta(pattern="^[0-9a-f]{10}$")]
    action: Literal["fold", "merge", "archive", "link", "insight", "expire", "purge"]
    outcome: Literal["planned", "done", "changed"]
    why: str
    advice: str
    records: Annotated[list[RecordChange], Meta(min_length=1)]


class PlannedStep(Strict):
    id: str
    action: str
    records: list[dict[str, Any]]


class Notice(Strict):
    records: Annotated[list[str], Meta(min_length=2, max_length=2)]
    texts: Annotated[list[str], Meta(min_length=2, max_length=2)]
    score: Annotated[float, Meta(ge=0, le=1)]
    why: str


class Upkeep(Strict):
    dry_run: bool
    plan: str
    steps: list[Step]
    missing: list[PlannedStep]
    beyond: int
    notices: list[Notice]
    waiting: int
    counts: dict[str, int]


class Link(Strict):
    type: str
    target: str
    strength: float


class FieldChange(Strict):
    before: Any
    after: Any


class About(Strict, kw_only=True):
    id: str
    short: Short
    kind: Literal["memory", "episode"]
    type: str
    subject: str | None
    text: str


class Learned(About, kw_only=True):
    how: Literal["added", "restored"]
    replaces: list[str]
    linked: list[Link]


class Different(About, kw_only=True):
    fields: dict[str, FieldChange]
    linked: list[Link]
    unlinked: list[Link]


class Forgotten(About, kw_only=True):
    how: Literal["superseded", "merged", "archived", "removed", "purged"]
    by: str | None


class End(Strict):
    name: str
    commit: str | None


class Changelog(Strict, rename={"start": "from", "end": "to"}):
    start: End
    end: End
    learned: list[Learned]
    changed: list[Different]
    forgotten: list[Forgotten]
    total: int


class SettlingChoice(Strict):
    key: str
    does: str
    command: str


class NeedsSomebody(Strict):
    kind: str
    id: str
    short: str
    text: str
    why: str
    since: datetime
    commands: list[SettlingChoice]


class WrittenPage(Strict):
    path: str
    files: int
    bytes: int
    memories: int


class InboxListing(Strict):
    items: list[NeedsSomebody]
    counts: dict[str, int]
    total: int
    elsewhere: list[Need]


class ChangedPlace(Strict):
    file: str
    line: Annotated[int, Meta(ge=1)] | None
    cited: str | None
    gone: bool
    change: str


class Remark(Strict):
    kind: Literal["standing", "cited", "clash", "applies", "unsourced", "settled"]
    id: str
    short: Short
    type: str
    subject: str | None
    text: str
    places: list[ChangedPlace]
    other: str | None
    other_text: str | None
    reason: str | None
    waits: bool
    advice: str


class Reviewed(Strict, rename={"start": "from", "end": "to"}):
    start: End
    end: End
    files: int
    items: list[Remark]
    waiting: int


class MergeFinding(Strict):
    commit: Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]
    path: str
    code: str
    message: str


class Merges(Strict):
    merges: int
    records: int
    findings: list[MergeFinding]


class Touch(Strict):
    commit: Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]
    author: str
    at: datetime
    subject: str
    what: Literal["added", "changed", "removed", "damaged"]
    fields: dict[str, FieldChange]
    linked: list[Link]
    unlinked: list[Link]


class Provenance(Strict):
    id: str
    kind: Literal["memory", "episode", "conversation", "chunk"]
    present: bool
    events: list[Event]
    commits: list[Touch]
    origin: Touch | None


class Where(Strict):
    file: str
    lines: tuple[int, int] | None


class StaleCitation(Strict):
    id: str
    short: Short
    text: str
    file: str
    lines: tuple[int, int] | None
    state: Literal["moved", "changed", "gone"]
    now: Where | None
    reason: str
    symbol: str | None
    cited_text: str
    present_text: str


class Verified(Strict):
    items: list[StaleCitation]
    counts: dict[Literal["fresh", "moved", "changed", "gone"], int]
    updated: int
    complete: bool


class Origin(Strict):
    commit: str
    author: str
    at: datetime
    subject: str


class Reason(Strict):
    memory: Trusted
    how: list[str]
    standing: str
    stale: list[str]
    by: str | None
    fix: Trusted | None


class Why(Strict):
    file: str
    line: int | None
    origin: Origin | None
    items: list[Reason]
    note: str
    no_origin: str


class Due(Strict):
    items: list[Trusted]
    due: int
    waiting: int
    total: int


class Tried(Strict):
    dead_end: Added
    fix: Added | None


class AcceptedCitation(Strict):
    id: str
    short: Short
    was: str
    now: str
    text: str


class Accepted(Strict):
    items: list[AcceptedCitation]


class Skipped(Strict):
    where: str
    why: str


class UnusedPart(Strict):
    file: str
    what: str
    lines: tuple[int, int]


class RuleFile(Strict):
    path: str
    state: Literal["set", "missing", "differs", "foreign"]


class RulesSetup(Strict):
    hosts: list[str]
    parts: list[RuleFile]


class CommitProposal(Strict):
    id: str
    commit: str
    type: str
    content: str
    confidence: float


class HistoryImported(Strict):
    commits: int
    added: int
    unchanged: int
    skipped: list[Skipped]
    by_type: dict[str, int]
    items: list[CommitProposal]
    dry_run: bool


class DecisionsImported(Strict):
    added: int
    updated: int
    unchanged: int
    superseded: int
    archived: int
    skipped: list[Skipped]
    left_out: list[UnusedPart]
    dry_run: bool


class Imported(Strict):
    added: int
    updated: int
    unchanged: int
    skipped: list[Skipped]
    undecided: list[str]
    left_out: dict[str, int]


class EditedRule(Strict):
    id: str
    file: str
    text: str
    rule: str


class NotesImported(Strict):
    added: int
    updated: int
    unchanged: int
    archived: int
    skipped: list[Skipped]
    edited: list[EditedRule]
    left_out: list[UnusedPart]


class SessionsImported(Strict):
    sessions: int
    added: int
    updated: int
    unchanged: int
    skipped: list[Skipped]
    left_out: dict[str, int]
    dry_run: bool
    facts: int
    states_more: bool


class GitPart(Strict):
    name: str
    wanted: str
    found: str | None


class GitSetup(Strict):
    parts: list[GitPart]
    ok: bool
    program: bool


class AssistantPart(Strict):
    path: str
    what: str
    state: Literal["set", "missing", "differs"]
    why: str
    removed: bool


class AssistantSetup(Strict):
    harness: str
    scope: Literal["project", "user"]
    parts: list[AssistantPart]
    program: bool
    said: str
    trouble: str
    ok: bool


class AssistantOverview(Strict):
    harness: str
    title: str
    scope: Literal["project", "user"]
    state: Literal["set", "partly", "missing", "unclear"]
    seen: bool
    why: str


class AssistantOverviews(Strict):
    items: list[AssistantOverview]


class HookSetup(Strict):
    kind: Literal["hook", "config", "other"]
    path: str
    wanted: str
    found: str | None
    by_hand: bool
    program: bool
    manager: str
    ok: bool


class Finding(Strict):
    path: str
    code: str
    message: str
    line: Annotated[int, Meta(ge=1)] | None
    severity: Literal["error", "warning", "notice"]


class Checked(Strict):
    records: int
    findings: list[Finding]


class Scanned(Strict):
    files: int
    findings: list[Finding]


class Records(Strict):
    records: Checked


class Secrets(Strict):
    secrets: Scanned


class Staged(Strict):
    records: Checked
    secrets: Scanned


class Citations(Strict):
    citations: Verified


class Accepting(Strict):
    citations: Accepted


class DueOnly(Strict):
    due: Due


class MergesOnly(Strict):
    merges: Merges


class Setup(Strict):
    setup: dict[str, Any]


class AllChecked(Strict):
    records: Checked
    citations: Verified
    due: Due
    secrets: Scanned
    setup: dict[str, Any]


class Envelope(Strict):
    schema: Literal["pmem/1"]
    data: Any


class Failure(Strict):
    code: str
    message: str
    hint: str


class FailureEnvelope(Strict):
    schema: Literal["pmem/1"]
    error: Failure


class DatabaseAnswer(Strict):
    server: str
    project: str
    version: int
    wanted: int
    is_known: bool
    is_stale: bool
    revision: int
    records: int
    in_folder: int
    roles: dict[str, str]


class DatabaseSetupAnswer(Strict):
    migrated: list[int]
    status: DatabaseAnswer


class SyncRow(Strict):
    store: str
    id: str
    fate: Literal["to_server", "to_folder", "merged", "removed"]
    text: str
    conflicts: list[str]


class SyncAnswer(Strict):
    server: str
    records: list[SyncRow]
    left: list[dict[str, str]]
    checkpoints: int


HELD = "add pronouns:they/them --agent planner"
ANSWERS: list[tuple[str, Any]] = [
    ("init", Initialised),
    ("add one", Added),
    ("add Known", Added),
    (HELD, HeldBack),
    ("show REF", Trusted),
    ("list", Listing),
    ("list --limit 1", Listing),
    ("list --block", Block),
    ("log REF", Journal),
    ("log REF --git", Provenance),
    ("log HEAD~1..HEAD", Changelog),
    ("log HEAD..", Changelog),
    ("review", Reviewed),
    ("review HEAD~1..HEAD", Reviewed),
    ("review --staged", Reviewed),
    ("list --at HEAD~1", Listing),
    ("add cites --cite backup/conversations.json:1", Added),
    ("edit REF --cite backup/conversations.json", Memory),
    ("check citations", Citations),
    ("outcome REF good", Memory),
    ("check due", DueOnly),
    ("undo REF --dry-run", Undone),
    ("inbox walk", InboxListing),
    ("share MINE", Added),
    ("report page.html", WrittenPage),
    ("list --tags", Names),
    ("list --subjects", Names),
    ("why backup/conversations.json", Why),
    ("tried one --failed two --worked three", Tried),
    ("check citations --fix", Citations),
    ("check --accept REF", Accepting),
    ("search Known --at HEAD", Found),
    ("stats --at HEAD", Statistics),
    ("edit REF changed", Memory),
    ("rm REF", Memory),
    ("rm REF OTHER", list[Memory]),
    ("restore REF", Memory),
    ("purge REF --force", Memory),
    ("edit REF --pin", Memory),
    ("edit REF --no-pin", Memory),
    ("edit REF --link OTHER", Memory),
    ("edit OTHER --unlink REF", Memory),
    ("resolve CONTRADICTED", Memory),
    ("search Known", Found),
    ("query bullets.json", list[Bullet]),
    ("query full.json", list[Full]),
    ("search Known --no-related", Found),
    ("search zebra", Found),
    ("context", Context),
    ("context known --budget 30", Context),
    ("stats", Statistics),
    ("log", Journal),
    ("log REF --limit 1", Journal),
    ("log --operations", Ran),
    ("consolidate --dry-run", Upkeep),
    ("consolidate", Upkeep),
    ("edit REF newer --supersede", Memory),
    ("edit REF --superseded-by OTHER", Memory),
    ("check", AllChecked),
    ("check --staged", Staged),
    ("check records", Records),
    ("check merges --range HEAD~1..HEAD", MergesOnly),
    ("check secrets", Secrets),
    ("check secrets --history", Secrets),
    ("check setup", Setup),
    ("db init", DatabaseSetupAnswer),
    ("db migrate", DatabaseSetupAnswer),
    ("db status", DatabaseAnswer),
    ("db sync", SyncAnswer),
    ("db sync --dry-run --conversations", SyncAnswer),
    ("hook prompt", dict[str, str]),
    ("setup completion bash", CompletionSetup),
    ("setup completion bash --print", dict[str, str]),
    ("help", dict[str, Any]),
    ("help config set", dict[str, Any]),
    ("help merging", dict[str, str]),
    ("conversation start", Conversation),
    ("conversation say hello", Heard),
    ("conversation end", Conversation),
    ("conversation pause", Conversation),
    ("conversation resume TALK", Conversation),
    ("conversation list", dict[str, Any]),
    ("conversation show", dict[str, Any]),
    ("conversation clear --yes", Conversation),
    ("conversation stats", Overlay),
    ("conversation prune --dry-run", Pruning),
    ("conversation mark SAID --pin", Marked),
    ("conversation rm SAID", RemovedText),
    ("inbox facts", Facts),
    ("inbox accept FACT", dict[str, Any]),
    ("inbox reject FACT", dict[str, Any]),
    ("work list", WorkListing),
    ("work next", WorkHandedOut),
    ('work apply {"id":"insight:latest","digest":"0","answer":0}', AnsweredAll),
    ("inbox proposals", ConsentListing),
    ("inbox accept HELD", dict[str, Any]),
    ("inbox reject HELD", dict[str, Any]),
    ("episode add Something", Episode),
    ("episode list", Episodes),
    ("episode show EPISODE", Episode),
    ("episode arc", Arc),
    ("app remember calendar Something", AppRemembered),
    ("app list", AppOverviews),
    ("app list calendar", AppListing),
    ("app show calendar APPS", AppMemory),
    ("app context calendar", AppContext),
    ("app compact calendar", AppCompacted),
    ("app delete calendar APPS", AppMemory),
    ("app purge calendar --yes", AppPurged),
    ("app uninstall calendar", AppUninstalled),
    ("app uninstall calendar --purge --yes", AppUninstalled),
    ("app stats", AppFigures),
    ("delta --thread review", Delta),
    ("checkpoint save review {}", CheckpointInfo),
    ("checkpoint load kept", Checkpoint),
    ("checkpoint list", Checkpoints),
    ("checkpoint rm kept", dict[str, str]),
    ("config list", dict[str, Any]),
    ("config get chunk_size", dict[str, Any]),
    ("config set chunk_size 5", dict[str, Any]),
    ("config unset chunk_size", dict[str, Any]),
    ("import messages -", Imported),
    ("import arrays backup", Imported),
    ("import claude-code session.jsonl", SessionsImported),
    ("import codex codex.jsonl", SessionsImported),
    ("import gemini gemini.jsonl", SessionsImported),
    ("import auto session.jsonl", SessionsImported),
    ("import notes AGENTS.md", NotesImported),
    ("import git", HistoryImported),
    ("setup rules cursor", RulesSetup),
    ("import adr 0001-bake.md", DecisionsImported),
    ("setup git", GitSetup),
    ("resolve --dry-run", Repair),
    ("resolve", Repair),
    ("setup git --print", dict[str, str]),
    ("setup git --remove", GitSetup),
    *((f"setup {name}", AssistantSetup) for name in HARNESSES if name != "zed"),
    ("setup zed --user", AssistantSetup),
    ("setup codex --print", dict[str, Any]),
    ("setup codex --remove", AssistantSetup),
    ("setup list", AssistantOverviews),
    ("setup pre-commit", HookSetup),
    ("setup pre-commit --print", HookSetup),
    ("setup pre-commit --remove", HookSetup),
    ("export arrays", dict[str, Any]),
    ("export arrays backup", dict[str, Any]),
    ("export markdown", MarkdownPages),
    ("export markdown pages", PagesWritten),
    ("export audit", Trail),
    ("export audit trail.jsonl", Exported),
    ("eval run", Evaluation),
    ("eval run --accept", Evaluation),
    ("eval add Other OTHER --max-rank 3", QuestionAdded),
    ("eval misses", Misses),
    ("eval misses --drop all", Misses),
]


def _git(*arguments: str) -> None:
    who = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org")
    subprocess.run(["git", *who, *arguments], check=True, timeout=60)


@pytest.fixture
def filled(project: str, once: Once) -> dict[str, str]:
    """Keep two linked memories and a conversation; return what a command may name them."""
    mine = _id(pmem("add", "--mine", "I prefer small commits.", "--json"))
    return {**once(lambda: _build(project)), "MINE": mine}


def _build(project: str) -> dict[str, str]:
    _git("init", "--quiet")
    assert pmem("setup", "git").code == 0
    first, second = (_id(pmem("add", text, "--json")) for text in ("Known", "Other"))
    _git("add", "--all")
    _git("commit", "--quiet", "--message", "Two memories")
    assert pmem("edit", second, "--link", first).code == 0
    _git("commit", "--quiet", "--all", "--message", "A link")
    third = _id(pmem("add", "Third", "--app", "calendar", "--json"))
    contradict(project, third)
    talk = json.loads(pmem("conversation", "start", "Talk", "--json").out)["data"]["id"]
    heard = pmem("conversation", "say", "Which database?", "--json")
    said = json.loads(heard.out)["data"]["message"]["id"]
    assert pmem("export", "arrays", "backup").code == 0
    session = ClaudeCode()
    session.ask("Which database?")
    Path("session.jsonl").write_bytes(session.bytes())
    Path("AGENTS.md").write_text("- Use tabs\n")
    Path("0001-bake.md").write_text(DECISION)
    Path("codex.jsonl").write_bytes(Codex().bytes())
    Path("gemini.jsonl").write_bytes(Gemini().bytes())
    assert pmem("eval", "add", "Known", first).code == 0
    assert pmem("delta", "--thread", "review").code == 0
    for form in ("bullets", "full"):
        with open(f"{form}.json", "w") as file:
            json.dump({"query": "Known", "return": form}, file)
    assert pmem("edit", first, "--pin").code == 0
    assert pmem("checkpoint", "save", "kept", '{"context": null}').code == 0
    assert pmem("conversation", "say", "We prefer small commits.").code == 0
    fact = json.loads(pmem("inbox", "facts", "--json").out)["data"]["items"][0]["id"]
    held = pmem("add", "The user lives in Graz.", "--agent", "planner", "--json")
    episode = json.loads(pmem("episode", "add", "A turn", "--json").out)["data"]["id"]
    return {
        "REF": first,
        "OTHER": second,
        "CONTRADICTED": third,
        "TALK": talk,
        "FACT": fact,
        "SAID": said,
        "HELD": json.loads(held.out)["data"]["held"]["id"],
        "EPISODE": episode,
        "APPS": third,
    }


@pytest.mark.some(20)
@pytest.mark.parametrize(("line", "type_"), ANSWERS, ids=[line for line, _ in ANSWERS])
def test_json_is_one_line_with_what_is_promised(
    line: str,
    type_: Any,
    filled: dict[str, str],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if line.startswith("db"):
        monkeypatch.setenv("PMEM_DATABASE", request.getfixturevalue("test_database").address)
        assert pmem("db", "init").code == 0
    done = pmem(*(filled.get(word, word) for word in line.split()), "--json")
    expected = {"add Known": 9, "check": 1, "check records": 1, "check setup": 1, HELD: 7}.get(
        line, 0
    )
    assert done.code == (9 if line.startswith("work apply") else expected), done.said
    assert done.out.count(b"\n") == 1
    assert done.out.endswith(b"}\n")
    data = msgspec.json.decode(done.out, type=Envelope).data
    msgspec.convert(data, type_, strict=True)


def test_every_command_is_among_the_answers() -> None:
    commands = {*COMMANDS, *(f"{group} {name}" for group in GROUPS for name in GROUPS[group][1])}
    asked = {" ".join(line.split()[: 2 if line.split()[0] in GROUPS else 1]) for line, _ in ANSWERS}
    elsewhere = {"mcp", "serve", "browse", "model test"}  # protocols, a screen, a model
    assert commands - elsewhere == asked


@pytest.mark.parametrize(
    ("line", "code", "exit_code"),
    [
        ("show nothing", "not_found", 3),
        ("show mwq", "ambiguous", 3),
        ("add x --importance 2", "invalid_value", 3),
        ("list --now soon", "invalid_value", 3),
        ("list --limit none", "usage", 2),
        ("nonsense", "usage", 2),
        ("config", "usage", 2),
        ("-C / list", "no_project", 4),
        ("add x --read-only", "refused", 7),
        ("purge REF", "refused", 7),
    ],
)
def test_a_failure_is_one_line_on_standard_error(
    line: str, code: str, exit_code: int, filled: dict[str, str]
) -> None:
    done = pmem(*(filled.get(word, word) for word in line.split()), "--json")
    assert (done.code, done.out) == (exit_code, b"")
    assert done.err.count(b"\n") == 1
    assert msgspec.json.decode(done.err, type=FailureEnvelope).error.code == code


def test_a_memory_has_the_keys_that_scripts_rely_on(filled: dict[str, str]) -> None:
    memory = json.loads(pmem("show", filled["REF"], "--json").out)["data"]
    promised = {"id", "type", "content", "category", "subject", "tags", "importance", "pinned"}
    assert promised <= set(memory)


# Exit codes


def test_0_done() -> None:
    assert pmem("list").code == 0


def test_1_the_answer_is_no(project: str) -> None:
    assert pmem("search", "zebra", "--exit-status").code == 1
    _spoil(project)
    assert pmem("check", "records").code == 1
    assert pmem("check", "setup").code == 1


def test_2_usage() -> None:
    assert [pmem(*line).code for line in (["lst"], ["add"], ["show"], ["list", "-x"], [])] == [
        2
    ] * 5


def test_3_not_found_ambiguous_or_invalid(filled: dict[str, str]) -> None:
    lines = (["show", "none"], ["show", "mwq"], ["add", ""], ["config", "get", "colour"])
    assert [pmem(*line).code for line in lines] == [3] * 4


def test_4_no_project() -> None:
    done = pmem("-C", "/", "list")
    assert done.code == 4
    assert "pmem init" in done.said


def test_5_damaged_data_is_named_and_left_alone(project: str) -> None:
    path = _spoil(project)
    done = pmem("show", "mwqi0000-00000000")
    assert done.code == 5
    assert path in done.said
    with open(path, encoding="utf-8") as file:
        assert file.read() == "{"


def test_5_newer_data_is_named(project: str) -> None:
    path = _spoil(project, '{"id": "mwqi0000-00000000", "schema": 99}')
    done = pmem("show", "mwqi0000-00000000", "--json")
    assert done.code == 5
    assert json.loads(done.err)["error"]["code"] == "newer_schema"
    assert path in done.said


@pytest.mark.skipif(os.name == "nt", reason="flock is what holds the lock here")
def test_6_locked_past_the_time_out(project: str) -> None:
    import fcntl

    assert pmem("add", "one").code == 0
    with open(f"{project}/local/lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = pmem("add", "two", environment={"PMEM_LOCK_TIMEOUT": "0"})
    assert done.code == 6
    assert pmem("list").text.count("\n") == 1


def test_7_refused(filled: dict[str, str]) -> None:
    assert pmem("add", "x", "--read-only").code == 7
    assert pmem("purge", filled["REF"]).code == 7


def test_9_a_memory_should_be_updated_instead(filled: dict[str, str]) -> None:
    done = pmem("add", "Known", "--json")
    assert done.code == 9
    assert json.loads(done.out)["data"]["memory"]["id"] == filled["REF"]
    assert json.loads(pmem("list", "--json").out)["data"]["total"] == 3


def test_70_a_bug_is_one_sentence_and_a_log(project: str) -> None:
    done = _with_a_bug(lambda: pmem("search", "anything"))
    assert done.code == 70
    assert "Traceback" not in done.said
    assert done.said.startswith("pmem: this is a bug in pmem: ZeroDivisionError: oh")
    log = f"{project}/local/pmem.log"
    assert log in done.said
    with open(log, encoding="utf-8") as file:
        text = file.read()
    assert "Traceback" in text
    assert text.endswith("ZeroDivisionError: oh\n\n")


def test_70_a_bug_is_json_where_that_is_asked() -> None:
    done = _with_a_bug(lambda: pmem("search", "anything", "--json"))
    assert (done.code, done.out) == (70, b"")
    assert msgspec.json.decode(done.err, type=FailureEnvelope).error.code == "bug"


def test_74_the_disk_is_full(filled: dict[str, str]) -> None:
    full = mock.patch("os.fsync", side_effect=OSError(28, "No space left on device"))
    with full:
        done = pmem("add", "too much")
    assert done.code == 74
    assert "No space left on device" in done.said
    assert json.loads(pmem("list", "--json").out)["data"]["total"] == 3


def test_130_interrupted() -> None:
    with mock.patch.object(search, "search", side_effect=KeyboardInterrupt):
        assert pmem("search", "anything") == Outcome(130, b"", b"")


# Options of every command


def every_command() -> list[tuple[str, ...]]:
    """Return the words of every command."""
    grouped = [(group, name) for group in GROUPS for name in GROUPS[group][1]]
    return [*((name,) for name in COMMANDS), *grouped]


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_global_options_stand_before_or_after_the_name(words: tuple[str, ...]) -> None:
    options = ["-C", ".", "--json", "--quiet", "--no-color", "--read-only"]
    options += ["--actor", "Mira", "--now", "2026-01-01"]
    before, after = pmem(*options, *words, "--help"), pmem(*words, *options, "--help")
    assert (before.code, after.code) == (0, 0)
    assert before == after


def test_a_later_option_wins_over_an_earlier_one_and_the_environment(
    filled: dict[str, str],
) -> None:
    environment = {"PMEM_ACTOR": "Ben", "PMEM_DIR": "/"}
    done = pmem(
        *("--actor", "Cleo", "-C", "/", "add", "New", "--actor", "Mira", "-C", "."),
        *("--now", "2026-01-01", "--json"),
        environment=environment,
    )
    memory = json.loads(done.out)["data"]["memory"]
    assert memory["history"] == [{"event": "ADD", "at": "2026-01-01T00:00:00Z", "actor": "Mira"}]


@pytest.mark.parametrize(
    "line",
    [
        "eval",
        "eval run",
        "eval FILE",
        "eval run FILE",
        "eval -k 10 FILE",
        "eval --budget 1000",
        "--quiet eval --actor add FILE",
        "eval --quiet -C . run",
    ],
)
def test_a_group_with_a_default_needs_no_commands_name(line: str, filled: dict[str, str]) -> None:
    file = ".project-memory/golden.jsonl"
    done = pmem(*line.replace("FILE", file).split(), "--json")
    assert done.code == 0, done.said
    assert done.out == pmem("eval", "run", "--json").out


@pytest.mark.row("S1.8.5")
def test_the_actor_is_gits_user_then_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PMEM_ACTOR")
    monkeypatch.setenv("LOGNAME", "login")
    assert _actor(pmem("add", "one", "--json")) == "login"
    gitconfig = os.path.abspath("gitconfig")
    with open(gitconfig, "w", encoding="utf-8") as file:
        file.write("[user]\n\tname = Grace\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", gitconfig)
    assert _actor(pmem("add", "two", "--json")) == "Grace"


def test_times_come_in_with_any_zone_and_go_out_in_utc() -> None:
    for given in ("2026-11-21T16:30:00+02:00", "2026-11-21T14:30:00Z", "2026-11-21 14:30"):
        memory = json.loads(pmem("add", "x", "--force", "--now", given, "--json").out)["data"]
        assert memory["memory"]["created_at"] == "2026-11-21T14:30:00Z"


def test_read_only_leaves_no_trace(project: str) -> None:
    before = sorted(os.walk(project))
    for line in (["list"], ["search", "x"], ["context"], ["stats"], ["check"]):
        assert pmem(*line, "--read-only").code == 0
    assert sorted(os.walk(project)) == before


def test_quiet_silences_all_but_errors() -> None:
    assert pmem("list", "--quiet").err == b""
    assert pmem("show", "nothing", "--quiet").err != b""


def test_nothing_but_utf8_comes_in() -> None:
    assert installed([b"add", b"caf\xe9"]).code == 3
    assert installed([b"search", b"caf\xe9", b"--json"]).code == 3
    assert installed(["add", "-"], stdin=b"caf\xe9").code == 3
    assert installed(["add", "text"], {"PMEM_ACTOR": b"caf\xe9"}).code == 3
    assert pmem("list").text == ""


@pytest.mark.parametrize("line", [["add", "-"], ["search", "-"], ["context", "-"]], ids=" ".join)
def test_a_dash_reads_standard_input(line: list[str], filled: dict[str, str]) -> None:
    assert "Known" in pmem(*line, stdin=b"Known\n").text


@pytest.mark.parametrize("line", [b"[" * 100_000, b"\xff", b"[]", b"{}", b'{"content": 1}', b"nan"])
def test_a_batch_that_is_no_batch_adds_nothing(line: bytes) -> None:
    done = pmem("add", "--batch", "-", stdin=b'{"content": "fine"}\n' + line)
    assert done.code == 3
    assert done.said.startswith(("pmem: line 2 is no memory: ", "pmem: line 2 is not valid JSON: "))
    assert pmem("list").text == ""


def _id(done: Outcome) -> str:
    return str(json.loads(done.out)["data"]["memory"]["id"])


def _actor(done: Outcome) -> str:
    return str(json.loads(done.out)["data"]["memory"]["history"][0]["actor"])


def _spoil(project: str, text: str = "{") -> str:
    path = f"{project}/long-term-memory/mwqi0000-00000000.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _with_a_bug(command: Callable[[], Outcome]) -> Outcome:
    def broken(workspace: Any, request: Any) -> None:
        assert workspace.root
        raise ZeroDivisionError("oh")

    with mock.patch.object(search, "search", broken):
        return command()


def test_the_root_lists_every_command() -> None:
    listed = root().list_commands(mock.Mock())
    assert listed == [*COMMANDS, *GROUPS]
