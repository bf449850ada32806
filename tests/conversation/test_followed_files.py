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
    found = json.loads(shell.run("pmem list -n 1000 --json").text)["data"]["items"]
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
    style = "Guide: Style" if text.startswith("---") else "Style"
    heads = {"Layout"} if text is RENAMED else {None} if "## Style" not in text else {style}
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


def test_undo_takes_back_what_an_import_archived_or_brought_back(shell: Shell) -> None:
    before = {text: one["id"] for text, one in memories(shell).items()}
    write(shell, FILE.replace(f"- {LOGS}\n", ""))
    assert "1 archived" in shell.run("pmem import auto").text
    shell.run("pmem undo")
    assert {text: one["id"] for text, one in memories(shell).items()} == before
    write(shell, FILE.replace(f"- {STYLE}\n", ""))
    take(shell)
    write(shell, FILE)
    assert "1 updated" in shell.run("pmem import auto").text
    shell.run("pmem undo")
    kept = json.loads(shell.run("pmem list --all-states --json").text)["data"]["items"]
    assert {one["content"]: one["state"] for one in kept}[STYLE] == "archived"


def test_undo_takes_back_what_a_decision_record_archived(shell: Shell) -> None:
    record = "# 1. Use SQLite\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use SQLite.\n"
    write(shell, record, "docs/adr/0001-use-sqlite.md")
    shell.run("pmem import auto")
    write(shell, record.replace("Accepted", "Deprecated"), "docs/adr/0001-use-sqlite.md")
    assert "1 archived" in shell.run("pmem import auto").text
    shell.run("pmem undo")
    assert any("We use SQLite." in text for text in memories(shell))


def test_what_somebody_brought_back_is_asked_about(shell: Shell) -> None:
    identifier = memories(shell)[LOGS]["id"]
    write(shell, FILE.replace(f"- {LOGS}\n", ""))
    take(shell)
    shell.run(f"pmem restore {identifier}")
    assert [one["text"] for one in take(shell)["edited"]] == [LOGS]
    assert LOGS in memories(shell)


def test_a_rule_or_file_that_cannot_be_kept_stops_no_other(shell: Shell) -> None:
    write(shell, "- Use one\0store\n", "GEMINI.md")
    write(shell, f"{FILE}- {'Use words. ' * 900}\n- Keep parts small.\n")
    done = shell.run("pmem import auto")
    assert "GEMINI.md: it is binary" in done.said
    assert "AGENTS.md:11: it has 9899 characters, and the limit is 4000" in done.said
    assert "Keep parts small." in memories(shell)


def test_one_undo_takes_an_update_back(shell: Shell) -> None:
    write(shell, MERGED)
    shell.run("pmem import auto")
    assert shell.run("pmem undo").code == 0
    assert set(memories(shell)) == {STYLE, LOGS, TESTS}


def test_what_somebody_pinned_is_not_archived_unasked(shell: Shell) -> None:
    shell.run(f"pmem edit --pin {memories(shell)[LOGS]['id']}")
    write(shell, FILE.replace(f"- {LOGS}\n", ""))
    done = take(shell)
    assert (done["archived"], [one["text"] for one in done["edited"]]) == (0, [LOGS])


def test_a_file_that_lost_all_its_rules_takes_their_memories_along(shell: Shell) -> None:
    write(shell, "# Guide\n")
    assert take(shell)["archived"] == 3
    write(shell, FILE)
    assert take(shell)["updated"] == 3
    Path(shell.folder, "AGENTS.md").unlink()
    assert "3 archived" in shell.run("pmem import auto").text
    assert memories(shell) == {}


def test_a_rule_that_gets_a_secret_keeps_its_memory(shell: Shell) -> None:
    key = "AKIA" + "Q7RT2XMP4LZN6WVB"
    write(shell, FILE.replace(LOGS, f"{LOGS} Such as {key}."))
    done = take(shell)
    assert (done["archived"], len(done["skipped"])) == (0, 1)
    assert set(memories(shell)) == {STYLE, LOGS, TESTS}


def test_of_two_that_are_gone_both_are_archived(shell: Shell) -> None:
    for folder in ("web", "api"):
        write(shell, "- Keep every handler small.\n", f"{folder}/AGENTS.md")
    assert take(shell)["added"] == 2
    for folder in ("web", "api"):
        write(shell, "# Nothing\n", f"{folder}/AGENTS.md")
    assert take(shell)["archived"] == 2


def test_a_rule_goes_into_no_file_of_somebodys_own(shell: Shell) -> None:
    write(shell, f"- {LOGS}\n", "CLAUDE.local.md")
    write(shell, FILE.replace(f"- {LOGS}\n", ""))
    assert take(shell)["archived"] == 1


def test_a_rule_that_another_file_still_has_stays(shell: Shell) -> None:
    write(shell, f"- {LOGS}\n", "CLAUDE.md")
    write(shell, FILE.replace(f"- {LOGS}\n", ""))
    shell.run("pmem import notes AGENTS.md")
    found = memories(shell)
    assert set(found) == {STYLE, LOGS, TESTS}
    assert cited(found[LOGS]) == ["CLAUDE.md:1"]


