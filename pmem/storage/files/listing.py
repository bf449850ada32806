"""What a store's folder looks like: every file's name and stamp, in a form quick to compare.

A file counts as unchanged while inode, size and modification time agree, as in git's index. A
file as young as the last look could have changed since without a trace; it is read again.
"""

import os
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from pmem.errors import Damaged, FileNotRead

if TYPE_CHECKING:
    from pmem.storage.files.recordfile import Stamp

SUFFIX: Final = ".json"
_FINE_CLOCK_NS: Final = 20_000_000
_COARSE_CLOCK_NS: Final = 2_000_000_000
_WIDEST: Final = 1 << 64
_PARTS: Final = attrgetter("st_ino", "st_size", "st_mtime_ns")
_STAMP_BYTES: Final = 24


Packed = tuple[bytes, bytes]
"""A listing's names and stamps, as they are kept."""

NOTHING: Final[Packed] = (b"", b"")


class FolderListing(NamedTuple):
    """The record files of a folder.

    Attributes:
        files: what they are called.
        stamps: three numbers each, in the same order: inode, size, modification time in ns.
    """

    files: list[str]
    stamps: "array[int]"

    @classmethod
    def of(cls, stamps: "Mapping[str, Stamp]") -> Self:
        """Make a listing of stamps by record name, sorted."""
        names = sorted(stamps)
        parts = array("Q", chain.from_iterable(stamps[name] for name in names))
        return cls([name + SUFFIX for name in names], parts)

    @classmethod
    def unpack(cls, names: bytes, stamps: bytes) -> Self:
        """Read what `pack` wrote."""
        words = names.decode("utf-8", "surrogateescape")
        return cls(words.split("/") if words else [], array("Q", stamps))

    def pack(self) -> Packed:
        """Write the listing as two byte strings; a file's name never holds a slash."""
        return "/".join(self.files).encode("utf-8", "surrogateescape"), self.stamps.tobytes()

    def put(self, name: str, stamp: "Stamp | None") -> None:
        """Note a record's new stamp, or with None that it is gone; a sorted listing stays so."""
        file = name + SUFFIX
        if file in self.files:
            place = self.files.index(file)
            del self.files[place]
            del self.stamps[3 * place : 3 * place + 3]
        if stamp is not None:
            place = bisect_left(self.files, file)
            self.files.insert(place, file)
            self.stamps[3 * place : 3 * place] = array("Q", stamp)

    def rows(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield every file with its stamp's parts."""
        parts = self.stamps
        return zip(self.files, parts[0::3], parts[1::3], parts[2::3], strict=True)


def record_file(store: str, name: str) -> str:
    """Return where a record's file is in the memory folder, with a slash."""
    return f"{store}/{name}{SUFFIX}"


def look(folder: str) -> FolderListing:
    """List the record files of a folder by name; a missing folder has none.

    Raises:
        Damaged: It is a file.
        StorageRefused: The folder may not be read.
    """
    try:
        found = os.listdir(folder)
    except FileNotFoundError:
        found = []
    except NotADirectoryError:
        raise Damaged(f"{folder} is a file, not a store", "replace it by the folder") from None
    except OSError as error:
        raise FileNotRead(f"{folder} cannot be read: {error.strerror}") from None
    files = [file for file in found if file[-5:] == SUFFIX and file[0] != "."]
    files.sort()
    try:
        return FolderListing(files, array("Q", chain.from_iterable(_stamps(folder, files))))
    except (FileNotFoundError, OverflowError):  # one was removed meanwhile, or is from before 1970
        names = [_name(file) for file in files]
        return FolderListing.of({name: stamp for name in names for stamp in _stamp(folder, name)})


def last_look(connection: sqlite3.Connection, store: str) -> tuple[Packed, int]:
    """Return a store's listing as the table `looked` of an index has it, and when it was made.

    Raises:
        sqlite3.DataError: The table holds what pmem never wrote.
    """
    query = "select names, stamps, at from looked where store = ?"
    found = connection.execute(query, (store,)).fetchone()
    if found is None:
        return NOTHING, 0
    names, stamps, at = found
    if not (isinstance(names, bytes) and isinstance(stamps, bytes) and isinstance(at, int)):
        raise sqlite3.DataError("the index holds what nobody wrote")
    files = names.count(b"/") + 1 if names else 0
    if len(stamps) != files * _STAMP_BYTES:
        raise sqlite3.DataError("the index has not one stamp for each file")
    return (names, stamps), at


def changes(now: FolderListing, packed: Packed, looked: int) -> tuple[list[str], list[str]]:
    """Compare what a folder looks like with what was known of it.

    Args:
        now: The folder's listing.
        packed: The listing at the last look, as `FolderListing.pack` wrote it.
        looked: When that was, in nanoseconds since 1970.

    Returns:
        The names of the records that are gone, and of those to be read, for the first time or
        again.
    """
    young = _young(now, looked)
    if packed == NOTHING:
        return [], sorted(map(_name, now.files))
    if now.pack() == packed:
        return [], young
    known = FolderListing.unpack(*packed)
    gone = set(known.files).difference(now.files)
    stale = set(now.rows()).difference(known.rows())
    return sorted(map(_name, gone)), sorted({*young, *(_name(row[0]) for row in stale)})


def _name(file: str) -> str:
    return file[: -len(SUFFIX)]


def _young(now: FolderListing, looked: int) -> list[str]:
    """Name the records that may have changed after the last look without a new stamp."""
    times = now.stamps[2::3]
    oldest = looked - _COARSE_CLOCK_NS
    if max(times, default=0) < oldest:
        return []
    places = [place for place, at in enumerate(times) if at >= oldest and _racy(at, looked)]
    return [_name(now.files[place]) for place in places]


def _stamps(folder: str, files: list[str]) -> "Iterator[Stamp]":
    """Yield the stamp of every file; one map over thousands of files instead of a loop.

    Where the system can, each is looked up in the open folder: the way to it is gone once.
    """
    if os.stat not in os.supports_dir_fd:
        within = os.path.join(folder, "")
        yield from map(_PARTS, map(os.lstat, map(within.__add__, files)))
    elif files:
        opened = os.open(folder, os.O_RDONLY)
        try:
            stat = partial(os.stat, dir_fd=opened, follow_symlinks=False)
            yield from map(_PARTS, map(stat, files))
        finally:
            os.close(opened)


def _stamp(folder: str, name: str) -> "Iterator[Stamp]":
    try:
        for inode, size, at in _stamps(folder, [name + SUFFIX]):
            yield inode, size, at % _WIDEST
    except FileNotFoundError:
        return


def _racy(written: int, looked: int) -> bool:
    """Tell whether a file may have changed after the last look without a new stamp.

    A time without fractions of a millisecond comes from a file system with a coarse clock.
    """
    return written >= looked - (_FINE_CLOCK_NS if written % 1_000_000 else _COARSE_CLOCK_NS)
