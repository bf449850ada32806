"""The log of what ran: lines of JSON in this clone, never tracked, and without any text.

A line is appended with one write that waits for nothing. A log that has grown large is put aside
in place of the one before it, so that two files are the most. Nothing that goes wrong with it
reaches whoever ran something.
"""

import os
import stat
from collections.abc import Iterable
from typing import Final

import msgspec

from pmem.core.lines import file_lines
from pmem.core.operations import LoggedOperation
from pmem.values.records import dump_line

FILE: Final = "operations.log"
BEFORE: Final = "operations.1.log"
MOST_BYTES: Final = 1_000_000
"""Size from which whoever writes next begins a new log."""
_FOLDER: Final = "local"
_SAFELY: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _SAFELY


class LineLog:
    """Lines that are appended, and put aside once there are many."""

    def __init__(self, folder: str, name: str, before: str) -> None:
        self._local = folder
        self._path = os.path.join(folder, name)
        self._before = os.path.join(folder, before)

    def append(self, data: bytes) -> None:
        """Write whole lines with one write; where that fails, nothing happens."""
        if not data or os.path.islink(self._local):
            return
        try:
            descriptor = os.open(self._path, _APPEND, 0o666)
            try:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                    os.write(descriptor, data)
            finally:
                os.close(descriptor)
            if status.st_size + len(data) > MOST_BYTES and stat.S_ISREG(status.st_mode):
                os.replace(self._path, self._before)
        except OSError:
            return

    @property
    def size(self) -> int:
        """How many bytes were appended, of those that are still there."""
        paths = (self._before, self._path)
        return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))

    def lines(self) -> list[bytes]:
        """Return the lines, the latest last."""
        return [line for path in (self._before, self._path) for line in self._read(path)]

    def _read(self, path: str) -> list[bytes]:
        if os.path.islink(self._local):
            return []
        try:
            descriptor = os.open(path, os.O_RDONLY | _SAFELY)
            with open(descriptor, "rb") as file:
                return file_lines(file.read(4 * MOST_BYTES))
        except OSError:
            return []


class Operations:
    """What ran in one clone."""

    def __init__(self, root: str) -> None:
        self._log = LineLog(os.path.join(root, _FOLDER), FILE, BEFORE)

    def note(self, operations: Iterable[LoggedOperation]) -> None:
        """Note what ran; where that fails, nothing happens."""
        self._log.append(b"".join(dump_line(item) + b"\n" for item in operations))

    def all(self) -> list[LoggedOperation]:
        """Return what ran, the latest last; lines that cannot be used are left out."""
        found = []
        for line in self._log.lines():
            try:
                found.append(msgspec.json.decode(line, type=LoggedOperation))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
        return found
