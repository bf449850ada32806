"""What this person's pmem wrote, kept outside every project, where no project can reach it.

One database in the user's state folder has a keyed digest of each record as pmem last wrote it, in
any project: ids of records are unique. The key is in the user's configuration. Beside that it has
what the trees of git hold that were looked at, so that git is asked once for each.

Where it can be neither read nor made, nothing is known, and nothing fails. Nothing waits for the
disk: after a power cut, what is not committed may count as changed from outside.
"""

import os
import sqlite3
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from time import time_ns
from typing import Final

from pmem.storage.files import safe_files
from pmem.storage.files.addresses import address

try:
    from _blake2 import blake2b  # as every command needs it, and hashlib loads OpenSSL besides
except ImportError:
    from hashlib import blake2b

_KEY_BYTES: Final = 32
_PRIVATE: Final = 0o600
_FOLDER: Final = 0o700
_BUSY_SECONDS: Final = 5.0
_VERSION: Final = 1
_TREES: Final = 64
"""So many trees are kept, the newest."""
_LOOKED_UP: Final = 50
"""For more paths than this a tree is read whole."""
_AT_ONCE: Final = 500
"""So many records are asked for by one statement."""
_END: Final = b"\0"
"""What stands before, between and behind the paths and objects of a tree."""
_BEGUN: Final = ("local", "begun")
_TIME_BYTES: Final = 8
SHA1_DIGITS: Final = 40
_GONE: Final = b""
"""What stands for the digest of a record that pmem removed."""
_TABLES: Final = (
    "create table if not exists written (path text, counter integer, place integer, digest blob,"
    " primary key (path, counter)) without rowid",
    "create table if not exists tree (name text primary key, used integer, held blob)",
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


class OwnWrites:
    """What this person's pmem wrote, for the questions of one call.

    Records are named by their paths in the memory folder. A `read_only` one writes nothing.
    """

    def __init__(self, environment: Mapping[str, str], *, read_only: bool = False) -> None:
        self.path, self._key_path = _places(environment)
        self._read_only = read_only
        self._key: bytes | None = None
        self._reader: sqlite3.Connection | None = None

    def __del__(self) -> None:
        if self._reader is not None:
            self._reader.close()

    @property
    def is_kept(self) -> bool:
        """Whether what pmem writes here is noted, so that what is not noted says something."""
        place = self.path
        while place and not os.path.lexists(place):
            place = os.path.dirname(place)
        is_right = place == self.path or os.path.isdir(place)
        return bool(place) and is_right and os.access(place, os.W_OK)

    def expect(self, root: str, files: Mapping[str, bytes | None]) -> None:
        """Note what is about to be written below a memory folder; None is removed.

        What was there before stays noted until it is `settled`.
        """
        with self._writing() as connection:
            if connection is None or (key := self._read_key(make=True)) is None:
                return
            place = _place(root, make=True)
            last = "select coalesce(max(counter), 0) from written where path = ?"
            for path, data in files.items():
                counter = connection.execute(last, (path,)).fetchone()[0] + 1
                digest = _GONE if data is None else _digest(key, path, counter, data)
                row = (path, counter, place, digest)
                connection.execute("insert into written values (?, ?, ?, ?)", row)

    def settle(self, root: str, before: Mapping[str, bytes | None]) -> None:
        """Forget what was in the place of what was just written, and that it was removed once."""
        with self._writing() as connection:
            if connection is None or (key := self._read_key(make=False)) is None:
                return
            place = _place(root)
            last: dict[str, int] = {}
            known = list(_rows(connection, before))
            for path, counter, *_ in known:
                last[path] = max(counter, last.get(path, 0))
            stale = []
            for path, counter, there, digest in known:
                if counter == last[path]:
                    continue
                data = before[path]
                is_old = data is not None and digest == _digest(key, path, counter, data)
                if is_old or (digest == _GONE and there == place):
                    stale.append((path, counter))
            connection.executemany("delete from written where path = ? and counter = ?", stale)

    def are_written(self, files: Mapping[str, bytes]) -> dict[str, bool]:
        """Tell of each record that pmem ever wrote whether it is as pmem last wrote it."""
        found: dict[str, bool] = {}
        with self._reading() as connection:
            key = None if connection is None else self._read_key(make=False)
            if connection is None or key is None:
                return found
            for path, counter, _, digest in _rows(connection, files):
                is_same = digest == _digest(key, path, counter, files[path])
                found[path] = found.get(path, False) or is_same
        return found

    def removed(self, root: str, paths: Collection[str]) -> set[str]:
        """Return which of some records pmem removed below this memory folder."""
        found: set[str] = set()
        with self._reading() as connection:
            gone = (_place(root), _GONE)
            rows = () if connection is None else _rows(connection, paths)
            found.update(path for path, _, *last in rows if tuple(last) == gone)
        return found

    def left(self, root: str) -> set[str]:
        """Return the records that pmem wrote below this memory folder, and did not remove."""
        found: set[str] = set()
        with self._reading() as connection:
            asked = "select path, max(counter), digest from written where place = ? group by path"
            rows = connection.execute(asked, (_place(root),)) if connection is not None else ()
            found.update(path for path, _, digest in rows if digest)
        return found

    def tree(self, name: str) -> bytes | None:
        """Return what a tree holds, `packed`; None for one not looked at."""
        with self._reading() as connection:
            asked = "select held from tree where name = ?"
            key = (os.fsencode(name),)
            row = None if connection is None else connection.execute(asked, key).fetchone()
            return None if row is None else bytes(row[0])

    def keep_tree(self, name: str, held: bytes) -> None:
        """Keep what a tree holds, `packed`."""
        with self._writing() as connection:
            if connection is None:
                return
            (used,) = connection.execute("select coalesce(max(used), 0) + 1 from tree").fetchone()
            row = (os.fsencode(name), used, held)
            connection.execute("insert or replace into tree values (?, ?, ?)", row)
            connection.execute("delete from tree where used <= ?", (used - _TREES,))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """Open the database to read it; None where there is none that can be used."""
        if self._reader is None and self.path and os.path.exists(self.path):
            self._reader = self._open("ro")
        if self._reader is None:
            yield None
            return
        with self._usable():
            yield self._reader

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection | None]:
        """Open the database for one transaction; None where nothing can be noted."""
        connection = None if self._read_only or not self.path else self._open("rwc")
        if connection is None:
            yield None
            return
        with self._usable(), closing(connection):
            yield connection
            connection.execute("commit")

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Go on after any error of the database; a broken one is discarded, as if it were lost."""
        try:
            yield
        except sqlite3.Error as error:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
            if _is_broken(error) and not self._read_only:
                safe_files.discard(self.path)

    def _open(self, mode: str, *, again: bool = True) -> sqlite3.Connection | None:
        try:
            if mode == "rwc":
                os.makedirs(os.path.dirname(self.path), _FOLDER, exist_ok=True)
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | _NO_LINK, _PRIVATE)
                os.close(descriptor)
            return self._connect(mode)
        except (OSError, sqlite3.Error) as error:
            if not _is_broken(error) or self._read_only or not again:
                return None
            safe_files.discard(self.path)  # as if it were lost
        return self._open(mode, again=False) if mode == "rwc" else None

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            address(self.path, mode), uri=True, timeout=_BUSY_SECONDS, isolation_level=None
        )
        try:
            if mode == "rwc":
                connection.execute("pragma synchronous = off")
                connection.execute("begin immediate")
            (version,) = connection.execute("pragma user_version").fetchone()
            if mode == "rwc" and version == 0:
                for table in _TABLES:
                    connection.execute(table)
                connection.execute(f"pragma user_version = {_VERSION}")
            elif version != _VERSION:
                raise sqlite3.OperationalError("another version of it")
        except BaseException:
            connection.close()
            raise
        return connection

    def _read_key(self, *, make: bool) -> bytes | None:
        """Return the key, made if it is missing; None where there is none that can be used."""
        if self._key is None:
            self._key = _bytes_in(self._key_path, _KEY_BYTES)
            if self._key is None and make and not os.path.lexists(self._key_path):
                _make_key(self._key_path)
                self._key = _bytes_in(self._key_path, _KEY_BYTES)
        return self._key


_BROKEN: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _is_broken(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & safe_files.PRIMARY in _BROKEN


def _places(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return where the database and the key are; nothing where no home is known."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    state = environment.get("XDG_STATE_HOME") or (home and os.path.join(home, ".local", "state"))
    kept = environment.get("XDG_CONFIG_HOME") or (home and os.path.join(home, ".config"))
    if not (os.path.isabs(state) and os.path.isabs(kept)):
        return "", ""
    database = os.path.join(state, "pmem", "origins.sqlite3")
    return database, os.path.join(kept, "pmem", "origins.key")


def _place(root: str, *, make: bool = False) -> int:
    """Return what tells a memory folder from others of this machine, also where it moves to.

    That is the folder's own number, and when pmem first wrote in it: another folder may get its
    number once it is gone.
    """
    path = os.path.join(root, *_BEGUN)
    if make and not os.path.lexists(path):
        with suppress(OSError):
            _write_new(path, time_ns().to_bytes(_TIME_BYTES, "big"))
    try:
        number = os.stat(root).st_ino
    except OSError:
        return 0
    begun = _bytes_in(path, _TIME_BYTES) or b""
    return (number ^ int.from_bytes(begun, "big")) & 0x7FFFFFFFFFFFFFFF


def _digest(key: bytes, path: str, counter: int, data: bytes) -> bytes:
    """Return the keyed digest of a record's bytes; which ends its lines have says nothing."""
    name = f"{path}\0{counter}\0".encode("utf-8", "surrogateescape")
    return blake2b(name + plain(data), key=key, digest_size=16).digest()


