"""What a backend without an index answers by scans of its records."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from pmem.core.selection import Order, Portion, Selection, selected_among
from pmem.storage.backend import Holders, Tally, holders_among, pool_of, tally_of
from pmem.values.records import Record

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Unindexed(ABC):
    """Answers what is asked of a backend by a scan of its records; it keeps nothing beside them."""

    @abstractmethod
    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:
        """Yield all records of a store, by ascending id."""

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

    def marked(self, type_: type[R], mark: str) -> Iterator[R]:  # noqa: ARG002
        return iter(())

    def mark(  # noqa: B027 - none are kept, and that is all of it
        self, type_: type[Record], mark: str, ids: Collection[str]
    ) -> None:
        """Keep no marks."""

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        return holders_among(self.scan(type_), keys, most)

    def searched(self, search: "Callable[[Pool], T]") -> T:
        return search(pool_of(self.scan))
