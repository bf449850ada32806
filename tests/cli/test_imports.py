"""What a command does not need, it does not import: start-up time is a promise."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = frozenset(
    "numpy rich pydantic rank_bm25 tomlkit importlib.metadata markdown_it yaml".split()
)
_SPY = """
import json, sys, os
from unittest import mock

def leave(code):
    sys.stderr.flush()
    print("\\n" + json.dumps(sorted(sys.modules)), file=sys.__stderr__, flush=True)
    kill(code)

kill, os._exit = os._exit, leave
sys.argv = ["pmem", *sys.argv[1:]]
from pmem.cli import main
main()
"""


def imported(*arguments: str, stdin: str = "") -> set[str]:
    command = [sys.executable, "-c", _SPY, *arguments]
    done = subprocess.run(
        command, input=stdin.encode(), capture_output=True, timeout=60, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "command",
    [
        *("--version", "add PostgreSQL", "show k3v9k3v9", "list", "list --json", "stats"),
        *("edit k3v9k3v9 text", "conversation list", "config get chunk_size", "context"),
    ],
)
def test_a_plain_command_imports_nothing_heavy(command: str, project: str, record: str) -> None:
    assert imported(*command.split()) & HEAVY == set()


@pytest.mark.parametrize(
    "command", ["list", "show k3v9k3v9", "search database", "context database"]
)
def test_what_only_reads_imports_no_rules_on_passwords(
    command: str, project: str, record: str
) -> None:
    assert "pmem.core.secrets.named" not in imported(*command.split())


def test_a_search_looks_for_secrets_without_the_gate(project: str, record: str) -> None:
    assert "pmem.core.secrets" in imported("search", "database")
    assert {"pmem.project.secret_gate", "pmem.core.secrets.texts"} & imported(
        "search", "database"
    ) == set()


def test_the_version_needs_no_command_line() -> None:
    modules = imported("--version")
    assert {"typer", "msgspec", "orjson", "importlib.metadata", "re"} & modules <= {"re"}


def test_only_a_search_without_an_index_imports_the_reference(project: str, record: str) -> None:
    assert {"rank_bm25", "numpy"} & imported("search", "database") == set()
    assert "rank_bm25" in imported("search", "database", "--read-only")


def test_what_only_reads_an_apps_memories_imports_nothing_that_decides_on_them(
    project: str, record: str
) -> None:
    deciding = {"pmem.core.duplicates", "pmem.core.lifecycle.merging", "queue", "hashlib"}
    assert deciding & imported("app", "context", "planner") == set()
    assert deciding & imported("app", "list", "planner") == set()


def test_a_context_without_a_thread_makes_no_fingerprints(project: str, record: str) -> None:
    assert "hashlib" not in imported("context")
    assert "hashlib" in imported("context", "--thread", "review")


def test_a_project_without_settings_needs_no_reader_of_settings(project: str, record: str) -> None:
    with open(f"{project}/config.toml", "w", encoding="utf-8") as file:
        file.write("# Nothing is set.\n")
    assert "tomllib" not in imported("context")
    with open(f"{project}/config.toml", "a", encoding="utf-8") as file:
        file.write('project_name = "Phoenix"\n')
    assert "tomllib" in imported("context")


def test_only_a_look_into_the_past_imports_what_it_takes(project: str, record: str) -> None:
    past = {"pmem.storage.past"}
    assert past & imported("show", "k3v9k3v9") == set()
    assert past <= imported("show", "k3v9k3v9", "--at", "2026-11-21T14:10:00Z")


def test_what_git_runs_for_each_file_needs_no_record_library(project: str, record: str) -> None:
    file = f"{project}/long-term-memory/{record}.json"
    heavy = {"typer", "msgspec", "orjson", "pmem.values.records"}
    assert imported("textconv", file) & heavy == set()
    merging = imported("merge-driver", file, file, file, "7", f"long-term-memory/{record}.json")
    assert merging & heavy == set()


@pytest.fixture
def record(project: str) -> str:
    identifier = "mwqi8ls0-k3v9k3v9"
    value = {
        "id": identifier,
        "schema": 1,
        "content": "The database is PostgreSQL",
        "category": "project",
        "valid_from": "2026-11-21T14:00:00Z",
        "created_at": "2026-11-21T14:00:00Z",
        "updated_at": "2026-11-21T14:00:00Z",
    }
    with open(f"{project}/long-term-memory/{identifier}.json", "w", encoding="utf-8") as file:
        json.dump(value, file)
    return identifier


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "command",
    [
        ["conversation", "say", "We use PostgreSQL because it keeps every row of the orders."],
        ["conversation", "end"],
        ["consolidate"],
        ["app", "remember", "calendar", "The office closes at six."],
        ["app", "compact", "calendar"],
        ["stats"],
        ["search", "database"],
        ["add", "Reports are sent on Mondays."],
        ["context", "database"],
    ],
    ids=" ".join,
)
def test_without_a_model_no_command_knows_of_models(
    command: list[str], project: str, record: str
) -> None:
    if command[0] == "conversation":
        subprocess.run([sys.executable, "-m", "pmem", "conversation", "start"], check=True)
    if command[:2] == ["app", "compact"]:
        words = ("app", "remember", "calendar", "The office closes at six.")
        subprocess.run([sys.executable, "-m", "pmem", *words], check=True)
    names = imported(*command)
    assert {name for name in names if name.startswith(("pmem.model", "pmem.upkeep.work"))} == set()
    assert {"httpx", "llm"} & names == set()


def test_a_message_loads_nothing_that_changes_memories(project: str) -> None:
    subprocess.run([sys.executable, "-m", "pmem", "conversation", "start"], check=True)
    names = imported("conversation", "say", "We use PostgreSQL because it keeps every row.")
    assert {"pmem.cli.changes", "pmem.cli.memory", "pmem.memory.lifecycle"} & names == set()


def test_a_prompts_hook_loads_nothing_that_writes_a_sessions_start_or_reads_conversations(
    project: str, record: str
) -> None:
    said = {"session_id": "s", "cwd": project, "prompt": "Which database do we use?"}
    names = imported("hook", "prompt", "--harness", "claude-code", stdin=json.dumps(said))
    assert "pmem.assistants.prompt_answers" in names
    starting = {"pmem.assistants.start_text", "pmem.search.context_request"}
    talking = {
        name for name in names if name.startswith(("pmem.conversation", "pmem.core.pruning"))
    }
    assert starting & names | talking == set()


def test_a_prompt_that_surely_has_no_answer_loads_no_record_library(
    project: str, record: str
) -> None:
    os.utime(f"{project}/long-term-memory/{record}.json", (1e9, 1e9))
    imported("search", "database")
    said = {"session_id": "s", "cwd": project, "prompt": "Which train goes to Lisbon?"}
    names = imported("hook", "prompt", "--harness", "claude-code", stdin=json.dumps(said))
    assert "pmem.assistants.first_look" in names
    assert {"msgspec", "orjson", "pmem.values.records"} & names == set()


def test_a_sessions_start_without_a_talk_loads_nothing_that_reads_or_prunes_one(
    project: str, record: str
) -> None:
    said = {"session_id": "s", "cwd": project, "source": "startup"}
    names = imported("hook", "session-start", "--harness", "claude-code", stdin=json.dumps(said))
    assert "pmem.search.contexts" in names
    reading = {"pmem.interchange.sessions", "pmem.core.extraction.facts", "pmem.core.text.blocks"}
    assert {*reading, "pmem.core.pruning.plan", "pmem.core.duplicates"} & names == set()
