"""What several use cases are asked with."""

from collections.abc import Callable
from typing import Annotated, Any, Protocol

import msgspec

from pmem.values.fields import AsOf, asked

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is."""


def ignore_progress(done: int, total: int) -> None:
    """Report nothing."""


class Admit(Protocol):
    """The gate's `admit`."""

    def __call__(self, item: Any, where: str, *, redacting: bool = False) -> Any:
        """Return an item as it may be kept, or raise."""


def as_it_is(item: Any, where: str, *, redacting: bool = False) -> Any:  # noqa: ARG001
    """Return an item as it is: no gate is there yet."""
    return item


class NoArguments(msgspec.Struct, frozen=True, kw_only=True):
    """A request that leaves nothing to be said."""


class AtRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request about everything: as it is, or as it was at a moment or a git revision."""

    at: AsOf = None
    revision: str | None = None


class RangeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Two git revisions.

    `revisions` is `A..B`, `A..` (up to the working tree), `A` (up to HEAD), or `A...B` and `A...`
    (from where the two parted). A left-out `A` is HEAD.
    """

    revisions: str = "HEAD.."


class SetupRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to set something up, only to look whether it is, or to take it back."""

    check: Annotated[bool, asked("Only look; exits with 1 if it is not all there.")] = False
    remove: Annotated[bool, asked("Undo it.")] = False
