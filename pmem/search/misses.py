"""Prompts of a clone's sessions that a memory answered well, and that were not shown it.

Each may become a question of a golden set: see `pmem eval misses`.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from pmem.core.text.terms import terms
from pmem.errors import NotFound
from pmem.project.workspace import Workspace
from pmem.search.golden import default_file, read
from pmem.search.hits import SearchKind, opened
from pmem.search.picking import SearchRequest, pick_each
from pmem.values.fields import asked
from pmem.values.ids import moment_of, short
from pmem.values.records import Time

if TYPE_CHECKING:
    from pmem.storage.local.sessions import KeptPrompt

ALL: Final = "all"
"""What is dropped by this word: every prompt that is kept."""
STRONG: Final = 0.4
"""From this score on the best hit answers: nine in ten do (see decision 53)."""
LEAST_TERMS: Final = 2
"""A prompt with fewer words to look for asks for nothing that can be found."""


class MissesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which misses to drop before the others are listed; `all` is every prompt that is kept."""

    drop: Annotated[
        tuple[str, ...], asked("Forget this one, or all that was asked.", shown="NAME|all")
    ] = ()


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that was not shown what answers it.

    Attributes:
        name: What it is called.
        query: The prompt.
        at: When it was asked.
        id: The memory that answers it best.
        short: Its short id.
        score: How well it answers.
        text: What it says.
    """

    name: str
    query: str
    at: Time
    id: str
    short: str
    score: float
    text: str


class Misses(msgspec.Struct, frozen=True, kw_only=True):
    """The misses that are left, and how many were dropped."""

    items: tuple[Miss, ...]
    total: int
    dropped: int = 0


def misses(workspace: Workspace, request: MissesRequest) -> Misses:
    """List the prompts that were not shown what answers them; some are dropped first.

    Raises:
        NotFound: None is called so.
        InvalidValue: The golden set is none.
        Damaged, Locked, StorageRefused: The clone's state, or the golden set.
    """
    found = {miss.name: miss for miss in _found(workspace)}
    kept, gone = workspace.own.kept_prompts, set(request.drop)
    if gone == {ALL}:
        gone = {one.name for one in kept.all()}
    elif unknown := gone - found.keys():
        sentence = f"no miss is called {min(unknown)!r}"
        raise NotFound(sentence, "`pmem eval misses` lists them")
    if gone:
        kept.forget(gone)
    left = tuple(miss for name, miss in found.items() if name not in gone)
    return Misses(items=left, total=len(left), dropped=len(gone))


def _found(workspace: Workspace) -> Iterator[Miss]:
    """Yield the misses, the newest first, without those that the golden set asks already."""
    from pmem.core.secrets import find

    known, allowed = _questions(workspace), workspace.settings.secrets.allow
    kept = [
        one
        for one in workspace.own.kept_prompts.all()
        if len(set(terms(one.text))) >= LEAST_TERMS
        and one.text not in known
        and not find(one.text, allowed)
    ]
    requests = [
        SearchRequest(query=one.text, kinds=(SearchKind.MEMORY,), top_k=1, related=0)
        for one in kept
    ]
    counts, shown = workspace.own.use_counts, dict[str, frozenset[str]]()
    for prompt, picked in zip(kept, pick_each(workspace, requests), strict=True):
        strong = [one for one in picked.ranked if one[2].score >= STRONG]
        for best in opened(workspace, strong):
            if prompt.thread not in shown:
                shown[prompt.thread] = counts.shown(prompt.thread)
            if best.record.id not in shown[prompt.thread] and _was_there(best.record.id, prompt):
                yield Miss(
                    name=prompt.name,
                    query=prompt.text,
                    at=prompt.at,
                    id=best.record.id,
                    short=short(best.record.id),
                    score=best.hit.score,
                    text=workspace.mask.text(best.document.content),
                )


def _was_there(identifier: str, prompt: "KeptPrompt") -> bool:
    """Tell whether a record was made before a prompt was asked."""
    made = moment_of(identifier)
    return made is not None and made < prompt.at


def _questions(workspace: Workspace) -> frozenset[str]:
    path = default_file(workspace)
    if not os.path.lexists(path):
        return frozenset()
    return frozenset(question.query for question in read(path).questions)
