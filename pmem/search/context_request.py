"""What a context is asked for with, and what it is answered with."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec

from pmem.core.context.parts import Context, Format
from pmem.core.policy import PROCEDURAL
from pmem.core.trust import Trust
from pmem.search.hits import SearchHit
from pmem.values.config import Settings
from pmem.values.fields import AsOf, asked
from pmem.values.records import MemoryType

AT_WORK: Final = (
    MemoryType.CONSTRAINT, MemoryType.PREFERENCE, MemoryType.PROCEDURE, MemoryType.DEAD_END
)  # fmt: skip
"""What whoever works in a project is shown before all else."""


class ContextRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a context is for; without a budget it gets the setting's.

    Without `recall` it holds the memory and the conversation, and nothing that was looked for.
    Without `counts` what it recalls does not count as recalled; `hits` wants what was retrieved.
    `related` limits the memories that others bring along (the setting when None). What belongs
    to an app is left out, but for the `app` that it is for: the conversation's when None.
    `trust` is the least that memories and episodes are trusted; nothing that was said in other
    conversations is recalled then. `only` leaves out the conversations, or the memories, and
    `ids` names what is shown by its short id. `explain` wants to know how what is left out begins.
    `paths` are files that the task is about, seen from the top of the project: what applies there
    comes first. `longest` is how many characters the text may have whatever the budget: bytes with
    `in_bytes`. With `mine`, whoever asks is shown what there is in their own memory as well.
    Rules of the instruction files `already_read`, relative to the memory's project, are left out.
    Who `works` in the project, as an assistant does, is shown how things are done unasked.
    """

    query: Annotated[
        str | None,
        asked("What the context is for.", shown="[QUERY|-]", reading="text", is_argument=True),
    ] = None
    recall: bool = True
    budget: Annotated[int | None, asked("At most N tokens [the context window less reserves].")] = (
        None
    )
    thread: Annotated[
        str | None,
        asked(
            "Also say what is new since this thread last asked.", shown="NAME", completes="thread"
        ),
    ] = None
    conversation: Annotated[
        str | None,
        asked("The conversation to continue [current].", shown="REF", completes="conversation"),
    ] = None
    agent: str | None = None
    app: Annotated[
        str | None, asked("The app it is for [the conversation's].", shown="NAME", completes="app")
    ] = None
    format: Annotated[Format, asked("How to write it.")] = "markdown"
    at: AsOf = None
    revision: str | None = None
    counts: bool = True
    related: int | None = None
    trust: Annotated[
        str | None, asked("Only what is trusted at least this much.", choices=Trust)
    ] = None
    hits: bool = False
    reviewed: Annotated[bool, asked("Only what was reviewed.")] = False
    paths: Annotated[
        tuple[str, ...],
        asked(
            "What applies to this file comes first.", flag="--path", shown="FILE", reading="files"
        ),
    ] = ()
    only: Annotated[
        Literal["memories", "conversation"] | None, asked("Leave out conversations, or memories.")
    ] = None
    ids: Annotated[bool, asked("Name memories by their short ids.")] = False
    explain: Annotated[bool, asked("Say on standard error why each candidate is in or out.")] = (
        False
    )
    omitted: bool = True
    longest: int | None = None
    in_bytes: bool = False
    mine: bool = False
    already_read: frozenset[str] = frozenset()
    works: bool = False

    @property
    def names_omitted(self) -> bool:
        """Whether every memory that is left out is named."""
        return self.omitted or self.explain


def modes_of(settings: Settings, request: ContextRequest) -> Mapping[str, str]:
    """Return how a context shows categories: to whoever works here, also how things are done."""
    modes = settings.categories.context
    if not request.works or modes.get(PROCEDURAL) != "rag":
        return modes
    return {name: mode for name, mode in modes.items() if name != PROCEDURAL}


def task_of(request: ContextRequest) -> str:
    """Return what somebody asked for; an empty text where nobody did."""
    return (request.query or "").strip()


class BuiltContext(Context, frozen=True, kw_only=True, omit_defaults=True):
    """A context, for which thread, and whether anything was found for its query.

    `retrieval_results` are the hits that were retrieved for it, where the request wants `hits`;
    `kept_in_use` are memories that were shown without being looked for, which is a use of them.
    """

    retrieval_results: tuple[SearchHit, ...] = ()
    thread: str | None = None
    is_answered: bool = False
    kept_in_use: tuple[str, ...] = ()

    @property
    def recalled(self) -> list[str]:
        """The ids of what counts as recalled: what answers, or applies to the task's files."""
        items = (item for part in self.sections if part.name == "recalled" for item in part.items)
        return [item.id for item in items if item.why in ("answers", "place")]

    @property
    def noted(self) -> dict[str, Any]:
        """What the log of operations says of it."""
        return {"status": "ok" if self.is_answered else "skipped", "thread": self.thread}

    def to_plain(self) -> dict[str, Any]:
        """Return the context alone."""
        fields = msgspec.structs.asdict(self)
        kept = [name for name in Context.__struct_fields__ if name != "notes" or self.notes]
        return {name: fields[name] for name in kept}
