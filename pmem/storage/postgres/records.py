"""The backend for many machines: records on a PostgreSQL server, found by our own scores there."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from pmem.core.places import applies_within
from pmem.core.selection import Order, Portion, Selection
from pmem.core.trust import OriginCounts, RecordOrigin
from pmem.errors import Damaged, NotFound
from pmem.storage.backend import (
    Change,
    Holders,
    IdPair,
    Judge,
    Problem,
    Tally,
    near_pairs_among,
    tally_of,
)
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.recordfile import decode, parse
from pmem.storage.index.selecting import Condition
from pmem.storage.postgres.selecting import clean, column, condition, ordering
from pmem.storage.postgres.server import Server
from pmem.storage.postgres.turn import WriterTurn, place_of, writers_turn
from pmem.values.ids import is_id
from pmem.values.records import KINDS, SCHEMA, STORES, Memory, Record

if TYPE_CHECKING:
    from psycopg import Connection

    from pmem.core.retrieval.pool import Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_PAGE: Final = 2000
"""Records that are fetched together: more would take more memory, not less time."""


_WRITERS: Final = (
    "select writer, is_outside, count(*) from pmem.record where project = %s"
    " group by writer, is_outside order by writer, is_outside"
)
_OUTSIDE: Final = "select store, id, writer from pmem.record where project = %s and is_outside"
_WITHOUT: Final = (
    "select id from pmem.record where project = %s and store = %s and not exists"
    " (select from pmem.mark where mark.record = number and name = %s) order by id"
)
_NAMED: Final = (
    "select id, data from pmem.record where project = %s and store = %s and id = any(%s)"
    " order by id"
)
_HELD: Final = "select data from pmem.record where project = %s and store = %s and id = %s"
_REPLACED: Final = "state in ('superseded', 'merged')"
_GAVE_WAY: Final = (
    "select id, data from pmem.record as one cross join lateral"
    " (select sum((detail ? 'by')::integer + (detail ? 'into')::integer) as many,"
    " max(coalesce(detail ->> 'by', detail ->> 'into')) as heir"
    " from jsonb_path_query(body, '$.history[*].detail') as detail) as left_to"
    " where project = %s and store = %s and {} and many > 0 and (many > 1 or not exists"
    " (select from pmem.record as other where other.project = one.project"
    " and other.store = one.store and other.id = heir and (other.state = 'active'"
    " or other.state in ('archived', 'soft_deleted')"
    " and (other.body #> '{{history,-1,before}}') ? 'state'))) order by id"
)
_CURRENT_FIGURE: Final = (
    "select store.revision, value from pmem.store left join pmem.figure"
    " on figure.project = store.project and figure.store = store.name"
    " and figure.revision = store.revision and figure.name = %s"
    " where store.project = %s and store.name = %s"
)
_FIGURE: Final = "select value from pmem.figure where project = %s and store = %s and name = %s"
_KEEP_FIGURE: Final = (
    "insert into pmem.figure values (%s, %s, %s, %s, %s) on conflict (project, store, name)"
    " do update set revision = excluded.revision, value = excluded.value"
)
_ACCEPT: Final = (
    "update pmem.record set given = sha256(data) where project = %s and store = %s and id = %s"
)


_JUDGED: Final = "near pairs"
_Judged = tuple[str, dict[str, bool]]
"""The rules by which pairs were judged, and by digests of what both say whether it holds."""


class ServerRecords:
    """The records of one project on a server.

    It is one thread's at a time.
    """

    def __init__(self, server: Server, *, read_only: bool = False) -> None:
        self.server = server
        self._read_only = read_only
        self._problems: dict[str, Problem] = {}
        self._turn: WriterTurn | None = None

    def accept(self, store: str, identifier: str) -> None:
        """Take a record as it is as if pmem had written it."""
        self._write(_ACCEPT, self.server.number, store, identifier)

    @property
    def problems(self) -> Sequence[Problem]:
        return list(self._problems.values())

    def ids(self, type_: type[Record], reference: str = "") -> list[str]:
        query = "select id from pmem.record where project = %s and store = %s"
        values = [self.server.number, STORES[type_]]
        if reference:
            query += (
                " and (starts_with(id, %s) or starts_with(substr(id, strpos(id, '-') + 1), %s))"
            )
            values += [clean(reference)] * 2
        if is_id(reference):
            query, values = f"{query} and id = %s", [*values, reference]
        return [id_ for (id_,) in self.rows(f"{query} order by id", *values)]

    def read(self, type_: type[R], identifier: str) -> R:
        found = []
        if is_id(identifier):
            found = self.rows(_HELD, self.server.number, STORES[type_], identifier)
        if not found:
            raise NotFound(f"there is no {KINDS[type_]} {identifier}")
        return self._parsed(type_, identifier, found[0][0])

    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:
        """Yield records page by page."""
        of_store, after = (self.server.number, STORES[type_]), ""
        if without:
            ids = [id_ for (id_,) in self.rows(_WITHOUT, *of_store, without)]
            for start in range(0, len(ids), _PAGE):
                named = self.rows(_NAMED, *of_store, ids[start : start + _PAGE])
                yield from self._usable(type_, named)
            return
        query = "select id, data from pmem.record where project = %s and store = %s and id > %s"
        while True:
            found = self.rows(f"{query} order by id limit %s", *of_store, after, _PAGE)
            yield from self._usable(type_, found)
            if len(found) < _PAGE:
                return
            after = found[-1][0]

    def select(
        self, type_: type[R], selection: Selection, order: Order = (), limit: int | None = None
    ) -> list[R]:
        query, values = self._query("id, data", type_, Portion(selection, order, limit))
        found = self._usable(type_, self.rows(query, *values))
        return list(filter(selection.judge(), found))[:limit]

    def some_of(self, type_: type[R], selection: Selection, parts: Sequence[Portion]) -> list[R]:
        project, queries, values = self.server.number, [], list[Any]()
        for part in parts:
            query, more = self._query("number", type_, part)
            queries.append(f"({query})")
            values += more
        query = (
            f"select id, data from pmem.record where number in ({' union '.join(queries)})"
            " and project = %s and store = %s order by id"
        )
        found = self._usable(type_, self.rows(query, *values, project, STORES[type_]))
        return list(filter(selection.judge(), found))

    def tally(
        self, type_: type[Record], selection: Selection, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        found = self._condition(type_, selection)
        if not found.is_exact:
            return tally_of(self.select(type_, selection), selection, columns, least)
        by = ", ".join(column(name) for name in columns)
        query = f"select {by}{', ' * bool(by)}count(*) from pmem.record where {found.text}"
        query += f" group by {by}" * bool(by) + " having count(*) >= %s"
        rows = self.rows(query, *found.values, least)
        return {tuple(values): number for *values, number in rows if number}

    def figure(self, type_: type[Record], name: str, kind: type[T], make: Callable[[], T]) -> T:
        found = self.rows(_CURRENT_FIGURE, name, self.server.number, STORES[type_])
        revision, kept = found[0] if found else (0, None)
        if kept is not None:
            return msgspec.json.decode(kept, type=kind)
        value = make()
        if revision:
            self._keep_figure(type_, name, revision, value)
        return value

    def _keep_figure(self, type_: type[Record], name: str, revision: int, value: Any) -> None:
        text, of_store = msgspec.json.encode(value).decode(), (self.server.number, STORES[type_])
        if not self._read_only:
            with suppress(Exception):  # it is made again
                self._write(_KEEP_FIGURE, *of_store, name, revision, text)

    def tokens(
        self,
        vocabulary: str,  # noqa: ARG002 - a server would be asked for longer than counting takes
        pieces: Collection[str],
        count: Callable[[str], int],
    ) -> Mapping[str, int]:
        return {piece: count(piece) for piece in pieces}

    def marked(self, type_: type[R], mark: str) -> Iterator[R]:
        query = (
            "select id, data from pmem.mark join pmem.record on record.number = mark.record"
            " where mark.name = %s and project = %s and store = %s order by id"
        )
        return self._usable(type_, self.rows(query, mark, self.server.number, STORES[type_]))

    def mark(self, type_: type[Record], mark: str, ids: Collection[str]) -> None:
        query = (
            "insert into pmem.mark select %s, number from pmem.record where project = %s"
            " and store = %s and id = any(%s) on conflict do nothing"
        )
        if ids and not self._read_only:
            self._write(query, mark, self.server.number, STORES[type_], list(ids))

    def gave_way(self, mark: str = "") -> Iterable[Memory]:
        asked = [self.server.number, STORES[Memory], *[mark] * bool(mark)]
        which = "number in (select record from pmem.mark where name = %s)" if mark else _REPLACED
        return self._usable(Memory, self.rows(_GAVE_WAY.format(which), *asked))

    def near_pairs(self, rules: str, judge: Judge) -> list[IdPair]:
        """Return the pairs; what was judged is kept by what both say, whatever else changes."""
        rows = self.rows(_FIGURE, self.server.number, STORES[Memory], _JUDGED)
        by, known = msgspec.json.decode(rows[0][0], type=_Judged) if rows else ("", {})
        judged: dict[str, bool] = {}

        def look(one: Memory, other: Memory) -> bool:
            key = blake2b(msgspec.json.encode((one, other)), digest_size=16).hexdigest()
            holds = known.get(key) if by == rules else None
            judged[key] = judge(one, other) if holds is None else holds
            return judged[key]

        found = near_pairs_among(self.select, look)
        if judged and (by, known) != (rules, judged):
            self._keep_figure(Memory, _JUDGED, 0, (rules, judged))
        return found

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        project, given = self.server.number, {clean(key): key for key in keys}
        query = (
            "select asked, array(select id from pmem.word join pmem.record on number = word.record"
            " where word.project = %s and word = asked and store = %s order by id)"
            " from unnest(%s::text[]) as asked where not exists (select from pmem.word"
            " where project = %s and word = asked offset %s)"
        )
        rows = self.rows(query, project, STORES[type_], list(given), project, most)
        return {given[word]: ids for word, ids in rows}

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

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Return the rows of a query."""
        return self._ask(
            lambda connection, _: connection.execute(query.encode(), values, binary=True).fetchall()
        )

    def _write(self, query: str, *values: Any) -> None:
        self._ask(lambda connection, _: connection.execute(query.encode(), values))

    def _query(self, what: str, type_: type[Record], part: Portion) -> tuple[str, list[Any]]:
        found = self._condition(type_, part.selection)
        query = f"select {what} from pmem.record where {found.text} order by {ordering(part.order)}"
        if part.limit is None or not found.is_exact:
            return query, found.values
        return f"{query} limit %s", [*found.values, part.limit]

    def _condition(self, type_: type[Record], selection: Selection) -> Condition:
        """Return the condition of a selection; which patterns fit a path is found out here."""
        path, placed = selection.wanted.path, []
        if path is not None:
            query = "select distinct patterns from pmem.place where project = %s"
            found = [patterns for (patterns,) in self.rows(query, self.server.number)]
            placed = [each for each in found if applies_within(each.split("\n"), path)]
        return condition(self.server.number, STORES[type_], selection, placed)

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


