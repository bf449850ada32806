"""What each kind of work must know: where there is some, what is asked, what an answer does."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from pmem.model.tasks import Given
from pmem.project.workspace import Workspace
from pmem.values.records import Episode, Memory, Message, Origin

Changed = tuple[str, ...]
"""The ids of the records that an answer changed; none where it led to nothing."""


class WorkKind(msgspec.Struct, frozen=True):
    """One kind of work.

    Attributes:
        waiting: Yields the names of what there may be work for, of one conversation if one is
            given by its id.
        given: Returns what is asked about one, as the records are now; None where there is no such
            work, or a model has done it.
        apply: Changes records by a checked answer, inside a transaction that found its source
            unmoved, and returns which.
    """

    waiting: Callable[[Workspace, str | None], Iterator[str]]
    given: Callable[[Workspace, str], Given | None]
    apply: Callable[[Workspace, str, Any, Origin], Changed]


def is_by_model(record: Memory | Episode) -> bool:
    """Tell whether a model has written what a record says, or helped to."""
    return any("digest" in event.detail for event in record.history)


def is_talk_of_person(message: Message, least: int) -> bool:
    """Tell whether a message is a person's, and long enough."""
    return message.role == "user" and len(message.content) >= least
