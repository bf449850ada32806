"""Memories, what was learned, and what waits to become one."""

from __future__ import annotations  # a row's type is for readers and checkers: it costs nothing

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation

if TYPE_CHECKING:
    from pmem.memory.changes import ChangedRecords, RecordsRequest, Removable, RestoreRequest
    from pmem.memory.consent import (
        Approved,
        ApproveRequest,
        Confirmed,
        ConfirmRequest,
        ConsentListing,
        Declined,
        WaitingRequest,
    )
    from pmem.memory.facts import FactListing, FactsRequest, PromoteRequest, Promotions, Rejected
    from pmem.memory.journal import (
        AuditRequest,
        EventsRequest,
        History,
        HistoryRequest,
        Journal,
        Ran,
        RanRequest,
        Trail,
        VersionListing,
        Week,
        WeekRequest,
    )
    from pmem.memory.lifecycle import PurgeRequest, SupersedeByRequest, Superseded
    from pmem.memory.outcomes import (
        DueListing,
        DueRequest,
        OutcomeNoted,
        OutcomeRequest,
        Tried,
        TriedRequest,
    )
    from pmem.memory.reading import (
        Block,
        ListRequest,
        MemoryListing,
        NameListing,
        NamesRequest,
        ShownRecord,
        ShowRequest,
    )
    from pmem.memory.requests import (
        AddAllRequest,
        Added,
        AddedAll,
        AddRequest,
        Edited,
        EditRequest,
        LinkRequest,
        PinRequest,
        UnlinkRequest,
    )
    from pmem.memory.sharing import ShareRequest
    from pmem.memory.undo import Undone, UndoRequest
    from pmem.memory.why import Why, WhyRequest
    from pmem.values.records import Memory, Record

# memory: what was learned

ADD: Final[Operation[AddRequest, Added]] = Operation(
    "add", "Add a memory, or find the one that should be updated instead", "memory.memories:add",
    writes="records", gate="request", logged="hotpath:create"
)  # fmt: skip
SHARE: Final[Operation[ShareRequest, Added]] = Operation(
    "share", "Copy a memory of your own into the project", "memory.sharing:share",
    writes="records", gate="items", by_person=True, logged="hotpath:create"
)  # fmt: skip
SHOW: Final[Operation[ShowRequest, ShownRecord]] = Operation(
    "show", "Show a record, or a message, whole", "memory.reading:show", recalls=True
)
LIST: Final[Operation[ListRequest, MemoryListing]] = Operation(
    "list", "List memories, the oldest first", "memory.reading:list_memories"
)
BLOCK: Final[Operation[ListRequest, Block]] = Operation(
    "block", "Write memories as the block of a system prompt", "memory.reading:write_block"
)
ADD_ALL: Final[Operation[AddAllRequest, AddedAll]] = Operation(
    "add_all", "Add several memories, all of them or none", "memory.memories:add_all",
    writes="records", gate="request", logged="hotpath:create"
)  # fmt: skip
EDIT: Final[Operation[EditRequest, Edited]] = Operation(
    "edit", "Change a memory; its history keeps what it was", "memory.memories:edit",
    writes="records", gate="request", effect="idempotent"
)  # fmt: skip
SUPERSEDE: Final[Operation[EditRequest, Superseded]] = Operation(
    "supersede", "Let a new memory take the place of one, which held until now",
    "memory.lifecycle:supersede", writes="records", gate="request"
)  # fmt: skip
SUPERSEDE_BY: Final[Operation[SupersedeByRequest, Superseded]] = Operation(
    "supersede_by", "Let a memory that exists take the place of another one",
    "memory.lifecycle:supersede_by", writes="records", effect="idempotent"
)  # fmt: skip
REMOVE: Final[Operation[RecordsRequest, ChangedRecords[Removable]]] = Operation(
    "rm", "Remove memories or episodes; `restore` brings them back until they are purged",
    "memory.lifecycle:remove", writes="records", effect="idempotent"
)  # fmt: skip
RESTORE: Final[Operation[RestoreRequest, ChangedRecords[Removable]]] = Operation(
    "restore", "Bring back what was removed or archived", "memory.lifecycle:restore",
    writes="records", unless="dry_run", effect="idempotent"
)  # fmt: skip
PURGE: Final[Operation[PurgeRequest, ChangedRecords[Record]]] = Operation(
    "purge", "Delete records for good, with every link to them", "memory.lifecycle:purge",
    writes="records", effect="destructive"
)  # fmt: skip
PIN: Final[Operation[PinRequest, Removable]] = Operation(
    "pin", "Pin a memory or an episode, so that it never fades, or unpin it",
    "memory.memories:pin", writes="records", effect="idempotent"
)  # fmt: skip
LINK: Final[Operation[LinkRequest, Memory]] = Operation(
    "link", "Link one memory to another", "memory.links:link",
    writes="records", effect="idempotent"
)  # fmt: skip
UNLINK: Final[Operation[UnlinkRequest, Memory]] = Operation(
    "unlink", "Remove the links from one memory to another", "memory.links:unlink",
    writes="records", effect="idempotent"
)  # fmt: skip

