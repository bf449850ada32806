"""What answers a prompt: little, to the point, and of what was shown before only the best.

It stands in a fence that no memory can close, within a length.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import Final

import msgspec

from pmem.core.context.parts import YOURS, Item
from pmem.core.context.writing import LEAST_KEPT, cut, fence_of
from pmem.core.followed_rules import repeats_rule
from pmem.core.own_words import ON_PROMPT
from pmem.core.text.terms import terms
from pmem.errors import PmemError
from pmem.memory.reading import Staleness
from pmem.project.own_memory import own_beside
from pmem.project.workspace import Workspace
from pmem.search.context_items import episode_item, memory_item
from pmem.search.hits import REMEMBERED, LoadedHit, Scored, SearchKind, opened
from pmem.search.picking import SearchRequest, pick

MOST_ITEMS: Final = 5
MOST_OF_OWN: Final = 2
"""And so many of the memory of whoever asks."""


class PromptText:
    """What answers a prompt, as it fills up.

    `longest` counts characters, or bytes with `in_bytes`.
    """

    def __init__(self, workspace: Workspace, longest: int, *, in_bytes: bool) -> None:
        self._workspace = workspace
        self._longest = longest
        self._in_bytes = in_bytes
        self._items: list[Item] = []
        self._own: list[Item] = []

    def add(self, found: Iterable[LoadedHit]) -> Iterator[tuple[str, str]]:
        """Take what there is room for, and yield the id and the whole text of each."""
        yield from self._added(self._workspace, found, self._items, MOST_ITEMS)

    def add_own(self, own: Workspace, found: Iterable[LoadedHit]) -> Iterator[tuple[str, str]]:
        """Do the same for what is not the project's but of the memory of whoever asks."""
        yield from self._added(own, found, self._own, MOST_OF_OWN)

    def _added(
        self, place: Workspace, found: Iterable[LoadedHit], items: list[Item], most: int
    ) -> Iterator[tuple[str, str]]:
        staleness = Staleness(place)
        for one in found:
            if len(items) == most:
                return
            is_ours = items is self._items
            item = memory_item(one.document, ids=is_ours) if _is_memory(one) else episode_item(one)
            item = msgspec.structs.replace(place.mask.fields(item), heading="")
            stale = staleness(one.document)
            if stale:
                item = msgspec.structs.replace(item, label=f"{item.label}(stale: {stale[0]}) ")
            if self._take(item, items):
                text = item.text if _is_memory(one) else one.document.summary
                yield item.id, text if _is_memory(one) else place.mask.text(text)

    def written(self) -> str:
        """Return the text."""
        own = [msgspec.structs.replace(item, heading=YOURS) for item in self._own]
        return "\n".join([f"{ON_PROMPT}:", *fence_of([*self._items, *own])])

    def _take(self, item: Item, items: list[Item]) -> bool:
        """Take an item if there is room; the first one also cut."""
        is_first = not self._items and not self._own
        items.append(item)
        kept = len(item.text)
        while self._left() < 0 and is_first and kept > LEAST_KEPT:
            kept = max(LEAST_KEPT, kept * 3 // 4)
            items[-1:] = cut([item], kept)
        if self._left() >= 0:
            return True
        items.pop()
        return False

    def _left(self) -> int:
        text = self.written()
        return self._longest - (len(text.encode()) if self._in_bytes else len(text))


def _is_memory(found: LoadedHit) -> bool:
    return found.kind is SearchKind.MEMORY


LEAST_TERMS: Final = 2
"""A prompt with fewer words to look for asks for nothing that can be found; a question, with none.
"""
LEAST_SCORE: Final = 0.2
"""What scores less is not told: it shares a word and hardly answers (see decision 44)."""
LEAST_OF_BEST: Final = 0.75
"""Nor what has a smaller share of the best score."""
LOOKED_AT: Final = 10
"""How many of the best hits are looked at."""


class PromptAnswer(msgspec.Struct, frozen=True):
    """What a prompt is given: the text, and the id and the text of each memory that is shown.

    `yours` are those of the memory of whoever asks, which is `own`.
    """

    text: str = ""
    shown: tuple[tuple[str, str], ...] = ()
    yours: tuple[tuple[str, str], ...] = ()
    own: Workspace | None = None


def answer_prompt(
    workspace: Workspace,
    prompt: str,
    thread: str | None,
    longest: int,
    *,
    in_bytes: bool,
    already_read: Collection[str] = (),
) -> PromptAnswer:
    """Write what answers a prompt best, and what else does and its session has not been shown.

    A memory is shown whole, or where it alone is too long, as far as there is room. `longest`
    counts characters, or bytes with `in_bytes`. Rules of the instruction files `already_read`,
    relative to the project, are not told again.
    """
    if len(set(terms(prompt))) < LEAST_TERMS - ("?" in prompt):
        return PromptAnswer()
    found = _found(workspace, prompt)
    own, yours = None, []
    with suppress(PmemError):  # the memory of whoever asks, if it can be asked
        own = own_beside(workspace)
        yours = [] if own is None else _found(own, prompt)
    best = max((one[2].score for one in (*found, *yours)), default=0.0)
    if best < LEAST_SCORE:
        return PromptAnswer()
    text = PromptText(workspace, longest, in_bytes=in_bytes)
    shown = tuple(text.add(_worth_telling(workspace, thread, found, best, already_read)))
    of_own: tuple[tuple[str, str], ...] = ()
    if own is not None:
        of_own = tuple(text.add_own(own, _worth_telling(own, thread, yours, best)))
    if not shown and not of_own:
        return PromptAnswer()
    return PromptAnswer(text.written(), shown, of_own, own)


def _found(workspace: Workspace, prompt: str) -> list[Scored]:
    """Return what may answer a prompt, the best first."""
    wanted = SearchRequest(query=prompt, kinds=REMEMBERED, top_k=LOOKED_AT, related=0)
    return pick(workspace, wanted).ranked


def _worth_telling(
    workspace: Workspace,
    thread: str | None,
    found: Iterable[Scored],
    best: float,
    already_read: Collection[str] = (),
) -> Iterator[LoadedHit]:
    """Yield the best, and what is about as good and a thread has not been shown as it is now."""
    from pmem.storage.local.shown_keys import key_of

    least = max(LEAST_SCORE, LEAST_OF_BEST * best)
    good = [one for one in found if one[2].score >= least]
    known = workspace.own.shown.known(thread) if thread and good else ()
    for one in opened(workspace, good):
        if one.kind is SearchKind.MEMORY and repeats_rule(one.document, already_read):
            continue
        said = one.document.content if one.kind is SearchKind.MEMORY else one.document.summary
        is_best = one.hit.score == best
        if is_best or key_of(one.document.id, workspace.mask.text(said)) not in known:
            yield one
