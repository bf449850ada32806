"""What a field of a request means, said once, where the field is: options and schemas repeat it."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta

Reading = Literal[
    "plain", "text", "log", "json", "time", "ahead", "moment", "file", "files", "places"
]
"""How the command line reads a value: as it is written, or as one of these.

`text` and `log` may be `-` for standard input, and `json` is any value. `time` and `ahead` are
times, the second one to come where that is left open; `moment` is a time, or a git revision for the
request's `revision`. `file`, `files` and `places` are relative to the current folder.
"""
Completes = Literal[
    "", "memory", "record", "removed", "any", "episode", "conversation", "app memory", "decision",
    "tag", "subject", "category", "app", "user", "agent", "thread", "checkpoint",
    "setting", "explained",
]  # fmt: skip
"""What completes a value in a shell, where its type does not say that.

The ids of active memories, of episodes too with `record`, of all that can be restored, of all there
are; those of an app's memories, of what waits for a decision; the words that memories use; the
threads that asked for contexts, or have a checkpoint; settings, and what `pmem help` explains.
"""


def asked(
    meaning: str,
    *,
    flag: str = "",
    shown: str = "",
    reading: Reading = "plain",
    group: str = "",
    choices: Any = None,
    least: int | None = None,
    is_argument: bool = False,
    completes: Completes = "",
) -> Meta:
    """Describe a field of a request.

    Args:
        meaning: What it means, in one sentence: the option's help, the schema's description.
        flag: What its option is called, where that is not the field's name: `--pin --always`.
        shown: What help calls its value.
        reading: How the command line reads it.
        group: The group of options that it is in, where help names a group in one paragraph.
        choices: The values that the command line takes, where the field allows more.
        least: The least that a number may be.
        is_argument: Whether the command line takes it by its position, without an option.
        completes: What completes it in a shell.
    """
    command_line = {
        "flag": flag, "shown": shown, "reading": reading, "group": group,
        "choices": choices, "least": least, "is_argument": is_argument,
        "completes": completes,
    }  # fmt: skip
    return Meta(description=meaning, extra={"command_line": command_line})


ref = partial(asked, "An id, or the start of one.", shown="REF", is_argument=True)
refs = partial(asked, "Ids, or their starts.", shown="REF...", is_argument=True)
"""The argument that names a record, and the arguments that name some."""
Ref = Annotated[str, ref(completes="memory")]
AppRef = Annotated[str, ref(completes="app memory")]
AsOf = Annotated[
    datetime | None,
    asked("As it was at this time or git revision.", shown="TIME|REV", reading="moment"),
]
OfConversation = Annotated[
    str | None, asked("Only of this conversation.", shown="REF", completes="conversation")
]
DryRun = Annotated[bool, asked("Print the plan and change nothing.")]


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
