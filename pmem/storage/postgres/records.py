"""The backend for many machines: records on a PostgreSQL server, found by our own scores there."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from pmem.core.filters import EVERYTHING, Filter, judge_of
from pmem.core.selection import Order, Portion, Selection
from pmem.errors import Damaged, NotFound
from pmem.storage.backend import Change, Holders, Problem, Tally, tally_of, twin_keys
from pmem.storage.files.recordfile import decode, parse
from pmem.storage.postgres import asking
from pmem.storage.postgres.server import Server
from pmem.storage.postgres.turn import WriterTurn, place_of, writers_turn
from pmem.values.ids import is_id
from pmem.values.records import KINDS, SCHEMA, STORES, Record

if TYPE_CHECKING:
    from psycopg import Connection

    from pmem.core.retrieval.pool import Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_PAGE: Final = 2000
"""Records that are fetched together: more would take more memory, not less time."""


class ServerRecords:
    """The records of one project on a server.

    Args:
        server: Where they are.
        read_only: Write nothing at all.

    It is one thread's at a time.
    """

    def __init__(self, server: Server, *, read_only: bool = False) -> None:
        self.server = server
        self._read_only = read_only
        self._problems: dict[str, Problem] = {}
        self._turn: WriterTurn | None = None

    @property
    def problems(self) -> Sequence[Problem]:
        return list(self._problems.values())

    def ids(self, type_: type[Record], reference: str = "") -> list[str]:
        return self._ask(partial(asking.ids, store=STORES[type_], reference=reference))

    def read(self, type_: type[R], identifier: str) -> R:
        data = None
        if is_id(identifier):
            data = self._ask(partial(asking.data, store=STORES[type_], id_=identifier))
        if data is None:
            raise NotFound(f"there is no {KINDS[type_]} {identifier}")
        return self._parsed(type_, identifier, data)

    def scan(self, type_: type[R], wanted: Filter = EVERYTHING) -> Iterator[R]:
        judge = judge_of(wanted)
        return (record for record in self._records(type_) if judge(record) is None)

    def select(
        self, type_: type[R], selection: Selection, order: Order = (), limit: int | None = None
    ) -> list[R]:
        part = Portion(selection, order, limit)
        found = self._ask(partial(asking.select, store=STORES[type_], part=part))
        records = filter(selection.judge(), self._usable(type_, found))
        return list(records)[:limit]

    def some_of(
        self,
        type_: type[R],
        selection: Selection,
        parts: Sequence[Portion],
        keys: Collection[str] = (),
    ) -> list[R]:
        found = self._ask(partial(asking.some_of, store=STORES[type_], parts=parts, keys=keys))
        return list(filter(selection.judge(), self._usable(type_, found)))

    def tally(
        self, type_: type[Record], selection: Selection, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        found = self._ask(
            partial(asking.tally, store=STORES[type_], selection=selection, columns=columns,
                    least=least)
        )  # fmt: skip
        if found is None:
            return tally_of(self.select(type_, selection), selection, columns, least)
        return {tuple(values): number for *values, number in found if number}

    def figure(self, type_: type[Record], name: str, kind: type[T], make: Callable[[], T]) -> T:
        store = STORES[type_]
        revision, kept = self._ask(partial(asking.figure, store=store, name=name))
        if kept is not None:
            return msgspec.json.decode(kept, type=kind)
        value = make()
        if revision and not self._read_only:
            text = msgspec.json.encode(value).decode()
            with suppress(Exception):  # it is made again
                self._ask(partial(asking.keep_figure, store=store, name=name,
                                  revision=revision, value=text))  # fmt: skip
        return value

    def unmarked(self, type_: type[R], mark: str) -> Iterator[R]:
        return self._records(type_, without=mark)

    def marked(self, type_: type[R], mark: str) -> Iterator[R]:
        found = self._ask(partial(asking.marked, store=STORES[type_], mark=mark))
        return self._usable(type_, found)

    def mark(self, type_: type[Record], mark: str, ids: Collection[str]) -> None:
        if ids and not self._read_only:
            self._ask(partial(asking.mark, store=STORES[type_], mark=mark, ids=ids))

    def twins(self, type_: type[R], key: str) -> Iterator[R]:
        found = self._ask(partial(asking.twins, store=STORES[type_], key=key))
        return (record for record in self._usable(type_, found) if key in twin_keys(record))

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        return self._ask(partial(asking.holders, store=STORES[type_], keys=keys, most=most))

    def searched(self, search: "Callable[[Pool], T]") -> T:
        from pmem.storage.postgres.search import ServerPool

        def within(connection: "Connection[Any]", project: int) -> T:
            if connection.info.transaction_status != 0:
                return search(ServerPool(connection, project))
            with connection.transaction():
                connection.execute("set transaction isolation level repeatable read, read only")
                return search(ServerPool(connection, project))

        return self._ask(within)

    def moment(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def lock(self) -> Iterator[None]:
        import pmem.core.lifecycle.linking  # noqa: F401 - before it: nobody waits for the loading

        with self.server.connection() as connection, writers_turn(self.server, connection) as turn:
            self._turn = turn
            try:
                yield
            finally:
                self._turn = None

    def commit(self, changes: Sequence[Change]) -> None:
        assert self._turn is not None
        self._turn.commit(changes)

    def writing(self) -> "AbstractContextManager[Connection[Any]]":
        """Begin a transaction, and make it durable at the end; see `WriterTurn.writing`."""
        assert self._turn is not None
        return self._turn.writing()

    def _ask(self, question: "Callable[[Connection[Any], int], T]") -> T:
        """Ask on the connection that holds the lock, or on any."""
        if self._turn is not None:
            with self.server.sentences():
                return question(self._turn.connection, self.server.number)
        return self.server.ask(lambda connection: question(connection, self.server.number))

    def _records(self, type_: type[R], without: str = "") -> Iterator[R]:
        after = ""
        while found := self._ask(
            partial(asking.page, store=STORES[type_], after=after, most=_PAGE, without=without)
        ):
            yield from self._usable(type_, found)
            if len(found) < _PAGE:
                return
            after = found[-1][0]

    def _usable(self, type_: type[R], found: Sequence[tuple[str, bytes]]) -> Iterator[R]:
        """Yield records; what cannot be used joins the problems."""
        for identifier, data in found:
            try:
                yield self._parsed(type_, identifier, data)
            except Damaged as error:
                where = place_of(self.server, STORES[type_], identifier)
                self._problems[where] = Problem(where, error.code, error.message)

    def _parsed(self, type_: type[R], identifier: str, data: bytes) -> R:
        store = STORES[type_]
        if self._turn is not None:
            self._turn.note_read((store, identifier), data)
        try:
            record = decode(data, type_)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return parse(data, type_, place_of(self.server, store, identifier))
        if record.schema != SCHEMA or record.id != identifier:
            return parse(data, type_, place_of(self.server, store, identifier))
        return record
