"""pmem in Python: one class with the operations that the command line has.

Everything returns values and nothing prints. `from pmem import Project`.
"""

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from typing import Any

    from pmem.library.project import Project
    from pmem.search.context_request import BuiltContext

_PUBLIC = {"BuiltContext": "pmem.search.context_request", "Project": "pmem.library.project"}

__all__ = ["BuiltContext", "Project"]


def __getattr__(name: str) -> "Any":
    """Load a public name when it is first used: a front end may need only the typed arguments."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)
