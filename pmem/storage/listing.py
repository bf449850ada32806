"""What a store's folder looks like: every file's name and stamp, in a form quick to compare.

A file counts as unchanged while inode, size and modification time agree, as in git's index. A
file as young as the last look could have changed since without a trace; it is read again.
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple, Self

from pmem.errors import StorageRefused
from pmem.storage.recordfile import Stamp

SUFFIX: Final = ".json"
_FINE_CLOCK_NS: Final = 20_000_000
_COARSE_CLOCK_NS: Final = 2_000_000_000
_WIDEST: Final = 1 << 64
_PARTS: Final = attrgetter("st_ino", "st_size", "st_mtime_ns")


class Listing(NamedTuple):
    """The record files of a folder.

    Attributes:
        names: what they are called without the suffix, in ascending order.
        stamps: three numbers each, in the same order: inode, size, modification time in ns.
    """

    names: list[str]
    stamps: "array[int]"

    @classmethod
    def of(cls, stamps: Mapping[str, Stamp]) -> Self:
        """Make a listing of stamps by name."""
        names = sorted(stamps)
        return cls(names, array("Q", chain.from_iterable(stamps[name] for name in names)))

    @classmethod
    def unpack(cls, names: bytes, stamps: bytes) -> Self:
        """Read what `pack` wrote."""
        words = names.decode("utf-8", "surrogateescape")
        return cls(words.split("\n") if words else [], array("Q", stamps))

    def pack(self) -> tuple[bytes, bytes]:
        """Write the listing as two byte strings; a name never holds a line break."""
        return "\n".join(self.names).encode("utf-8", "surrogateescape"), self.stamps.tobytes()

    def put(self, name: str, stamp: Stamp | None) -> None:
        """Note a file's new stamp, or with None that it is gone."""
        place = bisect_left(self.names, name)
        if self.names[place : place + 1] == [name]:
            del self.names[place]
            del self.stamps[3 * place : 3 * place + 3]
        if stamp is not None:
            self.names.insert(place, name)
            self.stamps[3 * place : 3 * place] = array("Q", stamp)

    def by_name(self) -> dict[str, Stamp]:
        """Return the stamps by name."""
        parts = iter(self.stamps)
        return dict(zip(self.names, zip(parts, parts, parts, strict=True), strict=True))


def look(folder: str) -> Listing:
    """List the record files of a folder; a missing folder has none.

    Raises:
        StorageRefused: The folder may not be read.
    """
    stamps: array[int] = array("Q")
    try:
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except FileNotFoundError:
        return Listing([], stamps)
    except OSError as error:
        raise StorageRefused(f"{folder} cannot be read: {error.strerror}") from None
    try:
        return _look(descriptor)
    finally:
        os.close(descriptor)


def changes(now: Listing, known: Listing, looked: int) -> tuple[list[str], list[str]]:
    """Compare what a folder looks like with what was known of it.

    Args:
        now: The folder's listing.
        known: The listing at the last look.
        looked: When that was, in nanoseconds since 1970.

    Returns:
        The names that are gone, and those to be read, for the first time or again.
    """
    oldest = looked - _COARSE_CLOCK_NS
    places = [place for place, at in enumerate(now.stamps[2::3]) if at >= oldest]
    young = [now.names[place] for place in places if _racy(now.stamps[3 * place + 2], looked)]
    if now == known:
        return [], young
    stamps, before = now.by_name(), known.by_name()
    gone = [name for name in known.names if name not in stamps]
    stale = [name for name, stamp in stamps.items() if before.get(name) != stamp]
    return gone, sorted({*stale, *young})


def _look(descriptor: int) -> Listing:
    names = sorted(
        name[: -len(SUFFIX)]
        for name in os.listdir(descriptor)
        if name[0] != "." and name.endswith(SUFFIX)
    )
    try:
        stamps = array("Q", chain.from_iterable(_stamps(descriptor, names)))
    except (FileNotFoundError, OverflowError):  # one was removed meanwhile, or is from before 1970
        return Listing.of({name: stamp for name in names for stamp in _stamp(descriptor, name)})
    return Listing(names, stamps)


def _stamps(descriptor: int, names: list[str]) -> Iterator[Stamp]:
    """Yield the stamp of every file; one map over thousands of files instead of a loop."""
    status = partial(os.stat, dir_fd=descriptor, follow_symlinks=False)
    return map(_PARTS, map(status, (name + SUFFIX for name in names)))


def _stamp(descriptor: int, name: str) -> Iterator[Stamp]:
    try:
        for inode, size, at in _stamps(descriptor, [name]):
            yield inode, size, at % _WIDEST
    except FileNotFoundError:
        return


def _racy(written: int, looked: int) -> bool:
    """Tell whether a file may have changed after the last look without a new stamp.

    A time without fractions of a millisecond comes from a file system with a coarse clock.
    """
    return written >= looked - (_FINE_CLOCK_NS if written % 1_000_000 else _COARSE_CLOCK_NS)
