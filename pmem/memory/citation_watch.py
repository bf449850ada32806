"""Which citations are not as they were, found out fast enough for every list and context."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pmem.core.citations import CitationState, Content, Effort, judged
from pmem.core.cited_sides import Sides, sides_of_constant, what_became
from pmem.memory.symbols import name_of
from pmem.storage.git.project_files import FileTooLarge, Sources, Unreadable
from pmem.values.records import Citation

LookUp = Callable[[Sequence[Citation]], Mapping[Citation, Sides]]
WATCHED_CITATIONS: Final = 20
"""A context or a search looks at so many citations of a memory."""
WATCHED_BYTES: Final = 4 * 1024 * 1024
"""It looks through so much of the cited files; a larger one is left out."""
WATCHED_EFFORT: Final = 1024 * 1024
"""It folds so much of them to see whether a text stands there in another layout."""


class Watch:
    """Tells of memories that are shown what they cite and is not in its file any more.

    Only the cited files are looked at, so a text that went to another file counts as lost.

    Args:
        sources: The project's files.
        look_up: Returns both sides of citations; else those of constants alone are shown.
    """

    def __init__(self, sources: Sources, look_up: LookUp | None = None) -> None:
        self._sources = sources
        self._look_up = look_up or self._of_constants
        self._files: dict[str, Content | CitationState | None] = {}
        self._left = WATCHED_BYTES
        self._effort = Effort(WATCHED_EFFORT)

    def stale(self, citations: Sequence[Citation]) -> tuple[str, ...]:
        """Return what became of citations that are not as they were, one text for each.

        Args:
            citations: A memory's.
        """
        found = [(cited, self._state(cited)) for cited in citations[:WATCHED_CITATIONS]]
        lost = [cited for cited, state in found if state is CitationState.CHANGED]
        sides = self._look_up(lost) if lost else {}
        return tuple(what_became(one.place, state, sides.get(one)) for one, state in found if state)

    def _of_constants(self, changed: Sequence[Citation]) -> Mapping[Citation, Sides]:
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
            data = self._sources.read(file, self._left)
        except FileTooLarge:
            return None
        except Unreadable:
            return CitationState.GONE
        self._left -= len(data)
        return Content(data, self._effort)
