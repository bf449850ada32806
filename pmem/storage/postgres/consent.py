"""What waits for consent in a project on a server, and what became of it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.storage.local.proposals import (
    MOST_DECISIONS,
    Proposal,
    ProposalOutcome,
    Queue,
    Settled,
    without_expired,
    without_settled,
)
from pmem.storage.postgres.keeper import ServerKeeper
from pmem.values.records import dump_line

if TYPE_CHECKING:
    from psycopg import Connection

_PUT: Final = (
    "insert into pmem.proposal (project, id, body) values (%s, %s, %s)"
    " on conflict (project, id) do update set body = excluded.body"
)
_DECIDE: Final = "insert into pmem.decision (project, body) values (%s, %s)"
_OLDEST: Final = (
    "delete from pmem.decision where project = %s and number <= (select number from pmem.decision"
    " where project = %s order by number desc limit 1 offset %s)"
)
_CONSENT: Final = 0x7063


class ServerProposals(ServerKeeper):
    """The proposals of a project; agents see those that they made themselves."""

    def read(self) -> Queue:
        """Return what waits, and what was decided."""
        return self._server.ask(self._queue)

    def update(self, change: Callable[[Queue], Queue], now: datetime) -> Queue:
        """Change what waits; what has waited too long goes.

        Args:
            change: Returns what it is to be; the same queue leaves everything as it is.
            now: The present.
        """
        with self._writing(_CONSENT) as connection:
            before = self._queue(connection)
            after = change(without_expired(before, now))
            self._write_difference(connection, before, after)
        return after

    def settle(self, settled: Sequence[Settled], now: datetime) -> None:
        """Take proposals out of the queue, and keep what was decided.

        Args:
            settled: Which ones.
            now: The present.
        """
        self.update(lambda queue: without_settled(queue, settled), now)

    def _queue(self, connection: "Connection[Any]") -> Queue:
        project = (self._server.number,)
        query = "select key from pmem.consent_key where project = %s"
        (key,) = connection.execute(query, project).fetchone() or ("",)
        query = "select body from pmem.{} where project = %s order by number"
        proposals, decisions = (
            [body for (body,) in connection.execute(query.format(table).encode(), project)]
            for table in ("proposal", "decision")
        )
        return Queue(
            key=key,
            proposals=tuple(msgspec.json.decode(body, type=Proposal) for body in proposals),
            decisions=tuple(msgspec.json.decode(body, type=ProposalOutcome) for body in decisions),
        )

    def _write_difference(self, connection: "Connection[Any]", before: Queue, after: Queue) -> None:
        """Write how a queue differs from what it was."""
        project = self._server.number
        was = {item.id: item for item in before.proposals}
        left = {item.id for item in after.proposals}
        gone = [id_ for id_ in was if id_ not in left]
        query = "delete from pmem.proposal where project = %s and id = any(%s)"
        if gone:
            connection.execute(query, (project, gone))
        for item in after.proposals:
            if was.get(item.id) != item:
                connection.execute(_PUT, (project, item.id, dump_line(item).decode()))
        known = {dump_line(item) for item in before.decisions}
        for line in map(dump_line, after.decisions):
            if line not in known:
                connection.execute(_DECIDE, (project, line.decode()))
        if len(after.decisions) > MOST_DECISIONS:
            connection.execute(_OLDEST, (project, project, MOST_DECISIONS))
