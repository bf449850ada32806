"""The commands that show and change what a context sees of a conversation."""

from collections.abc import Iterator
from functools import partial

from pmem.cli.asking import asks, own
from pmem.cli.panels import bar, figure, panel
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

    Each message is outside chunks, pruned, or in a chunk, which contexts show where there is room,
    and else its summary. Pruning begins at 80 % of
    max_tokens and goes further from 90 % on. It only decides what contexts show.
    """
    found = session.run(table.USAGE, request)
    title = found.usage.title or short(found.usage.conversation)
    return Answer(
        data=found,
        lines=_plain(found),
        screen=lambda width: (
            _plain(found)
            if width < _NARROW
            else panel(f"Conversation: {title}", list(_overlay(found, width)), width)
        ),
        note=_filled_note(found.usage),
    )


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
    left = f"{_many(done.messages_left)} outside chunks {stay}"
    state = f"{left}, {done.tokens_after:,} tokens ({share:.0f} %)"
    if done.pruned:
        return state
    further = "--keep N or --tokens N goes further"
    if not done.could_go:
        further = "what is left is never pruned; `pmem conversation clear` starts afresh"
    return f"nothing to prune: {state}; {further}"


def _plain(found: ContextUsage) -> Iterator[Line]:
    usage = found.usage
    yield _row("conversation", f"{usage.conversation}  {usage.title or ''}".rstrip())
    yield _row("status", usage.status)
    yield _row("messages", _messages(usage))
    yield _row("chunks", _chunks(usage))
    yield _row("outside chunks", _usage_line(usage))
    for role, tokens in usage.tokens_by_role.items():
        yield _row(f"  {role}", f"{tokens:,} tokens, {_many(usage.messages_by_role[role])}")
    yield _row("next context", f"{found.used:,} of {found.budget:,} tokens, before any recall")
    for name, tokens in found.parts.items():
        yield _row(f"  {_PARTS[name]}", f"{tokens:,} tokens")
    yield from _history(usage)


def _overlay(found: ContextUsage, width: int) -> Iterator[Line]:
    usage = found.usage
    cells = max(6, min(36, width - _LABEL - 26))
    share = usage.percent_used / 100
    yield [
        (f"{'outside chunks':<{_LABEL}}", "bold"),
        (bar(share, cells), _heat(usage)),
        (f" {usage.percent_used:g} % of {usage.token_limit:,}", ""),
    ]
    yield [
        (" " * _LABEL, ""),
        (_ticks(usage, cells), "dim"),
        (f" pruned from {usage.prune_at:.0%} on", "dim"),
    ]
    yield from _bars("by role", usage.tokens_by_role, max(1, usage.tokens_in_context), cells)
    yield from _bars(
        "next context",
        {_PARTS[name]: tokens for name, tokens in found.parts.items()},
        max(1, found.used),
        cells,
    )
    yield [("", "")]
    yield _row("messages", _messages(usage))
    yield _row("chunks", _chunks(usage))
    yield from _history(usage)


def _bars(title: str, counts: dict[str, int], whole: int, cells: int) -> Iterator[Line]:
    if counts:
        yield [("", "")]
        yield [(title, "bold")]
    for name, tokens in counts.items():
        yield [
            (f"{'  ' + name:<{_LABEL}}", ""),
            (bar(tokens / whole, cells), "cyan"),
            (f" {tokens:>7,} tokens", ""),
        ]


def _ticks(usage: Usage, cells: int) -> str:
    """Mark the two shares from which pruning is due, below the bar."""
    places = {int(share * cells) for share in (usage.prune_at, usage.prune_hard_at)}
    return "".join("▲" if place in places else " " for place in range(cells))


def _heat(usage: Usage) -> str:
    share = usage.percent_used / 100
    if share >= usage.prune_hard_at:
        return "red"
    return "yellow" if share >= usage.prune_at else "green"


def _messages(usage: Usage) -> str:
    parts = [f"{usage.messages_in_context} outside chunks"]
    parts += [f"{usage.pruned_messages} pruned"] * bool(usage.pruned_messages)
    parts += [f"{usage.summarised_messages} in chunks"] * bool(usage.summarised_messages)
    return f"{usage.total_messages} ({', '.join(parts)}), {usage.total_tokens:,} tokens"


def _chunks(usage: Usage) -> str:
    if not usage.chunks:
        return "none yet"
    merged = f", {usage.merged_chunks} of them merged" * bool(usage.merged_chunks)
    return f"{usage.chunks}{merged}"


def _usage_line(usage: Usage) -> str:
    return (
        f"{usage.tokens_in_context:,} of {usage.token_limit:,} tokens ({usage.percent_used:g} %), "
        f"pruned from {usage.prune_at:.0%} on"
    )


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
        yield _row("oldest of these", iso(usage.oldest_in_context))
    yield _row("last prune", iso(usage.last_prune) if usage.last_prune else "never")
    if usage.pending_facts:
        yield _row("facts", f"{usage.pending_facts} pending; see `pmem inbox facts`")


def _many(messages: int) -> str:
    return f"{messages:,} message" + "s" * (messages != 1)
