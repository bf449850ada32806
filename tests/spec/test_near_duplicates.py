"""Near duplicates that imports bring: proposed for merging, settled by one key, and never again."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import pmem

DECIDED = "# 1. Money is integer cents, never a float\n\n## Decision\n\nAs the title says.\n"
RULE = "Money is always integer cents, never floats."
OTHERS = """
- Keep three backups of the ledger for a year
- Keep two backups of the ledger for half a year
- Use tabs in Go files
- Use spaces in YAML files
- The API answers within 200 ms
"""


@pytest.fixture
def imported(root: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The memory folder of a project with a decision record and a rule that say nearly the same."""
    monkeypatch.chdir(os.path.dirname(root))
    Path("adr").mkdir()
    Path("adr/0001-money.md").write_text(DECIDED, encoding="utf-8")
    Path("AGENTS.md").write_text(f"- {RULE}{OTHERS}", encoding="utf-8")
    assert pmem("import", "adr", "adr").code == 0
    assert pmem("import", "notes", "AGENTS.md").code == 0
    return root


def waiting() -> list[dict[str, Any]]:
    items = json.loads(pmem("inbox", "--json").text)["data"]["items"]
    return [item for item in items if item["kind"] == "duplicate"]


def active() -> list[str]:
    return [one["content"] for one in json.loads(pmem("list", "--json").text)["data"]["items"]]


def pressed(key: str) -> None:
    (item,) = waiting()
    command = next(one["command"] for one in item["commands"] if one["key"] == key)
    done = pmem(*shlex.split(command)[1:])
    assert done.code == 0, done.said


def imported_again() -> None:
    for words in (["consolidate"], ["import", "adr", "adr"], ["import", "notes", "AGENTS.md"]):
        assert pmem(*words).code == 0


@pytest.mark.usefixtures("imported")
def test_both_texts_wait_in_the_inbox_and_stand_in_the_plan() -> None:
    (item,) = waiting()
    assert item["text"] == RULE
    assert "Money is integer cents, never a float" in item["why"]
    assert "1 duplicate" in pmem("inbox", "--kind", "duplicate").said
    planned = pmem("consolidate", "--dry-run").text
    assert "say nearly the same" in planned
    assert RULE in planned
    assert "Use tabs" not in planned
    assert "pmem inbox --kind duplicate" in pmem("stats").text


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(("key", "kept"), [("n", True), ("o", False)])
def test_one_key_keeps_one_text_and_a_second_import_brings_nothing_back(
    key: str, kept: bool
) -> None:
    pressed(key)
    left = active()
    assert len(left) == 6
    assert (RULE in left) is kept
    imported_again()
    assert active() == left
    assert waiting() == []


@pytest.mark.usefixtures("imported")
def test_that_both_are_needed_is_remembered() -> None:
    pressed("k")
    assert waiting() == []
    imported_again()
    assert waiting() == []
    assert len(active()) == 7
    assert "say nearly the same" not in pmem("consolidate", "--dry-run").text


@pytest.mark.usefixtures("imported")
def test_what_was_edited_apart_is_asked_of_no_longer() -> None:
    (item,) = waiting()
    assert pmem("edit", item["id"], "Prices are shown with two digits").code == 0
    assert waiting() == []
