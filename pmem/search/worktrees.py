"""What the other work trees of the repository know, and this one does not yet."""

import os
from collections.abc import Callable, Iterator

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.search.hits import BranchHit, SearchHit
from pmem.storage.git.work_trees import WorkTree, other_work_trees


def hits_elsewhere(
    workspace: Workspace, find: Callable[[Workspace], tuple[SearchHit, ...]], most: int
) -> tuple[BranchHit, ...]:
    """Return the memories of other work trees that are not here, the best first.

    What a work tree's memory cannot be asked is left out: it is somebody's work in progress.
    """
    found: dict[str, BranchHit] = {}
    for tree in other_work_trees(os.path.dirname(workspace.root), workspace.environment):
        for hit in _hits_in(workspace, tree, find):
            if not workspace.memories.ids(hit.id):
                found.setdefault(hit.id, hit)
    return tuple(sorted(found.values(), key=lambda hit: (-hit.score, hit.id))[:most])


def _hits_in(
    workspace: Workspace, tree: WorkTree, find: Callable[[Workspace], tuple[SearchHit, ...]]
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
        hits = find(other)
    except PmemError:
        return
    finally:
        other.shared.indexes.close()
    branch = tree.branch or tree.folder
    for hit in hits:
        yield BranchHit(id=hit.id, short=hit.short, branch=branch, score=hit.score, text=hit.text)
