"""The commands that change single records, take them out of recall and bring them back."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Annotated, Final, Literal, TypeVar

import msgspec
import typer

from pmem.cli import options
from pmem.cli.drafts import WrittenText, kept_draft, read_draft
from pmem.cli.journal import story_lines, version_line
from pmem.cli.memory import (
    Category,
    Cite,
    For,
    Importance,
    InsteadOf,
    Review,
    ReviewIf,
    Since,
    Subject,
    link_words,
    memory_line,
    neighbour_lines,
    title_of,
)
from pmem.cli.render import can_ask
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import NotFound, UsageError
from pmem.memory.changes import ChangedRecords, RecordsRequest, RestoreRequest
from pmem.memory.journal import History, HistoryRequest
from pmem.memory.lifecycle import PurgeRequest, SupersedeByRequest, Superseded
from pmem.memory.reading import ShowRequest
from pmem.memory.requests import Edited, EditRequest, LinkRequest, PinRequest, UnlinkRequest
from pmem.operations import table
from pmem.values.ids import matches, short
from pmem.values.records import Memory, MemoryType, Record
from pmem.vcs.conflicts import SettleRequest

R = TypeVar("R", bound=Record)
_ALIKE: Final = 0.8
"""How alike a link's type must be to a known one to be taken for a slip."""
NEVER: Final = "never"
"""What `edit --valid-until` takes for no end."""
NewType = Annotated[MemoryType | None, typer.Option(help="A new type.")]


def edit(
    ctx: typer.Context,
    reference: options.Reference,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT|-]", help="New content.")] = None,
    type: NewType = None,  # noqa: A002 - the option's name
    category: Category = None,
    subject: Subject = None,
    tag: Annotated[list[str] | None, typer.Option(help="Replace all its tags; repeatable.")] = None,
    add_tag: Annotated[list[str] | None, typer.Option(help="A tag to add; repeatable.")] = None,
    remove_tag: Annotated[
        list[str] | None, typer.Option(help="A tag to remove; repeatable.")
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all its tags.")] = False,
    importance: Importance = None,
    valid_from: Since = None,
    valid_until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Valid until this time, or 'never' ends.")
    ] = None,
    cite: Cite = None,
    uncite: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE[:A[-B]|::NAME]", help="Stop citing this; repeatable."),
    ] = None,
    for_: For = None,
    not_for: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Files it no longer applies to; repeatable."),
    ] = None,
    instead_of: InsteadOf = None,
    review: Review = None,
    review_if: ReviewIf = None,
    reviewed: Annotated[
        bool, typer.Option("--reviewed", help="It was looked at, and holds.")
    ] = False,
    settled: Annotated[
        str | None,
        typer.Option(
            metavar="REASON", help="Why it is no longer a dead end ['': it is one again]."
        ),
    ] = None,
    conversation: Annotated[
        str | None,
        typer.Option(metavar="REF", help="The conversation that the change comes from."),
    ] = None,
    stop_edits: Annotated[
        bool | None,
        typer.Option(
            "--stop-edits/--no-stop-edits",
            help="Let it stop an assistant's edit, once a session (see hooks.deny).",
        ),
    ] = None,
    supersede: Annotated[
        bool,
        typer.Option("--supersede", help="Keep the old text as a memory that was valid until now."),
    ] = False,
    superseded_by: Annotated[
        str | None, typer.Option(metavar="REF", help="This memory replaces it from now on.")
    ] = None,
) -> Answer:
    """Change a memory; its history keeps what it was.

    Without a text and options, your editor opens with what it says.
    """
    session: CommandSession = ctx.obj
    request = EditRequest(
        reference=reference,
        content=None if text is None else session.input(text, "the text"),
        type=type,
        category=category,
        subject=subject,
        tags=() if no_tags else tuple(tag) if tag else None,
        add_tags=tuple(add_tag or ()),
        remove_tags=tuple(remove_tag or ()),
        importance=importance,
        valid_from=session.ahead(valid_from),
        valid_until=None if valid_until == NEVER else session.ahead(valid_until),
        no_end=valid_until == NEVER,
        cite=tuple(cite or ()),
        uncite=tuple(uncite or ()),
        places=session.places(for_),
        not_places=session.places(not_for),
        instead_of=None if instead_of is None else tuple(filter(str.strip, instead_of)),
        review_at=session.ahead(review),
        review_if=review_if,
        reviewed=reviewed,
        settled=settled,
        stops_edits=stop_edits,
        conversation=conversation,
    )
    if superseded_by is not None:
        if supersede or not request.is_empty:
            raise UsageError(
                "--superseded-by goes without a text and other options", "do one after the other"
            )
        pair = SupersedeByRequest(reference=reference, successor=superseded_by)
        return _superseded_answer(session.run(table.SUPERSEDE_BY, pair))
    if request.is_empty:
        return edit_draft(session, reference)
    if supersede and uncite:
        raise UsageError("the new memory cites only what --cite gives: leave out --uncite")
    if supersede:
        return _superseded_answer(session.run(table.SUPERSEDE, request))
    return _edited_answer(session, session.run(table.EDIT, request))


