"""What is known elsewhere: in the other work trees, and in the memory of whoever asks."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from pmem.errors import PmemError
from pmem.project.own_memory import own_beside, told_as_left_out
from pmem.project.workspace import Workspace
from pmem.search.hits import REMEMBERED, BranchHit, SearchHit, SearchKind, hits_of, opened
from pmem.search.picking import SearchRequest, most_hits, pick

if TYPE_CHECKING:
    from pmem.storage.git.work_trees import WorkTree

MOST_OF_YOURS: Final = 3
"""So many memories of one's own stand beside the hits, at the most."""
LEAST_OF_YOURS: Final = 0.2
"""What scores less shares a word and hardly answers."""


def yours_of(
    workspace: Workspace, request: SearchRequest
) -> tuple[tuple[SearchHit, ...], tuple[str, ...]]:
    """Return what the memory of whoever asks has, and what is wrong with it."""
    kinds = tuple(kind for kind in request.kinds or REMEMBERED if kind in REMEMBERED)
    try:
        own = own_beside(workspace) if kinds else None
        if own is None:
            return (), ()
        asked = msgspec.structs.replace(
            request,
            kinds=kinds,
            related=0,
            threshold=max(request.threshold, LEAST_OF_YOURS),
            top_k=min(most_hits(workspace, request), MOST_OF_YOURS),
        )
        return _hits(own, asked), ()
    except PmemError as error:
        return (), told_as_left_out(workspace, error)


def hits_in_work_trees(workspace: Workspace, request: SearchRequest) -> tuple[BranchHit, ...]:
    """Return the memories of other work trees that are not here, the best first.

    A work tree's memory that cannot be asked is left out: it is somebody's work in progress.
    """
    from pmem.storage.git.work_trees import other_work_trees

    wanted = msgspec.structs.replace(request, kinds=(SearchKind.MEMORY,), related=0)
    found: dict[str, BranchHit] = {}
    for tree in other_work_trees(os.path.dirname(workspace.root), workspace.environment):
        for hit in _hits_of_tree(workspace, tree, wanted):
            if not workspace.memories.ids(hit.id):
                found.setdefault(hit.id, hit)
    best = sorted(found.values(), key=lambda hit: (-hit.score, hit.id))
    return tuple(best[: most_hits(workspace, request)])


def _hits_of_tree(
    workspace: Workspace, tree: "WorkTree", wanted: SearchRequest
) -> Iterator[BranchHit]:
    root = os.path.join(tree.folder, os.path.basename(workspace.root))
    if not os.path.isdir(root) or os.path.islink(root):
        return
    other = Workspace(
        root,
        now=workspace.given_now,
        read_only=True,
        environment=workspace.environment,
        caller=workspace.caller,
    )
    try:
        hits = _hits(other, wanted)
    except PmemError:
        return
    finally:
        other.shared.indexes.close()
    branch = tree.branch or tree.folder
    for hit in hits:
        yield BranchHit(id=hit.id, short=hit.short, branch=branch, score=hit.score, text=hit.text)


def _hits(workspace: Workspace, request: SearchRequest) -> tuple[SearchHit, ...]:
    ranked = pick(workspace, request, closely=True).ranked
    return tuple(hits_of(workspace, opened(workspace, ranked)))
