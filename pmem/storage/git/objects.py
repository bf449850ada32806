"""Reading many of git's objects with one process."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import IO, Final

from pmem.errors import NotFound
from pmem.storage.git import git
from pmem.values.bounds import RECORD_BYTES

_BATCH: Final = 100
"""Objects asked for before their answers are read: so many names fit into any pipe."""
_BATCH_SECONDS: Final = 120


class PartialClone(NotFound):
    """A partial clone lacks an object, and nothing is fetched unasked."""

    default_hint = "fetch the rest first: `git fetch --refetch --no-filter`"

    def __init__(self) -> None:
        super().__init__("this clone is partial, and lacks a file of that revision")


class Objects:
    """The objects of the repository around a folder."""

    def __init__(self, folder: str, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment

    def contents(self, objects: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the contents of blobs in their order.

        Args:
            objects: Their names. One that is missing, damaged, no blob, or larger than a record
                may be yields None.

        Raises:
            NotFound: There is no git.
            PartialClone: The clone was made without one of them.
        """
        place = 0
        while place < len(objects):
            for data in self._batch(objects[place:]):
                place += 1
                yield data
            if place < len(objects):  # git gave up at this one
                place += 1
                yield None

    def _batch(self, objects: Sequence[str]) -> Iterator[bytes | None]:
        """Yield contents until one process is through, or cannot go on."""
        with self._reader() as process:
            assert process.stdin
            assert process.stdout
            for start in range(0, len(objects), _BATCH):
                names = objects[start : start + _BATCH]
                try:
                    process.stdin.write("".join(f"{name}\n" for name in names).encode())
                    process.stdin.flush()
                except BrokenPipeError:
                    return
                for _ in names:
                    header = process.stdout.readline().split()
                    if header[-1:] in ([], [b"missing"]) and self._is_partial:
                        raise PartialClone
                    if not header or (len(header) == 3 and int(header[2]) > RECORD_BYTES):
                        return
                    yield _content(process.stdout, header)

    @cached_property
    def _is_partial(self) -> bool:
        asked = ["config", "--get-regexp", r"^remote\..*\.promisor$"]
        return bool(git.ask(self._folder, asked, self._environment))

    @contextmanager
    def _reader(self) -> Iterator[subprocess.Popen[bytes]]:
        from threading import Timer

        pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = git.popen(self._folder, ["cat-file", "--batch"], self._environment, **pipes)
        timer = Timer(_BATCH_SECONDS, process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()
            with suppress(OSError):
                process.communicate()


def _content(stream: IO[bytes], header: list[bytes]) -> bytes | None:
    """Read what follows a header; an object of another type has no content of use."""
    if len(header) != 3:
        return None
    data = stream.read(int(header[2]) + 1)
    return data[:-1] if header[1] == b"blob" and len(data) == int(header[2]) + 1 else None
