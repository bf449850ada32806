"""The commands that take in the sessions of coding assistants."""

import msgspec

from pmem.cli import render
from pmem.cli.asking import AskedCommand, asks, own
from pmem.cli.left_out import left_out_lines, reasons_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.notes import NotesRequest
from pmem.conversation.session_files import NoSession
from pmem.conversation.sessions import SessionsImported, SessionsRequest
from pmem.errors import UsageError
from pmem.operations import table
from pmem.values.programs import SessionProgram


@asks(SessionsRequest, without=("path",))
def auto(
    session: CommandSession,
    request: SessionsRequest,
    file: str | None = own("A session or a transcript.", shown="[FILE]", is_argument=True),
) -> Answer:
    """Import a session or a transcript, whichever a file is.

    `pmem import --pending` is short for `pmem import auto --pending`. The other options are for
    sessions. A transcript is taken in as `pmem import messages` does.
    """
    if request.pending == (file is not None):
        raise UsageError(
            "name either a file or --pending", "`pmem import --help` shows what can be imported"
        )
    try:
        return _import(session, msgspec.structs.replace(request, path=file))
    except NoSession:
        if request != SessionsRequest():
            raise
    from pmem.cli.exchange import transcript_imported

    return transcript_imported(session, file or "-")


def _import(session: CommandSession, request: SessionsRequest) -> Answer:
    told = render.progress(session, "bytes")
    request = msgspec.structs.replace(request, progress=told)
    return _imported(session.run(table.IMPORT_SESSIONS, request))


def _of_program(harness: SessionProgram, name: str, place: str) -> AskedCommand:
    meaning = f"""Import sessions of {name}, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    {place}. What pmem itself said is left out.
    """
    return asks(SessionsRequest, without=("pending",), harness=harness, meaning=meaning)(_import)


claude_code = _of_program(
    SessionProgram.CLAUDE_CODE, "Claude Code", "~/.claude/projects, or from CLAUDE_CONFIG_DIR"
)
codex = _of_program(SessionProgram.CODEX, "Codex", "~/.codex/sessions, or from CODEX_HOME")
gemini = _of_program(SessionProgram.GEMINI, "Gemini CLI", "~/.gemini/tmp")


def _imported(done: SessionsImported) -> Answer:
    many = f"{done.sessions} session{'s' * (done.sessions != 1)}"
    figures = (
        f"{many}: {done.added} {'would be ' * done.dry_run}added, {done.updated} updated, "
        f"{done.unchanged} unchanged, {len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")], *reasons_line(done.left_out)]
    told = [render.masked(item, "where", "why") for item in done.skipped]
    notes = [f"skipped {item.where}: it {item.why}" for item in told]
    if done.facts:
        notes.append(f"facts noted: {done.facts}; `pmem inbox` proposes them")
    if done.states_more:
        notes.append("next: --learn proposes memories")
    return Answer(data=done, lines=lines, note="\n".join(notes))


@asks(NotesRequest)
def notes(session: CommandSession, request: NotesRequest) -> Answer:
    """Import instruction files: each bullet becomes a memory.

    So does a short paragraph below a heading that states something. Headings become tags, and a
    memory cites its lines, so that `pmem check citations` sees when they change. It applies where
    the rules of its file do: globs, paths and applyTo become its places, and web/AGENTS.md is for
    web/**.
    Below a folder, pmem finds the instruction files that git does not ignore. It counts what it
    leaves out. Import again after a change: pmem updates the memories of what has changed, and
    names those whose text is gone, so that you can remove them.
    """
    done = session.run(table.IMPORT_NOTES, request)
    figures = (
        f"{done.added} added, {done.updated} updated, {done.unchanged} unchanged, "
        f"{len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")], *left_out_lines(done.left_out)]
    lines += [[(one.id, "cyan"), (f"  gone from {one.file}: {one.text}", "")] for one in done.gone]
    told = [f"skipped {item.where}: it {item.why}" for item in done.skipped]
    if done.gone:
        told.append(f"what no longer holds: pmem rm {' '.join(g.id for g in done.gone)}")
    return Answer(data=done, lines=lines, note="\n".join(told))
