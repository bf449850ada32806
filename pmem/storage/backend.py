"""What a store of records must do, and what a scan of all of them answers."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import msgspec

from pmem.core.filters import Filter
from pmem.core.record_keys import NEAR_KEY, near_ends, word_keys_of
from pmem.core.selection import COLUMNS, Order, Portion, Selection, selected_among
from pmem.values.records import STORES, Memory, Record, RecordType, State

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import MemoryPool, Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Holders = Mapping[str, list[str]]
"""For each word the ids of the records that hold it."""
Tally = Mapping[tuple[Any, ...], int]
"""How many records have the values of some columns, in their order."""


Judge = Callable[[Memory, Memory], bool]
"""Tells of a memory and another one that it leads to whether something holds of both."""
IdPair = tuple[str, str]


class Problem(msgspec.Struct, frozen=True):
    """A file that could not be used: where, the machine code, and one sentence."""

    path: str
    code: str
    message: str


class Change(msgspec.Struct, frozen=True):
    """One record to write, or to remove when `record` is None."""

    type: type[Record]
    id: str
    record: Record | None


class Backend(Protocol):
    """Holds the records of the four stores."""

    @property
    def problems(self) -> Sequence[Problem]:
        """Files met so far that could not be used, each once."""
        ...

    def ids(self, type_: type[Record], reference: str = "") -> list[str]:
        """Return the ids of one store that a reference fits, in ascending order.

        A reference is the start of either part of an id; an empty one fits all.
        """
        ...

    def read(self, type_: type[R], identifier: str) -> R:
        """Return one record.

        Raises:
            NotFound: There is none of that id.
            Damaged: Its file cannot be used.
            StorageRefused: Its file may not be read.
        """
        ...

    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:
        """Yield the records by ascending id, where marks are kept those `without` one.

        What is damaged is left out, and joins `problems`.
        """
        ...

    def select(
        self, type_: type[R], selection: Selection, order: Order = (), limit: int | None = None
    ) -> list[R]:
        """Return the records that are selected, in order; what is damaged joins `problems`.

        Args:
            type_: Which store.
            selection: What they must be.
            order: What they are sorted by.
            limit: So many at the most.
        """
        ...

    def some_of(self, type_: type[R], selection: Selection, parts: Sequence[Portion]) -> list[R]:
        """Return records that are selected by ascending id, at least those of any part; all
        without an index.
        """
        ...

    def tally(
        self, type_: type[Record], selection: Selection, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        """Count the records that are selected, by the values of columns that `least` have."""
        ...

    def figure(self, type_: type[Record], name: str, kind: type[T], make: Callable[[], T]) -> T:
        """Return a figure that depends on a store's records alone, perhaps made before."""
        ...

    def tokens(
        self, vocabulary: str, pieces: Collection[str], count: Callable[[str], int]
    ) -> Mapping[str, int]:
        """Return how many tokens a vocabulary counts in each piece, perhaps counted before."""
        ...

    def marked(self, type_: type[R], mark: str) -> Iterator[R]:
        """Yield the records that have a mark."""
        ...

    def mark(self, type_: type[Record], mark: str, ids: Collection[str]) -> None:
        """Mark records as they are; a mark is lost when its record changes, or any record goes."""
        ...

    def gave_way(self, mark: str = "") -> Iterable[Memory]:
        """Return the memories that were superseded or merged, or have a mark, by ascending id.

        One may be left out whose place a single other one took that is active, or was taken out
        of recall after that.
        """
        ...

    def near_pairs(self, rules: str, judge: Judge) -> list[IdPair]:
        """Return the ids of memories linked as nearly the same of which `judge` holds, in order.

        What was judged before by the same `rules` may be taken as it was while both are the same.
        """
        ...

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        """Return by word, some of `word_keys_of`, the ids that hold it, in ascending order.

        A word that more than `most` records hold is left out.
        """
        ...

    def searched(self, search: "Callable[[Pool], T]") -> T:
        """Run a search on the pool of all documents; it may be run twice."""
        ...

    def moment(self) -> AbstractContextManager[None]:
        """Let everything that is read meanwhile be as of one look at the files, or a later one."""
        ...

    def lock(self) -> AbstractContextManager[None]:
        """Hold off other writers; also finishes what a writer that died has begun.

        Raises:
            Locked: Another writer kept the lock past the time-out.
            StorageRefused: The folder cannot be written.
        """
        ...

    def commit(self, changes: Sequence[Change]) -> None:
        """Make all changes durable, or none. Call it while holding the lock.

        Raises:
            Locked: A record was changed by others since it was read under this lock.
            Damaged: A file in the way cannot be used; it is not overwritten.
            StorageRefused: The disk or a file refused; nothing changed.
        """
        ...


