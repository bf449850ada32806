"""The Markdown files that an import reads: those that are named, and those in folders."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from pmem.errors import Damaged, FileNotRead, InvalidValue
from pmem.interchange import Skipped
from pmem.project.workspace import Workspace
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.files.worktree import name_in

_MARKDOWN: Final = (".md", ".mdc", ".markdown")
_MOST_BYTES: Final = 1024 * 1024
_NAMED: Final = 3


class NoteFile(msgspec.Struct, frozen=True):
    """An instruction file: its path in the project, with slashes, and what it says."""

    file: str
    text: str


def note_files(
    workspace: Workspace,
    paths: Iterable[str],
    wanted: Callable[[str], bool],
    skipped: list[Skipped],
) -> Iterator[NoteFile]:
    """Read Markdown files; of a folder those that are in it, and those below it that are wanted.

    `wanted` tells by its path whether a file below a folder is read; `skipped` takes a line for
    each folder of which some were not.

    Raises:
        InvalidValue: There is no such file, it is no text, or it is outside the project.
        StorageRefused: A file may not be read.
    """
    read: set[str] = set()
    for path in paths:
        names = [path]
        if os.path.isdir(path):
            names, others = _in_folder(workspace, path, wanted)
            if others:
                listed = ", ".join(others[:_NAMED]) + ", ..." * (len(others) > _NAMED)
                why = f"has Markdown below it that is no instruction file ({len(others)}): {listed}"
                skipped.append(Skipped(path, why))
        for name in names:
            try:
                file = _read_file(os.path.dirname(workspace.root), name)
            except (InvalidValue, FileNotRead) as error:
                if names == [path]:
                    raise
                why = error.message.removeprefix(f"{name} ")
                skipped.append(Skipped(name_in(workspace.sources.top, name), why))
                continue
            if file.file not in read:
                read.add(file.file)
                yield file


def _in_folder(
    workspace: Workspace, folder: str, wanted: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """Return the paths of a folder's Markdown files that are read, and the names of the others."""
    top = os.path.realpath(workspace.sources.top)
    inside = name_in(top, folder)
    if not inside and os.path.realpath(folder) != top:
        raise InvalidValue(f"{folder} lies outside {top}", "copy it into the project")
    found = [one for one in workspace.sources.within(inside) if one.endswith(_MARKDOWN)]
    others = [one for one in found if one.rpartition("/")[0] != inside and not wanted(one)]
    kept = sorted(set(found).difference(others))
    paths = (os.path.join(top, *one.split("/")) for one in kept)
    return [path for path in paths if os.path.exists(path)], others


def _read_file(project: str, path: str) -> NoteFile:
    real = os.path.realpath(path)
    place = os.path.relpath(real, os.path.realpath(project))
    if place.startswith(os.pardir):
        raise InvalidValue(f"{path} lies outside {project}", "copy it into the project")
    try:
        data, _ = read_bytes(real, _MOST_BYTES, "a Markdown file")
        return NoteFile(file=place.replace(os.sep, "/"), text=data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidValue(f"{path} is not UTF-8", "save it as UTF-8") from None
    except Damaged as error:
        why = error.message.removeprefix(f"{real} ")
        raise InvalidValue(f"{path} {why}", "import a part of it") from None
    except FileNotFoundError:
        raise InvalidValue(f"there is no file {path}", "look at the path") from None
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None
