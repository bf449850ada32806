"""A real shell on a terminal of its own, with somebody who types."""

import os
import pty
import re
import select
import shlex
import signal
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_SECONDS: Final = 30.0
_ORDERS: Final = re.compile(
    r"\x1b(?:\[[0-9;?>=]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>()][0B]?)"
)
READY: Final = "ready> "


class Terminal:
    """An interactive shell."""

    def __init__(self, command: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # runs in the background ignore it
            os.chdir(folder)
            os.execvpe(command[0], list(command), dict(environment))
        ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
        self._seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        type_: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._terminal)
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)

    def run(self, line: str, until: str = READY) -> str:
        """Type a command, and return what it shows until it ends, or asks."""
        self.type(f"{line}; echo =$?=\n")
        self.wait_for("\n")
        return self.wait_for(until)

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def wait_for(self, words: str) -> str:
        """Read until words are on the screen; return all since the last call up to them."""
        until = time.monotonic() + _SECONDS
        while words not in self._plain():
            if time.monotonic() > until:
                raise AssertionError(f"{words!r} did not come: {self._plain()!r}")
            self._read(0.2)
        before, _, self._seen = self._plain().partition(words)
        return before

    def settle(self, quiet: float = 0.5) -> str:
        while self._read(quiet):
            pass
        found, self._seen = self._plain(), ""
        return found

    def _plain(self) -> str:
        return _ORDERS.sub("", self._seen).replace("\r", "").replace("\x07", "")

    def _read(self, seconds: float) -> bool:
        if not select.select([self._terminal], [], [], seconds)[0]:
            return False
        try:
            self._seen += os.read(self._terminal, 65536).decode("utf-8", "replace")
        except OSError:
            return False
        return True


@contextmanager
def shell_with_editor(folder: Path, script: str, **more: str) -> Iterator[Terminal]:
    """Open a shell in a folder, where the editor is a script of ours."""
    editor = folder / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    environment = {"EDITOR": shlex.quote(str(editor)), "PS1": READY, "PMEM_ACTOR": "ada", **more}
    with Terminal(["/bin/sh"], str(folder), {**os.environ, **environment}) as shell:
        shell.wait_for(READY)
        yield shell
