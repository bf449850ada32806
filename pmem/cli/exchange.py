"""The commands that take records in and give them out."""

import os
from typing import Annotated

import msgspec
import typer

from pmem import exchange
from pmem.cli import render
from pmem.cli.session import Answer, Line, Session
from pmem.exchange import Imported


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
) -> Answer:
    """Import the four array files of the multi-tier design."""
    session: Session = ctx.obj
    progress = render.progress(session, "records")
    return _imported(exchange.import_arrays(session.workspace, folder, progress))


def export_arrays(
    ctx: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="DIR|-", help="Where to; `-` prints one object of arrays.")
    ] = "-",
) -> Answer:
    """Export everything as four array files."""
    session: Session = ctx.obj
    files = exchange.export_arrays(session.workspace)
    if folder == "-":
        document = exchange.one_document(files)
        return Answer(data=msgspec.json.decode(document), raw=document.decode())
    session.workspace.must_be_writable()
    exchange.write_files(folder, files)
    paths = [os.path.join(folder, name) for name in sorted(files)]
    lines: list[Line] = [[("wrote ", "green"), (path, "")] for path in paths]
    return Answer(data={"files": paths}, lines=lines)


def _imported(done: Imported) -> Answer:
    figures = (
        f"{done.added} added, {done.updated} updated, {done.unchanged} unchanged, "
        f"{len(done.skipped)} skipped"
    )
    skipped = [f"skipped {item.where}: it {item.why}" for item in done.skipped]
    return Answer(data=done, lines=[[(figures, "")]], note="\n".join(skipped))
