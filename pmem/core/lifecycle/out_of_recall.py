"""How answers speak of memories that are not recalled: marks beside them, and a sentence."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from pmem.core.retention import valid_at
from pmem.values.records import Memory, State
from pmem.values.times import day

OUT_OF_RECALL: Final = (State.ARCHIVED, State.SUPERSEDED, State.MERGED)
"""The states of what is not recalled; what was removed nobody wants to be told of."""


def state_mark(state: State | None) -> str:
    """Mark what is out of recall; what is recalled, or has no state, needs no mark."""
    return "" if state in (None, State.ACTIVE) else f" ({state.replace('_', ' ')})"


def validity_mark(memory: Memory, at: datetime | None) -> str:
    """Mark a memory that does not hold any more, or not yet.

    Without a moment nothing is marked.
    """
    if at is None or valid_at(memory, at):
        return ""
    if memory.valid_until is None or at < memory.valid_from:
        return " (not valid yet)"
    return f" (expired {day(memory.valid_until)})"


def describe_matches(found: Mapping[str, int]) -> str:
    """Say how many memories out of recall match a search."""
    states = " and ".join(f"{number} {state}" for state, number in found.items())
    match = "memory matches" if sum(found.values()) == 1 else "memories match"
    return f"{states} {match}"


def state_option(found: Mapping[str, int]) -> str:
    """Return the option of `search` that shows matches out of recall."""
    return "--all-states" if len(found) > 1 else f"--state {next(iter(found))}"
