"""What a context is asked for with, and what it is answered with."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from pmem.core.context.parts import Context, Format
from pmem.search.hits import SearchHit


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
    """

    query: str | None = None
    recall: bool = True
    budget: int | None = None
    thread: str | None = None
    conversation: str | None = None
    agent: str | None = None
    app: str | None = None
    format: Format = "markdown"
    at: datetime | None = None
    revision: str | None = None
    counts: bool = True
    related: int | None = None
    trust: str | None = None
    hits: bool = False
    paths: tuple[str, ...] = ()
    only: Literal["memories", "conversation"] | None = None
    ids: bool = False
    explain: bool = False
    omitted: bool = True
    longest: int | None = None
    in_bytes: bool = False
    mine: bool = False

    @property
    def names_omitted(self) -> bool:
        """Whether every memory that is left out is named."""
        return self.omitted or self.explain


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
        """The ids of what counts as recalled."""
        parts = (part for part in self.sections if part.name == "recalled")
        return [*(item.id for part in parts for item in part.items), *self.kept_in_use]

    @property
    def noted(self) -> dict[str, Any]:
        """What the log of operations says of it."""
        return {"status": "ok" if self.is_answered else "skipped", "thread": self.thread}

    def to_plain(self) -> dict[str, Any]:
        """Return the context alone."""
        fields = msgspec.structs.asdict(self)
        kept = [name for name in Context.__struct_fields__ if name != "notes" or self.notes]
        return {name: fields[name] for name in kept}
