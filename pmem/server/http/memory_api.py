"""Memories as one resource, with numbered versions; what agents ask; what apps remember.

The shapes are those that agents' frameworks know, so nothing stands around them but errors. A
memory's id is its short one, and what belongs to an app is seen by that app alone.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from pmem.apps.reading import AppListRequest
from pmem.apps.remembering import AppDeleteRequest
from pmem.core.journal import AuditRow, row
from pmem.core.queries import Bullet, Full, QueryRequest
from pmem.core.retention import version_number, versions
from pmem.errors import InvalidValue, NotFound
from pmem.memory.app_memories import AppMemory, AppRequest
from pmem.memory.changes import RecordsRequest
from pmem.memory.journal import HistoryRequest
from pmem.memory.reading import ListRequest, ShowRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.server.http.endpoints import (
    AddressValue,
    Endpoint,
    HttpCall,
    HttpRefusal,
    Reply,
    enveloped,
    refused,
    shaped,
    status_of_answer,
)
from pmem.server.http.operation_api import body_of, read_body, read_query
from pmem.values.ids import short
from pmem.values.records import Memory, MemoryType, State

LEAST_CONTENT: Final = 5  # characters, without blanks around them

Content = Annotated[str, Meta(min_length=LEAST_CONTENT, max_length=500)]
MemorySubject = Annotated[str, Meta(max_length=200)]
MemoryCategory = Literal["person", "preference", "context", "project"]

_ID: Final = (AddressValue("id", "The memory's id, or the beginning of one"),)
_ALL: Final = "/api/memory/"
_ONE: Final = "/api/memory/{id}"
_OF_APP: Final = "/apps/{appId}/memories"
USUAL_EVENTS: Final = 50
MOST_EVENTS: Final = 1000

_LIMIT: Final = AddressValue(
    "limit", "Only the latest so many", "query",
    {"type": "integer", "minimum": 1, "maximum": MOST_EVENTS, "default": USUAL_EVENTS},
)  # fmt: skip
_APP: Final = (AddressValue("appId", "The app's name"),)


class CreateMemoryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A memory to create."""

    content: Content
    category: MemoryCategory
    subject: MemorySubject | None = None


class UpdateMemoryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's new content, which becomes its next version."""

    content: Content


class MemoryResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A memory: `version` counts its contents, `updated_at` is null while it has its first."""

    id: str
    category: str
    subject: str | None
    content: str
    version: int
    created_at: datetime
    updated_at: datetime | None


class MemoryVersionResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What a memory said at some time, and the conversation that it came from, if one is known."""

    version_number: int
    content: str
    source_conversation_id: str | None
    created_at: datetime


class MemoryWithVersions(MemoryResponse, frozen=True, kw_only=True):
    """A memory and all that it ever said, the oldest first."""

    versions: tuple[MemoryVersionResponse, ...]


class MemoryListResponse(msgspec.Struct, frozen=True, kw_only=True):
    """All active memories by category, then by age, and how many they are."""

    memories: tuple[MemoryResponse, ...]
    total: int


class MemoryUpdated(MemoryResponse, frozen=True, kw_only=True):
    """A memory as it now is, and what it said before."""

    old_content: str
    old_version: int


