"""What an app may see: its own memories, one by one or as the block that a model reads."""

from collections import Counter
from collections.abc import Collection
from typing import Annotated

import msgspec

from pmem.core import checks
from pmem.core.apps.block import block, fitting, newest_first
from pmem.core.filters import EVERYTHING
from pmem.errors import NotFound, PmemError
from pmem.memory.app_memories import (
    AppAnswer,
    AppMemory,
    AppRequest,
    members,
    name_of,
    note_context,
    one_of,
    shown,
    state_of,
)
from pmem.memory.reading import conversation_named
from pmem.project.workspace import Workspace
from pmem.values.fields import AppRef, AsOf, AtRequest, asked
from pmem.values.records import Conversation, Memory, State, Status


class AppLookRequest(AppRequest, frozen=True, kw_only=True):
    """Which app is to be looked at, as it is or as it was.

    With a `user`, what concerns another one is left out.
    """

    user: Annotated[str | None, asked("Leave out what concerns other users.", completes="user")] = (
        None
    )
    at: AsOf = None
    revision: str | None = None


class AppListRequest(AppLookRequest, frozen=True, kw_only=True):
    """Which memories of an app are to be listed: the `limit` newest, or all."""

    limit: Annotated[int | None, asked("Only the newest N.", flag="--limit -n", least=1)] = None


class AppShowRequest(AppLookRequest, frozen=True, kw_only=True):
    """Which memory of an app is to be shown."""

    reference: AppRef


class AppContextRequest(AppLookRequest, frozen=True, kw_only=True):
    """For which app to write a block, and for which of its conversations, as figures count it.

    That is the app's current one when None.
    """

    conversation: Annotated[
        str | None,
        asked(
            "The conversation to count it for [the app's current one].",
            shown="REF",
            completes="conversation",
        ),
    ] = None


class AppListing(AppAnswer, frozen=True, kw_only=True, omit_defaults=True):
    """An app's memories, the newest update first, and how many it may have.

    `total` counts what the request's limit leaves out as well. `unknown` says that no such app has
    left a trace, and which one may be meant.
    """

    items: tuple[AppMemory, ...]
    total: int
    limit: int
    unknown: str = ""


class AppContext(AppAnswer, frozen=True, kw_only=True, omit_defaults=True):
    """The block that a model reads; `omitted` are memories that it has no room for.

    `unknown` says that no such app has left a trace, and which one may be meant.
    """

    text: str
    items: tuple[AppMemory, ...]
    omitted: tuple[str, ...]
    unknown: str = ""

    @property
    def noted(self) -> dict[str, str]:
        """What the log of operations says of it."""
        if not self.items:
            return {"status": "skipped"}
        count = len(self.items)
        told = f"{count} {'memory' if count == 1 else 'memories'} of app {self.app}"
        return {"status": "ok", "reason": told}

    @property
    def recalled(self) -> list[str]:
        """The ids of what counts as recalled."""
        return [memory.id for memory in self.items]


class AppOverview(msgspec.Struct, frozen=True, kw_only=True):
    """An app: what it has, and what waits for it. One that was uninstalled keeps its memories."""

    name: str
    memories: int
    limit: int
    conversations: int
    waiting: int
    installed: bool


class AppOverviews(msgspec.Struct, frozen=True, kw_only=True):
    """The apps that have left a trace, by name, and how many they are."""

    items: tuple[AppOverview, ...]
    total: int


def listing(workspace: Workspace, request: AppListRequest) -> AppListing:
    """Return the memories of an app, the newest update first.

    Raises:
        InvalidValue: The app's name is not allowed, or the limit lies below zero.
    """
    checks.limit(request.limit or 0)
    app = name_of(request.app)
    found = newest_first(_seen_by(workspace, request))
    return AppListing(
        app=app,
        items=tuple(map(shown, found[: request.limit])),
        total=len(found),
        limit=workspace.settings.apps.limit,
        unknown="" if found else unknown_app(workspace, app),
    )


def _seen_by(workspace: Workspace, request: AppLookRequest) -> list[Memory]:
    """Return the app's active memories that concern a user or nobody in particular."""
    user, kept = request.user, members(workspace, name_of(request.app))
    return [memory for memory in kept if user is None or memory.scope.user in (None, user)]


