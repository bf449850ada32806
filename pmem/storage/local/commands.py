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
from pmem.values.records import Event, Part, Time, dump_line

FILE: Final = "commands.log"
BEFORE: Final = "commands.1.log"
_DIGEST_BYTES: Final = 8


class LoggedChange(Part, frozen=True, kw_only=True):
    """A record that a command changed: the events that it left there, and whether it is new.

    Of a record that was deleted for good there are no events.
    """

    kind: Literal["memory", "episode"]
    id: str
    events: tuple[str, ...]
    is_new: bool = False


class LoggedCommand(Part, frozen=True, kw_only=True):
    """A command: when it ended, which operation it was, what it changed.

    `beyond` says that it changed a conversation as well, which keeps no earlier values, and
    `took_back` names the commands that it took back.
    """

    at: Time
    operation: str
    changes: tuple[LoggedChange, ...]
    beyond: bool = False
    took_back: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What names it among the commands of the clone."""
        first = self.changes[0]
        return f"{first.id}:{first.events[-1] if first.events else 'gone'}"


class Commands:
    """The commands of one clone.

    Args:
        root: The memory folder.
    """

    def __init__(self, root: str) -> None:
        self._log = LineLog(os.path.join(root, "local"), FILE, BEFORE)

    def note(self, command: LoggedCommand) -> None:
        """Note a command; where that fails, nothing happens."""
        self._log.append(dump_line(command) + b"\n")

    def all(self) -> Sequence[LoggedCommand]:
        """Return the commands, the latest last; lines that cannot be used are left out."""
        found = []
        for line in self._log.lines():
            try:
                command = msgspec.json.decode(line, type=LoggedCommand)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            if command.changes:
                found.append(command)
        return found


def digest_of(event: Event) -> str:
    """Return what an event is known by in the log."""
    return blake2b(dump_line(event), digest_size=_DIGEST_BYTES).hexdigest()
