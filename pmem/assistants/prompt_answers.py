"""What answers a prompt: little, surely to the point, and nothing that was shown before."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from pmem.core.text.terms import terms
from pmem.errors import PmemError
from pmem.project.own_memory import own_beside
from pmem.project.workspace import Workspace
from pmem.search.hits import REMEMBERED, LoadedHit, Scored, SearchKind, opened
from pmem.search.search import SearchRequest, pick

LEAST_TERMS: Final = 2
"""A prompt with fewer words to look for asks for nothing that can be found."""
LEAST_SCORE: Final = 0.2
"""What scores less is not told: it shares a word and hardly answers (see decision 44)."""
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
    workspace: Workspace, prompt: str, thread: str | None, longest: int, *, in_bytes: bool
) -> PromptAnswer:
    """Write what answers a prompt and its session has not been shown.

    A memory is shown whole, or where it alone is too long, as far as there is room.

    Args:
        workspace: Whose memory it is.
        prompt: What a person asks.
        thread: The session.
        longest: How many characters the text may have; bytes with `in_bytes`.
        in_bytes: Whether bytes are counted.
    """
    if len(set(terms(prompt))) < LEAST_TERMS:
        return PromptAnswer()
    good, own = _good(workspace, prompt), _own(workspace)
    yours = _good_of_own(own, prompt) if own is not None else []
    if not good and not yours:
        return PromptAnswer()
    from pmem.assistants.prompt_text import PromptText

    text = PromptText(workspace, longest, in_bytes=in_bytes)
    shown = tuple(text.add(_unseen(workspace, thread, opened(workspace, good))))
    of_own: tuple[tuple[str, str], ...] = ()
    if own is not None and yours:
        of_own = tuple(text.add_own(own, _unseen(own, thread, opened(own, yours))))
    if not shown and not of_own:
        return PromptAnswer()
    return PromptAnswer(text.written(), shown, of_own, own)


def _good(workspace: Workspace, prompt: str) -> list[Scored]:
    """Return what surely answers a prompt, the best first."""
    wanted = SearchRequest(query=prompt, kinds=REMEMBERED, top_k=LOOKED_AT, related=0)
    return [one for one in pick(workspace, wanted).ranked if one[2].score >= LEAST_SCORE]


def _good_of_own(own: Workspace, prompt: str) -> list[Scored]:
    try:
        return _good(own, prompt)
    except PmemError:
        return []


def _own(workspace: Workspace) -> Workspace | None:
    """Return the memory of whoever asks, if it can be asked."""
    try:
        return own_beside(workspace)
    except PmemError:
        return None


def _unseen(
    workspace: Workspace, thread: str | None, found: Iterable[LoadedHit]
) -> Iterator[LoadedHit]:
    """Yield what a thread has not been shown, or not as it is now."""
    from pmem.storage.local.shown import key_of

    known = workspace.own.shown.known(thread) if thread else ()
    for one in found:
        said = one.document.content if one.kind is SearchKind.MEMORY else one.document.summary
        if key_of(one.document.id, workspace.mask.text(said)) not in known:
            yield one
