"""What the pipeline does around an operation: for this run, and in this order."""

from pathlib import Path
from unittest import mock

import pytest

from pmem.errors import StorageRefused, Unfinished
from pmem.memory.requests import AddAllRequest, AddRequest
from pmem.operations import table
from pmem.operations.pipeline import run
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.values.fields import NoArguments
from tests.asking import ask
from tests.conftest import NOW
from tests.faults.console import pmem

TOKEN = "".join(("ghp_", "a1B2c3D4e5" * 3, "f6G7h8"))
"""Made of parts, so that no file of the project holds it."""


def test_an_outcome_tells_what_came_of_this_run_alone(root: str) -> None:
    workspace = Workspace(root, actor="tester", now=NOW, overrides={"secrets.gate": "redact"})
    first = run(workspace, table.ADD, AddRequest(content=f"the text {TOKEN}"))
    second = run(workspace, table.ADD, AddRequest(content="We use Go"))
    third = run(workspace, table.SETTINGS, NoArguments())
    assert [len(done.notes) for done in (first, second, third)] == [1, 0, 0]
    assert [done.has_written for done in (first, second, third)] == [True, True, False]


def test_what_is_refused_before_anything_was_written_is_not_called_unfinished(root: str) -> None:
    workspace = Workspace(root, actor="tester", now=NOW)
    ask(workspace, table.ADD, AddRequest(content="We use Go"))
    refused = StorageRefused("the disk is full")
    with (
        mock.patch("pmem.storage.jsonfiles.JsonFiles.commit", side_effect=refused),
        pytest.raises(StorageRefused) as raised,
    ):
        ask(workspace, table.ADD, AddRequest(content="We use Rust"))
    assert not isinstance(raised.value, Unfinished)


def test_nobody_waits_for_a_lock_while_the_gate_looks_at_a_batch(root: str) -> None:
    workspace = Workspace(root, actor="tester", now=NOW)
    requests = AddAllRequest(memories=(AddRequest(content=f"the text {TOKEN}"),))
    with (
        mock.patch.object(workspace.backend, "lock", side_effect=AssertionError("locked")),
        pytest.raises(SecretFound),
    ):
        ask(workspace, table.ADD_ALL, requests)


@pytest.mark.parametrize("command", ["inbox proposals", "checkpoint list"])
def test_what_needs_no_record_answers_an_agent_while_the_settings_are_broken(
    root: str, command: str
) -> None:
    """Its allowlist cannot be read then, and nobody needs it."""
    Path(root, "config.toml").write_text('chunk_size = "x"\n')
    done = pmem(*command.split(), environment={"PMEM_AGENT": "planner"})
    assert done.code == 0
    assert "chunk_size" in done.err
