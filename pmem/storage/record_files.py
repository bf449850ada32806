"""The files of the records: which there are, what they hold, and what is wrong with them."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from pmem.errors import Damaged, FileNotRead, Locked, NotFound, Refused, StorageRefused, TooLarge
from pmem.storage.backend import Change, Problem
from pmem.storage.files import durable
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.lock import LOCK, writer_lock
from pmem.storage.files.recordfile import Stamp, parse, read_within, serialise
from pmem.values.bounds import RECORD_BYTES
from pmem.values.ids import is_id
from pmem.values.records import KINDS, STORES, Record

if TYPE_CHECKING:
    from pmem.storage.index.index import UnusableFile
    from pmem.storage.index.records import ReadRecord

R = TypeVar("R", bound=Record)
Seen = Stamp | bytes
"""What tells whether a file is as it was: its stamp, or a digest of what it holds."""
_MOMENT_SECONDS: Final = 0.1
_POLL_SECONDS: Final = 0.002
_LESS: Final = "say less in one record, or in several"


class RecordFiles:
    """The files of the records below a memory folder, an unfinished commit's among them.

    What a dead writer left is finished. A writer that lives holds the lock, and is not waited for:
    its files are read where they are. Where `foreign` says that `local` came with the project,
    nothing in it is used.

    Attributes:
        staged: For every path that an unfinished commit changes, the staged file; None if it goes.
        seen: While the writers' lock is held, the stamps of what was read since, and digests of
            what the index had of it: a commit sees what others have changed.
    """

    def __init__(
        self,
        root: str,
        local: str,
        most_bytes: Callable[[], int],
        foreign: Callable[[], str],
        problems: dict[str, Problem],
        *,
        read_only: bool,
    ) -> None:
        self._root = root
        self._local = local
        self._most_bytes = most_bytes
        self._foreign = foreign
        self._problems = problems
        self._read_only = read_only
        self.staged = self._find_staged()
        self.seen: dict[str, Seen] | None = None

    def read(self, type_: type[R], identifier: str) -> R:
        """Return a record.

        Raises:
            NotFound, Damaged, StorageRefused: See `Backend.read`.
        """
        if not is_id(identifier):
            raise NotFound(f"{identifier!r} is no id")
        path = self.path(type_, identifier)
        try:
            data, stamp = self._read_file(path)
        except FileNotFoundError:
            raise NotFound(f"there is no {KINDS[type_]} {identifier}") from None
        if self.seen is not None:  # a commit under the lock sees what has changed since
            self.seen[path] = stamp
        record = parse(data, type_, path)
        self._problems.pop(path, None)  # it was mended, if there was one
        return record

    @property
    def has_index(self) -> bool:
        """Whether an index may be kept beside the files, and could be believed."""
        closed = self._read_only or self.staged or os.path.islink(self._local)
        return not closed and not self._foreign()

    def folder(self, type_: type[Record]) -> str:
        """Return a store's folder.

        Raises:
            Damaged: It is a link.
        """
        folder = os.path.join(self._root, STORES[type_])
        if os.path.islink(folder):
            raise Damaged(f"{folder} is a link, not a store", "replace it by the folder")
        return folder

    def read_files(
        self, type_: type[Record], names: Iterable[str]
    ) -> "Iterator[tuple[str, ReadRecord | Problem | None]]":
        """Read records with their bytes, or say why a file cannot be used; None if it is gone."""
        from pmem.storage.index.records import ReadRecord

        within = os.path.join(self.folder(type_), "")
        for name in names:
            found = self._read_whole(f"{within}{name}{SUFFIX}", type_, name)
            yield name, ReadRecord(*found) if isinstance(found, tuple) else found

    def _read_whole(
        self, path: str, type_: type[Record], name: str
    ) -> tuple[Record, bytes] | Problem | None:
        try:
            if not is_id(name):
                raise Damaged(f"{path} has a name that is no id")
            data, _ = self._read_file(path)
            record = parse(data, type_, path)
        except FileNotFoundError:
            return None
        except (Damaged, StorageRefused) as error:
            self._problems[path] = Problem(path, error.code, error.message)
            return self._problems[path]
        self._problems.pop(path, None)
        return record, data

    def note_problems(self, type_: type[Record], found: "Mapping[str, UnusableFile]") -> None:
        """Note which files of a store cannot be used, by name, and that all others can."""
        self._forget_gone(self.folder(type_), {name + SUFFIX for name in found})
        for name, (code, message) in found.items():
            path = self.path(type_, name)
            self._problems[path] = Problem(path, code, message)

    def change_of(self, change: Change) -> durable.FileChange:
        """Return what a change means for its file.

        Raises:
            Locked: Others changed the file since it was read under the lock.
            Damaged, Refused: It cannot be used, or would be larger than any that is read.
        """
        if not is_id(change.id):
            raise Damaged(f"{change.id!r} is no id of a {KINDS[change.type]}")
        path = self.path(change.type, change.id)
        relative = record_file(STORES[change.type], change.id)
        seen = self.seen or {}
        previous = _unchanged(path, seen.get(path), self._most_bytes)
        if change.record is None:
            return durable.FileChange(relative, None)
        if previous is not None and path not in seen:
            raise Locked(f"{path} was made by another program meanwhile")
        data = serialise(change.record, previous, path)
        check_readable(data, change, path)
        return durable.FileChange(relative, data)

    def names(self, type_: type[Record]) -> list[str]:
        """Return the names of a store's files, an unfinished commit's among them."""
        folder = self.folder(type_)
        names = set(_list_files(folder))
        for path, file in self.staged.items():
            if os.path.dirname(path) == folder:
                name = {os.path.basename(path)}
                names = names | name if file else names - name
        self._forget_gone(folder, names)
        return sorted(name.removesuffix(SUFFIX) for name in names if name[0] != ".")

    def path(self, type_: type[Record], identifier: str) -> str:
        """Return a record's file."""
        return os.path.join(self.folder(type_), identifier + SUFFIX)

    def note_served(self, type_: type[Record], identifier: str, data: bytes) -> None:
        """Note what the index has of a record that somebody has read."""
        if self.seen is not None:
            self.seen.setdefault(self.path(type_, identifier), digest_of(data))

    def let_finish(self) -> None:
        """Give a writer a moment to come to the end of its commit."""
        until = time.monotonic() + _MOMENT_SECONDS
        while self.staged and not self._read_only and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            self.staged = self._find_staged()

    def finish_commit(self) -> None:
        """Roll an unfinished commit forward, if there is one. Hold the writers' lock."""
        if durable.pending(self._local):
            durable.finish(self._root, self._local)
        self.staged = {}

    def read_around(self) -> None:
        """Show all of a commit that was cut short."""
        self.staged = durable.staged_files(self._root, self._local)

    def _read_file(self, path: str) -> tuple[bytes, Stamp]:
        """Return what a record's file holds, or will hold once the commit is finished.

        Raises:
            FileNotFoundError: There is no such file, or the commit removes it.
            Damaged, StorageRefused: See `recordfile.read_bytes`.
        """
        if path not in self.staged:
            return read_within(path, self._most_bytes)
        staged = self.staged[path]
        if staged is None:
            raise FileNotFoundError(path)
        try:
            return read_within(staged, self._most_bytes)
        except FileNotFoundError:  # it has taken its place meanwhile
            return read_within(path, self._most_bytes)

    def _find_staged(self) -> dict[str, str | None]:
        if os.path.islink(self._local) or not durable.pending(self._local) or self._foreign():
            return {}
        if not self._read_only:
            try:
                with writer_lock(os.path.join(self._local, LOCK), 0.0):
                    durable.finish(self._root, self._local)
                return {}
            except (StorageRefused, Locked):
                pass
        return durable.staged_files(self._root, self._local)

    def _forget_gone(self, folder: str, names: set[str]) -> None:
        """Forget what was wrong with files of a store that are there no longer."""
        for path in list(self._problems):
            place, name = os.path.split(path)
            if place == folder and name not in names:
                self._problems.pop(path, None)


