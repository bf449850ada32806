"""The commands that change single records: `edit`, `rm`, `restore`, `undo`, `purge`, `share`."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.memory import (
    EXIT_CODES,
    WrittenText,
    added_lines,
    added_note,
    kept_draft,
    link_words,
    memory_line,
    neighbour_lines,
    title_of,
    write_draft,
)
from pmem.cli.render import can_ask, drawn
from pmem.cli.screens.drawing import ScreenView, view_of
from pmem.cli.screens.stories import change_screen
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.operations import command_of
from pmem.errors import NotFound, UsageError
from pmem.memory.changes import ChangedRecords, RecordsRequest, RestoreRequest
from pmem.memory.lifecycle import PurgeRequest, ShareRequest, SupersedeByRequest, Superseded
from pmem.memory.links import LINK_TYPES
from pmem.memory.reading import ShowRequest
from pmem.memory.requests import Edited, EditRequest, PinRequest
from pmem.memory.undo import Undone, UndoRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.values.ids import short
from pmem.values.records import Memory, Record, Relationship

R = TypeVar("R", bound=Record)
_ALIKE: Final = 0.8  # how alike a link's type must be to a known one to be taken for a slip


@asks(EditRequest)
def edit(
    session: CommandSession,
    request: EditRequest,
    supersede: bool = own("Keep the old text as a memory that was valid until now."),
    superseded_by: str | None = own(
        "This memory replaces it from now on.", shown="REF", completes="memory"
    ),
) -> Answer:
    """Change a memory; its history keeps what it was.

    Without a text and options, your editor opens with what it says.
    """
    if superseded_by is not None:
        if supersede or not request.is_empty:
            raise UsageError(
                "--superseded-by goes without a text and other options", "do one after the other"
            )
        pair = SupersedeByRequest(reference=request.reference, successor=superseded_by)
        return _superseded_answer(session.run(table.SUPERSEDE_BY, pair))
    if request.is_empty:
        return edit_draft(session, request.reference)
    if request.only_pins:  # which may be those of an episode
        pins = PinRequest(reference=request.reference, pinned=bool(request.pinned))
        pinned = ChangedRecords(records=(session.run(table.PIN, pins),))
        words = ("pinned", "already pinned") if pins.pinned else ("unpinned", "was not pinned")
        return records_answer(words[not session.outcomes[-1].has_written], pinned)
    if supersede and (request.uncite or request.link or request.unlink):
        raise UsageError(
            "--supersede goes without --uncite, --link and --unlink", "edit the new memory after it"
        )
    if supersede:
        return _superseded_answer(session.run(table.SUPERSEDE, request))
    return _edited_answer(session, session.run(table.EDIT, request))


def edit_draft(session: CommandSession, reference: str) -> Answer:
    """Let a person change a memory's content in their editor."""
    if len(reference.split()) > 1:
        raise UsageError(f"{reference!r} is no id", "name the memory first: `pmem edit REF TEXT`")
    found = session.run(table.SHOW, ShowRequest(reference=reference)).record
    if session.json or not can_ask():
        raise UsageError("nothing to change", "give a new text or an option")
    if not isinstance(found, Memory):
        raise NotFound(f"{reference} is not a memory", "`pmem list` shows them")
    return keep_draft(session, found, write_draft(session, found.content))


def keep_draft(session: CommandSession, memory: Memory, draft: WrittenText) -> Answer:
    """Let a memory say what somebody wrote in an editor."""
    with kept_draft(draft):
        request = EditRequest(reference=memory.id, content=draft.text)
        answer = _edited_answer(session, session.run(table.EDIT, request))
    draft.drop()
    return answer


@asks(ShareRequest)
def share(session: CommandSession, request: ShareRequest) -> Answer:
    """Copy a memory of your own into the project.

    Nothing else ever takes it there. `pmem undo` undoes that.
    """
    if session.mine:
        raise UsageError("`pmem share` copies into a project", "leave out --mine")
    added = session.run(table.SHARE, request)
    code = EXIT_CODES[added.action]
    return Answer(data=added, lines=added_lines(added), note=added_note(added), exit_code=code)


@asks(RecordsRequest)
def rm(session: CommandSession, request: RecordsRequest) -> Answer:
    """Remove memories or episodes; `restore` brings them back.

    They can be restored for `purge_days`, 30 by default; then `consolidate` deletes them for good.
    """
    done = session.run(table.REMOVE, request)
    note = _text_stays([short(record.id) for record in done.records])
    lines = [
        _done_line("was removed" if record.id in done.unchanged else "removed", record)
        for record in done.records
    ]
    return Answer(data=done, lines=lines, note=note)


