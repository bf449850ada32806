"""Who may do what, at which moment, with what in it: the pipeline decides, and nobody else.

The lists at the top name what does not run through it yet. They only get shorter.
"""

from pathlib import Path
from typing import Final

import pytest

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


@pytest.mark.parametrize("path", BELOW, ids=source.name)
def test_no_service_decides_what_the_pipeline_decides(path: Path) -> None:
    decided = {call for call in source.calls(source.tree(path)) if _is_one_of(call, DECIDES)}
    assert bool(decided) == (source.name(path) in OWN_WAYS), decided or "take it off the list"


@pytest.mark.parametrize("path", COMMANDS, ids=source.name)
def test_no_command_opens_what_the_pipeline_opens(path: Path) -> None:
    opened = {used for used in source.attributes(source.tree(path)) if used in _OPENED}
    assert bool(opened) == (source.name(path) in OWN_WORKSPACE), opened or "take it off the list"


_OPENED: Final = ("session.workspace", "session.workspace_at")


def _is_one_of(call: str, names: tuple[str, ...]) -> bool:
    return any(call == name or call.endswith(f".{name}") for name in names)
