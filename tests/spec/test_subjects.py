"""Several memories may have one subject: only what says the same, or otherwise, is stopped."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pmem import Filter, Project
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.git.branches import begin, ok
from tests.mcp.talking import called_as, text_of

TALK = (
    "Ben owns the CI; ask him before you change its runners",
    "Ben is on holiday in May",
    "Ben owns the docs",
)
OTHERWISE = (
    ("fees", "The fee cap is 1500 cents", "The fee cap is 2000 cents"),
    ("database", "We use MySQL", "We use PostgreSQL"),
    (
        "database",
        "We use PostgreSQL for orders, because they need transactions",
        "We use MySQL for orders; the admins know it",
    ),
    ("release day", "Friday", "Monday"),
    ("deploys", "Deploys run on Fridays", "Deploys never run on Fridays"),
)


@pytest.fixture
def top(root: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The memory folder of the current folder."""
    monkeypatch.chdir(os.path.dirname(root))
    return root


def contents(root: str) -> list[str]:
    return sorted(memory.content for memory in Project(root, now=NOW).list().items)


def test_what_is_one_more_thing_on_a_subject_is_added_and_counted(top: str) -> None:
    first, second, third = (pmem("add", text, "--subject", "Ben") for text in TALK)
    assert "memories on" not in first.said
    assert '2 memories on "Ben"' in second.said
    assert '3 memories on "Ben"' in third.said
    assert contents(top) == sorted(TALK)
    made = json.loads(pmem("add", "Ben speaks Dutch", "--subject", "ben", "--json").text)
    assert made["data"]["on_subject"] == 4


def test_what_is_decided_in_one_conversation_does_not_disagree_by_its_title_alone(top: str) -> None:
    title = "Choosing how to print receipts"
    for text in ("Ben agreed on a green logo", "Ben settled on Helvetica"):
        assert pmem("add", text, "--subject", title).code == 0
    assert contents(top) == ["Ben agreed on a green logo", "Ben settled on Helvetica"]


@pytest.mark.parametrize(("subject", "one", "other"), OTHERWISE)
def test_what_says_otherwise_on_a_subject_stops_add(
    top: str, subject: str, one: str, other: str
) -> None:
    assert pmem("add", one, "--subject", subject).code == 0
    done = pmem("add", other, "--subject", subject)
    assert (done.code, "says otherwise" in done.said, contents(top)) == (9, True, [one])
    assert pmem("add", other, "--subject", subject, "--force").code == 0
    assert contents(top) == sorted([one, other])


def test_a_batch_adds_what_agrees_on_a_subject_and_names_what_does_not(top: str) -> None:
    texts = (*TALK, OTHERWISE[0][1], OTHERWISE[0][2])
    lines = [{"content": text, "subject": text.split()[0]} for text in texts]
    Path("batch.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert "4 added, 1 not added" in pmem("add", "--batch", "batch.jsonl").said
    assert contents(top) == sorted(texts[:-1])


def test_an_assistant_is_told_how_many_there_are_or_which_says_otherwise(top: str) -> None:
    def added(text: str, subject: str) -> dict[str, Any]:
        return called_as(top, "add_to_memory", {"content": text, "subject": subject})

    added(TALK[0], "Ben")
    assert '2 memories on "Ben"' in text_of(added(TALK[1], "Ben"))
    subject, one, other = OTHERWISE[0]
    added(one, subject)
    refused = added(other, subject)
    assert (refused["isError"], one in text_of(refused)) == (True, True)


def test_neither_edits_nor_facts_nor_merges_take_a_subject_for_a_slot(top: str) -> None:
    project = Project(top, now=NOW)
    one, other, _ = (project.add(text, subject="Ben").memory for text in TALK)
    other_subject = project.add("Ben's desk is by the window", subject="desks").memory
    assert project.edit(other_subject.id, subject="Ben").subject == "Ben"
    assert not project.check().findings
    assert "nothing waits" in pmem("inbox").said
    assert "nothing to do" in pmem("consolidate", "--dry-run").said
    project.supersede_by(one.id, other.id)
    assert [memory.content for memory in project.list(Filter(subject="Ben")).items] == [
        TALK[1], TALK[2], "Ben's desk is by the window",
    ]  # fmt: skip


def test_branches_that_add_on_one_subject_are_only_told_of_where_they_disagree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin(monkeypatch)
    assert pmem("add", "The port is 80").code == 0
    ok("add", "--all")
    ok("commit", "--quiet", "--no-verify", "--message", "base")
    for branch, texts in (
        ("ours", (TALK[0], OTHERWISE[0][1])),
        ("theirs", (TALK[1], OTHERWISE[0][2])),
    ):
        ok("checkout", "--quiet", "-B", branch, "main")
        for text in texts:
            assert pmem("add", text, "--subject", text.split()[0]).code == 0
        ok("add", "--all")
        ok("commit", "--quiet", "--no-verify", "--message", branch)
    ok("merge", "--quiet", "--no-edit", "ours")
    (item,) = json.loads(pmem("inbox", "--json").text)["data"]["items"]
    assert item["kind"] == "subject"
    assert "fee cap" in item["text"]
