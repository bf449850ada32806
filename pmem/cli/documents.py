"""The files that the program explains itself by: its table of commands, and its documents."""

import json
import os

from pmem.core.lines import split_lines

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENDING = ".md"
_INDEX = "README"
"""The document that lists the others, one to a line, below a heading for each section."""


def read_table() -> "dict[str, Any]":
    """Return the table of all commands, as docs/generate.py made it of their functions."""
    with open(os.path.join(_PACKAGE, "cli", "reference.json"), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


def sections() -> dict[str, dict[str, str]]:
    """Return the documents as the index lists them: for each section their names and titles."""
    found: dict[str, dict[str, str]] = {}
    for line in split_lines(text_of(_INDEX)):
        if line.startswith("## "):
            found[line[3:]] = {}
        elif line.startswith("- ["):
            title, _, rest = line[3:].partition("](")
            found[list(found)[-1]][rest.partition(")")[0].removesuffix(ENDING)] = title
    return found


def documents() -> list[str]:
    """Return the names of the documents that the index lists, in its order."""
    return [name for titles in sections().values() for name in titles]


def find_document(name: str) -> str | None:
    """Return the document that `merging`, `docs/how-to/install.md` or `install` means."""
    from glob import iglob

    wanted = name.removeprefix("../").removeprefix("docs/").removesuffix(ENDING)
    paths = iglob(f"**/*{ENDING}", root_dir=_folder(), recursive=True)
    pages = {path.removesuffix(ENDING).replace(os.sep, "/") for path in paths}
    if wanted in pages:
        return wanted
    alike = [page for page in pages if page.rpartition("/")[2].lower() == wanted.lower()]
    return alike[0] if len(alike) == 1 else None


def text_of(name: str) -> str:
    """Return what a document says."""
    with open(os.path.join(_folder(), name + ENDING), encoding="utf-8") as file:
        return file.read()


def _folder() -> str:
    """Return where the documents are: in the package, or beside it in a clone."""
    inside = os.path.join(_PACKAGE, "docs")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), "docs")
