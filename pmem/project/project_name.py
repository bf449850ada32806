"""What a project is called: as its settings say, else as its folder."""

import os

from pmem.project.workspace import Workspace
from pmem.values.config import Settings


def project_name(workspace: Workspace) -> str:
    """Return a project's name."""
    return name_of(workspace.root, workspace.settings.project_name)


def name_of(root: str, named: str) -> str:
    """Return a project's name.

    Args:
        root: Its memory folder.
        named: What the setting has; its default names nothing.
    """
    if named and named != Settings().project_name:
        return named
    return os.path.basename(os.path.dirname(os.path.abspath(root))) or named
