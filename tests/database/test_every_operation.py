"""Every operation of the table works on a project on a server, with a single connection."""

import pytest

from pmem.errors import PmemError
from pmem.operations.pipeline import run
from pmem.project.workspace import Workspace
from pmem.storage.postgres.server import Server
from tests.operations.rows import structs
from tests.operations.test_answers import TRIED, kept_in, request_for
from tests.postgres import served

LAST = ("app.uninstall", "app.purge", "purge", "undo", "consolidate", "sweep", "import.arrays")
"""What takes away what others need."""


def test_every_operation_answers_with_one_connection_to_a_server(
    root: str, narrow: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> Workspace:
        return served(root, narrow, lock_timeout=0.1)

    kept = kept_in(opened())
    rows = sorted(TRIED, key=lambda row: row.operation.name in LAST)
    answered, refused = 0, {}
    for row in rows:
        name, workspace = row.operation.name, opened()
        try:
            answer = run(workspace, row.operation, request_for(row, kept)).result
        except PmemError as error:  # another operation was there before
            refused[name] = error.message
            continue
        finally:
            workspace.shared.close()
        assert type(answer) in set(structs(row.answer))
        answered += 1
    assert answered > 0.9 * len(rows), refused
    assert not [said for said in refused.values() if "connection" in said]