class MemoryRemoved(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that was removed, and what it said."""

    id: str
    content: str
    message: str


ENDPOINTS: Final[list[Endpoint]] = []


def _answers(
    method: str, path: str, group: str, answers: dict[int, tuple[Any, ...]], **more: Any
) -> Callable[[Callable[[HttpCall], Reply]], Callable[[HttpCall], Reply]]:
    """Put a function into the table; its name is the endpoint's, its sentence what it says."""

    def note(answer: Callable[[HttpCall], Reply]) -> Callable[[HttpCall], Reply]:
        told = {"name": answer.__name__, "writes": method != "GET", **more}
        says = (answer.__doc__ or "").removesuffix(".")
        ENDPOINTS.append(
            Endpoint(
                method=method, path=path, group=group, answers=answers, says=says, answer=answer,
                **told,
            )
        )  # fmt: skip
        return answer

    return note


@_answers("GET", _ALL, "memory", {200: (MemoryListResponse,)})
def list_memories(call: HttpCall) -> Reply:
    """List all active memories."""
    found = call.run(table.LIST, ListRequest()).result.items
    offered = [memory for memory in found if _is_offered(call, memory)]
    offered.sort(key=lambda memory: (memory.category, memory.created_at, memory.id))
    items = tuple(MemoryResponse(**_fields(call, memory)) for memory in offered)
    return shaped(MemoryListResponse(memories=items, total=len(items)))


@_answers("POST", _ALL, "memory", {201: (MemoryResponse,), 202: ()}, body=CreateMemoryRequest)
def create_memory(call: HttpCall) -> Reply:
    """Create a memory, or name the one to update instead."""
    wanted = read_body(CreateMemoryRequest, call.body)
    is_preference = wanted.category == "preference"
    request = AddRequest(
        content=_without_blanks(wanted.content),
        category=wanted.category,
        subject=wanted.subject,
        type=MemoryType.PREFERENCE if is_preference else MemoryType.FACT,
    )
    outcome = call.run(table.ADD, request)
    added = outcome.result
    if added.held is not None:
        return enveloped(call, outcome)
    if added.action == "added":
        return shaped(MemoryResponse(**_fields(call, added.memory)), 201)
    known = MemoryResponse(**_fields(call, added.memory))
    error = HttpRefusal(
        status_of_answer(added), "exists", f"nothing was created: {added.reason}",
        f"if yours is newer, update it: PUT /api/memory/{known.id}",
    )  # fmt: skip
    return refused(error, suggestion="update_memory", memory=known)


@_answers("GET", _ONE, "memory", {200: (MemoryWithVersions,)}, places=_ID)
def get_memory(call: HttpCall) -> Reply:
    """Get a memory with its version history."""
    memory = _find_active(call)
    found = tuple(
        MemoryVersionResponse(
            version_number=one.number,
            content=one.content,
            source_conversation_id=one.conversation,
            created_at=one.created_at,
        )
        for one in map(call.masked_struct, versions(memory))
    )
    return shaped(MemoryWithVersions(**_fields(call, memory), versions=found))


@_answers("PUT", _ONE, "memory", {200: (MemoryUpdated,)}, places=_ID, body=UpdateMemoryRequest)
def update_memory(call: HttpCall) -> Reply:
    """Update a memory: a new version, with the same id."""
    wanted = read_body(UpdateMemoryRequest, call.body)
    reference = _find_active(call).id
    content = _without_blanks(wanted.content)
    edited = call.run(table.EDIT, EditRequest(reference=reference, content=content)).result
    old = call.masked_struct(edited.was or edited.memory)
    return shaped(
        MemoryUpdated(
            **_fields(call, edited.memory),
            old_content=old.content,
            old_version=version_number(old),
        )
    )


def _without_blanks(content: str) -> str:
    """Return a content without the blanks around it, which count for nothing."""
    told = content.strip()
    if len(told) < LEAST_CONTENT:
        raise InvalidValue(f"content must have at least {LEAST_CONTENT} characters")
    return told


@_answers("DELETE", _ONE, "memory", {200: (MemoryRemoved,)}, places=_ID)
def delete_memory(call: HttpCall) -> Reply:
    """Remove a memory; it can be restored until it is purged."""
    memory = _find_active(call)
    call.run(table.REMOVE, RecordsRequest(references=(memory.id,)))
    content = call.masked_struct(memory).content
    return shaped(
        MemoryRemoved(id=short(memory.id), content=content, message=f"Deleted: '{content}'")
    )


def _find_active(call: HttpCall) -> Memory:
    """Return the active memory that the address means."""
    reference = call.path["id"]
    record = call.run(table.SHOW, ShowRequest(reference=reference)).result.record
    if not isinstance(record, Memory) or not _is_offered(call, record):
        raise NotFound(f"there is no memory {reference!r}", "GET /api/memory/ lists them")
    if record.state is not State.ACTIVE:
        raise NotFound(
            f"{short(record.id)} is no longer an active memory: it is {record.state}",
            f"`pmem restore {short(record.id)}` brings it back",
        )
    return record


def _is_offered(call: HttpCall, memory: Memory) -> bool:
    return memory.scope.app in (None, call.holder.caller.app)


def _fields(call: HttpCall, memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory's response."""
    seen, latest = call.masked_struct(memory), versions(memory)[-1]
    return {
        "id": short(memory.id),
        "category": memory.category,
        "subject": seen.subject,
        "content": seen.content,
        "version": latest.number,
        "created_at": memory.created_at,
        "updated_at": latest.created_at if latest.number > 1 else None,
    }


@_answers(
    "GET", "/memory/{id}/history", "recall", {200: (list[AuditRow],)},
    places=(AddressValue("id", "The record's id, or the beginning of one"), _LIMIT),
)  # fmt: skip
def memory_history(call: HttpCall) -> Reply:
    """Show what happened to a record, the newest event first."""
    given = call.query.get("limit", str(USUAL_EVENTS))
    if not (re.fullmatch(r"[0-9]{1,4}", given) and 1 <= int(given) <= MOST_EVENTS):
        told = f"limit must be a number from 1 to {MOST_EVENTS}"
        raise HttpRefusal(422, "invalid_value", told)
    found = call.run(table.HISTORY, HistoryRequest(reference=call.path["id"])).result.steps
    return shaped(call.masked(tuple(map(row, reversed(found[-int(given) :])))))


@_answers(
    "POST", "/api/query", "recall", {200: (list[Bullet], list[Full])},
    name="memory.query", body=body_of(QueryRequest), writes=False,
)  # fmt: skip
def _query(call: HttpCall) -> Reply:
    """Answer an agent's request, within its allowlist and its budget."""
    return shaped(call.run(table.QUERY, read_query(call.body)).plain)


class AppMemoryMetadata(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """What else is known of an app's memory; `importance` goes from 0 to 10."""

    importance: float
    tags: tuple[str, ...]
    related_conversations: tuple[str, ...] = ()


class AppMemoryResponse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A memory of an app."""

    id: str
    content: str
    created_at: datetime
    updated_at: datetime
    source_conversation_id: str | msgspec.UnsetType = msgspec.UNSET
    metadata: AppMemoryMetadata


class AppMemoriesResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The memories of an app, the newest update first."""

    memories: tuple[AppMemoryResponse, ...]


class AppPurgedResponse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many active memories an app had, all of which are gone for good."""

    success: Literal[True] = True
    deleted_count: int


class AppMemoryDeletedResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of an app was removed."""

    success: Literal[True] = True


@_answers("GET", _OF_APP, "apps", {200: (AppMemoriesResponse,)}, places=_APP)
def list_app_memories(call: HttpCall) -> Reply:
    """List memories for an app."""
    found = call.run(table.APP_MEMORIES, AppListRequest(app=call.path["appId"])).result
    shown = map(_response, map(call.masked_struct, found.items))
    return shaped(AppMemoriesResponse(memories=tuple(shown)))


@_answers("DELETE", _OF_APP, "apps", {200: (AppPurgedResponse,)}, places=_APP)
def purge_app_memories(call: HttpCall) -> Reply:
    """Purge all memories of an app, for good."""
    try:
        gone = call.run(table.APP_PURGE, AppRequest(app=call.path["appId"])).result
    except NotFound:  # purged already: the second time is no error here
        return shaped(AppPurgedResponse(deleted_count=0))
    return shaped(AppPurgedResponse(deleted_count=gone.active))


@_answers(
    "DELETE", f"{_OF_APP}/{{memoryId}}", "apps", {200: (AppMemoryDeletedResponse,)},
    places=(*_APP, AddressValue("memoryId", "The memory's id, or the beginning of one")),
)  # fmt: skip
def delete_app_memory(call: HttpCall) -> Reply:
    """Delete one memory of an app; it can be restored until it is purged."""
    request = AppDeleteRequest(app=call.path["appId"], reference=call.path["memoryId"])
    call.run(table.APP_DELETE, request)
    return shaped(AppMemoryDeletedResponse())


def _response(memory: AppMemory) -> AppMemoryResponse:
    return AppMemoryResponse(
        id=short(memory.id),
        content=memory.content,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        source_conversation_id=memory.conversation or msgspec.UNSET,
        metadata=AppMemoryMetadata(
            importance=memory.importance,
            tags=memory.tags,
            related_conversations=memory.related_conversations,
        ),
    )
