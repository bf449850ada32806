"""The programs whose conversations pmem reads."""

from enum import StrEnum
from typing import Final, NamedTuple


class SessionProgram(StrEnum):
    """The programs whose sessions can be read."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"
    AIDER = "aider"
    SPECSTORY = "specstory"
    CHATGPT = "chatgpt"
    CLAUDE_AI = "claude-ai"
    CLINE = "cline"
    COPILOT_CHAT = "copilot-chat"


class ProgramForm(NamedTuple):
    """What people call a program, and the function in `interchange` that reads its files.

    A `whole` form is read from a file's bytes at once, the others line by line.
    """

    title: str
    reader: str
    whole: bool = True


FORMS: Final = {
    SessionProgram.CLAUDE_CODE: ProgramForm("Claude Code", "claude_code:read", whole=False),
    SessionProgram.CODEX: ProgramForm("Codex", "codex:read", whole=False),
    SessionProgram.GEMINI: ProgramForm("Gemini", "gemini:read", whole=False),
    SessionProgram.AIDER: ProgramForm("aider", "markdown_chats:read_aider"),
    SessionProgram.SPECSTORY: ProgramForm("SpecStory", "markdown_chats:read_specstory"),
    SessionProgram.CHATGPT: ProgramForm("ChatGPT", "json_chats:read_chatgpt"),
    SessionProgram.CLAUDE_AI: ProgramForm("Claude.ai", "json_chats:read_claude_ai"),
    SessionProgram.CLINE: ProgramForm("Cline", "json_chats:read_cline"),
    SessionProgram.COPILOT_CHAT: ProgramForm("Copilot Chat", "json_chats:read_copilot_chat"),
}
TITLES: Final = {program: form.title for program, form in FORMS.items()}
"""What people call them."""
