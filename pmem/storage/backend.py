"""What a store of records must do, and what a scan of all of them answers."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from pmem.core.filters import EVERYTHING, Filter, cited_symbols, fold
from pmem.core.lifecycle.neighbours import is_near
from pmem.core.outcomes import FIXES
from pmem.core.selection import COLUMNS, Order, Portion, Selection
from pmem.values.records import JUDGEMENTS, STORES, Memory, Record, RecordType, State

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import MemoryPool, Pool

NEAR_KEY = "near"
"""The key by which active memories are found that were linked as nearly the same as another one."""
R = TypeVar("R", bound=Record)
T = TypeVar("T")
Holders = Mapping[str, list[str]]
"""For each word the ids of the records that hold it."""
Tally = Mapping[tuple[Any, ...], int]
"""How many records have the values of some columns, in their order."""


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

    def scan(self, type_: type[R], wanted: Filter = EVERYTHING) -> Iterator[R]:
        """Yield the records that pass a filter by ascending id; what is damaged is left out
        and joins `problems`.
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

    def some_of(
        self,
        type_: type[R],
        selection: Selection,
        parts: Sequence[Portion],
        keys: Collection[str] = (),
    ) -> list[R]:
        """Return records that are selected, at least those of any part; without an index all.

        Args:
            type_: Which store.
            selection: What all of them must be.
            parts: Which of them are needed.
            keys: And those with one of these twin keys.

        Returns:
            By ascending id.
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

    def unmarked(self, type_: type[R], mark: str) -> Iterator[R]:
        """Yield the records that do not have a mark; all of them where no marks are kept."""
        ...

    def marked(self, type_: type[R], mark: str) -> Iterator[R]:
        """Yield the records that have a mark."""
        ...

    def mark(self, type_: type[Record], mark: str, ids: Collection[str]) -> None:
        """Mark records as they are; a mark is lost when its record changes, or any record goes."""
        ...

    def twins(self, type_: type[R], key: str) -> Iterator[R]:
        """Yield the records whose `twin_keys` contain `key`."""
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


def twin_keys(record: Record) -> tuple[str, ...]:
    """Return what memories are found by: app, subject, content, that they are nearly what another
    one says, whom they judge or fix, what proves them, and the symbols that they cite.
    """
    if isinstance(record, Memory) and record.state is State.ARCHIVED:
        return (archived_key(record.content),)
    if not isinstance(record, Memory) or record.state is not State.ACTIVE:
        return ()
    app = (app_key(record.scope.app),) if record.scope.app else ()
    tied = {judged_key(link.target) for link in record.relationships if link.type in JUDGEMENTS}
    tied |= {fixed_key(link.target) for link in record.relationships if link.type == FIXES}
    tied |= set(map(proven_key, record.evidence)) | set(map(symbol_key, cited_symbols(record)))
    subject = (subject_key(record.subject),) if record.subject else ()
    near = (NEAR_KEY,) if any(map(is_near, record.relationships)) else ()
    return (*app, *subject, content_key(record.content), *near, *sorted(tied))


def subject_key(subject: str) -> str:
    """Return the key by which active memories on a subject are found."""
    return f"subject:{fold(subject)}"


def content_key(content: str) -> str:
    """Return the key by which active memories of a content are found."""
    return f"content:{fold(content)}"


def judged_key(identifier: str) -> str:
    """Return the key by which active memories are found that judge another: update it, say."""
    return f"judges:{identifier}"


def fixed_key(identifier: str) -> str:
    """Return the key by which active memories are found that fix another: a dead end."""
    return f"fixes:{identifier}"


def proven_key(evidence: str) -> str:
    """Return the key by which active memories are found that name something as their evidence."""
    return f"proven:{evidence}"


def symbol_key(symbol: str) -> str:
    """Return the key by which active memories are found that cite a symbol."""
    return f"symbol:{symbol}"


def archived_key(content: str) -> str:
    """Return the key by which archived memories of a content are found."""
    return f"archived:{fold(content)}"


def app_key(app: str) -> str:
    """Return the key by which the active memories of an app are found."""
    return f"app:{app.casefold()}"


def word_keys_of(record: Record) -> Sequence[str]:
    """Return the words by which active memories are found alike: `core.lifecycle.candidates`."""
    if not isinstance(record, Memory) or record.state is not State.ACTIVE:
        return ()
    from pmem.core.lifecycle.candidates import word_keys

    return word_keys(record.content, record.scope)


def holders_among(records: Iterable[Record], keys: Collection[str], most: int) -> Holders:
    """Return which of the records, by ascending id, hold words; see `Backend.holders`."""
    found: dict[str, list[str]] = {key: [] for key in keys}
    for record in records:
        for key in word_keys_of(record):
            if key in found:
                found[key].append(record.id)
    return {key: ids for key, ids in found.items() if len(ids) <= most}


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
