"""What is kept of a bug for a report: its traceback, in the clone's own folder."""

import os

from pmem.project.workspace import Workspace


def note_failure(workspace: Workspace, trace: str) -> str | None:
    """Write a traceback into `local/pmem.log`.

    Args:
        trace: The traceback, without secrets.

    Returns:
        Where it is; None where nothing may be written.
    """
    if workspace.read_only:
        return None
    path = os.path.join(workspace.root, "local", "pmem.log")
    from pmem.storage.files.safe_files import is_own

    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.islink(os.path.dirname(path)) or not is_own(path):
            return None
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{workspace.now().isoformat()}\n{trace}\n")
    except OSError:
        return None
    return path
