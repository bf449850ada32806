"""Prompts of a clone's sessions that a memory answered well, and that were not shown it.

Each may become a question of a golden set: see `pmem eval misses`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from pmem.core.text.terms import terms
from pmem.errors import NotFound
from pmem.project.workspace import Workspace
from pmem.search.golden import QuestionAdded, QuestionRequest, add, default_file, read
from pmem.search.hits import SearchKind, opened
from pmem.search.search import SearchRequest, pick_each
from pmem.values.ids import moment_of, short
from pmem.values.records import Time

if TYPE_CHECKING:
    from pmem.storage.local.kept_prompts import KeptPrompt

ALL: Final = "all"
"""What is dropped by this word: every prompt that is kept."""
STRONG: Final = 0.4
"""From this score on the best hit answers: nine in ten do (see decision 53)."""
LEAST_TERMS: Final = 2
"""A prompt with fewer words to look for asks for nothing that can be found."""


class MissesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to become of some misses: they are listed, taken into the golden set, or dropped.

    `names` say of which; to drop `all` is to forget every prompt that is kept.
    """

    action: Literal["", "take", "drop"] = ""
    names: tuple[str, ...] = ()


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
    """The misses that are left, what was taken into the golden set, and how many were dropped."""

    items: tuple[Miss, ...]
    total: int
    taken: tuple[QuestionAdded, ...] = ()
    dropped: int = 0


def misses(workspace: Workspace, request: MissesRequest) -> Misses:
    """List the prompts that were not shown what answers them; take some over, or drop them.

    Raises:
        NotFound: None is called so.
        InvalidValue: The golden set is none.
        Damaged, Locked, StorageRefused: The clone's state, or the golden set.
    """
    found = {miss.name: miss for miss in _found(workspace)}
    kept, taken = workspace.own.kept_prompts, list[QuestionAdded]()
    if request.action == "drop" and request.names == (ALL,):
        gone = {one.name for one in kept.all()}
    else:
        _check(found, request.names)
        gone = set(request.names)
    if request.action == "take":
        with workspace.transaction():
            for name in dict.fromkeys(request.names):
                miss = found[name]
                question = QuestionRequest(query=miss.query, reference=miss.id)
                taken.append(add(workspace, question))
    if gone:
        kept.forget(gone)
    left = tuple(miss for miss in found.values() if miss.name not in gone)
    return Misses(
        items=left, total=len(left), taken=tuple(taken), dropped=0 if taken else len(gone)
    )


def _check(found: Mapping[str, Miss], names: Iterable[str]) -> None:
    for name in names:
        if name not in found:
            raise NotFound(f"no miss is called {name!r}", "`pmem eval misses` lists them")


def _found(workspace: Workspace) -> Iterator[Miss]:
    """Yield the misses, the newest first, without those that the golden set asks already."""
    from pmem.core.secrets import find

    asked, allowed = _questions(workspace), workspace.settings.secrets.allow
    kept = [
        one
        for one in workspace.own.kept_prompts.all()
        if len(set(terms(one.text))) >= LEAST_TERMS
        and one.text not in asked
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
