"""Two logs of this clone, never tracked: what ran, and which commands changed records.

Both are lines of JSON, each appended with one write that waits for nothing. A log that has grown
large is put aside in place of the one before it, so that two files are the most. Neither has any
text of a record. By the second, commands can be taken back: of each record it has which events a
command left in its history, by digests. A command that was killed before it was noted is not in
it. Nothing that goes wrong with a log reaches whoever ran something.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeVar

import msgspec

from pmem.core.lines import file_lines
from pmem.core.operations import LoggedOperation
from pmem.values.records import Event, Part, Standing, Time, dump_line
from pmem.values.times import iso

OPERATIONS_FILE: Final = "operations.log"
OPERATIONS_BEFORE: Final = "operations.1.log"
MOST_BYTES: Final = 1_000_000
"""Size from which whoever writes next begins a new log."""
COMMANDS_FILE: Final = "commands.log"
_COMMANDS_BEFORE: Final = "commands.1.log"
_DIGEST_BYTES: Final = 8
_FEW_BYTES: Final = 4096
"""A log that is larger has commands that changed records; a smaller one is quick to read."""
_FOLDER: Final = "local"
_SAFELY: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _SAFELY

T = TypeVar("T")


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

    def values(self, type_: type[T]) -> Iterator[T]:
        """Yield what the lines say, the latest last; lines that cannot be used are left out."""
        for path in (self._before, self._path):
            for line in self._read(path):
                try:
                    yield msgspec.json.decode(line, type=type_)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    continue

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
        self._log = LineLog(os.path.join(root, _FOLDER), OPERATIONS_FILE, OPERATIONS_BEFORE)

    def note(self, operations: Iterable[LoggedOperation]) -> None:
        """Note what ran; where that fails, nothing happens."""
        self._log.append(b"".join(dump_line(item) + b"\n" for item in operations))

    def all(self) -> list[LoggedOperation]:
        """Return what ran, the latest last; lines that cannot be used are left out."""
        return list(self._log.values(LoggedOperation))


class LoggedChange(Part, frozen=True, kw_only=True):
    """A record that a command changed: the events that it left there, and whether it is new.

    Of a record that was deleted for good there are no events. `place` is how many events were in
    its history before these. `turns` are how many messages an imported conversation had before,
    and after that.
    """

    kind: Literal["memory", "episode", "conversation"]
    id: str
    events: tuple[str, ...]
    is_new: bool = False
    place: int | None = None
    turns: tuple[int, int] | None = None


class LoggedFact(Part, frozen=True, kw_only=True):
    """A fact that a command promoted or rejected: the short part of its id, and what it became."""

    fact: str
    standing: Standing
    memory: str | None = None


class LoggedCommand(Part, frozen=True, kw_only=True):
    """A command: when it ended, which operation it was, what it changed.

    `facts` are those that it promoted or rejected. `beyond` says that it also changed what keeps no
    earlier values, as what is said in a conversation or settings, `forgot` that it forgot what no
    record has, and `is_final` that none of it can be taken back. `took_back` names the commands
    that it took back.
    """

    at: Time
    operation: str
    changes: tuple[LoggedChange, ...] = ()
    facts: tuple[LoggedFact, ...] = ()
    beyond: bool = False
    forgot: bool = False
    is_final: bool = False
    took_back: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it took nothing back, and leaves nothing to take back or to be told of."""
        return not (self.changes or self.facts or self.forgot or self.is_final or self.took_back)

    @property
    def key(self) -> str:
        """What names it among the commands of the clone."""
        if not self.changes:
            named = self.facts[0].fact if self.facts else "gone"
            return f"{self.operation}:{iso(self.at)}:{named}"
        first = self.changes[0]
        last = first.events[-1] if first.events else "gone"
        return f"{first.id}:{first.turns[1] if first.turns else last}"


class Commands:
    """The commands of one clone."""

    def __init__(self, root: str) -> None:
        self._log = LineLog(os.path.join(root, _FOLDER), COMMANDS_FILE, _COMMANDS_BEFORE)

    def note(self, command: LoggedCommand) -> None:
        """Note a command; where that fails, nothing happens."""
        self._log.append(dump_line(command) + b"\n")

    @property
    def has_changes(self) -> bool:
        """Whether a command that changed records was noted."""
        return self._log.size > _FEW_BYTES or any(it.changes or it.facts for it in self.all())

    def all(self) -> Sequence[LoggedCommand]:
        """Return the commands, the latest last; lines that cannot be used are left out."""
        return [one for one in self._log.values(LoggedCommand) if not one.is_empty]


def digest_of(event: Event) -> str:
    """Return what an event is known by in the log."""
    from hashlib import blake2b  # few commands take a digest

    return blake2b(dump_line(event), digest_size=_DIGEST_BYTES).hexdigest()
