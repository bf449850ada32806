"""What agents ask for: memories by a query, and what happened to one."""

from collections.abc import Iterator
from typing import Final

from pmem.core.journal import AuditRow, row
from pmem.core.queries import Bullet, Full, QueryRequest
from pmem.memory.journal import HistoryRequest
from pmem.operations import table
from pmem.server.http.bodies import body_of, read_query
from pmem.server.http.endpoints import AddressValue, Endpoint, HttpCall, Reply, number_in, shaped

USUAL_EVENTS: Final = 50
MOST_EVENTS: Final = 1000

_LIMIT: Final = AddressValue(
    "limit", "Only the latest so many", "query",
    {"type": "integer", "minimum": 1, "maximum": MOST_EVENTS, "default": USUAL_EVENTS},
)  # fmt: skip


def endpoints() -> Iterator[Endpoint]:
    """Yield the endpoints of recall."""
    yield Endpoint(
        method="GET", path="/memory/{id}/history", name="memory_history", group="recall",
        says="Show what happened to a record, the newest event first", answer=_history,
        places=(AddressValue("id", "The record's id, or the beginning of one"), _LIMIT),
        answers={200: (list[AuditRow],)},
    )  # fmt: skip
    yield Endpoint(
        method="POST", path="/api/query", name="memory.query", group="recall",
        says="Answer an agent's request, within its allowlist and its budget", answer=_query,
        body=body_of(QueryRequest), answers={200: (list[Bullet], list[Full])},
    )  # fmt: skip


def _history(call: HttpCall) -> Reply:
    most = number_in(call, "limit", USUAL_EVENTS, MOST_EVENTS)
    found = call.run(table.HISTORY, HistoryRequest(reference=call.path["id"])).result.steps
    return shaped(call.masked(tuple(map(row, reversed(found[-most:])))))


def _query(call: HttpCall) -> Reply:
    return shaped(call.run(table.QUERY, read_query(call.body)).plain)
