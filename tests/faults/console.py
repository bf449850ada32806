"""Running pmem as people do: within this process where that is enough, or for real."""

import io
import json
import os
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest import mock

from pmem.cli.app import run as run_app

PROGRAM = os.path.join(sysconfig.get_path("scripts"), "pmem")


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code, and what it printed."""

    code: int
    out: bytes
    err: str

    @property
    def data(self) -> Any:
        """The data of a `--json` answer."""
        answer = json.loads(self.out)
        assert answer["schema"] == "pmem/1"
        return answer["data"]

    @property
    def error(self) -> Any:
        """The error of a `--json` answer."""
        answer = json.loads(self.err.splitlines()[0])
        assert answer["schema"] == "pmem/1"
        assert self.out == b""
        return answer["error"]


def pmem(*arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> Done:
    """Run a command within this process, in the current folder."""
    out, err = io.BytesIO(), io.BytesIO()
    given = io.TextIOWrapper(io.BytesIO(stdin))
    stdout = io.TextIOWrapper(out, write_through=True)
    stderr = io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    with (
        mock.patch.dict(os.environ, dict(environment or {})),
        mock.patch("sys.stdin", given),
        mock.patch("os.fsync", _forget),  # without a power cut, nobody can tell
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        code = run_app(arguments)
        stdout.flush()
        stderr.flush()
    return Done(code, out.getvalue(), err.getvalue().decode())


def _forget(descriptor: int) -> None:
    """Stand in for fsync; a mock would note each call."""


def real(
    *arguments: str,
    stdin: bytes = b"",
    cwd: str | None = None,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> Done:
    """Run the installed executable."""
    done = subprocess.run(
        [*before, PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def added(content: str, *options: str) -> str:
    """Add a memory and return its id."""
    done = pmem("add", content, "--force", "--json", *options)
    assert done.code == 0, done.err
    identifier: str = done.data["memory"]["id"]
    return identifier


def bytes_of(root: str, *, local: bool = False) -> dict[str, bytes]:
    """Return what every file below a folder holds, by relative path.

    The index is left out, and unless the clone's own files are asked for the log of what ran, which
    notes what was refused as well.
    """
    unread = ("index.sqlite3",) if local else ("index.sqlite3", "operations.log")
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root):
        if not local and os.path.relpath(folder, root) == ".":
            folders[:] = [name for name in folders if name != "local"]
        for name in names:
            if name.startswith(unread):
                continue
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found
