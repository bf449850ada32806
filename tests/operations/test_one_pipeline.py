"""Who may do what, at which moment, with what in it: the pipeline decides, and nobody else.

The lists at the top name what does not run through it yet. They only get shorter.
"""

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

OWN_WAYS: Final[frozenset[str]] = frozenset()
"""Modules below the operations whose use cases still decide some of it by themselves."""

OWN_WORKSPACE: Final[frozenset[str]] = frozenset({"pmem.cli.checking"})
"""Modules of commands that still open the workspace by themselves."""

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
    assert not_listed(source.offences(decided, BELOW), OWN_WAYS) == {}


def test_no_command_opens_what_the_pipeline_opens() -> None:
    assert not_listed(source.offences(opened, COMMANDS), OWN_WORKSPACE) == {}


def not_listed(found: dict[str, list[str]], listed: frozenset[str]) -> dict[str, list[str]]:
    return {name: found.get(name, ["take it off"]) for name in found.keys() ^ listed}


def decided(tree: ast.Module) -> list[str]:
    return [
        call
        for call in source.calls(tree)
        if any(call == name or call.endswith(f".{name}") for name in DECIDES)
    ]


def opened(tree: ast.Module) -> list[str]:
    return [used for used in source.attributes(tree) if used in OPENED]
