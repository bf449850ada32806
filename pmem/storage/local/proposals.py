"""What waits for consent or for a second signal, and what became of it: this clone's own.

Nothing else holds a value that nobody has agreed to: the file is never tracked, indexed or
searched, and only its owner may read it. It is written under the writers' lock. A decision keeps
no value but a digest with this clone's key, which tells that the same is proposed again.
"""

import os
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, Literal

import msgspec

from pmem.errors import Damaged, StorageRefused
from pmem.storage.files import durable, ownfile
from pmem.values.records import Memory, Time, dump

FILE: Final = "consent.json"
MOST_DECISIONS: Final = 1000
"""How many decisions are kept, the latest."""
_FOLDER: Final = "local"
_PRIVATE: Final = 0o600
_DIGEST_BYTES: Final = 16
_START_AFRESH: Final = "move it away to start afresh; what waits for consent goes with it"

Kind = Literal["consent", "signals"]
Outcome = Literal["approved", "rejected", "expired"]


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """When something was proposed, and where it was said if that is known."""

    at: Time
    conversation: str | None = None
    message: str | None = None


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not remembered yet: a new memory, or `changes` of the memory `target`.

    Attributes:
        kind: whether it waits for a person's consent or for a second signal.
        field: what it is about, as the setting names it.
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


class Decision(msgspec.Struct, frozen=True, kw_only=True):
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
    """Everything that the file holds."""

    key: str = ""
    proposals: tuple[Proposal, ...] = ()
    decisions: tuple[Decision, ...] = ()


class Proposals:
    """The proposals of one clone.

    Args:
        root: The memory folder.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._local = os.path.join(root, _FOLDER)
        self._path = os.path.join(self._local, FILE)

    @property
    def path(self) -> str:
        """Their file."""
        return self._path

    def read(self) -> Queue:
        """Return what the file holds.

        Raises:
            Damaged: It cannot be used.
            StorageRefused: It may not be read.
        """
        if os.path.islink(self._local):
            raise Damaged(f"{self._local} is a link, not a folder", "remove the link")
        try:
            return msgspec.json.decode(ownfile.read(self._path), type=Queue)
        except FileNotFoundError:
            return Queue(key=os.urandom(_DIGEST_BYTES).hex())
        except OSError as error:
            raise StorageRefused(f"{self._path} cannot be read: {error.strerror}") from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise Damaged(f"{self._path} holds no proposals", _START_AFRESH) from None

    def update(self, change: Callable[[Queue], Queue], now: datetime) -> Queue:
        """Change what the file holds; what has waited too long goes. Hold the writers' lock.

        Args:
            change: Returns what it is to hold; the same queue leaves the file as it is.
            now: The present.

        Raises:
            Damaged, StorageRefused: The file.
        """
        before = self.read()
        after = change(without_expired(before, now))
        if after != before:
            self._write(after)
        return after

    def _write(self, queue: Queue) -> None:
        kept = msgspec.structs.replace(queue, decisions=queue.decisions[-MOST_DECISIONS:])
        with durable.refusals(self._root):
            durable.make_folder(self._local)
            durable.write_file(self._path, dump(kept), mode=_PRIVATE)


def without_expired(queue: Queue, now: datetime) -> Queue:
    """Return a queue without what has waited too long; of that, decisions tell.

    Args:
        queue: The queue.
        now: The present.
    """
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
) -> Decision:
    """Return what is kept of a proposal once it is settled.

    Args:
        proposal: The proposal.
        decision: What became of it.
        actor: Who decided.
        at: When.
        memory: The id of the memory that it led to.
    """
    return Decision(
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
    """Return what stands for a value that must not be kept; another clone's differs.

    Args:
        queue: Whose key is used.
        parts: What was proposed.
    """
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    found = blake2b(data, digest_size=_DIGEST_BYTES, key=queue.key.encode()[:64])
    return f"blake2b:{found.hexdigest()}"
