"""`pmem app`: what apps remember."""

from collections.abc import Iterator

import msgspec

from pmem.apps import reading, remembering
from pmem.cli import render
from pmem.cli.asking import asks, own
from pmem.cli.screens.drawing import figure
from pmem.cli.session import Answer, CommandSession, Line, listed
from pmem.core.secrets import unsecret
from pmem.errors import UsageError
from pmem.memory.app_memories import AppMemory, AppRequest, room_notes
from pmem.operations import table
from pmem.values.fields import AtRequest, NoArguments
from pmem.values.ids import short
from pmem.values.records import State
from pmem.values.times import day


@asks(remembering.RememberRequest)
def remember(
    session: CommandSession,
    request: remembering.RememberRequest,
    text: str | None = own("What to remember.", shown="[TEXT|-]", is_argument=True),
) -> Answer:
    """Make a memory for an app; at its limit, another makes room."""
    if request.conversation is None or text is not None:
        content = session.input(text, "the text, or --conversation,")
        request = msgspec.structs.replace(request, content=content)
    done = session.run(table.REMEMBER, request)
    lines = []
    if done.memory is not None:
        lines = [[(f"{_WORDS[done.action]} ", "green"), *_memory_line(done.memory)]]
    return Answer(data=done, lines=lines, note="\n".join(_consequences(done)))


_WORDS = {"created": "remembered", "updated": "updated", "known": "known already:"}


def remembered_note(done: remembering.Remembered) -> str:
    """Say what the app of a conversation remembers of it."""
    said = []
    if done.memory is not None and done.action in _WORDS:
        word, name = _WORDS[done.action].rstrip(":"), short(done.memory.id)
        said = [f"{word} for app {done.app} as {name}: {done.memory.content}"]
    return "\n".join((*said, *_consequences(done)))


def _consequences(done: remembering.Remembered) -> Iterator[str]:
    if done.action == "deferred":
        yield f"put off: {done.reason}"
    elif done.action == "skipped":
        yield f"nothing remembered for app {done.app}: {done.reason}"
    elif done.reason:
        yield f"on the way: {done.reason}"
    yield from room_notes(done.decisions)


@asks(reading.AppListRequest, app="")
def list_(
    session: CommandSession,
    request: reading.AppListRequest,
    app: str | None = own(
        "Its memories [all apps, counted].", shown="[APP]", completes="app", is_argument=True
    ),
) -> Answer:
    """List the apps, or an app's memories, newest update first."""
    if app is None and (request.user or request.limit):
        raise UsageError("--user and --limit choose among an app's memories", "name the app")
    if app is None:
        known = session.run(table.APPS, AtRequest(at=request.at, revision=request.revision))
        nothing = "no app remembers anything; `pmem app remember` begins"
        return listed(known, nothing, lines=map(_overview_line, known.items))
    request = msgspec.structs.replace(request, app=app)
    found = session.run(table.APP_MEMORIES, request)
    more = found.total - len(found.items)
    note = f"{more} more" if more else ""
    if not found.total:
        note = found.unknown or f"app {found.app} has no memory"
    return Answer(data=found, lines=map(_memory_line, found.items), note=note)


@asks(reading.AppShowRequest, without=("user",))
def show(session: CommandSession, request: reading.AppShowRequest) -> Answer:
    """Show one memory of an app."""
    memory = session.run(table.APP_MEMORY, request)
    told = {
        "importance": f"{memory.importance:g} of 10",
        "tags": ", ".join(memory.tags),
        "state": "" if memory.state is State.ACTIVE else memory.state,
        "conversation": short(memory.conversation or ""),
        "said in": ", ".join(map(short, memory.related_conversations)),
        "created": day(memory.created_at),
        "updated": day(memory.updated_at),
    }
    name: Line = [(memory.id, "bold cyan"), (f"  {' '.join(memory.app.split())}", "")]
    fields = (figure(field, value) for field, value in told.items() if value)
    return Answer(data=memory, lines=[name, [(memory.content, "")], *fields])


@asks(reading.AppContextRequest)
def context(session: CommandSession, request: reading.AppContextRequest) -> Answer:
    """Write an app's memories as a block for a model."""
    built = session.run(table.APP_CONTEXT, request)
    note = "" if built.items else built.unknown or f"app {built.app} has no memory"
    if built.omitted:
        note = f"no room for {', '.join(map(short, built.omitted))}"
    return Answer(data=built, raw=built.text, note=note)


