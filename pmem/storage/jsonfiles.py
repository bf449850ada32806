"""The default backend: one JSON file per record, in a folder per store."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from pmem.core.filters import EVERYTHING, Filter, judge_of
from pmem.errors import Damaged, Locked, NotFound, Refused, StorageRefused, TooLarge
from pmem.storage.backend import (
    Change,
    Holders,
    Problem,
    holders_among,
    pool_of,
    twin_keys,
    word_keys_of,
)
from pmem.storage.files import durable
from pmem.storage.files.listing import SUFFIX, FolderListing, look
from pmem.storage.files.lock import LOCK, writer_lock
from pmem.storage.files.recordfile import Stamp, parse, read_within, serialise, stamp_of
from pmem.storage.files.unfinished import UnfinishedCommit
from pmem.storage.git.tracked import HINT, LOCAL
from pmem.storage.index.errors import BrokenIndex
from pmem.storage.index.index import FILE as INDEX
from pmem.storage.index.index import Index, IndexRow
from pmem.storage.shared import Shared
from pmem.values.bounds import RECORD_BYTES
from pmem.values.ids import is_id, matches
from pmem.values.records import KINDS, STORES, Record

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import DocumentKey, Pool
    from pmem.storage.index.search import SearchIndex

SEARCH: Final = "search.sqlite3"
VECTORS: Final = "vectors.sqlite3"
STATE: Final = "state.sqlite3"
_LESS: Final = "say less in one record, or in several"


R = TypeVar("R", bound=Record)
T = TypeVar("T")


class JsonFiles:
    """Records as files below a memory folder.

    Args:
        root: The memory folder.
        lock_timeout: Returns the seconds that `lock` waits for another writer.
        most_bytes: Returns the bytes of the largest file that is read, whoever wrote it.
        read_only: Write nothing at all, not even what could be made again.
        shared: What the process keeps of the folder; nothing so far when None.
        foreign: Says that `local` came with the project, if it did: then nothing in it is used.

    It is one thread's at a time.
    """

    def __init__(
        self,
        root: str,
        *,
        lock_timeout: Callable[[], float],
        most_bytes: Callable[[], int] = lambda: RECORD_BYTES,
        read_only: bool = False,
        shared: Shared | None = None,
        foreign: Callable[[], str] = str,
    ) -> None:
        self._root = root
        self._local = os.path.join(root, LOCAL)
        self._timeout = lock_timeout
        self._most_bytes = most_bytes
        self._read_only = read_only
        self._shared = shared or Shared()
        self._problems = self._shared.problems
        self._foreign = foreign
        self._seen: dict[str, Stamp] = {}
        self._index: Index | None = None
        self._looked: set[type[Record]] = set()
        read_file = partial(read_within, most_bytes=most_bytes)
        self._staged = UnfinishedCommit(root, self._local, read_file, foreign, read_only=read_only)
        self._problems.pop(self._local, None)
        if against := foreign():
            self._problems[self._local] = Problem(self._local, "tracked", against)

    @property
    def problems(self) -> Sequence[Problem]:
        return list(self._problems.values())

    def ids(self, type_: type[Record], reference: str = "") -> list[str]:
        return [name for name in self._names(type_) if is_id(name) and matches(reference, name)]

    def read(self, type_: type[R], identifier: str) -> R:
        if not is_id(identifier):
            raise NotFound(f"{identifier!r} is no id")
        return self._read_from(type_, self._path(type_, identifier))

    def _read_from(self, type_: type[R], path: str) -> R:
        try:
            data, stamp = self._staged.read(path)
        except FileNotFoundError:
            name = os.path.basename(path).removesuffix(SUFFIX)
            raise NotFound(f"there is no {KINDS[type_]} {name}") from None
        if self._index is not None:  # a commit under the lock sees what has changed since
            self._seen[path] = stamp
        record = parse(data, type_, path)
        self._problems.pop(path, None)  # it was mended, if there was one
        return record

    def scan(self, type_: type[R], wanted: Filter = EVERYTHING) -> Iterator[R]:
        within = os.path.join(self._folder(type_), "")
        judge = judge_of(wanted)
        for name in self._names(type_):
            record = self._usable(type_, name, within + name + SUFFIX)
            if record is not None and judge(record) is None:
                yield record

    def twins(self, type_: type[R], key: str) -> Iterator[R]:
        identifiers = self._asked(type_, lambda index: index.twins(STORES[type_], key))
        for identifier in self.ids(type_) if identifiers is None else identifiers:
            record = self._usable(type_, identifier)
            if record is not None and key in twin_keys(record):
                yield record

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        found = self._asked(type_, lambda index: index.holders(keys, most))
        return holders_among(self.scan(type_), keys, most) if found is None else found

    def searched(self, search: "Callable[[Pool], T]") -> T:
        with self._search_index() as index:
            if index is not None:
                try:
                    with index.moment():
                        self._tell(index)
                        return search(index)
                except BrokenIndex:
                    index.discard()
        return search(pool_of(self))

    @contextmanager
    def _search_index(self) -> "Iterator[SearchIndex | None]":
        """Lend the search index, brought up to date; None where none can be kept."""
        self._staged.let_finish()
        if not self._may_have_index() or not _make_folder(self._local):
            yield None
            return
        from pmem.storage.index.search import RecordSource

        folders = [self._folder(type_) for type_ in STORES]
        records = RecordSource(self._listing, self._readable, _text_of(self))
        with self._shared.searchers.lent(self._local, folders, records) as index:
            yield index

    def _may_have_index(self) -> bool:
        closed = self._read_only or self._staged.files or os.path.islink(self._local)
        return not closed and not self._foreign()

    def _tell(self, index: "SearchIndex") -> None:
        for type_, name, code, message in index.problems():
            path = self._path(type_, name)
            self._problems[path] = Problem(path, code, message)

    def _listing(self, type_: type[Record]) -> FolderListing:
        return look(self._folder(type_), in_order=False)

    def _readable(self, type_: type[Record], name: str) -> Record | Problem | None:
        record = self._usable(type_, name)
        return record or self._problems.get(self._path(type_, name))

    @contextmanager
    def lock(self) -> Iterator[None]:
        if against := self._foreign():
            raise Refused(against, HINT)
        _make_local(self._root, self._local)
        with writer_lock(os.path.join(self._local, LOCK), self._timeout()):
            self._recover()
            self._seen.clear()
            self._index = Index(self._local)
            try:
                yield
            finally:
                self._index.close()
                self._index = None
                self._looked.clear()

    def commit(self, changes: Sequence[Change]) -> None:
        files = [self._file_change(change) for change in changes]
        known, self._looked = self._looked, set()
        try:
            durable.apply(self._root, self._local, files)
        except BaseException:
            if durable.pending(self._local):  # real, and cut short: show all of it
                self._staged.read_around()
            raise
        finally:
            self._shared.searchers.expire()
        self._teach(known, changes)

    def _file_change(self, change: Change) -> durable.FileChange:
        if not is_id(change.id):
            raise Damaged(f"{change.id!r} is no id of a {KINDS[change.type]}")
        path = self._path(change.type, change.id)
        relative = f"{STORES[change.type]}/{change.id}{SUFFIX}"
        previous = _unchanged(path, self._seen.get(path), self._most_bytes)
        if change.record is None:
            return durable.FileChange(relative, None)
        if previous is not None and path not in self._seen:
            raise Locked(f"{path} was made by another program meanwhile")
        data = serialise(change.record, previous, path)
        _check_readable(data, change, path)
        return durable.FileChange(relative, data)

    def _usable(self, type_: type[R], name: str, path: str = "") -> R | None:
        """Read a record, or note why its file, `path` if that is known, cannot be used."""
        path = path or self._path(type_, name)
        try:
            if not is_id(name):
                raise Damaged(f"{path} has a name that is no id")
            return self._read_from(type_, path)
        except NotFound:
            return None
        except (Damaged, StorageRefused) as error:
            self._problems[path] = Problem(path, error.code, error.message)
            return None

    def _asked(self, type_: type[Record], ask: Callable[[Index], T | None]) -> T | None:
        """Ask the index, brought up to date; None where no index can be kept.

        Under the lock one look at the folder is enough: no other pmem can change it.
        """
        if not self._may_have_index():
            return None
        index = self._index or Index(self._local)
        try:
            if type_ not in self._looked:
                self._look(index, type_)
            return ask(index)
        except FileNotFoundError:  # others removed a record while we looked
            return None
        finally:
            if index is not self._index:
                self._looked.clear()
                index.close()

    def _look(self, index: Index, type_: type[Record]) -> None:
        folder = self._folder(type_)
        index.update(
            STORES[type_], lambda: look(folder), lambda id_: _row_of(self._usable(type_, id_))
        )
        self._looked.add(type_)

    def _teach(self, known: set[type[Record]], changes: Sequence[Change]) -> None:
        """Tell the index what we have just written, while the lock keeps others away."""
        if self._index is None:
            return
        for type_ in known:
            written = {
                change.id: _learnt(self._path(type_, change.id), change.record)
                for change in changes
                if change.type is type_
            }
            if written:
                self._index.learn(STORES[type_], written)

    def _names(self, type_: type[Record]) -> list[str]:
        """Return the names of a store's files, an unfinished commit's among them."""
        folder = self._folder(type_)
        names = self._staged.names(folder, _list_files(folder))
        self._forget_gone(folder, names)
        return sorted(name.removesuffix(SUFFIX) for name in names if name[0] != ".")

    def _forget_gone(self, folder: str, names: set[str]) -> None:
        """Forget what was wrong with files of a store that are there no longer."""
        for path in list(self._problems):
            place, name = os.path.split(path)
            if place == folder and name not in names:
                self._problems.pop(path, None)

    def _folder(self, type_: type[Record]) -> str:
        folder = os.path.join(self._root, STORES[type_])
        if os.path.islink(folder):
            raise Damaged(f"{folder} is a link, not a store", "replace it by the folder")
        return folder

    def _path(self, type_: type[Record], identifier: str) -> str:
        return os.path.join(self._folder(type_), identifier + SUFFIX)

    def _recover(self) -> None:
        self._staged.finish()
        with durable.refusals(self._root):
            durable.sweep(self._local)
        from pmem.storage.local import journals

        journals.play_back(self._local, (INDEX, SEARCH, VECTORS), (STATE,))


def scratch(root: str) -> str:
    """Return where a memory folder's files are written before they take their place.

    Hold the writers' lock: the next writer removes what it finds there.

    Args:
        root: The memory folder.
    """
    return os.path.join(root, LOCAL)


def write_own(root: str, path: str, data: bytes) -> None:
    """Replace a file that may be one of a memory folder's own. Hold the writers' lock.

    Args:
        root: The memory folder.
        path: The file, anywhere.
        data: Its new bytes.

    Raises:
        OSError, Unfinished: See `durable.write_file`.
    """
    own = os.path.dirname(path) == os.path.abspath(root)
    place = scratch(root)  # missing where the records live elsewhere
    durable.write_file(path, data, place if own and os.path.isdir(place) else None)


def _make_local(root: str, local: str) -> None:
    if os.path.islink(local):
        raise Damaged(f"{local} is a link, not a folder", "remove the link")
    if os.path.isfile(local):
        raise Damaged(f"{local} is a file, not a folder", "remove the file")
    with durable.refusals(root):
        durable.make_folder(local)


def _learnt(path: str, record: Record | None) -> tuple[Stamp, IndexRow] | None:
    if record is None:
        return None
    return stamp_of(os.stat(path, follow_symlinks=False)), _row_of(record)


def _make_folder(folder: str) -> bool:
    """Make a folder where there is none; tell whether there is one now."""
    try:
        durable.make_folder(folder)
    except OSError:
        return False
    return True


def _text_of(backend: JsonFiles) -> "Callable[[DocumentKey], str]":
    return lambda place: place.text_in(backend.read(place.type, place.record))


def _row_of(record: Record | None) -> IndexRow:
    return (
        IndexRow(keys=())
        if record is None
        else IndexRow(keys=twin_keys(record), words=word_keys_of(record))
    )


def _list_files(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(SUFFIX)]
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise Damaged(f"{folder} is a file, not a store", "replace it by the folder") from None
    except OSError as error:
        raise StorageRefused(f"{folder} cannot be read: {error.strerror}") from None


def _check_readable(data: bytes, change: Change, path: str) -> None:
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


def _unchanged(path: str, seen: Stamp | None, most_bytes: Callable[[], int]) -> bytes | None:
    """Return a file's bytes, if nobody else has touched it since we saw it.

    Args:
        path: The file.
        seen: Its stamp when it was read under the lock; None when it was not read.
        most_bytes: See `JsonFiles`.
    """
    try:
        data, stamp = read_within(path, most_bytes)
    except FileNotFoundError:
        if seen is not None:
            raise Locked(f"{path} was removed by another program meanwhile") from None
        return None
    if seen not in (None, stamp):
        raise Locked(f"{path} was changed by another program meanwhile")
    return data
