"""Which messages of a conversation a context still shows, and how important each is.

Pruning hides messages, it deletes none. `rolling_window` and `hybrid` look at single messages, and
so does every strategy where a task has ended (see `talk_first`). `importance` takes whole units
(see `segments.units`), finished tasks before anything else, and stops as soon as no limit is
passed; its order depends on the messages alone, so a higher limit never prunes more. Pruning again
prunes nothing more.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

import msgspec

from pmem.core.pruning.kinds import Kinds, kinds_of
from pmem.core.pruning.segments import Task, tasks, units
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


Strategy = Literal["rolling_window", "importance", "hybrid"]
Reason = Literal["finished_task", "oldest", "least_important", "hybrid", "no_room", "earlier"]
Trigger = Literal["normal", "aggressive", "messages", "task_boundary", "session_start"]

_REASONS: Final[dict[Strategy, Reason]] = {
    "rolling_window": "oldest",
    "importance": "least_important",
    "hybrid": "hybrid",
}


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


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of the token limit: from which pruning is due, and down to which it goes."""

    normal: float = 0.8
    aggressive: float = 0.9
    normal_aim: float = 0.7
    aggressive_aim: float = 0.5


THRESHOLDS: Final = Thresholds()


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


class _Survey(NamedTuple):
    """What one reading of the messages finds; `live` are the indices not pruned earlier."""

    messages: Sequence[Message]
    live: list[int]
    tasks: list[Task]
    task_of: list[int]
    scores: list[float]


def plan(
    messages: Sequence[Message], rules: PruningRules, now: datetime, gone: Collection[str] = ()
) -> PruningPlan:
    """Decide which messages leave the context.

    System messages, pinned ones, the last `keep` messages and, unless `keep` is 0, the last
    message of the user never leave, nor does what goes with one of them. The others leave message
    by message, tools before talk (see `talk_first`), of a class the older first, or by `hybrid`
    those with the lower mean of importance and age. By `importance` they leave unit by unit until
    neither limit is passed: first finished tasks, each as a whole, the oldest first; then the unit
    whose most important message is the least important; of equals, the older.

    What was pruned earlier (`gone`) stays pruned and counts for nothing.
    """
    seen = _survey(messages, rules, now, frozenset(gone))
    by_units = rules.strategy == "importance" and not rules.finished_only
    reasons = _by_units(seen, rules) if by_units else _by_messages(seen, rules)
    before = sum(messages[i].tokens for i in seen.live)
    return PruningPlan(
        kept=tuple(messages[i].id for i in seen.live if i not in reasons),
        pruned=tuple(_list_pruned(seen, reasons)),
        tokens_before=before,
        tokens_after=before - sum(messages[i].tokens for i in reasons),
    )


def due(
    messages: Sequence[Message],
    gone: Collection[str],
    limit_tokens: int,
    rules: PruningRules,
    thresholds: Thresholds = THRESHOLDS,
) -> Trigger | None:
    """Tell whether a conversation is to be pruned now that its last message was said.

    `limit_tokens` is what usage is a share of; 0 for no such limit.

    Returns:
        The strongest trigger; None when nothing calls for pruning.
    """
    left = frozenset(gone)
    live = [message for message in messages if message.id not in left]
    tokens = sum(message.tokens for message in live)
    if limit_tokens and tokens >= thresholds.aggressive * limit_tokens:
        return "aggressive"
    if limit_tokens and tokens >= thresholds.normal * limit_tokens:
        return "normal"
    if len(live) > rules.most_messages:
        return "messages"
    return "task_boundary" if _has_ended(messages, left, rules.keep) else None


def rules_for(
    trigger: Trigger,
    rules: PruningRules,
    limit_tokens: int,
    thresholds: Thresholds = THRESHOLDS,
) -> PruningRules:
    """Return the rules to plan by when a trigger was pulled.

    `limit_tokens` is what the aims are shares of; 0 for no such limit.
    """
    if trigger in ("task_boundary", "session_start"):
        return msgspec.structs.replace(rules, finished_only=True)
    if trigger == "messages" or not limit_tokens:
        return rules
    share = thresholds.normal_aim if trigger == "normal" else thresholds.aggressive_aim
    most = min(rules.most_tokens, int(share * limit_tokens))
    return msgspec.structs.replace(rules, most_tokens=most)


