"""A backend without files, which answers by scans."""

from _thread import allocate_lock
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

from pmem.errors import NotFound
from pmem.storage.backend import Change, Problem, Unindexed
from pmem.values.ids import matches
from pmem.values.records import KINDS, STORES, Record

R = TypeVar("R", bound=Record)


class InMemory(Unindexed):
    """Keeps records as long as it is there; threads may share it."""

    def __init__(self) -> None:
        self._turn = allocate_lock()
        self.problems: list[Problem] = []
        self._records: dict[type[Record], dict[str, Record]] = {type_: {} for type_ in STORES}

    def ids(self, type_: type[Record], reference: str = "") -> list[str]:
        return sorted(id_ for id_ in list(self._records[type_]) if matches(reference, id_))

    def read(self, type_: type[R], identifier: str) -> R:
        try:
            record = self._records[type_][identifier]
        except KeyError:
            raise NotFound(f"there is no {KINDS[type_]} {identifier}") from None
        assert isinstance(record, type_)
        return record

    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:
        for identifier in self.ids(type_):
            record = self._records[type_].get(identifier)
            if isinstance(record, type_):
                yield record

    def moment(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def lock(self) -> Iterator[None]:
        with self._turn:
            yield

    def commit(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.record is None:
                self._records[change.type].pop(change.id, None)
            else:
                self._records[change.type][change.id] = change.record
