"""Going back through a history, event by event, also where it was written on two branches.

Each event keeps what it replaced. Where git merged two branches, events of both stand in one list
by time, so that what an event replaced need not be what the one before it led to. The event that
git's merge leaves says which value was not taken, and when that one's branch changed the field:
with that, every event gets back to the value that it led to on its own branch.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from pmem.values.records import Event

TAKES_BACK: Final = "undo"
"""What an event's detail has that takes a command back: which one."""
BRANCH: Final = "branch"
"""Where a merge's event says, by field, when the branch whose value it did not take changed it."""
_COMMANDS: Final = {
    "add_all": "add",
    "confirm": "inbox accept",
    "consent.approve": "inbox accept",
    "consent.reject": "inbox reject",
    "doctor": "check --fix",
    "facts.promote": "inbox accept",
    "facts.reject": "inbox reject",
    "import.project": "import auto",
    "link": "edit --link",
    "pin": "edit --pin",
    "repair": "resolve",
    "settle": "resolve",
    "setup.assistant": "setup",
    "supersede": "edit --supersede",
    "supersede_by": "edit --superseded-by",
    "sweep": "consolidate",
    "sync": "db sync",
    "unlink": "edit --unlink",
    "verify": "check --fix",
    "verify.accept": "check --accept",
}
"""Of operations whose names are not those of their commands."""


def command_of(operation: str) -> str:
    """Return the command of an operation."""
    return _COMMANDS.get(operation, operation.replace(".", " "))


class _Other:
    """A value that a merge did not take, and when its branch changed it."""

    def __init__(self, value: Any, times: frozenset[datetime]) -> None:
        self.value = value
        self.times = times


class Unwinding:
    """The fields of a record on the way back.

    Args:
        state: Their present values, as JSON; each step back changes them in place.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self._others: dict[str, list[_Other]] = {}

    def undo(self, event: Event) -> dict[str, Any]:
        """Take an event back: the newest that is left.

        Returns:
            What the event led to, by the field.
        """
        merged = _times(event)
        known = [field for field in event.before if field in self.state]
        return {field: self._undo(field, event, merged.get(field)) for field in known}

    def _undo(self, field: str, event: Event, merged: frozenset[datetime] | None) -> Any:
        others = self._others.setdefault(field, [])
        inmost = reversed(others)  # a branch may itself have been merged from others
        other = next((other for other in inmost if event.at in other.times), None)
        led_to = self.state[field] if other is None else other.value
        earlier = event.before[field]
        if merged is not None:
            others.append(_Other(earlier, merged))
            return led_to
        for one in others:  # branches share what happened before they parted
            if one is other or one.value == led_to:
                one.value = earlier
        if other is None or self.state[field] == led_to:
            self.state[field] = earlier
        return led_to


def _times(event: Event) -> dict[str, frozenset[datetime]]:
    """Return when the other branch changed the fields that a merge decided; often nothing."""
    told = event.detail.get(BRANCH)
    if not isinstance(told, Mapping):
        return {}
    try:
        return {
            field: frozenset(datetime.fromisoformat(time) for time in times)
            for field, times in told.items()
        }
    except (TypeError, ValueError):  # written by another program
        return {}