class ServerOrigins:
    """Tells of records on a server which of them something else than pmem wrote.

    Records are named as if they were files.
    """

    is_in_git = False
    reviewed = why_nothing = ""

    def __init__(self, records: ServerRecords) -> None:
        self._records = records

    def of(
        self,
        records: Iterable[Record],
        *,
        only_doubts: bool = False,  # noqa: ARG002 - all are asked for at once
    ) -> dict[str, RecordOrigin]:
        """Return where records come from, by their ids: what is not known counts as written."""
        return {
            one.id: RecordOrigin.OUTSIDE
            if (STORES[type(one)], one.id) in self._outside
            else RecordOrigin.WRITTEN
            for one in records
        }

    @cached_property
    def _outside(self) -> dict[tuple[str, str], str]:
        """Who wrote what was written beside pmem, by stores and ids."""
        rows = self._records.rows(_OUTSIDE, self._records.server.number)
        return {(store, id_): writer for store, id_, writer in rows}

    def everywhere(self) -> dict[str, RecordOrigin]:
        """Return the records that were written beside pmem."""
        return {record_file(*key): RecordOrigin.OUTSIDE for key in self._outside}

    def counts(self, found: Mapping[str, RecordOrigin]) -> OriginCounts:  # noqa: ARG002
        """Return how many of all records have which origin, and how many each role wrote last.

        Of what was written before a server noted it no role is known.
        """
        origins, writers = Counter[RecordOrigin](), Counter[str]()
        for writer, is_outside, many in self._records.rows(_WRITERS, self._records.server.number):
            if writer is None:
                origins[RecordOrigin.UNKNOWN] += many
                continue
            origins[RecordOrigin.OUTSIDE if is_outside else RecordOrigin.WRITTEN] += many
            writers[writer] += many
        return origins, writers

    def writer(self, path: str) -> str:
        """Return the role that wrote a record beside pmem."""
        return self._outside.get(_key_of(path), "")

    def place(self, path: str) -> str:
        """Return how a record is named to people."""
        return f"{self._records.server.name}/{path}"

    def text(self, path: str) -> bytes | None:
        """Return what a record is now."""
        rows = self._records.rows(_HELD, self._records.server.number, *_key_of(path))
        return rows[0][0] if rows else None

    def text_before(self, path: str) -> bytes | None:  # noqa: ARG002
        """Return nothing: a server keeps what is, not what was."""
        return None

    def accept(self, files: Mapping[str, bytes | None]) -> None:
        """Take records as they are as if pmem had written them."""
        for path in files:
            self._records.accept(*_key_of(path))


def _key_of(path: str) -> tuple[str, str]:
    store, _, name = path.partition("/")
    return store, name.removesuffix(SUFFIX)
