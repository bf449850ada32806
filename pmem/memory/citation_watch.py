"""Which citations are not as they were, fast enough for every list, and what became of each."""

from collections.abc import Mapping, Sequence
from typing import Final

from pmem.core.citations import CitationState, Content, Effort, constant_of, judged
from pmem.core.cited_sides import Sides, sides_of_constant, sides_of_lines, what_became
from pmem.core.lines import split_lines
from pmem.errors import PmemError
from pmem.memory.symbols import name_of
from pmem.project.workspace import Workspace
from pmem.storage.git.objects import Objects
from pmem.storage.git.project_files import GIT, FileTooLarge, Unreadable
from pmem.values.records import Citation

WATCHED_CITATIONS: Final = 20
"""A context or a search looks at so many citations of a memory."""
WATCHED_BYTES: Final = 4 * 1024 * 1024
"""It looks through so much of the cited files; a larger one is left out."""
WATCHED_EFFORT: Final = 1024 * 1024
"""It folds so much of them to see whether a text stands there in another layout."""
_MOST: Final = 50
"""Of so many citations of lines the texts are looked up; git is asked for each."""


class Watch:
    """Tells of memories that are shown what they cite and is not in its file any more.

    Only the cited files are looked at, so a text that went to another file counts as lost. With
    `whole`, both sides of every changed text are looked up with git's help.
    """

    def __init__(self, workspace: Workspace, *, whole: bool = False) -> None:
        self._workspace = workspace
        self._look_up = sides_of if whole else self._of_constants
        self._files: dict[str, Content | CitationState | None] = {}
        self._left = WATCHED_BYTES
        self._effort = Effort(WATCHED_EFFORT)

    def stale(self, citations: Sequence[Citation]) -> tuple[str, ...]:
        """Return what became of citations that are not as they were, one text for each."""
        found = [(cited, self._state(cited)) for cited in citations[:WATCHED_CITATIONS]]
        lost = [cited for cited, state in found if state is CitationState.CHANGED]
        sides = self._look_up(self._workspace, lost) if lost else {}
        return tuple(what_became(one.place, state, sides.get(one)) for one, state in found if state)

    def _of_constants(self, _: Workspace, changed: Sequence[Citation]) -> Mapping[Citation, Sides]:
        found = ((cited, self._files[cited.file]) for cited in changed)
        both = {
            cited: sides_of_constant(cited, it) for cited, it in found if isinstance(it, Content)
        }
        return {cited: sides for cited, sides in both.items() if sides is not None}

    def _state(self, cited: Citation) -> CitationState | None:
        if cited.file not in self._files:
            self._files[cited.file] = self._look(cited.file)
        found = self._files[cited.file]
        if not isinstance(found, Content):
            return found
        if judged(cited, found):
            return None
        name = name_of(cited)
        is_there = name is None or found.mentions(name)
        return CitationState.CHANGED if is_there else CitationState.GONE

    def _look(self, file: str) -> Content | CitationState | None:
        """Return what a file holds, or that it is gone; None where that would be too much."""
        try:
            data = self._workspace.sources.read(file, self._left)
        except FileTooLarge:
            return None
        except Unreadable:
            return CitationState.GONE
        self._left -= len(data)
        return Content(data, self._effort)


def sides_of(workspace: Workspace, changed: Sequence[Citation]) -> dict[Citation, Sides]:
    """Return what changed citations said and say now, as far as both are known."""
    from pmem.storage.git.changed_files import hunks, lines_after

    found: dict[Citation, Sides] = {}
    lines = [one for one in changed if one.lines is not None and not constant_of(one)][:_MOST]
    olds = as_cited(workspace, lines)
    for cited in changed:
        if cited not in olds and not constant_of(cited):
            continue
        try:
            new = workspace.sources.read(cited.file)
        except Unreadable:
            continue
        sides = sides_of_constant(cited, Content(new)) if constant_of(cited) else None
        if cited in olds and cited.lines is not None:
            place = lines_after(hunks(olds[cited], new, workspace.environment), cited.lines)
            if place is not None:
                sides = sides_of_lines(_lines(olds[cited], cited.lines), _lines(new, place))
        if sides is not None:
            found[cited] = sides
    return found


def as_cited(workspace: Workspace, wanted: Sequence[Citation]) -> dict[Citation, bytes]:
    """Return what cited files held then; nothing of those that git does not have."""
    known = [cited for cited in wanted if cited.blob is not None]
    if not known or workspace.sources.head is None:
        return {}

    blobs = [str(cited.blob).removeprefix(GIT) for cited in known]
    try:
        texts = list(Objects(workspace.root, workspace.environment).contents(blobs))
    except PmemError:
        return {}
    return {cited: text for cited, text in zip(known, texts, strict=True) if text is not None}


def _lines(data: bytes, lines: tuple[int, int]) -> Sequence[str]:
    return split_lines(data.decode("utf-8-sig", "replace"))[lines[0] - 1 : lines[1]]
