"""Another backend as it was at a moment, to read and to search."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from pmem.core.filters import EVERYTHING, Filter, passes
from pmem.core.past import begun, past
from pmem.errors import Damaged, NotFound, Refused, StorageRefused
from pmem.storage.backend import (
    Backend,
    Change,
    Problem,
    pool_of,
)
from pmem.storage.unindexed import Unindexed
from pmem.values.records import KINDS, STORES, Chunk, Conversation, Record, RecordType

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import MemoryPool, Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_UNUSABLE: Final = (NotFound, Damaged, StorageRefused)
_ODD_HISTORY: Final = (
    msgspec.ValidationError,
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
)


class PastBackend(Unindexed):
    """The records of a backend as they were at a moment. Nothing can be written.

    A record is read when it is first asked for, with what its past depends on, and then kept.

    Args:
        backend: Holds the records as they are.
        at: The moment.
        count: Returns a text's tokens.
    """

    def __init__(self, backend: Backend, at: datetime, count: Callable[[str], int]) -> None:
        self.count = count
        self._backend = backend
        self._at = at
        self._today: dict[tuple[RecordType, str], Record] = {}
        self._then: dict[tuple[RecordType, str], Record | None] = {}
        self._scanned: dict[RecordType, list[str]] = {}
        self._problems: dict[str, Problem] = {}
        self._pool: MemoryPool | None = None

    @property
    def problems(self) -> Sequence[Problem]:
        return [*self._backend.problems, *self._problems.values()]

    def ids(self, type_: RecordType, reference: str = "") -> list[str]:
        found = self._backend.ids(type_, reference)
        since = ((identifier, self.begun(type_, identifier)) for identifier in found)
        return [identifier for identifier, at in since if at is None or at <= self._at]

    def read(self, type_: type[R], identifier: str) -> R:
        then = self._as_it_was(type_, identifier, self._read(type_, identifier))
        if then is None:
            raise NotFound(f"{KINDS[type_]} {identifier} did not exist at that time")
        return then

    def scan(self, type_: type[R], wanted: Filter = EVERYTHING) -> Iterator[R]:
        if type_ is Conversation:  # whose past needs every chunk
            self._scan(Chunk)
        for identifier in self._scan(type_):
            try:
                record = self._as_it_was(type_, identifier, self._read(type_, identifier))
            except Damaged as error:
                path = f"{STORES[type_]}/{identifier}.json"
                self._problems.setdefault(path, Problem(path, error.code, error.message))
                continue
            if record is not None and passes(record, wanted):
                yield record

    def searched(self, search: "Callable[[Pool], T]") -> T:
        if self._pool is None:
            self._pool = pool_of(self.scan)
        return search(self._pool)

    def moment(self) -> AbstractContextManager[None]:
        return self._backend.moment()

    def lock(self) -> AbstractContextManager[None]:
        raise Refused("what has been cannot be changed")

    def commit(self, changes: Sequence[Change]) -> None:  # noqa: ARG002 - the protocol's
        raise Refused("what has been cannot be changed")

    def begun(self, type_: RecordType, identifier: str) -> datetime | None:
        """Return when a record began, or None where it cannot be read."""
        try:
            return begun(self._read(type_, identifier))
        except _UNUSABLE:
            return None

    def chunks(self, conversation: Conversation) -> Sequence[Chunk]:
        """Return the chunks of a conversation as they are today, those that can be used."""
        return list(self._usable(conversation.chunks))

    def _usable(self, identifiers: Sequence[str]) -> Iterator[Chunk]:
        for identifier in identifiers:
            try:
                yield self._read(Chunk, identifier)
            except _UNUSABLE:
                continue

    def _read(self, type_: type[R], identifier: str) -> R:
        """Return a record as it is."""
        found = self._today.get((type_, identifier))
        if found is None:
            found = self._today[type_, identifier] = self._backend.read(type_, identifier)
        assert isinstance(found, type_)
        return found

    def _scan(self, type_: RecordType) -> list[str]:
        """Read all records of a type as they are, once, and return their ids."""
        if type_ not in self._scanned:
            read = {record.id: record for record in self._backend.scan(type_)}
            for identifier, record in read.items():
                self._today.setdefault((type_, identifier), record)
            self._scanned[type_] = list(read)
        return self._scanned[type_]

    def _as_it_was(self, type_: type[R], identifier: str, record: R) -> R | None:
        if (type_, identifier) not in self._then:
            try:
                self._then[type_, identifier] = past(record, self._at, self)
            except _ODD_HISTORY as error:
                raise Damaged(
                    f"the history of {KINDS[type_]} {identifier} cannot be undone: {error}"
                ) from None
        then = self._then[type_, identifier]
        assert then is None or isinstance(then, type_)
        return then
