"""What a power cut can leave: a small model of a file system that forgets what is not synced.

The calls of a commit are recorded as operations on inodes. A cut at any moment keeps what
was synced before it; of the rest it keeps any part: each unsynced change of a folder on its
own, and of unsynced data nothing, half or all. A rename is one operation, durable when
either of its folders is synced after it.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import combinations
from typing import Any, NamedTuple
from unittest import mock

Tree = dict[str, bytes | None]
"""What each path holds; None for a folder."""

MOST_CHOICES = 10


class Op(NamedTuple):
    """One operation: what it does to names, or to data; its inode; the folders it changes."""

    kind: str
    inode: int
    folders: tuple[tuple[int, str], ...] = ()
    data: bytes = b""


class Recorder:
    """Writes down what a commit asks of the operating system, below one folder."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.ops: list[Op] = []
        self.start = snapshot(root)
        self.inodes = {path: os.lstat(os.path.join(root, path)).st_ino for path in self.start}
        self.inodes[""] = os.stat(root).st_ino
        self._fake = 0
        self._ids: dict[int, int] = {}

    def place(self, path: str) -> tuple[int, str]:
        return self.inode(os.stat(os.path.dirname(path)).st_ino), os.path.basename(path)

    def inode(self, real: int) -> int:
        """Number inodes anew, because the system uses a freed number again."""
        return self._ids.get(real, real)

    def fresh(self, real: int) -> int:
        self._fake -= 1
        self._ids[real] = self._fake
        return self._fake

    def inside(self, path: object) -> bool:
        return isinstance(path, str) and path.startswith(self.root + os.sep)


@contextmanager
def recorded(root: str) -> Iterator[Recorder]:
    """Record the calls made below a folder."""
    log = Recorder(root)
    calls: dict[str, Callable[..., Any]] = {
        "open": _open(log, os.open),
        "write": _write(log, os.write),
        "fsync": _fsync(log),
        "replace": _rename(log, os.replace),
        "rename": _rename(log, os.rename),
        "unlink": _removal(log, "unlink", os.unlink),
        "rmdir": _removal(log, "rmdir", os.rmdir),
        "mkdir": _mkdir(log, os.mkdir),
    }
    with ExitStack() as patches:
        for name, call in calls.items():
            patches.enter_context(mock.patch.object(os, name, call))
        yield log


