"""The files of the records: which there are, what they hold, and what is wrong with them."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from pmem.errors import Damaged, FileNotRead, Locked, NotFound, Refused, StorageRefused, TooLarge
from pmem.storage.backend import Change, Problem
from pmem.storage.files import durable
from pmem.storage.files.listing import SUFFIX
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
_LESS: Final = "say less in one record, or in several"


class RecordFiles:
    """The files of the records below a memory folder, an unfinished commit's among them.

    Args:
        root: The memory folder.
        local: Its untracked folder.
        most_bytes: Returns the bytes of the largest file that is read, whoever wrote it.
        read_only: Write nothing at all.
        foreign: Says that `local` came with the project, if it did: then nothing in it is used.
        problems: What is wrong with files, by path; one that is read leaves.

    Attributes:
        staged: The files of an unfinished commit.
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
        within = partial(read_within, most_bytes=most_bytes)
        self.staged = UnfinishedCommit(root, local, within, foreign, read_only=read_only)
        self.seen: dict[str, Seen] | None = None

    def read(self, type_: type[R], identifier: str) -> R:
        """Return a record.

        Raises:
            NotFound, Damaged, StorageRefused: See `Backend.read`.
        """
        if not is_id(identifier):
            raise NotFound(f"{identifier!r} is no id")
        return self._read_from(type_, self.path(type_, identifier))

    def usable(self, type_: type[R], name: str) -> R | None:
        """Read a record, or note why its file cannot be used."""
        path = self.path(type_, name)
        try:
            if not is_id(name):
                raise Damaged(f"{path} has a name that is no id")
            return self._read_from(type_, path)
        except NotFound:
            return None
        except (Damaged, StorageRefused) as error:
            self._problems[path] = Problem(path, error.code, error.message)
            return None

    @property
    def has_index(self) -> bool:
        """Whether an index may be kept beside the files, and could be believed."""
        closed = self._read_only or self.staged.files or os.path.islink(self._local)
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

    def read_file(self, type_: type[Record], name: str) -> "ReadRecord | Problem | None":
        """Read a record with its bytes, or say why its file cannot be used; None if it is gone."""
        from pmem.storage.index.records import ReadRecord

        path = self.path(type_, name)
        try:
            if not is_id(name):
                raise Damaged(f"{path} has a name that is no id")
            data, _ = self.staged.read(path)
            record = parse(data, type_, path)
        except FileNotFoundError:
            return None
        except (Damaged, StorageRefused) as error:
            self._problems[path] = Problem(path, error.code, error.message)
            return self._problems[path]
        self._problems.pop(path, None)
        return ReadRecord(record, data)

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
        relative = f"{STORES[change.type]}/{change.id}{SUFFIX}"
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
        names = self.staged.names(folder, _list_files(folder))
        self._forget_gone(folder, names)
        return sorted(name.removesuffix(SUFFIX) for name in names if name[0] != ".")

    def path(self, type_: type[Record], identifier: str) -> str:
        """Return a record's file."""
        return os.path.join(self.folder(type_), identifier + SUFFIX)

    def note_served(self, type_: type[Record], identifier: str, data: bytes) -> None:
        """Note what the index has of a record that somebody has read."""
        if self.seen is not None:
            self.seen.setdefault(self.path(type_, identifier), digest_of(data))

    def _read_from(self, type_: type[R], path: str) -> R:
        try:
            data, stamp = self.staged.read(path)
        except FileNotFoundError:
            name = os.path.basename(path).removesuffix(SUFFIX)
            raise NotFound(f"there is no {KINDS[type_]} {name}") from None
        if self.seen is not None:  # a commit under the lock sees what has changed since
            self.seen[path] = stamp
        record = parse(data, type_, path)
        self._problems.pop(path, None)  # it was mended, if there was one
        return record

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


_MOMENT_SECONDS: Final = 0.1
_POLL_SECONDS: Final = 0.002


class UnfinishedCommit:
    """The files of an unfinished commit, if there is one; what a dead writer left is finished.

    A writer that lives holds the lock. It is not waited for: its files are read where they are.

    Attributes:
        files: For every path that the commit changes, the staged file, or None if it goes.
    """

    def __init__(
        self,
        root: str,
        local: str,
        read_file: Callable[[str], tuple[bytes, Stamp]],
        foreign: Callable[[], str],
        *,
        read_only: bool,
    ) -> None:
        self._root = root
        self._local = local
        self._read_file = read_file
        self._foreign = foreign
        self._read_only = read_only
        self.files = self._looked()

    def let_finish(self) -> None:
        """Give a writer a moment to come to the end of its commit."""
        until = time.monotonic() + _MOMENT_SECONDS
        while self.files and not self._read_only and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            self.files = self._looked()

    def finish(self) -> None:
        """Roll the commit forward, if there is one. Hold the writers' lock."""
        if durable.pending(self._local):
            durable.finish(self._root, self._local)
        self.files = {}

    def read_around(self) -> None:
        """Show all of a commit that was cut short."""
        self.files = durable.staged_files(self._root, self._local)

    def names(self, folder: str, listed: Iterable[str]) -> set[str]:
        """Return the names of a folder's files once the commit is finished, of those listed now."""
        names = set(listed)
        for path, file in self.files.items():
            if os.path.dirname(path) == folder:
                name = {os.path.basename(path)}
                names = names | name if file else names - name
        return names

    def read(self, path: str) -> tuple[bytes, Stamp]:
        """Return what a record's file holds, or will hold once the commit is finished.

        Raises:
            FileNotFoundError: There is no such file, or the commit removes it.
            Damaged, StorageRefused: See `recordfile.read_bytes`.
        """
        if path not in self.files:
            return self._read_file(path)
        staged = self.files[path]
        if staged is None:
            raise FileNotFoundError(path)
        try:
            return self._read_file(staged)
        except FileNotFoundError:  # it has taken its place meanwhile
            return self._read_file(path)

    def _looked(self) -> dict[str, str | None]:
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
