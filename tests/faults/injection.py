"""Making the n-th call that writes, renames, syncs or locks fail, or end the process.

Both the calls that pmem makes through `os` and `fcntl` and those that SQLite makes itself count;
calls that only read do not.
"""

import errno
import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest import mock

from tests.faults import sqlite_calls
from tests.storage.faults import Act, Counter, failing

CALLS: Final = (
    "open write fsync chmod replace rename unlink remove mkdir rmdir truncate ftruncate".split()
)
FAULTS: Final = {
    name: getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EIO", "EACCES", "EROFS", "EMFILE")
}
"""What the system may answer to any call."""
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_DIRECTORY
_LOCKING: Final = (fcntl.F_SETLK, fcntl.F_SETLKW)
_SQLITE: Final = "sqlite "


@contextmanager
def injected(
    at: int, act: Act, *, from_then_on: bool = False, in_sqlite: bool = True
) -> Iterator[Counter]:
    """Do something before the n-th call, counted from one; the call happens if that returns."""
    counter = Counter()

    def visit(name: str, args: tuple[Any, ...]) -> None:
        if changes_something(name, args):
            counter.calls += 1
            if counter.calls == at or (from_then_on and counter.calls > at > 0):
                act(name, args)

    with ExitStack() as patches:
        for name in CALLS:
            replaced = _visited(name, getattr(os, name), visit)
            patches.enter_context(mock.patch.object(os, name, replaced))
        patches.enter_context(mock.patch.object(fcntl, "flock", _visited("flock", _flock, visit)))
        if in_sqlite:
            patches.enter_context(sqlite_calls.hooked(visit))
        yield counter


def changes_something(name: str, args: tuple[Any, ...]) -> bool:
    """Tell whether a call writes, renames, syncs or locks, and does not only read."""
    bare = name.removeprefix(_SQLITE)
    if bare == "open":
        return bool(args[1] & _WRITING)
    if bare == "fcntl":
        return args[1] in _LOCKING and args[2] != fcntl.F_UNLCK
    return True


def error(name: str) -> Act:
    """Return what lets a call fail as the system does, by the error's name."""
    return failing(FAULTS[name])


def interrupt(name: str, args: tuple[Any, ...]) -> None:
    """Do what Ctrl-C does; not within SQLite, where Python would only notice afterwards."""
    raise KeyboardInterrupt


def death(name: str, args: tuple[Any, ...]) -> None:
    """End the process for good, half of what it was writing on the disk."""
    if "write" in name:
        descriptor, data, *place = args
        half = data[: len(data) // 2]
        os.pwrite(descriptor, half, *place) if place else _write(descriptor, half)
    os._exit(137)


@contextmanager
def half_written(name: str, args: tuple[Any, ...]) -> Iterator[None]:
    """Let a file be for a moment as `death` leaves it; other calls leave nothing."""
    if "write" not in name:
        yield
        return
    descriptor, data, *place = args
    half = data[: len(data) // 2]
    with open(f"{_DESCRIPTORS}/{descriptor}", "r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        at = place[0] if place else _position(descriptor, size)
        before = os.pread(file.fileno(), len(half), at)
        os.pwrite(file.fileno(), half, at)
        yield
        os.pwrite(file.fileno(), before, at)
        _truncate(file.fileno(), size)


def can_look_between() -> bool:
    """Tell whether `half_written` works on this system."""
    return os.path.isdir(_DESCRIPTORS)


def _position(descriptor: int, size: int) -> int:
    appends = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
    return size if appends else os.lseek(descriptor, 0, os.SEEK_CUR)


def termination(name: str, args: tuple[Any, ...]) -> None:
    """Do what `kill` does to a process that handles no signal."""
    os.kill(os.getpid(), signal.SIGTERM)


def _visited(name: str, original: Callable[..., Any], visit: sqlite_calls.Visit) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        visit(name, args)
        return original(*args, **kwargs)

    return call


_flock = fcntl.flock
_write = os.write
_truncate = os.ftruncate
_DESCRIPTORS: Final = "/proc/self/fd"
