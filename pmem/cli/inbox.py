"""The command that goes through what needs somebody, one key each."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from shutil import get_terminal_size
from typing import Annotated, Final

import typer

from pmem.cli import render
from pmem.cli.app import run
from pmem.cli.panels import cut_line
from pmem.cli.screens.wrapping import cells
from pmem.cli.session import Answer, CommandSession, Line, once_more
from pmem.core.inbox import InboxChoice, InboxItem, InboxKind
from pmem.operations import table
from pmem.upkeep.inbox import Inbox, InboxRequest
from pmem.values.times import day

_EMPTY: Final = "nothing needs you"
_NONE: Final = "nothing of that kind needs you"
_SKIP: Final = InboxChoice("s", "skip it", "")
_QUIT: Final = InboxChoice("q", "quit", "")
_LOOKS: Final = "v"
"""The key that settles nothing."""
_KIND: Final = max(map(len, InboxKind))


def inbox(
    ctx: typer.Context,
    kind: Annotated[
        list[InboxKind] | None, typer.Option(help="Only this kind; repeatable.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Only the first N.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List it, also on a terminal, and ask nothing.")
    ] = False,
) -> Answer:
    """Go through what needs you, one key each.

    Contradictions of merged branches, proposals that wait for consent, pending facts, memories on
    one subject, citations that broke, decisions that are due, what has expired, what nobody
    vouches for, and what fades. Each key runs the command that stands beside it in --json, and
    `pmem undo` takes that back. In a pipe it is a list.
    """
    session: CommandSession = ctx.obj
    request = InboxRequest(kinds=tuple(kind or ()), limit=limit)
    found = session.run(table.INBOX, request)
    if found.items and not (list_ or session.json or session.quiet) and render.has_screen():
        return Answer(data=found, note=_walk(session, found, request))
    return Answer(
        data=found,
        lines=map(_item_line, found.items),
        screen=lambda width: (cut_line(_item_line(item), width) for item in found.items),
        note=_counted(found),
    )


def _item_line(item: InboxItem) -> Line:
    return [
        (f"{item.kind:<{_KIND}}  ", "yellow"),
        (item.short, "cyan"),
        (f"  {day(item.since)}  ", "dim"),
        (item.text, ""),
        (f"  ({item.why})", "dim"),
    ]


def _counted(found: Inbox) -> str:
    if not found.total:
        return _EMPTY if len(found.counts) == len(InboxKind) else _NONE
    return f"{found.total} in all: " + ", ".join(
        f"{count} {kind}" for kind, count in found.counts.items() if count
    )


def _walk(session: CommandSession, found: Inbox, request: InboxRequest) -> str:
    """Go through the items with somebody at a terminal; return what is to be said at the end.

    What a key settled may have been the trouble of other items too: they are collected anew.
    """
    seen: set[tuple[InboxKind, str]] = set()
    settled = 0
    while waiting := [item for item in found.items if (item.kind, item.id) not in seen]:
        item = waiting[0]
        seen.add((item.kind, item.id))
        render.tell(session, _card(item, len(seen), len(seen) + len(waiting) - 1))
        key = _settle(session, item)
        if key == _QUIT.key:
            break
        if key != _SKIP.key:
            settled += 1
            found = _collected(session, request)
    found = _collected(session, request)
    left = f", {found.total} left" if found.total else f"; {_counted(found)}"
    said = f"{settled} settled{left}"
    return f"{said}; `pmem undo` takes the last one back" if settled else said


def _collected(session: CommandSession, request: InboxRequest) -> Inbox:
    again = once_more(session)
    try:
        return again.run(table.INBOX, request)
    finally:
        again.close()


def _settle(session: CommandSession, item: InboxItem) -> str:
    """Ask until a key is pressed that settles an item, or leaves it; return that key."""
    choices = {one.key: one for one in (*item.commands, _SKIP, _QUIT)}
    while True:
        key = render.read_key("> ").lower() or _QUIT.key
        if key in (_SKIP.key, _QUIT.key):
            return key
        if key not in choices:
            render.print_note(f"press one of {', '.join(choices)}")
            continue
        code = run(shlex.split(choices[key].command)[1:], once_more(session))
        if not code and key != _LOOKS:
            return key


def _card(item: InboxItem, number: int, many: int) -> Iterator[Line]:
    """Yield the lines that show an item on a terminal, with the keys that settle it."""
    width = max(20, get_terminal_size().columns)
    yield [("", "")]
    yield [
        (f"{number} of {many}  ", "dim"),
        (item.kind, "yellow"),
        (f"  {item.short}", "cyan"),
        (f"  {day(item.since)}", "dim"),
    ]
    for text, style in ((item.text, "bold"), (item.why, "")):
        for line in _packed(text.split(" "), " ", width - 2):
            yield [(f"  {line}", style)]
    keys = [f"[{one.key}] {one.does}" for one in (*item.commands, _SKIP, _QUIT)]
    for line in _packed(keys, "   ", width - 2):
        yield [(f"  {line}", "green")]


def _packed(parts: Sequence[str], between: str, width: int) -> Iterator[str]:
    """Yield lines of as many parts as fit into so many cells; a longer part has its own."""
    line = parts[0]
    for part in islice(parts, 1, None):
        if cells(line) + cells(between) + cells(part) > width:
            yield line
            line = part
        else:
            line += between + part
    yield line
