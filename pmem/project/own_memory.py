"""A memory of one's own, beside those of projects: where it is, how it begins, who may see it.

It is a project like any other, whose folder is the user's own and nobody else's.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pmem.errors import NoProject, PmemError, Refused, UsageError
from pmem.project.caller import NOBODY
from pmem.project.discovery import check_borders
from pmem.project.workspace import Workspace
from pmem.storage.files.durable import refusals
from pmem.storage.files.worktree import own_folder

if TYPE_CHECKING:
    from pmem.project.setup import Initialised

NAME: Final = "my own"
"""What contexts call it, unless its settings say otherwise."""
START: Final = '`pmem add --mine "TEXT"` starts it'
_NO_APP: Final = "no app sees a person's own memory"
_PRIVATE: Final = 0o700
_OTHERS: Final = 0o077
_OFF: Final = ("", "0", "false", "no", "off")
_README: Final = """\
# A memory of one's own

This folder is kept by pmem for one person: preferences and how-to that follow them from project
to project, one JSON file each. Nothing in it goes into a project unless `pmem share` copies it.

`pmem list --mine` reads it, and so does every command with `--mine`. Do not edit the records by
hand.
"""


def start_own(environment: Mapping[str, str], name: str | None = None) -> "Initialised":
    """Make the memory of whoever runs this, which nobody else can look into; safe to repeat."""
    from pmem.project.setup import initialise

    folder = own_folder(environment)
    top = os.path.dirname(folder)
    is_new = not os.path.isdir(folder)
    with refusals(top):
        os.makedirs(top, _PRIVATE, exist_ok=True)
        if is_new:  # it may have been there for something else
            os.chmod(top, _PRIVATE)
    return initialise(
        folder,
        name=name or (NAME if is_new else None),
        environment=environment,
        readme=_README,
    )


def found_or_started(environment: Mapping[str, str], *, read_only: bool) -> str:
    """Return the memory folder of whoever runs this; if missing, it is made, if it may be."""
    folder = own_folder(environment)
    if not os.path.isdir(folder):
        if read_only:
            raise NoProject(f"there is no memory of your own at {folder}", START)
        start_own(environment)
    return folder


def has_own(environment: Mapping[str, str]) -> bool:
    """Tell whether whoever runs this has a memory of their own."""
    return os.path.isdir(own_folder(environment))


def is_own(workspace: Workspace) -> bool:
    """Tell whether a memory is that of whoever runs this."""
    folder = own_folder(workspace.environment)
    return os.path.realpath(workspace.root) == os.path.realpath(folder)


def is_private(environment: Mapping[str, str]) -> bool:
    """Tell whether nobody else may look into the memory of whoever runs this."""
    top = os.path.dirname(own_folder(environment))
    return os.name == "nt" or not os.stat(top).st_mode & _OTHERS


def make_private(environment: Mapping[str, str]) -> None:
    """Let nobody else look into the memory of whoever runs this."""
    top = os.path.dirname(own_folder(environment))
    with refusals(top):
        os.chmod(top, _PRIVATE)


def check_owner(workspace: Workspace) -> None:
    """See that it is not the memory of whoever runs this, where an app or an agent asks."""
    caller = workspace.caller
    if caller == NOBODY or not is_own(workspace):
        return
    if caller.app is not None:
        raise Refused(_NO_APP, "run it without PMEM_APP")
    if caller.agent not in workspace.settings.mine.agents:
        raise Refused(
            f"{caller.agent} may not use a person's own memory",
            "its owner names agents that may in mine.agents of their own config.toml",
        )


def own_beside(workspace: Workspace) -> Workspace | None:
    """Open the memory of whoever asks something of a project, as it was then.

    There is none for apps, for CI, for agents that the project or the user holds back from it,
    and where it is this very memory that is asked. Nothing may narrow what is seen of the project.
    """
    folder = own_folder(workspace.environment)
    if not os.path.isdir(folder):
        return None
    rules, caller = workspace.settings.mine, workspace.caller
    if not rules.contexts or caller.app is not None or is_ci(workspace.environment):
        return None
    if workspace.reach is not None and caller.agent not in rules.agents:
        return None
    if is_own(workspace):
        return None
    own = _opened(workspace, folder)
    if workspace.moment is None:
        return own
    from pmem.project.views import at_moment

    return at_moment(own, workspace.moment)


def told_as_left_out(workspace: Workspace, error: PmemError) -> tuple[str, ...]:
    """Say that the memory of whoever asks is left out, and why."""
    if isinstance(error, Refused) and workspace.caller.agent is not None:
        return ()
    return (f"your own memory is left out: {error.message}",)


def open_own(workspace: Workspace) -> Workspace:
    """Open the memory of whoever asks for it by name."""
    folder = own_folder(workspace.environment)
    if workspace.caller.app is not None:
        raise Refused(_NO_APP, "run it without PMEM_APP")
    if not os.path.isdir(folder):
        raise NoProject(f"there is no memory of your own at {folder}", START)
    if is_own(workspace):
        raise UsageError("this is your own memory itself", "name a project: leave out --mine")
    return _opened(workspace, folder)


def _opened(workspace: Workspace, folder: str) -> Workspace:
    check_borders(folder, workspace.environment)
    return Workspace(
        folder,
        actor=workspace.given_actor,
        now=workspace.given_now,
        read_only=workspace.read_only,
        environment=workspace.environment,
        caller=workspace.caller,
        shared=workspace.shared.beside(),
    )


def is_ci(environment: Mapping[str, str]) -> bool:
    """Tell whether this runs for a project as a whole, and for nobody in person."""
    return environment.get("CI", "").casefold() not in _OFF
