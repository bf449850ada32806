"""What a clone lacks, as its first command that writes reports it once."""

from pmem.project.workspace import Workspace
from pmem.vcs import gitsetup
from pmem.vcs.ignoring import ignored


def what_the_clone_lacks(workspace: Workspace) -> list[str]:
    """Return a line for each thing that git was not told in this clone, or keeps from others."""
    told = gitsetup.what_is_missing(workspace)
    lines = [told, *(finding.message for finding in ignored(workspace))]
    return [f"pmem: {line}" for line in lines if line]