def _survey(
    messages: Sequence[Message], rules: PruningRules, now: datetime, gone: frozenset[str]
) -> _Survey:
    found, latest = tasks(messages), len(messages) - 1
    task_of = [n for n, task in enumerate(found) for _ in range(task.first, task.last + 1)]
    return _Survey(
        messages=messages,
        live=[i for i, message in enumerate(messages) if message.id not in gone],
        tasks=found,
        task_of=task_of,
        scores=[
            score(message, latest - i, now, rules.scoring, found[task_of[i]].finished)
            for i, message in enumerate(messages)
        ],
    )


def _by_messages(seen: _Survey, rules: PruningRules) -> dict[int, Reason]:
    """Return what leaves message by message, and why."""
    from pmem.core.pruning.talk_first import choose_kept, choose_unfinished, message_groups

    finished = [seen.tasks[number].finished for number in seen.task_of]
    requests = [_request(seen.messages, task) for task in seen.tasks]
    opening = requests[-1] if requests else 0
    length = len(seen.messages)
    ages = [place / length for place in range(length)]
    if rules.strategy == "hybrid":
        ages = [round((seen.scores[i] + ages[i]) / 2, 9) for i in range(length)]
    groups = message_groups(seen.messages, finished, ages, opening)
    tokens = {i: seen.messages[i].tokens for i in seen.live}
    protected = _protected(seen, rules.keep)
    if rules.finished_only:
        done = {place for place in requests if finished[place]}
        kept = choose_unfinished(groups, protected, tokens, done)
    else:
        kept = choose_kept(groups, protected, tokens, rules.most_messages, rules.most_tokens)
    standing = {place for group in groups if group.is_standing for place in group.places}
    return {i: _reason(i, finished, standing, rules) for i in sorted(tokens.keys() - kept)}


def _request(messages: Sequence[Message], task: Task) -> int:
    """Return where a user first speaks in a task."""
    places = range(task.first, task.last + 1)
    return next((i for i in places if messages[i].role is Role.USER), task.first)


def _reason(
    place: int, finished: Sequence[bool], standing: Collection[int], rules: PruningRules
) -> Reason:
    if finished[place]:
        return "finished_task"
    return "no_room" if place in standing else _REASONS[rules.strategy]


def _by_units(seen: _Survey, rules: PruningRules) -> dict[int, Reason]:
    """Return what leaves in whole units, and why."""
    tokens, count = sum(seen.messages[i].tokens for i in seen.live), len(seen.live)
    reasons: dict[int, Reason] = {}
    for reason, places in _steps(seen, rules.keep):
        if count <= rules.most_messages and tokens <= rules.most_tokens:
            break
        reasons.update(dict.fromkeys(places, reason))
        count -= len(places)
        tokens -= sum(seen.messages[i].tokens for i in places)
    return reasons


def _steps(seen: _Survey, keep: int) -> Iterator[tuple[Reason, Sequence[int]]]:
    """Yield what leaves together and why, in its order, whatever the limits are."""
    ending: dict[int, list[int]] = {}
    others: list[list[int]] = []
    protected, live = _protected(seen, keep), set(seen.live)
    for unit in units(seen.messages):
        left = [i for i in unit if i in live]
        numbers = {seen.task_of[i] for i in unit}
        if not left or not protected.isdisjoint(unit):
            continue
        if all(seen.tasks[number].finished for number in numbers):
            ending.setdefault(max(numbers), []).extend(left)
        else:
            others.append(left)
    for number in sorted(ending):
        yield "finished_task", ending[number]
    for left in sorted(others, key=lambda left: (max(seen.scores[i] for i in left), left[-1])):
        yield "least_important", left


def _protected(seen: _Survey, keep: int) -> set[int]:
    roles = [message.role for message in seen.messages]
    protected = {i for i in seen.live if roles[i] is Role.SYSTEM or seen.messages[i].pinned}
    if keep > 0:
        protected.update(seen.live[-keep:])
        protected.update([i for i in seen.live if roles[i] is Role.USER][-1:])
    return protected


def _list_pruned(seen: _Survey, reasons: dict[int, Reason]) -> Iterator[Pruned]:
    live = set(seen.live)
    for i, message in enumerate(seen.messages):
        if i in reasons or i not in live:
            reason = reasons.get(i, "earlier")
            yield Pruned(message.id, message.tokens, seen.scores[i], reason)


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
