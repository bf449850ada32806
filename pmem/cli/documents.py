"""The files that the program explains itself by: its table of commands, and its documents."""

import json
import os

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENDING = ".md"
_FOR_DEVELOPERS = ("architecture", "benchmarks", "conformance", "mutation")
"""Documents that are left out of the installed program."""


def read_table() -> "dict[str, Any]":
    """Return the table of all commands, as docs/generate.py made it of their functions."""
    with open(os.path.join(_PACKAGE, "cli", "reference.json"), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


def documents() -> list[str]:
    """Return the names of the documents that `pmem help` prints, sorted."""
    names = [name.removesuffix(ENDING) for name in os.listdir(_folder()) if name.endswith(ENDING)]
    return sorted(set(names) - {*_FOR_DEVELOPERS})


def text_of(name: str) -> str:
    """Return what a document says.

    Args:
        name: One of `documents`.
    """
    with open(os.path.join(_folder(), name + ENDING), encoding="utf-8") as file:
        return file.read()


def _folder() -> str:
    """Return where the documents are: in the package, or beside it in a clone."""
    inside = os.path.join(_PACKAGE, "docs")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), "docs")
