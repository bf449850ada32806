"""Every way pmem can say no: one tree of errors.

Each class carries the exit code that scripts see, the machine code that `--json` prints
and, where one helps, a hint that says what to do next. Nothing here prints.
"""

from collections.abc import Mapping
from typing import Any, Final

_MOST_CHARACTERS: Final = 1000


class PmemError(Exception):
    """Root of every error that pmem raises on purpose.

    Args:
        message: One sentence that says what went wrong and where.
        hint: What to do next; empty when there is nothing useful to say.
    """

    exit_code = 70
    code = "bug"
    default_hint = ""

    def __init__(self, message: str, hint: str = "") -> None:
        if self.exit_code != PmemError.exit_code:
            message, hint = _sentence(message), _sentence(hint)
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint


def not_utf8(what: str, data: bytes, at: int) -> str:
    """Return the sentence for bytes that are not UTF-8, with the encoding where its mark is there.

    Args:
        what: What holds them.
        data: The bytes.
        at: Where the first wrong one is.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return f"{what} is UTF-16, not UTF-8"
    return f"{what} is not UTF-8 at byte {at}"


def not_fetched(path: str) -> str:
    """Return the sentence for a file that Git LFS has not fetched."""
    return f"{path} is a pointer of Git LFS, not the file: run `git lfs pull`"


class UsageError(PmemError):
    """The command line itself does not make sense."""

    exit_code = 2
    code = "usage"


class NotFound(PmemError):
    """A reference names no record."""

    exit_code = 3
    code = "not_found"


class Ambiguous(PmemError):
    """A reference fits several records."""

    exit_code = 3
    code = "ambiguous"


class InvalidValue(PmemError):
    """A value is outside what its field or setting allows."""

    exit_code = 3
    code = "invalid_value"


class NoProject(PmemError):
    """There is no memory folder here or in any parent."""

    exit_code = 4
    code = "no_project"
    default_hint = "`pmem init` starts one here, -C DIR names another, --mine your own"


class Damaged(PmemError):
    """A file cannot be read as what it should be."""

    exit_code = 5
    code = "damaged"
    default_hint = "fix the file or take it from git; `pmem check` lists every problem"


class TooLarge(Damaged):
    """A record's file has more bytes than are read."""

    code = "too_large"
    default_hint = "nothing is lost; `pmem check` says how it is read again"


class NewerSchema(Damaged):
    """A file was written by a newer pmem than this one."""

    code = "newer_schema"
    default_hint = "upgrade pmem to read it; nothing was changed"


class Unresolved(Damaged):
    """A file has conflict markers of a merge that nobody finished."""

    code = "markers"
    default_hint = "run `pmem resolve`: it finishes the merge and loses nothing"
    good: Mapping[str, Any] | None = None
    """Of settings what can be gone on with meanwhile; None where that cannot be told."""


class Locked(PmemError):
    """Another writer holds the lock, or changed a record under our hands."""

    exit_code = 6
    code = "locked"
    default_hint = "try again in a moment"


class Unreachable(Locked):
    """The server that holds the records cannot be reached, or the connection to it was lost."""

    code = "unreachable"
    default_hint = "nothing was changed; `pmem db status` says whether it is there again"


class BuiltOn(PmemError):
    """Something else has to be looked at first, since others built on it; nothing was written."""

    exit_code = 9
    code = "built_on"


class ModelFailed(PmemError):
    """A model failed where the rules' answer in its place was not wanted."""

    exit_code = 8
    code = "model"
    default_hint = "what the rules answered is kept; `pmem model test` says what is wrong"


class Refused(PmemError):
    """A policy forbids the operation."""

    exit_code = 7
    code = "refused"


class ReadOnly(Refused):
    """This run may write nothing."""

    default_hint = "leave out --read-only to write"

    def __init__(self) -> None:
        super().__init__("this run is read-only")


class StorageRefused(PmemError):
    """The disk or a file refused: full, read-only or no permission."""

    exit_code = 74
    code = "storage"
    default_hint = "nothing was lost; free the disk or fix the permissions and run it again"


class FileNotRead(StorageRefused):
    """A file or a folder is there, and may not or cannot be read."""

    default_hint = "see to it that it can be read, and run it again"


class Unfinished(StorageRefused):
    """The change was made, and the disk or a file refused what was to come after it."""

    default_hint = "what was changed until then is kept, so look before you run it again"


def _sentence(text: str) -> str:
    """Keep a sentence to one line that can be read, whatever is quoted in it."""
    text = text.replace("\n", "\\n")
    left_out = len(text) - _MOST_CHARACTERS
    if left_out <= 0:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]} [{left_out} characters left out] {text[-half:]}"
