"""What commands ask of a server is answered from indexes, however much it has."""

from collections.abc import Callable

import psycopg

from pmem.core.filters import Filter
from pmem.memory.reading import ListRequest, ShowRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.search.context_request import ContextRequest
from pmem.search.search import SearchRequest
from pmem.storage.backend import Change
from pmem.storage.postgres.records import ServerRecords
from pmem.storage.postgres.server import Server
from pmem.values.records import Memory
from tests.asking import ask
from tests.database.plans import recorded, scans
from tests.postgres import served
from tests.storage.folders import memory


def test_no_command_reads_a_whole_table(root: str, new_project: Callable[[], Server]) -> None:
    server = new_project()
    backend = ServerRecords(server)
    many = [
        memory(f"mjwaid1q-{number:08d}", f"Note {number} says word{number % 97}.", importance=0.4)
        for number in range(1500)
    ]
    with backend.lock():
        backend.commit([Change(Memory, each.id, each) for each in many])

    def command() -> None:
        ask(served(root, server), table.SEARCH, SearchRequest(query="word7 note"))
        ask(served(root, server), table.CONTEXT, ContextRequest(query="word9", budget=500))
        ask(served(root, server), table.LIST, ListRequest(limit=20, wanted=Filter(app="shop")))
        ask(served(root, server), table.SHOW, ShowRequest(reference=many[3].id))
        ask(served(root, server), table.ADD, AddRequest(content="Word7 is said here."))

    asked = recorded(command)
    assert len(asked) > 20
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("analyze")
        connection.execute("set enable_seqscan = off")  # where an index would do, it is taken
        assert scans(connection, asked) == []
