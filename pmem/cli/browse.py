"""The command that shows the memory in a terminal: browse."""

from functools import partial
from typing import Any

import typer

from pmem.cli import render
from pmem.cli.drafts import write_draft
from pmem.cli.extras import needing
from pmem.cli.session import CommandSession
from pmem.errors import UsageError


def browse(ctx: typer.Context) -> None:
    """Look through the memory in the terminal, and change it.

    Type to narrow the list, Enter to read an entry with its history, `i` for what waits for
    somebody. The keys stand at the bottom.
    """
    session: CommandSession = ctx.obj
    if session.json or not render.can_ask():
        raise UsageError("`pmem browse` needs a terminal", "`pmem list` prints the memories")
    session.workspace.settings  # noqa: B018 - what is wrong is said before the screen is taken
    with needing("tui", "pmem browse"):
        from pmem.browse.app import MemoryBrowser
        from pmem.browse.desk import Desk, EditedText
    from pmem.storage.shared import Shared

    def write(known: str) -> Any:
        draft = write_draft(session, known)
        return EditedText(text=draft.text, drop=draft.drop)

    shared = Shared()
    opened = partial(session.opened_anew, session.found_root, shared)
    try:
        MemoryBrowser(Desk(opened, write), session.workspace.settings.project_name).run()
    finally:
        shared.indexes.close()
