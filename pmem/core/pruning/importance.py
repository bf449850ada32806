"""How important a message is: a base, what the message holds, its age, its recency."""

from datetime import datetime
from typing import Final

from pmem.core.pruning.kinds import Kinds, kinds_of
from pmem.values.records import Message, Role
from pmem.values.rules import Scoring

_DIGITS: Final = 9
"""Scores are rounded, so that sums of the same parts are equal in whatever order."""


def score(
    message: Message,
    age: int,
    now: datetime,
    scoring: Scoring,
    finished: bool = False,
) -> float:
    """Score a message between 0 and 1 (S3, importance scoring algorithm).

    `age` is how many messages came after it. An importance that it carries itself wins, and one
    that states completion counts as finished.

    Returns:
        The clamped sum, rounded to nine digits; 1.0 for a system message.
    """
    if message.role is Role.SYSTEM:
        return 1.0
    if message.importance is not None:
        return message.importance
    kinds = kinds_of(message)
    total = (
        scoring.base
        + _content(message, kinds, scoring)
        + (scoring.finished if finished or kinds.complete else 0.0)
        + scoring.per_day * max(0, (now - message.created_at).days)
        + _recency(age, scoring)
    )
    return min(1.0, max(0.0, round(total, _DIGITS)))


def _content(message: Message, kinds: Kinds, scoring: Scoring) -> float:
    found = (
        (message.tool_call is not None, scoring.tool_call),
        (message.tool_result is not None, scoring.tool_result),
        (kinds.directive, scoring.directive),
        (kinds.error, scoring.error),
        (kinds.correction, scoring.correction),
        (kinds.casual, scoring.casual),
    )
    return sum((part for is_so, part in found if is_so), kinds.references * scoring.reference)


def _recency(age: int, scoring: Scoring) -> float:
    if age < 5:
        return scoring.last_5
    if age < 10:
        return scoring.last_10
    return scoring.last_20 if age < 20 else 0.0
