"""The commands that keep conversations."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any

import typer

from pmem.cli import options, render
from pmem.cli.facts import judgement_notes, told
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.conversations import (
    ConversationsRequest,
    EndRequest,
    Overview,
    SayRequest,
    SayResult,
    StartRequest,
)
from pmem.errors import InvalidValue, UsageError
from pmem.memory.chunking import Transcript
from pmem.memory.reading import ConversationRequest, LookRequest
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import Conversation, Message, Role, Status
from pmem.values.times import day

Which = Annotated[
    str | None,
    typer.Argument(metavar="[REF]", help="A conversation's id or title [the current one]."),
]

_WITHHELD = "the outcome is not kept: what is said of a person needs a person's consent"


def start(
    ctx: typer.Context,
    title: Annotated[str | None, typer.Argument(help="What it is about.")] = None,
    app: Annotated[
        str | None, typer.Option(help="The app it belongs to; it remembers how it ends.")
    ] = None,
) -> Answer:
    """Start a conversation; it becomes the current one."""
    session: CommandSession = ctx.obj
    return _answer("started", session.run(table.START, StartRequest(title=title, app=app)))


def say(
    ctx: typer.Context,
    text: Annotated[str | None, typer.Argument(metavar="TEXT|-", help="What is said.")] = None,
    role: Annotated[Role, typer.Option(help="Who speaks.")] = Role.USER,
    speaker: Annotated[str | None, typer.Option(help="The speaker's name.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="REF", help="Where [the current conversation].")
    ] = None,
    importance: Annotated[float | None, typer.Option(help="From 0 to 1 [by its content].")] = None,
    tool_call: Annotated[
        str | None, typer.Option(metavar="JSON", help="The tool call it makes.")
    ] = None,
    tool_result: Annotated[
        str | None, typer.Option(metavar="JSON", help="The tool result it brings.")
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Let the model that you chose look at it, too.")
    ] = False,
) -> Answer:
    """Add a message to a conversation."""
    session: CommandSession = ctx.obj
    said = session.run(
        table.SAY,
        SayRequest(
            content=session.input(text, "the text"),
            role=role,
            speaker=speaker,
            conversation=conversation,
            importance=importance,
            tool_call=_json(tool_call, "--tool-call"),
            tool_result=_json(tool_result, "--tool-result"),
            learn=learn,
        ),
    )
    line: Line = [("said ", "green"), (short(said.message.id), "cyan")]
    return Answer(data=said, lines=[line], note="\n".join(_consequences(said)))


def _json(text: str | None, option: str) -> Any:
    if text is None:
        return None
    from pmem.core import exactjson

    try:
        return exactjson.read(text)
    except exactjson.InexactJson as error:
        hint = f'put the JSON in quotes: {option} \'{{"name": "ls"}}\''
        raise InvalidValue(f"{option} is not valid JSON: {error}", hint) from None


def _consequences(heard: SayResult) -> Iterator[str]:
    """Yield what a message led to, a line each."""
    promoted = {item.fact.id: item for item in heard.promoted}
    unpromoted = {item.fact: item.reason for item in heard.unpromoted}
    for fact in heard.facts:
        if fact.id in promoted:
            yield f"remembered as {short(promoted[fact.id].memory.id)}: {fact.content}"
            yield from judgement_notes(promoted[fact.id])
        else:
            yield f"noted {fact.type} {short(fact.id)} ({fact.confidence:.2f}): {fact.content}"
        if fact.id in unpromoted:
            yield f"  {unpromoted[fact.id]}"
    if heard.beyond:
        facts_ = f"{heard.beyond} more fact{'s' * (heard.beyond != 1)}"
        yield f"{facts_} left out: one message states at most so many"
    for episode in heard.episodes:
        kind = episode.type.replace("_", " ")
        yield f"episode {short(episode.id)}, {kind}: {episode.title}"
    yield from (told(held) for held in heard.held)
    if heard.pruned is not None:
        count = len(heard.pruned.pruned)
        yield f"pruned {count} message{'s' * (count != 1)}; see `pmem conversation prune --list`"
    if heard.filled:
        yield (
            f"the conversation takes {heard.filled:g} % of max_tokens, and what is left is never "
            "pruned; `pmem conversation clear` starts afresh"
        )


def end(
    ctx: typer.Context,
    outcome: Annotated[str | None, typer.Argument(help="What came of it.")] = None,
    conversation: Annotated[str | None, typer.Option(metavar="REF", help="Which one.")] = None,
) -> Answer:
    """End a conversation; the app that it is held in remembers it."""
    session: CommandSession = ctx.obj
    done = session.run(table.END, EndRequest(conversation=conversation, outcome=outcome))
    notes = [_WITHHELD] if done.withheld else []
    if done.remembered is not None:
        from pmem.cli.apps import remembered_note

        notes.append(remembered_note(done.remembered))
    return _answer("ended", done.conversation, "\n".join(notes))


def pause(ctx: typer.Context, reference: Which = None) -> Answer:
    """Pause a conversation."""
    session: CommandSession = ctx.obj
    request = ConversationRequest(conversation=reference)
    return _answer("paused", session.run(table.PAUSE, request))


def resume(ctx: typer.Context, reference: Which = None) -> Answer:
    """Make a paused or ended conversation active again."""
    session: CommandSession = ctx.obj
    request = ConversationRequest(conversation=reference)
    return _answer("resumed", session.run(table.RESUME, request))


def list_(
    ctx: typer.Context,
    status: Annotated[Status | None, typer.Option(help="Only with this status.")] = None,
    at: options.At = None,
) -> Answer:
    """List conversations, the earliest first."""
    session: CommandSession = ctx.obj
    request = ConversationsRequest(status=status, **session.when(at))
    found = session.run(table.CONVERSATIONS, request)
    return Answer(
        data=found,
        lines=map(_overview_line, found.items),
        screen=partial(_draw_conversations, session, found.items),
        note="" if found.items else _none(status),
    )


def _draw_conversations(
    session: CommandSession, items: Sequence[Overview], width: int
) -> Iterable[Line]:
    from pmem.cli.screens.lists import conversation_screen
    from pmem.cli.screens.view import view_of

    return conversation_screen(items, view_of(session, width))


def _none(status: Status | None) -> str:
    if status is None:
        return "no conversation yet; `pmem conversation start` starts one"
    return f"no conversation is {status}"


def show(
    ctx: typer.Context,
    reference: Which = None,
    at: options.At = None,
    ids: Annotated[bool, typer.Option("--ids", help="Show the messages' ids.")] = False,
) -> Answer:
    """Show a conversation with everything that was said in it.

    Marks say which messages are pinned, were pruned, or had their text removed, and where contexts
    start afresh.
    """
    session: CommandSession = ctx.obj
    request = LookRequest(conversation=reference, **session.when(at))
    shown = session.run(table.TRANSCRIPT, request)
    return Answer(data=shown, lines=_transcript_lines(shown, ids=ids))


def clear(
    ctx: typer.Context,
    reference: Which = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
) -> Answer:
    """Let contexts start afresh; every message stays kept and searchable."""
    session: CommandSession = ctx.obj
    if not yes and render.can_ask():
        found = session.run(table.TRANSCRIPT, LookRequest(conversation=reference)).conversation
        name = found.title or short(found.id)
        if not render.confirmed(f"Start afresh in contexts of the conversation {name}?"):
            raise UsageError("not cleared", "answer y, or give --yes")
    request = ConversationRequest(conversation=reference)
    return _answer("cleared", session.run(table.CLEAR, request))


def _answer(word: str, conversation: Conversation, note: str = "") -> Answer:
    line: Line = [(f"{word} ", "green"), (short(conversation.id), "cyan")]
    title = conversation.title or conversation.external_id
    return Answer(
        data=conversation, lines=[[*line, (f"  {title}" if title else "", "")]], note=note
    )


def _overview_line(item: Overview) -> Line:
    title = item.title or item.external_id or ""
    return [
        (short(item.id), "cyan"),
        (f"  {item.status:<7}", "green" if item.status is Status.ACTIVE else "dim"),
        (f"{day(item.started_at)}  {item.turns:>5} message{'s' * (item.turns != 1)}", "dim"),
        (f"  {title}" if title else "", ""),
    ]


def message_line(message: Message, *, is_pruned: bool = False) -> Line:
    """Show a message with its marks: who said what, is it pinned, pruned or removed.

    Args:
        message: As it is kept.
        is_pruned: Contexts leave it out.
    """
    who = (f"{message.speaker or message.role}: ", "bold")
    if message.removed is not None:
        reason = f": {message.removed.reason}" if message.removed.reason else ""
        by = f" by {message.removed.by}" if message.removed.by else ""
        return [who, (f"(removed {day(message.removed.at).strip()}{by}{reason})", "dim")]
    marks = ["pinned"] * message.pinned + ["pruned"] * is_pruned
    if message.importance is not None:
        marks.append(f"importance {message.importance:g}")
    content = message.content.replace("\n", "\n  ")
    return [who, (f"({', '.join(marks)}) " if marks else "", "dim"), (content, "")]


def _transcript_lines(shown: Transcript, *, ids: bool) -> Iterator[Line]:
    conversation = shown.conversation
    title = conversation.title or conversation.external_id or ""
    yield [(conversation.id, "bold cyan"), (f"  {title}", ""), (f"  {conversation.status}", "dim")]
    shown_day = ""
    summaries = {
        chunk.messages[0].id: chunk.summary
        for chunk in shown.chunks
        if chunk.messages and chunk.summary and not chunk.merged_into
    }
    for turn, message in enumerate(shown.messages):
        if turn and turn == conversation.cleared_turns:
            yield [("[contexts start afresh here]", "dim")]
        if day(message.created_at) != shown_day:
            shown_day = day(message.created_at)
            yield [("", "")]
            yield [(shown_day, "dim")]
        if message.id in summaries:
            yield [(f"[in short: {' '.join(summaries[message.id].split())}]", "dim")]
        named = [(f"{short(message.id)} ", "cyan")] if ids else []
        yield [*named, *message_line(message, is_pruned=message.id in conversation.pruned)]
    if shown.messages and conversation.cleared_turns == len(shown.messages):
        yield [("[contexts start afresh here]", "dim")]
    if conversation.outcome:
        yield [("", "")]
        yield [("outcome: ", "dim"), (conversation.outcome, "")]
