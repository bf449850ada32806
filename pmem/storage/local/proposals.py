"""What waits for consent or for a second signal, and what became of it: this clone's own.

Nothing else holds a value that nobody has agreed to: the database is never tracked, indexed or
searched, and from then on only its owner may read it. It is written under the writers' lock. A
decision keeps no value but a digest with this clone's key, which tells that the same is proposed
again.
"""

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, Literal, NamedTuple

import msgspec

from pmem.errors import Damaged
from pmem.storage.local.state import LocalState
from pmem.values.records import Memory, Time, dump

MOST_DECISIONS: Final = 1000
"""How many decisions are kept, the latest."""
_DIGEST_BYTES: Final = 16
_START_AFRESH: Final = (
    "move it away to start afresh; checkpoints, threads and what waits for apps or for consent go"
    " with it"
)

Kind = Literal["consent", "signals", "change", "removal"]
Outcome = Literal["approved", "rejected", "expired"]


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """When something was proposed, and where it was said if that is known."""

    at: Time
    conversation: str | None = None
    message: str | None = None


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not remembered yet: a new memory, or `changes` of the memory `target`.

    Attributes:
        kind: what it waits for: a person's consent to what is said of somebody, a second signal,
            or the leave to change or to remove what a person wrote.
        field: what it is about, as the setting names it; the kind again where a person wrote it.
        agent: who proposed it; None where it was extracted from a conversation.
        fact: the short id of the fact that it was extracted as.
        user: whom the memory that it changes concerns.

    """

    id: str
    kind: Kind
    field: str
    digest: str
    agent: str | None = None
    actor: str = ""
    at: Time
    until: Time
    signals: tuple[Signal, ...] = ()
    memory: Memory | None = None
    target: str | None = None
    changes: dict[str, Any] = {}
    fact: str | None = None
    user: str | None = None


class ProposalOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a proposal, without its value; `memory` is what it led to."""

    id: str
    decision: Outcome
    field: str
    digest: str
    agent: str | None = None
    user: str | None = None
    actor: str = ""
    at: Time
    memory: str | None = None


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that waits, what was decided, and this clone's key."""

    key: str = ""
    proposals: tuple[Proposal, ...] = ()
    decisions: tuple[ProposalOutcome, ...] = ()


class Settled(NamedTuple):
    """What a transaction makes of a proposal; a candidate that became a memory has no decision."""

    id: str
    decision: ProposalOutcome | None = None


class Proposals:
    """The proposals of one clone."""

    def __init__(self, state: LocalState) -> None:
        self._state = state

    @property
    def path(self) -> str:
        """Where they are, for people."""
        return self._state.path

    def read(self) -> Queue:
        """Return what waits, and what was decided.

        Raises:
            Damaged: It cannot be used.
        """
        rows = self._state.rows("select queue from consent")
        if not rows:
            return Queue(key=os.urandom(_DIGEST_BYTES).hex())
        return _parsed(rows[0][0], self._state.path)

    def update(self, change: Callable[[Queue], Queue], now: datetime) -> Queue:
        """Change what waits; what has waited too long goes. Hold the writers' lock.

        Args:
            change: Returns what it is to be; the same queue leaves everything as it is.
            now: The present.

        Raises:
            Damaged: What is there cannot be used.
        """
        before = self.read()
        after = change(without_expired(before, now))
        if after != before:
            self._write(after)
        return after

    def settle(self, settled: Sequence[Settled], now: datetime) -> None:
        """Take proposals out of the queue, and keep what was decided. Hold the writers' lock."""
        self.update(lambda queue: without_settled(queue, settled), now)

    def _write(self, queue: Queue) -> None:
        kept = msgspec.structs.replace(queue, decisions=queue.decisions[-MOST_DECISIONS:])
        with self._state.writing(private=True) as connection:
            connection.execute("insert or replace into consent values (1, ?)", (dump(kept),))


def _parsed(data: bytes | str, path: str) -> Queue:
    """Read a queue.

    Raises:
        Damaged: It is none.
    """
    try:
        return msgspec.json.decode(data, type=Queue)
    except (TypeError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Damaged(f"{path} holds no proposals", _START_AFRESH) from None


def without_settled(queue: Queue, settled: Sequence[Settled]) -> Queue:
    """Return a queue without what was settled, and with what was decided."""
    gone = {item.id for item in settled}
    decisions = tuple(item.decision for item in settled if item.decision is not None)
    return msgspec.structs.replace(
        queue,
        proposals=tuple(item for item in queue.proposals if item.id not in gone),
        decisions=(*queue.decisions, *decisions),
    )


def without_expired(queue: Queue, now: datetime) -> Queue:
    """Return a queue without what has waited too long; of that, decisions tell."""
    gone = [item for item in queue.proposals if item.until <= now]
    if not gone:
        return queue
    return msgspec.structs.replace(
        queue,
        proposals=tuple(item for item in queue.proposals if item.until > now),
        decisions=(*queue.decisions, *(decided(item, "expired", "", item.until) for item in gone)),
    )


def decided(
    proposal: Proposal, decision: Outcome, actor: str, at: datetime, memory: str | None = None
) -> ProposalOutcome:
    """Return what is kept of a proposal once it is settled."""
    return ProposalOutcome(
        id=proposal.id,
        decision=decision,
        field=proposal.field,
        digest=proposal.digest,
        agent=proposal.agent,
        user=proposal.memory.scope.user if proposal.memory else proposal.user,
        actor=actor,
        at=at,
        memory=memory,
    )


def digest(queue: Queue, *parts: str) -> str:
    """Return what stands for a value that must not be kept; another clone's differs."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    found = blake2b(data, digest_size=_DIGEST_BYTES, key=queue.key.encode()[:64])
    return f"blake2b:{found.hexdigest()}"