def edit_draft(session: CommandSession, reference: str) -> Answer:
    """Let a person change a memory's content in their editor.

    Args:
        session: How the command was called.
        reference: The memory.

    Raises:
        UsageError: Nobody sits at a terminal.
        NotFound: It is no memory.
    """
    if len(reference.split()) > 1:
        raise UsageError(f"{reference!r} is no id", "name the memory first: `pmem edit REF TEXT`")
    found = session.run(table.SHOW, ShowRequest(reference=reference)).record
    if session.json or not can_ask():
        raise UsageError("nothing to change", "give a new text or an option")
    if not isinstance(found, Memory):
        raise NotFound(f"{reference} is not a memory", "`pmem list` shows them")
    return _keep_draft(session, found, read_draft(session, None, "the text", known=found.content))


def _keep_draft(session: CommandSession, memory: Memory, draft: WrittenText) -> Answer:
    with kept_draft(draft):
        request = EditRequest(reference=memory.id, content=draft.text)
        answer = _edited_answer(session, session.run(table.EDIT, request))
    draft.drop()
    return answer


def keep_drafts(
    session: CommandSession, memories: Mapping[str, Memory], drafts: Mapping[str, WrittenText]
) -> Iterator[Line]:
    """Make memories say what somebody wrote before there were any; yield what is said of each.

    Args:
        session: How the command was called.
        memories: The memories, each by the name that its text has among the drafts.
        drafts: What was written. Where no memory came of it, it is said where the text stands.
    """
    for name, draft in drafts.items():
        memory = memories.get(name)
        if memory is None:
            yield [(draft.place, "yellow")]
        elif draft.text == memory.content:
            draft.drop()
            yield [("the text is unchanged: it was kept as it is", "dim")]
        else:
            yield from _keep_draft(session, memory, draft).lines


def rm(ctx: typer.Context, reference: options.References) -> Answer:
    """Remove memories or episodes; `restore` brings them back.

    It does so until they are purged.
    """
    session: CommandSession = ctx.obj
    return _records_answer("removed", session.run(table.REMOVE, _records_request(reference)))


def restore(
    ctx: typer.Context,
    reference: Annotated[
        list[str] | None, typer.Argument(metavar="[REF]...", help="Ids, or their starts.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="All that left recall since this time.")
    ] = None,
    by: Annotated[
        Literal["consolidate"] | None, typer.Option(help="All that consolidate and sweep took out.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would do.")] = False,
) -> Answer:
    """Bring back what was removed or archived.

    With --since or --by it brings back everything that was removed, archived or merged. A memory
    that a newer one replaced stays replaced.
    """
    session: CommandSession = ctx.obj
    if not reference and since is None and by is None:
        raise UsageError("nothing to bring back is named", "give a reference, --since or --by")
    request = RestoreRequest(
        references=tuple(reference or ()), since=session.time(since), by=by, dry_run=dry_run
    )
    done = session.run(table.RESTORE, request)
    word = "would restore" if dry_run else "restored" if _has_written(session) else "already active"
    return _records_answer(word, done)


def purge(
    ctx: typer.Context,
    reference: options.References,
    force: Annotated[
        bool, typer.Option("--force", help="Delete even what was not removed first.")
    ] = False,
) -> Answer:
    """Delete records for good, with every link to them."""
    session: CommandSession = ctx.obj
    request = PurgeRequest(references=tuple(reference), force=force)
    return _records_answer("purged", session.run(table.PURGE, request))


def pin(ctx: typer.Context, reference: options.Reference) -> Answer:
    """Pin a memory or an episode, so that it never fades."""
    session: CommandSession = ctx.obj
    done = session.run(table.PIN, PinRequest(reference=reference))
    return _record_answer("pinned" if _has_written(session) else "already pinned", done)


def unpin(ctx: typer.Context, reference: options.Reference) -> Answer:
    """Let a pinned memory or episode fade like others."""
    session: CommandSession = ctx.obj
    request = PinRequest(reference=reference, pinned=False)
    done = session.run(table.PIN, request)
    return _record_answer("unpinned" if _has_written(session) else "was not pinned", done)


def link(
    ctx: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help="Where the link starts.")],
    end: Annotated[str, typer.Argument(metavar="B", help="Where it leads.")],
    type: Annotated[str, typer.Option(help="What it means.")] = "related_to",  # noqa: A002
    strength: Annotated[float, typer.Option(help="How close, from 0 to 1.")] = 0.5,
) -> Answer:
    """Link one memory to another."""
    session: CommandSession = ctx.obj
    request = LinkRequest(start=start, end=end, type=type, strength=strength)
    done = session.run(table.LINK, request)
    made = (one for one in done.relationships if one.type == type and matches(end, one.target))
    lines = [_done_line("linked", done), *([(f"  {link_words(one)}", "dim")] for one in made)]
    return Answer(data=done, lines=lines, note=_doubt(type))


