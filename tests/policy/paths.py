"""What an agent sees of each command: the permission matrix of docs/agents.md, held by tests.

It is read from the table of operations; only the arguments to try commands with stand here.
"""

import shlex
from pathlib import Path
from typing import Any, Final, Literal

from pmem.assistants.harnesses import HARNESSES
from pmem.operations.operation import Operation
from pmem.operations.table import TABLE

Sight = Literal["own", "nothing", "no records"]
"""`own`: what its allowlist names. `nothing`: refused. `no records`: it shows and takes none."""

ARGUMENTS: Final = {
    command.strip(): tuple(shlex.split(words))
    for command, _, words in (
        row.partition("|")
        for row in Path(__file__).with_name("paths.txt").read_text("utf-8").splitlines()
    )
}
"""For each command arguments to try it with."""

PARTS: Final = {
    "check records": "check",
    "check origin": "check.origin",
    "check citations": "verify",
    "check due": "due",
    "check secrets": "scan",
    "check setup": "doctor",
    "check merges": "check.merges",
}
"""Parts of the check, and their operations."""
OTHERWISE: Final = {
    "inbox walk": "inbox",
    "inbox facts": "facts.list",
    "inbox proposals": "consent.list",
    "inbox accept": "facts.promote",
    "inbox reject": "facts.reject",
    "resolve": "settle",
    **PARTS,
    "log": "events",
    "db sync": "sync",
    "help": None,
    "setup completion": None,
    "mcp": "search",
    "browse": "list",
    "serve": "undo",
    **dict.fromkeys(("import claude-code", "import codex", "import gemini"), "import.auto"),
    **{f"setup {name}": "setup.assistant" for name in HARNESSES},
}
"""Commands that are called otherwise than their operation, or are none."""


def sight(operation: Operation[Any, Any] | None) -> Sight:
    """Return what an agent with an allowlist sees of an operation, as its row has it."""
    if operation is not None and (operation.scope == "whole" or operation.by_person):
        return "nothing"
    return "no records" if operation is None or operation.scope == "nothing" else "own"


def operation_of(command: str) -> Operation[Any, Any] | None:
    """Return the operation that a command runs, if it runs one."""
    name = OTHERWISE.get(command, command.replace(" ", "."))
    return None if name is None else TABLE[name]


MATRIX: Final[dict[str, tuple[Sight, tuple[str, ...]]]] = {
    command: (sight(operation_of(command)), arguments) for command, arguments in ARGUMENTS.items()
}
"""For each command what an agent with an allowlist sees, and arguments to try it with."""
