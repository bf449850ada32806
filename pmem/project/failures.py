"""The log of what went wrong: `local/pmem.log`, beside the memory and never tracked."""

import os
from typing import Final

from pmem.project.workspace import Workspace

MOST_BYTES: Final = 1_000_000
"""Size from which whoever writes next begins a new log."""
_LOG: Final = "pmem.log"
_BEFORE: Final = "pmem.1.log"


def note_failure(workspace: Workspace, text: str) -> str | None:
    """Write down what went wrong, without secrets.

    Args:
        text: What happened.

    Returns:
        Where it is; None where nothing may be written.
    """
    if workspace.read_only:
        return None
    from pmem.core.secrets import unsecret
    from pmem.storage.files.safe_files import is_own

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
