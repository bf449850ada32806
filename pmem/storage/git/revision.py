"""The records that git keeps in a tree, to read and to search without a checkout."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import RLock
from typing import TYPE_CHECKING, Final, TypeVar

from pmem.errors import Damaged, NotFound, PmemError, Refused
from pmem.storage.backend import Change, Problem, Unindexed, pool_of
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.recordfile import parse
from pmem.storage.git.repository import FILES, Repository, TreeEntry
from pmem.values.bounds import RECORD_BYTES
from pmem.values.ids import is_id, matches
from pmem.values.records import KINDS, STORES, Record, RecordType

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import MemoryPool, Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_FOLDER: Final = TreeEntry("040000", "")
_LINK: Final = "120000"


class Tree(Unindexed):
    """The records among files that git keeps. Nothing can be written; any thread may ask.

    Each store is listed once; the first record of a store is read alone, the second brings
    all the others along.
    """

    def __init__(self, repository: Repository, files: Mapping[str, TreeEntry], name: str) -> None:
        self.name = name
        self._repository = repository
        self._files, self._others = _sorted(files)
        self._found: dict[tuple[RecordType, str], Record | PmemError] = {}
        self._listed: dict[RecordType, list[str]] = {}
        self._problems: dict[str, Problem] = {}
        self._place: str | None = None
        self._pool: MemoryPool | None = None
        self._turn = RLock()

    @property
    def problems(self) -> Sequence[Problem]:
        return list(self._problems.values())

    def ids(self, type_: RecordType, reference: str = "") -> list[str]:
        return [name for name in self._names(type_) if is_id(name) and matches(reference, name)]

    def read(self, type_: type[R], identifier: str) -> R:
        if not is_id(identifier):
            raise NotFound(f"{identifier!r} is no id")
        names = self._names(type_)
        if identifier not in self._files.get(STORES[type_], ()):
            raise NotFound(f"there is no {KINDS[type_]} {identifier} at {self.name}")
        with self._turn:
            if (type_, identifier) not in self._found:
                alone = not any(known is type_ for known, _ in self._found)
                self._load(type_, [identifier] if alone else names)
        found = self._found[type_, identifier]
        if isinstance(found, PmemError):
            raise found
        assert isinstance(found, type_)
        return found

    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:  # noqa: ARG002 - none is kept
        return self.some(type_, self._names(type_))

    def some(self, type_: type[R], names: Iterable[str]) -> Iterator[R]:
        """Yield some records of a store in the order given; those that are damaged are noted."""
        chosen = list(names)
        self._load(type_, chosen)
        for name in chosen:
            record = self._usable(type_, name)
            if isinstance(record, type_):
                yield record

    def searched(self, search: "Callable[[Pool], T]") -> T:
        with self._turn:
            if self._pool is None:
                self._pool = pool_of(self.scan)
        return search(self._pool)

    def moment(self) -> AbstractContextManager[None]:
        return nullcontext()

    def lock(self) -> AbstractContextManager[None]:
        raise Refused("a git revision cannot be changed")

    def commit(self, changes: Sequence[Change]) -> None:  # noqa: ARG002 - the protocol's
        raise Refused("a git revision cannot be changed")

    def entries(self, type_: RecordType) -> Mapping[str, TreeEntry]:
        """Return what the tree holds for every record of a store, by the record's id."""
        files = self._files.get(STORES[type_], {})
        return {name: entry for name, entry in files.items() if is_id(name)}

    def file(self, path: str) -> bytes | None:
        """Return what another file of the memory folder holds; None where there is none.

        Raises:
            Damaged: It is a link, or cannot be read.
        """
        entry = self._others.get(path)
        if entry is None:
            return None
        data = next(self._repository.blobs([entry.object])) if entry.mode in FILES else None
        if data is None:
            raise Damaged(f"{self.where(path)} is not a file that can be read")
        return data

    def bytes_of(
        self, type_: RecordType, names: Iterable[str]
    ) -> Iterator[tuple[str, bytes | None]]:
        """Yield what records' files hold as they stand; links and folders are left out."""
        files = self._files.get(STORES[type_], {})
        plain = [name for name in names if files[name].mode in FILES]
        contents = self._repository.blobs([files[name].object for name in plain])
        return zip(plain, contents, strict=True)

    def where(self, path: str) -> str:
        """Return how git names a path in the memory folder at this revision."""
        if self._place is None:
            self._place = self._repository.place()
        whole = f"{self.name}:{self._place}{path}"
        return whole.encode("utf-8", "backslashreplace").decode()

    def _names(self, type_: RecordType) -> list[str]:
        store = STORES[type_]
        if self._others.get(store, _FOLDER).mode == _LINK:
            raise Damaged(f"{self.where(store)} is a link, not a store")
        if type_ not in self._listed:
            self._listed[type_] = sorted(self._files.get(store, ()))
        return self._listed[type_]

    def _load(self, type_: RecordType, names: Iterable[str]) -> None:
        """Read records that are not read yet, all by one process."""
        files = self._files.get(STORES[type_], {})
        with self._turn:
            missing = [name for name in names if (type_, name) not in self._found]
            for name, data in self.bytes_of(type_, [name for name in missing if is_id(name)]):
                self._found[type_, name] = self._parsed(type_, name, data)
            for name in missing:
                if (type_, name) not in self._found:
                    self._found[type_, name] = self._odd_one(type_, name, files[name])

    def _parsed(self, type_: RecordType, name: str, data: bytes | None) -> Record | PmemError:
        path = record_file(STORES[type_], name)
        if data is None:
            return Damaged(
                f"{self.where(path)} is not in this clone, damaged,"
                f" or larger than {RECORD_BYTES} bytes"
            )
        try:
            return parse(data, type_, path)
        except PmemError:
            pass
        try:  # again, for a sentence that says where
            return parse(data, type_, self.where(path))
        except PmemError as error:
            return error.with_traceback(None)

    def _odd_one(self, type_: RecordType, name: str, entry: TreeEntry) -> Damaged:
        where = self.where(record_file(STORES[type_], name))
        if not is_id(name):
            return Damaged(f"{where} has a name that is no id")
        return Damaged(f"{where} is {'a link' if entry.mode == _LINK else 'no file'}, not a record")

    def _usable(self, type_: RecordType, name: str) -> Record | None:
        found = self._found[type_, name]
        if isinstance(found, PmemError):
            path = self.where(record_file(STORES[type_], name))
            self._problems.setdefault(path, Problem(path, found.code, found.message))
            return None
        return found


class Revision(Tree):
    """The records as a commit has them.

    Raises:
        NotFound: The memory was not there at that commit.
    """

    def __init__(self, repository: Repository, commit: str, name: str) -> None:
        files = repository.files(commit)
        if not files:
            raise NotFound(f"the memory was not there at {name}")
        super().__init__(repository, files, name)
        self.commit_id = commit


def _sorted(
    files: Mapping[str, TreeEntry],
) -> tuple[dict[str, dict[str, TreeEntry]], dict[str, TreeEntry]]:
    """Sort a tree's files into those of the stores, by store and name, and the others.

    A folder that is called like a record counts as one that cannot be used, as on disk.
    """
    stores: dict[str, dict[str, TreeEntry]] = {}
    others = {}
    for path, entry in files.items():
        store, slash, rest = path.partition("/")
        file, deeper, _ = rest.partition("/")
        if not slash or store not in STORES.values():
            others[path] = entry
        elif file.endswith(SUFFIX) and not file.startswith("."):
            kept = _FOLDER if deeper else entry
            stores.setdefault(store, {})[file.removesuffix(SUFFIX)] = kept
    return stores, others
