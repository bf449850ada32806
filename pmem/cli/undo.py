"""The command that undoes commands."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.event_words import change_lines
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.undo import command_of
from pmem.memory.undo import Undone, UndoneChange, UndoRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.values.times import iso

_MOST: Final = 20
_MOST_DIGITS: Final = 3
_UNSAID: Final = ("purge_at",)
_TEXTS: Final = frozenset({"content", "summary"})


@asks(UndoRequest)
def undo(
    session: CommandSession,
    request: UndoRequest,
    what: str = own(
        "The last N, or the last one on a record.",
        "1",
        shown="[N|REF]",
        completes="memory",
        is_argument=True,
    ),
) -> Answer:
    """Undo the last command of this clone.

    Memories, episodes, facts and the standing of conversations become what they were, as a new
    event: histories grow. What the command had added is deleted for good, unless a commit has
    it. It refuses if something else has changed the same record since. It does not undo
    messages, settings or a purge.
    """
    is_number = what.isdecimal() and len(what) <= _MOST_DIGITS
    wanted = {"many": int(what)} if is_number else {"reference": what}
    request = msgspec.structs.replace(request, **wanted)
    found = session.run(table.UNDO, request)
    return Answer(
        data=found,
        lines=_lines(found, iso),
        screen=partial(_draw, session, found),
        note="" if request.dry_run else "\n".join(_text_left(session.opened, found)),
    )


def _draw(session: CommandSession, found: Undone, width: int) -> Iterator[Line]:
    from pmem.cli.screens.view import view_of
    from pmem.cli.screens.wrapping import all_hung

    view = view_of(session, width)
    return all_hung(_lines(found, view.when), width)


def _text_left(workspace: Workspace | None, found: Undone) -> Iterator[str]:
    """Say where a text that was undone can still be read."""
    changes = [change for command in found.items for change in command.changes]
    from pmem.cli.changes import text_stays

    if removed := [change.short for change in changes if change.gone and not change.deleted]:
        yield text_stays(removed)
    if edited := [change.short for change in changes if _TEXTS & change.before.keys()]:
        yield (
            "the text before the undo stays in the history:"
            f" `pmem purge --force {' '.join(edited)}` deletes the memory with it"
        )
    staged = [change.staged for change in changes if change.staged]
    if workspace is not None and staged:
        paths = " ".join(os.path.relpath(os.path.join(workspace.root, path)) for path in staged)
        yield f"git has the text staged: `git rm --cached {paths}` unstages it"


def _lines(found: Undone, when: Callable[[datetime], str]) -> Iterator[Line]:
    word = "would undo" if found.dry_run else "undid"
    for command in found.items:
        yield [
            (f"{word}: ", "green"),
            (command_of(command.operation), "bold"),
            (f", {when(command.at)}", "dim"),
        ]
        for fact in command.facts:
            yield [(f"  {fact}  ", "cyan"), ("the fact is pending again", "yellow")]
        if command.stays:
            yield [("  the messages of the conversation stay", "yellow")]
        for change in command.changes[:_MOST]:
            yield from _change_lines(change)
        if len(command.changes) > _MOST:
            yield [(f"  and {len(command.changes) - _MOST} more; --json has them all", "dim")]


def _change_lines(change: UndoneChange) -> Iterator[Line]:
    yield [(f"  {change.short}  ", "cyan"), (change.text, "")]
    if change.gone:
        word = "deleted" if change.deleted else "removed"
        yield [(f"    {word} (it had just been added)", "yellow")]
        return
    for name in change.before:
        if name not in _UNSAID:
            yield from change_lines(name, change.before, change.after)
