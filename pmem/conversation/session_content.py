"""What the files of sessions hold: plain, compressed, or several in an archive."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any, Final

from pmem.errors import FileNotRead, InvalidValue
from pmem.interchange.chat_forms import LOOKED_AT
from pmem.values.bounds import LINE_BYTES

ZSTD: Final = ".zst"
"""The ending of what Codex compresses after a week."""
MOST_BYTES: Final = 512 << 20
"""A file, or a part of an archive, of more bytes is not read at once."""
_ARCHIVE: Final = b"PK\x03\x04"
_CHATS: Final = "conversations"


class NotDecompressed(FileNotRead):
    """A file is compressed, and nothing here decompresses it."""

    default_hint = "install the program `zstd`"


def lines_of(path: str, told: Callable[[int], None] = lambda count: None) -> Iterator[bytes]:
    """Yield the lines of a file with their ends, none longer than is looked at and one byte more.

    A whole JSON document (`.json`) is one line.

    Raises:
        StorageRefused: It may not be read, or is damaged.
        NotDecompressed: It is compressed, and nothing here decompresses it.
        InvalidValue: It is a whole document, and larger than can be read at once.
    """
    done = 0
    try:
        with _open_session(path) as file:
            if path.endswith(".json"):
                yield _within_limit(path, file.read(MOST_BYTES + 1)).replace(b"\n", b" ")
                return
            while line := file.readline(LINE_BYTES + 1):
                done += len(line)
                while len(line) > LINE_BYTES and not line.endswith(b"\n"):
                    rest = file.readline(LINE_BYTES + 1)
                    done += len(rest)
                    if not rest or rest.endswith(b"\n"):
                        break
                told(done)
                yield line
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror or error}") from None


def start_of(path: str) -> bytes:
    """Return how a file begins, or the first chats of an archive do.

    Raises:
        InvalidValue: It is an archive without chats, or a damaged one.
        StorageRefused: It may not be read.
    """
    start = _bytes_of(path, LOOKED_AT)
    return next(_members(path, LOOKED_AT)) if start.startswith(_ARCHIVE) else start


def documents_of(path: str) -> Iterator[bytes]:
    """Yield what a file holds, or each file with chats in an archive.

    Raises:
        InvalidValue: It is larger than can be read at once, or an archive that is damaged.
        StorageRefused: It may not be read.
    """
    if _bytes_of(path, len(_ARCHIVE)) == _ARCHIVE:
        yield from _members(path, MOST_BYTES + 1)
    else:
        yield _within_limit(path, _bytes_of(path, MOST_BYTES + 1))


def _bytes_of(path: str, most: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None


def _within_limit(name: str, data: bytes) -> bytes:
    """Return what a file holds, where it was not too much to be read at once."""
    if len(data) > MOST_BYTES:
        raise InvalidValue(f"{name} has more than {MOST_BYTES >> 20} MB", "export fewer chats")
    return data


def _members(path: str, most: int) -> Iterator[bytes]:
    """Yield the start of each file with chats in an archive; nothing is written anywhere."""
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            names = [one for one in archive.namelist() if _is_chats(one)]
            if not names:
                raise InvalidValue(f"{path} has no {_CHATS}.json", "name the export of a chat")
            for name in sorted(names):
                with archive.open(name) as file:
                    data = file.read(most)
                yield _within_limit(f"{name} in {path}", data)
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise InvalidValue(f"{path} is an archive that cannot be read: {error}") from None


def _is_chats(name: str) -> bool:
    base = os.path.basename(name)
    return base.startswith(_CHATS) and base.endswith(".json")


@contextmanager
def _open_session(path: str) -> Iterator[Any]:
    """Open a file to be read, through what decompresses it."""
    if not path.endswith(ZSTD):
        with open(path, "rb") as file:
            yield file
        return
    try:
        zstd = import_module("compression.zstd")  # from Python 3.14 on
    except ImportError:
        with _open_by_program(path) as file:
            yield file
        return
    try:
        with zstd.open(path) as file:
            yield file
    except (zstd.ZstdError, EOFError) as error:
        raise FileNotRead(f"{path} cannot be decompressed: {error}") from None


@contextmanager
def _open_by_program(path: str) -> Iterator[IO[bytes]]:
    program = shutil.which("zstd")
    if program is None:
        raise NotDecompressed(f"{path} is compressed, and there is no zstd")
    command = [program, "--decompress", "--stdout", "--quiet", "--", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:  # noqa: S603
        assert running.stdout is not None
        yield running.stdout
        if running.wait() != 0:
            raise FileNotRead(f"{path} cannot be decompressed: it is damaged")


def read_past_compressed(
    paths: Iterable[str], is_wanted: Callable[[str], bool]
) -> tuple[list[str], int]:
    """Return the files that are wanted, and how many could not be decompressed to see that."""
    kept, closed = [], 0
    for path in paths:
        try:
            if is_wanted(path):
                kept.append(path)
        except NotDecompressed:
            closed += 1
    return kept, closed
