"""The instruction files that an assistant reads by itself: what they say is not told again.

Claude Code takes files that CLAUDE.md names with `@`, and AGENTS.md where there is no CLAUDE.md;
Codex, Gemini, Cursor and VS Code read what stands here, from the project's top to the folder that
they work in. Claude Code and Gemini also read those of a folder below it, with the first file
there that they read or edit.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from pmem.values.patterns import lazily

_READ: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "claude-code": (("CLAUDE.md",), (".claude/CLAUDE.md",)),
    "codex": (("AGENTS.override.md", "AGENTS.md"),),
    "gemini": (("GEMINI.md",),),
    "cursor": (("AGENTS.md",),),
    "vscode": (("AGENTS.md",), (".github/copilot-instructions.md",)),
}
"""For each assistant the files of a folder that it reads, of each row the first that is there."""
_CLAUDE: Final = "claude-code"
_INSTEAD: Final = (("AGENTS.md",),)
"""What Claude Code reads in a project without a file of its own, since 2.1.277."""
_AT_A_FILE: Final = frozenset({"claude-code", "gemini"})
"""Who reads the files of a folder with a file in it: measured with 2.1.197 and 0.61."""
_CODE: Final = lazily(r"```.*?```|`[^`\n]*`", re.DOTALL)
_INCLUDED: Final = lazily(r"(?:^|\s)@([\w.~/-]+)")
_MOST_BYTES: Final = 256 * 1024
_DEEPEST: Final = 5
"""Claude Code follows inclusions as deep."""


def files_read(harness: str, project: str, folder: str) -> frozenset[str]:
    """Return the instruction files that an assistant has read when its session starts.

    `folder` is the one that the assistant works in; empty for the project's.

    Returns:
        Their names relative to the project, with slashes; of a link also what it leads to.
    """
    found = _own(harness, project, folder)
    if harness == _CLAUDE and not found:
        found = set(_there(project, folder, _INSTEAD))
    return _with_targets(project, found)


def files_read_with(
    harness: str, project: str, folder: str, touched: Iterable[str]
) -> frozenset[str]:
    """Return the instruction files that an assistant reads with files that it reads or edits.

    `touched` are paths of these files, and `folder` is the one that the assistant works in.
    """
    if harness not in _AT_A_FILE:
        return frozenset()
    folders = {os.path.dirname(file) for file in touched}
    found = {file for one in folders for file in _own(harness, project, one)}
    return _with_targets(project, found) - files_read(harness, project, folder)


def _own(harness: str, project: str, folder: str) -> set[str]:
    """Return the files of an assistant that are in a folder or above it, and what they include."""
    found = set(_there(project, folder, _READ.get(harness, ())))
    return found | _included(project, found) if harness == _CLAUDE else found


def _with_targets(project: str, files: Collection[str]) -> frozenset[str]:
    """Return files and what those lead to that are links."""
    top = os.path.realpath(project)
    real = (os.path.relpath(os.path.realpath(_path(project, file)), top) for file in files)
    return frozenset({*files, *(file.replace(os.sep, "/") for file in real)})


def _there(project: str, folder: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the files of some rows that are in a folder or above it."""
    for near in _folders(project, folder) if rows else ():
        for names in rows:
            paths = [f"{near}{name}" for name in names]
            yield from [one for one in paths if os.path.isfile(_path(project, one))][:1]


def _folders(project: str, folder: str) -> Iterator[str]:
    """Yield the folders from a project's top down to one, with a slash at the end."""
    inside = os.path.relpath(os.path.realpath(folder or project), os.path.realpath(project))
    parts = inside.replace(os.sep, "/").split("/")
    parts = [] if parts[0] in (os.curdir, os.pardir) else parts
    for depth in range(len(parts) + 1):
        yield "".join(f"{part}/" for part in parts[:depth])


def _included(project: str, files: set[str]) -> set[str]:
    """Return the files that some name, those that these name, and so on."""
    found: set[str] = set()
    for _ in range(_DEEPEST):
        files = {name for file in files for name in _named_in(project, file)} - found
        found |= files
    return found


def _named_in(project: str, file: str) -> Iterator[str]:
    try:
        with open(_path(project, file), encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST_BYTES)
    except OSError:
        return
    folder = os.path.dirname(file)
    for name in _INCLUDED.findall(_CODE.sub("", text)):
        place = os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
        if not place.startswith((os.pardir, "/", "~")) and os.path.isfile(_path(project, place)):
            yield place


def _path(project: str, file: str) -> str:
    return os.path.join(project, *file.split("/"))
