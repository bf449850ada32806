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
_READERS: Final = ("compression.zstd", "backports.zstd", "zstandard")


class NotDecompressed(FileNotRead):
    """A file is compressed, and nothing here decompresses it."""

    default_hint = "install the program `zstd`, or the package `zstandard`"


def lines_of(path: str, told: Callable[[int], None] = lambda count: None) -> Iterator[bytes]:
    """Yield the lines of a file with their ends, none longer than is looked at and one byte more.

    A whole JSON document (`.json`) is one line.

    Args:
        path: The file.
        told: Told how many bytes were read.

    Raises:
        StorageRefused: It may not be read.
        NotDecompressed: It is compressed, and nothing here decompresses it.
    """
    done = 0
    try:
        with _open_session(path) as file:
            if path.endswith(".json"):
                yield b" ".join(file.read(MOST_BYTES).split(b"\n"))
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
    try:
        with open(path, "rb") as file:
            start = file.read(LOOKED_AT)
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None
    return next(_members(path, LOOKED_AT)) if start.startswith(_ARCHIVE) else start


def documents_of(path: str) -> Iterator[bytes]:
    """Yield what a file holds, or each file with chats in an archive.

    Raises:
        InvalidValue: It is larger than can be read at once, or an archive that is damaged.
        StorageRefused: It may not be read.
    """
    if start_is_archive(path):
        yield from _members(path, MOST_BYTES + 1)
        return
    try:
        with open(path, "rb") as file:
            yield _whole(path, file)
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None


def start_is_archive(path: str) -> bool:
    """Return whether a file is a ZIP archive."""
    with open(path, "rb") as file:
        return file.read(len(_ARCHIVE)) == _ARCHIVE


def _whole(path: str, file: IO[bytes]) -> bytes:
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InvalidValue(f"{path} has more than {MOST_BYTES >> 20} MB", "export fewer chats")
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
                if len(data) > MOST_BYTES:
                    raise InvalidValue(f"{name} in {path} has more than {MOST_BYTES >> 20} MB")
                yield data
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
    reader = _decompressor()
    if reader is not None:
        with reader(path) as file:
            yield file
        return
    program = shutil.which("zstd")
    if program is None:
        raise NotDecompressed(f"{path} is compressed, and there is no zstd")
    command = [program, "--decompress", "--stdout", "--quiet", "--", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:  # noqa: S603
        assert running.stdout is not None
        yield running.stdout
        running.stdout.close()
        running.kill()


def _decompressor() -> Callable[[str], Any] | None:
    """Return what opens a compressed file in this Python; None where no package does."""
    for name in _READERS:
        try:
            opener: Callable[[str], Any] = import_module(name).open
        except ImportError:
            continue
        return opener
    return None


def read_past_compressed(
    paths: Iterable[str], is_wanted: Callable[[str], bool]
) -> tuple[list[str], int]:
    """Return the files that are wanted, and how many could not be decompressed to see that.

    Args:
        paths: The files.
        is_wanted: Looks into one.
    """
    kept, closed = [], 0
    for path in paths:
        try:
            if is_wanted(path):
                kept.append(path)
        except NotDecompressed:
            closed += 1
    return kept, closed
