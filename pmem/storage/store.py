"""One store of one kind of record: loaded when first used, written only where changed."""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from pmem.core.filters import EVERYTHING, Filter, judge_of
from pmem.core.record_keys import twin_keys, word_keys_of
from pmem.core.selection import ALL, Order, Portion, Selection, in_order
from pmem.errors import Damaged, NotFound
from pmem.storage.backend import Backend, Change, IdPair, Judge, Tally, tally_of
from pmem.values.ids import matches
from pmem.values.records import KINDS, Memory, Record

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Store(Generic[R]):
    """The records of one type, as they are on disk and as they are about to be."""

    def __init__(self, backend: Backend, type_: type[R]) -> None:
        self.type = type_
        self._backend = backend
        self._loaded: dict[str, R] = {}
        self._dirty: dict[str, R | None] = {}
        self._pending_twins: dict[str, list[str]] = {}
        self._pending_words: dict[str, list[R]] = {}
        self._unread: list[R] = []

    def ids(self, reference: str = "") -> list[str]:
        """Return the ids that a reference fits, pending changes included; see `Backend.ids`."""
        found = set(self._backend.ids(self.type, reference))
        found |= {id_ for id_ in self._dirty if matches(reference, id_)}
        return sorted(found - {id_ for id_, record in self._dirty.items() if record is None})

    def get(self, identifier: str) -> R:
        """Return a record, from disk on first use.

        Raises:
            NotFound: There is none of that id.
            Damaged: Its file cannot be used.
            StorageRefused: Its file may not be read.
        """
        if identifier in self._dirty:
            record = self._dirty[identifier]
            if record is None:
                raise NotFound(f"there is no {KINDS[self.type]} {identifier}")
            return record
        if identifier not in self._loaded:
            self._loaded[identifier] = self._backend.read(self.type, identifier)
        return self._loaded[identifier]

    def find(self, wanted: Filter = EVERYTHING) -> Iterator[R]:
        """Yield the records that pass a filter by ascending id, pending changes included."""
        fails = judge_of(wanted)
        found: Iterable[R] = self._backend.scan(self.type)
        if self._dirty:
            kept = {record.id: record for record in found} | self._dirty
            found = (record for _, record in sorted(kept.items()) if record is not None)
        return (record for record in found if fails(record) is None)

    def select(
        self, selection: Selection = ALL, order: Order = (), limit: int | None = None
    ) -> list[R]:
        """Return the records that are selected, in order, pending changes included."""
        more = None if limit is None else limit + len(self._dirty)
        found = self._backend.select(self.type, selection, order, more)
        if not self._dirty:
            return found
        left = [record for record in found if record.id not in self._dirty]
        pending = filter(selection.judge(), filter(None, self._dirty.values()))
        return in_order(sorted((*left, *pending), key=lambda each: each.id), order)[:limit]

    def some_of(self, selection: Selection, parts: Sequence[Portion]) -> list[R]:
        """Return records that are selected, at least those of any part; see `Backend.some_of`."""
        if self._dirty:
            return self.select(selection)
        return self._backend.some_of(self.type, selection, parts)

    def tally(
        self, selection: Selection = ALL, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        """Count the records that are selected, pending changes included."""
        if self._dirty:
            return tally_of(self.select(selection), selection, columns, least)
        return self._backend.tally(self.type, selection, columns, least)

    def figure(self, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """Return a figure that depends on the store's records alone (see `Backend.figure`)."""
        return make() if self._dirty else self._backend.figure(self.type, name, kind, make)

    def count(self, selection: Selection = ALL) -> int:
        """Return how many records are selected, pending changes included."""
        return sum(self.tally(selection).values())

    def twins(self, key: str, limit: int | None = None) -> Iterator[R]:
        """Yield records that have a twin key (see `core.record_keys`), by ascending id: so many
        of those that are written, and all that are pending.
        """
        for record in self._backend.select(self.type, Selection(keys=(key,)), (), limit):
            if record.id not in self._dirty:
                yield record
        for identifier in dict.fromkeys(self._pending_twins.get(key, ())):
            pending = self._dirty.get(identifier)
            if pending is not None and key in twin_keys(pending):
                yield pending

    def near_pairs(self, rules: str, judge: Judge) -> list[IdPair]:
        """Return the memories linked as nearly the same of which `judge` holds, those that are
        written; see `Backend.near_pairs`.
        """
        return self._backend.near_pairs(rules, judge)

    def gave_way(self) -> "Iterable[Memory]":
        """Return the memories that gave way to others, those that are written; see
        `Backend.gave_way`.
        """
        return self._backend.gave_way()

    def alike(self, keys: Collection[str], limit: int) -> list[R]:
        """Return the records that share most of the rarer words, the likeliest first."""
        from pmem.core.lifecycle.candidates import MOST_HOLDERS, likeliest

        found = self._backend.holders(self.type, keys, MOST_HOLDERS)
        self._read_pending()
        holders = {
            key: [id_ for id_ in ids if id_ not in self._dirty] + self._pending(key)
            for key, ids in found.items()
            if len(self._pending_words.get(key, ())) <= MOST_HOLDERS
        }
        return self._usable(likeliest(holders, limit))

    def put(self, record: R) -> R:
        """Note a new or changed record; it is written when the transaction ends."""
        self._read_before(record)
        self._dirty[record.id] = record
        for key in twin_keys(record):
            self._pending_twins.setdefault(key, []).append(record.id)
        self._unread.append(record)
        return record

    def _read_before(self, record: R) -> None:
        """Read a record that was found and not read by its id, as it was before this change."""
        is_known = record.id in self._loaded or record.id in self._dirty
        if not is_known and len(getattr(record, "history", ())) > 1:
            with suppress(NotFound, Damaged):
                self._loaded[record.id] = self._backend.read(self.type, record.id)

    def remove(self, identifier: str) -> None:
        """Note that a record's file is to go."""
        self._dirty[identifier] = None

    def changes(self) -> list[Change]:
        """Return what is to be written, by ascending id."""
        return [Change(self.type, id_, record) for id_, record in sorted(self._dirty.items())]

    def is_pending(self, identifier: str) -> bool:
        """Tell whether a record is about to be written or removed."""
        return identifier in self._dirty

    def is_removed(self, identifier: str) -> bool:
        """Tell whether the transaction removes a record."""
        return identifier in self._dirty and self._dirty[identifier] is None

    def before(self, identifier: str) -> R | None:
        """Return a record as it was read, whatever is pending; None if it was not."""
        return self._loaded.get(identifier)

    def forget(self) -> None:
        """Drop what was loaded and what was pending; the disk is the truth again."""
        self._loaded.clear()
        self._dirty.clear()
        self._pending_twins.clear()
        self._pending_words.clear()
        self._unread.clear()

    def _read_pending(self) -> None:
        for record in self._unread:
            for key in word_keys_of(record):
                self._pending_words.setdefault(key, []).append(record)
        self._unread.clear()

    def _pending(self, key: str) -> list[str]:
        """Return the ids of the pending records that hold a word."""
        noted = self._pending_words.get(key, ())
        return [record.id for record in noted if self._dirty.get(record.id) is record]

    def _usable(self, identifiers: Sequence[str]) -> list[R]:
        """Return those of some records that are there and can be used, read in one go."""
        known: ChainMap[str, R | None] = ChainMap(self._dirty, self._loaded)  # type: ignore[arg-type]
        unread = tuple(id_ for id_ in identifiers if id_ not in known)
        if unread:
            found = self._backend.select(self.type, Selection(ids=unread))
            self._loaded.update((record.id, record) for record in found)
        return list(filter(None, map(known.get, identifiers)))