REPLACED: Final = Selection(wanted=Filter(states=(State.SUPERSEDED, State.MERGED)))
"""What others took the place of, or were merged into."""


def holders_among(records: Iterable[Record], keys: Collection[str], most: int) -> Holders:
    """Return which of the records, by ascending id, hold words; see `Backend.holders`."""
    found: dict[str, list[str]] = {key: [] for key in keys}
    for record in records:
        for key in word_keys_of(record):
            if key in found:
                found[key].append(record.id)
    return {key: ids for key, ids in found.items() if len(ids) <= most}


def near_pairs_among(
    select: Callable[[type[Memory], Selection], list[Memory]], judge: Judge
) -> list[IdPair]:
    """Judge all memories that are linked as nearly the same; see `Backend.near_pairs`."""
    near = select(Memory, Selection(keys=(NEAR_KEY,)))
    ends = tuple({end for memory in near for end in near_ends(memory)})
    known = {end.id: end for end in select(Memory, Selection(ids=ends))} if ends else {}
    return [
        (memory.id, end)
        for memory in near
        for end in sorted(near_ends(memory))
        if end in known and judge(memory, known[end])
    ]


def tally_of(
    records: Iterable[Record], selection: Selection, columns: Sequence[str], least: int = 1
) -> Tally:
    """Count records without an index; see `Backend.tally`."""
    asked = [COLUMNS[name].value for name in columns]
    found = filter(selection.judge(), records)
    tally = Counter(tuple(value(record) for value in asked) for record in found)
    return {values: many for values, many in tally.items() if many >= least}


def pool_of(scan: Callable[[RecordType], Iterable[Record]]) -> "MemoryPool":
    """Read everything into a pool, for a search without an index."""
    return memory_pool(record for type_ in STORES for record in scan(type_))


def memory_pool(records: Iterable[Record]) -> "MemoryPool":
    """Make a pool of records, conversations before chunks, whose BM25 part rank-bm25 computes."""
    from pmem.core.retrieval.pool import MemoryPool, okapi_scores

    return MemoryPool(records, okapi_scores)


class Unindexed(ABC):
    """Answers what is asked of a backend by a scan of its records; it keeps nothing beside them."""

    @abstractmethod
    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:
        """Yield all records of a store, by ascending id."""

    def gave_way(self, mark: str = "") -> Iterable[Memory]:
        return self.marked(Memory, mark) if mark else self.select(Memory, REPLACED)

    def select(
        self, type_: type[R], selection: Selection, order: Order = (), limit: int | None = None
    ) -> list[R]:
        return selected_among(self.scan(type_), selection, order, limit)

    def some_of(
        self,
        type_: type[R],
        selection: Selection,
        parts: Sequence[Portion],  # noqa: ARG002 - the protocol's
    ) -> list[R]:
        return self.select(type_, selection)

    def tally(
        self, type_: type[Record], selection: Selection, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        return tally_of(self.scan(type_), selection, columns, least)

    def figure(
        self,
        type_: type[Record],  # noqa: ARG002 - none is kept
        name: str,  # noqa: ARG002
        kind: type[T],  # noqa: ARG002
        make: Callable[[], T],
    ) -> T:
        return make()

    def tokens(
        self,
        vocabulary: str,  # noqa: ARG002
        pieces: Collection[str],
        count: Callable[[str], int],
    ) -> Mapping[str, int]:
        return {piece: count(piece) for piece in pieces}

    def marked(self, type_: type[R], mark: str) -> Iterator[R]:  # noqa: ARG002
        return iter(())

    def mark(  # noqa: B027 - none are kept, and that is all of it
        self, type_: type[Record], mark: str, ids: Collection[str]
    ) -> None:
        """Keep no marks."""

    def near_pairs(self, rules: str, judge: Judge) -> list[IdPair]:  # noqa: ARG002 - none is kept
        return near_pairs_among(self.select, judge)

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        return holders_among(self.scan(type_), keys, most)

    def searched(self, search: "Callable[[Pool], T]") -> T:
        return search(pool_of(self.scan))
