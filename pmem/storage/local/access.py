"""Recalls that no record holds yet: an append-only log of this clone, never tracked.

A line is a time and the ids that were recalled then: `2026-11-22T05:00:00.000Z id id*3`, where
`id*3` stands for three recalls, and `id*0` for a use that is none. Whoever recalls appends one line
with one write and waits for nobody. Whoever folds the log into the records, or shortens it, first
moves it aside and then holds that file alone; a writer that still has it open notices, and takes
the new log instead.
"""

import os
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from typing import Final, NamedTuple

from pmem.errors import PmemError, ReadOnly
from pmem.storage.files import durable
from pmem.storage.files.lock import share
from pmem.values.ids import is_id
from pmem.values.records import Access

if os.name != "nt":
    import fcntl

FILE: Final = "access.log"
MOST_BYTES: Final = 2_000_000
"""Size from which whoever notes next shortens the log; twice that is never exceeded by more
than a line, whatever keeps it from being shortened."""
_MOST_READ: Final = 4 * MOST_BYTES
"""Nothing is appended to a log of half this size."""
MOST_COUNT: Final = 10**9 - 1
_COUNT_DIGITS: Final = 9
_FOLDER: Final = "local"
_ASIDE: Final = "access-"
_SUFFIX: Final = ".log"
_TRIES: Final = 20
_PAUSE_SECONDS: Final = 0.002
_SAFELY: Final = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
)
"""Through no link, into no other program, and without waiting for the other end of a pipe."""
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _SAFELY


class UnfoldedRecalls(NamedTuple):
    """What waits to be folded: recalls, of how many records, lines that cannot be used, bytes.

    `usable` is false where something else stands in the log's place.
    """

    recalls: int
    records: int
    damaged: int
    size: int
    usable: bool

    @property
    def is_sound(self) -> bool:
        """Whether every line can be used, and the log is not larger than it may get."""
        return not self.damaged and self.size <= 2 * MOST_BYTES


class AccessLog:
    """The recalls of one clone that are not yet in its records.

    What is there counts for nothing unless it `is_own`: written by this clone.

    Attributes:
        path: The log's file.
    """

    def __init__(self, root: str, *, read_only: bool = False, is_own: bool = True) -> None:
        self._root = root
        self._local = os.path.join(root, _FOLDER)
        self.path = os.path.join(self._local, FILE)
        self._read_only = read_only
        self._is_own = is_own

    def note(self, ids: Collection[str], at: datetime, *, count: int = 1) -> None:
        """Note that records were recalled, each once; where that fails, nothing happens.

        The moment is in UTC. A count of 0 is a use that is no recall.
        """
        if self._read_only or not ids:
            return
        try:
            if self._append(_line(at, dict.fromkeys(ids, count))) > MOST_BYTES:
                self.shorten()
        except (OSError, PmemError):
            return  # a recall must not fail because nobody can count it

    def known(self) -> dict[str, Access]:
        """Return how often and when last each record was recalled, by id.

        What another process is folding at this moment may be in it and in the records.
        """
        return self._read().known()

    def waiting(self) -> UnfoldedRecalls:
        """Say what waits to be folded, and whether the log is sound."""
        tally = self._read()
        usable = not os.path.islink(self._local) and _is_file(self.path) is not False
        counts = [count for count in tally.counts.values() if count]
        return UnfoldedRecalls(sum(counts), len(counts), tally.damaged, tally.size, usable)

    @contextmanager
    def folding(self) -> Iterator[dict[str, Access]]:
        """Take what is there; forget it if the body succeeds, and only then.

        What others note meanwhile stays for the next time, and what another process is folding
        is left to it. If this process dies after the body and before it could forget, the same
        is folded again: a recall that counts twice keeps a memory for a while, one that is lost
        could archive what is in use.

        Raises:
            ReadOnly: This run is read-only.
            StorageRefused: The disk or a file refused.
        """
        if self._read_only:
            raise ReadOnly()
        with ExitStack() as held:
            with durable.refusals(self._root):
                self._move_aside()
                taken = [path for path in self._asides() if _hold(path, held)]
                tally = _Tally()
                for path in taken:
                    tally.add(_bytes_of(path)[1])
            yield tally.known()
            with durable.refusals(self._root):
                for path in taken:
                    os.unlink(path)

    def keep(self, recalls: dict[str, Access]) -> None:
        """Put recalls that were taken by `folding` back; where that fails, nothing happens."""
        with suppress(OSError, PmemError):
            for line in _summary(recalls):
                self._append(line)

    def shorten(self) -> None:
        """Write the log anew, with one line for each record and without damaged lines.

        Raises:
            ReadOnly: This run is read-only.
            StorageRefused: The disk or a file refused; nothing is lost.
        """
        with self.folding() as known, durable.refusals(self._root):
            if known:
                durable.write_file(self._new_aside(), b"".join(_summary(known)))

    def _append(self, line: bytes) -> int:
        """Append a line unless the log is far too large, and return how large it was."""
        for _ in range(_TRIES):
            if os.path.islink(self._local):
                return 0
            descriptor = os.open(self.path, _APPEND, 0o666)
            try:
                if not share(descriptor):
                    continue  # it was moved aside after we opened it
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    return 0
                if status.st_size > 2 * MOST_BYTES:
                    return status.st_size
                if status.st_nlink > 1:
                    return 0
                if status.st_nlink:
                    os.write(descriptor, line)
                    return status.st_size
            finally:
                os.close(descriptor)
        return 0

    def _read(self) -> "_Tally":
        """Add up the log and what was moved aside; a file that is gone by then is looked for."""
        for _ in range(_TRIES):
            tally = _Tally()
            try:
                self._read_into(tally)
            except FileNotFoundError:
                continue
            except OSError:
                break
            return tally
        return _Tally()

    def _read_into(self, tally: "_Tally") -> None:
        if not self._is_own or os.path.islink(self._local):
            return
        seen = set()
        if _is_file(self.path):  # before the others: it may become one of them meanwhile
            file, data = _bytes_of(self.path)
            seen.add(file)
            tally.add(data)
        for path in self._asides():
            file, data = _bytes_of(path)
            if file not in seen:
                tally.add(data)

    def _asides(self) -> list[str]:
        """Return the files that were moved aside, and not forgotten yet."""
        try:
            names = os.listdir(self._local)
        except (FileNotFoundError, NotADirectoryError):
            return []
        paths = [
            os.path.join(self._local, name)
            for name in sorted(names)
            if name.startswith(_ASIDE) and name.endswith(_SUFFIX)
        ]
        return [path for path in paths if _is_file(path)]

    def _new_aside(self) -> str:
        return os.path.join(self._local, f"{_ASIDE}{os.urandom(8).hex()}{_SUFFIX}")

    def _move_aside(self) -> None:
        if os.path.islink(self._local) or not _is_file(self.path):
            return
        try:
            os.rename(self.path, self._new_aside())
        except FileNotFoundError:
            return  # another process was quicker


