"""A copy of a project that is brought back to how it was, again and again.

Only what a command has changed is written anew: most of a sweep's time would go into copying.
"""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.faults import world

UNNOTICED: Final = ("index.sqlite3", "operations.log", "commands.log", "access.log")
"""What makes no difference afterwards: it can be made again, or is a log."""


_TIMED: Final = ("index.sqlite3-journal",)
"""What holds the time of the last look, so that it never comes out the same: its length counts."""


class _Held(NamedTuple):
    """What stands at a place: how to make it again; a folder has no data."""

    mode: int
    data: bytes | None
    at: int


class Original:
    """A project as it is now, and one copy of it to work on."""

    def __init__(self, start: str, place: str) -> None:
        self.place = place if start == place else world.copied(start, place)
        self._held = {path: _held(found) for path, found in _walk(place)}
        self._stamps = {
            path: _stamp(found.stat(follow_symlinks=False)) for path, found in _walk(place)
        }

    def fresh(self) -> str:
        """Bring the copy back, go there, and return where it is."""
        os.chdir(self.place)
        found = dict(_walk(self.place))
        for path, entry in found.items():
            held = self._held.get(path)
            if held is None or stat.S_IFMT(_mode(entry)) != stat.S_IFMT(held.mode):
                _remove(os.path.join(self.place, path))
        for path, held in self._held.items():
            whole = os.path.join(self.place, path)
            here = found.get(path)
            if here is None or not os.path.lexists(whole) or self._is_changed(path, here):
                _make(whole, held)
                self._stamps[path] = _stamp(os.lstat(whole))
        return self.place

    def fingerprint(self, passing: re.Pattern[str]) -> str:
        """Return a digest of what differs from the original and can make a difference."""
        digest = hashlib.sha256()
        found = dict(_walk(self.place))
        names = {path: passing.sub(".tmp", path) for path in {**found, **self._held}}
        for path in sorted(names, key=lambda path: (names[path], path)):
            entry = found.get(path)
            if os.path.basename(path) in UNNOTICED:
                continue
            if entry is None:
                digest.update(f"-{names[path]}\0".encode())
            elif path not in self._held or self._is_changed(path, entry):
                held = _held(entry)
                data = held.data or b""
                if entry.name in _TIMED:
                    data = b"?" * len(data)
                digest.update(f"{names[path]}\0{held.mode}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()

    def _is_changed(self, path: str, entry: "os.DirEntry[str]") -> bool:
        now = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(now.st_mode):
            return now.st_mode != self._held[path].mode
        return _stamp(now) != self._stamps[path]


def _walk(folder: str, below: str = "") -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Yield everything in a folder, each folder before what it holds."""
    with os.scandir(os.path.join(folder, below)) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = os.path.join(below, entry.name)
        yield path, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(folder, path)


def _held(entry: "os.DirEntry[str]") -> _Held:
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return _Held(status.st_mode, None, status.st_mtime_ns)
    if stat.S_ISLNK(status.st_mode):
        return _Held(status.st_mode, os.readlink(entry.path).encode(), status.st_mtime_ns)
    with open(entry.path, "rb") as file:
        return _Held(status.st_mode, file.read(), status.st_mtime_ns)


def _mode(entry: "os.DirEntry[str]") -> int:
    return entry.stat(follow_symlinks=False).st_mode


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):  # its folder may have gone with it
        os.unlink(path)


def _make(path: str, held: _Held) -> None:
    if held.data is None:
        os.makedirs(path, exist_ok=True)
        os.chmod(path, stat.S_IMODE(held.mode))
        return
    _remove(path)
    if stat.S_ISLNK(held.mode):
        os.symlink(held.data.decode(), path)
        return
    with open(path, "wb") as file:
        file.write(held.data)
    os.chmod(path, stat.S_IMODE(held.mode))
    os.utime(path, ns=(held.at, held.at))
