"""What an assistant noted by itself is asked about, marked until then, and kept by one key."""

import json

import pytest

from tests.faults.console import pmem

NOTED = ("The vendor blocks us after ten calls", "Releases are cut on Tuesdays")


def ok(*words: str) -> str:
    done = pmem(*words)
    assert done.code == 0, done
    return done.out.decode()


@pytest.fixture
def noted(root: str) -> list[str]:
    ids = []
    for text in NOTED:
        told = json.loads(ok("--agent", "claude-code", "add", text, "--json"))
        ids.append(str(told["data"]["memory"]["id"]).rpartition("-")[2])
    ok("--agent", "other", "add", "Buoys are red")
    ok("add", "Sails are white")
    return ids


def test_what_an_agent_noted_waits_in_the_inbox_with_its_keys(noted: list[str]) -> None:
    found = json.loads(ok("inbox", "--kind", "noted", "--json"))["data"]
    assert found["counts"] == {"noted": 3}
    first = found["items"][0]
    assert first["why"] == "claude-code noted it, and nobody has confirmed it"
    commands = {one["key"]: one["command"] for one in first["commands"]}
    assert commands["k"] == f"pmem edit {noted[0]} --reviewed"
    assert commands["a"] == "pmem inbox accept --noted-by claude-code"
    assert "3 pmem inbox --kind noted noted by agents" in " ".join(ok("stats").split())


def test_one_key_keeps_all_that_an_agent_noted_and_one_undo_takes_it_back(
    noted: list[str],
) -> None:
    said = ok("inbox", "accept", "--noted-by", "claude-code")
    assert [line.split()[:2] for line in said.splitlines()] == [["kept", one] for one in noted]
    assert json.loads(ok("inbox", "--json"))["data"]["counts"]["noted"] == 1
    ok("undo")
    assert json.loads(ok("inbox", "--json"))["data"]["counts"]["noted"] == 3


def test_a_context_marks_what_nobody_confirmed_until_somebody_does(noted: list[str]) -> None:
    task = ("context", "call the vendor", "--budget", "300")
    assert f"(noted by claude-code, not confirmed) {NOTED[0]}" in ok(*task)
    ok("edit", noted[0], "--reviewed")
    assert "not confirmed) The vendor" not in ok(*task)


def test_an_agent_confirms_nothing(noted: list[str]) -> None:
    done = pmem("--agent", "claude-code", "inbox", "accept", "--noted-by", "claude-code")
    assert done.code != 0
    assert json.loads(ok("inbox", "--json"))["data"]["counts"]["noted"] == 3


def test_nothing_to_confirm_is_said(root: str) -> None:
    done = pmem("inbox", "accept", "--noted-by", "nobody")
    assert done.code == 0
    assert "nothing that nobody noted waits to be confirmed" in done.err
