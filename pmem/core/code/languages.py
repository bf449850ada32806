"""How languages are written, as far as citing needs it, by the suffixes of their files."""

from enum import Enum
from typing import Final, NamedTuple


class Layout(Enum):
    """What white space means outside of literals."""

    FREE = "free"
    """It parts words, no more."""
    INDENTED = "indented"
    """Lines and how far they are indented have a meaning, except in brackets."""
    LINES = "lines"
    """So they have everywhere; so has a blank between two signs."""


class Language(NamedTuple):
    """A way of writing programs.

    `driver` is git's name of the patterns that find its functions; empty where git has none, and
    any line that begins with a letter counts. `literals` names how strings and comments are
    written (see `core.code.literals`).
    """

    driver: str
    layout: Layout
    literals: str


UNKNOWN: Final = Language("", Layout.LINES, "text")
_FREE: Final = Layout.FREE
_LINES: Final = Layout.LINES
_PYTHON: Final = Language("python", Layout.INDENTED, "python")
_SCRIPT: Final = Language("javascript", _FREE, "script")
_CPP: Final = Language("cpp", _FREE, "cpp")
_LANGUAGES: Final[dict[str, Language]] = {
    ".py .pyi": _PYTHON,
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts": _SCRIPT,
    ".go": Language("golang", _FREE, "go"),
    ".rs": Language("rust", _FREE, "rust"),
    ".c .h .cc .cpp .cxx .hh .hpp .hxx": _CPP,
    ".m .mm": Language("objc", _FREE, "c"),
    ".java": Language("java", _FREE, "c"),
    ".kt .kts": Language("kotlin", _FREE, "c"),
    ".cs": Language("csharp", _FREE, "csharp"),
    ".php": Language("php", _FREE, "php"),
    ".swift .scala .dart": Language("", _FREE, "c"),
    ".css .scss .less": Language("css", _FREE, "c"),
    ".json .jsonc .json5": Language("", _FREE, "script"),
    ".rb": Language("ruby", _LINES, "ruby"),
    ".sh .bash .zsh": Language("bash", _LINES, "shell"),
    ".pl .pm": Language("perl", _LINES, "ruby"),
    ".ex .exs": Language("elixir", _LINES, "ruby"),
}
_BY_SUFFIX: Final = {
    suffix: language for suffixes, language in _LANGUAGES.items() for suffix in suffixes.split()
}


def language_of(suffix: str) -> Language:
    """Return how a file is written."""
    return _BY_SUFFIX.get(suffix.lower(), UNKNOWN)
