"""An app's memories as its commands show them, and how they are found."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec.structs import replace

from pmem.core.apps.deciding import AppDecision
from pmem.core.filters import EVERYTHING
from pmem.core.lifecycle.presence import presence
from pmem.core.record_keys import app_key
from pmem.core.trust import Trust, trust_of
from pmem.errors import Ambiguous, InvalidValue, NotFound, PmemError
from pmem.memory import recalls
from pmem.project.workspace import Workspace
from pmem.values.fields import asked
from pmem.values.ids import matches, short
from pmem.values.records import Memory, State
from pmem.values.times import HALF_LIFE_DAYS

if TYPE_CHECKING:
    from pmem.model.tasks import TaskKind
    from pmem.storage.local.appstate import AppState

MOST_IMPORTANT: Final = 10
"""Importance in app commands goes from 0 to this; records keep it from 0 to 1."""
CONVERSATIONS: Final = "conversations"
"""What an event's detail calls conversations that said the same."""
_SHOWN: Final = 5
_TOLD: Final = 20
"""Decisions that are told one by one."""


class AppMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory of an app; `importance` goes from 0 to 10, `trust` is as everywhere.

    `related_conversations` are further ones that said so: what was merged into it came from them.
    """

    id: str
    app: str
    content: str
    importance: float
    tags: tuple[str, ...]
    pinned: bool
    state: State
    trust: Trust | None
    conversation: str | None
    created_at: datetime
    updated_at: datetime
    related_conversations: tuple[str, ...] = ()

    @property
    def recalled(self) -> tuple[str]:
        """The id of what counts as recalled."""
        return (self.id,)


def shown(memory: Memory) -> AppMemory:
    """Return a memory as app commands show it."""
    return AppMemory(
        id=memory.id,
        app=memory.scope.app or "",
        content=memory.content,
        importance=round(memory.importance * MOST_IMPORTANT, 2),
        tags=memory.tags,
        pinned=memory.pinned,
        state=memory.state,
        trust=trust_of(memory),
        conversation=memory.source.conversation,
        related_conversations=related_conversations(memory),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def related_conversations(memory: Memory) -> tuple[str, ...]:
    """Return the conversations that a memory rests on beside its own, the earliest first."""
    noted = [name for event in memory.history for name in event.detail.get(CONVERSATIONS, ())]
    return tuple(name for name in dict.fromkeys(noted) if name != memory.source.conversation)


def share_of(importance: float | None) -> float | None:
    """Return an importance from 0 to 10 as records keep it; any other is an InvalidValue."""
    if importance is None:
        return None
    if not 0 <= importance <= MOST_IMPORTANT:
        raise InvalidValue(
            f"importance must lie between 0 and {MOST_IMPORTANT}, not {importance:g}"
        )
    return importance / MOST_IMPORTANT


def members(workspace: Workspace, app: str) -> list[Memory]:
    """Return the active memories of an app, the oldest first."""
    found = workspace.memories.twins(app_key(app))
    return sorted(found, key=lambda memory: (memory.created_at, memory.id))


def worths_of(workspace: Workspace, kept: Sequence[Memory]) -> dict[str, float]:
    """Return each memory's importance times its presence, which falls with age and grows by use."""
    now = workspace.now()
    return {
        memory.id: memory.importance * presence(memory, now, HALF_LIFE_DAYS)
        for memory in recalls.counted(workspace, kept)
    }


def all_of(workspace: Workspace, app: str) -> list[Memory]:
    """Return every memory of an app, whatever its state."""
    everything = workspace.memories.find(EVERYTHING)
    return [memory for memory in everything if (memory.scope.app or "").casefold() == app]


def one_of(workspace: Workspace, app: str, reference: str) -> Memory:
    """Return the memory of an app that a reference means; those of others do not exist for it."""
    found = _fitting(members(workspace, app), reference)
    found = found or _fitting(all_of(workspace, app), reference)
    if not found:
        raise NotFound(f"app {app!r} has no memory {reference!r}", "`pmem app list` shows them")
    if len(found) > 1:
        fits = ", ".join(memory.id for memory in found[:_SHOWN])
        raise Ambiguous(f"{reference!r} fits {fits}", "give more of the id")
    return found[0]


def room_notes(decisions: Sequence[AppDecision]) -> Iterator[str]:
    """Say what went so that apps keep to their limits."""
    for decided in decisions[:_TOLD]:
        why = decided.reason + (f" ({decided.failure})" if decided.failure else "")
        if decided.merged:
            yield f"made room: {short(decided.merged)} went into {short(decided.target)}; {why}"
        else:
            yield f"made room: removed {short(decided.target)}; {why}"
    if len(decisions) > _TOLD:
        yield f"and {len(decisions) - _TOLD} more; --json has them all"


def _fitting(memories: Iterable[Memory], reference: str) -> list[Memory]:
    fits = [memory for memory in memories if reference and matches(reference, memory.id)]
    return [memory for memory in fits if reference in (memory.id, short(memory.id))] or fits


class AppRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which app is meant, by its name."""

    app: Annotated[str, asked("The app's name.", shown="APP", is_argument=True, completes="app")]

    @property
    def named_app(self) -> str:
        """The app whose memories it asks for by name."""
        return self.app


class AppAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer about an app, whose name it repeats."""

    app: str

    def to_plain(self) -> Any:
        """Return the same without the secrets that the name repeats."""
        from pmem.core.secrets import unsecret

        return replace(self, app=unsecret(self.app))


def note_context(workspace: Workspace, conversation: str, app: str) -> None:
    """Count that a conversation had memories of its app; a figure must not fail a read."""
    if not workspace.read_only and workspace.settings.record_access:
        with suppress(PmemError):
            state_of(workspace).note_context(conversation, app)


def state_of(workspace: Workspace) -> "AppState":
    """Return what is kept of apps, by this clone or by a server."""
    if workspace.own.is_ours:
        return workspace.own.apps
    from pmem.storage.local.appstate import AppState
    from pmem.storage.local.state import LocalState

    return AppState(LocalState(workspace.root, read_only=True, is_own=False))


class WorkWaits(Exception):
    """A model may not be asked now, and its work is put off."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def asks(workspace: Workspace, kind: "TaskKind") -> bool:
    """Tell whether a model is to do a task, and not the rules; without one nothing is imported."""
    if workspace.given_models is None and not workspace.settings.model.is_chosen:
        return False
    from pmem.model.asking import models_of

    try:
        models = models_of(workspace)
    except InvalidValue:  # asking says what is wrong
        return True
    return models is not None and models.does(kind)
