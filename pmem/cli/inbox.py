"""The command that goes through what needs attention, one key each."""

import shlex
from collections.abc import Iterator
from itertools import chain
from shutil import get_terminal_size
from typing import Final

from pmem.cli import render
from pmem.cli.app import run
from pmem.cli.asking import asks, own
from pmem.cli.screens.wrapping import all_hung, cells, wrapped
from pmem.cli.session import Answer, CommandSession, Line, counted, once_more
from pmem.core.inbox import InboxChoice, InboxItem, InboxKind
from pmem.operations import table
from pmem.upkeep.inbox import Inbox, InboxRequest
from pmem.values.times import day

_EMPTY: Final = "nothing waits for your answer"
_NONE: Final = "nothing of that kind needs you"
_SKIP: Final = InboxChoice("s", "skip it", "")
_QUIT: Final = InboxChoice("q", "quit", "")
_UNDO: Final = InboxChoice("u", "undo the last", "pmem undo")
_HELP: Final = InboxChoice("?", "help", "")
_LOOKS: Final = "v"
"""The key that settles nothing."""
_SAYS: Final = (
    "a key does what stands beside it, at once, with one command",
    "s leaves the item for another time, q ends, u undoes what the last key did",
    "what needs attention, and why: `pmem help inbox.md`",
)
_Key = tuple[InboxKind, str]
"""What names an item: why it is there, and what it is about."""
_KIND: Final = max(map(len, InboxKind))
_NOUNS: Final = ("contradiction", "proposal", "fact", "subject", "duplicate", "citation")
"""The kinds that have a plural."""


@asks(InboxRequest)
def inbox(
    session: CommandSession,
    request: InboxRequest,
    list_: bool = own("List it, also on a terminal, and ask nothing.", flag="--list"),
) -> Answer:
    """Go through what needs your attention, one key each.

    Contradictions of merged branches, proposals that wait for consent, pending facts, memories that
    disagree on a subject or say nearly the same, citations that broke, decisions that are due, what
    has expired, what nobody vouches for, and what fades. Each key runs the command that stands
    beside it in --json, and `pmem undo` undoes that. In a pipe it is a list.
    """
    found = session.run(table.INBOX, request)
    asks_nothing = list_ or session.quiet or not (render.draws(session) and render.can_ask())
    if found.items and not asks_nothing:
        return Answer(data=found, note=_walk(session, found, request))
    return Answer(data=found, lines=map(_item_line, found.items), note=_counted(found))


def _item_line(item: InboxItem) -> Line:
    return [
        (f"{item.kind:<{_KIND}}  ", "yellow"),
        (item.short, "cyan"),
        (f"  {day(item.since)}  ", "dim"),
        (item.text, ""),
        (f"  ({item.why})", "dim"),
    ]


def _counted(found: Inbox) -> str:
    counts = ", ".join(
        counted(count, kind) if kind in _NOUNS else f"{count} {kind}"
        for kind, count in found.counts.items()
        if count
    )
    nothing = _EMPTY if len(found.counts) == len(InboxKind) else _NONE
    said = f"{found.total} open: {counts}" if found.total else nothing
    also = (f"{each.count} {each.what}: `{each.command}`" for each in found.elsewhere)
    return "; ".join((said, *also))


def _walk(session: CommandSession, found: Inbox, request: InboxRequest) -> str:
    """Go through the items with somebody at a terminal; return what is to be said at the end.

    What a key settled may have been the trouble of other items too: they are collected anew.
    """
    seen: set[_Key] = set()
    settled: list[_Key] = []
    while waiting := [item for item in found.items if _key_of(item) not in seen]:
        item = waiting[0]
        seen.add(_key_of(item))
        render.tell(session, _card(item, len(seen), len(seen) + len(waiting) - 1))
        key = _settle(session, item, last=settled[-1] if settled else None)
        if key == _QUIT.key:
            break
        if key == _UNDO.key:
            seen.difference_update([_key_of(item), settled.pop()])
        elif key != _SKIP.key:
            settled.append(_key_of(item))
        if key != _SKIP.key:
            found = _collected(session, request)
    found = _collected(session, request)
    left = f", {found.total} left" if found.total else f"; {_counted(found)}"
    said = f"{len(settled)} settled{left}"
    return f"{said}; `pmem undo` takes the last one back" if settled else said


def _collected(session: CommandSession, request: InboxRequest) -> Inbox:
    again = once_more(session)
    try:
        return again.run(table.INBOX, request)
    finally:
        again.close()


def _settle(session: CommandSession, item: InboxItem, *, last: _Key | None) -> str:
    """Ask until a key is pressed that settles an item, leaves it, or takes the last one back."""
    offered = [*item.commands, _SKIP, *([_UNDO] if last else []), _QUIT, _HELP]
    choices = {one.key: one for one in offered}
    while True:
        key = render.read_key("> ").lower() or _QUIT.key
        if key in (_SKIP.key, _QUIT.key):
            return key
        if key == _HELP.key:
            said = all_hung(([("  ", ""), (line, "dim")] for line in _SAYS), _width())
            render.tell(session, chain(_keys(item), said))
        elif key not in choices:
            render.print_note(f"press one of {', '.join(choices)}")
        elif not run(shlex.split(choices[key].command)[1:], once_more(session)):
            if key != _LOOKS:
                return key
            render.tell(session, _keys(item))


def _key_of(item: InboxItem) -> _Key:
    return item.kind, item.id


def _keys(item: InboxItem) -> Iterator[Line]:
    line = ""
    for one in (*item.commands, _SKIP, _QUIT, _HELP):
        key = f"[{one.key}] {one.does}"
        if line and cells(f"{line}   {key}") > _width() - 2:
            yield [(f"  {line}", "green")]
            line = ""
        line = f"{line}   {key}" if line else key
    yield [(f"  {line}", "green")]


def _width() -> int:
    return max(20, get_terminal_size().columns)


def _card(item: InboxItem, number: int, many: int) -> Iterator[Line]:
    """Yield the lines that show an item on a terminal, with the keys that settle it."""
    yield [("", "")]
    yield [
        (f"{number} of {many}  ", "dim"),
        (item.kind, "yellow"),
        (f"  {item.short}", "cyan"),
        (f"  {day(item.since)}", "dim"),
    ]
    for text, style in ((item.text, "bold"), (item.why, "")):
        yield from wrapped([("  ", ""), (text, style)], _width(), hang=2)
    yield from _keys(item)