class _Tally:
    """Recalls added up: how often and when last, by id."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.damaged = 0
        self.size = 0
        self._last: dict[str, datetime] = {}

    def add(self, data: bytes) -> None:
        """Add a file's lines; one that is damaged or has no end is left out."""
        *lines, torn = data.split(b"\n")
        self.size += len(data)
        self.damaged += bool(torn)
        for line in lines:
            parsed = _parse_line(line)
            if parsed is None:
                self.damaged += 1
                continue
            at, counts = parsed
            for identifier, count in counts.items():
                known = self.counts.get(identifier, 0)
                self.counts[identifier] = min(known + count, MOST_COUNT)
                self._last[identifier] = max(self._last.get(identifier, at), at)

    def known(self) -> dict[str, Access]:
        """Return the sums."""
        return {
            identifier: Access(count=count, last_at=self._last[identifier])
            for identifier, count in self.counts.items()
        }


def _line(at: datetime, counts: dict[str, int]) -> bytes:
    stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    words = [f"{id_}*{count}" if count != 1 else id_ for id_, count in counts.items()]
    return f"{' '.join((stamp, *words))}\n".encode()


def _summary(known: dict[str, Access]) -> Iterator[bytes]:
    for identifier, access in sorted(known.items()):
        assert access.last_at is not None
        yield _line(access.last_at, {identifier: access.count})


def _parse_line(line: bytes) -> tuple[datetime, dict[str, int]] | None:
    """Read a line; None where anything in it is not as it was written."""
    try:
        stamp, *words = line.decode("ascii").split(" ")
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    counts: dict[str, int] = {}
    for word in words:
        identifier, star, digits = word.partition("*")
        if not is_id(identifier) or (star and not _is_count(digits)):
            return None
        counts[identifier] = counts.get(identifier, 0) + (int(digits) if star else 1)
    return (at, counts) if counts and stamp.endswith("Z") else None


def _is_count(digits: str) -> bool:
    return digits.isdecimal() and len(digits) <= _COUNT_DIGITS


def _is_file(path: str) -> bool | None:
    """Tell whether there is a file, neither link nor folder nor pipe; None if there is nothing."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return None


def _bytes_of(path: str) -> tuple[tuple[int, int], bytes]:
    """Return which file it is, whatever it is called, and what it holds: more than is written."""
    with open(os.open(path, os.O_RDONLY | _SAFELY), "rb") as file:
        status = os.fstat(file.fileno())
        return (status.st_dev, status.st_ino), file.read(_MOST_READ)


def _hold(path: str, held: ExitStack) -> bool:
    """Hold a file alone until the stack ends; false if another process has it or removed it.

    Whoever appends to it is done in no time, so a short while is waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | _SAFELY)
    except OSError:
        return False
    held.callback(os.close, descriptor)
    if os.name == "nt":
        return True
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
            continue
        except OSError:  # a file system without locks
            pass
        return os.fstat(descriptor).st_nlink > 0
    return False
