"""The log of what went wrong: `pmem.log`, beside the memory and never tracked."""

import os
from typing import Final

from pmem.cli.session import CommandSession

FILE: Final = "pmem.log"
BEFORE: Final = "pmem.1.log"
MOST_BYTES: Final = 1_000_000
"""Size from which whoever writes next begins a new log."""


def append(session: CommandSession, text: str) -> str | None:
    """Write down what went wrong, without secrets.

    Args:
        session: The command, whose memory it is if it opened one.
        text: What happened.

    Returns:
        The log's path; None where there is no place to write to.
    """
    workspace = session.opened
    if workspace is None or session.read_only:
        return None
    from pmem.core.secrets import unsecret
    from pmem.storage.files.safe_files import is_own

    path = os.path.join(workspace.root, "local", FILE)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.islink(os.path.dirname(path)) or not is_own(path):
            return None
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{workspace.now().isoformat()}\n{unsecret(text)}\n")
            size = file.tell()
        if size > MOST_BYTES:
            os.replace(path, os.path.join(workspace.root, "local", BEFORE))
    except OSError:
        return None
    return path
