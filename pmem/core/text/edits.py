"""The files that a tool's call edits, by the names that coding assistants give their tools."""

import re
from collections.abc import Iterator
from typing import Any, Final

from pmem.core.text.calls import RecordedCall

_TOOLS: Final = ("Edit", "MultiEdit", "Write", "NotebookEdit", "replace", "write_file")
_PATHS: Final = ("file_path", "notebook_path", "absolute_path", "path")
_PATCH: Final = "*** Begin Patch"
_PATCHED: Final = r"(?m)^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$"


def edited_files(call: RecordedCall) -> tuple[str, ...]:
    """Return the paths of the files that a call edits, as it names them; none for another tool.

    Args:
        call: A tool's call.
    """
    given = call.arguments
    if call.name in _TOOLS:
        found = (given.get(name) for name in _PATHS)
        return tuple(path for path in found if isinstance(path, str) and path)[:1]
    patches = (text for text in _texts(given) if _PATCH in text)
    return tuple(path.strip() for text in patches for path in re.findall(_PATCHED, text))


def _texts(given: Any) -> Iterator[str]:
    for value in given.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, str))
