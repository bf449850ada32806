"""Pairs of records that were put before a person lately, so that none is put twice."""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import msgspec

from pmem.errors import PmemError
from pmem.storage.files import durable
from pmem.values.times import iso

FILE: Final = "judged.json"
KEPT: Final = timedelta(days=14)
_MOST_BYTES: Final = 16 * 1024 * 1024
_SAFELY: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Through no link, and without waiting for the other end of a pipe."""
_Times = dict[str, datetime]


class Judged:
    """Fingerprints of pairs, kept for 14 days; losing them costs nothing but a repetition.

    Args:
        local: The untracked folder that holds them; where it is a link, there are none.
        now: The present.
    """

    def __init__(self, local: str, now: datetime) -> None:
        self._local = local
        self._path = os.path.join(local, FILE)
        self._now = now

    def known(self) -> Collection[str]:
        """Return the fingerprints that are still kept."""
        return self._read().keys()

    def note(self, fingerprints: Iterable[str]) -> None:
        """Keep fingerprints from now on; where nothing can be written, nothing is."""
        times = {**self._read(), **dict.fromkeys(fingerprints, self._now)}
        data = msgspec.json.encode({key: iso(at) for key, at in times.items()})
        if os.path.islink(self._local):
            return
        with suppress(OSError, PmemError):
            durable.write_file(self._path, data)

    def _read(self) -> _Times:
        if os.path.islink(self._local):
            return {}
        try:
            descriptor = os.open(self._path, os.O_RDONLY | _SAFELY)
            with open(descriptor, "rb") as file:
                found = msgspec.json.decode(file.read(_MOST_BYTES), type=_Times)
            return {key: at for key, at in found.items() if abs(self._now - at) < KEPT}
        except (OSError, TypeError, ValueError):
            return {}
