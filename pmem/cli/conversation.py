"""`pmem conversation` and `pmem episode`: conversations, and what a context shows of them."""

from collections.abc import Iterator

from pmem.cli import render
from pmem.cli.asking import asks, own
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line, counted, listed
from pmem.conversation import conversations
from pmem.conversation.episodes import EpisodeRequest, EpisodesRequest
from pmem.conversation.message_changes import MarkRequest, RemoveMessageRequest
from pmem.conversation.pruning import PruneRequest, Pruning
from pmem.core.lines import shortened
from pmem.errors import UsageError
from pmem.memory.conversations import ConversationRequest, LookRequest, Transcript, current
from pmem.memory.reading import EpisodeShowRequest, ShownRecord
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import Conversation, Episode, EpisodeType, Message
from pmem.values.times import day

_WITHHELD = "the outcome is not kept: what is said of a person needs a person's consent"


@asks(conversations.StartRequest)
def start(session: CommandSession, request: conversations.StartRequest) -> Answer:
    """Start a conversation; it becomes the current one."""
    return _answer("started", session.run(table.START, request))


@asks(conversations.SayRequest)
def say(session: CommandSession, request: conversations.SayRequest) -> Answer:
    """Add a message to a conversation."""
    said = session.run(table.SAY, request)
    line: Line = [("said ", "green"), (short(said.message.id), "cyan")]
    return Answer(data=said, lines=[line], note="\n".join(_consequences(said)))


def _consequences(heard: conversations.SayResult) -> Iterator[str]:
    promoted = {item.fact.id: item for item in heard.promoted}
    unpromoted = {item.fact: item.reason for item in heard.unpromoted}
    for fact in heard.facts:
        if fact.id in promoted:
            item = promoted[fact.id]
            yield f"remembered as {short(item.memory.id)}: {fact.content}"
            if item.neighbours:
                from pmem.cli.memory import neighbour_lines

                lines = neighbour_lines(item.memory, item.neighbours)
                yield from ("".join(text for text, _ in line) for line in lines)
        else:
            yield f"noted {fact.type} {short(fact.id)} ({fact.confidence:.2f}): {fact.content}"
        if fact.id in unpromoted:
            yield f"  {unpromoted[fact.id]}"
    if heard.beyond:
        yield f"{counted(heard.beyond, 'more fact')} left out: one message states at most so many"
    for episode in heard.episodes:
        kind = episode.type.replace("_", " ")
        yield f"episode {short(episode.id)}, {kind}: {episode.title}"
    yield from (held.told for held in heard.held)
    if heard.pruned is not None:
        many = counted(len(heard.pruned.pruned), "message")
        yield f"pruned {many}; see `pmem conversation show`"
    if heard.filled:
        yield (
            f"the conversation takes {heard.filled:g} % of max_tokens, and what is left is never "
            "pruned; `pmem conversation clear` starts afresh"
        )


@asks(conversations.EndRequest)
def end(session: CommandSession, request: conversations.EndRequest) -> Answer:
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
    resumed = session.run(table.RESUME, request)
    latest = None if session.opened is None else current(session.opened)
    note = ""
    if latest is not None and latest.id != resumed.id:
        note = f"{short(latest.id)} was started later and stays the current one"
        note += f": `pmem conversation say TEXT --conversation {short(resumed.id)}`"
    return _answer("resumed", resumed, note)


@asks(conversations.ConversationsRequest)
def list_(session: CommandSession, request: conversations.ConversationsRequest) -> Answer:
    """List conversations, the earliest first."""
    found = session.run(table.CONVERSATIONS, request)
    screen = drawn(session, "lists.conversation_screen", found.items)
    nothing = "no conversation found; `pmem conversation start` starts one"
    return listed(found, nothing, screen=screen)


