"""The command that undoes commands."""

import os
from collections.abc import Iterator
from typing import Final

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.screens.stories import change_screen
from pmem.cli.screens.view import ScreenView, view_of
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.operations import command_of
from pmem.memory.undo import Undone, UndoRequest
from pmem.operations import table
from pmem.project.workspace import Workspace

_MOST: Final = 20
"""Changes of an undone command that are shown."""
_MOST_DIGITS: Final = 3
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
        screen=lambda width: _lines(found, view_of(session, width)),
        note="" if request.dry_run else "\n".join(_text_left(session.opened, found)),
    )


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


def _lines(found: Undone, view: ScreenView) -> Iterator[Line]:
    word = "would undo" if found.dry_run else "undid"
    for command in found.items:
        yield [
            (f"{word}: ", "green"),
            (command_of(command.operation), "bold"),
            (f", {view.when(command.at)}", "dim"),
        ]
        for fact in command.facts:
            yield [(f"  {fact}  ", "cyan"), ("the fact is pending again", "yellow")]
        if command.stays:
            yield [("  the messages of the conversation stay", "yellow")]
        for change in command.changes[:_MOST]:
            yield [(f"  {change.short}  ", "cyan"), (change.text, "")]
            if change.gone:
                gone = "deleted" if change.deleted else "removed"
                yield [(f"    {gone} (that command added it)", "yellow")]
                continue
            for name in change.before:
                if name != "purge_at":
                    yield from change_screen(name, change.before, change.after, view.width)
        if len(command.changes) > _MOST:
            yield [(f"  and {len(command.changes) - _MOST} more; --json has them all", "dim")]
