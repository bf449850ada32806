"""The memory as Markdown pages, and writing them over nothing else."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import msgspec

from pmem.apps.reading import known_app
from pmem.conversation.exchange import write_files
from pmem.core.filters import Filter
from pmem.core.outcomes import told_with
from pmem.core.pages import MARK, write_pages
from pmem.errors import InvalidValue, StorageRefused
from pmem.project.workspace import Workspace
from pmem.values.fields import AtRequest, asked


class MarkdownRequest(AtRequest, frozen=True, kw_only=True):
    """What to write as Markdown: all active memories or those of an app, on one page or several.

    `by_subject` gives each subject a page of its own.
    """

    app: Annotated[str | None, asked("Only what belongs to this app.")] = None
    by_subject: bool = False

    @property
    def named_app(self) -> str | None:
        """The app whose records it asks for by name."""
        return self.app


class MarkdownPages(msgspec.Struct, frozen=True, kw_only=True):
    """Markdown pages by file name, and how many memories are on them."""

    files: dict[str, str]
    memories: int


def export_markdown(workspace: Workspace, request: MarkdownRequest) -> MarkdownPages:
    """Write the active memories as Markdown, without secrets."""
    app = None if request.app is None else known_app(workspace, request.app)
    found = workspace.memories.find(Filter(app=app))
    whole = (msgspec.structs.replace(one, content=one.content + told_with(one)) for one in found)
    told = list(map(workspace.mask.fields, whole))
    pages = write_pages(told, by_subject=request.by_subject)
    return MarkdownPages(files=pages, memories=len(told))


def write_folder(folder: str, pages: Mapping[str, str]) -> None:
    """Write pages into a folder; pages that were made there before, of subjects now gone, go.

    Raises:
        InvalidValue: Something of the same name is there and is no page.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InvalidValue(f"{folder} is a file", "end the name with .md for one page")
    write_over(folder, pages)
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name not in pages and name.endswith(".md") and _is_ours(path):
                os.unlink(path)


def write_over(folder: str, pages: Mapping[str, str]) -> None:
    """Write all pages, or none where one would take the place of what is no page."""
    for name in pages:
        path = os.path.join(folder, name)
        if os.path.lexists(path) and not _is_ours(path):
            raise InvalidValue(f"{path} was not made by this export", "name another place")
    write_files(folder, {name: page.encode() for name, page in pages.items()})


def _is_ours(path: str) -> bool:
    """Tell whether a file is a page that was made here, or an empty one that waits for it."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            beginning = file.read(len(MARK))
    except OSError as error:
        raise StorageRefused(f"{path} cannot be read: {error.strerror}") from None
    return not beginning or beginning == MARK.encode()
