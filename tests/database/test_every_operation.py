"""Every operation of the table works on a project that is on a server."""

from collections.abc import Callable

import pytest

from pmem.errors import PmemError
from pmem.operations.pipeline import run
from pmem.storage.postgres.server import Server
from tests.operations.rows import structs
from tests.operations.test_answers import REQUESTS, TRIED, kept_in
from tests.postgres import served

LAST = ("app.uninstall", "app.purge", "purge", "undo", "consolidate", "sweep", "import.arrays")
"""What takes away what others need."""


def test_every_operation_answers_on_a_server(
    root: str, new_project: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = new_project()
    kept = kept_in(served(root, server))
    rows = sorted(TRIED, key=lambda row: row.operation.name in LAST)
    answered, refused = 0, {}
    for row in rows:
        name = row.operation.name
        try:
            answer = run(served(root, server), row.operation, REQUESTS[name](kept)).result
        except PmemError as error:  # another operation was there before
            refused[name] = error.message
            continue
        assert type(answer) in set(structs(row.answer))
        answered += 1
    assert answered > 0.9 * len(rows), refused
