"""The coding assistants that pmem works in."""

from enum import StrEnum
from typing import Final


class SessionProgram(StrEnum):
    """The programs whose sessions can be read."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"


TITLES: Final = {
    SessionProgram.CLAUDE_CODE: "Claude Code",
    SessionProgram.CODEX: "Codex",
    SessionProgram.GEMINI: "Gemini",
}
"""What people call them."""
