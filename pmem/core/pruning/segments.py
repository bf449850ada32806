"""How a conversation falls into tasks, and which of its messages belong together."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from pmem.core.pruning.kinds import Kinds, kinds_of
from pmem.core.text.calls import Link, call_links
from pmem.values.records import Message, Role

PAUSE: Final = timedelta(hours=6)
"""A longer silence after a finished task ends it."""
CORRECTED_WITHIN: Final = 6
"""How many messages after an error its correction is looked for."""
TOGETHER: Final = 20
"""A turn is cut after so many messages, and no correction makes a larger unit than that."""


class Task(NamedTuple):
    """A stretch of conversation about one task: its first and last message, by index."""

    first: int
    last: int
    finished: bool


class _Progress(NamedTuple):
    """How far the task at hand has come.

    `stated` says that its completion was stated and nobody objected; `resumed` says that the
    user asked for more since.
    """

    first: int
    stated: bool = False
    resumed: bool = False


def tasks(messages: Sequence[Message]) -> list[Task]:
    """Divide a conversation into tasks.

    A task ends before a user's message that clearly turns to something new; after its
    completion was stated, a weaker sign or a pause of more than six hours is enough. It is
    finished when its completion was stated and no error or correction by the user followed.
    The last task is finished only if the user has asked for nothing since.
    """
    done: list[Task] = []
    at = _Progress(0)
    for i, message in enumerate(messages):
        kinds = kinds_of(message)
        if i > at.first and _opens(messages, i, kinds, at.stated):
            done.append(Task(at.first, i - 1, at.stated or (kinds.complete and not kinds.error)))
            at = _Progress(i)
        else:
            at = _after(at, message, kinds)
    if messages:
        done.append(Task(at.first, len(messages) - 1, at.stated and not at.resumed))
    return done


def units(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    """Group the messages that only make sense together.

    A user's message stays with what answers it, a tool's call with its results, an error with
    the next message that corrects or fixes it. Groups that share a message are united. A turn
    of more than 20 messages is cut where an assistant's message begins and no call is open,
    and a correction is not linked where the unit would become larger than that: otherwise one
    endless turn could never be pruned. A system message stands alone. Units are in the order of
    their first messages.
    """
    calls = list(call_links(messages))
    links = [*calls, *_turn_links(messages, calls)]
    return connect(len(messages), links, _correction_links(messages))


def _opens(messages: Sequence[Message], i: int, kinds: Kinds, stated: bool) -> bool:
    """Tell whether message `i` opens a new task, given whether the one before was stated done."""
    message = messages[i]
    if message.role is not Role.USER:
        return False
    if kinds.opening == "strong":
        return True
    stated = stated or kinds.complete
    if not stated or kinds.error or kinds.correction:
        return False
    if kinds.opening == "weak":
        return True
    paused = message.created_at - messages[i - 1].created_at > PAUSE
    return paused and not kinds.casual and not kinds.goes_on


def _after(at: _Progress, message: Message, kinds: Kinds) -> _Progress:
    if message.role is Role.USER:
        if kinds.error or kinds.correction:
            return at._replace(stated=False)
        if not kinds.casual and not kinds.complete:
            at = at._replace(resumed=True)
    if kinds.complete and message.role in (Role.USER, Role.ASSISTANT):
        return at._replace(stated=True, resumed=False)
    return at


def connect(count: int, links: Iterable[Link], loose: Iterable[Link] = ()) -> list[tuple[int, ...]]:
    """Group numbers that are linked, in the order of the smallest of each group.

    `loose` links count unless their group would become larger than 20.
    """
    parent = list(range(count))
    size = [1] * count

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for most, pairs in ((count, links), (TOGETHER, loose)):
        for one, other in pairs:
            first, second = sorted((root(one), root(other)))
            if first != second and size[first] + size[second] <= most:
                parent[second] = first
                size[first] += size[second]
    members: dict[int, list[int]] = {}
    for number in range(count):
        members.setdefault(root(number), []).append(number)
    return [tuple(group) for group in members.values()]


def _turn_links(messages: Sequence[Message], calls: Sequence[Link]) -> Iterator[Link]:
    """Link each user's message to what answers it, cut where a turn is very long."""
    last_result = dict(calls)
    start: int | None = None
    open_until = -1
    for i, message in enumerate(messages):
        if message.role is Role.USER:
            start = i
        elif message.role is not Role.SYSTEM and start is not None:
            cut = message.role is Role.ASSISTANT and open_until < i and message.tool_result is None
            if cut and i - start >= TOGETHER:
                start = i
            else:
                yield start, i
        open_until = max(open_until, last_result.get(i, -1))


def _correction_links(messages: Sequence[Message]) -> Iterator[Link]:
    """Link each error to the next message that corrects or fixes it, if it comes soon."""
    errors: deque[int] = deque()
    for i, kind in enumerate(map(kinds_of, messages)):
        if kind.correction or kind.fix:
            yield from ((error, i) for error in errors if i - error <= CORRECTED_WITHIN)
            errors.clear()
        if kind.error:
            errors.append(i)
