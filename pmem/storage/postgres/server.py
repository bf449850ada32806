"""Connections to a server: one for a thread, kept for the next, their errors in sentences."""

import os
import re
import time
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from threading import Condition
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import finalize

from pmem.core.lines import split_lines
from pmem.errors import (
    InvalidValue,
    Locked,
    NewerSchema,
    NoProject,
    PmemError,
    Refused,
    StorageRefused,
    Unfinished,
    Unreachable,
)
from pmem.storage.index.schema import VERSION as READING

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

VERSION: Final = 8
"""The number of the last migration."""
MOST_IDLE: Final = 4
"""Connections that a process keeps for the next question."""
CONNECT_SECONDS: Final = 10
STATEMENT_SECONDS: Final = 120
"""How long one statement may take."""
_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 1.0
_ROOM: Final = 6
"""How many times as long as for one writer is waited for room: those inside wait as well.

Nothing tells from outside whether those inside get on. Of 120 processes that began at once with 20
connections, 48 found no room in ten seconds, and none was left after thirty (`benchmarks.crowd`).
"""
_FULL: Final = (
    "too many c", "remaining connection slots", "is starting up", "no more connections allowed"
)  # fmt: skip
"""What a server says that will have room in a moment, or a pooler before it."""
_NO_ROOM: Final = "{} has had no connection to spare for {:g} s"
_MORE_ROOM: Final = "try again in a moment, or let the server take more (`max_connections`)"
_NO_DATABASE: Final = re.compile(r'database ".*" does not exist')
_MAKE_DATABASE: Final = "make it with `createdb`, or fix the address"
_SETTINGS: Final = (
    "select current_setting('pmem.session', true); set pmem.session = '{}';"
    " set timezone = 'UTC'; set search_path = pg_catalog; set jit = off"
)
"""Tells whether somebody else has had the session before, and makes it ours.

To compile a query that counts a million records takes longer than to answer it.
"""
_POOLED: Final = "{} is behind a pooler that gives several clients the same session"
_KEEP_SESSIONS: Final = "let it keep sessions apart, and clean them: `pool_mode = session`"
_TIMEOUT: Final = "statement_timeout"
VERSIONS: Final = (
    "select current_setting('pmem.session', true) as session, number, reading,"
    " coalesce((select max(version) from pmem.schema_version), 0) as version"
    " from (values (%s)) as asked (key) left join pmem.project using (key)"
)
"""What `Server.check` takes, by a project's key."""
_NO_SCHEMA: Final = ("3F000", "42P01")
_BUSY: Final = ("08P01", "55P03", "57014", "40001", "40P01")
_LOST: Final = ("57P01", "57P02", "57P03", "25P03", "57P05")
_REFUSED: Final = ("42501", "42704", "28000", "28P01", "0LP01")
_NOT_OURS: Final = ("26000", "42P05")
"""What we prepared is not there, or somebody else prepared the same."""
_STORAGE: Final = ("25006", "53100", "53200", "53400", "58000", "58030", "54000")


