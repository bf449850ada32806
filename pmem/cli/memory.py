"""The commands that keep single memories."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec
import typer

from pmem import lookup, memories
from pmem.cli import options
from pmem.cli.session import Answer, Line, Session
from pmem.errors import InvalidValue, UsageError
from pmem.ids import short
from pmem.memories import Added, AddRequest, EditRequest
from pmem.records import (
    KINDS,
    Chunk,
    Conversation,
    Episode,
    Event,
    Memory,
    MemoryType,
    Record,
    State,
)
from pmem.times import iso

SUGGESTED = 9
"""The exit code of `add` when a memory should be updated instead."""

Text = Annotated[str | None, typer.Argument(metavar="TEXT|-", help="What to remember.")]
Type = Annotated[MemoryType, typer.Option(help="What it says.")]
NewType = Annotated[MemoryType | None, typer.Option(help="A new type.")]
Category = Annotated[str | None, typer.Option(help="Its category [by type].")]
Subject = Annotated[str | None, typer.Option(help="Whom or what it is about.")]
Tag = Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.")]
Importance = Annotated[float | None, typer.Option(help="From 0 to 1 [by type].")]
Since = Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="Holds from then.")]
Until = Annotated[str | None, typer.Option("--valid-until", metavar="TIME", help="Holds until.")]


def add(
    ctx: typer.Context,
    text: Text = None,
    type: Type = MemoryType.FACT,  # noqa: A002 - the option's name
    category: Category = None,
    subject: Subject = None,
    tag: Tag = None,
    importance: Importance = None,
    pin: Annotated[bool, typer.Option("--pin", help="Never let it fade.")] = False,
    app: Annotated[str | None, typer.Option(help="The app that it concerns.")] = None,
    user: Annotated[str | None, typer.Option(help="The user whom it concerns.")] = None,
    agent: Annotated[str | None, typer.Option(help="The agent that it concerns.")] = None,
    valid_from: Since = None,
    valid_until: Until = None,
    batch: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Add JSON Lines, one memory each.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Also beside a similar one.")] = False,
) -> Answer:
    """Add a memory, or find the one that should be updated instead."""
    session: Session = ctx.obj
    if batch is not None:
        if text is not None:
            raise UsageError("TEXT and --batch exclude each other")
        return _add_batch(session, batch, force=force)
    request = AddRequest(
        content=session.input(text, "the text"),
        type=type,
        category=category,
        subject=subject,
        tags=tuple(tag or ()),
        importance=importance,
        pinned=pin,
        app=app,
        user=user,
        agent=agent,
        valid_from=session.time(valid_from),
        valid_until=session.time(valid_until),
        force=force,
    )
    added = memories.add(session.workspace, request)
    return Answer(
        data={"action": added.action, "memory": added.memory, "links": added.links},
        lines=[_added_line(added)],
        note=_suggestion(added),
        exit_code=SUGGESTED if added.action == "suggested" else 0,
    )


def show(ctx: typer.Context, reference: options.Reference, at: options.At = None) -> Answer:
    """Show a record, or a message, whole."""
    session: Session = ctx.obj
    record = lookup.show(session.workspace, reference, session.time(at))
    if isinstance(record, lookup.Said):
        return Answer(
            data={**msgspec.structs.asdict(record.message), "conversation": record.conversation},
            lines=_said_lines(record),
        )
    return Answer(data=record, lines=record_lines(record))


def list_(
    ctx: typer.Context,
    types: options.Types = None,
    category: options.Categories = None,
    tag: options.Tags = None,
    subject: options.Subject = None,
    app: options.App = None,
    user: options.User = None,
    agent: options.Agent = None,
    role: options.ByRole = None,
    min_importance: options.AtLeast = None,
    max_importance: options.AtMost = None,
    pinned: options.Pinned = None,
    state: options.States = None,
    all_states: options.AllStates = False,
    after: options.After = None,
    before: options.Before = None,
    at: options.At = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Only the latest so many.")
    ] = None,
) -> Answer:
    """List memories, the oldest first."""
    session: Session = ctx.obj
    wanted = options.filters(
        session,
        types=types,
        categories=category,
        tags=tag,
        subject=subject,
        app=app,
        user=user,
        agent=agent,
        role=role,
        speaker=None,
        at_least=min_importance,
        at_most=max_importance,
        pinned=pinned,
        states=state,
        all_states=all_states,
        after=after,
        before=before,
    )
    found = lookup.listing(session.workspace, wanted, limit=limit, at=session.time(at))
    return Answer(
        data=found,
        lines=(memory_line(memory) for memory in found.items),
        note="" if found.items else _none(session),
    )


def edit(
    ctx: typer.Context,
    reference: options.Reference,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT|-]", help="New content.")] = None,
    type: NewType = None,  # noqa: A002 - the option's name
    category: Category = None,
    subject: Subject = None,
    tag: Annotated[list[str] | None, typer.Option(help="The tags that it is to have.")] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Take its tags away.")] = False,
    importance: Importance = None,
    valid_from: Since = None,
    valid_until: Until = None,
) -> Answer:
    """Change a memory; its history keeps what it was."""
    session: Session = ctx.obj
    request = EditRequest(
        content=None if text is None else session.input(text, "the text"),
        type=type,
        category=category,
        subject=subject,
        tags=() if no_tags else tuple(tag) if tag else None,
        importance=importance,
        valid_from=session.time(valid_from),
        valid_until=session.time(valid_until),
    )
    if request == EditRequest():
        raise UsageError("nothing to change", "give a new text or an option")
    return _record_answer("edited", memories.edit(session.workspace, reference, request))


def rm(ctx: typer.Context, reference: options.References) -> Answer:
    """Remove memories or episodes; `restore` brings them back until they are purged."""
    session: Session = ctx.obj
    return _records_answer("removed", memories.remove(session.workspace, reference))


def restore(ctx: typer.Context, reference: options.References) -> Answer:
    """Bring back what was removed or archived."""
    session: Session = ctx.obj
    return _records_answer("restored", memories.restore(session.workspace, reference))


def purge(
    ctx: typer.Context,
    reference: options.References,
    force: Annotated[bool, typer.Option("--force", help="Also what was not removed.")] = False,
) -> Answer:
    """Delete records for good, with every link to them."""
    session: Session = ctx.obj
    gone = memories.purge(session.workspace, reference, force=force)
    return _records_answer("purged", gone)


def pin(ctx: typer.Context, reference: options.Reference) -> Answer:
    """Pin a memory or an episode, so that it never fades."""
    session: Session = ctx.obj
    return _record_answer("pinned", memories.pin(session.workspace, reference))


def unpin(ctx: typer.Context, reference: options.Reference) -> Answer:
    """Let a pinned memory or episode fade like others."""
    session: Session = ctx.obj
    return _record_answer("unpinned", memories.pin(session.workspace, reference, pinned=False))


def link(
    ctx: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help="Where the link starts.")],
    end: Annotated[str, typer.Argument(metavar="B", help="Where it leads.")],
    type: Annotated[str, typer.Option(help="What it means.")] = "related_to",  # noqa: A002
    strength: Annotated[float, typer.Option(help="How close, from 0 to 1.")] = 0.5,
) -> Answer:
    """Link one memory to another."""
    session: Session = ctx.obj
    return _record_answer("linked", memories.link(session.workspace, start, end, type, strength))


def unlink(
    ctx: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help="Where the links start.")],
    end: Annotated[str, typer.Argument(metavar="B", help="Where they lead.")],
    type: Annotated[str | None, typer.Option(help="Only this type.")] = None,  # noqa: A002
) -> Answer:
    """Remove the links from one memory to another."""
    session: Session = ctx.obj
    return _record_answer("unlinked", memories.unlink(session.workspace, start, end, type))


def history(ctx: typer.Context, reference: options.Reference) -> Answer:
    """Show what happened to a record, the oldest event first."""
    session: Session = ctx.obj
    events = lookup.history(session.workspace, reference)
    return Answer(data=events, lines=(_event_line(event) for event in events))


def memory_line(memory: Memory) -> Line:
    """Say on one line what a memory is."""
    marks = "*" if memory.pinned else " "
    state = "" if memory.state is State.ACTIVE else f" ({memory.state.replace('_', ' ')})"
    subject = [(f"{memory.subject}: ", "bold")] if memory.subject else []
    return [
        (short(memory.id), "cyan"),
        (f" {marks}{memory.type:<10} ", "dim"),
        *subject,
        (" ".join(memory.content.split()), ""),
        (state, "yellow"),
    ]


def _none(session: Session) -> str:
    if session.workspace.memories.ids():
        return "no memory passes the filters; `pmem stats` shows what there is"
    return "no memory yet; `pmem add` keeps the first"


def _add_batch(session: Session, path: str, *, force: bool) -> Answer:
    requests = list(_requests(session, path, force=force))
    done = memories.add_all(session.workspace, requests)
    added = sum(item.action == "added" for item in done)
    return Answer(
        data={
            "added": added,
            "suggested": len(done) - added,
            "items": [{"action": item.action, "memory": item.memory} for item in done],
        },
        lines=(_added_line(item) for item in done),
        note=f"{added} added, {len(done) - added} to update instead",
        exit_code=SUGGESTED if done and not added else 0,
    )


def _requests(session: Session, path: str, *, force: bool) -> Iterator[AddRequest]:
    for number, line in enumerate(session.read_lines(path), start=1):
        if line.strip():
            yield _request(session, line, number, force=force)


def _request(session: Session, line: bytes, number: int, *, force: bool) -> AddRequest:
    try:
        value = msgspec.json.decode(line)
        for field in ("valid_from", "valid_until"):
            if isinstance(value, dict) and isinstance(value.get(field), str):
                value[field] = session.time(value[field])
        request = msgspec.convert(value, AddRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidValue(f"line {number} is no memory: {error}", "nothing was added") from None
    return msgspec.structs.replace(request, force=request.force or force)


def _added_line(added: Added) -> Line:
    word = "added" if added.action == "added" else "exists"
    return [(f"{word} ", "green" if word == "added" else "yellow"), *memory_line(added.memory)]


def _suggestion(added: Added) -> str:
    if added.action == "added":
        return ""
    return (
        f"{added.reason}; update it with `pmem edit {short(added.memory.id)} TEXT`, "
        "or add yours beside it with --force"
    )


def _record_answer(word: str, record: Record) -> Answer:
    return Answer(data=record, lines=[_done_line(word, record)])


def _records_answer(word: str, records: Iterable[Record]) -> Answer:
    done = list(records)
    data: Any = done[0] if len(done) == 1 else done
    return Answer(data=data, lines=[_done_line(word, record) for record in done])


def _done_line(word: str, record: Record) -> Line:
    if isinstance(record, Memory):
        return [(f"{word} ", "green"), *memory_line(record)]
    return [(f"{word} ", "green"), (short(record.id), "cyan"), (f"  {_title(record)}", "")]


def _title(record: Record) -> str:
    title = getattr(record, "title", None) or getattr(record, "external_id", None) or ""
    return f"{KINDS[type(record)]} {title}".rstrip()


def record_lines(record: Record) -> Iterator[Line]:
    """Yield a record in full: its text, and a line for every field that says something."""
    yield [(record.id, "bold cyan"), (f"  {_title(record)}", "dim")]
    yield [("", "")]
    if isinstance(record, Memory):
        yield [(record.content, "")]
        yield [("", "")]
    for name, value in _fields(record):
        yield [(f"{name + ':':<15}", "dim"), (value, "")]


def _fields(record: Record) -> Iterator[tuple[str, str]]:
    """Yield what is worth a line: no empty fields, no histories, no long lists."""
    hidden = ("id", "schema", "content", "history", "messages", "recent_messages", "chunks")
    for name, value in msgspec.structs.asdict(record).items():
        text = _field(value)
        if name not in hidden and text:
            yield name.replace("_", " "), text
    if isinstance(record, Conversation):
        yield "messages", f"{len(record.recent_messages)} recent, {len(record.chunks)} chunks"
    if isinstance(record, Chunk):
        yield "messages", str(len(record.messages))
    if isinstance(record, Memory | Episode | Conversation):
        yield "events", str(len(record.history))


def _field(value: Any) -> str:
    if value is None or value == () or (isinstance(value, int) and not value):
        return ""
    if hasattr(value, "isoformat"):
        return iso(value)
    if isinstance(value, tuple):
        return ", ".join(_field(item) for item in value)
    if isinstance(value, msgspec.Struct):
        parts = [(field, getattr(value, field.name)) for field in msgspec.structs.fields(value)]
        return " ".join(
            f"{field.name}={_field(part)}" for field, part in parts if part != field.default
        )
    return f"{value:g}" if isinstance(value, float) else str(value)


def _said_lines(said: lookup.Said) -> Iterator[Line]:
    message = said.message
    yield [(message.id, "bold cyan"), ("  message", "dim")]
    yield [("", "")]
    yield [(message.content, "")]
    yield [("", "")]
    yield [("by:           ", "dim"), (f"{message.speaker or message.role}", "")]
    yield [("at:           ", "dim"), (iso(message.created_at), "")]
    yield [("conversation: ", "dim"), (said.conversation, "cyan")]


def _event_line(event: Event) -> Line:
    changes = ", ".join(f"{name} was {_was(value)}" for name, value in event.before.items())
    more = ", ".join(f"{name} {_was(value)}" for name, value in event.detail.items() if value)
    what = "; ".join(part for part in (changes, more) if part)
    return [
        (iso(event.at), "dim"),
        (f"  {event.event:<8}", "bold"),
        (f"{event.actor or event.source or '-'}", "cyan"),
        (f"  {what}" if what else "", ""),
    ]


def _was(value: Any) -> str:
    """Say a value from a history, as JSON holds it, in words."""
    if isinstance(value, dict):
        return " ".join(f"{name}={part}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(_was(part) for part in value) or "empty"
    return "not set" if value is None else repr(value) if isinstance(value, str) else str(value)
