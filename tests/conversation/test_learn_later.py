"""What was imported without being read for facts can be read later, once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pmem.project.workspace import Workspace
from pmem.storage.local.sessions import NotedTranscript
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.conversation.assistants import ClaudeCode, Codex, Gemini

NEXT = "next: --learn proposes memories"
SAID = "We decided to use Postgres for the orders."


@pytest.fixture
def folder(root: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = Path(os.path.dirname(root))
    monkeypatch.chdir(top)
    return top


def decided(session: ClaudeCode, text: str = SAID) -> ClaudeCode:
    session.ask(text)
    session.say("Fine.")
    return session


def of_codex() -> Codex:
    session = Codex()
    session.message("user", SAID)
    return session


def of_gemini() -> Gemini:
    session = Gemini()
    session.put("m1", "user", SAID)
    return session


def facts() -> list[str]:
    return [line for line in pmem("inbox", "facts").text.splitlines() if line]


@pytest.mark.parametrize(
    ("command", "session"),
    [
        ("claude-code", lambda: decided(ClaudeCode())),
        ("codex", of_codex),
        ("gemini", of_gemini),
        ("auto", lambda: decided(ClaudeCode())),
        ("auto", of_codex),
    ],
)
def test_a_session_is_read_for_facts_after_it_was_imported(
    folder: Path, command: str, session: Callable[[], ClaudeCode | Codex | Gemini]
) -> None:
    (folder / "session.jsonl").write_bytes(session().bytes())

    plain = pmem("import", command, "session.jsonl")
    assert (plain.code, NEXT in plain.said, facts()) == (0, True, [])
    assert NEXT in pmem("import", command, "session.jsonl").said
    learned = pmem("import", command, "session.jsonl", "--learn")
    assert "facts noted: 1" in learned.said
    assert "0 added" in learned.text
    (fact,) = facts()
    assert "Postgres" in fact
    again = pmem("import", command, "session.jsonl", "--learn")
    assert (again.said, len(facts())) == ("", 1)
    assert pmem("import", command, "session.jsonl").said == ""


def test_what_states_nothing_proposes_no_reading(folder: Path) -> None:
    session = ClaudeCode()
    session.ask("Which database?")
    (folder / "session.jsonl").write_bytes(session.bytes())
    assert pmem("import", "claude-code", "session.jsonl").said == ""


def test_what_hooks_noted_is_read_after_it_was_imported(folder: Path, root: str) -> None:
    path = folder / "session.jsonl"
    path.write_bytes(decided(ClaudeCode()).bytes())
    note = NotedTranscript(
        harness="claude-code", path=str(path), offset=0, session="s", noted_at=NOW
    )
    Workspace(root).own.noted_transcripts.note(note)

    plain = pmem("import", "--pending", "--no-learn")
    assert (NEXT in plain.said, facts()) == (True, [])
    assert "facts noted: 1" in pmem("import", "--pending").said
    assert "Postgres" in facts()[0]
    assert pmem("import", "--pending").said == ""


def test_what_comes_after_it_is_read_with_it_and_a_long_session_whole(folder: Path) -> None:
    session = decided(ClaudeCode())
    for number in range(60):
        session.ask(f"And number {number}?")
        session.say("Yes.")
    decided(session, "We decided to deploy on Tuesdays.")
    path = folder / "session.jsonl"
    path.write_bytes(session.bytes())
    pmem("import", "claude-code", str(path))
    decided(session, "We decided to keep logs for a month.")
    path.write_bytes(session.bytes())

    assert "facts noted: 3" in pmem("import", "claude-code", str(path), "--learn").said
    assert len(facts()) == 3
    decided(session, "We decided to rotate keys every week.")
    path.write_bytes(session.bytes())
    assert NEXT in pmem("import", "claude-code", str(path)).said
    assert "facts noted: 1" in pmem("import", "claude-code", str(path), "--learn").said
    assert pmem("check", "records").code == 0


def test_a_rejected_fact_is_not_proposed_again(folder: Path) -> None:
    session = decided(ClaudeCode())
    path = folder / "session.jsonl"
    path.write_bytes(session.bytes())
    pmem("import", "claude-code", str(path), "--learn")
    pmem("inbox", "reject", facts()[0].split()[0])
    decided(session, "We decided to deploy on Tuesdays.")
    path.write_bytes(session.bytes())
    pmem("import", "claude-code", str(path))
    pmem("import", "claude-code", str(path), "--learn")
    assert [("Tuesdays" in fact) for fact in facts()] == [True]


def test_only_what_is_late_enough_is_read_and_the_rest_stays(folder: Path) -> None:
    path = folder / "session.jsonl"
    path.write_bytes(decided(ClaudeCode()).bytes())
    pmem("import", "claude-code", str(path))

    late = pmem("import", "claude-code", str(path), "--learn", "--since", "2027-01-01")
    assert (late.code, facts()) == (0, [])
    assert "facts noted: 1" in pmem("import", "claude-code", str(path), "--learn").said
