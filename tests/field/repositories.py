"""Repositories as tests of the field need them."""

import os
import subprocess
from pathlib import Path
from typing import Final

from tests.faults.console import pmem

_NAMED: Final = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
_ALLOWED: Final = ("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main")


def git(*words: str) -> str:
    """Run git in the current folder, and return what it prints."""
    done = subprocess.run(
        ["git", *_NAMED, *_ALLOWED, *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def commit(message: str = "Work") -> None:
    """Commit all that is in the work tree."""
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


def begin(folder: Path, *texts: str) -> Path:
    """Make a repository with a committed memory, and go there."""
    folder.mkdir()
    os.chdir(folder)
    git("init", "--quiet", "--initial-branch=main")
    assert pmem("init", "--quiet").code == 0
    for text in texts:
        assert pmem("add", text, "--force").code == 0
    commit()
    return folder
