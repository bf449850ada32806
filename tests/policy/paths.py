"""What an agent sees of each command: the permission matrix of docs/agents.md, held by tests.

It is read from the table of operations; only the arguments to try commands with stand here.
"""

from typing import Any, Final, Literal

from pmem.assistants.harnesses import HARNESSES
from pmem.operations.operation import Operation
from pmem.operations.table import TABLE

Sight = Literal["own", "nothing", "no records"]
"""`own`: what its allowlist names. `nothing`: refused. `no records`: it shows and takes none."""

ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "init": (),
    "add": ("TEXT",),
    "show": ("REF",),
    "list": ("--all-states",),
    "edit": ("REF", "--importance", "0.4"),
    "rm": ("REF",),
    "restore": ("REF",),
    "purge": ("REF", "--force"),
    "undo": ("REF",),
    "share": ("REF",),
    "db init": (),
    "db migrate": (),
    "db status": (),
    "db sync": (),
    "resolve": ("REF",),
    "log": ("--limit", "0"),
    "outcome": ("REF", "good"),
    "inbox walk": (),
    "why": ("src/gear.py",),
    "tried": ("TEXT", "--failed", "TEXT"),
    "review": (),
    "search": ("TEXT", "-k", "50"),
    "query": (),
    "context": ("TEXT",),
    "mcp": (),
    "serve": ("--token", "person"),
    "consolidate": (),
    "delta": ("--thread", "t"),
    "stats": (),
    "report": ("-",),
    "browse": (),
    "check": (),
    "check records": (),
    "check citations": (),
    "check due": (),
    "check secrets": (),
    "check setup": (),
    "check merges": ("--range", "HEAD"),
    "hook": ("prompt",),
    "help": (),
    "conversation start": (),
    "conversation say": ("TEXT",),
    "conversation end": (),
    "conversation pause": (),
    "conversation resume": (),
    "conversation list": (),
    "conversation show": (),
    "conversation clear": ("--yes",),
    "conversation stats": (),
    "conversation prune": (),
    "conversation mark": ("REF", "--pin"),
    "conversation rm": ("REF",),
    "inbox facts": (),
    "inbox accept": ("--above", "0"),
    "inbox reject": ("REF",),
    "episode add": ("TEXT",),
    "episode list": (),
    "episode show": ("REF",),
    "episode arc": (),
    "checkpoint save": ("t", "{}"),
    "checkpoint load": ("t",),
    "checkpoint list": (),
    "checkpoint rm": ("t",),
    "app remember": ("calendar", "TEXT"),
    "app list": (),
    "app show": ("calendar", "k3v9"),
    "app context": ("calendar",),
    "app compact": ("calendar",),
    "app delete": ("calendar", "k3v9"),
    "app purge": ("calendar", "--yes"),
    "app uninstall": ("calendar",),
    "app stats": (),
    "work list": (),
    "work next": (),
    "work apply": ('{"id":"insight:latest","digest":"0","answer":0}',),
    "model test": (),
    "inbox proposals": (),
    "config list": (),
    "config get": ("chunk_size",),
    "config set": ("chunk_size", "7"),
    "config unset": ("chunk_size",),
    "setup git": (),
    "setup pre-commit": (),
    "setup claude-code": (),
    "setup codex": (),
    "setup gemini": (),
    "setup cursor": (),
    "setup vscode": (),
    "setup opencode": (),
    "setup zed": ("--user",),
    "setup completion": ("bash", "--print"),
    "setup agents-md": (),
    "setup list": (),
    "import messages": ("-",),
    "import claude-code": ("../absent",),
    "import codex": ("../absent",),
    "import gemini": ("../absent",),
    "import auto": ("../absent",),
    "import notes": ("../absent",),
    "setup rules": ("cursor",),
    "import git": (),
    "import adr": ("../absent",),
    "import arrays": ("../absent",),
    "export arrays": (),
    "export markdown": (),
    "export audit": (),
    "eval run": ("../golden.jsonl",),
    "eval add": ("TEXT", "REF"),
    "eval misses": (),
}
"""For each command arguments to try it with."""

PARTS: Final = {
    "check records": "check",
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
