"""Who may do what, at which moment, with what in it: the pipeline decides, and nobody else."""

import ast
from typing import Final

from tests import source

DECIDES: Final = (
    "check_app",
    "check_categories",
    "check_writable",
    "gate.admit",
    "seen_at",
    "recalls.note",
)
"""Calls that only the pipeline makes, and what it stands on: the project and the policy itself."""

OPENED: Final = ("session.workspace", "session.workspace_at")
"""What the pipeline opens."""

ROOMS: Final = (
    "apps",
    "assistants",
    "conversation",
    "interchange",
    "memory",
    "search",
    "upkeep",
    "vcs",
)
SERVICES: Final = [path for path in source.FILES if path.parent != source.PACKAGE]
BELOW: Final = [path for path in SERVICES if source.name(path).split(".")[1] in ROOMS]
COMMANDS: Final = [path for path in SERVICES if source.name(path).split(".")[1] == "cli"]


def test_no_service_decides_what_the_pipeline_decides() -> None:
    assert source.offences(decided, BELOW) == {}


def test_no_command_opens_what_the_pipeline_opens() -> None:
    assert source.offences(opened, COMMANDS).keys() == {"pmem.cli.checking"}


def decided(tree: ast.Module) -> list[str]:
    return [
        call
        for call in source.calls(tree)
        if any(call == name or call.endswith(f".{name}") for name in DECIDES)
    ]


def opened(tree: ast.Module) -> list[str]:
    return [used for used in source.attributes(tree) if used in OPENED]
