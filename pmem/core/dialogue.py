"""Conversations as they grow: what moves into chunks, and what a context still shows."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from pmem.records import Message, Role

Strategy = Literal["rolling_window", "importance", "hybrid"]
_SECONDS_A_DAY: Final = 86_400

_DIRECTIVE = re.compile(r"\b(must|always|never|should|do not|don't|make sure|please)\b", re.I)
_ERROR = re.compile(r"\b(error|exception|traceback|failed|failure|fatal)\b", re.I)
_CORRECTION = re.compile(r"\b(actually|correction|i meant|that is wrong|that's wrong)\b", re.I)
_SOCIAL = re.compile(r"(hi|hello|hey|thanks|thank you|great|ok|okay|bye|cool)[\s!.,]*", re.I)
_DONE = re.compile(r"\b(task complete|all done|is done|finished)\b", re.I)
_REFERENCE = re.compile(r"\b(earlier|as you said|above|previous(?:ly)?|before)\b", re.I)


def overflow(
    recent: Sequence[Message], most: int, size: int
) -> tuple[list[tuple[Message, ...]], tuple[Message, ...]]:
    """Decide which of the recent messages move into chunks.

    Whenever there are more than `most`, the oldest `size` leave together.

    Args:
        recent: Messages outside chunks, the oldest first.
        most: How many may stay.
        size: How many one chunk takes.

    Returns:
        The chunks' messages, the oldest chunk first, and the messages that stay.
    """
    taken = 0
    while len(recent) - taken > most:
        taken = min(taken + size, len(recent))
    chunks = [tuple(recent[i : min(i + size, taken)]) for i in range(0, taken, size)]
    return chunks, tuple(recent[taken:])


def importance(message: Message, age: int, now: datetime) -> float:
    """Score a message between 0 and 1 by S3's table (importance scoring algorithm).

    Args:
        message: The message; an importance that it carries itself wins.
        age: How many messages came after it.
        now: The present.
    """
    if message.role is Role.SYSTEM:
        return 1.0
    if message.importance is not None:
        return message.importance
    days = max(0.0, (now - message.created_at).total_seconds() / _SECONDS_A_DAY)
    score = 0.5 + _content_score(message) + _recency_boost(age) - 0.1 * int(days)
    return min(1.0, max(0.0, score))


def shown(
    messages: Sequence[Message],
    *,
    most: int,
    most_tokens: int,
    keep: int,
    strategy: Strategy,
    now: datetime,
) -> list[Message]:
    """Choose the messages of a conversation that a context may show.

    System messages and the last `keep` always stay; among the rest the oldest, the least
    important or a mean of both leave first, until neither limit is passed.

    Args:
        messages: In the order in which they were said.
        most: How many stay, if the protected ones allow.
        most_tokens: How many tokens they have together, if the protected ones allow.
        keep: How many of the latest are protected.
        strategy: What leaves first.
        now: The present.
    """
    total = len(messages)
    candidates = [i for i in range(max(0, total - keep)) if messages[i].role is not Role.SYSTEM]
    worth = {i: _worth(messages[i], i, total, strategy, now) for i in candidates}
    leaving: set[int] = set()
    tokens = sum(message.tokens for message in messages)
    for i in sorted(candidates, key=lambda i: (worth[i], i)):
        if total - len(leaving) <= most and tokens <= most_tokens:
            break
        leaving.add(i)
        tokens -= messages[i].tokens
    return [message for i, message in enumerate(messages) if i not in leaving]


def _worth(message: Message, place: int, total: int, strategy: Strategy, now: datetime) -> float:
    position = place / total
    if strategy == "rolling_window":
        return position
    score = importance(message, total - 1 - place, now)
    return score if strategy == "importance" else (score + position) / 2


def _content_score(message: Message) -> float:
    text = message.content
    score = 0.3 * (message.tool_call is not None) + 0.2 * (message.tool_result is not None)
    score += 0.2 * (message.role is Role.USER and bool(_DIRECTIVE.search(text)))
    score += 0.3 * bool(_ERROR.search(text)) + 0.2 * bool(_CORRECTION.search(text))
    score += 0.1 * len(_REFERENCE.findall(text))
    return score - 0.2 * bool(_SOCIAL.fullmatch(text.strip())) - 0.3 * bool(_DONE.search(text))


def _recency_boost(age: int) -> float:
    for limit, boost in ((5, 0.4), (10, 0.2), (20, 0.1)):
        if age < limit:
            return boost
    return 0.0
