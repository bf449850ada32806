"""Every way in, once."""

from typing import Final

from tests.fuzz import commands, files, requests, texts, whole
from tests.fuzz.judging import Entry

ENTRIES: Final[tuple[Entry, ...]] = (
    *files.ENTRIES,
    *requests.ENTRIES,
    *texts.ENTRIES,
    *commands.ENTRIES,
    *whole.ENTRIES,
)
