"""The commands of this clone that changed records, so that they can be taken back.

A line of JSON for each, appended with one write. Of each record it has which events the command
left in its history, by digests, and nothing of what it says. A log that has grown large is put
aside in place of the one before it. A command that was killed before it was noted is not in it.
"""

import os
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, Literal

import msgspec

from pmem.storage.local.operations import LineLog
from pmem.values.records import Event, Part, Standing, Time, dump_line
from pmem.values.times import iso

FILE: Final = "commands.log"
BEFORE: Final = "commands.1.log"
_DIGEST_BYTES: Final = 8
_FEW_BYTES: Final = 4096
"""A log that is larger has commands that changed records; a smaller one is quick to read."""


class LoggedChange(Part, frozen=True, kw_only=True):
    """A record that a command changed: the events that it left there, and whether it is new.

    Of a record that was deleted for good there are no events. `place` is how many events were in
    its history before these.
    """

    kind: Literal["memory", "episode", "conversation"]
    id: str
    events: tuple[str, ...]
    is_new: bool = False
    place: int | None = None


class LoggedFact(Part, frozen=True, kw_only=True):
    """A fact that a command promoted or rejected: the short part of its id, and what it became."""

    fact: str
    standing: Standing
    memory: str | None = None


class LoggedCommand(Part, frozen=True, kw_only=True):
    """A command: when it ended, which operation it was, what it changed.

    `facts` are those that it promoted or rejected. `beyond` says that it also changed what keeps no
    earlier values, as what is said in a conversation or settings, `forgot` that it forgot what no
    record has, and `is_final` that none of it can be taken back. `took_back` names the commands
    that it took back.
    """

    at: Time
    operation: str
    changes: tuple[LoggedChange, ...] = ()
    facts: tuple[LoggedFact, ...] = ()
    beyond: bool = False
    forgot: bool = False
    is_final: bool = False
    took_back: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it took nothing back, and leaves nothing to take back or to be told of."""
        return not (self.changes or self.facts or self.forgot or self.is_final or self.took_back)

    @property
    def key(self) -> str:
        """What names it among the commands of the clone."""
        if not self.changes:
            named = self.facts[0].fact if self.facts else "gone"
            return f"{self.operation}:{iso(self.at)}:{named}"
        first = self.changes[0]
        return f"{first.id}:{first.events[-1] if first.events else 'gone'}"


class Commands:
    """The commands of one clone."""

    def __init__(self, root: str) -> None:
        self._log = LineLog(os.path.join(root, "local"), FILE, BEFORE)

    def note(self, command: LoggedCommand) -> None:
        """Note a command; where that fails, nothing happens."""
        self._log.append(dump_line(command) + b"\n")

    @property
    def has_changes(self) -> bool:
        """Whether a command that changed records was noted."""
        return self._log.size > _FEW_BYTES or any(it.changes or it.facts for it in self.all())

    def all(self) -> Sequence[LoggedCommand]:
        """Return the commands, the latest last; lines that cannot be used are left out."""
        found = []
        for line in self._log.lines():
            try:
                command = msgspec.json.decode(line, type=LoggedCommand)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            if not command.is_empty:
                found.append(command)
        return found


def digest_of(event: Event) -> str:
    """Return what an event is known by in the log."""
    return blake2b(dump_line(event), digest_size=_DIGEST_BYTES).hexdigest()
