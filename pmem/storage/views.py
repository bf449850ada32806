"""Another backend as far as somebody may see it."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
from msgspec.structs import replace

from pmem.core.filters import EVERYTHING, Filter, passes
from pmem.core.past import begun, past
from pmem.core.policy import Reach
from pmem.core.selection import Order, Portion, Selection, selected_among
from pmem.errors import Damaged, NotFound, Refused, StorageRefused
from pmem.storage.backend import Backend, Change, Holders, Problem, Tally, pool_of, tally_of
from pmem.storage.unindexed import Unindexed
from pmem.values.records import KINDS, STORES, Chunk, Conversation, Record, RecordType

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import MemoryPool, Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")
WHO_LOOKS: Final = "somebody without an allowlist can run `pmem check`"
_GONE = (NotFound, Damaged, StorageRefused)


def unusable(what: str) -> str:
    """Say that something is damaged, and not how: that could quote what may not be seen."""
    return f"{what} cannot be used"


class Limited(Unindexed):
    """The records of a backend that lie within a reach; the others are as if they were not there.

    Of a view of the past, `today` are the records as they are: what may not be seen today may not
    be seen as it was either.
    """

    def __init__(self, backend: Backend, reach: Reach, today: Backend | None = None) -> None:
        self._backend = backend
        self._reach = reach
        self._today = today

    @property
    def problems(self) -> Sequence[Problem]:
        return [
            Problem(problem.path, problem.code, unusable(problem.path))
            for problem in self._backend.problems
        ]

    def ids(self, type_: type[Record], reference: str = "") -> list[str]:
        return [id_ for id_ in self._backend.ids(type_, reference) if self._is_seen(type_, id_)]

    def read(self, type_: type[R], identifier: str) -> R:
        try:
            record = self._backend.read(type_, identifier)
        except Damaged:
            raise Damaged(unusable(f"{KINDS[type_]} {identifier}"), WHO_LOOKS) from None
        if not self._admits(record):
            raise NotFound(f"there is no {KINDS[type_]} {identifier} that may be seen")
        return record

    def scan(self, type_: type[R], wanted: Filter = EVERYTHING) -> Iterator[R]:
        return filter(self._admits, self._backend.scan(type_, wanted))

    def select(
        self, type_: type[R], selection: Selection, order: Order = (), limit: int | None = None
    ) -> list[R]:
        if self._today is not None:
            return selected_among(self.scan(type_), selection, order, limit)
        return self._backend.select(type_, self._within(selection), order, limit)

    def some_of(
        self,
        type_: type[R],
        selection: Selection,
        parts: Sequence[Portion],
        keys: Collection[str] = (),
    ) -> list[R]:
        if self._today is not None:
            return self.select(type_, selection)
        seen = [replace(part, selection=self._within(part.selection)) for part in parts]
        return self._backend.some_of(type_, self._within(selection), seen, keys)

    def tally(
        self, type_: type[Record], selection: Selection, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        if self._today is not None:
            return tally_of(self.scan(type_), selection, columns, least)
        return self._backend.tally(type_, self._within(selection), columns, least)

    def _within(self, selection: Selection) -> Selection:
        return msgspec.structs.replace(selection, reach=self._reach)

    def twins(self, type_: type[R], key: str) -> Iterator[R]:
        return filter(self._admits, self._backend.twins(type_, key))

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        found = self._backend.holders(type_, keys, most)
        named = {id_ for ids in found.values() for id_ in ids}
        seen = {id_ for id_ in named if self._is_seen(type_, id_)}
        return {key: [id_ for id_ in ids if id_ in seen] for key, ids in found.items()}

    def searched(self, search: "Callable[[Pool], T]") -> T:
        if self._today is not None:
            return search(pool_of(self.scan))
        return self._backend.searched(lambda pool: search(pool.within(self._reach)))

    def moment(self) -> AbstractContextManager[None]:
        return self._backend.moment()

    def lock(self) -> AbstractContextManager[None]:
        return self._backend.lock()

    def commit(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.record is not None and not self._reach.admits(change.record):
                self._refuse(change.record)
        self._backend.commit(changes)

    def _refuse(self, record: Record) -> None:
        from pmem.core.policy import app_of, category_of

        app, category = app_of(record), category_of(record)
        where = f"in the category {category}" if self._reach.serves(app) else f"for the app {app}"
        raise Refused(f"{self._reach.who} may not write {where}", self._reach.hint)

    def _admits(self, record: Record) -> bool:
        return self._reach.admits(record) and self._is_open(type(record), record.id)

    def _is_open(self, type_: type[Record], identifier: str) -> bool:
        """Tell whether a record may be seen today, as far as it is still there."""
        if self._today is None:
            return True
        try:
            return self._reach.admits(self._today.read(type_, identifier))
        except _GONE:
            return True

    def _is_seen(self, type_: type[Record], identifier: str) -> bool:
        try:
            self.read(type_, identifier)
        except _GONE:
            return False
        return True


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
    What `count` returns are a text's tokens.
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
