"""The default backend: one JSON file per record, in a folder per store."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeVar
from zlib import crc32

import msgspec

from pmem.core.selection import Order, Portion, Selection, selected_among
from pmem.errors import Damaged, PmemError, Refused
from pmem.storage.backend import (
    REPLACED,
    Change,
    Holders,
    IdPair,
    Judge,
    Problem,
    Tally,
    holders_among,
    near_pairs_among,
    pool_of,
    tally_of,
)
from pmem.storage.files import durable, safe_files
from pmem.storage.files.lock import LOCK, writer_lock
from pmem.storage.files.recordfile import Stamp, decode, read_bytes, stamp_of
from pmem.storage.git.tracked import HINT, LOCAL
from pmem.storage.index.current_index import CurrentIndex
from pmem.storage.record_files import RecordFiles
from pmem.storage.shared import Shared
from pmem.values.bounds import RECORD_BYTES
from pmem.values.ids import is_id, matches
from pmem.values.records import STORES, Memory, Record

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import Pool
    from pmem.storage.index.index import Index
    from pmem.storage.local.origins import OwnWrites

INDEX: Final = "index.sqlite3"
VECTORS: Final = "vectors.sqlite3"
STATE: Final = "state.sqlite3"
_PAGE: Final = 2000
"""Records that are read from the index together: more would take more memory, not less time."""

_JUDGED: Final = 100
"""Pairs that are judged together, while others wait."""

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class JsonFiles:
    """Records as files below a memory folder; it is one thread's at a time.

    It waits so many seconds for the writers' lock, and reads no file of more than so many bytes,
    whoever wrote it. A `read_only` one writes nothing at all, not even what could be made again.
    Where `foreign` says that `local` came with the project, nothing in it is used. What it writes
    is noted in `own_writes`.
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
        own_writes: "Callable[[], OwnWrites] | None" = None,
    ) -> None:
        self._root = root
        self._local = os.path.join(root, LOCAL)
        self._timeout = lock_timeout
        self._shared = shared or Shared()
        self._problems = self._shared.problems
        self._foreign = foreign
        self._own_writes = own_writes
        self._files = RecordFiles(
            root, self._local, most_bytes, foreign, self._problems, read_only=read_only
        )
        self._current = CurrentIndex(self._local, self._shared.indexes, self._files)
        self._problems.pop(self._local, None)
        if against := foreign():
            self._problems[self._local] = Problem(self._local, "tracked", against)

    @property
    def problems(self) -> Sequence[Problem]:
        return sorted(self._problems.values(), key=attrgetter("path"))

    def ids(self, type_: type[Record], reference: str = "") -> list[str]:
        names = self._files.names(type_)
        return [name for name in names if is_id(name) and matches(reference, name)]

    def read(self, type_: type[R], identifier: str) -> R:
        return self._files.read(type_, identifier)

    def figure(self, type_: type[Record], name: str, kind: type[T], make: Callable[[], T]) -> T:
        store = STORES[type_]
        found = self._current.ask((type_,), lambda index: index.figure(store, name))
        revision, kept = (0, None) if found is None else found[0]
        if kept is not None:
            return msgspec.json.decode(kept, type=kind)
        value = make()
        if revision:
            keep = (store, name, revision, msgspec.json.encode(value).decode())
            self._current.ask((), lambda index: index.keep_figure(*keep))
        return value

    def tokens(
        self, vocabulary: str, pieces: Collection[str], count: Callable[[str], int]
    ) -> Mapping[str, int]:
        keys = {piece: _key_of(piece) for piece in pieces}
        found = self._current.ask((), lambda index: index.tokens(vocabulary, keys.values()))
        known = {} if found is None else found[0]
        new = {piece: count(piece) for piece, key in keys.items() if key not in known}
        if new and found is not None:
            rows = [(vocabulary, keys[piece], many) for piece, many in new.items()]
            self._current.ask((), lambda index: index.keep_tokens(rows))
        return {piece: known[key] for piece, key in keys.items() if key in known} | new

    def marked(self, type_: type[R], mark: str) -> Iterator[R]:
        found = self._current.ask((type_,), lambda index: index.marked(STORES[type_], mark))
        return iter(()) if found is None else (self._decoded(type_, data) for data in found[0])

    def mark(self, type_: type[Record], mark: str, ids: Collection[str]) -> None:
        if ids:
            self._current.ask((), lambda index: index.mark(STORES[type_], mark, ids))

    def gave_way(self, mark: str = "") -> Iterable[Memory]:
        return self.marked(Memory, mark) if mark else self.select(Memory, REPLACED)

    def near_pairs(self, rules: str, judge: Judge) -> list[IdPair]:
        def read(one: bytes, other: bytes) -> bool:
            return judge(decode(one, Memory), decode(other, Memory))

        def ask(index: "Index") -> list[IdPair]:
            while index.judge_pairs(rules, read, _JUDGED):
                pass
            return index.near_pairs(rules)

        found = self._current.ask((Memory,), ask)
        return near_pairs_among(self.select, judge) if found is None else found[0]

    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:
        """Yield records: from the index, from their files without one."""
        after = ""

        def page(index: "Index") -> list[tuple[str, bytes]]:
            return index.page(STORES[type_], after, _PAGE, without)

        while found := self._current.ask(() if after else (type_,), page):
            yield from (self._decoded(type_, data) for _, data in found[0])
            if len(found[0]) < _PAGE:
                return
            after = found[0][-1][0]
        left = (name for name in self._files.names(type_) if name > after)
        for name, read in self._files.read_files(type_, left):
            if read is not None and not isinstance(read, Problem):
                assert isinstance(read.record, type_)
                self._files.note_served(type_, name, read.data)
                yield read.record

    def select(
        self, type_: type[R], selection: Selection, order: Order = (), limit: int | None = None
    ) -> list[R]:
        def ask(index: "Index") -> list[R]:
            found = index.select(STORES[type_], selection, order, limit)
            records = (self._decoded(type_, data) for data in found)
            return list(filter(selection.judge(), records))[:limit]

        found = self._current.ask((type_,), ask)
        if found is None:
            return selected_among(self.scan(type_), selection, order, limit)
        return found[0]

    def some_of(self, type_: type[R], selection: Selection, parts: Sequence[Portion]) -> list[R]:
        def ask(index: "Index") -> list[R]:
            found = index.some_of(STORES[type_], parts)
            return [self._decoded(type_, data) for data in found]

        found = self._current.ask((type_,), ask)
        if found is None:
            return self.select(type_, selection)
        return list(filter(selection.judge(), found[0]))

    def tally(
        self, type_: type[Record], selection: Selection, columns: Sequence[str] = (), least: int = 1
    ) -> Tally:
        asked = (STORES[type_], selection, columns, least)
        found = self._current.ask((type_,), lambda index: index.tally(*asked))
        if found is None or found[0] is None:
            return tally_of(self.select(type_, selection), selection, columns, least)
        return {tuple(values): number for *values, number in found[0] if number}

    def _decoded(self, type_: type[R], data: bytes) -> R:
        """Read a record of the index; a commit under the lock sees what has changed since."""
        record = decode(data, type_)
        self._files.note_served(type_, record.id, data)
        return record

    def holders(self, type_: type[Record], keys: Collection[str], most: int) -> Holders:
        found = self._current.ask((type_,), lambda index: index.holders(keys, most))
        return holders_among(self.scan(type_), keys, most) if found is None else found[0]

    def searched(self, search: "Callable[[Pool], T]") -> T:
        def ask(index: "Index") -> T:
            with index.searching() as pool:
                return search(pool)

        self._files.let_finish()
        found = self._current.search(ask)
        return search(pool_of(self.scan)) if found is None else found[0]

    def moment(self) -> AbstractContextManager[None]:
        return self._current.moment()

    @contextmanager
    def lock(self) -> Iterator[None]:
        if against := self._foreign():
            raise Refused(against, HINT)
        _make_local(self._root, self._local)
        with writer_lock(os.path.join(self._local, LOCK), self._timeout()):
            self._recover()
            self._files.seen = {}
            self._current.forget()
            try:
                with self._current.moment():
                    yield
            finally:
                self._files.seen = None
                self._current.forget()

    def commit(self, changes: Sequence[Change]) -> None:
        files = [self._files.change_of(change) for change in changes]
        self._teach(self.replace_files(files), changes, files)

    def replace_files(self, files: Sequence[durable.FileChange]) -> set[type[Record]]:
        """Make all files durable as they are given, or none. Call it while holding the lock.

        Returns:
            The types whose records the index knew all of.

        Raises:
            StorageRefused: The disk or a file refused; nothing changed.
        """
        known = self._current.forget()
        try:
            with noting(self._own_writes, self._root, files):
                durable.apply(self._root, self._local, files)
        except BaseException:
            if durable.pending(self._local):  # real, and cut short: show all of it
                self._files.read_around()
                self._current.let_go()
            raise
        finally:
            self._shared.indexes.expire()
        return known

    def _teach(
        self,
        known: set[type[Record]],
        changes: Sequence[Change],
        files: Sequence[durable.FileChange],
    ) -> None:
        """Tell the index what we have just written, while the lock keeps others away."""
        from pmem.storage.index.records import ReadRecord

        written: dict[type[Record], dict[str, tuple[Stamp, ReadRecord] | None]] = {}
        for change, file in zip(changes, files, strict=True):
            if change.type in known:
                held = None
                if change.record is not None and file.data is not None:
                    stamp = stamp_of(os.lstat(os.path.join(self._root, file.path)))
                    held = (stamp, ReadRecord(change.record, file.data))
                written.setdefault(change.type, {})[change.id] = held
        self._current.teach(written)

    def _recover(self) -> None:
        self._files.finish_commit()
        with durable.refusals(self._root):
            durable.sweep(self._local)
        safe_files.play_back(self._local, (INDEX, VECTORS), (STATE,))


@contextmanager
def noting(
    own_writes: "Callable[[], OwnWrites] | None", root: str, files: Sequence[durable.FileChange]
) -> Iterator[None]:
    """Note records as what this person's pmem writes; it stays noted where that was cut short."""
    if own_writes is None or not files:
        yield
        return
    own = own_writes()
    before: dict[str, bytes | None] = {}
    for file in files:
        try:
            before[file.path] = read_bytes(os.path.join(root, file.path))[0]
        except (OSError, PmemError):
            before[file.path] = None
    own.expect(root, {file.path: file.data for file in files})
    yield
    own.settle(root, before)


def scratch(root: str) -> str:
    """Return where a memory folder's files are written before they take their place.

    Hold the writers' lock: the next writer removes what it finds there.
    """
    return os.path.join(root, LOCAL)


def write_own(root: str, path: str, data: bytes) -> None:
    """Replace a file that may be one of a memory folder's own. Hold the writers' lock.

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


def _key_of(piece: str) -> int:
    """Return 63 bits that stand for a part of a text: the index has no words but records'."""
    data = piece.encode("utf-8", "surrogatepass")
    return crc32(data) << 31 | crc32(data[::-1]) >> 1