@asks(RestoreRequest)
def restore(session: CommandSession, request: RestoreRequest) -> Answer:
    """Bring back what was removed or archived.

    With --since or --by it brings back everything that was removed, archived or merged. A memory
    that a newer one replaced stays replaced.
    """
    if not request.references and request.since is None and request.by is None:
        raise UsageError("nothing to bring back is named", "give a reference, --since or --by")
    done = session.run(table.RESTORE, request)
    is_done = session.outcomes[-1].has_written
    word = "would restore" if request.dry_run else "restored" if is_done else "already active"
    return records_answer(word, done)


@asks(PurgeRequest)
def purge(session: CommandSession, request: PurgeRequest) -> Answer:
    """Delete records for good, with every link to them.

    What was learned of a conversation stays, and so does the message of a memory: both are named.
    Git still has what was committed: see `pmem help take-a-secret-out`.
    """
    return records_answer("purged", session.run(table.PURGE, request))


def _doubts(links: Iterable[Relationship]) -> Iterator[str]:
    """Say which types of links may have been meant; any is allowed."""
    from difflib import get_close_matches

    for type_ in (link.type for link in links if link.type not in LINK_TYPES):
        if meant := get_close_matches(type_.casefold(), LINK_TYPES, 1, _ALIKE):
            yield f"{type_} is a type of its own; did you mean {meant[0]}?"


def _superseded_answer(done: Superseded) -> Answer:
    lines = [
        _done_line("superseded", done.superseded),
        _done_line("by", done.memory),
        *neighbour_lines(done.memory, done.neighbours),
    ]
    return Answer(data=done, lines=lines)


def _edited_answer(session: CommandSession, done: Edited) -> Answer:
    is_changed = session.outcomes[-1].has_written
    word = "edited" if is_changed else "unchanged"
    below = [[(f"  {link_words(link)}", "dim")] for link in done.linked]
    below += neighbour_lines(done.memory, done.neighbours)
    note = "\n".join(_doubts(done.linked))
    if done.same is not None:
        one, other = short(done.same.id), short(done.memory.id)
        note = f"{one} says the same: `pmem edit {one} --superseded-by {other}` keeps one of them"
    lines = [_done_line(word, done.memory), *below]
    screen = drawn(session, "stories.edit_screen", done.memory, is_changed=is_changed, below=below)
    return Answer(data=done, lines=lines, screen=screen, note=note)


def records_answer(word: str, done: ChangedRecords[R]) -> Answer:
    """Say what happened to records, a line for each."""
    return Answer(data=done, lines=[_done_line(word, record) for record in done.records])


def _text_stays(names: Sequence[str]) -> str:
    """Say that the text of removed records can still be read, and what takes it out."""
    return (
        f"the text stays on disk until `pmem purge {' '.join(names)}`, or `pmem consolidate` after"
        " `purge_days`;"
        " git keeps what was committed: `pmem help take-a-secret-out`"
    )


def _done_line(word: str, record: Record) -> Line:
    if isinstance(record, Memory):
        return [(f"{word} ", "green"), *memory_line(record)]
    return [(f"{word} ", "green"), (short(record.id), "cyan"), (f"  {title_of(record)}", "")]


_MOST_CHANGES: Final = 20  # changes of an undone command that are shown
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
    `conversation say`, settings or a purge.
    """
    is_number = what.isdecimal() and len(what) <= _MOST_DIGITS
    wanted = {"many": int(what)} if is_number else {"reference": what}
    request = msgspec.structs.replace(request, **wanted)
    found = session.run(table.UNDO, request)
    return Answer(
        data=found,
        screen=lambda width: _undone_lines(found, view_of(session, width)),
        note="" if request.dry_run else "\n".join(_text_left(session.opened, found)),
    )


def _text_left(workspace: Workspace | None, found: Undone) -> Iterator[str]:
    changes = [change for command in found.items for change in command.changes]
    if removed := [change.short for change in changes if change.gone and not change.deleted]:
        yield _text_stays(removed)
    if edited := [change.short for change in changes if _TEXTS & change.before.keys()]:
        yield (
            "the text before the undo stays in the history:"
            f" `pmem purge --force {' '.join(edited)}` deletes the memory with it"
        )
    staged = [change.staged for change in changes if change.staged]
    if workspace is not None and staged:
        paths = " ".join(os.path.relpath(os.path.join(workspace.root, path)) for path in staged)
        yield f"git has the text staged: `git rm --cached {paths}` unstages it"


def _undone_lines(found: Undone, view: ScreenView) -> Iterator[Line]:
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
        for change in command.changes[:_MOST_CHANGES]:
            yield [(f"  {change.short}  ", "cyan"), (change.text, "")]
            if change.gone:
                gone = "deleted" if change.deleted else "removed"
                yield [(f"    {gone} (that command added it)", "yellow")]
                continue
            for name in change.before:
                if name != "purge_at":
                    yield from change_screen(name, change.before, change.after, view.width)
        if len(command.changes) > _MOST_CHANGES:
            yield [
                (f"  and {len(command.changes) - _MOST_CHANGES} more; --json has them all", "dim")
            ]
