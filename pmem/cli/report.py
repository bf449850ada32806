"""`pmem report`, a page for a browser, and `pmem browse`, a browser in the terminal."""

import io
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.cli import render
from pmem.cli.app import run
from pmem.cli.asking import asks, own
from pmem.cli.memory import write_draft
from pmem.cli.session import Answer, CommandSession, Line, needing, once_more
from pmem.core.secrets import unsecret
from pmem.errors import Refused, UsageError
from pmem.operations import table
from pmem.project.configuration import name_of
from pmem.project.setup import SettingRequest
from pmem.report.collecting import ReportRequest
from pmem.storage.shared import Shared
from pmem.values.fields import NoArguments

if TYPE_CHECKING:
    from pmem.report.document import ReportDocument

_OPEN_IT: Final = "open it in a browser, or add --open to have it opened"


@asks(ReportRequest)
def report(
    session: CommandSession,
    request: ReportRequest,
    file: str | None = own(
        "Where to write the page, `-` for standard output [memory-report.html].",
        shown="[FILE]",
        is_argument=True,
    ),
    site: str | None = own("Write a folder with a page for each subject instead.", shown="DIR"),
    opens: bool = own("Open it in the browser.", flag="--open"),
) -> Answer:
    """Make a page of the memory to look at in a browser.

    It shows what is new, what needs attention, how each subject came to be, and what a model would
    be given. It is one HTML file that needs no network. Transcripts, what waits for consent, and
    what belongs to apps are never in it.
    """
    if site is not None and file is not None:
        raise UsageError("both a file and `--site` are given", "give one of them")
    if file == "-" and session.json:
        return Answer(data=session.run(table.REPORT, request))
    with needing("report", "pmem report"):
        from pmem.report.page import render_page
    document = session.run(table.REPORT, request)
    if file == "-":
        return Answer(data=document, raw=render_page(document))
    return _write_page(document, file, site, opens=opens)


def _write_page(
    document: "ReportDocument", file: str | None, site: str | None, *, opens: bool
) -> Answer:
    from pmem.report.page import DEFAULT_FILE, write_report, write_site

    done = (
        write_report(document, file or DEFAULT_FILE) if site is None else write_site(document, site)
    )
    page = done.path if site is None else os.path.join(done.path, "index.html")
    shown = msgspec.structs.replace(done, path=unsecret(done.path))
    files = "" if site is None else f"{done.files:,} pages, "
    memories = f"{done.memories:,} memor{'y' if done.memories == 1 else 'ies'}"
    line: Line = [("written ", ""), (shown.path, "cyan"), (f"  {files}{memories}", "dim")]
    note = _OPEN_IT
    if opens:
        import webbrowser
        from pathlib import Path

        is_open = webbrowser.open(Path(page).absolute().as_uri())
        note = "" if is_open else f"no browser could be started: open {page} yourself"
    return Answer(data=shown, lines=[line], note=note)


@asks(NoArguments)
def browse(session: CommandSession, _: NoArguments) -> None:
    """Look through the memory in the terminal, and change it.

    Type to narrow the list, Enter to read an entry with its history, `i` for what waits for
    somebody. The keys stand at the bottom.
    """
    if session.json or not render.can_ask():
        raise UsageError("`pmem browse` needs a terminal", "`pmem list` prints the memories")
    with needing("tui", "pmem browse"):
        from pmem.browse.app import MemoryBrowser
        from pmem.browse.desk import Desk, EditedText

    name = session.run(table.SETTING, SettingRequest(name="project_name")).value
    name = name_of(session.found_root, name)

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
