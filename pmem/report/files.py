"""Writing reports: a file, or a folder of them, and never over what is none."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from pmem.core.pages import group_by_subject, page_name
from pmem.errors import InvalidValue, StorageRefused
from pmem.report.document import ReportDocument
from pmem.report.page import MARK, render_page, render_subject
from pmem.storage.files.durable import write_file

DEFAULT_FILE: Final = "memory-report.html"
FOLDER: Final = "subjects"
"""Where in a site the pages of subjects are."""
_BEGINNING: Final = 1_000


class WrittenReport(msgspec.Struct, frozen=True, kw_only=True):
    """Where a report was written, how many files and bytes it takes, and what is in it."""

    path: str
    files: int
    bytes: int
    memories: int


def write_report(document: ReportDocument, path: str) -> WrittenReport:
    """Write a report as one file.

    Args:
        document: What it says.
        path: The file; what is there must be a report.

    Raises:
        InvalidValue: What is there is none.
        StorageRefused: The disk or the file refuses.
    """
    if os.path.isdir(path):
        raise InvalidValue(f"{path} is a folder", "name a file, or use `--site` for a folder")
    size = _write(path, render_page(document))
    return WrittenReport(path=path, files=1, bytes=size, memories=len(document.memories))


def write_site(document: ReportDocument, folder: str) -> WrittenReport:
    """Write a report and a page for each subject; pages of subjects that are gone go.

    Args:
        document: What it says.
        folder: Where to; it is made if it is missing.

    Raises:
        InvalidValue: Something of the same name is there and is no report.
        StorageRefused: The disk or a file refuses.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InvalidValue(f"{folder} is a file", "name a folder for `--site`")
    groups = group_by_subject(document.memories)
    pages = {name: f"{FOLDER}/{page_name(name, 'html')}" for name in groups}
    whole = msgspec.structs.replace(document, pages=pages)
    texts = {"index.html": render_page(whole)}
    texts |= {pages[name]: render_subject(document, name, each) for name, each in groups.items()}
    size = sum(_write(os.path.join(folder, *name.split("/")), text) for name, text in texts.items())
    _remove_others(os.path.join(folder, FOLDER), {os.path.basename(page) for page in texts})
    memories = len(document.memories)
    return WrittenReport(path=folder, files=len(texts), bytes=size, memories=memories)


def _write(path: str, text: str) -> int:
    """Write a file and return its bytes.

    Raises:
        InvalidValue: What is there is no report.
        StorageRefused: The disk or the file refuses.
    """
    data = text.encode()
    try:
        if os.path.exists(path) and not _is_ours(path):
            raise InvalidValue(f"{path} is there and is no report", "name another file")
        write_file(os.path.abspath(path), data)
    except OSError as error:
        raise StorageRefused(f"{path} cannot be written: {error.strerror}") from None
    return len(data)


def _is_ours(path: str) -> bool:
    """Tell whether a file is a page of a report, or an empty one that waits for it."""
    with open(path, "rb") as file:
        beginning = file.read(_BEGINNING)
    return not beginning or MARK.encode() in beginning


def _remove_others(folder: str, kept: set[str]) -> None:
    """Remove the pages of subjects that are gone."""
    for path in _pages(folder):
        if os.path.basename(path) not in kept and _is_ours(path):
            with suppress(OSError):
                os.unlink(path)


def _pages(folder: str) -> Iterator[str]:
    with suppress(OSError):
        for entry in sorted(os.listdir(folder)):
            path = os.path.join(folder, entry)
            if entry.endswith(".html") and os.path.isfile(path) and not os.path.islink(path):
                yield path