def show(workspace: Workspace, request: AppShowRequest) -> AppMemory:
    """Return one memory of an app, whatever its state.

    Raises:
        NotFound, Ambiguous: The app has none that the reference means.
        InvalidValue: The app's name is not allowed.
    """
    return shown(one_of(workspace, name_of(request.app), request.reference))


def context(workspace: Workspace, request: AppContextRequest) -> AppContext:
    """Write the block of an app's memories for a model; empty where there are none.

    Raises:
        InvalidValue: The app's name is not allowed.
        NotFound, Ambiguous: The conversation, or it is another app's.
    """
    app = name_of(request.app)
    held = _held_in(workspace, app, request.conversation)
    settings = workspace.settings
    most = settings.apps.limit
    chosen, omitted = fitting(_seen_by(workspace, request), most, most * settings.limits.app_memory)
    if chosen and held is not None:
        note_context(workspace, held.id, app)
    clean = [workspace.mask.fields(memory) for memory in chosen]
    return AppContext(
        app=app,
        text=block(app, clean),
        items=tuple(map(shown, clean)),
        omitted=tuple(memory.id for memory in omitted),
        unknown="" if clean else unknown_app(workspace, app),
    )


def _held_in(workspace: Workspace, app: str, reference: str | None) -> Conversation | None:
    if reference is not None:
        found = conversation_named(workspace, reference)
        if found.app != app:
            raise NotFound(f"app {app!r} has no conversation {reference!r}")
        return found
    try:
        latest = workspace.conversations.get(max(workspace.conversations.ids(), default=""))
    except PmemError:  # there is none, or a damaged one, which keeps no memory back
        return None
    return latest if latest.app == app and latest.status is Status.ACTIVE else None


def known_app(workspace: Workspace, app: str) -> str:
    """Return an app's name as it is kept.

    Raises:
        InvalidValue: The app's name is not allowed.
        NotFound: No such app has left a trace here.
    """
    name, known = name_of(app), {one.name.casefold() for one in apps(workspace)}
    if name in known:
        return name
    near = _nearest(name, known)
    hint = f"did you mean {near}?" if near else "`pmem app list` shows them all"
    raise NotFound(f"there is no app {name!r}", hint)


def unknown_app(workspace: Workspace, app: str) -> str:
    """Say that no such app has left a trace here, and which one may be meant; else nothing."""
    try:
        known_app(workspace, app)
    except NotFound as none:
        return f"{none.message}; {none.hint}"
    return ""


def slip(workspace: Workspace, app: str) -> str:
    """Say which app may be meant by a name that has nothing here; else nothing."""
    if members(workspace, app):
        return ""
    held = {one.name for one in apps(workspace) if one.memories or one.conversations}
    near = "" if app in held else _nearest(app, held)
    return near and f"app {app} is new here; if you meant {near}, `pmem undo` takes this back"


def _nearest(name: str, known: Collection[str]) -> str:
    """Return the name that another one is probably a slip of; else nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, sorted(known), n=1)), "")


def list_apps(workspace: Workspace, request: AtRequest) -> AppOverviews:  # noqa: ARG001
    """Return every app that has left a trace, by name."""
    found = tuple(apps(workspace))
    return AppOverviews(items=found, total=len(found))


def apps(workspace: Workspace) -> list[AppOverview]:
    """Return every app that has left a trace, by name."""
    memories = [m for m in workspace.memories.find(EVERYTHING) if m.scope.app]
    held = Counter(item.app for item in workspace.conversations.find() if item.app)
    active = Counter(m.scope.app for m in memories if m.state is State.ACTIVE)
    state = None if workspace.is_past else state_of(workspace)
    waiting = Counter(work.app for work in state.waiting()) if state else Counter[str]()
    gone = state.gone() if state else set()
    names = {m.scope.app for m in memories if m.scope.app} | {name for name in held if name}
    names |= set(waiting)
    return [
        AppOverview(
            name=name,
            memories=active[name],
            limit=workspace.settings.apps.limit,
            conversations=held[name],
            waiting=waiting[name],
            installed=name not in gone,
        )
        for name in sorted(names)
    ]
