"""pmem: memory for projects. `from pmem import Project` opens it in Python."""

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import Any

    from pmem.core.filters import Filter
    from pmem.errors import PmemError
    from pmem.library import Project
    from pmem.memory.requests import AddRequest, EditRequest
    from pmem.search.context_request import ContextRequest
    from pmem.search.hits import SearchRequest
    from pmem.values.records import Chunk, Conversation, Episode, Memory, Message

_PUBLIC = {
    "AddRequest": "pmem.memory.memories",
    "Chunk": "pmem.values.records",
    "ContextRequest": "pmem.search.contexts",
    "Conversation": "pmem.values.records",
    "EditRequest": "pmem.memory.memories",
    "Episode": "pmem.values.records",
    "Filter": "pmem.core.filters",
    "Memory": "pmem.values.records",
    "Message": "pmem.values.records",
    "PmemError": "pmem.errors",
    "Project": "pmem.library",
    "SearchRequest": "pmem.search.picking",
}

__all__ = [
    "AddRequest",
    "Chunk",
    "ContextRequest",
    "Conversation",
    "EditRequest",
    "Episode",
    "Filter",
    "Memory",
    "Message",
    "PmemError",
    "Project",
    "SearchRequest",
]


def __getattr__(name: str) -> "Any":
    """Load a public name when it is first used: a command line must start in a blink."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)
