"""A small shell for tests: `pmem` runs in this process, everything else through sh."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from unittest import mock

from pmem.cli.app import run

START = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
BIN = os.path.dirname(sys.executable)
_SHELL_SIGNS = re.compile(r"[|&;<>$`*\\]|\n")
_ASSIGNMENT = re.compile(r"([A-Z_]+)=(.*)", re.DOTALL)
_SECONDS = 60
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Outcome(NamedTuple):
    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def said(self) -> str:
        return self.err.decode()


def pmem(*arguments: str, stdin: bytes = b"", environment: Mapping[str, str] = NOTHING) -> Outcome:
    """Run one command line in this process, with streams that are no terminal."""
    given, out, err = (io.BytesIO(data) for data in (stdin, b"", b""))
    streams = {
        "stdin": io.TextIOWrapper(given, encoding="utf-8", errors="surrogateescape"),
        "stdout": io.TextIOWrapper(out, encoding="utf-8", newline="\n"),
        "stderr": io.TextIOWrapper(err, encoding="utf-8", newline="\n", errors="backslashreplace"),
    }
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, environment))
        for name, stream in streams.items():
            stack.enter_context(mock.patch.object(sys, name, stream))
        code = run(list(arguments))
        streams["stdout"].flush()
        streams["stderr"].flush()
    return Outcome(code, out.getvalue(), err.getvalue())


def data_of(*arguments: str, stdin: bytes = b"", environment: Mapping[str, str] = NOTHING) -> Any:
    """Return the data of an answer in JSON."""
    done = pmem(*arguments, "--json", stdin=stdin, environment=environment)
    assert done.code == 0, done.said
    return json.loads(done.out)["data"]


class Shell:
    """A place to run command lines in, with a clock that moves a minute for each."""

    def __init__(
        self, folder: str, *, real: bool = False, actor: str | None = "ada", start: datetime = START
    ) -> None:
        self.folder = folder
        self.real = real
        self.actor = actor
        self.start = start
        self._commands = 0

    def run(self, line: str, stdin: str = "") -> Outcome:
        """Run one line."""
        self._commands += 1
        now = self.start + timedelta(minutes=self._commands)
        environment = {"PMEM_NOW": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "COLUMNS": "80"}
        if self.actor is not None:
            environment["PMEM_ACTOR"] = self.actor
        words = [] if _SHELL_SIGNS.search(_unquoted(line)) else shlex.split(line)
        while words and (found := _ASSIGNMENT.fullmatch(words[0])):
            environment[found[1]] = found[2]
            words = words[1:]
        if words[:1] == ["cd"]:
            self.folder = os.path.join(self.folder, words[1])
            return Outcome(0, b"", b"")
        if words[:1] == ["pmem"] and not self.real:
            with _inside(self.folder):
                return pmem(*words[1:], stdin=stdin.encode(), environment=environment)
        return through_sh(line, self.folder, environment, stdin.encode())

    def in_a_copy(self, folder: str) -> "Shell":
        """Return a shell in a copy of this one's folder, at the same time of day."""
        copy = Shell(folder, real=self.real, actor=self.actor, start=self.start)
        copy._commands = self._commands
        return copy


def through_sh(
    line: str, folder: str, environment: Mapping[str, str] = NOTHING, stdin: bytes = b""
) -> Outcome:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, **environment, "PATH": path},
        input=stdin,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def installed(
    arguments: Sequence[str | bytes],
    environment: Mapping[str, str | bytes] = NOTHING,
    stdin: bytes = b"",
) -> Outcome:
    done = subprocess.run(
        [os.path.join(BIN, "pmem"), *arguments],
        env={**os.environ, **environment},
        input=stdin,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def new_repository(folder: str) -> str:
    subprocess.run(["git", "init", "--quiet", folder], check=True, timeout=_SECONDS)
    return folder


def _unquoted(line: str) -> str:
    """Leave out what single quotes, or double ones without `$` and backquotes, protect."""
    return re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", line)


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
