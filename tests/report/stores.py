"""Memories to look at: one of a project that has lived for a while, and one of ten thousand."""

import random
from datetime import UTC, datetime, timedelta

from pmem.memory.changes import RecordsRequest
from pmem.memory.lifecycle import SupersedeByRequest
from pmem.memory.outcomes import OutcomeRequest
from pmem.memory.reading import ShowRequest
from pmem.memory.requests import AddRequest, EditRequest, LinkRequest
from pmem.operations import table
from pmem.project.caller import Caller
from pmem.project.workspace import Workspace
from pmem.values.records import Memory, MemoryType, OutcomeVerdict
from tests.asking import ask
from tests.benchmarks.stores import requests

NOW = datetime(2026, 11, 25, 9, tzinfo=UTC)
_PEOPLE = ("ana", "ben", "chen")
_TOLD = (
    ("decision", "database", "We use MySQL 8 for orders and for sessions", "storage"),
    ("decision", "queue", "Jobs run on Celery with Redis as the broker", "storage jobs"),
    ("constraint", "latency", "The API must answer within 200 ms at the 99th percentile", "api"),
    ("procedure", "release", "Release with `make release`, then watch the dashboard", "ops"),
    ("preference", "commits", "Ana prefers small commits with one subject line", "people"),
    ("fact", "CI", "CI runs on two runners with 2 cores; a full run takes 11 minutes", "ci"),
    ("goal", "billing", "Move billing out of the monolith before the summer", "billing"),
    ("entity", "Lisbon office", "Three people work from Lisbon, one hour behind Berlin", "people"),
    ("fact", "payments", "The payment provider rate-limits at 50 requests a second", "billing"),
    ("decision", "licence", "The client library is MIT, the server is AGPL", "legal"),
    ("insight", "retries", "Retries above 3 made the outage of March worse", "billing"),
    ("fact", "caching", "Sessions are cached for 15 minutes in Redis", "storage"),
    ("procedure", "on-call", "Page the second person after 15 minutes without an answer", "ops"),
    ("constraint", "exports", "Exports must never hold e-mail addresses in the clear", "legal"),
    ("decision", "front end", "The dashboard is server-rendered; no single-page app", "ui"),
    ("fact", "データベース", "日本語の注文はUTF-8で保存されます", "i18n"),
    ("preference", "reviews", "Ben reviews before noon, Chen after lunch", "people"),
    ("goal", "search", "Full-text search over invoices without another service", "search"),
    ("dead_end", "search", "Elasticsearch on the small nodes ran out of memory", "search"),
    ("fact", None, "The old wiki is read-only since May", "docs"),
    ("fact", "staging reset", "It is on Sunday", "ops"),
    ("insight", "staging reset", "It is on Friday", "ops"),
)
_EDITS = (
    (70, "database", "We use PostgreSQL 15 for orders and MySQL 8 for sessions"),
    (120, "CI", "CI runs on four runners with 4 cores; a full run takes 6 minutes"),
    (150, "release", "Release with `make release VERSION=x.y`, then watch the dashboard"),
    (190, "database", "We use PostgreSQL 16 for orders and for sessions"),
    (205, "caching", "Sessions are cached for 30 minutes in PostgreSQL"),
    (228, "latency", "The API must answer within 150 ms at the 99th percentile"),
    (229, "CI", "CI runs on four runners with 8 cores; a full run takes 3 minutes"),
)