def _list_files(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(SUFFIX)]
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise Damaged(f"{folder} is a file, not a store", "replace it by the folder") from None
    except OSError as error:
        raise FileNotRead(f"{folder} cannot be read: {error.strerror}") from None


def check_readable(data: bytes, change: Change, path: str) -> None:
    """See that what is about to be written is read again.

    Raises:
        Refused: It is too large, holds too much, or is nested too deep.
    """
    try:
        if len(data) > RECORD_BYTES:
            raise TooLarge(f"{path} would have {len(data)} bytes, more than {RECORD_BYTES}")
        parse(data, change.type, path)
    except Damaged as error:
        raise Refused(f"{error.message}: nothing was changed", _LESS) from None


def _unchanged(path: str, seen: Seen | None, most_bytes: Callable[[], int]) -> bytes | None:
    """Return a file's bytes, if nobody else has touched it since we saw it."""
    try:
        data, stamp = read_within(path, most_bytes)
    except FileNotFoundError:
        if seen is not None:
            raise Locked(f"{path} was removed by another program meanwhile") from None
        return None
    now = digest_of(data) if isinstance(seen, bytes) else stamp
    if seen not in (None, now):
        raise Locked(f"{path} was changed by another program meanwhile")
    return data


def digest_of(data: bytes) -> bytes:
    """Return what tells the bytes of two files apart."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).digest()
