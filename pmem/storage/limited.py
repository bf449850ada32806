"""Another backend as far as somebody may see it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
from msgspec.structs import replace

from pmem.core.policy import Reach, app_of, category_of
from pmem.core.selection import Order, Portion, Selection
from pmem.errors import Damaged, NotFound, Refused, StorageRefused
from pmem.storage.backend import Backend, Change, Holders, IdPair, Judge, Problem, Tally, Unindexed
from pmem.values.records import KINDS, Memory, Record

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import Pool

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

    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:  # noqa: ARG002 - none is kept
        return filter(self._admits, self._backend.scan(type_))

    def select(
        self, type_: type[R], selection: Selection, order: Order = (), limit: int | None = None
    ) -> list[R]:
        if self._today is not None:
            return super().select(type_, selection, order, limit)
        return self._backend.select(type_, self._within(selection), order, limit)

    def some_of(
        self,
        type_: type[R],
        selection: Selection,
        parts: Sequence[Portion],
    ) -> list[R]:
        if self._today is not None:
            return self.select(type_, selection)
        seen = [replace(part, selection=self._within(part.selection)) for part in parts]
        return self._backend.some_of(type_, self._within(selection), seen)

    def tally(
        self, type_: type[Record], selection: Selection, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        if self._today is not None:
            return super().tally(type_, selection, columns, least)
        return self._backend.tally(type_, self._within(selection), columns, least)

    def tokens(
        self, vocabulary: str, pieces: Collection[str], count: Callable[[str], int]
    ) -> Mapping[str, int]:
        return self._backend.tokens(vocabulary, pieces, count)

    def _within(self, selection: Selection) -> Selection:
        return msgspec.structs.replace(selection, reach=self._reach)

    def near_pairs(self, rules: str, judge: Judge) -> list[IdPair]:
        if self._today is not None:
            return super().near_pairs(rules, judge)
        found = self._backend.near_pairs(rules, judge)
        ids = tuple({end for pair in found for end in pair})
        seen = {id_ for (id_,) in self.tally(Memory, Selection(ids=ids), ("id",))} if ids else set()
        return [pair for pair in found if seen.issuperset(pair)]

    def gave_way(self, mark: str = "") -> Iterable[Memory]:
        if self._today is not None:
            return super().gave_way(mark)
        return filter(self._admits, self._backend.gave_way(mark))

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        found = self._backend.holders(type_, keys, most)
        named = {id_ for ids in found.values() for id_ in ids}
        seen = {id_ for id_ in named if self._is_seen(type_, id_)}
        return {key: [id_ for id_ in ids if id_ in seen] for key, ids in found.items()}

    def searched(self, search: "Callable[[Pool], T]") -> T:
        if self._today is not None:
            return super().searched(search)
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
