"""The commands that show and change what a context sees of a conversation."""

import sys
from collections.abc import Iterable, Iterator
from functools import partial

from pmem.cli.asking import asks, own
from pmem.cli.panels import bar, figure, panel
from pmem.cli.screens.wrapping import all_hung
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.pruning import (
    Leaving,
    PrunedListing,
    PrunedMessage,
    PruneRequest,
    Pruning,
    Usage,
)
from pmem.core.shortening import shortened
from pmem.errors import UsageError
from pmem.memory.reading import LookRequest
from pmem.operations import table
from pmem.search.usage import ContextUsage
from pmem.values.ids import short
from pmem.values.times import iso

_LABEL = 18
_row = partial(figure, width=_LABEL)
_NARROW = 60
"""Columns below which a terminal gets no panel."""
_PARTS = {
    "system": "system prompt",
    "memory": "memory",
    "updates": "updates",
    "recalled": "recalled",
    "further": "further memory",
    "summaries": "summaries",
    "earlier": "said earlier",
    "recent": "recent messages",
}
_REASONS = {
    "finished_task": "its task is finished",
    "oldest": "among the oldest",
    "least_important": "among the least important",
    "hybrid": "old and unimportant",
    "no_room": "needed, but without room",
}
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

    Each message is in the context, pruned, or in a chunk with a summary. Pruning begins at 80 % of
    max_tokens and goes further from 90 % on. It only decides what contexts show.
    """
    found = session.run(table.USAGE, request)
    return Answer(data=found, screen=partial(_drawn, found), note=_filled_note(found.usage))


@asks(PruneRequest)
def prune(
    session: CommandSession,
    request: PruneRequest,
    listed: bool = own("List what was pruned so far, when and why.", flag="--list"),
) -> Answer:
    """Leave messages out of contexts; every one stays kept and searchable.

    Without --keep or --tokens it takes finished tasks, and messages beyond the limits. System
    messages, pinned ones and the last min_recent_messages never go. The strategies: rolling_window
    takes tools' output before talk, and the oldest first; importance what matters least, and
    finished tasks as a whole; hybrid weighs age and importance alike.
    """
    if listed:
        if request != PruneRequest(conversation=request.conversation):
            raise UsageError("--list shows what was pruned and prunes nothing", "give it alone")
        found = session.run(table.PRUNED, LookRequest(conversation=request.conversation))
        return Answer(data=found, lines=map(_pruned_line, found.items), note=_listed_note(found))
    done = session.run(table.PRUNE, request)
    lines = _pruned_lines(done, dry_run=request.dry_run)
    return Answer(data=done, lines=lines, note=_pruned_note(done))


def _pruned_line(item: PrunedMessage) -> Line:
    why = f"{_REASONS.get(item.reason, item.reason)} ({_TRIGGERS.get(item.trigger, item.trigger)})"
    return [
        (short(item.id), "cyan"),
        (f"  {iso(item.at)}  {item.tokens:>6,} tokens  ", "dim"),
        (why, ""),
        (f"  {'in a chunk now  ' * (item.now == 'in_chunk')}", "dim"),
        (f"{item.role}: ", "bold"),
        (shortened(" ".join(item.text.split()), 60) or "(its text was removed)", ""),
    ]


def _listed_note(found: PrunedListing) -> str:
    notes = [] if found.total else ["nothing was pruned"]
    if found.unexplained:
        notes.append(f"{_many(found.unexplained)} left out before pmem noted why")
    if found.cleared:
        notes.append(f"contexts start afresh behind the first {_many(found.cleared)}")
    return "\n".join(notes)


def _pruned_lines(done: Pruning, *, dry_run: bool) -> Iterator[Line]:
    verb = "would go" if dry_run else "went"
    for item in done.pruned:
        yield _leaving(item)
    if done.pruned:
        tokens = sum(item.tokens for item in done.pruned)
        why = _TRIGGERS[done.trigger or "by_hand"]
        yield [(f"{_many(len(done.pruned))}, {tokens:,} tokens {verb}: {why}", "bold")]


def _leaving(item: Leaving) -> Line:
    return [
        (short(item.id), "cyan"),
        (f"  {item.importance:.2f}", "green"),
        (f"  {item.tokens:>6,} tokens  {_REASONS[item.reason]:<26}", "dim"),
        (f"{item.role}: ", "bold"),
        (shortened(" ".join(item.text.split()), 60), ""),
    ]


def _pruned_note(done: Pruning) -> str:
    share = 100 * done.tokens_after / done.token_limit if done.token_limit else 0
    stay = "stays" if done.messages_left == 1 else "stay"
    state = f"{_many(done.messages_left)} {stay}, {done.tokens_after:,} tokens ({share:.0f} %)"
    if done.pruned:
        return state
    further = "--keep N or --tokens N goes further"
    if not done.could_go:
        further = "what is left is never pruned; `pmem conversation clear` starts afresh"
    return f"nothing to prune: {state}; {further}"


def _drawn(found: ContextUsage, width: int) -> Iterable[Line]:
    """Draw the figures, in a frame where a terminal has the room; a pipe has no columns."""
    usage = found.usage
    title = f"Conversation: {usage.title or short(usage.conversation)}"
    lines = list(_figures(found, max(6, min(20, width - _LABEL - 30))))
    if _NARROW <= width < sys.maxsize:
        return panel(title, lines, width)
    return all_hung([[(title, "bold")], *lines], width)


def _figures(found: ContextUsage, cells: int) -> Iterator[Line]:
    """Yield what there is and what a context sees of it, with bars of so many cells."""
    usage = found.usage
    yield _row("status", usage.status)
    yield _row("messages", _messages(usage))
    yield _row("chunks", _chunks(usage))
    share = usage.percent_used / 100
    said = f" {usage.tokens_in_context:,} of {usage.token_limit:,} tokens"
    yield [*_row("in context", ""), (bar(share, cells), _heat(usage)), (said, "")]
    yield _row("", f"{usage.percent_used:g} %, pruned from {usage.prune_at:.0%} on")
    yield from _bars(usage.tokens_by_role, usage.tokens_in_context, cells)
    yield _row("next context", f"{found.used:,} of {found.budget:,} tokens, before any recall")
    yield from _bars({_PARTS[name]: n for name, n in found.parts.items()}, found.used, cells)
    yield from _history(usage)


def _bars(counts: dict[str, int], whole: int, cells: int) -> Iterator[Line]:
    for name, tokens in counts.items():
        drawn = (bar(tokens / max(1, whole), cells), "cyan")
        yield [*_row(f"  {name}", ""), drawn, (f" {tokens:>7,} tokens", "")]


def _heat(usage: Usage) -> str:
    share = usage.percent_used / 100
    if share >= usage.prune_hard_at:
        return "red"
    return "yellow" if share >= usage.prune_at else "green"


def _messages(usage: Usage) -> str:
    parts = [f"{usage.messages_in_context} in context"]
    parts += [f"{usage.pruned_messages} pruned"] * bool(usage.pruned_messages)
    parts += [f"{usage.summarised_messages} in chunks"] * bool(usage.summarised_messages)
    return f"{usage.total_messages} ({', '.join(parts)}), {usage.total_tokens:,} tokens"


def _chunks(usage: Usage) -> str:
    if not usage.chunks:
        return "none yet"
    merged = f", {usage.merged_chunks} of them merged" * bool(usage.merged_chunks)
    return f"{usage.chunks}{merged}"


def _filled_note(usage: Usage) -> str:
    """Warn where a conversation takes as much as calls for pruning."""
    if not usage.token_limit or usage.percent_used < 100 * usage.prune_at:
        return ""
    return (
        f"the conversation takes {usage.percent_used:g} % of {usage.token_limit:,} tokens, "
        f"and is pruned from {usage.prune_at:.0%} on; what is left may be protected"
    )


def _history(usage: Usage) -> Iterator[Line]:
    if usage.oldest_in_context:
        yield _row("oldest shown", iso(usage.oldest_in_context))
    yield _row("last prune", iso(usage.last_prune) if usage.last_prune else "never")
    if usage.pending_facts:
        yield _row("facts", f"{usage.pending_facts} pending; see `pmem inbox facts`")


def _many(messages: int) -> str:
    return f"{messages:,} message" + "s" * (messages != 1)
