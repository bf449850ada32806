"""Asking git, without letting the project around us run anything."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

_SAFE: Final = (
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
)
_KEPT: Final = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_SECONDS: Final = 10


def ask(folder: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Run a git command that only reads.

    Args:
        folder: Where to run it.
        arguments: The command, without `git`.
        environment: The environment's variables; git's own are left out.

    Returns:
        What it printed, or None when there is no git, or git says no.
    """
    clean = {
        name: value
        for name, value in environment.items()
        if name in _KEPT or not name.startswith("GIT_")
    }
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and every argument is ours
            ["git", *_SAFE, *arguments],  # noqa: S607 - git is where the user has it
            cwd=folder,
            env=clean,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")


def user_name(folder: str, environment: Mapping[str, str]) -> str:
    """Return who works here: git's user.name, else the login, else nothing."""
    name = ask(folder, ["config", "--get", "user.name"], environment)
    if name and name.strip():
        return name.strip()
    return environment.get("LOGNAME") or environment.get("USER") or _login()


def _login() -> str:
    try:
        return os.getlogin()
    except OSError:
        return ""
