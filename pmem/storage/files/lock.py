"""One writer at a time: an advisory lock on a file that is never removed."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pmem.errors import Damaged, Locked, StorageRefused

if os.name != "nt":
    import fcntl

LOCK = "lock"
"""The lock's file, in a memory folder's untracked one."""
_POLL_SECONDS = 0.005
_LONGEST_POLL_SECONDS = 0.05
_PATIENT_SECONDS = 1.0
"""From then on a writer asks more often than those who came after it, or it might wait for ever."""


@contextmanager
def writer_lock(path: str, timeout: float) -> Iterator[None]:
    """Hold the writers' lock.

    The operating system frees it when its holder dies, however that happens. Where flock
    exists it is taken directly: it is the very lock that filelock takes there, without the
    cost of importing filelock on every write.

    Raises:
        Locked: Another process kept it past the time-out.
        Damaged: The file is a link.
        StorageRefused: The file cannot be opened for writing.
    """
    if os.name == "nt":
        with _portable(path, timeout):
            yield
        return
    descriptor = _open(path)
    try:
        _wait(descriptor, path, timeout)
        yield
    finally:
        os.close(descriptor)


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if os.path.islink(path):
            raise Damaged(f"{path} is a link, not a lock file", "remove the link") from None
        raise StorageRefused(f"{path} cannot be locked: {error.strerror}") from None


def _wait(descriptor: int, path: str, timeout: float) -> None:
    begun = time.monotonic()
    pause = _POLL_SECONDS
    while not _try(descriptor, path):
        waited = time.monotonic() - begun
        if waited >= timeout:
            raise _late(path, timeout)
        pause = min(pause * 1.5, _LONGEST_POLL_SECONDS)
        time.sleep(pause if waited < _PATIENT_SECONDS else _POLL_SECONDS)


def _try(descriptor: int, path: str) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise StorageRefused(f"{path} cannot be locked: {error.strerror}") from None
    return True


def _late(path: str, timeout: float) -> Locked:
    return Locked(f"another writer has held {path} for more than {timeout:g} s")


@contextmanager
def _portable(path: str, timeout: float) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        with FileLock(path, timeout=timeout):
            yield
    except Timeout:
        raise _late(path, timeout) from None


_MOUNTS: Final = "/proc/self/mountinfo"
_SHARED: Final = frozenset(
    "9p afs ceph cifs coda davfs glusterfs lustre ncpfs nfs nfs4 smb2 smb3 smbfs vboxsf"
    " vmhgfs".split()
)
"""Kinds that several computers may have mounted at once."""
_USER: Final = "fuse"


def kind_of(folder: str, mounts: str = _MOUNTS) -> str | None:
    """Return a folder's kind of file system, such as `ext4`; None where nobody tells."""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.split(" ") for line in file]
    except OSError:
        return None
    place = os.path.realpath(folder)
    found: tuple[int, str] | None = None
    for words in lines:
        if "-" not in words[6:]:
            continue
        point = _unescaped(words[4])
        if f"{place}/".startswith(f"{point.rstrip('/')}/"):
            kind = words[words.index("-", 6) + 1]
            if found is None or len(point) >= found[0]:  # the latest mount hides earlier ones
                found = (len(point), kind)
    return found and found[1]


def is_shared(kind: str) -> bool:
    """Tell whether a lock on such a file system may not exclude other computers."""
    return kind in _SHARED or kind == _USER or kind.startswith(f"{_USER}.")


def _unescaped(text: str) -> str:
    """Read a path of the table, in which blanks and backslashes are octal escapes."""
    for octal, letter in (("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")):
        text = text.replace(f"\\{octal}", letter)
    return text


def share(descriptor: int) -> bool:
    """Take part in a log, without waiting; false if somebody holds it alone."""
    if os.name == "nt":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
