"""`pmem import claude-code` and its kin on the command line: what people see, and wrong uses."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.shell import data_of, pmem
from tests.conversation.assistants import ClaudeCode, Codex


@pytest.fixture(autouse=True)
def surroundings(root: str) -> str:
    claude, codex = ClaudeCode(), Codex()
    claude.ask("Which database?")
    claude.call("mcp__pmem__search", "t1", query="database")
    claude.result("t1", "PostgreSQL")
    claude.say("PostgreSQL.")
    codex.message("user", "Which queue?")
    Path("claude.jsonl").write_bytes(claude.bytes())
    Path("codex.jsonl").write_bytes(codex.bytes())
    Path("chat.jsonl").write_bytes(b'{"role": "user", "content": "Hello"}\n')
    return root


def test_an_import_says_what_came_in_and_what_was_left_out() -> None:
    done = pmem("import", "claude-code", "claude.jsonl")
    assert done.text.splitlines() == [
        "1 session: 2 added, 0 updated, 0 unchanged, 0 skipped",
        "left out: pmem's own words (2)",
    ]
    again = pmem("import", "claude-code", "claude.jsonl", "--dry-run").text
    assert again.startswith("1 session: 0 would be added, 0 updated, 2 unchanged")


def test_auto_takes_in_sessions_and_transcripts_alike() -> None:
    assert pmem("import", "auto", "claude.jsonl").text.startswith("1 session: 2 added")
    assert pmem("import", "auto", "codex.jsonl").text.startswith("1 session: 1 added")
    assert pmem("import", "auto", "chat.jsonl").text.startswith("1 added")
    assert pmem("import", "--pending").text.startswith("0 sessions: 0 added")


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("claude-code missing.jsonl", 3, "there is no file missing.jsonl"),
        ("claude-code codex.jsonl", 3, "codex.jsonl is a session of Codex, not of Claude Code"),
        ("codex claude.jsonl", 3, "claude.jsonl is a session of Claude Code, not of Codex"),
        ("gemini chat.jsonl", 3, "chat.jsonl is no session of Gemini"),
        ("messages claude.jsonl", 3, "claude is a session of Claude Code, not a transcript"),
        ("messages codex.jsonl", 3, "codex is a session of Codex, not a transcript"),
        ("claude-code claude.jsonl --since tomorow", 3, "'tomorow'"),
        ("auto missing.jsonl", 3, "there is no file missing.jsonl"),
        ("auto chat.jsonl --learn", 3, "chat.jsonl is no session"),
        ("codex", 3, "there is no session of Codex"),
        ("claude-code empty", 3, "there is no session of Claude Code"),
        ("claude claude.jsonl", 2, "claude"),
        (
            "",
            3,
            "the project has no instruction files, no decision records, no sessions and no commits",
        ),
        ("auto claude.jsonl --pending", 2, "name either a file or --pending"),
    ],
)
def test_a_wrong_use_gets_one_sentence_and_changes_nothing(
    line: str, code: int, sentence: str, surroundings: str
) -> None:
    os.mkdir("empty")
    before = sorted(os.listdir(os.path.join(surroundings, "conversations")))
    done = pmem("import", *line.split())
    assert (done.code, done.out) == (code, b"")
    assert sentence in done.said.splitlines()[0]
    assert sorted(os.listdir(os.path.join(surroundings, "conversations"))) == before


def test_a_messages_import_names_the_command_that_reads_a_session() -> None:
    hint = pmem("import", "messages", "claude.jsonl").said.splitlines()[1]
    assert hint == "hint: `pmem import claude-code FILE` reads it"


AGAIN = {
    "claude-code": ("import claude-code claude.jsonl", "import auto claude.jsonl"),
    "codex": ("import codex codex.jsonl", "import auto codex.jsonl"),
    "messages": ("import messages said.jsonl", "import auto said.jsonl"),
}


@pytest.mark.parametrize("program", AGAIN)
@pytest.mark.parametrize("learn", ["", " --learn"])
def test_a_removed_message_stays_removed_however_it_is_imported_again(
    program: str, learn: str
) -> None:
    said = "We decided to use PostgreSQL for all orders."
    claude, codex = ClaudeCode(), Codex()
    claude.ask(said)
    codex.message("user", said)
    Path("claude.jsonl").write_bytes(claude.bytes())
    Path("codex.jsonl").write_bytes(codex.bytes())
    line = {"conversation": "c", "id": "1", "role": "user", "content": said}
    Path("said.jsonl").write_text(json.dumps(line), encoding="utf-8")
    first, auto = AGAIN[program]
    learns = "" if program == "messages" else learn
    pmem(*(first + learns).split())
    (talk,) = data_of("conversation", "list")["items"]
    for fact in data_of("inbox")["items"]:
        pmem("inbox", "accept", fact["id"])
    transcript = json.loads(pmem("conversation", "show", talk["id"], "--json").out)
    (message,) = transcript["data"]["messages"]
    assert message["content"] == said
    pmem("conversation", "rm", message["id"], "--reason", "private")
    for line_again in (first, auto):
        assert " 0 updated" in pmem(*(line_again + learns).split()).text
    assert said not in pmem("conversation", "show", talk["id"]).text
    assert data_of("inbox")["items"] == []
