"""What an assistant noted by itself is asked about, marked until then, and kept by one key."""

import json
import os
from collections.abc import Callable
from typing import Any, Final

import pytest

from pmem import Project
from tests.conftest import NOW
from tests.faults.console import pmem
from tests.mcp.talking import called_as, text_of

NOTED = ("The vendor blocks us after ten calls", "Releases are cut on Tuesdays")
ERROR: Final = "VendorError: blocked for 60 s"


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
    found = json.loads(ok("inbox", "--json"))["data"]
    assert {kind: many for kind, many in found["counts"].items() if many} == {"noted": 3}
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


FAILED: Final = "five retries"
MARK: Final = "(noted by claude-code, not confirmed)"


def hook(event: str, **told: Any) -> str:
    data = json.dumps({"session_id": "s", "cwd": os.getcwd(), **told}).encode()
    done = pmem("hook", event, "--harness", "claude-code", stdin=data)
    assert done.code == 0, done
    return json.dumps(json.loads(done.out or b"{}"))


def tool(name: str, agent: str = "claude-code", **given: Any) -> str:
    return text_of(called_as(".project-memory", name, given, agent=agent))


SHOWING: Final[dict[str, Callable[[], str]]] = {
    "start": lambda: hook("session-start", source="startup"),
    "prompt": lambda: hook("prompt", prompt="how many calls until the vendor blocks us?"),
    "file": lambda: hook("pre-tool", tool_name="Read", tool_input={"file_path": "retry.py"}),
    "error": lambda: hook("post-tool", tool_name="Bash", tool_input={}, tool_response=ERROR),
    "context": lambda: ok("context"),
    "task": lambda: ok("context", "call the vendor"),
    "news": lambda: ok("context", "--thread", "t"),
    "other": lambda: tool("context", agent="other", query="call the vendor"),
}
"""Where others are shown what an assistant noted."""


@pytest.fixture
def at_work(root: str) -> None:
    """Have a memory of what a person added and what Claude Code noted."""
    Project(root, now=NOW).add("Sails are white, whoever calls", places=["retry.py"])
    ok("context", "--thread", "t")
    with open("retry.py", "w", encoding="utf-8") as file:
        file.write("RETRIES = 3\n")
    added = tool("remember", content=NOTED[0], **{"for": "retry.py"})
    tried = tool("tried", tried=FAILED, failed="banned", error=ERROR, **{"for": "retry.py"})
    assert "added " in added
    assert "added " in tried


@pytest.mark.parametrize("where", SHOWING)
@pytest.mark.parametrize("setting", ["mark", "hide", "show"])
def test_a_setting_says_how_others_are_shown_what_an_assistant_noted(
    setting: str, where: str, at_work: None
) -> None:
    ok("config", "set", "trust.unconfirmed", setting)
    told = SHOWING[where]()
    is_told = NOTED[0] in told or FAILED in told
    assert is_told == (setting != "hide"), told
    assert (MARK in told) == (setting == "mark"), told
    assert "(trust: " not in told


def test_what_is_hidden_counts_at_once_for_the_assistant_that_noted_it(at_work: None) -> None:
    ok("config", "set", "trust.unconfirmed", "hide")
    assert f"{MARK} {NOTED[0]}" in tool("context", query="call the vendor")
    assert "2 left out: 2 unconfirmed" in ok("context")
    assert "nobody has confirmed it" in pmem("context", "--explain").err


@pytest.mark.parametrize("setting", ["mark", "hide", "show"])
def test_a_search_finds_and_marks_it_whatever_the_setting(setting: str, at_work: None) -> None:
    ok("config", "set", "trust.unconfirmed", setting)
    for told in (ok("search", "vendor"), tool("search", agent="other", query="vendor")):
        assert f"{MARK} {NOTED[0]}" in told


@pytest.mark.parametrize(
    "again",
    [
        NOTED[0],
        "After ten calls the vendor blocks us",
        "The vendor is blocking us after ten calls",
        "the vendor blocks us, after ten calls!",
        "ten calls and the vendor blocks us",
    ],
)
def test_what_a_person_dropped_is_not_noted_again_in_other_words(
    again: str, noted: list[str]
) -> None:
    ok("rm", noted[0])
    for force in (False, True):
        told = tool("remember", content=again, force=force)
        assert f"a person has removed what says this: {noted[0]}" in told
        assert NOTED[0] in told
    done = pmem("--agent", "other", "add", again, "--json")
    assert done.data["action"] == "suggested"
    assert json.loads(ok("inbox", "--json"))["data"]["counts"]["noted"] == 2
    assert "added " in ok("add", again)


def test_another_statement_is_noted_though_one_was_dropped(noted: list[str]) -> None:
    ok("rm", noted[0])
    assert "added " in tool("remember", content="The vendor blocks us after twenty calls")
    ok("--agent", "claude-code", "rm", noted[1])
    assert "added " in tool("remember", content=NOTED[1])


def test_log_counts_what_nobody_confirmed(noted: list[str]) -> None:
    assert "3 noted by agents, not confirmed: `pmem inbox --kind noted`" in pmem("log").err
    ok("inbox", "accept", "--noted-by", "claude-code")
    assert "1 noted by agents, not confirmed" in pmem("log").err
    ok("inbox", "accept", "--noted-by", "other")
    assert "noted by agents" not in pmem("log").err
