"""Where the markers in a file may come from: merges that git knows of, and older versions."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

from pmem.errors import InvalidValue
from pmem.storage.git.repository import Commit, short
from pmem.storage.git.stages import MergeState, Sides
from pmem.vcs.repair.cases import UNREADABLE, Key, is_marked, sound

_MOST: Final = 50
"""Commits that are looked at for older versions of a file."""
_MOST_NAMED: Final = 3
"""Records whose commits are tried; a merge mixes two."""
_MOST_GUESSES: Final = 8
"""Commits of other branches that are tried as the other side of a merge that left no trace."""


class Source(NamedTuple):
    """Three commits that may have been merged into a file, and how they were found.

    One that is `guessed` has to fit the file in every line.
    """

    sides: Sides
    origin: str
    guessed: bool = False


class Past(NamedTuple):
    """What git knows of a file: the commit that brought the markers in, and sound versions.

    `marked` is None while no commit has the markers; `before` is the commit before that.
    `versions` are those from before the markers, the newest first.
    """

    marked: Commit | None = None
    before: str | None = None
    versions: tuple[dict[str, Any], ...] = ()


NOTHING: Final = Past()


def past_of(state: MergeState, key: Key) -> Past:
    """Look at the commits that touched a file.

    Args:
        state: What git knows.
        key: The record whose file it is.

    Raises:
        StorageRefused: Git cannot read the repository.
    """
    try:
        head = state.commit("HEAD")
    except InvalidValue:  # nothing is committed yet
        return NOTHING
    commits = state.log(head, key.path, whole=False)[: -_MOST - 1 : -1]
    objects = list(dict.fromkeys(object_ for each in commits for object_ in _objects(each)))
    contents = dict(zip(objects, state.blobs(objects), strict=True))
    with_them = [*takewhile(lambda each: is_marked(contents.get(each.after or "") or b""), commits)]
    marked = with_them[-1] if with_them else None
    before = head if marked is None else next(iter(state.parents(marked.id)), None)
    versions = []
    for object_ in objects:
        try:
            versions.append(sound(contents[object_] or b"", key.shape))
        except UNREADABLE:
            continue
    return Past(marked, before, tuple(versions))


def sources(state: MergeState, keys: Sequence[Key], past: Past) -> Iterator[Source]:
    """Yield the merges that may have written the markers, the likeliest first.

    Args:
        state: What git knows.
        keys: The record whose file it is, and others that the markers name.
        past: What git knows of that file.
    """
    for sides in state.under_way():
        yield Source(sides, "from the commits that git is bringing together")
    if past.marked is not None and len(past.marked.before) > 1:
        parents = state.parents(past.marked.id)
        if len(parents) == 2:
            sides = Sides(state.parted(*parents), *parents)
            yield Source(sides, f"from the parents of merge {short(past.marked.id)}, done again")
    elif past.before is not None:
        for key in keys[:_MOST_NAMED]:
            yield from _guesses(state, key, past.before)


def _guesses(state: MergeState, key: Key, ours: str) -> Iterator[Source]:
    """Yield commits of other branches that a squash, a pick or a stash may have brought here."""
    commits = state.log("--all", key.path, whole=False)[: -_MOST - 1 : -1]
    tried = 0
    for commit in commits:
        parted = state.parted(ours, commit.id) if tried < _MOST_GUESSES else commit.id
        if parted == commit.id or commit.after is None:
            continue
        tried += 1
        origin = f"from commit {short(commit.id)}, whose lines they are"
        for base in dict.fromkeys((parted, next(iter(state.parents(commit.id)), None))):
            yield Source(Sides(base, ours, commit.id), origin, guessed=True)


def _objects(commit: Commit) -> list[str]:
    """Return the objects that a commit names: its own, then its parents'."""
    return [object_ for object_ in (commit.after, *commit.before) if object_ is not None]