def test_files_that_say_otherwise_are_both_heard(shell: Shell) -> None:
    write(shell, "## Style\n\n- The limit is 3 retries.\n", "CLAUDE.md")
    write(shell, f"{FILE}\n## Style\n\n- The limit is 3 retries.\n")
    take(shell)
    write(shell, "## Style\n\n- The limit is 2 retries.\n", "CLAUDE.md")
    assert take(shell)["skipped"] == []
    assert {"The limit is 2 retries.", "The limit is 3 retries."} <= set(memories(shell))


def test_a_renamed_file_with_a_changed_rule_keeps_its_memories(shell: Shell) -> None:
    before = {one["id"] for one in memories(shell).values()}
    Path(shell.folder, "AGENTS.md").unlink()
    write(shell, EDITED, "GEMINI.md")
    take(shell)
    assert {one["id"] for one in memories(shell).values()} == before
    assert "Use tabs, never any spaces." in memories(shell)


def test_a_file_that_no_longer_says_where_its_rules_apply_is_followed(shell: Shell) -> None:
    write(shell, f"---\nglobs: web/**\n---\n{FILE}")
    take(shell)
    assert memories(shell)[LOGS]["places"] == ["web/**"]
    write(shell, FILE)
    take(shell)
    assert memories(shell)[LOGS]["places"] == []


def test_an_agents_import_changes_nothing_that_a_person_made(shell: Shell) -> None:
    write(shell, FILE.replace(f"- {LOGS}\n", "- Use one store.\n").replace("never", "never any"))
    done = shell.run("pmem import auto --agent bot")
    assert done.code == 0
    assert "AGENTS.md:5: it is another one now: a person imports that" in done.said
    assert set(memories(shell)) == {STYLE, LOGS, TESTS, "Use one store."}


def test_the_files_of_a_part_of_the_project_are_its_own(tmp_path: Path) -> None:
    shell = Shell(new_repository(str(tmp_path / "p")))
    write(shell, FILE)
    write(shell, "- Keep parts small\n", "web/AGENTS.md")
    done = shell.run("pmem -C web init --import")
    assert "1 added" in done.text
    assert shell.run("pmem -C web list").text.count("Keep parts small") == 1


def test_many_rules_that_changed_at_once_are_followed(shell: Shell) -> None:
    rules = [f"Use the tool {n} for part {n} of the shop" for n in range(400)]
    write(shell, "".join(f"- {rule}\n" for rule in rules))
    take(shell)
    before = {one["id"] for one in memories(shell).values()}
    write(shell, "".join(f"- {rule} always\n" for rule in rules))
    done = take(shell)
    assert (done["updated"], done["added"], done["archived"]) == (400, 0, 0)
    assert {one["id"] for one in memories(shell).values()} == before


def test_what_was_edited_by_hand_stays_while_its_file_says_what_it_said(shell: Shell) -> None:
    store = Path(shell.folder, ".project-memory", "long-term-memory")
    (record,) = (one for one in store.glob("*.json") if STYLE in one.read_text())
    edited = "Use tabs, never spaces, but in YAML."
    record.write_text(record.read_text().replace(STYLE, edited))
    for _ in range(2):
        done = take(shell)
        assert (done["updated"], done["unchanged"], done["added"]) == (0, 3, 0)
        assert edited in memories(shell)
    write(shell, FILE.replace(LOGS, "Never log a name."))
    assert (take(shell)["updated"], edited in memories(shell)) == (1, True)
    write(shell, f"# About\n\nSome words above.\n\n{FILE}")
    take(shell)
    assert edited in memories(shell)


@pytest.mark.parametrize("host", ["agents-md", "claude"])
@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md"])
def test_no_rule_moves_into_what_pmem_wrote(tmp_path: Path, name: str, host: str) -> None:
    shell = Shell(new_repository(str(tmp_path / "p")))
    write(shell, FILE, name)
    shell.run(f"pmem init -q --import; pmem setup rules {host}")
    written = Path(shell.folder, name).read_text()
    write(shell, written.replace(f"- {LOGS}\n", "", 1), name)
    assert written.count(LOGS) == 1 + (host == "agents-md" and name == "AGENTS.md")
    assert f" changed {name}:6 " in shell.run("pmem check citations --fix").text
    assert take(shell)["archived"] == 1
    assert LOGS not in memories(shell)


def test_why_begins_with_what_is_closest_to_the_file_in_the_order_of_its_file(
    shell: Shell,
) -> None:
    rules = "".join(f"- Never ship part {n} on Friday.\n" for n in range(12))
    write(shell, f"# Api\n\n{rules}", "src/AGENTS.md")
    write(shell, "# Pay\n\nThe ledger is in `src/pay/ledger.py`.\n", "src/pay/AGENTS.md")
    take(shell)
    found = json.loads(shell.run("pmem why src/pay/ledger.py --json").text)["data"]["items"]
    told = [one["memory"]["content"] for one in found]
    assert "ledger" in told[0], "a fact of the folder stands before the constraints above it"
    assert told[1:] == [f"Never ship part {n} on Friday." for n in range(12)]
