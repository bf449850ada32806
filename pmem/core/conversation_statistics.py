"""What a conversation holds, counted by where each message is."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from pmem.values.records import Chunk, Message


class ConversationStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """What a conversation holds and what of it a context shows.

    Every message is in the context, pruned, or summarised in a chunk. The numbers by role are
    those of the context.
    """

    total_messages: int
    messages_in_context: int
    pruned_messages: int
    summarised_messages: int
    total_tokens: int
    tokens_in_context: int
    token_limit: int
    percent_used: float
    tokens_by_role: dict[str, int]
    messages_by_role: dict[str, int]
    oldest_in_context: datetime | None
    last_prune: datetime | None


def statistics(
    recent: Sequence[Message],
    gone: Collection[str],
    chunks: Sequence[Chunk],
    limit_tokens: int,
    last_prune: datetime | None = None,
) -> ConversationStatistics:
    """Count what a conversation holds and what of it a context shows."""
    left = frozenset(gone)
    live = [message for message in recent if message.id not in left]
    by_role: Counter[str] = Counter()
    for message in live:
        by_role[message.role.value] += message.tokens
    tokens = by_role.total()
    summarised = [message for chunk in chunks for message in chunk.messages]
    return ConversationStatistics(
        total_messages=len(recent) + len(summarised),
        messages_in_context=len(live),
        pruned_messages=len(recent) - len(live),
        summarised_messages=len(summarised),
        total_tokens=sum(message.tokens for message in (*recent, *summarised)),
        tokens_in_context=tokens,
        token_limit=limit_tokens,
        percent_used=round(100 * tokens / limit_tokens, 1) if limit_tokens else 0.0,
        tokens_by_role=dict(sorted(by_role.items())),
        messages_by_role=dict(sorted(Counter(m.role.value for m in live).items())),
        oldest_in_context=live[0].created_at if live else None,
        last_prune=last_prune,
    )
