"""Programs that answer prompts, with the options that keep a person's own hooks from running.

They read the prompt on standard input, keep no session, and get no tools.
"""

from collections.abc import Mapping
from typing import Final

from pmem.model.command import OUTPUT, SCHEMA

NAME: Final = "{name}"
"""In the place of this argument stands the model's name."""

_NAMED: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": ("--model", NAME),
    "codex": ("--model", NAME),
    "ollama": (NAME,),
    "llm": ("-m", NAME),
}
_COMMANDS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "claude": (
        ("claude", "-p"),
        ("--safe-mode", "--strict-mcp-config", "--tools", "", "--no-session-persistence",
         "--settings", '{"disableAllHooks":true}'),
    ),
    "codex": (
        ("codex", "exec"),
        ("--ephemeral", "--ignore-user-config", "--skip-git-repo-check", "-s", "read-only",
         "--output-schema", SCHEMA, "-o", OUTPUT, "-"),
    ),
    "ollama": (("ollama", "run"), ("--format", "json")),
    "llm": (("llm",), ("--no-log", "--no-stream")),
}  # fmt: skip
"""What stands before the model's name, and what behind it."""
NEEDS_NAME: Final = frozenset(("ollama",))


def preset_command(preset: str, name: str) -> tuple[str, ...]:
    """Return the command of a preset.

    Args:
        preset: A key of the table.
        name: The model's name; its own choice where it is empty.
    """
    before, behind = _COMMANDS[preset]
    named = tuple(name if part == NAME else part for part in _NAMED[preset]) if name else ()
    return (*before, *named, *behind)