def _open(log: Recorder, original: Callable[..., int]) -> Callable[..., int]:
    def call(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        new = log.inside(path) and not os.path.lexists(path)
        descriptor = original(path, flags, *args, **kwargs)
        real = os.fstat(descriptor).st_ino
        if new:
            log.ops.append(Op("name", log.fresh(real), (log.place(path),)))
        if log.inside(path) and flags & os.O_TRUNC:
            log.ops.append(Op("truncate", log.inode(real)))
        return descriptor

    return call


def _write(log: Recorder, original: Callable[..., int]) -> Callable[..., int]:
    def call(descriptor: int, data: bytes) -> int:
        count = original(descriptor, data)
        inode = log.inode(os.fstat(descriptor).st_ino)
        log.ops.append(Op("data", inode, data=bytes(data[:count])))
        return count

    return call


def _fsync(log: Recorder) -> Callable[..., None]:
    def call(descriptor: int) -> None:
        status = os.fstat(descriptor)
        kind = "sync folder" if stat.S_ISDIR(status.st_mode) else "sync"
        log.ops.append(Op(kind, log.inode(status.st_ino)))

    return call


def _rename(log: Recorder, original: Callable[..., None]) -> Callable[..., None]:
    def call(source: Any, target: Any) -> None:
        inode = log.inode(os.lstat(source).st_ino)
        op = Op("rename", inode, (log.place(source), log.place(target)))
        original(source, target)
        log.ops.append(op)

    return call


def _removal(log: Recorder, kind: str, original: Callable[..., None]) -> Callable[..., None]:
    def call(path: Any, *args: Any, **kwargs: Any) -> None:
        inside = log.inside(path) and os.path.lexists(path)
        op = Op(kind, log.inode(os.lstat(path).st_ino), (log.place(path),)) if inside else None
        original(path, *args, **kwargs)
        if op is not None:
            log.ops.append(op)

    return call


def _mkdir(log: Recorder, original: Callable[..., None]) -> Callable[..., None]:
    def call(path: Any, *args: Any, **kwargs: Any) -> None:
        original(path, *args, **kwargs)
        if log.inside(path):
            log.ops.append(Op("folder", log.fresh(os.stat(path).st_ino), (log.place(path),)))

    return call


def cuts(log: Recorder) -> Iterator[tuple[bool, Tree]]:
    """Yield every tree that a power cut can leave, and whether the commit had ended.

    A cut just before a sync, with any part of what is unsynced, covers every earlier one
    since the last sync.
    """
    moments = [n for n, op in enumerate(log.ops) if op.kind.startswith("sync")]
    seen = set()
    for moment in [*moments, len(log.ops)]:
        ended = moment == len(log.ops)
        for tree in _trees_at(log, moment):
            frozen = (ended, frozenset(tree.items()))
            if frozen not in seen:
                seen.add(frozen)
                yield ended, tree


def _trees_at(log: Recorder, moment: int) -> Iterator[Tree]:
    done = log.ops[:moment]
    names = [n for n, op in enumerate(done) if op.folders]
    sure = {n for n in names if _synced(done, n)}
    loose = [n for n in names if n not in sure]
    sizes = set(range(len(loose) + 1))
    if len(loose) > MOST_CHOICES:  # a bad design; a few parts will show it
        sizes = {0, 1, len(loose) - 1, len(loose)}
    for size in sorted(sizes):
        for kept in combinations(loose, size):
            chosen = sure | set(kept)
            for share in (0.0, 0.5, 1.0):
                yield _tree(log, [done[n] for n in names if n in chosen], _contents(done, share))


def _synced(done: list[Op], place: int) -> bool:
    folders = {folder for folder, _ in done[place].folders}
    return any(op.kind == "sync folder" and op.inode in folders for op in done[place + 1 :])


def _contents(done: list[Op], share: float) -> dict[int, bytes]:
    """Return the data of each inode that was written, with a share of what is unsynced."""
    synced: dict[int, bytes] = {}
    latest: dict[int, bytes] = {}
    for op in done:
        if op.kind in ("name", "truncate"):
            latest[op.inode] = b""
        elif op.kind == "data":
            latest[op.inode] = latest.get(op.inode, b"") + op.data
        elif op.kind == "sync" and op.inode in latest:
            synced[op.inode] = latest[op.inode]
    for inode, data in latest.items():
        sure = synced.get(inode, b"")
        rest = data[len(sure) :] if data.startswith(sure) else data
        synced[inode] = sure + rest[: int(len(rest) * share)]
    return synced


def _tree(log: Recorder, names: list[Op], contents: dict[int, bytes]) -> Tree:
    """Apply the changes of folders that were kept, and read the tree that results."""
    folders: dict[int, dict[str, int]] = {op.inode: {} for op in log.ops if op.kind == "folder"}
    data: dict[int, bytes] = {}
    for path, held in log.start.items():
        parent = log.inodes[os.path.dirname(path)]
        folders.setdefault(parent, {})[os.path.basename(path)] = log.inodes[path]
        if held is None:
            folders.setdefault(log.inodes[path], {})
        else:
            data[log.inodes[path]] = held
    data |= contents
    for op in names:
        _apply(op, folders)
    return dict(_walk(log.inodes[""], "", folders, data))


def _apply(op: Op, folders: dict[int, dict[str, int]]) -> None:
    first, last = op.folders[0], op.folders[-1]
    if op.kind in ("unlink", "rmdir", "rename"):
        entries = folders.setdefault(first[0], {})
        if entries.get(first[1]) == op.inode:
            del entries[first[1]]
    if op.kind in ("name", "folder", "rename"):
        folders.setdefault(last[0], {})[last[1]] = op.inode


def _walk(
    inode: int, path: str, folders: dict[int, dict[str, int]], data: dict[int, bytes]
) -> Iterator[tuple[str, bytes | None]]:
    for name, child in folders.get(inode, {}).items():
        below = os.path.join(path, name)
        if child in folders:
            yield below, None
            yield from _walk(child, below, folders, data)
        else:
            yield below, data[child]


def snapshot(root: str) -> Tree:
    """Return a whole folder as it is, the index apart: it may vanish at any time."""
    found: Tree = {}
    for folder, folders, files in os.walk(root):
        found |= {os.path.relpath(os.path.join(folder, name), root): None for name in folders}
        for name in files:
            if not name.startswith("index.sqlite3"):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = file.read()
    return found


def rebuilt(tree: Tree, root: str) -> None:
    """Write a tree out as real files."""
    os.makedirs(root)
    for path, held in sorted(tree.items()):
        place = os.path.join(root, path)
        if held is None:
            os.makedirs(place, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(held)
