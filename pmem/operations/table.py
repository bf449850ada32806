"""Every use case of pmem, once: what it means, where it is, and what it needs.

The command line, the library and every server read this table; the pipeline runs what stands in
it. A row's type names its request and its answer. Nothing of a use case is loaded before it runs.
"""

from typing import TYPE_CHECKING, Any, Final

from pmem.operations.operation import Effect, Gate, Operation, Writes

if TYPE_CHECKING:
    from pmem.memory.changes import Records, RecordsRequest, Removable
    from pmem.memory.lifecycle import PurgeRequest, SupersedeByRequest, Superseded
    from pmem.memory.memories import (
        AddAllRequest,
        Added,
        AddedAll,
        AddRequest,
        EditRequest,
        LinkRequest,
        PinRequest,
        UnlinkRequest,
    )
    from pmem.memory.reading import Block, Listing, ListRequest, Shown, ShowRequest
    from pmem.search.contexts import BuiltContext, ContextRequest
    from pmem.search.search import Found, SearchRequest
    from pmem.values.records import Memory, Record

# memory: what was learned

ADD: Final["Operation[AddRequest, Added]"] = Operation(
    "add", "Add a memory, or find the one that should be updated instead", "memory.memories:add",
    writes=Writes.RECORDS, gate=Gate.REQUEST, logged="hotpath:create"
)  # fmt: skip
SHOW: Final["Operation[ShowRequest, Shown]"] = Operation(
    "show", "Show a record, or a message, whole", "memory.reading:show", recalls=True
)
LIST: Final["Operation[ListRequest, Listing]"] = Operation(
    "list", "List memories, the oldest first", "memory.reading:list_memories"
)

BLOCK: Final["Operation[ListRequest, Block]"] = Operation(
    "block", "Write memories as the block of a system prompt", "memory.reading:write_block"
)
ADD_ALL: Final["Operation[AddAllRequest, AddedAll]"] = Operation(
    "add_all", "Add several memories, all of them or none", "memory.memories:add_all",
    writes=Writes.RECORDS, gate=Gate.REQUEST, logged="hotpath:create"
)  # fmt: skip
EDIT: Final["Operation[EditRequest, Memory]"] = Operation(
    "edit", "Change a memory; its history keeps what it was", "memory.memories:edit",
    writes=Writes.RECORDS, gate=Gate.REQUEST, effect=Effect.IDEMPOTENT
)  # fmt: skip
SUPERSEDE: Final["Operation[EditRequest, Superseded]"] = Operation(
    "supersede", "Let a new memory take the place of one, which held until now",
    "memory.lifecycle:supersede", writes=Writes.RECORDS, gate=Gate.REQUEST
)  # fmt: skip
SUPERSEDE_BY: Final["Operation[SupersedeByRequest, Superseded]"] = Operation(
    "supersede_by", "Let a memory that exists take the place of another one",
    "memory.lifecycle:supersede_by", writes=Writes.RECORDS, effect=Effect.IDEMPOTENT
)  # fmt: skip
REMOVE: Final["Operation[RecordsRequest, Records[Removable]]"] = Operation(
    "rm", "Remove memories or episodes; `restore` brings them back until they are purged",
    "memory.lifecycle:remove", writes=Writes.RECORDS, effect=Effect.IDEMPOTENT
)  # fmt: skip
RESTORE: Final["Operation[RecordsRequest, Records[Removable]]"] = Operation(
    "restore", "Bring back what was removed or archived", "memory.lifecycle:restore",
    writes=Writes.RECORDS, effect=Effect.IDEMPOTENT
)  # fmt: skip
PURGE: Final["Operation[PurgeRequest, Records[Record]]"] = Operation(
    "purge", "Delete records for good, with every link to them", "memory.lifecycle:purge",
    writes=Writes.RECORDS, effect=Effect.DESTRUCTIVE
)  # fmt: skip
PIN: Final["Operation[PinRequest, Removable]"] = Operation(
    "pin", "Pin a memory or an episode, so that it never fades, or unpin it",
    "memory.memories:pin", writes=Writes.RECORDS, effect=Effect.IDEMPOTENT
)  # fmt: skip
LINK: Final["Operation[LinkRequest, Memory]"] = Operation(
    "link", "Link one memory to another", "memory.memories:link",
    writes=Writes.RECORDS, gate=Gate.REQUEST, effect=Effect.IDEMPOTENT
)  # fmt: skip
UNLINK: Final["Operation[UnlinkRequest, Memory]"] = Operation(
    "unlink", "Remove the links from one memory to another", "memory.memories:unlink",
    writes=Writes.RECORDS, effect=Effect.IDEMPOTENT
)  # fmt: skip

# facts and consent

# conversation: what was said

# apps

# search: what is found again

SEARCH: Final["Operation[SearchRequest, Found]"] = Operation(
    "search", "Find memories, episodes, chunk summaries and messages", "search.search:search",
    recalls=True, logged="hotpath:search"
)  # fmt: skip
CONTEXT: Final["Operation[ContextRequest, BuiltContext]"] = Operation(
    "context", "Write the block that a model reads, within a token budget",
    "search.contexts:build_context", recalls=True, logged="context:search"
)  # fmt: skip

# threads and checkpoints

# upkeep: keeping it in order

# git, and the project itself

TABLE: Final[dict[str, Operation[Any, Any]]] = {
    row.name: row for row in list(globals().values()) if isinstance(row, Operation)
}
"""Every operation by its name."""
