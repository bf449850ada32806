"""Messages that merges keep twice: chunks of two sides, each right for itself, and not together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pmem.core.chunking import by_conversation, repeated
from pmem.errors import PmemError
from pmem.storage.files.listing import SUFFIX
from pmem.storage.files.recordfile import parse
from pmem.storage.git.repository import Merge, Repository, entry_of
from pmem.values.records import STORES, Chunk

_CHUNKS: Final = list(STORES).index(Chunk)
Tree = frozenset[bytes]


class Repeated(NamedTuple):
    """A conversation that keeps messages twice since a merge, and how many."""

    merge: Merge
    conversation: str
    messages: int


def repeats_of(
    git: Repository,
    merges: Sequence[Merge],
    stores: Mapping[str, Sequence[str | None]],
    trees: Callable[[set[str | None]], Mapping[str | None, Tree]],
) -> Iterator[Repeated]:
    """Yield what merges keep twice that none of their sides does.

    Args:
        git: The repository.
        merges: The merges.
        stores: What each commit and each of its parents has in each store's place, as `STORES`.
        trees: Returns what is in trees.
    """
    for merge in merges:
        names = [stores[commit][_CHUNKS] for commit in (merge.id, *merge.parents)]
        if len(set(names[1:])) == 1:
            continue
        listed = trees(set(names))
        result, *sides = (listed[name] for name in names)
        alike = frozenset.intersection(*sides)
        known: dict[str, int] = {}
        for side in sides:
            for conversation, count in _twice(git, side - alike):
                known[conversation] = max(count, known.get(conversation, 0))
        for conversation, count in _twice(git, result - alike):
            if count > known.get(conversation, 0):
                yield Repeated(merge, conversation, count)


def _twice(git: Repository, tree: Iterable[bytes]) -> Iterator[tuple[str, int]]:
    """Yield by conversation how many messages stand in several of some chunks."""
    entries = [pair for pair in map(entry_of, sorted(tree)) if pair[0].endswith(SUFFIX)]
    chunks = []
    for (name, _), data in zip(
        entries, git.blobs([each.object for _, each in entries]), strict=True
    ):
        try:
            chunks += [] if data is None else [parse(data, Chunk, name.removesuffix(SUFFIX))]
        except PmemError:  # reported as what it is
            continue
    for conversation, parts in by_conversation(chunks).items():
        if count := len(repeated(parts)):
            yield conversation, count
