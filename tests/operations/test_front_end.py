"""Another front end needs the table and the pipeline, and nothing of the command line."""

import json
import subprocess
import sys
from typing import Any, Final

from pmem import Project
from tests.operations import lines

TOKEN: Final = "".join(("ghp_", "a1B2c3D4e5" * 3, "f6G7h8"))
"""Made of parts, so that no file of the project holds it."""


def answers(root: str, *asked: dict[str, Any]) -> list[Any]:
    return [json.loads(line) for line in lines.serve(root, map(json.dumps, asked))]


def test_three_operations_are_served_as_lines_of_json(root: str) -> None:
    added, listed, found = answers(
        root,
        {"operation": "add", "request": {"content": "We use PostgreSQL", "type": "decision"}},
        {"operation": "list"},
        {"operation": "search", "request": {"query": "postgresql"}},
    )
    assert added["data"]["action"] == "added"
    assert listed["data"]["total"] == 1
    assert found["data"]["hits"][0]["id"] == added["data"]["memory"]["id"]


def test_it_answers_as_every_front_end_does(root: str) -> None:
    Project(root).add("We use PostgreSQL")
    for command, line in (("list", "list"), ("stats", "stats")):
        printed = subprocess.run(
            [sys.executable, "-m", "pmem", *command.split(), "--json"],
            capture_output=True,
            check=True,
        )
        (told,) = answers(root, {"operation": line})
        assert told["data"] == json.loads(printed.stdout)["data"]


def test_what_the_pipeline_refuses_is_refused_here_too(root: str) -> None:
    Project(root, allowlists={"planner": ["goals"]})
    wrong, secret, missing = answers(
        root,
        {"operation": "add", "request": {"content": 7}},
        {"operation": "add", "request": {"content": f"the text {TOKEN}"}},
        {"operation": "show", "request": {"reference": "nothing"}},
    )
    codes = [each["error"]["code"] for each in (wrong, secret, missing)]
    assert codes == ["invalid_value", "secret", "not_found"]


def test_it_knows_nothing_of_the_command_line() -> None:
    with open(lines.__file__, encoding="utf-8") as file:
        used = file.read()
    assert "pmem.cli" not in used
    assert "pmem.library" not in used
