"""What an app may see: its own memories, one by one or as the block that a model reads."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Final

import msgspec

from pmem.core import checks
from pmem.core.filters import EVERYTHING
from pmem.core.visible import visible
from pmem.errors import NotFound, PmemError
from pmem.memory.app_limit import SOURCE
from pmem.memory.app_memories import (
    AppAnswer,
    AppMemory,
    AppRequest,
    members,
    note_context,
    one_of,
    shown,
    state_of,
)
from pmem.memory.conversations import conversation_named
from pmem.project.workspace import Workspace
from pmem.values.fields import AppRef, AsOf, AtRequest, NoArguments, asked
from pmem.values.records import Conversation, EventKind, Memory, State, Status
from pmem.values.times import day, shifted


class AppLookRequest(AppRequest, frozen=True, kw_only=True):
    """Which app is to be looked at, and when, without what concerns another user than one."""

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
    """For which app to write a block, and for which of its conversations figures count it: the
    current one when None.
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
    """Return the memories of an app, the newest update first."""
    checks.limit(request.limit or 0)
    app = checks.app_name(request.app)
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
    user, kept = request.user, members(workspace, checks.app_name(request.app))
    return [memory for memory in kept if user is None or memory.scope.user in (None, user)]


def show(workspace: Workspace, request: AppShowRequest) -> AppMemory:
    """Return one memory of an app, whatever its state."""
    return shown(one_of(workspace, checks.app_name(request.app), request.reference))


def context(workspace: Workspace, request: AppContextRequest) -> AppContext:
    """Write the block of an app's memories for a model; empty where there are none."""
    app = checks.app_name(request.app)
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
    """Return an app's name as it is kept."""
    name, known = checks.app_name(app), {one.name.casefold() for one in apps(workspace)}
    if name in known:
        return name
    near = checks.nearest(name, known)
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
    near = "" if app in held else checks.nearest(app, held)
    return near and f"app {app} is new here; if you meant {near}, `pmem undo` takes this back"


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


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Return memories by their latest change, the newest first."""
    return sorted(memories, key=lambda memory: (memory.updated_at, memory.id), reverse=True)


def fitting(
    memories: Iterable[Memory], most: int, characters: int
) -> tuple[list[Memory], list[Memory]]:
    """Return the memories that a block shows, the newest first, and those that it has no room for.

    It shows whole ones, `most` at the most, with so many `characters` together.
    """
    shown: list[Memory] = []
    omitted: list[Memory] = []
    left = characters
    for memory in newest_first(memories):
        length = len(_one_line(memory.content))
        if len(shown) < most and length <= left:
            shown.append(memory)
            left -= length
        else:
            omitted.append(memory)
    return shown, omitted


def block(app: str, memories: Sequence[Memory]) -> str:
    """Write the block; nothing where there is no memory.

    Each memory is one line that begins with its number, and hidden characters are written out: no
    content can pass for another line of the block.
    """
    if not memories:
        return ""
    lines = (
        f"{number}. [Created: {day(memory.created_at)}] {_one_line(memory.content)}"
        for number, memory in enumerate(memories, 1)
    )
    return "\n".join(
        (
            f"(memories for app: {_one_line(app)})",
            "The following are memories from previous conversations with this app:",
            "",
            *lines,
            "",
            "Use these memories to provide context-aware responses.",
            "",
        )
    )


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))


RATE_HOURS: Final = 24
"""Over how many hours the rate of creation is counted."""
FREQUENCY_DAYS: Final = 7
"""Over how many days compactions are counted."""


class Energy(msgspec.Struct, frozen=True, kw_only=True):
    """The units that models may spend and have spent, and how much work waits for energy."""

    units: float
    capacity: float
    spent: float
    since_last_poll: float
    waiting: int


class AppFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures about apps that have left a memory or a conversation and are not uninstalled.

    Memories made are counted over 24 hours, per hour; decisions over 7 days, per app and day.
    `with_context` are the conversations whose context had memories of their app, as this clone has
    seen it; `utilisation` and `injection_rate` are the shares of apps with memories, and of those
    conversations. `energy` is what models may spend; None where it cannot be read.
    """

    apps: int
    with_memories: int
    utilisation: float
    memories: int
    created_per_hour: float
    compactions_per_app_per_day: float
    conversations: int
    with_context: int
    injection_rate: float
    energy: Energy | None


class Polled(msgspec.Struct, frozen=True, kw_only=True):
    """The units that models have spent since this was last asked."""

    spent: float


def statistics(workspace: Workspace, request: AtRequest) -> AppFigures:  # noqa: ARG001
    """Count what apps remember. Nothing is changed."""
    return figures_of(
        workspace, workspace.memories.find(EVERYTHING), workspace.conversations.find()
    )


def figures_of(
    workspace: Workspace, memories: Iterable[Memory], conversations: Iterable[Conversation]
) -> AppFigures:
    """Count what apps remember, of all memories and conversations, which are read already."""
    theirs = [memory for memory in memories if memory.scope.app]
    held = [item for item in conversations if item.app]
    gone, shown = set[str](), set[str]()
    if not workspace.is_past:
        with suppress(PmemError):
            gone, shown = state_of(workspace).gone(), state_of(workspace).with_context()
    names = {m.scope.app for m in theirs} | {item.app for item in held}
    used = {m.scope.app for m in theirs if m.state is State.ACTIVE}
    apps = names - gone
    with_context = sum(item.id in shown for item in held)
    day, week = _made_since(theirs, workspace.now())
    return AppFigures(
        apps=len(apps),
        with_memories=len(apps & used),
        utilisation=_ratio(len(apps & used), len(apps)),
        memories=sum(m.state is State.ACTIVE for m in theirs),
        created_per_hour=_ratio(day, RATE_HOURS),
        compactions_per_app_per_day=_ratio(week, FREQUENCY_DAYS * len(apps)),
        conversations=len(held),
        with_context=with_context,
        injection_rate=_ratio(with_context, len(held)),
        energy=_energy(workspace),
    )


def _energy(workspace: Workspace) -> Energy | None:
    """Return what models may spend, and have spent; None where that cannot be read.

    It is this clone's own, and of today in a view of the past as well.
    """
    rules, state = workspace.settings.apps, state_of(workspace)
    try:
        level = state.level(workspace.now(), rules)
        waiting = len(state.waiting())
    except PmemError:
        return None
    return Energy(
        units=round(level.units, 2),
        capacity=rules.energy,
        spent=round(level.spent, 2),
        since_last_poll=round(level.unpolled, 2),
        waiting=waiting,
    )


def poll_energy(workspace: Workspace, request: NoArguments) -> Polled:  # noqa: ARG001
    """Return the units that models have spent since this was last asked."""
    return Polled(spent=state_of(workspace).poll(workspace.now(), workspace.settings.apps))


def _made_since(memories: Iterable[Memory], now: datetime) -> tuple[int, int]:
    """Count the memories made of late, and the decisions of late: each took one memory away."""
    day = shifted(now, -timedelta(hours=RATE_HOURS))
    week = shifted(now, -timedelta(days=FREQUENCY_DAYS))
    made = decided = 0
    for memory in memories:
        made += day < memory.created_at <= now
        decided += sum(
            event.source == SOURCE
            and week < event.at <= now
            and (event.event is EventKind.DELETE or "into" in event.detail)
            for event in memory.history
        )
    return made, decided


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
