"""The permission matrix: complete, as documented, and true of every command."""

import json
import subprocess
from pathlib import Path

import pytest

from pmem.cli.commands import COMMANDS, GROUPS
from tests.faults.console import Done, added, pmem
from tests.once import Once
from tests.policy.paths import MATRIX, PARTS

DOCUMENT = Path(__file__).parents[2] / "docs" / "agents.md"
OF_ANOTHER_KIND = {"inbox reject", "episode show"}
"""They take no memory's id, whoever asks."""
WORDS = {
    "nothing": "They need all records, so pmem refuses them",
    "no records": "They show no records",
}


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Keep something in every store, most of it beyond the planner's allowlist."""
    return once(_build)


def _build() -> dict[str, str]:
    found = {"GOAL": added("goaltoken ships in May", "--category", "goals")}
    found["OWN"] = added("goaltoken needs a plan", "--category", "goals", "--force")
    found["REF"] = added("secrettoken is the plan", "--category", "profile", "--force")
    found["OTHER"] = added("secrettoken needs work", "--category", "person", "--force")
    pmem("conversation", "start", "secrettoken")
    pmem("conversation", "say", "We decided to use secrettoken for everything.")
    pmem("episode", "add", "secrettoken was chosen", "--title", "Choice")
    assert pmem("eval", "add", "secrettoken", found["REF"], "--file", "../golden.jsonl").code == 0
    assert pmem("config", "set", "allowlists.planner", "goals, tasks").code == 0
    return found


def test_every_command_is_in_the_matrix() -> None:
    grouped = {f"{group} {name}" for group, (_, entries) in GROUPS.items() for name in entries}
    assert set(MATRIX) == set(COMMANDS) | grouped | PARTS.keys()


def test_the_document_shows_the_matrix() -> None:
    text = " ".join(DOCUMENT.read_text(encoding="utf-8").split())
    for sight, words in WORDS.items():
        listed = text.partition(f"- {words}: ")[2].partition(". ")[0].removesuffix(".")
        shown = {command.strip("`") for command in listed.split(", ")}
        assert shown == {command for command, (seen, _) in MATRIX.items() if seen == sight}


def ask(command: str, ids: dict[str, str], *options: str, text: str = "zebra") -> Done:
    given = {**ids, "TEXT": text}
    words = [given.get(word, word) for word in MATRIX[command][1]]
    stdin = json.dumps({"query": "secrettoken", "top_k": 50}).encode()
    environment = {"PMEM_AGENT": "planner"}
    return pmem(*command.split(), *words, *options, stdin=stdin, environment=environment)


@pytest.mark.parametrize("how", ["plain", "--json"])
@pytest.mark.parametrize("command", MATRIX)
def test_no_command_shows_an_agent_what_lies_beyond_its_allowlist(
    command: str, how: str, ids: dict[str, str]
) -> None:
    done = ask(command, ids, *(["--json"] if how == "--json" else []))
    assert b"secrettoken" not in done.out
    assert "secrettoken" not in done.err
    sight = MATRIX[command][0]
    names_it = "REF" in MATRIX[command][1] and command not in OF_ANOTHER_KIND
    if sight == "nothing" or names_it:
        assert (done.code, done.out) == (7, b""), done
    if sight == "nothing":
        assert "planner may not " in done.err
    if sight == "no records":
        assert done.code in (0, 1, 3), done


def test_an_agent_finds_its_own(ids: dict[str, str]) -> None:
    for line in (["search", "goaltoken"], ["list"], ["show", ids["OWN"]], ["log"], ["context"]):
        done = pmem(*line, "--agent", "planner")
        assert b"goaltoken" in done.out, line
    environment = {"PMEM_CONSENT_CHANGES": "false"}
    change = ("edit", ids["OWN"], "goaltoken has a plan", "--agent", "planner")
    assert pmem(*change, environment=environment).code == 0


def test_neither_an_agent_without_a_list_nor_one_of_another_name_sees_anything(
    ids: dict[str, str],
) -> None:
    for line in (["list"], ["search", "goaltoken"], ["context"], ["stats"], ["export", "arrays"]):
        done = pmem(*line, "--agent", "stranger")
        assert (done.code, done.out) == (7, b""), line
        assert "there is no allowlist for the agent 'stranger'" in done.err
        done = pmem(*line, "--agent", "stranger", environment={"PMEM_AGENT": "planner"})
        assert (done.code, done.out) == (7, b"")
        assert "planner may not ask as stranger" in done.err
        done = pmem(*line, "--agent", "")
        assert (done.code, done.out) == (3, b"")


def test_where_nobody_in_particular_asks_everything_is_there(ids: dict[str, str]) -> None:
    for line in (["list"], ["search", "secrettoken"], ["show", ids["REF"]]):
        assert b"secrettoken" in pmem(*line).out


def test_what_is_beyond_today_is_beyond_in_the_past_too(ids: dict[str, str]) -> None:
    then = "2999-01-01"
    moved = pmem("edit", ids["OWN"], "--category", "profile", environment={"PMEM_NOW": then})
    assert moved.code == 0
    later = {"PMEM_NOW": "2999-06-01"}
    for line in (["list"], ["search", "goaltoken"], ["context", "goaltoken"]):
        before = [*line, "--at", "2998-01-01"]
        assert b"needs a plan" in pmem(*before, environment=later).out
        done = pmem(*before, "--agent", "planner", environment=later)
        assert b"needs a plan" not in done.out
        assert b"ships in May" in done.out


def test_what_is_beyond_today_is_beyond_in_an_earlier_commit_too(ids: dict[str, str]) -> None:
    def git(*arguments: str) -> None:
        name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", *name, *arguments], check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "Before")
    assert pmem("edit", ids["OWN"], "--category", "profile").code == 0
    for line in (["list"], ["search", "goaltoken"], ["context", "goaltoken"]):
        assert b"needs a plan" in pmem(*line, "--at", "HEAD").out
        done = pmem(*line, "--at", "HEAD", "--agent", "planner")
        assert b"needs a plan" not in done.out
        assert b"ships in May" in done.out
