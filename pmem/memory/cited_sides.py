"""What changed citations said and what their files say now, with git's help."""

from collections.abc import Sequence
from typing import Final

from pmem.core.citations import Content, constant_of
from pmem.core.cited_sides import Sides, sides_of_constant, sides_of_lines
from pmem.core.lines import split_lines
from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.git.changed_files import hunks, lines_after
from pmem.storage.git.objects import Objects
from pmem.storage.git.project_files import GIT, Unreadable
from pmem.values.records import Citation

_MOST: Final = 50
"""Of so many citations of lines the texts are looked up; git is asked for each."""


def sides_of(workspace: Workspace, changed: Sequence[Citation]) -> dict[Citation, Sides]:
    """Return both sides of citations whose text changed, as far as they are known.

    Args:
        workspace: Whose project.
        changed: The citations.
    """
    found: dict[Citation, Sides | None] = {}
    for cited in changed:
        if constant_of(cited):
            data = _data_of(workspace, cited)
            found[cited] = None if data is None else sides_of_constant(cited, Content(data))
    lines = [one for one in changed if one not in found and one.lines is not None][:_MOST]
    olds = as_cited(workspace, lines)
    for cited, old in olds.items():
        found[cited] = _sides_of_lines(workspace, cited, old)
    return {cited: sides for cited, sides in found.items() if sides is not None}


def as_cited(workspace: Workspace, wanted: Sequence[Citation]) -> dict[Citation, bytes]:
    """Return what cited files held then; nothing of those that git does not have.

    Args:
        workspace: Whose project.
        wanted: The citations.
    """
    known = [cited for cited in wanted if cited.blob is not None]
    if not known or workspace.sources.head() is None:
        return {}
    blobs = [str(cited.blob).removeprefix(GIT) for cited in known]
    try:
        texts = list(Objects(workspace.root, workspace.environment).contents(blobs))
    except PmemError:
        return {}
    return {cited: text for cited, text in zip(known, texts, strict=True) if text is not None}


def _sides_of_lines(workspace: Workspace, cited: Citation, old: bytes) -> Sides | None:
    new = _data_of(workspace, cited)
    if new is None or cited.lines is None:
        return None
    place = lines_after(hunks(old, new, workspace.environment), cited.lines)
    if place is None:
        return None
    return sides_of_lines(_lines(old, cited.lines), _lines(new, place))


def _data_of(workspace: Workspace, cited: Citation) -> bytes | None:
    try:
        return workspace.sources.read(cited.file)
    except Unreadable:
        return None


def _lines(data: bytes, lines: tuple[int, int]) -> Sequence[str]:
    return split_lines(data.decode("utf-8-sig", "replace"))[lines[0] - 1 : lines[1]]