def packed(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the objects and paths that a tree holds as they are kept."""
    words = [word for object_, path in entries for word in (path, object_)]
    return _END.join([b"", *words, b""])


def unpacked(held: bytes, paths: Collection[str] | None) -> dict[str, list[str]]:
    """Return the objects that a tree holds under some paths, or all."""
    found: dict[str, list[str]] = {}
    if paths is not None and len(paths) > _LOOKED_UP:
        every = unpacked(held, None)
        return {one: every[one] for one in paths if one in every}
    if paths is None:
        words = held.split(_END)[1:-1]
        for path, object_ in zip(words[::2], words[1::2], strict=True):
            found.setdefault(os.fsdecode(path), []).append(object_.decode())
        return found
    for one in paths:
        wanted = _END + os.fsencode(one) + _END
        place = held.find(wanted)
        while place >= 0:
            start = place + len(wanted)
            found.setdefault(one, []).append(held[start : held.index(_END, start)].decode())
            place = held.find(wanted, start)
    return found


def plain(data: bytes) -> bytes:
    """Return a file with the ends of lines that git keeps."""
    return data.replace(b"\r\n", b"\n")


def blob_names(data: bytes, length: int) -> list[str]:
    """Return how git names a file's content: as it is, and with the ends of lines that it keeps."""
    from hashlib import sha1, sha256

    kind = sha1 if length == SHA1_DIGITS else sha256
    texts = dict.fromkeys((data, plain(data)))
    return [kind(b"blob %d\0%b" % (len(text), text)).hexdigest() for text in texts]


def _rows(
    connection: sqlite3.Connection, paths: Iterable[str]
) -> Iterator[tuple[str, int, int, bytes]]:
    known = [path for path in paths if _is_text(path)]  # pmem wrote no file of another name
    for start in range(0, len(known), _AT_ONCE):
        some = known[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        asked = f"select path, counter, place, digest from written where path in ({marks})"
        yield from connection.execute(asked, some)


def _is_text(path: str) -> bool:
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False


def _bytes_in(path: str, count: int) -> bytes | None:
    try:
        with open(os.open(path, os.O_RDONLY | _NO_LINK), "rb") as file:
            is_plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            found = file.read(count) if is_plain else b""
    except OSError:
        return None
    return found if len(found) == count else None


def _write_new(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, _PRIVATE)
    with open(descriptor, "wb") as file:
        file.write(data)


def _make_key(path: str) -> None:
    """Make the key, which only its owner can read; whoever was faster made it."""
    from secrets import token_bytes  # slow, and needed once

    aside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), _FOLDER, exist_ok=True)
        _write_new(aside, token_bytes(_KEY_BYTES))
        try:
            os.link(aside, path)
        finally:
            os.unlink(aside)
    except OSError:
        return
