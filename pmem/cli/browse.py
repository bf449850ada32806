"""The command that shows the memory in a terminal: browse."""

import io
import shlex
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from typing import Any

from pmem.cli import render
from pmem.cli.app import run
from pmem.cli.asking import asks
from pmem.cli.drafts import write_draft
from pmem.cli.session import CommandSession, needing, once_more
from pmem.errors import Refused, UsageError
from pmem.operations import table
from pmem.project.setup import SettingRequest
from pmem.values.requests import NoArguments


@asks(NoArguments)
def browse(
    session: CommandSession,
    _: NoArguments,
) -> None:
    """Look through the memory in the terminal, and change it.

    Type to narrow the list, Enter to read an entry with its history, `i` for what waits for
    somebody. The keys stand at the bottom.
    """
    if session.json or not render.can_ask():
        raise UsageError("`pmem browse` needs a terminal", "`pmem list` prints the memories")
    with needing("tui", "pmem browse"):
        from pmem.browse.app import MemoryBrowser
        from pmem.browse.desk import Desk, EditedText
    from pmem.storage.shared import Shared

    name = session.run(table.SETTING, SettingRequest(name="project_name")).value

    def write(known: str) -> Any:
        draft = write_draft(session, known)
        return EditedText(text=draft.text, drop=draft.drop)

    def settle(line: str) -> None:
        said = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(said):
            code = run(shlex.split(line)[1:], once_more(session))
        if code:
            raise Refused(said.getvalue().strip().removeprefix("pmem: "))

    shared = Shared()
    opened = partial(session.opened_anew, session.found_root, shared)
    try:
        MemoryBrowser(Desk(opened, write, settle), str(name)).run()
    finally:
        shared.close()
