"""What commands ask of a server is answered from indexes, however much it has."""

import re
import time
from collections.abc import Callable
from itertools import islice

import psycopg
import pytest

from pmem.core.filters import Filter
from pmem.memory.reading import ListRequest, ShowRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchRequest
from pmem.storage.backend import Change
from pmem.storage.postgres.records import ServerRecords
from pmem.storage.postgres.server import Server
from pmem.upkeep.inbox import InboxRequest
from pmem.upkeep.integrity import CheckRequest
from pmem.upkeep.origins import OriginRequest
from pmem.values.fields import AtRequest
from pmem.values.records import Memory
from tests.asking import ask
from tests.database.plans import plans, recorded, scans
from tests.postgres import database, served
from tests.storage.folders import memory


@pytest.fixture
def filled(new_project: Callable[[], Server]) -> Server:
    """A project of many memories."""
    server = new_project()
    backend = ServerRecords(server)
    many = [
        memory(f"mjwaid1q-{number:08d}", f"Note {number} says word{number % 97}.", importance=0.4)
        for number in range(1500)
    ]
    with backend.lock():
        backend.commit([Change(Memory, each.id, each) for each in many])
    return server


def test_no_command_reads_a_whole_table(root: str, filled: Server) -> None:
    server = filled

    def command() -> None:
        ask(served(root, server), table.SEARCH, SearchRequest(query="word7 note"))
        ask(served(root, server), table.CONTEXT, ContextRequest(query="word9", budget=500))
        ask(served(root, server), table.LIST, ListRequest(limit=20, wanted=Filter(app="shop")))
        ask(served(root, server), table.SHOW, ShowRequest(reference="mjwaid1q-00000003"))
        ask(served(root, server), table.ADD, AddRequest(content="Word7 is said here."))
        ask(served(root, server), table.STATS, AtRequest())
        ask(served(root, server), table.INBOX, InboxRequest())
        ask(served(root, server), table.CHECK, CheckRequest())
        ask(served(root, server), table.CHECK_ORIGINS, OriginRequest())

    asked = recorded(command)
    assert len(asked) > 20
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("analyze")
        connection.execute("set enable_seqscan = off")  # where an index would do, it is taken
        assert scans(connection, asked) == []


def test_of_what_is_asked_in_an_order_no_more_is_read_than_is_wanted(
    root: str, filled: Server
) -> None:
    def command() -> None:
        ask(served(root, filled), table.LIST, ListRequest(limit=20))
        ask(served(root, filled), table.CONTEXT, ContextRequest(budget=500))

    asked = [each for each in recorded(command) if " limit " in each[0]]
    assert asked
    with psycopg.connect(filled.address, autocommit=True) as connection:
        connection.execute("analyze")
        found = "\n".join(plans(connection, asked))
    for index in ("Backward using record_project_store_id_key", "using record_by_importance"):
        assert re.search(rf"Limit .*\n *->  Index Scan {index}", found), found


def test_a_context_asks_for_each_word_once(root: str, filled: Server) -> None:
    request = ContextRequest(query="word9 note", budget=500)
    asked = recorded(lambda: ask(served(root, filled), table.CONTEXT, request))
    words = [repr(values) for query, values in asked if "pmem.posting" in query]
    assert words
    assert len(words) == len(set(words))


@pytest.mark.long
def test_a_new_server_looks_up_single_records_before_it_has_counted_them(
    postgres_server: str,
) -> None:
    notes = (memory(f"mjwaid1q-{number:08d}", f"Note {number}.") for number in range(3000))
    with database(postgres_server) as made:
        server = Server(made.address, made.new_project(), lambda: 5.0)
        backend = ServerRecords(server)
        while together := [Change(Memory, each.id, each) for each in islice(notes, 1000)]:
            with backend.lock():
                backend.commit(together)
        server.close()  # its figures are told now
        assert read_by_index(made.address) < 3000 * 30


def read_by_index(address: str) -> int:
    """Return how many entries of the index that was read the most, as soon as that is told."""
    query = "select coalesce(max(idx_tup_read), 0) from pg_stat_user_indexes"
    with psycopg.connect(address, autocommit=True) as connection:
        while True:
            ((found,),) = connection.execute(query).fetchall()
            if found:
                return int(found)
            time.sleep(0.05)
