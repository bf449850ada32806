"""An instruction file stays the truth: however it changes, its memories say what it says.

What people added to them is still there, and what people wrote over is theirs: they are asked.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Shell, new_repository

STYLE = "Use tabs, never spaces."
LOGS = "Never log a card number."
TESTS = "Name tests as sentences that tell a story."
FILE = f"# Guide\n\n## Style\n\n- {STYLE}\n- {LOGS}\n\n## Tests\n\n- {TESTS}\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(new_repository(str(tmp_path / "p")))
    write(shell, FILE)
    shell.run("pmem init -q --import")
    return shell


def write(shell: Shell, text: str, name: str = "AGENTS.md") -> None:
    path = Path(shell.folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def memories(shell: Shell) -> dict[str, dict[str, Any]]:
    found = json.loads(shell.run("pmem list -n 200 --json").text)["data"]["items"]
    return {one["content"]: one for one in found}


def take(shell: Shell) -> dict[str, Any]:
    done = json.loads(shell.run("pmem import auto --json").text)["data"]["notes"]
    assert isinstance(done, dict)
    again = json.loads(shell.run("pmem import auto --json").text)["data"]["notes"]
    changes = [again[name] for name in ("added", "updated", "archived")]
    assert changes == [0, 0, 0], "importing again does nothing"
    return done


def cited(memory: dict[str, Any]) -> list[str]:
    return [f"{one['file']}:{one['lines'][0]}" for one in memory["citations"]]


EDITED = FILE.replace("never spaces", "never any spaces")
MOVED = FILE.replace(f"- {LOGS}\n", "") + f"- {LOGS}\n"
RENAMED = FILE.replace("## Style", "## Layout")
MERGED = FILE.replace(f"- {STYLE}\n- {LOGS}\n", f"- {STYLE} {LOGS}\n")
PARTED = FILE.replace(TESTS, "Name tests as sentences.\n- Let tests tell a story.")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (EDITED, {"Use tabs, never any spaces.", LOGS, TESTS}),
        (MOVED, {STYLE, LOGS, TESTS}),
        (FILE.replace(f"- {LOGS}\n", ""), {STYLE, TESTS}),
        (RENAMED, {STYLE, LOGS, TESTS}),
        (MERGED, {f"{STYLE} {LOGS}", TESTS}),
        (PARTED, {STYLE, LOGS, "Name tests as sentences.", "Let tests tell a story."}),
        (f"{FILE}- Keep it short.\n", {STYLE, LOGS, TESTS, "Keep it short."}),
        (f"# Guide\n\n- {LOGS}\n- {STYLE}\n", {LOGS, STYLE}),
        (f"---\nglobs: web/**\n---\n{FILE}", {STYLE, LOGS, TESTS}),
    ],
    ids="edited moved deleted renamed merged parted added in-another-order placed".split(),
)
def test_the_memory_says_what_the_file_says(shell: Shell, text: str, says: set[str]) -> None:
    shell.run(f"pmem edit --importance 0.9 --add-tag mine {memories(shell)[STYLE]['id']}")
    write(shell, text)
    done = take(shell)
    found = memories(shell)
    assert (set(found), done["edited"]) == (says, [])
    assert {"changed", "gone"}.isdisjoint(shell.run("pmem check citations").text.split())
    kept = [one for one in found.values() if one["importance"] == 0.9]
    assert len(kept) == 1, "what people added is there"
    heads = {"Layout"} if text is RENAMED else {None} if "## Style" not in text else {"Style"}
    assert {one["subject"] for one in kept} == heads


def test_a_file_split_into_folders_keeps_its_memories(shell: Shell) -> None:
    before = {text: one["id"] for text, one in memories(shell).items()}
    Path(shell.folder, "AGENTS.md").unlink()
    write(shell, f"## Style\n\n- {STYLE}\n- {LOGS}\n", "web/AGENTS.md")
    write(shell, f"# Guide\n\n## Tests\n\n- {TESTS}\n", "tests/AGENTS.md")
    done = take(shell)
    found = memories(shell)
    assert {text: one["id"] for text, one in found.items()} == before
    assert (done["updated"], done["archived"]) == (3, 0)
    assert (found[LOGS]["places"], found[TESTS]["places"]) == (["web/**"], ["tests/**"])
    assert cited(found[LOGS]) == ["web/AGENTS.md:4"]
    assert "web/AGENTS.md" in shell.run(f"pmem show {before[LOGS]}").text


def test_a_rule_that_comes_back_brings_its_memory_back(shell: Shell) -> None:
    before = memories(shell)[LOGS]["id"]
    write(shell, FILE.replace(f"- {LOGS}\n", ""))
    assert take(shell)["archived"] == 1
    write(shell, FILE)
    assert take(shell)["updated"] == 1
    assert memories(shell)[LOGS]["id"] == before


def test_what_somebody_removed_does_not_come_back(shell: Shell) -> None:
    shell.run(f"pmem rm {memories(shell)[LOGS]['id']}")
    take(shell)
    assert set(memories(shell)) == {STYLE, TESTS}


def test_a_text_that_somebody_edited_stays_and_is_asked_about(shell: Shell) -> None:
    identifier = memories(shell)[LOGS]["id"]
    shell.run(f"pmem edit {identifier} 'Log no card number, and no name.'")
    assert take(shell)["edited"] == []
    write(shell, FILE.replace(LOGS, "Never log a card number or an address."))
    (asked,) = take(shell)["edited"]
    assert asked["rule"] == "Never log a card number or an address."
    assert "Log no card number, and no name." in memories(shell)
    said = shell.run("pmem import auto")
    assert "edited here; AGENTS.md says: Never log a card number or an address." in said.text
    assert "pmem inbox --kind citation" in said.said
    assert "no name" in shell.run("pmem inbox --list --kind citation").text
    shell.run(f"pmem check citations --accept {identifier}")
    assert take(shell)["edited"] == []
    assert "Log no card number, and no name." in memories(shell)


def test_an_edited_text_whose_rule_is_gone_stays_and_is_asked_about(shell: Shell) -> None:
    shell.run(f"pmem edit {memories(shell)[LOGS]['id']} 'Log no card number, and no name.'")
    write(shell, FILE.replace(f"- {LOGS}\n", ""))
    (asked,) = take(shell)["edited"]
    assert (asked["rule"], asked["text"]) == ("", "Log no card number, and no name.")
    assert "gone from AGENTS.md: Log no card number" in shell.run("pmem import auto").text


def test_a_subject_and_places_that_somebody_set_stay(shell: Shell) -> None:
    identifier = memories(shell)[LOGS]["id"]
    shell.run(f"pmem edit {identifier} --subject '' --for 'pay/**'")
    write(shell, RENAMED.replace(LOGS, "Never log a card number in full."))
    take(shell)
    one = memories(shell)["Never log a card number in full."]
    assert (one["subject"], one["places"]) == (None, ["pay/**"])


def test_one_undo_takes_an_update_back(shell: Shell) -> None:
    write(shell, MERGED)
    shell.run("pmem import auto")
    assert shell.run("pmem undo").code == 0
    assert set(memories(shell)) == {STYLE, LOGS, TESTS}