@asks(LookRequest)
def show(
    session: CommandSession, request: LookRequest, ids: bool = own("Show the messages' ids.")
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
    title = conversation.title or conversation.external_id
    line: Line = [(f"{word} ", "green"), (short(conversation.id), "cyan")]
    line.append((f"  {title}" if title else "", ""))
    return Answer(data=conversation, lines=[line], note=note)


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


_TRIGGERS = {
    "normal": "the conversation passed its first limit",
    "aggressive": "the conversation passed its hard limit",
    "messages": "there are more than max_messages",
    "task_boundary": "a new task begins",
    "session_start": "a new session begins",
    "by_hand": "asked for",
}


@asks(LookRequest)
def stats(session: CommandSession, request: LookRequest) -> Answer:
    """Show what a conversation holds and what of it a context sees.

    Each message is outside chunks, pruned, or in a chunk, which contexts show where there is room,
    and else its summary. Pruning begins at 80 % of max_tokens and goes further from 90 % on.
    It only decides what contexts show.
    """
    found = session.run(table.USAGE, request)
    usage, note = found.usage, ""
    if usage.token_limit and usage.percent_used >= 100 * usage.prune_at:
        note = (
            f"the conversation takes {usage.percent_used:g} % of {usage.token_limit:,} tokens, "
            f"and is pruned from {usage.prune_at:.0%} on; what is left may be protected"
        )
    return Answer(data=found, screen=drawn(session, "figures.usage_screen", found), note=note)


@asks(PruneRequest)
def prune(session: CommandSession, request: PruneRequest) -> Answer:
    """Leave messages out of contexts; every one stays kept and searchable.

    Without --keep or --tokens it takes finished tasks, and messages beyond the limits. System
    messages, pinned ones and the last min_recent_messages never go. The strategies: rolling_window
    takes tools' output before talk, and the oldest first; importance what matters least, and
    finished tasks as a whole; hybrid weighs age and importance alike.
    """
    done = session.run(table.PRUNE, request)
    lines = _pruned_lines(done, dry_run=request.dry_run)
    return Answer(data=done, lines=lines, note=_pruned_note(done))


def _pruned_lines(done: Pruning, *, dry_run: bool) -> Iterator[Line]:
    for item in done.pruned:
        yield [
            (short(item.id), "cyan"),
            (f"  {item.importance:.2f}", "green"),
            (f"  {item.tokens:>6,} tokens  {item.reason.replace('_', ' '):<15}", "dim"),
            (f"  {item.role}: ", "bold"),
            (shortened(" ".join(item.text.split()), 60), ""),
        ]
    if done.pruned:
        tokens = sum(item.tokens for item in done.pruned)
        gone = f"{counted(len(done.pruned), 'message')}, {tokens:,} tokens"
        verb, why = "would go" if dry_run else "went", _TRIGGERS[done.trigger or "by_hand"]
        yield [(f"{gone} {verb}: {why}", "bold")]


def _pruned_note(done: Pruning) -> str:
    share = 100 * done.tokens_after / done.token_limit if done.token_limit else 0
    stay = "stays" if done.messages_left == 1 else "stay"
    left = f"{counted(done.messages_left, 'message')} outside chunks {stay}"
    state = f"{left}, {done.tokens_after:,} tokens ({share:.0f} %)"
    if done.pruned:
        return state
    further = "--keep N or --tokens N goes further"
    if not done.could_go:
        further = "what is left is never pruned; `pmem conversation clear` starts afresh"
    return f"nothing to prune: {state}; {further}"


@asks(MarkRequest)
def mark(session: CommandSession, request: MarkRequest) -> Answer:
    """Say how much a message counts, or pin it.

    A pinned message is never pruned. Contexts show it word for word, also once it has moved into
    a chunk.
    """
    done = session.run(table.MARK, request)
    line: Line = [("marked ", "green"), (short(done.message.id), "cyan"), ("  ", "")]
    return Answer(data=done, lines=[[*line, *message_line(done.message)]])


@asks(RemoveMessageRequest)
def remove(session: CommandSession, request: RemoveMessageRequest) -> Answer:
    """Remove the text of one message, and keep its trace.

    Its place, who spoke, when, who removed it and why are kept. What was made of it stays, and is
    named. Where the message was committed, git has its text.
    """
    done = session.run(table.REMOVE_MESSAGE, request)
    line: Line = [("removed the text of ", "green"), (short(done.message.id), "cyan")]
    notes = [
        f"{what} was made of it and stays: {', '.join(map(short, made))}; `pmem rm` takes it out of"
        " recall"
        for what, made in (("a memory", done.memories), ("an episode", done.episodes))
        if made
    ]
    return Answer(data=done, lines=[line], note="\n".join(notes))


_TYPE_WIDTH = max(map(len, EpisodeType))


@asks(EpisodeRequest)
def add_episode(session: CommandSession, request: EpisodeRequest) -> Answer:
    """Add an episode by hand; messages make others by themselves."""
    made = session.run(table.ADD_EPISODE, request)
    return Answer(data=made, lines=[[("added ", "green"), *_episode_line(made)]])


@asks(EpisodesRequest)
def list_episodes(session: CommandSession, request: EpisodesRequest) -> Answer:
    """List episodes, the earliest first."""
    found = session.run(table.EPISODES, request)
    screen = drawn(session, "lists.episode_screen", found.items)
    return listed(found, "no episode; `pmem episode add` adds one", screen=screen)


@asks(EpisodeShowRequest)
def show_episode(session: CommandSession, request: EpisodeShowRequest) -> Answer:
    """Show an episode."""
    record = session.run(table.EPISODE, request)
    screen = drawn(session, "lists.record_screen", ShownRecord(record=record))
    return Answer(data=record, screen=screen)


@asks(LookRequest)
def arc(session: CommandSession, request: LookRequest) -> Answer:
    """Show how a conversation went: beginning, middle, end."""
    found = session.run(table.ARC, request)
    is_empty = not (found.beginning or found.middle or found.end)
    note = "no episode yet in this conversation" * is_empty
    key = {episode.id for episode in found.key_moments}
    lines: list[Line] = []
    for title in ("beginning", "middle", "end"):
        lines.append([(title, "bold")])
        for episode in getattr(found, title):
            mark = ("★ ", "yellow") if episode.id in key else ("  ", "")
            lines.append([("  ", ""), mark, *_episode_line(episode)])
    if key:
        lines.append([("★ key moment: significance of 0.7 or more", "dim")])
    return Answer(data=found, lines=lines, note=note)


def _episode_line(episode: Episode) -> Line:
    return [
        (short(episode.id), "cyan"),
        (f"  {episode.significance:.2f}", "green"),
        (f"  {day(episode.created_at)}  {episode.type:<{_TYPE_WIDTH}}", "dim"),
        (f"  {' '.join(episode.title.split())}", ""),
    ]