@asks(AppRequest)
def compact(session: CommandSession, request: AppRequest) -> Answer:
    """Hold an app to its limit: one decision for each memory too many."""
    done = session.run(table.COMPACT, request)
    lines: list[Line] = [[(line, "")] for line in room_notes(done.decisions)]
    said = f"app {done.app} has {done.memories} of {done.limit} memories"
    if done.deferred:
        said += f"; a decision is put off: {done.reason}"
    return Answer(data=done, lines=lines, note=said)


@asks(remembering.AppDeleteRequest)
def delete(session: CommandSession, request: remembering.AppDeleteRequest) -> Answer:
    """Remove a memory of an app; `pmem restore` brings it back."""
    gone = session.run(table.APP_DELETE, request)
    word = "deleted" if request.for_good else "removed"
    return Answer(data=gone, lines=[[(f"{word} ", "yellow"), *_memory_line(gone)]])


@asks(AppRequest)
def purge(
    session: CommandSession,
    request: AppRequest,
    yes: bool = own("Do not ask first.", flag="--yes -y"),
) -> Answer:
    """Delete all memories of an app for good."""
    _ask_to_purge(request.app, "not purged", yes=yes)
    done = session.run(table.APP_PURGE, request)
    return Answer(data=done, lines=[[("deleted ", "yellow"), (_many_deleted(done), "")]])


@asks(remembering.UninstallRequest)
def uninstall(
    session: CommandSession,
    request: remembering.UninstallRequest,
    yes: bool = own("Do not ask before a purge.", flag="--yes -y"),
) -> Answer:
    """Note that an app is gone; its memories stay until purged."""
    if request.purge:
        _ask_to_purge(request.app, "not uninstalled", yes=yes)
    done = session.run(table.UNINSTALL, request)
    said = f"deleted {_many_deleted(done)}" if request.purge else f"{_many(done.kept)} kept"
    line: Line = [("uninstalled ", "yellow"), (f"{unsecret(done.app)}  {said}", "")]
    return Answer(data=done, lines=[line])


@asks(AtRequest)
def stats(
    session: CommandSession,
    request: AtRequest,
    poll: bool = own("Count energy since now from here on."),
) -> Answer:
    """Show what apps remember, and what models have spent on it."""
    found = session.run(table.APP_STATS, request)
    if poll:
        session.run(table.POLL_ENERGY, NoArguments())
    return Answer(data=found, lines=figure_lines(found))


def figure_lines(found: reading.AppFigures) -> Iterator[Line]:
    """Yield the figures about apps as aligned lines."""
    share = f"{found.utilisation:.0%}".replace("%", " %")
    told = {
        "apps": f"{found.apps}, {found.with_memories} with memories ({share})",
        "apps' memories": f"{found.memories}, {found.created_per_hour:g} made per hour",
        "compactions": f"{found.compactions_per_app_per_day:g} per app and day",
        "in contexts": f"{found.with_context} of {found.conversations} conversations had memories",
    }
    if (energy := found.energy) is not None:
        spent = f"{energy.spent:g} spent, {energy.since_last_poll:g} since the last poll"
        waits = f", {energy.waiting} waiting" if energy.waiting else ""
        told["energy"] = f"{energy.units:g} of {energy.capacity:g} units, {spent}{waits}"
    yield from (figure(name, value) for name, value in told.items())


def _ask_to_purge(app: str, refused: str, *, yes: bool) -> None:
    """See that somebody wants it: what is deleted for good is deleted unasked by nobody."""
    if yes:
        return
    if not render.can_ask():
        why = f"{refused}: this deletes all memories of app {app} for good, and nobody can be asked"
        raise UsageError(why, "give --yes")
    if not render.confirmed(f"Delete all memories of app {app} for good?"):
        raise UsageError(refused, "answer y, or give --yes")


def _many(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"


def _many_deleted(gone: remembering.Purged) -> str:
    before = gone.deleted - gone.active
    return _many(gone.active) + (f", and {before} removed before" if before else "")


def _memory_line(memory: AppMemory) -> Line:
    return [
        (short(memory.id), "cyan"),
        (f"  {memory.importance:>4g}", "green"),
        (f"  {day(memory.updated_at)}", "dim"),
        (f"  {' '.join(memory.content.split())}", ""),
    ]


def _overview_line(app: reading.AppOverview) -> Line:
    gone = "" if app.installed else "  uninstalled"
    waits = f"  {app.waiting} waiting" if app.waiting else ""
    return [
        (" ".join(app.name.split()), "cyan"),
        (f"  {app.memories} of {app.limit}", "green"),
        (f"{gone}{waits}", "dim"),
    ]
