"""What answers a prompt: little, surely to the point, and nothing that was shown before."""

from collections.abc import Iterable, Iterator
from typing import Final

from pmem.core.text.terms import terms
from pmem.project.workspace import Workspace
from pmem.search.hits import REMEMBERED, LoadedHit, SearchKind, opened
from pmem.search.search import SearchRequest, pick

LEAST_TERMS: Final = 2
"""A prompt with fewer words to look for asks for nothing that can be found."""
LEAST_SCORE: Final = 0.2
"""What scores less is not told: it shares a word and hardly answers (see decision 44)."""
LOOKED_AT: Final = 10
"""How many of the best hits are looked at."""


def answer_prompt(
    workspace: Workspace, prompt: str, thread: str | None, longest: int, *, in_bytes: bool
) -> tuple[list[tuple[str, str]], str]:
    """Write what answers a prompt and its session has not been shown.

    A memory is shown whole, or where it alone is too long, as far as there is room.

    Args:
        workspace: Whose memory it is.
        prompt: What a person asks.
        thread: The session.
        longest: How many characters the text may have; bytes with `in_bytes`.
        in_bytes: Whether bytes are counted.

    Returns:
        The id and the text of each memory that is shown, and the whole; nothing where nothing
        answers.
    """
    if len(set(terms(prompt))) < LEAST_TERMS:
        return [], ""
    wanted = SearchRequest(query=prompt, kinds=REMEMBERED, top_k=LOOKED_AT, related=0)
    good = [one for one in pick(workspace, wanted).ranked if one[2].score >= LEAST_SCORE]
    if not good:
        return [], ""
    from pmem.assistants.prompt_text import PromptText

    text = PromptText(workspace, longest, in_bytes=in_bytes)
    shown = list(text.add(_unseen(workspace, thread, opened(workspace, good))))
    return shown, text.written() if shown else ""


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
