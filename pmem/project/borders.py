"""Whose a memory folder is, and where it leads: what is refused before anything in it is read.

A project may bring a link in the place of its memory folder, and anybody may put one into a
folder that others work below.
"""

import os
from collections.abc import Mapping
from typing import Any, Final

from pmem.errors import Refused
from pmem.project.configuration import read_config, user_config
from pmem.storage.files.worktree import way_out
from pmem.values.config import checked

_ROOT: Final = 0
_SETTING: Final = "safe_folders"
_VARIABLE: Final = "PMEM_SAFE_FOLDERS"


def check_borders(
    root: str,
    environment: Mapping[str, str],
    *,
    found_above: bool = False,
    allowed: Any = None,
) -> None:
    """See that a memory folder is one itself, within its work tree, and nobody else's.

    Args:
        root: The memory folder's path; nothing in it is read.
        environment: The environment's variables.
        found_above: It was found in a parent of where it was looked for; then, as nobody named
            it, it must belong to whoever runs this.
        allowed: The setting `safe_folders` where the caller gives it.

    Raises:
        Refused: It is not, and no setting of the user's own allows it.
        InvalidValue, Damaged: That setting is wrong.
    """
    path = os.path.normpath(root)
    against = _leads_away(path) or (_belongs_to_others(path, environment) if found_above else "")
    if against and not _is_allowed(path, environment, allowed):
        raise Refused(
            against,
            f"if you trust it, name it in {_SETTING} of your own config.toml"
            f" or in {_VARIABLE}: {path}",
        )


def _leads_away(path: str) -> str:
    """Say where a folder leads to, if that is away from where it stands."""
    if os.path.islink(path):
        return f"{path} is a link to {os.readlink(path)}, and not followed as a memory folder"
    top = way_out(path)
    return f"{path} leads out of its work tree {top}, to {os.path.realpath(path)}" if top else ""


def _belongs_to_others(path: str, environment: Mapping[str, str]) -> str:
    """Say whose a folder is, if that is neither who runs this nor who became root to run it."""
    if os.name == "nt":
        return ""
    owner, own = os.lstat(path).st_uid, os.geteuid()
    before = environment.get("SUDO_UID", "") if own == _ROOT else ""
    if owner == own or str(owner) == before:
        return ""
    return f"{path}, in a folder above this one, belongs to another user (number {owner})"


def _is_allowed(path: str, environment: Mapping[str, str], allowed: Any) -> bool:
    """Tell whether the user names a memory folder as safe, or the project that has it."""
    given = allowed if allowed is not None else environment.get(_VARIABLE)
    if given is None:
        given = read_config(user_config(environment)).get(_SETTING, ())
    named = {_normalise_path(os.path.expanduser(name)) for name in checked(_SETTING, given)}
    return "*" in named or bool(
        named & {_normalise_path(path), _normalise_path(os.path.dirname(path))}
    )


def _normalise_path(path: str) -> str:
    """Return a path in the one form that it is compared in: only the last name may be a link."""
    if not os.path.isabs(path):
        return path
    folder, name = os.path.split(os.path.normpath(path))
    return os.path.join(os.path.realpath(folder), name)
