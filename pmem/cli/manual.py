"""`pmem help`: a command's help, a document, or the table of all commands."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any

import typer

from pmem.cli.asking import completing
from pmem.cli.documents import (
    ENDING,
    documents,
    find_document,
    read_table,
    sections,
    text_of,
)
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import NotFound


def help_(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND|DOCUMENT]...",
            help="What to explain [lists documents].",
            autocompletion=completing("explained"),
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="List all commands, or explain all options of one.")
    ] = False,
) -> Answer:
    """Show a command's help, or print a document.

    Without a name it lists the documents, and with --json the whole table of commands, options,
    types and defaults. Where a command and a document share a name, `NAME.md` is the document.
    """
    session: CommandSession = ctx.obj
    session.explains_all = every
    if every and not words:
        return Answer(data=None, raw=f"{ctx.find_root().get_help()}\n")
    if not words:
        return _overview(session)
    found = _command_context(ctx.find_root(), words)
    if found is not None:
        text = found.get_help()
        data = reference()["commands"][" ".join(words)] if session.json else None
        return Answer(data=data, raw=f"{text}\n")
    wanted = " ".join(words)
    name = find_document(wanted)
    if name is None:
        raise NotFound(f"there is no command or document {wanted!r}", _nearest(ctx, wanted))
    text = text_of(name)
    return Answer(data={"document": name, "title": _title(text), "text": text}, raw=text)


@cache
def reference() -> dict[str, Any]:
    """Return the table of all commands; it is read once."""
    return read_table()


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _overview(session: CommandSession) -> Answer:
    if session.json:
        found = reference()
        return Answer(data={**found, "documents": documents()})
    return Answer(
        data=None,
        lines=list(_contents()),
        note="`pmem help NAME` prints one; `pmem --help` lists the commands",
    )


def _contents() -> Iterator[Line]:
    """Yield the documents below their sections, each as it has to be typed."""
    width = max(map(len, documents())) + len(ENDING) + 2
    for place, (section, titles) in enumerate(sections().items()):
        yield [(("\n" if place else "") + f"{section}:", "bold")]
        for name, title in titles.items():
            yield [(f"  {name + ENDING:<{width}}", "cyan"), (title, "")]


def _command_context(context: Any, words: list[str]) -> Any:
    """Return the context of the command that words name; None where they name none."""
    for word in words:
        get = getattr(context.command, "get_command", None)
        command = get(context, word) if get else None
        if command is None:
            return None
        context = command.make_context(word, [], parent=context, resilient_parsing=True)
    return context


def _nearest(ctx: Any, name: str) -> str:
    from difflib import get_close_matches

    commands = ctx.find_root().command.list_commands(ctx)
    titles = [one.rpartition("/")[2] for one in documents()]
    close = get_close_matches(name, [*commands, *documents(), *titles])
    if not close:
        return "`pmem help` lists the documents, `pmem --help` the commands"
    return f"did you mean {' or '.join(dict.fromkeys(close))}?"
