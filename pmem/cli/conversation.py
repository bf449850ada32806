"""The commands that keep conversations."""

from collections.abc import Iterator

from pmem.cli import render
from pmem.cli.asking import asks, own
from pmem.cli.deciding import judgement_notes, told
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.conversations import (
    ConversationsRequest,
    EndRequest,
    SayRequest,
    SayResult,
    StartRequest,
)
from pmem.errors import UsageError
from pmem.memory.chunking import Transcript
from pmem.memory.reading import ConversationRequest, LookRequest
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import Conversation, Message
from pmem.values.times import day

_WITHHELD = "the outcome is not kept: what is said of a person needs a person's consent"


@asks(StartRequest)
def start(session: CommandSession, request: StartRequest) -> Answer:
    """Start a conversation; it becomes the current one."""
    return _answer("started", session.run(table.START, request))


@asks(SayRequest)
def say(session: CommandSession, request: SayRequest) -> Answer:
    """Add a message to a conversation."""
    said = session.run(table.SAY, request)
    line: Line = [("said ", "green"), (short(said.message.id), "cyan")]
    return Answer(data=said, lines=[line], note="\n".join(_consequences(said)))


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


@asks(EndRequest)
def end(session: CommandSession, request: EndRequest) -> Answer:
    """End a conversation; the app that it is held in remembers it."""
    done = session.run(table.END, request)
    notes = [_WITHHELD] if done.withheld else []
    if done.remembered is not None:
        from pmem.cli.apps import remembered_note

        notes.append(remembered_note(done.remembered))
    return _answer("ended", done.conversation, "\n".join(notes))


@asks(ConversationRequest)
def pause(session: CommandSession, request: ConversationRequest) -> Answer:
    """Pause a conversation."""
    return _answer("paused", session.run(table.PAUSE, request))


@asks(ConversationRequest)
def resume(session: CommandSession, request: ConversationRequest) -> Answer:
    """Make a paused or ended conversation active again."""
    return _answer("resumed", session.run(table.RESUME, request))


@asks(ConversationsRequest)
def list_(session: CommandSession, request: ConversationsRequest) -> Answer:
    """List conversations, the earliest first."""
    found = session.run(table.CONVERSATIONS, request)
    none = "no conversation yet; `pmem conversation start` starts one"
    if request.status is not None:
        none = f"no conversation is {request.status}"
    return Answer(
        data=found,
        screen=drawn(session, "lists.conversation_screen", found.items),
        note="" if found.items else none,
    )


@asks(LookRequest)
def show(
    session: CommandSession,
    request: LookRequest,
    ids: bool = own("Show the messages' ids."),
) -> Answer:
    """Show a conversation with everything that was said in it.

    Marks say which messages are pinned, were pruned, or had their text removed, and where contexts
    start afresh.
    """
    shown = session.run(table.TRANSCRIPT, request)
    return Answer(data=shown, lines=_transcript_lines(shown, ids=ids))


@asks(ConversationRequest)
def clear(
    session: CommandSession,
    request: ConversationRequest,
    yes: bool = own("Do not ask first.", flag="--yes -y"),
) -> Answer:
    """Let contexts start afresh; every message stays kept and searchable."""
    if not yes and render.can_ask():
        look = LookRequest(conversation=request.conversation)
        found = session.run(table.TRANSCRIPT, look).conversation
        name = found.title or short(found.id)
        if not render.confirmed(f"Start afresh in contexts of the conversation {name}?"):
            raise UsageError("not cleared", "answer y, or give --yes")
    return _answer("cleared", session.run(table.CLEAR, request))


def _answer(word: str, conversation: Conversation, note: str = "") -> Answer:
    line: Line = [(f"{word} ", "green"), (short(conversation.id), "cyan")]
    title = conversation.title or conversation.external_id
    return Answer(
        data=conversation, lines=[[*line, (f"  {title}" if title else "", "")]], note=note
    )


def message_line(message: Message, *, is_pruned: bool = False) -> Line:
    """Show a message with its marks: who said what, is it pinned, pruned or removed."""
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
