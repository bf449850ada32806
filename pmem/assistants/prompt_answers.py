"""What answers a prompt: little, to the point, and each memory once in a session.

It stands in a fence that no memory can close, within a length. To the best answer that was shown
before a prompt is pointed by its id, once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

import msgspec

from pmem.assistants.first_look import asks_nothing
from pmem.core.context.parts import YOURS, Item
from pmem.core.context.writing import LEAST_KEPT, cut, fence_of
from pmem.core.followed_rules import repeats_rule
from pmem.core.own_words import ON_PROMPT, SEE_ABOVE
from pmem.core.trust import may_be_told, origin_mark
from pmem.errors import PmemError
from pmem.memory.reading import Staleness
from pmem.project.caller import noted_for
from pmem.project.origins import Doubts
from pmem.project.own_memory import own_beside
from pmem.project.workspace import Workspace
from pmem.search.context_items import episode_item, memory_item
from pmem.search.hits import REMEMBERED, LoadedHit, Scored, SearchKind, SearchRequest, opened
from pmem.search.picking import pick
from pmem.storage.local.shown_keys import AGAIN
from pmem.values.ids import short

MOST_ITEMS: Final = 5
MOST_OF_OWN: Final = 2
"""And so many of the memory of whoever asks."""


LEAST_SCORE: Final = 0.2
"""What scores less is not told: it shares a word and hardly answers (see decision 44)."""
LEAST_OF_BEST: Final = 0.75
"""Nor what has a smaller share of the best score."""
LEAST_POINTED: Final = 0.5
"""What was shown before is pointed to where it scores so much."""
MOST_POINTED: Final = 8
"""So many in a session."""
LOOKED_AT: Final = 10
"""How many of the best hits are looked at."""


class PromptAnswer(msgspec.Struct, frozen=True):
    """What a prompt is given: the text, and the id and the text of each memory that is shown.

    `yours` are those of the memory of whoever asks, which is `own`. `again` is the memory that it
    is pointed to.
    """

    text: str = ""
    shown: tuple[tuple[str, str], ...] = ()
    yours: tuple[tuple[str, str], ...] = ()
    own: Workspace | None = None
    again: str = ""


def answer_prompt(
    workspace: Workspace,
    prompt: str,
    thread: str | None,
    longest: int,
    *,
    in_bytes: bool,
    already_read: Collection[str] = (),
) -> PromptAnswer:
    """Write what answers a prompt about as well as the best, and its session has not been shown.

    A memory is shown whole, or where it alone is too long, as far as there is room. `longest`
    counts characters, or bytes with `in_bytes`. Rules of the instruction files `already_read`,
    relative to the project, are not told again.
    """
    if asks_nothing(prompt):
        return PromptAnswer()
    found = _found(workspace, prompt)
    own, yours = None, []
    with suppress(PmemError):  # the memory of whoever asks, if it can be asked
        own = own_beside(workspace)
        yours = [] if own is None else _found(own, prompt)
    best = max((one[2].score for one in (*found, *yours)), default=0.0)
    least = max(LEAST_SCORE, LEAST_OF_BEST * best)
    is_common = len(found) == LOOKED_AT and found[-1][2].score >= least  # none of them stands out
    if best < LEAST_SCORE or is_common:
        return PromptAnswer()
    items: list[Item] = []
    good = list(_good(workspace, thread, found, least, already_read))
    again = _again(workspace, thread, good, best)
    head = f"{SEE_ABOVE}: {short(again)}" if again else ""

    def left() -> int:
        text = _written(head, items)
        return longest - (len(text.encode()) if in_bytes else len(text))

    told = (one for one, is_known in good if not is_known)
    shown = tuple(islice(_added(workspace, told, items, left), MOST_ITEMS))
    of_own: tuple[tuple[str, str], ...] = ()
    if own is not None:
        told = (one for one, is_known in _good(own, thread, yours, least) if not is_known)
        of_own = tuple(islice(_added(own, told, items, left, heading=YOURS), MOST_OF_OWN))
    return PromptAnswer(_written(head, items), shown, of_own, own, again)


def _written(head: str, items: Sequence[Item]) -> str:
    told = [f"{ON_PROMPT}:", *fence_of(items)] if items else []
    return "\n".join([head, *told] if head else told)


def _added(
    place: Workspace,
    found: Iterable[LoadedHit],
    items: list[Item],
    left: Callable[[], int],
    *,
    heading: str = "",
) -> Iterator[tuple[str, str]]:
    """Add what there is room for, the first one also cut; yield the id and whole text of each."""
    staleness, plain = Staleness(place), place.settings.trust.is_plain
    doubts = Doubts(place)
    for one in found:
        is_memory = one.kind is SearchKind.MEMORY
        item = (
            memory_item(one.document, ids=not heading, plain=plain)
            if is_memory
            else episode_item(one, plain=plain)
        )
        item = msgspec.structs.replace(place.mask.fields(item), heading=heading)
        if mark := origin_mark(doubts.mark(one.record)):
            item = msgspec.structs.replace(item, label=f"{mark}{item.label}")
        stale = staleness(one.document)
        if stale:
            item = msgspec.structs.replace(item, label=f"{item.label}(stale: {stale[0]}) ")
        items.append(item)
        kept = len(item.text)
        while left() < 0 and len(items) == 1 and kept > LEAST_KEPT:
            kept = max(LEAST_KEPT, kept * 3 // 4)
            items[:] = cut([item], kept)
        if left() < 0:
            items.pop()
        else:
            yield item.id, item.text if is_memory else place.mask.text(one.document.summary)


def _found(workspace: Workspace, prompt: str) -> list[Scored]:
    """Return what may answer a prompt, the best first."""
    wanted = SearchRequest(query=prompt, kinds=REMEMBERED, top_k=LOOKED_AT, related=0)
    return pick(workspace, wanted).ranked


def _good(
    workspace: Workspace,
    thread: str | None,
    found: Iterable[Scored],
    least: float,
    already_read: Collection[str] = (),
) -> Iterator[tuple[LoadedHit, bool]]:
    """Yield what scores at least so much, and whether a thread was shown it as it is now."""
    from pmem.storage.local.shown_keys import key_of

    good = [one for one in found if one[2].score >= least]
    known = workspace.own.shown.known(thread) if thread and good else ()
    shown_to, doubts = noted_for(workspace), Doubts(workspace)
    for one in opened(workspace, good):
        is_read = one.kind is SearchKind.MEMORY and repeats_rule(one.document, already_read)
        if is_read or not may_be_told(one.document, shown_to):
            continue
        if doubts.treats == "hide" and doubts.mark(one.record):
            continue
        said = one.document.content if one.kind is SearchKind.MEMORY else one.document.summary
        yield one, key_of(one.document.id, workspace.mask.text(said)) in known


def _again(
    workspace: Workspace,
    thread: str | None,
    good: Iterable[tuple[LoadedHit, bool]],
    best: float,
) -> str:
    """Return the id of the best where a thread was shown it, but not pointed to it."""
    is_strong = best >= LEAST_POINTED
    known = (one for one, is_known in good if is_known and one.hit.score == best and is_strong)
    first = next(known, None)
    if first is None or not thread:
        return ""
    keys = [key for key in workspace.own.shown.known(thread) if key.startswith(AGAIN)]
    is_enough = len(keys) >= MOST_POINTED or AGAIN + first.document.id in keys
    return "" if is_enough else str(first.document.id)