def unlink(
    ctx: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help="Where the links start.")],
    end: Annotated[str, typer.Argument(metavar="B", help="Where they lead.")],
    type: Annotated[str | None, typer.Option(help="Only this type.")] = None,  # noqa: A002
) -> Answer:
    """Remove the links from one memory to another."""
    session: CommandSession = ctx.obj
    request = UnlinkRequest(start=start, end=end, type=type)
    return _record_answer("unlinked", session.run(table.UNLINK, request))


def settle(
    ctx: typer.Context,
    reference: options.References,
    other: Annotated[
        bool, typer.Option("--other", help="Take the other branch's value instead.")
    ] = False,
) -> Answer:
    """Resolve a conflict between two merged branches.

    It keeps what the memory says now. With --other the other branch wins, even if it removed,
    archived or replaced the memory.
    """
    session: CommandSession = ctx.obj
    request = SettleRequest(references=tuple(reference), other=other)
    done = session.run(table.SETTLE, request)
    answer = _records_answer("settled", ChangedRecords(records=done.records))
    return msgspec.structs.replace(answer, note=f"next: {done.next}") if done.next else answer


def history(
    ctx: typer.Context,
    reference: options.Reference,
    at: options.At = None,
    git: Annotated[
        bool, typer.Option("--git", help="Show the commits that touched it, even after a purge.")
    ] = False,
    versions: Annotated[
        bool, typer.Option("--versions", help="List its texts, numbered from the first.")
    ] = False,
) -> Answer:
    """Show what happened to a record, the oldest event first."""
    session: CommandSession = ctx.obj
    request = HistoryRequest(reference=reference, **session.when(at))
    if git and versions:
        raise UsageError("--git and --versions do not go together", "do one after the other")
    if git:
        from pmem.cli.changelog import provenance_answer

        return provenance_answer(session, request)
    if versions:
        listing = session.run(table.VERSIONS, request)
        return Answer(data=listing, lines=list(map(version_line, listing.items)))
    found = session.run(table.HISTORY, request)
    draw = partial(_draw_story, session, found)
    return Answer(data=found, lines=story_lines(found.steps), screen=draw)


def _draw_story(session: CommandSession, found: History, width: int) -> Iterable[Line]:
    from pmem.cli.screens.stories import story_screen
    from pmem.cli.screens.view import view_of

    return story_screen(found.steps, view_of(session, width))


def _doubt(type_: str) -> str:
    """Say which type of link may have been meant; any is allowed."""
    from difflib import get_close_matches

    from pmem.memory.links import LINK_TYPES

    meant = get_close_matches(type_.casefold(), LINK_TYPES, 1, _ALIKE)
    if type_ in LINK_TYPES or not meant:
        return ""
    return f"{type_} is a type of its own; did you mean {meant[0]}?"


def _has_written(session: CommandSession) -> bool:
    """Tell whether the last operation changed anything."""
    return session.outcomes[-1].has_written


def _records_request(references: Iterable[str]) -> RecordsRequest:
    return RecordsRequest(references=tuple(references))


def _superseded_answer(done: Superseded) -> Answer:
    lines = [
        _done_line("superseded", done.superseded),
        _done_line("by", done.memory),
        *neighbour_lines(done.memory, done.neighbours),
    ]
    return Answer(data=done, lines=lines)


def _edited_answer(session: CommandSession, done: Edited) -> Answer:
    lines = [_done_line("edited", done.memory), *neighbour_lines(done.memory, done.neighbours)]
    note = ""
    if done.same is not None:
        one, other = short(done.same.id), short(done.memory.id)
        note = f"{one} says the same: `pmem edit {one} --superseded-by {other}` keeps one of them"
    return Answer(data=done, lines=lines, screen=partial(_draw_edit, session, done), note=note)


def _draw_edit(session: CommandSession, done: Edited, width: int) -> Iterable[Line]:
    """Draw what an edit has changed, word by word."""
    from pmem.cli.screens.stories import edit_screen
    from pmem.cli.screens.view import view_of
    from pmem.cli.screens.wrapping import all_hung

    yield from edit_screen(
        done.memory, view_of(session, width), is_changed=session.outcomes[-1].has_written
    )
    yield from all_hung(neighbour_lines(done.memory, done.neighbours), width)


def _record_answer(word: str, record: Record) -> Answer:
    return Answer(data=record, lines=[_done_line(word, record)])


def _records_answer(word: str, done: ChangedRecords[R]) -> Answer:
    return Answer(data=done, lines=[_done_line(word, record) for record in done.records])


def _done_line(word: str, record: Record) -> Line:
    if isinstance(record, Memory):
        return [(f"{word} ", "green"), *memory_line(record)]
    return [(f"{word} ", "green"), (short(record.id), "cyan"), (f"  {title_of(record)}", "")]