class LivedIn:
    """A memory that people have kept since the spring.

    Args:
        root: The memory folder; it is started already.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._began = NOW - timedelta(days=232)
        self._ids: dict[str, str] = {}
        self._tell()
        self._change()

    def on(self, day: int, actor: str, caller: Caller | None = None) -> Workspace:
        """Return the memory on a day of its life, counted from the first."""
        at = self._began + timedelta(days=day, minutes=7 * (day % 11))
        return Workspace(self._root, actor=actor, now=at, caller=caller or Caller())

    def _tell(self) -> None:
        for place, (kind, subject, text, tags) in enumerate(_TOLD):
            request = AddRequest(
                content=text,
                type=MemoryType(kind),
                subject=subject,
                tags=tuple(tags.split()),
                pinned=subject == "exports",
                force=True,
                tried=text if kind == "dead_end" else None,
                because="The heap does not fit" if kind == "dead_end" else None,
            )
            added = ask(self.on(9 * place, _PEOPLE[place % 3]), table.ADD, request)
            self._ids[subject or text] = added.memory.id

    def _change(self) -> None:
        for day, subject, text in _EDITS:
            edit = EditRequest(reference=self._ids[subject], content=text)
            ask(self.on(day, _PEOPLE[day % 3]), table.EDIT, edit)
        newer = AddRequest(
            content="Jobs run on a queue in PostgreSQL", type=MemoryType.DECISION, subject="queue",
            instead_of=("Celery", "RabbitMQ"), tags=("jobs",), force=True,
        )  # fmt: skip
        queue = ask(self.on(226, "chen"), table.ADD, newer).memory.id
        replaced = SupersedeByRequest(reference=self._ids["queue"], successor=queue)
        ask(self.on(227, "chen"), table.SUPERSEDE_BY, replaced)
        bad = OutcomeRequest(
            reference=self._ids["front end"], verdict=OutcomeVerdict.MIXED, text="Charts are slow"
        )
        ask(self.on(228, "ana"), table.OUTCOME, bad)
        wiki = self._ids["The old wiki is read-only since May"]
        ask(self.on(230, "ben"), table.REMOVE, RecordsRequest(references=(wiki,)))
        ended = AddRequest(
            content="The beta is closed to new teams", subject="beta",
            valid_until=self._began + timedelta(days=220), tags=("ops",),
        )  # fmt: skip
        ask(self.on(180, "ben"), table.ADD, ended)
        for start, end, kind in (
            ("database", "caching", "depends_on"), ("latency", "caching", "related_to"),
            ("billing", "payments", "depends_on"), ("retries", "payments", "related_to"),
            ("search", "database", "depends_on"), ("exports", "billing", "applies_to"),
        ):  # fmt: skip
            link = LinkRequest(start=self._ids[start], end=self._ids[end], type=kind)
            ask(self.on(221, "ana"), table.LINK, link)
        for subject in ("database", "database", "CI", "latency", "database"):
            ask(self.on(231, "ana"), table.SHOW, ShowRequest(reference=self._ids[subject]))


def fill_with_many(root: str, number: int) -> None:
    """Keep so many memories, of four hundred subjects, made over three years, some edited.

    Args:
        root: The memory folder; it is started already.
        number: How many.
    """
    chance = random.Random(number)
    items = [
        AddRequest(
            content=each.content,
            type=chance.choice(tuple(MemoryType)[:8]),
            subject=f"{each.tags[0]} {place % 400}",
            tags=each.tags,
            force=True,
        )
        for place, each in enumerate(requests(number))
    ]
    step = max(1, number // 50)
    for start in range(0, number, step):
        at = NOW - timedelta(days=1000 * (1 - start / number), hours=start % 7)
        workspace = Workspace(root, actor=chance.choice(_PEOPLE), now=at)
        with workspace.transaction():
            for item in items[start : start + step]:
                _keep(workspace, item, at)


def _keep(workspace: Workspace, item: AddRequest, at: datetime) -> Memory:
    """Keep a memory without looking for its neighbours, which takes long for so many."""
    from pmem.values.records import Event, EventKind

    made = Memory(
        id=workspace.new_id(), type=item.type, content=item.content, category="knowledge",
        subject=item.subject, tags=item.tags, valid_from=at, created_at=at, updated_at=at,
        tokens=workspace.count(item.content),
        history=(Event(event=EventKind.ADD, at=at, actor=workspace.actor),),
    )  # fmt: skip
    workspace.memories.put(made)
    return made
