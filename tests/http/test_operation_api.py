"""Every operation of the table over HTTP: its request, its answer, who may, and what goes wrong."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from pmem import Project, errors
from pmem.operations.table import TABLE
from pmem.server.http.endpoints import STATUSES
from pmem.server.http.operation_api import OF_THIS_MACHINE
from tests.conftest import NOW
from tests.faults.console import pmem
from tests.http.serving import Asked, asking


def kinds(type_: type[errors.PmemError]) -> set[type[errors.PmemError]]:
    """Return a class of errors, and all that are made of it."""
    return {type_, *(inner for each in type_.__subclasses__() for inner in kinds(each))}


def test_every_operation_has_an_endpoint(ask: Asked) -> None:
    paths = ask("GET", "/openapi.json").json()["paths"]
    assert [name for name in TABLE if f"/pmem/1/{name}" not in paths] == []


def test_every_exit_code_has_a_status() -> None:
    codes = {each.exit_code for each in kinds(errors.PmemError)}
    assert codes <= STATUSES.keys()


@pytest.mark.some(40)
@pytest.mark.parametrize("name", list(TABLE))
def test_no_operation_meets_an_empty_request_with_a_bug(name: str, ask: Asked) -> None:
    answer = ask("POST", f"/pmem/1/{name}", {})
    assert answer.status_code in (200, 404, 409, 422), answer.text
    assert answer.json()["schema"] == "pmem/1"


@pytest.mark.parametrize("name", sorted(OF_THIS_MACHINE))
@pytest.mark.parametrize("who", ["agent", "app"])
def test_what_concerns_the_machine_is_for_a_person(name: str, who: str, ask: Asked) -> None:
    refused = ask("POST", f"/pmem/1/{name}", {}, who=who)
    assert refused.status_code == 403
    assert "machine" in refused.json()["error"]["message"]


@pytest.mark.parametrize("name", sorted(row.name for row in TABLE.values() if row.by_person))
@pytest.mark.parametrize("who", ["agent", "app"])
def test_what_a_person_decides_no_token_of_a_program_may(name: str, who: str, ask: Asked) -> None:
    given = {
        "config.set": {"name": "chunk_size", "value": "5"},
        "config.unset": {"name": "chunk_size"},
        "confirm": {"agent": "x"},
        "share": {"reference": "x"},
    }
    request = given.get(
        name, {} if name in ("undo", "db.init", "db.migrate") else {"references": ["x"]}
    )
    assert ask("POST", f"/pmem/1/{name}", request, who=who).status_code == 403


def test_an_answer_is_what_the_command_line_prints(
    root: str, ask: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(root).parent)
    name = Project(root, now=NOW).add("The queue is RabbitMQ.", subject="queue").memory.id
    assert ask.run("show", {"reference": name}) == pmem("show", name, "--json").data
    assert ask.run("list") == pmem("list", "--json").data
    error = ask("POST", "/pmem/1/show", {"reference": "nowhere1"}).json()["error"]
    assert error == pmem("show", "nowhere1", "--json").error


def test_a_memory_is_added_changed_pinned_removed_restored_and_the_last_of_it_undone(
    ask: Asked,
) -> None:
    added = ask.run("add", {"content": "The queue is RabbitMQ.", "tags": ["queue"]})
    name = added["memory"]["id"]
    ask.run("edit", {"reference": name, "content": "The queue is NATS."})
    ask.run("pin", {"reference": name})
    assert ask.run("rm", {"references": [name]})["state"] == "soft_deleted"
    assert ask.run("restore", {"references": [name]})["state"] == "active"
    assert ask.run("undo")["items"][0]["operation"] == "restore"
    assert ask.run("undo", {"many": 2})["total"] == 2
    memory = ask.run("show", {"reference": name})
    assert (memory["content"], memory["pinned"], memory["state"]) == (
        "The queue is NATS.", False, "active",
    )  # fmt: skip


def test_a_memory_that_should_be_updated_instead_is_a_conflict_with_the_same_data(
    ask: Asked,
) -> None:
    known = ask.run("add", {"content": "The queue is RabbitMQ.", "subject": "queue"})
    again = ask("POST", "/pmem/1/add", {"content": "The queue is NATS.", "subject": "queue"})
    assert again.status_code == 409
    assert again.json()["data"]["action"] == "suggested"
    assert again.json()["data"]["memory"]["id"] == known["memory"]["id"]


def test_why_nothing_was_found_is_told_in_notes(ask: Asked) -> None:
    answer = ask("POST", "/pmem/1/query", {"query": "queue"}).json()
    assert answer["data"] == []
    assert "nothing found" in answer["notes"][0]


def test_no_note_tells_a_secret_that_stands_in_a_damaged_record(root: str, ask: Asked) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    memory = ask.run("add", {"content": "The queue is RabbitMQ."})["memory"]
    (path,) = Path(root).glob(f"*/{memory['id']}.json")
    path.write_text(path.read_text().replace('"active"', f'"{secret}"'))
    answer = ask("POST", "/pmem/1/list", {}, who="agent")
    assert "state cannot be '[redacted" in answer.json()["notes"][1]
    assert secret not in answer.text


@pytest.mark.parametrize(
    ("name", "request_", "sentence"),
    [
        ("context", {"longest": 0}, "longest must be at least 1"),
        ("context", {"longest": -1}, "longest must be at least 1"),
        ("setup.assistant", {"harness": "robot", "scope": "user"}, "there is no assistant 'robot'"),
        ("setup.rules", {"hosts": ["robot"]}, "there is no host 'robot'"),
    ],
)
def test_what_commands_never_ask_for_is_refused_as_well(
    name: str, request_: dict[str, Any], sentence: str, ask: Asked
) -> None:
    refused = ask("POST", f"/pmem/1/{name}", request_)
    assert refused.status_code == 422
    assert sentence in refused.json()["error"]["message"]


def test_messages_are_imported_as_a_list_of_lines(ask: Asked) -> None:
    lines = [json.dumps({"content": f"Message {n}.", "role": "user"}) for n in range(3)]
    assert ask.run("import.messages", {"lines": lines, "name": "talk"})["added"] == 3


BAD: Final[dict[str, tuple[bytes, int, str]]] = {
    "no JSON": (b"{", 400, "no_json"),
    "not UTF-8": (b'{"content": "\xff"}', 400, "no_json"),
    "a list": (b"[]", 422, "invalid_value"),
    "a number": (b"7", 422, "invalid_value"),
    "nothing": (b"", 400, "no_json"),
    "white space": (b" ", 400, "no_json"),
    "a key that is none": (b'{"contents": "x"}', 422, "invalid_value"),
    "another type": (b'{"content": 7}', 422, "invalid_value"),
    "a monstrous number": (b'{"content": "x", "importance": 1e999}', 400, "no_json"),
    "no zone": (b'{"content": "x y z", "valid_from": "2026-01-01T00:00:00"}', 422, "invalid_value"),
    "half a pair": (b'{"content": "\\ud800"}', 400, "no_json"),
    "deep": (b'{"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "no_json"),
    "deep and open": (b'{"content": ' + b"[" * 500_000, 400, "no_json"),
    "a nested key that is none": (
        b'{"content": "x", "source": {"kin": "x"}}',
        422,
        "invalid_value",
    ),
}


@pytest.mark.parametrize("what", list(BAD))
def test_a_bad_body_gets_one_sentence(what: str, ask: Asked) -> None:
    body, status, code = BAD[what]
    refused = ask("POST", "/pmem/1/add", content=body, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), refused.text
    assert refused.json()["error"]["message"]
    assert ask.run("list")["total"] == 0


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("import.notes", {"paths": ["/etc/passwd"]}),
        ("import.adr", {"paths": ["../elsewhere.md"]}),
        ("import.arrays", {"folder": "/etc"}),
        ("import.auto", {"path": "/etc/hosts"}),
        ("eval.add", {"query": "x", "reference": "y", "file": "/tmp/elsewhere.jsonl"}),
        ("hook", {"event": "end", "transcript": "/etc/passwd"}),
    ],
)
def test_no_path_leads_out_of_the_project(name: str, request_: dict[str, Any], ask: Asked) -> None:
    refused = ask("POST", f"/pmem/1/{name}", request_)
    assert refused.status_code == 422
    assert "not in the project" in refused.json()["error"]["message"]


def test_read_only_reads_and_writes_nothing(root: str) -> None:
    name = Project(root, now=NOW).add("The queue is RabbitMQ.").memory.id
    before = {path: path.read_bytes() for path in Path(root).glob("*/*.json")}
    with asking(root, read_only=True) as ask:
        assert ask.run("list")["total"] == 1
        for method, path, body in (
            ("POST", "/pmem/1/add", {"content": "The office is in Lisbon."}),
            ("POST", "/api/memory/", {"content": "Sarah is here.", "category": "person"}),
            ("PUT", f"/api/memory/{name}", {"content": "The queue is NATS."}),
            ("DELETE", f"/api/memory/{name}", None),
            ("DELETE", "/apps/calendar/memories", None),
        ):
            refused = ask(method, path, body)
            assert refused.status_code == 403, refused.text
            assert "read-only" in refused.json()["error"]["message"]
    assert before == {path: path.read_bytes() for path in Path(root).glob("*/*.json")}


def test_a_program_is_shown_no_secret_that_somebody_else_brought_in(root: str, ask: Asked) -> None:
    memory = Project(root, now=NOW).add("The key is SOMETHING.").memory
    (path,) = Path(root).glob(f"*/{memory.id}.json")
    secret = "AKIA" + "Z7Q2M4N6B5V3C4XY"
    path.write_text(path.read_text().replace("SOMETHING", secret))
    for who, is_shown in (("person", True), ("agent", False)):
        for response in (
            ask("POST", "/pmem/1/show", {"reference": memory.id}, who=who),
            ask("POST", "/pmem/1/list", {}, who=who),
            ask("GET", "/api/memory/", who=who),
            ask("GET", f"/api/memory/{memory.id}", who=who),
            ask("GET", f"/memory/{memory.id}/history", who=who),
        ):
            assert response.status_code == 200, response.text
            assert (secret in response.text) == is_shown, response.url


def test_a_bug_is_one_sentence_and_is_kept_for_a_report(
    root: str, ask: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("the password is hunter2")

    monkeypatch.setattr("pmem.memory.reading.list_memories", broken)
    answer = ask("POST", "/pmem/1/list", {})
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "bug"
    assert "hunter2" not in answer.text
    assert "ZeroDivisionError" in Path(root, "local", "pmem.log").read_text()
