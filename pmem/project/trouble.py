"""What a session is told of a memory that cannot be read: a line for the person and the model."""

from collections.abc import Sequence
from typing import Final

from pmem.core.lines import shortened
from pmem.core.secrets import unsecret
from pmem.core.visible import one_visible_line
from pmem.errors import NoProject, PmemError
from pmem.storage.backend import Problem

_LONGEST: Final = 300


def of_files(problems: Sequence[Problem]) -> str:
    """Say that files of the memory cannot be read; nothing where all can be.

    Args:
        problems: What could not be used.
    """
    if not problems:
        return ""
    many = f"{len(problems)} files" if len(problems) > 1 else "a file"
    return _line(f"{many} of this project's memory cannot be read: {problems[0].message}")


def of_error(error: Exception) -> str:
    """Say why the memory cannot be read; nothing where there is none.

    Args:
        error: What came of asking it.
    """
    if isinstance(error, NoProject):
        return ""
    said = "this project's memory cannot be read: "
    if not isinstance(error, PmemError):
        return f"{said}`pmem check` says more"
    return _line(f"{said}{error.message}{f' ({error.hint})' if error.hint else ''}")


def _line(said: str) -> str:
    return shortened(one_visible_line(unsecret(said)), _LONGEST).rstrip(".")
