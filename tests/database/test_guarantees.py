"""What was acknowledged is there, what was not is not there by half, and each no is a sentence."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import count
from typing import Any
from unittest import mock

import psycopg
import pytest

from pmem.core.selection import STORED
from pmem.errors import Locked, NewerSchema, NoProject, PmemError, StorageRefused, Unreachable
from pmem.memory.reading import ListRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.project.caller import Caller
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchRequest
from pmem.storage.backend import Change
from pmem.storage.postgres.exchange import follow_changes
from pmem.storage.postgres.records import ServerRecords
from pmem.storage.postgres.server import Server
from pmem.upkeep.consolidation import UpkeepRequest
from pmem.values.fields import NoArguments
from pmem.values.records import Memory
from tests.asking import ask
from tests.conftest import NOW
from tests.database.plans import recorded
from tests.postgres import TestDatabase, served
from tests.storage.folders import memory

Open = Callable[[], Any]


@pytest.fixture
def server(new_project: Callable[[], Server]) -> Server:
    return new_project()


def add(root: str, server: Server, content: str) -> str:
    done = ask(served(root, server), table.ADD, AddRequest(content=content, force=True))
    identifier: str = done.memory.id
    return identifier


def contents(root: str, server: Server) -> list[str]:
    return [found.content for found in ask(served(root, server), table.LIST, ListRequest()).items]


def edited(root: str, server: Server, identifier: str, text: str) -> str:
    """Edit a memory; return nothing where that was acknowledged, else what was said."""
    try:
        ask(served(root, server), table.EDIT, EditRequest(reference=identifier, content=text))
    except Unreachable as error:
        return error.message
    return ""


@contextmanager
def termination(server: Server, at: int) -> Iterator[list[int]]:
    """Let the server end the connection right before the n-th statement of a command."""
    passed = [0]
    original = psycopg.Connection.execute

    def execute(connection: Any, *args: Any, **kwargs: Any) -> Any:
        passed[0] += 1
        if passed[0] == at:
            with psycopg.connect(server.address, autocommit=True) as admin:
                original(admin, "select pg_terminate_backend(%s)", (connection.info.backend_pid,))
        return original(connection, *args, **kwargs)

    with mock.patch.object(psycopg.Connection, "execute", execute):
        yield passed


def test_a_connection_that_is_cut_at_any_statement_loses_nothing_acknowledged(
    root: str, server: Server
) -> None:
    first = add(root, server, "The first.")
    refused = done = 0
    for at in count(1):
        text = f"Said when cut at {at}."
        before = contents(root, server)
        with termination(server, at) as passed:
            said = edited(root, server, first, text)
        acknowledged = not said
        assert acknowledged or ("lost" in said and "\n" not in said)
        now = contents(root, server)
        assert now == ([text] if acknowledged else before)
        done, refused = done + acknowledged, refused + (not acknowledged)
        if passed[0] < at:
            break
    assert refused >= 5
    assert done >= 2, "what only reads is asked again"


def test_a_process_changes_something_after_the_server_has_hung_up(
    root: str, server: Server
) -> None:
    """As `pmem mcp` does whose server was started again meanwhile."""
    unit = served(root, server)
    ask(unit, table.LIST, ListRequest())
    assert unit.server is not None
    with unit.server.connection() as idle:
        process = idle.info.backend_pid
    with psycopg.connect(server.address, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(%s, 5000)", (process,))
    ask(unit, table.ADD, AddRequest(content="It was started again."))
    assert contents(root, server) == ["It was started again."]


def test_a_change_whose_end_was_not_heard_is_looked_up(root: str, server: Server) -> None:
    original = psycopg.Transaction.__exit__

    def lost(transaction: Any, *args: Any) -> Any:
        original(transaction, *args)
        transaction.connection.close()
        raise psycopg.OperationalError("the line went dead")

    with mock.patch.object(psycopg.Transaction, "__exit__", lost):
        add(root, server, "It was made.")
    assert contents(root, server) == ["It was made."]


def test_a_change_of_which_nobody_can_tell_says_so(root: str, server: Server) -> None:
    original = psycopg.Transaction.__exit__
    dead = mock.patch.object(Server, "connection", side_effect=Unreachable("nobody answers"))

    def lost(transaction: Any, *args: Any) -> Any:
        original(transaction, *args)
        dead.start()
        raise psycopg.OperationalError("the line went dead")

    try:
        with (
            mock.patch.object(psycopg.Transaction, "__exit__", lost),
            pytest.raises(PmemError) as no,
        ):
            ask(served(root, server), table.ADD, AddRequest(content="Perhaps."))
    finally:
        dead.stop()
    assert no.value.exit_code == 74
    assert "cannot be told" in no.value.message


def test_a_writer_waits_for_another_and_says_when_it_took_too_long(
    root: str, server: Server
) -> None:
    with ServerRecords(server).lock(), pytest.raises(Locked) as no:
        ask(served(root, server, lock_timeout=0.1), table.ADD, AddRequest(content="Wait."))
    assert no.value.exit_code == 6
    add(root, server, "Now it is free.")


@pytest.mark.parametrize("writes", [True, False])
def test_a_writer_is_patient_while_those_before_it_write_or_change_nothing(
    server: Server, writes: bool
) -> None:
    def hold(number: int) -> None:
        mine = ServerRecords(Server(server.address, server.project, lambda: 1.5))
        new = memory(f"mjwaid1q-0000000{number}", f"Number {number}.")
        with mine.lock():
            time.sleep(0.4)
            mine.commit([Change(Memory, new.id, new)] * writes)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(hold, range(6)))
    assert len(ServerRecords(server).ids(Memory)) == 6 * writes


def test_a_writer_gets_its_turn_however_many_come_again_meanwhile(server: Server) -> None:
    """Whoever has waited too long waits behind all others again, and must not do so for ever."""
    writers, turns = 14, 8
    order: list[int] = []

    def write(number: int) -> None:
        mine = ServerRecords(Server(server.address, server.project, lambda: 0.15))
        for turn in range(turns):
            new = memory(f"mjwaid1q-{number:04d}{turn:04d}", f"Turn {turn} of {number}.")
            while order.count(number) <= turn:
                with suppress(Locked), mine.lock():  # by a slow machine
                    order.append(number)
                    time.sleep(0.02)
                    mine.commit([Change(Memory, new.id, new)])

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    assert len(order) == writers * turns
    assert max(_gaps(order)) < 3 * writers


def _gaps(order: list[int]) -> Iterator[int]:
    """Yield how many turns others had before each turn of a writer, after its last one."""
    last = dict.fromkeys(order, -1)
    for place, number in enumerate(order):
        yield place - last[number] - 1
        last[number] = place


def test_a_writer_waits_longer_than_one_statement_may_take_where_the_queue_moves(
    server: Server,
) -> None:
    address = f"{server.address}&options=-c%20statement_timeout%3D1000"

    def hold(_: int) -> None:
        with ServerRecords(Server(address, server.project, lambda: 86_400.0)).lock():
            time.sleep(0.2)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(hold, range(16)))


def test_a_lock_that_comes_in_the_moment_of_the_time_out_does_not_stay_behind(
    server: Server,
) -> None:
    """The server says that the time is over, and keeps the lock for the session all the same."""
    original, late = psycopg.Connection.execute, count(1)

    def execute(connection: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        done = original(connection, query, *args, **kwargs)
        if "pg_advisory_lock" in str(query) and next(late) == 1:
            raise psycopg.errors.LockNotAvailable("canceling statement due to lock timeout")
        return done

    with mock.patch.object(psycopg.Connection, "execute", execute), ServerRecords(server).lock():
        pass
    with ServerRecords(Server(server.address, server.project, lambda: 0.1)).lock():
        pass


def test_a_writer_asks_little_while_others_wait(root: str, server: Server) -> None:
    alike = "The queue for orders of the shop number {} is RabbitMQ."
    many = 14
    for number in range(many):
        add(root, server, alike.format(number))
    asked = recorded(lambda: add(root, server, alike.format("fifteen")))
    assert len(asked) < many, "each of those that are alike is asked for"


def test_whoever_finds_a_server_full_waits_for_room(root: str, narrow: Server) -> None:
    with narrow.connection() as held, ThreadPoolExecutor(1) as pool:
        adding = pool.submit(add, root, narrow, "There was room in the end.")
        time.sleep(0.5)
        assert not adding.done()
        held.close()
        adding.result()
    assert contents(root, narrow) == ["There was room in the end."]


def test_a_server_that_stays_full_is_told_of_in_a_sentence(root: str, narrow: Server) -> None:
    with narrow.connection() as held:
        with pytest.raises(Locked, match="has had no connection to spare for") as no:
            ask(served(root, narrow, lock_timeout=0.1), table.ADD, AddRequest(content="No."))
        held.close()
    assert no.value.exit_code == 6
    assert contents(root, narrow) == []


def test_threads_of_a_process_hand_on_the_one_connection_that_it_gets(
    root: str, narrow: Server
) -> None:
    unit = served(root, narrow, lock_timeout=1.0)

    def look(_: int) -> int:
        mine = Workspace(root, now=NOW, overrides=unit.configuration.overrides, shared=unit.shared)
        return len(ask(mine, table.LIST, ListRequest()).items)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(look, range(80))) == [0] * 80
    unit.shared.close()


def test_few_connections_are_enough_for_many_writers_with_consent_and_upkeep(
    root: str, limited: Callable[[int], Server]
) -> None:
    """Whoever holds the lock needs no further connection: those that wait have them all."""
    server = limited(3)
    identifier = add(root, server, "The queue is RabbitMQ.")

    def done(number: int) -> None:
        unit = served(root, server, lock_timeout=2.0)
        unit.own.access.note([identifier], NOW)
        if number % 3 == 0:
            held = AddRequest(content=f"The user lives in Quuxville {number}.")
            assert ask(unit, table.ADD, held, Caller("planner")).held
        elif number % 3 == 1:
            ask(unit, table.CONSOLIDATE, UpkeepRequest())
        else:
            ask(unit, table.ADD, AddRequest(content=f"Number {number}.", force=True))
        unit.shared.close()

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(done, range(12)))
    unit = served(root, server)
    ask(unit, table.CONSOLIDATE, UpkeepRequest())
    assert unit.backend.read(Memory, identifier).access.count == 12
    assert len(unit.own.proposals.read().proposals) == 4
    unit.shared.close()


def test_a_record_that_others_change_past_our_lock_is_not_overwritten(server: Server) -> None:
    backend = ServerRecords(server)
    old = memory("mjwaid1q-00000001", "old")
    with backend.lock():
        backend.commit([Change(Memory, old.id, old)])
    with backend.lock():
        read = backend.read(Memory, old.id)
        with psycopg.connect(server.address, autocommit=True) as other:
            other.execute(
                "update pmem.record set data = convert_to(replace(convert_from(data, 'UTF8'),"
                " '\"old\"', '\"theirs\"'), 'UTF8')"
            )
        with pytest.raises(Locked, match="changed by another program"):
            backend.commit([Change(Memory, old.id, read)])
    assert backend.read(Memory, old.id).content == "theirs"


def test_revisions_of_a_thread_have_no_gaps_whoever_reads(root: str, server: Server) -> None:
    def read(number: int) -> list[int]:
        mine = Server(server.address, server.project, lambda: 30.0)
        threads = served(root, mine).own.threads
        return [threads.advance("review", [number * 100 + each])[1] for each in range(6)]

    with ThreadPoolExecutor(8) as pool:
        told = [revision for revisions in pool.map(read, range(8)) for revision in revisions]
    assert sorted(told) == list(range(1, 49))
    assert served(root, server).own.threads.seen("review").revision == 48


def test_a_read_that_fails_uses_up_no_revision(root: str, server: Server) -> None:
    threads = served(root, server).own.threads
    assert threads.advance("review", [2**64 - 1, 0, 2**63])[1] == 1

    def broken(seen: Any) -> Any:
        raise ZeroDivisionError

    with suppress(ZeroDivisionError):
        threads.advance_by("review", broken)
    before, revision = threads.advance("review", [5])
    assert (before.fingerprints, revision) == (frozenset({2**64 - 1, 0, 2**63}), 2)


@pytest.mark.row("S1.15.5")
def test_a_server_keeps_one_checkpoint_for_each_user_and_thread(root: str, server: Server) -> None:
    later = NOW + timedelta(minutes=5)
    checkpoints = served(root, server).own.checkpoints
    for user, state in (("ada", b"1"), ("kim", b"2")):
        checkpoints.save("review", user, state, NOW)
    checkpoints.save("review", "ada", b"3", later)
    found = served(root, server).own.checkpoints
    assert [(one.thread, one.user, one.created_at, one.updated_at) for one in found.all()] == [
        ("review", "ada", NOW, later),
        ("review", "kim", NOW, NOW),
    ]
    for user, state in (("ada", b"3"), ("kim", b"2")):
        loaded = found.load("review", user)
        assert loaded is not None
        assert loaded[1] == state


def test_recalls_of_many_are_folded_once_and_none_is_lost(root: str, server: Server) -> None:
    identifier = add(root, server, "The queue is RabbitMQ.")
    for _ in range(5):
        ask(served(root, server), table.SEARCH, SearchRequest(query="queue"))
    recalls = served(root, server).own.access
    with suppress(ZeroDivisionError), recalls.folding():
        raise ZeroDivisionError
    assert recalls.known()[identifier].count == 5
    with recalls.folding() as taken:
        recalls.note([identifier], NOW)  # meanwhile
        assert taken[identifier].count == 5
    assert recalls.known()[identifier].count == 1


def test_whoever_follows_a_project_hears_of_every_write(root: str, server: Server) -> None:
    heard: list[Any] = []
    begun, enough = threading.Event(), threading.Event()

    def listen() -> None:
        mine = Server(server.address, server.project, lambda: 5.0)
        for changes in follow_changes(mine, since=0, wait=0.5):
            heard.extend(changes)
            begun.set()
            if len({change.id for change in heard}) >= 3 or enough.is_set():
                return

    thread = threading.Thread(target=listen)
    thread.start()
    begun.wait(5)
    added = {add(root, server, f"Number {number}.") for number in range(3)}
    thread.join(10)
    enough.set()
    assert added == {change.id for change in heard}
    revisions = [change.revision for change in heard]
    assert revisions == sorted(revisions)


def test_a_server_of_another_version_is_refused(test_database: TestDatabase, root: str) -> None:
    key = test_database.new_project()
    with psycopg.connect(test_database.address, autocommit=True) as admin:
        for version, error in ((99, NewerSchema), (0, StorageRefused)):
            with admin.transaction():
                admin.execute("create table pmem.kept as table pmem.schema_version")
                admin.execute("delete from pmem.schema_version")
                admin.execute("insert into pmem.schema_version values (%s)", (version,))
            try:
                with pytest.raises(error) as no:
                    contents(root, Server(test_database.address, key, lambda: 1.0))
            finally:
                with admin.transaction():
                    admin.execute("delete from pmem.schema_version")
                    admin.execute("insert into pmem.schema_version table pmem.kept")
                    admin.execute("drop table pmem.kept")
            assert "schema" in no.value.message


def test_a_process_changes_nothing_once_a_newer_pmem_has_migrated_the_server(
    root: str, server: Server
) -> None:
    """As `pmem mcp` would on a connection that it has kept: it knows the older tables alone."""
    unit = served(root, server)
    ask(unit, table.LIST, ListRequest())
    with psycopg.connect(server.address, autocommit=True) as admin:
        query = "update pmem.project set reading = reading + %s where number = %s"
        admin.execute(query, (1, server.number))
        with pytest.raises(NewerSchema, match="is searched by version"):
            ask(unit, table.ADD, AddRequest(content="Read as it was read before."))
        admin.execute(query, (-1, server.number))
    ask(unit, table.ADD, AddRequest(content="Read as it is read now."))
    assert contents(root, server) == ["Read as it is read now."]


def test_a_project_that_the_server_does_not_know_is_told(
    test_database: TestDatabase, root: str
) -> None:
    unknown = Server(test_database.address, "shop-0123456789abcdef", lambda: 1.0)
    with pytest.raises(NoProject, match="does not know this project"):
        contents(root, unknown)


def test_a_server_that_takes_no_writes_says_so(root: str, server: Server) -> None:
    address = f"{server.address}&options=-c%20default_transaction_read_only%3Don"
    closed = Server(address, server.project, lambda: 1.0)
    with pytest.raises(StorageRefused, match="read-only"):
        add(root, closed, "No.")
    assert contents(root, closed) == []
    closed.close()


def test_the_server_has_a_column_for_everything_that_selections_ask(server: Server) -> None:
    with psycopg.connect(server.address) as connection:
        query = (
            "select column_name from information_schema.columns"
            " where table_schema = 'pmem' and table_name = 'record'"
        )
        known = {name for (name,) in connection.execute(query)}
    assert set(STORED) <= known, "add a migration, and raise the version of the index"


def test_what_an_older_version_posted_is_posted_anew_by_migrating(
    root: str, server: Server
) -> None:
    add(root, server, "The queue is RabbitMQ.")
    number = server.number
    with psycopg.connect(server.address, autocommit=True) as admin:
        admin.execute("delete from pmem.posting where project = %s", (number,))
        admin.execute("update pmem.record set worth = null where project = %s", (number,))
        admin.execute("update pmem.project set reading = 1 where number = %s", (number,))
    late = Server(server.address, server.project, lambda: 1.0)
    with pytest.raises(StorageRefused, match="searched by version 1"):
        contents(root, late)
    assert ask(served(root, late), table.DATABASE_STATUS, NoArguments()).is_stale
    ask(served(root, late), table.DATABASE_MIGRATE, NoArguments())
    found = ask(served(root, late), table.SEARCH, SearchRequest(query="queue"))
    assert [hit.text for hit in found.hits] == ["The queue is RabbitMQ."]
    with psycopg.connect(server.address) as connection:
        query = "select worth is not null from pmem.record where project = %s"
        assert connection.execute(query, (number,)).fetchall() == [(True,)]
