"""What fault tests share: file systems of their own."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Mount = Callable[[str], str]


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator[Mount]:
    """Return what mounts a file system of a size and returns its folder."""
    mounted: list[str] = []

    def mount(size: str) -> str:
        folder = str(tmp_path / f"disk{len(mounted)}")
        os.mkdir(folder)
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"mounting is not allowed here: {done.stderr.decode().strip()}")
        mounted.append(folder)
        return folder

    yield mount
    os.chdir(tmp_path)  # a folder that someone is in cannot be unmounted
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)
