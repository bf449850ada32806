"""How one record, or several together, change under the lock."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, cast

from pmem.records import Episode, Event, EventKind, Memory
from pmem.storage.store import Store
from pmem.workspace import Workspace, event_of

Removable = Memory | Episode
"""What has states, and a history that explains them."""

K = TypeVar("K", bound=Removable)
EDITABLE: Final = (Memory, Episode)


def store_of(workspace: Workspace, reference: str) -> Store[Removable]:
    """Return the store that holds what a reference means.

    Raises:
        NotFound, Ambiguous: The reference.
    """
    type_, _ = workspace.resolve(reference, *EDITABLE)
    store = workspace.memories if type_ is Memory else workspace.episodes
    return cast(Store[Removable], store)


def change(
    workspace: Workspace,
    store: Store[K],
    reference: str,
    kind: EventKind,
    apply: Callable[[K, Event], K],
) -> K:
    """Apply a change to one record under the lock; an equal result is not written.

    Args:
        workspace: Where it is.
        store: The store that holds it.
        reference: Which one.
        kind: What happens.
        apply: Returns the changed record, or the same one where there is nothing to change.

    Raises:
        NotFound, Ambiguous: The reference.
    """
    with workspace.transaction():
        _, identifier = workspace.resolve(reference, store.type)
        return _apply(workspace, store, identifier, kind, apply)


def change_all(
    workspace: Workspace,
    references: Sequence[str],
    kind: EventKind,
    apply: Callable[[Removable, Event], Removable],
) -> list[Removable]:
    """Apply a change to several memories and episodes, or to none; see `change`."""
    with workspace.transaction():
        stores = [(store_of(workspace, reference), reference) for reference in references]
        return [
            _apply(workspace, store, workspace.resolve(reference, store.type)[1], kind, apply)
            for store, reference in stores
        ]


def _apply(
    workspace: Workspace,
    store: Store[K],
    identifier: str,
    kind: EventKind,
    apply: Callable[[K, Event], K],
) -> K:
    record = store.get(identifier)
    event = event_of(workspace, kind)
    new = apply(record, event)
    return record if new is record else store.put(new)
