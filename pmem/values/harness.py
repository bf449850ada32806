"""The coding assistants that pmem works in."""

from enum import StrEnum
from typing import Final


class Harness(StrEnum):
    """The programs whose sessions can be read."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"


TITLES: Final = {
    Harness.CLAUDE_CODE: "Claude Code",
    Harness.CODEX: "Codex",
    Harness.GEMINI: "Gemini",
}
"""What people call them."""
