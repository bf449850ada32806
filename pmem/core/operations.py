"""The log of operations, without any text: which part of pmem did what, and when."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from pmem.values.records import Episode, Event, EventKind, Memory, Part, Time

Status = Literal["ok", "error", "skipped"]
Node = Literal["hotpath", "context", "episodic", "worker", "model"]
UPKEEP: Final = "consolidate"
"""The source of events that consolidation and sweeps make."""
_WRITES: Final = {
    "edit": "hotpath:update",
    "episode.add": "episodic:create",
    "facts.promote": "hotpath:create",
    "pin": "hotpath:update",
    "rm": "hotpath:delete",
}
"""What the log calls writes whose operation has another name."""
DAYS: Final = 14
"""How many days figures go back."""


class LoggedOperation(Part, frozen=True, kw_only=True):
    """One thing that ran.

    `ts` is when, `node` which part did it: a command (`hotpath`), a context, an episode, upkeep
    (`worker`), or a task that a model was asked to do (`model`). `op` is what it did, such as
    `create` or `merge`, and `status` how it went; `skipped` where nothing came of it. `memory` is
    the record that it was about, and `sim` how close the nearest other one was, or the best hit's
    score. `reason` is why it failed, without what it quotes, `actor` who did it where no history
    says so, and `shown` are the ids of the records that a hook showed.
    """

    ts: Time
    node: Node
    op: str
    status: Status = "ok"
    memory: str | None = None
    category: str | None = None
    sim: float | None = None
    user: str | None = None
    thread: str | None = None
    reason: str | None = None
    actor: str | None = None
    shown: tuple[str, ...] = ()


class OperationCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often something ran on one day."""

    day: str
    node: str
    op: str
    status: Status
    count: int


def operation(at: datetime, node: Node, op: str, told: Mapping[str, Any]) -> LoggedOperation:
    """Return an operation."""
    return LoggedOperation(ts=at, node=node, op=op, **told)


def write_name(operation: str) -> str:
    """Return what the log calls a write: a part of pmem, a colon, and what it did."""
    return _WRITES.get(operation, f"hotpath:{operation}")


def written(
    record: Memory | Episode, old: Memory | Episode | None, node: Node
) -> Iterator[LoggedOperation]:
    """Yield what a write did to a memory or an episode."""
    if old is None:
        latest = record.history[-1].at if record.history else None
        events = [event for event in record.history if event.at == latest]
    else:
        events = list(record.history[len(old.history) :])
    for event in [event for event in events if event.event is EventKind.ADD] or events:
        yield _write_operation(record, event, node)


def removed(identifier: str, at: datetime, actor: str, node: Node) -> LoggedOperation:
    """Return what deleting a record for good did."""
    return LoggedOperation(ts=at, node=node, op="purge", memory=identifier, actor=actor)


def counts(operations: Iterable[LoggedOperation], now: datetime) -> tuple[OperationCount, ...]:
    """Count what ran on each of the last days."""
    first = now.toordinal() - DAYS + 1
    found = Counter(
        (item.ts.date().isoformat(), item.node, item.op, item.status)
        for item in operations
        if first <= item.ts.toordinal() <= now.toordinal()
    )
    return tuple(
        OperationCount(day=day, node=node, op=op, status=status, count=count)
        for (day, node, op, status), count in sorted(found.items())
    )


def _write_operation(record: Memory | Episode, event: Event, node: Node) -> LoggedOperation:
    op = "create" if event.event is EventKind.ADD else event.event.lower()
    if isinstance(record, Episode):
        return LoggedOperation(ts=event.at, node="episodic", op=op, memory=record.id)
    links = [link.strength for link in record.relationships if link.created_at == event.at]
    return LoggedOperation(
        ts=event.at,
        node="worker" if event.source == UPKEEP else node,
        op=op,
        memory=record.id,
        category=record.category,
        sim=max(links, default=None),
        user=record.scope.user,
    )


_COMMANDS: Final = {
    "add_all": "add",
    "confirm": "inbox accept",
    "consent.approve": "inbox accept",
    "consent.reject": "inbox reject",
    "doctor": "check --fix",
    "facts.promote": "inbox accept",
    "facts.reject": "inbox reject",
    "import.project": "import auto",
    "link": "edit --link",
    "pin": "edit --pin",
    "repair": "resolve",
    "settle": "resolve",
    "setup.assistant": "setup",
    "supersede": "edit --supersede",
    "supersede_by": "edit --superseded-by",
    "sweep": "consolidate",
    "sync": "db sync",
    "unlink": "edit --unlink",
    "verify": "check --fix",
    "verify.accept": "check --accept",
}
"""Of operations whose names are not those of their commands."""


def command_of(operation: str) -> str:
    """Return the command of an operation."""
    return _COMMANDS.get(operation, operation.replace(".", " "))