class Server:
    """One project on a server; any number of threads may ask it at once.

    Args:
        address: Where the server is, as PostgreSQL's own programs take it.
        project: The key of the project there.
        patience: Returns the seconds that are waited for other writers, and for room.
        schema: Whether its tables must be there, as this pmem knows them.

    Attributes:
        address: Where the server is; a password may be in it.
        project: The key of the project there.
        patience: Returns the seconds that are waited.
    """

    def __init__(
        self,
        address: str,
        project: str,
        patience: Callable[[], float],
        *,
        schema: bool = True,
    ) -> None:
        self.address = address
        self.project = project
        self.patience = patience
        self._schema = schema
        self._idle: list[Connection[Any]] = []
        finalize(self, _close_all, self._idle)  # whoever forgets a project leaves none open
        self._lent: dict[int, Connection[Any]] = {}
        self._kept = Condition()
        self._mark = os.urandom(8).hex()
        self._number: int | None = None

    @cached_property
    def name(self) -> str:
        """The server as people may see it."""
        return shown_address(self.address)

    @property
    def number(self) -> int:
        """The project's number on the server.

        Raises:
            NoProject: The server does not know the project.
            Unreachable, Damaged: See `connection`.
        """
        if self._number is None:
            with self.connection():
                pass
        assert self._number is not None
        return self._number

    @contextmanager
    def connection(self) -> "Iterator[Connection[Any]]":
        """Lend a connection; one that fails is closed.

        A thread that has one already gets the same: where it waited for a second, those that wait
        for what it holds might have them all.

        Raises:
            Unreachable: The server cannot be reached, or the connection was lost.
            Locked: Others kept what is needed past the time-out.
            NoProject: The server does not know the project, or nothing of pmem.
            NewerSchema, Damaged: Its tables are of another version.
            Refused: The user may not do that.
            StorageRefused: The server's disk refused.
        """
        thread = get_ident()
        lent = self._lent.get(thread)
        if lent is not None and not lent.closed:
            with self.sentences():
                yield lent
            return
        connection = self._lent[thread] = self._obtained()
        try:
            with self.sentences():
                yield connection
        except BaseException:
            if not connection.closed and connection.info.transaction_status != 0:
                connection.close()  # in the middle of something: nobody else may have it
            raise
        finally:
            self._lent.pop(thread, None)
            self._keep(connection)

    def ask(self, question: "Callable[[Connection[Any]], T]") -> T:
        """Ask something that writes nothing; once more where the connection was lost.

        Raises:
            PmemError: See `connection`.
        """
        try:
            with self.connection() as connection:
                return question(connection)
        except Unreachable:
            self.close()
            with self.connection() as connection:
                return question(connection)

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._kept:
            _close_all(self._idle)

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turn what the server or the connection raises into a sentence."""
        psycopg = driver()
        try:
            yield
        except psycopg.Error as error:
            raise self.sentence_of(error) from error

    def sentence_of(self, error: Any) -> Exception:
        """Return what to say of an error of the driver; itself where it is a mistake of ours."""
        psycopg = driver()
        code, said = error.sqlstate or "", _first_line(error)
        if code in _NO_SCHEMA:
            return NoProject(f"{self.name} has no tables of pmem", "run `pmem db init`")
        if code in _NOT_OURS:
            return StorageRefused(_POOLED.format(self.name), _KEEP_SESSIONS)
        if code in _LOST or (not code and isinstance(error, psycopg.OperationalError)):
            return Unreachable(f"the connection to {self.name} was lost: {said}")
        kinds: Mapping[type[PmemError], tuple[str, ...]] = {
            Locked: _BUSY, Refused: _REFUSED, StorageRefused: _STORAGE
        }  # fmt: skip
        for kind, codes in kinds.items():
            if code in codes:
                return kind(f"{self.name} refused: {said}")
        return error if isinstance(error, Exception) else Unfinished(said)

    def _taken(self) -> "Connection[Any] | None":
        with self._kept:
            while self._idle:
                connection = self._idle.pop()
                if _is_open(connection):
                    return connection
        return None

    def _keep(self, connection: "Connection[Any]") -> None:
        with self._kept:
            if not connection.closed and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                self._kept.notify()
                return
        with suppress(Exception):
            connection.close()

    def _obtained(self) -> "Connection[Any]":
        """Return a connection that is kept, or connect; see `connection`.

        Where the server is full or starts, it is asked ever less often, and whatever another
        thread gives back meanwhile is taken.
        """
        patience, pause = _ROOM * self.patience(), _PAUSE_SECONDS
        until = time.monotonic() + patience
        while True:
            found = self._taken() or self._connected()
            if found is not None:
                return found
            if time.monotonic() > until:
                raise Locked(_NO_ROOM.format(self.name, patience), _MORE_ROOM)
            with self._kept:
                self._kept.wait_for(lambda: self._idle, pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _connected(self) -> "Connection[Any] | None":
        """Connect, and see that the server has what is needed; None where it has no room now.

        Raises:
            Unreachable: It cannot be reached.
            NoProject, NewerSchema, StorageRefused: It has not.
        """
        psycopg = driver()
        try:
            connection: Connection[Any] = psycopg.connect(
                self.address, autocommit=True, **self._defaults()
            )
        except psycopg.Error as error:
            if any(words in str(error) for words in _FULL):
                return None
            said = _first_line(error)
            hint = _MAKE_DATABASE if _NO_DATABASE.search(said) else ""
            raise Unreachable(f"{self.name} cannot be reached: {said}", hint) from None
        try:
            with self.sentences():
                self._begin_session(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin_session(self, connection: "Connection[Any]") -> None:
        (is_used,) = connection.execute(self._settings().encode()).fetchone() or ("",)
        if is_used:
            raise StorageRefused(_POOLED.format(self.name), _KEEP_SESSIONS)
        if self._schema:
            row = connection.execute(VERSIONS, (self.project,)).fetchone()
            assert row is not None
            self.check(*row)

    def _defaults(self) -> dict[str, Any]:
        """Return what is asked of a connection where its address does not say."""
        given = parts_of(self.address)
        wanted = {
            "connect_timeout": CONNECT_SECONDS,
            "application_name": "pmem",
            "client_encoding": "utf8",
        }
        return {key: value for key, value in wanted.items() if key not in given}

    def _settings(self) -> str:
        """Return what makes a session ours; poolers refuse it in what a connection begins with."""
        is_given = _TIMEOUT in parts_of(self.address).get("options", "")
        return _SETTINGS.format(self._mark) + f"; set {_TIMEOUT} = '{STATEMENT_SECONDS}s'" * (
            not is_given
        )

    def check(self, session: str, number: int | None, reading: int | None, version: int) -> None:
        """See that the session is ours, and what it leads to of the versions that this pmem knows.

        What is `reading` is the version by which texts were read that records are found by.

        Raises:
            NoProject: The server does not know the project.
            NewerSchema: A newer pmem made what it has.
            StorageRefused: An older one did, or a pooler mixes sessions.
        """
        if session != self._mark:
            raise StorageRefused(_POOLED.format(self.name), _KEEP_SESSIONS)
        _check_version(version, VERSION, f"{self.name} has schema")
        if number is None or reading is None:
            raise NoProject(f"{self.name} does not know this project", "run `pmem db init`")
        _check_version(reading, READING, f"{self.name} is searched by version")
        if self._number is None:
            self._number = number


def _check_version(version: int, wanted: int, what: str) -> None:
    if version > wanted:
        raise NewerSchema(f"{what} {version}, and this pmem knows {wanted}")
    if version < wanted:
        raise StorageRefused(
            f"{what} {version}, and this pmem needs {wanted}", "run `pmem db migrate`"
        )


def _is_open(connection: "Connection[Any]") -> bool:
    """Tell whether a connection is open on both sides, as far as can be told without asking."""
    try:
        for _ in range(2):  # what the server said last, and that it hung up then
            connection.pgconn.consume_input()
    except driver().Error:
        connection.close()
    return not connection.closed


def _close_all(idle: "list[Connection[Any]]") -> None:
    while idle:
        with suppress(Exception):
            idle.pop().close()


def _first_line(error: BaseException) -> str:
    """Return what an error says, without the address that it may quote."""
    lines = [line.strip() for line in split_lines(str(error)) if line.strip()]
    return lines[0] if lines else type(error).__name__


INSTALL: Final = "pip install 'pmem-cli[postgres]'"
_UNREADABLE: Final = "the address of the database cannot be read"
_ESCAPE: Final = "write / ? # @ in a name or a password as %2F %3F %23 %40"
_HINT: Final = "write it like postgresql://me@db.example.org/team"
_PLAIN: Final = frozenset({"host", "hostaddr", "port", "dbname"})


def parts_of(address: str) -> dict[str, Any]:
    """Take an address apart.

    Raises:
        InvalidValue: It is neither, or the extra is not installed. The sentence does not quote
            it: a password may be in it.
    """
    psycopg = driver()
    user, at, _ = address.partition("://")[2].rpartition("@")
    if at and any(sign in user for sign in "/?#"):
        raise InvalidValue(_UNREADABLE, _ESCAPE)  # a part of a password would be taken for a host
    try:
        return dict(psycopg.conninfo.conninfo_to_dict(address))
    except (psycopg.Error, UnicodeError, ValueError):
        raise InvalidValue(_UNREADABLE, _HINT) from None


def shown_address(address: str) -> str:
    """Return an address as people may see it: where it is, and nothing of who connects."""
    parts = {key: str(value) for key, value in parts_of(address).items() if key in _PLAIN}
    host = parts.get("host") or parts.get("hostaddr") or "this machine"
    port = f":{parts['port']}" if "port" in parts else ""
    return f"{parts.get('dbname', 'the default database')} on {host}{port}"


def driver() -> Any:
    """Load psycopg.

    Raises:
        InvalidValue: It is not installed.
    """
    try:
        import psycopg
        import psycopg.conninfo
        import psycopg.errors
    except ImportError as error:
        raise InvalidValue(f"a database needs the extra `postgres`: {error}", INSTALL) from None
    _silence()
    return psycopg


@cache
def _silence() -> None:
    """Keep the driver from writing to standard error: what goes wrong is said in one sentence."""
    import logging

    logging.getLogger("psycopg").addHandler(logging.NullHandler())


@contextmanager
def unlocking(connection: "Connection[Any]", *key: int) -> Iterator[None]:
    """Give a lock back at the end; with a connection that is lost it went already."""
    try:
        yield
    finally:
        with suppress(driver().Error):
            signs = ", ".join(["%s"] * len(key))
            connection.execute(f"select pg_advisory_unlock({signs})".encode(), key)
