"""Every way in, once."""

from typing import Final

from tests.fuzz import commands, files, gitoutput, requests, texts, whole
from tests.fuzz.judging import Entry

ENTRIES: Final[tuple[Entry, ...]] = (
    *files.ENTRIES,
    *requests.ENTRIES,
    *texts.ENTRIES,
    *gitoutput.ENTRIES,
    *commands.ENTRIES,
    *whole.ENTRIES,
)
