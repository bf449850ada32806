"""Stepping between SQLite and the operating system, as SQLite's own tests do.

SQLite asks the system itself, past Python. Its default file system lets each of those calls be
replaced (`xSetSystemCall`), and that is done here, through the very library that Python uses.
Its syncs are not among them.
"""

import ctypes
import errno
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

Visit = Callable[[str, tuple[Any, ...]], None]
"""Told of each call before it happens; what it raises as an OSError, SQLite gets as errno."""

_PARTS: Final = (
    "next name data open delete access full dl_open dl_error dl_sym dl_close random sleep time"
    " last_error time64"
).split()


class _Vfs(ctypes.Structure):
    """The head of `sqlite3_vfs`, in the order of sqlite3.h."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in _PARTS),
        (
            "set_call",
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
        ),
        ("get_call", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)),
    )


_INT, _TEXT, _POINTER, _LONG = ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64
_SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    "open": (_INT, _TEXT, _INT, _INT),
    "write": (ctypes.c_ssize_t, _INT, _POINTER, ctypes.c_size_t),
    "pwrite": (ctypes.c_ssize_t, _INT, _POINTER, ctypes.c_size_t, _LONG),
    "pwrite64": (ctypes.c_ssize_t, _INT, _POINTER, ctypes.c_size_t, _LONG),
    "ftruncate": (_INT, _INT, _LONG),
    "unlink": (_INT, _TEXT),
    "fcntl": (_INT, _INT, _INT, _POINTER),
}
"""The calls that change something or take a lock."""


_SEED: Final = 28
"""`SQLITE_TESTCTRL_PRNG_SEED` of sqlite3.h."""


@contextmanager
def hooked(visit: Visit) -> Iterator[bool]:
    """Tell of the calls that SQLite makes; yields whether that can be done here."""
    vfs = _default_file_system()
    if vfs is None:
        yield False
        return
    kept = []
    for name, signature in _SIGNATURES.items():
        original = vfs.get_call(ctypes.addressof(vfs), name.encode())
        if original:
            form = ctypes.CFUNCTYPE(*signature, use_errno=True)
            call = form(_stepping(name, form(original), visit))
            kept.append((name, original, call))
            _set(vfs, name, ctypes.cast(call, ctypes.c_void_p))
    collects = gc.isenabled()
    gc.disable()  # it could close a database while SQLite waits for our answer, lock in hand
    try:
        yield bool(kept)
    finally:
        if collects:
            gc.enable()
        for name, original, _ in kept:
            _set(vfs, name, ctypes.c_void_p(original))


def with_fixed_chance() -> bool:
    """Make what SQLite draws, the salt of its journals, come out the same from here on.

    Returns:
        Whether that can be done here.
    """
    import _sqlite3

    try:
        library = ctypes.CDLL(_sqlite3.__file__)
        control, randomness = library.sqlite3_test_control, library.sqlite3_randomness
    except (OSError, AttributeError):
        return False
    control(_SEED, ctypes.c_int(1), ctypes.c_void_p())
    randomness(0, ctypes.c_void_p())  # so that the next draw is the seed's first
    return True


def _set(vfs: _Vfs, name: str, call: ctypes.c_void_p) -> None:
    assert vfs.set_call(ctypes.addressof(vfs), name.encode(), call) == 0


def _stepping(name: str, original: Callable[..., int], visit: Visit) -> Callable[..., int]:
    def call(*args: Any) -> int:
        try:
            visit(f"sqlite {name}", _plain(name, args))
        except OSError as error:
            ctypes.set_errno(error.errno or errno.EIO)
            return -1
        return original(*args)

    return call


def _plain(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a call's arguments as those of the function of `os`."""
    if "write" in name:
        return (args[0], ctypes.string_at(args[1], args[2]), *args[3:])
    if name == "fcntl" and args[2]:  # a `struct flock` begins with what is to be done
        return (*args[:2], ctypes.c_short.from_address(args[2]).value)
    return (os.fsdecode(args[0]), *args[1:]) if isinstance(args[0], bytes) else args


def _default_file_system() -> _Vfs | None:
    import _sqlite3

    try:
        find = ctypes.CDLL(_sqlite3.__file__).sqlite3_vfs_find
    except (OSError, AttributeError):
        return None
    find.restype = ctypes.POINTER(_Vfs)
    found = find(None)
    return found.contents if found and found.contents.version >= 3 else None
