"""What a project does with memories: keep them, find them, build contexts."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pmem.core.audit import AuditRow
from pmem.core.filters import Filter
from pmem.core.journal import Wanted
from pmem.core.queries import Item, parse
from pmem.core.versions import MemoryVersion
from pmem.library.asking import Asking
from pmem.library.typed import made
from pmem.memory.changes import RecordsRequest, Removable, RestoreRequest
from pmem.memory.consent import Agreed, ApproveRequest, ConsentListing, WaitingRequest
from pmem.memory.journal import (
    SHOWN,
    AuditRequest,
    EventsRequest,
    HistoryRequest,
    Journal,
    Ran,
    RanRequest,
)
from pmem.memory.lifecycle import PurgeRequest, SupersedeByRequest, Superseded
from pmem.memory.reading import ListRequest, MemoryListing, MessageRef, ShowRequest
from pmem.memory.requests import (
    AddAllRequest,
    Added,
    AddRequest,
    EditRequest,
    LinkRequest,
    PinRequest,
    UnlinkRequest,
)
from pmem.memory.sharing import ShareRequest
from pmem.memory.undo import Undone, UndoRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.context_request import BuiltContext, ContextRequest
from pmem.search.search import SearchRequest, SearchResult
from pmem.storage.local.proposals import ProposalOutcome
from pmem.values.records import Event, Memory, MemoryType, Record
from pmem.vcs.conflicts import SettleRequest


class Memories(Asking):
    """Operations on memories and on everything that can be found."""

    @property
    @abstractmethod
    def workspace(self) -> Workspace:
        """A unit of work of its own, for one call."""

    def add(self, content: str, type: str = MemoryType.FACT, **fields: Any) -> Added:  # noqa: A002
        """Add a memory, or find the one that should be updated instead.

        Args:
            content: What to remember.
            type: What it says.
            fields: The other fields of `AddRequest`.

        Raises:
            InvalidValue: A value is not allowed.
        """
        request = made(AddRequest, content=content, type=type, **fields)
        return self._run(table.ADD, request)

    def add_all(self, requests: Iterable[AddRequest]) -> list[Added]:
        """Add several memories in one commit.

        Raises:
            InvalidValue: A value is not allowed; nothing was added.
        """
        return list(self._run(table.ADD_ALL, AddAllRequest(memories=tuple(requests))).items)

    def share(self, reference: str, *, force: bool = False) -> Added:
        """Copy a memory of one's own into the project, unless there is one that says the same.

        Args:
            reference: Which one, in the memory that `Project.mine` opens.
            force: Add it even beside a similar one.

        Raises:
            NoProject: There is no memory of one's own.
            NotFound, Ambiguous: The reference.
        """
        request = made(ShareRequest, reference=reference, force=force)
        return self._run(table.SHARE, request)

    def show(self, reference: str, at: datetime | None = None) -> Record | MessageRef:
        """Return the record, or the message, that a reference means.

        Raises:
            NotFound, Ambiguous: The reference.
        """
        return self._run(table.SHOW, ShowRequest(reference=reference, at=at)).record

    def list(
        self,
        wanted: Filter | None = None,
        *,
        limit: int | None = None,
        at: datetime | None = None,
        valid_at: datetime | None = None,
    ) -> MemoryListing:
        """Return the memories that pass a filter, the oldest first; see `ListRequest`."""
        request = ListRequest(wanted=wanted or Filter(), limit=limit, at=at, valid_at=valid_at)
        return self._run(table.LIST, request)

    def block(self, wanted: Filter | None = None) -> str:
        """Return memories as the block of a system prompt: the same ones give the same bytes.

        What belongs to an app is left out, but for the app that the filter names.
        """
        return self._run(table.BLOCK, ListRequest(wanted=wanted or Filter())).text

    def edit(self, reference: str, content: str | None = None, **fields: Any) -> Memory:
        """Change a memory.

        Args:
            reference: Which one.
            content: Its new content.
            fields: The other fields of `EditRequest`.

        Raises:
            NotFound, Ambiguous: The reference.
            InvalidValue: A value is not allowed.
        """
        request = made(EditRequest, reference=reference, content=content, **fields)
        return self._run(table.EDIT, request).memory

    def supersede(self, reference: str, content: str | None = None, **fields: Any) -> Superseded:
        """Let a new memory take the place of one, which held until now.

        Args:
            reference: The memory that does not hold any longer.
            content: The new memory's content.
            fields: The other fields of `EditRequest` in which the new memory differs.

        Raises:
            NotFound, Ambiguous: The reference.
            InvalidValue: A value is not allowed, or the memory is not active.
        """
        request = made(EditRequest, reference=reference, content=content, **fields)
        return self._run(table.SUPERSEDE, request)

    def supersede_by(self, reference: str, successor: str) -> Superseded:
        """Let a memory that exists take the place of another one, which held until now."""
        request = SupersedeByRequest(reference=reference, successor=successor)
        return self._run(table.SUPERSEDE_BY, request)

    def remove(self, *references: str) -> Iterable[Removable]:
        """Remove memories and episodes so that they can still be restored."""
        return self._run(table.REMOVE, RecordsRequest(references=references)).records

    def restore(
        self, *references: str, since: datetime | None = None, by: str | None = None
    ) -> Iterable[Removable]:
        """Bring memories and episodes back to `active`.

        Args:
            references: Which ones.
            since: All that were removed, archived or merged since a moment, too.
            by: `consolidate`: all that upkeep took out of recall, too.
        """
        request = RestoreRequest(references=references, since=since, by=by)
        return self._run(table.RESTORE, request).records

    def purge(self, *references: str, force: bool = False) -> Iterable[Record]:
        """Delete records for good."""
        return self._run(table.PURGE, PurgeRequest(references=references, force=force)).records

    def undo(self, many: int = 1, reference: str | None = None, *, dry_run: bool = False) -> Undone:
        """Take back the last commands of this clone, as new events.

        Args:
            many: How many.
            reference: A record: undo the last command that changed it.
            dry_run: Only tell what would happen.

        Raises:
            NotFound: Nothing is known to undo, or the reference means no record.
            InvalidValue: What a command did cannot be undone.
            BuiltOn: A record has changed since in what the command changed.
        """
        request = UndoRequest(many=many, reference=reference, dry_run=dry_run)
        return self._run(table.UNDO, request)

    def pin(self, reference: str, *, pinned: bool = True) -> Removable:
        """Pin a memory or an episode, or unpin it."""
        return self._run(table.PIN, PinRequest(reference=reference, pinned=pinned))

    def link(
        self,
        start: str,
        end: str,
        type: str = "related_to",  # noqa: A002
        strength: float = 0.5,
    ) -> Memory:
        """Link one memory to another."""
        return self._run(
            table.LINK, LinkRequest(start=start, end=end, type=type, strength=strength)
        )

    def unlink(self, start: str, end: str, type: str | None = None) -> Memory:  # noqa: A002
        """Remove the links from one memory to another."""
        return self._run(table.UNLINK, UnlinkRequest(start=start, end=end, type=type))

    def settle(self, *references: str, **fields: Any) -> Iterable[Removable]:
        """Decide a conflict: keep what is there, take `ours`, `theirs` or `other`, or a `text`."""
        return self._run(table.SETTLE, made(SettleRequest, references=references, **fields)).records

    def history(self, reference: str) -> tuple[Event, ...]:
        """Return what happened to a record, the oldest event first."""
        return self._run(table.HISTORY, HistoryRequest(reference=reference)).to_plain()

    def versions(self, reference: str) -> tuple[MemoryVersion, ...]:
        """Return what a memory has said, the first version first.

        Raises:
            NotFound, Ambiguous: The reference.
        """
        return self._run(table.VERSIONS, HistoryRequest(reference=reference)).items

    def events(self, *, record: str | None = None, limit: int = SHOWN, **wanted: Any) -> Journal:
        """Return what happened to everything that is kept, the newest last.

        Args:
            record: Only what happened to the record that this reference means.
            limit: Only the newest, at the most so many; all of them when 0.
            wanted: The fields of `pmem.core.journal.Wanted`.

        Raises:
            NotFound, Ambiguous: The reference.
            InvalidValue: Records of its kind keep no history, or the limit is below zero.
        """
        request = EventsRequest(wanted=made(Wanted, **wanted), reference=record, limit=limit)
        return self._run(table.EVENTS, request)

    def operations(self, **wanted: Any) -> Ran:
        """Return what ran in this clone; `wanted` has `after`, `before` and `limit`."""
        return self._run(table.OPERATIONS, made(RanRequest, **wanted))

    def waiting(self, *, decisions: bool = False) -> ConsentListing:
        """Return what waits for consent or for a second signal."""
        return self._run(table.WAITING, WaitingRequest(decisions=decisions))

    def approve(self, *references: str, message: str | None = None) -> Iterable[Agreed]:
        """Remember what was proposed, as a person.

        Args:
            references: Which proposals.
            message: The message by which somebody agreed, kept in the memory's history.
        """
        request = ApproveRequest(references=references, message=message)
        return self._run(table.APPROVE, request).items

    def reject(self, *references: str) -> Iterable[ProposalOutcome]:
        """Forget what was proposed, and do not ask again."""
        return self._run(table.REJECT, RecordsRequest(references=references)).items

    def audit(self, user: str | None = None) -> Iterable[AuditRow]:
        """Return the audit trail, the newest event last; one user's when one is given."""
        return self._run(table.EXPORT_AUDIT, AuditRequest(user=user)).items

    def search(self, query: str, **request: Any) -> SearchResult:
        """Rank everything kept by how well it answers a query.

        Args:
            query: What to look for.
            request: The other fields of `SearchRequest`.
        """
        return self._run(table.SEARCH, made(SearchRequest, query=query, **request))

    def query(self, request: Mapping[str, Any]) -> tuple[Item, ...]:
        """Answer an agent's request, within its allowlist and its budget.

        Args:
            request: The keys of `pmem.core.queries.QueryRequest`, as `pmem query` reads them.

        Raises:
            InvalidValue: It has an unknown key, or a value of another type.
            Refused: A category lies beyond the agent's allowlist.
        """
        return self._run(table.QUERY, parse(request)).items

    def build_context(self, query: str | None = None, **request: Any) -> BuiltContext:
        """Write the block that a model reads, within a budget.

        Args:
            query: What it is for.
            request: The other fields of `ContextRequest`.
        """
        asked = made(ContextRequest, query=query, **{"hits": True, **request})
        return self._run(table.CONTEXT, asked)
