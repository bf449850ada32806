"""The server's stream of changes, where the project lives on a server."""

from collections.abc import Callable
from functools import partial

from pmem.memory.changes import RecordsRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.storage.postgres.server import Server
from tests.asking import ask
from tests.http.serving import listening
from tests.http.test_events import events
from tests.postgres import served


def test_what_anybody_writes_to_a_project_on_a_server_is_told_at_once(
    root: str, new_project: Callable[[], Server]
) -> None:
    server = new_project()
    elsewhere = partial(served, root, Server(server.address, server.project, lambda: 5.0))
    before = ask(elsewhere(), table.ADD, AddRequest(content="The queue is RabbitMQ.")).memory
    with (
        listening(root, opened=partial(served, root, server)) as here,
        events(here) as heard,
    ):
        assert next(heard)[0] == "hello"
        memory = ask(elsewhere(), table.ADD, AddRequest(content="We deploy on Fridays.")).memory
        assert memory is not None
        kind, _, change = next(heard)
        assert (kind, change["id"], change["change"]) == ("change", memory.id, "added")
        assert (change["event"], change["actor"]) == ("ADD", "tester")
        assert before is not None
        request = EditRequest(reference=before.id, content="The queue is NATS.")
        ask(elsewhere(), table.EDIT, request)
        assert next(heard)[2]["event"] == "UPDATE"
        ask(elsewhere(), table.REMOVE, RecordsRequest(references=(before.id,)))
        assert next(heard)[2]["event"] == "DELETE"
