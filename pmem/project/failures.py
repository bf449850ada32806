"""The log of what went wrong: `local/pmem.log`, beside the memory and never tracked."""

import os
from collections.abc import Sequence
from typing import Final

from pmem.core.lines import shortened
from pmem.core.secrets import unsecret
from pmem.core.visible import one_visible_line
from pmem.errors import NoProject, PmemError
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.files.safe_files import is_own

MOST_BYTES: Final = 1_000_000
"""Size from which whoever writes next begins a new log."""
_LOG: Final = "pmem.log"
_BEFORE: Final = "pmem.1.log"
_LONGEST: Final = 300


def note_failure(workspace: Workspace, text: str) -> str | None:
    """Write down what went wrong, without secrets; return where, if anything may be written."""
    if workspace.read_only:
        return None

    folder = os.path.join(workspace.root, "local")
    path = os.path.join(folder, _LOG)
    try:
        os.makedirs(folder, exist_ok=True)
        if os.path.islink(folder) or not is_own(path):
            return None
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{workspace.now().isoformat()}\n{unsecret(text)}\n")
            size = file.tell()
        if size > MOST_BYTES:
            os.replace(path, os.path.join(folder, _BEFORE))
    except OSError:
        return None
    return path


def of_files(problems: Sequence[Problem]) -> str:
    """Say that files of the memory cannot be read; nothing where all can be."""
    if not problems:
        return ""
    many = f"{len(problems)} files" if len(problems) > 1 else "a file"
    return _line(f"{many} of this project's memory cannot be read: {problems[0].message}")


def of_error(error: Exception) -> str:
    """Say why the memory cannot be read; nothing where there is none."""
    if isinstance(error, NoProject):
        return ""
    said = "this project's memory cannot be read: "
    if not isinstance(error, PmemError):
        return f"{said}`pmem check` says more"
    return _line(f"{said}{error.message}{f' ({error.hint})' if error.hint else ''}")


def _line(said: str) -> str:
    return shortened(one_visible_line(unsecret(said)), _LONGEST).rstrip(".")
