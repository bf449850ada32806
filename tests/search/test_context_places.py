"""What applies to the files and names that a task is about comes first in its context."""

from pathlib import Path

import pytest

from pmem.core.context.parts import Context
from pmem.memory.outcomes import TriedRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.values.records import MemoryType
from tests.asking import ask
from tests.conftest import NOW

OTHERS = [f"The {word} queue is retried and billed by settle" for word in ("red", "green", "blue")]


def filled(root: str) -> Workspace:
    workspace = Workspace(root, actor="kim", now=NOW)
    Path("billing.py").write_text("LIMIT = 3\n\n\ndef settle():\n    return LIMIT\n")
    for text in OTHERS:
        ask(workspace, table.ADD, AddRequest(content=text, force=True))
    return workspace


def shown(built: Context) -> list[str]:
    return [item.text for part in built.sections for item in part.items]


def first(workspace: Workspace, query: str | None, **fields: object) -> str:
    request = ContextRequest(query=query, budget=400, **fields)  # type: ignore[arg-type]
    return shown(ask(workspace, table.CONTEXT, request))[0]


def test_what_applies_to_a_file_that_the_task_names_comes_first(root: str) -> None:
    workspace = filled(root)
    rule = AddRequest(content="Money is never a float", places=("billing.py",))
    ask(workspace, table.ADD, rule)
    assert first(workspace, "retry the red queue in billing.py") == rule.content
    assert first(workspace, "retry the red queue in other.py") != rule.content


def test_a_file_is_named_as_it_is_seen_from_a_sub_folder(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = filled(root)
    Path("src").mkdir()
    Path("src/pay.py").write_text("LIMIT = 3\n")
    rule = AddRequest(content="Money is never a float", places=("/src/pay.py",))
    ask(workspace, table.ADD, rule)
    assert first(workspace, "retry the red queue in pay.py") != rule.content
    monkeypatch.chdir("src")
    assert first(workspace, "retry the red queue in pay.py") == rule.content
    assert first(workspace, "retry the red queue in none.py") != rule.content


def test_and_to_a_file_that_is_given(root: str) -> None:
    workspace = filled(root)
    rule = AddRequest(content="Money is never a float", places=("*.py",))
    ask(workspace, table.ADD, rule)
    assert first(workspace, "retry the red queue", paths=("src/a.py",)) == rule.content
    assert first(workspace, "retry the red queue", paths=("src/a.ts",)) != rule.content


def test_without_a_task_it_is_taken_before_others_where_room_is_short(root: str) -> None:
    workspace = filled(root)
    rule = AddRequest(content="Money is never a float", places=("*.py",), importance=0.1)
    ask(workspace, table.ADD, rule)
    near = ContextRequest(budget=62, paths=("src/a.py",))
    assert rule.content in shown(ask(workspace, table.CONTEXT, near))
    assert rule.content not in shown(ask(workspace, table.CONTEXT, ContextRequest(budget=62)))


def test_what_cites_a_name_comes_first_for_a_task_that_names_it(root: str) -> None:
    workspace = filled(root)
    why = AddRequest(content="The vendor is asked last", cite=("billing.py::settle",))
    ask(workspace, table.ADD, why)
    assert first(workspace, "why does settle() bill the red queue") == why.content
    assert first(workspace, "why does unsettle() bill the red queue") != why.content


def test_a_file_that_only_has_the_same_name_elsewhere_is_another(root: str) -> None:
    workspace = filled(root)
    rule = AddRequest(content="Money is never a float", places=("/src/billing.py",))
    ask(workspace, table.ADD, rule)
    assert first(workspace, "retry the red queue in billing.py") != rule.content


def test_dead_ends_stand_below_already_tried_until_they_are_settled(root: str) -> None:
    workspace = filled(root)
    tried = TriedRequest(tried="retry the red queue ten times", failed="the vendor blocked us")
    done = ask(workspace, table.TRIED, tried).dead_end.memory
    asked = ContextRequest(query="retry the red queue", budget=400)
    assert done.type is MemoryType.DEAD_END
    assert "### Already tried\n- Tried: retry" in ask(workspace, table.CONTEXT, asked).text
    ask(workspace, table.EDIT, EditRequest(reference=done.id, settled="they allow ten"))
    built = ask(workspace, table.CONTEXT, asked)
    assert "Tried: retry" not in built.text
    assert ("settled", done.id) in {(left.reason, left.id) for left in built.omitted}
