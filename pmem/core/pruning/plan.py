"""Which messages of a conversation a context still shows, and how important each is.

Pruning hides messages, it deletes none. A strategy says which messages stay or go together, and
what each is worth beside others; what is worth most takes room first (see `talk_first`). Pruning
again prunes nothing more.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from pmem.core.pruning.kinds import Kinds, kinds_of
from pmem.core.pruning.segments import Task, tasks, units
from pmem.values.records import Message, Role
from pmem.values.rules import Scoring

if TYPE_CHECKING:
    from pmem.core.pruning.talk_first import MessageGroup

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


Strategy = Literal["rolling_window", "importance", "hybrid"]
Reason = Literal["finished_task", "oldest", "least_important", "hybrid", "no_room", "earlier"]
Trigger = Literal["normal", "aggressive", "messages", "task_boundary", "session_start"]


class _Worth(NamedTuple):
    """Why a strategy lets messages go, and what one is worth by its importance and its place."""

    reason: Reason
    merit: Callable[[float, float], float]


_STRATEGIES: Final[dict[Strategy, _Worth]] = {
    "rolling_window": _Worth("oldest", lambda importance, place: place),
    "importance": _Worth("least_important", lambda importance, place: importance),
    "hybrid": _Worth("hybrid", lambda importance, place: round((importance + place) / 2, _DIGITS)),
}
NORMAL: Final = 0.8
"""Share of the token limit from which pruning is due."""
AGGRESSIVE: Final = 0.9
_AIMS: Final[dict[Trigger, float]] = {"normal": 0.7, "aggressive": 0.5}
"""Shares of the token limit down to which pruning goes."""


class PruningRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a context may show, and what leaves it first.

    `keep` of the latest messages are never pruned. With `finished_only`, finished tasks go
    whatever the limits are, and nothing else does.
    """

    most_messages: int
    most_tokens: int
    keep: int = 10
    strategy: Strategy = "rolling_window"
    scoring: Scoring = Scoring()
    finished_only: bool = False


class Pruned(msgspec.Struct, frozen=True):
    """A message that is not shown, and why."""

    id: str
    tokens: int
    importance: float
    reason: Reason


class PruningPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages are shown and which are not, both in the order of the conversation.

    `tokens_before` leaves out what was pruned earlier.
    """

    kept: tuple[str, ...]
    pruned: tuple[Pruned, ...]
    tokens_before: int
    tokens_after: int


def plan(
    messages: Sequence[Message], rules: PruningRules, now: datetime, gone: Collection[str] = ()
) -> PruningPlan:
    """Decide which messages leave the context.

    System messages, pinned ones, the last `keep` messages and, unless `keep` is 0, the last
    message of the user never leave, nor does what goes with one of them. What was pruned earlier
    (`gone`) stays pruned and counts for nothing.
    """
    from pmem.core.pruning.talk_first import choose_kept, choose_unfinished

    earlier = frozenset(gone)
    live = {i: one.tokens for i, one in enumerate(messages) if one.id not in earlier}
    found, latest = tasks(messages), len(messages) - 1
    finished = [task.finished for task in found for _ in range(task.first, task.last + 1)]
    scores = [
        score(message, latest - i, now, rules.scoring, finished[i])
        for i, message in enumerate(messages)
    ]
    requests = [_request(messages, task) for task in found]
    groups = _groups(messages, rules, finished, scores, requests)
    protected = _protected(messages, live, rules.keep)
    if rules.finished_only:
        done = {place for place in requests if finished[place]}
        kept = choose_unfinished(groups, protected, live, done)
    else:
        kept = choose_kept(groups, protected, live, rules.most_messages, rules.most_tokens)
    standing = {place for group in groups if group.is_standing for place in group.places}

    def reason(place: int) -> Reason:
        if place not in live:
            return "earlier"
        if finished[place]:
            return "finished_task"
        return "no_room" if place in standing else _STRATEGIES[rules.strategy].reason

    return PruningPlan(
        kept=tuple(one.id for i, one in enumerate(messages) if i in kept),
        pruned=tuple(
            Pruned(one.id, one.tokens, scores[i], reason(i))
            for i, one in enumerate(messages)
            if i not in kept
        ),
        tokens_before=sum(live.values()),
        tokens_after=sum(live[i] for i in kept),
    )


def due(
    messages: Sequence[Message],
    gone: Collection[str],
    limit_tokens: int,
    rules: PruningRules,
) -> Trigger | None:
    """Tell whether a conversation is to be pruned now that its last message was said.

    `limit_tokens` is what usage is a share of; 0 for no such limit. The strongest trigger counts.
    """
    left = frozenset(gone)
    live = [message for message in messages if message.id not in left]
    tokens = sum(message.tokens for message in live)
    if limit_tokens and tokens >= AGGRESSIVE * limit_tokens:
        return "aggressive"
    if limit_tokens and tokens >= NORMAL * limit_tokens:
        return "normal"
    if len(live) > rules.most_messages:
        return "messages"
    return "task_boundary" if _has_ended(messages, left, rules.keep) else None


def rules_for(trigger: Trigger, rules: PruningRules, limit_tokens: int) -> PruningRules:
    """Return the rules to plan by when a trigger was pulled.

    `limit_tokens` is what the aims are shares of; 0 for no such limit.
    """
    if trigger in ("task_boundary", "session_start"):
        return msgspec.structs.replace(rules, finished_only=True)
    if trigger not in _AIMS or not limit_tokens:
        return rules
    most = min(rules.most_tokens, int(_AIMS[trigger] * limit_tokens))
    return msgspec.structs.replace(rules, most_tokens=most)


def _groups(
    messages: Sequence[Message],
    rules: PruningRules,
    finished: Sequence[bool],
    scores: Sequence[float],
    requests: Sequence[int],
) -> "list[MessageGroup]":
    """Return what stays or goes together, what is worth most first.

    By importance that is whole units (see `segments.units`), and nothing else counts.
    """
    from pmem.core.pruning.talk_first import message_groups, unit_group

    if rules.strategy == "importance" and not rules.finished_only:
        known = [unit_group(unit, finished) for unit in units(messages)]
    else:
        known = message_groups(messages, finished, opening=requests[-1] if requests else 0)
    merit, length = _STRATEGIES[rules.strategy].merit, len(messages)
    merits = [merit(importance, place / length) for place, importance in enumerate(scores)]

    def order(group: "MessageGroup") -> tuple[int, bool, float, int]:
        best = max(merits[place] for place in group.places)
        return -group.worth, group.finished, -best, -group.places[-1]

    return sorted(known, key=order)


def _request(messages: Sequence[Message], task: Task) -> int:
    """Return where a user first speaks in a task."""
    places = range(task.first, task.last + 1)
    return next((i for i in places if messages[i].role is Role.USER), task.first)


def _protected(messages: Sequence[Message], live: Collection[int], keep: int) -> set[int]:
    places = list(live)
    protected = {i for i in places if messages[i].role is Role.SYSTEM or messages[i].pinned}
    if keep > 0:
        protected.update(places[-keep:])
        protected.update([i for i in places if messages[i].role is Role.USER][-1:])
    return protected


def _has_ended(messages: Sequence[Message], gone: frozenset[str], keep: int) -> bool:
    """Tell whether a user goes on after a finished task of which messages may leave.

    That is where a new task opens; and later as well for what was among the latest messages then.
    """
    if len(messages) <= keep or messages[-1].role is not Role.USER:
        return False
    return any(
        message.id not in gone and message.role is not Role.SYSTEM
        for task in tasks(messages)[:-1]
        if task.finished
        for message in messages[task.first : min(task.last + 1, len(messages) - keep)]
    )
