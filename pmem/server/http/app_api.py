"""What apps remember, for those who administer them: list, purge and delete."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final, Literal

import msgspec

from pmem.apps.reading import AppListRequest
from pmem.apps.remembering import AppDeleteRequest
from pmem.errors import NotFound
from pmem.memory.app_memories import AppMemory, AppRequest
from pmem.operations import table
from pmem.server.http.endpoints import AddressValue, Endpoint, HttpCall, Reply, shaped
from pmem.values.ids import short

_APP: Final = AddressValue("appId", "The app's name")
_ONE: Final = AddressValue("memoryId", "The memory's id, or the beginning of one")


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


def endpoints() -> Iterator[Endpoint]:
    """Yield the endpoints of apps."""
    yield Endpoint(
        method="GET", path="/apps/{appId}/memories", name="list_app_memories", group="apps",
        says="List memories for an app", answer=_list, places=(_APP,),
        answers={200: (AppMemoriesResponse,)},
    )  # fmt: skip
    yield Endpoint(
        method="DELETE", path="/apps/{appId}/memories", name="purge_app_memories", group="apps",
        says="Purge all memories of an app, for good", answer=_purge, places=(_APP,), writes=True,
        answers={200: (AppPurgedResponse,)},
    )  # fmt: skip
    yield Endpoint(
        method="DELETE", path="/apps/{appId}/memories/{memoryId}", name="delete_app_memory",
        says="Delete one memory of an app; it can be restored until it is purged", group="apps",
        answer=_delete, places=(_APP, _ONE), writes=True,
        answers={200: (AppMemoryDeletedResponse,)},
    )  # fmt: skip


def _list(call: HttpCall) -> Reply:
    found = call.run(table.APP_MEMORIES, AppListRequest(app=call.path["appId"])).result
    shown = map(_response, map(call.masked_struct, found.items))
    return shaped(AppMemoriesResponse(memories=tuple(shown)))


def _purge(call: HttpCall) -> Reply:
    try:
        gone = call.run(table.APP_PURGE, AppRequest(app=call.path["appId"])).result
    except NotFound:  # purged already: the second time is no error here
        return shaped(AppPurgedResponse(deleted_count=0))
    return shaped(AppPurgedResponse(deleted_count=gone.active))


def _delete(call: HttpCall) -> Reply:
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
