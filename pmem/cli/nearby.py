"""Where the memory of a place is, as far as that can be told without loading anything."""

import os

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Mapping


def memory_folder(place: str, environment: "Mapping[str, str]") -> str:
    """Return the memory folder of a place; empty where only the long way can tell."""
    if "PMEM_MEMORY_DIR" in environment or names_folder(environment):
        return ""
    return folder_near(place, ".project-memory")


def folder_near(place: str, name: str) -> str:
    """Return the folder of a name at a place or in a parent; empty where there is none."""
    here = os.path.abspath(place)
    if os.path.basename(here) == os.path.basename(name):
        return here
    while not os.path.isdir(os.path.join(here, name)):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    return os.path.join(here, name)


def names_folder(environment: "Mapping[str, str]") -> bool:
    """Tell whether the user's own settings may call memory folders something else."""
    return _may_set(b"memory_dir", environment)


def names_database(environment: "Mapping[str, str]") -> bool:
    """Tell whether records may live on a server, so that no file here tells what they say."""
    return "PMEM_DATABASE" in environment or _may_set(b"database", environment)


def _may_set(name: bytes, environment: "Mapping[str, str]") -> bool:
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME") or os.path.expanduser("~"), ".config"
    )
    try:
        with open(os.path.join(home, "pmem", "config.toml"), "rb") as file:
            data = file.read()
    except OSError:
        return False
    return name in data or b"\\" in data
