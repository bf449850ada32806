"""`pmem help`: a command's help, a document, or the table of all commands."""

import os
from functools import cache
from typing import Annotated, Any, Final

import typer

from pmem.cli.session import Answer, CommandSession
from pmem.errors import NotFound

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ENDING: Final = ".md"
_FOR_DEVELOPERS: Final = ("architecture", "benchmarks", "mutation")
"""Documents that are left out of the installed program."""


def help_(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND|DOCUMENT]...", help="What to explain [lists documents]."),
    ] = None,
) -> Answer:
    """Show a command's help, or print a document.

    Without a name it lists the documents, and with --json the whole table of commands, options,
    types and defaults. Where a command and a document share a name, `NAME.md` is the document.
    """
    session: CommandSession = ctx.obj
    if not words:
        return _overview(session)
    found = _command_context(ctx.find_root(), words)
    if found is not None:
        text = found.get_help()
        data = reference()["commands"][" ".join(words)] if session.json else None
        return Answer(data=data, raw=f"{text}\n")
    name = " ".join(words).removeprefix("docs/").removesuffix(_ENDING)
    if name not in documents():
        raise NotFound(f"there is no command or document {' '.join(words)!r}", _nearest(ctx, name))
    text = _text_of(name)
    return Answer(data={"document": name, "title": _title(text), "text": text}, raw=text)


def documents() -> list[str]:
    """Return the names of the documents that `pmem help` prints, sorted."""
    names = [name.removesuffix(_ENDING) for name in os.listdir(_folder()) if name.endswith(_ENDING)]
    return sorted(set(names) - {*_FOR_DEVELOPERS})


@cache
def reference() -> dict[str, Any]:
    """Return the table of all commands, as docs/generate.py made it of their functions."""
    import json

    with open(os.path.join(_PACKAGE, "cli", "reference.json"), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


def _folder() -> str:
    """Return where the documents are: in the package, or beside it in a clone."""
    inside = os.path.join(_PACKAGE, "docs")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), "docs")


def _text_of(name: str) -> str:
    with open(os.path.join(_folder(), name + _ENDING), encoding="utf-8") as file:
        return file.read()


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _overview(session: CommandSession) -> Answer:
    if session.json:
        found = reference()
        return Answer(data={**found, "documents": documents()})
    from pmem.cli.commands import COMMANDS, GROUPS

    shared = {*COMMANDS, *GROUPS}
    titles = {name + _ENDING * (name in shared): _title(_text_of(name)) for name in documents()}
    width = max(map(len, titles)) + 2
    return Answer(
        data=None,
        lines=[[(f"{name:<{width}}", "cyan"), (title, "")] for name, title in titles.items()],
        note="`pmem help NAME` prints one; `pmem --help` lists the commands",
    )


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
    close = get_close_matches(name, [*commands, *documents()])
    if not close:
        return "`pmem help` lists the documents, `pmem --help` the commands"
    return f"did you mean {' or '.join(dict.fromkeys(close))}?"