TRIED: Final[Operation[TriedRequest, Tried]] = Operation(
    "tried", "Note what was tried and failed, and what worked instead",
    "memory.outcomes:note_attempt", writes="records", gate="request", logged="hotpath:create"
)  # fmt: skip
OUTCOME: Final[Operation[OutcomeRequest, OutcomeNoted]] = Operation(
    "outcome", "Note how a decision turned out", "memory.outcomes:note_outcome",
    writes="records", gate="request"
)  # fmt: skip
DUE: Final[Operation[DueRequest, DueListing]] = Operation(
    "due", "List what needs another look, the most overdue first",
    "memory.outcomes:list_due"
)  # fmt: skip
WHY: Final[Operation[WhyRequest, Why]] = Operation(
    "why", "Show what was decided, tried and replaced at a place in a file",
    "memory.why:explain", recalls=True
)  # fmt: skip

UNDO: Final[Operation[UndoRequest, Undone]] = Operation(
    "undo", "Take back the last commands of this clone, as new events", "memory.undo:undo",
    "whole", doing="undo commands", writes="records", unless="dry_run", by_person=True
)  # fmt: skip
WEEK: Final[Operation[WeekRequest, Week]] = Operation(
    "week", "Show what was learned, changed and forgotten since a moment, and by whom",
    "memory.journal:look_back"
)  # fmt: skip
NAMES: Final[Operation[NamesRequest, NameListing]] = Operation(
    "names", "List the tags or the subjects, and how many memories have each",
    "memory.reading:list_names"
)  # fmt: skip
HISTORY: Final[Operation[HistoryRequest, History]] = Operation(
    "history", "Show what happened to a record, the oldest event first",
    "memory.journal:show_history"
)  # fmt: skip
VERSIONS: Final[Operation[HistoryRequest, VersionListing]] = Operation(
    "versions", "List what a memory has said, the first version first",
    "memory.journal:list_versions"
)  # fmt: skip
EVENTS: Final[Operation[EventsRequest, Journal]] = Operation(
    "events", "Show what happened to all records, the newest last", "memory.journal:list_events"
)
OPERATIONS: Final[Operation[RanRequest, Ran]] = Operation(
    "operations", "Show what ran in this clone", "memory.journal:list_operations"
)
EXPORT_AUDIT: Final[Operation[AuditRequest, Trail]] = Operation(
    "export.audit", "Export the audit trail, one event each", "memory.journal:audit"
)

# facts and consent

FACTS: Final[Operation[FactsRequest, FactListing]] = Operation(
    "facts.list", "List the facts that messages state, the surest first",
    "memory.facts:list_facts", categories=("activity",)
)  # fmt: skip
CONFIRM: Final[Operation[ConfirmRequest, Confirmed]] = Operation(
    "confirm", "Trust all memories that an agent noted: a person has looked at them",
    "memory.consent:confirm", writes="records", by_person=True, effect="idempotent"
)  # fmt: skip
PROMOTE: Final[Operation[PromoteRequest, Promotions]] = Operation(
    "facts.promote", "Make memories of facts", "memory.facts:promote",
    categories=("activity",), writes="records", gate="request", effect="idempotent"
)  # fmt: skip
REJECT_FACTS: Final[Operation[RecordsRequest, Rejected]] = Operation(
    "facts.reject", "Reject facts: they are no longer pending, and never noted again",
    "memory.facts:reject",
    categories=("activity",), writes="records", effect="destructive"
)  # fmt: skip
WAITING: Final[Operation[WaitingRequest, ConsentListing]] = Operation(
    "consent.list", "List what waits for consent or for a second signal, the oldest first",
    "memory.consent:list_waiting", scope="nothing"
)  # fmt: skip
APPROVE: Final[Operation[ApproveRequest, Approved]] = Operation(
    "consent.approve", "Agree: remember what was proposed", "memory.consent:approve",
    writes="beside", gate="request", effect="idempotent", by_person=True
)  # fmt: skip
REJECT: Final[Operation[RecordsRequest, Declined]] = Operation(
    "consent.reject", "Do not agree: forget what was proposed, and do not ask again",
    "memory.consent:reject",
    writes="beside", gate="request", effect="destructive", by_person=True
)  # fmt: skip
