"""The instruction files that an assistant reads by itself: what they say is not told again.

Claude Code takes AGENTS.md where a folder has no CLAUDE.md, and files that CLAUDE.md names with
`@`; Codex, Gemini, Cursor and VS Code read what stands here, from the project's top to the folder
that they work in.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

_READ: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "claude-code": (("CLAUDE.md", "AGENTS.md"), (".claude/CLAUDE.md",)),
    "codex": (("AGENTS.override.md", "AGENTS.md"),),
    "gemini": (("GEMINI.md",),),
    "cursor": (("AGENTS.md",),),
    "vscode": (("AGENTS.md",), (".github/copilot-instructions.md",)),
}
"""For each assistant the files of a folder that it reads, of each row the first that is there."""
_INCLUDING: Final = "claude-code"
_INCLUDED: Final = re.compile(r"(?:^|\s)@([\w.~/-]+)")
_MOST_BYTES: Final = 256 * 1024
_DEEPEST: Final = 5
"""Claude Code follows inclusions as deep."""


def files_read(harness: str, project: str, folder: str) -> frozenset[str]:
    """Return the instruction files that an assistant has read when its session starts.

    Args:
        harness: The assistant.
        project: The folder of the memory's project.
        folder: The folder that the assistant works in; empty for the project's.

    Returns:
        Their names relative to the project, with slashes.
    """
    rows = _READ.get(harness, ())
    found: set[str] = set()
    for near in _folders(project, folder) if rows else ():
        for names in rows:
            paths = [f"{near}{name}" for name in names]
            there = next((one for one in paths if os.path.isfile(_path(project, one))), None)
            found |= {there} if there else set()
    return frozenset(found | _included(project, found) if harness == _INCLUDING else found)


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
    for name in _INCLUDED.findall(text):
        place = os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
        if not place.startswith((os.pardir, "/", "~")) and os.path.isfile(_path(project, place)):
            yield place


def _path(project: str, file: str) -> str:
    return os.path.join(project, *file.split("/"))
