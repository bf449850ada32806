"""The commands that keep conversations."""

from collections.abc import Iterator
from typing import Annotated

import typer

from pmem import conversations
from pmem.cli import render
from pmem.cli.session import Answer, Line, Session
from pmem.conversations import Overview, SayRequest, Transcript
from pmem.errors import UsageError
from pmem.ids import short
from pmem.records import Conversation, Role, Status
from pmem.times import day

Which = Annotated[
    str | None,
    typer.Argument(metavar="[REF]", help="A conversation's id or external id [the current one]."),
]


def start(
    ctx: typer.Context,
    title: Annotated[str | None, typer.Argument(help="What it is about.")] = None,
) -> Answer:
    """Start a conversation; it becomes the current one."""
    session: Session = ctx.obj
    return _answer("started", conversations.start(session.workspace, title))


def say(
    ctx: typer.Context,
    text: Annotated[str | None, typer.Argument(metavar="TEXT|-", help="What is said.")] = None,
    role: Annotated[Role, typer.Option(help="Who speaks.")] = Role.USER,
    speaker: Annotated[str | None, typer.Option(help="The speaker's name.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="REF", help="Where [the current conversation].")
    ] = None,
    importance: Annotated[float | None, typer.Option(help="From 0 to 1 [by its content].")] = None,
) -> Answer:
    """Add a message to a conversation."""
    session: Session = ctx.obj
    said = conversations.say(
        session.workspace,
        SayRequest(
            content=session.input(text, "the text"),
            role=role,
            speaker=speaker,
            conversation=conversation,
            importance=importance,
        ),
    )
    line: Line = [("said ", "green"), (short(said.message.id), "cyan")]
    return Answer(data=said, lines=[line])


def end(
    ctx: typer.Context,
    outcome: Annotated[str | None, typer.Argument(help="What came of it.")] = None,
    conversation: Annotated[str | None, typer.Option(metavar="REF", help="Which one.")] = None,
) -> Answer:
    """End a conversation."""
    session: Session = ctx.obj
    ended = conversations.change_status(session.workspace, conversation, Status.ENDED, outcome)
    return _answer("ended", ended)


def pause(ctx: typer.Context, reference: Which = None) -> Answer:
    """Pause a conversation."""
    session: Session = ctx.obj
    return _answer(
        "paused", conversations.change_status(session.workspace, reference, Status.PAUSED)
    )


def resume(ctx: typer.Context, reference: Which = None) -> Answer:
    """Make a paused or ended conversation active again."""
    session: Session = ctx.obj
    return _answer(
        "resumed", conversations.change_status(session.workspace, reference, Status.ACTIVE)
    )


def list_(
    ctx: typer.Context,
    status: Annotated[Status | None, typer.Option(help="Only those that stand so.")] = None,
) -> Answer:
    """List conversations, the earliest first."""
    session: Session = ctx.obj
    found = conversations.overviews(session.workspace, status)
    return Answer(
        data={"items": found, "total": len(found)},
        lines=(_overview_line(item) for item in found),
        note="" if found else _none(status),
    )


def _none(status: Status | None) -> str:
    if status is None:
        return "no conversation yet; `pmem conversation start` starts one"
    return f"no conversation is {status}"


def show(ctx: typer.Context, reference: Which = None) -> Answer:
    """Show a conversation with everything that was said in it."""
    session: Session = ctx.obj
    shown = conversations.transcript(session.workspace, reference)
    return Answer(
        data={
            **_fields(shown.conversation),
            "messages": shown.messages,
            "summaries": [
                {"id": chunk.id, "summary": chunk.summary, "key_topics": chunk.key_topics}
                for chunk in shown.chunks
            ],
        },
        lines=_transcript_lines(shown),
    )


def clear(
    ctx: typer.Context,
    reference: Which = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> Answer:
    """Let contexts start afresh; every message stays kept and searchable."""
    session: Session = ctx.obj
    if not yes and not render.confirmed("Start afresh in contexts of this conversation?"):
        raise UsageError("not cleared", "answer y, or give --yes")
    return _answer("cleared", conversations.clear(session.workspace, reference))


def _answer(word: str, conversation: Conversation) -> Answer:
    line: Line = [(f"{word} ", "green"), (short(conversation.id), "cyan")]
    title = conversation.title or conversation.external_id
    return Answer(data=conversation, lines=[[*line, (f"  {title}" if title else "", "")]])


def _fields(conversation: Conversation) -> dict[str, object]:
    hidden = ("recent_messages",)
    return {
        name: getattr(conversation, name)
        for name in conversation.__struct_fields__
        if name not in hidden
    }


def _overview_line(item: Overview) -> Line:
    title = item.title or item.external_id or ""
    return [
        (short(item.id), "cyan"),
        (f"  {item.status:<7}", "green" if item.status is Status.ACTIVE else "dim"),
        (f"{day(item.started_at)}  {item.turns:>5} message{'s' * (item.turns != 1)}", "dim"),
        (f"  {title}" if title else "", ""),
    ]


def _transcript_lines(shown: Transcript) -> Iterator[Line]:
    conversation = shown.conversation
    title = conversation.title or conversation.external_id or ""
    yield [(conversation.id, "bold cyan"), (f"  {title}", ""), (f"  {conversation.status}", "dim")]
    shown_day = ""
    for message in shown.messages:
        if day(message.created_at) != shown_day:
            shown_day = day(message.created_at)
            yield [("", "")]
            yield [(shown_day, "dim")]
        yield [(f"{message.speaker or message.role}: ", "bold"), (message.content, "")]
    if conversation.outcome:
        yield [("", "")]
        yield [("outcome: ", "dim"), (conversation.outcome, "")]
