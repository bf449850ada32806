"""`--at`: at present it changes no answer, and before the beginning there is nothing."""

import json
import os
from typing import Final

import pytest

from tests.cli.conftest import NOW
from tests.cli.shell import data_of as _data
from tests.cli.shell import pmem
from tests.once import Once

LINES: Final = "".join(
    json.dumps(
        {
            "conversation": "talk",
            "id": n,
            "content": f"Step {n}: the oven, the flour and the rye dough",
            "timestamp": f"2026-11-20T10:{n:02d}:00Z",
        }
    )
    + "\n"
    for n in range(45)
)
READING: Final = [
    ("show", "MEMORY"),
    ("show", "TALK"),
    ("list",),
    ("list", "--all-states"),
    ("search", "rye dough"),
    ("context", "rye dough"),
    ("context",),
    ("log", "MEMORY"),
    ("stats",),
    ("episode", "list"),
    ("episode", "show", "EPISODE"),
    ("episode", "arc", "talk"),
    ("conversation", "list"),
    ("conversation", "show", "talk"),
    ("conversation", "stats", "talk"),
    ("inbox", "facts", "--all"),
    ("export", "arrays"),
]


@pytest.fixture
def ids(project: str, monkeypatch: pytest.MonkeyPatch, once: Once) -> dict[str, str]:
    monkeypatch.setenv("PMEM_RECORD_OPERATIONS", "false")  # the present alone knows what ran
    return once(_fill)


def _fill() -> dict[str, str]:
    first, second = (_data("add", text)["memory"]["id"] for text in ("Rye", "Dough"))
    pmem("edit", first, "Rye bread keeps for a week", "--importance", "0.9")
    pmem("edit", first, "--link", second)
    pmem("rm", second)
    pmem("import", "messages", "-", stdin=LINES.encode())
    (talk,) = _data("conversation", "list")["items"]
    pmem("conversation", "resume", "talk")
    pmem("conversation", "say", "We decided to bake rye because it keeps.")
    return {"MEMORY": first, "TALK": talk["id"], "EPISODE": _data("episode", "add", "Baked")["id"]}


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_at_present_the_past_is_the_present(command: tuple[str, ...], ids: dict[str, str]) -> None:
    """Read-only, because the index adds up the parts of a score in another order."""
    words = [ids.get(word, word) for word in command]
    assert _data(*words, "--at", NOW) == _data(*words, "--read-only")


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_before_the_beginning_there_is_nothing(
    command: tuple[str, ...], ids: dict[str, str]
) -> None:
    done = pmem(*[ids.get(word, word) for word in command], "--at", "2001-01-01", "--json")
    named = {"MEMORY", "TALK", "EPISODE", "talk"} & set(command)
    assert done.code == (3 if named else 0)
    for text in (b"rye", b"Rye", b"Baked", b"oven"):
        assert text not in done.out.replace(b'"query":"rye dough"', b"")
    if {"MEMORY", "TALK", "EPISODE"} & named:
        assert "did not exist at that time" in done.said


def test_a_transcript_is_shown_up_to_any_of_its_messages(ids: dict[str, str]) -> None:
    for last in (0, 7, 20, 43):
        at = f"2026-11-20T10:{last:02d}:59Z"
        shown = _data("conversation", "show", "talk", "--at", at)
        assert [item["external_id"] for item in shown["messages"]] == [
            str(n) for n in range(last + 1)
        ]
        assert shown["turns"] == last + 1
        found = _data("search", "oven", "--kind", "message", "-k", "100", "--at", at)
        assert found["total"] == last + 1


def test_a_message_that_was_not_said_yet_says_so(ids: dict[str, str]) -> None:
    message = _data("conversation", "show", "talk")["messages"][-1]["id"]
    done = pmem("show", message, "--at", "2026-11-20")
    assert done.code == 3
    assert f"message {message} was not said yet at that time" in done.said


def test_the_past_can_be_exported_into_a_folder(ids: dict[str, str]) -> None:
    _data("export", "arrays", "then", "--at", "2026-11-20T10:03:00Z")
    with open(os.path.join("then", "conversations.json"), encoding="utf-8") as file:
        (talk,) = json.load(file)
    assert len(talk["recent_messages"]) == 4
    assert pmem("export", "arrays", "other", "--at", NOW, "--read-only").code == 7


def test_a_damaged_file_is_reported_as_ever(ids: dict[str, str], project: str) -> None:
    with open(f"{project}/long-term-memory/{ids['MEMORY']}.json", "w", encoding="utf-8") as file:
        file.write("{")
    done = pmem("list", "--at", NOW)
    assert done.code == 0
    assert "is not" in done.said
    assert pmem("show", ids["MEMORY"], "--at", NOW).code == 5
