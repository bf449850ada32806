"""The commands that take records in and give them out."""

import os
from typing import Annotated, Final

import msgspec
import typer

from pmem.cli import options, render
from pmem.cli.session import Answer, Line, Session
from pmem.conversation import exchange
from pmem.conversation.exchange import Imported
from pmem.core.secrets import unsecret
from pmem.core.visible import escaped
from pmem.errors import InvalidValue
from pmem.memory import journal

_NAMED: Final = 10
"""Records that are told by name."""


def import_messages(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="JSON Lines, one message each.")],
) -> Answer:
    """Import a transcript; importing it again adds nothing.

    Each line is one message: {"content": ..., "role": "user|assistant|system|tool",
    "speaker": ..., "timestamp": ..., "conversation": ..., "id": ...}. Only the content is needed.
    What cannot be used is skipped and reported.
    """
    session: Session = ctx.obj
    name = "stdin" if file == exchange.STDIN else os.path.splitext(os.path.basename(file))[0]
    done = exchange.import_messages(
        session.workspace,
        session.read_lines(file),
        name,
        render.progress(session, "messages"),
    )
    return _imported(done)


def import_arrays(
    ctx: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Holds the four array files.")],
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="They are somebody else's: see below.")
    ] = False,
) -> Answer:
    """Import the four array files of the multi-tier design.

    With --untrusted, and always for agents, what comes in has low trust until a person changes
    it, is not pinned nor more important than others, binds nobody (constraints and procedures
    become facts), and replaces nothing that is trusted more.
    """
    session: Session = ctx.obj
    progress = render.progress(session, "records")
    done = exchange.import_arrays(session.workspace, folder, progress, untrusted=untrusted)
    return _imported(done)


def export_arrays(
    ctx: typer.Context,
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR|-", help="Where to, made if missing; `-` prints one object of arrays."
        ),
    ] = "-",
    at: options.At = None,
) -> Answer:
    """Export everything as four array files."""
    session: Session = ctx.obj
    files = exchange.export_arrays(session.workspace_at(at))
    if folder == "-":
        document = exchange.one_document(files)
        return Answer(data=msgspec.json.decode(document), raw=escaped(document.decode()))
    session.workspace.must_be_writable()
    exchange.write_files(folder, files)
    paths = [unsecret(os.path.join(folder, name)) for name in sorted(files)]
    lines: list[Line] = [[("wrote ", "green"), (path, "")] for path in paths]
    return Answer(data={"files": paths}, lines=lines)


def export_audit(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="Where to.")] = "-",
    user: Annotated[str | None, typer.Option(help="Only memories that concern this user.")] = None,
    at: options.At = None,
) -> Answer:
    """Export the audit trail as JSON Lines, one event each.

    Each line is {"id", "memory_id", "event", "old_ref", "new_ref", "actor", "meta", "ts"}. A
    reference is the digest of a content, or the id of the record that the event leads to.
    What was purged is gone with its history.
    """
    session: Session = ctx.obj
    rows = journal.audit(session.workspace_at(at), user)
    data = exchange.json_lines(rows)
    if file == "-":
        return Answer(data={"items": rows, "total": len(rows)}, raw=escaped(data.decode()))
    session.workspace.must_be_writable()
    place = os.path.dirname(file)
    if place and not os.path.isdir(place):
        raise InvalidValue(f"there is no folder {place} to write into", "make it first")
    exchange.write_files(place, {os.path.basename(file): data})
    said = unsecret(file)
    line: Line = [("wrote ", "green"), (f"{said}: {len(rows):,} events", "")]
    return Answer(data={"file": said, "events": len(rows)}, lines=[line])


def _imported(done: Imported) -> Answer:
    figures = (
        f"{done.added} added, {done.updated} updated, {done.unchanged} unchanged, "
        f"{len(done.skipped)} skipped"
    )
    told = tuple(render.masked(item, "where", "why") for item in done.skipped)
    notes = [f"skipped {item.where}: it {item.why}" for item in told]
    if done.undecided:
        more = f" and {len(done.undecided) - _NAMED} more" * (len(done.undecided) > _NAMED)
        notes.append(
            f"unchanged, though the file says something else: {', '.join(done.undecided[:_NAMED])}"
            f"{more}; to take it in, give it a later updated_at in the file"
        )
    data = msgspec.structs.replace(done, skipped=told)
    return Answer(data=data, lines=[[(figures, "")]], note="\n".join(notes))
